/* The CUDA backend's built code and its launches, on a driver and a compiler made of host memory (fake_cuda.h). One
 * test takes the real NVRTC, where it is installed. */
#include "cuda_bench.h"

#include "device/cache.h"
#include "device/cuda.h"
#include "device/nvrtc.h"

#include <dirent.h>
#include <stdio.h>

/* ---- building ---- */

KIT_TEST(options_are_the_device_s) {
    bench b = start();
    atn_module *module = build(&b, SOURCE);
    static const char PLAIN[] = "--gpu-architecture=sm_90a --std=c++17 -default-device --fmad=true";
    assert_memory_equal(fake->options, PLAIN, sizeof PLAIN - 1);
    atn_module_free(module);
    atn_build fast = {.source = SOURCE, .fast_math = true, .flags = "-DA=1 -DB"};
    kit_ok(b.ctx, atn_module_build(b.device, &fast, &module));
    kit_contains(fake->options, "-default-device --use_fast_math -DA=1 -DB");
    atn_module_free(module);
    finish(&b);
    use_fake();
    fake->capability = 89; /* the fake knows 80 and 86 of these */
    b = open_bench(kit_ctx());
    module = build(&b, SOURCE);
    kit_contains(fake->options, "--gpu-architecture=sm_86 ");
    atn_module_free(module);
    finish(&b);
}

KIT_TEST(built_code_is_kept) {
    bench b = start();
    atn_module *module = build(&b, SOURCE);
    assert_false(atn_module_cached(module));
    size_t bytes = atn_module_code_bytes(module);
    assert_true(bytes > strlen(SOURCE));
    atn_module_free(module);
    module = build(&b, SOURCE);
    assert_true(atn_module_cached(module));
    assert_int_equal(atn_module_code_bytes(module), bytes);
    assert_int_equal(fake->compiles, 1);
    atn_module_free(module);
    kit_ok(b.ctx, atn_module_build(b.device, &(atn_build){.source = SOURCE, .no_cache = true}, &module));
    assert_false(atn_module_cached(module));
    assert_int_equal(fake->compiles, 2);
    atn_module_free(module);
    kit_ok(b.ctx, atn_module_build(b.device, &(atn_build){.source = SOURCE, .fast_math = true}, &module));
    assert_int_equal(fake->compiles, 3);
    atn_module_free(module);
    /* Another NVRTC makes other code. */
    atn_device_close(b.device);
    fake->nvrtc_major = 12;
    kit_ok(b.ctx, atn_device_open(b.devices, cuda_info(b.devices)->index, &b.device));
    module = build(&b, SOURCE);
    assert_int_equal(fake->compiles, 4);
    atn_module_free(module);
    finish(&b);
}

/* Writes over the middle of every cubin in the cache. */
static void damage_cubins(const atn_ctx *ctx) {
    atn_cache *cache;
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    DIR *dir = opendir(atn_cache_dir(cache));
    assert_non_null(dir);
    int damaged = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[8192];
        snprintf(path, sizeof path, "%s/%s", atn_cache_dir(cache), entry->d_name);
        if (!strstr(path, ".cubin")) continue;
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, 50, SEEK_SET);
        fputs("damage", file);
        fclose(file);
        ++damaged;
    }
    closedir(dir);
    assert_int_equal(damaged, 1);
}

KIT_TEST(damaged_code_is_built_again) {
    bench b = start();
    atn_module_free(build(&b, SOURCE));
    damage_cubins(b.ctx);
    atn_module *module = build(&b, SOURCE);
    assert_false(atn_module_cached(module));
    assert_int_equal(fake->compiles, 2);
    atn_module_free(module);
    /* Whole, but the driver does not take it. */
    fake->fail_symbol = "cuModuleLoadData";
    fake->fail_result = 200;
    module = build(&b, SOURCE);
    assert_false(atn_module_cached(module));
    assert_int_equal(fake->compiles, 3);
    atn_module_free(module);
    module = build(&b, SOURCE);
    assert_true(atn_module_cached(module));
    atn_module_free(module);
    /* Full memory is no reason to build again. */
    fake->fail_symbol = "cuModuleLoadData";
    fake->fail_result = 2;
    atn_build again = {.name = "unit", .source = SOURCE};
    kit_fails(b.ctx, ATN_ERR_MEMORY, "loading unit", atn_module_build(b.device, &again, &module));
    assert_int_equal(fake->compiles, 3);
    finish(&b);
}

