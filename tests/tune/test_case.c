/* Workloads at hand: sizes that are reached, sizes for a wanted shape, what elements are for, what a run amounts to. */
#include "testkit.h"

#include "base/memory.h"
#include "graph/shipped.h"
#include "tune/case.h"
#include "tune/inputs.h"
#include "tune/sets.h"
#include "tune/verify.h"

#include <stdlib.h>
#include <string.h>

static const char *const SP[] = {"USED_FLOAT=SP", NULL};

static atn_case open_case(atn_ctx *ctx, const char *kernel, const char *const *sizes) {
    atn_workload w = {.name = kernel, .xml = atn_shipped_find(kernel), .defines = SP, .sizes = sizes};
    atn_case c;
    kit_ok(ctx, atn_case_open(ctx, &w, &c));
    return c;
}

static const atn_view *view(const atn_case *c, const char *name) {
    for (int32_t k = 0; k < c->graph->n_objects; ++k)
        if (strcmp(c->graph->objects[k].name, name) == 0) return &c->views[k];
    fail_msg("no object %s", name);
    return NULL;
}

KIT_TEST(sizes_are_reached) {
    atn_ctx *ctx = kit_ctx();
    atn_case c = open_case(ctx, "add", (const char *const[]){"A=30x40", NULL});
    assert_int_equal(view(&c, "B")->size[0], 40);
    assert_int_equal(view(&c, "C")->size[1], 30);
    atn_case_close(&c);
    c = open_case(ctx, "gemm", (const char *const[]){"A=30x40", "B=40x50", NULL});
    assert_int_equal(view(&c, "C")->size[0], 50);
    assert_int_equal(view(&c, "C")->size[1], 30);
    atn_case_close(&c);
    c = open_case(ctx, "spmv", (const char *const[]){"start=101", NULL});
    assert_int_equal(view(&c, "column")->size[0], 3200); /* 32 to a row where nobody says */
    assert_int_equal(view(&c, "y")->size[0], 100);
    atn_case_close(&c);
    kit_free(ctx);
}

KIT_TEST(what_is_missing_is_asked_for) {
    atn_ctx *ctx = kit_ctx();
    atn_workload w = {.name = "gemm", .xml = atn_shipped_find("gemm"), .defines = SP};
    atn_case c;
    kit_fails(ctx, ATN_ERR_INPUT, "--size A=ROWSxCOLUMNS", atn_case_open(ctx, &w, &c));
    atn_case_close(&c);
    w.sizes = (const char *const[]){"A=3x3", "X=2x2", NULL};
    kit_fails(ctx, ATN_ERR_INPUT, "there is A, B, C", atn_case_open(ctx, &w, &c));
    atn_case_close(&c);
    w.sizes = (const char *const[]){"A", NULL};
    kit_fails(ctx, ATN_ERR_INPUT, "gemm: size 'A' is not NAME=SIZE", atn_case_open(ctx, &w, &c));
    atn_case_close(&c);
    w.sizes = (const char *const[]){"A=3", NULL};
    kit_fails(ctx, ATN_ERR_INPUT, "is a matrix", atn_case_open(ctx, &w, &c));
    atn_case_close(&c);
    w = (atn_workload){.name = "scale", .xml = atn_shipped_find("scale"), .defines = SP};
    w.sizes = (const char *const[]){"A=3x3", NULL};
    static const char *const PARAMS[][2] = {{"factr=2", "scale: no parameter 'factr'; there is factor"},
                                            {"factor", "scale: 'factor' is not NAME=NUMBER"},
                                            {"factor=two", "'two' is not a number"}};
    for (size_t k = 0; k < sizeof PARAMS / sizeof *PARAMS; ++k) {
        w.params = (const char *const[]){PARAMS[k][0], NULL};
        kit_fails(ctx, ATN_ERR_INPUT, PARAMS[k][1], atn_case_open(ctx, &w, &c));
        atn_case_close(&c);
    }
    w = (atn_workload){.name = "add", .xml = atn_shipped_find("add"), .defines = SP};
    w.params = (const char *const[]){"x=1", NULL};
    kit_fails(ctx, ATN_ERR_INPUT, "add: no parameter 'x'", atn_case_open(ctx, &w, &c));
    atn_case_close(&c);
    kit_free(ctx);
}

/* Every shipped kernel has sizes for every shape of a variant, and they are what was wanted. */
KIT_TEST(shapes_are_solved) {
    atn_ctx *ctx = kit_ctx();
    atn_device_info info = {.cpu = true};
    for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s) {
        const atn_set *set = atn_set_next(ATN_SETS, s->name, &info, NULL);
        assert_non_null(set);
        if (!strcmp(s->name, "unwrap_direct")) continue; /* 64 columns for each plane: no shape gives that */
        atn_case c = open_case(ctx, s->name, set->sizes);
        atn_variant v = atn_variant_plain();
        atn_verify_shape shapes[ATN_MOST_SHAPES];
        int32_t n = atn_verify_shapes(c.graph, &v, shapes);
        assert_true(n >= 3);
        atn_view views[32];
        for (int32_t k = 0; k < n; ++k) {
            const double(*params)[2] = (const double(*)[2])c.params;
            atn_bindings frame = {.views = views, .params = params};
            kit_ok(ctx, atn_sizes_solve(ctx, c.graph, params, &shapes[k].steps, 4, 37, views));
            kit_ok(ctx, atn_eval_check(ctx, c.graph, &frame));
            atn_steps steps;
            kit_ok(ctx, atn_steps_of(ctx, c.graph, &frame, 4, &steps));
            for (int32_t d = 0; d < c.graph->n_dims; ++d)
                if (!steps.from_data[d] && strcmp(s->name, "agree") != 0 && /* square: both dimensions are its pairs */
                    !(d == 2 && strncmp(s->name, "above", 5) == 0) &&       /* a byte has 8 bits */
                    !(d == 2 && strcmp(s->name, "sort_count") == 0) &&      /* and a digit 16 values */
                    !c.graph->values[c.graph->dims[d].end].dims &&          /* parts of another range */
                    c.graph->values[c.graph->dims[d].end].op != ATN_OP_CONST &&
                    strcmp(s->name, "lattice_pick") != 0 &&   /* its ranges are columns of its grid */
                    strcmp(s->name, "unwrap_load") != 0 &&    /* even sides */
                    strcmp(s->name, "unwrap_squares") != 0 && /* ranges that are given */
                    steps.steps[d] != shapes[k].steps.steps[d])
                    fail_msg("%s: dimension %d has %lld steps, %lld were wanted", s->name, d, (long long)steps.steps[d],
                             (long long)shapes[k].steps.steps[d]);
        }
        atn_case_close(&c);
    }
    kit_free(ctx);
}

