/* Which device is meant: the best one, another one for each rank of a machine, several from a list. The devices are
 * made up. */
#include "device/backend.h"
#include "testkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_devices *make(atn_ctx *ctx, const char *what) { /* h host, p OpenCL on the CPU, o OpenCL GPU, c CUDA */
    atn_devices *devices;
    kit_ok(ctx, atn_devices_create(ctx, &devices));
    for (; *what; ++what) {
        atn_device_info info = {.cpu = *what == 'h' || *what == 'p'};
        const char *backend = *what == 'h' ? "host" : *what == 'c' ? "cuda" : "opencl";
        snprintf(info.backend, sizeof info.backend, "%s", backend);
        snprintf(info.name, sizeof info.name, "made %c", *what);
        kit_ok(ctx, atn_devices_add(devices, &info));
    }
    return devices;
}

static int32_t best(atn_ctx *ctx, const char *what, const char *wanted) {
    atn_devices *devices = make(ctx, what);
    int32_t index;
    kit_ok(ctx, atn_devices_pick(devices, wanted, &index));
    atn_devices_free(devices);
    return index;
}

static void test_ranks(void **state) {
    atn_ctx *ctx = *state;
    static const char *const SAID[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    char *before[3];
    for (int k = 0; k < 3; ++k) before[k] = kit_getenv(SAID[k]), unsetenv(SAID[k]);
    assert_int_equal(best(ctx, "hcoc", NULL), 1);
    assert_int_equal(best(ctx, "hpo", NULL), 2);
    for (int k = 0; k < 3; ++k) {
        setenv(SAID[k], "1", 1);
        assert_int_equal(best(ctx, "hcoc", NULL), 3);
        assert_int_equal(best(ctx, "hcoc", "cuda"), 3);
        assert_int_equal(best(ctx, "hcoc", "1"), 1); /* who names one means it */
        assert_int_equal(best(ctx, "hc", NULL), 1);
        assert_int_equal(best(ctx, "hp", "host"), 0);
        setenv(SAID[k], "2", 1);
        assert_int_equal(best(ctx, "hcoc", NULL), 1);
        kit_setenv(SAID[k], before[k]);
    }
}

static void several(atn_ctx *ctx, const char *what, const char *wanted, const char *indices) {
    atn_devices *devices = make(ctx, what);
    int32_t index[ATN_MOST_DEVICES], count;
    char got[ATN_MOST_DEVICES + 1] = "";
    kit_ok(ctx, atn_devices_pick_several(devices, wanted, index, &count));
    for (int32_t k = 0; k < count; ++k) got[k] = (char)('0' + index[k]);
    assert_string_equal(got, indices);
    atn_devices_free(devices);
}

static void test_several(void **state) {
    atn_ctx *ctx = *state;
    int32_t index[ATN_MOST_DEVICES], count;
    several(ctx, "hpoc", "all", "03");
    several(ctx, "hpoo", "all", "023");
    several(ctx, "hp", "all", "0");
    several(ctx, "hpoc", NULL, "3");
    several(ctx, "hpoc", "cuda,host", "30");
    several(ctx, "hpoc", "1,0,3", "103");
    atn_devices *devices = make(ctx, "hpoc");
    kit_fails(ctx, ATN_ERR_INPUT, "named twice", atn_devices_pick_several(devices, "host,0", index, &count));
    assert_int_equal(count, 0);
    kit_fails(ctx, ATN_ERR_INPUT, "comma-separated", atn_devices_pick_several(devices, "host,", index, &count));
    kit_fails(ctx, ATN_ERR_INPUT, "no device has", atn_devices_pick_several(devices, "host,x", index, &count));
    atn_devices_free(devices);
}

static int setup(void **state) {
    *state = kit_ctx();
    return 0;
}

static int teardown(void **state) {
    kit_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_ranks, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_several, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