KIT_TEST(builds_fail_with_the_first_error) {
    bench b = start();
    atn_module *module;
    kit_fails(b.ctx, ATN_ERR_BUILD, "estep for sm_90a: estep.cu(7): error: wrong",
              atn_module_build(b.device, &(atn_build){.name = "estep", .source = "#error\n"}, &module));
    assert_null(module);
    kit_fails(b.ctx, ATN_ERR_BUILD, "unrecognized option --what",
              atn_module_build(b.device, &(atn_build){.source = SOURCE, .flags = "--what"}, &module));
    kit_fails(b.ctx, ATN_ERR_TIMEOUT, "longer than 0.01 s",
              atn_module_build(b.device, &(atn_build){.source = "FOREVER", .timeout_s = 0.01}, &module));
    fake->fail_symbol = "cuModuleLoadData";
    fake->fail_result = 209;
    kit_fails(b.ctx, ATN_ERR_BUILD, "CUDA_ERROR_NO_BINARY_FOR_GPU",
              atn_module_build(b.device, &(atn_build){.source = SOURCE}, &module));
    module = build(&b, SOURCE); /* and it was not kept */
    assert_false(atn_module_cached(module));
    assert_false(atn_device_lost(b.device));
    atn_module_free(module);
    finish(&b);
}

KIT_TEST(functions_are_found_once) {
    bench b = start();
    atn_module *module = build(&b, SOURCE);
    atn_function *scale, *again, *none;
    kit_ok(b.ctx, atn_module_function(module, "scale", &scale));
    kit_ok(b.ctx, atn_module_function(module, "none", &none));
    kit_ok(b.ctx, atn_module_function(module, "scale", &again));
    assert_ptr_equal(scale, again);
    assert_ptr_not_equal(scale, none);
    kit_fails(b.ctx, ATN_ERR_INPUT, "unit has no function \"nowhere\"", atn_module_function(module, "nowhere", &again));
    assert_null(again);
    atn_function_info info;
    kit_ok(b.ctx, atn_function_get_info(scale, 256, &info));
    assert_int_equal(info.registers, 40);
    assert_int_equal(info.local_bytes, 1024);
    assert_int_equal(info.private_bytes, 16);
    assert_int_equal(info.max_group, 512);
    assert_int_equal(info.groups_per_core, 8);
    kit_ok(b.ctx, atn_function_get_info(scale, 0, &info));
    assert_int_equal(info.groups_per_core, -1);
    atn_module_free(module);
    finish(&b);
}

/* ---- launching ---- */

KIT_TEST(launches_carry_sizes_and_arguments) {
    shelf s;
    start_shelf(&s);
    atn_launch launch = {.groups = {70000, 3, 2}, .items = {16, 4, 2}, .local_bytes = 512, .args = s.args, .n_args = 3};
    size_t held = atn_ctx_bytes(s.b.ctx);
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    assert_int_equal(atn_ctx_bytes(s.b.ctx), held);
    const fake_launch *last = &fake->last;
    assert_string_equal(last->function, "scale");
    assert_memory_equal(last->groups, ((unsigned[]){70000, 3, 2}), sizeof last->groups);
    assert_memory_equal(last->items, ((unsigned[]){16, 4, 2}), sizeof last->items);
    assert_int_equal(last->local_bytes, 512);
    assert_int_equal(last->n_args, 3);
    assert_true(last->args[0] != 0);
    assert_memory_equal(&last->args[1], &s.by, 8);
    assert_memory_equal(&last->args[2], &s.n, 4);
    atn_buffer *empty; /* has no address */
    kit_ok(s.b.ctx, atn_buffer_create(s.b.device, 0, &empty));
    s.args[0].buffer = empty;
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    assert_true(last->args[0] == 0);
    atn_buffer_free(empty);
    finish_shelf(&s);
}

