/* Lowering: graph + variant → program. The passes, in order: where points and ranges lie (lower.c), which reads are
 * staged (stage.c), loops (nest.c), values in registers (value.c), accesses (access.c), reductions (reduce.c, join.c).
 */
#ifndef ATN_LOWER_LOWER_H
#define ATN_LOWER_LOWER_H

#include "lower/program.h"

/* What the passes must know of where the program will run. */
typedef struct atn_target {
    bool host;            /* C on threads; else work-groups of items */
    bool vectors;         /* the dialect has vector types to compute on */
    bool half;            /* arithmetic on halves, not only storage */
    bool shuffle;         /* items of a warp can hand values to each other */
    int32_t warp;         /* items in lockstep, 1 where none are */
    int32_t max_items;    /* in a group */
    int64_t local_bytes;  /* local memory of a group, or what a thread may keep in its cache */
    int32_t vector_bytes; /* of a vector register; 0: not known */
} atn_target;

/* ATN_ERR_UNSUPPORTED, with the reason, where this variant of this graph does not exist. *out is owned by the caller;
 * the graph must outlive it. */
atn_status atn_lower(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                     atn_program **out);

/* Does the variant make sense for this graph and target at all? Cheap; atn_lower asks first. */
bool atn_variant_fits(const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                      const char **why_not);

#endif
