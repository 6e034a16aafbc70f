/* Preparing both clouds for the methods: checked, normalised and sorted; on the device if it is not the host and the
 * method needs only few of the points on the host. */
#include "apps/register/problem.h"

#include "base/attempt.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

/* Others are at work beside this. */
static int32_t half_of(int32_t spare) { return (spare + 1) / 2; }

/* ---- what the caller gave ---- */

enum { STRETCH = 16384 }; /* points that a core takes at once */

typedef struct weighing {
    const float *from; /* NULL: all weigh 1 */
    float *to;
    bool wrong[ATN_PARALLEL_MOST], any[ATN_PARALLEL_MOST]; /* by worker: not a weight; above 0 */
} weighing;

static void weigh_some(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    weighing *t = user;
    for (int64_t k = from; k < to; ++k) {
        float w = t->from ? t->from[k] : 1;
        t->to[k] = w;
        t->wrong[worker] = t->wrong[worker] || !(w >= 0) || !isfinite(w);
        t->any[worker] = t->any[worker] || w > 0;
    }
}

/* Files may have any numbers as weights; methods rely on these. */
static atn_status take_weights(const atn_ctx *ctx, const atn_cloud *cloud, const char *which, cloud_points *out) {
    weighing t = {.from = atn_cloud_weights(cloud), .to = atn_alloc(ctx, out->count * sizeof *out->weight)};
    bool wrong = false, any = false;
    out->weight = t.to;
    if (!t.to) return ATN_ERR_MEMORY;
    atn_parallel((int64_t)out->count, STRETCH, weigh_some, &t);
    for (int32_t w = 0; w < ATN_PARALLEL_MOST; ++w) {
        wrong = wrong || t.wrong[w];
        any = any || t.any[w];
    }
    for (size_t k = 0; wrong && k < out->count; ++k)
        if (!(t.to[k] >= 0) || !isfinite(t.to[k]))
            return atn_fail(ctx, ATN_ERR_INPUT, "point %zu has the weight %g; weights are finite and not negative", k,
                            (double)t.to[k]);
    return any ? ATN_OK : atn_fail(ctx, ATN_ERR_INPUT, "register: all weights of the %s are 0", which);
}

/* The points as the caller has them: all but the weights is the caller's. */
static atn_status read_cloud(const atn_ctx *ctx, const atn_cloud *cloud, const char *which,
                             const atn_register_settings *s, cloud_points *out) {
    size_t count = cloud_count(cloud);
    const int32_t *species = s->match_species ? atn_cloud_species(cloud) : NULL;
    *out = (cloud_points){.ctx = ctx, .count = count, .species = (int32_t *)(uintptr_t)species};
    if (count == 0) return atn_fail(ctx, ATN_ERR_INPUT, "register: the %s has no points", which);
    if (count > UINT32_MAX / 2)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "register: the %s has more than %u points", which, UINT32_MAX / 2);
    if (s->match_species && !species)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: species cannot be matched: the %s has none", which);
    for (int axis = 0; axis < 3; ++axis) out->position[axis] = (double *)(uintptr_t)atn_cloud_positions(cloud, axis);
    return take_weights(ctx, cloud, which, out);
}

/* ---- few points far away ---- */

static const double FEW = 0.01; /* share of the points */

typedef struct looking {
    const cloud_points *points;
    double middle[3], reach2;
    size_t far[ATN_PARALLEL_MOST]; /* by worker */
} looking;

static bool is_far(const looking *t, size_t k) {
    double d2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double d = t->points->position[axis][k] - t->middle[axis];
        d2 += d * d;
    }
    return d2 > t->reach2;
}

static void count_far(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    looking *t = user;
    size_t n = 0;
    for (int64_t k = from; k < to; ++k) n += is_far(t, (size_t)k);
    t->far[worker] += n;
}

/* A copy without them, in place of the caller's points and our weights; where each was, as in the caller's cloud. */
static atn_status copy_near(const looking *t, size_t near, cloud_points *points, uint32_t **kept) {
    const atn_ctx *ctx = points->ctx;
    cloud_points some = {0};
    size_t n = 0;
    *kept = atn_alloc(ctx, near * sizeof **kept);
    atn_status status = *kept ? cloud_points_make(ctx, near, points->species, &some) : ATN_ERR_MEMORY;
    if (status != ATN_OK) {
        atn_free(ctx, *kept);
        *kept = NULL;
        return status;
    }
    for (size_t k = 0; k < points->count; ++k) {
        if (is_far(t, k)) continue;
        for (int axis = 0; axis < 3; ++axis) some.position[axis][n] = points->position[axis][k];
        some.weight[n] = points->weight[k];
        if (points->species) some.species[n] = points->species[k];
        (*kept)[n++] = (uint32_t)k;
    }
    atn_free(ctx, points->weight);
    *points = some;
    return ATN_OK;
}

