/* Levels of resolution: while the distance scale is large, few points carry as much information as all of them. */
#include "apps/register/problem.h"

#include "base/attempt.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdio.h>

enum { FEWEST = 300 };           /* points of the coarsest level's smaller cloud, about */
static const double WORTH = 0.6; /* a level has at most that share of the points of the next; */
/* so far from its edge on, this one is enough: points that crowd at many scales are few only at the largest of them. */
static const double APART = 8, CROWDED = 0.95;

static const reg_box NOWHERE = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* Points `from` to `to` - 1, which stay whose they are. */
static cloud_points take(const cloud_points *all, size_t from, size_t to) {
    cloud_points some = *all;
    some.count = to - from;
    for (int axis = 0; axis < 3; ++axis) some.position[axis] += from;
    some.weight += from;
    if (some.species) some.species += from;
    return some;
}

static void note_part(reg_level *level, const reg_side *part) {
    for (int axis = 0; axis < 3; ++axis) {
        level->bounds.low[axis] = fmin(level->bounds.low[axis], part->bounds.low[axis]);
        level->bounds.high[axis] = fmax(level->bounds.high[axis], part->bounds.high[axis]);
    }
    level->count += part->count;
    level->weight += part->total;
}

/* None larger than those of the finest level. */
static int32_t parts_of(const reg_problem *p, size_t points) {
    if (p->parts == 1 || points <= (size_t)p->parts) return 1;
    return (int32_t)ceil((double)p->parts * (double)points / (double)p->source.count);
}

static atn_status make_parts(reg_problem *p, const cloud_points *source, reg_level *level) {
    reg_engine *e = &p->engine;
    int32_t parts = parts_of(p, source->count);
    atn_status status = ATN_OK;
    if (!(level->more = atn_zalloc(e->ctx, (size_t)(p->parts - 1) * sizeof *level->more))) status = ATN_ERR_MEMORY;
    for (int32_t k = 0; k < parts && status == ATN_OK; ++k) {
        size_t from = source->count * (size_t)k / (size_t)parts, to = source->count * (size_t)(k + 1) / (size_t)parts;
        reg_side *side = k ? &level->more[k - 1] : &level->source;
        cloud_points points = take(source, from, to);
        status = reg_side_make(e->device, &points, p->source_origin, p->unit, e->type,
                               reg_engine_block(e, points.count), side);
        if (status != ATN_OK) break;
        level->n_more = k;
        note_part(level, side);
    }
    return status;
}

/* Both sides of a level, where the source goes in one part. */
typedef struct siding {
    reg_problem *p;
    const cloud_points *points[2]; /* source, target */
    const double *origin[2];
    reg_side *side[2];
} siding;

static atn_status make_side(void *user, int64_t from, int64_t to) {
    siding *t = user;
    const reg_engine *e = &t->p->engine;
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k)
        if (!t->side[k]->device)
            status = reg_side_make(e->device, t->points[k], t->origin[k], t->p->unit, e->type,
                                   reg_engine_block(e, t->points[k]->count), t->side[k]);
    return status;
}

enum { EACH_BY_ONE = 1 << 15 }; /* points of a cloud that one core has done as soon as all of them */

/* Sides that are there already stay. */
static atn_status make_sides(reg_problem *p, const cloud_points *source, const cloud_points *target, reg_level *level) {
    bool parts = parts_of(p, source->count) > 1;
    siding t = {.p = p,
                .points = {source, target},
                .origin = {p->source_origin, p->target_origin},
                .side = {&level->source, &level->target}};
    atn_status status;
    level->bounds = NOWHERE;
    if (parts) {
        status = make_side(&t, 1, 2);
        reg_side_free(&level->source);
    } else if (source->count <= EACH_BY_ONE && target->count <= EACH_BY_ONE)
        status = atn_attempt(p->engine.ctx, 2, 0, make_side, &t);
    else
        status = make_side(&t, 0, 2);
    if (status == ATN_OK && parts) return make_parts(p, source, level);
    if (status == ATN_OK) note_part(level, &level->source);
    return status;
}

