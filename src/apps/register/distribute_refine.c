/* The last steps over all points, each rank with those of its slab: the resolution at which surfaces are seen through
 * the noise, shapes of the samples' points, Gauss-Newton steps whose sums are joined, the covariance, and how well all
 * points fit. */
#include "apps/register/distribute.h"
#include "apps/register/polish.h"
#include "apps/register/share.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

static const double SEEN = 0.3;         /* thickness over width: surfaces are told by cells that show them so well */
static const double AROUND = 6;         /* spacings of the samples that a slab has around it */
static const double WITHIN = 3;         /* as far may a partner be that counts as one (judge.c) */
enum { FEWEST = 200, MOST_EDGES = 12 }; /* points that tell how thick a surface is; resolutions that are tried */

/* What a rank has of both clouds: source and target. */
typedef struct slab {
    reg_problem *p;        /* the samples, registered */
    reg_problem *q;        /* points of this slab; its engine joins sums */
    cloud_points given[2]; /* as they came, */
    cloud_points sorted[2];
    reg_curve curve[2];
    double spacing, edge; /* of all points; of the cells whose means are used, 0: all points; in units */
    reg_surface surface;
} slab;

/* How many of them are the slab's own. */
static double own_of(const float *weight, size_t count) {
    size_t own = 0;
    for (size_t k = 0; k < count; ++k) own += weight[k] > 0;
    return (double)own;
}

/* ---- in order ---- */

/* Cells of the same sizes on all ranks, however many there are. */
static atn_status sort_slab(slab *s) {
    reg_engine *e = &s->q->engine;
    double like = REG_FIRST_EDGE * s->p->spacing * s->p->unit;
    atn_status status = ATN_OK;
    for (int k = 1; k >= 0 && status == ATN_OK; --k) {
        uint32_t *from = NULL;
        status = reg_curve_make(&s->given[k], like, true, &s->sorted[k], &s->curve[k], &from);
        atn_free(e->ctx, from);
        cloud_points_free(&s->given[k]);
        s->given[k] = (cloud_points){0};
    }
    return status;
}

/* A cloud at a resolution: means of cells of that edge, or all points. */
static atn_status make_side(slab *s, int k, double edge, reg_side *out) {
    const reg_problem *q = s->q;
    const reg_engine *e = &q->engine;
    cloud_points merged = {0};
    reg_curve curve = {0};
    double cell = edge > 0 ? reg_curve_edge(&s->curve[k], edge * q->unit) : 0;
    bool merges = cell > 0 && s->sorted[k].count > 1;
    atn_status status = merges ? reg_curve_merge(&s->sorted[k], &s->curve[k], cell, &merged, &curve) : ATN_OK;
    const cloud_points *points = merges ? &merged : &s->sorted[k];
    if (status == ATN_OK)
        status = reg_side_make(e->device, points, k ? q->target_origin : q->source_origin, q->unit, e->type,
                               reg_engine_block(e, points->count), out);
    cloud_points_free(&merged);
    reg_curve_free(&curve);
    return status;
}

static void free_side(slab *s, reg_side *side) {
    reg_engine_forget(&s->q->engine, side);
    reg_side_free(side);
    *side = (reg_side){0};
}

/* How thick the target's surfaces are, in the mean of all ranks. */
static atn_status look(slab *s, double spacing, double *thickness) {
    reg_side *target = &s->q->level[0].target;
    double own = own_of(target->weight, target->count);
    bool tells = own >= FEWEST && spacing > 0;
    *thickness = INFINITY;
    atn_status status = tells ? reg_surface_thickness(&s->q->engine, target, spacing, thickness) : ATN_OK;
    double weight = status == ATN_OK && isfinite(*thickness) ? own : 0, told = weight;
    if (status == ATN_OK) status = reg_join_mean(&s->q->engine, thickness, weight);
    if (status == ATN_OK) status = reg_join_sums(&s->q->engine, &told, 1);
    if (!(told > 0)) *thickness = 0; /* nobody knows, and no coarser cells tell more */
    return status;
}

