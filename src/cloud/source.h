/* A file being read: piece by piece through one buffer, as lines of text or as bytes, always knowing its position and
 * how much is left. Sizes that a file claims are checked against that before anything is allocated. */
#ifndef ATN_CLOUD_SOURCE_H
#define ATN_CLOUD_SOURCE_H

#include "base/context.h"
#include "num/npy.h"

enum { CLOUD_PIECE = 1 << 20 }; /* bytes of the buffer; no line and no record may be longer */

/* A plain value; made by source_open or source_of_bytes, ended with source_close. */
typedef struct source {
    const atn_ctx *ctx;
    const char *name;  /* for messages */
    int fd;            /* -1: `bytes` it is */
    const char *bytes; /* the whole file, not owned */
    size_t size;       /* of the file */
    size_t fetched;    /* bytes of the file that went into the buffer */
    char *buffer;      /* owned; `room` bytes and one for a zero */
    size_t room, at, have;
    size_t item;  /* where what was taken last begins in the file */
    int64_t line; /* lines taken so far; the first is 1 */
    bool text;    /* say where something is wrong by line, else by byte */
    bool tells;   /* how far it is (atn_ctx_on_progress), where it is large */
} source;

/* A regular file that is not empty; or bytes in memory, which must outlive the source. */
atn_status source_open(const atn_ctx *ctx, const char *path, source *out);
atn_status source_of_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length, source *out);
void source_close(source *s); /* zeroed ones are fine */

/* Another one of the same file, at its start; closed on its own, and before the bytes of the first go. */
atn_status source_twin(const source *s, source *out);
void source_seek(source *s, size_t place); /* what comes next is there; place <= size */

size_t source_left(const source *s); /* bytes of the file not taken yet */

/* What comes next, without taking it: up to `bytes` of it, fewer at the end of the file. */
atn_status source_peek(source *s, size_t bytes, const char **out, size_t *length);

/* Takes that many bytes, at most CLOUD_PIECE; valid until the next call. Refused if fewer are left. */
atn_status source_take(source *s, size_t bytes, const char **out);
atn_status source_copy(source *s, void *to, size_t bytes); /* the same for any number */
atn_status source_skip(source *s, size_t bytes);

/* Takes a line, without its end and zero-terminated; NULL at the end of the file. */
atn_status source_line(source *s, char **out);

/* Leaves out a byte-order mark of UTF-8; refuses UTF-16. For text, at the start. */
atn_status source_skip_mark(source *s);

/* ATN_ERR_INPUT: "FILE:LINE: ..." or "FILE: byte N: ..." */
atn_status source_wrong(const source *s, const char *format, ...) ATN_PRINTF(2, 3);

/* All of it as an array (NPY). */
atn_status source_npy(source *s, atn_npy *out);

/* Does the name end with .ENDING for one of the words, in any case? */
bool source_has_ending(const char *name, const char *endings);

#endif
