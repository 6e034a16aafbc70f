/* Pairs of the polish. The spread of a cloud about a point has the variances l0 <= l1 <= l2 along u_k; C = sum (l_k /
 * l0)^2 u_k u_k^T, and a distance d counts as d^T W d, W = 2 (C_x + R C_y R^T)^-1: across a surface fully, along it
 * hardly (so that edges of a partial view do not pull), in all directions alike where points fill space. Both clouds'
 * shapes, since a plane of one alone lies outside of what is curved. */
#include "apps/register/polish.h"

#include "apps/register/nth.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

static const double TUKEY = 4.7; /* deviations beyond which a pair counts for nothing */
enum { ROOM = 8192 };            /* for the median */
enum { STRETCH = 4096 };         /* pairs whose sums one thread makes: the same for any number of threads */

static void apply(const float w[6], const double d[3], double out[3]) {
    out[0] = (double)w[0] * d[0] + (double)w[3] * d[1] + (double)w[4] * d[2];
    out[1] = (double)w[3] * d[0] + (double)w[1] * d[1] + (double)w[5] * d[2];
    out[2] = (double)w[4] * d[0] + (double)w[5] * d[1] + (double)w[2] * d[2];
}

/* Where source point r is, and what its partner is away. */
static void pair_at(const reg_polish_state *s, const reg_pose *pose, size_t r, double y[3], double d[3]) {
    size_t j = (size_t)s->index[r];
    double at[3] = {s->source->position[0][r], s->source->position[1][r], s->source->position[2][r]};
    reg_pose_apply(pose, at, y);
    for (int i = 0; i < 3; ++i) d[i] = s->target->position[i][j] - y[i];
}

/* 2 (C_x + R C_y R^T)^-1; without the source's: C_x^-1. */
static void weigh(const reg_polish_state *s, const reg_pose *pose, size_t r, float out[6]) {
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

/* The median of some thousand of them. */
static double median(reg_polish_state *s) {
    size_t every = s->pairs / (ROOM / 2) | 1, taken = 0; /* odd: no place of a block is left out */
    for (size_t r = 0; r < s->source->padded && taken < ROOM; r += every)
        if (s->index[r] >= 0) s->room[taken++] = s->q[r];
    return taken ? reg_nth(s->room, taken, taken / 2) : 0;
}

/* Of a stretch of pairs. */
typedef struct sums {
    double h[36], g[6], weight, cost;
    size_t pairs;
} sums;

typedef struct task {
    reg_polish_state *s;
    const reg_pose *pose;
} task;

static void weigh_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    reg_polish_state *s = t->s;
    (void)worker;
    for (size_t k = (size_t)from; k < (size_t)to; ++k) {
        size_t first = k * STRETCH, end = first + STRETCH < s->source->padded ? first + STRETCH : s->source->padded;
        size_t pairs = 0;
        for (size_t r = first; r < end; ++r) {
            double y[3], d[3], f[3];
            if (s->index[r] < 0) continue;
            if (!(s->source->weight[r] > 0)) {
                s->index[r] = -1;
                continue;
            }
            pair_at(s, t->pose, r, y, d);
            weigh(s, t->pose, r, s->w[r]);
            apply(s->w[r], d, f);
            s->q[r] = d[0] * f[0] + d[1] * f[1] + d[2] * f[2];
            ++pairs;
        }
        s->sums[k].pairs = pairs;
    }
}

static size_t stretches(const reg_polish_state *s) { return (s->source->padded + STRETCH - 1) / STRETCH; }

atn_status reg_polish_pairs(reg_polish_state *s, const reg_pose *pose, double reach) {
    reg_engine *e = &s->p->engine;
    atn_status status = reg_place(e, s->source, pose);
    if (status == ATN_OK) status = reg_place(e, s->target, &REG_IDENTITY);
    if (status == ATN_OK) status = reg_nearest(e, s->source, s->target, reach, s->distance2, s->index);
    s->pairs = 0;
    double since = atn_clock_seconds();
    if (status == ATN_OK) atn_parallel((int64_t)stretches(s), 1, weigh_some, &(task){s, pose});
    for (size_t k = 0; k < stretches(s) && status == ATN_OK; ++k) s->pairs += s->sums[k].pairs;
    double least = 1e-5 * s->surface->spacing;
    if (!s->settled) s->scale2 = fmax(2.2 * (status == ATN_OK ? median(s) : 0), least * least); /* 1.4826 squared */
    reg_timed(e, REG_PAIRS, since);
    return status;
}

double reg_polish_term(const reg_polish_state *s, const reg_pose *pose, size_t r, double y[3], double g[6]) {
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

static void sum_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    const reg_polish_state *s = t->s;
    (void)worker;
    for (int64_t k = from; k < to; ++k) {
        sums *into = &s->sums[k];
        size_t first = (size_t)k * STRETCH, end = first + STRETCH;
        *into = (sums){0};
        for (size_t r = first; r < s->source->padded && r < end; ++r) {
            double y[3], g[6], w;
            if (s->index[r] < 0 || !((w = reg_polish_term(s, t->pose, r, y, g)) > 0)) continue;
            add_curvature(s->w[r], y, w, into->h);
            for (int i = 0; i < 6; ++i) into->g[i] += w * g[i];
            into->weight += w;
            into->cost += w * s->q[r];
        }
    }
}

void reg_polish_sum(reg_polish_state *s, const reg_pose *pose) {
    double since = atn_clock_seconds();
    atn_parallel((int64_t)stretches(s), 1, sum_some, &(task){s, pose});
    memset(s->h, 0, sizeof s->h);
    memset(s->g, 0, sizeof s->g);
    s->weight = s->cost = 0;
    for (size_t k = 0; k < stretches(s); ++k) {
        for (int i = 0; i < 36; ++i) s->h[i] += s->sums[k].h[i];
        for (int i = 0; i < 6; ++i) s->g[i] += s->sums[k].g[i];
        s->weight += s->sums[k].weight;
        s->cost += s->sums[k].cost;
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) s->h[6 * i + j] = s->h[6 * j + i];
    reg_timed(&s->p->engine, REG_FIT, since);
}

atn_status reg_polish_open(reg_problem *p, const reg_surface *surface, reg_side *source, reg_side *target,
                           reg_polish_state *out) {
    const atn_ctx *ctx = p->engine.ctx;
    size_t n = source->padded;
    *out = (reg_polish_state){.p = p, .surface = surface, .source = source, .all = source, .target = target};
    if ((out->w = atn_alloc(ctx, n * sizeof *out->w)) && (out->index = atn_alloc(ctx, n * sizeof *out->index)) &&
        (out->distance2 = atn_alloc(ctx, n * sizeof *out->distance2)) &&
        (out->q = atn_alloc(ctx, n * sizeof *out->q)) &&
        (out->sums = atn_alloc(ctx, (n / STRETCH + 1) * sizeof *out->sums)) &&
        (out->room = atn_alloc(ctx, ROOM * sizeof *out->room)))
        return ATN_OK;
    reg_polish_close(out);
    return ATN_ERR_MEMORY;
}

void reg_polish_close(reg_polish_state *s) {
    if (!s->p) return;
    const atn_ctx *ctx = s->p->engine.ctx;
    atn_free(ctx, s->w);
    atn_free(ctx, s->index);
    atn_free(ctx, s->distance2);
    atn_free(ctx, s->q);
    atn_free(ctx, s->room);
    atn_free(ctx, s->sums);
    *s = (reg_polish_state){0};
}
