/* Choosing a variant: from what was measured before (wisdom), else by an estimate, else from what is compiled into the
 * library. Never measures and never fails for want of wisdom: a database that cannot be used is a warning, once. */
#ifndef ATN_KERNEL_CHOOSE_H
#define ATN_KERNEL_CHOOSE_H

#include "built/built.h"
#include "wisdom/wisdom.h"

/* Where a variant comes from, the least first. */
typedef enum atn_origin {
    ATN_ORIGIN_GIVEN,       /* the caller named it */
    ATN_ORIGIN_COMPILED_IN, /* there is no compiler that works: what the library holds */
    ATN_ORIGIN_PLAIN,       /* the plain variant, since the compiler failed on the others */
    ATN_ORIGIN_ESTIMATE,
    ATN_ORIGIN_SHIPPED, /* wisdom that attune ships */
    ATN_ORIGIN_NEAR_DEVICE,
    ATN_ORIGIN_NEAR_SHAPE,
    ATN_ORIGIN_EXACT,
    ATN_ORIGIN_COUNT
} atn_origin;
const char *atn_origin_name(atn_origin origin); /* "given", "compiled in", "plain", "estimate", "shipped", … */

/* Why computed accesses may go unguarded. It is earned, never promised by who calls: wisdom, a caller's own variant and
 * arrays that came from outside all stay guarded. */
typedef enum atn_indices {
    ATN_INDICES_UNKNOWN, /* guarded */
    ATN_INDICES_MADE,    /* attune itself made, or checked when it took them, all elements that decide an access */
    ATN_INDICES_CHECKED  /* a guarded run on these very elements reported nothing: atn_stand_prove */
} atn_indices;

typedef struct atn_choose_options {
    atn_indices indices;
    bool reproducible; /* results that do not change with the variant */
    double tolerance;  /* relative error accepted beyond rounding; 0: what is derived */
    bool any_size;     /* an estimate that does not look at sizes: what is built for one serves all */
    bool modest;       /* on hosts what came with the library, where there is such: not worth a compiler's time, */
    bool meanwhile;    /* or not yet; what was measured is built all the same */
    bool near;         /* without a frame: 32-bit addresses do */
    int64_t offset;    /* first element of the array that begins farthest into its buffer */
} atn_choose_options;

/* What was chosen, and why. Owned by the caller: atn_choice_free. */
typedef struct atn_choice {
    const atn_ctx *ctx;
    atn_variant variant;
    atn_origin origin;
    atn_hit hit;     /* what wisdom had, also where it was passed over; kind NONE: nothing */
    bool passed;     /* what wisdom had does not fit here, or did not build */
    char *why;       /* it was passed over, as a sentence; NULL where it was not */
    char *failed;    /* why the estimate did not build, as a sentence; NULL where it did */
    bool modest;     /* compiled in, and not for want of a compiler, */
    bool meanwhile;  /* or not yet worth it */
    bool sized;      /* sizes were known, so that wisdom was asked */
    int32_t n_shape; /* of the key */
    int64_t shape[ATN_WISDOM_DIMS];
    uint64_t changes; /* atn_wisdom_changes when it was chosen */
} atn_choice;
void atn_choice_free(atn_choice *choice);

/* `frame` NULL: sizes are not known, so it is an estimate. `options` may be NULL. Needs no device, only what is known
 * of one. */
atn_status atn_choose(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                      const atn_bindings *frame, const atn_choose_options *options, atn_choice *out);

/* The same for other sizes. Where nothing was known of the graph before, and this process has tuned nothing since, a
 * choice that does not depend on sizes stays, and wisdom is not asked again. */
atn_status atn_choose_again(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                            const atn_bindings *frame, const atn_choose_options *options, const atn_choice *before,
                            atn_choice *out);

/* The estimate, whatever was tuned; `frame` may be NULL. */
atn_status atn_choose_estimate(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                               const atn_bindings *frame, atn_choice *out);

/* Builds what was chosen from the same frame and options. What does not build, also because a compiler crashes on it,
 * is passed over: wisdom for the estimate, the estimate for the plain variant, and that for what is compiled in. One
 * warning, and the choice, say what runs instead. */
atn_status atn_choice_build(atn_device *device, const atn_graph *graph, const atn_bindings *frame,
                            const atn_choose_options *options, atn_choice *choice, atn_built **out);

/* For people: which variant, from where, how near, how fast: sentences without a line break. */
void atn_choice_explain(const atn_choice *choice, const atn_graph *graph, const atn_device_info *info, atn_text *out);

#endif
