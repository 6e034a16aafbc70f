/* Frames as they arrive: a fixed number of bytes each from standard input, or the entries of a folder that is being
 * filled. */
#ifndef ATN_CLI_STREAM_H
#define ATN_CLI_STREAM_H

#include "base/context.h"

/* A field left zero takes its default. Texts must outlive the stream. */
typedef struct atn_stream_options {
    const char *folder;  /* its entries, those that are there first; NULL: bytes from `fd` */
    const char *endings; /* of entries that are frames: "png tif tiff"; NULL: all. Hidden ones never are */
    const char *others;  /* endings of entries that are none, where `endings` is NULL: "json txt" */
    int fd;              /* where bytes come from: 0 is standard input */
    size_t bytes;        /* of a frame from `fd`, > 0 */
    int64_t frames;      /* ends after this many; 0: no limit */
    double idle_s;       /* ends when nothing came for so long; 0: it waits for ever */
    double patience_s;   /* an entry that cannot be read may still be written: until it was the same for so long;
                            default 1 */
} atn_stream_options;

/* What came; path and bytes are there until the next call. */
typedef struct atn_stream_frame {
    int64_t number;    /* from 1 */
    const char *path;  /* of an entry; NULL: it came as bytes */
    const void *bytes; /* NULL: it is an entry */
    double came_s;     /* when it was seen or whole, by atn_clock_seconds */
} atn_stream_frame;

typedef struct atn_stream atn_stream;

/* Owned by the caller. Used by one thread at a time. */
atn_status atn_stream_open(const atn_ctx *ctx, const atn_stream_options *options, atn_stream **out);
void atn_stream_close(atn_stream *stream); /* NULL is fine */

/* Waits for the next frame; entries come in the order of people (2 before 10) as far as they are there. *any is false
 * when there will be none: bytes ended, an entry `end` appeared, frames or idle_s are reached, or the context was
 * cancelled, which is no failure here. */
atn_status atn_stream_next(atn_stream *stream, atn_stream_frame *out, bool *any);

/* Where the bytes of the next frame go, instead of memory of the stream's own; NULL: there again. Not in the middle of
 * a frame. */
void atn_stream_into(atn_stream *stream, void *bytes);

/* Are there entries after the one that was returned? */
atn_status atn_stream_more(atn_stream *stream, bool *more);

/* After an entry could not be read: waits a little and says whether to try again. */
bool atn_stream_again(atn_stream *stream, const atn_stream_frame *frame);

/* From any thread: no other frame is waited for. */
void atn_stream_stop(atn_stream *stream);

const char *atn_stream_reason(const atn_stream *stream); /* why there is no other frame; "" while there may be */
size_t atn_stream_left(const atn_stream *stream);        /* bytes behind the last whole frame: one was cut short */

#endif
