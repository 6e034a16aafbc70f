/* Shifts of a pose that bring repeated parts of the clouds onto each other: windows of a facade, steps of a stair,
 * waves. Planes of the source, as the pose turns them, vote with those planes of the target that lean as they do for
 * the shift between both, in a raster of shifts. Planes of a common direction count less, so that details are heard
 * besides floors. Where votes gather, the planes that voted tell the shift exactly. */
#include "apps/register/fitness.h"

#include "apps/register/fitness_normals.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

enum { VOTERS = 200, BINS = 7, CLASSES = 3 * BINS * BINS, SIDE = 48, LAYER = SIDE * SIDE, CELLS = SIDE * LAYER };
static const double FARTHEST = 2;     /* radii of the target that a shift is looked for in, along each axis */
static const double SIXTH = 1.38;     /* distance of the sixth neighbour on a surface, in roots of its area per point */
static const float LEANS = 0.95F;     /* least cosine of normals */
static const float OF_WALL = 0.5F;    /* weight of a plane that is part of a wall: it fits anywhere along it */
static const float GATHERED = 0.3F;   /* of the votes for the pose as it is: that many are worth a look */
static const double AS_VOTED = 0.003; /* how much the middle of a cell counts beside the planes in it */

/* Planes of one cloud in the target's frame. */
typedef struct voters {
    float at[FITNESS_SAMPLES][3], normal[FITNESS_SAMPLES][3], weight[FITNESS_SAMPLES];
    float n[3][FITNESS_SAMPLES], place[3][FITNESS_SAMPLES]; /* normals and places again, axis by axis */
    size_t count;
} voters;

typedef struct peak {
    int32_t cell[3];
    float votes;
    double h[9], g[3]; /* of planes that voted for it */
} peak;

typedef struct ballot {
    voters of[2];
    double edge; /* of a cell */
    float *votes;
} ballot;

/* Which direction a normal has, either way. */
static int class_of(const float n[3]) {
    int axis = fabsf(n[1]) > fabsf(n[0]) ? 1 : 0, place[2];
    axis = fabsf(n[2]) > fabsf(n[axis]) ? 2 : axis;
    for (int k = 0; k < 2; ++k) {
        float along = n[(axis + 1 + k) % 3] / (n[axis] != 0 ? n[axis] : 1);
        int bin = (int)((along + 1) / 2 * BINS);
        place[k] = bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
    }
    return (axis * BINS + place[0]) * BINS + place[1];
}

/* One in `every` of the planes of a side; those of a wall weigh less, and those of a direction that many have. */
static void choose(const fitness_side *s, const geom_pose *pose, size_t every, voters *out) {
    size_t of_class[CLASSES] = {0};
    uint8_t class[FITNESS_SAMPLES];
    double scale = geom_pose_scale(pose);
    out->count = 0;
    for (size_t k = 0; k < s->samples; k += every) {
        const fitness_plane *plane = &s->plane[s->sample[k]];
        double at[3] = {(double)plane->at[0], (double)plane->at[1], (double)plane->at[2]}, to[3];
        if (!plane->flat) continue;
        geom_pose_apply(pose, at, to);
        for (int a = 0; a < 3; ++a) {
            const double *row = pose->a + 3 * a;
            out->at[out->count][a] = (float)to[a];
            out->normal[out->count][a] =
                (float)((row[0] * (double)plane->normal[0] + row[1] * (double)plane->normal[1] +
                         row[2] * (double)plane->normal[2]) /
                        scale);
        }
        out->weight[out->count] = s->wall[k] ? OF_WALL : 1;
        class[out->count] = (uint8_t)class_of(out->normal[out->count]);
        ++of_class[class[out->count++]];
    }
    for (size_t k = 0; k < out->count; ++k) {
        out->weight[k] /= sqrtf((float)of_class[class[k]]);
        for (int a = 0; a < 3; ++a) out->n[a][k] = out->normal[k][a], out->place[a][k] = out->at[k][a];
    }
}

static inline int32_t index_of(const int32_t cell[3]) { return (cell[2] * SIDE + cell[1]) * SIDE + cell[0]; }

