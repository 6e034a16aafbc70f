/* Models: bcc, fcc, hcp, sc, diamond, B2 and L1_2 up to the radius that the cut-off and the noise require, or
 * user-defined points; and the rotations and reflections under which they are symmetric. */
#include "apps/lattice/lattice.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cell of constant 1 with right angles, and its atoms. */
typedef struct lattice_kind {
    const char *name;
    double cell[3];
    int32_t atoms;
    double atom[8][3]; /* in edges */
    double volume;     /* an atom's, of constant 1 */
    double constant;   /* of neighbourhoods that come alone: those of the high-entropy alloy people measure against */
    const char *base;  /* the same without order; NULL: sites are all alike */
    int32_t on[LATTICE_ORDER_SITES]; /* sublattices of its atoms */
} kind;

#define HCP_CELL 1.7320508075688772, 1.632993161855452 /* sqrt(3), sqrt(8/3) */
static const kind KINDS[] = {
    {"bcc", {1, 1, 1}, 2, {{0, 0, 0}, {0.5, 0.5, 0.5}}, 0.5, 3.2, NULL, {0}},
    {"fcc", {1, 1, 1}, 4, {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}, 0.25, 4.79, NULL, {0}},
    {"hcp",
     {1, HCP_CELL},
     4,
     {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 1.0 / 6, 0.5}, {0, 2.0 / 3, 0.5}},
     0.7071067811865476,
     3.39,
     NULL,
     {0}},
    {"sc", {1, 1, 1}, 1, {{0, 0, 0}}, 1, 2.8, NULL, {0}},
    {"diamond",
     {1, 1, 1},
     8,
     {{0, 0, 0},
      {0.5, 0.5, 0},
      {0.5, 0, 0.5},
      {0, 0.5, 0.5},
      {0.25, 0.25, 0.25},
      {0.75, 0.75, 0.25},
      {0.75, 0.25, 0.75},
      {0.25, 0.75, 0.75}},
     0.125,
     5.43,
     NULL,
     {0}},
    {"B2", {1, 1, 1}, 2, {{0, 0, 0}, {0.5, 0.5, 0.5}}, 0.5, 3.2, "bcc", {0, 1}},
    {"L12", {1, 1, 1}, 4, {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}, 0.25, 4.79, "fcc", {1, 0, 0, 0}},
};

static const kind *find(const char *name) {
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; ++k)
        if (strcmp(KINDS[k].name, name) == 0) return &KINDS[k];
    return NULL;
}

bool lattice_kind_is_known(const char *name) { return find(name) != NULL; }

bool lattice_kind_is_bcc(const char *name) {
    const kind *k = find(name);
    return k && strcmp(k->base ? k->base : k->name, "bcc") == 0;
}

double lattice_kind_constant(const char *name, double volume) {
    const kind *k = find(name);
    return k ? cbrt(volume / k->volume) : 0;
}

double lattice_kind_volume(const char *name, double constant) {
    const kind *k = find(name);
    return k ? k->volume * constant * constant * constant : 0;
}

double lattice_kind_default(const char *name) {
    const kind *k = find(name);
    return k ? k->constant : 1;
}

const lattice_kind *lattice_kind_find(const char *name) { return find(name); }

const char *lattice_kind_order(const lattice_kind *k, int32_t *sites, int32_t on[LATTICE_ORDER_SITES]) {
    if (!k || !k->base) return NULL;
    *sites = k->atoms;
    memcpy(on, k->on, sizeof k->on);
    return k->base;
}

bool lattice_kind_sublattices(const lattice_kind *k, const double y[3], double most,
                              unsigned char (*on)[LATTICE_ORDER_NEAR], int32_t at) {
    double first = k->atoms == 2 ? 0.75 : 0.5; /* the nearest distance squared: bcc, fcc */
    for (int32_t h = 0; h < k->atoms; ++h) {
        double least = INFINITY;
        for (int32_t s = 0; s < k->atoms; ++s) {
            double square = 0;
            for (int axis = 0; axis < 3; ++axis) {
                double u = k->atom[h][axis] + y[axis] - k->atom[s][axis];
                square += (u - rint(u)) * (u - rint(u));
            }
            if (square >= least) continue;
            least = square;
            on[h][at] = (unsigned char)k->on[s];
        }
        if (least > most * most * first) return false;
    }
    return true;
}

/* To the nearest whole number, of numbers that are far below 2^51: rint is a call where the processor is old. */
static inline double nearest(double x) { return (x + 6755399441055744.0) - 6755399441055744.0; }

