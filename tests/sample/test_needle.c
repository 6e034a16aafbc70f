/* The synthetic needle: beams marched through the tube as the truth lays it meet metal where the scans are brightest;
 * the mesh is closed; the pose is as promised; seeds repeat. */
#include "testkit.h"

#include "sample/needle.h"

#include <attune/cloud.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_needle_sample_settings small(uint64_t seed) {
    atn_needle_sample_settings s = ATN_NEEDLE_SAMPLE_USUAL;
    s.seed = seed;
    s.shape[0] = 24;
    s.shape[1] = 512;
    s.shape[2] = 128;
    return s;
}

static atn_needle_sample make(atn_ctx *ctx, atn_needle_sample_settings settings) {
    atn_needle_sample sample;
    kit_ok(ctx, atn_needle_sample_make(ctx, &settings, NULL, NULL, &sample));
    return sample;
}

/* ---- the truth against the pixels ---- */

/* Is the model's place in metal? Behind the heel the tube may be bent towards -y. */
static bool in_metal(const needle_truth *t, double bevel_deg, double bend, double x, double y, double z) {
    double outer = t->outer / 2, inner = t->inner / 2, flat = 1 / tan(bevel_deg * acos(-1) / 180);
    if (bend > 0 && z > t->bevel_length) { /* unrolled */
        double v = y + bend, w = z - t->bevel_length;
        y = hypot(v, w) - bend;
        z = t->bevel_length + bend * atan2(w, v);
    }
    double r = hypot(x, y);
    return r <= outer && r >= inner && z >= flat * (outer - y);
}

/* y where the beam at (x, z) first meets metal; negative: it does not. */
static double march(const needle_truth *t, const atn_needle_sample_settings *s, double x, double z) {
    const double *m = t->transform;
    for (double y = 0; y < 2.4; y += 0.001) {
        double d[3] = {x - m[3], y - m[7], z - m[11]}, p[3];
        for (int k = 0; k < 3; ++k) p[k] = m[k] * d[0] + m[4 + k] * d[1] + m[8 + k] * d[2];
        if (in_metal(t, s->bevel_deg, s->bend, p[0], p[1], p[2])) return y;
    }
    return -1;
}

enum { BRIGHT = 90 }; /* noise does not reach that */

static int brightest(const unsigned char *frame, const int64_t shape[3], int64_t column, unsigned char *value) {
    int row = 0;
    *value = 0;
    for (int64_t r = 0; r < shape[1]; ++r)
        if (frame[r * shape[2] + column] > *value) *value = frame[r * shape[2] + column], row = (int)r;
    return row;
}

/* Of columns that are bright: how many are right, within 12 um; and of columns that meet metal, how many are bright. */
static void compare(const atn_needle_sample *sample, const atn_needle_sample_settings *s, int *right, int *bright,
                    int *met) {
    *right = *bright = *met = 0;
    for (int64_t k = 0; k < s->shape[0]; ++k)
        for (int64_t c = 0; c < s->shape[2]; c += 3) {
            unsigned char value;
            const double *spacing = sample->truth.spacing;
            double y = march(&sample->truth, s, (double)c * spacing[0], (double)k * spacing[2]);
            int row = brightest(atn_volume_frame(sample->volume, k), s->shape, c, &value);
            *met += y >= 0;
            *bright += value > BRIGHT;
            *right += value > BRIGHT && fabs((double)row * spacing[1] - y) < 0.012;
        }
}

KIT_TEST(bright_is_where_metal_is) {
    atn_ctx *ctx = kit_ctx();
    for (uint64_t seed = 0; seed < 4; ++seed) {
        atn_needle_sample_settings s = small(seed);
        s.no_tissue = true;
        s.noise = seed < 2 ? 0 : 1;
        s.bend = seed == 1 ? 6 : 0;
        s.from_high = seed == 3;
        s.roll_deg = 180;
        atn_needle_sample sample = make(ctx, s);
        int right, bright, met;
        compare(&sample, &s, &right, &bright, &met);
        if (met < 60 || bright < 0.75 * met || bright > 1.05 * met || right < 0.93 * bright)
            fail_msg("seed %d: %d beams meet metal, %d are bright, %d in the right place", (int)seed, met, bright,
                     right);
        atn_needle_sample_free(&sample);
    }
    kit_free(ctx);
}

