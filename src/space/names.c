/* The texts of a space, each kept once and known by its number: an open-addressing hash table that grows. */
#include "base/memory.h"
#include "space/lanai.h"

#include <string.h>

static atn_status rehash(atn_space *space) {
    size_t wanted = space->n_buckets ? 2 * space->n_buckets : 256;
    int32_t *buckets = atn_alloc(space->ctx, wanted * sizeof *buckets);
    if (!buckets) return ATN_ERR_MEMORY;
    memset(buckets, 0xff, wanted * sizeof *buckets);
    for (size_t k = 0; k < space->n_symbols; ++k) {
        size_t at = space->symbols[k].hash.low & (wanted - 1);
        while (buckets[at] >= 0) at = (at + 1) & (wanted - 1);
        buckets[at] = (int32_t)k;
    }
    atn_free(space->ctx, space->buckets);
    space->buckets = buckets;
    space->n_buckets = wanted;
    return ATN_OK;
}

int32_t atn_lan_intern(atn_space *space, const char *text, size_t length) {
    atn_hash hash = atn_hash_add((atn_hash){0}, text, length);
    if (2 * space->n_symbols >= space->n_buckets && rehash(space)) return -1;
    size_t at = hash.low & (space->n_buckets - 1);
    for (; space->buckets[at] >= 0; at = (at + 1) & (space->n_buckets - 1)) {
        const char *known = space->symbols[space->buckets[at]].text;
        if (strlen(known) == length && memcmp(known, text, length) == 0) return space->buckets[at];
    }
    if (atn_grow(space->ctx, (void **)&space->symbols, &space->symbols_capacity, space->n_symbols,
                 sizeof *space->symbols))
        return -1;
    char *copy = atn_arena_strndup(&space->arena, text, length);
    if (!copy) return -1;
    space->symbols[space->n_symbols] = (atn_lan_symbol){.text = copy, .hash = hash};
    return space->buckets[at] = (int32_t)space->n_symbols++;
}

const char *atn_lan_text(const atn_space *space, int32_t number) { return space->symbols[number].text; }
