/* What is refused before a launch, to the letter; sizes that outputs take; indices for launchers; failing allocations.
 */
#include "support/kernel.h"
#include "support/shared.h"

#include <string.h>

SHARED_CTX;

static float room[64]; /* elements nobody looks at */

/* y(i) = s * x(3 * i + 1) for i below n, and a clamped z(i - 1). */
static kernel strided(void) {
    return kernel_make(ctx, 1, "", "x=SP:1 z=SP:2 y=SP:1",
                       PARAMETER("n", "INT32", "") PARAMETER("s", "SP", "default='2'") READ("far", "x", "3 * v0 + 1")
                           READ_EDGE("edge", "z", "v0 - 1, 0", "clamp") FUNCTION("f", "SP", "#in(0) * #in(1) + #in(2)")
                               WRITE("w", "y", "v0"),
                       "n.out>K.Range(0) K.i(0)>far.v(0) K.i(0)>edge.v(0) K.i(0)>w.v(0) far.out>f.in(0) s.out>f.in(1) "
                       "edge.out>f.in(2) f.out>w.in");
}

static void refuse(kernel k, const char *sentence) {
    atn_status status = kernel_bind(&k);
    if (status == ATN_OK) status = atn_eval_check(ctx, k.graph, &k.frame);
    assert_int_equal(status, ATN_ERR_INPUT);
    assert_string_equal(atn_ctx_message(ctx), sentence);
    kernel_free(&k);
}

/* All right but for one thing. */
static kernel with(int64_t x, int64_t z, int64_t y, double n) {
    kernel k = strided();
    kernel_vector(&k, "x", ATN_SP, room, x);
    kernel_matrix(&k, "z", ATN_SP, room, z, 1, z);
    kernel_vector(&k, "y", ATN_SP, room, y);
    kernel_param(&k, "n", n);
    return k;
}

KIT_TEST(refusals) {
    kernel k = with(11, 1, 4, 4); /* 3 * 3 + 1 = 10 */
    kit_ok(ctx, kernel_bind(&k));
    kit_ok(ctx, atn_eval_check(ctx, k.graph, &k.frame));
    kernel_free(&k);

    refuse(with(10, 1, 4, 4), "K: 'far' reads 'x' from 1 to 10 along axis 0; its Size(0) is 10");
    refuse(with(11, 1, 3, 4), "K: 'w' writes 'y' from 0 to 3 along axis 0; its Size(0) is 3");
    refuse(with(11, 0, 4, 4), "K: 'edge' reads 'z', which has no elements; its boundary needs at least one");
    refuse(with(11, 1, 4, -1), "K: 'K' runs over dimension 0 from 0 to -1; a range is not negative");
    refuse(with(11, 1, 4, 3.5), "K: parameter 'n' is INT32; 3.5 is none");
    refuse(with(-1, 1, 4, 4), "K: nothing is bound to 'x', a vector of SP");

    k = with(11, 1, 4, 4);
    k.bindings[0].view.type = ATN_DP;
    refuse(k, "K: 'x' is a vector of SP; a vector of DP was bound");
    k = with(11, 1, 4, 4);
    k.bindings[1].view.rank = 1;
    refuse(k, "K: 'z' is a matrix of SP; a vector of SP was bound");
    k = with(11, 5, 4, 4);
    k.bindings[1].view.pitch = 4;
    refuse(k, "K: 'z' has 5 columns, but a pitch of 4");
    k = with(11, 5, 4, 4);
    k.bindings[1].view.pitch = k.bindings[1].view.size[1] = INT64_MAX / 2;
    refuse(k, "K: 'z' is larger than any memory");
    k = with(11, 1, 4, 4);
    k.given[0].value[1] = 1;
    refuse(k, "K: parameter 'n' is INT32; its value has an imaginary part");

    kit_ok(ctx, (k = with(0, 0, 0, 0), kernel_bind(&k))); /* nothing happens: nothing is out of range */
    kit_ok(ctx, atn_eval_check(ctx, k.graph, &k.frame));
    kernel_free(&k);
}

