/* How short the cuts are, against the optimum that another method finds; and how many pixels of radar scenes with
 * layover are wrong by a turn, with their correlation as quality, against sorted reliability. */
#include "bench/unwrap.h"

#include "base/memory.h"
#include "base/random.h"
#include "bench/layover.h"
#include "bench/reference_cuts.h"
#include "bench/reference_reliability.h"
#include "sample/fringes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TURN = 6.283185307179586;
enum { SIDE = 256, QUICK_SIDE = 48, MOST_TURNS = 64 };

typedef struct run {
    atn_ctx *ctx;
    atn_device *device;
    const atn_bench_unwrap_options *options;
    bool stopped;
} run;

static void show(run *r, atn_bench_row *row, int64_t width, int64_t height) {
    snprintf(row->device, sizeof row->device, "%.127s", atn_device_get_info(r->device)->name);
    snprintf(row->shape, sizeof row->shape, "%lld x %lld SP", (long long)height, (long long)width);
    r->stopped = !atn_bench_visit(&r->options->to, row);
}

static atn_status solve(const run *r, int64_t width, int64_t height, const float *psi,
                        atn_unwrap_solve_settings settings, float *out, atn_unwrap_result *result) {
    atn_unwrap *unwrap;
    atn_status status = atn_unwrap_create(r->device, width, height, NULL, &unwrap);
    if (status == ATN_OK) status = atn_unwrap_solve(unwrap, psi, &settings, out, result);
    atn_unwrap_free(unwrap);
    if (status == ATN_OK && !result->converged)
        status = atn_fail(r->ctx, ATN_ERR_INTERNAL, "bench unwrap: %s", result->reason);
    return status;
}

/* ---- cuts ---- */

/* Turns by which an answer's difference is off the wrapped one. */
static int32_t turns_of(const float *psi, const float *out, int64_t p, int64_t q) {
    double d = (double)(psi[q] - psi[p]), wrapped = d - TURN * rint(d / TURN);
    return (int32_t)rint(((double)out[q] - (double)out[p] - wrapped) / TURN);
}

static void put_cuts(const float *psi, const float *out, cuts_reference *c) {
    int64_t w = c->width, h = c->height;
    for (int64_t p = 0; p < w * h; ++p) {
        c->cut[2 * p] = p % w + 1 < w ? turns_of(psi, out, p, p + 1) : 0;
        c->cut[2 * p + 1] = p + w < w * h ? turns_of(psi, out, p, p + w) : 0;
    }
}

static atn_status compare_cuts(run *r, const char *name, int64_t width, int64_t height, const float *psi) {
    size_t pixels = (size_t)(width * height);
    cuts_reference cuts = {.width = width, .height = height};
    atn_unwrap_result ours = {0}, theirs = {0};
    float *out = atn_alloc(r->ctx, pixels * sizeof *out);
    cuts.cut = atn_alloc(r->ctx, 2 * pixels * sizeof *cuts.cut);
    atn_status status = out && cuts.cut ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < pixels && status == ATN_OK; ++k)
        if (!isfinite(psi[k])) status = atn_fail(r->ctx, ATN_ERR_INPUT, "%s: phases with holes are not compared", name);
    if (status == ATN_OK)
        status = solve(r, width, height, psi, (atn_unwrap_solve_settings){.congruent = true}, out, &ours);
    atn_bench_row row = {.unit = "turns", .seconds = ours.seconds};
    if (status == ATN_OK) {
        put_cuts(psi, out, &cuts);
        row.ours = (double)cuts_reference_turns(&cuts);
        atn_unwrap_solve_settings plain = {.weights = ATN_UNWRAP_WEIGHTS_NONE, .congruent = true};
        status = solve(r, width, height, psi, plain, out, &theirs);
    }
    if (status == ATN_OK) {
        put_cuts(psi, out, &cuts);
        status = cuts_reference_run(r->ctx, &cuts);
    }
    if (status == ATN_OK) {
        row.reference = (double)cuts_reference_turns(&cuts);
        row.ratio = row.ours > 0 ? row.reference / row.ours : 1;
        snprintf(row.name, sizeof row.name, "cut length, %.60s", name);
        snprintf(row.reference_name, sizeof row.reference_name, "optimum, " CUTS_NAME);
        snprintf(row.note, sizeof row.note, "%lld residues, %.0f turns, optimum %.0f", (long long)ours.residues,
                 row.ours, row.reference);
        show(r, &row, width, height);
    }
    atn_free(r->ctx, out);
    atn_free(r->ctx, cuts.cut);
    return status;
}

enum { CUT_SCENES = 5, QUICK_CUTS = 2, LAYOVER_SCENES = 6, QUICK_LAYOVER = 1 };

