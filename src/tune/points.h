/* A growing set of points, each identified by its index: an array of levels with a hash table over it. */
#ifndef ATN_TUNE_POINTS_H
#define ATN_TUNE_POINTS_H

#include "base/context.h"

/* A plain value; start it as {.ctx = ctx, .width = levels of a point}. Owns its memory. */
typedef struct atn_points {
    const atn_ctx *ctx;
    int32_t width;
    int64_t n;
    int32_t *levels; /* n × width */
    size_t room;     /* points that `levels` holds */
    int32_t *slots;  /* places + 1; 0: free */
    size_t n_slots;  /* a power of two, or 0 */
} atn_points;

enum { ATN_NOWHERE = -1 }; /* the place of a point that is not there */

int64_t atn_points_find(const atn_points *points, const int32_t *point);
/* Adds a point that is not there; its place, or ATN_NOWHERE without memory, with the sentence left. */
int64_t atn_points_add(atn_points *points, const int32_t *point);
const int32_t *atn_points_get(const atn_points *points, int64_t place);
/* Rebuilds the table, after the levels of points have changed. */
void atn_points_rehash(atn_points *points);
void atn_points_free(atn_points *points);

#endif
