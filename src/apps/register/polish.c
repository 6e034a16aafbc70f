/* The last steps of a rigid pose: each source point and the nearest target point, distances weighed by what both clouds
 * look like there (as in generalized ICP, Segal and others 2009). The spread of a cloud about a point has the variances
 * l0 <= l1 <= l2 along u_k; C = sum (l_k / l0)^2 u_k u_k^T, and a distance d counts as d^T W d, W = 2 (C_x + R C_y
 * R^T)^-1: across a surface fully, along it hardly (so that edges of a partial view do not pull), in all directions
 * alike where points fill space. Both clouds' shapes, since a plane of one alone lies outside of what is curved.
 * Gauss-Newton steps with Tukey's weights; pairs may be the less apart the longer it goes on. */
#include "apps/register/surface.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEAREST = 2;    /* spacings that pairs may be apart at the end */
static const double NARROWER = 0.6; /* of how far they may be apart, from step to step */
static const double COARSE = 4;     /* a level's source is used while pairs may be that many of its edges apart */
static const double FITS = 0.4;     /* spacings within which a pair fits */
static const double TUKEY = 4.7;    /* deviations beyond which a pair counts for nothing */
static const double CALM = 0.1;     /* motion, in spacings, from which on nothing else changes */
static const double DONE = 1e-3;    /* motion, in spacings, that ends it */
enum { STEPS = 30 };

typedef struct polish {
    reg_problem *p;
    reg_side *source, *target; /* the points of this step */
    reg_side *all;             /* source points */
    const reg_surface *surface;
    float (*w)[6];  /* W per pair */
    int32_t *index; /* per source point its partner, -1: none */
    double *distance2;
    double *q;     /* d^T W d per pair */
    double *room;  /* for the median */
    bool settled;  /* scale2 and reach stay as they are */
    double scale2; /* deviation squared of the square root of q */
    double h[36], g[6];
    double weight, cost;
    size_t pairs;
} polish;

/* ---- a step ---- */

static void apply(const float w[6], const double d[3], double out[3]) {
    out[0] = (double)w[0] * d[0] + (double)w[3] * d[1] + (double)w[4] * d[2];
    out[1] = (double)w[3] * d[0] + (double)w[1] * d[1] + (double)w[5] * d[2];
    out[2] = (double)w[4] * d[0] + (double)w[5] * d[1] + (double)w[2] * d[2];
}

/* Where source point r is, and what its partner is away. */
static void pair_at(const polish *s, const reg_pose *pose, size_t r, double y[3], double d[3]) {
    size_t j = (size_t)s->index[r];
    double at[3] = {s->source->position[0][r], s->source->position[1][r], s->source->position[2][r]};
    reg_pose_apply(pose, at, y);
    for (int i = 0; i < 3; ++i) d[i] = s->target->position[i][j] - y[i];
}

