/* A model of the time over a space, from the points that were measured: a Gaussian process whose parts, one per
 * parameter, say how alike two levels are. It tells what a point may take, and how sure that is.
 *   k(a, b) = s · mean_d m_d(a, b) + (1 - s) · prod_d m_d(a, b),   m_d = exp(-distance_d(a, b) / length_d)
 * The mean over the dimensions carries over what a level does wherever it stands, which is all that a few points can
 * tell; the product tells what levels do together. Lengths, s and the noise are those that make the measurements
 * likeliest. */
#ifndef ATN_TUNE_SURROGATE_H
#define ATN_TUNE_SURROGATE_H

#include "tune/strategy.h"

/* One way in which points differ: a parameter, or the power of two in it. */
typedef struct atn_feature {
    int32_t parameter;
    int32_t n;        /* distinct positions, at most 256 */
    uint8_t *bucket;  /* per level: its position's index */
    double *distance; /* n × n, in 0 … 1 */
    double length;    /* in units of distance */
    float *alike;     /* n × n: exp(-distance / length) */
} atn_feature;

typedef struct atn_surrogate {
    const atn_ctx *ctx;
    atn_feature *features;
    int32_t n_features;
    int32_t most;                 /* measurements that fit in */
    int32_t n;                    /* measurements */
    uint8_t *x;                   /* most × n_features buckets */
    double *y, *w;                /* values; the inverse of the factor times (y - mean) */
    double *factor;               /* lower triangle, rows of `most` */
    double *trial;                /* the same for hyperparameters that are tried */
    double *work;                 /* most */
    double mean, noise, additive; /* noise: relative to the variance */
    double variance;
} atn_surrogate;

/* `most`: measurements that it can hold. A failure leaves nothing to free. */
atn_status atn_surrogate_open(atn_surrogate *s, const atn_ctx *ctx, const atn_domain *domain, int32_t most);
void atn_surrogate_close(atn_surrogate *s);

void atn_surrogate_buckets(const atn_surrogate *s, const int32_t *point, uint8_t *x);
double atn_surrogate_alike(const atn_surrogate *s, const uint8_t *a, const uint8_t *b);

/* Forgets the measurements, takes those given, and looks for better hyperparameters when `sweeps` > 0. */
void atn_surrogate_clear(atn_surrogate *s);
void atn_surrogate_put(atn_surrogate *s, const uint8_t *x, double y); /* not yet in the factor */
void atn_surrogate_learn(atn_surrogate *s, int32_t sweeps);           /* hyperparameters and factor of all put */
/* One measurement more, into the factor; returns its row, [n - 1] entries and the diagonal. */
const double *atn_surrogate_extend(atn_surrogate *s, const uint8_t *x, double y);
/* Recomputes values and w after values have changed. */
void atn_surrogate_weigh(atn_surrogate *s);

#endif
