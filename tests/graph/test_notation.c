/* The notation: what each construct means, held against the XML that says the same; hostile files; failing memory. */
#include "graph/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const atn_define defines[] = {{"USED_FLOAT", "SP"}, {"N", "3"}, {"EDGE", "clamped"}};
static const atn_parse_options options = {.defines = defines, .n_defines = 3};

static atn_hash hash_of(atn_ctx *ctx, const char *what, const char *text) {
    atn_text lines = {.ctx = ctx};
    atn_diagnostics diagnostics = {.lines = &lines};
    atn_sequence *sequence;
    if (atn_sequence_parse(ctx, what, text, strlen(text), &options, &diagnostics, &sequence) != ATN_OK)
        fail_msg("%s\n%s", what, atn_text_str(&lines));
    atn_hash hash = sequence->step[sequence->count - 1]->hash;
    atn_sequence_free(sequence);
    atn_text_free(&lines);
    return hash;
}

/* Two ways to say one thing. */
static const struct {
    const char *what, *one, *other;
} equal[] = {
    {"a sum in place, and as a loop",
     "kernel k(A: matrix T, x: vector T) -> y: vector T\n    y[i] = sum(j) A[i, j] * x[j]\n",
     "kernel k(A: matrix T, x: vector T) -> y: vector T\n    for i in rows(A)\n        over j in columns(A)\n"
     "            s: T += A[i, j] * x[j]\n        y[i] = s\n"},
    {"an element that a loop sums",
     "kernel k(A: matrix T, x: vector T) -> y: vector T\n    y[i] = sum(j) A[i, j] * x[j]\n",
     "kernel k(A: matrix T, x: vector T) -> y: vector T\n    for i, over j in columns(A)\n        y[i] += A[i, j] * "
     "x[j]\n"},
    {"a whole space", "kernel k(x: vector T) -> r: vector T\n    r[0] = sqrt(sum(i) x[i]^2)\n",
     "kernel k(x: vector T) -> r: vector T\n    for i in x\n        s += x[i] * x[i]\n    r[0] = sqrt(s)\n"},
    {"a range that follows from i + 1",
     "kernel k(start: vector INT32, v: vector T) -> y: vector T\n    y[r] = sum(k in start[r] .. start[r + 1]) v[k]\n",
     "kernel k(start: vector INT32, v: vector T) -> y: vector T\n    for r in length(start) - 1\n"
     "        over k in start[r] .. start[r + 1]\n            y[r] += v[k]\n"},
    {"a range that follows from a window",
     "kernel k(x, w: vector T) -> y: vector T\n    y[i] = sum(k) x[i + k - 1] * w[k]  with x clamped\n",
     "kernel k(x, w: vector T) -> y: vector T\n    for i in x\n        over k in w\n"
     "            y[i] += x[i + k - 1] * w[k]  with x clamped\n"},
    {"a function, and its text",
     "function square(d: T) -> T = d * d\nkernel k(x: vector T) -> y: vector T\n    y[i] = square(x[i]) + 1\n",
     "kernel k(x: vector T) -> y: vector T\n    y[i] = x[i]^2 + 1\n"},
    {"a function of two results",
     "function both(a, b: T) -> s, d: T { s = a + b; d = a - b; }\n"
     "kernel k(x: vector T) -> y, z: vector T\n    s, d = both(x[i], 2)\n    y[i] = s\n    z[i] = d\n",
     "kernel k(x: vector T) -> y, z: vector T\n    y[i] = x[i] + 2\n    z[i] = x[i] - 2\n"},
    {"braces, and lines",
     "kernel k(x: vector T) -> y: vector T\n    a: T = {\n        auto t = fabs(x[i]);\n        if (t > 1) a = t; else "
     "a = 1;\n    }\n    y[i] = a\n",
     "kernel k(x: vector T) -> y: vector T\n    t = fabs(x[i])\n    y[i] = t > 1 ? t : 1\n"},
    {"a key and what follows it",
     "kernel k(A: matrix T) -> y: vector INT32\n    over j in columns(A)\n        m: T, at: INT32 max= A[i, j], "
     "INT32(j)\n    y[i] = at\n",
     "kernel k(A: matrix T) -> y: vector INT32\n    over j in columns(A)\n        carry m: T, at: INT32 { if (A[i, j] "
     "> m) { m = A[i, j]; at = INT32(j); } }\n    y[i] = at\n"},
    {"a key and what follows it, in elements",
     "kernel k(A: matrix T) -> s, m: vector T, y, z: vector INT32\n    over j in columns(A)\n        s[i] += A[i, j]\n"
     "        m[i], y[i], z[i] min= A[i, j], INT32(j), INT32(2 * j)\n",
     "kernel k(A: matrix T) -> s, m: vector T, y, z: vector INT32\n    over j in columns(A)\n        sum: T += A[i, "
     "j]\n"
     "        key: T, a: INT32, b: INT32 min= A[i, j], INT32(j), INT32(2 * j)\n"
     "    s[i] = sum\n    m[i] = key\n    y[i] = a\n    z[i] = b\n"},
    {"the same with first values",
     "kernel k(A: matrix T) -> m, y: vector T\n    over j in columns(A)\n"
     "        m[i], y[i] max= A[i, j], 2 * A[i, j] from -1, 0.5\n",
     "kernel k(A: matrix T) -> m, y: vector T\n    over j in columns(A)\n"
     "        key: T, a: T max= A[i, j], 2 * A[i, j] from -1, 0.5\n    m[i] = key\n    y[i] = a\n"},
    {"a constant with a name", "kernel k(x: vector T) -> y: vector T\n    half = 1 / 2\n    y[i] = half * x[i]\n",
     "kernel k(x: vector T) -> y: vector T\n    y[i] = 0.5 * x[i]\n"},
    {"long lines and comments",
     "# a comment\nkernel k(x: vector T, # one\n         z: vector T) -> y: vector T\n\n    y[i] = x[i] + # two\n      "
     "  z[i]\n",
     "kernel k(x, z: vector T) -> y: vector T\n  y[i]=x[i]+z[i]"},
    {"tabs", "kernel k(x: vector T) -> y: vector T\n\tfor i in x\n\t\ty[i]\t=\tx[i]\r\n",
     "kernel k(x: vector T) -> y: vector T\n    y[i] = x[i]\n"},
    {"defines", "kernel k(x: vector USED_FLOAT) -> y: vector T\n    y[i] = N * x[i + N]  with x EDGE\n",
     "kernel k(x: vector T) -> y: vector T\n    for i in x\n        y[i] = 3 * x[i + 3]  with x clamped\n"},
    {"out in front", "kernel k(x: vector T, out y: vector T, z: vector T)\n    y[i] = x[i] + z[i]\n",
     "<ParallelAlgorithm name=\"k\" dimensions=\"1\"><DataObjects>"
     "<DataObject name=\"x\" structure=\"vector\" elementDataType=\"SP\"/>"
     "<DataObject name=\"y\" structure=\"vector\" elementDataType=\"SP\"/>"
     "<DataObject name=\"z\" structure=\"vector\" elementDataType=\"SP\"/></DataObjects><Children>"
     "<DataAccessRead name=\"a\" source=\"x\" selFunction=\"v0\"/><DataAccessRead name=\"b\" source=\"z\" "
     "selFunction=\"v0\"/>"
     "<FunctionBlock name=\"f\" dataType=\"SP\" function=\"#in(0) + #in(1)\"/>"
     "<DataAccessWrite name=\"w\" destination=\"y\" selFunction=\"v0\"/></Children><Connections>"
     "<Connection source=\"x.Size(0)\" destination=\"k.Range(0)\"/><Connection source=\"k.i(0)\" "
     "destination=\"a.v(0)\"/>"
     "<Connection source=\"k.i(0)\" destination=\"b.v(0)\"/><Connection source=\"a.out\" destination=\"f.in(0)\"/>"
     "<Connection source=\"b.out\" destination=\"f.in(1)\"/><Connection source=\"f.out\" destination=\"w.in\"/>"
     "<Connection source=\"k.i(0)\" destination=\"w.v(0)\"/></Connections></ParallelAlgorithm>"},
    {"several in a line",
     "kernel k(A: matrix T) -> y, z: vector T\n    over j in columns(A)\n        a, b += A[i, j], A[i, j]^2\n    y[i], "
     "z[i] = a, b\n",
     "kernel k(A: matrix T) -> y, z: vector T\n    over j in columns(A)\n        a += A[i, j]\n        b += A[i, "
     "j]^2\n    y[i] = a\n    z[i] = b\n"},
    {"a function within braces",
     "function less(a: T) -> T = a / 2\nkernel k(x: vector T) -> y: vector T\n    r: T = { T d = x[i] + 1; d = "
     "less(d); r = less(less(d)); }\n    y[i] = r\n",
     "kernel k(x: vector T) -> y: vector T\n    y[i] = (x[i] + 1) / 2 / 2 / 2\n"},
    {"in place", "kernel k(inout x: vector T, s: T = 2)\n    x[i] *= s\n",
     "kernel k(inout x: vector T, s: T = 2)\n    x[i] = x[i] * s\n"},
};

