/* Lowering: graph + variant → program. Passes with a value of their own: what values need (needs.c), how points are cut
 * (cut.c), which reads are staged (stage.c). Then the program is made: the driver (lower.c), groups and steps (nest.c),
 * loops (loops.c), values in registers (value.c), accesses (access.c), staged tiles (staged.c), reductions (reduce.c,
 * join.c). */
#ifndef ATN_LOWER_LOWER_H
#define ATN_LOWER_LOWER_H

#include "lower/program.h"

/* What the passes must know of where the program will run. */
typedef struct atn_target {
    bool host;             /* C on threads; else work-groups of items */
    bool vectors;          /* the dialect has vector types to compute on */
    bool half;             /* arithmetic on halves, not only storage */
    bool shuffle;          /* items of a warp can hand values to each other */
    bool matrix;           /* warps multiply matrices of halves */
    bool products;         /* of singles, at least, in products of matrices */
    bool warpgroup;        /* four warps do it together, from local memory */
    bool waits;            /* a group may wait for what those that started before it leave in memory */
    int32_t warp;          /* items in lockstep, 1 where none are */
    int32_t max_items;     /* in a group */
    int64_t local_bytes;   /* local memory of a group, or what a thread may keep in its cache */
    int64_t dynamic_bytes; /* the same where a launch asks for it; 0: it cannot */
    int32_t vector_bytes;  /* of a vector register; 0: not known */
} atn_target;

/* ATN_ERR_UNSUPPORTED, with the reason, where this variant of this graph does not exist. *out is owned by the caller;
 * the graph must outlive it. */
atn_status atn_lower(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                     atn_lowered **out);

/* What the passes before the program find, as text: how points are cut, what values need, what is staged for the points
 * or for the outermost reduction. Of a variant that fits. */
atn_status atn_lower_print_passes(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant,
                                  const atn_target *target, atn_text *out);

/* Does the variant make sense for this graph and target at all? Cheap; atn_lower asks first. */
bool atn_variant_fits(const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                      const char **why_not);

#endif