lattice_cell lattice_kind_cell(const lattice_kind *k, double constant) {
    lattice_cell out;
    for (int axis = 0; axis < 3; ++axis)
        out.edge[axis] = constant * k->cell[axis], out.per_edge[axis] = 1 / out.edge[axis];
    return out;
}

lattice_sites lattice_kind_sites(const lattice_kind *k, double constant) {
    lattice_cell cell = lattice_kind_cell(k, constant);
    lattice_sites out = {.atoms = k->atoms};
    for (int axis = 0; axis < 3; ++axis) {
        out.edge[axis] = (float)cell.edge[axis], out.per_edge[axis] = (float)cell.per_edge[axis];
        for (int32_t s = 0; s < k->atoms; ++s) out.atom[s][axis] = (float)k->atom[s][axis];
    }
    return out;
}

void lattice_kind_off(const lattice_kind *k, const lattice_cell *cell, const double y[3], double d[3]) {
    double least = INFINITY, u[3];
    for (int axis = 0; axis < 3; ++axis) u[axis] = y[axis] * cell->per_edge[axis];
    for (int32_t s = 0; s < k->atoms; ++s) {
        double here[3], square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double from = u[axis] - k->atom[s][axis];
            here[axis] = (from - nearest(from)) * cell->edge[axis];
            square += here[axis] * here[axis];
        }
        if (square >= least) continue;
        least = square;
        for (int axis = 0; axis < 3; ++axis) d[axis] = here[axis];
    }
}

enum { MOST_POINTS = 4096 };

static int nearer(const void *a, const void *b) {
    const double *p = a, *q = b;
    double d = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - q[0] * q[0] - q[1] * q[1] - q[2] * q[2];
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c): one order, any */
    return fabs(d) > 1e-9 ? (d > 0) - (d < 0) : memcmp(p, q, 3 * sizeof *p);
}

static atn_status keep(const atn_ctx *ctx, size_t count, double *list, lattice_points *out) {
    atn_status status = ATN_OK;
    qsort(list, count, 3 * sizeof *list, nearer);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) {
        out->axis[axis] = atn_alloc(ctx, count * sizeof **out->axis);
        if (!out->axis[axis]) status = ATN_ERR_MEMORY;
        for (size_t k = 0; k < count && status == ATN_OK; ++k) out->axis[axis][k] = list[3 * k + (size_t)axis];
    }
    out->count = count;
    if (status != ATN_OK) lattice_points_free(ctx, out);
    return status;
}

/* All points of a kind within reach, of which there are few. Returns how many. */
static size_t spread(const kind *k, double constant, double reach, double *list) {
    int n = (int)ceil(reach / constant * 1.2) + 1;
    size_t count = 0;
    for (int a = -n; a <= n; ++a)
        for (int b = -n; b <= n; ++b)
            for (int c = -n; c <= n; ++c)
                for (int32_t s = 0; s < k->atoms; ++s) {
                    double p[3], square = 0, cell[3] = {a, b, c};
                    for (int axis = 0; axis < 3; ++axis) {
                        p[axis] = constant * k->cell[axis] * (cell[axis] + k->atom[s][axis]);
                        square += p[axis] * p[axis];
                    }
                    if (square > reach * reach || square < 1e-12) continue;
                    if (list) memcpy(list + 3 * count, p, sizeof p);
                    ++count;
                }
    return count;
}

atn_status lattice_points_make(const atn_ctx *ctx, const atn_lattice_model *model, double constant, double reach,
                               lattice_points *out) {
    const kind *known = model->points ? NULL : find(model->name);
    double sites = known ? 4.2 * pow(reach / constant, 3) / known->volume : 0;
    *out = (lattice_points){0};
    if (!(sites <= MOST_POINTS))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "lattice: %s with a constant of %g has %.3g sites within %.3g; at most %d are supported: use a "
                        "smaller cut-off or a larger constant",
                        model->name, constant, sites, reach, MOST_POINTS);
    size_t count = known ? spread(known, constant, reach, NULL) : model->points, kept = 0;
    double *list = atn_alloc(ctx, (count + 1) * 3 * sizeof *list);
    if (!list) return ATN_ERR_MEMORY;
    if (known) {
        kept = spread(known, constant, reach, list);
    } else {
        for (size_t k = 0; k < count; ++k) {
            double p[3] = {constant * model->axis[0][k], constant * model->axis[1][k], constant * model->axis[2][k]};
            double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
            if (square > 1e-12 && square <= reach * reach) memcpy(list + 3 * kept++, p, sizeof p);
        }
    }
    atn_status status = keep(ctx, kept, list, out);
    atn_free(ctx, list);
    return status;
}

