/* A file written piece by piece to a temporary file, and renamed when it is complete: no partial file is ever visible.
 */
#ifndef ATN_BASE_WRITER_H
#define ATN_BASE_WRITER_H

#include "base/context.h"

typedef struct atn_writer atn_writer;

/* As atn_file_write: links are followed, the file keeps its permissions, and anything that is not a file, such as
 * /dev/stdout, is written directly. Owned by the caller. */
atn_status atn_writer_open(const atn_ctx *ctx, const char *path, atn_writer **out);

/* Through a buffer of ATN_WRITER_ROOM bytes; or, for whole files, past it. */
enum { ATN_WRITER_ROOM = 1 << 18 };
atn_status atn_writer_add(atn_writer *writer, const void *bytes, size_t length);
atn_status atn_writer_add_whole(atn_writer *writer, const void *bytes, size_t length);

/* The temporary file, for others who write parts of it; NULL: written directly into something that is not a file. */
const char *atn_writer_aside(const atn_writer *writer);

atn_status atn_writer_finish(atn_writer *writer); /* puts it into place */
void atn_writer_free(atn_writer *writer);         /* unfinished files are removed; NULL is allowed */

#endif
