/* Comparing a built variant with the oracle. */
#include "tune/verify.h"

#include "base/clock.h"
#include "base/compare.h"
#include "base/memory.h"
#include "base/random.h"
#include "built/outlook.h"
#include "graph/type.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FULL_STEPS = 60000,     /* of the oracle, at a small shape; beyond: sampled points */
    TUNED_VALUES = 4000000, /* evaluated at the tuned shape, all sampled points together */
    WHOLE_STEPS = 1 << 22,  /* of a reduction of everything, which has no points to sample */
    MOST_POINTS = 512,
    LEAST_POINTS = 12,
    OPTIONS_KEPT = 8,
    GATHERED = 37
};
static const double ORACLE_LIMIT_S = 600;
/* Some OpenCL drivers compile when a kernel is first launched, and once more when it is at a size of another kind. */
static const double FIRST_RUN_LIMIT_S = 60;

/* The oracle at the tuned shape, for one kind of arithmetic. */
typedef struct answer {
    atn_eval_options options;
    atn_eval_result *result;
} answer;

struct atn_verifier {
    const atn_ctx *ctx;
    atn_device *device;
    const atn_case *c;
    atn_stand *tuned;
    atn_verify_options options;
    atn_verify_stage stage;
    answer kept[OPTIONS_KEPT];
    int32_t n_kept;
    int64_t points[MOST_POINTS][ATN_MAX_RANK]; /* sampled, of the tuned shape */
    int64_t n_points;                          /* 0: none to sample */
    bool whole;                                /* the tuned shape is evaluated as a whole */
    bool ran;                                  /* the kernel that is verified did, at some small shape */
    atn_built *plain, *estimate;               /* to compare with: bits, and large reductions */
};

atn_status atn_verifier_create(atn_device *device, const atn_case *c, atn_stand *tuned,
                               const atn_verify_options *options, const atn_verify_stage *stage, atn_verifier **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    **out = (atn_verifier){.ctx = ctx, .device = device, .c = c, .tuned = tuned, .options = *options, .stage = *stage};
    if (atn_outlook_of(c->graph).halves) /* who describes a kernel in halves accepts what one unit of it is */
        (*out)->options.tolerance = fmax(options->tolerance, 0x1p-10);
    return ATN_OK;
}

void atn_verifier_free(atn_verifier *v) {
    if (!v) return;
    for (int32_t k = 0; k < v->n_kept; ++k) atn_eval_free(v->kept[k].result);
    atn_built_free(v->plain);
    atn_built_free(v->estimate);
    atn_free(v->ctx, v);
}

static void enter(const atn_verifier *v, const char *stage, double limit_s) {
    if (v->stage.enter) v->stage.enter(v->stage.user, stage, limit_s);
}

/* ---- points to sample ---- */

/* Corners, then anywhere; with `edge`, near multiples of a tile more often. */
static int64_t choose_points(const atn_graph *g, const atn_steps *steps, const int64_t tile[ATN_MAX_RANK],
                             double each_steps, double all_steps, uint64_t seed, int64_t (*points)[ATN_MAX_RANK]) {
    int64_t extent[ATN_MAX_RANK] = {1, 1, 1};
    int32_t dims = g->blocks[0].rank > 2 ? g->blocks[0].rank : 2;
    for (int32_t d = 0; d < g->blocks[0].rank; ++d) extent[d] = steps->steps[g->blocks[0].dim[d]];
    double afford = all_steps / (each_steps > 1 ? each_steps : 1);
    int64_t n = afford > MOST_POINTS ? MOST_POINTS : afford < LEAST_POINTS ? LEAST_POINTS : (int64_t)afford;
    atn_random random;
    atn_random_seed(&random, seed);
    for (int d = 0; d < dims; ++d)
        if (extent[d] < 1) return 0;
    for (int64_t k = 0; k < n; ++k)
        for (int d = 0; d < dims; ++d) {
            int64_t at = (int64_t)atn_random_below(&random, (uint64_t)extent[d]);
            if (k < 1 << dims)
                at = k >> d & 1 ? extent[d] - 1 : 0;
            else if (tile && k % 2 && tile[d] > 0) {
                int64_t tiles = extent[d] / tile[d] + 1;
                at = (int64_t)atn_random_below(&random, (uint64_t)tiles) * tile[d] - 1 +
                     (int64_t)atn_random_below(&random, 3);
                at = at < 0 ? 0 : at >= extent[d] ? extent[d] - 1 : at;
            }
            points[k][d] = at;
        }
    return n;
}

