/* The search for an initial pose: downsample both clouds alike, collect candidates from pairs and from evenly
 * distributed rotations, score them all, refine the best distinct ones and score these again. With a scale to be found
 * it is done for several, the sizes of both clouds being the first guess. */
#include "apps/register/gather.h"
#include "apps/register/search_parts.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    FEW = 1000,  /* points of the cloud that needs less of them */
    MANY = 2500, /* of the other */
    POSES = SEARCH_MOST_PAIRED + SEARCH_TURNS
};
static const double SAME_TURN = 0.13, SAME_SHIFT = 1.5;  /* radians, cubes: nearer starts are one */
static const double OTHER_TURN = 0.2618;                 /* 15 degrees: what a runner-up differs by */
static const double CLEAR_SCORE = 0.5, CLEAR_LEAD = 0.2; /* nothing else needs to be tried */

/* What is tried at one scale. */
typedef struct attempt {
    reg_scene *scene;
    const search_surface *source;
    search_pose pose[POSES];
} attempt;

static bool same(const search_pose *a, const search_pose *b) {
    double d2 = 0;
    for (int k = 0; k < 3; ++k) d2 += (a->shift[k] - b->shift[k]) * (a->shift[k] - b->shift[k]);
    return d2 < SAME_SHIFT * SAME_SHIFT && search_pose_angle(a, b) < SAME_TURN;
}

/* Poses that are looked at by all cores, each by one. */
typedef struct looking {
    const reg_scene *scene;
    const search_surface *source;
    bool scaled;
    double worth;
    search_pose *pose;
} looking;

/* Where the host looks at poses: with a client that is not known before. */
static atn_status ready(reg_scene *s) {
    if (s->raster.target) return ATN_OK;
    s->rastered = true;
    return search_raster_make(&s->of_target, &s->raster);
}

static void score_one(void *user, int64_t from, int64_t to) {
    const looking *t = user;
    for (int64_t k = from; k < to; ++k) t->pose[k].score = search_score(&t->scene->raster, t->source, &t->pose[k]);
}

static void refine_one(void *user, int64_t from, int64_t to) {
    const looking *t = user;
    for (int64_t k = from; k < to; ++k) search_refine(&t->scene->raster, t->source, t->scaled, t->worth, &t->pose[k]);
}

atn_status search_judge(reg_scene *scene, const search_surface *source, bool scaled, double worth, search_pose *pose,
                        size_t *count) {
    looking t = {scene, source, scaled, worth, pose};
    size_t taken = 0;
    bool scored = search_score_together(scene, source, pose, *count);
    atn_status status = scored ? ATN_OK : ready(scene);
    if (status == ATN_OK && !scored) atn_parallel_pieces((int64_t)*count, score_one, &t);
    if (status == ATN_OK) status = atn_check_cancel(scene->ctx);
    if (status != ATN_OK) return status;
    search_sort(pose, *count);
    for (size_t k = 0; k < *count && taken < SEARCH_REFINED; ++k) {
        bool known = false;
        for (size_t n = 0; n < taken && !known; ++n) known = same(&pose[k], &pose[n]);
        if (!known) pose[taken++] = pose[k];
    }
    bool refined = search_refine_together(scene, source, scaled, worth, pose, taken);
    if (!refined) status = ready(scene);
    if (!refined && status == ATN_OK) atn_parallel_pieces((int64_t)taken, refine_one, &t);
    search_sort(pose, taken);
    *count = taken;
    return status == ATN_OK ? atn_check_cancel(scene->ctx) : status;
}

/* Judges `count` poses of the attempt and puts the best among those of the scene. */
static atn_status judge(attempt *t, size_t count) {
    reg_scene *scene = t->scene;
    atn_status status = search_judge(scene, t->source, scene->scaled, 0, t->pose, &count);
    if (status != ATN_OK) return status;
    search_pose both[2 * SEARCH_REFINED];
    memcpy(both, scene->best, scene->bests * sizeof *both);
    memcpy(both + scene->bests, t->pose, count * sizeof *both);
    search_sort(both, scene->bests + count);
    scene->bests = scene->bests + count < SEARCH_REFINED ? scene->bests + count : SEARCH_REFINED;
    memcpy(scene->best, both, scene->bests * sizeof *both);
    return ATN_OK;
}

