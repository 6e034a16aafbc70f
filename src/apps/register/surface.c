/* Shapes from sums over near points, a kernel's work; the level they are taken at from a sample of the target. */
#include "apps/register/surface.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AROUND = 2;        /* sigma of what counts as around a point, in spacings */
static const double FLATTEST = 0.03;   /* of l0 / l2: no surface is flatter */
static const double FLAT = 0.2;        /* thickness over width below which a surface is seen, */
static const double NEARLY_FLAT = 0.3; /* and below which points tell where it is */
enum { FEWEST = 1000, LOOKED_AT = 2000, MANY = 80000 };

const int REG_AXES[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
const int REG_PLACES[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

/* Eigenvalues of a symmetric matrix (xx yy zz xy xz yz), ascending; in closed form, which is exact enough for shapes:
 * what matters of the smallest one is beside the largest. */
static void eigenvalues(const double c[6], double value[3]) {
    double mean = (c[0] + c[1] + c[2]) / 3, x = c[0] - mean, y = c[1] - mean, z = c[2] - mean;
    double square = x * x + y * y + z * z + 2 * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5]), p = sqrt(square / 6);
    value[0] = value[1] = value[2] = mean;
    if (!(p > 0)) return;
    double det = x * (y * z - c[5] * c[5]) - c[3] * (c[3] * z - c[4] * c[5]) + c[4] * (c[3] * c[5] - y * c[4]);
    double angle = acos(fmax(-1, fmin(1, det / (2 * p * p * p)))) / 3;
    value[2] = mean + 2 * p * cos(angle);
    value[0] = mean + 2 * p * cos(angle + 2 * M_PI / 3);
    value[1] = fmin(fmax(3 * mean - value[0] - value[2], value[0]), value[2]);
}

/* Adds by u u^T, u the eigenvector of `value`: the longest product of two rows of c - value. */
static void add_along(double c[6], double value, double by) {
    const double row[3][3] = {{c[0] - value, c[3], c[4]}, {c[3], c[1] - value, c[5]}, {c[4], c[5], c[2] - value}};
    double u[3] = {0}, longest = 0;
    for (int k = 0; k < 3; ++k) {
        const double *a = row[k], *b = row[(k + 1) % 3];
        double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        double n2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        if (!(n2 > longest)) continue;
        longest = n2;
        for (int d = 0; d < 3; ++d) u[d] = n[d];
    }
    for (int k = 0; k < 6 && longest > 0; ++k) c[k] += by * u[REG_AXES[k][0]] * u[REG_AXES[k][1]] / longest;
}

/* From the ten sums about a point; returns thickness over width. Variances below `least` are raised to it; then C is
 * the square of the spread over `least`. */
static double shape_of(const double m[REG_AROUND_SUMS], float out[6]) {
    static const int MOMENT[6] = {4, 7, 9, 5, 6, 8};
    double c[6], value[3], by = m[0] > 0 ? 1 / m[0] : 0;
    for (int k = 0; k < 6; ++k) {
        out[k] = k < 3;
        c[k] = (m[MOMENT[k]] - m[1 + REG_AXES[k][0]] * m[1 + REG_AXES[k][1]] * by) * by;
    }
    eigenvalues(c, value);
    if (!(value[2] > 0)) return 1; /* alone: all directions alike */
    double least = fmax(value[0], FLATTEST * value[2]);
    if (value[0] < least && value[1] > least)
        add_along(c, value[0], least - value[0]);
    else if (value[0] < least) { /* a line: least I + (l2 - least) u u^T */
        double line[6] = {least, least, least, 0, 0, 0}, before[6];
        memcpy(before, c, sizeof c);
        add_along(c, value[2], value[2] - least);
        for (int k = 0; k < 6; ++k) c[k] += line[k] - before[k];
    }
    for (int k = 0; k < 6; ++k) {
        const int *row = REG_PLACES + 3 * REG_AXES[k][0], *column = REG_PLACES + 3 * REG_AXES[k][1];
        out[k] =
            (float)((c[row[0]] * c[column[0]] + c[row[1]] * c[column[1]] + c[row[2]] * c[column[2]]) / (least * least));
    }
    return sqrt(fmax(value[0], 0) / fmax(value[1], least));
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct task {
    const reg_around_sums *sums;
    float (*out)[6]; /* or NULL */
    double *ratio;   /* thickness over width; or NULL */
} task;

static void shape_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    bool wide = t->sums->type == ATN_DP;
    (void)worker;
    for (int64_t r = from; r < to; ++r) {
        double m[REG_AROUND_SUMS], flat;
        float shape[6];
        for (int a = 0; a < REG_AROUND_SUMS; ++a)
            m[a] = wide ? ((const double *)t->sums->number[a])[r] : (double)((const float *)t->sums->number[a])[r];
        flat = shape_of(m, t->out ? t->out[r] : shape);
        if (t->ratio) t->ratio[r] = flat;
    }
}

