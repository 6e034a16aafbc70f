/* A closer look at one atom, on the host: Newton steps for the rotation w and the shift t of the centre together, with
 * noise that may differ along the z axis of the frame. Neighbour k is at y = Q x - t in the model's frame and belongs
 * to the site m there with chance c; W = Q S^-1 Q^T. What is made small is sum c (y - m)^T W (y - m) + t^T W t; with H
 * its curvature the likelihood averaged over turns and shifts is L G / (8 pi^2) |S|^(-1/2) (2 pi)^(3/2) |H|^(-1/2)
 * exp(-t^T W t / 2), G the symmetries. An atom that is on no site of the lattice around it is anywhere in the volume V
 * of a site: there t has no curvature of its own, and V (2 pi)^(-3/2) takes the place of |S|^(1/2); all sites of the
 * crystal count, the one next to the centre too. */
#include "apps/lattice/near_sums.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { STEPS = 6, WIDE = 2, STEPS_OFF = 4 };
static const double PI = 3.14159265358979323846, MOST_TURN = 0.2, MOST_SHIFT = 4.5;
static const double FAR = 12;
static const double NOWHERE = 0.003; /* deviations: a step as short as that is the last */
static const double SAME = 0.9985;   /* cosine of half the angle between turns that are one */
static const double LITTLE = 1e-2;   /* curvature of turns, so that there is some */
static const double TURNS = 0.03,
                    LIKELY = 0.5; /* radians by which turns of a grain differ; chance of a turn that is known */

bool lattice_is_uneven(const atn_lattice *l) { return l->info.noise != l->info.depth_noise && !l->alone; }

typedef struct pose {
    double q[4], t[3];
    double m[9], w[9]; /* the turn as a matrix; the metric W */
    double likelihood, weight, spread, shift2;
    double h[36], g[6]; /* curvature; slope */
    bool off;           /* on no site: t is anything */
    bool wide;          /* from the table that is blurred */
    bool told;          /* the likelihood is wanted */
    const float *left;  /* how much each neighbour counts; NULL: wholly */
    float *each;        /* densities at neighbours; NULL: not wanted */
} pose;

static void ready(const atn_lattice *l, pose *p) {
    double s[3] = {l->info.noise, l->info.noise, l->info.depth_noise}, w = 1 / (s[0] * s[0]);
    geom_quaternion_matrix(p->q, p->m);
    for (int c = 0; c < 9; ++c) p->w[c] = c % 4 ? 0 : w;
    if (!lattice_is_uneven(l)) return;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            p->w[3 * a + b] = 0;
            for (int c = 0; c < 3; ++c) p->w[3 * a + b] += p->m[3 * a + c] * p->m[3 * b + c] / (s[c] * s[c]);
        }
}

static double norm(const atn_lattice *l) {
    return l->info.efficiency / (pow(2 * PI, 1.5) * l->info.noise * l->info.noise * l->info.depth_noise);
}

static double belongs(const atn_lattice *l, pose *p, double own) {
    if (p->told) p->likelihood += log(own + l->background_density);
    return own / (own + l->background_density);
}

/* Where a neighbour at x is in the crystal, and how far off the nearest of all its sites. */
static double square_off(const lattice_slot *s, const pose *p, const double x[3], double y[3], double d[3]) {
    double square = 0;
    for (int c = 0; c < 3; ++c) y[c] = p->m[3 * c] * x[0] + p->m[3 * c + 1] * x[1] + p->m[3 * c + 2] * x[2] - p->t[c];
    lattice_kind_off(s->kind, &s->cell, y, d);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) square += d[a] * p->w[3 * a + b] * d[b];
    return square;
}

