/* Models and their symmetry, rotations that are tried, tables, neighbours, each against what is known of it. */
#include "support/shared.h"

#include "apps/lattice/lattice.h"
#include "apps/lattice/narrow.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHARED_CTX;

static lattice_points points_of(const char *name, double constant, double reach) {
    atn_lattice_model model = {.points = 0};
    lattice_points out;
    snprintf(model.name, sizeof model.name, "%s", name);
    kit_ok(ctx, lattice_points_make(ctx, &model, constant, reach, &out));
    return out;
}

static double radius(const lattice_points *p, size_t k) {
    return sqrt(p->axis[0][k] * p->axis[0][k] + p->axis[1][k] * p->axis[1][k] + p->axis[2][k] * p->axis[2][k]);
}

KIT_TEST(shells_are_right) {
    static const struct {
        const char *name;
        double constant, reach, nearest;
        size_t count, symmetries;
        bool mirror[3];
    } CASES[] = {{"bcc", 3.2, 5.7, 2.7712812921, 58, 24, {true, true, true}}, /* as many as 4.5 and three widths need */
                 {"fcc", 4.0, 4.1, 2.8284271247, 18, 24, {true, true, true}},
                 {"hcp", 3.0, 4.3, 3.0, 18, 6, {true, false, true}},
                 {"sc", 3.0, 4.3, 3.0, 18, 24, {true, true, true}},
                 {"diamond", 4.0, 2.9, 1.7320508076, 16, 12, {false, false, false}}};
    for (size_t k = 0; k < 5; ++k) {
        double symmetry[LATTICE_MOST_SYMMETRIES][4];
        bool mirror[3];
        lattice_points p = points_of(CASES[k].name, CASES[k].constant, CASES[k].reach);
        assert_int_equal(p.count, CASES[k].count);
        assert_true(fabs(radius(&p, 0) - CASES[k].nearest) < 1e-6);
        for (size_t n = 1; n < p.count; ++n) assert_true(radius(&p, n) >= radius(&p, n - 1) - 1e-9);
        assert_int_equal(lattice_points_symmetry(&p, symmetry, mirror), CASES[k].symmetries);
        for (int axis = 0; axis < 3; ++axis) assert_int_equal(mirror[axis], CASES[k].mirror[axis]);
        double volume = lattice_kind_volume(CASES[k].name, CASES[k].constant);
        assert_true(fabs(lattice_kind_constant(CASES[k].name, volume) - CASES[k].constant) < 1e-9);
        lattice_points_free(ctx, &p);
    }
}

/* The nearest site of a whole crystal is one of those around the origin, or the origin. */
KIT_TEST(offsets_are_the_least) {
    static const char *const NAMES[] = {"bcc", "fcc", "hcp", "sc", "diamond"};
    atn_random random;
    atn_random_seed(&random, 9);
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k) {
        lattice_points p = points_of(NAMES[k], 4, 16);
        const lattice_cell cell = lattice_kind_cell(lattice_kind_find(NAMES[k]), 4);
        for (int tries = 0; tries < 100; ++tries) {
            double y[3], d[3], least = 0, square = 0;
            for (int a = 0; a < 3; ++a) y[a] = 6 * atn_random_unit(&random) - 3, least += y[a] * y[a];
            lattice_kind_off(lattice_kind_find(NAMES[k]), &cell, y, d);
            for (size_t n = 0; n < p.count; ++n) {
                double here = 0;
                for (int a = 0; a < 3; ++a) here += pow(y[a] - p.axis[a][n], 2);
                least = fmin(least, here);
            }
            for (int a = 0; a < 3; ++a) square += d[a] * d[a];
            assert_true(fabs(sqrt(square) - sqrt(least)) < 1e-9);
        }
        lattice_points_free(ctx, &p);
    }
}