/* What is farther from the middle than any cloud reaches has no partner, and makes every motion a long one. */
static atn_status leave_far(const char *which, cloud_points *points, reg_usual *usual, uint32_t **kept) {
    *kept = NULL;
    looking t = {.points = points, .reach2 = REG_STRAY * REG_STRAY * usual->radius * usual->radius};
    size_t far = 0;
    memcpy(t.middle, usual->middle, sizeof t.middle);
    if (!(usual->radius > 0) || !isfinite(t.reach2)) return ATN_OK;
    atn_parallel((int64_t)points->count, STRETCH, count_far, &t);
    for (int32_t w = 0; w < ATN_PARALLEL_MOST; ++w) far += t.far[w];
    if (far == 0 || (double)far > FEW * (double)points->count) return ATN_OK;
    atn_log(points->ctx, ATN_LOG_WARNING, "register: %zu of %zu points of the %s are far from all others and left out",
            far, points->count, which);
    atn_status status = copy_near(&t, points->count - far, points, kept);
    if (status == ATN_OK) *usual = reg_usual_of(points);
    return status;
}

/* ---- in order ---- */

/* The source in order, its cells being those of the target. */
typedef struct sorting {
    reg_problem *p;
    const cloud_points *source;
    double cell;
    bool distinct;
    atn_status status;
} sorting;

static void sort_source(void *user) {
    sorting *t = user;
    reg_problem *p = t->p;
    t->status = reg_curve_make(t->source, t->cell, t->distinct, &p->source, &p->source_curve, &p->source_from);
}

/* Equal points become one with their weights: lists of near pairs would be as long as the square of their number. The
 * published code knows no weights. */
static atn_status sort_points(reg_problem *p, const cloud_points *source, const cloud_points *target, bool distinct) {
    atn_aside beside = {0};
    sorting t = {.p = p, .source = source, .distinct = distinct};
    bool begun = p->guess.aside.work != NULL;
    atn_aside_end(&p->guess.aside);
    if (!begun && !reg_guess_together(p->engine.client, target, &p->guess.spacing))
        p->guess.status = reg_curve_guess(target, &p->guess.spacing);
    atn_status status = p->guess.status;
    double spacing = p->guess.spacing;
    if (status != ATN_OK) return status;
    t.cell = reg_curve_cell(target, REG_FIRST_EDGE * spacing);
    if (p->halved) atn_aside_begin(p->engine.ctx, &beside, sort_source, &t, half_of(p->spare));
    status = reg_curve_make(target, REG_FIRST_EDGE * spacing, distinct, &p->target, &p->target_curve, &p->target_from);
    if (p->halved)
        atn_aside_end(&beside);
    else if (status == ATN_OK)
        sort_source(&t);
    return status == ATN_OK ? t.status : status;
}

bool reg_goes_to_device(atn_device *device, const atn_register_settings *s, size_t source, size_t target) {
    enum { FEWEST = 32768, BYTES = 160 }; /* points of the smaller cloud; a point's at most while it is sorted */
    bool method =
        (s->method == ATN_REGISTER_EM_ICP || s->method == ATN_REGISTER_GICP || reg_takes_planes(s, NULL)) && !s->compat;
    size_t fewer = source < target ? source : target;
    if (!reg_is_remote(device)) return false;
    double free = (double)atn_device_free_bytes(device);
    if (s->most_bytes) free = fmin(free, (double)s->most_bytes);
    return method && !s->match_species && fewer >= FEWEST && BYTES * ((double)source + (double)target) < free / 2;
}

static atn_status sort_on_device(reg_problem *p, const cloud_points *some, const reg_lying *lies, double like,
                                 reg_ordered *ordered, cloud_points *sample, bool *settled) {
    double corner[3], cell = reg_curve_raster(some, lies->low, lies->high, like, corner);
    atn_status status = reg_ordered_sort(&p->engine, ordered, corner, cell, settled);
    return status == ATN_OK && *settled ? reg_ordered_sample(&p->engine, ordered, REG_SAMPLED, sample) : status;
}

