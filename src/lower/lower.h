/* Lowering: graph + variant → program. Passes with a result of their own: what values need (needs.c), how points are
 * tiled (cut.c), which reads are staged (stage.c). Then the program is generated: the driver (lower.c), groups and
 * steps (nest.c), loops (loops.c), values in registers (value.c), accesses (element.c, read.c, write.c), staged tiles
 * (staged.c), reductions (reduce.c, join.c). */
#ifndef ATN_LOWER_LOWER_H
#define ATN_LOWER_LOWER_H

#include "lower/program.h"

/* How a CPU multiplies numbers of BFloat16; the value of bf16 of atn_device_info. */
typedef enum atn_bf16 {
    ATN_BF16_NONE,
    ATN_BF16_DOTS,  /* products of two or four steps, in vectors: AVX512-BF16, BFMMLA */
    ATN_BF16_TILES, /* and of 16 x 32 by 32 x 16 numbers: AMX */
    ATN_BF16_PLAIN  /* in plain C, so that what is generated can be run anywhere: for tests */
} atn_bf16;

/* What the passes must know about the device on which the program will run. */
typedef struct atn_target {
    bool host;             /* C on threads; otherwise work-groups of items */
    bool vectors;          /* the dialect has vector types with arithmetic */
    bool half;             /* arithmetic on halves, not only storage */
    bool shuffle;          /* items of a warp can exchange values */
    bool matrix;           /* warps multiply matrices of halves */
    bool products;         /* at least of singles, in matrix products */
    bool warpgroup;        /* four warps multiply together, from local memory */
    atn_bf16 bf16;         /* the host multiplies numbers of BFloat16 */
    bool waits;            /* a group may wait for data that groups started before it store in memory */
    int32_t warp;          /* items in lockstep; 1: none */
    int32_t max_items;     /* in a group */
    int64_t local_bytes;   /* local memory of a group, or what a thread may keep in its cache */
    int64_t dynamic_bytes; /* the same if requested at launch; 0: not available */
    int32_t vector_bytes;  /* size of a vector register; 0: unknown */
} atn_target;

/* ATN_ERR_UNSUPPORTED, with the reason, if this variant of this graph does not exist. *out is owned by the caller; the
 * graph must outlive it. */
atn_status atn_lower(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                     atn_lowered **out);

/* The findings of the passes before code generation, as text: how points are tiled, what values need, what is staged
 * for the points or for the outermost reduction. The variant must fit. */
atn_status atn_lower_print_passes(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant,
                                  const atn_target *target, atn_text *out);

/* Is the variant valid for this graph and target? Cheap; atn_lower calls it first. */
bool atn_variant_fits(const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                      const char **why_not);

#endif
