/* The programs of the solver: opened when needed, given their parameters, run, and checked by their residuals. */
#include "apps/unwrap/solve.h"

#include "apps/unwrap/bound.h"
#include "apps/unwrap/direct.h"
#include "apps/unwrap/smooth.h"
#include "base/memory.h"
#include "device/device.h"
#include "plan/give.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 9, TRIED = 16 /* frames after which a warm start is tried again */ };
static const double FAR = 10; /* a warm start that is that much farther off than wanted was none */
/* A cycle that leaves more than that of the residual meets rounding; with weights cycles are slower. */
static const double STALLED[2] = {0.6, 0.95};
/* By precision: radians above which a move is no rounding; the same of residuals, of a flat start's; how far conjugate
 * gradients follow the residual that they carry along. */
static const double SMALL[2] = {1e-2, 1e-8}, ROUNDING[2] = {0.05, 1e-9}, FLOOR[2] = {1e-4, 1e-12};

struct unwrap_solver {
    atn_device *device;
    atn_ctx *ctx;
    unwrap_solver_options how;
    unwrap_coarsest coarsest[2]; /* without and with weights */
    unwrap_grid grid;
    atn_array *inverse[2], *cx, *cy; /* of the coarsest grids; the weights of the second one */
    atn_array *now[2];               /* what a run leaves, without and with weights */
    atn_program *plain[2][2];        /* [by the residual][warm] */
    atn_program *weighted[2];        /* [warm] */
    atn_program *down;               /* weights of the coarsest grid */
    int32_t cold;                    /* frames that need not try a warm start */
};

/* ---- making ---- */

static atn_status open_arrays(unwrap_solver *s) {
    const unwrap_solver_options *o = &s->how;
    atn_status status = ATN_OK;
    for (int k = 0; k < 2 && status == ATN_OK; ++k)
        status = unwrap_array_make(s->device, o->type, NUMBERS, 0, &s->now[k]);
    if (status != ATN_OK || !unwrap_solver_is_plain(s)) return status;
    const unwrap_coarsest *c = &s->coarsest[0];
    const unwrap_edge_weights alike = {.type = o->type, .share_x = c->share_x, .share_y = c->share_y};
    status = unwrap_grid_open(s->device, o->type, o->width, o->height, &s->grid);
    return status == ATN_OK ? unwrap_inverse(s->device, c->width, c->height, &alike, &s->inverse[0]) : status;
}

atn_status unwrap_solver_open(atn_device *device, const unwrap_solver_options *options, unwrap_solver **out) {
    atn_ctx *ctx = atn_device_ctx(device);
    *out = NULL;
    unwrap_solver *s = atn_zalloc(ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    s->device = device;
    s->ctx = ctx;
    s->how = *options;
    s->coarsest[0] = unwrap_coarsest_plain(options->width, options->height, options->coarsest);
    s->coarsest[1] = unwrap_coarsest_weighted(options->width, options->height, options->coarsest);
    atn_status status = open_arrays(s);
    if (status == ATN_OK)
        *out = s;
    else
        unwrap_solver_free(s);
    return status;
}

/* Their memory may hold what is not finite, which a later frame's frames must not. */
static void forget_programs(unwrap_solver *s) {
    atn_program **all[] = {&s->plain[0][0], &s->plain[0][1], &s->plain[1][0], &s->plain[1][1],
                           &s->weighted[0], &s->weighted[1], &s->down};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        atn_program_free(*all[k]);
        *all[k] = NULL;
    }
}

void unwrap_solver_free(unwrap_solver *s) {
    if (!s) return;
    forget_programs(s);
    unwrap_grid_close(&s->grid);
    atn_array *all[] = {s->inverse[0], s->inverse[1], s->cx, s->cy, s->now[0], s->now[1]};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    atn_free(s->ctx, s);
}

bool unwrap_solver_is_plain(const unwrap_solver *s) {
    return s->coarsest[0].levels > 1 && unwrap_coarsest_fits(&s->coarsest[0]);
}

