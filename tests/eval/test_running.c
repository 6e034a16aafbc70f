/* Running values of the oracle: before and after each step, of every join, at every point and along everything. */
#include "testkit.h"

#include "eval/eval.h"

#include <string.h>

enum { N = 6 };

static const int32_t X[N] = {3, -1, 4, 1, -5, 9};

static void expect(const char *text, const int32_t *right, int64_t count) {
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, "k.atn", text, strlen(text), NULL, NULL, &sequence));
    const atn_graph *g = sequence->step[0];
    int32_t in[N], out[N];
    memcpy(in, X, sizeof in);
    memset(out, 0x55, sizeof out);
    bool matrix = g->objects[0].rank == 2;
    atn_view views[2] = {{.data = in, .type = ATN_INT32, .rank = 1, .size = {N, 1}, .pitch = N},
                         {.data = out, .type = ATN_INT32, .rank = 1, .size = {N, 1}, .pitch = N}};
    for (int k = 0; k < 2 && matrix; ++k)
        views[k] = (atn_view){.data = k ? out : in, .type = ATN_INT32, .rank = 2, .size = {N / 2, 2}, .pitch = N / 2};
    atn_bindings frame = {.views = views};
    int64_t bad = 0;
    kit_ok(ctx, atn_eval(ctx, g, &frame, &bad));
    assert_int_equal(bad, 0);
    for (int64_t k = 0; k < count; ++k)
        if (out[k] != right[k]) fail_msg("%s: element %lld is %d, not %d", text, (long long)k, out[k], right[k]);
    atn_sequence_free(sequence);
    kit_free(ctx);
}

#define VECTOR "kernel k(x: vector INT32) -> y: vector INT32\n"
#define MATRIX "kernel k(x: matrix INT32) -> y: matrix INT32\n"

KIT_TEST(sums) {
    expect(VECTOR "    s += x[i]\n    y[i] = s\n", (const int32_t[]){3, 2, 6, 7, 2, 11}, N);
    expect(VECTOR "    y[i] = s\n    s += x[i] from 10\n", (const int32_t[]){10, 13, 12, 16, 17, 12}, N);
    expect(VECTOR "    s += x[i]\n    y[i] = s - before(s)\n", X, N);
    expect(VECTOR "    for i in x\n        m = s\n        s += x[i]\n        y[i] = m + s\n",
           (const int32_t[]){3, 5, 8, 13, 9, 13}, N);
}

KIT_TEST(other_joins) {
    expect(VECTOR "    s max= x[i]\n    y[i] = s\n", (const int32_t[]){3, 3, 4, 4, 4, 9}, N);
    expect(VECTOR "    y[i] = s\n    s min= x[i] from 2\n", (const int32_t[]){2, 2, -1, -1, -1, -5}, N);
    expect(VECTOR "    best, at max= x[i], INT32(i)\n    y[i] = at\n", (const int32_t[]){0, 0, 2, 2, 2, 5}, N);
    expect(VECTOR "    for i in x\n        carry s: INT32 = 1 { s = 2 * s + x[i]; }\n        y[i] = s\n",
           (const int32_t[]){5, 9, 22, 45, 85, 179}, N);
}

KIT_TEST(in_rows) {
    expect(MATRIX
           "    for r in rows(x)\n        over c in columns(x)\n            s += x[r, c]\n            y[r, c] = s\n",
           (const int32_t[]){3, 2, 6, 1, -4, 5}, N);
    expect(MATRIX "    for r, c in x\n        y[r, c] = s\n        s += x[r, c]\n", (const int32_t[]){0, 3, 2, 6, 7, 2},
           N);
    /* the result of the loop is asked for as well */
    expect(MATRIX "    for r in rows(x)\n        over c in 2\n            s += x[r, c]\n            y[r, c] = s\n"
                  "        y[r, 2] = s\n",
           (const int32_t[]){3, 2, 2, 1, -4, -4}, N);
}

KIT_TEST(compaction) {
    expect("kernel k(x: vector INT32) -> distinct y: vector INT32\n    for i in x\n"
           "        y[n] = x[i]  where x[i] > 0\n        n += INT32(x[i] > 0)\n",
           (const int32_t[]){3, 4, 1, 9}, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(other_joins), cmocka_unit_test(in_rows),
                                       cmocka_unit_test(compaction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