/* Shapes of rows among the points of `all`, or how thick they are. */
static atn_status look(reg_engine *e, reg_side *rows, reg_side *all, double spacing, float (*out)[6], double *ratio) {
    reg_pose scaled = reg_pose_scaled(&REG_IDENTITY, sqrt(M_LOG2E) / (AROUND * spacing));
    reg_around_sums sums = {0};
    atn_status status = reg_place(e, rows, &scaled);
    if (status == ATN_OK) status = reg_place(e, all, &scaled);
    if (status == ATN_OK) status = reg_around(e, rows, all, sqrt(log2(1e3)), &sums);
    double since = atn_clock_seconds();
    task t = {&sums, out, ratio};
    if (status == ATN_OK) atn_parallel((int64_t)rows->padded, 1024, shape_some, &t);
    reg_timed(e, REG_SHAPES, since);
    reg_around_free(&sums);
    return status;
}

/* The median of thickness over width, of some blocks of a side. */
static atn_status thickness_of(reg_engine *e, reg_side *side, double spacing, double *out) {
    reg_side some = {0};
    atn_status status = reg_side_sample(side, side->padded / LOOKED_AT + 1, &some);
    double *ratio = status == ATN_OK ? atn_alloc(e->ctx, some.padded * sizeof *ratio) : NULL;
    if (status == ATN_OK) status = ratio ? look(e, &some, side, spacing, NULL, ratio) : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        qsort(ratio, some.padded, sizeof *ratio, ascending);
        *out = ratio[some.padded / 2];
    }
    atn_free(e->ctx, ratio);
    reg_engine_forget(e, &some);
    reg_side_free(&some);
    return status;
}

static double spacing_at(const reg_problem *p, int32_t level) {
    return level == p->levels - 1 ? p->spacing : p->level[level].edge;
}

/* The level and how thick surfaces are there; and the finest one that nearly shows them. */
static atn_status choose_level(reg_problem *p, int32_t *level, double *thickness, int32_t *finest) {
    atn_status status = ATN_OK;
    *thickness = INFINITY;
    *finest = -1;
    for (*level = p->levels; *level > 0 && *thickness > FLAT && status == ATN_OK;) {
        reg_side *target = &p->level[*level - 1].target;
        if (*level < p->levels && target->count < FEWEST) break;
        --*level;
        status = thickness_of(&p->engine, target, spacing_at(p, *level), thickness);
        if (*finest < 0 && *thickness <= NEARLY_FLAT) *finest = *level;
    }
    if (status != ATN_OK || *thickness <= FLAT || *level == p->levels - 1) return status;
    *level = p->levels - 1; /* no surface: points fill space */
    return thickness_of(&p->engine, &p->level[*level].target, p->spacing, thickness);
}