KIT_TEST(two_ways) {
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof equal / sizeof *equal; ++k) {
        atn_hash one = hash_of(ctx, equal[k].what, equal[k].one), other = hash_of(ctx, equal[k].what, equal[k].other);
        if (memcmp(&one, &other, sizeof one) != 0) fail_msg("%s: the graphs differ", equal[k].what);
    }
    kit_free(ctx);
}

/* What can grow in a file, too large. */
/* As people write them: what the notation was made for. */
KIT_TEST(plain_kernels) {
    static const char *const TEXTS[] = {
        "kernel gemv(A: matrix T, x: vector T) -> y: vector T\n    y[i] = sum(j) A[i, j] * x[j]\n",
        "kernel laplace2d(A: matrix T) -> B: matrix T\n"
        "    B[y, x] = A[y-1, x] + A[y+1, x] + A[y, x-1] + A[y, x+1] - 4 * A[y, x]      with A clamped\n",
        "# Sums over all target points x of a and a x, a = w exp(-|x - y|^2 / sigma^2).\n"
        "kernel estep(yx, yy, yz, xx, xy, xz, xw: vector T) -> sum, sum_x, sum_y, sum_z: vector sum(T)\n"
        "    for i, over j in xx\n"
        "        a = exp2(xw[j] - (xx[j] - yx[i])^2 - (xy[j] - yy[i])^2 - (xz[j] - yz[i])^2)\n"
        "        sum[i]   += a\n"
        "        sum_x[i] += a * xx[j]\n"
        "        sum_y[i] += a * xy[j]\n"
        "        sum_z[i] += a * xz[j]\n",
        "kernel spmv(start, column: vector INT32, element, x: vector T) -> y: vector T\n"
        "    y[r] = sum(k in start[r] .. start[r+1]) element[k] * x[column[k]]\n",
        "kernel redblack(inout u: matrix T, f: matrix T, colour: INT32)\n"
        "    u[y, x] = (u[y-1, x] + u[y+1, x] + u[y, x-1] + u[y, x+1] - f[y, x]) / 4    with u clamped, where (x + y + "
        "colour) mod 2 == 0\n",
        "kernel histogram(image: matrix U8) -> add count: vector INT32[256]\n    count[image[y, x]] += 1\n"};
    for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; ++k) description_expect(TEXTS[k], TEXTS[k], &options, "");
}

