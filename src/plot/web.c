/* Style sheets and scripts of reports, by name. */
#include "plot/web.h"

const char *atn_web(const char *name) { return atn_embedded_find(ATN_WEB_FILES, name); }
