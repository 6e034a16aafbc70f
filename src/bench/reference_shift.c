/* A plain implementation of the shifting algorithm. */
#include "bench/reference_shift.h"

#include "base/parallel.h"

#include <math.h>

static int count(const shift_reference *r, double roll_deg, double shift) {
    float c = (float)cos(roll_deg * 0.017453292519943295), s = (float)sin(roll_deg * 0.017453292519943295);
    float along = (float)shift, threshold2 = r->threshold * r->threshold;
    int matches = 0;
    for (size_t i = 0; i < r->scans; ++i) {
        const float *p = r->scan + 3 * i;
        float x = c * p[0] + s * p[1], y = c * p[1] - s * p[0], z = p[2] - along;
        for (size_t j = 0; j < r->models; ++j) {
            const float *m = r->model + 3 * j;
            float dx = m[0] - x, dy = m[1] - y, dz = m[2] - z;
            if (dx * dx + dy * dy + dz * dz >= threshold2) continue;
            ++matches;
            break;
        }
    }
    return matches;
}

/* The combinations around one, side by side of them. */
typedef struct around {
    shift_reference *r;
    double roll, shift, roll_step, shift_step;
    int half;
} around;

static void try_one(void *user, int64_t from, int64_t to) {
    const around *a = user;
    int side = 2 * a->half + 1;
    for (int k = (int)from; k < (int)to; ++k)
        a->r->counts[k] =
            count(a->r, a->roll + (k / side - a->half) * a->roll_step, a->shift + (k % side - a->half) * a->shift_step);
}

int shift_reference_run(shift_reference *r) {
    double roll = 0, shift = 0.25, roll_step = 1, shift_step = 0.05;
    int half = 5, best = 0;
    for (int round = 0; round < 4; ++round) {
        int side = 2 * half + 1, at = 0;
        around all = {r, roll, shift, roll_step, shift_step, half};
        atn_parallel_pieces(side * side, try_one, &all);
        for (int k = 1; k < side * side; ++k)
            if (r->counts[k] > r->counts[at]) at = k;
        best = r->counts[at];
        roll += (at / side - half) * roll_step;
        shift += (at % side - half) * shift_step;
        roll_step /= 5;
        shift_step /= 5;
        half = 10;
    }
    return best;
}
