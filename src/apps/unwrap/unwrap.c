/* Unwrapping: checks the input, examines the phase, then weights, solution and the caller's result. */
#include "apps/unwrap/unwrap.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/sized.h"
#include "device/building.h"
#include "num/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PIXELS = 1 << 30 };
/* Radians, by precision: some roundings of a surface of a hundred. */
static const double NEAR[2] = {4e-5, 2e-10};
static const double LOOSE = 5e-4;                   /* of the residual: where weights are made once, or adapted */
static const double SHARPER = 0.6, SHARPEST = 0.01; /* rounds that adapt weights */

/* ---- making ---- */

static atn_status check_size(const atn_ctx *ctx, int64_t width, int64_t height) {
    int64_t pixels;
    if (width < 1 || height < 1 || !atn_i64_mul(width, height, &pixels) || pixels > MOST_PIXELS)
        return atn_fail(ctx, ATN_ERR_INPUT, "unwrap: %lld x %lld pixels; 1 to 2^30 can be unwrapped", (long long)width,
                        (long long)height);
    return ATN_OK;
}

static atn_status check_options(const atn_ctx *ctx, const atn_unwrap_settings *o) {
    if (o->bits != 0 && o->bits != 32 && o->bits != 64)
        return atn_fail(ctx, ATN_ERR_INPUT, "unwrap: %d bits; 32 and 64 are supported", o->bits);
    if ((int)o->method < 0 || o->method > ATN_UNWRAP_METHOD_CG || (int)o->cycle < 0 || o->cycle > ATN_UNWRAP_CYCLE_W ||
        (int)o->smoother < 0 || o->smoother > ATN_UNWRAP_SMOOTHER_JACOBI)
        return atn_fail(ctx, ATN_ERR_INPUT, "unwrap: unknown method, cycle or smoother");
    if (o->before < 0 || o->before > UNWRAP_SWEEPS || o->after < 0 || o->after > UNWRAP_SWEEPS)
        return atn_fail(ctx, ATN_ERR_INPUT, "unwrap: %d and %d sweeps; 1 to %d", o->before, o->after, UNWRAP_SWEEPS);
    if (o->coarsest != 0 && (o->coarsest < 4 || o->coarsest > UNWRAP_COARSEST))
        return atn_fail(ctx, ATN_ERR_INPUT, "unwrap: a coarsest grid of %d pixels; 4 to %d", o->coarsest,
                        UNWRAP_COARSEST);
    return ATN_OK;
}

/* What the caller leaves open the knobs fill. Weights have sweeps of their own, which were found by measurement. */
static void fill_options(atn_unwrap *u, const unwrap_knobs *knobs) {
    atn_unwrap_settings *o = &u->options;
    if (!o->cycle) o->cycle = (atn_unwrap_cycle)knobs->cycle;
    if (!o->smoother) o->smoother = (atn_unwrap_smoother)knobs->smoother;
    if (!o->coarsest) o->coarsest = knobs->coarsest;
    o->no_fuse = o->no_fuse || !knobs->fuse;
    for (int weights = 0; weights < 2; ++weights) {
        u->before[weights] = o->before ? o->before : weights ? 5 : knobs->before;
        u->after[weights] = o->after ? o->after : weights ? 5 : knobs->after;
        if (weights) u->after[1] = u->before[1]; /* conjugate gradients want it symmetric */
    }
}

static atn_status open_frame(atn_unwrap *u) {
    atn_status status = unwrap_array(u, u->type, u->width, u->height, &u->psi);
    if (status == ATN_OK) status = unwrap_array(u, u->type, u->width, u->height, &u->out);
    if (status == ATN_OK) status = unwrap_array(u, ATN_U8, u->width, u->height, &u->mask);
    for (int k = 0; k < UNWRAP_ROWS && status == ATN_OK; ++k)
        status = unwrap_array(u, k < 1 ? ATN_INT32 : u->type, u->height, 0, &u->rows[k]);
    u->masked = true; /* by nothing yet */
    return status;
}

