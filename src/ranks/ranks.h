/* Ranks: processes that work on one call together, each with a part of it. The table of functions that makes them,
 * alone or through MPI, and what is built on it. */
#ifndef ATN_RANKS_RANKS_H
#define ATN_RANKS_RANKS_H

#include "base/context.h"

enum { ATN_RANKS_WORDS = 256 };

/* How ranks talk. Functions return 0, or anything else with the reason in `words` (ATN_RANKS_WORDS bytes). All of them
 * are called by one thread at a time. MPI's is in a module that is loaded when it is needed (mpi.c); it knows nothing
 * of the library. */
typedef struct atn_ranks_way {
    size_t size;         /* of this table */
    const char *version; /* of the attune that it was built with */
    const char *name;    /* "alone", "mpi" */
    int (*begin)(int32_t *rank, int32_t *count, char *words);
    void (*end)(void);
    int (*broadcast)(int32_t root, void *data, size_t bytes, char *words);
    int (*allgather)(const void *own, size_t bytes, void *all, char *words); /* in the order of ranks */
    /* Sends to one rank while it receives from another; both may be this one, then it copies. */
    int (*swap)(int32_t to, const void *out, size_t out_bytes, int32_t from, void *in, size_t in_bytes, char *words);
    int (*send)(int32_t to, const void *data, size_t bytes, char *words);
    int (*probe)(int32_t *from, size_t *bytes, bool *there, char *words); /* has a message come? returns at once */
    int (*receive)(int32_t from, void *data, size_t bytes, char *words);
    /* Memory of each rank that all reach while its owner computes; share and unshare are called by all together. What
     * was read or written is there when finish returns; `add` adds to a number of 8 bytes and tells at once what it
     * was. */
    int (*share)(size_t bytes, void **memory, void **window, char *words);
    int (*get)(void *window, int32_t from, size_t at, void *data, size_t bytes, char *words);
    int (*put)(void *window, int32_t to, size_t at, const void *data, size_t bytes, char *words);
    int (*finish)(void *window, char *words);
    int (*add)(void *window, int32_t of, size_t at, int64_t more, int64_t *before, char *words);
    int (*unshare)(void *window, char *words);
    void (*serve)(void); /* lets MPI answer what others ask of this rank's memory, where they cannot reach it alone */
    void (*abort)(int code); /* ends all ranks, as far as it can */
} atn_ranks_way;

/* The table of a file whose functions have the names of its fields, and stop for abort. */
#define ATN_RANKS_WAY(named)                                                                                           \
    {                                                                                                                  \
        sizeof(atn_ranks_way), ATN_VERSION, named, begin, end, broadcast, allgather, swap, send, probe, receive,       \
            share, get, put, finish, add, unshare, serve, stop                                                         \
    }

extern const atn_ranks_way ATN_RANKS_ALONE;

typedef struct atn_ranks {
    const atn_ctx *ctx;
    const atn_ranks_way *way;
    void *module; /* that `way` lies in, or NULL */
    int32_t rank, count;
    int32_t *states;             /* one for each rank; owned */
    atn_status over;             /* a rank failed, and all know it; ATN_OK: none did */
    bool broken;                 /* a call of the table failed: the others cannot be told, only ended */
    double joining, joined;      /* when it began to join the others, and when it had (atn_clock_seconds) */
    double waited;               /* seconds in calls that all make together, below */
    struct atn_ranks_room *room; /* of atn_ranks_fill; owned; NULL: it was not called */
} atn_ranks;

/* Joins the other ranks where mpirun or srun started this process together with others, or where the caller has
 * initialised MPI; alone otherwise, which costs nothing. Refused where ranks are of different versions. Owned by the
 * caller. */
atn_status atn_ranks_join(const atn_ctx *ctx, atn_ranks **out);
void atn_ranks_leave(atn_ranks *ranks); /* NULL is fine; where talking failed the others are ended */

/* What follows is called by all ranks in the same order, each with how its own work went so far (`own`). Where one of
 * them failed, or fails now, all return a failure, its status and its words, "rank 3: ...", and so do all later calls:
 * the common work is over. A rank that failed may therefore leave out calls, as long as it makes one more: none waits
 * for it. */
