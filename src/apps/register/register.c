/* The public call: checks, frames without units, the method, and what is said about the result. */
#include "apps/register/problem.h"
#include "apps/register/search.h"

#include "base/clock.h"
#include "base/memory.h"
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
    [ATN_REGISTER_ICP_PLANE] = {reg_icp, "icp-plane", 0, 1, 200},
    [ATN_REGISTER_SOFTASSIGN] = {reg_softassign, "softassign", 0.95, 1, 500},
    [ATN_REGISTER_CPD] = {reg_cpd, "cpd", 0, 0.1, 200},
};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };

/* ---- settings ---- */

static atn_status check(const atn_ctx *ctx, const atn_register_settings *s) {
    if ((int)s->method < 0 || (int)s->method >= N_METHODS)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: there is no method %d", (int)s->method);
    if ((int)s->transform < 0 || s->transform > ATN_TRANSFORM_AFFINE || (int)s->init < 0 || s->init > ATN_START_AUTO ||
        (int)s->robust < 0 || s->robust > ATN_ROBUST_CAUCHY)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: a transform, start or robust kernel that there is not");
    if (s->precision != 0 && s->precision != 16 && s->precision != 32 && s->precision != 64)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: a precision of %d; there are 16, 32 and 64", s->precision);
    const double lengths[] = {s->sigma_start, s->sigma_end, s->outlier_distance, s->error_bound, s->robust_scale};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
        if (!(lengths[k] >= 0) || (isinf(lengths[k]) && k != 2))
            return atn_fail(ctx, ATN_ERR_INPUT, "register: a length or bound of %g; they are numbers above 0",
                            lengths[k]);
    if (s->sigma_start > 0 && s->sigma_end > s->sigma_start)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: sigma ends at %g above its start %g", s->sigma_end,
                        s->sigma_start);
    if (!(s->sigma_factor >= 0) || s->sigma_factor >= 1)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: a factor of %g; it is between 0 and 1", s->sigma_factor);
    if (!(s->trim >= 0) || s->trim >= 1)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: %g of the pairs cannot be left out; 0 to below 1 can", s->trim);
    if (s->error_bound >= 1)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: an error bound of %g; it is below 1", s->error_bound);
    if (s->most_iterations < 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: %d iterations at most; it is a number above 0",
                        s->most_iterations);
    for (int k = 0; k < 16 && s->init == ATN_START_GIVEN; ++k)
        if (!isfinite(s->start[k]) || (k >= 12 && fabs(s->start[k] - (k == 15)) > 1e-9))
            return atn_fail(ctx, ATN_ERR_INPUT, "register: the start is no map of points: 4 x 4, the last row 0 0 0 1");
    return ATN_OK;
}

/* ---- frames ---- */

static void centroid(const cloud_points *p, double out[3]) {
    double weight = 0;
    out[0] = out[1] = out[2] = 0;
    for (size_t k = 0; k < p->count; ++k) {
        double w = (double)p->weight[k];
        weight += w;
        for (int axis = 0; axis < 3 && w > 0; ++axis) out[axis] += (p->position[axis][k] - out[axis]) * (w / weight);
    }
}

/* The root mean square distance from the origin. */
static double radius(const cloud_points *p, const double origin[3]) {
    double sum = 0, weight = 0;
    for (size_t k = 0; k < p->count; ++k) {
        double d2 = 0, w = (double)p->weight[k];
        for (int axis = 0; axis < 3; ++axis) {
            double d = p->position[axis][k] - origin[axis];
            d2 += d * d;
        }
        sum += w * d2;
        weight += w;
    }
    return weight > 0 ? sqrt(sum / weight) : 0;
}

static atn_status read_cloud(const atn_ctx *ctx, const atn_cloud *cloud, const char *which, bool species,
                             cloud_points *out) {
    if (atn_cloud_get_info(cloud).points == 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: the %s has no points", which);
    if (atn_cloud_get_info(cloud).points > UINT32_MAX / 2)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "register: the %s has more than %u points", which, UINT32_MAX / 2);
    if (species && !atn_cloud_species(cloud))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: species are to match, but the %s has none", which);
    atn_status status = cloud_points_of(ctx, cloud, out);
    if (status != ATN_OK) return status;
    if (!species) {
        atn_free(ctx, out->species);
        out->species = NULL;
    }
    double weight = 0;
    for (size_t k = 0; k < out->count; ++k) weight += (double)out->weight[k];
    return weight > 0 ? ATN_OK : atn_fail(ctx, ATN_ERR_INPUT, "register: all weights of the %s are 0", which);
}

