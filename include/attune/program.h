/* Programs: kernels described in a row, with loops and temporaries (docs/programs.md), planned as a whole. What lies
 * between two steps is fused where that pays, temporaries share memory, steps in a row are one launch. The calls mirror
 * those of kernels; a kernel, and a Sequence, are programs too. */
#ifndef ATTUNE_PROGRAM_H
#define ATTUNE_PROGRAM_H

#include <attune/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_program atn_program;

/* `description`: a text, the name of a program or kernel that is shipped, or the path of a file; the program is the
 * last one in it. Owned by the caller, freed before the device is closed. `settings` may be NULL and is copied. */
ATN_API atn_status atn_program_create(atn_device *device, const char *description, const atn_kernel_settings *settings,
                                      atn_program **out);
ATN_API void atn_program_free(atn_program *program); /* NULL is fine */

/* An array of the same device for a name of the program's head; it lives until the last run, or another is bound.
 * Results that nobody bound are made and dropped. */
ATN_API atn_status atn_program_bind(atn_program *program, const char *name, atn_array *array);
/* May change from run to run; one that sizes or counts depend on has the program planned again. */
ATN_API atn_status atn_program_param(atn_program *program, const char *name, double real, double imaginary);

/* A name of the program's head. A plain value; its text is the program's. */
typedef struct atn_program_name {
    const char *name;
    atn_type type;
    int32_t rank;                /* 1 vector, 2 matrix, 3 volume; 0: a parameter */
    bool read, written;          /* its elements matter before a run; after it */
    bool has_value;              /* a parameter that has one, given or by default: */
    double value[2];             /* real and imaginary part */
    int64_t shape[ATN_MAX_RANK]; /* of an array, as in atn_array_info; -1: not known yet */
} atn_program_name;
ATN_API int32_t atn_program_count(const atn_program *program);
ATN_API atn_program_name atn_program_get(const atn_program *program, int32_t name); /* below the count */
/* The sizes that results take which nobody bound, from what is bound and given now; then atn_program_get knows them. */
ATN_API atn_status atn_program_size(atn_program *program);

/* Sizes of all temporaries, what is fused, memory, kernels built. Called by a run where it is due. */
ATN_API atn_status atn_program_plan(atn_program *program);
/* Once planned it neither looks up nor allocates. On a GPU it returns before the work is done, unless a loop or a
 * branch had to look at a value. */
ATN_API atn_status atn_program_run(atn_program *program);

/* What the last run has to say: a loop that met a value that is no number, or one that took all the rounds it may.
 * NULL: nothing. Valid until the next run. Waits for the run where it has loops. */
ATN_API const char *atn_program_note(atn_program *program);

/* The plan for people: steps, what is fused, what it takes, and the variant of each step. Valid until the next call
 * with this handle. */
ATN_API const char *atn_program_explain(atn_program *program);

#ifdef __cplusplus
}
#endif
#endif