/* ---- comparing ---- */

static bool same_options(const atn_eval_options *a, const atn_eval_options *b) {
    bool same = a->exp_error == b->exp_error && a->exp_slope == b->exp_slope && a->run == b->run &&
                a->element_unit == b->element_unit && a->fast == b->fast;
    for (int k = 0; k < ATN_TYPE_COUNT; ++k) same = same && a->unit[k] == b->unit[k];
    same = same && atn_same_bits(&a->products, &b->products, sizeof a->products);
    return same;
}

static void say(atn_verify_result *out, const atn_graph *g, const atn_eval_cell *cell, atn_type type, const void *got,
                double error, const char *where) {
    double number[2];
    int64_t whole;
    if (out->outcome == ATN_OUTCOME_WRONG) return;
    atn_element_load(type, got, number, &whole);
    bool integer = atn_type_is_integer(type);
    out->outcome = ATN_OUTCOME_WRONG;
    snprintf(out->detail, sizeof out->detail, "%s: %s(%lld, %lld) is %.9g, %.9g is right; %.3g times what is allowed",
             where, g->objects[cell->object].name, (long long)cell->at[0], (long long)cell->at[1], number[0],
             integer ? (double)cell->whole : cell->value[0], error);
}

/* The largest size of an object's elements, as the oracle has them. */
static double size_of(const atn_eval_result *oracle, int32_t object) {
    double most = 0;
    for (int64_t k = 0; k < oracle->n_cells; ++k) {
        double size = hypot(oracle->cells[k].value[0], oracle->cells[k].value[1]);
        if (oracle->cells[k].object == object && isfinite(size) && size > most) most = size;
    }
    return most;
}

/* Every cell of the oracle against what is on the device; the largest error goes to *most. */
static atn_status compare(const atn_verifier *v, const atn_stand *s, const atn_eval_result *oracle, double tolerance,
                          const char *where, double *most, atn_verify_result *out) {
    const atn_graph *g = s->graph;
    atn_status status = ATN_OK;
    for (int32_t o = 0; o < g->n_objects && status == ATN_OK; ++o) {
        if (!g->objects[o].written || oracle->blurred[o]) continue;
        double more = tolerance > 0 ? tolerance * size_of(oracle, o) : 0;
        void *all = NULL;
        if (!s->light) status = atn_stand_fetch(s, o, &all);
        atn_view got = s->before[o];
        got.data = all;
        for (int64_t k = 0; k < oracle->n_cells && status == ATN_OK; ++k) {
            const atn_eval_cell *cell = &oracle->cells[k];
            if (cell->object != o) continue;
            unsigned char room[16];
            const void *at = all ? atn_view_at(&got, cell->at[0], cell->at[1]) : room;
            if (!all) status = atn_stand_element(s, o, cell->at[0], cell->at[1], room);
            if (status != ATN_OK) break;
            double error = atn_eval_error(got.type, at, cell, 0, more);
            if (error > *most) *most = error;
            if (error > 1 && out) say(out, g, cell, got.type, at, error, where);
        }
        atn_free(v->ctx, all);
    }
    return status;
}

/* Elements that the whole oracle did not write hold what they held. */
static atn_status compare_rest(const atn_verifier *v, const atn_stand *s, const atn_eval_result *oracle,
                               const char *where, atn_verify_result *out) {
    for (int32_t o = 0; o < s->graph->n_objects; ++o) {
        if (!s->graph->objects[o].written || oracle->blurred[o]) continue;
        void *all;
        atn_status status = atn_stand_fetch(s, o, &all);
        if (status != ATN_OK) return status;
        atn_view got = s->before[o];
        got.data = all;
        int64_t rows = atn_view_rows(&got);
        for (int64_t row = 0; row < rows; ++row)
            for (int64_t column = 0; column < got.size[0]; ++column) {
                const void *now = atn_view_at(&got, column, row), *then = atn_view_at(&s->before[o], column, row);
                if (!memcmp(now, then, atn_type_bytes(got.type)) || atn_eval_find(oracle, o, column, row)) continue;
                if (out->outcome != ATN_OUTCOME_WRONG)
                    snprintf(out->detail, sizeof out->detail, "%s: %s(%lld, %lld) was written, and should not be",
                             where, s->graph->objects[o].name, (long long)column, (long long)row);
                out->outcome = ATN_OUTCOME_WRONG;
                out->error = INFINITY;
            }
        atn_free(v->ctx, all);
    }
    return ATN_OK;
}