static atn_status open_solver(atn_unwrap *u) {
    const atn_unwrap_settings *o = &u->options;
    unwrap_solver_options how = {.type = u->type,
                                 .width = u->width,
                                 .height = u->height,
                                 .wide = o->cycle == ATN_UNWRAP_CYCLE_W,
                                 .colours = o->smoother == ATN_UNWRAP_SMOOTHER_REDBLACK,
                                 .pairs = !o->no_fuse,
                                 .gradients = o->method != ATN_UNWRAP_METHOD_MULTIGRID,
                                 .coarsest = o->coarsest};
    memcpy(how.before, u->before, sizeof how.before);
    memcpy(how.after, u->after, sizeof how.after);
    return unwrap_solver_open(u->device, &how, &u->solver);
}

atn_status unwrap_open(atn_device *device, int64_t width, int64_t height, const atn_unwrap_settings *options,
                       const unwrap_knobs *knobs, atn_unwrap **out) {
    atn_ctx *ctx = atn_device_ctx(device);
    *out = NULL;
    atn_status status = check_size(ctx, width, height);
    if (status == ATN_OK && options) status = check_options(ctx, options);
    if (status != ATN_OK) return status;
    if (options && options->bits == 64 && !atn_device_get_info(device)->fp64)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "unwrap: %s has no double precision; 32 bits",
                        atn_device_get_info(device)->name);
    atn_unwrap *u = atn_zalloc(ctx, sizeof *u);
    if (!u) return ATN_ERR_MEMORY;
    u->device = device;
    u->ctx = ctx;
    u->width = width;
    u->height = height;
    u->pixels = width * height;
    if (options) u->options = *options;
    if (!u->options.bits) u->options.bits = 32;
    u->type = u->options.bits == 64 ? ATN_DP : ATN_SP;
    unwrap_knobs known;
    if (!knobs)
        status = unwrap_knobs_find(ctx, atn_device_get_info(device), width, height, u->options.bits, &known, u->from,
                                   sizeof u->from);
    fill_options(u, knobs ? knobs : &known);
    if (status == ATN_OK) status = open_solver(u);
    if (status == ATN_OK) status = open_frame(u);
    if (status != ATN_OK) {
        atn_unwrap_free(u);
        return status;
    }
    *out = u;
    return ATN_OK;
}

atn_status atn_unwrap_create(atn_device *device, int64_t width, int64_t height, const atn_unwrap_settings *given,
                             atn_unwrap **out) {
    atn_unwrap_settings settings;
    *out = NULL;
    atn_status status = ATN_TAKE(atn_device_ctx(device), atn_unwrap_settings, given, &settings);
    return status == ATN_OK ? unwrap_open(device, width, height, &settings, NULL, out) : status;
}

void atn_unwrap_free(atn_unwrap *u) {
    if (!u) return;
    unwrap_follow_free(&u->follow);
    unwrap_islands_free(&u->islands);
    unwrap_labels_free(&u->labels);
    unwrap_op *op = (unwrap_op *)&u->ops;
    for (size_t k = 0; k < sizeof u->ops / sizeof *op; ++k) unwrap_op_free(&op[k]);
    unwrap_solver_free(u->solver);
    atn_array *all[] = {u->psi,   u->out,   u->mask, u->quality, u->state, u->surface,
                        u->clean, u->grade, u->wx,   u->wy,      u->inv,   u->u[0]};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    for (int k = 0; k < UNWRAP_ROWS; ++k) atn_array_free(u->rows[k]);
    atn_free(u->ctx, u);
}

const char *atn_unwrap_explain(atn_unwrap *u) {
    bool weights = !unwrap_solver_is_plain(u->solver);
    unwrap_coarsest last = unwrap_solver_coarsest(u->solver, weights);
    snprintf(u->explained, sizeof u->explained,
             "%lld x %lld pixels in %d bits: %d grids down to %lld x %lld, which is solved by its inverse; %s-cycles "
             "with %d + %d sweeps%s%s, %d + %d where there are weights. Knobs: %s.",
             (long long)u->width, (long long)u->height, u->options.bits, last.levels, (long long)last.width,
             (long long)last.height, u->options.cycle == ATN_UNWRAP_CYCLE_W ? "W" : "V", u->before[0], u->after[0],
             u->options.smoother == ATN_UNWRAP_SMOOTHER_REDBLACK ? " of two colours" : "",
             u->options.no_fuse ? "" : ", two a kernel", u->before[1], u->after[1], u->from);
    return u->explained;
}

