/* Any bytes as a file of the cache, or as its key: what comes out of the cache is what was put in, or nothing. The
 * first byte picks which of both the rest is: 'k' the key, else a file. With the key below, the corpus has a file whose
 * seal is right, over CONTENT. */
#include "scratch.h"

#include "base/memory.h"
#include "device/cache.h"

static const char KEY[8 + 32] = "attkey1\0this key is for fuzzing, not you";
static const char CONTENT[] = "what was built";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const atn_hash name = {1, 2};
    char text[ATN_HASH_TEXT], file[64], *got;
    size_t length;
    atn_ctx *ctx;
    atn_cache *cache;
    if (size == 0) return 0;
    bool key = data[0] == 'k';
    scratch_begin();
    atn_hash_print(name, text);
    snprintf(file, sizeof file, "%s.blob", text);
    scratch_write("key", key ? (const char *)data + 1 : KEY, key ? size - 1 : sizeof KEY);
    if (!key) scratch_write(file, data + 1, size - 1);
    if (atn_ctx_create(&(atn_ctx_settings){.cache_dir = scratch_dir}, &ctx) != ATN_OK) return 0;
    if (atn_cache_of(ctx, &cache) != ATN_OK || !atn_cache_lasting(cache)) abort();
    if (atn_cache_get(cache, name, ".blob", &got, &length) != ATN_OK) abort();
    if (got && (key || length != sizeof CONTENT - 1 || memcmp(got, CONTENT, length) != 0)) abort();
    atn_free(ctx, got);
    if (atn_cache_put(cache, name, ".blob", CONTENT, sizeof CONTENT - 1) != ATN_OK) abort();
    if (atn_cache_get(cache, name, ".blob", &got, &length) != ATN_OK || !got || length != sizeof CONTENT - 1) abort();
    atn_free(ctx, got);
    atn_ctx_free(ctx);
    scratch_empty();
    return 0;
}