static double runner_up(const reg_scene *s) {
    for (size_t k = 1; k < s->bests; ++k)
        if (search_pose_angle(&s->best[0], &s->best[k]) > OTHER_TURN) return s->best[k].score;
    return 0;
}

/* Both surfaces described and rastered; fills the scene's best. */
static atn_status try_all(attempt *t, int32_t *tried) {
    reg_scene *s = t->scene;
    size_t count = 0;
    atn_status status = search_paired(t->source, &s->of_target, s->scaled, t->pose, &count);
    *tried += (int32_t)count;
    if (status == ATN_OK) status = judge(t, count);
    if (status != ATN_OK) return status;
    if (s->bests > 0 && s->best[0].score > CLEAR_SCORE && s->best[0].score - runner_up(s) > CLEAR_LEAD) return ATN_OK;
    status = search_turned(t->source, &s->of_target, NULL, NULL, s->mirrored, s->client, t->pose, &count);
    *tried += (int32_t)count;
    return status == ATN_OK ? judge(t, count) : status;
}

/* Into the units of the clouds. */
static void publish(const search_surface *source, const search_surface *target, const search_pose *pose,
                    double out[16]) {
    search_publish(source, target, pose, pose->scale * target->edge / source->edge, out);
}

static void align_centres(const cloud_points *source, const cloud_points *target, reg_start *out) {
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
    geom_least_direction(m, values, direction);
    return s->count < 3 || !(values[1] > 1e-6 * values[2]);
}

/* Scales to try, in powers of this around the ratio of the sizes: 0.7 to 1.4. */
static const double SCALE_STEP = 1.12;
static const double CLEAR_VALUE = 0.6; /* of a scale: no other is tried */
enum { SCALES_EACH_WAY = 3 };

static atn_status search_at(attempt *t, const search_surface *source, reg_start *out, double *best) {
    reg_scene *s = t->scene;
    t->source = source;
    s->bests = 0;
    atn_status status = try_all(t, &out->tried);
    if (status != ATN_OK || s->bests == 0) return status;
    /* Small copies lie on a target easily: with a scale the part of the target that is covered counts too. */
    double value = s->best[0].score, covers = value * (double)source->count / (double)s->of_target.count;
    if (s->scaled) value *= fmin(1, covers);
    if (value > *best) {
        *best = value;
        publish(source, &s->of_target, &s->best[0], out->transform);
        out->score = s->best[0].score;
        out->runner_up = runner_up(s);
    }
    return ATN_OK;
}

/* The source in cubes of its own: the first guess is that it has the target's size. */
static atn_status search_scales(attempt *t, reg_start *out, double *best) {
    const search_surface *given = &t->scene->of_source;
    double alike = given->size * given->edge / t->scene->of_target.size;
    atn_status status = ATN_OK;
    for (int n = 0; n <= 2 * SCALES_EACH_WAY && *best < CLEAR_VALUE && status == ATN_OK; ++n) {
        int k = n % 2 ? (n + 1) / 2 : -n / 2; /* the likeliest first; refining does what is between */
        search_surface surface = {0}, *made = &surface;
        double edge = alike * pow(SCALE_STEP, k);
        status = search_surfaces_make(&t->scene->source, &edge, 1, t->scene->client, &made);
        if (status == ATN_OK) status = search_surfaces_describe(&made, 1);
        if (status == ATN_OK) status = search_at(t, &surface, out, best);
        search_surface_free(&surface);
    }
    return status;
}

/* The edges of both clouds at the same time, and what else there is to do. */
typedef struct edges {
    const cloud_points *points[2];
    const reg_meanwhile *other; /* pieces that come after these; or NULL */
    double edge[2];
} edges;

static atn_status find_edge(void *user, int64_t from, int64_t to) {
    edges *t = user;
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k)
        status = k < 2 ? search_edge(t->points[k], FEW, &t->edge[k]) : t->other->part(t->other->user, k - 2, k - 1);
    return status;
}

/* The same cubes for both where the scale is known: FEW points of the one, not over MANY of the other. */
static void share_edge(double edge[2]) {
    double low = fmin(edge[0], edge[1]), high = fmax(edge[0], edge[1]);
    edge[0] = edge[1] = fmax(low, high * sqrt((double)FEW / MANY)); /* a surface has as many as 1 / edge squared */
}

