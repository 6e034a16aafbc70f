/* Which pairs count and how much: trimmed, weighed by a robust kernel. r = distance / scale; weight and cost of
 * Huber: min(1, 1/r), r^2 or 2 r - 1; Tukey: (1 - r^2)^2, (1 - (1 - r^2)^3) / 3; Cauchy: 1 / (1 + r^2), log(1 + r^2).
 * Planes: min sum w (n . (x - y - o x y - v))^2 over twists (o, v). */
#include "apps/register/pairs.h"

#include "geom/nth.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

/* ---- robust kernels ---- */

static double weight_none(double r2) { return (void)r2, 1; }
static double weight_huber(double r2) { return r2 > 1 ? 1 / sqrt(r2) : 1; }
static double weight_tukey(double r2) { return r2 < 1 ? (1 - r2) * (1 - r2) : 0; }
static double weight_cauchy(double r2) { return 1 / (1 + r2); }
static double cost_none(double r2) { return r2; }
static double cost_huber(double r2) { return r2 > 1 ? 2 * sqrt(r2) - 1 : r2; }
static double cost_tukey(double r2) { return r2 < 1 ? (1 - (1 - r2) * (1 - r2) * (1 - r2)) / 3 : 1.0 / 3; }
static double cost_cauchy(double r2) { return log1p(r2); }

/* `width`: how many standard deviations the scale has by default; 95 % as good as plain least squares where errors are
 * Gaussian. */
static const struct {
    double (*weight)(double r2), (*cost)(double r2);
    double width;
} ROBUST[] = {
    [ATN_ROBUST_NONE] = {weight_none, cost_none, 0},
    [ATN_ROBUST_HUBER] = {weight_huber, cost_huber, 1.345},
    [ATN_ROBUST_TUKEY] = {weight_tukey, cost_tukey, 4.685},
    [ATN_ROBUST_CAUCHY] = {weight_cauchy, cost_cauchy, 2.385},
};
static const double DEVIATION = 1.4826; /* standard deviations of a Gaussian for each median of its sizes */

/* ---- stretches of points ---- */

/* What the points of one come to: stretches by all cores, sums of them in order, so that these do not depend on how
 * many cores there are. */
enum { STRETCH = 4096 };
struct reg_pairs_sums {
    size_t count; /* of pairs */
    double most;  /* the largest distance */
    double cost, squares, weight, h[36], g[6];
    geom_moments moments;
};

typedef struct stretches {
    reg_pairs *s;
    const geom_pose *pose;
    double limit2, scale; /* of a fit */
} stretches;

static size_t stretches_of(const reg_pairs *s) { return (s->source->padded + STRETCH - 1) / STRETCH; }

static size_t stretch_end(const reg_pairs *s, size_t stretch) {
    return (stretch + 1) * STRETCH < s->source->padded ? (stretch + 1) * STRETCH : s->source->padded;
}

/* ---- finding ---- */

static atn_status find_normals(reg_pairs *s) {
    const atn_cloud *cloud = s->p->target_cloud;
    if (!atn_cloud_info_of(cloud).normals) {
        atn_status status = atn_cloud_with_normals(cloud, 0, NULL, &s->made);
        if (status != ATN_OK) return status;
        cloud = s->made;
    }
    for (int axis = 0; axis < 3; ++axis) s->normal[axis] = atn_cloud_normals(cloud, axis);
    return ATN_OK;
}

atn_status reg_pairs_open(reg_problem *p, bool plane, reg_pairs *out) {
    const atn_ctx *ctx = p->engine.ctx;
    size_t most = 0;
    for (int32_t k = 0; k < p->levels; ++k) most = p->level[k].source.padded > most ? p->level[k].source.padded : most;
    *out = (reg_pairs){.p = p,
                       .target = &p->level[p->levels - 1].target,
                       .index = atn_alloc(ctx, most * sizeof *out->index),
                       .distance2 = atn_alloc(ctx, most * sizeof *out->distance2),
                       .size = atn_alloc(ctx, most * sizeof *out->size),
                       .sorted = atn_alloc(ctx, most * sizeof *out->sorted),
                       .sums = atn_alloc(ctx, (most / STRETCH + 1) * sizeof *out->sums),
                       .scale = p->settings->robust_scale / p->unit};
    bool all = out->index && out->distance2 && out->size && out->sorted && out->sums;
    atn_status status = all ? ATN_OK : ATN_ERR_MEMORY;
    out->plane = plane;
    if (status == ATN_OK && plane) status = find_normals(out);
    if (status != ATN_OK) reg_pairs_close(out);
    return status;
}