/* What has no guards runs on elements that were seen to stay in range, or is refused. */
static atn_status earn(const atn_verifier *v, atn_stand *s, const atn_built *kernel, bool *refused) {
    if (atn_built_variant(kernel)->guard || s->proven) return ATN_OK;
    enter(v, "build", 0);
    atn_status status = atn_stand_prove(s);
    *refused = status == ATN_ERR_INPUT || status == ATN_ERR_BUILD || status == ATN_ERR_TIMEOUT;
    return *refused ? ATN_OK : status;
}

/* One run on reset arrays. A shape that the variant refuses leaves *refused. */
static atn_status run_on(atn_verifier *v, atn_stand *s, atn_built *kernel, double limit_s, const char *where,
                         bool *refused, atn_verify_result *out) {
    *refused = false;
    atn_status status = earn(v, s, kernel, refused);
    if (status != ATN_OK || *refused) return status;
    status = atn_stand_reset(s);
    if (status != ATN_OK) return status;
    bool first = s == v->tuned ? out->run_s == 0 : !v->ran;
    enter(v, "run", first ? fmax(limit_s, FIRST_RUN_LIMIT_S) : limit_s);
    v->ran = true;
    double from = atn_clock_seconds();
    status = atn_built_run(kernel, NULL, s->slots, s->params);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(v->device));
    if (s == v->tuned && out->run_s == 0) out->run_s = atn_clock_seconds() - from;
    if (status == ATN_ERR_UNSUPPORTED) {
        *refused = true;
        return ATN_OK;
    }
    if (status == ATN_ERR_INPUT) { /* accesses that the oracle finds in range */
        out->outcome = ATN_OUTCOME_WRONG;
        out->error = INFINITY;
        snprintf(out->detail, sizeof out->detail, "%s: %s", where, atn_ctx_message(v->ctx));
        return ATN_OK;
    }
    int32_t object = -1;
    if (status == ATN_OK) status = atn_stand_inspect(s, &object);
    if (status == ATN_OK && object >= 0) {
        out->outcome = ATN_OUTCOME_WRONG;
        out->error = INFINITY;
        snprintf(out->detail, sizeof out->detail, "%s: it writes outside its outputs, next to '%s'", where,
                 s->graph->objects[object].name);
    }
    return status;
}

/* Are both variants' outputs the same to the last bit? */
static atn_status compare_bits(atn_verifier *v, atn_stand *s, const char *where, atn_verify_result *out) {
    atn_variant plain = atn_variant_plain();
    enter(v, "build", 0);
    atn_status status = v->plain ? ATN_OK : atn_built_make(v->device, s->graph, &plain, &v->plain);
    void *mine[64] = {0};
    int32_t n = s->graph->n_objects < 64 ? s->graph->n_objects : 64;
    for (int32_t o = 0; o < n && status == ATN_OK; ++o)
        if (s->graph->objects[o].written) status = atn_stand_fetch(s, o, &mine[o]);
    bool refused;
    if (status == ATN_OK) status = run_on(v, s, v->plain, ORACLE_LIMIT_S, where, &refused, out);
    for (int32_t o = 0; o < n && status == ATN_OK; ++o) {
        void *theirs = NULL;
        const atn_view *view = &s->before[o];
        if (!s->graph->objects[o].written) continue;
        status = atn_stand_fetch(s, o, &theirs);
        size_t bytes = atn_view_bytes(view);
        if (status == ATN_OK && memcmp(mine[o], theirs, bytes) != 0 && out->outcome != ATN_OUTCOME_WRONG) {
            out->usable = false;
            snprintf(out->detail, sizeof out->detail, "%s: '%s' is not the plain variant's to the last bit", where,
                     s->graph->objects[o].name);
        }
        atn_free(v->ctx, theirs);
    }
    for (int32_t o = 0; o < n; ++o) atn_free(v->ctx, mine[o]);
    return status;
}

/* ---- small shapes ---- */