/* ---- a frame ---- */

static atn_status check_settings(const atn_unwrap *u, const atn_unwrap_solve_settings *s) {
    if ((int)s->weights < 0 || s->weights > ATN_UNWRAP_WEIGHTS_ONCE || (int)s->remove < 0 ||
        s->remove > ATN_UNWRAP_REMOVE_TILT)
        return atn_fail(u->ctx, ATN_ERR_INPUT, "unwrap: unknown weights, or unknown terms to remove");
    if (!(s->tolerance >= 0) || !(s->tolerance < 1))
        return atn_fail(u->ctx, ATN_ERR_INPUT, "unwrap: a tolerance of %g; from 0 to below 1", s->tolerance);
    if (s->most_cycles < 0) return atn_fail(u->ctx, ATN_ERR_INPUT, "unwrap: %d cycles; 1 or more", s->most_cycles);
    return ATN_OK;
}

typedef struct frame {
    const atn_unwrap_solve_settings *settings; /* defaults filled in */
    double tolerance;
    int32_t most;
    bool torn; /* the wrapped differences do not add up around every corner and hole */
    bool weights, warm;
    bool many;           /* weights are adapted */
    bool known;          /* the answer is psi and whole turns, without a solution */
    bool followed;       /* and is there already */
    bool labelled;       /* the islands are known, and: */
    atn_array *surface;  /* the phase with turns */
    atn_array *known_as; /* where it is */
    unwrap_progress progress;
} frame;

static unwrap_image image_of(const atn_unwrap *u) {
    return (unwrap_image){u->device, u->width, u->height, u->type, u->psi, u->mask, u->out, u->least};
}

/* The islands; and the phase with turns: as the answer, unless more is to be done with it. */
static atn_status label(atn_unwrap *u, frame *f) {
    unwrap_image image = image_of(u);
    if (f->labelled) return ATN_OK;
    f->labelled = true;
    f->surface = u->out;
    atn_status status = ATN_OK;
    if (f->settings->remove != ATN_UNWRAP_REMOVE_NOTHING) {
        status = unwrap_array(u, u->type, u->width, u->height, &u->surface);
        f->surface = u->surface;
    }
    return status == ATN_OK ? unwrap_labels_find(&u->labels, &image, f->surface) : status;
}

/* What there is to unwrap; and the answer at once, where nothing has to be solved. Masks are given where holes are. */
static atn_status survey(atn_unwrap *u, frame *f, atn_unwrap_result *result) {
    bool masked = f->settings->mask || f->settings->mask_array || u->least > 1;
    unwrap_image image = image_of(u);
    atn_status status = masked ? label(u, f) : unwrap_follow_turns(&u->follow, &image, (const double[3]){0});
    result->valid = masked ? u->labels.valid : u->follow.valid;
    result->residues = masked ? u->labels.residues : u->follow.residues;
    return status;
}

/* What the caller leaves open: without residues plain least squares has no reason to fail. Where the wrapped
 * differences add up around every corner and hole, the phase with the turns that lie between neighbours fits all of
 * them: it is the answer of least squares, whatever the weights. */
static atn_status choose(atn_unwrap *u, atn_unwrap_solve_settings *s, frame *f, atn_unwrap_result *result) {
    bool holes = u->least > 1 || result->valid < u->pixels;
    atn_status status = ATN_OK;
    if (s->unwrapped) return ATN_OK;
    if (holes) status = label(u, f);
    f->torn = result->residues > 0 || (holes && !u->labels.adds_up);
    if (s->weights == ATN_UNWRAP_WEIGHTS_DEFAULT) {
        s->weights = f->torn ? ATN_UNWRAP_WEIGHTS_AUTO : ATN_UNWRAP_WEIGHTS_NONE;
        s->congruent = s->congruent || f->torn;
    }
    f->many = s->weights == ATN_UNWRAP_WEIGHTS_AUTO && f->torn;
    bool asked = s->weights == ATN_UNWRAP_WEIGHTS_VARIANCE || (s->weights > ATN_UNWRAP_WEIGHTS_NONE && f->torn);
    result->weighted = asked || holes || u->options.method == ATN_UNWRAP_METHOD_CG;
    result->smeared = f->torn && s->weights == ATN_UNWRAP_WEIGHTS_NONE;
    f->weights = result->weighted || !unwrap_solver_is_plain(u->solver); /* few pixels, or thin: all count alike */
    f->known = !f->torn && u->options.method == ATN_UNWRAP_METHOD_AUTO;
    f->followed = f->known && !f->labelled;
    if (f->known) f->known_as = f->followed ? u->out : f->surface;
    return status;
}