/* The voxel of a place, and how far it is off the site that it belongs to. */
static const float *voxel(const lattice_slot *s, const float *pull, const double y[3], double d[3]) {
    size_t at[3];
    assert(pull);
    for (int c = 0; c < 3; ++c) {
        at[c] = (size_t)fabs(y[c] / s->box.edge + s->box.offset[c]);
        if (at[c] >= (size_t)s->box.size[c]) at[c] = (size_t)s->box.size[c] - 1;
    }
    const float *v = pull + LATTICE_PULL * ((at[2] * (size_t)s->box.size[1] + at[1]) * (size_t)s->box.size[0] + at[0]);
    for (int c = 0; c < 3; ++c) d[c] = y[c] - (s->box.mirror[c] ? copysign((double)v[1 + c], y[c]) : (double)v[1 + c]);
    return v;
}

/* One neighbour: y, the offset d from its site; returns the chance that it belongs there and adds to the likelihood. */
static double place(const atn_lattice *l, const lattice_slot *s, const float *pull, pose *p, int32_t k, double y[3],
                    double d[3]) {
    double x[3] = {(double)l->near.axis[0][k], (double)l->near.axis[1][k], (double)l->near.axis[2][k]}, square = 0;
    if (p->off) return belongs(l, p, exp(-0.5 * square_off(s, p, x, y, d)) * norm(l));
    for (int c = 0; c < 3; ++c) y[c] = p->m[3 * c] * x[0] + p->m[3 * c + 1] * x[1] + p->m[3 * c + 2] * x[2] - p->t[c];
    const float *v = voxel(s, pull, y, d);
    if (p->wide) return (double)v[0];
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) square += d[a] * p->w[3 * a + b] * d[b];
    return belongs(l, p, (double)v[0] < 1e-6 ? 0 : exp(-0.5 * square) * norm(l));
}

/* The sums of a pose. */
static void sums_uneven(const atn_lattice *l, const lattice_slot *s, const float *pull, size_t i, pose *p) {
    ready(l, p);
    p->likelihood = p->weight = p->spread = p->shift2 = 0;
    memset(p->h, 0, sizeof p->h);
    memset(p->g, 0, sizeof p->g);
    for (int a = 0; a < 3 && !p->off; ++a)
        for (int b = 0; b < 3; ++b) {
            p->shift2 += p->t[a] * p->w[3 * a + b] * p->t[b];
            p->h[6 * (a + 3) + b + 3] = p->w[3 * a + b];
            p->g[a + 3] -= p->w[3 * a + b] * p->t[b];
        }
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) {
        double y[3], d[3], wd[3],
            c = place(l, s, pull, p, k, y, d) * (p->left ? (double)p->left[k - l->near.start[i]] : 1);
        /* y moves by w x y - t: columns of j */
        double j[3][6] = {{0, y[2], -y[1], -1, 0, 0}, {-y[2], 0, y[0], 0, -1, 0}, {y[1], -y[0], 0, 0, 0, -1}}, wj[3][6];
        p->weight += c;
        for (int a = 0; a < 3; ++a) {
            p->spread += c * d[a] * d[a];
            wd[a] = p->w[3 * a] * d[0] + p->w[3 * a + 1] * d[1] + p->w[3 * a + 2] * d[2];
            for (int b = 0; b < 6; ++b)
                wj[a][b] = c * (p->w[3 * a] * j[0][b] + p->w[3 * a + 1] * j[1][b] + p->w[3 * a + 2] * j[2][b]);
        }
        for (int a = 0; a < 6; ++a) {
            p->g[a] -= c * (j[0][a] * wd[0] + j[1][a] * wd[1] + j[2][a] * wd[2]);
            for (int b = 0; b <= a; ++b)
                p->h[6 * a + b] += j[0][a] * wj[0][b] + j[1][a] * wj[1][b] + j[2][a] * wj[2][b];
        }
    }
}

