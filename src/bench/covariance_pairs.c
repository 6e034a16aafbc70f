/* Pairs with a known pose: two samples of one object of radius 1, or LiDAR scans of a room or a street from two places.
 * The same seed gives the same pair. */
#include "bench/covariance.h"

#include "base/memory.h"
#include "base/random.h"
#include "cloud/points.h"
#include "geom/pose.h"
#include "sample/scans.h"
#include "sample/shape.h"

#include <math.h>
#include <string.h>

typedef enum maker { SCANS, SAMPLES, COPIES, LIDAR_ROOM, LIDAR_STREET } maker;

static const struct kind {
    const char *name;
    maker maker;
    int points[2];   /* of source and target, before anything is cut or merged */
    double noise;    /* deviation: along rays for scans and LiDAR, along each axis for the others */
    double overlap;  /* of scans */
    double cut;      /* samples: points beyond that along a direction of each cloud's own are left out; 0: none */
    double bend;     /* samples: what each scanner bends, deviation along each axis */
    double edge;     /* of cubes whose points are merged; 0: none */
    double turn_deg; /* LiDAR: of the sensor between the two */
    double away;     /* and its way */
} KINDS[] = {
    {.name = "range scans", .maker = SCANS, .points = {2500, 2500}, .noise = 0.002, .overlap = 0.65},
    {.name = "range scans, no noise", .maker = SCANS, .points = {2500, 2500}, .overlap = 0.65},
    {.name = "resampled, no noise", .maker = SAMPLES, .points = {2500, 2500}},
    {.name = "resampled, noise 0.01", .maker = SAMPLES, .points = {2500, 2500}, .noise = 0.01},
    {.name = "resampled, noise 0.03", .maker = SAMPLES, .points = {5000, 5000}, .noise = 0.03},
    {.name = "resampled, noise 0.05", .maker = SAMPLES, .points = {10000, 10000}, .noise = 0.05},
    {.name = "range scans, noise 0.01", .maker = SCANS, .points = {10000, 10000}, .noise = 0.01, .overlap = 0.65},
    {.name = "partial views, no noise", .maker = SAMPLES, .points = {4000, 4000}, .cut = 0.25},
    {.name = "partial views, noise 0.01", .maker = SAMPLES, .points = {4000, 4000}, .noise = 0.01, .cut = 0.25},
    {.name = "voxel-filtered", .maker = SAMPLES, .points = {20000, 20000}, .noise = 0.005, .edge = 0.07},
    {.name = "8 times as dense", .maker = SAMPLES, .points = {8000, 1000}, .noise = 0.002},
    {.name = "an 8th as dense", .maker = SAMPLES, .points = {1000, 8000}, .noise = 0.002},
    {.name = "copies, noise 0.005", .maker = COPIES, .points = {2000, 2000}, .noise = 0.005},
    {.name = "bent by 0.005", .maker = SAMPLES, .points = {12000, 12000}, .noise = 0.001, .bend = 0.005},
    {.name = "LiDAR in a room", .maker = LIDAR_ROOM, .points = {24, 160}, .noise = 0.01, .turn_deg = 8, .away = 0.6},
    {.name = "dense LiDAR in a room",
     .maker = LIDAR_ROOM,
     .points = {48, 256},
     .noise = 0.01,
     .turn_deg = 8,
     .away = 0.6},
    {.name = "dense LiDAR in a street",
     .maker = LIDAR_STREET,
     .points = {48, 256},
     .noise = 0.02,
     .turn_deg = 3,
     .away = 1},
    {.name = "LiDAR in a street", .maker = LIDAR_STREET, .points = {32, 160}, .noise = 0.02, .turn_deg = 3, .away = 1},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS, MOST_BOXES = 40 };
static const double PI = 3.141592653589793;

const char *atn_covariance_kind(int32_t kind) { return kind >= 0 && kind < N_KINDS ? KINDS[kind].name : NULL; }

