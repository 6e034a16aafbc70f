/* Frames of known structure: what atoms are called, how they are turned, how sure that is, what is found of the frame;
 * `other`; the explicit assignment; bad frames and bad settings. */
#include "support/shared.h"

#include "apps/lattice/lattice.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };
static const double DEGREE = 3.14159265358979323846 / 180;
SHARED_DEVICE(kit_open_host);

typedef struct frame {
    size_t count;
    double axis[3][MOST];
    atn_lattice_atom atom[MOST];
} frame;
static frame f;

static atn_atoms atoms_of(void) {
    return (atn_atoms){.count = f.count, .own = f.count, .position = {f.axis[0], f.axis[1], f.axis[2]}};
}

/* A ball of crystal, turned by q. */
static void grow(const char *name, double constant, double reach, const double q[4], double noise, double missing) {
    atn_lattice_model model = {.points = 0};
    lattice_points p;
    atn_random random;
    double m[9];
    snprintf(model.name, sizeof model.name, "%s", name);
    atn_random_seed(&random, 11);
    geom_quaternion_matrix(q, m);
    kit_ok(ctx, lattice_points_make(ctx, &model, constant, reach, &p));
    f.count = 0;
    for (size_t k = 0; k < p.count && f.count < MOST; ++k) {
        if (atn_random_unit(&random) < missing) continue;
        for (int a = 0; a < 3; ++a)
            f.axis[a][f.count] = m[3 * a] * p.axis[0][k] + m[3 * a + 1] * p.axis[1][k] + m[3 * a + 2] * p.axis[2][k] +
                                 noise * atn_random_normal(&random);
        ++f.count;
    }
    lattice_points_free(ctx, &p);
}

static atn_lattice_info match(const atn_lattice_settings *settings) {
    atn_lattice *lattice;
    atn_atoms atoms = atoms_of();
    kit_ok(ctx, atn_lattice_create(device, settings, &lattice));
    kit_ok(ctx, atn_lattice_match(lattice, &atoms, 1, f.atom));
    atn_lattice_info info = atn_lattice_info_of(lattice);
    atn_lattice_free(lattice);
    return info;
}

/* Angle between two orientations, given what turns the crystal into itself. */
static double apart(const float a[4], const double b[4], const char *name) {
    double symmetry[LATTICE_MOST_SYMMETRIES][4], best = 0;
    bool mirror[3];
    lattice_points p;
    atn_lattice_model model = {.points = 0};
    snprintf(model.name, sizeof model.name, "%s", name);
    kit_ok(ctx, lattice_points_make(ctx, &model, 1, 2.2, &p));
    int32_t n = lattice_points_symmetry(&p, symmetry, mirror);
    lattice_points_free(ctx, &p);
    for (int32_t k = 0; k < n; ++k)
        for (int half = 0; half < (name[0] == 'h' ? 2 : 1); ++half) { /* layers of hcp are half a turn apart */
            double r[4], dot = 0, about[4] = {half ? 0 : 1, 0, 0, half}, s[4];
            geom_quaternion_multiply(symmetry[k], about, s);
            geom_quaternion_multiply(b, s, r);
            for (int c = 0; c < 4; ++c) dot += r[c] * (double)a[c];
            best = fmax(best, fabs(dot));
        }
    return 2 * acos(fmin(best, 1)) / DEGREE;
}

/* Shares of the atoms within 0.6 of the ball that are right, and turned right within 4 degrees. */
static void shares(int32_t structure, const double q[4], const char *name, double *right, double *turned) {
    double far = 0, n = 0;
    *right = *turned = 0;
    for (size_t k = 0; k < f.count; ++k) far = fmax(far, f.axis[0][k]);
    for (size_t k = 0; k < f.count; ++k) {
        double r = sqrt(pow(f.axis[0][k], 2) + pow(f.axis[1][k], 2) + pow(f.axis[2][k], 2));
        if (r > 0.6 * far) continue;
        ++n;
        if (f.atom[k].structure != structure) continue;
        *right += 1;
        *turned += apart(f.atom[k].quaternion, q, name) < 4;
    }
    assert_true(n > 50);
    *turned /= fmax(*right, 1);
    *right /= n;
}