static atn_status hold(atn_verifier *v, atn_stand *s, atn_built *kernel, atn_eval_options arithmetic, const char *where,
                       atn_verify_result *out) {
    const atn_device_info *info = atn_device_get_info(v->device);
    atn_variant plain = atn_variant_plain();
    atn_eval_options usual = atn_variant_arithmetic(s->graph, &plain, info);
    atn_bindings frame = atn_stand_frame(s);
    atn_eval_result *oracle;
    bool refused = false;
    enter(v, "oracle", ORACLE_LIMIT_S);
    atn_status status = atn_eval_run(v->ctx, s->graph, &frame, &arithmetic, &oracle);
    if (status != ATN_OK) return status;
    if (oracle->bad_accesses == 0) status = run_on(v, s, kernel, v->options.run_limit_s, where, &refused, out);
    if (oracle->bad_accesses > 0 || refused || status != ATN_OK || out->outcome == ATN_OUTCOME_WRONG) {
        atn_eval_free(oracle);
        return status;
    }
    status = compare(v, s, oracle, 0, where, &out->error, out);
    if (status == ATN_OK && !arithmetic.points) status = compare_rest(v, s, oracle, where, out);
    if (status == ATN_OK && (v->options.tolerance > 0 || !same_options(&usual, &arithmetic))) {
        double most = 0;
        usual.points = arithmetic.points;
        usual.n_points = arithmetic.n_points;
        atn_eval_free(oracle);
        enter(v, "oracle", ORACLE_LIMIT_S);
        status = atn_eval_run(v->ctx, s->graph, &frame, &usual, &oracle);
        if (status == ATN_OK) status = compare(v, s, oracle, v->options.tolerance, where, &most, NULL);
        if (most > 1) out->usable = false;
    }
    if (status == ATN_OK && v->options.reproducible && out->usable) status = compare_bits(v, s, where, out);
    atn_eval_free(oracle);
    return status;
}

static atn_status hold_shape(atn_verifier *v, atn_built *kernel, const atn_verify_shape *shape, int32_t number,
                             atn_verify_result *out) {
    const atn_graph *g = v->c->graph;
    const atn_variant *variant = atn_built_variant(kernel);
    int32_t outermost = atn_graph_outermost(g, NULL);
    assert(g->blocks);
    const atn_block *reduced = outermost >= 0 ? &g->blocks[outermost] : NULL;
    double length = reduced ? (double)shape->steps.steps[reduced->dim[0]] : 1;
    int64_t tile[ATN_MAX_RANK], (*points)[ATN_MAX_RANK] = NULL;
    char where[96];
    atn_view *views = atn_zalloc(v->ctx, ((size_t)g->n_objects + 1) * sizeof *views);
    if (!views) return ATN_ERR_MEMORY;
    const double(*params)[2] = (const double(*)[2])v->c->params;
    atn_status status = atn_sizes_solve(v->ctx, g, params, &shape->steps, length, GATHERED, views);
    atn_bindings frame = {.views = views, .params = params};
    if (status == ATN_OK) status = atn_eval_check(v->ctx, g, &frame);
    if (status != ATN_OK) { /* this description has no such shape */
        atn_free(v->ctx, views);
        return status == ATN_ERR_MEMORY || status == ATN_ERR_CANCELLED ? status : ATN_OK;
    }
    atn_steps steps;
    atn_eval_options arithmetic = atn_variant_arithmetic(g, variant, atn_device_get_info(v->device));
    status = atn_steps_of(v->ctx, g, &frame, length, &steps);
    uint32_t p = 0, all = (1u << g->n_dims) - 1;
    for (int32_t d = 0; d < g->blocks[0].rank && g->blocks[0].n_accs == 0; ++d) p |= 1u << g->blocks[0].dim[d];
    if (status == ATN_OK && p && atn_steps_in(&steps, all) > FULL_STEPS) {
        for (int d = 0; d < ATN_MAX_RANK; ++d)
            tile[d] = (int64_t)variant->p[d].lanes * variant->p[d].vec * variant->p[d].regs;
        points = atn_alloc(v->ctx, MOST_POINTS * sizeof *points);
        if (!points) status = ATN_ERR_MEMORY;
        if (points)
            arithmetic.n_points = choose_points(g, &steps, tile, atn_steps_in(&steps, all & ~p), FULL_STEPS,
                                                v->options.seed + (uint64_t)number, points);
        arithmetic.points = (const int64_t(*)[ATN_MAX_RANK])points;
    }
    atn_extent extent = {.points = {1, 1, 1}};
    if (status == ATN_OK) status = atn_extent_of(v->ctx, g, &frame, &extent);
    char planes[32] = "";
    if (g->blocks[0].rank > 2) snprintf(planes, sizeof planes, "%lld x ", (long long)extent.points[2]);
    snprintf(where, sizeof where, "with %s%lld x %lld points%s", planes, (long long)extent.points[1],
             (long long)extent.points[0], shape->special ? ", NaN and infinities among them" : "");
    atn_fill_options fill = {.seed = v->options.seed + (uint64_t)number, .special = shape->special};
    fill.lengths = length;
    fill.spread = 1;
    atn_stand s = {0};
    if (status == ATN_OK) status = atn_stand_open(v->device, g, params, views, &fill, false, &s);
    if (status == ATN_OK) status = hold(v, &s, kernel, arithmetic, where, out);
    atn_stand_close(&s);
    atn_free(v->ctx, points);
    atn_free(v->ctx, views);
    return status;
}

