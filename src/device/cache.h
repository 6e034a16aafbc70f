/* The cache of built code: files named by the hash of everything that determines them, under the XDG cache directory,
 * mode 0700, refused if others could write to it, limited in size ($ATTUNE_CACHE_MIB, default 512), the oldest files
 * being removed first. If the directory cannot be used, a private temporary one replaces it for this process, and the
 * log says why. Every file ends with a seal made with the key of the directory (cache_key.h) and is opened once,
 * without following links: files that are unsigned, belong to another user or are writable by others are not used. A
 * cache may be used by many threads and processes concurrently. */
#ifndef ATN_DEVICE_CACHE_H
#define ATN_DEVICE_CACHE_H

#include "base/context.h"
#include "base/hash.h"

typedef struct atn_cache atn_cache;

/* The context's cache, opened on first use and closed with the context. Fails only when not even a temporary
 * directory can be made. */
atn_status atn_cache_of(const atn_ctx *ctx, atn_cache **out);
const char *atn_cache_dir(const atn_cache *cache); /* lives as long as the cache, also after it is given up */
/* Gives the directory up for a temporary one, with a warning that says why: it is full, or was taken away. Once only:
 * after that it does nothing. */
atn_status atn_cache_demote(atn_cache *cache, const char *why);
const atn_ctx *atn_cache_ctx(const atn_cache *cache);
bool atn_cache_lasting(const atn_cache *cache); /* false: the temporary replacement */

/* The path under which (key, suffix) is or would be kept; owned by the caller. suffix: ".so", ".cubin", ... */
char *atn_cache_path(const atn_cache *cache, atn_hash key, const char *suffix);

/* Reads an entry and marks it as recently used. *data is NULL, with ATN_OK, if there is none, or if it is damaged or
 * foreign: then it is removed. The data returned has been verified; nothing is read again. */
atn_status atn_cache_get(const atn_cache *cache, atn_hash key, const char *suffix, char **data, size_t *length);

/* Keeps `data`, atomically; a full disk is logged, not failed. Evicts the oldest over the cap. */
atn_status atn_cache_put(const atn_cache *cache, atn_hash key, const char *suffix, const void *data, size_t length);

/* For what tools write: a fresh private directory inside the cache, owned by the caller. */
atn_status atn_cache_workdir(const atn_cache *cache, char **dir);
void atn_cache_discard(const atn_cache *cache, char *dir); /* removes the directory with its files, frees the name */

#endif
