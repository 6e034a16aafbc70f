/* Properties of the model as a needle: its diameter, and the end at which its tip is. */
#include "apps/needle/needle.h"

#include <math.h>
#include <stdlib.h>

enum { SLICES = 64, ENDS = 6 }; /* slices along z; of an end */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle of the points at the thinner end. */
static void find_tip(const cloud_points *model, double within, needle_shape *shape) {
    double count = 0;
    for (size_t p = 0; p < model->count; ++p) {
        if (fabs(model->position[2][p] - shape->tip_z) > within) continue;
        ++count;
        for (int axis = 0; axis < 3; ++axis) shape->tip[axis] += model->position[axis][p];
    }
    for (int axis = 0; axis < 3 && count > 0; ++axis) shape->tip[axis] /= count;
}

needle_shape needle_shape_of(const cloud_points *model, const double low[3], const double high[3], double edge) {
    double least[SLICES][2], most[SLICES][2], wide[SLICES], area[SLICES];
    double length = high[2] - low[2], ends[2] = {0};
    int used = 0;
    for (int k = 0; k < SLICES; ++k)
        for (int axis = 0; axis < 2; ++axis) least[k][axis] = INFINITY, most[k][axis] = -INFINITY;
    for (size_t p = 0; p < model->count; ++p) {
        double share = length > 0 ? (model->position[2][p] - low[2]) / length : 0;
        int k = (int)fmin(fmax(share * SLICES, 0), SLICES - 1);
        for (int axis = 0; axis < 2; ++axis) {
            least[k][axis] = fmin(least[k][axis], model->position[axis][p]);
            most[k][axis] = fmax(most[k][axis], model->position[axis][p]);
        }
    }
    for (int k = 0; k < SLICES; ++k) {
        double x = fmax(most[k][0] - least[k][0], 0), y = fmax(most[k][1] - least[k][1], 0);
        area[k] = x * y;
        if (fmax(x, y) > 0) wide[used++] = fmax(x, y);
    }
    for (int k = 0; k < ENDS; ++k) {
        ends[0] += area[k];
        ends[1] += area[SLICES - 1 - k];
    }
    qsort(wide, (size_t)used, sizeof *wide, compare);
    bool tip_low = ends[0] <= ends[1];
    needle_shape shape = {
        .radius = used ? 0.5 * wide[used / 2] : 0, .tip_z = tip_low ? low[2] : high[2], .tip_low = tip_low};
    find_tip(model, edge > 0 ? edge : 0.01 * length, &shape);
    return shape;
}