/* From the caller's 4 x 4 to the frames inside, and back. */
static void to_inside(const reg_problem *p, const double t[16], reg_pose *out) {
    reg_pose pose;
    for (int i = 0; i < 3; ++i) {
        memcpy(pose.a + 3 * i, t + 4 * i, 3 * sizeof *t);
        pose.b[i] = t[4 * i + 3];
    }
    double at[3];
    reg_pose_apply(&pose, p->source_origin, at);
    for (int i = 0; i < 3; ++i) pose.b[i] = (at[i] - p->target_origin[i]) / p->unit;
    *out = pose;
}

static void to_outside(const reg_problem *p, double t[16]) {
    double turned[3];
    reg_pose linear = p->pose;
    memset(linear.b, 0, sizeof linear.b);
    reg_pose_apply(&linear, p->source_origin, turned);
    for (int i = 0; i < 3; ++i) {
        memcpy(t + 4 * i, p->pose.a + 3 * i, 3 * sizeof *t);
        t[4 * i + 3] = p->target_origin[i] + p->unit * p->pose.b[i] - turned[i];
        t[12 + i] = 0;
    }
    t[15] = 1;
}

bool reg_is_polished(const atn_register_settings *s) {
    return s->method == ATN_REGISTER_EM_ICP && s->transform == ATN_TRANSFORM_RIGID && !s->compat && !s->no_polish &&
           !(s->sigma_end > 0);
}

/* What the caller left open, from the data. Lengths in the caller's unit. */
static void fill_in(atn_register_settings *s, reg_problem *p) {
    static const double FAR = 2.0; /* of sigma_end */
    static const double START[] = {/* of the unit: how far a start may be from the answer */
                                   [ATN_START_IDENTITY] = 1.5,
                                   [ATN_START_GIVEN] = 0.3,
                                   [ATN_START_AUTO] = 0.05};
    if (!s->precision) s->precision = 32;
    if (!(s->error_bound > 0)) s->error_bound = 1e-4;
    p->open_end = !(s->sigma_end > 0);
    p->polished = reg_is_polished(s);
    p->open_far = !(s->outlier_distance > 0);
    if (!(s->sigma_end > 0)) s->sigma_end = fmax(METHODS[s->method].sigma_end * p->spacing, 1e-6) * p->unit;
    p->open_start = !(s->sigma_start > 0);
    if (!(s->sigma_start > 0)) s->sigma_start = fmax(START[s->init] * p->unit, s->sigma_end);
    if (!(s->outlier_distance > 0)) s->outlier_distance = FAR * s->sigma_end;
    p->far = s->outlier_distance / p->unit;
    if (!(s->sigma_factor > 0)) s->sigma_factor = METHODS[s->method].sigma_factor;
    if (!s->most_iterations) s->most_iterations = METHODS[s->method].most_iterations;
}

