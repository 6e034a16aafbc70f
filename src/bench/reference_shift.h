/* A plain implementation of the shifting algorithm: loops over combinations, scan points and model points, the first
 * partner ends the search; the combinations on all cores. The reference for the kernels. */
#ifndef ATN_BENCH_REFERENCE_SHIFT_H
#define ATN_BENCH_REFERENCE_SHIFT_H

#include <stddef.h>

#define SHIFT_NAME "plain brute force, all cores"

/* Clouds as x y z after x y z, the start without a turn. */
typedef struct shift_reference {
    const float *scan, *model;
    size_t scans, models;
    float threshold;
    int counts[21 * 21]; /* of the last round */
} shift_reference;

/* Rolls of +-5 degrees by 1, shifts of 0 to 0.5 by 0.05, 4 rounds; returns the matches of the last winner. */
int shift_reference_run(shift_reference *r);

#endif
