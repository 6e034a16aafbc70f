/* How much the gradient of the polish would differ for other points of the same surfaces. Neighbours err alike (they
 * share the shapes around them and what the surface does between its points), so the terms of all pairs in a cube of
 * several spacings are added before they are squared; larger cubes that tell more widen that. Pairs of a sparse target
 * pull to the inside of what is round, everywhere alike: that is no scatter, and is taken out before. */
#include "apps/register/covariance.h"
#include "apps/register/distribute.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

static const double CUBE = 4;     /* spacings: the edge of the smallest cubes, which are joined to larger ones */
static const double CHANCE = 1;   /* deviations that larger cubes scatter more by chance */
enum { FEWEST = 24, LEAST = 13 }; /* cubes that there should be, and must be */
static const double LOST = 2;     /* cubes that the pose follows */
enum { BENT = 8 };                /* terms of a cube that tell how its surface is bent */
/* Where there are more terms than that, neighbours along the curve are added up on the device, up to eight of them:
 * they are closer together than the smallest cubes are wide. */
enum { TERMS = 65536, JOINED = 8 };
/* Of several ranks, which send each other their terms: where these are more, more of them are added up, and cubes are
 * wider. */
enum { MOST_JOINED = 1 << 18 };

static void terms_free(reg_terms *t, const atn_ctx *ctx) {
    cloud_points_free(&t->at);
    atn_free(ctx, t->g);
    *t = (reg_terms){0};
}

static atn_status terms_make(const atn_ctx *ctx, size_t count, reg_terms *out) {
    *out = (reg_terms){0};
    atn_status status = cloud_points_make(ctx, count, false, &out->at);
    if (status == ATN_OK && !(out->g = atn_alloc(ctx, (count + 1) * sizeof *out->g))) status = ATN_ERR_MEMORY;
    if (status != ATN_OK) terms_free(out, ctx);
    return status;
}

enum { STRETCH = 4096 }; /* terms that one thread looks at */

typedef struct collecting {
    const float *single; /* as reg_polish_terms has them: these, */
    const double *wide;  /* or these */
    size_t columns;
    size_t *count; /* of the terms of each stretch; then of those before it */
    reg_terms *to; /* NULL: they are counted */
} collecting;

static double number_at(const collecting *t, int row, size_t r) {
    size_t at = (size_t)row * t->columns + r;
    return t->single ? (double)t->single[at] : t->wide[at];
}

static void collect(void *user, int64_t from, int64_t to) {
    const collecting *t = user;
    for (size_t k = (size_t)from; k < (size_t)to; ++k) {
        size_t n = t->to ? t->count[k] : 0, end = (k + 1) * STRETCH < t->columns ? (k + 1) * STRETCH : t->columns;
        for (size_t r = k * STRETCH; r < end; ++r) {
            if (!(number_at(t, REG_POLISH_TERM - 1, r) > 0)) continue;
            for (int axis = 0; axis < 3 && t->to; ++axis) t->to->at.position[axis][n] = number_at(t, axis, r);
            for (int i = 0; i < 6 && t->to; ++i) t->to->g[n][i] = number_at(t, 3 + i, r);
            if (t->to) t->to->at.weight[n] = (float)number_at(t, REG_POLISH_TERM - 1, r);
            ++n;
        }
        if (!t->to) t->count[k] = n;
    }
}

static atn_status collect_all(const reg_scattering *from, reg_terms *out) {
    size_t stretches = (from->columns + STRETCH - 1) / STRETCH, n = 0;
    collecting t = {.single = from->wide ? NULL : from->fetched,
                    .wide = from->wide ? from->fetched : NULL,
                    .columns = from->columns,
                    .count = atn_alloc(from->ctx, stretches * sizeof *t.count)};
    *out = (reg_terms){0};
    if (!t.count) return ATN_ERR_MEMORY;
    atn_parallel((int64_t)stretches, 1, collect, &t);
    for (size_t k = 0; k < stretches; ++k) {
        size_t here = t.count[k];
        t.count[k] = n;
        n += here;
    }
    atn_status status = terms_make(from->ctx, n, out);
    t.to = out;
    if (status == ATN_OK) atn_parallel((int64_t)stretches, 1, collect, &t);
    atn_free(from->ctx, t.count);
    return status;
}

/* Numbers of a term on its way: x y z, g, weight. */
enum { TERM = 10 };

