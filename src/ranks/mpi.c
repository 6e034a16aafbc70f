/* Ranks through MPI, as a module of its own that is loaded where mpirun or srun started the program: who works alone
 * never pays for MPI. Counts of MPI are ints, so that long data goes in pieces. */
#include "ranks/ranks.h"

#include <attune/version.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 30, TAG = 24 };

static MPI_Comm all = MPI_COMM_NULL;
static bool ours; /* MPI was initialised here */
static int32_t self, others;

static int say(int code, const char *what, char *words) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return 0;
    MPI_Error_string(code, text, &length);
    snprintf(words, ATN_RANKS_WORDS, "MPI: %s: %.200s", what, text);
    return 1;
}

static int begin(int32_t *rank, int32_t *count, char *words) {
    int initialised = 0, finalised = 0, got = 0, number = 0, many = 1, code = MPI_SUCCESS;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (finalised) {
        snprintf(words, ATN_RANKS_WORDS, "MPI has been finalized already");
        return 1;
    }
    if (!initialised) code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &got);
    if (code != MPI_SUCCESS) return say(code, "MPI_Init", words);
    ours = !initialised;
    code = MPI_Comm_dup(MPI_COMM_WORLD, &all); /* messages of the caller's own are not mixed with ours */
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(all, &number);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(all, &many);
    *rank = self = number;
    *count = others = many;
    return say(code, "joining the ranks", words);
}

static void end(void) {
    if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
    if (ours) MPI_Finalize();
}

static int broadcast(int32_t root, void *data, size_t bytes, char *words) {
    int code = MPI_SUCCESS;
    for (size_t at = 0; at < bytes && code == MPI_SUCCESS; at += PIECE) {
        size_t some = bytes - at < PIECE ? bytes - at : PIECE;
        code = MPI_Bcast((char *)data + at, (int)some, MPI_BYTE, (int)root, all);
    }
    return say(code, "broadcast", words);
}

static int swap(int32_t to, const void *out, size_t out_bytes, int32_t from, void *in, size_t in_bytes, char *words) {
    int code = MPI_SUCCESS;
    if (to == self && from == self) {
        if (out_bytes) memcpy(in, out, out_bytes);
        return 0;
    }
    size_t most = out_bytes > in_bytes ? out_bytes : in_bytes;
    for (size_t at = 0; at < most && code == MPI_SUCCESS; at += PIECE) {
        size_t give = out_bytes > at ? out_bytes - at : 0, take = in_bytes > at ? in_bytes - at : 0;
        give = give < PIECE ? give : PIECE;
        take = take < PIECE ? take : PIECE;
        code = MPI_Sendrecv(give ? (const char *)out + at : NULL, (int)give, MPI_BYTE, give ? (int)to : MPI_PROC_NULL,
                            TAG, take ? (char *)in + at : NULL, (int)take, MPI_BYTE, take ? (int)from : MPI_PROC_NULL,
                            TAG, all, MPI_STATUS_IGNORE);
    }
    return say(code, "exchange", words);
}

static int allgather(const void *own, size_t bytes, void *to, char *words) {
    if (bytes <= PIECE) {
        int code = MPI_Allgather(own, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, all);
        return say(code, "gathering", words);
    }
    int failed = 0;
    for (int32_t k = 0; k < others && !failed; ++k) {
        int32_t next = (self + k) % others, before = (self + others - k) % others;
        failed = swap(next, own, bytes, before, (char *)to + (size_t)before * bytes, bytes, words);
    }
    return failed;
}

/* A message is its length, then its bytes in pieces. */
static int send(int32_t to, const void *data, size_t bytes, char *words) {
    uint64_t length = bytes;
    int code = MPI_Send(&length, 1, MPI_UINT64_T, (int)to, TAG + 1, all);
    for (size_t at = 0; at < bytes && code == MPI_SUCCESS; at += PIECE) {
        size_t some = bytes - at < PIECE ? bytes - at : PIECE;
        code = MPI_Send((const char *)data + at, (int)some, MPI_BYTE, (int)to, TAG + 2, all);
    }
    return say(code, "sending", words);
}

