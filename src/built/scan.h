/* Estimates of scans. */
#ifndef ATN_BUILT_SCAN_H
#define ATN_BUILT_SCAN_H

#include "built/built.h"

/* Changes a plain variant; what is not said of sizes (NULL, 0) counts as large. */
void atn_estimate_scan(const atn_graph *graph, const atn_device_info *info, const atn_extent *extent, bool host,
                       atn_variant *v);

#endif