KIT_TEST(structures_are_told) {
    static const struct {
        const char *name;
        double constant;
    } CASES[] = {{"bcc", 3.2}, {"fcc", 4.05}, {"hcp", 3.2}};
    const double q[4] = {0.8, 0.36, -0.48, 0};
    for (int32_t k = 0; k < 3; ++k) {
        double right, turned;
        if (!kit_turn((size_t)k, 3)) continue;
        grow(CASES[k].name, CASES[k].constant, 20, q, 0.2, 0.4);
        atn_lattice_info info = match(NULL);
        shares(k + 1, q, CASES[k].name, &right, &turned);
        if (right < 0.96 || turned < 0.95) fail_msg("%s: %.3f right, %.3f turned", CASES[k].name, right, turned);
        assert_true(fabs(info.constant[k] / CASES[k].constant - 1) < 0.02);
        if (fabs(info.noise - 0.2) > 0.06 || info.efficiency < 0.35 || info.efficiency > 0.7) /* surfaces lower it */
            fail_msg("%s: noise %.3f, efficiency %.3f", CASES[k].name, info.noise, info.efficiency);
        for (size_t i = 0; i < f.count; ++i)
            assert_true(f.atom[i].confidence > 0 && f.atom[i].confidence <= 1 && f.atom[i].rmsd >= 0 &&
                        f.atom[i].matched <= 1.0001F);
    }
}

/* A ball of bcc and fcc, half and half, of different size an atom. Both sizes are found, and confidences come true. */
KIT_TEST(phases_are_told) {
    static frame half;
    static int32_t label[MOST];
    const double q[4] = {0.8, 0.36, -0.48, 0}, r[4] = {0.6, 0, 0.64, 0.48};
    double right = 0, promised = 0;
    grow("bcc", 3.2, 19, q, 0.3, 0.4);
    half = f;
    grow("fcc", 4.79, 19, r, 0.3, 0.4);
    size_t n = 0;
    for (int phase = 0; phase < 2; ++phase) {
        static frame from;
        from = phase ? f : half;
        for (size_t k = 0; k < from.count; ++k) {
            if ((from.axis[0][k] < 0) == (phase == 1) || n == MOST) continue;
            for (int a = 0; a < 3; ++a) half.axis[a][n] = from.axis[a][k];
            label[n++] = phase + 1;
        }
    }
    f = half;
    f.count = n;
    atn_lattice_info info = match(NULL);
    for (size_t k = 0; k < n; ++k) {
        right += f.atom[k].structure == label[k];
        promised += (double)f.atom[k].confidence;
    }
    if (fabs(info.constant[0] / 3.2 - 1) > 0.03 || fabs(info.constant[1] / 4.79 - 1) > 0.03)
        fail_msg("constants %.3f and %.3f", info.constant[0], info.constant[1]);
    if (right < 0.95 * (double)n || fabs(right - promised) > 0.02 * (double)n)
        fail_msg("%.3f right, %.3f promised", right / (double)n, promised / (double)n);
}

/* Noise that is sharper in depth: told so, turns are nearer to the truth than with one noise of the same mean square.
 */
KIT_TEST(depth_is_sharper) {
    const double q[4] = {0.8, 0.36, -0.48, 0}, lateral = 0.45, depth = 0.1;
    double off[2] = {0};
    grow("fcc", 4.05, 13, q, 0, 0.4);
    atn_random random;
    atn_random_seed(&random, 4);
    for (size_t k = 0; k < f.count; ++k)
        for (int a = 0; a < 3; ++a) f.axis[a][k] += (a < 2 ? lateral : depth) * atn_random_normal(&random);
    for (int uneven = 0; uneven < 2; ++uneven) {
        double n = 0;
        atn_lattice_settings s = {.noise = uneven ? lateral : sqrt((2 * lateral * lateral + depth * depth) / 3)};
        s.depth_noise = uneven ? depth : 0;
        match(&s);
        for (size_t k = 0; k < f.count; ++k) {
            if (f.atom[k].structure != 2) continue;
            off[uneven] += fmin(apart(f.atom[k].quaternion, q, "fcc"), 20);
            n += 1;
        }
        assert_true(n > 0.6 * (double)f.count);
        off[uneven] /= n;
    }
    if (!(off[1] < 0.85 * off[0])) fail_msg("%.2f degrees off, %.2f without", off[1], off[0]);
}

