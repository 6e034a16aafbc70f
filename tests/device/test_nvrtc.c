/* NVRTC: sources become cubins without a driver, failures name the line, warnings are counted. Where no NVRTC is
 * installed, what needs it is skipped aloud. */
#include "testkit.h"

#include "base/memory.h"
#include "device/backend.h"
#include "device/nvrtc.h"
#include "device/probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SCALE[] = "extern \"C\" __global__ void scale(float *x, float by) { x[threadIdx.x] *= by; }\n";

/* The NVRTC to test with; skips the test aloud where there is none. */
static atn_nvrtc load(void) {
    atn_nvrtc nvrtc;
    char why[ATN_MESSAGE_BYTES];
    if (!atn_nvrtc_load(&nvrtc, 0, why, sizeof why)) {
        print_message("    SKIPPED: %s\n", why);
        skip();
    }
    return nvrtc;
}

KIT_TEST(present_says_which) {
    load();
    atn_ctx *ctx = kit_ctx();
    int major, minor;
    char why[ATN_MESSAGE_BYTES];
    assert_true(atn_nvrtc_present(ctx, &major, &minor, why));
    assert_true(major >= 11 && minor >= 0);
    print_message("    NVRTC %d.%d\n", major, minor);
    kit_free(ctx);
}

KIT_TEST(builds_for_several_architectures) {
    atn_nvrtc nvrtc = load();
    atn_ctx *ctx = kit_ctx();
    for (int k = 0; k < nvrtc.n_archs; ++k) {
        char arch[ATN_NVRTC_ARCH_BYTES], *cubin;
        size_t length;
        if (nvrtc.archs[k] < 80) continue;
        assert_true(atn_nvrtc_arch(&nvrtc, nvrtc.archs[k] / 10, nvrtc.archs[k] % 10, arch));
        kit_ok(ctx, atn_nvrtc_compile(ctx, &(atn_build){.name = "scale", .source = SCALE}, arch, &cubin, &length));
        print_message("    %s: %zu bytes\n", arch, length);
        assert_true(length > 64);
        assert_memory_equal(cubin,
                            "\x7f"
                            "ELF",
                            4);
        atn_free(ctx, cubin);
    }
    kit_free(ctx);
}

KIT_TEST(options_reach_the_compiler) {
    atn_nvrtc nvrtc = load();
    atn_ctx *ctx = kit_ctx();
    const char *source = "#ifndef SIZE\n#error no size\n#endif\n"
                         "extern \"C\" __global__ void k(float *x) { x[SIZE] = expf(x[0]) / x[1]; }\n";
    atn_nvrtc_output plain, fast;
    atn_build build = {.source = source, .flags = "  -DSIZE=7 -DOTHER\t-maxrregcount 32 "};
    kit_ok(ctx, atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &plain));
    build.fast_math = true;
    kit_ok(ctx, atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &fast));
    assert_true(fast.length != plain.length || memcmp(fast.cubin, plain.cubin, fast.length) != 0);
    assert_int_equal(plain.warnings, 0);
    assert_string_equal(plain.log, "");
    atn_nvrtc_output_free(ctx, &plain);
    atn_nvrtc_output_free(ctx, &fast);
    build.flags = NULL;
    kit_fails(ctx, ATN_ERR_BUILD, "no size", atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &plain));
    atn_nvrtc_output_free(ctx, &plain);
    kit_free(ctx);
}

KIT_TEST(headers_of_the_toolkit_are_found) {
    atn_nvrtc nvrtc = load();
    if (!*nvrtc.include) {
        print_message("    SKIPPED: cuda_fp16.h is not installed\n");
        skip();
    }
    atn_ctx *ctx = kit_ctx();
    atn_nvrtc_output out;
    atn_build build = {.name = "half",
                       .source = "#include <cuda_fp16.h>\n"
                                 "extern \"C\" __global__ void k(__half *x) { x[0] = __hfma(x[1], x[2], x[3]); }\n"};
    kit_ok(ctx, atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &out));
    assert_int_equal(out.warnings, 0);
    atn_nvrtc_output_free(ctx, &out);
    kit_free(ctx);
}

