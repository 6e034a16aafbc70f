/* The wisdom that a context uses: opened for reading when first needed, kept until the context is freed. */
#ifndef ATN_KERNEL_KNOWN_H
#define ATN_KERNEL_KNOWN_H

#include "wisdom/wisdom.h"

/* As atn_wisdom_find, in the context's wisdom, from any thread. A database that cannot be used counts as none, with a
 * warning, once. Fails for want of memory only. */
atn_status atn_known_find(const atn_ctx *ctx, const atn_wisdom_key *key, atn_hit *out);

#endif