/* Points that are on the device, and all or some of them for the host; *done is false where their order is left to the
 * host. */
static atn_status take_on_device(reg_problem *p, const cloud_points *source, const cloud_points *target, bool *done) {
    reg_engine *e = &p->engine;
    reg_lying source_lies, target_lies;
    double spacing = 0;
    const double first[2][3] = {{source->position[0][0], source->position[1][0], source->position[2][0]},
                                {target->position[0][0], target->position[1][0], target->position[2][0]}};
    reg_span span = reg_begin(e);
    atn_status status = reg_lying_on_device(e, &p->source_ordered, first[0], &source_lies);
    if (status == ATN_OK) status = reg_lying_on_device(e, &p->target_ordered, first[1], &target_lies);
    if (status == ATN_OK) status = reg_find_frames(p, &source_lies, &target_lies);
    reg_end(e, REG_READ, span);
    span = reg_begin(e);
    if (status == ATN_OK) status = reg_ordered_guess(e, &p->target_ordered, &spacing);
    if (status == ATN_OK)
        status =
            sort_on_device(p, target, &target_lies, REG_FIRST_EDGE * spacing, &p->target_ordered, &p->target, done);
    if (status == ATN_OK && *done)
        status = sort_on_device(p, source, &source_lies, p->target_ordered.cell, &p->source_ordered, &p->source, done);
    reg_end(e, REG_ORDER, span);
    p->on_device = status == ATN_OK && *done;
    p->source_count = p->source_ordered.count;
    p->target_count = p->target_ordered.count;
    if (p->on_device) return ATN_OK;
    reg_ordered_free(&p->source_ordered);
    reg_ordered_free(&p->target_ordered);
    cloud_points_free(&p->source);
    cloud_points_free(&p->target);
    return status;
}

/* How both clouds lie. */
typedef struct lying {
    const cloud_points *of[2];
    reg_lying lies[2];
} lying;

static atn_status look_at_one(void *user, int64_t from, int64_t to) {
    lying *t = user;
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k) status = reg_lying_of(t->of[k], &t->lies[k]);
    return status;
}

/* At the same time where each is a single stretch. */
static atn_status look_at_both(lying *t) {
    bool each = t->of[0]->count <= STRETCH && t->of[1]->count <= STRETCH;
    return each ? atn_attempt(t->of[0]->ctx, 2, 0, look_at_one, t) : look_at_one(t, 0, 2);
}

static atn_status take_on_host(reg_problem *p, const cloud_points *source, const cloud_points *target, bool distinct) {
    lying both = {.of = {source, target}};
    reg_span span = reg_begin(&p->engine);
    atn_status status = look_at_both(&both);
    if (status == ATN_OK) status = reg_find_frames(p, &both.lies[0], &both.lies[1]);
    reg_end(&p->engine, REG_READ, span);
    span = reg_begin(&p->engine);
    if (status == ATN_OK) status = sort_points(p, source, target, distinct);
    p->source_count = p->source.count;
    p->target_count = p->target.count;
    reg_end(&p->engine, REG_ORDER, span);
    return status;
}

static atn_status send(reg_problem *p, const cloud_points *source, const cloud_points *target) {
    reg_span span = reg_begin(&p->engine);
    atn_status status = reg_ordered_load(&p->engine, target, &p->target_ordered);
    if (status == ATN_OK) status = reg_ordered_load(&p->engine, source, &p->source_ordered);
    reg_end(&p->engine, REG_UPLOAD, span);
    return status;
}

/* All but the weights is the caller's, unless some points were left out. */
void reg_given_free(reg_problem *p) {
    atn_aside_end(&p->guess.aside);
    for (int k = 0; k < 2; ++k) {
        if (p->copied[k])
            cloud_points_free(&p->given[k]);
        else if (p->given[k].ctx)
            atn_free(p->given[k].ctx, p->given[k].weight);
        p->given[k] = (cloud_points){0};
        p->copied[k] = false;
    }
}

/* Ranks have other devices, or less of theirs is free: points go there where all ranks can take them. */
static atn_status decide_together(const reg_engine *e, bool *there) {
    double all = *there;
    atn_status status = e->ranks ? atn_ranks_least(e->ranks, ATN_OK, &all, 1) : ATN_OK;
    *there = all > 0;
    return status;
}

