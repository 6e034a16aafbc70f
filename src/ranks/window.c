/* Memory that all ranks reach. Its owner need not take part: whoever is free takes work, and what it needs for it, from
 * others that are still busy. */
#include "ranks/ranks.h"

#include "base/clock.h"
#include "base/memory.h"

#include <assert.h>
#include <string.h>

static atn_status result(atn_ranks *r, int failed, const char *words) {
    if (!failed) return ATN_OK;
    r->broken = true;
    return atn_fail(r->ctx, ATN_ERR_IO, "%s", words);
}

atn_status atn_ranks_share(atn_ranks *r, atn_status own, size_t bytes, size_t zeros, atn_ranks_window *out) {
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
    memset(out->memory, 0, zeros);
    return atn_ranks_agree(r, ATN_OK); /* nobody writes before that */
}

void atn_ranks_unshare(atn_ranks *r, atn_ranks_window *window) {
    char words[ATN_RANKS_WORDS] = "";
    if (window->memory && !r->broken) (void)result(r, r->way->unshare(window->handle, words), words);
    *window = (atn_ranks_window){0};
}

/* Waits for what was begun, unless that failed. */
static atn_status finish(atn_ranks *r, const atn_ranks_window *window, int failed, char *words) {
    return result(r, failed ? failed : r->way->finish(window->handle, words), words);
}

atn_status atn_ranks_get(atn_ranks *r, const atn_ranks_window *window, int32_t from, size_t at, void *data,
                         size_t bytes) {
    char words[ATN_RANKS_WORDS] = "";
    if (!bytes) return ATN_OK;
    return finish(r, window, r->way->get(window->handle, from, at, data, bytes, words), words);
}

atn_status atn_ranks_put(atn_ranks *r, const atn_ranks_window *window, int32_t to, size_t at, const void *data,
                         size_t bytes) {
    char words[ATN_RANKS_WORDS] = "";
    if (!bytes) return ATN_OK;
    return finish(r, window, r->way->put(window->handle, to, at, data, bytes, words), words);
}

atn_status atn_ranks_move(atn_ranks *r, const atn_ranks_window *window, const atn_ranks_piece *piece, size_t count,
                          bool out) {
    char words[ATN_RANKS_WORDS] = "";
    int failed = 0;
    for (const atn_ranks_piece *p = piece; p < piece + count && !failed; ++p) {
        if (!p->bytes) continue;
        failed = out ? r->way->put(window->handle, p->rank, p->at, p->data, p->bytes, words)
                     : r->way->get(window->handle, p->rank, p->at, p->data, p->bytes, words);
    }
    return finish(r, window, failed, words);
}

atn_status atn_ranks_add(atn_ranks *r, const atn_ranks_window *window, int32_t of, size_t at, int64_t more,
                         int64_t *before) {
    char words[ATN_RANKS_WORDS] = "";
    assert(at % sizeof *before == 0);
    return result(r, r->way->add(window->handle, of, at, more, before, words), words);
}

void atn_ranks_serve(const atn_ranks *r) {
    if (r->count > 1 && !r->broken) r->way->serve();
}

/* ---- lists that are filled together ---- */

enum { HALF = 1 << 21 }; /* bytes of a piece; there are two, so that nobody waits for those who still read the other */

struct atn_ranks_room {
    atn_ranks_window window;
    int turn;               /* of the pieces so far: which is next */
    atn_ranks_piece *piece; /* from each of the others; owned */
};

static atn_status open_room(atn_ranks *r, atn_status own) {
    if (r->room) return own;
    struct atn_ranks_room *room = atn_zalloc(r->ctx, sizeof *room);
    atn_ranks_piece *piece = atn_alloc(r->ctx, (size_t)r->count * sizeof *piece);
    atn_ranks_window window;
    if (own == ATN_OK && !(room && piece)) own = ATN_ERR_MEMORY;
    atn_status status = atn_ranks_share(r, own, 2 * (size_t)HALF, 0, &window);
    if (status != ATN_OK || !room) {
        atn_free(r->ctx, room);
        atn_free(r->ctx, piece);
        return status != ATN_OK ? status : ATN_ERR_MEMORY;
    }
    room->window = window;
    room->piece = piece;
    r->room = room;
    return ATN_OK;
}

void atn_ranks_close_room(atn_ranks *r) {
    if (!r->room) return;
    atn_ranks_unshare(r, &r->room->window);
    atn_free(r->ctx, r->room->piece);
    atn_free(r->ctx, r->room);
    r->room = NULL;
}

/* The bytes of a rank's part that are in the piece from `at` on. */
static size_t piece_of(const atn_ranks *r, int32_t rank, size_t count, size_t bytes, size_t at, size_t *from) {
    *from = atn_ranks_cut(r, count, rank) * bytes + at;
    size_t end = atn_ranks_cut(r, count, rank + 1) * bytes;
    return *from >= end ? 0 : end - *from < HALF ? end - *from : HALF;
}

/* Piece by piece: a rank writes into one half only after all have agreed on the next piece, that is, have read it. */
static atn_status fill(atn_ranks *r, atn_status own, char *list, size_t count, size_t bytes) {
    size_t most = (count + (size_t)r->count - 1) / (size_t)r->count * bytes, from;
    atn_status status = open_room(r, own);
    for (size_t at = 0; at == 0 || at < most; at += HALF) {
        if (status != ATN_OK && r->over != ATN_OK) return status;
        size_t half = r->room ? (size_t)(r->room->turn++ % 2) * HALF : 0;
        size_t some = piece_of(r, r->rank, count, bytes, at, &from);
        if (status == ATN_OK && some && r->room)
            status = atn_ranks_put(r, &r->room->window, r->rank, half, list + from, some);
        status = atn_ranks_agree(r, status);
        if (status != ATN_OK || !r->room) return status;
        for (int32_t k = 1; k < r->count; ++k) {
            int32_t rank = (r->rank + k) % r->count;
            some = piece_of(r, rank, count, bytes, at, &from);
            r->room->piece[k - 1] = (atn_ranks_piece){rank, half, some, list + from};
        }
        status = atn_ranks_move(r, &r->room->window, r->room->piece, (size_t)r->count - 1, false);
        if (status != ATN_OK) return status;
    }
    return status;
}

atn_status atn_ranks_fill(atn_ranks *r, atn_status own, void *list, size_t count, size_t bytes) {
    double from = atn_clock_seconds(), before = r->waited;
    if (r->count == 1) return own;
    atn_status status = fill(r, own, list, count, bytes);
    r->waited = before + atn_clock_seconds() - from;
    return status;
}
