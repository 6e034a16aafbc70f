/* Unwrapping a smooth surface, whole frames: copied in, residues, path following or a solution, report, copied out; as
 * users get it, and by attune's multigrid, which frames with residues need. The plain multigrid gets as many cycles as
 * it needs for the same accuracy, found before the measurement, and looks for residues, too. */
#include "bench/unwrap.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "bench/parts.h"
#include "bench/reference_multigrid.h"
#include "bench/scipy.h"
#include "device/device.h"
#include "sample/fringes.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 5, QUICK_ROUNDS = 1, FRAMES = 3, MOST_CYCLES = 12, SIDES = 4 };
static const double TURN = 6.283185307179586, NEAR = 1.05;
static const struct {
    int side;
    bool wide;
} SIZES[] = {{512, false}, {1024, false}, {2048, false}, {1024, true}}, QUICK[] = {{256, false}};

typedef struct data {
    atn_ctx *ctx;
    atn_device *device;
    int side;
    bool wide;
    size_t pixels;
    double *truth;
    void *psi[FRAMES + 1], *out;        /* a surface that grows a little from frame to frame */
    atn_host_memory memory[FRAMES + 2]; /* theirs: pinned, as whoever has frames for a GPU should keep them */
    atn_unwrap *unwrap[2];              /* as it comes; by multigrid */
    int way;                            /* which of them */
    atn_unwrap_result result;
    multigrid_reference plain;
    char *python;    /* NULL: no scipy here */
    double scipy[2]; /* its last times: all of it, the transforms */
} data;

/* ---- the surface ---- */

/* At most a radian from pixel to pixel; bench/scipy.c has it again. */
static double surface(int side, size_t k) {
    double x = ((double)(k % (size_t)side) - side / 2.0) / side, y = ((double)(k / (size_t)side) - side / 2.0) / side;
    double high = 60;
    return high * exp(-8 * (x * x + y * y)) + 0.3 * high * sin(5 * x) * cos(4 * y) + 0.2 * high * x;
}

static void put(const data *d, void *to, size_t k, double value) {
    if (d->wide)
        ((double *)to)[k] = value;
    else
        ((float *)to)[k] = (float)value;
}

static double wrapped(double phase) { return phase - TURN * rint(phase / TURN); }

static double off_by(const data *d, const void *answer, size_t k) {
    return (d->wide ? ((const double *)answer)[k] : (double)((const float *)answer)[k]) - d->truth[k];
}

/* rms of an answer against the surface, without its mean. */
static double error_of(const data *d, const void *answer) {
    double sum = 0, squares = 0;
    for (size_t k = 0; k < d->pixels; ++k) sum += off_by(d, answer, k);
    double mean = sum / (double)d->pixels;
    for (size_t k = 0; k < d->pixels; ++k) {
        double e = off_by(d, answer, k) - mean;
        squares += e * e;
    }
    return sqrt(squares / (double)d->pixels);
}

static void close_data(data *d) {
    for (int way = 0; way < 2; ++way) atn_unwrap_free(d->unwrap[way]);
    for (int k = 0; k < MULTIGRID_LEVELS; ++k) {
        atn_free(d->ctx, d->plain.u[k]);
        atn_free(d->ctx, d->plain.f[k]);
        atn_free(d->ctx, d->plain.r[k]);
    }
    for (int k = 0; k <= FRAMES + 1; ++k) atn_host_free(d->device, &d->memory[k]);
    atn_free(d->ctx, d->truth);
}

static atn_status open_plain(data *d, size_t element) {
    d->plain = (multigrid_reference){.side = d->side, .wide = d->wide};
    for (int k = 0; k < MULTIGRID_LEVELS; ++k) {
        size_t bytes = multigrid_reference_cells(d->side, k) * element;
        if (!bytes) break;
        d->plain.u[k] = atn_zalloc(d->ctx, bytes);
        d->plain.f[k] = atn_zalloc(d->ctx, bytes);
        d->plain.r[k] = atn_zalloc(d->ctx, bytes);
        if (!d->plain.u[k] || !d->plain.f[k] || !d->plain.r[k]) return ATN_ERR_MEMORY;
    }
    return ATN_OK;
}

