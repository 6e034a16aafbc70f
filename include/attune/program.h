/* Programs: sequences of kernels with loops and temporaries (docs/programs.md), planned as a whole. Steps are fused
 * where that pays, temporaries share memory, consecutive steps are launched together. The calls mirror those of
 * kernels; a kernel or a Sequence is a program too. */
#ifndef ATTUNE_PROGRAM_H
#define ATTUNE_PROGRAM_H

#include <attune/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_program atn_program;

/* `description`: a text, the name of a shipped program or kernel, or the path of a file, whose last program is taken.
 * Owned by the caller, freed before the device is closed. `settings` may be NULL and is copied. */
ATN_API atn_status atn_program_create(atn_device *device, const char *description, const atn_kernel_settings *settings,
                                      atn_program **out);
ATN_API void atn_program_free(atn_program *program); /* NULL is allowed */

/* Binds a name of the program's signature to an array of the same device, which must live until the last run or until
 * another is bound. Unbound results are allocated and discarded. */
ATN_API atn_status atn_program_bind(atn_program *program, const char *name, atn_array *array);
/* May change from run to run; if sizes or counts depend on it, the program is planned again. */
ATN_API atn_status atn_program_param(atn_program *program, const char *name, double real, double imaginary);

/* A name of the program's signature; the string belongs to the program. */
typedef struct atn_program_name {
    size_t size; /* of this struct: ATN_INIT */
    const char *name;
    atn_type type;
    int32_t rank;                /* 1 vector, 2 matrix, 3 volume; 0: a parameter */
    bool read, written;          /* an input; an output */
    bool has_value;              /* a parameter with a value, given or by default: */
    double value[2];             /* real and imaginary part */
    int64_t shape[ATN_MAX_RANK]; /* of an array, as in atn_array_info; -1: not known yet */
} atn_program_name;
ATN_API int32_t atn_program_count(const atn_program *program);
ATN_API atn_status atn_program_get_name(const atn_program *program, int32_t name, atn_program_name *out);
static inline atn_program_name atn_program_name_of(const atn_program *program, int32_t name) { /* below the count */
    atn_program_name out = ATN_INIT(atn_program_name);
    atn_program_get_name(program, name, &out);
    return out;
}
/* Computes the shapes of unbound results from what is bound and given now, for atn_program_get_name. */
ATN_API atn_status atn_program_size(atn_program *program);

/* Determines sizes of temporaries, fusion and memory, and compiles kernels. Called by a run where necessary. */
ATN_API atn_status atn_program_plan(atn_program *program);
/* Once planned it neither looks up nor allocates. Asynchronous on a GPU, unless a loop or branch depends on a computed
 * value. */
ATN_API atn_status atn_program_run(atn_program *program);

/* A warning from the last run: a loop that met NaN, or that reached its iteration limit. NULL: none. Valid until the
 * next run. Waits for the run if it has loops. */
ATN_API const char *atn_program_note(atn_program *program);

/* For people: the plan with its steps, fusion, memory, and the variant of each step. Valid until the next call
 * with this handle. */
ATN_API const char *atn_program_explain(atn_program *program);

#ifdef __cplusplus
}
#endif
#endif
