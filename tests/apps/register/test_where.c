/* Which device few points are registered on. */
#include "apps/register/where.h"

#include "device/backend.h"
#include "testkit.h"

static const atn_device_info GPU = {.backend = "cuda", .name = "a GPU"};
static const atn_device_info POCL = {.backend = "opencl", .name = "a CPU", .cpu = true};
static const atn_device_info HOST = {.backend = "host", .name = "the host", .cpu = true};

KIT_TEST(few_points_stay_with_many_cores) {
    static const atn_register_settings PLAIN = {.init = ATN_START_AUTO}, GICP = {.method = ATN_REGISTER_GICP};
    assert_true(reg_sooner_on_host(&GPU, &PLAIN, 10000, 16));
    assert_true(reg_sooner_on_host(&GPU, &GICP, 1, 8));
    assert_false(reg_sooner_on_host(&GPU, &PLAIN, 10000, 2)); /* the GPU's time does not depend on them */
    assert_false(reg_sooner_on_host(&GPU, &PLAIN, 40000, 16));
}

KIT_TEST(a_large_gpu_takes_all_pairs_of_few_points) {
    static const atn_register_settings PLAIN = {.init = ATN_START_AUTO};
    atn_device_info large = GPU;
    large.cores = 132;
    large.simd = 32;
    assert_false(reg_sooner_on_host(&large, &PLAIN, 10000, 16));
    assert_true(reg_sooner_side_by_side(&large, &PLAIN, 10000, 16));
    assert_true(reg_sooner_on_host(&large, &PLAIN, 1000, 16));
    large.cores = 8;
    assert_true(reg_sooner_on_host(&large, &PLAIN, 10000, 16));
}

KIT_TEST(what_is_on_the_host_is_not_moved) {
    static const atn_register_settings PLAIN = {.init = ATN_START_AUTO};
    assert_false(reg_sooner_on_host(&HOST, &PLAIN, 10000, 16));
    assert_false(reg_sooner_on_host(&POCL, &PLAIN, 10000, 16));
}

/* All pairs, the published schedule and the other methods are asked for by those who measure a device,
 * or were not measured. */
KIT_TEST(other_methods_go_where_they_are_sent) {
    static const atn_register_settings ASKED[] = {
        {.dense = true}, {.compat = true}, {.method = ATN_REGISTER_CPD}, {.method = ATN_REGISTER_ICP}};
    for (size_t k = 0; k < sizeof ASKED / sizeof *ASKED; ++k)
        assert_false(reg_sooner_on_host(&GPU, &ASKED[k], 1000, 16));
}

KIT_TEST(a_host_needs_no_other) {
    atn_ctx *ctx;
    atn_device *device;
    kit_ok(NULL, atn_ctx_create(NULL, &ctx));
    kit_ok(ctx, atn_device_open_host(ctx, &device));
    assert_string_equal(atn_device_get_info(device)->backend, "host");
    reg_where where = reg_where_begin(device, &(atn_register_settings){.init = ATN_START_AUTO}, 100);
    assert_ptr_equal(where.device, device);
    reg_where_end(&where);
    atn_device_close(device);
    atn_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_points_stay_with_many_cores),
        cmocka_unit_test(a_large_gpu_takes_all_pairs_of_few_points),
        cmocka_unit_test(what_is_on_the_host_is_not_moved),
        cmocka_unit_test(other_methods_go_where_they_are_sent),
        cmocka_unit_test(a_host_needs_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
