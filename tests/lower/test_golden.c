/* The programs that the worked cases are lowered to. */
#include "support/golden.h"

KIT_TEST(programs_are_as_they_were) {
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < GOLDEN_CASES_COUNT; ++k) {
        const golden_case *c = &GOLDEN_CASES[k];
        atn_sequence *kernel = golden_kernel(ctx, c->kernel);
        atn_variant variant = golden_variant(ctx, c);
        atn_target target = golden_target(c->backend);
        atn_lowered *program;
        atn_text text = {.ctx = ctx};
        kit_ok(ctx, atn_lower(ctx, kernel->step[0], &variant, &target, &program));
        atn_lowered_print(program, &text);
        golden_check(ctx, "lower", c->name, atn_text_str(&text));
        atn_text_free(&text);
        atn_lowered_free(program);
        atn_sequence_free(kernel);
    }
    kit_free(ctx);
}

/* What the passes before it find, all cases in one text. */
KIT_TEST(passes_are_as_they_were) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    for (size_t k = 0; k < GOLDEN_CASES_COUNT; ++k) {
        const golden_case *c = &GOLDEN_CASES[k];
        atn_sequence *kernel = golden_kernel(ctx, c->kernel);
        atn_variant variant = golden_variant(ctx, c);
        atn_target target = golden_target(c->backend);
        atn_text_printf(&text, "%s== %s: %s\n", k ? "\n" : "", c->name, c->variant);
        kit_ok(ctx, atn_lower_print_passes(ctx, kernel->step[0], &variant, &target, &text));
        atn_sequence_free(kernel);
    }
    golden_check(ctx, "lower", "passes", atn_text_str(&text));
    atn_text_free(&text);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_are_as_they_were),
                                       cmocka_unit_test(passes_are_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
