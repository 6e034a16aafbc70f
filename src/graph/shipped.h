/* The descriptions that attune ships, kernels/NAME.atn and programs/NAME.atn, as they were when the library was built.
 */
#ifndef ATN_GRAPH_SHIPPED_H
#define ATN_GRAPH_SHIPPED_H

#include "base/embedded.h"

#include <stdbool.h>

extern const atn_embedded ATN_SHIPPED[];          /* kernels by name; made by the build */
extern const atn_embedded ATN_SHIPPED_PROGRAMS[]; /* what is more than one kernel */

const char *atn_shipped_find(const char *name); /* its text, or NULL */
bool atn_shipped_is_kernel(const char *name);   /* one kernel, also where it is written as a program */

#endif
