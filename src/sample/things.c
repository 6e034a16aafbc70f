/* Points are drawn from the whole surface; of two parts along some direction the source has the one and the target the
 * other, so large that the share wanted is in both. Each cloud draws its own points. */
#include "sample/things.h"

#include "base/compare.h"
#include "base/memory.h"
#include "sample/scans.h"
#include "sample/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES = 9, WAVES = 14 };

typedef struct box {
    double turn[9], middle[3], half[3];
    double until; /* share of the area of this box and those before it */
} box;

typedef struct thing {
    thing_kind kind;
    shape *lumpy; /* owned; of lumpy ones */
    box box[BOXES];
    int boxes;
    double wave[WAVES][4]; /* kx, ky, phase, height */
} thing;

static const struct {
    const char *name;
    int32_t poses, sliding;
} KINDS[] = {
    [THING_LUMPY] = {"lumpy", 1, 0},     [THING_BLOCKS] = {"blocks", 1, 0},      [THING_ROOM] = {"room", 1, 0},
    [THING_TERRAIN] = {"terrain", 1, 0}, [THING_SCANS] = {"scans", 1, 0},        [THING_CUBE] = {"cube", 24, 0},
    [THING_BRICK] = {"brick", 4, 0},     [THING_PRISM] = {"square prism", 8, 0}, [THING_CYLINDER] = {"cylinder", 2, 1},
    [THING_SPHERE] = {"sphere", 1, 3},   [THING_PLANE] = {"plane", 2, 3},        [THING_CLOUD] = {"filled cube", 0, 0},
};

const char *thing_name(thing_kind kind) { return KINDS[kind].name; }

const char *thing_pair_name(thing_pair_kind kind) {
    static const char *const NAMES[] = {"same", "mirror image", "another", "filled box"};
    return NAMES[kind];
}

void thing_symmetry(thing_kind kind, int32_t *poses, int32_t *sliding) {
    *poses = KINDS[kind].poses;
    *sliding = KINDS[kind].sliding;
}

/* ---- surfaces ---- */

static double between(atn_random *random, double low, double high) {
    return low + (high - low) * atn_random_unit(random);
}