/* Those of all ranks in place of this one's. */
static atn_status join_terms(const reg_engine *e, atn_status status, reg_terms *t) {
    size_t count = status == ATN_OK ? t->at.count : 0, bytes = TERM * sizeof(double);
    double *own = atn_alloc(e->ctx, count * bytes + 1), *all;
    void *list;
    for (size_t k = 0; own && k < count; ++k) {
        for (int a = 0; a < 3; ++a) own[TERM * k + (size_t)a] = t->at.position[a][k];
        memcpy(own + TERM * k + 3, t->g[k], sizeof t->g[k]);
        own[TERM * k + 9] = (double)t->at.weight[k];
    }
    terms_free(t, e->ctx);
    if (status == ATN_OK && !own) status = ATN_ERR_MEMORY;
    status = atn_ranks_gather(e->joins->ranks, status, own, count * bytes, &list, &bytes);
    atn_free(e->ctx, own);
    all = list;
    count = bytes / (TERM * sizeof *all);
    if (status == ATN_OK) status = terms_make(e->ctx, count, t);
    for (size_t k = 0; status == ATN_OK && k < count; ++k) {
        for (int a = 0; a < 3; ++a) t->at.position[a][k] = all[TERM * k + (size_t)a];
        memcpy(t->g[k], all + TERM * k + 3, sizeof t->g[k]);
        t->at.weight[k] = (float)all[TERM * k + 9];
    }
    atn_free(e->ctx, list);
    return status;
}

/* ---- what is round ---- */

/* Nearest points of a sparse target, and planes through them, lie inside what is round: f . n = b k c for the force f
 * of a pair that weighs k, c being the curvature of its cube's terms along their normal n. One b is fitted to all. */
typedef struct bend {
    double n[3], c;
    double above, below; /* of this cube, for b */
    double sum[6];       /* of what was taken out of its terms */
} bend;

typedef struct rounding {
    reg_terms *of;
    cloud_cubes cubes;
    bend *bent; /* of each cube; owned */
    double b;
} rounding;

/* The moments of a cube's terms about their mean. */
static void look_at_cube(const reg_terms *of, const uint32_t *own, size_t count, double mean[3], double m[6]) {
    double n = (double)count, first[3], sum[3] = {0}, square[6] = {0};
    for (int a = 0; a < 3; ++a) first[a] = of->at.position[a][own[0]];
    for (size_t k = 0; k < count; ++k) {
        double d[3];
        for (int a = 0; a < 3; ++a) sum[a] += d[a] = of->at.position[a][own[k]] - first[a];
        square[0] += d[0] * d[0], square[1] += d[1] * d[1], square[2] += d[2] * d[2];
        square[3] += d[0] * d[1], square[4] += d[0] * d[2], square[5] += d[1] * d[2];
    }
    static const int ROW[6] = {0, 1, 2, 0, 0, 1}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
    for (int e = 0; e < 6; ++e) m[e] = (square[e] - sum[ROW[e]] * sum[COLUMN[e]] / n) / n;
    for (int a = 0; a < 3; ++a) mean[a] = first[a] + sum[a] / n;
}

static void bend_some(void *user, int64_t from, int64_t to) {
    const rounding *t = user;
    for (int64_t c = from; c < to; ++c) {
        const uint32_t *own = t->cubes.order + t->cubes.start[c];
        size_t count = t->cubes.start[c + 1] - t->cubes.start[c];
        double mean[3], m[6], value[3], vector[3][3], above = 0, below = 0;
        bend *b = &t->bent[c];
        *b = (bend){.c = 0};
        if (count < BENT) continue;
        look_at_cube(t->of, own, count, mean, m);
        geom_eigen3(m, value, vector);
        memcpy(b->n, vector[0], sizeof b->n);
        for (size_t k = 0; k < count; ++k) { /* height over the plane = c / 2 x distance along it, squared */
            const double *g = t->of->g[own[k]];
            double height = 0, along2 = -value[1] - value[2], weight = (double)t->of->at.weight[own[k]];
            for (int a = 0; a < 3; ++a) {
                double d = t->of->at.position[a][own[k]] - mean[a];
                height += d * b->n[a];
                along2 += d * d;
            }
            along2 -= height * height;
            above += height * along2;
            below += along2 * along2;
            b->above += weight * (g[3] * b->n[0] + g[4] * b->n[1] + g[5] * b->n[2]);
            b->below += weight * weight;
        }
        b->c = below > 0 ? 2 * above / below : 0;
        b->above *= b->c;
        b->below *= b->c * b->c;
    }
}

static void fit_rounding(rounding *t) {
    double above = 0, below = 0;
    for (size_t c = 0; c < t->cubes.count; ++c) {
        above += t->bent[c].above;
        below += t->bent[c].below;
    }
    t->b = below > 0 ? above / below : 0;
}