/* All points of a cloud, before the other levels are wanted: they tell the spacing, and where too many crowd. */
typedef struct looking {
    reg_problem *p;
    const char *which;
    cloud_points *points;
    reg_curve *curve;
    uint32_t *from;
    const double *origin;
    reg_side *side;
    double *spacing;
    bool crowded; /* are there such places? */
    atn_status status;
} looking;

/* The sigma of the end is half a spacing; pairs of up to three are looked at. A surface has 4 points in such a cell,
 * points that fill space have 8. Lists of near pairs would be as long as the square of the number of points that crowd,
 * and say no more about the pose than a few of them with their weights. */
static const double CROWD_CELL = 2; /* spacings */
enum { CROWD_MOST = 64 };

static double crowd_edge(const looking *t) { return reg_curve_edge(t->curve, CROWD_CELL * *t->spacing * t->p->unit); }

static bool is_crowded(const looking *t) {
    const atn_register_settings *s = t->p->settings;
    if (!(*t->spacing > 0) || s->compat || s->dense) return false; /* all pairs are asked for */
    return reg_curve_crowded(t->points, t->curve, crowd_edge(t), CROWD_MOST);
}

static atn_status thin(const looking *t) {
    size_t before = t->points->count;
    if (!t->crowded) return ATN_OK;
    atn_status status = reg_curve_thin(t->points, t->curve, crowd_edge(t), CROWD_MOST, t->from);
    if (status != ATN_OK) return status;
    reg_side_free(t->side); /* of all points */
    atn_log(t->points->ctx, ATN_LOG_INFO,
            "register: the %s has crowded places: %zu points are merged into others there", t->which,
            before - t->points->count);
    return ATN_OK;
}

static void look_at(void *user) {
    looking *t = user;
    const reg_engine *e = &t->p->engine;
    t->status = reg_side_make(e->device, t->points, t->origin, t->p->unit, e->type,
                              reg_engine_block(e, t->points->count), t->side);
    *t->spacing = 0;
    if (t->status == ATN_OK && !reg_spacing_together(e->client, t->side, t->spacing))
        *t->spacing = reg_side_spacing(t->side);
    t->crowded = t->status == ATN_OK && is_crowded(t);
}

/* At the same time where they are prepared so. */
static atn_status look_at_both(reg_problem *p, void (*before)(reg_problem *p)) {
    reg_level *level = &p->level[0];
    atn_aside beside = {0};
    looking target = {.p = p,
                      .which = "target",
                      .points = &p->target,
                      .curve = &p->target_curve,
                      .from = p->target_from,
                      .origin = p->target_origin,
                      .side = &level->target,
                      .spacing = &p->spacing};
    looking source = {.p = p,
                      .which = "source",
                      .points = &p->source,
                      .curve = &p->source_curve,
                      .from = p->source_from,
                      .origin = p->source_origin,
                      .side = &level->source,
                      .spacing = &p->source_spacing};
    reg_span span = reg_begin(&p->engine);
    if (p->halved) atn_aside_begin(p->engine.ctx, &beside, look_at, &source, (p->spare + 1) / 2);
    look_at(&target);
    if (p->halved)
        atn_aside_end(&beside);
    else if (target.status == ATN_OK)
        look_at(&source);
    atn_status status = target.status == ATN_OK ? source.status : target.status;
    if (status == ATN_OK && (target.crowded || source.crowded)) before(p);
    if (status == ATN_OK) status = thin(&target);
    if (status == ATN_OK) status = thin(&source);
    reg_end(&p->engine, REG_SPACING, span);
    return status;
}

/* ---- on the device ---- */

/* All points for the host again: it does what the device has no program for. */
static atn_status leave_device(reg_problem *p) {
    reg_engine *e = &p->engine;
    reg_side_free(&p->level[0].source);
    reg_side_free(&p->level[0].target);
    cloud_points_free(&p->source);
    cloud_points_free(&p->target);
    atn_status status = reg_ordered_fetch(e, &p->source_ordered, &p->source, &p->source_curve, &p->source_from);
    if (status == ATN_OK)
        status = reg_ordered_fetch(e, &p->target_ordered, &p->target, &p->target_curve, &p->target_from);
    reg_ordered_free(&p->source_ordered);
    reg_ordered_free(&p->target_ordered);
    p->on_device = false;
    return status;
}