KIT_TEST(limits) {
    enum { LARGE = 5 << 20 };
    char *text = malloc(LARGE + 64);
    assert_non_null(text);
    memset(text, ' ', LARGE);
    memcpy(text, "kernel", 6);
    text[LARGE] = '\0';
    description_expect("size", text, &options, "1:1: the description has 5242880 bytes; at most 4194304 are read");
    size_t n = (size_t)sprintf(text, "kernel k(x: vector T) -> y: vector T\n");
    for (int k = 0; k < 20000; ++k) n += (size_t)sprintf(text + n, "  a%d = x[i]\n", k);
    description_expect("lines", text, &options, "10001:3: more than 10000 lines");
    n = (size_t)sprintf(text, "kernel k(x: vector T) -> y: vector T\n    y[i] = ");
    for (int k = 0; k < 100000; ++k) text[n++] = '(';
    text[n] = '\0';
    description_expect("parentheses", text, &options, "2:112: 'k': nested deeper than 200");
    n = (size_t)sprintf(text, "kernel k(x: vector T) -> y: vector T\n");
    for (int k = 0; k < 40; ++k) n += (size_t)sprintf(text + n, "%*sover j%d in x\n", 2 * k + 2, "", k);
    description_expect("loops", text, &options, "17:33: 'k': nested deeper than 16");
    n = (size_t)sprintf(text, "function f0(a) = a + a\n");
    for (int k = 1; k < 15; ++k)
        n += (size_t)sprintf(text + n, "function f%d(a) = f%d(f%d(a)) + f%d(a + 1)\n", k, k - 1, k - 1, k - 1);
    sprintf(text + n, "kernel k(x: vector T) -> y: vector T\n    y[i] = f14(x[i])\n");
    description_expect("functions", text, &options, "16:8: 'k': the kernel unfolds into more than 10000 objects");
    n = (size_t)sprintf(text, "kernel k(x: vector T) -> y: vector T\n    y[i] = ");
    for (int k = 0; k < 60; ++k) text[n++] = '(';
    n += (size_t)sprintf(text + n, "x[i]");
    for (int k = 0; k < 60; ++k) n += (size_t)sprintf(text + n, "^16)");
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence;
    kit_fails(ctx, ATN_ERR_INPUT, "unfolds into more than",
              atn_sequence_parse(ctx, "k", text, strlen(text), &options, NULL, &sequence));
    kit_free(ctx);
    free(text);
}

KIT_TEST(zero_byte) {
    static const char text[] = "kernel k(x: vector T) -> y: vector T\n    y[i] = \0 x[i]\n";
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence;
    kit_fails(ctx, ATN_ERR_INPUT, "k:2:12: a zero byte",
              atn_sequence_parse(ctx, "k", text, sizeof text - 1, &options, NULL, &sequence));
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_ways), cmocka_unit_test(plain_kernels),
                                       cmocka_unit_test(limits), cmocka_unit_test(zero_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
