/* A start from what segmentation finds per scan: the line through the centres (RANSAC, then PCA over its inliers), the
 * end of the tip from the widths (a ramp, then flat), and the transform that lays the model along the line. */
#include "apps/needle/needle.h"

#include "base/memory.h"
#include "base/random.h"
#include "geom/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 500, POLISH = 5 };
static const double WITHIN = 0.1; /* of the line */

static double distance2(const atn_needle_line *line, const double *p) {
    double along = 0, sum = 0;
    for (int k = 0; k < 3; ++k) {
        double d = p[k] - line->point[k];
        along += d * line->direction[k];
        sum += d * d;
    }
    return fmax(sum - along * along, 0);
}

static bool through(const double *a, const double *b, atn_needle_line *out) {
    double length = 0;
    for (int k = 0; k < 3; ++k) length += (b[k] - a[k]) * (b[k] - a[k]);
    if (!(length > 0)) return false;
    for (int k = 0; k < 3; ++k) {
        out->point[k] = a[k];
        out->direction[k] = (b[k] - a[k]) / sqrt(length);
    }
    return true;
}

/* Inliers and the sum of what they are off, others counting as `reach`: of equal numbers the nearer line wins. */
static double cost_of(const atn_needle_line *line, size_t count, const double *centres, double reach, size_t *inliers) {
    double sum = 0;
    *inliers = 0;
    for (size_t k = 0; k < count; ++k) {
        double d2 = distance2(line, centres + 3 * k);
        *inliers += d2 <= reach * reach;
        sum += fmin(d2, reach * reach);
    }
    return sum;
}

/* The line of least squares through the inliers of a line. */
static bool refit(size_t count, const double *centres, double reach, atn_needle_line *line) {
    double mean[3] = {0}, c[6] = {0}, value[3], vector[3][3];
    size_t inliers = 0;
    for (size_t k = 0; k < count; ++k) {
        if (distance2(line, centres + 3 * k) > reach * reach) continue;
        ++inliers;
        for (int d = 0; d < 3; ++d) mean[d] += centres[3 * k + (size_t)d];
    }
    if (inliers < 2) return false;
    for (int d = 0; d < 3; ++d) mean[d] /= (double)inliers;
    for (size_t k = 0; k < count; ++k) {
        if (distance2(line, centres + 3 * k) > reach * reach) continue;
        double x = centres[3 * k] - mean[0], y = centres[3 * k + 1] - mean[1], z = centres[3 * k + 2] - mean[2];
        c[0] += x * x, c[1] += y * y, c[2] += z * z, c[3] += x * y, c[4] += x * z, c[5] += y * z;
    }
    geom_eigen3(c, value, vector);
    if (!(value[2] > 0)) return false;
    memcpy(line->point, mean, sizeof mean);
    memcpy(line->direction, vector[2], sizeof line->direction);
    return true;
}

atn_status atn_needle_axis(atn_ctx *ctx, size_t count, const double *centres, double reach, uint64_t seed,
                           atn_needle_line *out) {
    atn_random random;
    double best = INFINITY, sum = 0;
    *out = (atn_needle_line){0};
    if (reach == 0) reach = WITHIN;
    for (size_t k = 0; k < 3 * count; ++k)
        if (!isfinite(centres[k])) return atn_fail(ctx, ATN_ERR_INPUT, "needle: centre %zu is not finite", k / 3);
    if (!(reach > 0)) return atn_fail(ctx, ATN_ERR_INPUT, "needle: the inlier distance of the axis must be positive");
    if (count < 2) return atn_fail(ctx, ATN_ERR_INPUT, "needle: %zu centres; a line needs at least two", count);
    atn_random_seed(&random, seed);
    bool all = count * (count - 1) / 2 <= DRAWS; /* few: each pair once */
    size_t a = 0, b = 0;
    for (int draw = 0; draw < DRAWS; ++draw) {
        atn_needle_line line = {0};
        size_t inliers;
        if (all) {
            if (++b >= count) b = ++a + 1;
            if (b >= count) break;
        } else {
            a = (size_t)atn_random_below(&random, count);
            b = (size_t)atn_random_below(&random, count);
        }
        if (a == b || !through(centres + 3 * a, centres + 3 * b, &line)) continue;
        double cost = cost_of(&line, count, centres, reach, &inliers);
        if (cost < best) best = cost, *out = line;
    }
    if (!isfinite(best)) return atn_fail(ctx, ATN_ERR_INPUT, "needle: all centres coincide; they determine no line");
    for (int k = 0; k < POLISH; ++k)
        if (!refit(count, centres, reach, out)) break;
    cost_of(out, count, centres, reach, &out->inliers);
    for (size_t k = 0; k < count; ++k) {
        double d2 = distance2(out, centres + 3 * k);
        if (d2 <= reach * reach) sum += d2;
    }
    out->rms = out->inliers ? sqrt(sum / (double)out->inliers) : 0;
    if (out->direction[2] < 0)
        for (int d = 0; d < 3; ++d) out->direction[d] = -out->direction[d];
    return ATN_OK;
}

