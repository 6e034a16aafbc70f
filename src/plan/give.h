/* Programs as used by applications: the counterpart of kernel/give.h. */
#ifndef ATN_PLAN_GIVE_H
#define ATN_PLAN_GIVE_H

#include "kernel/give.h"

#include <attune/program.h>

/* Nothing happens where *out is there already; on failure it stays NULL. `how`: ATN_TRUSTED, ATN_ANY_SIZE. */
atn_status atn_program_make(atn_device *device, const char *name, atn_type type, int how, atn_program **out);
atn_status atn_program_give(atn_program *program, const atn_named_array *arrays, size_t n_arrays,
                            const atn_named_number *numbers, size_t n_numbers);

#endif
