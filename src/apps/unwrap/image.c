/* Programs over the arrays of a frame. */
#include "apps/unwrap/image.h"

#include <assert.h>

atn_status unwrap_program_bind(unwrap_program *p, const unwrap_image *image, const char *name,
                               const atn_named_array *arrays, size_t n) {
    atn_status status = atn_program_make(image->device, name, image->type, ATN_TRUSTED, &p->program);
    assert(n <= UNWRAP_BOUND);
    for (size_t k = 0; k < n && status == ATN_OK; ++k) {
        if (p->bound[k] == arrays[k].array) continue;
        status = atn_program_bind(p->program, arrays[k].name, arrays[k].array);
        p->bound[k] = status == ATN_OK ? arrays[k].array : NULL;
        p->name[k] = arrays[k].name;
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
