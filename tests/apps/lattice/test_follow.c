/* Atoms try the turn of a sure atom nearby: they are told what a search over all rotations tells them. Which turn is
 * tried: that of the nearest sure atom, or of the nearest one with another lattice; never one of the same pass. */
#include "support/shared.h"

#include "apps/lattice/atoms.h"
#include "apps/lattice/learned.h"
#include "apps/lattice/parts.h"

#include <math.h>
#include <string.h>

enum { ATOMS = 4000, PIECE = 500 };
SHARED_DEVICE(kit_open_host);
static double axis[3][ATOMS];
static atn_lattice_atom followed[ATOMS], searched[ATOMS];

static atn_atoms make(double background) {
    atn_sample_atoms_settings s = {.lattice = {CRYSTAL_BCC, CRYSTAL_FCC}, .constant = {3.2, 4.794}, .lattices = 2};
    atn_sample_atoms *atoms;
    atn_sample_atom rows[PIECE];
    size_t got = 1, n = 0;
    s.size = ATOMS, s.grains = 2, s.lateral = s.depth = 0.2, s.efficiency = 0.6, s.seed = 31, s.n_species = 1;
    s.background = background;
    s.species[0] = (atn_sample_species){"Fe", 1, 55.845};
    kit_ok(ctx, atn_sample_atoms_make(ctx, &s, NULL, NULL, &atoms));
    while (got) {
        kit_ok(ctx, atn_sample_atoms_next(atoms, PIECE, rows, &got));
        for (size_t k = 0; k < got; ++k, ++n)
            for (int a = 0; a < 3; ++a) axis[a][n] = 10 * (double)rows[k].position[a];
    }
    atn_sample_atoms_free(atoms);
    return (atn_atoms){.count = ATOMS, .own = ATOMS, .position = {axis[0], axis[1], axis[2]}};
}

/* Of turns up to the symmetry of a cube, degrees. */
static double apart(const lattice_slot *s, const float *a, const float *b) {
    double least = 180, p[4], q[4], r[4];
    for (int c = 0; c < 4; ++c) p[c] = c ? -(double)a[c] : (double)a[0], q[c] = c ? -(double)b[c] : (double)b[0];
    for (int32_t k = 0; k < s->symmetries; ++k) {
        double dot = 0;
        geom_quaternion_multiply(s->symmetry[k], p, r);
        for (int c = 0; c < 4; ++c) dot += r[c] * q[c];
        least = fmin(least, 114.59155902616465 * acos(fmin(fabs(dot), 1)));
    }
    return least;
}

/* Another matcher that is handed what this one learned tells the same; one of other models refuses it. */
static void hand_over(const atn_lattice *from, const atn_atoms *atoms) {
    static lattice_learned learned;
    atn_lattice_settings one = {.models = 1, .model = {{.name = "bcc"}}};
    atn_lattice *to, *other;
    kit_ok(ctx, atn_lattice_create(device, NULL, &to));
    kit_fails(ctx, ATN_ERR_INPUT, "nothing was learned", lattice_learned_get(to, &learned));
    kit_ok(ctx, lattice_learned_get(from, &learned));
    kit_ok(ctx, lattice_learned_set(to, &learned));
    memset(searched, 0xff, sizeof searched);
    kit_ok(ctx, atn_lattice_match(to, atoms, 1, searched));
    assert_memory_equal(searched, followed, sizeof followed);
    atn_lattice_free(to);
    kit_ok(ctx, atn_lattice_create(device, &one, &other));
    kit_fails(ctx, ATN_ERR_INPUT, "other models", lattice_learned_set(other, &learned));
    atn_lattice_free(other);
}

/* The frame in slabs with halos tells what it tells in one piece, but for a few atoms at their faces, which see sure
 * atoms of their own slab alone. In the thinnest one, too, some are searched and others follow: at least three batches.
 */
static void in_slabs(atn_lattice *l, int slabs) {
    static double part[3][ATOMS];
    static size_t which[ATOMS];
    static atn_lattice_atom out[ATOMS];
    double high = 0, reach = atn_lattice_reach(l);
    size_t told = 0, differ = 0, unlike = 0;
    for (size_t k = 0; k < ATOMS; ++k) high = fmax(high, axis[0][k]);
    for (int s = 0; s < slabs; ++s) {
        double from = s * high / slabs, to = s + 1 == slabs ? INFINITY : (s + 1) * high / slabs;
        size_t n = 0, own = 0;
        for (int halo = 0; halo < 2; ++halo)
            for (size_t k = 0; k < ATOMS; ++k) {
                double x = axis[0][k];
                bool is_own = (x >= from || s == 0) && x < to;
                if (halo ? is_own || x < from - reach || x >= to + reach : !is_own) continue;
                for (int a = 0; a < 3; ++a) part[a][n] = axis[a][k];
                which[n++] = k;
                own += is_own;
            }
        const atn_atoms slab = {.count = n, .own = own, .position = {part[0], part[1], part[2]}};
        int64_t before = l->spent.calls[1][LATTICE_STARTED];
        memset(out, 0xff, sizeof out);
        kit_ok(ctx, atn_lattice_match(l, &slab, 1, out));
        assert_true(l->spent.calls[1][LATTICE_STARTED] - before >= 3);
        told += own;
        for (size_t k = 0; k < own; ++k) {
            differ += out[k].structure != followed[which[k]].structure;
            unlike += !(fabsf(out[k].confidence - followed[which[k]].confidence) < 0.05F);
        }
    }
    assert_int_equal(told, ATOMS);
    if (differ > 8 || unlike > 20) fail_msg("in slabs %zu differ, %zu are less or more sure", differ, unlike);
}