atn_status reg_surface_make(reg_problem *p, reg_surface *out) {
    const atn_ctx *ctx = p->engine.ctx;
    double thickness = 1;
    int32_t level, finest;
    *out = (reg_surface){0};
    atn_status status = choose_level(p, &level, &thickness, &finest);
    if (status != ATN_OK) return status;
    int32_t flat = level; /* many points take part in the last steps alone */
    while (level > 0 && p->level[level].target.count > MANY && p->level[level - 1].target.count > MANY / 4) --level;
    reg_level *of = &p->level[level];
    bool all = level == p->levels - 1;
    *out = (reg_surface){.level = of,
                         .spacing = spacing_at(p, level),
                         .finer = level < flat ? &p->level[finest] : NULL,
                         .seen = 2 * thickness * thickness <= 1,
                         .source = atn_alloc(ctx, of->source.padded * sizeof *out->source),
                         .target = atn_alloc(ctx, of->target.padded * sizeof *out->target)};
    if (!out->source || !out->target) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) status = look(&p->engine, &of->target, &of->target, out->spacing, out->target, NULL);
    if (status == ATN_OK)
        status = look(&p->engine, &of->source, &of->source, all ? p->source_spacing : out->spacing, out->source, NULL);
    if (status != ATN_OK) reg_surface_free(out, ctx);
    return status;
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
    float (*from)[6], (*to)[6];
} inheriting;

static void inherit_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const inheriting *t = user;
    (void)worker;
    for (int64_t r = from; r < to; ++r) memcpy(t->to[r], t->from[t->place[t->cell[t->side->origin[r]]]], sizeof *t->to);
}

/* The shapes of a side of the finer level. */
static atn_status inherit(const reg_problem *p, const reg_surface *s, bool target, float (**out)[6]) {
    const atn_ctx *ctx = p->engine.ctx;
    const reg_side *coarse = target ? &s->level->target : &s->level->source;
    const reg_side *fine = target ? &s->finer->target : &s->finer->source;
    uint32_t *cell = atn_alloc(ctx, fine->count * sizeof *cell), *place = atn_alloc(ctx, coarse->count * sizeof *place);
    *out = atn_alloc(ctx, fine->padded * sizeof **out);
    atn_status status = cell && place && *out ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK)
        status = merged_into(target ? &p->target : &p->source, target ? &p->target_curve : &p->source_curve,
                             s->finer->edge * p->unit, s->level->edge * p->unit, cell);
    inheriting t = {fine, cell, place, target ? s->target : s->source, *out};
    for (size_t r = coarse->padded; r-- > 0 && status == ATN_OK;) place[coarse->origin[r]] = (uint32_t)r;
    if (status == ATN_OK) atn_parallel((int64_t)fine->padded, 8192, inherit_some, &t);
    atn_free(ctx, cell);
    atn_free(ctx, place);
    return status;
}

atn_status reg_surface_finer(reg_problem *p, const reg_surface *from, reg_surface *out) {
    *out = (reg_surface){
        .level = from->finer, .spacing = spacing_at(p, (int32_t)(from->finer - p->level)), .seen = from->seen};
    atn_status status = inherit(p, from, false, &out->source);
    if (status == ATN_OK) status = inherit(p, from, true, &out->target);
    if (status != ATN_OK) reg_surface_free(out, p->engine.ctx);
    return status;
}

atn_status reg_surface_points(reg_problem *p, reg_surface *out) {
    reg_level *level = &p->level[p->levels - 1];
    const struct {
        float (**to)[6];
        size_t count;
    } sides[] = {{&out->source, level->source.padded}, {&out->target, level->target.padded}};
    *out = (reg_surface){.level = level, .spacing = p->spacing};
    for (int side = 0; side < 2; ++side) {
        float(*shape)[6] = *sides[side].to = atn_alloc(p->engine.ctx, sides[side].count * sizeof *shape);
        if (!shape) {
            reg_surface_free(out, p->engine.ctx);
            return ATN_ERR_MEMORY;
        }
        for (size_t r = 0; r < sides[side].count; ++r)
            for (int k = 0; k < 6; ++k) shape[r][k] = k < 3;
    }
    return ATN_OK;
}

void reg_surface_free(reg_surface *s, const atn_ctx *ctx) {
    atn_free(ctx, s->source);
    atn_free(ctx, s->target);
    *s = (reg_surface){0};
}
