/* Kernels: a handle for one kernel description (docs/language.md) on one device. Arrays and parameters are bound by
 * name; the variant is chosen for their sizes: from measurements (wisdom), by an estimate, or by tuning now, with as
 * much effort as the caller asks for, as in FFTW. The steps of a Sequence are chosen separately. */
#ifndef ATTUNE_KERNEL_H
#define ATTUNE_KERNEL_H

#include <attune/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_kernel atn_kernel;

/* Planning effort: how a variant is chosen. */
typedef enum atn_effort {
    ATN_EFFORT_ESTIMATE,  /* wisdom if available, otherwise a reasonable variant; never measures */
    ATN_EFFORT_WISDOM,    /* wisdom only: fails if there is none */
    ATN_EFFORT_MEASURE,   /* tunes for budget_s unless there is wisdom for exactly this size and device */
    ATN_EFFORT_EXHAUSTIVE /* tunes over the whole search space; known variants are not measured again */
} atn_effort;

/* Fields left at zero take their defaults. */
typedef struct atn_kernel_settings {
    size_t size;                /* of this struct: ATN_INIT */
    const char *const *defines; /* "USED_FLOAT=SP" and so on, terminated by NULL; or NULL */
    atn_effort effort;          /* default: estimate */
    double budget_s;            /* time budget of MEASURE per step, in seconds; default: 60 */
    double tolerance;           /* relative error accepted beyond rounding; 0: none */
    bool reproducible;          /* results do not depend on the variant */
} atn_kernel_settings;

/* `description`: a text (XML, beginning with '<', or the notation, with line breaks), the name of a shipped kernel
 * ("gemm"), or the path of a file. An invalid one fails with its first error. Owned by the caller, freed before the
 * device is closed. `settings` may be NULL and is copied. */
ATN_API atn_status atn_kernel_create(atn_device *device, const char *description, const atn_kernel_settings *settings,
                                     atn_kernel **out);
ATN_API void atn_kernel_free(atn_kernel *kernel); /* NULL is allowed */

/* Binds an object to an array of the same device, which must live until the last run or until another is bound. Unbound
 * objects that are only written, or only passed between steps, are allocated with the size needed. */
ATN_API atn_status atn_kernel_bind(atn_kernel *kernel, const char *object, atn_array *array);
/* May change from run to run. The imaginary part is 0 for real parameters. */
ATN_API atn_status atn_kernel_param(atn_kernel *kernel, const char *parameter, double real, double imaginary);

/* Checks types and shapes, chooses a variant and compiles it; with more effort, tunes. Called by the first run, and by
 * a run after arrays of other sizes were bound. */
ATN_API atn_status atn_kernel_plan(atn_kernel *kernel);
/* The hot path: once planned it neither looks up nor allocates, even with other parameters or other arrays of the same
 * sizes. Asynchronous on a GPU: mapping a result waits for it. Indices from arrays that were out of range (their reads
 * gave 0, their writes were not made) are reported as ATN_ERR_INPUT: on the host by this call, elsewhere by the first
 * call that reads an array written by this run or after it, or by a later run; the message names kernel and run. */
ATN_API atn_status atn_kernel_run(atn_kernel *kernel);

/* For people: the variant, its origin and its speed relative to the device's peaks, one line per step.
 * Valid until the next call with this handle. */
ATN_API const char *atn_kernel_explain(atn_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
