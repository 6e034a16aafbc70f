/* The benchmark's parts: what is measured (variants.c), arrays and built kernels (work.c), the clock (rounds.c), and
 * whom we are measured against (host_reference.c, cuda_reference.c). */
#ifndef ATN_BENCH_BENCH_H
#define ATN_BENCH_BENCH_H

#include "built/built.h"

/* ---- what is measured ---- */

typedef enum bench_against {
    BENCH_COPY, /* bytes a second, against a copy on the same device */
    BENCH_BLAS, /* operations a second, against OpenBLAS or cuBLAS */
    BENCH_CSR,  /* bytes a second, against a plain loop over rows or cuSPARSE */
    BENCH_PAIRS /* pairs of points a second; against nobody */
} bench_against;

typedef struct bench_job {
    const char *kernel; /* kernels/KERNEL.xml */
    const char *type;   /* USED_FLOAT */
    int64_t m, n, k;    /* see bench_inputs */
    bench_against against;
    const char *backend; /* only there; NULL: everywhere */
} bench_job;
extern const bench_job BENCH_JOBS[];
extern const int32_t BENCH_JOB_COUNT;

/* ---- arrays ---- */

enum { BENCH_OBJECTS = 12 };
typedef struct bench_work {
    atn_device *device;
    const bench_job *job;
    atn_sequence *sequence;
    const atn_graph *graph;
    atn_extent extent;
    atn_slot slots[BENCH_OBJECTS];
    double params[4][2];
    double bytes, amount;            /* each array once; what the row counts: bytes, operations or pairs */
    double *expected[BENCH_OBJECTS]; /* outputs of the first variant that ran */
} bench_work;

atn_status bench_parse(const atn_ctx *ctx, const bench_job *job,
                       atn_sequence **out); /* owned by the caller, who gets it even on failure */
atn_status bench_work_open(atn_device *device, const bench_job *job, bench_work *out);
void bench_work_close(bench_work *work);
atn_slot *bench_slot(bench_work *work, const char *object); /* NULL: the kernel has none of that name */

/* Runs a kernel once with poisoned outputs; `differs` is how far they are from those of the first variant that ran. */
atn_status bench_check(bench_work *work, atn_built *kernel, double *differs);

/* ---- the clock ---- */

enum { BENCH_ROUNDS = 61 };
typedef struct bench_runner {
    const char *label;
    atn_status (*run)(void *data); /* queues it once */
    void *data;
    int32_t repeats;             /* runs in one round, chosen by bench_measure */
    double second[BENCH_ROUNDS]; /* of one run, per round */
    double median, best;
} bench_runner;

/* Every runner in turn, round by round, within about `budget_s` seconds in all; at least 5 rounds. */
atn_status bench_measure(atn_device *device, bench_runner *runners, int32_t count, double budget_s, int32_t *rounds);

/* Ratios of two runners: the median over the rounds, and that of the best round of each. */
typedef struct bench_ratio {
    double median, best;
} bench_ratio;
bench_ratio bench_compare(const bench_runner *ours, const bench_runner *reference, int32_t rounds);

/* ---- whom we are measured against ---- */

typedef struct bench_reference {
    const char *name;
    atn_status (*run)(void *data);
    void *data;
    void (*close)(void *data);
    double amount; /* of one run, where it is not the job's own; 0: the job's */
} bench_reference;

/* How many threads the host's references take, 0: all; 1 also makes bench_measure count the calling thread's CPU time.
 */
void bench_threads(int32_t threads);
double bench_clock(void);

/* out->run is NULL where there is none; `why` then says what is missing. */
atn_status bench_copy(atn_device *device, bench_reference *out);
atn_status bench_host_reference(bench_work *work, bench_reference *out, const char **why);
atn_status bench_cuda_reference(bench_work *work, bench_reference *out, const char **why);

#endif