KIT_TEST(impossible_launches_are_refused) {
    shelf s;
    start_shelf(&s);
    static const struct {
        size_t groups[3], items[3], local_bytes;
        const char *says;
    } CASES[] = {
        {{1, 1, 1}, {2048, 1, 1}, 0, "2048 work-items in dimension 0 of a group, Fake GPU 0 allows 1024"},
        {{1, 1, 1}, {1, 1, 65}, 0, "65 work-items in dimension 2"},
        {{1, 1, 1}, {1024, 1, 1}, 0, "1024 work-items in a group, it can run with 512"},
        {{1, 1, 1}, {32, 32, 1}, 0, "1024 work-items in a group"},
        {{1, 65536, 1}, {1, 1, 1}, 0, "65536 groups in dimension 1, Fake GPU 0 allows 65535"},
        {{SIZE_MAX, 1, 1}, {1, 1, 1}, 0, "allows 2147483647"},
        {{1, 1, 1}, {1, 1, 1}, 232448, "allows 231424 beside the 1024 declared"},
        {{1, 1, 1}, {1, 1, 1}, SIZE_MAX, "bytes of dynamic local memory"},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        atn_launch launch = {.local_bytes = CASES[k].local_bytes, .args = s.args, .n_args = 3};
        memcpy(launch.groups, CASES[k].groups, sizeof launch.groups);
        memcpy(launch.items, CASES[k].items, sizeof launch.items);
        kit_fails(s.b.ctx, ATN_ERR_DEVICE, CASES[k].says, atn_function_launch(NULL, s.scale, &launch));
    }
    atn_launch launch = {.groups = {1}, .items = {1}, .args = s.args, .n_args = 2};
    kit_fails(s.b.ctx, ATN_ERR_INPUT, "2 arguments given, it takes 3", atn_function_launch(NULL, s.scale, &launch));
    launch.n_args = 3;
    s.args[1].bytes = 4;
    kit_fails(s.b.ctx, ATN_ERR_INPUT, "argument 1 has 4 bytes, it takes 8",
              atn_function_launch(NULL, s.scale, &launch));
    assert_int_equal(fake->launches, 0);
    s.args[1].bytes = 8;
    fake->fail_symbol = "cuLaunchKernel";
    fake->fail_result = 701;
    kit_fails(s.b.ctx, ATN_ERR_DEVICE, "LAUNCH_OUT_OF_RESOURCES", atn_function_launch(NULL, s.scale, &launch));
    assert_false(atn_device_lost(s.b.device));
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    finish_shelf(&s);
}

KIT_TEST(more_local_memory_is_asked_for_once) {
    shelf s;
    start_shelf(&s);
    atn_launch launch = {.groups = {1}, .items = {1}, .local_bytes = 49152 - 1024, .args = s.args, .n_args = 3};
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    assert_int_equal(fake->sets, 0);
    launch.local_bytes = 100000;
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    launch.local_bytes = 60000;
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    assert_int_equal(fake->sets, 1);
    assert_int_equal(fake->set_bytes, 100000);
    launch.local_bytes = 231424;
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &launch));
    assert_int_equal(fake->sets, 2);
    assert_int_equal(fake->last.local_bytes, 231424);
    finish_shelf(&s);
}