static int probe(int32_t *from, size_t *bytes, bool *there, char *words) {
    int flag = 0;
    uint64_t length = 0;
    MPI_Status state;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, TAG + 1, all, &flag, &state);
    *there = code == MPI_SUCCESS && flag;
    if (*there) {
        *from = state.MPI_SOURCE;
        code = MPI_Recv(&length, 1, MPI_UINT64_T, state.MPI_SOURCE, TAG + 1, all, MPI_STATUS_IGNORE);
    }
    *bytes = (size_t)length;
    return say(code, "looking for messages", words);
}

static int receive(int32_t from, void *data, size_t bytes, char *words) {
    int code = MPI_SUCCESS;
    for (size_t at = 0; at < bytes && code == MPI_SUCCESS; at += PIECE) {
        size_t some = bytes - at < PIECE ? bytes - at : PIECE;
        code = MPI_Recv((char *)data + at, (int)some, MPI_BYTE, (int)from, TAG + 2, all, MPI_STATUS_IGNORE);
    }
    return say(code, "receiving", words);
}

/* One epoch for as long as the window is there; MPI's own allocation, so that ranks of one machine reach each other's
 * memory without the owner's help. */
static int share(size_t bytes, void **memory, void **window, char *words) {
    MPI_Win *win = malloc(sizeof *win);
    MPI_Info hints = MPI_INFO_NULL;
    char what[100];
    int code = win ? MPI_Info_create(&hints) : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS) code = MPI_Info_set(hints, "alloc_shared_noncontig", "true");
    if (code == MPI_SUCCESS) code = MPI_Win_allocate((MPI_Aint)bytes, 1, hints, all, (void *)memory, win);
    if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
    if (code == MPI_SUCCESS) code = MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Win_lock_all(MPI_MODE_NOCHECK, *win);
    *window = win;
    if (code == MPI_SUCCESS) return 0;
    free(win);
    snprintf(what, sizeof what, "sharing %.3g MB of memory (on one machine /dev/shm needs room for it)",
             1e-6 * (double)bytes);
    return say(code, what, words);
}

static int get(void *window, int32_t from, size_t at, void *data, size_t bytes, char *words) {
    MPI_Win win = *(MPI_Win *)window;
    int code = MPI_SUCCESS;
    for (size_t done = 0; done < bytes && code == MPI_SUCCESS; done += PIECE) {
        int some = (int)(bytes - done < PIECE ? bytes - done : PIECE);
        code = MPI_Get((char *)data + done, some, MPI_BYTE, (int)from, (MPI_Aint)(at + done), some, MPI_BYTE, win);
    }
    return say(code, "reading the memory of a rank", words);
}

static int put(void *window, int32_t to, size_t at, const void *data, size_t bytes, char *words) {
    MPI_Win win = *(MPI_Win *)window;
    int code = MPI_SUCCESS;
    for (size_t done = 0; done < bytes && code == MPI_SUCCESS; done += PIECE) {
        int some = (int)(bytes - done < PIECE ? bytes - done : PIECE);
        code = MPI_Put((const char *)data + done, some, MPI_BYTE, (int)to, (MPI_Aint)(at + done), some, MPI_BYTE, win);
    }
    return say(code, "writing the memory of a rank", words);
}

static int finish(void *window, char *words) {
    return say(MPI_Win_flush_all(*(MPI_Win *)window), "completing access to the memory of other ranks", words);
}

static int add(void *window, int32_t of, size_t at, int64_t more, int64_t *before, char *words) {
    MPI_Win win = *(MPI_Win *)window;
    int code = MPI_Fetch_and_op(&more, before, MPI_INT64_T, (int)of, (MPI_Aint)at, MPI_SUM, win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush((int)of, win);
    return say(code, "counting with other ranks", words);
}

static int unshare(void *window, char *words) {
    int code = MPI_Win_unlock_all(*(MPI_Win *)window);
    if (code == MPI_SUCCESS) code = MPI_Win_free(window);
    free(window);
    return say(code, "sharing memory no longer", words);
}

static void serve(void) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG + 3, all, &flag, MPI_STATUS_IGNORE); /* there is none: MPI looks at all that came */
}

static void stop(int code) { MPI_Abort(all == MPI_COMM_NULL ? MPI_COMM_WORLD : all, code); }

__attribute__((visibility("default"))) extern const atn_ranks_way ATN_RANKS_MPI;
const atn_ranks_way ATN_RANKS_MPI = ATN_RANKS_WAY("mpi");
