/* Which blocks of columns are near which blocks of rows: lists for the kernels that leave far pairs out. A list holds
 * while points have moved less than what was added to its reach. */
#ifndef ATN_APPS_REGISTER_NEAR_H
#define ATN_APPS_REGISTER_NEAR_H

#include "apps/register/side.h"

struct reg_engine;

/* Of the device, where lists are made there (near_device.c). Of each part of the rows: how many nodes and candidates
 * are near it, where they begin, how many of the nodes are groups. Of candidates: the block, whose they are, whether
 * they stay, how many do before each. */
typedef struct reg_near_work {
    atn_array *node_count, *node_first, *groups, *node;
    atn_array *candidate_count, *candidate_first, *block, *row, *keep, *rank;
    size_t nodes; /* elements of `node` */
    atn_array *listed, *total;
} reg_near_work;

/* Zeroed to begin with; ended by reg_near_free. */
typedef struct reg_near {
    const reg_side *rows, *columns; /* what it is for; NULL: nothing yet */
    geom_pose relative;             /* from the rows' frame to the columns' when it was made */
    double reach;                   /* in the columns' frame: all pairs nearer than that are in */
    bool all;                       /* every block of the same species */
    int32_t *start, *list;          /* where the host makes them: blocks of rows + 1, and `count` */
    size_t count, capacity;
    double pairs;                        /* that a kernel evaluates with it, those of all ranks together */
    size_t first, end;                   /* blocks of rows that the host makes it for; 0 and 0: all */
    int64_t made;                        /* how often it was filled */
    bool summed;                         /* pairs are those of all ranks */
    atn_array *start_array, *list_array; /* the same on the device; list_array has `capacity` elements */
    reg_near_work work;
} reg_near;

/* Fills or keeps: afterwards all pairs within `reach` (INFINITY: all) are in, for rows and columns where they are
 * placed. What is filled serves all poses that bring no row farther than `slack` from there, below 0 this one alone.
 * ATN_ERR_UNSUPPORTED where a list would be longer than 2^31. */
atn_status reg_near_update(struct reg_engine *engine, reg_near *near, reg_side *rows, reg_side *columns,
                           const geom_pose *row_pose, const geom_pose *column_pose, double reach, double slack);
void reg_near_free(reg_near *near, const atn_ctx *ctx);

#define REG_WIDE 2.0 /* times the usual radius: points of such a block are looked at run by run, or one by one */

/* Elements that so many are given. */
static inline size_t reg_near_room(size_t count) {
    size_t capacity = 4096;
    while (capacity < count) capacity *= 2;
    return capacity;
}

/* For near.c: lists made by kernels; `near` says what for. */
atn_status reg_near_fill(struct reg_engine *engine, reg_near *near, reg_side *rows, reg_side *columns);

#endif