/* Takes it out of the terms, and adds it up: only that sum acts on the pose. */
static void take_some(void *user, int64_t from, int64_t to) {
    const rounding *t = user;
    for (int64_t c = from; c < to; ++c) {
        bend *b = &t->bent[c];
        for (uint32_t k = t->cubes.start[c]; k < t->cubes.start[c + 1] && b->c != 0; ++k) {
            size_t r = t->cubes.order[k];
            double by = t->b * b->c * (double)t->of->at.weight[r], y[3], f[3];
            for (int a = 0; a < 3; ++a) {
                y[a] = t->of->at.position[a][r];
                f[a] = by * b->n[a];
            }
            for (int a = 0; a < 3; ++a) {
                double turns = y[(a + 1) % 3] * f[(a + 2) % 3] - y[(a + 2) % 3] * f[(a + 1) % 3];
                t->of->g[r][a] -= turns;
                t->of->g[r][3 + a] -= f[a];
                b->sum[a] += turns;
                b->sum[3 + a] += f[a];
            }
        }
    }
}

/* `cubes`: those of the terms, for what comes next. */
static atn_status without_rounding(const atn_ctx *ctx, reg_terms *all, double edge, double sum[6], cloud_cubes *cubes) {
    enum { EACH = 64 }; /* cubes that are worth a thread */
    rounding t = {.of = all};
    memset(sum, 0, 6 * sizeof *sum);
    atn_status status = cloud_cubes_make(&all->at, edge, &t.cubes);
    if (status == ATN_OK && !(t.bent = atn_alloc(ctx, (t.cubes.count + 1) * sizeof *t.bent))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        atn_parallel((int64_t)t.cubes.count, EACH, bend_some, &t);
        fit_rounding(&t);
        atn_parallel((int64_t)t.cubes.count, EACH, take_some, &t);
        for (size_t c = 0; c < t.cubes.count; ++c)
            for (int i = 0; i < 6; ++i) sum[i] += t.bent[c].sum[i];
    }
    atn_free(ctx, t.bent);
    *cubes = t.cubes;
    return status;
}

/* ---- cubes ---- */

typedef struct joining {
    const reg_terms *from;
    const cloud_cubes *cubes;
    double edge, shift;
    reg_terms *to;
} joining;

static void join_some(void *user, int64_t from, int64_t to) {
    const joining *t = user;
    for (int64_t c = from; c < to; ++c) {
        double *g = t->to->g[c], weight = 0;
        memset(g, 0, sizeof t->to->g[c]);
        for (uint32_t k = t->cubes->start[c]; k < t->cubes->start[c + 1]; ++k) {
            for (int i = 0; i < 6; ++i) g[i] += t->from->g[t->cubes->order[k]][i];
            weight += (double)t->from->at.weight[t->cubes->order[k]];
        }
        for (int axis = 0; axis < 3; ++axis) {
            double at = t->from->at.position[axis][t->cubes->order[t->cubes->start[c]]];
            t->to->at.position[axis][c] = (floor(at / t->edge) + 0.5) * t->edge - t->shift;
        }
        t->to->at.weight[c] = (float)weight;
    }
}

static void move_all(reg_terms *t, double by) {
    for (int axis = 0; axis < 3 && by != 0; ++axis)
        for (size_t k = 0; k < t->at.count; ++k) t->at.position[axis][k] += by;
}

/* One term for each of their cubes, at its middle. */
static atn_status join_cubes(const atn_ctx *ctx, const reg_terms *t, const cloud_cubes *cubes, double edge,
                             double shift, reg_terms *out) {
    atn_status status = terms_make(ctx, cubes->count, out);
    if (status == ATN_OK) atn_parallel((int64_t)cubes->count, 256, join_some, &(joining){t, cubes, edge, shift, out});
    return status;
}

/* `shift` of them all to begin with, back at the end. */
static atn_status join(const atn_ctx *ctx, reg_terms *t, double edge, double shift, reg_terms *out) {
    cloud_cubes cubes = {0};
    move_all(t, shift);
    atn_status status = cloud_cubes_make(&t->at, edge, &cubes);
    if (status == ATN_OK) status = join_cubes(ctx, t, &cubes, edge, shift, out);
    cloud_cubes_free(&cubes);
    move_all(t, -shift);
    return status;
}

/* Squares of reg_terms joined to cubes of `edge`, over two places of the raster, how many cubes there are, and as how
 * many of equal weight they count: 1 / sum of squared shares. The terms are of cubes whose edges are half of that, and
 * become those of these. The sum of all terms is 0, which takes LOST such cubes' squares away: a cube of a surface
 * holds the pose in three of six ways, so that it has 6 / 3 of its share of all that the pose can follow. */
typedef struct squared {
    double b[36];
    size_t cubes;
    double even;
} squared;

