/* Local shapes from sums over near points, computed by a kernel; the level at which they are computed is chosen from a
 * sample of the target. */
#include "apps/register/surface.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"
#include "geom/nth.h"

#include <math.h>
#include <string.h>

static const double AROUND = 2;        /* sigma of what counts as around a point, in spacings, */
static const double LEAST = 1e-2;      /* where a point there weighs more than that */
static const double FLATTEST = 0.03;   /* of l0 / l2: no surface is flatter */
static const double FLAT = 0.2;        /* thickness over width below which a surface is seen, */
static const double NEARLY_FLAT = 0.3; /* and below which points tell where it is */
static const double ALONG = 1e4;       /* what a distance along a plane counts less than one across it */
enum { FEWEST = 1000, LOOKED_AT = 1000, FEW = 16 * LOOKED_AT, MANY = 80000 };

/* Shapes of rows among the points of `all`, and how thick they are. */
static atn_status look(reg_engine *e, reg_side *rows, reg_side *all, double spacing, atn_array **shape,
                       atn_array **ratio) {
    double scale = sqrt(M_LOG2E) / (AROUND * spacing);
    geom_pose scaled = geom_pose_scaled(&GEOM_IDENTITY, scale);
    if (rows == all && reg_shapes_together(e, all, scale, FLATTEST, shape, ratio)) return ATN_OK;
    atn_status status = reg_place(e, rows, &scaled);
    if (status == ATN_OK) status = reg_place(e, all, &scaled);
    return status == ATN_OK ? reg_shapes(e, rows, all, sqrt(-log2(LEAST)), FLATTEST, shape, ratio) : status;
}

/* Of LOOKED_AT of them, about. */
static atn_status median_of(const atn_ctx *ctx, atn_array *thick, const reg_side *side, double *out) {
    size_t every = side->padded / LOOKED_AT | 1, n = 0; /* odd: no place of a block is left out */
    double *ratio = atn_alloc(ctx, side->padded * sizeof *ratio);
    geom_weighed *list = atn_alloc(ctx, side->padded * sizeof *list);
    atn_status status = ratio && list ? reg_array_get(thick, side->padded, ratio) : ATN_ERR_MEMORY;
    for (size_t k = 0; k < side->padded && status == ATN_OK; k += every)
        list[n++] = (geom_weighed){.number = ratio[k], .weight = (double)side->weight[k]};
    if (status == ATN_OK) *out = geom_weighed_median(list, n);
    atn_free(ctx, ratio);
    atn_free(ctx, list);
    return status;
}

/* The median of thickness over width, of some blocks of a side. Points count as much as they weigh: among those that
 * were merged, points that belong to nothing are many, and stand for few. Of a side with few points all are looked at,
 * and `shape` is theirs; else NULL. */
static atn_status thickness_of(reg_engine *e, reg_side *side, double spacing, atn_array **shape, double *out) {
    reg_side some = {0};
    atn_array *thick = NULL;
    bool all = side->padded <= FEW;
    *shape = NULL;
    atn_status status = all ? reg_side_fetch(side) : reg_side_sample(e, side, side->padded / LOOKED_AT + 1, &some);
    reg_side *rows = all ? side : &some;
    if (status == ATN_OK) status = look(e, rows, side, spacing, shape, &thick);
    if (status == ATN_OK) status = median_of(e->ctx, thick, rows, out);
    atn_array_free(thick);
    if (!all || status != ATN_OK) {
        atn_array_free(*shape);
        *shape = NULL;
    }
    if (all) return status;
    reg_engine_forget(e, &some);
    reg_side_free(&some);
    return status;
}

atn_status reg_surface_thickness(reg_engine *e, reg_side *side, double spacing, double *out) {
    atn_array *shape;
    atn_status status = thickness_of(e, side, spacing, &shape, out);
    atn_array_free(shape);
    return status;
}

/* About how many points a level's target has without those that belong to nothing: these weigh next to nothing. */
static atn_status count_of(reg_problem *p, int32_t level, double *out) {
    reg_side some = {0};
    const reg_side *side = &p->level[level].target;
    double least;
    size_t solid = 0;
    atn_status status = reg_side_sample(&p->engine, side, side->padded / LOOKED_AT + 1, &some);
    if (status == ATN_OK) status = reg_side_solid(&some, p->engine.ctx, &least, &solid);
    *out = status == ATN_OK ? (double)side->count * (double)solid / (double)some.count : 0;
    reg_side_free(&some);
    return status;
}

static double spacing_at(const reg_problem *p, int32_t level) {
    return level == p->levels - 1 ? p->spacing : p->level[level].edge;
}

