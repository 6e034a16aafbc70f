/* The parts of the benchmark of registration: clouds (register_data.c), turns and rows (register_turns.c), dense
 * E-steps (register_dense.c), whole registrations (register_whole.c), of few and of many points (register_scans.c),
 * many scans (register_views.c), many pairs (register_batch.c), methods on files (register_methods.c). */
#ifndef ATN_BENCH_REGISTER_PARTS_H
#define ATN_BENCH_REGISTER_PARTS_H

#include "bench/parts.h"
#include "bench/reference_emicp.h"
#include "bench/register.h"

/* Clouds with the motion that is between them. */
typedef struct bench_pair {
    atn_cloud *source, *target; /* owned: bench_pair_free */
    double truth[16];           /* target = T source */
} bench_pair;

/* A scan and its copy, turned by 91.8 degrees: points correspond. As large as the published cloud, whose schedule of
 * sigma is in metres. */
atn_status bench_turned(atn_ctx *ctx, size_t points, bench_pair *out);
/* Two scans from two sides: noise, outliers, partial overlap, any turn. */
atn_status bench_scans(atn_ctx *ctx, size_t points, bench_pair *out);
atn_status bench_scans_off(atn_ctx *ctx, size_t points, double turn_deg, bench_pair *out); /* negative: any turn */
void bench_pair_free(bench_pair *pair);
double bench_turn_error(const double transform[16], const double truth[16]); /* in radians */

typedef struct bench_session {
    atn_ctx *ctx;
    atn_device *device;
    const atn_bench_register_options *options;
    bool stopped; /* by whoever sees the rows */
} bench_session;

void bench_tell(const bench_session *s, const char *format, ...) ATN_PRINTF(2, 3); /* progress */
/* The row with the device's name; none where somebody had enough. */
void bench_emit(bench_session *s, atn_bench_row row);

/* `rounds` rounds in which each runner has its turn of `repeats` runs, by the clock, until the device is idle. */
atn_status bench_turns(bench_session *s, bench_runner *runners, int32_t count, int32_t rounds);

/* One registration as a runner: of bench_run_one, with what came out last. */
typedef struct bench_one {
    bench_session *session;
    const bench_pair *pair;
    atn_register_settings settings;
    atn_register_result result;
} bench_one;
atn_status bench_run_one(void *one);

atn_status bench_dense(bench_session *s);      /* rates of E-steps over all pairs */
atn_status bench_large(bench_session *s);      /* many points: rate and bytes */
atn_status bench_whole(bench_session *s);      /* a whole registration against the published structure */
atn_status bench_truncation(bench_session *s); /* what is left out, and what reproducible sums cost */
atn_status bench_precisions(bench_session *s);
atn_status bench_two_scans(bench_session *s); /* time and error from few points to many */
atn_status bench_views(bench_session *s);     /* many scans into one frame */
atn_status bench_batch(bench_session *s);     /* many small pairs */
atn_status bench_methods(bench_session *s);   /* on the clouds of the options */
size_t bench_method_count(void);

#endif
