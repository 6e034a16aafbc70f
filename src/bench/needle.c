/* Four rounds of the shifting algorithm on a bevelled needle, at the published numbers of points. */
#include "bench/needle.h"

#include "base/clock.h"
#include "base/memory.h"
#include "bench/parts.h"
#include "bench/reference_shift.h"
#include "sample/bevel.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 7, FEW = 3 /* of the largest size */, SIDES = 3 };
static const struct {
    double resolution; /* mm */
    size_t scan, model;
    double published_s; /* on a Titan X, the best that is printed */
} SIZES[] = {{0.01, 9037, 2037, 0.489},
             {0.02, 2289, 1225, 0.093},
             {0.03, 1159, 716, 0.040},
             {0.04, 557, 428, 0.016},
             {0.05, 462, 283, 0.011}};
static const double PATIENCE_S = 15; /* with the plain loops at one size */
static const double ROLL_DEG = 2.3, SHIFT = 0.23, THRESHOLD = 0.02;

/* The same clouds for all sides: a scan of the needle from above, rolled and shifted, and the tip as the model. */
typedef struct data {
    atn_ctx *ctx;
    double *position[2]; /* scan, model */
    float *single[2];
    size_t count[2];
    atn_cloud *cloud[2];
    atn_needle *needle[2]; /* lookup, brute */
    atn_needle_result result[2];
    shift_reference reference;
} data;

static void close_data(data *d) {
    for (int k = 0; k < 2; ++k) {
        atn_needle_free(d->needle[k]);
        atn_cloud_free(d->cloud[k]);
        atn_free(d->ctx, d->position[k]);
        atn_free(d->ctx, d->single[k]);
    }
}

static void move_scan(data *d) {
    double c = cos(ROLL_DEG * 0.017453292519943295), s = sin(ROLL_DEG * 0.017453292519943295);
    atn_random random;
    atn_random_seed(&random, 9);
    for (size_t k = 0; k < d->count[0]; ++k) {
        double *p = d->position[0] + 3 * k, x = p[0], y = p[1];
        p[0] = c * x - s * y + 0.002 * atn_random_normal(&random);
        p[1] = s * x + c * y + 0.002 * atn_random_normal(&random);
        p[2] += SHIFT + 0.002 * atn_random_normal(&random);
    }
}

static atn_status open_data(atn_ctx *ctx, atn_device *device, size_t scan, size_t model, data *d) {
    const bevel parts[2] = {{.radius = 0.155, .length = 2, .angle_deg = 20},
                            {.radius = 0.155, .length = 0.5, .angle_deg = 20}};
    *d = (data){.ctx = ctx, .count = {scan, model}};
    atn_status status = ATN_OK;
    for (int k = 0; k < 2 && status == ATN_OK; ++k) {
        d->position[k] = atn_alloc(ctx, 3 * d->count[k] * sizeof *d->position[k]);
        d->single[k] = atn_alloc(ctx, 3 * d->count[k] * sizeof *d->single[k]);
        if (!d->position[k] || !d->single[k]) status = ATN_ERR_MEMORY;
        if (status == ATN_OK)
            status = bevel_points(ctx, &parts[k], d->count[k], k ? -2 : -0.05, 3 + (uint64_t)k, d->position[k]);
        if (status == ATN_OK && k == 0) move_scan(d);
        for (size_t n = 0; n < 3 * d->count[k] && status == ATN_OK; ++n) d->single[k][n] = (float)d->position[k][n];
        if (status == ATN_OK) status = atn_cloud_create(ctx, d->count[k], d->position[k], NULL, &d->cloud[k]);
    }
    for (int k = 0; k < 2 && status == ATN_OK; ++k)
        status = atn_needle_create(device, d->cloud[1],
                                   &(atn_needle_settings){.threshold = THRESHOLD, .edge = -1, .brute = k == 1},
                                   &d->needle[k]);
    d->reference = (shift_reference){d->single[0], d->single[1], scan, model, (float)THRESHOLD, {0}};
    return status;
}

