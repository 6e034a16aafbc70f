/* The key that signs the files of a cache directory: 32 random bytes in its file `key`, which only the owner may read.
 * Whoever could once write to the directory cannot have made a file that is accepted. */
#ifndef ATN_DEVICE_CACHE_KEY_H
#define ATN_DEVICE_CACHE_KEY_H

#include "base/mac.h"

/* The key of the directory, created if there is none; processes that ask concurrently get the same one. NULL, or why
 * the directory must not be used. */
const char *atn_cache_key_of(const char *dir, unsigned char key[ATN_MAC_KEY]);
const char *atn_cache_key_fresh(unsigned char key[ATN_MAC_KEY]); /* NULL, or why there is none */

#endif
