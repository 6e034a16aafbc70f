/* The tree traversal that finds near blocks. */
#ifndef ATN_APPS_REGISTER_NEAR_WALK_H
#define ATN_APPS_REGISTER_NEAR_WALK_H

#include "apps/register/near.h"

enum { NEAR_GROUP = 8 }; /* blocks that follow each other and are looked at together */

/* Boxes side by side, so that they are looked at in lanes: their middles and how far they reach from there. */
typedef struct near_group {
    double at[3][NEAR_GROUP], half[3][NEAR_GROUP]; /* empty: -INFINITY */
} near_group;

/* The boxes of a side's blocks in groups, the boxes of these groups in groups of their own, and so on up to one. */
enum { NEAR_LEVELS = 16 };
typedef struct near_boxes {
    near_group *level[NEAR_LEVELS]; /* the first owns all */
    int32_t levels;                 /* two at least */
} near_boxes;
bool near_boxes_make(const atn_ctx *ctx, const reg_side *side, near_boxes *out); /* false: no memory */
void near_boxes_free(near_boxes *boxes, const atn_ctx *ctx);                     /* zeroed ones are fine */

/* What a thread found, one piece after the other. */
typedef struct near_found {
    int32_t *block; /* owned */
    size_t count, capacity;
    int32_t *group; /* of columns, that may be near a group of rows; owned */
    size_t groups, group_capacity;
} near_found;
void near_found_free(near_found *found, const atn_ctx *ctx); /* zeroed ones are fine */

/* For the blocks of rows of a group: the blocks of columns within near->reach of them, in ascending order, to the end
 * of `out`, and how many these are to near->start. `columns`: the boxes of near->columns. False: no memory. */
bool near_walk(const reg_near *near, const near_boxes *columns, size_t group, const atn_ctx *ctx, near_found *out);

#endif
