/* Points of a surface about a line (programs needle_points and needle_some) and what poses have in free space
 * (needle_view), against plain loops in double, on every device. Surfaces are drawn so that nothing lies within a
 * rounding of a border. */
#include "needlekit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_cloud *model;
static const bevel NEEDLE = {.radius = 0.25, .length = 2, .angle_deg = 20};
static const double SPACING[3] = {0.0137, 0.0031, 0.0219}, REACH = 0.3, EDGE = 0.05;

enum { MOST_SCANS = 40, MOST_COLUMNS = 60, MOST = MOST_SCANS * MOST_COLUMNS };

/* A surface and a line through it. */
typedef struct scene {
    int64_t scans, columns;
    float row[MOST];
    int32_t seen[MOST_SCANS];
    int64_t anchor[2];
    atn_needle_line line;
} scene;

enum { PLAIN, GAPS, NOTHING, ALL_NEAR, KINDS };

static double off_line2(const scene *s, int64_t f, int64_t c) {
    const double p[3] = {(double)c * SPACING[0], (double)s->row[f * s->columns + c] * SPACING[1],
                         (double)f * SPACING[2]};
    return needle_line_distance2(&s->line, p);
}

static bool at_border(double x) { return fabs(x - rint(x)) < 1e-3; }

static scene make_scene(int64_t scans, int64_t columns, int kind, uint64_t seed) {
    scene s = {.scans = scans, .columns = columns, .anchor = {scans / 3, 2 * scans / 3}};
    const double d[3] = {0.12, -0.2, 1}, length = sqrt(0.0144 + 0.04 + 1);
    for (int k = 0; k < 3; ++k) s.line.direction[k] = d[k] / length;
    s.line.point[0] = 0.45 * (double)columns * SPACING[0];
    s.line.point[1] = 0.6;
    s.line.point[2] = 0.5 * (double)scans * SPACING[2];
    for (int64_t f = 0; f < scans; ++f) s.seen[f] = kit_random(&seed) % 5 != 0;
    for (int64_t k = 0; k < scans * columns; ++k) {
        int64_t f = k / columns, c = k % columns;
        bool black = kind == NOTHING || (kind == GAPS && (kit_random(&seed) % 4 == 0 || f == 3 || f == 4 || f > 33));
        double high = kind == ALL_NEAR ? 0.02 : 0.5, y;
        do {
            y = s.line.point[1] + high * (2 * kit_uniform(&seed) - 1);
            s.row[k] = (float)(y / SPACING[1]);
        } while (at_border((double)s.row[k] * SPACING[1] / EDGE) || fabs(off_line2(&s, f, c) - REACH * REACH) < 1e-4);
        if (black) s.row[k] = NAN;
    }
    return s;
}

/* ---- points ---- */

static bool is_near(const scene *s, int64_t f, int64_t c) { return off_line2(s, f, c) <= REACH * REACH; }

static int64_t plain_end(const scene *s, int64_t from, int64_t step) {
    int64_t last = from, gap = 0;
    for (int64_t f = from; f >= 0 && f < s->scans && gap <= 2; f += step) {
        int64_t near = 0;
        for (int64_t c = 0; c < s->columns; ++c) near += is_near(s, f, c);
        if (near >= 3)
            last = f, gap = 0;
        else
            gap += s->seen[f];
    }
    return last;
}

enum { TILE_F = 7, TILE_C = 11 }; /* scans and columns of eight thresholds */

