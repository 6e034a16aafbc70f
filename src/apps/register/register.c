/* The public call: checks, normalised frames, the method, and the assessment of the result. */
#include "apps/register/beside.h"
#include "apps/register/distribute.h"
#include "apps/register/helpers.h"
#include "apps/register/rescue.h"
#include "apps/register/seek.h"
#include "apps/register/share.h"
#include "apps/register/surface.h"
#include "apps/register/workplace.h"

#include "base/clock.h"
#include "base/compare.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "kernel/kernel.h"
#include "num/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    reg_method *run;
    const char *name;
    double sigma_factor; /* of sigma squared; 0: has none */
    double sigma_end;    /* of the target's spacing */
    int32_t most_iterations;
} METHODS[] = {
    [ATN_REGISTER_EM_ICP] = {reg_em_icp, "em-icp", 0.85, 0.5, 400},
    [ATN_REGISTER_ICP] = {reg_icp, "icp", 0, 1, 200},
    [ATN_REGISTER_ICP_PLANE] = {reg_icp_plane, "icp-plane", 0, 1, 200},
    [ATN_REGISTER_SOFTASSIGN] = {reg_softassign, "softassign", 0.95, 1, 500},
    [ATN_REGISTER_CPD] = {reg_cpd, "cpd", 0, 0.1, 200},
    [ATN_REGISTER_GICP] = {reg_gicp, "gicp", 0, 1, 200},
};

static const double START[] = {/* of the unit: how far a start may be from the answer */
                               [ATN_START_IDENTITY] = 0.12,
                               [ATN_START_GIVEN] = 0.3,
                               [ATN_START_AUTO] = 0.05};

/* What the caller left open, from the data. Lengths in the caller's unit. */
static void fill_in(atn_register_settings *s, reg_problem *p) {
    static const double FAR = 2.0; /* of sigma_end */
    if (s->init == ATN_START_DEFAULT) s->init = s->compat ? ATN_START_IDENTITY : ATN_START_AUTO;
    if (!s->precision) s->precision = 32;
    if (!(s->error_bound > 0)) s->error_bound = 1e-4;
    p->open_end = !(s->sigma_end > 0);
    p->polished = reg_is_polished(s);
    p->surveyed = reg_is_surveyed(s);
    p->planes = reg_takes_planes(s, p->target_cloud);
    p->open_far = !(s->outlier_distance > 0);
    if (!(s->sigma_end > 0)) s->sigma_end = fmax(METHODS[s->method].sigma_end * p->spacing, 1e-6) * p->unit;
    p->open_start = !(s->sigma_start > 0);
    if (!(s->sigma_start > 0)) s->sigma_start = fmax(START[s->init] * p->unit, s->sigma_end);
    if (!(s->outlier_distance > 0)) s->outlier_distance = FAR * s->sigma_end;
    p->far = s->outlier_distance / p->unit;
    if (!(s->sigma_factor > 0)) s->sigma_factor = METHODS[s->method].sigma_factor;
    if (!s->most_iterations) s->most_iterations = METHODS[s->method].most_iterations;
}

/* Few points are looked at, for a start, as they come: beside their being sorted. */
static atn_status take_clouds(reg_problem *p, const atn_register_settings *settings) {
    atn_status status = reg_read_clouds(p, settings);
    bool anywhere = settings->init == ATN_START_DEFAULT || settings->init == ATN_START_AUTO;
    if (status == ATN_OK && (anywhere || settings->transform == ATN_TRANSFORM_RIGID)) reg_scene_early(p);
    if (status == ATN_OK) status = reg_take_clouds(p, settings);
    if (!p->as_given) reg_given_free(p);
    return status;
}

