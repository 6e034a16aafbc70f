/* Crystals in a cube, block by block. A site p is in the cell of grain a when for every other grain b it is on a's side
 * of the plane between them, f_b(p) = (|b|^2 - |a|^2)/(2 |b - a|) - n_b . p >= 0 with n_b = (b - a)/|b - a|; the least
 * f_b is how far the cell's boundary is. In a block only those grains count whose f_b can be the least. */
#include "apps/lattice/crystal.h"

#include "base/memory.h"

#include <math.h>

#define HCP_CELL     1.7320508075688772, 1.6329931618554521 /* sqrt(3), sqrt(8/3) */
#define PACKING_CELL 9.235 /* diameters; 512 spheres fill 0.34 of it; random addition ends at 0.38 */
static const struct {
    const char *name;
    double usual;   /* nearest neighbours at 2.77, 3.39 and 3.39 angstrom */
    double cell[3]; /* edges of the conventional cell, in a */
    int sites;
    double site[8][3]; /* in edges; of random ones none */
} STRUCTURES[CRYSTAL_STRUCTURES] = {
    {"other", 1, {1, 1, 1}, 0, {{0}}},
    {"bcc", 3.2, {1, 1, 1}, 2, {{0, 0, 0}, {0.5, 0.5, 0.5}}},
    {"fcc", 4.794, {1, 1, 1}, 4, {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}},
    {"hcp", 3.39, {1, HCP_CELL}, 4, {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 5.0 / 6, 0.5}, {0, 1.0 / 3, 0.5}}},
    {"sc", 2.8, {1, 1, 1}, 1, {{0, 0, 0}}},
    {"diamond",
     5.431,
     {1, 1, 1},
     8,
     {{0, 0, 0},
      {0, 0.5, 0.5},
      {0.5, 0, 0.5},
      {0.5, 0.5, 0},
      {0.25, 0.25, 0.25},
      {0.25, 0.75, 0.75},
      {0.75, 0.25, 0.75},
      {0.75, 0.75, 0.25}}},
    {"planes", 2.8, {1, 1, 2}, 1, {{0, 0, 0}}},
    {"gas", 2.54, {8, 8, 8}, CRYSTAL_RANDOM, {{0}}}, /* as many atoms as bcc has */
    {"packing", 2.5, {PACKING_CELL, PACKING_CELL, PACKING_CELL}, CRYSTAL_RANDOM, {{0}}},
};

const char *crystal_name(crystal_structure s) { return STRUCTURES[s].name; }
double crystal_usual(crystal_structure s) { return STRUCTURES[s].usual; }

crystal_structure crystal_label(crystal_structure s) { return s >= CRYSTAL_PLANES ? CRYSTAL_OTHER : s; }

double crystal_density(crystal_structure s, double a) {
    const double *cell = STRUCTURES[s].cell;
    return STRUCTURES[s].sites / (cell[0] * cell[1] * cell[2] * a * a * a);
}

/* ---- grains ---- */

