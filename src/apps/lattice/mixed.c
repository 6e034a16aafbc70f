/* Neighbourhoods that belong to a model in part, as at a boundary of grains or phases: on the centre's side of a plane
 * the density is the model's, beyond it that of a gas, n / V, or of a lattice that sure atoms nearby have and that
 * needs no site for this one: an atom at the boundary of a grain is on no site of the next grain, as background atoms
 * are. The side of a neighbour near the plane is left open in part, as planes are tried in few directions. The
 * likelihood is averaged over planes. Only for atoms that fit no model whole: the host does it, from the tables that
 * the kernels use. */
#include "apps/lattice/near_sums.h"

#include "base/lanes.h"

#include <math.h>

static const double PLANE[] = {0.07, 0.22, 0.4, 0.65}, CHANCE = 0.1; /* of the cut-off; of an atom to be near one */
static const double OPEN = 0.15;     /* of the cut-off: neighbours so near to a plane may be on either side */
static const float LEFT = 0.005F;    /* chance of the others to be on the wrong one */
static const double FAR = 20;        /* nats */
static const float LITTLE = 8.3e-7F; /* no density counts as less than so much of the other one */
static const double NEVER = -1e30;
static const double FEW = 0.3; /* of the neighbours: a lattice that explains fewer is not the atom's */
enum { PLANES = sizeof PLANE / sizeof *PLANE };
static const double PI = 3.14159265358979323846;

void lattice_found_matrix(const lattice_found *f, double out[9]) {
    double q[4] = {(double)f->quaternion[0], (double)f->quaternion[1], (double)f->quaternion[2],
                   (double)f->quaternion[3]};
    geom_quaternion_matrix(q, out);
}

const float *lattice_voxel_at(const atn_lattice *l, const lattice_slot *s, const float *pull, const double m[9],
                              const lattice_found *f, int32_t k, double p[3]) {
    double x = (double)l->near.axis[0][k], y = (double)l->near.axis[1][k], z = (double)l->near.axis[2][k];
    size_t at[3];
    for (int c = 0; c < 3; ++c) {
        p[c] = m[3 * c] * x + m[3 * c + 1] * y + m[3 * c + 2] * z - (double)f->shift[c];
        at[c] = (size_t)fabs(p[c] / s->box.edge + s->box.offset[c]);
        if (at[c] >= (size_t)s->box.size[c]) at[c] = (size_t)s->box.size[c] - 1;
    }
    return pull + LATTICE_PULL * ((at[2] * (size_t)s->box.size[1] + at[1]) * (size_t)s->box.size[0] + at[0]);
}

void lattice_stretch(const atn_lattice *l, int32_t model, size_t i, double sums[2]) {
    const lattice_slot *s = &l->slot[model];
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double m[9], p[3];
    lattice_found_matrix(f, m);
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) {
        const float *v = lattice_voxel_at(l, s, s->host_pull[1], m, f, k, p);
        for (int c = 0; c < 3; ++c) {
            double mean = s->box.mirror[c] ? copysign((double)v[1 + c], p[c]) : (double)v[1 + c];
            sums[0] += (double)v[0] * mean * p[c];
            sums[1] += (double)v[0] * mean * mean;
        }
    }
}

/* The part of the neighbours at a height over a plane that belongs to the near side: all of it below -1, except LEFT,
 * since a boundary is no plane. */
static inline float near_side(float x) {
    float c = x < -1 ? -1 : x > 1 ? 1 : x;
    return 0.5F - (0.5F - LEFT) * c * (1.5F - 0.5F * c * c);
}

/* What neighbours have to choose from: their densities near and beyond, over the larger of both; and how many of them
 * are expected, if all of the ball were the one or the other. */
typedef struct choice {
    int32_t n;
    float near[ATN_LATTICE_MOST_NEIGHBOURS], beyond[ATN_LATTICE_MOST_NEIGHBOURS];
    float larger[ATN_LATTICE_MOST_NEIGHBOURS];
    double most; /* sum of its logarithms */
    double expected[2];
} choice;

/* How much likelier n neighbours are with a plane at a distance (of the cut-off) than without: the number is that of
 * both sides together (judge.c has that of the model alone). */
static double number(const atn_lattice *l, const choice *of, double plane) {
    double near = (2 + 3 * plane - plane * plane * plane) / 4; /* of the ball */
    double expected = near * of->expected[0] + (1 - near) * of->expected[1];
    return -(l->shape + of->n) * log((l->shape + expected) / (l->shape + of->expected[0]));
}

enum { ALL = LATTICE_PLANES, MOST = LATTICE_HALVED };
_Static_assert(ALL == 26 * PLANES, "planes across the 26 directions of a cube");

/* Heights of a neighbour over all planes, in units of OPEN. */
typedef struct planes {
    float u[3][ALL], at[ALL];
} planes;

