/* The kernel manager: a handle for one described kernel (docs/language.md) on one device. Arrays and parameters are
 * bound by name; their sizes decide which variant runs: what was measured before (wisdom), an estimate, or what is
 * measured now. As much effort as the caller asks for, as in FFTW. A Sequence runs step by step, each chosen on its
 * own. */
#ifndef ATTUNE_KERNEL_H
#define ATTUNE_KERNEL_H

#include <attune/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_kernel atn_kernel;

/* How a variant is found when a kernel is planned. */
typedef enum atn_effort {
    ATN_EFFORT_ESTIMATE,  /* wisdom where there is some, else a reasonable variant at once; never measures */
    ATN_EFFORT_WISDOM,    /* wisdom only: fails where there is none */
    ATN_EFFORT_MEASURE,   /* tunes for budget_s where nothing was tuned at this very size on this device */
    ATN_EFFORT_EXHAUSTIVE /* tunes over the whole space; what is known already is not measured again */
} atn_effort;

/* A field left zero takes its default. */
typedef struct atn_kernel_settings {
    const char *const *defines; /* "USED_FLOAT=SP" and the like, ended by NULL; or NULL */
    atn_effort effort;          /* default: estimate */
    double budget_s;            /* of MEASURE, for each step; default: 60 */
    double tolerance;           /* relative error accepted beyond rounding; 0: what is derived */
    bool reproducible;          /* results that do not change with the variant */
} atn_kernel_settings;

/* `description`: a text (XML, which begins with '<', or the notation, which has line ends), the name of a kernel that
 * is shipped ("gemm"), or the path of a file. A wrong one is refused with its first error. Owned by the caller, freed
 * before the device is closed. `settings` may be NULL and is copied. */
ATN_API atn_status atn_kernel_create(atn_device *device, const char *description, const atn_kernel_settings *settings,
                                     atn_kernel **out);
ATN_API void atn_kernel_free(atn_kernel *kernel); /* NULL is fine */

/* Binds an object to an array of the same device, which must live until the last run (or another is bound). What is not
 * bound and only passes between steps, or is only written, takes the size that is reached. */
ATN_API atn_status atn_kernel_bind(atn_kernel *kernel, const char *object, atn_array *array);
/* May change from run to run. Complex ones have an imaginary part, others 0. */
ATN_API atn_status atn_kernel_param(atn_kernel *kernel, const char *parameter, double real, double imaginary);

/* Checks types and shapes, chooses and builds; with more effort, tunes. Called by a run where it is due: the first one,
 * or after arrays of other sizes were bound. */
ATN_API atn_status atn_kernel_plan(atn_kernel *kernel);
/* The hot path: once planned it neither looks up nor allocates, also with other parameters or arrays of the same sizes.
 * On a GPU it returns before the work is done; whoever maps a result waits for it. */
ATN_API atn_status atn_kernel_run(atn_kernel *kernel);

/* Which variant, from where, how near, how fast against the device's peaks: sentences for people, a line for each step.
 * Valid until the next call with this handle. */
ATN_API const char *atn_kernel_explain(atn_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