typedef struct list {
    double *at; /* owned; three for each */
    size_t count;
} list;

/* Source = T^-1 target. */
static void move_back(const double t[16], double p[3]) {
    double moved[3] = {p[0] - t[3], p[1] - t[7], p[2] - t[11]};
    for (int d = 0; d < 3; ++d) p[d] = t[d] * moved[0] + t[4 + d] * moved[1] + t[8 + d] * moved[2];
}

static void put_pose(const geom_pose *pose, double t[16]) {
    memset(t, 0, 16 * sizeof *t);
    for (int i = 0; i < 3; ++i) {
        memcpy(t + 4 * i, pose->a + 3 * i, 3 * sizeof *t);
        t[4 * i + 3] = pose->b[i];
    }
    t[15] = 1;
}

static void draw_pose(atn_random *random, double turn, double way, double t[16]) {
    double twist[6];
    sample_shape_direction(random, twist);
    sample_shape_direction(random, twist + 3);
    for (int i = 0; i < 3; ++i) twist[i] *= turn, twist[3 + i] *= way;
    geom_pose pose = geom_pose_exp(twist);
    put_pose(&pose, t);
}

/* ---- samples of a surface ---- */

/* Where a line at random meets it first: as often on every part that can be seen, for its area. */
static void draw_point(const shape *s, atn_random *random, double out[3]) {
    double t = -1, from[3] = {0}, ray[3] = {0};
    while (t < 0) {
        double side[3], other[3] = {0}, up[3], radius = s->reach * sqrt(atn_random_unit(random));
        double angle = 2 * PI * atn_random_unit(random);
        sample_shape_direction(random, ray);
        for (int d = 0; d < 3; ++d) other[d] = d == (fabs(ray[0]) < 0.6 ? 0 : 1);
        for (int d = 0; d < 3; ++d)
            side[d] = ray[(d + 1) % 3] * other[(d + 2) % 3] - ray[(d + 2) % 3] * other[(d + 1) % 3];
        double length = sqrt(side[0] * side[0] + side[1] * side[1] + side[2] * side[2]);
        for (int d = 0; d < 3; ++d) side[d] /= length;
        for (int d = 0; d < 3; ++d) up[d] = ray[(d + 1) % 3] * side[(d + 2) % 3] - ray[(d + 2) % 3] * side[(d + 1) % 3];
        for (int d = 0; d < 3; ++d)
            from[d] = radius * (cos(angle) * side[d] + sin(angle) * up[d]) - 3 * s->reach * ray[d];
        t = sample_shape_hit(s, from, ray, 0);
    }
    for (int d = 0; d < 3; ++d) out[d] = from[d] + t * ray[d];
}

static void add_noise(atn_random *random, double noise, double p[3]) {
    for (int d = 0; d < 3 && noise > 0; ++d) p[d] += noise * atn_random_normal(random);
}

/* What a scanner bends: waves of a length of 0.4 to 0.8, four along each axis. */
typedef struct bending {
    double wave[3][4][3], phase[3][4], height;
} bending;

static void make_bending(atn_random *random, double deviation, bending *out) {
    out->height = deviation / sqrt(2); /* four waves, half a square each */
    for (int axis = 0; axis < 3 && deviation > 0; ++axis)
        for (int k = 0; k < 4; ++k) {
            double length = 0.4 + 0.4 * atn_random_unit(random);
            sample_shape_direction(random, out->wave[axis][k]);
            for (int d = 0; d < 3; ++d) out->wave[axis][k][d] *= 2 * PI / length;
            out->phase[axis][k] = 2 * PI * atn_random_unit(random);
        }
}

static void bend(const bending *b, double p[3]) {
    double by[3] = {0};
    for (int axis = 0; axis < 3 && b->height > 0; ++axis)
        for (int k = 0; k < 4; ++k) {
            const double *w = b->wave[axis][k];
            by[axis] += b->height * sin(w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + b->phase[axis][k]);
        }
    for (int axis = 0; axis < 3; ++axis) p[axis] += by[axis];
}

