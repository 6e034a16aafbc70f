/* Shapes from sums over near points, a kernel's work; then the axes of each on the host. */
#include "apps/register/surface.h"

#include "base/clock.h"
#include "base/eigen.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>

static const double AROUND = 2;      /* sigma of what counts as around a point, in spacings */
static const double FLATTEST = 0.03; /* of l0 / l2: no surface is flatter */
static const double FLAT = 0.2;      /* thickness over width below which a surface is seen */
enum { FEWEST = 1000, LOOKED_AT = 2000 };

const int REG_AXES[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
const int REG_PLACES[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

/* From the ten sums about a point; returns thickness over width. */
static double shape_of(const double m[10], float out[6]) {
    static const int MOMENT[6] = {4, 7, 9, 5, 6, 8};
    double c[6], value[3], vector[3][3];
    for (int k = 0; k < 6; ++k) {
        out[k] = k < 3;
        c[k] = m[0] > 0 ? (m[MOMENT[k]] - m[1 + REG_AXES[k][0]] * m[1 + REG_AXES[k][1]] / m[0]) / m[0] : 0;
    }
    atn_eigen_symmetric3(c, value, vector);
    if (!(value[2] > 0)) return 1; /* alone: all directions alike */
    double least = fmax(value[0], FLATTEST * value[2]);
    for (int k = 0; k < 6; ++k) {
        double sum = 0;
        for (int e = 0; e < 3; ++e) {
            double flatter = fmax(value[e], least) / least;
            sum += flatter * flatter * vector[e][REG_AXES[k][0]] * vector[e][REG_AXES[k][1]];
        }
        out[k] = (float)sum;
    }
    return sqrt(fmax(value[0], 0) / fmax(value[1], least));
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct task {
    const double *moment; /* ten rows of `count` */
    size_t count, every;  /* every so many of them tell their thickness over width in `ratio` */
    float (*out)[6];
    double *ratio;
} task;

static void shape_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    (void)worker;
    for (size_t r = (size_t)from; r < (size_t)to; ++r) {
        double m[10], flat;
        for (size_t a = 0; a < 10; ++a) m[a] = t->moment[a * t->count + r];
        flat = shape_of(m, t->out[r]);
        if (r % t->every == 0) t->ratio[r / t->every] = flat;
    }
}

/* Shapes of a side; the median of thickness over width. */
static atn_status look(reg_engine *e, reg_side *side, double spacing, float (*out)[6], double *thickness) {
    size_t n = side->padded, every = n / LOOKED_AT + 1, taken = (n + every - 1) / every;
    double ratio[LOOKED_AT + 1];
    reg_pose scaled = reg_pose_scaled(&REG_IDENTITY, sqrt(M_LOG2E) / (AROUND * spacing));
    double *moment = atn_alloc(e->ctx, 10 * n * sizeof *moment);
    atn_status status = moment ? reg_place(e, side, &scaled) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = reg_around(e, side, sqrt(log2(1e3)), moment);
    double since = atn_clock_seconds();
    if (status == ATN_OK) {
        task t = {moment, n, every, out, ratio};
        atn_parallel((int64_t)n, 1024, shape_some, &t);
        qsort(ratio, taken, sizeof *ratio, ascending);
    }
    *thickness = status == ATN_OK && taken ? ratio[taken / 2] : 1;
    reg_timed(e, REG_HOST, since);
    atn_free(e->ctx, moment);
    return status;
}

static atn_status look_at(reg_problem *p, int32_t level, reg_surface *s, double *thickness) {
    const atn_ctx *ctx = p->engine.ctx;
    s->level = &p->level[level];
    bool all = level == p->levels - 1;
    s->spacing = all ? p->spacing : s->level->edge;
    s->source = atn_alloc(ctx, s->level->source.padded * sizeof *s->source);
    s->target = atn_alloc(ctx, s->level->target.padded * sizeof *s->target);
    if (!s->source || !s->target) return ATN_ERR_MEMORY;
    return look(&p->engine, &s->level->target, s->spacing, s->target, thickness);
}

atn_status reg_surface_make(reg_problem *p, reg_surface *out) {
    const atn_ctx *ctx = p->engine.ctx;
    double ignored, thickness = 1;
    *out = (reg_surface){0};
    int32_t level = p->levels - 1;
    atn_status status = look_at(p, level, out, &thickness);
    while (status == ATN_OK && thickness > FLAT && level > 0 && p->level[level - 1].target.count >= FEWEST) {
        reg_surface_free(out, ctx);
        status = look_at(p, --level, out, &thickness);
    }
    if (status == ATN_OK && thickness > FLAT && level < p->levels - 1) { /* no surface: points fill space */
        reg_surface_free(out, ctx);
        status = look_at(p, p->levels - 1, out, &thickness);
    }
    bool all = out->level == &p->level[p->levels - 1];
    out->seen = 2 * thickness * thickness <= 1;
    if (status == ATN_OK)
        status = look(&p->engine, &out->level->source, all ? p->source_spacing : out->spacing, out->source, &ignored);
    if (status != ATN_OK) reg_surface_free(out, ctx);
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