static atn_status open_data(data *d) {
    size_t element = d->wide ? sizeof(double) : sizeof(float);
    d->pixels = (size_t)d->side * (size_t)d->side;
    d->truth = atn_alloc(d->ctx, d->pixels * sizeof *d->truth);
    atn_status status = d->truth ? ATN_OK : ATN_ERR_MEMORY;
    for (int k = 0; k <= FRAMES + 1 && status == ATN_OK; ++k)
        status = atn_host_alloc(d->device, d->pixels * element, &d->memory[k]);
    if (status != ATN_OK) return status;
    for (int k = 0; k <= FRAMES; ++k) d->psi[k] = d->memory[k].data;
    d->out = d->memory[FRAMES + 1].data;
    for (size_t k = 0; k < d->pixels; ++k) {
        d->truth[k] = surface(d->side, k);
        for (int n = 0; n <= FRAMES; ++n) put(d, d->psi[n], k, wrapped(d->truth[k] * (1 + 0.002 * n)));
    }
    status = open_plain(d, element);
    d->plain.psi = d->psi[0];
    for (int way = 0; way < 2 && status == ATN_OK; ++way) {
        atn_unwrap_settings options = {.bits = d->wide ? 64 : 32,
                                       .method = way ? ATN_UNWRAP_METHOD_MULTIGRID : ATN_UNWRAP_METHOD_AUTO};
        status = atn_unwrap_create(d->device, d->side, d->side, &options, &d->unwrap[way]);
    }
    return status;
}

/* ---- sides ---- */

static atn_status run_ours(data *d, const void *psi, const atn_unwrap_solve_settings *settings, double *second) {
    double since = atn_clock_seconds();
    atn_status status = atn_unwrap_solve(d->unwrap[d->way], psi, settings, d->out, &d->result);
    *second = atn_clock_seconds() - since;
    if (status == ATN_OK && !d->result.converged)
        status = atn_fail(d->ctx, ATN_ERR_INTERNAL, "bench unwrap: %s", d->result.reason);
    return status;
}

static void run_plain(data *d, double *second) {
    double since = atn_clock_seconds();
    multigrid_reference_run(&d->plain);
    *second = atn_clock_seconds() - since;
}

/* As few cycles as make it as good as ours, or as good as it gets. */
static atn_status match_plain(data *d, double ours, double *theirs) {
    double second, before = 1e300;
    for (d->plain.cycles = 0; d->plain.cycles < MOST_CYCLES; ++d->plain.cycles) {
        run_plain(d, &second);
        *theirs = error_of(d, d->plain.u[0]);
        if (*theirs <= NEAR * ours || *theirs > 0.9 * before) break;
        before = *theirs;
    }
    if (*theirs > 1e-2 || d->plain.residues != 0) /* it must be right to be compared with */
        return atn_fail(d->ctx, ATN_ERR_INTERNAL, "bench unwrap: the plain multigrid is %g off, with %lld residues",
                        *theirs, (long long)d->plain.residues);
    return ATN_OK;
}

/* The least of as many runs as scipy's process makes: the first wakes threads, and others use the machine, too. */
static atn_status run_side(data *d, int side, double *least) {
    atn_status status = ATN_OK;
    *least = 1e300;
    for (int k = 0; k < SCIPY_RUNS && status == ATN_OK; ++k) {
        double second = 0;
        if (side == 0)
            status = run_ours(d, d->psi[0], NULL, &second);
        else
            run_plain(d, &second);
        if (second < *least) *least = second;
    }
    return status == ATN_OK ? atn_check_cancel(d->ctx) : status;
}

/* ---- rows ---- */

static atn_bench_row row_of(const data *d, const char *name) {
    atn_bench_row row = {.unit = "s"};
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.device, sizeof row.device, "%.127s", atn_device_get_info(d->device)->name);
    snprintf(row.shape, sizeof row.shape, "%d x %d %s", d->side, d->side, d->wide ? "DP" : "SP");
    return row;
}

