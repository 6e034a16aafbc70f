/* EM-ICP in the structure it was published in, as plain C on all cores: a matrix of all pairs is stored and passed over
 * four times a step. What registration here is measured against; it runs on the CPU, in single precision. */
#ifndef ATN_BENCH_REFERENCE_EMICP_H
#define ATN_BENCH_REFERENCE_EMICP_H

#include "base/context.h"
#include "geom/fit.h"
#include "geom/pose.h"

#define EMICP_NAME "matrix stored, all cores"
enum { EMICP_STEPS = 66 };

/* Made by emicp_open, ended by emicp_close. */
typedef struct emicp {
    size_t rows, columns;  /* source points y, target points x */
    float *y[3], *x[3];    /* as given */
    float *moved[3];       /* R y + t */
    float *matrix;         /* a, then the weights; row by row */
    float *whole, *lambda; /* row sums of a, with the outlier class; of the weights */
    float *partner[3];     /* sums of weights times x */
    void *memory;          /* of all the above; not counted as the library's own */
    geom_pose pose;
    double sigma2;
} emicp;

atn_status emicp_open(const atn_ctx *ctx, const atn_cloud *source, const atn_cloud *target, emicp *out);
void emicp_close(emicp *e); /* zeroed ones are fine */

size_t emicp_bytes(size_t rows, size_t columns); /* of the matrix alone; SIZE_MAX where it cannot be told */

double emicp_sigma2(int32_t step); /* of the schedule, from step 0 on */

void emicp_estep(emicp *e); /* at e->sigma2 and e->pose */

/* An E-step, the best rigid motion, the next sigma; false: no pairs are left. */
bool emicp_step(emicp *e);

#endif
