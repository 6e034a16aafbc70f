/* Kernels as used by applications: created for a type when first needed, and bound to their arrays and numbers from
 * tables. plan/give.h does the same for programs. */
#ifndef ATN_KERNEL_GIVE_H
#define ATN_KERNEL_GIVE_H

#include <attune/kernel.h>

/* An array for a name of a kernel or program; a number for a parameter. */
typedef struct atn_named_array {
    const char *name;
    atn_array *array;
} atn_named_array;
typedef struct atn_named_number {
    const char *name;
    double value;
} atn_named_number;

/* A table and its length, as two arguments: ATN_ARRAYS({"x", x}, {"y", y}), or none. */
#define ATN_ARRAYS(...)      ATN_NAMED(atn_named_array, __VA_ARGS__)
#define ATN_NUMBERS(...)     ATN_NAMED(atn_named_number, __VA_ARGS__)
#define ATN_NAMED(type, ...) (const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__}) / sizeof(type)
#define ATN_NOTHING          NULL, 0

/* How something is made (kernel/kernel.h, plan/program.h). TO_A_HALF: errors of about a unit of a half are accepted. */
enum {
    ATN_TRUSTED = 1,
    ATN_MODEST = 2,
    ATN_ANY_SIZE = 4,
    ATN_REPRODUCIBLE = 8,
    ATN_TO_A_HALF = 16,
    ATN_MEANWHILE = 32
};

/* The settings for an element type that may vary. */
atn_kernel_settings atn_give_settings(atn_type type, int how);

/* The body of a function that gives: binds all arrays, then sets all numbers, by functions of the kernel or program
 * `object`. */
#define ATN_GIVE_ALL(object, bind, param)                                                                              \
    atn_status status = ATN_OK;                                                                                        \
    for (size_t k = 0; k < n_arrays && status == ATN_OK; ++k) status = bind(object, arrays[k].name, arrays[k].array);  \
    for (size_t k = 0; k < n_numbers && status == ATN_OK; ++k)                                                         \
        status = param(object, numbers[k].name, numbers[k].value, 0);                                                  \
    return status

/* Nothing happens where *out is there already; on failure it stays NULL. */
atn_status atn_kernel_make(atn_device *device, const char *name, atn_type type, int how, atn_kernel **out);
atn_status atn_kernel_give(atn_kernel *kernel, const atn_named_array *arrays, size_t n_arrays,
                           const atn_named_number *numbers, size_t n_numbers);

#endif