static void draw_samples(const shape *s, atn_random *random, const struct kind *kind, int side, const double cut[3],
                         list *out) {
    bending bent = {0};
    make_bending(random, kind->bend, &bent);
    for (int k = 0; k < kind->points[side]; ++k) {
        double p[3] = {0};
        draw_point(s, random, p);
        if (kind->cut > 0 && p[0] * cut[0] + p[1] * cut[1] + p[2] * cut[2] > kind->cut) continue;
        bend(&bent, p);
        add_noise(random, kind->noise, p);
        memcpy(out->at + 3 * out->count++, p, sizeof p);
    }
}

static atn_status make_samples(atn_ctx *ctx, const struct kind *kind, atn_random *random, const double t[16],
                               list out[2]) {
    shape *s = atn_alloc(ctx, sizeof *s);
    double cut[2][3] = {{0}}, dot = 2;
    if (!s) return ATN_ERR_MEMORY;
    sample_shape_make(s, random);
    while (fabs(dot) > 0.5) { /* neither the same part nor opposite ones */
        sample_shape_direction(random, cut[0]);
        sample_shape_direction(random, cut[1]);
        dot = cut[0][0] * cut[1][0] + cut[0][1] * cut[1][1] + cut[0][2] * cut[1][2];
    }
    draw_samples(s, random, kind, 0, cut[0], &out[0]);
    if (kind->maker == COPIES) {
        for (size_t k = 0; k < out[0].count; ++k) {
            memcpy(out[1].at + 3 * k, out[0].at + 3 * k, 3 * sizeof(double));
            add_noise(random, kind->noise, out[1].at + 3 * k);
        }
        out[1].count = out[0].count;
    } else
        draw_samples(s, random, kind, 1, cut[1], &out[1]);
    for (size_t k = 0; k < out[0].count; ++k) move_back(t, out[0].at + 3 * k);
    atn_free(ctx, s);
    return ATN_OK;
}

/* ---- LiDAR ---- */

/* Boxes turned about z; the first one is seen from inside where the scene is a room. */
typedef struct scene {
    struct {
        double low[3], high[3], cosine, sine;
    } box[MOST_BOXES];
    int boxes;
    bool room;
    double reach;
} scene;

static void add_box(scene *s, double x, double y, double z, double wide, double deep, double high, double angle) {
    double low[3] = {x - wide / 2, y - deep / 2, z}, top[3] = {x + wide / 2, y + deep / 2, z + high};
    memcpy(s->box[s->boxes].low, low, sizeof low);
    memcpy(s->box[s->boxes].high, top, sizeof top);
    s->box[s->boxes].cosine = cos(angle);
    s->box[s->boxes++].sine = sin(angle);
}

static double between(atn_random *random, double low, double high) {
    return low + (high - low) * atn_random_unit(random);
}

static void make_room(scene *s, atn_random *random) {
    *s = (scene){.room = true, .reach = 30};
    double wide = between(random, 6, 9), deep = between(random, 4, 7), high = between(random, 2.5, 3.2);
    add_box(s, 0, 0, 0, wide, deep, high, 0);
    for (int k = 0; k < 14; ++k) /* along the walls: the middle is the sensor's */
        add_box(s, between(random, 0.25, 0.45) * wide * (k % 2 ? 1 : -1), between(random, -0.5, 0.5) * deep,
                k % 3 == 2 ? between(random, 0.5, 1.5) : 0, between(random, 0.3, 1.2), between(random, 0.3, 1.2),
                between(random, 0.3, 1.8), between(random, 0, PI));
}