/* 2 (C_x + R C_y R^T)^-1; without the source's: C_x^-1. */
static void weigh(const polish *s, const reg_pose *pose, size_t r, float out[6]) {
    const float *target = s->surface->target[s->index[r]];
    double c[6], factor = 1;
    for (int k = 0; k < 6; ++k) c[k] = (double)target[k];
    if (s->source == s->all) {
        const float *source = s->surface->source[r];
        double half[9];
        for (int i = 0; i < 9; ++i) {
            half[i] = 0;
            for (int k = 0; k < 3; ++k) half[i] += pose->a[i / 3 * 3 + k] * (double)source[REG_PLACES[3 * k + i % 3]];
        }
        for (int k = 0; k < 6; ++k)
            for (int j = 0; j < 3; ++j) c[k] += half[3 * REG_AXES[k][0] + j] * pose->a[3 * REG_AXES[k][1] + j];
        factor = 2;
    }
    double a = c[1] * c[2] - c[5] * c[5], b = c[4] * c[5] - c[3] * c[2], d = c[3] * c[5] - c[4] * c[1];
    double det = c[0] * a + c[3] * b + c[4] * d; /* > 0: all eigenvalues are 1 or more */
    factor /= det;
    out[0] = (float)(factor * a);
    out[1] = (float)(factor * (c[0] * c[2] - c[4] * c[4]));
    out[2] = (float)(factor * (c[0] * c[1] - c[3] * c[3]));
    out[3] = (float)(factor * b);
    out[4] = (float)(factor * d);
    out[5] = (float)(factor * (c[3] * c[4] - c[0] * c[5]));
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of at most 4096 of them. */
static double median(polish *s) {
    size_t every = s->pairs / 4096 + 1, seen = 0, taken = 0;
    for (size_t r = 0; r < s->source->padded; ++r)
        if (s->index[r] >= 0 && seen++ % every == 0) s->room[taken++] = s->q[r];
    qsort(s->room, taken, sizeof *s->room, ascending);
    return taken ? s->room[taken / 2] : 0;
}

static atn_status find_pairs(polish *s, const reg_pose *pose, double reach) {
    reg_engine *e = &s->p->engine;
    atn_status status = reg_place(e, s->source, pose);
    if (status == ATN_OK) status = reg_place(e, s->target, &REG_IDENTITY);
    if (status == ATN_OK) status = reg_nearest(e, s->source, s->target, reach, s->distance2, s->index);
    s->pairs = 0;
    for (size_t r = 0; r < s->source->padded && status == ATN_OK; ++r) {
        if (s->index[r] < 0) continue;
        if (!(s->source->weight[r] > 0)) {
            s->index[r] = -1;
            continue;
        }
        double y[3], d[3], f[3];
        pair_at(s, pose, r, y, d);
        weigh(s, pose, r, s->w[r]);
        apply(s->w[r], d, f);
        s->q[r] = d[0] * f[0] + d[1] * f[1] + d[2] * f[2];
        ++s->pairs;
    }
    double least = 1e-5 * s->surface->spacing;
    if (!s->settled) s->scale2 = fmax(2.2 * (status == ATN_OK ? median(s) : 0), least * least); /* 1.4826 squared */
    return status;
}

/* Tukey's weight of a pair, and its gradient J^T W d. */
static double term(const polish *s, const reg_pose *pose, size_t r, double y[3], double g[6]) {
    double u = s->q[r] / (TUKEY * TUKEY * s->scale2), d[3], f[3];
    if (u >= 1) return 0;
    pair_at(s, pose, r, y, d);
    apply(s->w[r], d, f);
    g[0] = y[1] * f[2] - y[2] * f[1];
    g[1] = y[2] * f[0] - y[0] * f[2];
    g[2] = y[0] * f[1] - y[1] * f[0];
    memcpy(g + 3, f, sizeof f);
    return (double)s->source->weight[r] * (1 - u) * (1 - u);
}

/* Adds weight times J^T W J, J = [-y x, I]; the upper half. */
static void add_curvature(const float w[6], const double y[3], double weight, double h[36]) {
    double full[9] = {(double)w[0], (double)w[3], (double)w[4], (double)w[3], (double)w[1],
                      (double)w[5], (double)w[4], (double)w[5], (double)w[2]};
    double left[9]; /* [y] x W */
    for (int j = 0; j < 3; ++j) {
        left[j] = y[1] * full[6 + j] - y[2] * full[3 + j];
        left[3 + j] = y[2] * full[j] - y[0] * full[6 + j];
        left[6 + j] = y[0] * full[3 + j] - y[1] * full[j];
    }
    for (int i = 0; i < 3; ++i) {
        const double *l = left + 3 * i;
        double turned[3] = {l[2] * y[1] - l[1] * y[2], l[0] * y[2] - l[2] * y[0], l[1] * y[0] - l[0] * y[1]};
        for (int j = 0; j < 3; ++j) {
            h[6 * i + j] += weight * turned[j];
            h[6 * i + 3 + j] += weight * l[j];
            h[6 * (3 + i) + 3 + j] += weight * full[3 * i + j];
        }
    }
}

static void sum_up(polish *s, const reg_pose *pose) {
    double since = atn_clock_seconds();
    memset(s->h, 0, sizeof s->h);
    memset(s->g, 0, sizeof s->g);
    s->weight = s->cost = 0;
    for (size_t r = 0; r < s->source->padded; ++r) {
        double y[3], g[6], w;
        if (s->index[r] < 0 || !((w = term(s, pose, r, y, g)) > 0)) continue;
        add_curvature(s->w[r], y, w, s->h);
        for (int i = 0; i < 6; ++i) s->g[i] += w * g[i];
        s->weight += w;
        s->cost += w * s->q[r];
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) s->h[6 * i + j] = s->h[6 * j + i];
    reg_timed(&s->p->engine, REG_HOST, since);
}

static void square(const float w[6], float out[6]) {
    for (int k = 0; k < 6; ++k) {
        double sum = 0;
        for (int j = 0; j < 3; ++j)
            sum += (double)w[REG_PLACES[3 * REG_AXES[k][0] + j]] * (double)w[REG_PLACES[3 * j + REG_AXES[k][1]]];
        out[k] = (float)sum;
    }
}

/* What a surface does between its points errs alike for neighbours: the terms of all pairs with one block of the target
 * are added before they are squared. */
static atn_status spread_of_terms(const polish *s, const reg_pose *pose, double h[36], double b[36]) {
    memset(h, 0, 36 * sizeof *h);
    const atn_ctx *ctx = s->p->engine.ctx;
    double(*of)[6] = atn_zalloc(ctx, s->target->blocks * sizeof *of);
    if (!of) return ATN_ERR_MEMORY;
    for (size_t r = 0; r < s->source->padded; ++r) {
        double y[3], g[6], w = s->index[r] < 0 ? 0 : term(s, pose, r, y, g);
        if (!(w > 0)) continue;
        double less = 4 * (1 - s->q[r] / (TUKEY * TUKEY * s->scale2)) / (TUKEY * TUKEY * s->scale2);
        float w2[6];
        square(s->w[r], w2);
        add_curvature(w2, y, w, h);
        for (int i = 0; i < 6; ++i) {
            of[(size_t)s->index[r] / s->target->block][i] += w * g[i];
            for (int j = 0; j < 6; ++j) h[6 * i + j] -= (double)s->source->weight[r] * less * g[i] * g[j];
        }
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) h[6 * i + j] = h[6 * j + i];
    memset(b, 0, 36 * sizeof *b);
    for (size_t t = 0; t < s->target->blocks; ++t)
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) b[6 * i + j] += of[t][i] * of[t][j];
    atn_free(ctx, of);
    return ATN_OK;
}