/* ---- the tuned shape ---- */

static atn_status tuned_answer(atn_verifier *v, const atn_eval_options *wanted, const atn_eval_result **out) {
    *out = NULL;
    for (int32_t k = 0; k < v->n_kept; ++k)
        if (same_options(&v->kept[k].options, wanted)) *out = v->kept[k].result;
    if (*out) return ATN_OK;
    if (v->n_kept == OPTIONS_KEPT) atn_eval_free(v->kept[--v->n_kept].result);
    answer *a = &v->kept[v->n_kept];
    a->options = *wanted;
    if (!v->whole) {
        a->options.points = (const int64_t(*)[ATN_MAX_RANK])v->points;
        a->options.n_points = v->n_points;
    }
    atn_bindings frame = atn_stand_frame(v->tuned);
    enter(v, "oracle", ORACLE_LIMIT_S);
    atn_status status = atn_eval_run(v->ctx, v->c->graph, &frame, &a->options, &a->result);
    if (status != ATN_OK) return status;
    ++v->n_kept;
    *out = a->result;
    return ATN_OK;
}

/* Relative error that a reduction of n steps may make, per unit roundoff: none where nothing is rounded. */
static bool rounds(const atn_graph *g) {
    for (int32_t k = 0; k < g->n_blocks; ++k)
        for (int32_t a = 0; a < g->blocks[k].n_accs; ++a) {
            atn_join join = g->blocks[k].acc[a].join;
            if (join == ATN_JOIN_SUM || join == ATN_JOIN_PRODUCT || join >= ATN_JOIN_CUSTOM) return true;
        }
    return false;
}

/* One element against the estimate's. Right is what the bound of any order of summation allows, n units; usable what an
 * error that grows with the root of n would be, as in all but the worst order. */
static void hold_element(const atn_verifier *v, int32_t object, double steps, const void *mine, const void *theirs,
                         atn_verify_result *out) {
    const atn_graph *g = v->c->graph;
    atn_type type = g->objects[object].type, part = atn_type_get_info(type)->part;
    double unit = !rounds(g) ? 0 : part == ATN_DP ? 0x1p-53 : part == ATN_HP ? 0x1p-11 : 0x1p-24;
    atn_eval_cell cell = {.object = object};
    atn_element_load(type, theirs, cell.value, &cell.whole);
    double size = hypot(cell.value[0], cell.value[1]);
    cell.bound = steps * unit * size;
    double error = atn_eval_error(type, mine, &cell, 0, 0);
    if (error > out->error) out->error = error;
    if (error > 1) say(out, g, &cell, type, mine, error, "against the estimate");
    cell.bound = 4 * sqrt(steps) * unit * size;
    if (atn_eval_error(type, mine, &cell, 0, v->options.tolerance * size) > 1) out->usable = false;
}

/* Too large for the oracle and nothing to sample: compared with the estimate, which was itself verified against the
 * oracle at small shapes. */
static atn_status hold_to_estimate(atn_verifier *v, double run_limit_s, atn_verify_result *out) {
    const atn_graph *g = v->c->graph;
    atn_steps steps;
    atn_bindings frame = atn_stand_frame(v->tuned);
    atn_status status = atn_steps_of(v->ctx, g, &frame, v->c->range_length, &steps);
    atn_variant guess = atn_variant_estimate(g, atn_device_get_info(v->device), NULL);
    enum { MOST = 64 };
    unsigned char mine[MOST][16], theirs[16];
    bool refused;
    for (int32_t o = 0; o < g->n_objects && o < MOST && status == ATN_OK; ++o)
        if (g->objects[o].written) status = atn_stand_element(v->tuned, o, 0, 0, mine[o]);
    if (status == ATN_OK && !v->estimate) {
        const atn_variant plain = atn_variant_plain();
        enter(v, "build", 0);
        status = atn_built_make(v->device, g, &guess, &v->estimate);
        if (status == ATN_ERR_BUILD || status == ATN_ERR_TIMEOUT) /* not the candidate's fault */
            status = atn_built_make(v->device, g, &plain, &v->estimate);
    }
    if (status == ATN_OK) status = run_on(v, v->tuned, v->estimate, run_limit_s * 4, "here", &refused, out);
    for (int32_t o = 0; o < g->n_objects && o < MOST && status == ATN_OK; ++o) {
        if (!g->objects[o].written) continue;
        status = atn_stand_element(v->tuned, o, 0, 0, theirs);
        if (status == ATN_OK) hold_element(v, o, atn_steps_in(&steps, (1u << g->n_dims) - 1), mine[o], theirs, out);
    }
    return status;
}