/* The same where noise is the same in all directions: W is a number, and most of H is sums of few (near_sums.c). */
static void take_moments(const near_moments *m, double w, pose *p) {
    double own = p->off ? 0 : 1, all = m->yy[0] + m->yy[2] + m->yy[5];
    p->weight = m->c, p->spread = m->spread, p->shift2 = 0;
    p->likelihood = m->likelihood;
    memset(p->h, 0, sizeof p->h);
    for (int a = 0, k = 0; a < 3; ++a) {
        for (int n = 0; n <= a; ++n, ++k) p->h[6 * a + n] = w * ((a == n) * all - m->yy[k]);
        p->h[7 * (a + 3)] = w * (m->c + own);
        p->g[a] = -w * m->cross[a];
        p->g[a + 3] = w * (m->d[a] - own * p->t[a]);
        p->shift2 += own * w * p->t[a] * p->t[a];
    }
    p->h[19] = -w * m->y[2], p->h[20] = w * m->y[1], p->h[24] = w * m->y[2];
    p->h[26] = -w * m->y[0], p->h[30] = -w * m->y[1], p->h[31] = w * m->y[0];
}

/* Neighbours of atom i in a pose whose matrix is known. */
static near_pose in_lanes(const atn_lattice *l, size_t i, const pose *p) {
    int32_t first = l->near.start[i];
    near_pose out = {.n = l->near.start[i + 1] - first, .left = p->left, .told = p->told || p->each};
    out.w = (float)(1 / (l->info.noise * l->info.noise));
    out.most = (float)norm(l), out.gas = (float)l->background_density;
    for (int c = 0; c < 9; ++c) out.m[c] = (float)p->m[c];
    for (int c = 0; c < 3; ++c) out.x[c] = l->near.axis[c] + first, out.t[c] = (float)p->t[c];
    return out;
}

static void sums_even(const atn_lattice *l, const lattice_slot *s, const float *pull, size_t i, pose *p) {
    near_moments m;
    ready(l, p);
    near_pose at = in_lanes(l, i, p);
    if (p->off)
        near_sums_crystal(s, &at, p->each, &m);
    else
        near_sums_table(s, pull, p->wide, &at, p->each, &m);
    take_moments(&m, 1 / (l->info.noise * l->info.noise), p);
}

/* Cholesky of the lower half of h, in place, with so much more curvature of turns. */
static void factor(double h[36], double more) {
    for (int a = 0; a < 6; ++a) {
        h[7 * a] += a < 3 ? more : 0;
        for (int b = 0; b <= a; ++b) {
            for (int c = 0; c < b; ++c) h[6 * a + b] -= h[6 * a + c] * h[6 * b + c];
            if (a == b)
                h[7 * a] = sqrt(fmax(h[7 * a], 1e-9));
            else
                h[6 * a + b] /= h[7 * b];
        }
    }
}

/* h x = g, for turns and shifts; it spoils h. */
static void solve_uneven(double h[36], double more, const double g[6], double x[6]) {
    factor(h, more);
    for (int a = 0; a < 6; ++a) {
        x[a] = g[a];
        for (int b = 0; b < a; ++b) x[a] -= h[6 * a + b] * x[b];
        x[a] /= h[7 * a];
    }
    for (int a = 5; a >= 0; --a) {
        for (int b = a + 1; b < 6; ++b) x[a] -= h[6 * b + a] * x[b];
        x[a] /= h[7 * a];
    }
}

/* Where noise is even the half of h that belongs to shifts is a number times one, and goes out of the way at once: what
 * it leaves for turns, as L D L^T. */
typedef struct turning {
    double shifts; /* curvature */
    double d[3], l10, l20, l21;
} turning;

