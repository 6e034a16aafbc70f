/* The curvature of the polish: differences of its gradient at poses a deviation away on either side, with pairs found
 * anew. The points of all these poses are one cloud of many copies, so that pairs of all of them are found and weighed
 * at once; copies of a block follow each other, and lie so close together that their lists are found as soon as one. */
#include "apps/register/covariance.h"
#include "apps/register/distribute.h"
#include "apps/register/share.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { WAYS = 12, COPIES = WAYS + 1 }; /* either way along six twists; and not at all */
enum { THIN = 2048 };                  /* points that are copied, of all: sums over some are as good */

typedef struct copying {
    const reg_side *from;
    geom_pose by[COPIES];
    reg_side *to;
} copying;

static void copy_blocks(void *user, int64_t first, int64_t end) {
    const copying *t = user;
    size_t block = t->from->block;
    for (size_t b = (size_t)first; b < (size_t)end; ++b)
        for (size_t c = 0; c < COPIES; ++c) {
            size_t there = b * COPIES + c;
            if (t->to->species) t->to->species[there] = t->from->species[b];
            for (size_t k = 0; k < block; ++k) {
                size_t own = b * block + k, to = there * block + k;
                double at[3], moved[3];
                for (int axis = 0; axis < 3; ++axis) at[axis] = t->from->position[axis][own];
                geom_pose_apply(&t->by[c], at, moved);
                for (int axis = 0; axis < 3; ++axis) t->to->position[axis][to] = moved[axis];
                t->to->weight[to] = t->from->weight[own];
                t->to->origin[to] = (uint32_t)own;
            }
        }
}

/* The pose itself last. */
static void find_poses(const geom_pose *pose, double step, geom_pose there[COPIES]) {
    for (int c = 0; c < COPIES; ++c) {
        double twist[6] = {0};
        if (c < WAYS) twist[c / 2] = c % 2 ? -step : step;
        geom_pose beside = geom_pose_exp(twist);
        there[c] = geom_pose_compose(&beside, pose);
    }
}

/* Where `pose` sends a copy is where the pose beside it would send the point. */
static void find_ways(const geom_pose *pose, double step, geom_pose by[COPIES]) {
    geom_pose back = GEOM_IDENTITY;
    (void)geom_pose_invert(pose, &back); /* it is rigid */
    find_poses(pose, step, by);
    for (int c = 0; c < COPIES; ++c) by[c] = geom_pose_compose(&back, &by[c]);
}

static atn_status copy_all(reg_engine *e, const reg_side *from, const geom_pose *pose, double step, reg_side *out) {
    copying t = {.from = from, .to = out};
    *out = (reg_side){.device = from->device,
                      .type = from->type,
                      .count = COPIES * from->count,
                      .block = from->block,
                      .blocks = COPIES * from->blocks,
                      .padded = COPIES * from->padded};
    find_ways(pose, step, t.by);
    atn_status status = reg_side_room(out, from->species != NULL);
    if (status == ATN_OK) {
        atn_parallel((int64_t)from->blocks, 16, copy_blocks, &t);
        reg_side_enclose(out);
        status = reg_side_add_weights(out, e->ctx);
    }
    return status;
}

/* The shapes that the copies have: those of one block in `every`. */
static atn_status copy_shapes(reg_engine *e, atn_array *shape, size_t every, const reg_side *copies, atn_array **out) {
    size_t block = copies->block;
    int32_t *from = atn_alloc(e->ctx, copies->padded * sizeof *from);
    if (!from) return ATN_ERR_MEMORY;
    for (size_t b = 0, r = 0; b < copies->blocks; ++b)
        for (size_t k = 0; k < block; ++k) from[r++] = (int32_t)(b / COPIES * every * block + k);
    atn_status status = reg_surface_take(e, shape, from, copies->padded, out);
    atn_free(e->ctx, from);
    return status;
}

static size_t round_up(size_t count, size_t by) { return (count + by - 1) / by; }

/* Copies and shapes of one block in `every` where the points are, for sums over all pairs: no list asks where its
 * blocks are. */
static atn_status copy_there(const reg_polish_state *s, const geom_pose *pose, double step, size_t every, reg_side *out,
                             atn_array **shape) {
    const reg_side *from = s->source;
    reg_engine *e = &s->p->engine;
    geom_pose by[COPIES];
    double number[COPIES][12];
    atn_array *poses = NULL, *rows = NULL;
    out->count = out->padded;
    atn_status status = reg_side_create(out);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) status = reg_array_open(out->point[axis]);
    if (status == ATN_OK) status = reg_array_open(out->w);
    find_ways(pose, step, by);
    for (int c = 0; c < COPIES; ++c) {
        memcpy(number[c], by[c].a, sizeof by[c].a);
        memcpy(number[c] + 9, by[c].b, sizeof by[c].b);
    }
    if (status == ATN_OK) status = atn_array_create_vector(e->device, e->type, COPIES * 12, &poses);
    if (status == ATN_OK) status = reg_array_put(poses, COPIES * 12, number[0]);
    if (status == ATN_OK) status = atn_array_view_matrix(poses, COPIES, 12, &rows);
    if (status == ATN_OK) status = atn_array_create_matrix(e->device, e->type, 6, (int64_t)out->padded, 0, shape);
    if (status == ATN_OK) status = reg_array_open(*shape);
    reg_given given[] = {{"every", (double)every}, {"block", (double)from->block}};
    reg_binding bound[] = {
        {"px", from->point[0]},        {"py", from->point[1]}, {"pz", from->point[2]}, {"w", from->w},
        {"shape", s->surface->source}, {"pose", rows},         {"qx", out->point[0]},  {"qy", out->point[1]},
        {"qz", out->point[2]},         {"v", out->w},          {"taken", *shape}};
    if (status == ATN_OK)
        status = reg_engine_run_given(e, REG_COPIES, NULL, given, sizeof given / sizeof *given, bound,
                                      sizeof bound / sizeof *bound);
    atn_array_free(rows);
    atn_array_free(poses);
    return status;
}

