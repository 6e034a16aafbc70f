/* The search for a start: thin both clouds alike, collect starts from pairs and from even turns, score them all, refine
 * the best that differ and score these again. With a scale to be found it is done for several, the sizes of both clouds
 * being the first guess. */
#include "apps/register/search_parts.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum {
    FEW = 1000,   /* points of the cloud that needs less of them */
    MANY = 2500,  /* of the other */
    REFINED = 16, /* starts that are refined */
    REFINE_STEPS = 12,
    POSES = SEARCH_MOST_PAIRED + SEARCH_TURNS
};
static const double SAME_TURN = 0.13, SAME_SHIFT = 1.5;  /* radians, cubes: nearer starts are one */
static const double OTHER_TURN = 0.2618;                 /* 15 degrees: what a runner-up differs by */
static const double CLEAR_SCORE = 0.5, CLEAR_LEAD = 0.2; /* nothing else needs to be tried */

/* What is tried at one scale. */
typedef struct attempt {
    atn_device *device;
    const search_surface *source, *target;
    search_raster raster;
    bool scaled, reproducible;
    search_pose pose[POSES];
    size_t poses;
    search_pose best[REFINED];
    size_t bests;
} attempt;

static bool same(const search_pose *a, const search_pose *b) {
    double d2 = 0;
    for (int k = 0; k < 3; ++k) d2 += (a->shift[k] - b->shift[k]) * (a->shift[k] - b->shift[k]);
    return d2 < SAME_SHIFT * SAME_SHIFT && search_pose_angle(a, b) < SAME_TURN;
}

static void sort(search_pose *pose, size_t count) { /* by falling score; equals stay in order */
    for (size_t i = 1; i < count; ++i) {
        search_pose moving = pose[i];
        size_t k = i;
        for (; k > 0 && pose[k - 1].score < moving.score; --k) pose[k] = pose[k - 1];
        pose[k] = moving;
    }
}

/* Scores the poses from `first` on, refines the best that differ, and puts them among the best. */
static atn_status judge(attempt *t, size_t first) {
    size_t taken = 0;
    search_pose *pose = t->pose + first;
    size_t count = t->poses - first;
    for (size_t k = 0; k < count; ++k) {
        atn_status status = k % 64 == 0 ? atn_check_cancel(t->source->ctx) : ATN_OK;
        if (status != ATN_OK) return status;
        pose[k].score = search_score(&t->raster, t->source, &pose[k]);
    }
    sort(pose, count);
    search_pose found[REFINED];
    for (size_t k = 0; k < count && taken < REFINED; ++k) {
        bool known = false;
        for (size_t n = 0; n < taken && !known; ++n) known = same(&pose[k], &pose[n]);
        if (!known) pose[taken++] = pose[k];
    }
    for (size_t k = 0; k < taken; ++k) {
        atn_status status = atn_check_cancel(t->source->ctx);
        if (status != ATN_OK) return status;
        found[k] = pose[k];
        search_refine(&t->raster, t->source, t->scaled, REFINE_STEPS, &found[k]);
    }
    search_pose both[2 * REFINED];
    memcpy(both, t->best, t->bests * sizeof *both);
    memcpy(both + t->bests, found, taken * sizeof *both);
    sort(both, t->bests + taken);
    t->bests = t->bests + taken < REFINED ? t->bests + taken : REFINED;
    memcpy(t->best, both, t->bests * sizeof *both);
    return ATN_OK;
}

static double runner_up(const attempt *t) {
    for (size_t k = 1; k < t->bests; ++k)
        if (search_pose_angle(&t->best[0], &t->best[k]) > OTHER_TURN) return t->best[k].score;
    return 0;
}

/* Both surfaces described and rastered; fills best. */
static atn_status try_all(attempt *t) {
    size_t count = 0;
    atn_status status = search_paired(t->device, t->source, t->target, t->scaled, t->reproducible, t->pose, &count);
    t->poses = count;
    if (status == ATN_OK) status = judge(t, 0);
    if (status != ATN_OK) return status;
    if (t->bests > 0 && t->best[0].score > CLEAR_SCORE && t->best[0].score - runner_up(t) > CLEAR_LEAD) return ATN_OK;
    size_t first = t->poses;
    status = search_turned(t->device, t->source, t->target, t->reproducible, t->pose + first, &count);
    t->poses += count;
    return status == ATN_OK ? judge(t, first) : status;
}

/* Into the units of the clouds. */
static void publish(const search_surface *source, const search_surface *target, const search_pose *pose,
                    reg_start *out) {
    double factor = pose->scale * target->edge / source->edge;
    memset(out->transform, 0, sizeof out->transform);
    out->transform[15] = 1;
    for (int a = 0; a < 3; ++a) {
        double *row = out->transform + 4 * a;
        row[3] = target->centre[a] + target->edge * pose->shift[a];
        for (int b = 0; b < 3; ++b) {
            row[b] = factor * pose->turn[3 * a + b];
            row[3] -= row[b] * source->centre[b];
        }
    }
}