static atn_status set_up(reg_problem *p, atn_register_settings *settings) {
    const atn_ctx *ctx = p->engine.ctx;
    bool species = settings->match_species;
    atn_status status = read_cloud(ctx, p->source_cloud, "source", species, &p->source);
    if (status == ATN_OK) status = read_cloud(ctx, p->target_cloud, "target", species, &p->target);
    if (status != ATN_OK) return status;
    centroid(&p->source, p->source_origin);
    centroid(&p->target, p->target_origin);
    p->unit = radius(&p->target, p->target_origin);
    if (!isfinite(p->unit) || !isfinite(radius(&p->source, p->source_origin)))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: coordinates are too large to be squared");
    if (!(p->unit > 0)) p->unit = 1;
    status = cloud_points_spacing(&p->target, &p->spacing);
    if (status == ATN_OK) status = cloud_points_spacing(&p->source, &p->source_spacing);
    p->spacing /= p->unit;
    p->source_spacing /= p->unit;
    if (status != ATN_OK) return status;
    fill_in(settings, p);
    static const double IDENTITY[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    to_inside(p, settings->init == ATN_START_GIVEN ? settings->start : IDENTITY, &p->pose);
    return ATN_OK;
}

/* ---- the result ---- */

atn_status reg_step_done(reg_problem *p, double sigma, double rmse, double motion, size_t source, size_t target) {
    p->dense_pairs += (double)p->source.count * (double)p->target.count;
    if (!p->settings->watch) return ATN_OK;
    atn_register_step step = {.iteration = p->iterations,
                              .sigma = sigma * p->unit,
                              .rmse = rmse * p->unit,
                              .motion = motion * p->unit,
                              .pairs = (int64_t)p->engine.pairs,
                              .source = source,
                              .target = target};
    if (p->settings->watch(p->settings->watch_user, &step)) return ATN_OK;
    return atn_fail(p->engine.ctx, ATN_ERR_CANCELLED, "register: stopped after %d iterations", p->iterations);
}

static void note_profile(const reg_problem *p, atn_register_result *r) {
    const reg_engine *e = &p->engine;
    for (int k = 0; k < REG_WORKS; ++k) {
        if (!e->calls[k] || r->profile_count == ATN_REGISTER_MOST_PROFILE) continue;
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
    if (variant) {
        atn_text text = {.ctx = e->ctx};
        atn_text_printf(&text, "%s: ", reg_work_name(most));
        atn_variant_print(variant, &text);
        snprintf(r->variant, sizeof r->variant, "%s", text.failed ? "" : atn_text_str(&text));
        atn_text_free(&text);
    }
}

static atn_status measure_part(reg_problem *p, reg_side *source, reg_side *target, double reach, double *sum,
                               double *weight) {
    const atn_ctx *ctx = p->engine.ctx;
    double *distance2 = atn_alloc(ctx, source->padded * sizeof *distance2);
    int32_t *index = atn_alloc(ctx, source->padded * sizeof *index);
    atn_status status = distance2 && index ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = reg_place(&p->engine, source, &p->pose);
    if (status == ATN_OK) status = reg_nearest(&p->engine, source, target, reach, distance2, index);
    for (size_t k = 0; k < source->padded && status == ATN_OK; ++k)
        if (index[k] >= 0) {
            *weight += (double)source->weight[k];
            *sum += (double)source->weight[k] * distance2[k];
        }
    atn_free(ctx, distance2);
    atn_free(ctx, index);
    return status;
}

/* Inlier pairs: nearest points within a distance that the spacing and the last sigma suggest. */
static atn_status measure(reg_problem *p, atn_register_result *r) {
    reg_level *level = &p->level[p->levels - 1];
    reg_side *target = &level->target;
    double reach = fmax(3 * p->spacing, isinf(p->far) ? 0 : p->far);
    if (!(reach > 0)) reach = 1e-9;
    double evaluated = p->engine.evaluated, sum = 0, weight = 0;
    atn_status status = reg_place(&p->engine, target, &REG_IDENTITY);
    for (int32_t part = 0; part <= level->n_more && status == ATN_OK; ++part) {
        reg_side *source;
        status = reg_part(level, part, &source);
        if (status == ATN_OK) status = measure_part(p, source, target, reach, &sum, &weight);
    }
    p->engine.evaluated = evaluated; /* a check, no work of the method */
    r->rmse = weight > 0 ? sqrt(sum / weight) * p->unit : 0;
    r->overlap = weight / level->weight;
    r->inlier_distance = reach * p->unit;
    return status;
}

/* Clouds in which no turn can be seen are no question with an answer. */
static const char *degenerate(const reg_problem *p) {
    static const char *const WHICH[2][2] = {{"all source points are at one place: no turn can be told",
                                             "the source points lie on a line: a turn about it cannot be told"},
                                            {"all target points are at one place: no turn can be told",
                                             "the target points lie on a line: a turn about it cannot be told"}};
    const cloud_points *clouds[2] = {&p->source, &p->target};
    const double *origins[2] = {p->source_origin, p->target_origin};
    for (int c = 0; c < 2; ++c) {
        double spread[9] = {0}, value[3], vector[9], size = radius(clouds[c], origins[c]);
        if (!(size > 0)) return WHICH[c][0];
        for (size_t k = 0; k < clouds[c]->count; ++k) {
            double d[3];
            for (int i = 0; i < 3; ++i) d[i] = (clouds[c]->position[i][k] - origins[c][i]) / size;
            for (int i = 0; i < 9; ++i) spread[i] += (double)clouds[c]->weight[k] * d[i / 3] * d[i % 3];
        }
        reg_eigen(3, spread, value, vector);
        if (value[1] < 1e-12 * value[2]) return WHICH[c][1];
    }
    return NULL;
}

static const double LEAST_OVERLAP = 0.05;

static void judge(reg_problem *p, atn_register_result *r) {
    const char *why = degenerate(p);
    r->converged = p->converged;
    snprintf(r->reason, sizeof r->reason, "%s", p->reason);
    if (why) {
        r->converged = false;
        snprintf(r->reason, sizeof r->reason, "%s", why);
    } else if (r->converged && r->overlap < LEAST_OVERLAP) {
        r->converged = false;
        snprintf(r->reason, sizeof r->reason,
                 "only %.2g %% of the source lies within %.3g of the target: the clouds do not overlap",
                 100 * r->overlap, r->inlier_distance);
    } else if (r->converged && !r->reason[0])
        snprintf(r->reason, sizeof r->reason, "nothing moves any more");
}

static atn_status finish(reg_problem *p, double since, atn_register_result *r) {
    const atn_register_settings *s = p->settings;
    atn_status status = measure(p, r);
    if (status == ATN_OK && !s->no_covariance && s->method == ATN_REGISTER_EM_ICP && !s->compat && p->converged &&
        p->parts == 1 && !r->has_covariance && isfinite(p->outlier2))
        status = reg_em_covariance(p);
    if (status != ATN_OK) return status;
    to_outside(p, r->transform);
    r->scale = s->transform == ATN_TRANSFORM_SIMILARITY ? reg_pose_scale(&p->pose) : 1;
    judge(p, r);
    r->iterations = p->iterations;
    r->pairs = p->dense_pairs;
    r->evaluated_pairs = p->engine.evaluated;
    r->error_bound = p->engine.truncated ? s->error_bound : 0;
    r->sigma_end = p->sigma * p->unit;
    r->seconds = atn_clock_seconds() - since;
    r->gpts = r->seconds > 0 ? p->engine.evaluated / r->seconds / 1e9 : 0;
    r->peak_bytes = atn_ctx_peak_bytes(p->engine.ctx) + atn_device_peak_bytes(p->engine.device);
    snprintf(r->device, sizeof r->device, "%.63s", atn_device_get_info(p->engine.device)->name);
    note_profile(p, r);
    return ATN_OK;
}

static atn_status find_start(reg_problem *p) {
    if (p->settings->init != ATN_START_AUTO) return ATN_OK;
    double since = atn_clock_seconds();
    reg_start start;
    atn_status status = reg_search(p->engine.device, &p->source, &p->target, p->settings, &start);
    if (status == ATN_OK) to_inside(p, start.transform, &p->pose);
    reg_timed(&p->engine, REG_SEARCH, since);
    return status;
}

/* One pair with an engine that others have used before and will use again. */
static atn_status register_pair(reg_engine *engine, const atn_cloud *source, const atn_cloud *target,
                                const atn_register_settings *given, atn_register_result *out) {
    const atn_ctx *ctx = engine->ctx;
    double since = atn_clock_seconds();
    atn_register_settings settings = *given;
    *out = (atn_register_result){0};
    reg_problem *p = atn_zalloc(ctx, sizeof *p);
    if (!p) return ATN_ERR_MEMORY;
    p->settings = &settings;
    p->source_cloud = source;
    p->target_cloud = target;
    p->result = out;
    p->parts = 1;
    reg_engine_reset(engine, &settings);
    p->engine = *engine;
    atn_status status = set_up(p, &settings);
    if (status == ATN_OK) status = reg_plan_memory(p);
    if (status == ATN_OK) status = find_start(p);
    if (status == ATN_OK) status = settings.compat ? reg_em_compat(p) : METHODS[settings.method].run(p);
    if (status == ATN_OK) status = finish(p, since, out);
    reg_levels_free(p);
    cloud_points_free(&p->source);
    cloud_points_free(&p->target);
    *engine = p->engine; /* with the kernels that are planned now */
    engine->settings = given;
    atn_free(ctx, p);
    return status;
}

static atn_status open_engine(atn_device *device, const atn_register_settings *settings, reg_engine *engine) {
    atn_status status = check(atn_device_ctx(device), settings);
    *engine = (reg_engine){0};
    return status == ATN_OK ? reg_engine_open(device, settings, engine) : status;
}

atn_status atn_register(atn_device *device, const atn_cloud *source, const atn_cloud *target,
                        const atn_register_settings *given, atn_register_result *out) {
    atn_register_settings settings = given ? *given : (atn_register_settings){0};
    reg_engine engine;
    *out = (atn_register_result){0};
    atn_status status = open_engine(device, &settings, &engine);
    if (status == ATN_OK) status = register_pair(&engine, source, target, &settings, out);
    reg_engine_close(&engine);
    return status;
}

atn_status atn_register_batch(atn_device *device, size_t count, atn_register_pair *pairs,
                              const atn_register_settings *given) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_register_settings settings = given ? *given : (atn_register_settings){0};
    reg_engine engine;
    atn_status status = open_engine(device, &settings, &engine);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        atn_register_pair *pair = &pairs[k];
        atn_register_settings own = settings;
        if (pair->start) {
            own.init = ATN_START_GIVEN;
            memcpy(own.start, pair->start, sizeof own.start);
        }
        pair->message[0] = '\0';
        pair->status = check(ctx, &own);
        if (pair->status == ATN_OK)
            pair->status = register_pair(&engine, pair->source, pair->target, &own, &pair->result);
        if (pair->status != ATN_OK) snprintf(pair->message, sizeof pair->message, "%s", atn_ctx_message(ctx));
        if (pair->status == ATN_ERR_CANCELLED || pair->status == ATN_ERR_LOST) status = pair->status;
    }
    reg_engine_close(&engine);
    return status;
}