KIT_TEST(tiles_are_straddled) {
    atn_ctx *ctx = kit_ctx();
    atn_case c = open_case(ctx, "gemm", (const char *const[]){"A=64x64", "B=64x64", NULL});
    atn_variant v = atn_variant_plain();
    kit_ok(ctx, atn_variant_parse(ctx, &v, "vec_p0=8,regs_p0=2,seq_p0=3,regs_p1=5,tile_q0=16,unroll_q0=2"));
    atn_verify_shape shapes[ATN_MOST_SHAPES];
    int32_t n = atn_verify_shapes(c.graph, &v, shapes);
    const int64_t tile[3] = {8 * 2 * 3, 5, 16}; /* along p0, p1, q0 */
    const int32_t dim[3] = {c.graph->blocks[0].dim[0], c.graph->blocks[0].dim[1], c.graph->blocks[1].dim[0]};
    for (int d = 0; d < 3; ++d) {
        bool above = false, below = false, special = false;
        for (int32_t k = 0; k < n; ++k) {
            int64_t steps = shapes[k].steps.steps[dim[d]];
            above = above || (steps > tile[d] && steps % tile[d] == 1);
            below = below || (steps < tile[d] && steps > 0);
            special = special || shapes[k].special;
        }
        assert_true(above && below && special);
    }
    atn_case_close(&c);
    kit_free(ctx);
}

KIT_TEST(elements_have_their_use) {
    atn_ctx *ctx = kit_ctx();
    atn_case c = open_case(ctx, "spmv", (const char *const[]){"start=101", "x=50", NULL});
    int32_t start[101] = {-1}, column[3200] = {-1};
    atn_fill_options options = {.seed = 7, .lengths = 32, .spread = 1};
    atn_filling fillings[8];
    atn_bindings frame = atn_case_frame(&c);
    kit_ok(ctx, atn_fillings_of(ctx, c.graph, &frame, 32, fillings));
    for (int32_t k = 0; k < c.graph->n_objects; ++k) {
        atn_filling f = fillings[k];
        atn_view v = c.views[k];
        const char *name = c.graph->objects[k].name;
        if (strcmp(name, "start") == 0) {
            assert_int_equal(f.role, ATN_ROLE_START);
            v.data = start;
            atn_fill(&v, f, &options, k);
        } else if (strcmp(name, "column") == 0) {
            assert_int_equal(f.role, ATN_ROLE_INDEX);
            assert_int_equal(f.below, 50);
            v.data = column;
            atn_fill(&v, f, &options, k);
        } else {
            assert_int_equal(f.role, ATN_ROLE_NUMBER);
        }
    }
    assert_int_equal(start[0], 0);
    assert_int_equal(start[100], 3200);
    bool uneven = false;
    for (int k = 0; k < 100; ++k) {
        assert_true(start[k] <= start[k + 1]);
        uneven = uneven || start[k + 1] - start[k] != 32;
    }
    assert_true(uneven);
    for (int k = 0; k < 3200; ++k) assert_true(column[k] >= 0 && column[k] < 50);
    atn_case_close(&c);
    kit_free(ctx);
}

KIT_TEST(amounts_are_counted) {
    atn_ctx *ctx = kit_ctx();
    atn_amount a;
    atn_case c = open_case(ctx, "gemm", (const char *const[]){"A=30x40", "B=40x50", NULL});
    atn_bindings frame = atn_case_frame(&c);
    kit_ok(ctx, atn_amount_of(ctx, c.graph, &frame, 0, &a));
    assert_true(a.flops == 2.0 * 30 * 40 * 50);
    assert_true(a.bytes == 4.0 * (30 * 40 + 40 * 50 + 30 * 50));
    assert_false(a.twice);
    atn_case_close(&c);
    c = open_case(ctx, "redblack", (const char *const[]){"u=10x10", NULL});
    frame = atn_case_frame(&c);
    kit_ok(ctx, atn_amount_of(ctx, c.graph, &frame, 0, &a));
    assert_true(a.bytes == 4.0 * 100 * 3); /* u is read and written */
    atn_case_close(&c);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_reached),       cmocka_unit_test(what_is_missing_is_asked_for),
        cmocka_unit_test(shapes_are_solved),       cmocka_unit_test(tiles_are_straddled),
        cmocka_unit_test(elements_have_their_use), cmocka_unit_test(amounts_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