static void align_centres(const cloud_points *source, const cloud_points *target, reg_start *out) {
    *out = (reg_start){.transform = {[0] = 1, [5] = 1, [10] = 1, [15] = 1}};
    for (int a = 0; a < 3; ++a) {
        double of[2] = {0, 0};
        for (size_t k = 0; k < source->count; ++k) of[0] += (source->position[a][k] - of[0]) / (double)(k + 1);
        for (size_t k = 0; k < target->count; ++k) of[1] += (target->position[a][k] - of[1]) / (double)(k + 1);
        out->transform[4 * a + 3] = of[1] - of[0];
    }
}

/* Points on a line, or at one place: no turn about it can be told from another. */
static bool is_line(const search_surface *s) {
    double m[6] = {0}, values[3], direction[3];
    for (size_t k = 0; k < s->count; ++k)
        for (int a = 0, c = 0; a < 3; ++a)
            for (int b = a; b < 3; ++b) m[c++] += (double)s->at[a][k] * s->at[b][k];
    search_least_direction(m, values, direction);
    return s->count < 3 || !(values[1] > 1e-6 * values[2]);
}

/* Scales to try, in powers of this around the ratio of the sizes: 0.7 to 1.4. */
static const double SCALE_STEP = 1.12;
static const double CLEAR_VALUE = 0.6; /* of a scale: no other is tried */
enum { SCALES_EACH_WAY = 3 };

static atn_status search_at(attempt *t, const search_surface *source, reg_start *out, double *best) {
    t->source = source;
    t->poses = t->bests = 0;
    atn_status status = try_all(t);
    if (status != ATN_OK) return status;
    out->tried += (int32_t)t->poses;
    if (t->bests == 0) return ATN_OK;
    /* Small copies lie on a target easily: with a scale the part of the target that is covered counts too. */
    double value = t->best[0].score, covers = value * (double)source->count / (double)t->target->count;
    if (t->scaled) value *= fmin(1, covers);
    if (value > *best) {
        *best = value;
        publish(source, t->target, &t->best[0], out);
        out->score = t->best[0].score;
        out->runner_up = runner_up(t);
    }
    return ATN_OK;
}

/* `given` is the source in cubes of its own: the first guess is that it has the target's size. */
static atn_status search_scales(attempt *t, const cloud_points *source, const search_surface *given, reg_start *out,
                                double *best) {
    double alike = given->size * given->edge / t->target->size;
    atn_status status = ATN_OK;
    for (int n = 0; n <= 2 * SCALES_EACH_WAY && *best < CLEAR_VALUE && status == ATN_OK; ++n) {
        int k = n % 2 ? (n + 1) / 2 : -n / 2; /* the likeliest first; refining does what is between */
        search_surface surface = {0};
        status = search_surface_make(source, alike * pow(SCALE_STEP, k), true, &surface);
        if (status == ATN_OK) status = search_at(t, &surface, out, best);
        search_surface_free(&surface);
    }
    return status;
}

/* The same cubes for both where the scale is known: FEW points of the one, not over MANY of the other. */
static atn_status edges(const cloud_points *source, const cloud_points *target, bool scaled, double edge[2]) {
    atn_status status = search_edge(source, FEW, &edge[0]);
    if (status == ATN_OK) status = search_edge(target, FEW, &edge[1]);
    if (status != ATN_OK || scaled || !(edge[0] > 0) || !(edge[1] > 0)) return status;
    double low = fmin(edge[0], edge[1]), high = fmax(edge[0], edge[1]);
    edge[0] = edge[1] = fmax(low, high * sqrt((double)FEW / MANY)); /* a surface has as many as 1 / edge squared */
    return ATN_OK;
}

atn_status reg_search(atn_device *device, const cloud_points *source, const cloud_points *target,
                      const atn_register_settings *settings, reg_start *out) {
    search_surface of_source = {0}, of_target = {0};
    attempt *t = NULL;
    double edge[2] = {0, 0}, best = -1;
    bool scaled = settings && settings->transform != ATN_TRANSFORM_RIGID;
    *out = (reg_start){0};
    if (source->count == 0 || target->count == 0)
        return atn_fail(source->ctx, ATN_ERR_INPUT, "register: the %s has no points; a start needs some in both clouds",
                        source->count == 0 ? "source" : "target");
    align_centres(source, target, out);
    atn_status status = edges(source, target, scaled, edge);
    if (status != ATN_OK || !(edge[0] > 0) || !(edge[1] > 0)) return status;
    t = atn_zalloc(source->ctx, sizeof *t);
    status = t ? search_surface_make(target, edge[1], true, &of_target) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = search_surface_make(source, edge[0], !scaled, &of_source);
    if (status != ATN_OK || is_line(&of_source) || is_line(&of_target)) goto end;
    *t = (attempt){
        .device = device, .target = &of_target, .scaled = scaled, .reproducible = settings && settings->reproducible};
    status = search_raster_make(&of_target, &t->raster);
    if (status == ATN_OK)
        status = scaled ? search_scales(t, source, &of_source, out, &best) : search_at(t, &of_source, out, &best);
end:
    if (t) search_raster_free(&t->raster);
    search_surface_free(&of_source);
    search_surface_free(&of_target);
    atn_free(source->ctx, t);
    return status;
}
