/* E-steps over all pairs of points on a surface of radius 1, neighbours in memory near each other: pairs a second by
 * the error that is accepted, and how far the sums of some points are off from the same in double precision. */
#include "bench/estep.h"
#include "bench/parts.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "cloud/sort.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES = 256, SUMS = 4 };
static const double PI = 3.14159265358979323846;

/* 16 bits: sums may be off by 1e-3 of the largest, as with register --precision 16. */
static const struct {
    int32_t bits;
    size_t points[2]; /* on a CPU; elsewhere */
    double sigma, tolerance;
} CASES[] = {
    {32, {1000, 10064}, 0.1, 0},   {16, {1000, 10064}, 0.1, 1e-3},  {32, {4000, 100000}, 0.1, 0},
    {32, {4000, 100000}, 0.02, 0}, {16, {4000, 100000}, 0.1, 1e-3}, {16, {4000, 100000}, 0.02, 1e-3},
};
enum { N_CASES = sizeof CASES / sizeof *CASES };

size_t bench_sums_count(void) { return N_CASES; }

void bench_sums_label(const atn_device_info *info, int number, atn_kernel_row *row) {
    size_t points = CASES[number].points[!info->cpu];
    snprintf(row->name, sizeof row->name, "E-step, %d bits", (int)CASES[number].bits);
    snprintf(row->shape, sizeof row->shape, "%zu x %zu, sigma %g of the radius", points, points, CASES[number].sigma);
}

/* ---- points ---- */

/* An uneven sphere, along a Morton curve. */
static atn_status make_points(const atn_ctx *ctx, size_t count, uint64_t seed, double **out) {
    cloud_keyed *order = NULL;
    double *raw = atn_alloc(ctx, count * 3 * sizeof *raw);
    *out = atn_alloc(ctx, count * 3 * sizeof **out);
    atn_status status = raw && *out ? cloud_keyed_make(ctx, count, &order) : ATN_ERR_MEMORY;
    atn_random random;
    atn_random_seed(&random, seed);
    for (size_t i = 0; i < count && status == ATN_OK; ++i) {
        double z = 2 * atn_random_unit(&random) - 1, turn = 2 * PI * atn_random_unit(&random);
        double across = sqrt(1 - z * z), radius = 0.9 + 0.1 * sin(3 * turn) * across;
        double *at = &raw[3 * i];
        uint64_t key = 0;
        at[0] = radius * across * cos(turn), at[1] = radius * across * sin(turn), at[2] = radius * z;
        for (int k = 0; k < 3; ++k) key |= cloud_spread((uint64_t)((at[k] + 1) * (1 << 20))) << k;
        order[i] = (cloud_keyed){key, (uint32_t)i};
    }
    if (status == ATN_OK) cloud_keyed_sort(order, count);
    for (size_t i = 0; i < count && status == ATN_OK; ++i)
        for (size_t k = 0; k < 3; ++k) (*out)[k * count + i] = raw[3 * order[i].index + k];
    atn_free(ctx, order);
    atn_free(ctx, raw);
    return status;
}

static bench_points points_of(const double *positions, size_t count) {
    return (bench_points){{positions, positions + count, positions + 2 * count}, count};
}

/* ---- how far they are off ---- */

typedef struct exact {
    const float *at[6]; /* as the kernel has them */
    size_t count;
    size_t sample[SAMPLES];
    double sums[SAMPLES][SUMS];
} exact;

static void sum_one(exact *e, int64_t k) {
    double *sums = e->sums[k];
    for (size_t j = 0; j < e->count; ++j) {
        double square = 0, x[3];
        for (int d = 0; d < 3; ++d) {
            x[d] = (double)e->at[3 + d][j];
            square += (x[d] - (double)e->at[d][e->sample[k]]) * (x[d] - (double)e->at[d][e->sample[k]]);
        }
        double weight = exp2(-square);
        sums[0] += weight;
        for (int d = 0; d < 3; ++d) sums[1 + d] += weight * x[d];
    }
}