static uint64_t next_number(void) {
    static atomic_uint_fast64_t scenes;
    return atomic_fetch_add(&scenes, 1) + 1;
}

atn_status reg_scene_make(const cloud_points *source, const cloud_points *target, bool scaled, reg_client *client,
                          reg_scene **out) {
    return reg_scene_make_beside(source, target, scaled, client, NULL, out);
}

atn_status reg_scene_make_beside(const cloud_points *source, const cloud_points *target, bool scaled,
                                 reg_client *client, const reg_meanwhile *other, reg_scene **out) {
    *out = NULL;
    if (source->count == 0 || target->count == 0)
        return atn_fail(source->ctx, ATN_ERR_INPUT, "register: the %s has no points; a start needs some in both clouds",
                        source->count == 0 ? "source" : "target");
    reg_scene *s = atn_zalloc(source->ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    *s = (reg_scene){.ctx = source->ctx, .source = source, .target = target, .scaled = scaled};
    s->client = client;
    s->number = client ? next_number() : 0;
    s->blank = true;
    edges both = {.points = {source, target}, .other = other};
    atn_status status = atn_attempt(s->ctx, 2 + (other ? other->pieces : 0), 0, find_edge, &both);
    if (status == ATN_OK && both.edge[0] > 0 && both.edge[1] > 0) {
        if (!scaled) share_edge(both.edge);
        search_surface *const made[2] = {&s->of_source, &s->of_target};
        status = search_surfaces_make(both.points, both.edge, 2, client, made);
        s->blank = status != ATN_OK || is_line(&s->of_source) || is_line(&s->of_target);
        if (!s->blank && !client) status = ready(s);
    }
    if (status == ATN_OK)
        *out = s;
    else
        reg_scene_free(s);
    return status;
}

void reg_scene_free(reg_scene *s) {
    if (!s) return;
    if (s->rastered) search_raster_free(&s->raster);
    if (s->mirrored) {
        atn_free(s->ctx, s->of_source.block);
    } else {
        search_surface_free(&s->of_source);
        search_surface_free(&s->of_target);
    }
    atn_free(s->ctx, s);
}

static atn_status describe(reg_scene *s) {
    return search_surfaces_describe((search_surface *const[]){&s->of_target, &s->of_source}, s->scaled ? 1 : 2);
}

/* No histogram changes, and all else has one coordinate the other way round. */
atn_status reg_scene_mirror(reg_scene *scene, reg_scene **out) {
    *out = NULL;
    atn_status status = scene->blank ? ATN_OK : describe(scene);
    reg_scene *s = status == ATN_OK ? atn_alloc(scene->ctx, sizeof *s) : NULL;
    if (!s) return status == ATN_OK ? ATN_ERR_MEMORY : status;
    *s = *scene;
    s->mirrored = true;
    s->number = s->client ? next_number() : 0;
    s->rastered = false;
    s->bests = 0;
    search_surface *to = &s->of_source;
    const search_surface *from = &scene->of_source;
    to->block = atn_alloc(s->ctx, from->count * 6 * sizeof *to->block);
    if (!to->block) {
        atn_free(s->ctx, s);
        return ATN_ERR_MEMORY;
    }
    if (from->count) memcpy(to->block, from->block, from->count * 6 * sizeof *to->block);
    for (int a = 0; a < 3; ++a) {
        to->at[a] = to->block + (size_t)a * from->count;
        to->normal[a] = to->block + (size_t)(3 + a) * from->count;
    }
    to->centre[0] = -to->centre[0];
    for (size_t k = 0; k < from->count; ++k) to->at[0][k] = -to->at[0][k], to->normal[0][k] = -to->normal[0][k];
    *out = s;
    return ATN_OK;
}

atn_status reg_search(reg_scene *scene, reg_start *out) {
    double best = -1;
    *out = (reg_start){.transform = {[0] = 1, [5] = 1, [10] = 1, [15] = 1}};
    attempt *t = scene->blank ? NULL : atn_zalloc(scene->ctx, sizeof *t);
    if (!t && !scene->blank) return ATN_ERR_MEMORY;
    atn_status status = ATN_OK;
    if (t) {
        t->scene = scene;
        status = describe(scene);
        if (status == ATN_OK)
            status = scene->scaled ? search_scales(t, out, &best) : search_at(t, &scene->of_source, out, &best);
    }
    if (best < 0) align_centres(scene->source, scene->target, out);
    atn_free(scene->ctx, t);
    return status;
}

/* ---- looking at poses ---- */

double reg_scene_grain(const reg_scene *scene) { return scene->of_target.edge; }

/* Out of the units of the clouds; what is not rigid in it is left out. */
static void take(const reg_scene *s, const double t[16], search_pose *out) {
    *out = (search_pose){.scale = 1};
    for (int a = 0; a < 3; ++a) {
        const double *row = t + 4 * a;
        double at = row[3] - s->of_target.centre[a];
        for (int b = 0; b < 3; ++b) {
            out->turn[3 * a + b] = row[b];
            at += row[b] * s->of_source.centre[b];
        }
        out->shift[a] = at / s->of_target.edge;
    }
}

double reg_scene_refine(reg_scene *s, double transform[16]) {
    search_pose pose;
    if (s->blank) return 0;
    take(s, transform, &pose);
    if (!search_refine_together(s, &s->of_source, false, 0, &pose, 1)) {
        if (ready(s) != ATN_OK) return 0;
        search_refine(&s->raster, &s->of_source, false, 0, &pose);
    }
    publish(&s->of_source, &s->of_target, &pose, transform);
    return pose.score;
}

static const double NEARLY = 0.7;   /* of the answer's score: worth a closer look */
static const double FAR_SHIFT = 2;  /* cubes that a rival is away, */
static const double FAR_TURN = 0.2; /* or radians */

/* The score, and the middle of what lies on the target. */
static atn_status middle(reg_scene *s, search_pose *pose, double out[3]) {
    double weight = 0, sum[3] = {0};
    if (search_middle_together(s, pose, out)) return ATN_OK;
    atn_status status = ready(s);
    if (status != ATN_OK) return status;
    float *lies = atn_alloc(s->ctx, s->of_source.count * sizeof *lies);
    if (!lies) return ATN_ERR_MEMORY;
    pose->score = search_score(&s->raster, &s->of_source, pose);
    search_lies(&s->raster, &s->of_source, pose, lies);
    for (size_t i = 0; i < s->of_source.count; ++i) {
        weight += (double)lies[i];
        for (int a = 0; a < 3; ++a) sum[a] += (double)lies[i] * (double)s->of_source.at[a][i];
    }
    for (int a = 0; a < 3; ++a) out[a] = weight > 0 ? sum[a] / weight : 0;
    atn_free(s->ctx, lies);
    return ATN_OK;
}

static bool far(const search_pose *a, const search_pose *b, const double about[3]) {
    double p[3], q[3], d2 = 0;
    search_pose_move(a, about, p);
    search_pose_move(b, about, q);
    for (int k = 0; k < 3; ++k) d2 += (p[k] - q[k]) * (p[k] - q[k]);
    return d2 > FAR_SHIFT * FAR_SHIFT || search_pose_angle(a, b) > FAR_TURN;
}

atn_status reg_scene_rivals(reg_scene *s, const double answer[16], double (*out)[16], size_t *count) {
    search_pose own, pose[SEARCH_TURNS + SEARCH_REFINED];
    double about[3];
    size_t n = 0;
    *count = 0;
    if (s->blank) return ATN_OK;
    take(s, answer, &own);
    atn_status status = middle(s, &own, about);
    if (status == ATN_OK) status = search_turned(&s->of_source, &s->of_target, &own, about, true, s->client, pose, &n);
    if (status != ATN_OK) return status;
    memcpy(pose + n, s->best, s->bests * sizeof *pose);
    n += s->bests;
    status = search_judge(s, &s->of_source, false, NEARLY * own.score, pose, &n);
    for (size_t k = 0; k < n && status == ATN_OK; ++k)
        if (pose[k].score > NEARLY * own.score && far(&pose[k], &own, about) && *count < REG_MOST_RIVALS)
            publish(&s->of_source, &s->of_target, &pose[k], out[(*count)++]);
    return status;
}

size_t reg_scene_bests(const reg_scene *s, double (*out)[16]) {
    for (size_t k = 0; k < s->bests; ++k) publish(&s->of_source, &s->of_target, &s->best[k], out[k]);
    return s->bests;
}
