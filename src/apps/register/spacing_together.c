/* How far points are from each other, in one launch with those of other pairs of a batch: programs/spacing_nearest.atn.
 * Over all pairs of points: no tree is made. */
#include "apps/register/gather.h"
#include "apps/register/problem.h"

#include <math.h>

enum { SAMPLES = 1000 }; /* as reg_side_spacing has */

/* Of some of `n` points, or of the first ones at each place alone; out: their median. */
static bool spacing_of(reg_client *client, size_t n, double *const position[3], bool first, double *out) {
    float found[REG_FIT_POINTS], nothing = 0;
    double square[SAMPLES];
    int32_t place[REG_GATHER_PLACE] = {0, (int32_t)n};
    size_t samples = n < SAMPLES ? n : SAMPLES, taken = 0;
    if (n < 2 || n > REG_FIT_POINTS) return false;
    float *room = reg_gather_room(client, REG_GATHER_SPACING, 3 * n, &place[0]);
    if (!room) return false;
    for (int a = 0; a < 3; ++a)
        for (size_t k = 0; k < n; ++k) *room++ = (float)(position[a][k] - position[a][0]);
    if (!reg_gather_run(client, REG_GATHER_SPACING, 1, &nothing, place, n, found)) return false;
    for (size_t k = 0; k < samples; ++k) {
        double d2 = (double)found[n * k / samples];
        if (!first || d2 > 0) square[taken++] = fabs(d2);
    }
    *out = reg_side_median(square, taken);
    return true;
}

bool reg_guess_together(reg_client *client, const cloud_points *points, double *spacing) {
    return spacing_of(client, points->count, points->position, true, spacing);
}

bool reg_spacing_together(reg_client *client, const reg_side *side, double *spacing) {
    return spacing_of(client, side->padded, side->position, false, spacing);
}