static turning without_shifts(const double h[36], double more) {
    const double least = 1e-9, *b = h + 18; /* rows of b: shifts; columns: turns */
    turning out = {.shifts = fmax(h[21], least)};
    double per = 1 / out.shifts, s[3][3];
    for (int a = 0; a < 3; ++a)
        for (int c = 0; c <= a; ++c)
            s[a][c] =
                h[6 * a + c] + (a == c ? more : 0) - per * (b[a] * b[c] + b[6 + a] * b[6 + c] + b[12 + a] * b[12 + c]);
    out.d[0] = fmax(s[0][0], least);
    out.l10 = s[1][0] / out.d[0], out.l20 = s[2][0] / out.d[0];
    out.d[1] = fmax(s[1][1] - out.l10 * s[1][0], least);
    double rest = s[2][1] - out.l20 * s[1][0];
    out.l21 = rest / out.d[1];
    out.d[2] = fmax(s[2][2] - out.l20 * s[2][0] - out.l21 * rest, least);
    return out;
}

static void solve_even(const double h[36], double more, const double g[6], double x[6]) {
    const turning f = without_shifts(h, more);
    const double *b = h + 18, per = 1 / f.shifts;
    for (int a = 0; a < 3; ++a) x[a] = g[a] - per * (b[a] * g[3] + b[6 + a] * g[4] + b[12 + a] * g[5]);
    x[1] -= f.l10 * x[0];
    x[2] -= f.l20 * x[0] + f.l21 * x[1];
    x[2] /= f.d[2];
    x[1] = x[1] / f.d[1] - f.l21 * x[2];
    x[0] = x[0] / f.d[0] - f.l10 * x[1] - f.l20 * x[2];
    for (int a = 0; a < 3; ++a)
        x[a + 3] = per * (g[a + 3] - b[6 * a] * x[0] - b[6 * a + 1] * x[1] - b[6 * a + 2] * x[2]);
}

/* The logarithm of the determinant of h. */
static double determinant(const atn_lattice *l, const double h[36], double more) {
    double again[36], det = 0;
    if (!lattice_is_uneven(l)) {
        const turning f = without_shifts(h, more);
        return 3 * log(f.shifts) + log(f.d[0] * f.d[1] * f.d[2]);
    }
    memcpy(again, h, sizeof again);
    factor(again, more);
    for (int a = 0; a < 6; ++a) det += 2 * log(again[7 * a]);
    return det;
}

/* What the average over turns makes of a likelihood of curvature h, but for what shifts add: turns are any, or that of
 * one of `known` grains around. */
static double turns_term(const atn_lattice *l, const lattice_slot *s, const double h[36], int32_t known) {
    double any = s->log_any - 0.5 * determinant(l, h, LITTLE);
    if (!known) return any;
    double one =
        log(LIKELY / known) - 3 * log(TURNS) - 1.5 * log(2 * PI) - 0.5 * determinant(l, h, 1 / (TURNS * TURNS));
    any += log(1 - LIKELY);
    return fmax(any, one) + log1p(exp(-fabs(any - one)));
}

static void sums(const atn_lattice *l, const lattice_slot *s, const float *pull, size_t i, pose *p) {
    if (lattice_is_uneven(l))
        sums_uneven(l, s, pull, i, p);
    else
        sums_even(l, s, pull, i, p);
}

/* False: it went nowhere, and so would the next one. */
static bool step(const atn_lattice *l, pose *p) {
    double x[6], turn, length = 0, square = 0, q[4];
    if (lattice_is_uneven(l))
        solve_uneven(p->h, LITTLE, p->g, x);
    else
        solve_even(p->h, LITTLE, p->g, x);
    turn = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    double cut = turn > MOST_TURN ? MOST_TURN / turn : 1, small[4] = {1};
    for (int a = 0; a < 3; ++a) small[a + 1] = 0.5 * cut * x[a], p->t[a] += cut * x[a + 3];
    geom_quaternion_multiply(small, p->q, q);
    for (int a = 0; a < 4; ++a) length += q[a] * q[a];
    for (int a = 0; a < 4; ++a) p->q[a] = q[a] / sqrt(length);
    for (int a = 0; a < 3; ++a) square += p->t[a] * p->t[a];
    double most = p->off ? INFINITY : MOST_SHIFT * l->sharp;
    for (int a = 0; a < 3 && square > most * most; ++a) p->t[a] *= most / sqrt(square);
    double far = turn * l->info.cutoff, moved = x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + far * far;
    return moved > NOWHERE * NOWHERE * l->sharp * l->sharp;
}

