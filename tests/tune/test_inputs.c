/* Made elements keep every computed access in range, whatever a selector is computed from; nothing runs unguarded on
 * elements that were not seen to. */
#include "tunekit.h"

#include "base/memory.h"
#include "graph/shipped.h"
#include "tune/bounds.h"
#include "tune/case.h"
#include "tune/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SP[] = {"USED_FLOAT=SP", NULL};

/* The oracle on a case filled as a stand would be: how many accesses go out of range? */
static int64_t astray(const atn_ctx *ctx, const atn_case *c, uint64_t seed) {
    int32_t n = c->graph->n_objects;
    atn_filling *fillings = atn_zalloc(ctx, (size_t)(n + 1) * sizeof *fillings);
    atn_view *views = atn_zalloc(ctx, (size_t)(n + 1) * sizeof *views);
    atn_bindings frame = atn_case_frame(c);
    kit_ok(ctx, atn_fillings_of(ctx, c->graph, &frame, c->range_length, fillings));
    atn_fill_options fill = {.seed = seed, .lengths = c->range_length, .spread = 1};
    for (int32_t k = 0; k < n; ++k) {
        views[k] = c->views[k];
        if (c->graph->objects[k].table) continue;
        size_t elements = (size_t)(views[k].size[0] * (views[k].rank > 1 ? views[k].size[1] : 1));
        views[k].data = calloc(elements + 1, atn_type_bytes(views[k].type));
        atn_fill(&views[k], fillings[k], &fill, k);
    }
    atn_eval_result *result;
    kit_ok(ctx, atn_eval_run(ctx, c->graph, &(atn_bindings){.views = views, .params = frame.params}, NULL, &result));
    int64_t bad = result->bad_accesses;
    atn_eval_free(result);
    for (int32_t k = 0; k < n; ++k) free(views[k].data);
    atn_free(ctx, views);
    atn_free(ctx, fillings);
    return bad;
}

KIT_TEST(shipped_gathers_stay_in_range) {
    static const struct {
        const char *kernel, *sizes[8];
        double length;
    } KERNELS[] = {
        {"spmv", {"start=50", "column=300", "element=300", "x=20"}, 6},
        {"estep_near", {"yx=20x16", "xx=15x16", "near=100"}, 5},
        {"nearest", {"yx=20x16", "xx=15x16", "near=100"}, 5},
        {"around", {"yx=20x16", "xx=15x16", "near=100"}, 5},
        {"shift_lookup", {"pose=12x7", "px=40", "list=300", "start=71", "mx=60"}, 4},
        {"shift_mark", {"pose=12x7", "px=40", "list=300", "start=71", "mx=60", "found=7x60"}, 4},
        {"lattice_score", {"turn=9x13", "px=60", "start=11", "last=11", "table=300"}, 5},
        {"lattice_score", {"turn=9x13", "px=60", "start=11", "last=11", "table=1"}, 5},
        {"lattice_refine", {"qw=11x3", "px=60", "start=11", "end=11", "pull=900"}, 5},
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t n = 0; n < sizeof KERNELS / sizeof *KERNELS; ++n) {
        atn_workload w = {.name = KERNELS[n].kernel,
                          .xml = atn_shipped_find(KERNELS[n].kernel),
                          .defines = SP,
                          .sizes = KERNELS[n].sizes,
                          .range_length = KERNELS[n].length};
        atn_case c;
        kit_ok(ctx, atn_case_open(ctx, &w, &c));
        assert_true(atn_inputs_guarded(c.graph));
        for (uint64_t seed = 1; seed < 4; ++seed)
            if (astray(ctx, &c, seed) != 0) fail_msg("%s goes out of range", w.name);
        bool moved;
        kit_ok(ctx, atn_inputs_moved(ctx, c.graph, &moved));
        assert_int_equal(moved, strcmp(w.name, "lattice_refine") == 0); /* its turns decide, and are changed */
        atn_case_close(&c);
    }
    kit_free(ctx);
}

