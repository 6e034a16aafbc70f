/* Finding a shipped space by its name. */
#include "space/shipped.h"

const char *atn_space_shipped(const char *name) { return atn_embedded_find(ATN_SHIPPED_SPACES, name); }
