/* Neighbourhoods that come one by one, with no settings given: noise and efficiency are found from all of them, and
 * they are told at least as well as by the number of their neighbours alone, learned on others made the same way. */
#include "support/shared.h"

#include "apps/lattice/lattice.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 900, ROOM = 80, MOST = 64 };
static const double CUTOFF = 4.5;
SHARED_DEVICE(kit_open_host);

typedef struct made {
    size_t start[SETS + 1];
    double axis[3][SETS * ROOM];
} made;
static made told, other;

/* Three structures in turn, turned at random, as seen from an atom that is displaced as the others are. */
static void make(made *out, double noise, double missing, uint64_t seed) {
    static const char *const NAMES[3] = {"bcc", "fcc", "hcp"};
    lattice_points model[3];
    atn_random random;
    size_t n = 0;
    atn_random_seed(&random, seed);
    for (int m = 0; m < 3; ++m) {
        atn_lattice_model about = {.points = 0};
        snprintf(about.name, sizeof about.name, "%s", NAMES[m]);
        kit_ok(ctx, lattice_points_make(ctx, &about, lattice_kind_default(NAMES[m]), CUTOFF + 5 * noise, &model[m]));
    }
    for (size_t s = 0; s < SETS; ++s) {
        const lattice_points *p = &model[s % 3];
        double q[4], m[9], length = 0, centre[3];
        out->start[s] = n;
        for (int k = 0; k < 4; ++k) q[k] = atn_random_normal(&random), length += q[k] * q[k];
        for (int k = 0; k < 4; ++k) q[k] /= sqrt(length);
        geom_quaternion_matrix(q, m);
        for (int a = 0; a < 3; ++a) centre[a] = noise * atn_random_normal(&random), out->axis[a][n] = 0;
        ++n;
        for (size_t k = 0; k < p->count && n - out->start[s] < ROOM; ++k) {
            double at[3], square = 0;
            bool gone = atn_random_unit(&random) < missing;
            for (int a = 0; a < 3; ++a) {
                at[a] = noise * atn_random_normal(&random) - centre[a];
                for (int c = 0; c < 3; ++c) at[a] += m[3 * a + c] * p->axis[c][k];
                square += at[a] * at[a];
            }
            if (gone || square >= CUTOFF * CUTOFF) continue;
            for (int a = 0; a < 3; ++a) out->axis[a][n] = at[a];
            ++n;
        }
    }
    out->start[SETS] = n;
    for (int m = 0; m < 3; ++m) lattice_points_free(ctx, &model[m]);
}

static size_t number(const made *m, size_t s) { return m->start[s + 1] - m->start[s] - 1; }

static size_t right_by_number(void) {
    double times[3][MOST + 1] = {{0}};
    size_t right = 0;
    for (size_t s = 0; s < SETS; ++s) times[s % 3][number(&other, s) < MOST ? number(&other, s) : MOST] += 1;
    for (size_t s = 0; s < SETS; ++s) {
        size_t n = number(&told, s) < MOST ? number(&told, s) : MOST, best = 0;
        for (size_t m = 1; m < 3; ++m)
            if (times[m][n] > times[best][n]) best = m;
        right += best == s % 3;
    }
    return right;
}

KIT_TEST(settings_are_found) {
    static const double CASES[][2] = {{0.25, 0.5}, {0.5, 0.33}, {0.75, 0.5}, {1, 0.33}, {1, 0.5}};
    static atn_lattice_atom atom[SETS];
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        double noise = CASES[k][0], missing = CASES[k][1];
        atn_lattice *lattice;
        size_t right = 0;
        make(&told, noise, missing, 101 + k);
        make(&other, noise, missing, 201 + k);
        const double *const position[3] = {told.axis[0], told.axis[1], told.axis[2]};
        kit_ok(ctx, atn_lattice_create(device, NULL, &lattice));
        kit_ok(ctx, atn_lattice_match_sets(lattice, SETS, told.start, position, 1, atom));
        atn_lattice_info info = atn_lattice_info_of(lattice);
        atn_lattice_free(lattice);
        for (size_t s = 0; s < SETS; ++s) right += atom[s].structure == (int32_t)(s % 3) + 1;
        if (right + SETS / 50 < right_by_number()) /* two deviations of either */
            fail_msg("noise %.2f: %zu right, %zu by number", noise, right, right_by_number());
        if (fabs(info.noise / noise - 1) > 0.2 || fabs(info.efficiency - 1 + missing) > 0.15 ||
            fabs(info.cutoff - CUTOFF) > 0.01)
            fail_msg("noise %.3f not %.3f, efficiency %.3f not %.3f, cut-off %.3f", info.noise, noise, info.efficiency,
                     1 - missing, info.cutoff);
    }
}

/* No background is a wish, too: 0 stands for "found" unless it is said to be meant. */
KIT_TEST(no_background_can_be_asked_for) {
    static atn_lattice_atom atom[SETS];
    make(&told, 0.25, 0.5, 7);
    const double *const position[3] = {told.axis[0], told.axis[1], told.axis[2]};
    for (int meant = 0; meant < 2; ++meant)
        for (size_t sets = 30; sets <= 60; sets += 30) { /* too few to find anything from, and enough */
            atn_lattice *lattice;
            atn_lattice_settings settings = {.size = sizeof settings, .has_background = meant};
            kit_ok(ctx, atn_lattice_create(device, &settings, &lattice));
            kit_ok(ctx, atn_lattice_match_sets(lattice, sets, told.start, position, 1, atom));
            double found = atn_lattice_info_of(lattice).background_neighbours;
            assert_true(meant ? found == 0 : sets > 30 || found > 0);
            atn_lattice_free(lattice);
        }
}

/* The chances of all numbers add up to one, with the mean that efficiency and volume say. */
KIT_TEST(numbers_are_chances) {
    double out[ATN_LATTICE_MOST_NEIGHBOURS + 1], sum = 0, mean = 0, square = 0;
    atn_lattice_model about = {.name = "fcc"};
    lattice_points p;
    kit_ok(ctx, lattice_points_make(ctx, &about, 4, 12, &p));
    lattice_number_make(&p, &(lattice_number){6, 0.05, 0.5, 1e9, 2}, out);
    for (int n = 0; n <= ATN_LATTICE_MOST_NEIGHBOURS; ++n) {
        sum += exp(out[n]);
        mean += n * exp(out[n]);
        square += (double)n * n * exp(out[n]);
    }
    lattice_points_free(ctx, &p); /* 54 sites within 6 of constant 4: 12, 6, 24 and 12 at up to 5.66 */
    assert_true(fabs(sum - 1) < 1e-6 && fabs(mean - 29) < 0.01);
    assert_true(fabs(square - mean * mean - (54 * 0.25 + 2)) < 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_are_found),
                                       cmocka_unit_test(no_background_can_be_asked_for),
                                       cmocka_unit_test(numbers_are_chances)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
