/* Memory that all ranks reach. Its owner need not take part: whoever is free takes work, and what it needs for it, from
 * others that are still busy. */
#include "ranks/ranks.h"

#include <assert.h>
#include <string.h>

static atn_status result(atn_ranks *r, int failed, const char *words) {
    if (!failed) return ATN_OK;
    r->broken = true;
    return atn_fail(r->ctx, ATN_ERR_IO, "%s", words);
}

atn_status atn_ranks_share(atn_ranks *r, atn_status own, size_t bytes, atn_ranks_window *out) {
    char words[ATN_RANKS_WORDS] = "";
    *out = (atn_ranks_window){0};
    atn_status status = atn_ranks_agree(r, own);
    if (status == ATN_OK)
        status = result(r, r->way->share(bytes ? bytes : 1, &out->memory, &out->handle, words), words);
    if (status != ATN_OK) {
        *out = (atn_ranks_window){0};
        return status;
    }
    out->bytes = bytes;
    memset(out->memory, 0, bytes);
    return atn_ranks_agree(r, ATN_OK); /* nobody writes before that */
}

void atn_ranks_unshare(atn_ranks *r, atn_ranks_window *window) {
    char words[ATN_RANKS_WORDS] = "";
    if (window->memory && !r->broken) (void)result(r, r->way->unshare(window->handle, words), words);
    *window = (atn_ranks_window){0};
}

atn_status atn_ranks_get(atn_ranks *r, const atn_ranks_window *window, int32_t from, size_t at, void *data,
                         size_t bytes) {
    char words[ATN_RANKS_WORDS] = "";
    if (!bytes) return ATN_OK;
    return result(r, r->way->get(window->handle, from, at, data, bytes, words), words);
}

atn_status atn_ranks_put(atn_ranks *r, const atn_ranks_window *window, int32_t to, size_t at, const void *data,
                         size_t bytes) {
    char words[ATN_RANKS_WORDS] = "";
    if (!bytes) return ATN_OK;
    return result(r, r->way->put(window->handle, to, at, data, bytes, words), words);
}

atn_status atn_ranks_add(atn_ranks *r, const atn_ranks_window *window, int32_t of, size_t at, int64_t more,
                         int64_t *before) {
    char words[ATN_RANKS_WORDS] = "";
    assert(at % sizeof *before == 0);
    return result(r, r->way->add(window->handle, of, at, more, before, words), words);
}