unwrap_coarsest unwrap_solver_coarsest(const unwrap_solver *s, bool weights) { return s->coarsest[weights]; }

atn_array *unwrap_solver_answer(const unwrap_solver *s) { return s->grid.answer; }

/* ---- running ---- */

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The first time it is made; arrays and numbers may be others each time. */
static atn_status run(const unwrap_solver *s, const char *name, const atn_named_array *arrays, size_t n_arrays,
                      const atn_named_number *numbers, size_t n_numbers, atn_program **program) {
    atn_status status = atn_program_make(s->device, name, s->how.type, ATN_ANY_SIZE, program);
    if (status == ATN_OK) status = atn_program_give(*program, arrays, n_arrays, numbers, n_numbers);
    return status == ATN_OK ? atn_program_run(*program) : status;
}

/* What it left; what is not finite is forgotten. */
static atn_status look(unwrap_solver *s, bool weights, double out[NUMBERS]) {
    const void *at;
    atn_status status = atn_array_map_read(s->now[weights], &at);
    for (int k = 0; k < NUMBERS && status == ATN_OK; ++k)
        out[k] = s->how.type == ATN_DP ? ((const double *)at)[k] : (double)((const float *)at)[k];
    if (status == ATN_OK && !isfinite(out[0])) forget_programs(s);
    return status;
}

static atn_status run_plain(unwrap_solver *s, atn_array *psi, bool warm, double tolerance, int32_t most,
                            const unwrap_progress *p, double now[NUMBERS]) {
    const unwrap_solver_options *o = &s->how;
    bool fine = o->type == ATN_DP, jacobi = !o->colours;
    double low_b = unwrap_low(false, false, o->before[0]), low_a = unwrap_low(false, true, o->after[0]);
    const atn_named_array arrays[] = {{"psi", psi},          {"X", s->grid.x},
                                      {"Y", s->grid.y},      {"inverse", s->inverse[0]},
                                      {"u", s->grid.framed}, {"now", s->now[0]}};
    const atn_named_number numbers[] = {{"warm", warm},
                                        {"most", most},
                                        {"within", p->within},
                                        {"far", warm ? FAR * p->within : INFINITY},
                                        {"small", SMALL[fine]},
                                        {"tolerance", tolerance},
                                        {"rounding", ROUNDING[fine]},
                                        {"before", o->before[0]},
                                        {"after", o->after[0]},
                                        {"b1", unwrap_relax(low_b, false, 0, o->before[0])},
                                        {"b2", unwrap_relax(low_b, false, 1, o->before[0])},
                                        {"a1", unwrap_relax(low_a, true, 0, o->after[0])},
                                        {"a2", unwrap_relax(low_a, true, 1, o->after[0])},
                                        {"low_b", low_b},
                                        {"low_a", low_a},
                                        {"coarsest", o->coarsest},
                                        {"pairs", o->pairs && jacobi},
                                        {"colours", o->colours},
                                        {"wide", o->wide}};
    atn_status status =
        run(s, "unwrap_plain", arrays, COUNT(arrays), numbers, COUNT(numbers), &s->plain[!(p->within > 0)][warm]);
    return status == ATN_OK ? look(s, false, now) : status;
}

/* Is it there, or can it not come nearer? By the squares of residuals: now, of a flat start, and before. */
static void judge(const unwrap_solver *s, bool weights, const double now[NUMBERS], double tolerance,
                  unwrap_progress *p) {
    double rounding = ROUNDING[s->how.type == ATN_DP];
    int32_t rounds = now[1] > 0 ? (int32_t)now[3] : 0; /* a flat phase takes none */
    p->flat = sqrt(now[1]);
    p->reached = now[1] > 0 ? sqrt(now[0] / now[1]) : now[0];
    if (p->within > 0 && !weights) {
        p->off = now[4];
        p->converged = p->off < p->within;
        p->rounding = !p->converged && now[5] > 0;
        p->cycles += rounds > 0 ? rounds - 1 : 0;
        return;
    }
    p->converged = p->reached <= tolerance;
    p->rounding =
        !p->converged && now[2] > 0 && sqrt(now[0]) > STALLED[weights] * sqrt(now[2]) && p->reached < rounding;
    p->cycles += rounds;
}