static atn_status squares(const atn_ctx *ctx, reg_terms *t, double edge, squared *out) {
    atn_status status = ATN_OK;
    *out = (squared){.cubes = SIZE_MAX, .even = INFINITY};
    for (int half = 1; half >= 0 && status == ATN_OK; --half) {
        reg_terms joined;
        double sum = 0, square = 0;
        status = join(ctx, t, edge, half * edge / 2, &joined);
        if (status != ATN_OK) return status;
        for (size_t c = 0; c < joined.at.count; ++c) {
            double w = (double)joined.at.weight[c];
            sum += w;
            square += w * w;
        }
        double even = square > 0 ? sum * sum / square : 0, by = even > LOST ? 0.5 * even / (even - LOST) : 0;
        for (size_t c = 0; c < joined.at.count; ++c)
            for (int i = 0; i < 36; ++i) out->b[i] += by * joined.g[c][i / 6] * joined.g[c][i % 6];
        if (joined.at.count < out->cubes) out->cubes = joined.at.count;
        out->even = fmin(out->even, even);
        terms_free(half ? &joined : t, ctx);
        if (!half) *t = joined;
    }
    return status;
}

/* How much larger squares are in cubes of 4 edges, 8 and so on than B, as long as there are enough, less what chance
 * makes of so few (the deviation of the mean of three squares for each); 1 at least. What a scanner bends is alike over
 * any distance. */
static atn_status widened(const atn_ctx *ctx, reg_terms *t, double edge, const double inverse[36], double *out) {
    *out = 1;
    for (double larger = 4 * edge;; larger *= 2) {
        squared s;
        double trace = 0;
        atn_status status = squares(ctx, t, larger, &s);
        if (status != ATN_OK || s.cubes < LEAST) return status;
        for (int i = 0; i < 36; ++i) trace += inverse[i] * s.b[i] / 6; /* both are symmetric */
        *out = fmax(*out, trace * (1 - CHANCE * sqrt(2 / (3 * s.even))));
    }
}

atn_status reg_scattering_open(reg_polish_state *s, const geom_pose *pose, reg_scattering *out) {
    bool fine = s->surface->level == &s->p->level[s->p->levels - 1];
    double spacing = fine ? fmax(s->surface->spacing, s->p->source_spacing) : s->surface->spacing;
    const reg_engine *e = &s->p->engine;
    size_t padded = s->source->padded, all = e->joins ? (size_t)e->joins->rows[0] : padded;
    size_t per = all < 2 * TERMS ? 1 : all < JOINED * TERMS ? all / TERMS : JOINED;
    if (e->joins && all / per > MOST_JOINED) per = all / MOST_JOINED;
    *out = (reg_scattering){.ctx = e->ctx,
                            .engine = e->joins ? e : NULL,
                            .columns = (padded + per - 1) / per,
                            .wide = s->source->type == ATN_DP,
                            .edge = 2 * CUBE * spacing * sqrt(fmax(1, (double)per / JOINED))};
    atn_status status = reg_polish_terms(s, pose, per, &out->numbers);
    return status == ATN_OK ? atn_array_map_read(out->numbers, &out->fetched) : status;
}

void reg_scattering_free(reg_scattering *scattering) {
    atn_array_free(scattering->numbers);
    scattering->numbers = NULL;
}

/* From cubes of 2 edges, widened where larger ones tell more. */
void reg_scatter(void *user) {
    reg_scattering *t = user;
    reg_terms all, small = {0};
    double inverse[36], round[6], widen = 1, edge = t->edge;
    squared found = {0};
    cloud_cubes cubes = {0};
    atn_status status = collect_all(t, &all);
    if (t->engine) status = join_terms(t->engine, status, &all);
    if (status == ATN_OK) status = without_rounding(t->ctx, &all, edge / 2, round, &cubes);
    for (int finer = 0; finer < 4 && status == ATN_OK && found.cubes < FEWEST; ++finer) {
        terms_free(&small, t->ctx);
        edge /= 2;
        status = finer ? join(t->ctx, &all, edge, 0, &small) : join_cubes(t->ctx, &all, &cubes, edge, 0, &small);
        if (status == ATN_OK) status = squares(t->ctx, &small, 2 * edge, &found);
    }
    t->told = status == ATN_OK && found.cubes >= LEAST && geom_invert_symmetric(6, found.b, inverse);
    if (t->told) status = widened(t->ctx, &small, edge, inverse, &widen);
    for (int i = 0; i < 36 && t->told; ++i) t->b[i] = widen * found.b[i] + round[i / 6] * round[i % 6];
    cloud_cubes_free(&cubes);
    terms_free(&small, t->ctx);
    terms_free(&all, t->ctx);
    t->status = status;
}
