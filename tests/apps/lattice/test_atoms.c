/* Synthetic frames of atoms: as many as asked for, on the sites that the truth says, in the cells of their grains. */
#include "testkit.h"

#include "apps/lattice/atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const atn_sample_atoms_settings USUAL = {
    .size = 4000,
    .lattice = {CRYSTAL_BCC, CRYSTAL_FCC, CRYSTAL_HCP, CRYSTAL_SC, CRYSTAL_DIAMOND},
    .constant = {3.2, 4.794, 3.39, 2.8, 5.431},
    .lattices = 5,
    .grains = 5,
    .efficiency = 1,
    .species = {{"Al", 0.75, 26.98}, {"Ni", 0.25, 58.69}},
    .n_species = 2,
};

/* All rows; freed by the caller. */
static atn_sample_atom *rows_of(atn_ctx *ctx, const atn_sample_atoms_settings *s, atn_sample_atoms **atoms) {
    kit_ok(ctx, atn_sample_atoms_make(ctx, s, NULL, NULL, atoms));
    atn_sample_atom *rows = malloc((s->size + 1) * sizeof *rows);
    size_t done = 0, got;
    do {
        kit_ok(ctx, atn_sample_atoms_next(*atoms, s->size + 1 - done, rows + done, &got));
        done += got;
    } while (got);
    assert_int_equal(done, s->size);
    return rows;
}

static double between(const atn_sample_atom *a, const atn_sample_atom *b) {
    double sum = 0;
    for (int d = 0; d < 3; ++d) sum += pow(10 * (double)(a->position[d] - b->position[d]), 2);
    return sqrt(sum);
}

/* Without noise and losses: 8 or 12 neighbours at their distance, away from all boundaries; none nearer. */
KIT_TEST(neighbours_are_right) {
    static const double NEAREST[] = {0, 2.7712812921, 3.3898699090, 3.39, 2.8, 2.3516919862};
    static const int NEIGHBOURS[] = {0, 8, 12, 12, 6, 4};
    atn_ctx *ctx = kit_ctx();
    atn_sample_atoms *atoms;
    atn_sample_atom *rows = rows_of(ctx, &USUAL, &atoms);
    const crystal *c = atn_sample_atoms_crystal(atoms);
    int judged[CRYSTAL_STRUCTURES] = {0};
    for (size_t i = 0; i < USUAL.size; ++i) {
        crystal_structure s = c->grain[rows[i].grain].structure;
        bool inner = rows[i].boundary > 4;
        for (int d = 0; d < 3; ++d)
            inner &= rows[i].position[d] * 10 > 4 && rows[i].position[d] * 10 < (d == 2 ? c->height : c->side) - 4;
        if (!inner) continue;
        int count = 0;
        for (size_t j = 0; j < USUAL.size; ++j) {
            double away = j == i ? 9 : between(&rows[i], &rows[j]);
            assert_true(away > NEAREST[s] - 1e-3);
            count += away < NEAREST[s] + 1e-3;
        }
        /* a site at the very top may be one that was too many */
        if (count != NEIGHBOURS[s] && count != NEIGHBOURS[s] - 1) fail_msg("atom %zu has %d neighbours", i, count);
        judged[s] += count == NEIGHBOURS[s];
    }
    for (int s = CRYSTAL_BCC; s <= CRYSTAL_DIAMOND; ++s) assert_true(judged[s] > 20);
    free(rows);
    atn_sample_atoms_free(atoms);
    kit_free(ctx);
}

/* Random arrangements are of no lattice: hard spheres keep their distance, where a gas does not and many
 * nearly touch. */
KIT_TEST(random_ones_are_random) {
    atn_ctx *ctx = kit_ctx();
    for (int packing = 0; packing < 2; ++packing) {
        atn_sample_atoms_settings settings = USUAL;
        settings.lattices = settings.grains = 1;
        settings.size = 1500;
        settings.lattice[0] = packing ? CRYSTAL_PACKING : CRYSTAL_GAS;
        settings.constant[0] = 2.5;
        assert_int_equal(crystal_label(settings.lattice[0]), CRYSTAL_OTHER);
        atn_sample_atoms *atoms;
        atn_sample_atom *rows = rows_of(ctx, &settings, &atoms);
        int near = 0, touching = 0;
        for (size_t i = 0; i < settings.size; ++i)
            for (size_t j = 0; j < i; ++j) {
                near += between(&rows[i], &rows[j]) < 2.5 - 1e-3;
                touching += between(&rows[i], &rows[j]) < 3;
            }
        if (packing) assert_int_equal(near, 0);
        assert_true(packing ? touching > 1000 : near > 1500);
        free(rows);
        atn_sample_atoms_free(atoms);
    }
    kit_free(ctx);
}

