/* The walk that finds near blocks, for lists of them. */
#ifndef ATN_APPS_REGISTER_NEAR_WALK_H
#define ATN_APPS_REGISTER_NEAR_WALK_H

#include "apps/register/near.h"

enum { NEAR_GROUP = 8 }; /* blocks that follow each other and are looked at together */

/* The boxes of a group of blocks, one array for each number, so that they are looked at in lanes. */
typedef struct near_group {
    reg_box all;
    double low[3][NEAR_GROUP], high[3][NEAR_GROUP]; /* without blocks: empty */
} near_group;

/* The groups of a side's blocks; the caller's. NULL: no memory. */
near_group *near_groups_make(const atn_ctx *ctx, const reg_side *side);

/* What a thread found, one piece after the other. */
typedef struct near_found {
    int32_t *block; /* owned */
    size_t count, capacity;
    int32_t *group; /* of columns, that may be near a group of rows; owned */
    size_t groups, group_capacity;
} near_found;
void near_found_free(near_found *found, const atn_ctx *ctx); /* zeroed ones are fine */

/* For the blocks of rows of a group: the blocks of columns within near->reach of them, in ascending order, to the end
 * of `out`, and how many these are to near->start. `columns`: the groups of near->columns. False: no memory. */
bool near_walk(const reg_near *near, const near_group *columns, size_t group, const atn_ctx *ctx, near_found *out);

#endif