static atn_status find_crowds(reg_problem *p, const reg_ordered *points, double spacing, bool *crowded) {
    *crowded = false;
    if (!(spacing > 0) || p->settings->dense) return ATN_OK;
    double edge = reg_curve_edge(&(reg_curve){.cell = points->cell}, CROWD_CELL * spacing * p->unit);
    return reg_ordered_crowded(&p->engine, points, edge, CROWD_MOST, crowded);
}

static atn_status begin_on_device(reg_problem *p, bool *crowded) {
    reg_engine *e = &p->engine;
    reg_level *level = &p->level[0];
    const reg_ordered *source = &p->source_ordered, *target = &p->target_ordered;
    reg_span span = reg_begin(e);
    atn_status status = reg_side_of(e, target, p->target_origin, p->unit, &level->target);
    if (status == ATN_OK) status = reg_side_of(e, source, p->source_origin, p->unit, &level->source);
    if (status == ATN_OK) status = reg_side_settle(&level->target);
    if (status == ATN_OK) status = reg_side_settle(&level->source);
    reg_end(e, REG_LEVELS, span);
    span = reg_begin(e);
    if (status == ATN_OK)
        status = reg_ordered_spacing(e, target, &level->target, p->target_origin, p->unit, &p->spacing);
    if (status == ATN_OK)
        status = reg_ordered_spacing(e, source, &level->source, p->source_origin, p->unit, &p->source_spacing);
    reg_end(e, REG_SPACING, span);
    if (status == ATN_OK) status = find_crowds(p, source, p->source_spacing, crowded);
    if (status == ATN_OK && !*crowded) status = find_crowds(p, target, p->spacing, crowded);
    return status;
}

/* Sides of both merged clouds, on their way. */
static atn_status make_level(reg_problem *p, const reg_ordered merged[2], reg_level *level) {
    atn_status status = reg_side_of(&p->engine, &merged[0], p->source_origin, p->unit, &level->source);
    return status == ATN_OK ? reg_side_of(&p->engine, &merged[1], p->target_origin, p->unit, &level->target) : status;
}

static atn_status merge_level(reg_problem *p, const reg_ordered fine[2], double edge, reg_level *from,
                              reg_ordered coarse[2]) {
    atn_status status = reg_ordered_merge(&p->engine, &fine[0], edge, &coarse[0], &from->source.parent);
    if (status == ATN_OK) status = reg_ordered_merge(&p->engine, &fine[1], edge, &coarse[1], &from->target.parent);
    return status == ATN_OK ? make_level(p, coarse, from + 1) : status;
}

static atn_status settle_level(reg_level *level) {
    atn_status status = reg_side_settle(&level->source);
    if (status == ATN_OK) status = reg_side_settle(&level->target);
    if (status == ATN_OK) note_part(level, &level->source);
    return status;
}

/* As make_coarser, with counts that are known before anything is merged. */
static atn_status make_coarser_on_device(reg_problem *p) {
    reg_ordered fine[2] = {p->source_ordered, p->target_ordered};
    reg_curve curve = {.cell = fine[1].cell};
    double edge = reg_curve_edge(&curve, REG_FIRST_EDGE * p->spacing * p->unit), last = edge / 2;
    bool small = false;
    atn_status status = ATN_OK;
    p->source_ordered = p->target_ordered = (reg_ordered){0};
    for (; status == ATN_OK && !small && p->levels < REG_MOST_LEVELS && p->spacing > 0; edge *= 2) {
        size_t source = reg_ordered_cells(&fine[0], edge), target = reg_ordered_cells(&fine[1], edge);
        double share = (double)(source + target) / (double)(fine[0].count + fine[1].count);
        small = source < FEWEST || target < FEWEST;
        if (small || share >= (edge >= APART * last ? CROWDED : WORTH)) continue;
        reg_ordered coarse[2] = {{0}, {0}};
        reg_level *level = &p->level[p->levels++];
        last = edge;
        *level = (reg_level){.edge = edge / p->unit, .bounds = NOWHERE};
        status = merge_level(p, fine, edge, level - 1, coarse);
        for (int k = 0; k < 2; ++k) {
            reg_ordered_free(&fine[k]);
            fine[k] = coarse[k];
        }
    }
    for (int k = 0; k < 2; ++k) reg_ordered_free(&fine[k]);
    for (int32_t k = 1; k < p->levels && status == ATN_OK; ++k) status = settle_level(&p->level[k]);
    return status;
}