static void make_street(scene *s, atn_random *random) {
    *s = (scene){.reach = 60};
    add_box(s, 0, 0, -1, 200, 200, 1, 0);
    for (int side = -1; side <= 1; side += 2)
        for (int k = -2; k <= 2; ++k) /* houses, cars, poles */
        {
            double x = 14 * k + between(random, -3, 3);
            add_box(s, x, side * between(random, 9, 14), 0, between(random, 7, 12), between(random, 4, 8), 9,
                    between(random, -0.2, 0.2));
            add_box(s, x + between(random, -4, 4), side * between(random, 3.5, 5), 0, 4.3, 1.8, 1.5,
                    between(random, -0.1, 0.1));
            add_box(s, x + between(random, -6, 6), side * between(random, 5, 7), 0, 0.25, 0.25, 5, 0);
        }
}

/* How far along a ray a box is entered, from inside left; negative: never. */
static double meet(const scene *s, int k, const double from[3], const double ray[3]) {
    double c = s->box[k].cosine, n = s->box[k].sine, near = -INFINITY, far = INFINITY;
    double mx = 0.5 * (s->box[k].low[0] + s->box[k].high[0]), my = 0.5 * (s->box[k].low[1] + s->box[k].high[1]);
    double at[3] = {mx + c * (from[0] - mx) + n * (from[1] - my), my - n * (from[0] - mx) + c * (from[1] - my),
                    from[2]};
    double way[3] = {c * ray[0] + n * ray[1], -n * ray[0] + c * ray[1], ray[2]};
    for (int d = 0; d < 3; ++d) {
        double a = (s->box[k].low[d] - at[d]) / way[d], b = (s->box[k].high[d] - at[d]) / way[d];
        near = fmax(near, fmin(a, b));
        far = fmin(far, fmax(a, b));
    }
    if (near > far || far < 0) return -1;
    return s->room && k == 0 ? far : near;
}

/* Rings of rays about the sensor's z; coordinates in its own frame. */
static void look(const scene *s, const struct kind *kind, const double sensor[16], atn_random *random, list *out) {
    double first = 2 * PI * atn_random_unit(random);
    double low = s->room ? -50 : -24, high = s->room ? 50 : 4;
    for (int ring = 0; ring < kind->points[0]; ++ring)
        for (int k = 0; k < kind->points[1]; ++k) {
            double up = (low + (high - low) * ring / (kind->points[0] - 1)) * PI / 180;
            double turn = first + 2 * PI * k / kind->points[1], nearest = s->reach, ray[3];
            double own[3] = {cos(up) * cos(turn), cos(up) * sin(turn), sin(up)};
            double from[3] = {sensor[3], sensor[7], sensor[11]};
            for (int d = 0; d < 3; ++d)
                ray[d] = sensor[4 * d] * own[0] + sensor[4 * d + 1] * own[1] + sensor[4 * d + 2] * own[2];
            for (int b = 0; b < s->boxes; ++b) {
                double t = meet(s, b, from, ray);
                if (t > 0.3 && t < nearest) nearest = t;
            }
            if (!(nearest < s->reach)) continue;
            nearest += kind->noise * atn_random_normal(random);
            for (int d = 0; d < 3; ++d) out->at[3 * out->count + (size_t)d] = nearest * own[d];
            ++out->count;
        }
}

/* The sensor at two places: the source's seen from the target's is the truth. */
static void make_lidar(const struct kind *kind, atn_random *random, double t[16], list out[2]) {
    scene s;
    double sensor[2][16];
    if (kind->maker == LIDAR_ROOM)
        make_room(&s, random);
    else
        make_street(&s, random);
    double turn = 2 * PI * atn_random_unit(random);
    double twist[6] = {
        0.03 * atn_random_normal(random), 0.03 * atn_random_normal(random), turn, 0, 0, s.room ? 1.3 : 1.8};
    geom_pose target = geom_pose_exp(twist);
    put_pose(&target, sensor[1]);
    draw_pose(random, kind->turn_deg * PI / 180, kind->away * between(random, 0.7, 1.3), t);
    t[11] *= 0.2;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) {
            sensor[0][4 * i + j] = j == 3 ? sensor[1][4 * i + 3] : 0;
            for (int k = 0; k < 3; ++k) sensor[0][4 * i + j] += sensor[1][4 * i + k] * t[4 * k + j];
        }
    for (int side = 0; side < 2; ++side) look(&s, kind, sensor[side], random, &out[side]);
}