static atn_status set_up(reg_problem *p, atn_register_settings *settings) {
    atn_status status = p->source_rows ? reg_take_rows(p) : take_clouds(p, settings);
    size_t counts[2] = {p->source_count, p->target_count};
    if (status == ATN_OK && p->halved) status = reg_fitness_begin(p); /* all of it is known */
    if (status == ATN_OK) status = reg_levels_begin(p, reg_fitness_end);
    if (counts[0] != p->source_count || counts[1] != p->target_count) reg_scene_end(p); /* of points that crowd */
    if (status != ATN_OK) return status;
    fill_in(settings, p);
    if (settings->init == ATN_START_GIVEN) reg_straighten(settings);
    static const double IDENTITY[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    reg_to_inside(p, settings->init == ATN_START_GIVEN ? settings->start : IDENTITY, &p->pose);
    return ATN_OK;
}

/* ---- the result ---- */

static atn_status note_profile(const reg_problem *p, atn_register_result *r) {
    const reg_engine *e = &p->engine;
    for (int k = 0; k < REG_WORKS; ++k) {
        if (k == REG_BUILD || !e->calls[k] || r->profile_count == ATN_REGISTER_MOST_PROFILE) continue;
        int32_t at = r->profile_count++;
        for (; at > 0 && r->profile[at - 1].seconds < e->seconds[k]; --at) r->profile[at] = r->profile[at - 1];
        snprintf(r->profile[at].name, sizeof r->profile[at].name, "%s", reg_work_name(k));
        r->profile[at].calls = e->calls[k];
        r->profile[at].seconds = e->seconds[k];
    }
    int most = REG_ESTEP;
    for (int k = 0; k < REG_KERNELS; ++k)
        if (e->seconds[k] > e->seconds[most]) most = k;
    const atn_variant *variant = e->kernel[most] ? atn_kernel_variant(e->kernel[most]) : NULL;
    if (!variant) return ATN_OK;
    atn_text text = {.ctx = e->ctx};
    atn_text_printf(&text, "%s: ", reg_work_name(most));
    atn_variant_print(variant, &text);
    atn_status status = atn_text_status(&text);
    if (status == ATN_OK) snprintf(r->variant, sizeof r->variant, "%s", atn_text_str(&text));
    atn_text_free(&text);
    return status;
}

/* Why there is no covariance. */
static const char *withheld(const reg_problem *p, const atn_register_result *r) {
    const atn_register_settings *s = p->settings;
    if (s->no_covariance) return "not asked for";
    if (s->transform != ATN_TRANSFORM_RIGID) return "only rigid poses have one";
    if (s->compat) return "the published schedule has none";
    if (r->verdict == ATN_VERDICT_REFUSED) return "the pose is refused";
    if (!p->converged) return "the pose did not converge";
    if (r->n_sliding) return "the clouds slide along each other";
    return p->withheld ? p->withheld : "there is too little memory for surfaces";
}

static atn_status finish(reg_problem *p, double since, atn_register_result *r) {
    const atn_register_settings *s = p->settings;
    const reg_distribution *distribution = p->engine.distribution;
    reg_span span = reg_begin(&p->engine);
    atn_status status = distribution && distribution->refined ? ATN_OK : reg_measure(p, r);
    reg_end(&p->engine, REG_MEASURE, span);
    span = reg_begin(&p->engine);
    if (status == ATN_OK && p->converged && p->surveyed && !r->has_covariance && r->verdict != ATN_VERDICT_REFUSED &&
        !r->n_sliding)
        status = reg_covariance_aside(p);
    reg_end(&p->engine, REG_COVARIANCE, span);
    if (status != ATN_OK) return status;
    if (!r->has_covariance) snprintf(r->covariance_reason, sizeof r->covariance_reason, "%s", withheld(p, r));
    reg_to_outside(p, &p->pose, r->transform);
    r->scale = s->transform == ATN_TRANSFORM_SIMILARITY ? geom_pose_scale(&p->pose) : 1;
    r->iterations = p->iterations;
    r->pairs = p->dense_pairs;
    r->evaluated_pairs = p->engine.evaluated;
    r->error_bound = p->engine.truncated ? s->error_bound : 0;
    r->sigma_end = p->sigma * p->unit;
    r->building_seconds = p->engine.seconds[REG_BUILD];
    r->seconds = atn_clock_seconds() - since - r->building_seconds;
    reg_engine_took(&p->engine, r->seconds);
    r->gpts = r->seconds > 0 ? p->engine.evaluated / r->seconds / 1e9 : 0;
    size_t held = distribution ? 0 : p->held; /* parts of the clouds are part of what a rank needs */
    r->peak_bytes = atn_ctx_watched_peak(p->engine.ctx) + atn_device_peak_bytes(p->engine.device) - held;
    snprintf(r->device, sizeof r->device, "%.63s", atn_device_get_info(p->engine.device)->name);
    return note_profile(p, r);
}

/* ---- from start to verdict ---- */

static const double LEAST_PAIRS = 1e9, PAIRS_A_POINT = 5000; /* that a run may evaluate: five times what is usual */
static const double NEAR = 0.3;                              /* of sigma_start: the search found where it has been */

/* What a run of the method left behind, with its verdict. */
typedef struct answer {
    geom_pose pose;
    double far, sigma, outlier2, value;
    bool converged;
    char reason[sizeof((reg_problem *)0)->reason];
    atn_register_result result;
} answer;

static void keep(const reg_problem *p, answer *out) {
    *out = (answer){.pose = p->pose,
                    .far = p->far,
                    .sigma = p->sigma,
                    .outlier2 = p->outlier2,
                    .value = p->value,
                    .converged = p->converged,
                    .result = *p->result};
    memcpy(out->reason, p->reason, sizeof out->reason);
}

static void restore(reg_problem *p, const answer *from) {
    p->pose = from->pose;
    p->far = from->far;
    p->sigma = from->sigma;
    p->outlier2 = from->outlier2;
    p->value = from->value;
    p->converged = from->converged;
    *p->result = from->result;
    memcpy(p->reason, from->reason, sizeof p->reason);
}

/* About how much of a registration is behind us, in percent of its usual time. */
enum { TELL_START = 0, TELL_PREPARED = 30, TELL_FOUND = 40, TELL_FITTED = 75, TELL_JUDGED = 90 };

static atn_status tell(const reg_problem *p, int percent) {
    return p->engine.tells ? atn_tell_progress(p->engine.ctx, "registering", percent, 100) : ATN_OK;
}

/* What the next run depends on. */
static atn_status same_judgement(reg_problem *p) {
    struct {
        geom_pose pose, rival;
        double value, noise;
        atn_verdict verdict;
        bool beaten, converged;
    } said = {p->pose, p->rival, p->value, p->noise, p->result->verdict, p->beaten, p->converged};
    atn_status status = reg_share_same(&p->engine, &said, sizeof said);
    p->pose = said.pose;
    p->rival = said.rival;
    p->value = said.value;
    p->noise = said.noise;
    p->result->verdict = said.verdict;
    p->beaten = said.beaten;
    p->converged = said.converged;
    return status;
}

/* From p->pose on, with its verdict. What the caller allows is for all runs together, a default for each. */
static atn_status run(reg_problem *p, atn_register_settings *settings) {
    int32_t each = METHODS[settings->method].most_iterations / p->haste;
    double points = (double)p->source_count + (double)p->target_count;
    p->most_pairs = INFINITY;
    if (p->open_iterations) {
        settings->most_iterations = p->iterations + each;
        if (!settings->dense) p->most_pairs = p->engine.evaluated + (LEAST_PAIRS + PAIRS_A_POINT * points) / p->haste;
    }
    p->far = settings->outlier_distance / p->unit;
    p->converged = p->result->has_covariance = false;
    p->withheld = NULL;
    p->reason[0] = '\0';
    atn_status status = tell(p, TELL_FOUND);
    if (status == ATN_OK) status = reg_fitness_begin(p); /* behind the search, which has all cores until then */
    p->around = p->pose;
    if (!atomic_load(&p->begun)) p->begun_at = p->pose;
    atomic_store_explicit(&p->begun, true, memory_order_release);
    if (status == ATN_OK) reg_rivals_begin(p);
    if (status == ATN_OK) status = settings->compat ? reg_em_compat(p) : METHODS[settings->method].run(p);
    if (status == ATN_OK) status = tell(p, TELL_FITTED);
    if (status == ATN_OK) status = reg_judge(p, p->result);
    reg_rivals_end(p);
    return status == ATN_OK ? same_judgement(p) : status;
}

/* Another run from p->pose; the better fit of both stays. */
static atn_status run_again(reg_problem *p, atn_register_settings *settings) {
    if (p->iterations >= settings->most_iterations && !p->open_iterations) return ATN_OK;
    answer *last = atn_alloc(p->engine.ctx, sizeof *last);
    if (!last) return ATN_ERR_MEMORY;
    keep(p, last);
    p->pose = p->rival;
    atn_status status = run(p, settings);
    if (status == ATN_OK && last->value >= p->value && last->result.verdict >= p->result->verdict) restore(p, last);
    atn_free(p->engine.ctx, last);
    return status;
}

/* What the method will ask for, as long as the scene is made beside it: surfaces, and the coarser source of its first
 * steps. */
static atn_status look_meanwhile(reg_problem *p) {
    reg_surface *surface;
    bool beside = p->scene_aside.work && p->polished && p->spacing > 0 && p->source_spacing > 0;
    atn_status status = beside ? reg_surface_of(p, &surface) : ATN_OK;
    bool coarser = beside && status == ATN_OK && p->spare && surface->level > p->level;
    return coarser ? reg_bring(&p->engine, &(surface->level - 1)->source) : status;
}

/* Does enough of the source fit where the clouds lie, after a short fit or some? Then p->pose is what they found. */
static atn_status fit_where_they_lie(reg_problem *p, int fits_most, bool *fits) {
    reg_span span = reg_begin(&p->engine);
    double at[16];
    atn_status status = look_meanwhile(p);
    *fits = false;
    if (status == ATN_OK) status = reg_scene_ready(p);
    if (status == ATN_OK && p->sought.looked) {
        *fits = p->sought.fits;
        memcpy(at, p->sought.start, sizeof at);
    } else if (status == ATN_OK)
        *fits = reg_lies_well(p, fits_most, at);
    if (*fits) reg_to_inside(p, at, &p->pose);
    reg_end(&p->engine, REG_SEARCH, span);
    if (status == ATN_OK) status = reg_share_same(&p->engine, fits, sizeof *fits);
    if (status == ATN_OK && *fits) status = reg_share_same(&p->engine, &p->pose, sizeof p->pose);
    return status;
}

/* Where the clouds lie, if they fit there; else where the search says; the better fit of both. */
static atn_status run_from_anywhere(reg_problem *p, atn_register_settings *settings) {
    bool tried;
    double start[16];
    geom_pose found;
    atn_status status = fit_where_they_lie(p, 1, &tried);
    if (status == ATN_OK && tried) status = run(p, settings);
    if (status != ATN_OK || (tried && p->result->verdict == ATN_VERDICT_TRUSTED)) return status;
    reg_span span = reg_begin(&p->engine);
    status = reg_seek_search(p, start);
    if (status == ATN_OK) status = reg_share_same(&p->engine, start, sizeof start);
    reg_end(&p->engine, REG_SEARCH, span);
    if (status != ATN_OK) return status;
    reg_to_inside(p, start, &found);
    if (!tried) {
        p->pose = found;
        status = run(p, settings);
    } else if (reg_motion(p, &p->pose, &found) > NEAR * settings->sigma_start / p->unit) {
        p->rival = found;
        status = run_again(p, settings);
    }
    if (status == ATN_OK && p->beaten) status = run_again(p, settings);
    return status;
}

/* Where the clouds lie; from a little nearer, and so sooner, if they fit there already. Where they do not, hardly
 * anything will be found, which must not take longer than a search. */
static atn_status run_from_identity(reg_problem *p, atn_register_settings *settings) {
    enum { SHORT_FITS = 16, HASTE = 12 };
    bool fits = true,
         asked = settings->transform == ATN_TRANSFORM_RIGID && !settings->compat && p->open_iterations && p->open_start;
    atn_status status = asked ? fit_where_they_lie(p, SHORT_FITS, &fits) : ATN_OK;
    if (asked && fits) settings->sigma_start = fmax(START[ATN_START_AUTO] * p->unit, settings->sigma_end);
    p->haste = fits ? 1 : HASTE;
    return status == ATN_OK ? run(p, settings) : status;
}

static atn_status register_from_start(reg_problem *p, atn_register_settings *settings) {
    if (settings->init == ATN_START_AUTO) return run_from_anywhere(p, settings);
    return settings->init == ATN_START_IDENTITY ? run_from_identity(p, settings) : run(p, settings);
}

/* Coarser levels too, unless all pairs are asked for, or ICP is told how far apart they may be. */
static bool wants_pyramid(const reg_problem *p) {
    const atn_register_settings *s = p->settings;
    bool icp = s->method == ATN_REGISTER_ICP || s->method == ATN_REGISTER_ICP_PLANE;
    return !s->dense && !s->compat && (!icp || p->open_far);
}

/* Ranks have the same clouds at the same resolutions. */
static atn_status check_same_clouds(const reg_problem *p) {
    struct {
        double unit, spacing, source_spacing;
        size_t counts[2 * REG_MOST_LEVELS + 1];
    } own = {p->unit, p->spacing, p->source_spacing, {(size_t)p->levels}}, first;
    for (int32_t k = 0; k < p->levels; ++k) {
        own.counts[1 + 2 * k] = p->level[k].source.count;
        own.counts[2 + 2 * k] = p->level[k].target.count;
    }
    first = own;
    atn_status status = reg_share_same(&p->engine, &first, sizeof first);
    if (status == ATN_OK && !atn_same_bits(&own, &first, sizeof own))
        status = atn_fail(p->engine.ctx, ATN_ERR_INPUT,
                          "register: the clouds differ from those of rank 0; all ranks need the same files");
    return status;
}

/* All that is there before the first step. */
static atn_status prepare(reg_problem *p, atn_register_settings *settings) {
    atn_status status = set_up(p, settings);
    if (status == ATN_OK) status = reg_plan_memory(p);
    if (status != ATN_OK) return status;
    status = reg_scene_begin(p);
    if (status == ATN_OK) status = reg_engine_build_ahead(&p->engine, false);
    if (status == ATN_OK) status = reg_levels_make(p, wants_pyramid(p), reg_surface_early);
    return status == ATN_OK ? check_same_clouds(p) : status;
}

/* What is registered: two clouds, or rows of two arrays. */
typedef struct given_pair {
    const atn_cloud *source, *target;
    atn_array *source_rows, *target_rows;
} given_pair;

/* One pair with an engine that others have used before and will use again. */
static atn_status register_pair(reg_engine *engine, const given_pair *pair, const atn_register_settings *given,
                                atn_register_result *out) {
    const atn_ctx *ctx = engine->ctx;
    double since = atn_clock_seconds();
    atn_register_settings settings = *given;
    size_t held = atn_ctx_watch_peak(ctx) + atn_device_watch_peak(engine->device);
    *out = (atn_register_result){0};
    reg_problem *p = atn_zalloc(ctx, sizeof *p);
    if (!p) return ATN_ERR_MEMORY;
    p->settings = &settings;
    p->source_cloud = pair->source;
    p->target_cloud = pair->target;
    p->source_rows = pair->source_rows;
    p->target_rows = pair->target_rows;
    p->result = out;
    p->held = held;
    p->parts = 1;
    p->haste = 1;
    p->open_iterations = !settings.most_iterations;
    bool anywhere = settings.init == ATN_START_AUTO || (settings.init == ATN_START_DEFAULT && !settings.compat);
    p->seeks = anywhere && engine->remote; /* on the host all cores search sooner, one step after the other */
    bool here;
    int32_t left = reg_spare(engine, &settings, pair->source, pair->target, &here);
    atn_parallel_leave(left);
    p->spare = here ? left : 0;
    p->halved = p->spare && reg_are_few(pair->source, pair->target);
    if (p->spare) atn_pool_expect(atn_parallel_cores() / 2); /* with all, some wait for cores that others poll on */
    reg_engine_reset(engine, &settings);
    p->engine = *engine;
    atn_status status = tell(p, TELL_START);
    if (status == ATN_OK) status = prepare(p, &settings);
    if (status == ATN_OK) status = tell(p, TELL_PREPARED);
    if (status == ATN_OK) status = register_from_start(p, &settings);
    if (status == ATN_OK) status = tell(p, TELL_JUDGED);
    if (status == ATN_OK && p->engine.distribution) status = reg_distribute_refine(p);
    if (status == ATN_OK) status = finish(p, since, out);
    reg_beside_free(p);
    reg_given_free(p);
    reg_surface_end(p);
    reg_levels_free(p);
    reg_ordered_free(&p->source_ordered);
    reg_ordered_free(&p->target_ordered);
    cloud_points_free(&p->source);
    cloud_points_free(&p->target);
    reg_curve_free(&p->source_curve);
    reg_curve_free(&p->target_curve);
    atn_free(ctx, p->source_from);
    atn_free(ctx, p->target_from);
    atn_free(ctx, p->target_kept);
    *engine = p->engine; /* with the kernels that are planned now */
    engine->settings = given;
    if (p->spare) atn_pool_rest();
    atn_parallel_leave(0);
    atn_free(ctx, p);
    return status;
}

static atn_status open_engine(atn_device *device, const atn_register_settings *settings, reg_engine *engine) {
    atn_status status = reg_check(atn_device_ctx(device), settings);
    *engine = (reg_engine){0};
    return status == ATN_OK ? reg_engine_open(device, settings, engine) : status;
}

/* What the caller gave, and room for what he gets. */
static atn_status take(const atn_ctx *ctx, const atn_register_settings *given, const atn_register_result *out,
                       atn_register_settings *settings) {
    atn_status status = ATN_CHECK_OUT(ctx, atn_register_result, out);
    return status == ATN_OK ? ATN_TAKE(ctx, atn_register_settings, given, settings) : status;
}

atn_status reg_workplace_enter(atn_device *device, const atn_register_settings *settings, size_t most,
                               reg_workplace *w) {
    *w = (reg_workplace){.where = reg_where_begin(device, settings, most)};
    return open_engine(w->where.device, settings, &w->engine);
}

void reg_workplace_leave(reg_workplace *w) {
    reg_engine_close(&w->engine);
    atn_device_close(w->own);
    reg_where_end(&w->where);
}

atn_status reg_workplace_register(reg_workplace *w, const atn_cloud *source, const atn_cloud *target,
                                  const atn_register_settings *settings, atn_register_result *out) {
    const given_pair pair = {source, target, NULL, NULL};
    atn_status status = register_pair(&w->engine, &pair, settings, out);
    if (status != ATN_ERR_LOST || w->own || w->engine.ranks) return status; /* other ranks wait for this one's steps */
    status = reg_open_host(w->engine.device, &w->own);
    reg_engine_close(&w->engine);
    w->engine = (reg_engine){0};
    if (status == ATN_OK) status = open_engine(w->own, settings, &w->engine);
    return status == ATN_OK ? register_pair(&w->engine, &pair, settings, out) : status;
}

static atn_status register_two(atn_device *device, const atn_cloud *source, const atn_cloud *target,
                               const atn_register_settings *settings, atn_ranks *ranks, reg_distribution *d,
                               reg_helpers *helpers, bool single, atn_register_result *out) {
    size_t most = cloud_count(source) > cloud_count(target) ? cloud_count(source) : cloud_count(target);
    reg_workplace here;
    if (ranks) most = SIZE_MAX; /* whether the host has them sooner depends on cores, which ranks may have fewer of */
    atn_status status = reg_workplace_enter(device, settings, most, &here);
    here.engine.tells = true;
    here.engine.ranks = ranks;
    here.engine.distribution = d;
    here.engine.helpers = helpers;
    here.engine.single = single;
    if (status == ATN_OK) status = reg_workplace_register(&here, source, target, settings, out);
    reg_workplace_leave(&here);
    return status;
}

bool reg_can_share(const atn_register_settings *s) {
    return !s->compat && s->method != ATN_REGISTER_CPD && s->method != ATN_REGISTER_SOFTASSIGN;
}

atn_status reg_register_ranks(atn_device *const *devices, int32_t n, const atn_cloud *source, const atn_cloud *target,
                              const atn_register_settings *given, atn_ranks *ranks, reg_distribution *d, bool single,
                              atn_register_result *out) {
    if (n < 1) return atn_fail(NULL, ATN_ERR_INPUT, "register: a device is needed");
    const atn_ctx *ctx = atn_device_ctx(devices[0]);
    atn_register_settings settings;
    atn_register_result all = {0};
    reg_helpers *helpers = NULL;
    atn_status status = take(ctx, given, out, &settings);
    if (status == ATN_OK) status = reg_helpers_open(devices, ranks ? 1 : n, &settings, &helpers);
    if (status != ATN_OK) return status;
    status = register_two(devices[0], source, target, &settings, ranks, d, helpers, single, &all);
    if (helpers) atn_log(ctx, ATN_LOG_INFO, "register: other devices computed %zu rows", reg_helpers_rows(helpers));
    reg_helpers_close(helpers);
    ATN_GIVE(ctx, atn_register_result, &all, out);
    return status;
}

atn_status atn_register(atn_device *device, const atn_cloud *source, const atn_cloud *target,
                        const atn_register_settings *given, atn_register_result *out) {
    return reg_register_ranks(&device, 1, source, target, given, NULL, NULL, false, out);
}

atn_status atn_register_several(atn_device *const *devices, int32_t n, const atn_cloud *source, const atn_cloud *target,
                                const atn_register_settings *given, atn_register_result *out) {
    return reg_register_ranks(devices, n, source, target, given, NULL, NULL, false, out);
}

/* ---- points where they lie ---- */

static atn_status check_rows(atn_device *device, const atn_array *rows, const char *which) {
    const atn_ctx *ctx = atn_device_ctx(device);
    if (atn_array_device(rows) != device)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: the %s is on another device", which);
    if (rows->rank != 2 || rows->size[0] != 3 || (rows->type != ATN_SP && rows->type != ATN_DP))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: the %s must be a matrix of SP or DP with three columns", which);
    if (rows->size[1] == 0) return atn_fail(ctx, ATN_ERR_INPUT, "register: the %s has no points", which);
    if (rows->size[1] > INT32_MAX)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "register: the %s has more than %d points", which, INT32_MAX);
    return ATN_OK;
}

