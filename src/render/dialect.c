/* The dialects by name. */
#include "render/dialect.h"

#include <string.h>

const atn_dialect *atn_dialect_find(const char *name) {
    static const struct {
        const char *name;
        const atn_dialect *dialect;
    } NAMES[] = {
        {"c", &ATN_DIALECT_C}, {"host", &ATN_DIALECT_C}, {"opencl", &ATN_DIALECT_OPENCL}, {"cuda", &ATN_DIALECT_CUDA}};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k)
        if (strcmp(NAMES[k].name, name) == 0) return NAMES[k].dialect;
    return NULL;
}
