/* What tests of whole tunings share: a device, a database of its own, a compiler that plants faults, rows to look at.
 */
#ifndef ATN_TUNEKIT_H
#define ATN_TUNEKIT_H

#include "testkit.h"

#include "tune/tune.h"

typedef struct tunekit {
    atn_ctx *ctx;
    char *dir; /* the database and all else but the cache */
    char *database, *script;
    atn_devices *devices;
    atn_device *device; /* the host */
    atn_wisdom *wisdom;
} tunekit;

/* `compiler`: body of a script that stands for the C compiler, or NULL: the usual one. */
void tunekit_open(tunekit *k, const char *compiler);
void tunekit_close(tunekit *k);

/* A tiny addition over a space of that text. */
atn_workload tunekit_add(void);
atn_tune_options tunekit_options(const char *space);

/* A row of the database, as text, or NULL where there is none: "outcome starts detail". Valid until the next call. */
const char *tunekit_row(const tunekit *k, const char *variant);
int64_t tunekit_count(const tunekit *k, const char *outcome); /* rows with it; NULL: all */

/* A compiler that changes what it compiles, where the generated code is that of certain chunks: 3 crashes, 5 hangs, 7
 * writes far outside, 9 is wrong by a little everywhere, 11 is wrong at one edge only, 13 does not compile, 15 takes no
 * memory but all of it. */
extern const char TUNEKIT_PLANTER[];

#endif
