/* A file written piece by piece to a temporary file, and renamed when it is complete: no partial file is ever visible.
 */
#ifndef ATN_BASE_WRITER_H
#define ATN_BASE_WRITER_H

#include "base/context.h"

typedef struct atn_writer atn_writer;

/* As atn_file_write: links are followed, the file keeps its permissions, and into what is no file, such as /dev/stdout,
 * is written as it is. Owned by the caller. */
atn_status atn_writer_open(const atn_ctx *ctx, const char *path, atn_writer **out);

/* Through a buffer of ATN_WRITER_ROOM bytes; or, for whole files, past it. */
enum { ATN_WRITER_ROOM = 1 << 18 };
atn_status atn_writer_add(atn_writer *writer, const void *bytes, size_t length);
atn_status atn_writer_add_whole(atn_writer *writer, const void *bytes, size_t length);

/* Where it is written until it is put into place, for others who write parts of it; NULL: into what is no file. */
const char *atn_writer_aside(const atn_writer *writer);

atn_status atn_writer_finish(atn_writer *writer); /* puts it into place */
void atn_writer_free(atn_writer *writer);         /* what was not finished is removed; NULL is fine */

#endif
