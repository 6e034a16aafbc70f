/* Registrations of two scans of one object, from few points to many, 3 degrees off and from an unknown pose: time from
 * clouds in memory to the verdict, and the error. */
#include "bench/register_parts.h"

#include <math.h>
#include <stdio.h>

static const double NEAR_DEG = 3, DEGREES = 57.29577951308232; /* in a radian */

/* A row is left out where the one before it took longer than `patience_s`. */
static const struct {
    size_t points;
    bool near;
    int32_t rounds;
    double patience_s;
} ROWS[] = {{10000, true, 21, INFINITY},
            {10000, false, 11, INFINITY},
            {1000000, true, 5, INFINITY},
            {1000000, false, 5, INFINITY},
            {10000000, false, 3, 0.5}};
enum { ALL = sizeof ROWS / sizeof *ROWS, QUICK_ROWS = 2, QUICK_POINTS = 1200 };

static void emit(bench_session *s, const bench_one *one, const bench_runner *runner, int32_t rounds, const char *what) {
    const atn_register_result *r = &one->result;
    atn_bench_row row = {.name = "registration of two scans", .unit = "s", .ours = runner->median};
    double least = runner->median;
    for (int32_t n = 0; n < rounds; ++n) least = fmin(least, runner->second[n]);
    row.seconds = runner->median;
    snprintf(row.shape, sizeof row.shape, "%s", what);
    snprintf(row.note, sizeof row.note, "best of %d: %.3g s; %.2g degrees off; %s", rounds, least,
             bench_turn_error(r->transform, one->pair->truth) * DEGREES, atn_verdict_name(r->verdict));
    bench_emit(s, row);
}

static atn_status wait_for(bench_session *s, size_t points, bool near, int32_t rounds, double *seconds) {
    bench_pair pair;
    char what[64];
    if (near)
        snprintf(what, sizeof what, "%zu points, %g degrees off", points, NEAR_DEG);
    else
        snprintf(what, sizeof what, "%zu points, unknown pose", points);
    bench_tell(s, "%s", what);
    atn_status status = bench_scans_off(s->ctx, points, near ? NEAR_DEG : -1, &pair);
    bench_one one = {.session = s, .pair = &pair};
    one.settings.init = near ? ATN_START_IDENTITY : ATN_START_AUTO;
    bench_runner runner = {.run = bench_run_one, .data = &one, .repeats = 1};
    if (status == ATN_OK) status = bench_run_one(&one); /* builds the kernels */
    if (status == ATN_OK) status = bench_turns(s, &runner, 1, rounds);
    if (status == ATN_OK) emit(s, &one, &runner, rounds, what);
    *seconds = runner.median;
    bench_pair_free(&pair);
    return status;
}

atn_status bench_two_scans(bench_session *s) {
    bool quick = s->options->quick;
    double before_s = 0;
    atn_status status = ATN_OK;
    for (int k = 0; k < (quick ? QUICK_ROWS : ALL) && status == ATN_OK && !s->stopped; ++k)
        if (before_s <= ROWS[k].patience_s)
            status =
                wait_for(s, quick ? QUICK_POINTS : ROWS[k].points, ROWS[k].near, quick ? 1 : ROWS[k].rounds, &before_s);
    return status;
}
