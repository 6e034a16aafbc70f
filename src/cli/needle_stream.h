/* Shared by the two threads of attune needle --stream: the reader (needle_read.c) and the matcher (needle_stream.c). */
#ifndef ATN_CLI_NEEDLE_STREAM_H
#define ATN_CLI_NEEDLE_STREAM_H

#include "cli/lane.h"
#include "cli/live.h"
#include "cli/needle.h"
#include "cli/needle_live.h"

enum { NEEDLE_SLOTS = 3 }; /* one is filled, one waits, one is looked at */

/* A frame that was not processed; owned, with its name. */
typedef struct needle_skipped {
    struct needle_skipped *next;
    int64_t number;
    char *name;
} needle_skipped;

/* A frame on its way. */
typedef struct needle_stream_slot {
    int64_t number;
    char *name; /* owned */
    double came_s, read_s;
    atn_live_fault fault;   /* of reading it */
    atn_volume *volume;     /* owned; stays for the frames that follow */
    needle_skipped *before; /* owned: what was dropped between the last frame and this one */
} needle_stream_slot;

typedef struct needle_run {
    const needle_job *job;
    const atn_ctx *ctx;
    atn_stream *stream;
    bool folder, latest;
    needle_stream_slot slot[NEEDLE_SLOTS];
    atn_lane spare, read; /* slots to fill, slots to look at */
    /* ---- of the thread that reads, until it has ended ---- */
    int64_t shape[3];     /* of --shape or of the first frame; zeros: not known */
    needle_skipped *late; /* what was dropped behind the last frame that was handed over */
    int64_t came;         /* frames */
    atn_live_fault fault;
    /* ---- of the thread that looks ---- */
    atn_needle_match_settings search, track; /* anywhere; from the last pose, and there if that fails */
    bool tracks;
    atn_tally tally;
    int64_t found, failed;
    needle_live *live; /* NULL: no live view */
    char first_failure[ATN_MESSAGE_BYTES];
} needle_run;

/* The thread that reads; it ends with the stream, or when a lane is closed. */
void *needle_read_all(void *run);
void needle_skipped_free(const atn_ctx *ctx, needle_skipped *list);

#endif
