/* Finding a shipped description by its name. */
#include "graph/shipped.h"

#include <stddef.h>
#include <string.h>

const char *atn_shipped_find(const char *name) {
    for (const atn_shipped *s = ATN_SHIPPED; s->name; ++s)
        if (strcmp(s->name, name) == 0) return s->text;
    for (const atn_shipped *s = ATN_SHIPPED_PROGRAMS; s->name; ++s)
        if (strcmp(s->name, name) == 0) return s->text;
    return NULL;
}

bool atn_shipped_is_kernel(const char *name) {
    for (const atn_shipped *s = ATN_SHIPPED; s->name; ++s)
        if (strcmp(s->name, name) == 0) return true;
    return false;
}
