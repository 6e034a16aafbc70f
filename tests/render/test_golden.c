/* The sources of the worked cases, from the first entry point on; and the helpers before it, once for each dialect. */
#include "support/golden.h"

#include "built/built.h"

#include <string.h>

/* Where helpers end: the first line that begins an entry point, or a table. */
static char *body_of(char *source) {
    static const char *const FIRST[] = {"\nvoid attune(", "\n__kernel ", "\nextern \"C\" ", "\n__constant ",
                                        "\nstatic __constant__ "};
    char *body = NULL;
    for (size_t k = 0; k < sizeof FIRST / sizeof *FIRST; ++k) {
        char *at = strstr(source, FIRST[k]);
        if (at && (!body || at < body)) body = at;
    }
    assert_non_null(body);
    return body + 1;
}

KIT_TEST(sources_are_as_they_were) {
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < GOLDEN_CASES_COUNT; ++k) {
        const golden_case *c = &GOLDEN_CASES[k];
        atn_sequence *kernel = golden_kernel(ctx, c->kernel);
        atn_variant variant = golden_variant(ctx, c);
        atn_target target = golden_target(c->backend);
        atn_text text = {.ctx = ctx};
        kit_ok(ctx, atn_built_source(ctx, kernel->step[0], &variant, c->backend, &target, &text));
        golden_check(ctx, "render", c->name, body_of(text.data));
        atn_text_free(&text);
        atn_sequence_free(kernel);
    }
    kit_free(ctx);
}

/* Of a kernel without vectors or exponentials: what every source of the dialect starts with. */
KIT_TEST(preludes_are_as_they_were) {
    static const char *const BACKENDS[] = {"host", "opencl", "cuda"};
    atn_ctx *ctx = kit_ctx();
    atn_sequence *kernel = golden_kernel(ctx, "add");
    for (size_t k = 0; k < sizeof BACKENDS / sizeof *BACKENDS; ++k) {
        atn_variant plain = atn_variant_plain();
        atn_target target = golden_target(BACKENDS[k]);
        atn_text text = {.ctx = ctx};
        char name[32] = "prelude-";
        kit_ok(ctx, atn_built_source(ctx, kernel->step[0], &plain, BACKENDS[k], &target, &text));
        *body_of(text.data) = '\0';
        golden_check(ctx, "render", strcat(name, BACKENDS[k]), text.data);
        atn_text_free(&text);
    }
    atn_sequence_free(kernel);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sources_are_as_they_were),
                                       cmocka_unit_test(preludes_are_as_they_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