/* Wherever a crystal is turned, one of the rotations is near, given its symmetry. */
KIT_TEST(turns_cover) {
    enum { TRIES = 200 };
    static const char *const NAMES[2] = {"fcc", "hcp"};
    for (int kind = 0; kind < 2; ++kind) {
        double symmetry[LATTICE_MOST_SYMMETRIES][4], worst = 0;
        bool mirror[3];
        lattice_points p = points_of(NAMES[kind], 4, 7);
        lattice_turns turns = {0};
        atn_random random;
        atn_random_seed(&random, 3);
        int32_t n = lattice_points_symmetry(&p, symmetry, mirror);
        kit_ok(ctx, lattice_turns_make(ctx, n, (const double(*)[4])symmetry, 1, NULL, &turns));
        assert_int_equal(turns.count % (2 * LATTICE_GROUPS), 0);
        assert_true(turns.count > 380 * 24 / n && turns.count < 460 * 24 / n);
        for (int k = 0; k < TRIES; ++k) {
            double q[4], length = 0, best = 0;
            for (int c = 0; c < 4; ++c) q[c] = atn_random_normal(&random), length += q[c] * q[c];
            for (int32_t t = 0; t < turns.count; ++t)
                for (int32_t s = 0; s < n; ++s) {
                    double r[4], dot = 0;
                    geom_quaternion_multiply(symmetry[s], turns.quaternion[t], r);
                    for (int c = 0; c < 4; ++c) dot += r[c] * q[c];
                    best = fmax(best, fabs(dot) / sqrt(length));
                }
            worst = fmax(worst, 2 * acos(fmin(best, 1)) * 180 / 3.14159265358979323846);
        }
        assert_true(worst < 13);
        lattice_turns_free(ctx, &turns);
        lattice_points_free(ctx, &p);
    }
}

/* The integral of the density is what the ball holds of the model, and the density is that of its formula. */
KIT_TEST(tables_hold_densities) {
    lattice_points p = points_of("hcp", 3, 9);
    lattice_box box = lattice_box_make(6, 0.5, 0.3, (const bool[3]){true, false, true});
    lattice_density d = {.noise = 0.3, .efficiency = 0.6, .background = 0.001};
    size_t voxels = lattice_box_voxels(&box), inside = 0;
    float *value = malloc(voxels * sizeof *value), *mean = malloc(3 * voxels * sizeof *mean);
    double expected;
    kit_ok(ctx, lattice_table_make(ctx, &p, &box, &d, value, mean, &expected));
    for (size_t k = 0; k < p.count; ++k) inside += radius(&p, k) < 6;
    assert_true(fabs(expected - 0.6 * (double)inside) < 0.15 * (double)inside);
    size_t at[3] = {(size_t)(3 / box.edge), (size_t)(0.1 / box.edge + box.offset[1]), 0};
    size_t voxel = (at[2] * (size_t)box.size[1] + at[1]) * (size_t)box.size[0] + at[0];
    double here[3] = {((double)at[0] + 0.5) * box.edge, ((double)at[1] + 0.5 - box.offset[1]) * box.edge,
                      0.5 * box.edge};
    double sum = 0.001;
    for (size_t k = 0; k < p.count; ++k) {
        double square = 0;
        for (int axis = 0; axis < 3; ++axis) square += (here[axis] - p.axis[axis][k]) * (here[axis] - p.axis[axis][k]);
        sum += 0.6 * exp(-square / 0.18) / pow(2 * 3.14159265358979323846 * 0.09, 1.5);
    }
    assert_true(fabs((double)value[voxel] - sum) < 1e-3 * sum);
    assert_true(fabs((double)mean[voxel] - 3) < 0.01); /* the neighbour at (3, 0, 0) is the only one near */
    free(value);
    free(mean);
    lattice_points_free(ctx, &p);
}

