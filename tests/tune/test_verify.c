/* Verification on the host: variants that are right pass, others do not, and accuracy decides what is usable. */
#include "tunekit.h"

#include "graph/shipped.h"
#include "tune/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SP[] = {"USED_FLOAT=SP", NULL};

static atn_trial verify(tunekit *k, const atn_workload *w, const atn_trial_setup *setup, const char *variant) {
    atn_trials *trials;
    atn_trial trial;
    kit_ok(k->ctx, atn_trials_open(k->device, w, setup, NULL, &trials));
    kit_ok(k->ctx, atn_trials_try(trials, variant, NULL, 0, &trial));
    atn_trials_free(trials);
    return trial;
}

/* The plain variant of every shipped kernel, at sizes of no particular kind. */
KIT_TEST(plain_variants_are_right) {
    tunekit k;
    tunekit_open(&k, NULL);
    static const struct {
        const char *kernel, *sizes[4];
    } KERNELS[] = {{"add", {"A=70x130"}},
                   {"scale", {"A=70x130"}},
                   {"transpose", {"A=70x130"}},
                   {"laplace2d", {"A=70x130"}},
                   {"redblack", {"u=70x130"}},
                   {"gemv", {"A=70x130"}},
                   {"gemm", {"A=40x50", "B=50x60"}},
                   {"l2norm", {"x=5000"}},
                   {"max", {"x=5000"}},
                   {"dot", {"x=5000"}},
                   {"spmv", {"start=200"}},
                   {"estep", {"yx=50", "xx=60"}},
                   {"estep_compat", {"yx=50", "xx=60"}},
                   {"estep_near", {"yx=20x16", "xx=15x16", "near=100"}},
                   {"nearest", {"yx=20x16", "xx=15x16", "near=100"}},
                   {"mstep", {"yx=5000"}},
                   {"move", {"px=5000"}},
                   {"agree", {"px=70"}}};
    for (size_t n = 0; n < sizeof KERNELS / sizeof *KERNELS; ++n) {
        atn_workload w = {.name = KERNELS[n].kernel, .xml = atn_shipped_find(KERNELS[n].kernel), .defines = SP};
        w.sizes = KERNELS[n].sizes;
        atn_trial t = verify(&k, &w, &(atn_trial_setup){.seed = 3}, "");
        if (t.outcome != ATN_OUTCOME_RIGHT) fail_msg("%s: %s", w.name, t.detail);
        assert_true(t.usable && t.error <= 1 && t.seconds > 0);
    }
    tunekit_close(&k);
}

KIT_TEST(short_polynomials_are_right_but_not_usable) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload w = {.name = "estep", .xml = atn_shipped_find("estep"), .defines = SP};
    w.sizes = (const char *const[]){"yx=40", "xx=5", NULL}; /* few terms: their sum's rounding hides nothing */
    atn_trial t = verify(&k, &w, &(atn_trial_setup){.seed = 3}, "exp=polynomial,degree=3");
    assert_int_equal(t.outcome, ATN_OUTCOME_RIGHT);
    assert_false(t.usable);
    t = verify(&k, &w, &(atn_trial_setup){.seed = 3, .tolerance = 1e-3}, "exp=polynomial,degree=3");
    assert_int_equal(t.outcome, ATN_OUTCOME_RIGHT);
    assert_true(t.usable);
    t = verify(&k, &w, &(atn_trial_setup){.seed = 3}, "exp=polynomial,degree=7");
    assert_true(t.outcome == ATN_OUTCOME_RIGHT && t.usable);
    tunekit_close(&k);
}

KIT_TEST(reproducible_means_to_the_last_bit) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload w = {.name = "l2norm", .xml = atn_shipped_find("l2norm"), .defines = SP};
    w.sizes = (const char *const[]){"x=3000", NULL};
    atn_trial t = verify(&k, &w, &(atn_trial_setup){.seed = 3, .reproducible = true}, "vec_q0=8,regs_q0=4");
    assert_int_equal(t.outcome, ATN_OUTCOME_RIGHT);
    assert_false(t.usable); /* another order of summation */
    t = verify(&k, &w, &(atn_trial_setup){.seed = 3, .reproducible = true}, "");
    if (!t.usable) fail_msg("%s", t.detail);
    tunekit_close(&k);
}

KIT_TEST(what_does_not_exist_is_a_build_failure) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload w = tunekit_add();
    atn_trial t = verify(&k, &w, &(atn_trial_setup){.seed = 3}, "vec_p0=8,vec_p1=8");
    assert_int_equal(t.outcome, ATN_OUTCOME_BUILD);
    kit_contains(t.detail, "more than one dimension");
    t = verify(&k, &w, &(atn_trial_setup){.seed = 3}, "nonsense=3");
    assert_int_equal(t.outcome, ATN_OUTCOME_BUILD);
    tunekit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_variants_are_right),
        cmocka_unit_test(short_polynomials_are_right_but_not_usable),
        cmocka_unit_test(reproducible_means_to_the_last_bit),
        cmocka_unit_test(what_does_not_exist_is_a_build_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