atn_status reg_surface_early(reg_problem *p, reg_level *all) {
    bool asked = p->polished && p->spacing > 0 && p->source_spacing > 0 && all->target.count <= MANY;
    if (!asked) return ATN_OK;
    reg_side *const side[2] = {&all->source, &all->target};
    const double spacing[2] = {p->source_spacing, p->spacing};
    atn_array *ahead = NULL; /* what another device does is not waited for */
    atn_status status = ATN_OK;
    if (reg_all_sooner(&p->engine, side[0], side[0]))
        status = look(&p->engine, side[0], side[0], spacing[0], &p->early.shape[0], &ahead);
    atn_array_free(ahead);
    if (status == ATN_OK)
        status = thickness_of(&p->engine, &all->target, p->spacing, &p->early.shape[1], &p->early.thickness);
    p->early.told = status == ATN_OK;
    for (int k = 1; k >= 0 && status == ATN_OK && p->early.thickness <= FLAT; --k) {
        atn_array *ratio = NULL;
        if (!p->early.shape[k]) status = look(&p->engine, side[k], side[k], spacing[k], &p->early.shape[k], &ratio);
        atn_array_free(ratio);
    }
    return status;
}

/* The shapes of a level's target, and how thick surfaces are there. */
static atn_status look_at_level(reg_problem *p, int32_t level, atn_array **shape, double *thickness) {
    if (!p->early.told || level != p->levels - 1)
        return thickness_of(&p->engine, &p->level[level].target, spacing_at(p, level), shape, thickness);
    *shape = p->early.shape[1];
    *thickness = p->early.thickness;
    p->early.shape[1] = NULL;
    p->early.told = false; /* what was looked at is given away */
    return ATN_OK;
}

/* The level and how thick surfaces are there; and the finest one that nearly shows them. `shape`: of the target's
 * points there, if all were looked at. */
static atn_status choose_level(reg_problem *p, int32_t *level, double *thickness, int32_t *finest, atn_array **shape) {
    atn_status status = ATN_OK;
    *thickness = INFINITY;
    *finest = -1;
    *shape = NULL;
    for (*level = p->fine; *level > 0 && *thickness > FLAT && status == ATN_OK;) {
        if (*level < p->fine && p->level[*level - 1].target.count < FEWEST) break;
        --*level;
        atn_array_free(*shape);
        status = look_at_level(p, *level, shape, thickness);
        if (*finest < 0 && *thickness <= NEARLY_FLAT) *finest = *level;
    }
    if (status != ATN_OK || *thickness <= FLAT || *level == p->fine - 1) return status;
    *level = p->fine - 1; /* no surface: points fill space */
    atn_array_free(*shape);
    return look_at_level(p, *level, shape, thickness);
}

static atn_status make(reg_problem *p, reg_surface *out) {
    double thickness = 1;
    int32_t level, finest;
    atn_array *shape, *ratio = NULL;
    *out = (reg_surface){0};
    atn_status status = choose_level(p, &level, &thickness, &finest, &shape);
    if (status != ATN_OK) return status;
    int32_t flat = level; /* many points take part in the last steps alone; then there is no shape yet */
    for (double count = (double)p->level[level].target.count, next; level > 0 && count > MANY; --level, count = next) {
        status = count_of(p, level - 1, &next);
        if (status != ATN_OK) return status;
        if (next <= MANY / 4) break;
    }
    reg_level *of = &p->level[level];
    bool all = level == p->levels - 1;
    *out = (reg_surface){.level = of,
                         .spacing = spacing_at(p, level),
                         .finer = level < flat ? &p->level[finest < 0 ? flat : finest] : NULL,
                         .seen = 2 * thickness * thickness <= 1,
                         .target = shape};
    if (!shape) status = look(&p->engine, &of->target, &of->target, out->spacing, &out->target, &ratio);
    atn_array_free(ratio);
    ratio = NULL;
    if (all) {
        out->source = p->early.shape[0];
        p->early.shape[0] = NULL;
    }
    if (status == ATN_OK && !out->source)
        status =
            look(&p->engine, &of->source, &of->source, all ? p->source_spacing : out->spacing, &out->source, &ratio);
    atn_array_free(ratio);
    if (status != ATN_OK) reg_surface_free(out);
    return status;
}