KIT_TEST(neighbours_are_all) {
    enum { ATOMS = 700 };
    static double axis[3][ATOMS];
    float x[ATN_LATTICE_MOST_NEIGHBOURS], y[ATN_LATTICE_MOST_NEIGHBOURS], z[ATN_LATTICE_MOST_NEIGHBOURS];
    uint64_t seed = 5;
    for (int k = 0; k < ATOMS; ++k)
        for (int a = 0; a < 3; ++a) axis[a][k] = (a + 1) * (kit_uniform(&seed) - 0.3);
    axis[0][1] = axis[0][0], axis[1][1] = axis[1][0], axis[2][1] = axis[2][0]; /* two at one place */
    atn_atoms atoms = {.count = ATOMS, .own = ATOMS, .position = {axis[0], axis[1], axis[2]}};
    lattice_cells cells;
    kit_ok(ctx, lattice_cells_make(ctx, &atoms, 10, 4, &cells));
    for (size_t k = 0; k < ATOMS; k += 13) {
        int32_t inner, again, count = 0, near = 0, n = lattice_cells_near(&cells, k, 2.5, 4, NULL, x, y, z, &inner);
        assert_int_equal(lattice_cells_near(&cells, k, 2.5, 4, NULL, NULL, NULL, NULL, &again), n); /* only counted */
        assert_int_equal(again, inner);
        for (size_t other = 0; other < ATOMS; ++other) {
            double square = 0;
            for (int a = 0; a < 3; ++a) square += 100 * pow(axis[a][other] - axis[a][k], 2);
            count += square > 1e-6 && square < 16;
            near += square > 1e-6 && square < 6.25;
        }
        assert_int_equal(n, count);
        assert_int_equal(inner, near);
        for (int32_t i = 0; i < n; ++i) assert_int_equal(x[i] * x[i] + y[i] * y[i] + z[i] * z[i] < 6.25F, i < inner);
    }
    lattice_cells_free(&cells);
}

/* Atoms that come cell by cell share what is around; a cell with too many around it does not. */
KIT_TEST(blocks_have_the_same_neighbours) {
    enum { ATOMS = 6000, MOST = ATN_LATTICE_MOST_NEIGHBOURS };
    static double axis[3][ATOMS];
    static float one[3][MOST], two[3][MOST];
    uint64_t seed = 8;
    size_t shared = 0, crowded = 0;
    for (int k = 0; k < ATOMS; ++k)
        for (int a = 0; a < 3; ++a) axis[a][k] = (k < ATOMS / 3 ? 6 : 40) * kit_uniform(&seed);
    atn_atoms atoms = {.count = ATOMS, .own = ATOMS, .position = {axis[0], axis[1], axis[2]}};
    lattice_cells cells;
    lattice_block block = {.seen = false};
    kit_ok(ctx, lattice_cells_make(ctx, &atoms, 1, 4, &cells));
    for (size_t k = 0; k < ATOMS; ++k) {
        int32_t inner, again;
        size_t atom = (size_t)cells.order[k];
        int32_t n = lattice_cells_near(&cells, atom, 2.5, 4, NULL, one[0], one[1], one[2], &inner);
        assert_int_equal(lattice_cells_near(&cells, atom, 2.5, 4, &block, two[0], two[1], two[2], &again), n);
        assert_int_equal(again, inner);
        for (int a = 0; a < 3; ++a) assert_memory_equal(one[a], two[a], (size_t)n * sizeof **one);
        shared += block.filled && block.count > 0;
        crowded += block.filled && block.count == 0;
    }
    assert_true(shared > ATOMS / 3 && crowded > 100);
    lattice_cells_free(&cells);
}

/* Of atoms that repeat, and one so far away that nearly all cells are empty: each place counts once. */
/* Whoever is within reach of an atom that was given is there, in the order of all, and few others are. */
KIT_TEST(narrowed_atoms_are_near) {
    enum { ATOMS = 20000, GIVEN = 20 };
    static double axis[3][ATOMS];
    size_t which[GIVEN], near = 0, at = 0;
    uint64_t seed = 11;
    const double reach = 0.06;
    for (int k = 0; k < ATOMS; ++k)
        for (int a = 0; a < 3; ++a) axis[a][k] = (a + 1) * kit_uniform(&seed) / 2;
    for (size_t k = 0; k < GIVEN; ++k) which[k] = k * (ATOMS / GIVEN) + k % 7;
    atn_atoms atoms = {.count = ATOMS, .own = ATOMS, .position = {axis[0], axis[1], axis[2]}};
    lattice_narrowed few;
    kit_ok(ctx, lattice_narrow(ctx, &atoms, reach, which, GIVEN, &few));
    for (size_t k = 0; k < ATOMS; ++k) {
        double least = INFINITY;
        for (size_t g = 0; g < GIVEN; ++g) {
            double square = 0;
            for (int a = 0; a < 3; ++a) square += pow(axis[a][k] - axis[a][which[g]], 2);
            least = fmin(least, sqrt(square));
        }
        bool kept = at < few.atoms.count && few.atoms.position[0][at] == axis[0][k];
        assert_true(kept || least > reach);
        near += least <= reach;
        for (int a = 0; a < 3 && kept; ++a) {
            assert_true(few.atoms.position[a][at] == axis[a][k]);
            assert_true(few.low[a] <= axis[a][k] && axis[a][k] <= few.high[a]);
        }
        at += kept;
    }
    assert_int_equal(at, few.atoms.count);
    assert_true(few.atoms.count < 4 * near);
    for (size_t g = 0; g < GIVEN; ++g) assert_true(few.atoms.position[2][few.which[g]] == axis[2][which[g]]);
    lattice_narrowed_free(ctx, &few);
}

