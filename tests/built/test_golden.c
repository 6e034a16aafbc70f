/* What is estimated for every shipped kernel, and those of users' kind (bench/kernels), on devices of five kinds,
 * before any size is known. */
#include "support/golden.h"

#include "bench/estimate.h"
#include "built/built.h"

#include <string.h>

static const atn_device_info DEVICES[] = {
    {.backend = "host",
     .arch = "x86_64",
     .name = "AVX2",
     .simd = 8,
     .cores = 8,
     .max_group = 1,
     .fp64 = true,
     .local_bytes = 32 << 10,
     .cache_bytes = 32 << 20,
     .cpu = true},
    {.backend = "host",
     .arch = "x86_64",
     .name = "AVX-512",
     .simd = 16,
     .cores = 16,
     .max_group = 1,
     .fp64 = true,
     .local_bytes = 48 << 10,
     .cache_bytes = 64 << 20,
     .cpu = true},
    {.backend = "host",
     .arch = "aarch64",
     .name = "NEON",
     .simd = 4,
     .cores = 2,
     .max_group = 1,
     .fp64 = true,
     .local_bytes = 64 << 10,
     .cache_bytes = 32 << 20,
     .cpu = true},
    {.backend = "cuda",
     .arch = "sm_90",
     .name = "GPU",
     .simd = 32,
     .cores = 132,
     .max_group = 1024,
     .fp64 = true,
     .local_bytes = 227 << 10,
     .cache_bytes = 50 << 20,
     .subgroups = true},
    {.backend = "opencl",
     .arch = "",
     .name = "OpenCL CPU",
     .simd = 8,
     .cores = 8,
     .max_group = 4096,
     .fp64 = true,
     .local_bytes = 512 << 10,
     .cache_bytes = 32 << 20,
     .cpu = true},
};

static void add_estimates(atn_ctx *ctx, const atn_embedded *kernels, atn_text *to) {
    for (const atn_embedded *s = kernels; s->name; ++s) {
        atn_sequence *kernel = golden_kernel(ctx, s->name);
        for (int32_t step = 0; step < kernel->count; ++step)
            for (size_t d = 0; d < sizeof DEVICES / sizeof *DEVICES; ++d) {
                atn_variant v = atn_variant_estimate(kernel->step[step], &DEVICES[d], NULL);
                atn_text_printf(to, "%-20s %-10s ", kernel->step[step]->name, DEVICES[d].name);
                atn_variant_print(&v, to);
                atn_text_add(to, "\n");
            }
        atn_sequence_free(kernel);
    }
}

KIT_TEST(estimates_are_as_they_were) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    add_estimates(ctx, ATN_SHIPPED, &text);
    add_estimates(ctx, ATN_BENCH_KERNELS, &text);
    golden_check(ctx, "built", "estimates", atn_text_str(&text));
    atn_text_free(&text);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimates_are_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