atn_status atn_ranks_agree(atn_ranks *ranks, atn_status own);
atn_status atn_ranks_broadcast(atn_ranks *ranks, atn_status own, int32_t root, void *data, size_t bytes);
/* all: `count` times `bytes`, in the order of ranks; NULL: it is not wanted here. */
atn_status atn_ranks_allgather(atn_ranks *ranks, atn_status own, const void *mine, size_t bytes, void *all);
/* Do all have the same bytes? *other: the first rank that has others than the first one; 0: none has. */
atn_status atn_ranks_compare(atn_ranks *ranks, atn_status own, const void *mine, size_t bytes, int32_t *other);
/* Sums, one for each place, added in the order of ranks: the same on all, and the same each time. */
atn_status atn_ranks_sum(atn_ranks *ranks, atn_status own, double *numbers, size_t count);
/* The least of each place. */
atn_status atn_ranks_least(atn_ranks *ranks, atn_status own, double *numbers, size_t count);

/* Bytes of a rank's for another, or from it. */
typedef struct atn_ranks_parcel {
    void *data;
    size_t bytes;
} atn_ranks_parcel;
/* out[k] goes to rank k, in[k] comes from it: allocated here, to be freed by the caller (atn_ranks_free_parcels), after
 * a failure too. */
atn_status atn_ranks_exchange(atn_ranks *ranks, atn_status own, const atn_ranks_parcel *out, atn_ranks_parcel *in);
void atn_ranks_free_parcels(const atn_ranks *ranks, atn_ranks_parcel *parcels); /* `count` of them */
/* Lists of all ranks, one after the other, `total` bytes; owned by the caller. A rank that has no memory for it tells
 * no one: the next call does. */
atn_status atn_ranks_gather(atn_ranks *ranks, atn_status own, const void *mine, size_t bytes, void **all,
                            size_t *total);

/* Messages between two, in the order they were sent. */
atn_status atn_ranks_send(atn_ranks *ranks, int32_t to, const void *data, size_t bytes);
/* The next message to this rank, of whoever sends one first; *there false: none has come. */
atn_status atn_ranks_probe(atn_ranks *ranks, int32_t *from, size_t *bytes, bool *there);
atn_status atn_ranks_receive(atn_ranks *ranks, int32_t from, void *data, size_t bytes);

/* ---- window.c ---- */
/* Memory of this rank that all ranks read and write, whatever its owner does at that time. */
typedef struct atn_ranks_window {
    void *memory; /* `bytes` of them; NULL: there is no window */
    size_t bytes;
    void *handle;
} atn_ranks_window;
/* By all ranks, each with as many bytes as it likes, of which the first `zeros` are 0 at first. No window after a
 * failure. */
atn_status atn_ranks_share(atn_ranks *ranks, atn_status own, size_t bytes, size_t zeros, atn_ranks_window *out);
/* By all ranks, after a call in which they agreed, or failed together: none reads or writes any more. */
void atn_ranks_unshare(atn_ranks *ranks, atn_ranks_window *window); /* no window is fine */
/* Bytes from place `at` of a rank's memory, or to there; of ranks that write the same place nothing is said. What was
 * written is seen by its owner after the next call that all make together. */
atn_status atn_ranks_get(atn_ranks *ranks, const atn_ranks_window *window, int32_t from, size_t at, void *data,
                         size_t bytes);
atn_status atn_ranks_put(atn_ranks *ranks, const atn_ranks_window *window, int32_t to, size_t at, const void *data,
                         size_t bytes);
/* Many pieces, which take as long together as one takes to answer; `out`: to the ranks. */
typedef struct atn_ranks_piece {
    int32_t rank;
    size_t at, bytes;
    void *data;
} atn_ranks_piece;
atn_status atn_ranks_move(atn_ranks *ranks, const atn_ranks_window *window, const atn_ranks_piece *piece, size_t count,
                          bool out);
/* Now and then by whoever computes for long while others may read its memory: on some networks they wait for it. */
void atn_ranks_serve(const atn_ranks *ranks);
/* Adds to the int64_t at place `at` (a multiple of 8): each that does gets another number. */
atn_status atn_ranks_add(atn_ranks *ranks, const atn_ranks_window *window, int32_t of, size_t at, int64_t more,
                         int64_t *before);

/* Of a list of `count` things of `bytes` each, every rank has made those of its cut (below), at their places; all get
 * those of all. Through windows: each byte is copied twice, and none by MPI. */
atn_status atn_ranks_fill(atn_ranks *ranks, atn_status own, void *list, size_t count, size_t bytes);
void atn_ranks_close_room(atn_ranks *ranks); /* what it needs; called when ranks part */

/* Where a range of `total` things is cut: rank k has those from cut(k) to cut(k + 1) - 1. */
size_t atn_ranks_cut(const atn_ranks *ranks, size_t total, int32_t rank);

#endif
