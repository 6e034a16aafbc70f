/* Rows on ranks. The first rank works like the others; in addition, a thread answers requests for pieces and receives
 * results. A piece comes back as one answer, or as several where the journal has rows between its own. */
#include "cli/rows.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/pieces.h"
#include "cli/rows_journal.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static const double LONGEST_S = 1; /* of a piece: results are printed and recorded about that often */

/* What a rank says to the first one: it wants a piece, having done the one before. */
typedef struct said {
    int32_t kind;   /* 0: as above; 1: an answer is behind it; -1: it failed and asks no more */
    double seconds; /* that the piece before took; below 0: there was none */
} said;

typedef struct piece {
    int64_t from, to; /* below 0: there is no more */
} piece;

typedef struct pool {
    const atn_cli_rows *rows;
    atn_ranks *ranks;
    unsigned char *known; /* rows that the journal has; owned */
    size_t *row;          /* the others, ascending, which pieces are of; owned */
    size_t rows_left;     /* of them */
    atn_pieces *pieces;   /* of the first rank */
    rows_journal *journal;
    pthread_mutex_t lock;         /* of what follows */
    atn_cli_rows_answer **answer; /* by first row, until it is reported; owned */
    size_t told;                  /* rows */
    atn_status status;            /* of telling and keeping */
    char message[ATN_MESSAGE_BYTES];
    atn_status talk; /* of the thread */
} pool;

/* ---- answers ---- */

static void free_answer(const atn_ctx *ctx, atn_cli_rows_answer *a) {
    if (!a) return;
    atn_text_free(&a->first_failed);
    atn_text_free(&a->printed);
    atn_text_free(&a->report);
    atn_free(ctx, a);
}

static atn_cli_rows_answer *make_answer(const atn_ctx *ctx, size_t from, size_t to) {
    atn_cli_rows_answer *a = atn_zalloc(ctx, sizeof *a);
    if (a)
        *a = (atn_cli_rows_answer){
            .from = from, .to = to, .first_failed = {.ctx = ctx}, .printed = {.ctx = ctx}, .report = {.ctx = ctx}};
    return a;
}

/* Reports everything that follows what was reported. The lock is held. */
static atn_status tell_ready(pool *c) {
    atn_status status = ATN_OK;
    while (!status && c->told < c->rows->count && c->answer[c->told]) {
        atn_cli_rows_answer *a = c->answer[c->told];
        c->answer[c->told] = NULL;
        c->told = a->to;
        status = c->rows->tell(c->rows->user, a);
        free_answer(c->rows->call->ctx, a);
    }
    return status;
}