/* ---- all of it ---- */

static atn_status allocate(polish *s) {
    const atn_ctx *ctx = s->p->engine.ctx;
    size_t n = s->source->padded;
    if (!(s->w = atn_alloc(ctx, n * sizeof *s->w)) || !(s->index = atn_alloc(ctx, n * sizeof *s->index)) ||
        !(s->distance2 = atn_alloc(ctx, n * sizeof *s->distance2)) || !(s->q = atn_alloc(ctx, n * sizeof *s->q)) ||
        !(s->room = atn_alloc(ctx, (n < 8192 ? n : 8192) * sizeof *s->room)))
        return ATN_ERR_MEMORY;
    return ATN_OK;
}

/* Where the distance that counts is a small part of the spacing. */
static double share_that_fits(const polish *s) {
    double fits = 0, most = FITS * s->surface->spacing;
    for (size_t r = 0; r < s->source->padded; ++r)
        if (s->index[r] >= 0 && s->q[r] < most * most) fits += (double)s->source->weight[r];
    return fits / s->surface->level->weight;
}

static atn_status steps(polish *s, double reach) {
    reg_problem *p = s->p;
    reg_pose pose = p->pose;
    double began = reach;
    for (int k = 0; k < STEPS && p->iterations < p->settings->most_iterations; ++k) {
        double inverse[36], twist[6];
        reg_level *level = reg_level_for(p, reach / COARSE);
        s->source = level < s->surface->level ? &level->source : s->all;
        atn_status status = find_pairs(s, &pose, reach);
        if (status != ATN_OK) return status;
        sum_up(s, &pose);
        ++p->iterations;
        if (!reg_invert_symmetric(6, s->h, inverse)) return ATN_OK;
        for (int i = 0; i < 6; ++i) {
            twist[i] = 0;
            for (int j = 0; j < 6; ++j) twist[i] += inverse[6 * i + j] * s->g[j];
        }
        reg_pose by = reg_pose_exp(twist), next = reg_pose_compose(&by, &pose);
        double motion = reg_motion(p, &pose, &next);
        if (reg_motion(p, &p->pose, &next) > 4 * began) return ATN_OK; /* it ran away: as if nothing had been */
        status = reg_step_done(p, reach, sqrt(s->cost / fmax(s->weight, 1e-300)), motion, s->source->count,
                               s->target->count);
        if (status != ATN_OK) return status;
        double least = NEAREST * s->surface->spacing;
        bool narrow = reach <= 1.01 * least && s->source == s->all;
        pose = next;
        s->settled = narrow && motion < CALM * s->surface->spacing;
        bool last = k == STEPS - 1 || p->iterations == p->settings->most_iterations;
        if (narrow && motion < (last ? CALM : DONE) * s->surface->spacing) {
            p->pose = pose;
            p->converged = true;
            p->far = least;
            p->share = share_that_fits(s);
            double h[36], b[36];
            if (p->settings->no_covariance) return ATN_OK;
            status = spread_of_terms(s, &pose, h, b);
            if (status == ATN_OK) reg_sandwich(p, h, b);
            return status;
        }
        if (!s->settled) reach = fmax(NARROWER * reach, least);
    }
    return ATN_OK;
}

atn_status reg_polish(reg_problem *p, const reg_surface *surface, double reach) {
    reg_level *level = surface->level;
    polish s = {.p = p, .surface = surface, .source = &level->source, .all = &level->source, .target = &level->target};
    atn_status status = allocate(&s);
    if (status == ATN_OK) status = steps(&s, reach);
    atn_free(p->engine.ctx, s.w);
    atn_free(p->engine.ctx, s.index);
    atn_free(p->engine.ctx, s.distance2);
    atn_free(p->engine.ctx, s.q);
    atn_free(p->engine.ctx, s.room);
    return status;
}
