/* How sure the pose is: the sandwich H^-1 B H^-1 of an estimate that makes F = sum w log(a + o) largest. H, the
 * curvature, from differences of the gradient at poses on either side; B, how much the gradient would differ for other
 * points of the same surfaces, from the terms of single points of both clouds. A twist (w, v) moves a point p to p + w
 * x p + v. */
#include "apps/register/problem.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* sum l J^T (x - y), J^T r = (y x r, r), from moments in units: y x (x - y) = y x x. */
static void gradient(const reg_moments *m, double g[6]) {
    const double *c = m->cross; /* c[3 i + j] = sum l x_i y_j */
    g[0] = c[7] - c[5];
    g[1] = c[2] - c[6];
    g[2] = c[3] - c[1];
    for (int i = 0; i < 3; ++i) g[3 + i] = m->x[i] - m->y[i];
}

typedef struct scene {
    reg_problem *p;
    reg_side *source, *target;
    double k, outlier, reach;
} scene;

static atn_status look(const scene *s, const reg_pose *pose, reg_moments *m) {
    reg_engine *e = &s->p->engine;
    reg_pose rows = reg_pose_scaled(pose, s->k), columns = reg_pose_scaled(&REG_IDENTITY, s->k);
    atn_status status = reg_place(e, s->source, &rows);
    if (status == ATN_OK) status = reg_place(e, s->target, &columns);
    if (status == ATN_OK) status = reg_estep(e, s->source, s->target, s->reach, false);
    return status == ATN_OK ? reg_mstep(e, s->source, s->outlier, s->k, m) : status;
}

/* H = -dg/dtheta by central differences, made symmetric. */
static atn_status curvature(const scene *s, double h[36]) {
    double step = 0.05 / s->k; /* a small part of sigma */
    for (int d = 0; d < 6; ++d) {
        double g[2][6];
        for (int side = 0; side < 2; ++side) {
            double twist[6] = {0};
            reg_moments m;
            twist[d] = side ? step : -step;
            reg_pose by = reg_pose_exp(twist), pose = reg_pose_compose(&by, &s->p->pose);
            atn_status status = look(s, &pose, &m);
            if (status != ATN_OK) return status;
            gradient(&m, g[side]);
        }
        for (int i = 0; i < 6; ++i) h[6 * i + d] = (g[0][i] - g[1][i]) / (2 * step);
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) h[6 * i + j] = h[6 * j + i] = (h[6 * i + j] + h[6 * j + i]) / 2;
    return ATN_OK;
}

/* Adds the squares of what single rows contribute. Their sums are still to be divided by themselves and the outlier
 * class; INFINITY: they are weights already. Leaves the rows' sums of a in front in `number`. */
static atn_status add_terms(reg_side *rows, double outlier, double k, double b[36], double *number) {
    size_t n = rows->padded;
    atn_array *arrays[7] = {rows->sum[0],   rows->sum[1],   rows->sum[2],  rows->sum[3],
                            rows->moved[0], rows->moved[1], rows->moved[2]};
    atn_status status = ATN_OK;
    for (size_t a = 0; a < 7 && status == ATN_OK; ++a) status = reg_array_get(arrays[a], n, number + a * n);
    for (size_t r = 0; r < n && status == ATN_OK; ++r) {
        double whole = isinf(outlier) ? 1 : number[r] + outlier;
        if (!(whole > 0) || !(rows->weight[r] > 0)) continue;
        double w = (double)rows->weight[r] / whole, y[3], f[3], g[6];
        for (size_t i = 0; i < 3; ++i) {
            y[i] = number[(4 + i) * n + r] / k;
            f[i] = w * (number[(1 + i) * n + r] / k - number[r] * y[i]);
        }
        g[0] = y[1] * f[2] - y[2] * f[1];
        g[1] = y[2] * f[0] - y[0] * f[2];
        g[2] = y[0] * f[1] - y[1] * f[0];
        memcpy(g + 3, f, sizeof f);
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) b[6 * i + j] += g[i] * g[j];
    }
    return status;
}

/* Rows, then the other way round: the columns' share, with the weights that the rows gave them. */
static atn_status scatter(const scene *s, double b[36]) {
    const atn_ctx *ctx = s->p->engine.ctx;
    size_t most = s->source->padded > s->target->padded ? s->source->padded : s->target->padded;
    double *number = atn_alloc(ctx, 7 * most * sizeof *number);
    reg_moments m;
    if (!number) return ATN_ERR_MEMORY;
    memset(b, 0, 36 * sizeof *b);
    atn_status status = look(s, &s->p->pose, &m);
    if (status == ATN_OK) status = add_terms(s->source, s->outlier, s->k, b, number);
    if (status == ATN_OK) { /* w / (a + o) of each row becomes its weight */
        for (size_t r = 0; r < s->source->padded; ++r) {
            double w = (double)s->source->weight[r] / (number[r] + s->outlier);
            number[r] = w > 0 ? fmax(log2(w), REG_NOTHING) : REG_NOTHING;
        }
        status = reg_array_put(s->source->log_weight, s->source->padded, number);
    }
    if (status == ATN_OK) status = reg_estep(&s->p->engine, s->target, s->source, s->reach, false);
    if (status == ATN_OK) status = add_terms(s->target, INFINITY, s->k, b, number);
    atn_free(ctx, number);
    return status;
}

/* From twists about the target's frame inside to twists about the caller's origin: w stays, v = unit v + origin x w. */
static void outside(const reg_problem *p, const double c[36], double out[36]) {
    const double *o = p->target_origin;
    double a[36] = {0}, half[36];
    for (int i = 0; i < 3; ++i) {
        a[7 * i] = 1;
        a[7 * (3 + i)] = p->unit;
    }
    a[19] = -o[2], a[20] = o[1], a[24] = o[2], a[26] = -o[0], a[30] = -o[1], a[31] = o[0];
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            half[6 * i + j] = 0;
            for (int k = 0; k < 6; ++k) half[6 * i + j] += a[6 * i + k] * c[6 * k + j];
        }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            out[6 * i + j] = 0;
            for (int k = 0; k < 6; ++k) out[6 * i + j] += half[6 * i + k] * a[6 * j + k];
        }
}

void reg_sandwich(reg_problem *p, const double h[36], const double b[36]) {
    double inverse[36], half[36], c[36];
    if (!reg_invert_symmetric(6, h, inverse)) return;
    for (int pass = 0; pass < 2; ++pass) { /* inverse B inverse */
        const double *left = pass ? half : inverse, *right = pass ? inverse : b;
        double *to = pass ? c : half;
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) {
                to[6 * i + j] = 0;
                for (int k = 0; k < 6; ++k) to[6 * i + j] += left[6 * i + k] * right[6 * k + j];
            }
    }
    outside(p, c, p->result->covariance);
    p->result->has_covariance = true;
}

atn_status reg_em_covariance(reg_problem *p) {
    reg_level *level = &p->level[p->levels - 1];
    double h[36], b[36];
    scene s = {.p = p,
               .source = &level->source,
               .target = &level->target,
               .k = sqrt(M_LOG2E) / p->sigma,
               .outlier = exp2(-p->outlier2 * M_LOG2E)};
    s.reach = sqrt(p->outlier2 * M_LOG2E + log2(level->target.total / p->settings->error_bound));
    double evaluated = p->engine.evaluated;
    atn_status status = curvature(&s, h);
    if (status == ATN_OK) status = scatter(&s, b);
    p->engine.evaluated = evaluated;
    if (status == ATN_OK) reg_sandwich(p, h, b);
    return status;
}
