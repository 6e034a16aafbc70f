/* Style sheets and scripts of reports, src/plot/web, embedded when the library is built. */
#ifndef ATN_PLOT_WEB_H
#define ATN_PLOT_WEB_H

#include "base/embedded.h"

extern const atn_embedded ATN_WEB_FILES[]; /* by name; made by the build */

const char *atn_web(const char *name); /* its text; of one of ours */

#endif