static atn_status solve_once(atn_unwrap *u, const frame *f, bool from_last, double tolerance, unwrap_progress *p) {
    const unwrap_system system = unwrap_weights_system(u);
    u->place = f->weights ? 0 : 2;
    return f->weights ? unwrap_solver_weighted(u->solver, &system, from_last, tolerance, f->most, p)
                      : unwrap_solver_plain(u->solver, u->psi, from_last, tolerance, f->most, p);
}

/* Few cuts: what does not fit the last answer counts less in the next one, w / (1 + (misfit / bend)^2), more sharply
 * from round to round, so that what does not fit gathers on few edges. No round has to be exact. */
static atn_status adapt(atn_unwrap *u, const frame *f, atn_unwrap_result *result, unwrap_progress *p) {
    atn_status status = ATN_OK;
    double bend = acos(-1.0);
    for (int k = 0; k < UNWRAP_ROUNDS && status == ATN_OK; ++k) {
        status = atn_tell_progress(u->ctx, "solving", k + 1, UNWRAP_ROUNDS + 1);
        if (status == ATN_OK) status = unwrap_edges(u, bend);
        if (status == ATN_OK) status = solve_once(u, f, true, LOOSE, p);
        ++result->solutions;
        bend = fmax(bend * SHARPER, SHARPEST);
    }
    return status;
}

static atn_status solve(atn_unwrap *u, frame *f, atn_unwrap_result *result) {
    double start = atn_clock_seconds();
    atn_status status = atn_tell_progress(u->ctx, "solving", 0, f->many ? UNWRAP_ROUNDS + 1 : 1);
    if (status == ATN_OK && f->weights) status = unwrap_grade(u, f->settings);
    if (status == ATN_OK && f->weights) status = unwrap_edges(u, 0);
    double ready = atn_clock_seconds();
    result->setup_seconds += ready - start;
    if (status == ATN_OK) status = solve_once(u, f, f->warm, f->many ? LOOSE : f->tolerance, &f->progress);
    result->solutions = 1;
    if (status == ATN_OK && f->many) status = adapt(u, f, result, &f->progress);
    result->solve_seconds += atn_clock_seconds() - ready;
    return status;
}

static void tell(const atn_unwrap *u, const frame *f, atn_unwrap_result *result) {
    const unwrap_progress *p = &f->progress;
    bool finite = isfinite(p->reached) && isfinite(result->residual_rms);
    result->converged = finite && (p->converged || p->rounding || f->known);
    result->residual = p->reached;
    result->cycles = p->cycles;
    if (!finite)
        snprintf(result->reason, sizeof result->reason, "the result is not finite in %d bits; phase must be in radians",
                 u->options.bits);
    else if (!result->converged)
        snprintf(result->reason, sizeof result->reason,
                 "the relative residual is %.3g after %d cycles; the tolerance is %.3g", p->reached, p->cycles,
                 f->tolerance);
    else if (f->many && f->settings->congruent && !f->known)
        snprintf(result->reason, sizeof result->reason,
                 "the search for the shortest cuts was stopped: shorter ones may exist");
    else if (result->smeared)
        snprintf(
            result->reason, sizeof result->reason,
            "%lld residues%s: least squares without weights spreads the misfit over the surface; weights auto puts "
            "it on cuts",
            (long long)result->residues, result->residues ? "" : ", but differences around holes do not add up");
    else if (p->rounding)
        snprintf(result->reason, sizeof result->reason,
                 "the relative residual of %.3g is limited by rounding in %d bits", p->reached, u->options.bits);
    else if (result->islands > 1)
        snprintf(result->reason, sizeof result->reason,
                 "%lld islands, solved separately: heights between them are unknown", (long long)result->islands);
}