/* Means of cubes, each where its first point is, and the tile of that; returns how many. */
static int64_t plain_points(const scene *s, double edge, int64_t first, int64_t last, double (*out)[4], int64_t *all) {
    static int64_t cube[MOST][3];
    static double weight[MOST];
    int64_t count = 0;
    *all = 0;
    for (int64_t f = first; f <= last; ++f)
        for (int64_t c = 0; c < s->columns; ++c) {
            if (!is_near(s, f, c)) continue;
            const double p[3] = {(double)c * SPACING[0], (double)s->row[f * s->columns + c] * SPACING[1],
                                 (double)f * SPACING[2]};
            int64_t at[3], k = 0;
            for (int axis = 0; axis < 3; ++axis) at[axis] = (int64_t)floor(p[axis] / EDGE);
            while (k < count && (edge < 0 || memcmp(cube[k], at, sizeof at) != 0)) ++k;
            if (k == count) {
                out[count][3] = (double)(f / TILE_F * 1000 + c / TILE_C);
                memcpy(cube[count], at, sizeof at);
                memset(out[count], 0, 3 * sizeof **out);
                weight[count++] = 0;
            }
            ++weight[k];
            for (int axis = 0; axis < 3; ++axis) out[k][axis] += (p[axis] - out[k][axis]) / weight[k];
            ++*all;
        }
    return count;
}

static void hold_points(atn_needle *n, const scene *s) {
    static double wanted[MOST][4];
    const atn_volume_info info = {.frames = s->scans, .height = 8, .width = s->columns, .bits = 8};
    needle_told told;
    int64_t all, first = plain_end(s, s->anchor[0], -1), last = plain_end(s, s->anchor[1], 1);
    int64_t count = plain_points(s, n->options.edge, first, last, wanted, &all);
    for (int64_t k = 1; k < count; ++k) /* tile by tile; in a tile as they were */
        for (int64_t j = k; j > 0 && wanted[j - 1][3] > wanted[j][3]; --j) {
            double other[4];
            memcpy(other, wanted[j], sizeof other);
            memcpy(wanted[j], wanted[j - 1], sizeof other);
            memcpy(wanted[j - 1], other, sizeof other);
        }
    kit_ok(ctx, needle_surface_begin(&n->surface, &info));
    kit_ok(ctx, atn_array_put(n->surface.row, s->row, 0));
    kit_ok(ctx, atn_array_put(n->surface.seen, s->seen, 0));
    kit_ok(ctx, needle_points_take(n, &s->line, s->anchor, SPACING, REACH, &told));
    assert_true(told.first == first && told.last == last && told.surface == all);
    assert_int_equal(n->scan_points, count);
    if (count == 0) return;
    const needle_counted *some = &n->counted[NEEDLE_SOME];
    int64_t stride = needle_engine_stride(n), capacity = n->counted[NEEDLE_ALL].capacity;
    const void *points, *fewer;
    kit_ok(ctx, atn_array_map_read(n->counted[NEEDLE_ALL].positions, &points));
    kit_ok(ctx, atn_array_map_read(some->positions, &fewer));
    assert_int_equal(some->count, (count + stride - 1) / stride);
    for (int axis = 0; axis < 3; ++axis) {
        const float *is = (const float *)points + axis * capacity, *of = (const float *)fewer + axis * some->capacity;
        for (int64_t k = 0; k < capacity; ++k)
            if (k < count ? fabs((double)is[k] + n->scan_centre[axis] - wanted[k][axis]) > 1e-5 : is[k] < 1e3f)
                fail_msg("%dx%d: point %d of %d: %g", (int)s->scans, (int)s->columns, (int)k, (int)count,
                         (double)is[k]);
        for (int64_t k = 0; k < some->capacity; ++k)
            assert_true(k < some->count ? of[k] == is[k * stride] : of[k] > 1e3f);
    }
}

static void points_on(atn_device *device) {
    static const int64_t SIZES[][2] = {{1, 1}, {1, 60}, {7, 3}, {25, 31}, {40, 60}, {3, 40}};
    static const double EDGES[] = {EDGE, -1};
    for (size_t e = 0; e < sizeof EDGES / sizeof *EDGES; ++e) {
        const atn_needle_settings options = {.edge = EDGES[e]};
        atn_needle *n;
        kit_ok(ctx, atn_needle_create(device, model, &options, &n));
        for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k)
            for (int kind = 0; kind < KINDS; ++kind) {
                scene s = make_scene(SIZES[k][0], SIZES[k][1], kind, 10 * k + (uint64_t)kind + 1);
                hold_points(n, &s);
            }
        atn_needle_free(n);
    }
}

/* ---- free space ---- */