/* Turned back, a site is a whole number of half edges from another of its grain. */
KIT_TEST(turns_are_true) {
    atn_ctx *ctx = kit_ctx();
    atn_sample_atoms_settings settings = USUAL;
    settings.grains = settings.lattices = 1;
    settings.size = 500;
    atn_sample_atoms *atoms;
    atn_sample_atom *rows = rows_of(ctx, &settings, &atoms);
    const crystal_grain *g = &atn_sample_atoms_crystal(atoms)->grain[0];
    for (size_t i = 1; i < settings.size; ++i)
        for (int e = 0; e < 3; ++e) {
            double u = 0;
            for (int d = 0; d < 3; ++d)
                u += g->turn[3 * d + e] * (double)(rows[i].position[d] - rows[0].position[d]) * 10;
            u = 2 * u / g->a;
            assert_true(fabs(u - round(u)) < 1e-4);
            assert_true(rows[i].boundary > 1e30F && rows[i].grain == 0);
        }
    double length = 0;
    for (int k = 0; k < 4; ++k) length += g->quaternion[k] * g->quaternion[k];
    assert_true(fabs(length - 1) < 1e-12 && g->quaternion[0] >= 0);
    free(rows);
    atn_sample_atoms_free(atoms);
    kit_free(ctx);
}

/* Each is nearest to the centre of its own grain, and the next cell is as far as is said. */
KIT_TEST(cells_are_true) {
    atn_ctx *ctx = kit_ctx();
    atn_sample_atoms_settings settings = USUAL;
    settings.grains = 20;
    atn_sample_atoms *atoms;
    atn_sample_atom *rows = rows_of(ctx, &settings, &atoms);
    const crystal *c = atn_sample_atoms_crystal(atoms);
    for (size_t i = 0; i < settings.size; ++i) {
        double squares[20], least = INFINITY;
        size_t own = (size_t)rows[i].grain;
        for (size_t k = 0; k < 20; ++k) {
            squares[k] = 0;
            for (int d = 0; d < 3; ++d)
                squares[k] += pow(10 * (double)rows[i].position[d] - c->side * c->grain[k].centre[d], 2);
        }
        for (size_t k = 0; k < 20; ++k) {
            double apart = 0;
            for (int d = 0; d < 3; ++d) apart += pow(c->side * (c->grain[k].centre[d] - c->grain[own].centre[d]), 2);
            if (k != own) least = fmin(least, (squares[k] - squares[own]) / (2 * sqrt(apart)));
        }
        if (fabs(least - (double)rows[i].boundary) > 1e-4)
            fail_msg("atom %zu: %g, not %g", i, (double)rows[i].boundary, least);
    }
    free(rows);
    atn_sample_atoms_free(atoms);
    kit_free(ctx);
}

KIT_TEST(shares_are_as_asked) {
    atn_ctx *ctx = kit_ctx();
    atn_sample_atoms_settings settings = USUAL;
    settings.efficiency = 0.4;
    settings.background = 0.25;
    settings.lateral = 0.5;
    atn_sample_atoms *atoms;
    atn_sample_atom *rows = rows_of(ctx, &settings, &atoms);
    size_t background = 0, first = 0, sites = atn_sample_atoms_sites(atoms);
    for (size_t i = 0; i < settings.size; ++i) {
        background += rows[i].grain < 0;
        first += fabs((double)rows[i].mass - 26.98) < ATOMS_RANGE;
        assert_true(fabs((double)rows[i].mass - 26.98) < ATOMS_RANGE ||
                    fabs((double)rows[i].mass - 58.69) < ATOMS_RANGE);
    }
    assert_int_equal(background, 1000);
    assert_true(sites >= 7500 && sites < 7520);
    assert_true(first > 2900 && first < 3100); /* 3000, and four deviations of 27 */
    free(rows);
    atn_sample_atoms_free(atoms);
    kit_free(ctx);
}

KIT_TEST(seeds_repeat) {
    atn_ctx *ctx = kit_ctx();
    atn_sample_atoms_settings settings = USUAL;
    settings.size = 300;
    settings.depth = 0.1;
    atn_sample_atoms *a, *b, *c;
    atn_sample_atom *one = rows_of(ctx, &settings, &a), *two = rows_of(ctx, &settings, &b);
    settings.seed = 1;
    atn_sample_atom *three = rows_of(ctx, &settings, &c);
    assert_memory_equal(one, two, settings.size * sizeof *one);
    assert_memory_not_equal(one, three, settings.size * sizeof *one);
    free(one);
    free(two);
    free(three);
    atn_sample_atoms_free(a);
    atn_sample_atoms_free(b);
    atn_sample_atoms_free(c);
    settings.size = 1;
    settings.grains = 50;
    free(rows_of(ctx, &settings, &a)); /* more grains than atoms */
    atn_sample_atoms_free(a);
    kit_free(ctx);
}

KIT_TEST(no_memory_is_told) {
    atn_sample_atoms_settings settings = USUAL;
    settings.size = 10;
    atn_status status = ATN_ERR_MEMORY;
    for (long n = 1; status != ATN_OK; ++n) {
        kit_faults faults = {.fail_at = n};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        if (atn_ctx_create(&options, &ctx) != ATN_OK) continue;
        atn_sample_atoms *atoms;
        status = atn_sample_atoms_make(ctx, &settings, NULL, NULL, &atoms);
        assert_true(status == ATN_OK || status == ATN_ERR_MEMORY);
        atn_sample_atoms_free(atoms);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours_are_right), cmocka_unit_test(random_ones_are_random),
                                       cmocka_unit_test(turns_are_true),       cmocka_unit_test(cells_are_true),
                                       cmocka_unit_test(shares_are_as_asked),  cmocka_unit_test(seeds_repeat),
                                       cmocka_unit_test(no_memory_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
