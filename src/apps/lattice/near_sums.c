/* Sums over the neighbours of one atom in a pose of a lattice, vectorised: positions first, then sites, then
 * probabilities, then sums, so that each loop is a plain one over arrays. */
#include "apps/lattice/near_sums.h"

#include "base/lane_math.h"

#include <math.h>
#include <string.h>

enum { MOST = ATN_LATTICE_MOST_NEIGHBOURS, AT_ONCE = 16 }; /* factors of a logarithm */
static const float NOWHERE = 60; /* square of deviations from the nearest site of a neighbour that is on none */

/* Of each neighbour. */
typedef struct places {
    float y[3][MOST], d[3][MOST], square[MOST], chance[MOST], density[MOST], counts[MOST];
    int32_t at[MOST];
} places;

/* Loops go through whole registers, with neighbours of others at the end that count nothing. */
static ATN_INLINE int32_t rounded(int32_t n) { return (n + (int32_t)NEAR_LANES - 1) & -(int32_t)NEAR_LANES; }

ATN_IN_LANES static void find_places(const near_pose *p, places *to) {
    const float *restrict x = p->x[0], *restrict y = p->x[1], *restrict z = p->x[2];
    const int32_t n = rounded(p->n);
    for (int c = 0; c < 3; ++c) {
        const float a = p->m[3 * c], b = p->m[3 * c + 1], e = p->m[3 * c + 2], t = p->t[c];
        float *restrict out = to->y[c];
        ATN_LANES()
        for (int32_t k = 0; k < n; ++k) out[k] = a * x[k] + b * y[k] + e * z[k] - t;
    }
}

/* How far a place is off the nearest site of the crystal, whose `atoms` repeat with its cell. */
typedef struct apart {
    float x, y, z, square;
} apart;

static ATN_INLINE apart nearest_of(const lattice_sites *s, int32_t atoms, float x, float y, float z) {
    apart out = {0, 0, 0, INFINITY};
    float px = x * s->per_edge[0], py = y * s->per_edge[1], pz = z * s->per_edge[2];
    ATN_UNROLLED
    for (int32_t a = 0; a < atoms; ++a) {
        float ux = px - s->atom[a][0], uy = py - s->atom[a][1], uz = pz - s->atom[a][2];
        ux = (ux - atn_lane_whole(ux)) * s->edge[0], uy = (uy - atn_lane_whole(uy)) * s->edge[1],
        uz = (uz - atn_lane_whole(uz)) * s->edge[2];
        float square = ux * ux + uy * uy + uz * uz;
        bool nearer = square < out.square;
        out.x = nearer ? ux : out.x, out.y = nearer ? uy : out.y, out.z = nearer ? uz : out.z;
        out.square = nearer ? square : out.square;
    }
    return out;
}

/* One loop for each number of atoms that cells have, so that it is known in it: 1, 2, 4, 8. */
static ATN_INLINE void find_sites_of(const lattice_sites *s, int32_t atoms, int32_t n, places *to) {
    const lattice_sites of = *s;
    const int32_t all = rounded(n);
    const float *restrict yx = to->y[0], *restrict yy = to->y[1], *restrict yz = to->y[2];
    float *restrict dx = to->d[0], *restrict dy = to->d[1], *restrict dz = to->d[2], *restrict square = to->square;
    ATN_LANES()
    for (int32_t k = 0; k < all; ++k) {
        apart d = nearest_of(&of, atoms, yx[k], yy[k], yz[k]);
        dx[k] = d.x, dy[k] = d.y, dz[k] = d.z, square[k] = d.square;
    }
}

ATN_IN_LANES static void find_sites(const lattice_sites *s, int32_t n, places *to) {
    if (s->atoms == 1)
        find_sites_of(s, 1, n, to);
    else if (s->atoms == 2)
        find_sites_of(s, 2, n, to);
    else if (s->atoms == 4)
        find_sites_of(s, 4, n, to);
    else
        find_sites_of(s, LATTICE_CELL_ATOMS, n, to);
}