static void list_planes(double cutoff, planes *out) {
    for (int d = 0, p = 0; d < 27; ++d) {
        double u[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1}, length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        if (d == 13) continue;
        double per = 1 / (length * cutoff * OPEN);
        for (int c = 0; c < PLANES; ++c, ++p) {
            for (int a = 0; a < 3; ++a) out->u[a][p] = (float)(u[a] * per);
            out->at[p] = (float)(PLANE[c] / OPEN);
        }
    }
}

static ATN_INLINE void halve_one(const planes *of, float x, float y, float z, float *restrict side) {
    const float *restrict ux = of->u[0], *restrict uy = of->u[1], *restrict uz = of->u[2], *restrict at = of->at;
    ATN_LANES()
    for (int p = 0; p < ALL; ++p) side[p] = near_side(ux[p] * x + uy[p] * y + uz[p] * z - at[p]);
}

ATN_IN_LANES static void halve(const atn_lattice *l, size_t i, lattice_halving *out) {
    int32_t first = l->near.start[i], n = l->near.start[i + 1] - first;
    planes all;
    list_planes(l->info.cutoff, &all);
    for (int32_t k = 0; k < n && k < MOST; ++k)
        halve_one(&all, l->near.axis[0][first + k], l->near.axis[1][first + k], l->near.axis[2][first + k],
                  out->side[k]);
}

/* Neighbours from *k on that a float has room for the product of: FEWEST of the least there are. */
enum { FEWEST = 4 };
static ATN_INLINE void multiply(const lattice_halving *h, const choice *of, int32_t from, double *restrict product) {
    float beyond[FEWEST], more[FEWEST];
    const float *side[FEWEST];
    for (int c = 0; c < FEWEST; ++c) {
        bool is = from + c < of->n && from + c < MOST;
        beyond[c] = is ? of->beyond[from + c] : 1;
        more[c] = is ? of->near[from + c] - of->beyond[from + c] : 0;
        side[c] = h->side[is ? from + c : 0];
    }
    const float *restrict a = side[0], *restrict b = side[1], *restrict c = side[2], *restrict d = side[3];
    ATN_LANES()
    for (int p = 0; p < ALL; ++p)
        product[p] *= (double)((beyond[0] + a[p] * more[0]) * (beyond[1] + b[p] * more[1]) *
                               ((beyond[2] + c[p] * more[2]) * (beyond[3] + d[p] * more[3])));
}

ATN_IN_LANES static void multiply_all(const lattice_halving *h, const choice *of, double *restrict product) {
    for (int32_t k = 0; k < of->n && k < MOST; k += FEWEST) multiply(h, of, k, product);
}

/* Neighbours on the far side of a plane belong elsewhere. Returns the logarithm of the likelihood's mean over planes.
 */
static double halves(const atn_lattice *l, const lattice_halving *h, const choice *of) {
    double total = 0, product[ALL], times[PLANES];
    for (int c = 0; c < PLANES; ++c) times[c] = exp(number(l, of, PLANE[c])) / ALL;
    for (int p = 0; p < ALL; ++p) product[p] = times[p % PLANES];
    multiply_all(h, of, product);
    for (int32_t k = MOST; k < of->n; ++k)
        for (int p = 0; p < ALL; ++p) product[p] *= 0.5 * (double)(of->beyond[k] + of->near[k]);
    for (int p = 0; p < ALL; ++p) total += product[p];
    return total > 0 ? of->most + log(total) : NEVER;
}

ATN_IN_LANES static void compare(const float *restrict near, const float *restrict beyond, int32_t n,
                                 choice *restrict out) {
    ATN_LANES()
    for (int32_t k = 0; k < n; ++k) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all n are there */
        float a = near[k] / beyond[k], b = beyond[k] / near[k];
        bool nearer = near[k] >= beyond[k];
        out->larger[k] = nearer ? near[k] : beyond[k];
        out->near[k] = nearer ? 1 : a > LITTLE ? a : LITTLE;
        out->beyond[k] = !nearer ? 1 : b > LITTLE ? b : LITTLE;
    }
}

/* beyond: densities; NULL: everywhere the same one. */
static double choose(const float *near, const float *beyond, double same, double expected, choice *out) {
    float all[ATN_LATTICE_MOST_NEIGHBOURS];
    for (int32_t k = 0; k < out->n && !beyond; ++k) all[k] = (float)same;
    compare(near, beyond ? beyond : all, out->n, out);
    out->expected[1] = expected;
    out->most = near_logarithms(out->larger, out->n);
    return out->most;
}

static double log_sum(double a, double b) { return fmax(a, b) + log1p(exp(-fabs(a - b))); }

/* Neighbours that what was found leaves to others: the chance of each to be a background atom. */
static void leave(const atn_lattice *l, const choice *of, const float *near, float *left) {
    const float gas = (float)l->background_density;
    for (int32_t k = 0; k < of->n; ++k) left[k] = near[k] > gas ? gas / near[k] : 1;
}