/* The assignment made explicit: each neighbour one site at most, and a value that is the sum of their squares. */
KIT_TEST(assignments_are_explicit) {
    const double q[4] = {1, 0, 0, 0};
    double right, turned;
    grow("bcc", 3, 11, q, 0, 0);
    match(&(atn_lattice_settings){
        .exact = true, .noise = 0.1, .models = 1, .model[0] = {.name = "bcc", .constant = 3}, .cutoff = 6});
    shares(1, q, "bcc", &right, &turned);
    assert_true(right > 0.99 && turned > 0.99);
    for (size_t k = 0; k < 20; ++k) {
        assert_true(f.atom[k].value < 1e-3F && f.atom[k].rmsd < 0.01F);
        assert_true(f.atom[k].matched > 0.999F);
    }
    grow("bcc", 3, 14, q, 0.15, 0.3);
    match(&(atn_lattice_settings){.exact = true});
    int told = 0;
    for (size_t k = 0; k < 20; ++k) { /* value = assigned neighbours times rmsd squared */
        if (f.atom[k].structure != 1) continue;
        double neighbours = (double)f.atom[k].value / pow((double)f.atom[k].rmsd, 2) / (double)f.atom[k].matched;
        assert_true(fabs(neighbours - round(neighbours)) < 0.01 && neighbours > 15);
        told += f.atom[k].matched > 0.7F;
    }
    assert_true(told > 16);
}

KIT_TEST(a_gas_is_other) {
    atn_random random;
    size_t other = 0;
    atn_random_seed(&random, 4);
    f.count = 1500;
    for (size_t k = 0; k < f.count; ++k)
        for (int a = 0; a < 3; ++a) f.axis[a][k] = 32 * atn_random_unit(&random);
    match(&(atn_lattice_settings){
        .model[0] = {.name = "bcc", .constant = 3.2}, .models = 1, .noise = 0.2, .efficiency = 0.6, .even = true});
    for (size_t k = 0; k < f.count; ++k) other += f.atom[k].structure == 0;
    assert_true((double)other > 0.9 * (double)f.count);
}

/* Frames of which nothing can be told say so for every atom, and nothing breaks. */
KIT_TEST(poor_frames) {
    memset(f.axis, 0, sizeof f.axis);
    f.count = 1;
    match(NULL);
    assert_int_equal(f.atom[0].structure, 0);
    f.count = 50; /* all at one place */
    match(NULL);
    for (size_t k = 0; k < f.count; ++k) assert_int_equal(f.atom[k].structure, 0);
    f.count = 20; /* no neighbours */
    for (size_t k = 0; k < f.count; ++k) f.axis[0][k] = 1000.0 * (double)k;
    match(NULL);
    for (size_t k = 0; k < f.count; ++k) assert_int_equal(f.atom[k].structure, 0);
    f.count = 0;
    match(NULL);
}

KIT_TEST(refusals) {
    atn_lattice *lattice;
    const double one[1] = {1}, bad[2] = {1, NAN}, good[2] = {1, 2};
    static const double ROUND[4] = {1, 0, 0, 0};
    kit_fails(ctx, ATN_ERR_INPUT, "no model 'bct'",
              atn_lattice_create(device, &(atn_lattice_settings){.models = 1, .model[0] = {.name = "bct"}}, &lattice));
    kit_fails(ctx, ATN_ERR_INPUT, "has one point",
              atn_lattice_create(
                  device,
                  &(atn_lattice_settings){.models = 1, .model[0] = {.name = "x", .points = 1, .axis = {one, one, one}}},
                  &lattice));
    kit_fails(ctx, ATN_ERR_INPUT, "not finite",
              atn_lattice_create(device,
                                 &(atn_lattice_settings){
                                     .models = 1, .model[0] = {.name = "x", .points = 2, .axis = {good, bad, good}}},
                                 &lattice));
    kit_fails(ctx, ATN_ERR_INPUT, "the efficiency is 2",
              atn_lattice_create(device, &(atn_lattice_settings){.efficiency = 2}, &lattice));
    assert_null(lattice);
    grow("bcc", 3, 11, ROUND, 0.1, 0);
    atn_atoms atoms = atoms_of();
    kit_ok(ctx,
           atn_lattice_create(device, &(atn_lattice_settings){.models = 1, .model[0] = {.name = "bcc", .constant = 9}},
                              &lattice));
    kit_fails(ctx, ATN_ERR_INPUT, "cannot be right", atn_lattice_match(lattice, &atoms, 1, f.atom));
    f.axis[2][7] = INFINITY;
    f.axis[1][5] = NAN;
    kit_fails(ctx, ATN_ERR_INPUT, "lattice: atom 5 is at (", atn_lattice_match(lattice, &atoms, 1, f.atom));
    kit_fails(ctx, ATN_ERR_INPUT, "positions must be finite", atn_lattice_learn(lattice, &atoms, 1));
    atn_lattice_free(lattice);
}

