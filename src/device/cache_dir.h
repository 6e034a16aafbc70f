/* The location of the cache: the directory to use, whether it is safe, and the fallback if it is not. */
#ifndef ATN_DEVICE_CACHE_DIR_H
#define ATN_DEVICE_CACHE_DIR_H

#include "base/context.h"

/* The context's choice, else $XDG_CACHE_HOME/attune, else ~/.cache/attune; absolute, "" where no home is known. Owned
 * by the caller. */
atn_status atn_cache_dir_wanted(const atn_ctx *ctx, char **out);

/* Makes the directory, mode 0700, with its parents. NULL when it is good to use, else why it is not. */
const char *atn_cache_dir_objection(char *dir);

atn_status atn_cache_dir_temporary(const atn_ctx *ctx, char **out); /* a fresh one, mode 0700; owned by the caller */
void atn_cache_dir_remove(const char *dir);                         /* with all that is in it */

/* "dir/name" and the suffix; owned by the caller. NULL on failure, with the sentence left. */
char *atn_cache_dir_join(const atn_ctx *ctx, const char *dir, const char *name, const char *suffix);

#endif