static atn_status frames(data *d, const atn_bench_unwrap_options *o, bool *stopped) {
    static const char *const NAMES[SIDES] = {"", MULTIGRID_NAME, SCIPY_NAME, SCIPY_TRANSFORMS_NAME};
    bench_runner runner[SIDES] = {0};
    int32_t rounds = o->quick ? QUICK_ROUNDS : ROUNDS;
    double second, ours = 0, theirs = 0;
    atn_status status = run_ours(d, d->psi[0], NULL, &second); /* plans */
    if (status == ATN_OK) ours = error_of(d, d->out);
    if (status == ATN_OK) status = match_plain(d, ours, &theirs);
    if (status == ATN_OK) status = run_ours(d, d->psi[0], NULL, &second);
    int32_t cycles = d->result.cycles;
    for (int32_t n = 0; n < rounds && status == ATN_OK; ++n) {
        for (int side = 0; side < 2 && status == ATN_OK; ++side) status = run_side(d, side, &runner[side].second[n]);
        if (status == ATN_OK && d->python)
            status = bench_scipy_run(d->ctx, d->python, d->side, d->wide, d->scipy); /* both at once */
        for (int side = 2; side < SIDES; ++side) runner[side].second[n] = d->scipy[side - 2];
    }
    for (int side = 0; side < SIDES && status == ATN_OK; ++side)
        runner[side].median = bench_median(runner[side].second, rounds);
    for (int side = 1; side < SIDES && status == ATN_OK && !*stopped; ++side) {
        if (side == 2 && !d->python) break;
        atn_bench_row row = row_of(d, d->way ? "whole frame, multigrid" : "whole frame");
        row.ours = row.seconds = runner[0].median;
        row.reference = runner[side].median;
        snprintf(row.reference_name, sizeof row.reference_name, "%s", NAMES[side]);
        row.ratio = bench_compare(&runner[0], &runner[side], rounds);
        if (side == 1)
            snprintf(row.note, sizeof row.note, "%d cycles, %.2g rad off; theirs %d after a full start, %.2g rad off%s",
                     cycles, ours, d->plain.cycles, theirs, d->python ? "" : "; no python3 here has scipy");
        else if (side == 3)
            snprintf(row.note, sizeof row.note, "theirs: transforms only");
        *stopped = !atn_bench_visit(&o->to, &row);
    }
    return status;
}

/* The next frame again and again, from the last answer. */
static atn_status live(data *d, const atn_bench_unwrap_options *o, bool *stopped) {
    bench_runner runner[2] = {0};
    int32_t rounds = o->quick ? QUICK_ROUNDS : ROUNDS;
    double second;
    atn_unwrap_solve_settings warm = {.warm = true};
    atn_status status = run_ours(d, d->psi[0], NULL, &second);
    for (int32_t n = 0; n < rounds && status == ATN_OK && !*stopped; ++n) {
        double sum = 0;
        for (int k = 0; k <= 2 * FRAMES && status == ATN_OK; ++k) { /* there and back; the first wakes threads */
            status = run_ours(d, d->psi[k < FRAMES ? k : 2 * FRAMES - k], &warm, &second);
            if (k > 0) sum += second;
        }
        runner[0].second[n] = sum / (2 * FRAMES);
        if (status == ATN_OK) status = run_side(d, 1, &runner[1].second[n]);
    }
    if (status != ATN_OK || *stopped) return status;
    atn_bench_row row = row_of(d, "live, multigrid, warm starts");
    row.seconds = bench_median(runner[0].second, rounds);
    row.ours = 1 / row.seconds;
    row.reference = 1 / bench_median(runner[1].second, rounds);
    row.ratio = bench_compare(&runner[0], &runner[1], rounds);
    snprintf(row.reference_name, sizeof row.reference_name, "%s", MULTIGRID_NAME);
    snprintf(row.unit, sizeof row.unit, "frame/s");
    snprintf(row.note, sizeof row.note, "%d cycles a frame; theirs starts anew", d->result.cycles);
    *stopped = !atn_bench_visit(&o->to, &row);
    return ATN_OK;
}

