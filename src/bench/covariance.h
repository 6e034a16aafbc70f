/* Are the covariances of registrations accurate? Synthetic pairs of many kinds, each with its true pose: e^T C^-1 e of
 * how far the answers are off, which has a median of 5.35 where C is right. */
#ifndef ATN_BENCH_COVARIANCE_H
#define ATN_BENCH_COVARIANCE_H

#include "base/context.h"

#include <attune/register.h>

/* One method over the pairs of one kind. */
typedef struct atn_covariance_row {
    const char *method, *kind;
    double points[2];    /* mean number of source and of target points */
    int32_t pairs;       /* that were made; of these */
    int32_t wrong;       /* did not converge, or are off by more than five spacings; */
    int32_t absent;      /* came right, without a covariance; the others are counted: */
    int32_t counted;     /* e^T C^-1 e of each */
    double median, most; /* of these; */
    double beyond;       /* share of them above ATN_COVARIANCE_FAR, 0.0012 where errors are normal */
    double degrees;      /* median of the angles by which these answers are off, */
    double claimed;      /* and of the deviations that the covariances give them */
    double seconds;      /* mean time of a registration */
} atn_covariance_row;

#define ATN_COVARIANCE_MEDIAN 5.348 /* of chi-square with 6 degrees of freedom */
#define ATN_COVARIANCE_FAR    22.0

enum { ATN_COVARIANCE_MOST_PAIRS = 1000 };

typedef struct atn_bench_covariance_options {
    uint64_t seed;                                            /* of the first pair; each has one of its own */
    int32_t pairs;                                            /* of each kind, 1 to ATN_COVARIANCE_MOST_PAIRS */
    const char *method;                                       /* only this one; NULL: em-icp, icp and icp-plane */
    const char *kind;                                         /* only kinds whose name begins so; NULL: all */
    bool (*visit)(void *user, const atn_covariance_row *row); /* false: stop */
    void (*progress)(void *user, const char *what);           /* before each row; or NULL */
    void *user;
} atn_bench_covariance_options;

size_t atn_bench_covariance_steps(const atn_bench_covariance_options *options); /* calls of progress */
atn_status atn_bench_covariance(atn_ctx *ctx, atn_device *device, const atn_bench_covariance_options *options);

/* ---- the pairs ---- */

/* Owns its clouds: atn_covariance_pair_free. */
typedef struct atn_covariance_pair {
    atn_cloud *source, *target;
    double transform[16]; /* the truth: 4 x 4, row-major, target = T source */
    double spacing;       /* typical distance of neighbours of the sparser cloud */
} atn_covariance_pair;

const char *atn_covariance_kind(int32_t kind); /* its name; NULL: there are no more */
atn_status atn_covariance_pair_make(atn_ctx *ctx, int32_t kind, uint64_t seed, atn_covariance_pair *out);
void atn_covariance_pair_free(atn_covariance_pair *pair);

/* e^T C^-1 e of how far an answer is off, and the angle of it in radians; negative: C is not positive. */
double atn_covariance_distance2(const atn_register_result *result, const double truth[16], double *angle);

#endif