static atn_status nothing(atn_unwrap *u, atn_unwrap_result *result) {
    void *to;
    atn_status status = atn_array_map_write(u->out, &to);
    for (int64_t k = 0; k < u->pixels && status == ATN_OK; ++k)
        if (u->type == ATN_DP)
            ((double *)to)[k] = NAN;
        else
            ((float *)to)[k] = NAN;
    snprintf(result->reason, sizeof result->reason, "no pixel is valid: all are masked or not finite");
    return status;
}

/* What is known of the phase with turns since islands were looked for: it differs from the phase by whole turns. */
static void report_surface(const unwrap_labels *l, atn_unwrap_result *result) {
    result->residual_rms = l->pairs > 0 ? sqrt(l->squares / (double)l->pairs) : 0;
    result->cut_length = l->cuts;
}

/* Where there are holes or cuts: each island has its own angle and piston. */
static atn_status finish_islands(atn_unwrap *u, const frame *f, atn_unwrap_result *result) {
    const atn_unwrap_solve_settings *s = f->settings;
    unwrap_image image = image_of(u);
    unwrap_shape shape = {
        .u = f->known ? f->known_as : unwrap_answer(u), .known = f->known, .congruent = f->known || s->congruent};
    double plane[3] = {0};
    atn_status status = ATN_OK;
    if (shape.u != u->out) status = unwrap_islands_write(&u->islands, &image, &u->labels, &shape);
    if (f->known && f->known_as == f->surface)
        report_surface(&u->labels, result);
    else if (status == ATN_OK)
        status = unwrap_report(u, shape.congruent, result);
    result->islands = u->labels.islands;
    if (status != ATN_OK || s->remove == ATN_UNWRAP_REMOVE_NOTHING) return status;
    if (s->remove == ATN_UNWRAP_REMOVE_TILT) status = unwrap_plane_of(u, true, plane);
    shape.level = true;
    shape.tilt[0] = plane[1];
    shape.tilt[1] = plane[2];
    return status == ATN_OK ? unwrap_islands_write(&u->islands, &image, &u->labels, &shape) : status;
}

/* What was written when the frame was looked at; once more where a plane is to be taken off. */
static atn_status finish_followed(atn_unwrap *u, const atn_unwrap_solve_settings *s, atn_unwrap_result *result) {
    const unwrap_follow *f = &u->follow;
    unwrap_image image = image_of(u);
    double plane[3];
    result->islands = 1;
    result->cut_length = f->cuts;
    result->residual_rms = f->pairs > 0 ? sqrt(f->squares / (double)f->pairs) : 0;
    if (s->remove == ATN_UNWRAP_REMOVE_NOTHING) return ATN_OK;
    atn_status status = unwrap_plane_of(u, s->remove == ATN_UNWRAP_REMOVE_TILT, plane);
    return status == ATN_OK ? unwrap_follow_turns(&u->follow, &image, plane) : status;
}

/* The shortest cuts, or a solution. */
static atn_status find_answer(atn_unwrap *u, frame *f, atn_unwrap_result *result) {
    const atn_unwrap_solve_settings *s = f->settings;
    double ready = atn_clock_seconds();
    atn_status status = ATN_OK;
    if (f->many && s->congruent) {
        status = atn_tell_progress(u->ctx, "searching the shortest cuts", 0, 0);
        if (status == ATN_OK) status = label(u, f);
        if (status == ATN_OK) status = unwrap_array(u, u->type, u->width, u->height, &u->surface);
        if (status == ATN_OK) status = unwrap_shortest(u, u->surface, &f->known);
        f->known_as = u->surface;
        result->shortest = f->known;
    }
    result->solve_seconds = atn_clock_seconds() - ready;
    if (status != ATN_OK || f->known) return status;
    status = solve(u, f, result);
    u->solved = status == ATN_OK && (f->progress.converged || f->progress.rounding);
    return status;
}