/* A full start is worth about two cycles: where the last answer turns out to be farther off than they mend, this frame
 * starts anew, and so do the next ones, without trying. */
atn_status unwrap_solver_plain(unwrap_solver *s, atn_array *psi, bool warm, double tolerance, int32_t most,
                               unwrap_progress *p) {
    double now[NUMBERS] = {0};
    if (s->cold > 0 && p->within > 0) warm = false;
    if (s->cold > 0) --s->cold;
    atn_status status = run_plain(s, psi, warm, tolerance, most, p, now);
    if (status == ATN_OK) judge(s, false, now, tolerance, p);
    if (status != ATN_OK || !warm || !(p->within > 0) || !(p->off > FAR * p->within)) return status;
    s->cold = TRIED;
    status = run_plain(s, psi, false, tolerance, most, p, now);
    if (status == ATN_OK) judge(s, false, now, tolerance, p);
    return status;
}

/* ---- with weights ---- */

atn_status unwrap_solver_weights(unwrap_solver *s, const unwrap_system *system) {
    const unwrap_coarsest *c = &s->coarsest[1];
    unwrap_edge_weights edges = {.type = s->how.type};
    bool several = c->levels > 1;
    atn_status status = unwrap_array_make(s->device, s->how.type, c->width, c->height, &s->cx);
    if (status == ATN_OK) status = unwrap_array_make(s->device, s->how.type, c->width, c->height, &s->cy);
    if (status != ATN_OK) return status;
    if (several)
        status =
            run(s, "unwrap_coarsest", ATN_ARRAYS({"wx", system->wx}, {"wy", system->wy}, {"cx", s->cx}, {"cy", s->cy}),
                ATN_NUMBERS({"coarsest", s->how.coarsest}), &s->down);
    if (status == ATN_OK) status = atn_array_map_read(several ? s->cx : system->wx, &edges.x);
    if (status == ATN_OK) status = atn_array_map_read(several ? s->cy : system->wy, &edges.y);
    return status == ATN_OK ? unwrap_inverse(s->device, c->width, c->height, &edges, &s->inverse[1]) : status;
}

atn_status unwrap_solver_weighted(unwrap_solver *s, const unwrap_system *system, bool warm, double tolerance,
                                  int32_t most, unwrap_progress *p) {
    const unwrap_solver_options *o = &s->how;
    bool fine = o->type == ATN_DP;
    int32_t n = o->before[1];
    double low = unwrap_low(true, false, n), now[NUMBERS] = {0};
    const atn_named_array arrays[] = {{"psi", system->psi}, {"inv", system->inv},       {"wx", system->wx},
                                      {"wy", system->wy},   {"inverse", s->inverse[1]}, {"u", system->u},
                                      {"now", s->now[1]}};
    const atn_named_number numbers[] = {{"warm", warm},
                                        {"gradients", o->gradients},
                                        {"most", most},
                                        {"tolerance", tolerance},
                                        {"floor", FLOOR[fine]},
                                        {"rounding", ROUNDING[fine]},
                                        {"n", n},
                                        {"o1", unwrap_relax(low, false, 0, n)},
                                        {"o2", unwrap_relax(low, false, 1, n)},
                                        {"oa", unwrap_relax(low, true, 0, n)},
                                        {"low", low},
                                        {"coarsest", o->coarsest},
                                        {"wide", o->wide}};
    atn_status status = run(s, "unwrap_weighted", arrays, COUNT(arrays), numbers, COUNT(numbers), &s->weighted[warm]);
    if (status == ATN_OK) status = look(s, true, now);
    if (status == ATN_OK) judge(s, true, now, tolerance, p);
    return status;
}
