/* Cold start: how long a shipped kernel takes as the first action of a new process, depending on the contents of the
 * caches. */
#ifndef ATN_BENCH_COLD_H
#define ATN_BENCH_COLD_H

#include "base/context.h"

typedef struct atn_cold_row {
    const char *name;    /* "cold start, empty caches" */
    const char *meaning; /* for people */
    double seconds;      /* from the start of the process to its end, at the median */
    double run_s;        /* of which the kernel itself, in that process */
    char hit[32];        /* where its variant came from */
} atn_cold_row;

enum { ATN_COLD_ROWS = 3 };

/* Runs `program` (the attune program) `rounds` times each: with nothing cached, with what the run before left, and, on
 * the host, without a compiler. `device` as --device takes it. Rows that do not exist on the device have seconds 0. */
atn_status atn_bench_cold(const atn_ctx *ctx, const char *program, const char *device, int32_t rounds,
                          atn_cold_row rows[ATN_COLD_ROWS]);

#endif