/* psi is there; out is filled. */
static atn_status unwrap_frame(atn_unwrap *u, atn_unwrap_solve_settings *s, atn_unwrap_result *result) {
    frame f = {.settings = s, .known = s->unwrapped, .known_as = u->psi};
    double start = atn_clock_seconds();
    f.tolerance = s->tolerance > 0                        ? s->tolerance
                  : s->weights == ATN_UNWRAP_WEIGHTS_ONCE ? LOOSE
                  : u->type == ATN_DP                     ? 1e-10
                                                          : 1e-5;
    if (!(s->tolerance > 0)) f.progress.within = NEAR[u->type == ATN_DP];
    f.most = s->most_cycles ? s->most_cycles : 100;
    atn_status status = atn_tell_progress(u->ctx, "looking for residues", 0, 0);
    if (status == ATN_OK) status = survey(u, &f, result);
    if (status == ATN_OK && result->valid == 0) return nothing(u, result);
    if (status == ATN_OK) status = choose(u, s, &f, result);
    result->setup_seconds = atn_clock_seconds() - start;
    if (status != ATN_OK) return status;
    f.warm = s->warm && u->solved && f.weights == (u->place < 2); /* the two kinds keep their answers apart */
    u->solved = false;
    if (!f.known) status = find_answer(u, &f, result);
    double solved = atn_clock_seconds();
    if (status == ATN_OK) status = atn_tell_progress(u->ctx, "finishing", 0, 0);
    bool apart = f.known || result->valid < u->pixels || u->least > 1;
    if (status == ATN_OK && apart && !f.followed) status = label(u, &f);
    if (status == ATN_OK)
        status = f.followed ? finish_followed(u, s, result)
                 : apart    ? finish_islands(u, &f, result)
                            : unwrap_finish(u, s, result);
    if (status != ATN_OK) return status;
    tell(u, &f, result);
    u->solved = u->solved && result->converged;
    result->finish_seconds = atn_clock_seconds() - solved;
    return ATN_OK;
}

static atn_status solve_frame(atn_unwrap *u, const unwrap_arrays *given, const void *phase,
                              const atn_unwrap_solve_settings *settings, void *out, atn_unwrap_result *result) {
    atn_unwrap_solve_settings s = *settings;
    atn_status status = unwrap_arrays_take(u, given, phase, &s);
    if (status == ATN_OK) status = unwrap_frame(u, &s, result);
    if (status == ATN_OK && out) status = atn_array_get(u->out, out, 0);
    unwrap_arrays_return(u);
    return status;
}

/* What the caller gave, and room for what he gets. */
static atn_status take(const atn_unwrap *u, const atn_unwrap_solve_settings *given, const atn_unwrap_result *result,
                       atn_unwrap_solve_settings *settings) {
    atn_status status = ATN_CHECK_OUT(u->ctx, atn_unwrap_result, result);
    return status == ATN_OK ? ATN_TAKE(u->ctx, atn_unwrap_solve_settings, given, settings) : status;
}

static atn_status check_array(const atn_unwrap *u, const atn_array *array, atn_type type, const char *what) {
    if (!array) return ATN_OK;
    if (atn_array_device(array) != u->device)
        return atn_fail(u->ctx, ATN_ERR_INPUT, "unwrap: the %s is on another device", what);
    if (array->rank == 2 && array->type == type && array->size[0] == u->width && array->size[1] == u->height)
        return ATN_OK;
    return atn_fail(u->ctx, ATN_ERR_INPUT, "unwrap: the %s is %lld x %lld of %s; %lld x %lld of %s is expected", what,
                    (long long)array->size[0], (long long)array->size[1], atn_type_name(array->type),
                    (long long)u->width, (long long)u->height, atn_type_name(type));
}

static atn_status check_arrays(const atn_unwrap *u, const unwrap_arrays *a, const atn_unwrap_solve_settings *s) {
    if ((a->mask && s->mask) || (a->quality && s->quality))
        return atn_fail(u->ctx, ATN_ERR_INPUT,
                        "unwrap: a mask or a quality is given twice: in host memory and as an array");
    atn_status status = check_array(u, a->psi, u->type, "phase");
    if (status == ATN_OK) status = check_array(u, a->out, u->type, "answer");
    if (status == ATN_OK) status = check_array(u, a->mask, ATN_U8, "mask");
    return status == ATN_OK ? check_array(u, a->quality, u->type, "quality") : status;
}

