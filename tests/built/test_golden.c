/* What is estimated for every shipped kernel, and those of users' kind (bench/kernels), on devices of five kinds,
 * before any size is known. */
#include "support/golden.h"

#include "bench/estimate.h"
#include "built/built.h"

#include <string.h>

static void add_estimates(atn_ctx *ctx, const atn_embedded *kernels, atn_text *to) {
    for (const atn_embedded *s = kernels; s->name; ++s) {
        atn_sequence *kernel = golden_kernel(ctx, s->name);
        for (int32_t step = 0; step < kernel->count; ++step)
            for (int d = 0; d < GOLDEN_DEVICE_KINDS; ++d) {
                atn_variant v = atn_variant_estimate(kernel->step[step], &GOLDEN_DEVICES[d], NULL);
                atn_text_printf(to, "%-20s %-10s ", kernel->step[step]->name, GOLDEN_DEVICES[d].name);
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