/* ---- the tip ---- */

typedef struct sample {
    double z, width;
} sample;

static int by_z(const void *a, const void *b) {
    double x = ((const sample *)a)->z, y = ((const sample *)b)->z;
    return (x > y) - (x < y);
}

/* width = flat - slope max(end - z, 0): least squares over both for an end that is given; returns the sum of squares.
 */
static double fit_at(const sample *s, size_t count, double end, double *flat, double *slope) {
    double n = (double)count, sx = 0, sy = 0, sxx = 0, sxy = 0, cost = 0;
    for (size_t k = 0; k < count; ++k) {
        double x = -fmax(end - s[k].z, 0);
        sx += x, sy += s[k].width, sxx += x * x, sxy += x * s[k].width;
    }
    double spread = sxx - sx * sx / n;
    *slope = spread > 1e-12 * fmax(sxx, 1e-300) ? (sxy - sx * sy / n) / spread : 0;
    *flat = (sy - *slope * sx) / n;
    for (size_t k = 0; k < count; ++k) {
        double off = s[k].width - *flat + *slope * fmax(end - s[k].z, 0);
        cost += off * off;
    }
    return cost;
}

atn_status atn_needle_tip_fit(atn_ctx *ctx, size_t count, const double *z, const double *width, bool from_low,
                              atn_needle_tip *out) {
    enum { FEWEST = 4, STEPS = 40 };
    double best = INFINITY, flat, slope, end = 0;
    *out = (atn_needle_tip){0};
    if (count < FEWEST)
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: %zu widths; at least %d are needed to fit ramp and flat part",
                        count, FEWEST);
    sample *s = atn_alloc(ctx, count * sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k) {
        s[k] = (sample){from_low ? z[k] : -z[k], width[k]};
        if (isfinite(z[k]) && isfinite(width[k])) continue;
        atn_free(ctx, s);
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: width %zu or its position is not finite", k);
    }
    qsort(s, count, sizeof *s, by_z);
    for (size_t k = 1; k + 1 < count; ++k) { /* between two samples the cost is smooth: steps, then the best of them */
        double step = (s[k + 1].z - s[k].z) / STEPS;
        for (int m = 0; m < STEPS; ++m) {
            double at = s[k].z + step * m, cost = fit_at(s, count, at, &flat, &slope);
            if (slope > 0 && cost < best) best = cost, end = at;
        }
    }
    double line = 0, level = 0, beyond = s[count - 1].z; /* one line, and one level, for comparison */
    line = fit_at(s, count, beyond, &flat, &slope);
    level = fit_at(s, count, s[0].z - 1, &flat, &slope);
    if (isfinite(best)) {
        fit_at(s, count, end, &flat, &slope);
        out->width = flat;
        out->end = from_low ? end : -end;
        double tip = end - flat / slope;
        out->tip = from_low ? tip : -tip;
        out->found = flat > 0 && best < 0.8 * fmin(line, level);
    } else {
        out->width = flat;
        out->end = out->tip = from_low ? s[0].z : -s[0].z;
    }
    atn_free(ctx, s);
    return ATN_OK;
}

/* ---- the start ---- */

atn_status atn_needle_start(atn_ctx *ctx, const atn_needle_line *line, double model_z, double z, double out[16]) {
    const double *d = line->direction;
    double y[3] = {-d[1] * d[0], 1 - d[1] * d[1], -d[1] * d[2]}, length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    if (!(fabs(d[2]) > 1e-3) || !(length > 1e-6))
        return atn_fail(ctx, ATN_ERR_INPUT, "needle: the axis (%g, %g, %g) is vertical or lies across all scans", d[0],
                        d[1], d[2]);
    for (int k = 0; k < 3; ++k) y[k] /= length;
    const double x[3] = {y[1] * d[2] - y[2] * d[1], y[2] * d[0] - y[0] * d[2], y[0] * d[1] - y[1] * d[0]};
    double along = (z - line->point[2]) / d[2] - model_z;
    for (int k = 0; k < 3; ++k) {
        out[4 * k] = x[k];
        out[4 * k + 1] = y[k];
        out[4 * k + 2] = d[k];
        out[4 * k + 3] = line->point[k] + along * d[k];
        out[12 + k] = 0;
    }
    out[15] = 1;
    return ATN_OK;
}