void reg_pairs_close(reg_pairs *s) {
    if (!s->p) return;
    const atn_ctx *ctx = s->p->engine.ctx;
    atn_free(ctx, s->index);
    atn_free(ctx, s->distance2);
    atn_free(ctx, s->size);
    atn_free(ctx, s->sorted);
    atn_free(ctx, s->sums);
    atn_cloud_free(s->made);
    *s = (reg_pairs){0};
}

/* Pair r: where the source point is, the way to its partner, and the normal there (zeros where it is not known). */
static void look_at(const reg_pairs *s, const geom_pose *pose, size_t r, double y[3], double way[3], double normal[3]) {
    size_t at = (size_t)s->index[r];
    double from[3] = {s->source->position[0][r], s->source->position[1][r], s->source->position[2][r]};
    geom_pose_apply(pose, from, y);
    for (int i = 0; i < 3; ++i) {
        way[i] = s->target->position[i][at] - y[i];
        normal[i] = 0;
    }
    if (!s->plane) return;
    size_t of = s->p->target_from[s->target->origin[at]];
    if (s->p->target_kept) of = s->p->target_kept[of];
    for (int i = 0; i < 3; ++i) normal[i] = (double)s->normal[i][of];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Distances in double, pairs without a normal dropped. */
static void measure_some(void *user, int64_t from, int64_t to) {
    const stretches *t = user;
    const reg_pairs *s = t->s;
    for (size_t stretch = (size_t)from; stretch < (size_t)to; ++stretch) {
        struct reg_pairs_sums *sums = &s->sums[stretch];
        sums->count = 0;
        sums->most = 0;
        for (size_t r = stretch * STRETCH; r < stretch_end(s, stretch); ++r) {
            double y[3], way[3], normal[3];
            if (!(s->source->weight[r] > 0)) s->index[r] = -1;
            if (s->index[r] < 0) continue;
            look_at(s, t->pose, r, y, way, normal);
            if (s->plane && !(dot(normal, normal) > 0)) {
                s->index[r] = -1;
                continue;
            }
            s->distance2[r] = dot(way, way);
            s->size[r] = s->plane ? fabs(dot(normal, way)) : sqrt(s->distance2[r]);
            sums->most = fmax(sums->most, sqrt(s->distance2[r]));
            ++sums->count;
        }
    }
}

static void measure(reg_pairs *s, const geom_pose *pose) {
    s->count = 0;
    s->most = 0;
    atn_parallel((int64_t)stretches_of(s), 1, measure_some, &(stretches){.s = s, .pose = pose});
    for (size_t k = 0; k < stretches_of(s); ++k) {
        s->count += s->sums[k].count;
        s->most = fmax(s->most, s->sums[k].most);
    }
}

static size_t copy(const reg_pairs *s, const double *from, double limit2) {
    size_t n = 0;
    for (size_t r = 0; r < s->source->padded; ++r)
        if (s->index[r] >= 0 && s->distance2[r] <= limit2) s->sorted[n++] = from[r];
    return n;
}

atn_status reg_pairs_find(reg_pairs *s, reg_level *level, const geom_pose *pose, double reach) {
    reg_engine *e = &s->p->engine;
    const atn_register_settings *settings = s->p->settings;
    reg_side *source = s->source = &level->source;
    s->target = s->plane ? &s->p->level[s->p->levels - 1].target : &level->target;
    atn_status status = reg_place(e, source, pose);
    if (status == ATN_OK) status = reg_place(e, s->target, &GEOM_IDENTITY);
    if (status == ATN_OK) status = reg_nearest(e, source, s->target, reach, s->distance2, s->index);
    if (status != ATN_OK) return status;
    double since = atn_clock_seconds();
    measure(s, pose);
    s->limit2 = INFINITY;
    if (settings->trim > 0 && s->count) {
        size_t kept = (size_t)ceil((1 - settings->trim) * (double)s->count), n = copy(s, s->distance2, INFINITY);
        s->limit2 = geom_nth(s->sorted, n, kept ? kept - 1 : 0);
    }
    if (settings->robust != ATN_ROBUST_NONE && !(s->scale > 0) && s->count) {
        size_t n = copy(s, s->size, s->limit2);
        double least = fmax(1e-3 * s->p->spacing, 1e-12); /* exact copies have medians of 0 */
        s->scale = fmax(ROBUST[settings->robust].width * DEVIATION * geom_nth(s->sorted, n, n / 2), least);
    }
    reg_timed(e, REG_FIT, since);
    return ATN_OK;
}

/* ---- fitting ---- */

/* (y x n, n): how n . y changes with a twist. */
static void lever(const double y[3], const double n[3], double j[6]) {
    j[0] = y[1] * n[2] - y[2] * n[1];
    j[1] = y[2] * n[0] - y[0] * n[2];
    j[2] = y[0] * n[1] - y[1] * n[0];
    memcpy(j + 3, n, 3 * sizeof *n);
}

static void add_square(double h[36], double w, const double j[6]) {
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b) h[6 * a + b] += w * j[a] * j[b];
}