/* y(i) = x(selector of k(i), INT32, and f(i), SP). */
#define GATHER(function)                                                                                               \
    "<ParallelAlgorithm name='own' dimensions='1'><DataObjects>"                                                       \
    "<DataObject name='k' structure='vector' elementDataType='INT32'/>"                                                \
    "<DataObject name='f' structure='vector' elementDataType='SP'/>"                                                   \
    "<DataObject name='x' structure='vector' elementDataType='SP'/>"                                                   \
    "<DataObject name='y' structure='vector' elementDataType='SP'/></DataObjects><Children>"                           \
    "<DataAccessRead name='rk' source='k' selFunction='v0'/><DataAccessRead name='rf' source='f' selFunction='v0'/>"   \
    "<FunctionBlock name='s' numInVars='2' dataType='INT32' function='" function "'/>"                                 \
    "<DataAccessRead name='r' source='x' selFunction='v0'/>"                                                           \
    "<DataAccessWrite name='w' destination='y' selFunction='v0'/></Children><Connections>"                             \
    "<Connection source='k.Size(0)' destination='own.Range(0)'/>"                                                      \
    "<Connection source='own.i(0)' destination='rk.v(0)'/><Connection source='own.i(0)' destination='rf.v(0)'/>"       \
    "<Connection source='rk.out' destination='s.in(0)'/><Connection source='rf.out' destination='s.in(1)'/>"           \
    "<Connection source='s.out(0)' destination='r.v(0)'/><Connection source='own.i(0)' destination='w.v(0)'/>"         \
    "<Connection source='r.out' destination='w.in'/></Connections></ParallelAlgorithm>"

static const char *const SIZES[] = {"k=200", "f=200", "x=37", "y=200", NULL};

KIT_TEST(any_selector_is_kept_in_range) {
    static const char *const GATHERS[] = {
        GATHER("#in(0)"),
        GATHER("#in(0) * 2 + 1"),
        GATHER("36 - #in(0)"),
        GATHER("INT32(#in(1))"),
        GATHER("INT32(floor(#in(1) * #in(1) * 3.5))"),
        GATHER("#in(0) * #in(0) + INT32(fabs(#in(1)))"),
        GATHER("INT32(fma(#in(1), 5, SP(#in(0)))) &amp; 31"),
        GATHER("(#in(0) &lt;&lt; 3) | 2"),
        GATHER("(#in(0) >> 1) + 3"),
        GATHER("#in(0) % 9"),
        GATHER("#in(0) / 3 + max(2, min(#in(0), 7))"),
        GATHER("#in(1) > 1 ? #in(0) * 3 : 5"),
        GATHER("INT32(sqrt(#in(1))) + INT32(18 + 17 * sin(#in(1)))"),
        GATHER("INT32(hypot(#in(1), #in(1))) + (#in(0) ^ 1)"),
        GATHER("INT32(copysign(#in(1), 1 - #in(1)) + 30)"),
        GATHER("INT32(10 / (1 + #in(1)))"),
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t n = 0; n < sizeof GATHERS / sizeof *GATHERS; ++n) {
        atn_workload w = {.name = "own", .xml = GATHERS[n], .sizes = SIZES};
        atn_case c;
        kit_ok(ctx, atn_case_open(ctx, &w, &c));
        for (uint64_t seed = 1; seed < 6; ++seed)
            if (astray(ctx, &c, seed) != 0) fail_msg("selector %d goes out of range", (int)n);
        atn_case_close(&c);
    }
    kit_free(ctx);
}