/* The finest cells that show surfaces, no coarser than those that the samples were registered with. */
static atn_status choose_edge(slab *s) {
    const reg_surface *from = s->p->surface;
    double most = from->finer ? fmax(from->finer->edge, s->p->spacing) : from->spacing, thickness = 0;
    reg_side *target = &s->q->level[0].target;
    atn_status status = make_side(s, 1, 0, target);
    s->spacing = status == ATN_OK ? reg_side_spacing(target) : 0;
    if (status == ATN_OK) status = reg_join_mean(&s->q->engine, &s->spacing, own_of(target->weight, target->count));
    if (status == ATN_OK && from->seen) status = look(s, s->spacing, &thickness);
    for (int n = 0; n < MOST_EDGES && status == ATN_OK && thickness > SEEN; ++n) {
        double next = reg_curve_edge(&s->curve[1], ldexp(REG_FIRST_EDGE * s->spacing, n) * s->q->unit) / s->q->unit;
        if (!(next <= most)) break;
        free_side(s, target);
        s->edge = next;
        status = make_side(s, 1, next, target);
        if (status == ATN_OK) status = look(s, next, &thickness);
    }
    return status;
}

/* ---- shapes ---- */

typedef struct inheriting {
    const reg_side *fine;
    const cloud_grid *grid;
    int32_t *from;
} inheriting;

static void inherit_some(void *user, int64_t from, int64_t to) {
    const inheriting *t = user;
    for (int64_t r = from; r < to; ++r) {
        const double at[3] = {t->fine->position[0][r], t->fine->position[1][r], t->fine->position[2][r]};
        uint32_t nearest = 0;
        double distance2;
        (void)cloud_grid_nearest(t->grid, at, 1, INFINITY, &nearest, &distance2);
        t->from[r] = (int32_t)nearest;
    }
}

/* Those of the nearest point of a level of the sample. */
static atn_status inherit(slab *s, reg_side *coarse, const reg_side *fine, atn_array *shape, atn_array **out) {
    reg_engine *e = &s->q->engine;
    cloud_points points = {.ctx = e->ctx, .count = coarse->count};
    cloud_grid *grid = NULL;
    atn_status status = reg_side_fetch(coarse);
    points.weight = coarse->weight;
    memcpy(points.position, coarse->position, sizeof points.position);
    if (status == ATN_OK) status = cloud_grid_make(&points, 0, &grid);
    inheriting t = {fine, grid, status == ATN_OK ? atn_alloc(e->ctx, fine->padded * sizeof *t.from) : NULL};
    if (status == ATN_OK && !t.from) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) atn_parallel((int64_t)fine->padded, 2048, inherit_some, &t);
    if (status == ATN_OK) status = reg_surface_take(e, shape, t.from, fine->padded, out);
    atn_free(e->ctx, t.from);
    cloud_grid_free(grid);
    return status;
}

/* Both sides at the resolution that was chosen, with shapes, and how many places all ranks have. */
static atn_status open_surface(slab *s) {
    reg_problem *q = s->q;
    reg_level *level = &q->level[0];
    const reg_surface *from = s->p->surface;
    reg_distribution *d = q->engine.distribution;
    atn_status status = make_side(s, 0, s->edge, &level->source);
    if (status != ATN_OK) return status;
    level->count = level->source.count;
    level->weight = level->source.total;
    d->rows[0] = (double)level->source.padded;
    d->rows[1] = (double)level->target.padded;
    double counts[4] = {own_of(level->source.weight, level->source.count),
                        own_of(level->target.weight, level->target.count), d->rows[0], d->rows[1]};
    status = reg_join_sums(&q->engine, counts, 4);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) {
        d->merged[k] = (size_t)counts[k];
        d->rows[k] = counts[2 + k];
    }
    q->spacing = q->source_spacing = s->edge > 0 ? s->edge : s->spacing;
    s->surface = (reg_surface){.level = level, .spacing = q->spacing, .seen = from->seen};
    if (status == ATN_OK) status = inherit(s, &from->level->source, &level->source, from->source, &s->surface.source);
    if (status == ATN_OK) status = inherit(s, &from->level->target, &level->target, from->target, &s->surface.target);
    return status;
}

/* ---- what is found ---- */

static void forget_sides(slab *s) {
    free_side(s, &s->q->level[0].source);
    free_side(s, &s->q->level[0].target);
}

/* A covariance that all points tell; else that of the samples stays, which have less to say. */
static atn_status find_covariance(slab *s) {
    atn_register_result *r = s->p->result;
    double before[36];
    bool had = r->has_covariance;
    if (s->p->settings->no_covariance) return ATN_OK;
    memcpy(before, r->covariance, sizeof before);
    atn_status status = reg_covariance(s->q, &s->surface);
    s->p->withheld = s->q->withheld;
    s->p->surveyed = false;
    if (r->has_covariance || !had) return status;
    r->has_covariance = true;
    memcpy(r->covariance, before, sizeof before);
    return status;
}