static void any_turn(atn_random *random, double r[9]) {
    double q[4], length = 0;
    for (int k = 0; k < 4; ++k) q[k] = atn_random_normal(random), length += q[k] * q[k];
    for (int k = 0; k < 4; ++k) q[k] /= sqrt(length);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double all[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                           2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                           2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(r, all, sizeof all);
}

static void turn(const double r[9], const double p[3], double out[3]) {
    for (int a = 0; a < 3; ++a) out[a] = r[3 * a] * p[0] + r[3 * a + 1] * p[1] + r[3 * a + 2] * p[2];
}

static void add_box(thing *t, const double middle[3], const double half[3], const double *r) {
    static const double NONE[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    box *b = &t->box[t->boxes];
    memcpy(b->turn, r ? r : NONE, sizeof b->turn);
    memcpy(b->middle, middle, sizeof b->middle);
    memcpy(b->half, half, sizeof b->half);
    b->until = 8 * (half[0] * half[1] + half[1] * half[2] + half[2] * half[0]);
    if (t->boxes) b->until += b[-1].until;
    ++t->boxes;
}

static void make_blocks(thing *t, atn_random *random) {
    for (int k = 0; k < BOXES; ++k) {
        double middle[3], half[3], r[9];
        for (int a = 0; a < 3; ++a) {
            middle[a] = between(random, -0.7, 0.7);
            half[a] = between(random, 0.08, 0.45);
        }
        any_turn(random, r);
        add_box(t, middle, half, r);
    }
}

static void make_room(thing *t, atn_random *random) {
    double wide = between(random, 0.8, 1.2), long_ = between(random, 1.1, 1.6), high = between(random, 0.4, 0.6);
    add_box(t, (double[3]){0, 0, -high}, (double[3]){wide, long_, 1e-4}, NULL);
    add_box(t, (double[3]){-wide, 0, 0}, (double[3]){1e-4, long_, high}, NULL);
    add_box(t, (double[3]){0, -long_, 0}, (double[3]){wide, 1e-4, high}, NULL);
    while (t->boxes < BOXES) {
        double half[3], at, angle = between(random, 0, 1.5), r[9] = {0};
        for (int a = 0; a < 3; ++a) half[a] = between(random, 0.08, a < 2 ? 0.35 : 0.3);
        at = half[2] - high;
        r[0] = r[4] = cos(angle);
        r[3] = sin(angle);
        r[1] = -r[3];
        r[8] = 1;
        add_box(t, (double[3]){between(random, 0.3 - wide, wide), between(random, 0.3 - long_, long_), at}, half, r);
    }
}

static atn_status make(const atn_ctx *ctx, thing_kind kind, atn_random *random, thing *t) {
    static const double HALF[][3] = {
        [THING_CUBE] = {0.6, 0.6, 0.6}, [THING_BRICK] = {0.4, 0.6, 0.9}, [THING_PRISM] = {0.5, 0.5, 0.9}};
    *t = (thing){.kind = kind};
    if (kind == THING_LUMPY) {
        if (!(t->lumpy = atn_alloc(ctx, sizeof *t->lumpy))) return ATN_ERR_MEMORY;
        sample_shape_make(t->lumpy, random);
    } else if (kind == THING_BLOCKS)
        make_blocks(t, random);
    else if (kind == THING_ROOM)
        make_room(t, random);
    else if (kind == THING_CUBE || kind == THING_BRICK || kind == THING_PRISM)
        add_box(t, (double[3]){0, 0, 0}, HALF[kind], NULL);
    for (int k = 0; k < WAVES && kind == THING_TERRAIN; ++k) {
        double often = between(random, 1.5, 9), way = between(random, 0, 6.2831853);
        t->wave[k][0] = often * cos(way);
        t->wave[k][1] = often * sin(way);
        t->wave[k][2] = between(random, 0, 6.2831853);
        t->wave[k][3] = 0.3 / often;
    }
    return ATN_OK;
}

static void box_point(const thing *t, atn_random *random, double p[3]) {
    double which = atn_random_unit(random) * t->box[t->boxes - 1].until, q[3];
    int k = 0;
    while (k < t->boxes - 1 && which > t->box[k].until) ++k;
    const box *b = &t->box[k];
    double area[3] = {b->half[1] * b->half[2], b->half[2] * b->half[0], b->half[0] * b->half[1]};
    double face = atn_random_unit(random) * (area[0] + area[1] + area[2]);
    int a = face < area[0] ? 0 : face < area[0] + area[1] ? 1 : 2;
    for (int d = 0; d < 3; ++d) q[d] = b->half[d] * between(random, -1, 1);
    q[a] = atn_random_unit(random) < 0.5 ? -b->half[a] : b->half[a];
    turn(b->turn, q, p);
    for (int d = 0; d < 3; ++d) p[d] += b->middle[d];
}

static void point(const thing *t, atn_random *random, double p[3]) {
    switch (t->kind) {
    case THING_LUMPY: {
        double u[3];
        sample_shape_direction(random, u);
        double r = sample_shape_radius(t->lumpy, u);
        for (int a = 0; a < 3; ++a) p[a] = r * u[a];
        return;
    }
    case THING_TERRAIN:
        p[0] = between(random, -1, 1);
        p[1] = between(random, -1, 1);
        p[2] = 0;
        for (int k = 0; k < WAVES; ++k)
            p[2] += t->wave[k][3] * sin(t->wave[k][0] * p[0] + t->wave[k][1] * p[1] + t->wave[k][2]);
        return;
    case THING_CYLINDER: { /* radius 0.5, height 1.6, with its ends */
        double angle = between(random, 0, 6.2831853), r = 0.5, z = between(random, -0.8, 0.8);
        double part = atn_random_unit(random) * (1.6 * 2 + 1);
        if (part < 1) {
            r *= sqrt(atn_random_unit(random));
            z = part < 0.5 ? -0.8 : 0.8;
        }
        p[0] = r * cos(angle), p[1] = r * sin(angle), p[2] = z;
        return;
    }
    case THING_SPHERE:
        sample_shape_direction(random, p);
        return;
    case THING_PLANE: {
        double angle = between(random, 0, 6.2831853), r = sqrt(atn_random_unit(random));
        p[0] = r * cos(angle), p[1] = r * sin(angle), p[2] = 0;
        return;
    }
    case THING_CLOUD:
        for (int a = 0; a < 3; ++a) p[a] = between(random, -1, 1);
        return;
    default:
        box_point(t, random, p);
    }
}

/* ---- a pair ---- */

static double along(const double d[3], const double *p) { return d[0] * p[0] + d[1] * p[1] + d[2] * p[2]; }

/* Where a share of the surface lies below, along d. */
static double quantile(const thing *t, const double d[3], double share) {
    enum { DRAWN = 2000 };
    double at[DRAWN], p[3];
    atn_random random;
    atn_random_seed(&random, 11);
    for (size_t k = 0; k < DRAWN; ++k) {
        point(t, &random, p);
        at[k] = along(d, p);
    }
    qsort(at, DRAWN, sizeof *at, atn_ascending_double);
    return share >= 1 ? INFINITY : at[(size_t)(share * DRAWN)];
}

/* What a cloud is drawn from. */
typedef struct view {
    const thing *thing;
    double direction[3], below; /* points that are lower along the direction */
    double noise, outliers;
    double mirror;      /* -1: of x */
    const double *move; /* 4 x 4, back: the cloud's frame is T^-1 of the thing's; NULL: it is the thing's */
} view;

static atn_status draw(atn_ctx *ctx, const view *v, size_t n, atn_random *random, atn_cloud **out) {
    double *points = atn_alloc(ctx, 3 * n * sizeof *points);
    if (!points) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < n; ++k) {
        double p[3], *to = points + 3 * k;
        if (atn_random_unit(random) < v->outliers)
            for (int a = 0; a < 3; ++a) p[a] = between(random, -1.5, 1.5);
        else {
            do point(v->thing, random, p);
            while (along(v->direction, p) > v->below);
            for (int a = 0; a < 3; ++a) p[a] += v->noise * atn_random_normal(random);
        }
        p[0] *= v->mirror;
        for (int a = 0; a < 3; ++a) to[a] = p[a];
        if (!v->move) continue;
        for (int a = 0; a < 3; ++a) p[a] -= v->move[4 * a + 3];
        for (int a = 0; a < 3; ++a) to[a] = v->move[a] * p[0] + v->move[4 + a] * p[1] + v->move[8 + a] * p[2];
    }
    atn_status status = atn_cloud_create(ctx, n, points, NULL, out);
    atn_free(ctx, points);
    return status;
}

static void any_pose(atn_random *random, double t[16]) {
    double r[9];
    any_turn(random, r);
    memset(t, 0, 16 * sizeof *t);
    for (int i = 0; i < 3; ++i) {
        memcpy(t + 4 * i, r + 3 * i, 3 * sizeof *t);
        t[4 * i + 3] = between(random, -3, 3);
    }
    t[15] = 1;
}

/* Two scans have their own way of overlapping; their points are as many. */
static atn_status make_scans(atn_ctx *ctx, const thing_settings *s, thing_pair *out) {
    atn_scans scans[2] = {{0}, {0}};
    atn_scans_settings settings = {
        .size = s->source, .seed = s->seed, .noise = s->noise * out->spacing, .overlap = s->overlap, .turn_deg = -1};
    atn_status status = atn_scans_make(ctx, &settings, NULL, NULL, &scans[0]);
    if (status == ATN_OK && s->pair != THING_SAME) {
        settings.seed += 1000003;
        status = atn_scans_make(ctx, &settings, NULL, NULL, &scans[1]);
    }
    if (status == ATN_OK) {
        int other = s->pair != THING_SAME;
        out->source = scans[0].source;
        out->target = scans[other].target;
        scans[0].source = scans[other].target = NULL;
        memcpy(out->transform, scans[0].transform, sizeof out->transform);
    }
    atn_scans_free(&scans[0]);
    atn_scans_free(&scans[1]);
    return status;
}

atn_status thing_pair_make(atn_ctx *ctx, const thing_settings *s, thing_pair *out) {
    thing things[2] = {{0}, {0}}, filled = {.kind = THING_CLOUD};
    double share = 1 / (2 - s->overlap), sparser = (double)(s->source < s->target ? s->source : s->target);
    atn_random random;
    *out = (thing_pair){.spacing = 0.5 * sqrt(6 * share / (sparser * (1 - s->outliers)))}; /* surfaces of about 6 */
    if (s->kind == THING_SCANS) return make_scans(ctx, s, out);
    atn_random_seed(&random, s->seed);
    any_pose(&random, out->transform);
    atn_status status = make(ctx, s->kind, &random, &things[0]);
    bool other = s->pair == THING_OTHER;
    if (status == ATN_OK && other) status = make(ctx, s->kind, &random, &things[1]);
    view views[2] = {{.thing = &things[0],
                      .noise = s->noise * out->spacing,
                      .outliers = s->outliers,
                      .mirror = s->pair == THING_MIRRORED ? -1 : 1,
                      .move = out->transform}};
    sample_shape_direction(&random, views[0].direction);
    views[1] = views[0];
    views[1].mirror = 1;
    views[1].move = NULL;
    if (s->pair == THING_BOX || other) views[1].thing = other ? &things[1] : &filled;
    for (int a = 0; a < 3; ++a) views[1].direction[a] = -views[0].direction[a];
    for (int k = 0; k < 2; ++k) views[k].below = quantile(views[k].thing, views[k].direction, share);
    if (status == ATN_OK) status = draw(ctx, &views[0], s->source, &random, &out->source);
    if (status == ATN_OK) status = draw(ctx, &views[1], s->target, &random, &out->target);
    for (int k = 0; k < 2; ++k) atn_free(ctx, things[k].lumpy);
    if (status != ATN_OK) thing_pair_free(out);
    return status;
}

void thing_pair_free(thing_pair *pair) {
    atn_cloud_free(pair->source);
    atn_cloud_free(pair->target);
    *pair = (thing_pair){0};
}