atn_status atn_unwrap_solve(atn_unwrap *u, const void *phase, const atn_unwrap_solve_settings *settings, void *out,
                            atn_unwrap_result *result) {
    atn_unwrap_solve_settings s;
    atn_unwrap_result all = {0};
    double start = atn_clock_seconds() - atn_building_seconds();
    atn_status status = take(u, settings, result, &s);
    if (status != ATN_OK) return status;
    unwrap_arrays given = {.mask = s.mask_array, .quality = s.quality_array};
    status = check_settings(u, &s);
    if (status == ATN_OK) status = check_arrays(u, &given, &s);
    if (status == ATN_OK) status = solve_frame(u, &given, phase, &s, out, &all);
    all.seconds = atn_clock_seconds() - atn_building_seconds() - start;
    ATN_GIVE(u->ctx, atn_unwrap_result, &all, result);
    return status;
}

static bool has_gaps(const atn_array *array) { return array->pitch != array->size[0]; }

static void *row_at(void *first, const atn_array *array, int64_t row) {
    return (char *)first + (size_t)(row * array->pitch) * atn_type_bytes(array->type);
}

/* Rows that do not lie side by side go through the host. */
static atn_status copy_gaps(atn_array *from, atn_array *to) {
    union {
        const void *read;
        void *first;
    } elements;
    void *place;
    atn_status status = atn_array_map_read(from, &elements.read);
    if (status == ATN_OK) status = atn_array_map_write(to, &place);
    for (int64_t j = 0; j < from->size[1] && status == ATN_OK; ++j)
        memcpy(row_at(place, to, j), row_at(elements.first, from, j),
               (size_t)from->size[0] * atn_type_bytes(from->type));
    return status;
}

static atn_status copy_array(atn_unwrap *u, atn_array *from, atn_array *to) {
    if (has_gaps(from) || has_gaps(to)) return copy_gaps(from, to);
    atn_status status = atn_array_ready_device(from, false);
    if (status == ATN_OK) status = atn_array_ready_device(to, true);
    if (status != ATN_OK) return status;
    atn_slot source = atn_array_slot(from), target = atn_array_slot(to);
    size_t element = atn_type_bytes(from->type);
    status = atn_buffer_copy(NULL, target.buffer, (size_t)target.offset * element, source.buffer,
                             (size_t)source.offset * element, (size_t)u->pixels * element);
    if (status == ATN_OK) atn_array_written_on_device(to);
    return status;
}

/* An array with gaps, as one of ours. */
static atn_status close_gaps(atn_unwrap *u, atn_array *own, atn_array **array) {
    if (!*array || !has_gaps(*array)) return ATN_OK;
    atn_status status = copy_array(u, *array, own);
    *array = own;
    return status;
}

atn_status atn_unwrap_solve_array(atn_unwrap *u, atn_array *phase, const atn_unwrap_solve_settings *settings,
                                  atn_array *out, atn_unwrap_result *result) {
    atn_unwrap_solve_settings s;
    atn_unwrap_result all = {0};
    double start = atn_clock_seconds() - atn_building_seconds();
    atn_status status = take(u, settings, result, &s);
    if (status != ATN_OK) return status;
    unwrap_arrays given = {phase, out, s.mask_array, s.quality_array};
    status = check_settings(u, &s);
    if (status == ATN_OK) status = check_arrays(u, &given, &s);
    if (status == ATN_OK) status = close_gaps(u, u->psi, &given.psi);
    if (status == ATN_OK && given.mask && has_gaps(given.mask)) {
        u->masked = true;
        status = close_gaps(u, u->mask, &given.mask);
    }
    if (status == ATN_OK && given.quality && has_gaps(given.quality)) {
        u->plain_quality = false;
        status = unwrap_array(u, u->type, u->width, u->height, &u->quality);
        if (status == ATN_OK) status = close_gaps(u, u->quality, &given.quality);
    }
    if (status == ATN_OK && (has_gaps(out) || atn_array_overlaps(phase, out))) given.out = u->out;
    if (status == ATN_OK) status = solve_frame(u, &given, NULL, &s, NULL, &all);
    if (status == ATN_OK && given.out != out) status = copy_array(u, given.out, out);
    all.seconds = atn_clock_seconds() - atn_building_seconds() - start;
    ATN_GIVE(u->ctx, atn_unwrap_result, &all, result);
    return status;
}