KIT_TEST(names) {
    kernel k = with(11, 1, 4, 4);
    kernel_vector(&k, "q", ATN_SP, room, 1);
    refuse(k, "K: no DataObject 'q'; there is x, z, y");
    k = with(11, 1, 4, 4);
    kernel_vector(&k, "x", ATN_SP, room, 1);
    refuse(k, "K: 'x' is bound twice");
    k = with(11, 1, 4, 4);
    kernel_param(&k, "m", 1);
    refuse(k, "K: no Parameter 'm'; there is n, s");
    k = with(11, 1, 4, 4);
    kernel_param(&k, "n", 1);
    refuse(k, "K: parameter 'n' is given twice");
    k = with(11, 1, 4, 4);
    k.n_given = 0;
    refuse(k, "K: parameter 'n' (INT32) has no default and must be given");
    k = kernel_parse(ctx,
                     "<ParallelAlgorithm name='K' dimensions='0'><DataObjects><DataObject name='t' structure='vector' "
                     "elementDataType='SP' values='1'/>"
                     "<DataObject name='y' structure='vector' elementDataType='SP'/></DataObjects><Children>" READ(
                         "r", "t", "0") WRITE("w", "y", "0") "</Children><Connections><Connection source='r.out' "
                                                             "destination='w.in'/></Connections></ParallelAlgorithm>");
    kernel_vector(&k, "t", ATN_SP, room, 1);
    refuse(k, "K: 't' is a constant table; nothing can be bound to it");
}

/* What is not affine over known ranges is guarded at run time, not refused; tables are checked like any object. */
KIT_TEST(computed_accesses) {
    kernel k = kernel_make(ctx, 1, "", "i=INT32:1 x=SP:1 y=SP:1",
                           READ("at", "i", "v0") READ("r", "x", "v0 + 1") WRITE("w", "y", "v0"),
                           "i.Size(0)>K.Range(0) K.i(0)>at.v(0) at.out>r.v(0) r.out>w.in K.i(0)>w.v(0)");
    kernel_vector(&k, "i", ATN_INT32, room, 5);
    kernel_vector(&k, "x", ATN_SP, room, 0);
    kernel_vector(&k, "y", ATN_SP, room, 5);
    kit_ok(ctx, kernel_bind(&k));
    kit_ok(ctx, atn_eval_check(ctx, k.graph, &k.frame));
    kernel_free(&k);

    k = kernel_make(
        ctx, 2, "", "x=SP:1 y=SP:2", READ("r", "x", "(v0 + 3 * v1) mod 7") WRITE("w", "y", "v1, v0"),
        "y.Size(1)>K.Range(0) y.Size(0)>K.Range(1) K.i(0)>r.v(0) K.i(1)>r.v(1) r.out>w.in K.i(0)>w.v(0) K.i(1)>w.v(1)");
    kernel_vector(&k, "x", ATN_SP, room, 6);
    kernel_matrix(&k, "y", ATN_SP, room, 2, 3, 2); /* v0 + 3 v1 is 5 at most: the modulus does not matter */
    kit_ok(ctx, kernel_bind(&k));
    kit_ok(ctx, atn_eval_check(ctx, k.graph, &k.frame));
    k.views[1].size[1] = 4;
    kit_fails(ctx, ATN_ERR_INPUT, "K: 'r' reads 'x' from 0 to 6 along axis 0; its Size(0) is 6",
              atn_eval_check(ctx, k.graph, &k.frame));
    kernel_free(&k);
}