/* The probes are the only device code written by hand: what they are built from must not even warn. */
KIT_TEST(probes_build_without_a_warning) {
    atn_nvrtc nvrtc = load();
    atn_ctx *ctx = kit_ctx();
    atn_device device = {.ctx = ctx, .info = {.backend = "cuda", .fp64 = true, .fp16 = true}};
    atn_probe_source probe = atn_probe_get(&device, ATN_PROBE_SAXPY);
    static const int CAPABILITIES[] = {80, 90};
    for (size_t k = 0; k < sizeof CAPABILITIES / sizeof *CAPABILITIES; ++k) {
        char arch[ATN_NVRTC_ARCH_BYTES];
        atn_nvrtc_output out;
        if (!atn_nvrtc_arch(&nvrtc, CAPABILITIES[k] / 10, CAPABILITIES[k] % 10, arch)) continue;
        atn_build build = {.name = "probes", .source = probe.source, .flags = probe.flags};
        kit_ok(ctx, atn_nvrtc_run(ctx, &nvrtc, &build, arch, &out));
        assert_string_equal(out.log, "");
        atn_nvrtc_output_free(ctx, &out);
    }
    kit_free(ctx);
}

/* ---- failures ---- */

static int logged; /* lines of the log that mention the second error */

static void count_lines(void *user, atn_log_level level, const char *line) {
    (void)user;
    if (level == ATN_LOG_INFO && strstr(line, "second_thing")) ++logged;
}

KIT_TEST(failures_name_the_line) {
    atn_nvrtc nvrtc = load();
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&(atn_ctx_settings){.log = count_lines}, &ctx), ATN_OK);
    atn_nvrtc_output out;
    atn_build build = {.name = "estep",
                       .source = "extern \"C\" __global__ void k(float *x) {\n"
                                 "  int unused; // error: not this one\n"
                                 "  x[0] = first_thing;\n"
                                 "  x[1] = second_thing;\n}\n"};
    kit_fails(ctx, ATN_ERR_BUILD, "estep for sm_80: estep.cu(3): error: identifier \"first_thing\" is undefined",
              atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &out));
    assert_null(out.cubin);
    assert_int_equal(out.warnings, 1);
    assert_non_null(strstr(out.log, "second_thing"));
    assert_true(logged >= 1);
    atn_nvrtc_output_free(ctx, &out);
    char *cubin;
    size_t length;
    build.source = SCALE;
    kit_fails(ctx, ATN_ERR_BUILD, "gpu-architecture", atn_nvrtc_compile(ctx, &build, "sm_1", &cubin, &length));
    assert_null(cubin);
    build.flags = "--nonsense";
    kit_fails(ctx, ATN_ERR_BUILD, "--nonsense", atn_nvrtc_compile(ctx, &build, "sm_80", &cubin, &length));
    build = (atn_build){.source = "extern \"C\" __global__ void k(float *x) {\n __shared__ float s[100000];\n"
                                  " s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[5];\n}\n"};
    kit_fails(ctx, ATN_ERR_BUILD, "too much shared data", atn_nvrtc_compile(ctx, &build, "sm_80", &cubin, &length));
    build.source = "#include <no_such_header.h>\n";
    kit_fails(ctx, ATN_ERR_BUILD, "no_such_header.h", atn_nvrtc_compile(ctx, &build, "sm_80", &cubin, &length));
    atn_ctx_free(ctx);
}

KIT_TEST(warnings_are_counted) {
    atn_nvrtc nvrtc = load();
    atn_ctx *ctx = kit_ctx();
    atn_nvrtc_output out;
    atn_build build = {.source = "#warning hello\n"
                                 "extern \"C\" __global__ void k(float *x) { int unused; x[0] = 1; }\n"};
    kit_ok(ctx, atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &out));
    assert_int_equal(out.warnings, 2);
    atn_nvrtc_output_free(ctx, &out);
    kit_free(ctx);
}