/* Elements are as large as they may be, not all zero: what is gathered lies apart. */
KIT_TEST(ranges_are_used) {
    atn_ctx *ctx = kit_ctx();
    atn_workload w = {.name = "own", .xml = GATHER("#in(0) * 2 + 1"), .sizes = SIZES};
    atn_case c;
    atn_filling fillings[4];
    kit_ok(ctx, atn_case_open(ctx, &w, &c));
    atn_bindings frame = atn_case_frame(&c);
    kit_ok(ctx, atn_fillings_of(ctx, c.graph, &frame, 1, fillings));
    assert_int_equal(fillings[0].role, ATN_ROLE_INDEX);
    assert_true(fillings[0].below > 12 && fillings[0].below <= 18);
    assert_int_equal(fillings[1].role, ATN_ROLE_NUMBER);
    atn_case_close(&c);
    w.xml = GATHER("INT32(#in(1) * 3)");
    kit_ok(ctx, atn_case_open(ctx, &w, &c));
    frame = atn_case_frame(&c);
    kit_ok(ctx, atn_fillings_of(ctx, c.graph, &frame, 1, fillings));
    assert_int_equal(fillings[1].role, ATN_ROLE_WITHIN);
    assert_true(fillings[1].high > 9 && fillings[1].high < 12.34);
    atn_case_close(&c);
    kit_free(ctx);
}

/* No elements help: nothing is tried without guards, and the failure says why. */
KIT_TEST(what_cannot_be_kept_in_range_is_refused) {
    tunekit k;
    atn_trials *trials;
    tunekit_open(&k, NULL);
    atn_workload w = {.name = "own", .xml = GATHER("#in(0) + 1000"), .sizes = SIZES};
    kit_fails(k.ctx, ATN_ERR_INPUT, "elements that keep it in range were not found",
              atn_trials_open(k.device, &w, &(atn_trial_setup){.seed = 3}, NULL, &trials));
    kit_contains(atn_ctx_message(k.ctx), "'r' among them");
    tunekit_close(&k);
}

/* Without guards, also where the oracle looks at some points only, and on arrays that a run changes. */
KIT_TEST(unguarded_variants_are_right) {
    static const struct {
        const char *kernel, *sizes[8];
    } KERNELS[] = {{"lattice_score", {"turn=9x416", "px=700", "start=64", "last=64", "table=65536"}},
                   {"lattice_refine", {"qw=64x8", "px=700", "start=64", "end=64", "pull=128000"}}};
    tunekit k;
    tunekit_open(&k, NULL);
    for (size_t n = 0; n < sizeof KERNELS / sizeof *KERNELS; ++n) {
        atn_workload w = {.name = KERNELS[n].kernel, .xml = atn_shipped_find(KERNELS[n].kernel), .defines = SP};
        w.sizes = KERNELS[n].sizes;
        w.range_length = 10;
        atn_trials *trials;
        atn_trial t;
        kit_ok(k.ctx, atn_trials_open(k.device, &w, &(atn_trial_setup){.seed = 3}, NULL, &trials));
        static const char *const VARIANTS[] = {"guard=0", "vec_p0=4,guard=0"};
        for (size_t v = 0; v < 2; ++v) {
            kit_ok(k.ctx, atn_trials_try(trials, VARIANTS[v], NULL, 0, &t));
            if (t.outcome != ATN_OUTCOME_RIGHT) fail_msg("%s: %s", w.name, t.detail);
            assert_true(t.seconds > 0);
        }
        atn_trials_free(trials);
    }
    tunekit_close(&k);
}

KIT_TEST(lattices_are_tuned) {
    tunekit k;
    atn_tune_result r;
    tunekit_open(&k, NULL);
    atn_workload w = {.name = "lattice_score",
                      .xml = atn_shipped_find("lattice_score"),
                      .defines = SP,
                      .sizes = (const char *const[]){"turn=9x52", "px=300", "start=32", "last=32", "table=6553", NULL},
                      .range_length = 9};
    atn_tune_options options = tunekit_options("vec_p0 = (1, 4)\nguard = (0,)\n");
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &w, &options, &r));
    for (int outcome = 0; outcome < ATN_OUTCOME_COUNT; ++outcome) assert_int_equal(r.failed[outcome], 0);
    assert_non_null(r.variant);
    kit_contains(r.variant, "guard=0");
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_gathers_stay_in_range),
        cmocka_unit_test(any_selector_is_kept_in_range),
        cmocka_unit_test(ranges_are_used),
        cmocka_unit_test(what_cannot_be_kept_in_range_is_refused),
        cmocka_unit_test(unguarded_variants_are_right),
        cmocka_unit_test(lattices_are_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
