/* Candidates of a model: points that may be asked for, with what the model says of each. Measurements are taken in one
 * at a time, which costs each candidate no more than there are measurements. */
#ifndef ATN_TUNE_POOL_H
#define ATN_TUNE_POOL_H

#include "tune/points.h"
#include "tune/surrogate.h"

typedef struct atn_pool {
    const atn_ctx *ctx;
    const atn_surrogate *model;
    int32_t width;        /* levels of a point */
    int32_t most;         /* candidates that fit in, a multiple of 64 */
    int32_t n;            /* candidates */
    int32_t *points;      /* most × width */
    uint8_t *x;           /* per feature, most buckets */
    float *v;             /* per measurement, most numbers: the factor's inverse times the likeness to it */
    float *mean, *spread; /* what the model says: expected value, and variance in units of the model's */
    atn_points known;     /* candidates, and some that were */
    int32_t *where;       /* per known point: its candidate, or -1 */
    size_t where_room;
} atn_pool;

atn_status atn_pool_open(atn_pool *pool, const atn_ctx *ctx, const atn_surrogate *model, int32_t width, int32_t most);
void atn_pool_close(atn_pool *pool);

/* Adds a candidate unless it is one; where there is no room it takes the place of `instead`. False: no memory. */
bool atn_pool_add(atn_pool *pool, const int32_t *point, int32_t instead);
void atn_pool_remove(atn_pool *pool, int32_t candidate);
void atn_pool_rebuild(atn_pool *pool);             /* after atn_surrogate_learn */
void atn_pool_extend(atn_pool *pool, int32_t had); /* after measurements were added to `had`, and weighed */
const int32_t *atn_pool_point(const atn_pool *pool, int32_t candidate);

#endif