KIT_TEST(metal_throws_a_shadow_on_tissue) {
    atn_ctx *ctx = kit_ctx();
    atn_needle_sample_settings s = small(5);
    s.missing = 0.25;
    atn_needle_sample sample = make(ctx, s);
    const needle_truth *t = &sample.truth;
    size_t black = 0, lit = 0, free_columns = 0;
    assert_true(t->clearance > 0.05);
    for (int64_t k = 0; k < s.shape[0]; ++k) {
        const unsigned char *frame = atn_volume_frame(sample.volume, k);
        size_t sum = 0;
        for (int64_t p = 0; p < s.shape[1] * s.shape[2]; ++p) sum += frame[p];
        assert_int_equal(sum == 0, sample.missing[k]);
        black += sum == 0;
        if (sum == 0) continue;
        for (int64_t c = 4; c + 4 < s.shape[2]; ++c) { /* brightness far below metal, and beside it */
            double y[3], deep = 0;
            for (int d = 0; d < 3; ++d)
                y[d] = march(t, &s, (double)(c + 4 * (d - 1)) * t->spacing[0], (double)k * t->spacing[2]);
            if ((y[0] < 0) != (y[1] < 0) || (y[1] < 0) != (y[2] < 0)) continue;
            int64_t from = y[1] < 0 ? 0 : (int64_t)((y[1] + 0.4) / t->spacing[1]);
            for (int64_t r = from; r < s.shape[1]; ++r) deep = fmax(deep, frame[r * s.shape[2] + c]);
            if (y[1] < 0)
                ++free_columns, lit += deep > 130;
            else if (deep > 90)
                fail_msg("scan %d, column %d: %g in the shadow", (int)k, (int)c, deep);
        }
    }
    assert_int_equal(black, 6); /* a quarter of 22 */
    assert_true((double)lit > 0.98 * (double)free_columns && free_columns > 500);
    atn_needle_sample_free(&sample);
    kit_free(ctx);
}

/* ---- the pose ---- */

KIT_TEST(the_pose_is_as_promised) {
    atn_ctx *ctx = kit_ctx();
    for (uint64_t seed = 0; seed < 8; ++seed) {
        atn_needle_sample_settings s = small(seed);
        s.shape[0] = s.shape[1] = s.shape[2] = 8;
        s.gauge = 20 + 2 * (int32_t)seed;
        s.bevel_deg = 25;
        s.roll_deg = 60;
        s.from_high = seed % 2;
        atn_needle_sample sample = make(ctx, s);
        const needle_truth *t = &sample.truth;
        const double *m = t->transform;
        double determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                             m[2] * (m[4] * m[9] - m[5] * m[8]);
        assert_true(fabs(determinant - 1) < 1e-12);
        assert_true(s.from_high ? m[10] < -0.9 : m[10] > 0.9);
        for (int d = 0; d < 3; ++d) {
            const double *p = t->tip_model;
            assert_true(fabs(m[4 * d] * p[0] + m[4 * d + 1] * p[1] + m[4 * d + 2] * p[2] + m[4 * d + 3] -
                             t->tip_scan[d]) < 1e-12);
        }
        assert_true(t->shift == t->tip_scan[2] && t->shift > 0.1 && t->shift < 2.9);
        assert_true(t->tip_in_scan && t->bevel_visible && fabs(t->roll_deg) <= 60);
        /* The x of atn_needle_start is level, so the y of the model's x and y tell the roll. */
        double turned = atan2(m[4], m[5]) * 180 / acos(-1);
        assert_true(fabs(turned - t->roll_deg) < 1e-9);
        atn_needle_sample_free(&sample);
    }
    kit_free(ctx);
}

KIT_TEST(a_bevel_that_looks_away_is_not_visible) {
    atn_ctx *ctx = kit_ctx();
    int away = 0, seen = 0;
    for (uint64_t seed = 0; seed < 8; ++seed) {
        atn_needle_sample_settings s = small(seed);
        s.shape[0] = s.shape[1] = s.shape[2] = 8;
        s.roll_deg = 180;
        atn_needle_sample sample = make(ctx, s);
        if (fabs(sample.truth.roll_deg) > 110) assert_false(sample.truth.bevel_visible), ++away;
        if (fabs(sample.truth.roll_deg) < 55) assert_true(sample.truth.bevel_visible), ++seen;
        atn_needle_sample_free(&sample);
    }
    assert_true(away > 0 && seen > 0);
    kit_free(ctx);
}

/* ---- the mesh ---- */