static void add_pair(geom_moments *m, double w, const double y[3], const double way[3]) {
    double x[3] = {y[0] + way[0], y[1] + way[1], y[2] + way[2]};
    int place = 0;
    m->weight += w;
    for (int i = 0; i < 3; ++i) {
        m->y[i] += w * y[i];
        m->x[i] += w * x[i];
        for (int k = 0; k < 3; ++k) m->cross[3 * i + k] += w * x[i] * y[k];
        for (int k = i; k < 3; ++k) m->spread[place++] += w * y[i] * y[k];
    }
}

/* The smallest twist that solves H t = g: directions that nothing tells are left alone. */
static bool solve(const double h[36], const double g[6], double twist[6]) {
    double value[6], vector[36];
    geom_eigen(6, h, value, vector);
    if (!(value[5] > 0)) return false;
    memset(twist, 0, 6 * sizeof *twist);
    for (int k = 0; k < 6; ++k) {
        double along = 0;
        if (value[k] <= 1e-9 * value[5]) continue;
        for (int i = 0; i < 6; ++i) along += vector[6 * i + k] * g[i];
        for (int i = 0; i < 6; ++i) twist[i] += along / value[k] * vector[6 * i + k];
    }
    return true;
}

/* Pairs that do not count are taken for such of the limit. */
static void fit_some(void *user, int64_t from, int64_t to) {
    const stretches *t = user;
    const reg_pairs *s = t->s;
    const atn_robust robust = s->p->settings->robust;
    const double scale2 = t->scale * t->scale;
    for (size_t stretch = (size_t)from; stretch < (size_t)to; ++stretch) {
        struct reg_pairs_sums *sums = &s->sums[stretch];
        *sums = (struct reg_pairs_sums){.count = 0};
        for (size_t r = stretch * STRETCH; r < stretch_end(s, stretch); ++r) {
            double y[3], way[3], normal[3], j[6], w = (double)s->source->weight[r];
            bool counts = s->index[r] >= 0 && s->distance2[r] <= t->limit2;
            double r2 = counts ? s->size[r] * s->size[r] / scale2 : t->limit2 / scale2;
            if (w > 0 && r2 < INFINITY) sums->cost += w * ROBUST[robust].cost(r2);
            if (!counts) continue;
            w *= ROBUST[robust].weight(r2);
            look_at(s, t->pose, r, y, way, normal);
            sums->weight += w;
            sums->squares += w * s->size[r] * s->size[r];
            if (!s->plane) {
                add_pair(&sums->moments, w, y, way);
                continue;
            }
            lever(y, normal, j);
            add_square(sums->h, w, j);
            for (int i = 0; i < 6; ++i) sums->g[i] += w * dot(normal, way) * j[i];
        }
    }
}

void reg_pairs_fit(reg_pairs *s, const geom_pose *pose, double far, atn_transform_kind kind, reg_pairs_step *out) {
    double since = atn_clock_seconds(), h[36] = {0}, g[6] = {0}, squares = 0, weight = 0;
    stretches t = {.s = s,
                   .pose = pose,
                   .limit2 = fmin(s->limit2, far * far),
                   .scale = s->p->settings->robust == ATN_ROBUST_NONE ? 1 : s->scale};
    geom_moments m = {0};
    *out = (reg_pairs_step){.next = *pose};
    atn_parallel((int64_t)stretches_of(s), 1, fit_some, &t);
    for (size_t k = 0; k < stretches_of(s); ++k) {
        const struct reg_pairs_sums *sums = &s->sums[k];
        out->cost += sums->cost;
        squares += sums->squares;
        weight += sums->weight;
        for (int i = 0; i < 36; ++i) h[i] += sums->h[i];
        for (int i = 0; i < 6; ++i) g[i] += sums->g[i];
        geom_moments_add(&m, &sums->moments);
    }
    geom_pose by = GEOM_IDENTITY;
    double twist[6];
    if (!s->plane)
        out->fits = geom_fit(&m, kind, &by);
    else if ((out->fits = weight > 0 && solve(h, g, twist)))
        by = geom_pose_exp(twist);
    if (out->fits) out->next = geom_pose_compose(&by, pose);
    out->rmse = weight > 0 ? sqrt(squares / weight) : 0;
    reg_timed(&s->p->engine, REG_FIT, since);
}