/* The logarithm of the mean likelihood with a part of the neighbours elsewhere: in a gas of the same density, in
 * nothing (a surface), in one of the lattices of atoms around. */
static double part_of(const atn_lattice *l, const lattice_halving *h, int32_t model, size_t i,
                      const lattice_recent *recent, const double own[4], const float *near) {
    double volume = 4.0 / 3 * PI * pow(l->info.cutoff, 3), expected = l->slot[model].expected;
    float left[ATN_LATTICE_MOST_NEIGHBOURS], each[ATN_LATTICE_MOST_NEIGHBOURS];
    double lattices = 0;
    choice of = {.n = l->near.start[i + 1] - l->near.start[i], .expected = {expected, 0}};
    choose(near, NULL, expected / volume, expected, &of);
    double part = halves(l, h, &of);
    choose(near, NULL, l->background_density, l->background_density * volume, &of);
    part = log_sum(part, halves(l, h, &of)) - log(4);
    for (int32_t m = 0; m < l->info.models && recent; ++m) lattices += l->slot[m].kind ? recent->count[m] : 0;
    leave(l, &of, near, left);
    for (int32_t m = 0; m < l->info.models && recent; ++m)
        for (int32_t k = 0; l->slot[m].kind && k < recent->count[m]; ++k) {
            if (m == model && lattice_turn_is(&l->slot[m], own, recent->turn[m][k])) continue;
            double share = lattice_look_beyond(l, i, m, recent, k, left, each, NULL) - log(2 * lattices);
            if (choose(near, each, 0, l->slot[m].expected, &of) + share < part - FAR) continue;
            part = log_sum(part, halves(l, h, &of) + share);
        }
    return part;
}

static void mix(const atn_lattice *l, const lattice_halving *h, int32_t model, size_t i, const lattice_recent *recent,
                lattice_found *f) {
    float near[ATN_LATTICE_MOST_NEIGHBOURS];
    double own[4];
    for (int c = 0; c < 4; ++c) own[c] = (double)f->quaternion[c];
    lattice_look_each(l, &l->slot[model], i, f, near);
    double whole = (double)f->evidence + log(1 - CHANCE);
    double part = part_of(l, h, model, i, recent, own, near) + (double)f->around + log(CHANCE);
    f->evidence = (float)log_sum(whole, part);
    f->part = (float)(1 / (1 + exp(whole - part)));
}

static void mix_all(const atn_lattice *l, const lattice_halving *h, size_t i, const lattice_recent *recent,
                    uint32_t models, const lattice_looked *looked) {
    double n = l->near.start[i + 1] - l->near.start[i];
    for (int32_t m = 0; m < l->info.models; ++m) {
        if (!(models >> m & 1)) continue;
        lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)m], other;
        double own[4];
        for (int c = 0; c < 4; ++c) own[c] = (double)f->quaternion[c];
        mix(l, h, m, i, recent, f);
        for (int32_t k = 0; recent && k < recent->count[m]; ++k) {
            other = looked->of[m][k];
            if ((double)other.weight < FEW * n || lattice_turn_is(&l->slot[m], own, recent->turn[m][k])) continue;
            mix(l, h, m, i, recent, &other);
            if (other.evidence > f->evidence) *f = other;
        }
    }
}

void lattice_mixed_off(const atn_lattice *l, size_t i, const lattice_recent *recent, const lattice_halving *h) {
    float each[ATN_LATTICE_MOST_NEIGHBOURS];
    int32_t n = l->near.start[i + 1] - l->near.start[i];
    for (int32_t m = 0; m < l->info.models; ++m) {
        lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)m];
        double best = -INFINITY;
        for (int32_t k = 0; k < recent->count[m] && l->slot[m].kind; ++k) {
            double odds, about = lattice_look_beyond(l, i, m, recent, k, NULL, each, &odds),
                         whole = about + log(1 - CHANCE) + near_logarithms(each, n), explained = 0;
            for (int32_t c = 0; c < n; ++c) explained += (double)each[c] > 2 * l->background_density;
            if (explained < FEW * n) continue;
            double part = part_of(l, h, m, i, recent, recent->turn[m][k], each) + about + log(CHANCE);
            double here = log_sum(whole, part);
            best = fmax(best, here);
            f->evidence =
                fmaxf(f->evidence, (float)(here - odds)); /* on a site of it that was not tried, as the second of hcp */
        }
        f->background = (float)best;
    }
}

void lattice_mixed(const atn_lattice *l, size_t i, const lattice_recent *recent, uint32_t models,
                   const lattice_looked *looked, lattice_halving *h) {
    halve(l, i, h);
    mix_all(l, h, i, recent, models, looked);
}
