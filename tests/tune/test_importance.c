/* Which knobs matter: what explains all, what explains nothing, and too little to say anything. */
#include "testkit.h"

#include "lower/variant.h"
#include "tune/importance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

KIT_TEST(the_one_that_matters_is_first) {
    atn_ctx *ctx = kit_ctx();
    enum { N = 64 };
    static char text[N][48];
    const char *variants[N];
    double ratio[N];
    for (int k = 0; k < N; ++k) { /* a: a factor of 4; b: of 1.2; c: nothing; d: one value */
        snprintf(text[k], sizeof text[k], "%sb=%d,c=%d,d=7", k % 2 ? "a=2," : "", k / 2 % 4, k / 8 % 8);
        variants[k] = text[k];
        ratio[k] = (k % 2 ? 4 : 1) * pow(1.2, k / 2 % 4);
    }
    ratio[5] = 0; /* failed: left out */
    atn_importance out[ATN_IMPORTANCE_MOST];
    assert_int_equal(atn_importance_of(ctx, variants, ratio, N, out), 3);
    assert_string_equal(out[0].knob, "a");
    assert_true(out[0].share > 0.9 && out[0].values == 2);
    assert_string_equal(out[1].knob, "b");
    assert_true(out[1].share > 0.02 && out[1].share < 0.1 && out[1].values == 4);
    assert_string_equal(out[2].knob, "c");
    assert_true(out[2].share < 0.02);
    assert_int_equal(atn_importance_of(ctx, variants, ratio, 0, out), 0);
    assert_int_equal(atn_importance_of(ctx, variants, ratio, 2, out), 0);
    for (int k = 0; k < N; ++k) ratio[k] = 1;
    assert_int_equal(atn_importance_of(ctx, variants, ratio, N, out), 0); /* no variance, nothing to explain */
    kit_free(ctx);
}

KIT_TEST(every_knob_has_a_meaning) {
    for (int32_t k = 0; k < atn_variant_knob_count(); ++k)
        if (!*atn_variant_knob_meaning(atn_variant_knob_name(k))) fail_msg("%s has none", atn_variant_knob_name(k));
    assert_string_equal(atn_variant_knob_meaning("no_such_knob"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_that_matters_is_first),
        cmocka_unit_test(every_knob_has_a_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