/* Neighbourhoods one by one, a model of the user's among them: a square of four around the centre. */
KIT_TEST(sets_and_models) {
    static const double X[4] = {2, -2, 0, 0}, Y[4] = {0, 0, 2, -2}, Z[4] = {0};
    static const double SET[2][6][3] = {{{5, 5, 5}, {5, 7, 5}, {5, 3, 5}, {5, 5, 7}, {5, 5, 3}, {5, 5, 3}},
                                        {{0, 0, 0}, {1.4, 1.4, 0}, {-1.4, -1.4, 0}, {1.4, -1.4, 0}, {-1.4, 1.4, 0}}};
    double axis[3][11];
    size_t start[3] = {0, 6, 11};
    atn_lattice_atom out[2];
    atn_lattice *lattice;
    for (size_t k = 0; k < 11; ++k)
        for (int a = 0; a < 3; ++a) axis[a][k] = SET[k / 6][k % 6][a];
    const double *const position[3] = {axis[0], axis[1], axis[2]};
    atn_lattice_settings settings = {
        .models = 2, .model = {{.name = "square", .points = 4, .axis = {X, Y, Z}}, {.name = "fcc"}}, .noise = 0.1};
    settings.cutoff = 3;
    settings.efficiency = 0.9;
    kit_ok(ctx, atn_lattice_create(device, &settings, &lattice));
    kit_ok(ctx, atn_lattice_match_sets(lattice, 2, start, position, 1, out));
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(out[k].structure, 1);
        assert_true(out[k].matched > 0.9F && out[k].rmsd < 0.1F);
    }
    assert_true(fabs(atn_lattice_info_of(lattice).neighbours - 4) < 1e-9); /* the row that repeats is left out */
    atn_lattice_free(lattice);
}

/* Kernels that could not be bound to fewer rows have freed ones, and are bound anew by whoever comes next. */
KIT_TEST(rows_are_bound_after_a_failure) {
    static const double ROUND[4] = {1, 0, 0, 0};
    kit_faults faults = {.fail_at = 0};
    atn_ctx_settings options = kit_fault_options(&faults);
    const atn_lattice_settings settings = {.models = 1, .model[0] = {.name = "bcc", .constant = 3}, .noise = 0.1};
    atn_ctx *own;
    atn_lattice *lattice;
    kit_ok(NULL, atn_ctx_create(&options, &own));
    atn_device *host = kit_open_host(own);
    grow("bcc", 3, 11, ROUND, 0.1, 0);
    atn_atoms atoms = atoms_of();
    kit_ok(own, atn_lattice_create(host, &settings, &lattice));
    kit_ok(own, atn_lattice_match(lattice, &atoms, 1, f.atom));
    for (long n = 2; n < 5; ++n) {
        kit_ok(own, lattice_few_bind(lattice, (size_t)lattice->batch));
        faults.fail_at = faults.count + n;
        assert_int_equal(lattice_few_bind(lattice, 1), ATN_ERR_MEMORY);
        faults.fail_at = 0;
        kit_ok(own, lattice_few_bind(lattice, 1));
        for (int k = 0; k < LATTICE_ROW_ARRAYS; ++k) assert_non_null(lattice->slot[0].few[k]);
    }
    atn_lattice_free(lattice);
    atn_device_close(host);
    atn_ctx_free(own);
    assert_int_equal(faults.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(structures_are_told),
                                       cmocka_unit_test(phases_are_told),
                                       cmocka_unit_test(depth_is_sharper),
                                       cmocka_unit_test(assignments_are_explicit),
                                       cmocka_unit_test(a_gas_is_other),
                                       cmocka_unit_test(poor_frames),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(sets_and_models),
                                       cmocka_unit_test(rows_are_bound_after_a_failure)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