static void guess_spacing(void *user) {
    reg_problem *p = user;
    cloud_points target = {.ctx = p->engine.ctx, .count = cloud_count(p->target_cloud)};
    for (int axis = 0; axis < 3; ++axis)
        target.position[axis] = (double *)(uintptr_t)atn_cloud_positions(p->target_cloud, axis);
    p->guess.status = reg_curve_guess(&target, &p->guess.spacing);
}

atn_status reg_read_clouds(reg_problem *p, const atn_register_settings *settings) {
    const atn_ctx *ctx = p->engine.ctx;
    uint32_t *kept = NULL;
    reg_span span = reg_begin(&p->engine);
    if (p->halved && cloud_count(p->target_cloud) > 0)
        atn_aside_begin(ctx, &p->guess.aside, guess_spacing, p, 2 * p->spare / 3); /* it is waited for */
    atn_status status = read_cloud(ctx, p->source_cloud, "source", settings, &p->given[0]);
    if (status == ATN_OK) status = read_cloud(ctx, p->target_cloud, "target", settings, &p->given[1]);
    if (status == ATN_OK) reg_find_usual(p, &p->given[0], &p->given[1]);
    if (status == ATN_OK && !settings->compat) status = leave_far("source", &p->given[0], &p->source_usual, &kept);
    p->copied[0] = kept != NULL;
    if (status == ATN_OK && !settings->compat)
        status = leave_far("target", &p->given[1], &p->target_usual, &p->target_kept);
    p->copied[1] = p->target_kept != NULL;
    if (p->copied[1]) atn_aside_end(&p->guess.aside); /* of too many */
    atn_free(ctx, kept);
    reg_end(&p->engine, REG_READ, span);
    return status;
}

atn_status reg_take_clouds(reg_problem *p, const atn_register_settings *settings) {
    const cloud_points *source = &p->given[0], *target = &p->given[1];
    bool done = false;
    bool pairs = settings->method == ATN_REGISTER_ICP_PLANE && !reg_takes_planes(settings, p->target_cloud);
    bool there = !pairs && reg_goes_to_device(p->engine.device, settings, source->count, target->count);
    atn_status status = decide_together(&p->engine, &there);
    if (status == ATN_OK && there) {
        status = reg_engine_build_ahead(&p->engine, true);
        if (status == ATN_OK) status = send(p, source, target);
        if (status == ATN_OK) status = take_on_device(p, source, target, &done);
    }
    if (status == ATN_OK && !done) status = take_on_host(p, source, target, !settings->compat);
    return status;
}

/* ---- where they lie ---- */

static atn_status split(reg_problem *p) {
    reg_span span = reg_begin(&p->engine);
    atn_status status = reg_ordered_split(&p->engine, p->target_rows, "target", &p->target_ordered);
    if (status == ATN_OK) status = reg_ordered_split(&p->engine, p->source_rows, "source", &p->source_ordered);
    reg_end(&p->engine, REG_READ, span);
    return status;
}

static atn_status sample(reg_problem *p, size_t most, cloud_points *source, cloud_points *target) {
    reg_span span = reg_begin(&p->engine);
    atn_status status = reg_ordered_sample(&p->engine, &p->source_ordered, most, source);
    if (status == ATN_OK) status = reg_ordered_sample(&p->engine, &p->target_ordered, most, target);
    reg_end(&p->engine, REG_FETCH, span);
    return status;
}

/* Where the device cannot do it, all points come to the host after all. */
static atn_status leave_device(reg_problem *p) {
    cloud_points source = {0}, target = {0};
    atn_status status = split(p);
    if (status == ATN_OK) status = sample(p, SIZE_MAX, &source, &target);
    reg_ordered_free(&p->source_ordered);
    reg_ordered_free(&p->target_ordered);
    if (status == ATN_OK) status = take_on_host(p, &source, &target, true);
    cloud_points_free(&source);
    cloud_points_free(&target);
    return status;
}

atn_status reg_take_rows(reg_problem *p) {
    enum { SOME = 65536 }; /* points that tell where nearly all are, and how far from each other */
    cloud_points source = {0}, target = {0};
    bool done = false;
    atn_status status = reg_engine_build_ahead(&p->engine, true);
    if (status == ATN_OK) status = split(p);
    if (status == ATN_OK) status = sample(p, SOME, &source, &target);
    if (status == ATN_OK) reg_find_usual(p, &source, &target);
    if (status == ATN_OK) status = take_on_device(p, &source, &target, &done);
    cloud_points_free(&source);
    cloud_points_free(&target);
    return status == ATN_OK && !done ? leave_device(p) : status;
}
