/* Records sorted into buckets. Each bucket has its region, one after the other, so that each can be read at once;
 * writes are collected in a buffer for each bucket. */
#include "cloud/spill.h"

#include "base/environment.h"
#include "base/memory.h"
#include "base/size.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bucket {
    size_t start, size; /* its region, in records */
    size_t count;       /* that were put */
    size_t held;        /* of these, in the buffer */
} bucket;

struct spill {
    const atn_ctx *ctx;
    size_t bytes; /* of a record */
    size_t room;  /* records of a buffer */
    size_t buckets;
    bucket *bucket;
    char *block; /* all records, or the buffers one after the other */
    bool lent;   /* it is the caller's */
    int fd;      /* -1: memory */
};

/* In $TMPDIR; gone when it is closed, whatever happens. */
static atn_status open_file(spill *s) {
    const char *folder = atn_environment(ATN_ENV_TMPDIR);
    char path[4096];
    if (!folder) folder = "/tmp";
    if ((size_t)snprintf(path, sizeof path, "%s/attune-XXXXXX", folder) >= sizeof path)
        return atn_fail(s->ctx, ATN_ERR_IO, "the name of the folder for temporary files (TMPDIR) is too long");
    s->fd = mkstemp(path);
    if (s->fd < 0)
        return atn_fail(s->ctx, ATN_ERR_IO, "%s: no temporary file can be made: %s (TMPDIR names another folder)",
                        folder, strerror(errno));
    unlink(path);
    (void)fcntl(s->fd, F_SETFD, FD_CLOEXEC);
    return ATN_OK;
}

static atn_status make_block(spill *s, size_t records, size_t memory) {
    size_t bytes;
    if (!atn_size_mul(records, s->bytes, &bytes)) return atn_fail_memory(s->ctx, SIZE_MAX, "atoms");
    bool file = bytes > memory;
    s->room = SPILL_ROOM / s->bytes;
    if (!s->lent) s->block = atn_alloc(s->ctx, file ? s->buckets * s->room * s->bytes : bytes);
    if (!s->block) return ATN_ERR_MEMORY;
    return file ? open_file(s) : ATN_OK;
}

atn_status spill_make(const atn_ctx *ctx, size_t bytes, size_t buckets, const size_t *sizes, size_t memory, void *lent,
                      spill **out) {
    spill *s = *out = atn_zalloc(ctx, sizeof **out);
    if (!s) return ATN_ERR_MEMORY;
    *s = (spill){.ctx = ctx, .bytes = bytes, .buckets = buckets, .block = lent, .lent = lent != NULL, .fd = -1};
    s->bucket = atn_zalloc(ctx, buckets * sizeof *s->bucket);
    size_t records = 0;
    for (size_t k = 0; s->bucket && k < buckets; ++k) {
        s->bucket[k] = (bucket){.start = records, .size = sizes[k]};
        records += sizes[k];
    }
    atn_status status = s->bucket ? make_block(s, records, lent ? SIZE_MAX : memory) : ATN_ERR_MEMORY;
    if (status == ATN_OK) return ATN_OK;
    spill_free(s);
    *out = NULL;
    return status;
}

void spill_free(spill *s) {
    if (!s) return;
    if (s->fd >= 0) close(s->fd);
    if (!s->lent) atn_free(s->ctx, s->block);
    atn_free(s->ctx, s->bucket);
    atn_free(s->ctx, s);
}

bool spill_is_file(const spill *s) { return s->fd >= 0; }

size_t spill_count(const spill *s, size_t k) { return s->bucket[k].count; }

/* All of it, at a place of the file. */
static atn_status move_all(const spill *s, bool out, char *data, size_t length, size_t at) {
    while (length) {
        ssize_t moved = out ? pwrite(s->fd, data, length, (off_t)at) : pread(s->fd, data, length, (off_t)at);
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0)
            return atn_fail(s->ctx, ATN_ERR_IO, "the temporary file cannot be %s: %s", out ? "written" : "read",
                            moved < 0 ? strerror(errno) : "it ended");
        data += moved;
        length -= (size_t)moved;
        at += (size_t)moved;
    }
    return ATN_OK;
}

static atn_status flush(spill *s, size_t k) {
    bucket *b = &s->bucket[k];
    atn_status status = atn_check_cancel(s->ctx);
    if (status == ATN_OK)
        status = move_all(s, true, s->block + k * s->room * s->bytes, b->held * s->bytes,
                          (b->start + b->count - b->held) * s->bytes);
    b->held = 0;
    return status;
}

static atn_status refuse(const spill *s) {
    return atn_fail(s->ctx, ATN_ERR_INTERNAL, "more records than were counted");
}

atn_status spill_put(spill *s, size_t k, void **record) {
    bucket *b = &s->bucket[k];
    *record = NULL;
    if (b->count == b->size) return refuse(s);
    if (s->fd < 0)
        *record = s->block + (b->start + b->count) * s->bytes;
    else {
        atn_status status = b->held == s->room ? flush(s, k) : ATN_OK;
        if (status != ATN_OK) return status;
        *record = s->block + (k * s->room + b->held++) * s->bytes;
    }
    ++b->count;
    return ATN_OK;
}

atn_status spill_put_some(spill *s, size_t k, size_t count, void **records) {
    bucket *b = &s->bucket[k];
    *records = NULL;
    if (count > b->size - b->count || s->fd >= 0) return refuse(s);
    *records = s->block + (b->start + b->count) * s->bytes;
    b->count += count;
    return ATN_OK;
}

atn_status spill_put_all(spill *s, size_t k, size_t count, const void *records) {
    bucket *b = &s->bucket[k];
    const char *from = records;
    atn_status status = ATN_OK;
    if (s->fd < 0) {
        void *to;
        status = spill_put_some(s, k, count, &to);
        if (status == ATN_OK && count) memcpy(to, from, count * s->bytes);
        return status;
    }
    if (count > b->size - b->count) return refuse(s);
    while (count && status == ATN_OK) {
        if (b->held == s->room) status = flush(s, k);
        size_t some = count < s->room - b->held ? count : s->room - b->held;
        memcpy(s->block + (k * s->room + b->held) * s->bytes, from, some * s->bytes);
        b->held += some, b->count += some;
        from += some * s->bytes, count -= some;
    }
    return status;
}

atn_status spill_end(spill *s) {
    atn_status status = ATN_OK;
    for (size_t k = 0; s->fd >= 0 && status == ATN_OK && k < s->buckets; ++k) status = flush(s, k);
    return status;
}

atn_status spill_get(const spill *s, size_t k, size_t from, size_t count, void *out) {
    const bucket *b = &s->bucket[k];
    size_t at = (b->start + from) * s->bytes;
    if (s->fd >= 0) return move_all(s, false, out, count * s->bytes, at);
    if (count) memcpy(out, s->block + at, count * s->bytes);
    return ATN_OK;
}