/* Voxels of the places. */
ATN_IN_LANES static void find_voxels(const lattice_box *box, int32_t n, places *to) {
    const float per = (float)(1 / box->edge);
    const float ox = (float)box->offset[0], oy = (float)box->offset[1], oz = (float)box->offset[2];
    const int32_t nx = box->size[0], ny = box->size[1], nz = box->size[2];
    const float *restrict yx = to->y[0], *restrict yy = to->y[1], *restrict yz = to->y[2];
    int32_t *restrict at = to->at;
    const int32_t all = rounded(n);
    ATN_LANES()
    for (int32_t k = 0; k < all; ++k) {
        int32_t x = (int32_t)fabsf(yx[k] * per + ox), y = (int32_t)fabsf(yy[k] * per + oy);
        int32_t z = (int32_t)fabsf(yz[k] * per + oz);
        x = x < nx ? x : nx - 1, y = y < ny ? y : ny - 1, z = z < nz ? z : nz - 1;
        at[k] = (z * ny + y) * nx + x;
    }
}

/* Probabilities and densities from squares; no site where `chance` says so, if requested. */
ATN_IN_LANES static void weigh(const near_pose *p, bool told, places *to) {
    const float w = p->w, most = p->most, gas = p->gas, least = told ? 1e-6F : 0;
    float *restrict square = to->square, *restrict chance = to->chance, *restrict density = to->density;
    const int32_t all = rounded(p->n);
    ATN_LANES()
    for (int32_t k = 0; k < all; ++k) {
        float off = w * square[k], own = most * atn_lane_power(-0.5F * (off < NOWHERE ? off : NOWHERE));
        own = off < NOWHERE && (least == 0 || chance[k] >= least) ? own : 0;
        density[k] = own + gas;
        chance[k] = own / (own + gas);
    }
}

ATN_IN_LANES static void add_up(int32_t n, places *from, near_moments *out) {
    const float *restrict yx = from->y[0], *restrict yy = from->y[1], *restrict yz = from->y[2];
    const float *restrict dx = from->d[0], *restrict dy = from->d[1], *restrict dz = from->d[2];
    const float *restrict c = from->counts;
    float one = 0, y0 = 0, y1 = 0, y2 = 0, d0 = 0, d1 = 0, d2 = 0, x0 = 0, x1 = 0, x2 = 0, spread = 0;
    float q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0, q5 = 0;
    const int32_t all = rounded(n);
    ATN_LANES(reduction(+ : one, y0, y1, y2, d0, d1, d2, x0, x1, x2, spread, q0, q1, q2, q3, q4, q5))
    for (int32_t k = 0; k < all; ++k) {
        float a0 = c[k] * yx[k], a1 = c[k] * yy[k], a2 = c[k] * yz[k];
        one += c[k], y0 += a0, y1 += a1, y2 += a2;
        d0 += c[k] * dx[k], d1 += c[k] * dy[k], d2 += c[k] * dz[k];
        x0 += a1 * dz[k] - a2 * dy[k], x1 += a2 * dx[k] - a0 * dz[k], x2 += a0 * dy[k] - a1 * dx[k];
        q0 += a0 * yx[k], q1 += a1 * yx[k], q2 += a1 * yy[k], q3 += a2 * yx[k], q4 += a2 * yy[k], q5 += a2 * yz[k];
        spread += c[k] * (dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k]);
    }
    *out = (near_moments){.c = (double)one, .y = {(double)y0, (double)y1, (double)y2}, .spread = (double)spread};
    out->d[0] = (double)d0, out->d[1] = (double)d1, out->d[2] = (double)d2;
    out->cross[0] = (double)x0, out->cross[1] = (double)x1, out->cross[2] = (double)x2;
    out->yy[0] = (double)q0, out->yy[1] = (double)q1, out->yy[2] = (double)q2;
    out->yy[3] = (double)q3, out->yy[4] = (double)q4, out->yy[5] = (double)q5;
}

static void count(const near_pose *p, places *to) {
    if (!p->left) memcpy(to->counts, to->chance, (size_t)p->n * sizeof *to->counts);
    for (int32_t k = 0; k < p->n && p->left; ++k) to->counts[k] = to->chance[k] * p->left[k];
    for (int32_t k = p->n; k < rounded(p->n); ++k) to->counts[k] = 0;
}

