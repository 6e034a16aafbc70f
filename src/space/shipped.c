/* Finding a shipped space by its name. */
#include "space/shipped.h"

#include <stddef.h>
#include <string.h>

const char *atn_space_shipped(const char *name) {
    for (const atn_shipped_space *s = ATN_SHIPPED_SPACES; s->name; ++s)
        if (strcmp(s->name, name) == 0) return s->text;
    return NULL;
}
