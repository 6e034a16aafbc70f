/* One E-step over all pairs: the kernel as the kernel manager plans it, against a step over a stored matrix; and one
 * inside a registration of many points, with the bytes that were allocated for it. */
#include "bench/estep.h"
#include "bench/register_parts.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 7 };
static const double MOMENT_S = 0.02;

static bench_points points_of(const atn_cloud *cloud) {
    bench_points points = {.count = atn_cloud_info_of(cloud).points};
    for (int k = 0; k < 3; ++k) points.position[k] = atn_cloud_positions(cloud, k);
    return points;
}

static atn_status run_matrix(void *data) {
    emicp_estep(data);
    return ATN_OK;
}

/* Runs that fill a moment; the first of ours and theirs warms up. */
static atn_status choose_repeats(bench_session *s, bench_runner *r) {
    r->repeats = 1;
    atn_status status = r->run(r->data);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(s->device));
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = r->run(r->data);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(s->device));
    double once = atn_clock_seconds() - since;
    if (once < MOMENT_S) r->repeats = (int32_t)fmin(1000, MOMENT_S / fmax(once, 1e-6));
    return status;
}

static atn_status measure_dense(bench_session *s, size_t points) {
    bench_pair pair = {0};
    emicp matrix = {0};
    bench_estep ours = {0};
    bench_tell(s, "E-steps of %zu points", points);
    atn_status status = bench_turned(s->ctx, points, &pair);
    if (status == ATN_OK) status = emicp_open(s->ctx, pair.source, pair.target, &matrix);
    if (status == ATN_OK)
        status = bench_estep_open(s->device, points_of(pair.source), points_of(pair.target), matrix.sigma2, 0, &ours);
    bench_runner runners[2] = {{.run = bench_estep_run, .data = &ours}, {.run = run_matrix, .data = &matrix}};
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = choose_repeats(s, &runners[k]);
    if (status == ATN_OK) status = bench_turns(s, runners, 2, ROUNDS);
    if (status == ATN_OK) {
        double pairs = (double)points * (double)points;
        char variant[200];
        atn_bench_row row = {.name = "E-step, all pairs",
                             .ours = pairs / runners[0].median,
                             .reference = pairs / runners[1].median,
                             .reference_name = EMICP_NAME,
                             .ratio = bench_compare(&runners[0], &runners[1], ROUNDS),
                             .unit = "pairs/s",
                             .seconds = runners[0].median};
        snprintf(row.shape, sizeof row.shape, "%zu x %zu", points, points);
        bench_estep_variant(&ours, variant, sizeof variant);
        snprintf(row.note, sizeof row.note, "kernel estep: %s", variant);
        bench_emit(s, row);
    }
    bench_estep_close(&ours);
    emicp_close(&matrix);
    bench_pair_free(&pair);
    return status;
}

atn_status bench_dense(bench_session *s) {
    static const size_t SIZES[2][2] = {{3097, 10064}, {500, 1000}};
    atn_status status = ATN_OK;
    for (int k = 0; k < 2 && status == ATN_OK && !s->stopped; ++k)
        status = measure_dense(s, SIZES[s->options->quick][k]);
    return status;
}

/* A registration that is one dense step. */
atn_status bench_large(bench_session *s) {
    size_t points = s->options->quick ? 3000 : 100000;
    bench_pair pair;
    bench_tell(s, "one step of %zu points", points);
    atn_status status = bench_scans(s->ctx, points, &pair);
    bench_one one = {
        .session = s,
        .pair = &pair,
        .settings = {.dense = true, .no_polish = true, .no_covariance = true, .most_iterations = 1, .profile = true}};
    if (status == ATN_OK) status = bench_run_one(&one);
    if (status == ATN_OK) {
        const atn_register_result *r = &one.result;
        atn_bench_row row = {.name = "E-step, all pairs", .unit = "pairs/s"};
        for (int32_t k = 0; k < r->profile_count; ++k)
            if (strcmp(r->profile[k].name, "estep") == 0) row.seconds = r->profile[k].seconds;
        row.ours = row.seconds > 0 ? r->pairs / row.seconds : 0;
        snprintf(row.shape, sizeof row.shape, "%zu x %zu", points, points);
        snprintf(row.note, sizeof row.note, "most time in %s", r->variant);
        bench_emit(s, row);
        size_t matrix = emicp_bytes(points, points);
        row = (atn_bench_row){.name = "memory of all pairs",
                              .unit = "B",
                              .ours = (double)r->peak_bytes,
                              .reference = (double)matrix,
                              .reference_name = "its matrix, computed",
                              .ratio = (double)matrix / (double)r->peak_bytes};
        snprintf(row.shape, sizeof row.shape, "%zu x %zu", points, points);
        snprintf(row.note, sizeof row.note,
                 "all that was allocated at most, clouds included; a stored matrix alone would need %.3g GB",
                 (double)matrix / 1e9);
        bench_emit(s, row);
    }
    bench_pair_free(&pair);
    return status;
}