KIT_TEST(reaches) {
    int64_t size[ATN_MAX_RANK];
    kernel k = kernel_make(ctx, 2, "", "x=SP:2 y=SP:2 z=SP:1 h=INT32:1",
                           READ("r", "x", "v0, v1") FUNCTION("one", "INT32", "1")
                               FUNCTION("bin", "INT32", "INT32(#in(0))") WRITE("w", "y", "2 * v1 + 1, v0")
                                   WRITE_COMBINE("v", "z", "v0 + 100 * v1", "max") WRITE_COMBINE("c", "h", "v0", "add"),
                           "x.Size(0)>K.Range(0) x.Size(1)>K.Range(1) K.i(0)>r.v(0) K.i(1)>r.v(1) r.out>w.in "
                           "r.out>v.in K.i(0)>w.v(0) K.i(1)>w.v(1) "
                           "K.i(0)>v.v(0) K.i(1)>v.v(1) r.out>bin.in(0) bin.out>c.v(0) one.out>c.in");
    kernel_matrix(&k, "x", ATN_SP, room, 5, 3, 5);
    kit_ok(ctx, kernel_bind(&k));
    kit_ok(ctx, atn_eval_reach(ctx, k.graph, &k.frame, 1, size));
    assert_true(size[0] == 6 && size[1] == 5);
    kit_ok(ctx, atn_eval_reach(ctx, k.graph, &k.frame, 2, size));
    assert_true(size[0] == 205 && size[1] == 1);
    kit_fails(ctx, ATN_ERR_INPUT, "K: the size of 'h' must be given: 'c' computes where it writes",
              atn_eval_reach(ctx, k.graph, &k.frame, 3, size));
    kit_fails(ctx, ATN_ERR_INPUT, "K: nothing is written to 'x'; bind an array to it",
              atn_eval_reach(ctx, k.graph, &k.frame, 0, size));
    int64_t range;
    kit_ok(ctx, atn_eval_index(ctx, k.graph, &k.frame, k.graph->dims[1].end, &range));
    assert_int_equal(range, 3);
    k.views[0].size[1] = 0;
    kit_ok(ctx, atn_eval_reach(ctx, k.graph, &k.frame, 1, size));
    assert_true(size[0] == 0 && size[1] == 5); /* along each axis by itself */
    kernel_free(&k);

    k = kernel_make(ctx, 1, "", "y=SP:1", FUNCTION("f", "SP", "1") WRITE("w", "y", "v0"),
                    "y.Size(0)>K.Range(0) f.out>w.in K.i(0)>w.v(0)");
    kit_ok(ctx, kernel_bind(&k));
    kit_fails(ctx, ATN_ERR_INPUT, "K: the size of 'y' must be given", atn_eval_reach(ctx, k.graph, &k.frame, 0, size));
    kernel_free(&k);
}

/* A range that is read from an object is known only where its elements are. */
KIT_TEST(elements_not_at_hand) {
    kernel k = kernel_make(ctx, 0, "", "n=INT32:1 y=INT32:1",
                           READ("r", "n", "0") ITERATOR("it", 1, "ICF='#acc(0) + #in(0)' ICFType='INDEX'",
                                                        FUNCTION("f", "INDEX", "#in(0)"))
                               FUNCTION("g", "INT32", "INT32(#in(0))") WRITE("w", "y", "0"),
                           "r.out>it.Range(0) it.i(0)>f.in(0) f.out>it.func(0) it.out>g.in(0) g.out>w.in");
    int32_t n[1] = {5}, y[1];
    int64_t range;
    kernel_vector(&k, "n", ATN_INT32, n, 1);
    kernel_vector(&k, "y", ATN_INT32, y, 1);
    kit_ok(ctx, kernel_eval(&k, NULL));
    assert_int_equal(y[0], 10);
    kit_ok(ctx, atn_eval_index(ctx, k.graph, &k.frame, k.graph->dims[0].end, &range));
    assert_int_equal(range, 5);
    k.views[0].data = NULL;
    kit_ok(ctx, atn_eval_check(ctx, k.graph, &k.frame)); /* sizes alone are asked about */
    kit_fails(ctx, ATN_ERR_INPUT, "K: 'r' reads 'n', whose elements are not available",
              atn_eval_index(ctx, k.graph, &k.frame, k.graph->dims[0].end, &range));
    kernel_free(&k);
}