/* The same by the host, with all that lists need. */
static atn_status copy_here(const reg_polish_state *s, const geom_pose *pose, double step, size_t every, reg_side *out,
                            atn_array **shape) {
    reg_engine *e = &s->p->engine;
    reg_side some = {0};
    atn_status status = reg_side_sample(e, s->source, every, &some);
    if (status == ATN_OK) status = copy_all(e, &some, pose, step, out);
    if (status == ATN_OK) status = copy_shapes(e, s->surface->source, every, out, shape);
    reg_side_free(&some);
    return status;
}

/* The gradients of all copies, and what pairs weigh in them. */
static atn_status gradients(reg_polish_state *s, const geom_pose *pose, double g[COPIES][6], double weight[COPIES]) {
    const atn_ctx *ctx = s->p->engine.ctx;
    size_t blocks = s->source->blocks;
    atn_array *terms = NULL;
    double *number = atn_alloc(ctx, REG_POLISH_TERM * blocks * sizeof *number);
    atn_status status = number ? reg_polish_pairs(s, pose, REG_POLISH_NEAREST * s->surface->spacing) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = reg_polish_terms(s, pose, s->source->block, &terms);
    if (status == ATN_OK) status = reg_array_get(terms, REG_POLISH_TERM * blocks, number);
    for (size_t b = 0; b < blocks && status == ATN_OK; ++b) {
        for (int i = 0; i < 6; ++i) g[b % COPIES][i] += number[(size_t)(3 + i) * blocks + b];
        weight[b % COPIES] += number[(REG_POLISH_TERM - 1) * blocks + b];
    }
    atn_array_free(terms);
    atn_free(ctx, number);
    return status;
}

/* The same of few points, whose pairs are found together with those of other clouds: no point is copied. */
static bool gradients_together(const reg_polish_state *s, const geom_pose *pose, double step, double g[COPIES][6],
                               double weight[COPIES]) {
    geom_pose there[COPIES];
    if (!s->p->engine.client || s->source->count > THIN) return false;
    find_poses(pose, step, there);
    return reg_polish_gradients(s, COPIES, there, REG_POLISH_NEAREST * s->surface->spacing, g, weight);
}

/* Those of all ranks, each of which has looked at one block in `every` of its own. */
static atn_status join_gradients(const reg_engine *e, size_t every, double g[COPIES][6], double weight[COPIES]) {
    double all[COPIES][7];
    if (!e->joins) return ATN_OK;
    for (int c = 0; c < COPIES; ++c) {
        for (int i = 0; i < 6; ++i) all[c][i] = (double)every * g[c][i];
        all[c][6] = (double)every * weight[c];
    }
    atn_status status = reg_join_sums(e, all[0], COPIES * 7);
    for (int c = 0; c < COPIES; ++c) {
        memcpy(g[c], all[c], sizeof g[c]);
        weight[c] = all[c][6];
    }
    return status;
}

/* By central differences, made symmetric. */
static void differ(const double g[COPIES][6], double step, double by, double h[36]) {
    for (int d = 0; d < 6; ++d)
        for (int i = 0; i < 6; ++i) h[6 * i + d] = by * (g[2 * d + 1][i] - g[2 * d][i]) / (2 * step);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j) h[6 * i + j] = h[6 * j + i] = (h[6 * i + j] + h[6 * j + i]) / 2;
}

atn_status reg_curvature(const reg_polish_state *s, const geom_pose *pose, double h[36]) {
    reg_engine *e = &s->p->engine;
    size_t every = s->source->count > THIN ? s->source->padded / THIN + 1 : 1;
    double step = sqrt(s->scale2), g[COPIES][6] = {{0}}, weight[COPIES] = {0};
    if (gradients_together(s, pose, step, g, weight)) {
        differ((const double(*)[6])g, step, weight[WAYS] > 0 ? s->weight / weight[WAYS] : 0, h);
        return ATN_OK;
    }
    size_t blocks = COPIES * round_up(s->source->blocks, every), block = s->source->block;
    reg_side copies = {.device = s->source->device,
                       .type = s->source->type,
                       .block = block,
                       .blocks = blocks,
                       .padded = blocks * block};
    reg_polish_state sums = {0};
    reg_surface surface = {.level = s->surface->level, .spacing = s->surface->spacing, .target = s->surface->target};
    bool gated = s->source->species && s->target->species; /* by lists alone */
    bool there = !gated && reg_all_sooner(e, &copies, s->target);
    atn_status status = there ? copy_there(s, pose, step, every, &copies, &surface.source)
                              : copy_here(s, pose, step, every, &copies, &surface.source);
    if (status == ATN_OK) status = reg_polish_open(s->p, &surface, &copies, s->target, &sums);
    sums.scale2 = s->scale2;
    sums.slack = -1; /* one step is all */
    if (status == ATN_OK) status = gradients(&sums, pose, g, weight);
    if (status == ATN_OK) status = join_gradients(e, every, g, weight);
    differ((const double(*)[6])g, step, weight[WAYS] > 0 ? s->weight / weight[WAYS] : 0, h);
    reg_polish_close(&sums);
    atn_array_free(surface.source);
    reg_engine_forget(e, &copies);
    reg_side_free(&copies);
    return status == ATN_OK ? reg_share_same(e, h, 36 * sizeof *h) : status;
}
