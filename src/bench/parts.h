/* The parts of a benchmark of kernels: what is measured and its arrays (work.c), the clock (rounds.c), whom we are
 * measured against (reference_copy.c, reference_host.c, reference_cuda.c), and the processes that rows are measured in
 * (rows.c). Ours and theirs run in turn in one process, so that what counts is a ratio. */
#ifndef ATN_BENCH_PARTS_H
#define ATN_BENCH_PARTS_H

#include "bench/kernels.h"
#include "graph/shipped.h"
#include "kernel/choose.h"
#include "tune/case.h"
#include "tune/sets.h"
#include "tune/stand.h"

struct bench_reference;

/* ---- what is measured ---- */

typedef enum bench_against {
    BENCH_COPY, /* bytes a second, against a copy on the same device */
    BENCH_BLAS, /* operations a second, against OpenBLAS or cuBLAS */
    BENCH_CSR,  /* bytes a second, against a plain loop over rows or cuSPARSE */
    BENCH_PAIRS /* pairs of points a second; against nobody */
} bench_against;

/* One kernel at one shape on its device. */
typedef struct bench_work {
    atn_device *device;
    bench_against against;
    atn_case problem;
    atn_stand stand;
    double amount; /* of one run, in what is counted */
} bench_work;

const atn_slot *bench_slot(const bench_work *work, const char *object); /* NULL: the kernel has none of that name */
int64_t bench_size(const bench_work *work, const char *object, int axis);

atn_workload bench_workload(const atn_set *set, const char *text); /* in single precision; it keeps both */
/* On failure too, it goes back with bench_work_close. */
atn_status bench_work_open(atn_device *device, const atn_set *set, const char *text, bench_against against,
                           bench_work *work);
void bench_work_close(bench_work *work);

/* Measures the kernel at one of its shapes (kernels.c); `copy` is the device's. */
atn_status bench_row(atn_device *device, const atn_set *set, const struct bench_reference *copy, double seconds,
                     atn_kernel_row *row);
void bench_label(const atn_set *set, atn_kernel_row *row); /* its name and shape alone */
/* E-steps with the error of their sums (sums.c), rows like those of kernels. */
size_t bench_sums_count(void);
void bench_sums_label(const atn_device_info *info, int number, atn_kernel_row *row);
atn_status bench_sums_row(atn_device *device, int number, double seconds, atn_kernel_row *row);
/* Rows of these kernels, or of the one called `only`, on a device. */
size_t bench_count_sets(const atn_embedded *kernels, const atn_set *sets, const atn_device_info *info,
                        const char *only);

/* ---- the clock ---- */

enum { BENCH_ROUNDS = 61 };
typedef struct bench_runner {
    atn_status (*run)(void *data);   /* queues it once */
    atn_status (*ready)(void *data); /* before each run, which is then one round; NULL: runs follow each other */
    void *data;
    int32_t repeats;             /* runs in one round, chosen by bench_measure */
    double second[BENCH_ROUNDS]; /* of one run, per round */
    double median;
} bench_runner;

/* Every runner in turn, round by round, within about `budget_s` seconds in all; at least 5 rounds. */
atn_status bench_measure(atn_device *device, bench_runner *runners, int32_t count, double budget_s, int32_t *rounds);
double bench_median(const double *values, int32_t count); /* of at most BENCH_ROUNDS */
/* The reference's time over ours: the median over the rounds. */
double bench_compare(const bench_runner *ours, const bench_runner *reference, int32_t rounds);

/* ---- variants of a work ---- */

typedef struct bench_contestant {
    bench_work *work;
    atn_choice choice;
    atn_built *built;
} bench_contestant;

/* As a user gets it now, or as anyone would without wisdom. On failure too, it goes back with bench_contestant_leave.
 */
atn_status bench_contestant_enter(bench_contestant *c, bench_work *work, bool estimate);
bench_runner bench_contestant_runner(bench_contestant *c);
void bench_contestant_leave(bench_contestant *c);

/* ---- whom we are measured against ---- */

typedef struct bench_reference {
    const char *name;
    atn_status (*run)(void *data);
    void *data;
    void (*close)(void *data);
    double amount; /* of one run, where it is not the work's own; 0: the work's */
} bench_reference;

/* out->run is NULL where there is none; `why` then says what is missing. */
atn_status bench_copy(atn_device *device, bench_reference *out);
atn_status bench_host_reference(bench_work *work, bench_reference *out, const char **why);
atn_status bench_cuda_reference(bench_work *work, bench_reference *out, const char **why);

#endif
