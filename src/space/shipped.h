/* The spaces that attune ships, spaces/NAME.lanai, embedded when the library is built. */
#ifndef ATN_SPACE_SHIPPED_H
#define ATN_SPACE_SHIPPED_H

#include "base/embedded.h"

extern const atn_embedded ATN_SHIPPED_SPACES[]; /* by name; made by the build */

const char *atn_space_shipped(const char *name); /* its text, or NULL */

#endif
