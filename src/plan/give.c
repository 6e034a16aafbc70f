/* Creating programs for applications, and binding their arguments. */
#include "plan/give.h"

#include "plan/program.h"

atn_status atn_program_make(atn_device *device, const char *name, atn_type type, int how, atn_program **out) {
    atn_kernel_settings settings = atn_give_settings(type, how);
    if (*out) return ATN_OK;
    atn_status status = atn_program_create(device, name, &settings, out);
    if (status == ATN_OK && (how & ATN_TRUSTED)) atn_program_trust(*out);
    if (status == ATN_OK && (how & ATN_ANY_SIZE)) atn_program_any_size(*out);
    return status;
}

atn_status atn_program_give(atn_program *program, const atn_named_array *arrays, size_t n_arrays,
                            const atn_named_number *numbers, size_t n_numbers) {
    ATN_GIVE_ALL(program, atn_program_bind, atn_program_param);
}