static void turn_any(crystal_grain *g, atn_random *random) {
    double *q = g->quaternion, length = 0;
    for (int k = 0; k < 4; ++k) q[k] = atn_random_normal(random);
    for (int k = 0; k < 4; ++k) length += q[k] * q[k];
    length = q[0] < 0 ? -sqrt(length) : sqrt(length);
    for (int k = 0; k < 4; ++k) q[k] /= length;
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double turn[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    for (int k = 0; k < 9; ++k) g->turn[k] = turn[k];
}

static double nearest(const crystal *c, size_t grains, const double p[3]) {
    double least = INFINITY;
    for (size_t k = 0; k < grains; ++k) {
        const double *q = c->grain[k].centre;
        double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
        least = fmin(least, x * x + y * y + z * z);
    }
    return least;
}

/* Is a place nearer than `least` edges to one of the first `count`, across the sides of the cell too? */
static bool overlaps(const double (*site)[3], int count, const double p[3], double least) {
    for (int k = 0; k < count; ++k) {
        double square = 0;
        for (int d = 0; d < 3; ++d) {
            double away = fabs(p[d] - site[k][d]);
            away = fmin(away, 1 - away);
            square += away * away;
        }
        if (square < least * least) return true;
    }
    return false;
}

/* Spheres one after the other where there is room; least = 0: a gas. */
static void pack(double (*site)[3], double least, atn_random *random) {
    for (int k = 0; k < CRYSTAL_RANDOM; ++k) do
            for (int d = 0; d < 3; ++d) site[k][d] = atn_random_unit(random);
        while (overlaps((const double(*)[3])site, k, site[k], least));
}

/* Only where there are such grains: what else is drawn stays as it is. */
static void make_random(crystal *c, atn_random *random) {
    bool wanted[2] = {false};
    for (size_t k = 0; k < c->grains; ++k)
        if (c->grain[k].structure >= CRYSTAL_GAS) wanted[c->grain[k].structure - CRYSTAL_GAS] = true;
    if (wanted[0]) pack(c->random[0], 0, random);
    if (wanted[1]) pack(c->random[1], 1 / PACKING_CELL, random);
}

void crystal_scatter(crystal *c, atn_random *random) {
    enum { TRIES = 8 }; /* of each the one that is farthest from all others is taken */
    for (size_t k = 0; k < c->grains; ++k) {
        crystal_grain *g = &c->grain[k];
        double far = -1;
        for (int t = 0; t < TRIES; ++t) {
            double p[3];
            for (int d = 0; d < 3; ++d) p[d] = atn_random_unit(random);
            double away = nearest(c, k, p);
            if (!(away > far)) continue;
            far = away;
            for (int d = 0; d < 3; ++d) g->centre[d] = p[d];
        }
        turn_any(g, random);
        for (int d = 0; d < 3; ++d) g->shift[d] = atn_random_unit(random);
    }
    make_random(c, random);
}

/* ---- blocks ---- */

/* f(p) = offset - normal . p */
typedef struct plane {
    double normal[3], offset;
} plane;

typedef struct block {
    const crystal *c;
    double low[3], high[3]; /* sites at low <= p < high */
    double middle[3], reach;
    plane *plane; /* of the grain that is being told; room for all grains */
    size_t planes;
    double *distance; /* of the grains' centres from the middle */
    crystal_visit *visit;
    void *user;
} block;

static double value(const plane *f, const double p[3]) {
    return f->offset - (f->normal[0] * p[0] + f->normal[1] * p[1] + f->normal[2] * p[2]);
}

/* Planes between grain a and the others; those that cannot be the nearest in the block are left out. False: the grain
 * has nothing here. */
static bool find_planes(block *b, size_t a) {
    const crystal *c = b->c;
    double least = INFINITY;
    b->planes = 0;
    for (size_t k = 0; k < c->grains; ++k) {
        const double *from = c->grain[a].centre, *to = c->grain[k].centre;
        double length = 0, squares = 0;
        plane f;
        for (int d = 0; d < 3; ++d) {
            f.normal[d] = to[d] - from[d];
            length += f.normal[d] * f.normal[d];
            squares += to[d] * to[d] - from[d] * from[d];
        }
        length = sqrt(length);
        if (k == a || length == 0) continue;
        for (int d = 0; d < 3; ++d) f.normal[d] /= length;
        f.offset = c->side * squares / (2 * length);
        double here = value(&f, b->middle);
        if (here - b->reach > least + b->reach) continue;
        least = fmin(least, here);
        b->plane[b->planes++] = f;
    }
    return least > -b->reach;
}

static double boundary_of(const block *b, const double p[3]) {
    double least = INFINITY;
    for (size_t k = 0; k < b->planes; ++k) least = fmin(least, value(&b->plane[k], p));
    return least;
}

/* For which k is p + k step in the block? One more on either side is included. */
static bool clip(const block *b, const double p[3], const double step[3], int64_t *from, int64_t *to) {
    double low = -INFINITY, high = INFINITY;
    for (int d = 0; d < 3; ++d) {
        double first = b->low[d] - p[d], last = b->high[d] - p[d];
        if (fabs(step[d]) < 1e-9) {
            if (first > 1e-3 || last < -1e-3) return false;
            continue;
        }
        first /= step[d];
        last /= step[d];
        low = fmax(low, fmin(first, last));
        high = fmin(high, fmax(first, last));
    }
    if (high < low - 2) return false;
    *from = (int64_t)floor(low) - 1;
    *to = (int64_t)ceil(high) + 1;
    return *from <= *to;
}

static bool inside(const block *b, const double p[3]) {
    for (int d = 0; d < 3; ++d)
        if (p[d] < b->low[d] || p[d] >= b->high[d]) return false;
    return p[2] < b->c->height;
}

/* Where site `s` of a cell is: the same numbers give the same place, whichever block asks. */
static void place(const crystal *c, const crystal_grain *g, const double origin[3], int s, const int64_t cell[3],
                  double out[3]) {
    const double *edge = STRUCTURES[g->structure].cell;
    const double *part =
        g->structure >= CRYSTAL_GAS ? c->random[g->structure - CRYSTAL_GAS][s] : STRUCTURES[g->structure].site[s];
    double u[3];
    for (int d = 0; d < 3; ++d) u[d] = ((double)cell[d] + part[d]) * edge[d] * g->a;
    for (int d = 0; d < 3; ++d)
        out[d] = origin[d] + (g->turn[3 * d] * u[0] + g->turn[3 * d + 1] * u[1] + g->turn[3 * d + 2] * u[2]);
}

/* The sites of a row of cells, along the third edge. */
static atn_status tell_row(const block *b, size_t grain, const double origin[3], int s, int64_t cell[3]) {
    const crystal_grain *g = &b->c->grain[grain];
    double start[3], step[3], p[3], edge = STRUCTURES[g->structure].cell[2] * g->a;
    int64_t last;
    cell[2] = 0;
    place(b->c, g, origin, s, cell, start);
    for (int d = 0; d < 3; ++d) step[d] = g->turn[3 * d + 2] * edge;
    if (!clip(b, start, step, &cell[2], &last)) return ATN_OK;
    atn_status status = ATN_OK;
    for (; status == ATN_OK && cell[2] <= last; ++cell[2]) {
        place(b->c, g, origin, s, cell, p);
        if (!inside(b, p)) continue;
        double boundary = boundary_of(b, p);
        if (boundary >= 0) status = b->visit(b->user, p, grain, boundary);
    }
    return status;
}

static atn_status tell_grain(const block *b, size_t grain) {
    const crystal_grain *g = &b->c->grain[grain];
    const double *edge = STRUCTURES[g->structure].cell;
    double origin[3];
    int64_t first[2], last[2], cell[3];
    for (int d = 0; d < 3; ++d) origin[d] = b->c->side * g->centre[d] + g->shift[d] * g->a;
    for (int e = 0; e < 2; ++e) { /* the block seen from the crystal */
        double at = 0, half = 0;
        for (int d = 0; d < 3; ++d) {
            at += g->turn[3 * d + e] * (b->middle[d] - origin[d]);
            half += fabs(g->turn[3 * d + e]) * (b->high[d] - b->low[d]) / 2;
        }
        first[e] = (int64_t)floor((at - half) / (edge[e] * g->a)) - 1;
        last[e] = (int64_t)ceil((at + half) / (edge[e] * g->a)) + 1;
    }
    atn_status status = ATN_OK;
    for (cell[0] = first[0]; cell[0] <= last[0]; ++cell[0])
        for (cell[1] = first[1]; cell[1] <= last[1]; ++cell[1])
            for (int s = 0; status == ATN_OK && s < STRUCTURES[g->structure].sites; ++s)
                status = tell_row(b, grain, origin, s, cell);
    return status;
}

static atn_status tell_block(block *b) {
    const crystal *c = b->c;
    double least = INFINITY;
    b->reach = 0;
    for (int d = 0; d < 3; ++d) {
        b->middle[d] = (b->low[d] + b->high[d]) / 2;
        b->reach += (b->high[d] - b->middle[d]) * (b->high[d] - b->middle[d]);
    }
    b->reach = sqrt(b->reach);
    for (size_t k = 0; k < c->grains; ++k) {
        double squares = 0;
        for (int d = 0; d < 3; ++d) {
            double away = c->side * c->grain[k].centre[d] - b->middle[d];
            squares += away * away;
        }
        b->distance[k] = sqrt(squares);
        least = fmin(least, b->distance[k]);
    }
    atn_status status = atn_check_cancel(c->ctx);
    for (size_t k = 0; status == ATN_OK && k < c->grains; ++k)
        if (b->distance[k] - b->reach <= least + b->reach && find_planes(b, k)) status = tell_grain(b, k);
    return status;
}

atn_status crystal_sites(const crystal *c, crystal_visit *visit, void *user) {
    enum { SITES_OF_A_BLOCK = 2000 };
    double density = 0;
    for (size_t k = 0; k < c->grains; ++k)
        density += crystal_density(c->grain[k].structure, c->grain[k].a) / (double)c->grains;
    int64_t n = 1 + (int64_t)(c->side * cbrt(density / SITES_OF_A_BLOCK));
    block b = {.c = c, .visit = visit, .user = user};
    b.plane = atn_alloc(c->ctx, c->grains * sizeof *b.plane);
    b.distance = atn_alloc(c->ctx, c->grains * sizeof *b.distance);
    atn_status status = b.plane && b.distance ? ATN_OK : ATN_ERR_MEMORY;
    for (int64_t k = 0; status == ATN_OK && k < n * n * n; ++k) {
        const int64_t at[3] = {k % n, k / n % n, k / (n * n)};
        for (int d = 0; d < 3; ++d) {
            b.low[d] = c->side * (double)at[d] / (double)n;
            b.high[d] = c->side * (double)(at[d] + 1) / (double)n;
        }
        if (b.low[2] >= c->height) break; /* z is the last to grow */
        status = tell_block(&b);
    }
    atn_free(c->ctx, b.plane);
    atn_free(c->ctx, b.distance);
    return status;
}
