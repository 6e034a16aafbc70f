/* Subjects of attune bench, one file each: bench_SUBJECT.c. */
#ifndef ATN_CLI_BENCH_H
#define ATN_CLI_BENCH_H

#include "bench/bench.h"
#include "cli/cli.h"

/* One call of the verb: rows as they come, printed or kept for JSON and the report by bench_rows.c. */
typedef struct atn_cli_bench {
    atn_cli_call *call;
    json_t *rows;
    int32_t errors;      /* rows that could not be measured */
    size_t steps, begun; /* measurements: of all (0: not known), and so far */
    double since_s;
    bool failed; /* for want of memory */
} atn_cli_bench;

typedef struct atn_cli_bench_row {
    const char *name, *device, *shape;
    double ours, reference; /* in units; reference 0: nothing to compare with */
    const char *reference_name, *unit;
    double ratio;      /* above 1: ours is better */
    double seconds;    /* of one run of ours; 0: does not apply */
    const char *note;  /* for people, behind the row; may be NULL */
    const char *error; /* why it could not be measured, instead of all numbers; NULL: it was */
    json_t *extra;     /* an object with further fields for JSON, whose reference is taken; may be NULL */
} atn_cli_bench_row;

/* False: stop, by Ctrl-C or for want of memory. */
bool atn_cli_bench_add(atn_cli_bench *bench, const atn_cli_bench_row *row);

/* 3.1 GB/s, 42 ms: a number with a prefix that suits it. */
void atn_cli_bench_amount(double value, const char *unit, char *text, size_t bytes);

/* For subjects whose rows come whole, with a note. */
atn_bench_listener atn_cli_bench_listener(atn_cli_bench *bench);
atn_cli_bench_row atn_cli_bench_row_of(const atn_bench_row *row); /* without its time and note */
void atn_cli_bench_progress(void *user, const char *what);
/* How often atn_cli_bench_progress will be called: percent and time left come of it. */
void atn_cli_bench_expect(atn_cli_bench *bench, size_t steps);
atn_cli_call *atn_cli_bench_call(atn_cli_bench *bench);

/* Measures on the device that the call names, and ends the progress. */
typedef atn_status atn_cli_bench_measure(atn_cli_call *call, atn_device *device, const void *options);
atn_status atn_cli_bench_on_device(atn_cli_bench *bench, atn_cli_bench_measure *measure, const void *options);

/* The subjects. */
atn_status atn_cli_bench_live(atn_cli_bench *bench);
atn_status atn_cli_bench_kernels(atn_cli_bench *bench);
atn_status atn_cli_bench_estimate(atn_cli_bench *bench);
atn_status atn_cli_bench_programs(atn_cli_bench *bench);
atn_status atn_cli_bench_needle(atn_cli_bench *bench);
atn_status atn_cli_bench_lattice(atn_cli_bench *bench);
atn_status atn_cli_bench_register(atn_cli_bench *bench);
atn_status atn_cli_bench_covariance(atn_cli_bench *bench);
atn_status atn_cli_bench_space(atn_cli_bench *bench);
atn_status atn_cli_bench_trust(atn_cli_bench *bench);
atn_status atn_cli_bench_unwrap(atn_cli_bench *bench);

#endif