/* ---- from both ---- */

atn_status reg_levels_begin(reg_problem *p, void (*before)(reg_problem *p)) {
    bool crowded = false;
    if (p->on_device) {
        atn_status begun = begin_on_device(p, &crowded);
        if (begun == ATN_OK && crowded) begun = leave_device(p);
        if (begun != ATN_OK || !crowded) return begun;
    }
    atn_status status = look_at_both(p, before);
    p->source_count = p->source.count;
    p->target_count = p->target.count;
    return status;
}

atn_status reg_part(reg_level *level, int32_t k, reg_side **out) {
    *out = k ? &level->more[k - 1] : &level->source;
    for (int32_t other = 0; other <= level->n_more; ++other)
        if (other != k) reg_side_park(other ? &level->more[other - 1] : &level->source);
    return reg_side_unpark(*out);
}

/* The levels above all points: the edges of their cells, from fine to coarse. */
typedef struct coarsening {
    reg_problem *p;
    double edge[REG_MOST_LEVELS];
    int32_t count;
    atn_status status;
} coarsening;

typedef struct counting {
    const reg_problem *p;
    reg_curve_counts of[2]; /* source, target */
} counting;

static void count_cells(void *user, int64_t from, int64_t to) {
    counting *t = user;
    for (int64_t k = from; k < to; ++k)
        reg_curve_count(k ? &t->p->target : &t->p->source, k ? &t->p->target_curve : &t->p->source_curve, &t->of[k]);
}

/* Those with so many points less that they are worth it, down to few. */
static void choose_edges(coarsening *t) {
    const reg_problem *p = t->p;
    counting counts = {.p = p};
    double edge = reg_curve_edge(&p->target_curve, REG_FIRST_EDGE * p->spacing * p->unit), last = edge / 2;
    size_t fine = p->source.count + p->target.count;
    atn_parallel_pieces(2, count_cells, &counts);
    for (t->count = 0; p->levels + t->count < REG_MOST_LEVELS && p->spacing > 0; edge *= 2) {
        size_t source = reg_curve_counted(&counts.of[0], edge), target = reg_curve_counted(&counts.of[1], edge);
        if (source < FEWEST || target < FEWEST) return;
        if ((double)(source + target) >= (edge >= APART * last ? CROWDED : WORTH) * (double)fine) continue;
        t->edge[t->count++] = last = edge;
        fine = source + target;
    }
}

static atn_status coarser_side(reg_problem *p, const cloud_points *points, bool target, reg_level *level) {
    const reg_engine *e = &p->engine;
    if (!target && parts_of(p, points->count) > 1) return make_parts(p, points, level);
    reg_side *side = target ? &level->target : &level->source;
    atn_status status = reg_side_make(e->device, points, target ? p->target_origin : p->source_origin, p->unit, e->type,
                                      reg_engine_block(e, points->count), side);
    if (status == ATN_OK && !target) note_part(level, side);
    return status;
}

/* One cloud at all levels, each made from the one before. */
static atn_status make_coarser_of(void *user, int64_t from, int64_t to) {
    const coarsening *t = user;
    reg_problem *p = t->p;
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k) {
        cloud_points fine = {0}, coarse;
        reg_curve curve = {0}, coarse_curve;
        for (int32_t n = 0; n < t->count && status == ATN_OK; ++n) {
            status = reg_curve_merge(n   ? &fine
                                     : k ? &p->target
                                         : &p->source,
                                     n   ? &curve
                                     : k ? &p->target_curve
                                         : &p->source_curve,
                                     t->edge[n], &coarse, &coarse_curve);
            cloud_points_free(&fine);
            reg_curve_free(&curve);
            fine = coarse;
            curve = coarse_curve;
            if (status == ATN_OK) status = coarser_side(p, &fine, k == 1, &p->level[p->levels + n]);
        }
        cloud_points_free(&fine);
        reg_curve_free(&curve);
    }
    return status;
}

