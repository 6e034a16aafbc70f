/* Finding a shipped description by its name. */
#include "graph/shipped.h"

const char *atn_shipped_find(const char *name) {
    const char *kernel = atn_embedded_find(ATN_SHIPPED, name);
    return kernel ? kernel : atn_embedded_find(ATN_SHIPPED_PROGRAMS, name);
}

bool atn_shipped_is_kernel(const char *name) { return atn_embedded_find(ATN_SHIPPED, name); }