static atn_status made_cuts(run *r) {
    static const struct {
        const char *name;
        atn_fringes_surface surface;
        double noise;
    } SCENES[CUT_SCENES] = {{"spiral, noise 0.3", ATN_FRINGES_SHEAR, 0.3},
                            {"hills, noise 0.8", ATN_FRINGES_PEAKS, 0.8},
                            {"hills, noise 1.1", ATN_FRINGES_PEAKS, 1.1},
                            {"terraces, noise 0.5", ATN_FRINGES_STEPS, 0.5},
                            {"nothing but noise", ATN_FRINGES_TILT, 10}};
    int64_t side = r->options->quick ? QUICK_SIDE : SIDE;
    size_t pixels = (size_t)(side * side), count = r->options->quick ? QUICK_CUTS : CUT_SCENES;
    float *psi = atn_alloc(r->ctx, pixels * sizeof *psi);
    atn_status status = psi ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < count && status == ATN_OK && !r->stopped; ++k) {
        atn_fringes_settings look = {.width = side,
                                     .height = side,
                                     .seed = 11 + k,
                                     .surface = SCENES[k].surface,
                                     .noise = SCENES[k].noise,
                                     .steps = 3,
                                     .turns = 6};
        atn_fringes fringes;
        atn_bench_progress(&r->options->to, SCENES[k].name);
        status = atn_fringes_make(r->ctx, &look, &fringes);
        if (status != ATN_OK) break;
        for (size_t p = 0; p < pixels; ++p) psi[p] = (float)fringes.wrapped[p];
        atn_fringes_free(r->ctx, &fringes);
        status = compare_cuts(r, SCENES[k].name, side, side, psi);
    }
    atn_free(r->ctx, psi);
    return status;
}

/* ---- layover ---- */

/* Share of the known pixels that are not off the truth by the turns that most are. */
static double wrong_of(const layover *scene, const float *out, int64_t pixels) {
    int64_t votes[2 * MOST_TURNS + 1] = {0}, known = 0, most = 0;
    for (int64_t k = 0; k < pixels; ++k) {
        if (!scene->known[k]) continue;
        double turns = rint(((double)out[k] - scene->truth[k]) / TURN);
        ++known;
        if (fabs(turns) > MOST_TURNS) continue;
        int64_t *vote = &votes[(int)turns + MOST_TURNS];
        if (++*vote > most) most = *vote;
    }
    return known > 0 ? 1 - (double)most / (double)known : 0;
}

static atn_status compare_layover(run *r, const layover_settings *s) {
    int64_t pixels = s->side * s->side;
    atn_unwrap_result result = {0};
    layover scene;
    atn_bench_row row = {.unit = ""};
    double plain = 0;
    atn_status status = layover_make(r->ctx, s, &scene);
    if (status != ATN_OK) return status;
    float *out = atn_alloc(r->ctx, (size_t)pixels * sizeof *out);
    if (!out) status = ATN_ERR_MEMORY;
    if (status == ATN_OK)
        status = solve(r, s->side, s->side, scene.psi, (atn_unwrap_solve_settings){.quality = scene.correlation}, out,
                       &result);
    if (status == ATN_OK) {
        row.ours = wrong_of(&scene, out, pixels);
        row.seconds = result.seconds;
        status = solve(r, s->side, s->side, scene.psi, (atn_unwrap_solve_settings){0}, out, &result);
    }
    if (status == ATN_OK) {
        plain = wrong_of(&scene, out, pixels);
        status = reliability_reference_run(r->ctx, s->side, s->side, scene.psi, out);
    }
    if (status == ATN_OK) {
        row.reference = wrong_of(&scene, out, pixels);
        row.ratio = row.ours > 0 ? row.reference / row.ours : 0;
        snprintf(row.name, sizeof row.name, "wrong, layover %d", (int)s->seed);
        snprintf(row.reference_name, sizeof row.reference_name, RELIABILITY_NAME);
        snprintf(row.note, sizeof row.note, "%s; without the quality map %.4g; slopes %.1f, noise %.1f, %d looks",
                 row.ours > 0 || row.reference > 0 ? "share of pixels wrong by a turn"
                                                   : "no pixel is wrong by a turn, here or there",
                 plain, s->steep, s->noise, s->looks);
        show(r, &row, s->side, s->side);
    }
    atn_free(r->ctx, out);
    layover_free(r->ctx, &scene);
    return status;
}

static atn_status made_layover(run *r) {
    static const layover_settings SCENES[LAYOVER_SCENES] = {
        {SIDE, 1, 6, 0.8, 0.3, 0.4, 4}, {SIDE, 2, 6, 1.2, 0.3, 0.8, 4},  {SIDE, 3, 10, 1.4, 0.3, 1.2, 4},
        {SIDE, 4, 6, 1.0, 0.8, 0.4, 4}, {SIDE, 5, 12, 1.3, 0.6, 0.6, 4}, {SIDE, 6, 6, 1.2, 0.4, 0.5, 1},
    };
    size_t count = r->options->quick ? QUICK_LAYOVER : LAYOVER_SCENES;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < count && status == ATN_OK && !r->stopped; ++k) {
        layover_settings s = SCENES[k];
        if (r->options->quick) s.side = QUICK_SIDE;
        atn_bench_progress(&r->options->to, "layover");
        status = compare_layover(r, &s);
    }
    return status;
}

size_t atn_bench_unwrap_cut_steps(const atn_bench_unwrap_options *options) {
    return options->quick ? QUICK_CUTS + QUICK_LAYOVER : CUT_SCENES + LAYOVER_SCENES;
}

atn_status atn_bench_unwrap_cuts(atn_ctx *ctx, atn_device *device, const atn_bench_unwrap_options *options) {
    run r = {.ctx = ctx, .device = device, .options = options};
    atn_status status = made_cuts(&r);
    return status == ATN_OK && !r.stopped ? made_layover(&r) : status;
}

atn_status atn_bench_unwrap_phase(atn_ctx *ctx, atn_device *device, const atn_bench_unwrap_options *options,
                                  const char *name, int64_t width, int64_t height, const float *psi) {
    run r = {.ctx = ctx, .device = device, .options = options};
    return compare_cuts(&r, name, width, height, psi);
}
