/* Programs over the arrays of a frame. */
#include "apps/unwrap/image.h"

#include "plan/program.h"

#include <assert.h>

atn_status unwrap_program_bind(unwrap_program *p, const unwrap_image *image, const char *name,
                               const void *const *pairs) {
    static const char *const DEFINES[2][2] = {{"USED_FLOAT=SP", NULL}, {"USED_FLOAT=DP", NULL}};
    atn_kernel_settings options = {.defines = DEFINES[image->type == ATN_DP]};
    atn_status status = p->program ? ATN_OK : atn_program_create(image->device, name, &options, &p->program);
    if (status == ATN_OK) atn_program_trust(p->program);
    for (int k = 0; status == ATN_OK && pairs[2 * k]; ++k) {
        union {
            const void *in;
            atn_array *array;
        } wanted = {.in = pairs[2 * k + 1]};
        assert(k < UNWRAP_BOUND);
        if (p->bound[k] == wanted.array) continue;
        status = atn_program_bind(p->program, pairs[2 * k], wanted.array);
        p->bound[k] = status == ATN_OK ? wanted.array : NULL;
        p->name[k] = pairs[2 * k];
    }
    return status;
}

void unwrap_program_replace(unwrap_program *p, const atn_array *from, atn_array *to) {
    for (int k = 0; k < UNWRAP_BOUND; ++k) {
        if (!p->bound[k] || p->bound[k] != from) continue;
        (void)atn_program_bind(p->program, p->name[k], to); /* of the same type and size */
        p->bound[k] = to;
    }
}

void unwrap_program_free(unwrap_program *p) {
    atn_program_free(p->program);
    *p = (unwrap_program){0};
}