KIT_TEST(sparse_cells_are_the_same) {
    enum { ATOMS = 3000, PLACES = 300 };
    static double axis[3][ATOMS];
    float x[ATN_LATTICE_MOST_NEIGHBOURS], y[ATN_LATTICE_MOST_NEIGHBOURS], z[ATN_LATTICE_MOST_NEIGHBOURS];
    uint64_t seed = 6;
    for (int k = 0; k < ATOMS; ++k)
        for (int a = 0; a < 3; ++a)
            axis[a][k] = k < PLACES ? 20 * kit_uniform(&seed) : axis[a][k < ATOMS / 2 ? 7 : k % PLACES];
    atn_atoms atoms = {.count = ATOMS, .own = ATOMS, .position = {axis[0], axis[1], axis[2]}};
    for (int far = 0; far < 2; ++far) {
        lattice_cells cells;
        for (int a = 0; a < 3; ++a) axis[a][ATOMS - 1] = far ? 5e5 : 0;
        kit_ok(ctx, lattice_cells_make(ctx, &atoms, 1, 4, &cells));
        assert_int_equal(cells.key != NULL, far);
        for (size_t k = 0; k < PLACES; ++k) {
            int32_t inner, count = 0, n = lattice_cells_near(&cells, k, 2.5, 4, NULL, x, y, z, &inner);
            for (size_t other = 0; other < PLACES + 1; ++other) {
                size_t of = other < PLACES ? other : ATOMS - 1;
                double square = 0;
                for (int a = 0; a < 3; ++a) square += pow(axis[a][of] - axis[a][k], 2);
                count += square > 1e-6 && square < 16;
            }
            assert_int_equal(n, count);
        }
        for (size_t k = 0; k < ATOMS; ++k) assert_int_equal(cells.order[cells.rank[k]], k);
        lattice_cells_free(&cells);
    }
}

/* So many that cores share them, every third at the place of another: sites are numbered without gaps, whoever found
 * them. */
KIT_TEST(cores_find_the_same_sites) {
    enum { MANY = 70001, APART = MANY - MANY / 3 };
    double *axis[3];
    atn_random random;
    atn_random_seed(&random, 5);
    for (int c = 0; c < 3; ++c) {
        axis[c] = malloc(MANY * sizeof **axis);
        for (size_t k = 0; k < MANY; ++k) axis[c][k] = 60 * atn_random_unit(&random);
    }
    for (size_t k = 2; k < MANY; k += 3)
        for (int c = 0; c < 3; ++c) axis[c][k] = axis[c][k - 2 + k % 2]; /* both of those before are no copies */
    atn_atoms atoms = {.count = MANY, .own = MANY, .position = {axis[0], axis[1], axis[2]}};
    lattice_cells cells;
    kit_ok(ctx, lattice_cells_make(ctx, &atoms, 1, 4, &cells));
    assert_int_equal(cells.start[cells.cells], APART);
    for (size_t k = 0; k < cells.cells; ++k) assert_true(cells.start[k] <= cells.start[k + 1]);
    int32_t last = -1;
    for (size_t at = 0; at < MANY; ++at) {
        size_t k = (size_t)cells.order[at];
        int32_t site = cells.site[at];
        assert_true(site <= last + 1); /* the next one, or one that is known */
        last = site > last ? site : last;
        assert_int_equal(cells.rank[k], at);
        for (int c = 0; c < 3; ++c) assert_true(fabs((double)cells.axis[c][site] + cells.low[c] - axis[c][k]) < 1e-4);
        if (k % 3 == 2) assert_int_equal(site, cells.site[cells.rank[k - 2 + k % 2]]);
    }
    lattice_cells_free(&cells);
    for (int c = 0; c < 3; ++c) free(axis[c]);
}

