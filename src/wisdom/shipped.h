/* The wisdom that attune ships, wisdom/NAME.json, embedded when the library is built. */
#ifndef ATN_WISDOM_SHIPPED_H
#define ATN_WISDOM_SHIPPED_H

#include "base/embedded.h"
#include "wisdom/wisdom.h"

extern const atn_embedded ATN_SHIPPED_WISDOM[]; /* made by the build */

/* What shipped wisdom names as its generator. It holds for every one that makes the same of its winners, which a test
 * looks after (tools/ship-wisdom --check). */
#define ATN_SHIPPED_GENERATOR "shipped"

/* The table in use. A test may point it elsewhere before a context first asks. */
extern const atn_embedded *atn_shipped_wisdom_table;

/* All of it as a database in memory that the context carries; read when first asked for about a kernel whose graph the
 * files mention, which takes milliseconds. NULL where nothing is shipped about it. A file that cannot be read is left
 * out with a warning: it is our defect, not the caller's. */
atn_status atn_wisdom_shipped(const atn_ctx *ctx, atn_hash graph, atn_wisdom **out);

#endif