/* A copy for the host. */
static atn_status cloud_of(atn_ctx *ctx, atn_array *rows, atn_cloud **out) {
    size_t numbers = 3 * (size_t)rows->size[1];
    bool wide = rows->type == ATN_DP;
    double *positions = atn_alloc(ctx, numbers * sizeof *positions);
    float *single = wide ? NULL : atn_alloc(ctx, numbers * sizeof *single);
    *out = NULL;
    atn_status status = positions && (wide || single) ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = atn_array_get(rows, wide ? (void *)positions : single, 0);
    for (size_t k = 0; k < numbers && single && status == ATN_OK; ++k) positions[k] = (double)single[k];
    if (status == ATN_OK) status = atn_cloud_create(ctx, (size_t)rows->size[1], positions, NULL, out);
    atn_free(ctx, positions);
    atn_free(ctx, single);
    return status;
}

static atn_status register_copies(atn_device *device, atn_array *source, atn_array *target,
                                  const atn_register_settings *settings, atn_register_result *out) {
    atn_ctx *ctx = atn_device_ctx(device);
    atn_cloud *from = NULL, *to = NULL;
    atn_status status = cloud_of(ctx, source, &from);
    if (status == ATN_OK) status = cloud_of(ctx, target, &to);
    if (status == ATN_OK) status = register_two(device, from, to, settings, NULL, NULL, NULL, false, out);
    atn_cloud_free(from);
    atn_cloud_free(to);
    return status;
}

atn_status atn_register_arrays(atn_device *device, atn_array *source, atn_array *target,
                               const atn_register_settings *given, atn_register_result *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_register_settings settings;
    atn_register_result all = {0};
    reg_engine engine = {0};
    atn_status status = take(ctx, given, out, &settings);
    if (status == ATN_OK) status = check_rows(device, source, "source");
    if (status == ATN_OK) status = check_rows(device, target, "target");
    if (status == ATN_OK && settings.match_species)
        status = atn_fail(ctx, ATN_ERR_INPUT, "register: species cannot be matched: arrays have none");
    if (status == ATN_OK) status = open_engine(device, &settings, &engine);
    if (status != ATN_OK) return status;
    size_t counts[2] = {(size_t)source->size[1], (size_t)target->size[1]};
    bool there = reg_goes_to_device(device, &settings, counts[0], counts[1]);
    if (there) status = register_pair(&engine, &(given_pair){NULL, NULL, source, target}, &settings, &all);
    reg_engine_close(&engine);
    if (!there) status = register_copies(device, source, target, &settings, &all);
    ATN_GIVE(ctx, atn_register_result, &all, out);
    return status;
}