/* A fifth of the pixels under discs, or one by one; and qualities from 0.2 to 1. */
static void put_masks(const data *d, uint8_t *discs, uint8_t *single, float *quality) {
    atn_random random;
    size_t masked = 0, side = (size_t)d->side;
    atn_random_seed(&random, 5);
    for (size_t k = 0; k < d->pixels; ++k) {
        discs[k] = 1;
        single[k] = atn_random_unit(&random) >= 0.2;
        quality[k] = (float)(0.6 + 0.4 * sin(0.02 * (double)(k % side)) * cos(0.03 * (double)(k / side)));
    }
    while (masked < d->pixels / 5) {
        double x = atn_random_unit(&random) * d->side, y = atn_random_unit(&random) * d->side;
        double radius = (0.01 + 0.02 * atn_random_unit(&random)) * d->side;
        for (size_t k = 0; k < d->pixels; ++k) {
            double dx = (double)(k % side) - x, dy = (double)(k / side) - y;
            if (!discs[k] || dx * dx + dy * dy > radius * radius) continue;
            discs[k] = 0;
            ++masked;
        }
    }
}

/* Against the same frame without: turn by turn. */
static atn_status masked(data *d, const atn_bench_unwrap_options *o, bool *stopped) {
    uint8_t *discs = atn_alloc(d->ctx, d->pixels), *single = atn_alloc(d->ctx, d->pixels);
    float *quality = atn_alloc(d->ctx, d->pixels * sizeof *quality);
    const struct {
        const char *name;
        atn_unwrap_solve_settings settings;
    } KINDS[] = {{"20 % masked, discs", {.mask = discs}},
                 {"20 % masked, single pixels", {.mask = single}},
                 {"quality map", {.quality = quality}}};
    int32_t rounds = o->quick ? QUICK_ROUNDS : ROUNDS;
    atn_status status = discs && single && quality ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) put_masks(d, discs, single, quality);
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS && status == ATN_OK && !*stopped; ++k) {
        bench_runner runner[2] = {0};
        for (int32_t n = -2; n < rounds && status == ATN_OK; ++n) { /* the first ones plan and keep */
            double with = 0, without = 0;
            status = run_ours(d, d->psi[0], NULL, &without);
            if (status == ATN_OK) status = run_ours(d, d->psi[0], &KINDS[k].settings, &with);
            if (n < 0) continue;
            runner[0].second[n] = with;
            runner[1].second[n] = without;
            if (status == ATN_OK) status = atn_check_cancel(d->ctx);
        }
        if (status != ATN_OK) break;
        atn_bench_row row = row_of(d, KINDS[k].name);
        row.ours = row.seconds = bench_median(runner[0].second, rounds);
        row.reference = bench_median(runner[1].second, rounds);
        row.ratio = bench_compare(&runner[0], &runner[1], rounds);
        snprintf(row.reference_name, sizeof row.reference_name, "ours, all valid");
        snprintf(row.note, sizeof row.note, "%lld islands, %d cycles", (long long)d->result.islands, d->result.cycles);
        *stopped = !atn_bench_visit(&o->to, &row);
    }
    atn_free(d->ctx, discs);
    atn_free(d->ctx, single);
    atn_free(d->ctx, quality);
    return status;
}

/* A spiral, and noise that is another one in each frame: residues. */
static atn_status put_spirals(data *d) {
    atn_status status = ATN_OK;
    for (int n = 0; n <= FRAMES && status == ATN_OK; ++n) {
        atn_fringes_settings look = {.width = d->side,
                                     .height = d->side,
                                     .seed = 7 + (uint64_t)n,
                                     .surface = ATN_FRINGES_SHEAR,
                                     .noise = 0.3,
                                     .steps = 3,
                                     .turns = 8};
        atn_fringes fringes;
        status = atn_fringes_make(d->ctx, &look, &fringes);
        if (status != ATN_OK) break;
        for (size_t k = 0; k < d->pixels; ++k) put(d, d->psi[n], k, fringes.wrapped[k]);
        atn_fringes_free(d->ctx, &fringes);
    }
    return status;
}

