/* Comparisons with other implementations, measured alternately in one run. */
#ifndef ATN_BENCH_BENCH_H
#define ATN_BENCH_BENCH_H

#include "base/context.h"

typedef struct atn_bench_row {
    char name[96];
    char device[128];
    char shape[96];
    double ours, reference; /* in `unit`; reference 0: none was measured */
    char reference_name[96];
    double ratio;   /* how many times as good as the reference we are */
    char unit[16];  /* SI: "s", "B/s", "FLOP/s" */
    double seconds; /* of one run of ours; 0: does not apply */
    char note[256]; /* for people; may be empty */
} atn_bench_row;

/* Who is told of rows as they come. */
typedef struct atn_bench_listener {
    bool (*visit)(void *user, const atn_bench_row *row); /* false: stop */
    void (*progress)(void *user, const char *what);      /* before each measurement; or NULL */
    void *user;
} atn_bench_listener;

bool atn_bench_visit(const atn_bench_listener *to, const atn_bench_row *row); /* false: stop */
void atn_bench_progress(const atn_bench_listener *to, const char *what);

/* Rows in the order they were measured; start it as {.ctx = ctx}. */
typedef struct atn_bench {
    const atn_ctx *ctx;
    atn_bench_row *rows; /* owned */
    size_t count, capacity;
    void (*progress)(void *user, const char *what); /* before each measurement; or NULL */
    void *user;
} atn_bench;

atn_status atn_bench_add(atn_bench *bench, const atn_bench_row *row);
void atn_bench_free(atn_bench *bench);

/* ---- subjects ---- */
/* Counting and listing spaces (LANAI without iterators and derived values) against a plain enumeration in Python:
 * itertools.product and the constraints as functions. files[n]; none: spaces made for it. */
atn_status atn_bench_space(atn_bench *bench, const char *const *files, size_t n);

#endif
