/* Records by index, written in any order and read in order: in memory each at its place; where that would be too much,
 * index i is in bucket i / share of a temporary file, and a bucket is sorted in memory when it is read. */
#include "base/attempt.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "cloud/spill.h"

#include <attune/frame.h>

#include <string.h>

enum { LEAST_SHARE = 1 << 12, MEMORY = 1 << 28 };

struct atn_atom_column {
    const atn_ctx *ctx;
    size_t records, bytes;
    size_t share;  /* indices of a bucket */
    char *whole;   /* all of them, zeros where there is none; owned; NULL: they are in buckets */
    spill *spill;  /* records with their place in the bucket before them; NULL: there are none */
    char *ordered; /* the bucket that is being got; owned */
    char *raw;     /* records as they lie in a bucket; owned */
    size_t at;     /* next index to be got */
    bool ended;    /* something was got: nothing is put any more */
    size_t loaded; /* which bucket is in order; SIZE_MAX: none yet */
};

enum { PLACE = sizeof(uint64_t), SOME = 1024 }; /* bytes of a place; records that are put in order at a time */

static atn_status make_spill(atn_atom_column *c) {
    size_t sizes[SPILL_BUCKETS], buckets = 0, left = c->records;
    c->share = (c->records + SPILL_BUCKETS - 1) / SPILL_BUCKETS;
    if (c->share < LEAST_SHARE) c->share = LEAST_SHARE;
    for (; left; ++buckets) {
        sizes[buckets] = left < c->share ? left : c->share;
        left -= sizes[buckets];
    }
    c->ordered = atn_alloc(c->ctx, c->share * c->bytes);
    c->raw = atn_alloc(c->ctx, SOME * (PLACE + c->bytes));
    if (!c->ordered || !c->raw) return ATN_ERR_MEMORY;
    return spill_make(c->ctx, PLACE + c->bytes, buckets, sizes, 0, NULL, &c->spill);
}

enum { ZEROS = 1 << 18 }; /* bytes for which a core is worth waking */

static void zero_part(void *user, int64_t from, int64_t to) { memset((char *)user + from, 0, (size_t)(to - from)); }

atn_status atn_atom_column_create(atn_ctx *ctx, size_t records, size_t bytes, size_t memory, atn_atom_column **out) {
    size_t total;
    *out = NULL;
    if (bytes == 0 || bytes > SPILL_ROOM - PLACE || !atn_size_mul(records, bytes + PLACE, &total))
        return atn_fail(ctx, ATN_ERR_INPUT, "a column of %zu records of %zu bytes; records have 1 to %d", records,
                        bytes, SPILL_ROOM - PLACE);
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    **out = (atn_atom_column){.ctx = ctx, .records = records, .bytes = bytes, .loaded = SIZE_MAX};
    bool file = total > (memory ? memory : MEMORY);
    if (!file) (*out)->whole = atn_alloc(ctx, records * bytes + 1);
    if ((*out)->whole) atn_parallel((int64_t)(records * bytes), ZEROS, zero_part, (*out)->whole);
    atn_status status = file ? make_spill(*out) : (*out)->whole ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) return ATN_OK;
    atn_atom_column_free(*out);
    *out = NULL;
    return status;
}

void atn_atom_column_free(atn_atom_column *c) {
    if (!c) return;
    spill_free(c->spill);
    atn_free(c->ctx, c->whole);
    atn_free(c->ctx, c->ordered);
    atn_free(c->ctx, c->raw);
    atn_free(c->ctx, c);
}

static atn_status refuse(const atn_atom_column *c, uint64_t index) {
    return atn_fail(c->ctx, ATN_ERR_INPUT, "a record for index %llu of a column of %zu", (unsigned long long)index,
                    c->records);
}

/* Records that go to their places in memory, on all cores. */
typedef struct putting {
    atn_atom_column *c;
    const uint64_t *index;
    const char *values;
} putting;

static atn_status put_part(void *user, int64_t from, int64_t to) {
    const putting *p = user;
    const atn_atom_column *c = p->c;
    for (size_t k = (size_t)from; k < (size_t)to; ++k) {
        if (p->index[k] >= c->records) return refuse(c, p->index[k]);
        memcpy(c->whole + p->index[k] * c->bytes, p->values + k * c->bytes, c->bytes);
    }
    return ATN_OK;
}

atn_status atn_atom_column_put(atn_atom_column *c, const uint64_t *index, size_t count, const void *values) {
    if (c->ended) return atn_fail(c->ctx, ATN_ERR_INPUT, "records must be put before the first get");
    if (c->whole) return atn_attempt(c->ctx, (int64_t)count, LEAST_SHARE, put_part, &(putting){c, index, values});
    for (size_t k = 0; k < count; ++k) {
        if (index[k] >= c->records) return refuse(c, index[k]);
        char *record;
        uint64_t place = index[k] % c->share;
        atn_status status = spill_put(c->spill, index[k] / c->share, (void **)&record);
        if (status != ATN_OK) return status;
        memcpy(record, &place, PLACE);
        memcpy(record + PLACE, (const char *)values + k * c->bytes, c->bytes);
    }
    return ATN_OK;
}

static atn_status load(atn_atom_column *c, size_t bucket) {
    atn_status status = c->ended ? ATN_OK : spill_end(c->spill);
    c->ended = true;
    size_t count = spill_count(c->spill, bucket), each = PLACE + c->bytes;
    memset(c->ordered, 0, c->share * c->bytes);
    for (size_t from = 0; status == ATN_OK && from < count; from += SOME) {
        size_t some = count - from < SOME ? count - from : SOME;
        status = spill_get(c->spill, bucket, from, some, c->raw);
        for (size_t k = 0; status == ATN_OK && k < some; ++k) {
            uint64_t place;
            memcpy(&place, c->raw + k * each, PLACE);
            memcpy(c->ordered + place * c->bytes, c->raw + k * each + PLACE, c->bytes);
        }
    }
    c->loaded = bucket;
    return status;
}

atn_status atn_atom_column_get(atn_atom_column *c, size_t count, void *values, size_t *got) {
    char *to = values;
    *got = 0;
    if (c->whole) {
        c->ended = true;
        *got = count < c->records - c->at ? count : c->records - c->at;
        memcpy(to, c->whole + c->at * c->bytes, *got * c->bytes);
        c->at += *got;
        return ATN_OK;
    }
    while (*got < count && c->at < c->records) {
        size_t bucket = c->at / c->share, place = c->at % c->share, some = c->share - place;
        atn_status status = c->loaded == bucket ? ATN_OK : load(c, bucket);
        if (status != ATN_OK) return status;
        if (some > count - *got) some = count - *got;
        if (some > c->records - c->at) some = c->records - c->at;
        memcpy(to + *got * c->bytes, c->ordered + place * c->bytes, some * c->bytes);
        *got += some;
        c->at += some;
    }
    return ATN_OK;
}
