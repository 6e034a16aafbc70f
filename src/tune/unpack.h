/* Unpacking gzip in memory, with a limit, and as far as the bytes go. */
#ifndef ATN_TUNE_UNPACK_H
#define ATN_TUNE_UNPACK_H

#include "base/text.h"

bool atn_unpack_is_packed(const char *bytes, size_t length);
/* Appends what is packed to `out`. *cut: the packed bytes end early; what came before is there. Damaged bytes, and
 * those that unpack to more than `limit`, are refused. */
atn_status atn_unpack(const atn_ctx *ctx, const char *name, const char *bytes, size_t length, size_t limit,
                      atn_text *out, bool *cut);

#endif