/* Weights that are made once a frame, each started from the last answer, as a live user wants it; and adapted until few
 * cuts are left. Nobody to compare with. */
static atn_status weighted(data *d, const atn_bench_unwrap_options *o, bool *stopped) {
    static const struct {
        const char *name;
        atn_unwrap_solve_settings settings;
    } KINDS[] = {{"whole frame, residues and weights", {.weights = ATN_UNWRAP_WEIGHTS_ONCE, .warm = true}},
                 {"whole frame, adapted weights", {.weights = ATN_UNWRAP_WEIGHTS_AUTO}}};
    double seconds[ROUNDS];
    int32_t rounds = o->quick ? 1 : ROUNDS;
    atn_status status = put_spirals(d);
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS && status == ATN_OK && !*stopped; ++k) {
        for (int32_t n = o->quick ? 0 : -3; n < rounds && status == ATN_OK; ++n) { /* the first ones plan and keep */
            double second;
            status = run_ours(d, d->psi[(n + 3) % (FRAMES + 1)], &KINDS[k].settings, &second);
            if (n >= 0) seconds[n] = second;
            if (status == ATN_OK) status = atn_check_cancel(d->ctx);
        }
        if (status != ATN_OK) return status;
        atn_bench_row row = row_of(d, KINDS[k].name);
        row.ours = row.seconds = bench_median(seconds, rounds);
        snprintf(row.note, sizeof row.note, "%lld residues, %lld cuts, %d iterations in %d solutions",
                 (long long)d->result.residues, (long long)d->result.cut_length, d->result.cycles, d->result.solutions);
        *stopped = !atn_bench_visit(&o->to, &row);
    }
    return status;
}

static atn_status measure(data *d, const atn_bench_unwrap_options *o, bool *stopped) {
    char what[64];
    snprintf(what, sizeof what, "%d x %d pixels%s", d->side, d->side, d->wide ? " in double precision" : "");
    atn_bench_progress(&o->to, what);
    bool all = !d->wide && (o->quick || d->side == 1024);
    atn_status status = open_data(d);
    for (d->way = 0; d->way < 2 && status == ATN_OK && !*stopped; ++d->way) status = frames(d, o, stopped);
    d->way = 1;
    if (status == ATN_OK && all && !*stopped) status = live(d, o, stopped);
    d->way = 0;
    if (status == ATN_OK && all && !*stopped) status = masked(d, o, stopped);
    if (status == ATN_OK && all && !*stopped) status = weighted(d, o, stopped);
    close_data(d);
    return status;
}

size_t atn_bench_unwrap_steps(const atn_device *device, const atn_bench_unwrap_options *options) {
    size_t steps = atn_bench_unwrap_cut_steps(options);
    if (options->quick) return steps + sizeof QUICK / sizeof *QUICK;
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k)
        steps += !SIZES[k].wide || atn_device_get_info(device)->fp64;
    return steps;
}

atn_status atn_bench_unwrap(atn_ctx *ctx, atn_device *device, const atn_bench_unwrap_options *options) {
    size_t count = options->quick ? sizeof QUICK / sizeof *QUICK : sizeof SIZES / sizeof *SIZES;
    bool stopped = false;
    char *python;
    atn_status status = bench_scipy_find(ctx, &python);
    for (size_t k = 0; k < count && status == ATN_OK && !stopped; ++k) {
        data d = {.ctx = ctx, .device = device, .python = python};
        d.side = options->quick ? QUICK[k].side : SIZES[k].side;
        d.wide = options->quick ? QUICK[k].wide : SIZES[k].wide;
        if (d.wide && !atn_device_get_info(device)->fp64) continue;
        status = measure(&d, options, &stopped);
    }
    atn_free(ctx, python);
    return status;
}