atn_status reg_surface_of(reg_problem *p, reg_surface **out) {
    reg_surface *made = p->surface ? NULL : atn_zalloc(p->engine.ctx, sizeof *made);
    *out = p->surface;
    if (p->surface) return ATN_OK;
    atn_status status = made ? make(p, made) : ATN_ERR_MEMORY;
    if (status == ATN_OK)
        *out = p->surface = made;
    else
        atn_free(p->engine.ctx, made);
    return status;
}

void reg_surface_end(reg_problem *p) {
    if (p->surface) reg_surface_free(p->surface);
    atn_free(p->engine.ctx, p->surface);
    p->surface = NULL;
    for (int k = 0; k < 2; ++k) {
        atn_array_free(p->early.shape[k]);
        p->early.shape[k] = NULL;
    }
    p->early.told = false;
}

/* Of the points of a level: which ones of the coarser level they are merged into. */
static atn_status merged_into(const cloud_points *points, const reg_curve *curve, double edge, double coarse,
                              uint32_t *out) {
    const atn_ctx *ctx = points->ctx;
    uint32_t *fine = atn_alloc(ctx, points->count * sizeof *fine), *cell = atn_alloc(ctx, points->count * sizeof *cell);
    atn_status status = fine && cell ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = reg_curve_cells(points, curve, edge, fine);
    if (status == ATN_OK) status = reg_curve_cells(points, curve, coarse, cell);
    for (size_t k = 0; k < points->count && status == ATN_OK; ++k) out[fine[k]] = cell[k];
    atn_free(ctx, fine);
    atn_free(ctx, cell);
    return status;
}

typedef struct inheriting {
    const reg_side *side;
    const uint32_t *cell, *place;
    int32_t *from;
} inheriting;

static void inherit_some(void *user, int64_t from, int64_t to) {
    const inheriting *t = user;
    for (int64_t r = from; r < to; ++r) t->from[r] = (int32_t)t->place[t->cell[t->side->origin[r]]];
}

/* The columns of shapes at places that are on the device. */
static atn_status take_at(reg_engine *e, atn_array *shape, atn_array *places, size_t count, atn_array **out) {
    *out = NULL;
    atn_status status = atn_array_create_matrix(e->device, e->type, 6, (int64_t)count, 0, out);
    if (status == ATN_OK) status = reg_array_open(*out);
    reg_binding bound[] = {{"given", shape}, {"from", places}, {"taken", *out}};
    if (status == ATN_OK) status = reg_engine_run(e, REG_INHERIT, bound, sizeof bound / sizeof *bound);
    if (status != ATN_OK) {
        atn_array_free(*out);
        *out = NULL;
    }
    return status;
}

atn_status reg_surface_take(reg_engine *e, atn_array *shape, const int32_t *from, size_t count, atn_array **out) {
    atn_array *places = NULL;
    *out = NULL;
    atn_status status = atn_array_create_vector(e->device, ATN_INT32, (int64_t)count, &places);
    if (status == ATN_OK) status = atn_array_put(places, from, 0);
    if (status == ATN_OK) status = take_at(e, shape, places, count, out);
    atn_array_free(places);
    return status;
}

/* From level to level down to the one that has shapes, where the device knows which points were merged into which. */
static atn_status inherit_on_device(reg_problem *p, const reg_surface *s, bool target, atn_array *shape,
                                    atn_array **out) {
    reg_engine *e = &p->engine;
    const reg_side *fine = target ? &s->finer->target : &s->finer->source;
    atn_array *place = fine->parent, *owned = NULL;
    atn_status status = ATN_OK;
    for (const reg_level *level = s->finer - 1; level > s->level && status == ATN_OK; --level) {
        atn_array *next = NULL;
        status = atn_array_create_vector(e->device, ATN_INT32, (int64_t)fine->padded, &next);
        if (status == ATN_OK)
            status = reg_ordered_words(e, target ? level->target.parent : level->source.parent, place, next);
        atn_array_free(owned);
        place = owned = next;
    }
    if (status == ATN_OK) status = take_at(e, shape, place, fine->padded, out);
    atn_array_free(owned);
    return status;
}

