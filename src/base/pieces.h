/* Work in pieces for workers of different speed, such as devices and ranks: whichever is free takes the next piece,
 * whose size follows from its measured speed. What a worker gives back goes to the others. */
#ifndef ATN_BASE_PIECES_H
#define ATN_BASE_PIECES_H

#include "base/context.h"

typedef struct atn_pieces atn_pieces;

/* 0 ... count - 1 for that many workers; at most `most` in a piece (0: any number). May be used by several threads
 * concurrently. Owned by the caller. */
atn_status atn_pieces_make(const atn_ctx *ctx, int64_t count, int32_t workers, int64_t most, atn_pieces **out);
void atn_pieces_free(atn_pieces *pieces); /* NULL is fine */
/* No piece takes much longer than that at its worker's measured rate, so that progress is reported that often. Called
 * before the first is taken. */
void atn_pieces_limit_seconds(atn_pieces *pieces, double seconds);

typedef enum atn_pieces_answer {
    ATN_PIECES_TAKEN, /* from ... to - 1 are this worker's */
    ATN_PIECES_LATER, /* others have what is left, and may give it back */
    ATN_PIECES_OVER   /* all is done, or the work was stopped */
} atn_pieces_answer;

/* The next piece; a worker has one at a time. wait: until there is one, or none will come (never LATER). */
atn_pieces_answer atn_pieces_take(atn_pieces *pieces, int32_t worker, bool wait, int64_t *from, int64_t *to);
/* In reserve: it gets a piece only when all regular workers have failed. Called before the first is taken. */
void atn_pieces_reserve(atn_pieces *pieces, int32_t worker);
/* Its piece is complete, after that many seconds. */
void atn_pieces_done(atn_pieces *pieces, int32_t worker, double seconds);
/* The worker has failed permanently: its piece goes to the others. False: no worker is left for the remaining work. */
bool atn_pieces_give_back(atn_pieces *pieces, int32_t worker);
void atn_pieces_stop(atn_pieces *pieces); /* no worker gets another piece */

/* A worker's part of the work: from ... to - 1. ATN_ERR_LOST and ATN_ERR_UNSUPPORTED: it cannot, others may. */
typedef atn_status atn_pieces_work(void *user, int32_t worker, int64_t from, int64_t to);

/* All of it, by as many threads as there are workers, including the caller's; reserve: a bit for each worker in
 * reserve. The first failure that is not specific to a worker ends it. A worker that cannot continue is reported by a
 * warning that begins with `name`. If none is left, the last failure is returned. */
atn_status atn_pieces_run(const atn_ctx *ctx, const char *name, int64_t count, int32_t workers, uint64_t reserve,
                          int64_t most, atn_pieces_work *work, void *user);

#endif
