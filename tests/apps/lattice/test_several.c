/* Atoms in memory on several devices: what one finds, but for atoms at the edges of slabs; a device that is lost leaves
 * its slabs to the others, and all of them lost is a failure. */
#include "testkit.h"

#include "apps/lattice/lattice.h"
#include "base/random.h"
#include "device/backend.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE = 18, MOST = 2 * EDGE * EDGE * EDGE, DEVICES = 2 };

typedef struct frame {
    size_t count;
    double axis[3][MOST];
    int32_t species[MOST];
    atn_lattice_atom one[MOST], two[MOST], left[MOST];
} frame;

static const atn_lattice_settings SETTINGS = {.models = 1,
                                              .model = {{.name = "bcc", .constant = 3.2}},
                                              .cutoff = 5,
                                              .noise = 0.15,
                                              .efficiency = 0.7,
                                              .background = 0.02,
                                              .even = true};

/* bcc of which some are missing, longest along y. */
static void grow(frame *f) {
    atn_random random;
    atn_random_seed(&random, 5);
    for (int k = 0; k < MOST; ++k) {
        int at[3] = {k / 2 % EDGE, k / 2 / EDGE % EDGE, k / 2 / EDGE / EDGE};
        double half = k % 2 * 0.5;
        if (atn_random_unit(&random) < 0.3) continue;
        for (int axis = 0; axis < 3; ++axis)
            f->axis[axis][f->count] =
                3.2 * (at[axis] + half) * (axis == 1 ? 1.01 : 1) + 0.15 * atn_random_normal(&random);
        f->species[f->count] = k % 2;
        ++f->count;
    }
}

/* Bits of `lost`: devices that are lost before anything is done. */
static atn_status match(frame *f, int32_t devices, uint32_t lost, atn_lattice_atom *out) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *found = NULL;
    atn_device *device[DEVICES];
    atn_lattice *lattice[DEVICES];
    int32_t index;
    atn_atoms atoms = {.count = f->count,
                       .own = f->count - 100,
                       .position = {f->axis[0], f->axis[1], f->axis[2]},
                       .species = f->species};
    kit_ok(ctx, atn_devices_find(ctx, &found));
    kit_ok(ctx, atn_devices_pick(found, "host", &index));
    for (int32_t k = 0; k < devices; ++k) {
        kit_ok(ctx, atn_device_open(found, index, &device[k]));
        kit_ok(ctx, atn_lattice_create(device[k], &SETTINGS, &lattice[k]));
        if (lost >> k & 1) (void)atn_device_lose(device[k], "unplugged");
    }
    memset(out, 0x55, f->count * sizeof *out);
    atn_status status = atn_lattice_match_several(lattice, devices, &atoms, 1, out);
    for (int32_t k = 0; k < devices; ++k) {
        atn_lattice_free(lattice[k]);
        atn_device_close(device[k]);
    }
    atn_devices_free(found);
    kit_free(ctx);
    return status;
}

KIT_TEST(as_one) {
    frame *f = calloc(1, sizeof *f);
    atn_lattice_atom untouched;
    size_t same = 0, bcc = 0;
    memset(&untouched, 0x55, sizeof untouched);
    grow(f);
    size_t own = f->count - 100;
    assert_int_equal(match(f, 1, 0, f->one), ATN_OK);
    assert_int_equal(match(f, 2, 0, f->two), ATN_OK);
    for (size_t k = 0; k < own; ++k) {
        assert_in_range(f->two[k].structure, 0, 1);
        same += f->one[k].structure == f->two[k].structure;
        bcc += f->two[k].structure == 1;
    }
    assert_true(same > own * 97 / 100);
    assert_true(bcc > own * 9 / 10);
    assert_memory_not_equal(f->one, f->two, own * sizeof *f->one); /* slabs there were */
    for (size_t k = own; k < f->count; ++k) assert_memory_equal(&f->two[k], &untouched, sizeof untouched);
    assert_int_equal(match(f, 2, 1, f->left), ATN_OK); /* the one that would have learned */
    assert_memory_equal(f->left, f->two, own * sizeof *f->two);
    assert_int_equal(match(f, 2, 3, f->left), ATN_ERR_LOST);
    free(f);
}

KIT_TEST(no_matcher) {
    atn_atoms atoms = {0};
    assert_int_equal(atn_lattice_match_several(NULL, 0, &atoms, 1, NULL), ATN_ERR_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_one), cmocka_unit_test(no_matcher)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