/* The shapes of a side of the finer level, from those of the coarser one. */
static atn_status inherit(reg_problem *p, const reg_surface *s, bool target, atn_array *shape, atn_array **out) {
    const atn_ctx *ctx = p->engine.ctx;
    const reg_side *coarse = target ? &s->level->target : &s->level->source;
    const reg_side *fine = target ? &s->finer->target : &s->finer->source;
    if (fine->parent) return inherit_on_device(p, s, target, shape, out);
    uint32_t *cell = atn_alloc(ctx, fine->count * sizeof *cell), *place = atn_alloc(ctx, coarse->count * sizeof *place);
    int32_t *from = atn_alloc(ctx, fine->padded * sizeof *from);
    atn_status status = cell && place && from ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK)
        status = merged_into(target ? &p->target : &p->source, target ? &p->target_curve : &p->source_curve,
                             s->finer->edge * p->unit, s->level->edge * p->unit, cell);
    inheriting t = {fine, cell, place, from};
    for (size_t r = coarse->padded; r-- > 0 && status == ATN_OK;) place[coarse->origin[r]] = (uint32_t)r;
    if (status == ATN_OK) atn_parallel((int64_t)fine->padded, 8192, inherit_some, &t);
    if (status == ATN_OK) status = reg_surface_take(&p->engine, shape, from, fine->padded, out);
    atn_free(ctx, cell);
    atn_free(ctx, place);
    atn_free(ctx, from);
    return status;
}

atn_status reg_surface_finer(reg_problem *p, const reg_surface *from, reg_surface *out) {
    *out = (reg_surface){
        .level = from->finer, .spacing = spacing_at(p, (int32_t)(from->finer - p->level)), .seen = from->seen};
    atn_status status = inherit(p, from, false, from->source, &out->source);
    if (status == ATN_OK) status = inherit(p, from, true, from->target, &out->target);
    if (status == ATN_OK && from->planes) status = inherit(p, from, true, from->planes, &out->planes);
    if (status != ATN_OK) reg_surface_free(out);
    return status;
}

/* From six rows of numbers. */
static atn_status put_shapes(reg_engine *e, size_t count, const double *number, atn_array **out) {
    atn_array *whole = NULL;
    atn_status status = atn_array_create_vector(e->device, e->type, 6 * (int64_t)count, &whole);
    if (status == ATN_OK) status = reg_array_put(whole, 6 * count, number);
    if (status == ATN_OK) status = atn_array_view_matrix(whole, 6, (int64_t)count, out);
    atn_array_free(whole); /* the view keeps its elements */
    return status;
}

/* All directions alike. */
static atn_status round_shapes(reg_engine *e, size_t count, atn_array **out) {
    double *number = atn_alloc(e->ctx, 6 * count * sizeof *number);
    atn_status status = number ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < 6 * count && status == ATN_OK; ++k) number[k] = k < 3 * count;
    if (status == ATN_OK) status = put_shapes(e, count, number, out);
    atn_free(e->ctx, number);
    return status;
}

typedef struct flattening {
    double *number; /* six rows of `count` */
    size_t count;
} flattening;

/* C = n n^T + ALONG (1 - n n^T), n the direction in which the shape is the thinnest. */
static void flatten_some(void *user, int64_t from, int64_t to) {
    static const int ROW[6] = {0, 1, 2, 0, 0, 1}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
    const flattening *t = user;
    for (int64_t r = from; r < to; ++r) {
        double shape[6], value[3], n[3];
        for (int e = 0; e < 6; ++e) shape[e] = t->number[(size_t)e * t->count + (size_t)r];
        geom_least3(shape, value, n);
        for (int e = 0; e < 6; ++e)
            t->number[(size_t)e * t->count + (size_t)r] = (e < 3 ? ALONG : 0) - (ALONG - 1) * n[ROW[e]] * n[COLUMN[e]];
    }
}

atn_status reg_surface_flatten(reg_engine *e, reg_surface *s) {
    size_t count = s->level->target.padded;
    if (!s->seen) return ATN_OK;
    flattening t = {.number = atn_alloc(e->ctx, 6 * count * sizeof *t.number), .count = count};
    atn_status status = t.number ? reg_array_get(s->target, 6 * count, t.number) : ATN_ERR_MEMORY;
    if (status == ATN_OK) atn_parallel((int64_t)count, 4096, flatten_some, &t);
    if (status == ATN_OK) status = put_shapes(e, count, t.number, &s->planes);
    atn_free(e->ctx, t.number);
    return status;
}

atn_status reg_surface_points(reg_problem *p, reg_surface *out) {
    reg_level *level = &p->level[p->fine - 1];
    *out = (reg_surface){.level = level, .spacing = spacing_at(p, p->fine - 1)};
    atn_status status = round_shapes(&p->engine, level->source.padded, &out->source);
    if (status == ATN_OK) status = round_shapes(&p->engine, level->target.padded, &out->target);
    if (status != ATN_OK) reg_surface_free(out);
    return status;
}

void reg_surface_free(reg_surface *s) {
    atn_array_free(s->source);
    atn_array_free(s->target);
    atn_array_free(s->planes);
    *s = (reg_surface){0};
}