static void keep(const pose *p, double about, lattice_found *f) {
    *f = (lattice_found){.evidence = (float)(p->likelihood + about), .around = (float)about, .part = -1, .exact = true};
    f->background = -INFINITY;
    for (int k = 0; k < 4; ++k) f->quaternion[k] = (float)p->q[k];
    for (int k = 0; k < 3; ++k) f->shift[k] = (float)p->t[k];
    f->weight = (float)p->weight;
    f->spread = (float)p->spread;
}

/* Turns of a model that an atom may have because atoms around it do. */
static int32_t known_of(const lattice_recent *recent, int32_t model) { return recent->near ? recent->count[model] : 0; }

/* From a turn and a shift; found is replaced where this one is more likely, or where `always`. */
static void look_from(const atn_lattice *l, const lattice_slot *s, const float *const pull[2], size_t i, pose *p,
                      int32_t known, bool always, lattice_found *f) {
    for (int k = 0; k < STEPS; ++k) {
        p->wide = k < WIDE && !always && !lattice_is_uneven(l);
        p->told = false;
        sums(l, s, pull[!p->wide], i, p);
        if (!step(l, p) && !p->wide) break;
    }
    p->wide = false, p->told = true;
    sums(l, s, pull[1], i, p);
    double about = turns_term(l, s, p->h, known) - l->log_noise + 1.5 * log(2 * PI) - 0.5 * p->shift2;
    about = fmin(about, -0.5 * p->shift2);
    if (always || p->likelihood + about > (double)f->evidence) keep(p, about, f);
}

void lattice_look(const atn_lattice *l, size_t i, const lattice_recent *recent, uint32_t models,
                  lattice_looked *looked) {
    for (int32_t m = 0; m < l->info.models; ++m) {
        const lattice_slot *s = &l->slot[m];
        lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)m];
        const float *const pull[2] = {s->host_pull[0], s->host_pull[1]};
        for (int32_t k = 0; (models >> m & 1) && k < recent->count[m]; ++k) {
            lattice_found here = {.evidence = -INFINITY};
            pose p = {.likelihood = 0};
            memcpy(p.q, recent->turn[m][k], sizeof p.q);
            look_from(l, s, pull, i, &p, known_of(recent, m), false, &here);
            if (here.evidence > f->evidence) *f = here;
            if (looked) looked->of[m][k] = here;
        }
    }
}

void lattice_look_closer(const atn_lattice *l, size_t i, uint32_t models) {
    for (int32_t m = 0; m < l->info.models; ++m) {
        const lattice_slot *s = &l->slot[m];
        lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)m];
        const float *const pull[2] = {s->host_pull[0], s->host_pull[1]};
        if (!(models >> m & 1) || f->exact) continue;
        pose p = {.t = {(double)f->shift[0], (double)f->shift[1], (double)f->shift[2]}};
        for (int k = 0; k < 4; ++k) p.q[k] = (double)f->quaternion[k];
        look_from(l, s, pull, i, &p, 0, true, f);
    }
}

void lattice_look_each(const atn_lattice *l, const lattice_slot *s, size_t i, const lattice_found *f, float *out) {
    pose p = {.t = {(double)f->shift[0], (double)f->shift[1], (double)f->shift[2]}, .told = true, .each = out};
    double y[3], d[3];
    for (int k = 0; k < 4; ++k) p.q[k] = (double)f->quaternion[k];
    if (!lattice_is_uneven(l)) {
        sums_even(l, s, s->host_pull[1], i, &p);
        return;
    }
    ready(l, &p);
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) {
        p.likelihood = 0;
        place(l, s, s->host_pull[1], &p, k, y, d);
        out[k - l->near.start[i]] = (float)exp(p.likelihood);
    }
}

