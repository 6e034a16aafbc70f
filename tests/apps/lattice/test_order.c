/* B2 and L1_2 are told from bcc and fcc by the species of neighbours; without species they are refused. One half of
 * each frame is ordered, the other is an alloy of the same composition. */
#include "support/shared.h"

#include <attune/lattice.h>

#include <stdio.h>

enum { MOST = 4000 };
SHARED_DEVICE(kit_open_host);
static struct {
    double axis[3][MOST];
    int32_t species[MOST];
    bool ordered[MOST];
    size_t count;
    atn_lattice_atom atom[MOST];
} f;

static const double BCC[2][3] = {{0, 0, 0}, {0.5, 0.5, 0.5}},
                    FCC[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};

static double normal(uint64_t *seed) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += kit_uniform(seed);
    return sum;
}

/* Cells along x, y and z, turned about z; 30 % of the sites are empty, noise 0.1. order: the ordered share of x. */
static void make(const double (*site)[3], int sites, double constant, int cells, double order) {
    uint64_t seed = 12;
    f.count = 0;
    for (int c = 0; c < cells * cells * cells; ++c)
        for (int s = 0; s < sites; ++s) {
            double at[3] = {c % cells + site[s][0], c / cells % cells + site[s][1], c / cells / cells + site[s][2]};
            bool ordered = at[0] < order * cells, second = s == 0;
            if (!ordered) second = kit_uniform(&seed) < 1.0 / sites;
            bool gone = kit_uniform(&seed) < 0.3;
            double noise[3] = {normal(&seed), normal(&seed), normal(&seed)};
            if (gone || f.count == MOST) continue;
            f.axis[0][f.count] = constant * (0.8 * at[0] - 0.6 * at[1]) + 0.1 * noise[0];
            f.axis[1][f.count] = constant * (0.6 * at[0] + 0.8 * at[1]) + 0.1 * noise[1];
            f.axis[2][f.count] = constant * at[2] + 0.1 * noise[2];
            f.ordered[f.count] = ordered;
            f.species[f.count++] = second ? 13 : 28;
        }
}

static atn_atoms atoms_from(size_t first, size_t count, bool species) {
    return (atn_atoms){.count = count,
                       .own = count,
                       .position = {f.axis[0] + first, f.axis[1] + first, f.axis[2] + first},
                       .species = species ? f.species + first : NULL};
}

static atn_status match(const char *const *names, double constant, bool species) {
    atn_lattice *lattice;
    atn_lattice_settings settings = {0};
    for (; names[settings.models]; ++settings.models) {
        snprintf(settings.model[settings.models].name, 32, "%s", names[settings.models]);
        settings.model[settings.models].constant = constant;
    }
    atn_atoms atoms = atoms_from(0, f.count, species);
    kit_ok(ctx, atn_lattice_create(device, &settings, &lattice));
    atn_status status = atn_lattice_match(lattice, &atoms, 1, f.atom);
    if (status == ATN_OK)
        for (int32_t m = 0; m < settings.models; ++m)
            assert_int_equal(atn_lattice_info_of(lattice).structure[m], m + 1);
    atn_lattice_free(lattice);
    return status;
}

/* The share of atoms told right: `ordered` where they are, else `plain`. */
static double right(int32_t ordered, int32_t plain) {
    double sum = 0;
    for (size_t k = 0; k < f.count; ++k) sum += f.atom[k].structure == (f.ordered[k] ? ordered : plain);
    return sum / (double)f.count;
}

KIT_TEST(halves_are_told) {
    make(FCC, 4, 3.57, 10, 0.5);
    kit_ok(ctx, match((const char *const[]){"fcc", "L12", NULL}, 3.57, true));
    print_message("    L12 and fcc: %.3f right\n", right(2, 1));
    assert_true(right(2, 1) > 0.95);
    kit_ok(ctx, match((const char *const[]){"L12", NULL}, 3.57, true)); /* what is not ordered is other */
    assert_true(right(1, 0) > 0.95);
    make(BCC, 2, 2.88, 13, 0.5);
    kit_ok(ctx, match((const char *const[]){"B2", "bcc", NULL}, 2.88, true));
    print_message("    B2 and bcc: %.3f right\n", right(1, 2));
    assert_true(right(1, 2) > 0.95);
}

KIT_TEST(an_alloy_has_no_order) {
    make(FCC, 4, 3.57, 10, 0);
    kit_ok(ctx, match((const char *const[]){"fcc", "L12", NULL}, 3.57, true));
    assert_true(right(2, 1) > 0.98);
    make(BCC, 2, 2.88, 13, 0);
    kit_ok(ctx, match((const char *const[]){"B2", "bcc", NULL}, 2.88, true));
    assert_true(right(1, 2) > 0.98);
}

/* What is ordered is learned from the frame, not from the part of it that is matched first. */
KIT_TEST(parts_are_told_in_any_order) {
    atn_lattice_settings settings = {.models = 2, .model = {{.name = "bcc"}, {.name = "B2"}}};
    make(BCC, 2, 2.88, 13, 0.5);
    size_t half = f.count / 2, rest = f.count - half;
    atn_atoms all = atoms_from(0, f.count, true), parts[2] = {atoms_from(0, half, true), atoms_from(half, rest, true)};
    static atn_lattice_atom told[2][MOST];
    for (int after = 0; after < 2; ++after) {
        atn_lattice *lattice;
        kit_ok(ctx, atn_lattice_create(device, &settings, &lattice));
        kit_ok(ctx, atn_lattice_learn(lattice, &all, 1));
        if (after) kit_ok(ctx, atn_lattice_match(lattice, &parts[0], 1, f.atom));
        kit_ok(ctx, atn_lattice_match(lattice, &parts[1], 1, told[after]));
        atn_lattice_free(lattice);
    }
    assert_memory_equal(told[0], told[1], rest * sizeof **told);
}

KIT_TEST(species_are_needed) {
    make(FCC, 4, 3.57, 8, 0.5);
    kit_fails(ctx, ATN_ERR_INPUT, "L12 is fcc with species on sublattices, and these atoms have no species",
              match((const char *const[]){"bcc", "L12", NULL}, 3.57, false));
    atn_lattice *lattice;
    atn_lattice_settings settings = {.models = 1, .model = {{.name = "B2"}}};
    const size_t start[2] = {0, 20};
    const double *const position[3] = {f.axis[0], f.axis[1], f.axis[2]};
    kit_ok(ctx, atn_lattice_create(device, &settings, &lattice));
    kit_fails(ctx, ATN_ERR_INPUT, "no species", atn_lattice_match_sets(lattice, 1, start, position, 1, f.atom));
    atn_lattice_free(lattice);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_are_told), cmocka_unit_test(an_alloy_has_no_order),
                                       cmocka_unit_test(parts_are_told_in_any_order),
                                       cmocka_unit_test(species_are_needed)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