static needle_view plain_view(const atn_needle *n, const scene *s, const geom_pose *pose) {
    size_t step = n->model.count / 1000 + 1;
    needle_view out = {0};
    for (size_t k = 0; k < n->model.count; k += step) {
        const float *normal = n->normal + 3 * k;
        double m[3], p[3], along = 0, deeper = 2 * n->options.threshold;
        for (int axis = 0; axis < 3; ++axis) {
            m[axis] = n->model.position[axis][k];
            along += pose->a[3 + axis] * (double)normal[axis];
        }
        geom_pose_apply(pose, m, p);
        double c = rint(p[0] / SPACING[0]), f = rint(p[2] / SPACING[2]);
        if (along > -0.5 || c < 0 || c >= (double)s->columns || f < 0 || f >= (double)s->scans || !s->seen[(int)f])
            continue;
        double surface = (double)s->row[(int64_t)f * s->columns + (int64_t)c] * SPACING[1];
        double lever = fabs(m[0] * (double)normal[1] - m[1] * (double)normal[0]);
        ++out.facing;
        out.against += isnan(surface) ? along < -0.7 : surface - p[1] > deeper;
        out.telling += lever > 0.15 * n->shape.radius && fabs(surface - p[1]) < deeper;
    }
    return out;
}

/* Lists of all lengths; a sample within a rounding of a border may be on either side. */
static void views_on(atn_device *device) {
    enum { POSES = 531 };
    static const int64_t COUNTS[] = {1, 7, 8, 9, 64, 65, POSES};
    scene s = make_scene(40, 60, GAPS, 5);
    const atn_volume_info info = {.frames = s.scans, .height = 8, .width = s.columns, .bits = 8};
    static needle_view view[POSES];
    static int64_t which[POSES];
    uint64_t seed = 3;
    int64_t seen = 0;
    atn_needle *n;
    kit_ok(ctx, atn_needle_create(device, model, NULL, &n));
    kit_ok(ctx, needle_surface_begin(&n->surface, &info));
    kit_ok(ctx, atn_array_put(n->surface.row, s.row, 0));
    kit_ok(ctx, atn_array_put(n->surface.seen, s.seen, 0));
    needle_free_take(n, SPACING);
    kit_ok(ctx, needle_engine_room(n, POSES));
    for (int64_t k = 0; k < POSES; ++k) {
        const double t[3] = {0.4 + 0.2 * kit_uniform(&seed), 0.5 + 0.3 * kit_uniform(&seed),
                             0.4 * kit_uniform(&seed) - 0.2};
        n->pose[k] = needle_lay(0.1, 0.05, 360 * kit_uniform(&seed), t);
        which[k] = POSES - 1 - k;
    }
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; ++c) {
        memset(view, 0x5a, sizeof view);
        kit_ok(ctx, needle_free_views(n, COUNTS[c], which, view));
        for (int64_t k = 0; k < COUNTS[c]; ++k) {
            needle_view w = plain_view(n, &s, &n->pose[which[k]]);
            if (abs(w.facing - view[k].facing) > 3 || abs(w.against - view[k].against) > 3 ||
                abs(w.telling - view[k].telling) > 3)
                fail_msg("%d of %d: %d %d %d instead of %d %d %d", (int)k, (int)COUNTS[c], view[k].facing,
                         view[k].against, view[k].telling, w.facing, w.against, w.telling);
            seen += w.against > 0 && w.telling > 0;
        }
    }
    assert_true(seen > 100);
    atn_needle_free(n);
}

static void on_every_device(void (*look)(atn_device *device)) {
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t k = 0; k < atn_devices_count(devices); ++k) {
        atn_device *device;
        if (!kit_wants(atn_devices_info(devices, k)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, k, &device));
        look(device);
        atn_device_close(device);
    }
    atn_devices_free(devices);
}

KIT_TEST(points_are_those_of_a_loop) { on_every_device(points_on); }

KIT_TEST(views_are_those_of_a_loop) { on_every_device(views_on); }

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    model = needle_model(ctx, &NEEDLE, 20000, 1);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_cloud_free(model);
    kit_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_are_those_of_a_loop),
                                       cmocka_unit_test(views_are_those_of_a_loop)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