/* ---- on no site ---- */

enum { STARTS = 8 };

/* How far neighbours are from sites, in squares of deviations, of which FAR are as bad as any more; no less than
 * `enough` where it is that much. */
static double misfit_uneven(const atn_lattice *l, const lattice_slot *s, size_t i, const pose *p, double enough) {
    double y[3], d[3], sum = 0;
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1] && sum < enough; ++k) {
        double x[3] = {(double)l->near.axis[0][k], (double)l->near.axis[1][k], (double)l->near.axis[2][k]};
        double counts = p->left ? (double)p->left[k - l->near.start[i]] : 1, square = square_off(s, p, x, y, d);
        sum += (square < FAR ? square : FAR) * counts;
    }
    return sum;
}

static void shift_to(const atn_lattice *l, int32_t k, pose *p) {
    for (int c = 0; c < 3; ++c) {
        p->t[c] = 0;
        for (int a = 0; a < 3; ++a) p->t[c] += p->m[3 * c + a] * (double)l->near.axis[a][k];
    }
}

static int32_t start_uneven(const atn_lattice *l, const lattice_slot *s, size_t i, pose *p) {
    int32_t first = l->near.start[i], tried = 0, at = -1;
    double best = INFINITY;
    for (int32_t n = first; n < l->near.start[i + 1] && tried < STARTS; ++n) {
        if (p->left && p->left[n - first] < 0.5F) continue;
        shift_to(l, n, p);
        ++tried;
        double here = misfit_uneven(l, s, i, p, best);
        if (here < best) best = here, at = n - first;
    }
    return at;
}

/* Which shift of a known turn: each of the first neighbours that count may be on a site. */
static void start_off(const atn_lattice *l, const lattice_slot *s, size_t i, pose *p) {
    double misfit;
    ready(l, p);
    near_pose at = in_lanes(l, i, p);
    int32_t best = lattice_is_uneven(l) ? start_uneven(l, s, i, p) : near_start(s, &at, STARTS, (float)FAR, &misfit);
    memset(p->t, 0, sizeof p->t);
    if (best >= 0) shift_to(l, l->near.start[i] + best, p);
}

/* s a . b = s . (b a*): one product of quaternions for all symmetries. */
bool lattice_turn_is(const lattice_slot *s, const double a[4], const double b[4]) {
    const double back[4] = {a[0], -a[1], -a[2], -a[3]};
    double d[4];
    if (fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]) > SAME) return true; /* as most of a grain are */
    geom_quaternion_multiply(b, back, d);
    for (int32_t k = 1; k < s->symmetries; ++k) {
        const double *by = s->symmetry[k];
        if (fabs(by[0] * d[0] + by[1] * d[1] + by[2] * d[2] + by[3] * d[3]) > SAME) return true;
    }
    return false;
}

/* The pose of a lattice of about that turn that needs no site for the atom, and the densities of neighbours; returns
 * what the average around it adds. */
static double settle_off(const atn_lattice *l, const lattice_slot *s, size_t i, int32_t known, float *each, pose *p) {
    double y[3], d[3];
    int32_t first = l->near.start[i];
    start_off(l, s, i, p);
    for (int n = 0; n < STEPS_OFF; ++n) {
        sums(l, s, NULL, i, p);
        if (!step(l, p)) break;
    }
    p->each = each;
    sums(l, s, NULL, i, p);
    p->told = true;
    for (int32_t k = first; lattice_is_uneven(l) && k < l->near.start[i + 1]; ++k) {
        p->likelihood = 0;
        place(l, s, NULL, p, k, y, d);
        each[k - first] = (float)exp(p->likelihood);
    }
    return turns_term(l, s, p->h, known) - s->log_volume + 3 * log(2 * PI);
}

