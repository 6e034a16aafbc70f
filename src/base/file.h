/* Whole files: read with a limit, written to a temporary file and renamed, so that no partial file is ever visible. */
#ifndef ATN_BASE_FILE_H
#define ATN_BASE_FILE_H

#include "base/context.h"
#include "base/hash.h"

/* Reads a regular file of at most `limit` bytes. *data (owned by the caller, atn_free) has a zero behind its
 * *length bytes. Directories, pipes and files that shrink while they are read are refused. */
atn_status atn_file_read(const atn_ctx *ctx, const char *path, size_t limit, char **data, size_t *length);

/* The same through a descriptor, which stays open; `path` is for messages. */
atn_status atn_file_read_from(const atn_ctx *ctx, int fd, const char *path, size_t limit, char **data, size_t *length);

/* Reads what is left of a descriptor of any kind, such as a pipe, until its end. */
atn_status atn_file_read_stream(const atn_ctx *ctx, int fd, const char *path, size_t limit, char **data,
                                size_t *length);

/* Adds its length and `samples` of 16 KiB from all over it, the first and the last bytes among them, to a hash: is it
 * the same file? All of a short one. */
atn_status atn_file_hash_samples(const atn_ctx *ctx, const char *path, int samples, atn_hash *hash);

/* Writes next to `path`, then renames over it; links are followed, and the file keeps its permissions. A failure leaves
 * the old file, if any, untouched. Anything that is not a file, such as /dev/stdout, is written directly. */
atn_status atn_file_write(const atn_ctx *ctx, const char *path, const void *data, size_t length);

#endif