/* Indices within 2^48, however they come about; and how large they are, for 32-bit addresses. */
KIT_TEST(spans) {
    float x[8] = {0};
    int64_t span;
    kernel k =
        kernel_make(ctx, 1, "", "x=SP:1 y=SP:1",
                    PARAMETER("p", "INDEX", "") READ_EDGE("r", "x", "3 * v0 - 5 + v1", "clamp") WRITE("w", "y", "v0"),
                    "y.Size(0)>K.Range(0) K.i(0)>r.v(0) p.out>r.v(1) r.out>w.in K.i(0)>w.v(0)");
    kernel_vector(&k, "x", ATN_SP, x, 8);
    kernel_vector(&k, "y", ATN_SP, x, 8);
    kernel_param(&k, "p", 1000);
    kit_ok(ctx, kernel_bind(&k));
    kit_ok(ctx, atn_eval_check(ctx, k.graph, &k.frame));
    kit_ok(ctx, atn_eval_span(ctx, k.graph, &k.frame, false, &span));
    assert_int_equal(span, 3 * 8 + 5 + 1000);
    k.params[0][0] = 0x1p48;
    kit_fails(ctx, ATN_ERR_INPUT, "K: its ranges or selectors go farther than 2^48",
              atn_eval_check(ctx, k.graph, &k.frame));
    k.params[0][0] = -0x1p63;
    kit_fails(ctx, ATN_ERR_INPUT, "farther than 2^48", atn_eval_check(ctx, k.graph, &k.frame));
    kernel_free(&k);
}

/* Every allocation of a check and a run may fail; nothing is lost, nothing half done. */
KIT_TEST(allocations_fail) {
    for (long n = 1;; ++n) {
        kit_faults faults = {0};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *own;
        assert_int_equal(atn_ctx_create(&options, &own), ATN_OK);
        kernel k = kernel_make(own, 1, "", "x=INT32:1 y=INT32:1", READ("r", "x", "v0") WRITE("w", "y", "v0"),
                               "x.Size(0)>K.Range(0) K.i(0)>r.v(0) K.i(0)>w.v(0) r.out>w.in");
        int32_t x[200], y[200];
        for (int i = 0; i < 200; ++i) x[i] = i, y[i] = -1;
        kernel_vector(&k, "x", ATN_INT32, x, 200);
        kernel_vector(&k, "y", ATN_INT32, y, 200);
        int64_t size[ATN_MAX_RANK], range;
        long before = faults.count;
        faults.fail_at = before + n;
        atn_status status = kernel_eval(&k, NULL);
        bool done = status == ATN_OK;
        for (int i = 0; i < 200; ++i) assert_int_equal(y[i], done ? i : -1);
        if (done) status = atn_eval_reach(own, k.graph, &k.frame, 1, size);
        if (status == ATN_OK) status = atn_eval_index(own, k.graph, &k.frame, k.graph->dims[0].end, &range);
        bool failed = faults.count >= before + n;
        assert_int_equal(status, failed ? ATN_ERR_MEMORY : ATN_OK);
        kernel_free(&k);
        atn_ctx_free(own);
        assert_int_equal(faults.live, 0);
        if (!failed) break;
    }
}

/* An array whose size is given is made so, and no other one is taken; not even its size is asked for. */
KIT_TEST(given_sizes) {
    static const char TEXT[] =
        "kernel K(image: matrix U8) -> add count: vector INT32[256]\n    count[image[y, x]] += 1\n";
    static uint8_t image[6] = {0, 255, 3, 3, 0, 3};
    static int32_t count[256];
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, "K", TEXT, strlen(TEXT), NULL, NULL, &sequence));
    const atn_graph *g = sequence->step[0];
    atn_view views[2] = {{.data = image, .type = ATN_U8, .rank = 2, .size = {3, 2}, .pitch = 3},
                         {.data = count, .type = ATN_INT32, .rank = 1, .size = {-1, -1}}};
    atn_bindings frame = {.views = views};
    kit_ok(ctx, atn_eval_reach(ctx, g, &frame, 1, views[1].size));
    assert_int_equal(views[1].size[0], 256);
    kit_ok(ctx, atn_eval_check(ctx, g, &frame));
    views[1].size[0] = 100;
    kit_fails(ctx, ATN_ERR_INPUT, "K: 'count' has 256 elements; an array with 100 was bound",
              atn_eval_check(ctx, g, &frame));
    atn_sequence_free(sequence);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_sizes),          cmocka_unit_test(refusals),         cmocka_unit_test(names),
        cmocka_unit_test(computed_accesses),    cmocka_unit_test(reaches),          cmocka_unit_test(spans),
        cmocka_unit_test(elements_not_at_hand), cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
