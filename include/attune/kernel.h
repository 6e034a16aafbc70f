/* The kernel manager: a handle for one described kernel on one device at given shapes. Which variant it runs is known
 * from earlier tuning (wisdom), estimated, or measured now: as much effort as the caller asks for, as in FFTW. */
#ifndef ATTUNE_KERNEL_H
#define ATTUNE_KERNEL_H

#include <attune/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_kernel atn_kernel;

typedef enum atn_effort {
    ATN_EFFORT_ESTIMATE,  /* wisdom where there is some, else a reasonable variant at once; never measures */
    ATN_EFFORT_WISDOM,    /* wisdom only: fails where there is none */
    ATN_EFFORT_MEASURE,   /* tunes for budget_s where there is no exact wisdom */
    ATN_EFFORT_EXHAUSTIVE /* tunes over the whole space where that was not done */
} atn_effort;

typedef struct atn_kernel_options {
    const char *const *defines; /* "USED_FLOAT=SP", ended by NULL; or NULL */
    atn_effort effort;
    double budget_s;   /* of MEASURE; 0: 60 s */
    double tolerance;  /* relative error accepted beyond rounding; 0: what is derived */
    bool reproducible; /* results that do not change with the variant */
} atn_kernel_options;

/* `description`: the name of a shipped kernel ("gemm"), or XML text. Owned by the caller, freed before the device is
 * closed. `options` may be NULL. */
ATN_API atn_status atn_kernel_create(atn_device *device, const char *description, const atn_kernel_options *options,
                                     atn_kernel **out);
ATN_API void atn_kernel_free(atn_kernel *kernel); /* NULL is fine */

ATN_API atn_status atn_kernel_bind(atn_kernel *kernel, const char *object, atn_array *array);
ATN_API atn_status atn_kernel_param(atn_kernel *kernel, const char *parameter, double value);
/* Checks what is bound, chooses and builds. Called by the first run where it was not called before. */
ATN_API atn_status atn_kernel_plan(atn_kernel *kernel);
/* The hot path: on planned arrays it neither looks up nor allocates. */
ATN_API atn_status atn_kernel_run(atn_kernel *kernel);

/* Which variant, from where, how near, how fast against the device's peak: sentences for people, valid until the next
 * call with this handle. */
ATN_API const char *atn_kernel_explain(atn_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
