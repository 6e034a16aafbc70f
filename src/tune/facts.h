/* Facts that a space may import: `device` (properties of the current device) and `kernel` (properties and sizes of the
 * graph). docs/spaces.md lists them. */
#ifndef ATN_TUNE_FACTS_H
#define ATN_TUNE_FACTS_H

#include "base/limits.h"
#include "space/space.h"
#include "tune/case.h"

/* Returns how many. Texts live as long as `info`. */
size_t atn_facts_of_device(const atn_device_info *info, atn_given *facts);
atn_status atn_facts_of_case(const atn_case *c, atn_given *facts, size_t *n);
/* Both; ATN_MOST_FACTS are room enough. */
atn_status atn_facts(const atn_device_info *info, const atn_case *c, atn_given *facts, size_t *n);

/* Known only after a build, for atn_space_allows_built: registers, local_memory, occupancy, code_bytes. */
enum { ATN_BUILT_FACTS = 4 };
size_t atn_facts_of_build(int64_t registers, int64_t local_memory, int64_t occupancy, int64_t code_bytes,
                          atn_given *facts);

#endif