static atn_status hold_tuned(atn_verifier *v, atn_built *kernel, double run_limit_s, atn_verify_result *out) {
    const atn_graph *g = v->c->graph;
    atn_steps steps;
    atn_bindings frame = atn_stand_frame(v->tuned);
    uint32_t p = 0, all = (1u << g->n_dims) - 1;
    for (int32_t d = 0; d < g->blocks[0].rank && g->blocks[0].n_accs == 0; ++d) p |= 1u << g->blocks[0].dim[d];
    atn_status status = atn_steps_of(v->ctx, g, &frame, v->c->range_length, &steps);
    bool refused;
    double most = (double)TUNED_VALUES / (g->n_values + 1); /* steps that we can afford */
    v->whole = atn_steps_in(&steps, all) <= (p ? most : WHOLE_STEPS);
    if (status == ATN_OK && !v->whole && p && v->n_points == 0)
        v->n_points = choose_points(g, &steps, NULL, atn_steps_in(&steps, all & ~p), most, v->options.seed, v->points);
    const atn_eval_result *oracle = NULL;
    atn_variant plain = atn_variant_plain();
    const atn_device_info *info = atn_device_get_info(v->device);
    atn_eval_options own = atn_variant_arithmetic(g, atn_built_variant(kernel), info);
    atn_eval_options usual = atn_variant_arithmetic(g, &plain, info);
    bool sampled = v->whole || v->n_points > 0;
    if (status == ATN_OK && sampled) status = tuned_answer(v, &own, &oracle);
    if (status == ATN_OK) status = run_on(v, v->tuned, kernel, run_limit_s, "at the tuned shape", &refused, out);
    if (status == ATN_OK && refused) {
        out->outcome = ATN_OUTCOME_BUILD;
        snprintf(out->detail, sizeof out->detail, "%s", atn_ctx_message(v->ctx));
        return ATN_OK;
    }
    if (status != ATN_OK || out->outcome == ATN_OUTCOME_WRONG) return status;
    if (!sampled && !p) status = hold_to_estimate(v, run_limit_s, out);
    if (!sampled || status != ATN_OK) return status;
    if (oracle->bad_accesses == 0) status = compare(v, v->tuned, oracle, 0, "at the tuned shape", &out->error, out);
    if (status == ATN_OK && (v->options.tolerance > 0 || !same_options(&own, &usual))) {
        double off = 0;
        status = tuned_answer(v, &usual, &oracle);
        if (status == ATN_OK) status = compare(v, v->tuned, oracle, v->options.tolerance, "", &off, NULL);
        if (off > 1) out->usable = false;
    }
    if (status == ATN_OK && v->options.reproducible && out->usable)
        status = compare_bits(v, v->tuned, "at the tuned shape", out);
    return status;
}

atn_status atn_verify(atn_verifier *v, atn_built *kernel, double run_limit_s, atn_verify_result *out) {
    atn_verify_shape shapes[ATN_MOST_SHAPES];
    int32_t n = atn_verify_shapes(v->c->graph, atn_built_variant(kernel), shapes);
    *out = (atn_verify_result){.outcome = ATN_OUTCOME_RIGHT, .usable = true};
    atn_status status = ATN_OK;
    v->ran = false;
    for (int32_t k = 0; k < n && status == ATN_OK && out->outcome == ATN_OUTCOME_RIGHT; ++k)
        status = hold_shape(v, kernel, &shapes[k], k, out);
    if (status == ATN_OK && out->outcome == ATN_OUTCOME_RIGHT) status = hold_tuned(v, kernel, run_limit_s, out);
    if (out->outcome != ATN_OUTCOME_RIGHT) out->usable = false;
    return status;
}
