/* Creating kernels for applications, and binding their arguments. */
#include "kernel/give.h"

#include "kernel/kernel.h"

atn_kernel_settings atn_give_settings(atn_type type, int how) {
    static const char *const SINGLE[] = {"USED_FLOAT=SP", NULL}, *const DOUBLE[] = {"USED_FLOAT=DP", NULL},
                             *const HALF[] = {"USED_FLOAT=HP", NULL};
    return (atn_kernel_settings){.defines = type == ATN_DP   ? DOUBLE
                                            : type == ATN_HP ? HALF
                                                             : SINGLE,
                                 .tolerance = how & ATN_TO_A_HALF ? 1e-3 : 0,
                                 .reproducible = how & ATN_REPRODUCIBLE};
}

atn_status atn_kernel_make(atn_device *device, const char *name, atn_type type, int how, atn_kernel **out) {
    atn_kernel_settings settings = atn_give_settings(type, how);
    if (*out) return ATN_OK;
    atn_status status = atn_kernel_create(device, name, &settings, out);
    if (status == ATN_OK && (how & ATN_TRUSTED)) atn_kernel_trust(*out);
    if (status == ATN_OK && (how & ATN_MODEST)) atn_kernel_modest(*out);
    if (status == ATN_OK && (how & ATN_MEANWHILE)) atn_kernel_meanwhile(*out);
    if (status == ATN_OK && (how & ATN_ANY_SIZE)) atn_kernel_any_size(*out);
    return status;
}

atn_status atn_kernel_give(atn_kernel *kernel, const atn_named_array *arrays, size_t n_arrays,
                           const atn_named_number *numbers, size_t n_numbers) {
    ATN_GIVE_ALL(kernel, atn_kernel_bind, atn_kernel_param);
}