/* Whether a neighbour is near enough to a site for that to be its own: no farther than half a cell along each edge. */
static bool may_be_at(const atn_lattice *l, const lattice_slot *s, const pose *p, int32_t k, const double site[3]) {
    for (int c = 0; c < 3; ++c) {
        double y = -p->t[c];
        for (int a = 0; a < 3; ++a) y += p->m[3 * c + a] * (double)l->near.axis[a][k];
        if (fabs(y - site[c]) > 0.5 * s->cell.edge[c] + 0.1) return false;
    }
    return true;
}

/* How much likelier the atom is on no site than on the nearest one, in the lattice that was found: that one it would
 * take itself, so that neighbours there are on none; and it would be off it by noise, not by anything in the volume V.
 */
static double off_odds(const atn_lattice *l, const lattice_slot *s, size_t i, pose *p) {
    const double back[3] = {-p->t[0], -p->t[1], -p->t[2]};
    double t[3], square = 0, odds = 0;
    lattice_kind_off(s->kind, &s->cell, back, t);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) square += t[a] * p->w[3 * a + b] * t[b];
    p->told = false;
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) {
        if (!may_be_at(l, s, p, k, (const double[3]){back[0] - t[0], back[1] - t[1], back[2] - t[2]})) continue;
        double y[3], d[3], apart = 0, c = place(l, s, NULL, p, k, y, d);
        for (int a = 0; a < 3; ++a) apart += pow(y[a] - d[a] - back[a] + t[a], 2);
        if (apart < 0.01) odds -= log(fmax(1 - c, 1e-12)); /* its site is the centre's */
    }
    double times = 1 + 1 / fmax(p->weight, 1); /* where the site is, is known as well as the neighbours say */
    return odds + l->log_noise + 1.5 * log(2 * PI * times) + 0.5 * square / times - s->log_volume;
}

double lattice_look_beyond(const atn_lattice *l, size_t i, int32_t model, const lattice_recent *recent, int32_t which,
                           const float *left, float *each, double *odds) {
    const lattice_slot *s = &l->slot[model];
    pose p = {.off = true, .left = left};
    memcpy(p.q, recent->turn[model][which], sizeof p.q);
    double about = settle_off(l, s, i, known_of(recent, model), each, &p);
    if (odds) *odds = off_odds(l, s, i, &p);
    return about;
}

bool lattice_look_off(const atn_lattice *l, size_t i, int32_t model) {
    const lattice_slot *s = &l->slot[model];
    lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    if (!s->kind) return false;
    lattice_look_closer(l, i, 1u << model);
    pose p = {.t = {(double)f->shift[0], (double)f->shift[1], (double)f->shift[2]}, .off = true};
    for (int k = 0; k < 4; ++k) p.q[k] = (double)f->quaternion[k];
    p.weight = (double)f->weight;
    ready(l, &p);
    f->background = f->evidence + (float)off_odds(l, s, i, &p);
    if (f->part < 0) f->part = 0;
    return true;
}

static int32_t find_turn(const atn_lattice *l, int32_t model, const double q[4], const lattice_recent *recent) {
    int32_t at = 0;
    while (at < recent->count[model] && !lattice_turn_is(&l->slot[model], q, recent->turn[model][at])) ++at;
    return at;
}

void lattice_remember_last(const atn_lattice *l, int32_t model, const double q[4], lattice_recent *recent) {
    int32_t *n = &recent->count[model];
    if (find_turn(l, model, q, recent) < *n || *n == LATTICE_RECENT) return;
    memcpy(recent->turn[model][(*n)++], q, sizeof *recent->turn[model]);
}

void lattice_remember(const atn_lattice *l, int32_t model, const double q[4], lattice_recent *recent) {
    double(*list)[4] = recent->turn[model];
    int32_t *n = &recent->count[model], at = find_turn(l, model, q, recent);
    if (at == *n && *n < LATTICE_RECENT) ++*n;
    if (at == LATTICE_RECENT) --at;
    memmove(list + 1, list, (size_t)at * sizeof *list);
    memcpy(list[0], q, sizeof *list);
}