KIT_TEST(as_if_searched) {
    const atn_atoms atoms = make(0.03);
    size_t differ = 0, unlike = 0, turned = 0, sure = 0;
    atn_lattice *l;
    kit_ok(ctx, atn_lattice_create(device, NULL, &l));
    kit_ok(ctx, atn_lattice_match(l, &atoms, 1, followed));
    assert_true(l->follows[0] && l->follows[1]);
    assert_true(l->rival[0][1] > 0.05 && l->rival[0][1] < 1.5);
    hand_over(l, &atoms);
    in_slabs(l, 4);
    in_slabs(l, 9);
    memset(l->follows, 0, sizeof l->follows);
    memset(searched, 0xff, sizeof searched);
    kit_ok(ctx, atn_lattice_match(l, &atoms, 1, searched));
    for (size_t k = 0; k < ATOMS; ++k) {
        differ += followed[k].structure != searched[k].structure;
        unlike += fabsf(followed[k].confidence - searched[k].confidence) > 0.05F;
        if (followed[k].structure != searched[k].structure || !followed[k].structure || followed[k].confidence < 0.99F)
            continue;
        ++sure;
        turned += apart(&l->slot[followed[k].phase - 1], followed[k].quaternion, searched[k].quaternion) > 2;
    }
    if (differ > 4 || unlike > 12 || turned > sure / 100 || sure < ATOMS * 3 / 4)
        fail_msg("%zu differ, %zu are less or more sure, %zu of %zu are turned otherwise", differ, unlike, turned,
                 sure);
    atn_lattice_free(l);
}

static void hint_of(const atn_lattice *l, const lattice_around *around, int32_t cells, int32_t which,
                    const atn_lattice_atom *out, lattice_hint *hint) {
    lattice_sure list = {.known = false};
    lattice_around_mark(l, around);
    lattice_hint_make(l, around, 0, cells, which, out, &list, hint);
}

KIT_TEST(the_nearest_sure_atom) {
    const double x[4] = {0, 1, 2, 3.5}, zero[4] = {0};
    const atn_atoms atoms = {.count = 4, .own = 4, .position = {x, zero, zero}};
    atn_lattice *l;
    lattice_cells cells;
    lattice_around around;
    lattice_hint hint;
    atn_lattice_atom out[4] = {{0}};
    kit_ok(ctx, atn_lattice_create(device, NULL, &l));
    l->follows[0] = l->follows[1] = true;
    l->slot[0].symmetries = 1;
    l->slot[0].symmetry[0][0] = 1;
    kit_ok(ctx, lattice_cells_make(ctx, &atoms, 1, 2, &cells));
    kit_ok(ctx, lattice_around_make(&cells, cells.order, 4, &around));
    hint_of(l, &around, 2, 0, out, &hint);
    assert_int_equal(hint.model, -1); /* nobody is sure */
    for (int k = 1; k < 4; ++k) {
        out[k] = (atn_lattice_atom){.structure = 1, .phase = 1, .quaternion = {1, 0, 0, 0}};
        around.phase[cells.site[cells.rank[k]]] = 1;
    }
    out[3].quaternion[0] = 0.8F, out[3].quaternion[1] = 0.6F;
    hint_of(l, &around, 2, 0, out, &hint);
    assert_true(hint.model == 0 && hint.turn[0] == 1);
    hint_of(l, &around, 2, 1, out, &hint); /* the other lattice; into the crystal */
    assert_true(hint.model == 0 && hint.turn[0] == 0.8F && hint.turn[1] == -0.6F);
    hint_of(l, &around, 0, 1, out, &hint);
    assert_int_equal(hint.model, -1); /* too far */
    for (int k = 1; k < 3; ++k) around.phase[cells.site[cells.rank[k]]] |= LATTICE_NEW;
    hint_of(l, &around, 2, 0, out, &hint);
    assert_true(hint.model == 0 && hint.turn[0] == 0.8F);
    lattice_around_settle(&around);
    hint_of(l, &around, 2, 0, out, &hint);
    assert_true(hint.turn[0] == 1);
    lattice_around_free(&around);
    lattice_cells_free(&cells);
    atn_lattice_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_if_searched), cmocka_unit_test(the_nearest_sure_atom)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
