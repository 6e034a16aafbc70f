/* Sums over neighbours in lanes are those of a plain loop in doubles: for no neighbours, one, odd numbers and the most,
 * with sites of every kind of crystal and with those of a table. */
#include "testkit.h"

#include "apps/lattice/near_sums.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum { MOST = ATN_LATTICE_MOST_NEIGHBOURS };
static float axis[3][MOST];
static float left[MOST], each[MOST + 1];
static const int32_t COUNTS[] = {0, 1, 2, 7, 16, 41, 129, MOST};

static near_pose make(atn_random *random, int32_t n) {
    const double q[4] = {0.5, 0.5, -0.5, 0.5}, small[4] = {0.99, 0.08, -0.06, 0.09};
    double turn[4], m[9];
    near_pose p = {.n = n, .t = {0.11F, -0.07F, 0.05F}, .w = 25, .most = 4.8F, .gas = 4e-4F, .told = true};
    geom_quaternion_multiply(small, q, turn);
    geom_quaternion_matrix(turn, m);
    for (int c = 0; c < 9; ++c) p.m[c] = (float)m[c];
    for (int32_t k = 0; k < n; ++k) left[k] = (float)atn_random_unit(random);
    for (int c = 0; c < 3; ++c) {
        p.x[c] = axis[c];
        for (int32_t k = 0; k < n; ++k) axis[c][k] = (float)(12 * atn_random_unit(random) - 6);
    }
    return p;
}

static void place(const near_pose *p, int32_t k, double y[3]) {
    for (int c = 0; c < 3; ++c) {
        y[c] = -(double)p->t[c];
        for (int a = 0; a < 3; ++a) y[c] += (double)p->m[3 * c + a] * (double)axis[a][k];
    }
}

/* One neighbour into the sums that are wanted. */
static void add(const near_pose *p, double chance, const double y[3], const double d[3], double log_density, int32_t k,
                near_moments *m) {
    double c = chance * (p->left ? (double)p->left[k] : 1);
    m->c += c, m->likelihood += log_density;
    for (int a = 0; a < 3; ++a) {
        int b = (a + 1) % 3, e = (a + 2) % 3;
        m->y[a] += c * y[a], m->d[a] += c * d[a], m->spread += c * d[a] * d[a];
        m->cross[a] += c * (y[b] * d[e] - y[e] * d[b]);
    }
    for (int a = 0, at = 0; a < 3; ++a)
        for (int b = 0; b <= a; ++b) m->yy[at++] += c * y[a] * y[b];
}

static void near_to(const near_moments *got, const near_moments *wanted, int32_t n) {
    double a[18], b[18];
    _Static_assert(sizeof *got == 18 * sizeof(double), "all sums are looked at");
    memcpy(a, got, sizeof *got);
    memcpy(b, wanted, sizeof *wanted);
    for (int k = 0; k < 18; ++k)
        if (!(fabs(a[k] - b[k]) < 3e-4 * (1 + n)))
            fail_msg("sum %d of %d neighbours: %g, not %g", k, (int)n, a[k], b[k]);
}

static double density_of(const near_pose *p, double square, double *chance) {
    double own = square * (double)p->w < 60 ? (double)p->most * exp(-0.5 * square * (double)p->w) : 0;
    *chance = own / (own + (double)p->gas);
    return log(own + (double)p->gas);
}