/* Both clouds at the same time where one core has merged each as soon as all of them. */
static atn_status make_coarser(coarsening *t) {
    reg_problem *p = t->p;
    choose_edges(t);
    for (int32_t n = 0; n < t->count; ++n)
        p->level[p->levels + n] = (reg_level){.edge = t->edge[n] / p->unit, .bounds = NOWHERE};
    bool each = p->source.count <= EACH_BY_ONE && p->target.count <= EACH_BY_ONE;
    atn_status status = each ? atn_attempt(p->engine.ctx, 2, 0, make_coarser_of, t) : make_coarser_of(t, 0, 2);
    p->levels += t->count;
    return status;
}

static void coarsen(void *user) {
    coarsening *t = user;
    t->status = make_coarser(t);
}

/* All of them are the host's until somebody asks the device for one. */
static atn_status make_coarser_beside(reg_problem *p, atn_status (*meanwhile)(reg_problem *p, reg_level *all)) {
    atn_aside beside = {0};
    coarsening t = {.p = p};
    /* the surfaces take many cores meanwhile, or another device */
    atn_aside_begin(p->engine.ctx, &beside, coarsen, &t, p->engine.remote ? 2 : 1);
    atn_status status = meanwhile(p, &p->level[0]);
    atn_aside_end(&beside);
    return status == ATN_OK ? t.status : status;
}

static atn_status make_all_coarser(reg_problem *p, atn_status (*meanwhile)(reg_problem *p, reg_level *all)) {
    if (p->on_device) return make_coarser_on_device(p);
    return p->spare && p->parts == 1 ? make_coarser_beside(p, meanwhile) : make_coarser(&(coarsening){.p = p});
}

atn_status reg_levels_make(reg_problem *p, bool pyramid, atn_status (*meanwhile)(reg_problem *p, reg_level *all)) {
    if (p->levels) return ATN_OK;
    reg_span span = reg_begin(&p->engine);
    atn_status status = p->on_device && p->parts > 1 ? leave_device(p) : ATN_OK;
    if (status == ATN_OK) status = make_sides(p, &p->source, &p->target, &p->level[0]);
    p->levels = 1;
    if (status == ATN_OK && pyramid) status = make_all_coarser(p, meanwhile);
    reg_ordered_free(&p->source_ordered);
    reg_ordered_free(&p->target_ordered);
    for (int32_t a = 0, b = p->levels - 1; a < b; ++a, --b) { /* the coarsest first */
        reg_level kept = p->level[a];
        p->level[a] = p->level[b];
        p->level[b] = kept;
    }
    for (p->fine = p->levels; p->fine && p->level[p->fine - 1].n_more;) --p->fine;
    if (!p->fine) p->polished = p->surveyed = false;
    reg_end(&p->engine, REG_LEVELS, span);
    return status;
}

reg_level *reg_level_for(reg_problem *p, double length) {
    int32_t index = 0;
    while (index + 1 < p->levels && length < p->level[index].edge) ++index;
    return &p->level[index];
}

double reg_motion(const reg_problem *p, const geom_pose *a, const geom_pose *b) {
    const reg_box *box = &p->level[p->levels - 1].bounds;
    return geom_pose_motion(a, b, box->low, box->high);
}

void reg_ended(reg_problem *p, bool lost) {
    if (p->reason[0] || p->converged) return;
    if (lost)
        snprintf(p->reason, sizeof p->reason,
                 "no source point lies near the target: the clouds do not overlap where the search began; another "
                 "start, such as auto, may help");
    else
        snprintf(p->reason, sizeof p->reason, "still moving after %d iterations", p->iterations);
}

void reg_levels_free(reg_problem *p) {
    for (int32_t k = 0; k < REG_MOST_LEVELS; ++k) {
        reg_level *level = &p->level[k];
        for (int32_t part = 0; level->more && part < p->parts - 1; ++part) reg_side_free(&level->more[part]);
        atn_free(p->engine.ctx, level->more);
        level->more = NULL;
        level->n_more = 0;
        reg_side_free(&level->source);
        reg_side_free(&level->target);
    }
    p->levels = 0;
}