double near_logarithms(const float *density, int32_t n) {
    double sum = 0, product = 1;
    for (int32_t k = 0; k < n; ++k) {
        product *= (double)density[k];
        if (k % AT_ONCE == AT_ONCE - 1) sum += log(product), product = 1;
    }
    return sum + log(product);
}

static double likelihood(const near_pose *p, const places *at, float *each) {
    if (!p->told) return 0;
    if (each) memcpy(each, at->density, (size_t)p->n * sizeof *each);
    return near_logarithms(at->density, p->n);
}

void near_sums_crystal(const lattice_slot *s, const near_pose *p, float *each, near_moments *out) {
    places at;
    find_places(p, &at);
    find_sites(&s->sites, p->n, &at);
    weigh(p, false, &at);
    count(p, &at);
    add_up(p->n, &at, out);
    out->likelihood = likelihood(p, &at, each);
}

/* How far places are off what the table has in d: places of sites, where it is mirrored those of one side. */
ATN_IN_LANES static void find_offsets(const bool mirror[3], int32_t n, places *to) {
    float *restrict square = to->square;
    const int32_t all = rounded(n);
    for (int c = 0; c < 3; ++c) {
        const float *restrict y = to->y[c];
        float *restrict d = to->d[c];
        const bool folded = mirror[c], first = c == 0;
        ATN_LANES()
        for (int32_t k = 0; k < all; ++k) {
            float off = y[k] - (folded ? copysignf(d[k], y[k]) : d[k]);
            d[k] = off;
            square[k] = off * off + (first ? 0 : square[k]);
        }
    }
}

void near_sums_table(const lattice_slot *s, const float *pull, bool wide, const near_pose *p, float *each,
                     near_moments *out) {
    places at;
    find_places(p, &at);
    find_voxels(&s->box, p->n, &at);
    for (int32_t k = 0; k < rounded(p->n); ++k) {
        const float *v = pull + LATTICE_PULL * (size_t)at.at[k];
        at.chance[k] = v[0];
        at.d[0][k] = v[1], at.d[1][k] = v[2], at.d[2][k] = v[3];
    }
    find_offsets(s->box.mirror, p->n, &at);
    if (!wide) weigh(p, true, &at);
    count(p, &at);
    add_up(p->n, &at, out);
    out->likelihood = wide ? 0 : likelihood(p, &at, each);
}

/* Squares of deviations, `far` at most, of places from one of them on, as if a site were there. */
static ATN_INLINE float misfit_of(const lattice_sites *s, int32_t atoms, const places *at, int32_t n, int32_t from,
                                  float w, float far) {
    const lattice_sites of = *s;
    const float *restrict x = at->y[0], *restrict y = at->y[1], *restrict z = at->y[2], *restrict c = at->counts;
    const float tx = x[from], ty = y[from], tz = z[from];
    const int32_t all = rounded(n);
    float sum = 0;
    ATN_LANES(reduction(+ : sum))
    for (int32_t k = 0; k < all; ++k) {
        float square = nearest_of(&of, atoms, x[k] - tx, y[k] - ty, z[k] - tz).square * w;
        sum += (square < far ? square : far) * c[k];
    }
    return sum;
}

ATN_IN_LANES static float find_misfit(const lattice_sites *of, const places *at, const near_pose *p, int32_t from,
                                      float far) {
    if (of->atoms == 1) return misfit_of(of, 1, at, p->n, from, p->w, far);
    if (of->atoms == 2) return misfit_of(of, 2, at, p->n, from, p->w, far);
    if (of->atoms == 4) return misfit_of(of, 4, at, p->n, from, p->w, far);
    return misfit_of(of, LATTICE_CELL_ATOMS, at, p->n, from, p->w, far);
}

int32_t near_start(const lattice_slot *s, const near_pose *p, int32_t most, float far, double *misfit) {
    places at;
    int32_t best = -1;
    float least = INFINITY;
    find_places(p, &at);
    for (int32_t k = 0; k < rounded(p->n); ++k) at.counts[k] = k >= p->n ? 0 : p->left ? p->left[k] : 1;
    for (int32_t k = 0; k < p->n && most > 0; ++k) {
        if (at.counts[k] < 0.5F) continue;
        float here = find_misfit(&s->sites, &at, p, k, far);
        --most;
        if (here < least) least = here, best = k;
    }
    *misfit = (double)least;
    return best;
}
