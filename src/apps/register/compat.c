/* EM-ICP exactly as the published code computes it, to compare with: weights sqrt(a / C), rows without partners spread
 * evenly over the target, sigma squared from 0.01 by 0.9 to 1e-5 (66 steps) in the data's own unit, d0 squared 0.01. */
#include "apps/register/problem.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

static const double SIGMA2 = 0.01, FACTOR = 0.9, LAST = 1e-5, D02 = 0.01, NOTHING = 1e-6;

/* The row sums as the host sees them. */
typedef struct row_sums {
    double *number; /* square, sum, sum_x, sum_y, sum_z, y_x, y_y, y_z: `padded` of each */
    atn_array *square;
} row_sums;

static geom_pose scaled(const geom_pose *pose, double k) {
    geom_pose s = *pose;
    for (int i = 0; i < 9; ++i) s.a[i] *= k;
    for (int i = 0; i < 3; ++i) s.b[i] *= k;
    return s;
}

static atn_status read_sums(const reg_side *rows, const row_sums *sums) {
    atn_array *arrays[8] = {sums->square, rows->sum[0],   rows->sum[1],   rows->sum[2],
                            rows->sum[3], rows->moved[0], rows->moved[1], rows->moved[2]};
    atn_status status = ATN_OK;
    for (size_t k = 0; k < 8 && status == ATN_OK; ++k)
        status = reg_array_get(arrays[k], rows->padded, sums->number + k * rows->padded);
    return status;
}

/* Step 3 and 4 of the method, in units. */
static void gather(const reg_side *rows, const reg_side *columns, const row_sums *sums, double k, double outlier,
                   geom_moments *m) {
    size_t n = rows->padded;
    const double *s = sums->number;
    double mean[3] = {0, 0, 0};
    for (size_t j = 0; j < columns->padded; ++j)
        for (int i = 0; i < 3; ++i) mean[i] += (double)columns->weight[j] * columns->position[i][j] / columns->total;
    *m = (geom_moments){0};
    for (size_t r = 0; r < n; ++r) {
        if (!(rows->weight[r] > 0)) continue;
        double whole = s[r] + outlier, x[3], lambda = 1;
        for (int i = 0; i < 3; ++i) x[i] = mean[i];
        if (whole > NOTHING) {
            lambda = s[n + r] / sqrt(whole);
            for (size_t i = 0; i < 3; ++i) x[i] = s[n + r] > 0 ? s[(2 + i) * n + r] / s[n + r] / k : 0;
        }
        m->weight += lambda;
        for (size_t i = 0; i < 3; ++i) {
            m->x[i] += lambda * x[i];
            m->y[i] += lambda * s[(5 + i) * n + r] / k;
            for (size_t j = 0; j < 3; ++j) m->cross[3 * i + j] += lambda * x[i] * s[(5 + j) * n + r] / k;
        }
    }
}

static atn_status step(reg_problem *p, double sigma2, const row_sums *sums, bool *fits) {
    reg_level *level = &p->level[0];
    reg_side *rows = &level->source, *columns = &level->target;
    double sigma = sqrt(sigma2) / p->unit, k = sqrt(M_LOG2E / 2) / sigma;
    geom_pose row_pose = scaled(&p->pose, k), column_pose = scaled(&GEOM_IDENTITY, k), by;
    atn_status status = reg_place(&p->engine, rows, &row_pose);
    if (status == ATN_OK) status = reg_place(&p->engine, columns, &column_pose);
    if (status == ATN_OK) status = reg_estep_compat(&p->engine, rows, columns, sums->square);
    if (status == ATN_OK) status = read_sums(rows, sums);
    if (status != ATN_OK) return status;
    double since = atn_clock_seconds();
    geom_moments moments;
    gather(rows, columns, sums, k, exp(-D02 / sigma2), &moments);
    *fits = geom_fit(&moments, ATN_TRANSFORM_RIGID, &by);
    geom_pose next = geom_pose_compose(&by, &p->pose);
    double motion = geom_pose_motion(&p->pose, &next, rows->bounds.low, rows->bounds.high);
    if (*fits) p->pose = next;
    p->sigma = sigma;
    ++p->iterations;
    reg_timed(&p->engine, REG_FIT, since);
    return reg_step_done(p, sigma, 0, motion, rows->count, columns->count);
}

atn_status reg_em_compat(reg_problem *p) {
    row_sums sums = {0};
    bool fits = true;
    atn_status status = ATN_OK;
    const reg_side *rows = &p->level[0].source;
    if (!(sums.number = atn_alloc(p->engine.ctx, 8 * rows->padded * sizeof(double)))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK)
        status = atn_array_create_vector(p->engine.device, p->engine.type, (int64_t)rows->padded, &sums.square);
    for (double sigma2 = SIGMA2; sigma2 > LAST && fits && status == ATN_OK; sigma2 *= FACTOR)
        status = step(p, sigma2, &sums, &fits);
    p->converged = fits;
    snprintf(p->reason, sizeof p->reason, fits ? "all steps of the published schedule" : "no pairs are left");
    atn_array_free(sums.square);
    atn_free(p->engine.ctx, sums.number);
    return status;
}