void lattice_points_free(const atn_ctx *ctx, lattice_points *points) {
    for (int axis = 0; axis < 3; ++axis) atn_free(ctx, points->axis[axis]);
    *points = (lattice_points){0};
}

/* ---- symmetry ---- */

static double square_of(const lattice_points *points, size_t k) {
    double x = points->axis[0][k], y = points->axis[1][k], z = points->axis[2][k];
    return x * x + y * y + z * z;
}

/* Is one of the points from `from` on at p? Points are in the order of their distances. */
static bool has(const lattice_points *points, size_t from, const double p[3], double farthest, double near) {
    for (size_t k = from; k < points->count && square_of(points, k) <= farthest; ++k) {
        double d = 0;
        for (int axis = 0; axis < 3; ++axis) d += (points->axis[axis][k] - p[axis]) * (points->axis[axis][k] - p[axis]);
        if (d < near * near) return true;
    }
    return false;
}

/* Points beyond 0.95 of the farthest may have lost their partner to rounding. */
static bool maps(const lattice_points *points, const double m[9]) {
    double far = points->count ? square_of(points, points->count - 1) : 0;
    double near = points->count ? 0.02 * sqrt(square_of(points, 0)) : 0;
    for (size_t k = 0, from = 0; k < points->count; ++k) {
        double x = points->axis[0][k], y = points->axis[1][k], z = points->axis[2][k], r = sqrt(square_of(points, k));
        double p[3] = {m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z};
        if (r * r > 0.9 * far && points->count > 6) continue;
        while (from < k && square_of(points, from) < (r - near) * (r - near)) ++from;
        if (!has(points, from, p, (r + near) * (r + near), near)) return false;
    }
    return true;
}

/* The 24 turns of a cube and the 12 of a hexagon about z, as quaternions that need not have length 1. */
static int32_t candidates(double list[36][4]) {
    int32_t n = 0;
    static const double CUBE[24][4] = {{1, 0, 0, 0},  {0, 1, 0, 0},   {0, 0, 1, 0},   {0, 0, 0, 1},   {1, 1, 0, 0},
                                       {1, -1, 0, 0}, {1, 0, 1, 0},   {1, 0, -1, 0},  {1, 0, 0, 1},   {1, 0, 0, -1},
                                       {0, 1, 1, 0},  {0, 1, -1, 0},  {0, 1, 0, 1},   {0, 1, 0, -1},  {0, 0, 1, 1},
                                       {0, 0, 1, -1}, {1, 1, 1, 1},   {1, 1, 1, -1},  {1, 1, -1, 1},  {1, 1, -1, -1},
                                       {1, -1, 1, 1}, {1, -1, 1, -1}, {1, -1, -1, 1}, {1, -1, -1, -1}};
    for (; n < 24; ++n) memcpy(list[n], CUBE[n], sizeof CUBE[n]);
    for (int k = 1; k < 6; ++k) {
        if (k == 3) continue; /* half a turn is a cube's too */
        double half = k * 3.14159265358979323846 / 6;
        memcpy(list[n++], (double[4]){cos(half), 0, 0, sin(half)}, sizeof *list);
        memcpy(list[n++], (double[4]){0, cos(half), sin(half), 0}, sizeof *list);
    }
    return n;
}

int32_t lattice_points_symmetry(const lattice_points *points, double symmetry[LATTICE_MOST_SYMMETRIES][4],
                                bool mirror[3]) {
    double list[36][4], m[9];
    int32_t n = candidates(list), count = 0;
    for (int32_t k = 0; k < n && count < LATTICE_MOST_SYMMETRIES; ++k) {
        double length = 0;
        for (int c = 0; c < 4; ++c) length += list[k][c] * list[k][c];
        for (int c = 0; c < 4; ++c) list[k][c] /= sqrt(length);
        geom_quaternion_matrix(list[k], m);
        if (k == 0 || maps(points, m)) memcpy(symmetry[count++], list[k], sizeof *list);
    }
    for (int axis = 0; axis < 3; ++axis) {
        memcpy(m, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof m);
        m[4 * axis] = -1;
        mirror[axis] = maps(points, m);
    }
    return count;
}
