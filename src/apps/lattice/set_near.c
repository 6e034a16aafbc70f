/* The neighbours of a single set of points. */
#include "apps/lattice/parts.h"

/* Is the point there already? Rows repeat in such files, the centre's too. */
static bool is_there(int32_t count, const float *x, const float *y, const float *z, const float p[3]) {
    for (int32_t k = 0; k < count; ++k) {
        float d[3] = {x[k] - p[0], y[k] - p[1], z[k] - p[2]};
        if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < 1e-6F) return true;
    }
    return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < 1e-6F;
}

int32_t lattice_set_near(const lattice_sets *sets, size_t set, double cutoff, float *x, float *y, float *z) {
    size_t first = sets->start[set], end = sets->start[set + 1];
    int32_t count = 0;
    for (size_t k = first + 1; k < end && count < ATN_LATTICE_MOST_NEIGHBOURS; ++k) {
        float p[3], square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            p[axis] = (float)((sets->position[axis][k] - sets->position[axis][first]) * sets->angstrom);
            square += p[axis] * p[axis];
        }
        if (!(square < (float)(cutoff * cutoff)) || is_there(count, x, y, z, p)) continue;
        x[count] = p[0], y[count] = p[1], z[count] = p[2];
        ++count;
    }
    return count;
}