KIT_TEST(cells_that_cannot_be_counted_are_refused) {
    static const double FAR[] = {1e308, 1e30, 2e6, INFINITY};
    for (size_t k = 0; k < sizeof FAR / sizeof *FAR; ++k) {
        double axis[3][2] = {{-FAR[k], FAR[k]}, {0, 1}, {0, 1}};
        atn_atoms atoms = {.count = 2, .own = 2, .position = {axis[0], axis[1], axis[2]}};
        lattice_cells cells;
        kit_fails(ctx, ATN_ERR_INPUT, "too far apart", lattice_cells_make(ctx, &atoms, 1, 4, &cells));
    }
    atn_lattice_model bcc = {.name = "bcc"};
    lattice_points points;
    kit_fails(ctx, ATN_ERR_INPUT, "sites within", lattice_points_make(ctx, &bcc, 1e-9, 5, &points));
    kit_fails(ctx, ATN_ERR_INPUT, "sites within", lattice_points_make(ctx, &bcc, 0.1, 5, &points));
}

/* Two words hold what kernels/lattice_refine.atn takes out of them again. */
KIT_TEST(packed_tables_are_true) {
    enum { VOXELS = 8 * 8 * 4 + 8 };
    const bool mirror[3] = {true, false, false};
    const double background = 1e-7;
    lattice_box box = {.size = {4, 6, 11}, .mirror = {mirror[0], mirror[1], mirror[2]}};
    float pull[VOXELS * LATTICE_PULL], value[VOXELS], mean[3 * VOXELS];
    int32_t words[2 * VOXELS];
    atn_random random;
    atn_random_seed(&random, 5);
    assert_int_equal(lattice_box_voxels(&box), VOXELS);
    for (size_t k = 0; k < VOXELS; ++k) {
        value[k] = (float)(background + exp(20 * atn_random_unit(&random) - 17));
        for (size_t c = 0; c < 3; ++c)
            mean[c * VOXELS + k] = (float)(8 * atn_random_unit(&random) - (mirror[c] ? 0 : 4));
    }
    mean[0] = 0, mean[VOXELS] = -8, mean[2 * VOXELS] = 8, value[0] = (float)background; /* the ends of what there is */
    lattice_packing p;
    lattice_pull_make(&box, background, value, mean, pull, words, &p);
    for (size_t k = 0; k < VOXELS; ++k) {
        const float *from = pull + LATTICE_PULL * k;
        assert_true(fabs((double)from[0] - (1 - background / (double)value[k])) < 1e-6);
        for (size_t c = 0; c < 3; ++c) assert_true(from[1 + c] == mean[c * VOXELS + k]);
        uint32_t place = (uint32_t)words[2 * k], chance = (uint32_t)words[2 * k + 1];
        double m[3] = {p.unit * (place & 2047), 2 * p.unit * ((place >> 11 & 2047) - 1024.0),
                       4 * p.unit * ((place >> 22) - 512.0)};
        for (int c = 0; c < 3; ++c) assert_true(fabs(m[c] - (double)from[1 + c]) < 0.51 * p.unit * (1 << c));
        assert_true(fabs((chance & 4095) / 4095.0 - (double)from[0]) < 0.51 / 4095);
        assert_true(fabs(p.log_low + p.log_step * (chance >> 12) - log((double)value[k])) < 3e-5);
    }
    assert_true(p.unit < 8.0 / 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shells_are_right),
                                       cmocka_unit_test(offsets_are_the_least),
                                       cmocka_unit_test(turns_cover),
                                       cmocka_unit_test(tables_hold_densities),
                                       cmocka_unit_test(neighbours_are_all),
                                       cmocka_unit_test(blocks_have_the_same_neighbours),
                                       cmocka_unit_test(narrowed_atoms_are_near),
                                       cmocka_unit_test(sparse_cells_are_the_same),
                                       cmocka_unit_test(cores_find_the_same_sites),
                                       cmocka_unit_test(cells_that_cannot_be_counted_are_refused),
                                       cmocka_unit_test(packed_tables_are_true)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