/* Takes the answer: stores it in the journal, unless it comes from there, and reports it when it is its turn. */
static void take_answer(pool *c, atn_cli_rows_answer *a, bool keep) {
    pthread_mutex_lock(&c->lock);
    atn_status status = keep && c->journal && !c->status ? rows_journal_add(c->journal, a) : ATN_OK;
    c->answer[a->from] = a;
    if (!status && !c->status) status = tell_ready(c);
    if (status && !c->status) {
        c->status = status;
        snprintf(c->message, sizeof c->message, "%s", atn_ctx_message(c->rows->call->ctx));
        if (c->pieces) atn_pieces_stop(c->pieces);
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- work ---- */

typedef atn_status give_answer(pool *c, atn_cli_rows_answer *a);

static atn_status keep_here(pool *c, atn_cli_rows_answer *a) {
    take_answer(c, a, true);
    return ATN_OK;
}

static atn_status send_answer(pool *c, atn_cli_rows_answer *a) {
    const atn_ctx *ctx = c->rows->call->ctx;
    atn_text bytes = {.ctx = ctx};
    said word = {.kind = 1};
    atn_text_add_bytes(&bytes, (const char *)&word, sizeof word);
    atn_status status = rows_answer_pack(a, &bytes);
    if (!status) status = atn_ranks_send(c->ranks, 0, bytes.data, bytes.length);
    atn_text_free(&bytes);
    free_answer(ctx, a);
    return status;
}

/* A piece: an answer for rows that follow each other. */
static atn_status work_piece(pool *c, size_t from, size_t to, give_answer *give) {
    atn_status status = ATN_OK;
    for (size_t end; from < to && !status; from = end) {
        end = from + 1;
        while (end < to && c->row[end] == c->row[end - 1] + 1) ++end;
        atn_cli_rows_answer *a = make_answer(c->rows->call->ctx, c->row[from], c->row[end - 1] + 1);
        status = a ? c->rows->work(c->rows->user, a) : ATN_ERR_MEMORY;
        if (status)
            free_answer(c->rows->call->ctx, a);
        else
            status = give(c, a);
    }
    return status;
}

/* One of the other ranks. */
static atn_status serve_first(pool *c) {
    said word = {.seconds = -1};
    piece p = {0, 0};
    atn_status status = ATN_OK;
    while (!status) {
        int32_t from;
        size_t bytes;
        bool there = false;
        status = atn_ranks_send(c->ranks, 0, &word, sizeof word);
        while (!status && !there) {
            status = atn_ranks_probe(c->ranks, &from, &bytes, &there);
            if (!status && !there) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
        if (!status) status = atn_ranks_receive(c->ranks, from, &p, sizeof p);
        if (status || p.from < 0) break;
        double since = atn_clock_seconds();
        atn_status worked = work_piece(c, (size_t)p.from, (size_t)p.to, send_answer);
        word = (said){.kind = worked ? -1 : 0, .seconds = atn_clock_seconds() - since};
        if (!worked) continue;
        (void)atn_ranks_send(c->ranks, 0, &word, sizeof word); /* and no more of it */
        return worked;
    }
    return status;
}

/* ---- the first rank's thread ---- */

/* The message of a rank, and the answer behind it where there is one. */
static atn_status hear(pool *c, int32_t from, size_t bytes, said *word) {
    const atn_ctx *ctx = c->rows->call->ctx;
    char *data = atn_alloc(ctx, bytes + 1);
    atn_cli_rows_answer *a = NULL;
    atn_status status = data ? atn_ranks_receive(c->ranks, from, data, bytes) : ATN_ERR_MEMORY;
    *word = (said){0};
    if (!status) memcpy(word, data, bytes < sizeof *word ? bytes : sizeof *word);
    if (!status && word->kind > 0) {
        a = make_answer(ctx, 0, 0);
        status =
            a ? rows_answer_unpack(ctx, data + sizeof *word, bytes - sizeof *word, c->rows->count, a) : ATN_ERR_MEMORY;
        if (status)
            free_answer(ctx, a);
        else
            take_answer(c, a, true);
    }
    atn_free(ctx, data);
    return status;
}

/* Answers a request of rank w; *over: it was informed that there is no more. False: it must wait. */
static bool answer_rank(pool *c, int32_t w, bool *over, atn_status *status) {
    piece p = {-1, -1};
    atn_pieces_answer got = atn_pieces_take(c->pieces, w, false, &p.from, &p.to);
    if (got == ATN_PIECES_LATER) return false;
    if (got == ATN_PIECES_OVER) p = (piece){-1, -1};
    *over = got == ATN_PIECES_OVER;
    *status = atn_ranks_send(c->ranks, w, &p, sizeof p);
    return true;
}

/* Until all others know that there is no more. Whoever fails ends the work of all. */
static void *talk(void *user) {
    pool *c = user;
    int32_t left = c->ranks->count - 1, from;
    bool *waits = atn_zalloc(c->rows->call->ctx, (size_t)c->ranks->count * sizeof *waits), there, over;
    size_t bytes;
    atn_status status = waits ? ATN_OK : ATN_ERR_MEMORY;
    while (!status && left > 0) {
        status = atn_ranks_probe(c->ranks, &from, &bytes, &there);
        for (int32_t w = 1; w < c->ranks->count && !status && !there; ++w)
            if (waits[w] && answer_rank(c, w, &over, &status)) waits[w] = false, left -= over;
        if (!status && !there) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        if (status || !there) continue;
        said word;
        status = hear(c, from, bytes, &word);
        if (status || word.kind > 0) continue;
        if (word.kind < 0) {
            atn_pieces_stop(c->pieces);
            --left;
            continue;
        }
        if (word.seconds >= 0) atn_pieces_done(c->pieces, from, word.seconds);
        waits[from] = !answer_rank(c, from, &over, &status);
        left -= !waits[from] && over;
    }
    if (status) atn_pieces_stop(c->pieces);
    c->talk = status;
    atn_free(c->rows->call->ctx, waits);
    return NULL;
}

static atn_status lead(pool *c) {
    pthread_t thread;
    int64_t from, to;
    bool others = c->ranks->count > 1;
    atn_status status = ATN_OK;
    if (others && pthread_create(&thread, NULL, talk, c) != 0)
        return atn_fail(c->rows->call->ctx, ATN_ERR_MEMORY,
                        "the thread that serves the other ranks could not be started");
    while (!status && atn_pieces_take(c->pieces, 0, !others, &from, &to) == ATN_PIECES_TAKEN) {
        double since = atn_clock_seconds();
        status = work_piece(c, (size_t)from, (size_t)to, keep_here);
        atn_pieces_done(c->pieces, 0, atn_clock_seconds() - since);
    }
    if (status) atn_pieces_stop(c->pieces);
    if (others) pthread_join(thread, NULL);
    if (!status && c->talk) status = atn_fail(c->rows->call->ctx, c->talk, "the other ranks could not be answered");
    if (!status && c->status) status = atn_fail(c->rows->call->ctx, c->status, "%s", c->message);
    return status;
}

/* ---- the whole ---- */

static atn_status know(void *user, const char *data, size_t bytes) {
    pool *c = user;
    atn_cli_rows_answer *a = make_answer(c->rows->call->ctx, 0, 0);
    atn_status status = a ? rows_answer_unpack(c->rows->call->ctx, data, bytes, c->rows->count, a) : ATN_ERR_MEMORY;
    if (status || c->known[a->from]) {
        free_answer(c->rows->call->ctx, a);
        return status;
    }
    memset(c->known + a->from, 1, a->to - a->from);
    take_answer(c, a, false);
    return c->status;
}

static atn_status begin(pool *c) {
    const atn_cli_rows *rows = c->rows;
    const atn_ctx *ctx = rows->call->ctx;
    c->known = atn_zalloc(ctx, rows->count + 1);
    c->row = atn_alloc(ctx, (rows->count + 1) * sizeof *c->row);
    c->answer = atn_zalloc(ctx, (rows->count + 1) * sizeof *c->answer);
    atn_status status = c->known && c->row && c->answer ? ATN_OK : ATN_ERR_MEMORY;
    if (!status && rows->journal && c->ranks->rank == 0)
        status = rows_journal_open(ctx, rows->journal, rows->key, know, c, &c->journal);
    status = atn_ranks_broadcast(c->ranks, status, 0, c->known, rows->count);
    for (size_t k = 0; k < rows->count && !status && c->known && c->row; ++k)
        if (!c->known[k]) c->row[c->rows_left++] = k;
    if (!status && c->ranks->rank == 0)
        status = atn_pieces_make(ctx, (int64_t)c->rows_left, c->ranks->count, (int64_t)rows->most, &c->pieces);
    if (c->pieces) atn_pieces_limit_seconds(c->pieces, LONGEST_S);
    return atn_ranks_agree(c->ranks, status);
}

atn_status atn_cli_rows_run(const atn_cli_rows *rows) {
    pool c = {.rows = rows, .ranks = rows->call->ranks};
    pthread_mutex_init(&c.lock, NULL);
    atn_status status = begin(&c);
    if (!status) status = c.ranks->rank == 0 ? lead(&c) : serve_first(&c);
    status = atn_ranks_agree(c.ranks, status);
    pthread_mutex_destroy(&c.lock);
    rows_journal_close(c.journal);
    atn_pieces_free(c.pieces);
    for (size_t k = 0; k < rows->count && c.answer; ++k) free_answer(rows->call->ctx, c.answer[k]);
    atn_free(rows->call->ctx, c.answer);
    atn_free(rows->call->ctx, c.known);
    atn_free(rows->call->ctx, c.row);
    return status;
}