/* A vote of weight `by` of plane `j` for the shift from p to it, which is in a cell. */
static void count_in_all(const voters *of, size_t j, const float p[3], int32_t cell, float by, peak *peaks, size_t n) {
    const float *q = of->at[j], *normal = of->normal[j], d[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
    const int32_t at[3] = {cell % SIDE, cell / SIDE % SIDE, cell / LAYER};
    double off = (double)(normal[0] * d[0] + normal[1] * d[1] + normal[2] * d[2]);
    for (peak *k = peaks; k < peaks + n; ++k) {
        if ((uint32_t)(at[0] - k->cell[0]) > 1 || (uint32_t)(at[1] - k->cell[1]) > 1 ||
            (uint32_t)(at[2] - k->cell[2]) > 1)
            continue;
        for (int a = 0; a < 3; ++a) {
            k->g[a] += (double)(by * normal[a]) * off;
            for (int b = 0; b < 3; ++b) k->h[3 * a + b] += (double)(by * normal[a] * normal[b]);
        }
    }
}

/* Of all planes the cell of the shift that leads from a place to them; less than 0 where it is too far, or where they
 * do not lean as a normal does. */
ATN_IN_LANES static void find_cells(const voters *of, const float p[3], const float m[3], float per, int32_t *out) {
    const float *x = of->n[0], *y = of->n[1], *z = of->n[2], a = m[0], b = m[1], c = m[2];
    const float *tx = of->place[0], *ty = of->place[1], *tz = of->place[2], px = p[0], py = p[1], pz = p[2];
    const float middle = SIDE / 2.0F, least = 1, most = SIDE - 1, leans = LEANS;
    ATN_LANES()
    for (size_t j = 0; j < of->count; ++j) {
        float u = (tx[j] - px) * per + middle, v = (ty[j] - py) * per + middle, w = (tz[j] - pz) * per + middle;
        float low = u < v ? u : v, high = u < v ? v : u, cosine = fabsf(a * x[j] + b * y[j] + c * z[j]);
        low = w < low ? w : low, high = w < high ? high : w;
        float at = low >= least ? 1.0F : 0.0F;
        at = high < most ? at : 0;
        at = cosine > leans ? at : 0;
        u = at > 0 ? u : least, v = at > 0 ? v : least, w = at > 0 ? w : least;
        int32_t cell = ((int32_t)w * SIDE + (int32_t)v) * SIDE + (int32_t)u;
        out[j] = at > 0 ? cell : -1;
    }
}

/* Those that have a cell, in their order; their number. */
static size_t find_alike(const voters *of, const int32_t *cell, uint16_t *out) {
    size_t count = 0;
    for (size_t j = 0; j < of->count; ++j) { /* which ones do is nobody's guess: no branch */
        out[count] = (uint16_t)j;
        count += cell[j] >= 0;
    }
    return count;
}

/* All pairs of planes that lean alike: the cells get their votes or, where peaks are known, these do. */
static void vote(ballot *t, peak *peaks, size_t count) {
    const float per = (float)(1 / t->edge);
    for (size_t i = 0; i < t->of[0].count; ++i) {
        const float *p = t->of[0].at[i], *m = t->of[0].normal[i], w = t->of[0].weight[i];
        uint16_t alike[FITNESS_SAMPLES + 1];
        int32_t cell[FITNESS_SAMPLES];
        find_cells(&t->of[1], p, m, per, cell);
        size_t many = find_alike(&t->of[1], cell, alike);
        for (size_t a = 0; a < many; ++a) {
            size_t j = alike[a];
            float by = w * t->of[1].weight[j];
            if (peaks)
                count_in_all(&t->of[1], j, p, cell[j], by, peaks, count);
            else
                t->votes[cell[j]] += by;
        }
    }
}

/* Of a layer from `first` on: the sum of each cell, the next one and both of the next row. */
ATN_IN_LANES static void join_layer(const float *votes, int32_t first, float *out) {
    float pair[LAYER + SIDE];
    int32_t all = first + LAYER + SIDE < CELLS ? LAYER + SIDE : CELLS - first,
            pairs = first + all < CELLS ? all : all - 1;
    int32_t rows = all > LAYER ? LAYER : LAYER - SIDE;
    const float *from = votes + first;
    ATN_LANES()
    for (int32_t k = 0; k < pairs; ++k) pair[k] = from[k] + from[k + 1];
    if (pairs < all) pair[pairs] = from[pairs];
    ATN_LANES()
    for (int32_t k = 0; k < rows; ++k) out[k] = pair[k] + pair[k + SIDE];
    memcpy(out + rows, pair + rows, (size_t)(LAYER - rows) * sizeof *out);
}

/* Each cell becomes the sum of itself and those after it along all axes: shifts do not keep to cells. Layer by layer,
 * in place. */
ATN_IN_LANES static void join(float *votes) {
    float layer[2][LAYER];
    join_layer(votes, 0, layer[0]);
    for (int32_t z = 1; z < SIDE; ++z) {
        const float *last = layer[(z - 1) % 2], *own = layer[z % 2];
        float *to = votes + (z - 1) * LAYER;
        join_layer(votes, z * LAYER, layer[z % 2]);
        ATN_LANES()
        for (int32_t k = 0; k < LAYER; ++k) to[k] = last[k] + own[k];
    }
    memcpy(votes + (SIDE - 1) * LAYER, layer[(SIDE - 1) % 2], sizeof layer[0]);
}

/* Of a row of cells. */
ATN_IN_LANES static float most_in(const float *votes) {
    float most = 0;
    ATN_LANES(reduction(max : most))
    for (int32_t k = 0; k < SIDE; ++k) most = votes[k] > most ? votes[k] : most;
    return most;
}

static bool is_summit(const float *votes, int32_t at) {
    for (int32_t z = -1; z <= 1; ++z)
        for (int32_t y = -1; y <= 1; ++y)
            for (int32_t x = -1; x <= 1; ++x) {
                int32_t other = at + (z * SIDE + y) * SIDE + x;
                if (votes[other] > votes[at] || (votes[other] == votes[at] && other < at)) return false;
            }
    return true;
}

static double length_of(const int32_t cell[3], double edge) {
    double square = 0;
    for (int a = 0; a < 3; ++a) square += (cell[a] + 1 - SIDE / 2.0) * (cell[a] + 1 - SIDE / 2.0);
    return edge * sqrt(square);
}

/* What the pose has as it is. */
static float votes_here(const float *votes) {
    float most = 0;
    for (int32_t z = -2; z <= 0; ++z)
        for (int32_t y = -2; y <= 0; ++y)
            for (int32_t x = -2; x <= 0; ++x) {
                const int32_t cell[3] = {SIDE / 2 + x, SIDE / 2 + y, SIDE / 2 + z};
                most = fmaxf(most, votes[index_of(cell)]);
            }
    return most;
}

/* The highest ones, by falling votes, farther from no shift at all than `beyond`. */
static size_t find_peaks(const ballot *t, double beyond, size_t most, peak *out) {
    float least = GATHERED * votes_here(t->votes);
    size_t count = 0;
    for (int32_t at = index_of((const int32_t[3]){1, 1, 1}); at < index_of((const int32_t[3]){0, 0, SIDE - 2}); ++at) {
        if (at % SIDE == 0 && !(most_in(t->votes + at) > least)) { /* nothing in this row */
            at += SIDE - 1;
            continue;
        }
        if (!(t->votes[at] > least) || (count == most && t->votes[at] <= out[most - 1].votes)) continue;
        peak p = {.cell = {at % SIDE, at / SIDE % SIDE, at / SIDE / SIDE}, .votes = t->votes[at]};
        if (length_of(p.cell, t->edge) < beyond || !is_summit(t->votes, at)) continue;
        size_t k = count < most ? count++ : most - 1;
        for (; k > 0 && out[k - 1].votes < p.votes; --k) out[k] = out[k - 1];
        out[k] = p;
    }
    return count;
}

/* The shift that planes ask for; where they leave it open, the middle of the cells. */
static bool solve(const peak *p, double edge, double shift[3]) {
    double h[9], inverse[9], trace = p->h[0] + p->h[4] + p->h[8];
    if (!(trace > 0)) return false;
    memcpy(h, p->h, sizeof h);
    for (int a = 0; a < 3; ++a) h[4 * a] += AS_VOTED * trace;
    if (!geom_invert_symmetric(3, h, inverse)) return false;
    for (int a = 0; a < 3; ++a) {
        shift[a] = 0;
        for (int b = 0; b < 3; ++b)
            shift[a] += inverse[3 * a + b] * (p->g[b] + AS_VOTED * trace * edge * (p->cell[b] + 1 - SIDE / 2.0));
    }
    return true;
}

atn_status fitness_shifts(const fitness *f, const geom_pose *pose, double beyond, size_t most, geom_pose *out,
                          size_t *count) {
    const fitness_side *source = &f->side[0], *target = &f->side[1];
    size_t every = source->samples / VOTERS + 1, found = 0;
    *count = 0;
    if (f->solid) return ATN_OK;
    ballot *t = atn_alloc(f->ctx, sizeof *t);
    peak *peaks = atn_zalloc(f->ctx, (most + 1) * sizeof *peaks);
    float *votes = atn_zalloc(f->ctx, CELLS * sizeof *votes);
    if (t && peaks && votes) {
        double per_sample = sqrt((double)target->points.count / (double)(target->samples ? target->samples : 1));
        t->votes = votes;
        t->edge = fmax(target->spacing / SIXTH * per_sample, 2 * FARTHEST / SIDE);
        choose(source, pose, every, &t->of[0]);
        choose(target, &GEOM_IDENTITY, 1, &t->of[1]);
        vote(t, NULL, 0);
        join(votes);
        found = find_peaks(t, beyond, most, peaks);
        if (found) vote(t, peaks, found);
    }
    for (size_t k = 0; k < found; ++k) {
        double shift[3];
        if (!solve(&peaks[k], t->edge, shift)) continue;
        out[*count] = *pose;
        for (int a = 0; a < 3; ++a) out[*count].b[a] += shift[a];
        ++*count;
    }
    atn_status status = t && peaks && votes ? ATN_OK : ATN_ERR_MEMORY;
    atn_free(f->ctx, votes);
    atn_free(f->ctx, peaks);
    atn_free(f->ctx, t);
    return status;
}