/* How far all neighbours are from sites if number `from` is on one. */
static double misfit_from(const lattice_slot *s, const near_pose *p, int32_t from) {
    double sum = 0, site[3];
    place(p, from, site);
    for (int32_t k = 0; k < p->n; ++k) {
        double y[3], d[3];
        place(p, k, y);
        for (int a = 0; a < 3; ++a) y[a] -= site[a];
        lattice_kind_off(s->kind, &s->cell, y, d);
        sum += fmin((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * (double)p->w, 12) * (p->left ? (double)p->left[k] : 1);
    }
    return sum;
}

static void start_is_best(const lattice_slot *s, const near_pose *p) {
    enum { STARTS = 5 };
    double least = INFINITY, told = 0;
    int32_t tried = 0, at = near_start(s, p, STARTS, 12, &told);
    for (int32_t k = 0; k < p->n && tried < STARTS; ++k) {
        if (p->left && p->left[k] < 0.5F) continue;
        double here = misfit_from(s, p, k);
        least = fmin(least, here);
        ++tried;
        if (k == at) assert_true(fabs(here - told) < 1e-3 * (1 + p->n));
    }
    assert_int_equal(at >= 0, tried > 0);
    if (tried) assert_true(fabs(told - least) < 1e-3 * (1 + p->n));
}

static void sites_of_crystals(void **state) {
    static const char *const NAMES[] = {"bcc", "fcc", "hcp", "sc", "diamond"};
    atn_random random;
    (void)state;
    atn_random_seed(&random, 41);
    for (size_t c = 0; c < sizeof NAMES / sizeof *NAMES * sizeof COUNTS / sizeof *COUNTS; ++c) {
        lattice_slot s = {.kind = lattice_kind_find(NAMES[c % 5])};
        near_pose p = make(&random, COUNTS[c / 5]);
        near_moments got, wanted = {0};
        p.left = c % 2 ? left : NULL;
        s.cell = lattice_kind_cell(s.kind, 3.3);
        s.sites = lattice_kind_sites(s.kind, 3.3);
        memset(&got, 0xff, sizeof got);
        for (int32_t k = 0; k <= p.n && k < MOST; ++k) each[k] = NAN;
        near_sums_crystal(&s, &p, each, &got);
        for (int32_t k = 0; k < p.n; ++k) {
            double y[3], d[3], chance, square;
            place(&p, k, y);
            lattice_kind_off(s.kind, &s.cell, y, d);
            square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            double one = density_of(&p, square, &chance);
            add(&p, chance, y, d, one, k, &wanted);
            assert_true(fabs(log((double)each[k]) - one) < 2e-3);
        }
        if (p.n < MOST) assert_true(isnan(each[p.n]));
        near_to(&got, &wanted, p.n);
        start_is_best(&s, &p);
    }
}

static void sites_of_a_table(void **state) {
    enum { EDGE = 9, VOXELS = EDGE * 2 * EDGE * EDGE };
    static float pull[LATTICE_PULL * VOXELS];
    lattice_slot s = {.box = {.edge = 1, .size = {EDGE, 2 * EDGE, EDGE}, .offset = {0, EDGE, 0}}};
    atn_random random;
    (void)state;
    s.box.mirror[0] = s.box.mirror[2] = true;
    atn_random_seed(&random, 42);
    for (size_t k = 0; k < sizeof pull / sizeof *pull; ++k) pull[k] = (float)atn_random_unit(&random);
    for (size_t k = 0; k < VOXELS; k += 3) pull[LATTICE_PULL * k] = 0; /* no site */
    for (size_t c = 0; c < 2 * sizeof COUNTS / sizeof *COUNTS; ++c) {
        bool wide = c % 2;
        near_pose p = make(&random, COUNTS[c / 2]);
        near_moments got, wanted = {0};
        near_sums_table(&s, pull, wide, &p, NULL, &got);
        for (int32_t k = 0; k < p.n; ++k) {
            double y[3], d[3], square = 0, chance;
            size_t at[3];
            place(&p, k, y);
            for (int a = 0; a < 3; ++a) {
                at[a] = (size_t)fabs(y[a] + s.box.offset[a]);
                if (at[a] >= (size_t)s.box.size[a]) at[a] = (size_t)s.box.size[a] - 1;
            }
            const float *v = pull + LATTICE_PULL * ((at[2] * 2 * EDGE + at[1]) * EDGE + at[0]);
            for (int a = 0; a < 3; ++a) {
                d[a] = y[a] - (s.box.mirror[a] ? copysign((double)v[1 + a], y[a]) : (double)v[1 + a]);
                square += d[a] * d[a];
            }
            double one = density_of(&p, v[0] < 1e-6F ? 1e6 : square, &chance);
            add(&p, wide ? (double)v[0] : chance, y, d, wide ? 0 : one, k, &wanted);
        }
        near_to(&got, &wanted, p.n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sites_of_crystals), cmocka_unit_test(sites_of_a_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