/* One run of a side; ours is the time of the rounds, with poses sent and counts fetched. */
static atn_status run_side(data *d, int side, double *second) {
    if (side == 2) {
        double since = atn_clock_seconds();
        shift_reference_run(&d->reference);
        *second = atn_clock_seconds() - since;
        return ATN_OK;
    }
    atn_needle_match_settings settings = {.no_refine = true, .least = 1e-6};
    atn_status status = atn_needle_match(d->needle[side], d->cloud[0], &settings, &d->result[side]);
    *second = d->result[side].match_seconds;
    return status;
}

static atn_status check(const data *d) {
    for (int32_t k = 0; k < d->result[0].n_rounds; ++k)
        if (d->result[0].round[k].matches != d->result[1].round[k].matches)
            return atn_fail(d->ctx, ATN_ERR_INTERNAL, "bench needle: lookup and brute force do not count alike");
    return ATN_OK;
}

static atn_status measure(atn_ctx *ctx, atn_device *device, const atn_bench_needle_options *o, size_t size,
                          bool *stopped) {
    static const char *const NAMES[2] = {"4 rounds, lookup volume", "4 rounds, brute force"};
    data d;
    bench_runner runner[SIDES] = {0};
    char what[96];
    int32_t rounds = o->quick ? 2 : size == 0 ? FEW : ROUNDS;
    snprintf(what, sizeof what, "%zu scan points, %zu model points", SIZES[size].scan, SIZES[size].model);
    atn_bench_progress(&o->to, what);
    atn_status status = open_data(ctx, device, SIZES[size].scan, SIZES[size].model, &d);
    double waited = 0, second = 0, plain = 0;
    for (int32_t n = -1; n < rounds && status == ATN_OK; ++n) /* the first to plan and to warm up */
        for (int side = 0; side < SIDES && status == ATN_OK; ++side) {
            bool ours = side != 2;
            if (ours || waited < PATIENCE_S) status = run_side(&d, side, ours ? &second : &plain);
            if (!ours) waited += second = plain; /* where it takes long, its last time stands */
            if (n >= 0) runner[side].second[n] = second;
            if (status == ATN_OK) status = atn_check_cancel(ctx);
        }
    if (status == ATN_OK) status = check(&d);
    for (int side = 0; side < SIDES; ++side) runner[side].median = bench_median(runner[side].second, rounds);
    for (int side = 0; side < 2 && status == ATN_OK && !*stopped; ++side) {
        atn_bench_row row = {.ours = runner[side].median,
                             .reference = runner[2].median,
                             .reference_name = SHIFT_NAME,
                             .ratio = bench_compare(&runner[side], &runner[2], rounds),
                             .unit = "s",
                             .seconds = runner[side].median};
        snprintf(row.name, sizeof row.name, "%s", NAMES[side]);
        snprintf(row.device, sizeof row.device, "%.127s", atn_device_get_info(device)->name);
        snprintf(row.shape, sizeof row.shape, "%.2f mm: %zu scan, %zu model", SIZES[size].resolution, SIZES[size].scan,
                 SIZES[size].model);
        snprintf(row.note, sizeof row.note, "published: %.3g ms on a Titan X; %lld matches",
                 SIZES[size].published_s * 1e3, (long long)d.result[side].matches);
        *stopped = !atn_bench_visit(&o->to, &row);
    }
    close_data(&d);
    return status;
}

size_t atn_bench_needle_steps(const atn_bench_needle_options *options) {
    return 1 + (options->quick ? 1 : sizeof SIZES / sizeof *SIZES);
}

atn_status atn_bench_needle(atn_ctx *ctx, atn_device *device, const atn_bench_needle_options *options) {
    size_t count = sizeof SIZES / sizeof *SIZES;
    bool stopped = false;
    atn_status status = bench_needle_chain(ctx, device, options);
    for (size_t k = count; k-- > (options->quick ? count - 1 : 0) && status == ATN_OK && !stopped;)
        status = measure(ctx, device, options, k, &stopped);
    return status;
}