KIT_TEST(stops_when_told) {
    atn_nvrtc nvrtc = load();
    atn_ctx *ctx = kit_ctx();
    atn_nvrtc_output out;
    atn_build build = {.source = SCALE, .timeout_s = 1e-9};
    if (nvrtc.set_callback)
        kit_fails(ctx, ATN_ERR_TIMEOUT, "longer than", atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &out));
    else
        print_message("    SKIPPED: this NVRTC cannot be stopped\n");
    if (nvrtc.set_callback) atn_nvrtc_output_free(ctx, &out);
    atn_ctx_cancel(ctx);
    kit_fails(ctx, ATN_ERR_CANCELLED, "stopped", atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &out));
    assert_null(out.log);
    kit_free(ctx);
}

KIT_TEST(every_allocation_may_fail) {
    atn_nvrtc nvrtc = load();
    kit_faults faults = {0};
    atn_ctx_settings options = kit_fault_options(&faults);
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    long start = faults.live;
    atn_build build = {.source = SCALE, .flags = "-DA"};
    for (long n = 1;; ++n) {
        atn_nvrtc_output out;
        faults.fail_at = faults.count + n;
        atn_status status = atn_nvrtc_run(ctx, &nvrtc, &build, "sm_80", &out);
        bool reached = faults.count >= faults.fail_at;
        faults.fail_at = 0;
        assert_int_equal(status, reached ? ATN_ERR_MEMORY : ATN_OK);
        atn_nvrtc_output_free(ctx, &out);
        assert_int_equal(faults.live, start);
        if (!reached) break;
        assert_true(n < 50);
    }
    atn_ctx_free(ctx);
}

/* ---- what needs no NVRTC ---- */

KIT_TEST(missing_is_explained) {
    atn_ctx *ctx = kit_ctx();
    int major, minor;
    char why[ATN_MESSAGE_BYTES], *cubin;
    size_t length;
    setenv("ATTUNE_NVRTC_LIB", "/nowhere/libnvrtc.so", 1);
    assert_false(atn_nvrtc_present(ctx, &major, &minor, why));
    kit_contains(why, "ATTUNE_NVRTC_LIB names /nowhere/libnvrtc.so");
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "/nowhere/libnvrtc.so",
              atn_nvrtc_compile(ctx, &(atn_build){.source = SCALE}, "sm_80", &cubin, &length));
    assert_null(cubin);
    setenv("ATTUNE_NVRTC_LIB", "libm.so.6", 1);
    assert_false(atn_nvrtc_present(ctx, &major, &minor, why));
    kit_contains(why, "lacks nvrtcVersion");
    unsetenv("ATTUNE_NVRTC_LIB");
    kit_free(ctx);
}

KIT_TEST(architecture_is_the_nearest) {
    atn_nvrtc nvrtc = {.major = 13, .archs = {75, 80, 86, 90, 100}, .n_archs = 5};
    static const struct {
        int major, minor;
        const char *arch; /* NULL: none */
    } CASES[] = {{9, 0, "sm_90a"}, {10, 0, "sm_100a"}, {10, 3, "sm_100"}, {8, 6, "sm_86"},
                 {8, 9, "sm_86"},  {8, 0, "sm_80"},    {7, 0, NULL},      {12, 0, NULL}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        char arch[ATN_NVRTC_ARCH_BYTES];
        assert_int_equal(atn_nvrtc_arch(&nvrtc, CASES[k].major, CASES[k].minor, arch), CASES[k].arch != NULL);
        if (CASES[k].arch) assert_string_equal(arch, CASES[k].arch);
    }
    nvrtc.major = 11;
    char arch[ATN_NVRTC_ARCH_BYTES];
    assert_true(atn_nvrtc_arch(&nvrtc, 9, 0, arch));
    assert_string_equal(arch, "sm_90");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(present_says_which),
        cmocka_unit_test(builds_for_several_architectures),
        cmocka_unit_test(options_reach_the_compiler),
        cmocka_unit_test(headers_of_the_toolkit_are_found),
        cmocka_unit_test(probes_build_without_a_warning),
        cmocka_unit_test(failures_name_the_line),
        cmocka_unit_test(warnings_are_counted),
        cmocka_unit_test(stops_when_told),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(missing_is_explained),
        cmocka_unit_test(architecture_is_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
