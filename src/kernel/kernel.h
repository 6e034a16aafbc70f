/* A kernel: one graph, built for one device as one variant, ready to run on arrays of any size. */
#ifndef ATN_KERNEL_KERNEL_H
#define ATN_KERNEL_KERNEL_H

#include "device/device.h"
#include "eval/eval.h"
#include "lower/lower.h"

typedef struct atn_kernel atn_kernel;

/* An array on the device, bound to one object of the graph. A plain value; the buffer is not owned. */
typedef struct atn_slot {
    atn_buffer *buffer; /* NULL for constant tables */
    int64_t offset;     /* first element, counted in elements */
    atn_view view;      /* type, rank, sizes, pitch; its data is not looked at */
} atn_slot;

/* What lowering must know of a device. */
atn_target atn_target_of(const atn_device_info *info);

/* The source of a variant for a device, without building it. */
atn_status atn_kernel_source(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant,
                             const char *backend, const atn_target *target, atn_text *out);

/* A variant that is reasonable for the graph on the device, without any measurement. */
atn_variant atn_variant_estimate(const atn_graph *graph, const atn_device_info *info,
                                 const atn_extent *extent); /* extent may be NULL */

/* Where the points of a graph lie over bound arrays: what the estimate and launches need. */
atn_status atn_extent_of(const atn_ctx *ctx, const atn_graph *graph, const atn_frame *frame, atn_extent *extent);

/* Builds. The graph must outlive the kernel, which is owned by the caller. */
atn_status atn_kernel_build(atn_device *device, const atn_graph *graph, const atn_variant *variant, atn_kernel **out);
void atn_kernel_free(atn_kernel *kernel); /* NULL is fine */

/* Runs on `queue` (NULL: the device's own): slots[n_objects], params[n_parameters]. Checks everything that
 * atn_eval_check does first and refuses before anything is launched. Asynchronous, but for kernels with computed
 * accesses, which wait and report those out of range. Allocates only when its scratch must grow. */
atn_status atn_kernel_run(atn_kernel *kernel, atn_queue *queue, const atn_slot *slots, const double (*params)[2]);

const atn_variant *atn_kernel_variant(const atn_kernel *kernel);
const atn_program *atn_kernel_program(const atn_kernel *kernel);
atn_function *atn_kernel_function(const atn_kernel *kernel, int32_t stage); /* for what only a build tells */

#endif
