/* The spacing of points that are not in order yet, extrapolated from those of two samples. */
#include "apps/register/curve.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>

void reg_curve_choose(size_t all, size_t count, int32_t *out) {
    atn_random random;
    size_t run = all / count, more = all % count, first = 0, over = 0; /* the run of point k begins at all k / count */
    atn_random_seed(&random, 1);
    for (size_t k = 0; k < count; ++k) {
        out[k] = (int32_t)(first + atn_random_below(&random, run));
        over += more;
        first += run + (over >= count);
        over -= over >= count ? count : 0;
    }
}

/* Points of reg_curve_choose. */
static atn_status sample(const cloud_points *points, size_t count, cloud_points *out) {
    int32_t *from = atn_alloc(points->ctx, count * sizeof *from);
    atn_status status = from ? cloud_points_make(points->ctx, count, false, out) : ATN_ERR_MEMORY;
    if (status == ATN_OK) reg_curve_choose(points->count, count, from);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        for (int d = 0; d < 3; ++d) out->position[d][k] = points->position[d][from[k]];
        out->weight[k] = 1;
    }
    atn_free(points->ctx, from);
    return status;
}

/* Noise keeps points apart where they are many: the power is smaller at the end than among few. */
static const double NOISE = 0.06;

enum { ALL_ASKED = 4096, LEAST_GUESSED = 2048, MOST_GUESSED = 16384 };

size_t reg_curve_guessed(size_t count) {
    size_t some = count / 16 < LEAST_GUESSED ? LEAST_GUESSED : count / 16 > MOST_GUESSED ? MOST_GUESSED : count / 16;
    return count <= ALL_ASKED ? count : some;
}

double reg_curve_extrapolate(size_t guessed, size_t count, double of_some, double of_few) {
    double power = of_some > 0 ? log(of_few / of_some) / log(REG_FEWER) - NOISE : 0; /* 1/2: a surface */
    return of_some * pow((double)guessed / (double)count, fmax(1.0 / 3, fmin(power, 1)));
}

atn_status reg_curve_guess(const cloud_points *points, double *spacing) {
    size_t count = reg_curve_guessed(points->count);
    cloud_points some = {0}, few = {0};
    double of_few = 0, of_some = 0;
    if (count == points->count) return cloud_points_spacing(points, spacing);
    *spacing = 0;
    atn_status status = sample(points, count, &some);
    if (status == ATN_OK) status = sample(points, count / REG_FEWER, &few);
    if (status == ATN_OK) status = cloud_points_spacing(&some, &of_some);
    if (status == ATN_OK) status = cloud_points_spacing(&few, &of_few);
    if (status == ATN_OK) *spacing = reg_curve_extrapolate(count, points->count, of_some, of_few);
    cloud_points_free(&some);
    cloud_points_free(&few);
    return status;
}