/* ---- all of them ---- */

static atn_status make_cloud(atn_ctx *ctx, const list *points, double edge, atn_cloud **out) {
    atn_cloud *all = NULL;
    atn_status status = atn_cloud_create(ctx, points->count, points->at, NULL, &all);
    if (status != ATN_OK || !(edge > 0)) {
        *out = all;
        return status;
    }
    status = atn_cloud_voxels(all, edge, out);
    atn_cloud_free(all);
    return status;
}

static atn_status widest_spacing(atn_ctx *ctx, atn_covariance_pair *pair) {
    const atn_cloud *clouds[2] = {pair->source, pair->target};
    atn_status status = ATN_OK;
    for (int side = 0; side < 2 && status == ATN_OK; ++side) {
        cloud_points points = {0};
        double spacing = 0;
        status = cloud_points_of(ctx, clouds[side], &points);
        if (status == ATN_OK) status = cloud_points_spacing(&points, &spacing);
        pair->spacing = fmax(pair->spacing, spacing);
        cloud_points_free(&points);
    }
    return status;
}

static atn_status make_scans(atn_ctx *ctx, const struct kind *kind, uint64_t seed, atn_covariance_pair *out) {
    atn_scans scans;
    atn_scans_settings settings = {
        .size = (size_t)kind->points[0], .seed = seed, .noise = kind->noise, .overlap = kind->overlap, .turn_deg = 20};
    atn_status status = atn_scans_make(ctx, &settings, NULL, NULL, &scans);
    if (status != ATN_OK) return status;
    out->source = scans.source;
    out->target = scans.target;
    memcpy(out->transform, scans.transform, sizeof out->transform);
    return ATN_OK;
}

static atn_status make_lists(atn_ctx *ctx, const struct kind *kind, uint64_t seed, atn_covariance_pair *out) {
    bool lidar = kind->maker == LIDAR_ROOM || kind->maker == LIDAR_STREET;
    size_t rays = (size_t)kind->points[0] * (size_t)kind->points[1];
    list lists[2] = {{0}, {0}};
    atn_random random;
    atn_random_seed(&random, seed);
    atn_status status = ATN_OK;
    for (int side = 0; side < 2 && status == ATN_OK; ++side) {
        lists[side].at = atn_alloc(ctx, 3 * (lidar ? rays : (size_t)kind->points[side]) * sizeof(double));
        if (!lists[side].at) status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK && lidar)
        make_lidar(kind, &random, out->transform, lists);
    else if (status == ATN_OK) {
        draw_pose(&random, 0.35, 0.2, out->transform);
        status = make_samples(ctx, kind, &random, out->transform, lists);
    }
    if (status == ATN_OK) status = make_cloud(ctx, &lists[0], kind->edge, &out->source);
    if (status == ATN_OK) status = make_cloud(ctx, &lists[1], kind->edge, &out->target);
    for (int side = 0; side < 2; ++side) atn_free(ctx, lists[side].at);
    return status;
}

atn_status atn_covariance_pair_make(atn_ctx *ctx, int32_t kind, uint64_t seed, atn_covariance_pair *out) {
    *out = (atn_covariance_pair){0};
    atn_status status = KINDS[kind].maker == SCANS ? make_scans(ctx, &KINDS[kind], seed, out)
                                                   : make_lists(ctx, &KINDS[kind], seed, out);
    if (status == ATN_OK) status = widest_spacing(ctx, out);
    if (status != ATN_OK) atn_covariance_pair_free(out);
    return status;
}

void atn_covariance_pair_free(atn_covariance_pair *pair) {
    atn_cloud_free(pair->source);
    atn_cloud_free(pair->target);
    *pair = (atn_covariance_pair){0};
}