static void free_sorted(slab *s) {
    for (int k = 0; k < 2; ++k) {
        cloud_points_free(&s->sorted[k]);
        reg_curve_free(&s->curve[k]);
        s->sorted[k] = (cloud_points){0};
        s->curve[k] = (reg_curve){0};
    }
}

/* Over all points, as they are. */
static atn_status measure(slab *s) {
    reg_problem *q = s->q;
    reg_level *level = &q->level[0];
    atn_status status = ATN_OK;
    if (s->edge > 0) {
        reg_surface_free(&s->surface);
        forget_sides(s);
        status = make_side(s, 1, 0, &level->target);
        if (status == ATN_OK) status = make_side(s, 0, 0, &level->source);
    }
    free_sorted(s);
    level->weight = status == ATN_OK ? level->source.total : 0;
    q->spacing = s->spacing;
    return status == ATN_OK ? reg_measure(q, q->result) : status;
}

/* What the samples were registered with, but for the level that shapes are of. */
static void release_samples(reg_problem *p) {
    for (int32_t k = 0; k < p->levels; ++k) {
        reg_level *level = &p->level[k];
        for (int c = 0; c < 2 && level != p->surface->level && !level->n_more; ++c) {
            reg_side *side = c ? &level->target : &level->source;
            reg_engine_forget(&p->engine, side);
            reg_side_free(side);
            *side = (reg_side){0};
        }
    }
    cloud_points_free(&p->source);
    cloud_points_free(&p->target);
    reg_curve_free(&p->source_curve);
    reg_curve_free(&p->target_curve);
}

static atn_status refine(slab *s) {
    reg_problem *q = s->q;
    const reg_surface *from = s->p->surface;
    double samples = from->finer ? fmax(from->finer->edge, s->p->spacing) : from->spacing;
    double reach = fmax(AROUND * samples, 2 * WITHIN * s->p->spacing) + 4 * s->p->noise;
    atn_status status = reg_distribute_send(s->p, reach, s->given);
    release_samples(s->p);
    if (status == ATN_OK) status = sort_slab(s);
    if (status == ATN_OK) status = choose_edge(s);
    if (status == ATN_OK) status = open_surface(s);
    if (status == ATN_OK) status = reg_polish_last(q, &s->surface);
    if (status == ATN_OK) status = find_covariance(s);
    if (status == ATN_OK) status = measure(s);
    return status;
}

/* In the frames of the samples. */
static void open_slab(reg_problem *p, reg_problem *q, slab *s) {
    *s = (slab){.p = p, .q = q};
    q->engine = p->engine;
    q->engine.ranks = NULL;
    q->engine.joins = p->engine.distribution;
    q->settings = p->settings;
    q->result = p->result;
    q->pose = p->pose;
    q->unit = p->unit;
    q->noise = p->noise;
    q->parts = q->haste = q->levels = q->fine = 1;
    memcpy(q->source_origin, p->source_origin, sizeof q->source_origin);
    memcpy(q->target_origin, p->target_origin, sizeof q->target_origin);
    q->level[0].bounds = p->level[p->levels - 1].bounds;
}

static void close_slab(slab *s) {
    reg_problem *p = s->p;
    atn_ranks *ranks = p->engine.ranks;
    reg_surface_free(&s->surface);
    forget_sides(s);
    free_sorted(s);
    for (int k = 0; k < 2; ++k) cloud_points_free(&s->given[k]);
    p->engine = s->q->engine; /* with the kernels that are planned now */
    p->engine.ranks = ranks;
    p->engine.joins = NULL;
}

atn_status reg_distribute_refine(reg_problem *p) {
    reg_distribution *d = p->engine.distribution;
    if (!p->converged || p->result->verdict == ATN_VERDICT_REFUSED || !p->surface || !(p->spacing > 0)) return ATN_OK;
    reg_problem *q = atn_zalloc(p->engine.ctx, sizeof *q);
    slab s;
    if (!q) return atn_ranks_agree(d->ranks, ATN_ERR_MEMORY);
    open_slab(p, q, &s);
    reg_span span = reg_begin(&q->engine);
    atn_status status = refine(&s);
    reg_end(&q->engine, REG_REFINE, span);
    close_slab(&s);
    status = atn_ranks_broadcast(d->ranks, status, 0, &q->pose, sizeof q->pose);
    if (status == ATN_OK) {
        p->pose = q->pose;
        d->refined = true;
        d->edge = s.edge * p->unit;
    }
    atn_free(p->engine.ctx, q);
    return status;
}
