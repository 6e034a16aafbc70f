/* A built variant: one graph, built for one device in one way, ready to run on arrays of any size. src/kernel chooses
 * which. */
#ifndef ATN_BUILT_BUILT_H
#define ATN_BUILT_BUILT_H

#include "device/device.h"
#include "eval/eval.h"
#include "lower/lower.h"

enum { ATN_BUILT_OBJECTS = 24 /* most that are passed to a kernel */ };

typedef struct atn_built atn_built;

/* An array on the device, bound to one object of the graph. A plain value; the buffer is not owned. */
typedef struct atn_slot {
    atn_buffer *buffer; /* NULL for constant tables */
    int64_t offset;     /* first element, counted in elements */
    atn_view view;      /* type, rank, sizes, pitch; its data is not looked at */
} atn_slot;

/* What lowering must know of a device. */
atn_target atn_target_of(const atn_device_info *info);

/* The source of a variant for a device, without building it. */
atn_status atn_built_source(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const char *backend,
                            const atn_target *target, atn_text *out);

/* A variant that is reasonable for the graph on the device, without any measurement. */
atn_variant atn_variant_estimate(const atn_graph *graph, const atn_device_info *info,
                                 const atn_extent *extent); /* extent may be NULL */

/* How the variant computes there, for the oracle's bound. */
atn_eval_options atn_variant_arithmetic(const atn_graph *graph, const atn_variant *variant,
                                        const atn_device_info *info);

/* Where the points of a graph lie over bound arrays: what the estimate and launches need. */
atn_status atn_extent_of(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, atn_extent *extent);

/* Do 32-bit addresses reach every element of the object? With room for tiles that overhang and parts of complex
 * numbers. `offset`: of its first element. */
bool atn_view_is_near(const atn_view *view, int64_t offset);
/* Do they hold all indices that are added up: ranges, selectors that are shown to be in range, the number of points?
 * `validated`: the computed ones are in range too. */
atn_status atn_span_is_near(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, bool validated,
                            bool *near);

/* Builds. The graph must outlive the kernel, which is owned by the caller. */
atn_status atn_built_make(atn_device *device, const atn_graph *graph, const atn_variant *variant, atn_built **out);
/* The same, on a host without a compiler where this very variant came with the library. */
atn_status atn_built_take(atn_device *device, const atn_graph *graph, const atn_variant *variant, atn_built **out);
/* The same code once more, for runs of other sizes, by the same thread: what a run was checked for, and its scratch,
 * are its own. */
atn_status atn_built_share(const atn_built *kernel, atn_built **out);
void atn_built_free(atn_built *kernel); /* NULL is fine */

/* All that the first run of its kind would do beforehand: checks, and scratch of the right size. Optional. */
atn_status atn_built_ready(atn_built *kernel, const atn_slot *slots, const double (*params)[2]);

/* Runs on `queue` (NULL: the device's own): slots[n_objects], params[n_parameters]. First checks everything that
 * atn_eval_check does and refuses before anything is launched. Asynchronous, except for kernels with computed accesses,
 * which wait and report those out of range. Allocates only when its scratch must grow. Runs in several queues share
 * that scratch: events order them. */
atn_status atn_built_run(atn_built *kernel, atn_queue *queue, const atn_slot *slots, const double (*params)[2]);
/* The same in the device's own queue, without waiting for computed accesses, but on the host: what they report is
 * looked at by atn_reports_look (device/reports.h), which arrays call when their elements are read. */
atn_status atn_built_launch(atn_built *kernel, const atn_slot *slots, const double (*params)[2]);

const atn_variant *atn_built_variant(const atn_built *kernel);
const atn_lowered *atn_built_lowered(const atn_built *kernel);
atn_function *atn_built_function(const atn_built *kernel, int32_t stage); /* for properties known only after a build */
size_t atn_built_code_bytes(const atn_built *kernel);
bool atn_built_is_compiled_in(const atn_built *kernel); /* no compiler made it: it came with the library */

#endif
