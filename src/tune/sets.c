/* Shapes per kernel and kind of device, from the kernels' files. Sizes that a row does not give follow from the
 * accesses. */
#include "tune/sets.h"

#include <string.h>

const atn_set *atn_set_next(const atn_set *sets, const char *kernel, const atn_device_info *info,
                            const atn_set *after) {
    for (const atn_set *set = after ? after + 1 : sets; set->kernel; ++set)
        if (strcmp(set->kernel, kernel) == 0 && (!set->where || strcmp(set->where, info->cpu ? "cpu" : "gpu") == 0))
            return set;
    return NULL;
}

const char *atn_set_against(const char *kernel) {
    for (const atn_against *row = ATN_AGAINST; row->kernel; ++row)
        if (strcmp(row->kernel, kernel) == 0) return row->against;
    return "copy";
}

const char *const *atn_set_defines(const atn_set *set) {
    static const char *const DEFINES[][2] = {{"USED_FLOAT=SP", NULL}, {"USED_FLOAT=HP", NULL}, {"USED_FLOAT=DP", NULL}};
    char type = set->type ? set->type[0] : 'S';
    return DEFINES[type == 'H' ? 1 : type == 'D' ? 2 : 0];
}