static int by_edge(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Each edge is there once in each direction: its other direction is found among the sorted ones, and none is twice. */
static void check_closed(const needle_mesh *m) {
    size_t edges = 3 * m->triangles;
    uint64_t *edge = malloc(edges * sizeof *edge);
    double six_volumes = 0;
    assert_non_null(edge);
    for (size_t k = 0; k < m->triangles; ++k) {
        const double *p[3];
        for (size_t c = 0; c < 3; ++c) {
            uint64_t a = m->triangle[3 * k + c], b = m->triangle[3 * k + (c + 1) % 3];
            edge[3 * k + c] = a << 32 | b;
            p[c] = m->position + 3 * a;
        }
        for (int d = 0; d < 3; ++d)
            six_volumes += p[0][d] * (p[1][(d + 1) % 3] * p[2][(d + 2) % 3] - p[1][(d + 2) % 3] * p[2][(d + 1) % 3]);
    }
    qsort(edge, edges, sizeof *edge, by_edge);
    for (size_t k = 0; k < edges; ++k) {
        uint64_t back = edge[k] << 32 | edge[k] >> 32;
        if (k) assert_true(edge[k] != edge[k - 1]);
        assert_non_null(bsearch(&back, edge, edges, sizeof *edge, by_edge));
    }
    assert_true(six_volumes > 0); /* outwards */
    free(edge);
}

KIT_TEST(the_mesh_is_closed_and_can_be_read) {
    static const char *const NAMES[] = {"stl", "ply"};
    atn_ctx *ctx = kit_ctx();
    for (int k = 0; k < 2; ++k) {
        atn_needle_sample_settings s = small(1);
        char path[512];
        atn_cloud *cloud;
        s.shape[0] = s.shape[1] = s.shape[2] = 8;
        s.bend = k ? 8 : 0;
        atn_needle_sample sample = make(ctx, s);
        check_closed(&sample.mesh);
        char *dir = kit_tempdir();
        snprintf(path, sizeof path, "%s/model.%s", dir, NAMES[k]);
        kit_ok(ctx, k ? atn_needle_sample_ply(&sample, path) : atn_needle_sample_stl(&sample, path));
        kit_ok(ctx, atn_cloud_sample_mesh(ctx, path, 5000, 0, &cloud));
        int thin = 0;
        for (size_t p = 0; p < 5000; ++p) { /* on the surface: metal on one side, none on the other */
            double at[3], side[2][3];
            for (int d = 0; d < 3; ++d) at[d] = atn_cloud_positions(cloud, d)[p];
            for (int d = 0; d < 3; ++d) {
                double n = (double)atn_cloud_normals(cloud, d)[p];
                side[0][d] = at[d] + 0.001 * n;
                side[1][d] = at[d] - 0.001 * n;
            }
            if (at[2] > 3.5) continue; /* towards the blunt end, which in_metal does not have */
            assert_false(in_metal(&sample.truth, s.bevel_deg, s.bend, side[0][0], side[0][1], side[0][2]));
            thin += !in_metal(&sample.truth, s.bevel_deg, s.bend, side[1][0], side[1][1], side[1][2]);
        }
        assert_true(thin < 50); /* at the sharp rims */
        atn_cloud_free(cloud);
        kit_remove(dir);
        atn_needle_sample_free(&sample);
    }
    kit_free(ctx);
}

/* ---- seeds, refusals, memory ---- */

KIT_TEST(seeds_repeat) {
    atn_ctx *ctx = kit_ctx();
    atn_needle_sample a = make(ctx, small(1)), b = make(ctx, small(1)), c = make(ctx, small(2));
    const int64_t *shape = small(1).shape;
    size_t bytes = (size_t)(shape[0] * shape[1] * shape[2]);
    assert_memory_equal(atn_volume_frame(a.volume, 0), atn_volume_frame(b.volume, 0), bytes);
    assert_memory_not_equal(atn_volume_frame(a.volume, 0), atn_volume_frame(c.volume, 0), bytes);
    assert_memory_equal(a.truth.transform, b.truth.transform, sizeof a.truth.transform);
    atn_needle_sample_free(&a);
    atn_needle_sample_free(&b);
    atn_needle_sample_free(&c);
    kit_free(ctx);
}

KIT_TEST(what_cannot_be_is_refused) {
    atn_ctx *ctx = kit_ctx();
    for (int k = 0; k < 9; ++k) {
        atn_needle_sample_settings s = small(0);
        atn_needle_sample sample;
        if (k == 0) s.gauge = 19;
        if (k == 1) s.bevel_deg = 0;
        if (k == 2) s.bevel_deg = NAN;
        if (k == 3) s.bend = -1;
        if (k == 4) s.shape[1] = 7;
        if (k == 5) s.noise = -1;
        if (k == 6) s.missing = 1;
        if (k == 7) s.roll_deg = INFINITY;
        if (k == 8) s.gauge = 20, s.bevel_deg = 10; /* longer than the scan */
        kit_fails(ctx, ATN_ERR_INPUT, "needle: ", atn_needle_sample_make(ctx, &s, NULL, NULL, &sample));
        atn_needle_sample_free(&sample);
    }
    kit_free(ctx);
}

KIT_TEST(no_memory_is_told) {
    atn_status status = ATN_ERR_MEMORY;
    for (long n = 2; status == ATN_ERR_MEMORY; ++n) {
        kit_faults faults = {.fail_at = n};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        atn_needle_sample_settings s = small(0);
        s.shape[0] = s.shape[1] = s.shape[2] = 8;
        atn_needle_sample sample;
        status = atn_needle_sample_make(ctx, &s, NULL, NULL, &sample);
        assert_true(status == ATN_ERR_MEMORY || (status == ATN_OK && atomic_load(&faults.count) < n));
        atn_needle_sample_free(&sample);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bright_is_where_metal_is),
                                       cmocka_unit_test(metal_throws_a_shadow_on_tissue),
                                       cmocka_unit_test(the_pose_is_as_promised),
                                       cmocka_unit_test(a_bevel_that_looks_away_is_not_visible),
                                       cmocka_unit_test(the_mesh_is_closed_and_can_be_read),
                                       cmocka_unit_test(seeds_repeat),
                                       cmocka_unit_test(what_cannot_be_is_refused),
                                       cmocka_unit_test(no_memory_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
