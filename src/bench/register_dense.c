/* One E-step over all pairs: the kernel as the kernel manager plans it, against a step over a stored matrix; and one
 * inside a registration of many points, with the bytes that were allocated for it. */
#include "bench/register_parts.h"

#include "base/clock.h"
#include "base/memory.h"
#include "kernel/kernel.h"
#include "num/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 7, ARRAYS = 11 };
static const double LOG2E = 1.4426950408889634, MOMENT_S = 0.02;
static const char *const OBJECTS[ARRAYS] = {"yx", "yy", "yz", "xx", "xy", "xz", "xw", "sum", "sum_x", "sum_y", "sum_z"};

/* The kernel "estep" with its arrays. */
typedef struct estep {
    atn_kernel *kernel;
    atn_array *array[ARRAYS];
} estep;

static atn_status run_estep(void *data) { return atn_kernel_run(((estep *)data)->kernel); }

static void close_estep(estep *e) {
    atn_kernel_free(e->kernel);
    for (int k = 0; k < ARRAYS; ++k) atn_array_free(e->array[k]);
}

/* Coordinates scaled so that a = 2^-d^2 at sigma squared. */
static atn_status fill(estep *e, const bench_pair *pair, double sigma2) {
    atn_status status = ATN_OK;
    for (int k = 0; k < 7 && status == ATN_OK; ++k) {
        const atn_cloud *cloud = k < 3 ? pair->source : pair->target;
        size_t n = atn_cloud_info_of(cloud).points;
        void *to;
        status = atn_array_map_write(e->array[k], &to);
        for (size_t i = 0; i < n && status == ATN_OK; ++i)
            ((float *)to)[i] = k < 6 ? (float)(atn_cloud_positions(cloud, k % 3)[i] * sqrt(LOG2E / sigma2)) : 0;
    }
    return status;
}

static atn_status open_estep(bench_session *s, const bench_pair *pair, double sigma2, estep *e) {
    static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
    int64_t rows = (int64_t)atn_cloud_info_of(pair->source).points;
    int64_t columns = (int64_t)atn_cloud_info_of(pair->target).points;
    *e = (estep){0};
    atn_status status = atn_kernel_create(s->device, "estep", &(atn_kernel_settings){.defines = DEFINES}, &e->kernel);
    for (int k = 0; k < ARRAYS && status == ATN_OK; ++k) {
        status = atn_array_create_vector(s->device, ATN_SP, k >= 3 && k < 7 ? columns : rows, &e->array[k]);
        if (status == ATN_OK) status = atn_kernel_bind(e->kernel, OBJECTS[k], e->array[k]);
    }
    if (status == ATN_OK) status = fill(e, pair, sigma2);
    if (status == ATN_OK) status = atn_kernel_plan(e->kernel);
    return status;
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

static void variant_of(const bench_session *s, const atn_kernel *kernel, char *text, size_t bytes) {
    atn_text variant = {.ctx = s->ctx};
    if (atn_kernel_variant(kernel)) atn_variant_print(atn_kernel_variant(kernel), &variant);
    snprintf(text, bytes, "kernel estep: %.200s", variant.length ? atn_text_str(&variant) : "plain");
    atn_text_free(&variant);
}

static atn_status measure_dense(bench_session *s, size_t points) {
    bench_pair pair = {0};
    emicp matrix = {0};
    estep ours = {0};
    bench_tell(s, "E-steps of %zu points", points);
    atn_status status = bench_turned(s->ctx, points, &pair);
    if (status == ATN_OK) status = emicp_open(s->ctx, pair.source, pair.target, &matrix);
    if (status == ATN_OK) status = open_estep(s, &pair, matrix.sigma2, &ours);
    bench_runner runners[2] = {{.run = run_estep, .data = &ours}, {.run = run_matrix, .data = &matrix}};
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = choose_repeats(s, &runners[k]);
    if (status == ATN_OK) status = bench_turns(s, runners, 2, ROUNDS);
    if (status == ATN_OK) {
        double pairs = (double)points * (double)points;
        atn_bench_row row = {.name = "E-step, all pairs",
                             .ours = pairs / runners[0].median,
                             .reference = pairs / runners[1].median,
                             .reference_name = EMICP_NAME,
                             .ratio = bench_compare(&runners[0], &runners[1], ROUNDS),
                             .unit = "pairs/s",
                             .seconds = runners[0].median};
        snprintf(row.shape, sizeof row.shape, "%zu x %zu", points, points);
        variant_of(s, ours.kernel, row.note, sizeof row.note);
        bench_emit(s, row);
    }
    close_estep(&ours);
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
