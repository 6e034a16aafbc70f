/* Records sorted into buckets whose sizes are known before: in one block of memory, or, where that would be too much,
 * in a temporary file that has no name, through a small buffer for each bucket. */
#ifndef ATN_CLOUD_SPILL_H
#define ATN_CLOUD_SPILL_H

#include "base/context.h"

enum { SPILL_BUCKETS = 1024, SPILL_ROOM = 10240 }; /* most buckets; bytes of the buffer of each */

typedef struct spill spill;

/* sizes: records of each bucket, at most. `bytes` of a record, at most SPILL_ROOM. More than `memory` bytes go to a
 * file. lent: memory of the caller's for all of them, bucket after bucket; NULL: its own. Owned by the caller. */
atn_status spill_make(const atn_ctx *ctx, size_t bytes, size_t buckets, const size_t *sizes, size_t memory, void *lent,
                      spill **out);
void spill_free(spill *s); /* NULL is fine */

bool spill_is_file(const spill *s);
size_t spill_count(const spill *s, size_t bucket); /* records that it has */

/* Room for the next record of a bucket, to be filled before the next call. Refused when the bucket is full. */
atn_status spill_put(spill *s, size_t bucket, void **record);
/* The same for the next `count` of them, side by side, where records are in memory (not spill_is_file). */
atn_status spill_put_some(spill *s, size_t bucket, size_t count, void **records);
/* The same for records that are there already, in memory or in a file. */
atn_status spill_put_all(spill *s, size_t bucket, size_t count, const void *records);
atn_status spill_end(spill *s); /* after the last put, before the first get */

/* Records from ... from + count of a bucket, in the order they were put. */
atn_status spill_get(const spill *s, size_t bucket, size_t from, size_t count, void *out);

#endif
