/* The kernel "estep" over all pairs of two sets of points, with arrays of its own: what benchmarks run. */
#ifndef ATN_BENCH_ESTEP_H
#define ATN_BENCH_ESTEP_H

#include <attune/array.h>
#include <attune/kernel.h>

#include <stddef.h>

enum { BENCH_ESTEP_ARRAYS = 11, BENCH_ESTEP_SUMS = 7 }; /* in the order of the kernel; from there on, what it writes */

typedef struct bench_estep {
    atn_kernel *kernel;
    atn_array *array[BENCH_ESTEP_ARRAYS];
} bench_estep;

typedef struct bench_points {
    const double *position[3];
    size_t count;
} bench_points;

/* In single precision, planned. Coordinates are scaled so that weights are 2^-d^2 at sigma squared; `tolerance` as of
 * atn_kernel_settings. On failure too, it goes back with bench_estep_close. */
atn_status bench_estep_open(atn_device *device, bench_points source, bench_points target, double sigma2,
                            double tolerance, bench_estep *out);
double bench_estep_scale(double sigma2);
atn_status bench_estep_run(void *estep); /* queues it */
void bench_estep_variant(const bench_estep *e, char *text, size_t bytes);
void bench_estep_close(bench_estep *e);

#endif