static void sum_some(void *data, int64_t from, int64_t to) {
    for (int64_t k = from; k < to; ++k) sum_one(data, k);
}

/* Of a sample of points: the sum of weights relative to itself, and the sums of coordinates, as a vector, to itself. */
static atn_status compare(bench_estep *e, size_t count, atn_kernel_row *row) {
    exact all = {.count = count};
    const float *sums[SUMS];
    atn_status status = ATN_OK;
    for (int k = 0; k < 6 && status == ATN_OK; ++k) {
        const void *at;
        status = atn_array_map_read(e->array[k], &at);
        all.at[k] = at;
    }
    for (int k = 0; k < SUMS && status == ATN_OK; ++k) {
        const void *at;
        status = atn_array_map_read(e->array[BENCH_ESTEP_SUMS + k], &at);
        sums[k] = at;
    }
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < SAMPLES; ++k) all.sample[k] = k * (count - 1) / (SAMPLES - 1);
    atn_parallel(SAMPLES, 1, sum_some, &all);
    double total = 0, worst = 0;
    for (int32_t k = 0; k < SAMPLES; ++k) {
        double off[SUMS], far = 0, size = 0;
        for (int n = 0; n < SUMS; ++n) off[n] = (double)sums[n][all.sample[k]] - all.sums[k][n];
        for (int n = 1; n < SUMS; ++n) far += off[n] * off[n], size += all.sums[k][n] * all.sums[k][n];
        double error[2] = {fabs(off[0]) / all.sums[k][0], sqrt(far / size)};
        for (int n = 0; n < 2; ++n) total += error[n], worst = fmax(worst, error[n]);
    }
    row->mean_error = total / (2 * SAMPLES);
    row->worst_error = worst;
    return ATN_OK;
}

/* ---- a row ---- */

atn_status bench_sums_row(atn_device *device, int number, double seconds, atn_kernel_row *row) {
    const atn_ctx *ctx = atn_device_ctx(device);
    const atn_device_info *info = atn_device_get_info(device);
    size_t count = CASES[number].points[!info->cpu];
    double *positions[2] = {NULL, NULL}, sigma2 = CASES[number].sigma * CASES[number].sigma;
    bench_estep ours = {0}, full = {0};
    bool less = CASES[number].tolerance > 0;
    bench_runner runners[2] = {{.run = bench_estep_run, .data = &ours}, {.run = bench_estep_run, .data = &full}};
    int32_t rounds = 0;
    bench_sums_label(info, number, row);
    atn_status status = make_points(ctx, count, 1, &positions[0]);
    if (status == ATN_OK) status = make_points(ctx, count, 2, &positions[1]);
    bench_points source = points_of(positions[0], count), target = points_of(positions[1], count);
    if (status == ATN_OK) status = bench_estep_open(device, source, target, sigma2, CASES[number].tolerance, &ours);
    if (status == ATN_OK && less) status = bench_estep_open(device, source, target, sigma2, 0, &full);
    if (status == ATN_OK) status = bench_measure(device, runners, less ? 2 : 1, seconds, &rounds);
    if (status == ATN_OK) status = compare(&ours, count, row);
    if (status == ATN_OK) {
        double pairs = (double)count * (double)count;
        row->seconds = runners[0].median;
        row->ours = pairs / row->seconds;
        if (less) row->reference = pairs / runners[1].median;
        if (less) row->ratio = bench_compare(&runners[0], &runners[1], rounds);
        snprintf(row->reference_name, sizeof row->reference_name, "%s", less ? "32 bits" : "");
        snprintf(row->unit, sizeof row->unit, "pairs/s");
        snprintf(row->hit, sizeof row->hit, "%s", "planned");
        bench_estep_variant(&ours, row->variant, sizeof row->variant);
    }
    bench_estep_close(&ours);
    bench_estep_close(&full);
    for (int k = 0; k < 2; ++k) atn_free(ctx, positions[k]);
    return status;
}