/* An older driver does not tell the parameters: then the caller is believed. */
KIT_TEST(silent_drivers_are_fine) {
    shelf s;
    use_fake();
    start_shelf(&s);
    fake->silent_params = true;
    atn_module *again = build(&s.b, SOURCE);
    atn_function *scale;
    kit_ok(s.b.ctx, atn_module_function(again, "scale", &scale));
    s.args[1].bytes = 4;
    kit_ok(s.b.ctx, atn_function_launch(NULL, scale, &(atn_launch){.groups = {1}, .args = s.args, .n_args = 3}));
    atn_module_free(again);
    finish_shelf(&s);
}

/* How many parameters there are is seen in the source, so that the driver is not asked for one too many. */
KIT_TEST(parameters_are_counted) {
    static const struct {
        const char *source;
        int count;
    } CASES[] = {
        {"extern \"C\" __global__ void __launch_bounds__(512, 2) scale(const float *__restrict__ x, long n) { x(1); }",
         2},
        {"__global__ void scale() {}", 0},
        {"__global__ void scale(float\n*x\n,\nint n)\n{ scale2(x); }", 2},
        {"__global__ void other(int a, int b) {} __global__ void scale (unsigned long long *to) {}", 1},
        {"void scale(int a) {} __global__ void other(int a) {}", -1}, /* it is no kernel */
        {"__global__ void scale(ARGUMENTS) {}", -1},
        {"__global__ void scale(int a, REST) {}", -1},
        {"__global__ void scale(int a /* b, */, int c) {}", -1},
        {"__global__ void upscale(int a) {}", -1},
        {"", -1},
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        atn_text heads = {.ctx = ctx};
        atn_cuda_heads(CASES[k].source, &heads);
        if (atn_cuda_count_params(atn_text_str(&heads), "scale") != CASES[k].count) fail_msg("%s", CASES[k].source);
        atn_text_free(&heads);
    }
    kit_free(ctx);
    shelf s;
    use_fake();
    start_shelf(&s);
    kit_ok(s.b.ctx, atn_function_launch(NULL, s.scale, &(atn_launch){.groups = {1}, .args = s.args, .n_args = 3}));
    assert_int_equal(fake->beyond, 0);
    finish_shelf(&s);
}

/* ---- with the real compiler ---- */

KIT_TEST(real_cubins_load) {
    use_fake();
    unsetenv("ATTUNE_NVRTC_LIB");
    atn_nvrtc nvrtc;
    char why[ATN_MESSAGE_BYTES];
    if (!atn_nvrtc_load(&nvrtc, 13, why, sizeof why)) {
        print_message("    SKIPPED: %s\n", why);
        skip();
    }
    bench b = open_bench(kit_ctx());
    atn_module *module = build(&b, SOURCE);
    assert_true(atn_module_code_bytes(module) > 64);
    atn_function *function;
    kit_ok(b.ctx, atn_module_function(module, "scale", &function));
    kit_fails(b.ctx, ATN_ERR_INPUT, "nowhere", atn_module_function(module, "nowhere", &function));
    atn_module_free(module);
    module = build(&b, SOURCE);
    assert_true(atn_module_cached(module));
    kit_ok(b.ctx, atn_module_function(module, "none", &function));
    kit_ok(b.ctx, atn_function_launch(NULL, function, &(atn_launch){.groups = {1}}));
    assert_string_equal(fake->last.function, "none");
    atn_module_free(module);
    finish(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_the_device_s),
        cmocka_unit_test(built_code_is_kept),
        cmocka_unit_test(damaged_code_is_built_again),
        cmocka_unit_test(builds_fail_with_the_first_error),
        cmocka_unit_test(functions_are_found_once),
        cmocka_unit_test(launches_carry_sizes_and_arguments),
        cmocka_unit_test(impossible_launches_are_refused),
        cmocka_unit_test(more_local_memory_is_asked_for_once),
        cmocka_unit_test(silent_drivers_are_fine),
        cmocka_unit_test(parameters_are_counted),
        cmocka_unit_test(real_cubins_load),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
