/* attune check, show --plan and run on programs of kernels: what they print, every example of the manual against the
 * oracle, notes, wrong calls. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"
#include "num/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 16 };

static void put(const char *name, const char *text, size_t length) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state) {
    cli_begin(state);
    float x[N], none[N];
    for (int k = 0; k < N; ++k) x[k] = (float)(k % 5) + 1, none[k] = NAN;
    cli_save("x.npy", ATN_SP, 1, N, 1, x);
    cli_save("nan.npy", ATN_SP, 1, N, 1, none);
    return 0;
}

/* ---- the manual ---- */

static void same(const char *what, const char *a, const char *b) {
    atn_npy one = cli_load(a), two = cli_load(b);
    assert_int_equal(one.type, two.type);
    assert_int_equal(one.dims, two.dims);
    size_t n = 1;
    for (int d = 0; d < one.dims; ++d) {
        assert_int_equal(one.shape[d], two.shape[d]);
        n *= (size_t)one.shape[d];
    }
    for (size_t k = 0; k < n; ++k) {
        double left = one.type == ATN_SP ? (double)((float *)one.data)[k] : ((int32_t *)one.data)[k];
        double right = two.type == ATN_SP ? (double)((float *)two.data)[k] : ((int32_t *)two.data)[k];
        if (!(fabs(left - right) <= 1e-5 * (1 + fabs(right))))
            fail_msg("%s: element %zu is %g, the oracle says %g", what, k, left, right);
    }
    atn_npy_free(&one);
    atn_npy_free(&two);
}

/* Every result of the program's head, on the device and by the oracle. */
static void agree(const char *name, const char *results, const char *options) {
    char line[1024], words[128];
    for (int oracle = 0; oracle < 2; ++oracle) {
        size_t at = (size_t)snprintf(line, sizeof line, "run @/p.atn --device host --bind x=@/x.npy %s", options);
        snprintf(words, sizeof words, "%s", results);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
            at += (size_t)snprintf(line + at, sizeof line - at, " --out %s=@/%s%d.npy", word, word, oracle);
        cli_does(strcat(line, oracle ? " --oracle" : ""), oracle ? "variant oracle" : " s on ");
    }
    snprintf(words, sizeof words, "%s", results);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char one[160], two[160];
        snprintf(one, sizeof one, "%s0.npy", word);
        snprintf(two, sizeof two, "%s1.npy", word);
        same(name, one, two);
    }
}

/* Names of the results, behind "->" of the head. */
static void results_of(const char *text, char *out, size_t bytes) {
    const char *at = strstr(text, "->"), *end = at + strcspn(at, "\n");
    size_t n = 0;
    bool type = false;
    for (at += 2; at < end && n + 2 < bytes; ++at) {
        if (*at == ':') type = true;
        if (*at == ',') type = false;
        if (!type) out[n++] = *at == ',' ? ' ' : *at;
    }
    out[n] = '\0';
}

KIT_TEST(manual) {
    char *text, *file;
    size_t length;
    kit_ok(cli_ctx, atn_file_read(cli_ctx, ATN_SOURCE_DIR "/docs/programs.md", 1 << 20, &text, &length));
    const char *first = strstr(text, "```atn\n") + 7, *end = strstr(first, "```");
    put("cg.atn", first, (size_t)(end - first));
    cli_does("check @/cg.atn", "ok");
    const char *kernels = strstr(end + 3, "```atn\n") + 7;
    size_t shared = (size_t)(strstr(kernels, "```") - kernels);
    int count = 0;
    for (const char *at = kernels; (at = strstr(at, "```program\n")); ++count) {
        at += 11;
        size_t own = (size_t)(strstr(at, "```") - at);
        char results[128];
        assert_non_null(file = malloc(shared + own + 2));
        memcpy(file, kernels, shared);
        file[shared] = '\n';
        memcpy(file + shared + 1, at, own);
        put("p.atn", file, shared + own + 1);
        free(file);
        results_of(at, results, sizeof results);
        print_message("    %.*s\n", (int)strcspn(at, "\n"), at);
        cli_does("check @/p.atn", "ok");
        /* the ends of what `inside` makes are anything: they are looked at by nobody */
        if (!strstr(at, "temporaries")) agree(at, results, strstr(at, "n: INT32") ? "--param n=2" : "");
    }
    assert_int_equal(count, 7);
    atn_free(cli_ctx, text);
}

/* What may stand in arithmetic on single values, against numbers worked out by hand: x is 1 2 3 4 5 1 2 ... */
KIT_TEST(single_values) {
    static const char text[] = "kernel total(x: vector T) -> s: vector T\n    s[0] = sum(i) x[i]\n"
                               "program p(x: vector T, n: INT32 = 4) -> a, b, c, d, e: T\n"
                               "    a = x[2] + 1\n    b = sqrt(x[n - 1])^2 + a^3\n    c = max(x[1], a) > 3 ? 1 : 2\n"
                               "    d = total(x) / length(x)\n    e = 1.0 / length(x)\n";
    static const double right[] = {4, 68, 1, 46.0 / 16, 1.0 / 16};
    put("p.atn", text, strlen(text));
    agree("single values", "a b c d e", "");
    for (int k = 0; k < 5; ++k) {
        char name[] = "a0.npy";
        name[0] = (char)('a' + k);
        atn_npy npy = cli_load(name);
        double got = (double)((float *)npy.data)[0];
        if (!(fabs(got - right[k]) <= 1e-5 * right[k])) fail_msg("%s is %g, %g is right", name, got, right[k]);
        atn_npy_free(&npy);
    }
}

/* ---- what is printed ---- */

#define CG    ATN_SOURCE_DIR "/examples/13_program/cg.atn"
#define SIZES " --size b=20x30 --size x=20x30 "

KIT_TEST(plans) {
    cli_does("show " CG " --plan --device host" SIZES, "r = subtract(x, b)    with apply\n");
    cli_does("show " CG " --plan --device host" SIZES, "loop, at most 1000 times, counted in rounds\n");
    cli_does("show " CG " --plan --device host --param most=7" SIZES, "loop, at most 7 times");
    cli_result r = cli_run("show " CG " --plan --passes --device host" SIZES);
    const char *at = r.out;
    static const char *const passes[] = {"==== expand ====", "x takes x_1",        "==== fuse ====",  "with apply",
                                         "==== settle ====", "==== schedule ====", "==== place ====", "of the arena"};
    for (size_t k = 0; k < sizeof passes / sizeof *passes; ++k) {
        const char *next = strstr(at, passes[k]);
        if (!next)
            fail_msg("no '%s' in its place:\n%s", passes[k], r.out);
        else
            at = next;
    }
    cli_drop(&r);
    json_t *root = cli_object("show " CG " --plan --passes --json --device host" SIZES);
    assert_string_equal(json_string_value(json_object_get(root, "program")), "solve");
    assert_int_equal(json_array_size(json_object_get(root, "passes")), 6);
    assert_true(json_integer_value(json_object_get(root, "arena_bytes")) > 20 * 30 * 4);
    assert_true(json_is_true(json_object_get(json_array_get(json_object_get(root, "seams"), 0), "fused")));
    json_decref(root);
    cli_does("show " CG " --dialect cuda" SIZES, "/* ======== add_scaled ======== */");       /* the steps' source */
    cli_does("show $/mv.xml --plan --device host --size A=3x4 --size b=4", "c = MV(A, b)\n"); /* a kernel */
    cli_does("check " CG " --device host" SIZES, "ok");
    static const char both[] = "sequence both\nkernel one(x: vector T) -> t: vector T\n    t[i] = 2 * x[i]\n"
                               "kernel two(t: vector T) -> y: vector T\n    y[i] = 3 * t[i]\n";
    put("both.atn", both, strlen(both));
    cli_does("show @/both.atn --plan --device host --size x=5", "y = two(");
}

KIT_TEST(notes) {
    static const char loop[] =
        "kernel total(x: vector T) -> s: vector T\n    s[0] = sum(i) x[i]\n"
        "kernel add(x: vector T) -> y: vector T\n    y[i] = x[i] + 1\n"
        "program p(x: vector T, n: INT32 = 3) -> y: vector T, rounds: INT32\n"
        "    y = add(x)\n    while total(y) > 0, at most n, counted in rounds\n        y = add(y)\n";
    put("p.atn", loop, strlen(loop));
    for (int oracle = 0; oracle < 2; ++oracle) {
        char line[256];
        snprintf(line, sizeof line, "run @/p.atn --device host --bind x=@/x.npy --out y=@/y.npy %s",
                 oracle ? "--oracle" : "");
        cli_result r = cli_run(line); /* nobody asks for the rounds, which are counted all the same */
        assert_int_equal(r.code, 0);
        assert_string_equal(r.err, "attune run: the loop was left after 3 rounds, as many as it may take\n");
        cli_drop(&r);
        r = cli_run("run @/p.atn --device host --bind x=@/nan.npy --json --out rounds=@/n.npy");
        assert_int_equal(r.code, 0);
        assert_non_null(strstr(r.err, "at a value that is not a number"));
        assert_non_null(strstr(r.out, "\"note\": \"the loop ended after 0 rounds at a value that is not a number\""));
        cli_drop(&r);
    }
    atn_npy n = cli_load("n.npy");
    assert_int_equal(((int32_t *)n.data)[0], 0);
    atn_npy_free(&n);
    json_t *root = cli_object("run " CG " --device host --json --bind b=@/zero.npy --bind "
                              "x=@/zero.npy --explain");
    assert_true(json_is_null(json_object_get(root, "note")));
    assert_non_null(strstr(json_string_value(json_object_get(root, "explanation")), "program solve"));
    json_decref(root);
}

static int zero(void **state) {
    (void)state;
    float zeros[6] = {0};
    cli_save("zero.npy", ATN_SP, 2, 3, 2, zeros);
    return 0;
}

/* ---- what is refused ---- */

KIT_TEST(errors) {
    static const char wrong[] = "kernel twice(x: vector T) -> y: vector T\n"
                                "    y[i] = 2 * x[i] + z\n"
                                "kernel halve(x: vector T) -> y: vector T\n"
                                "    y[i] = x[i] / 2\n"
                                "program p(x: vector T, n: INT32) -> y: vector T\n"
                                "    a = twice(x)\n"
                                "    b = halve(a)\n" /* not told: a has no value for want of twice */
                                "    c = halfe(x)\n"
                                "    x = halve(x)\n"
                                "    e: T = 1 + sum(i) x[i]\n"
                                "    repeat x\n"
                                "        d = halve(x)\n"
                                "    y = halve(d, c)\n";
    put("wrong.atn", wrong, strlen(wrong));
    cli_result r = cli_run("check @/wrong.atn");
    static const char *const told[] = {"wrong.atn:2:", "wrong.atn:8:9: 'p': no kernel or program 'halfe'",
                                       "wrong.atn:9:5", "wrong.atn:10:16", "wrong.atn:11:"};
    assert_int_equal(r.code, 1);
    for (size_t k = 0; k < sizeof told / sizeof *told; ++k)
        if (!strstr(r.out, told[k])) fail_msg("no '%s' in:\n%s", told[k], r.out);
    assert_int_equal(cli_lines(r.out), 5);
    cli_drop(&r);
    static const char endless[] = "program p(x: vector T) -> y: vector T\n    y = p(x)\n";
    put("endless.atn", endless, strlen(endless));
    static const cli_refusal cases[] = {
        {"run " CG " --device host", 1, "nothing is bound to 'b', a matrix of SP: --bind b=FILE.npy"},
        {"run " CG " --device host --bind c=@/x.npy", 1, "solve: no array 'c'; there is b, x, rounds"},
        {"run " CG " --device host --bind b=@/x.npy", 1, "'b' is a matrix of SP"},
        {"run " CG " --device host --out b=@/never.npy", 1, "'b' is only read"},
        {"run " CG " --device host --param tolerence=1", 1, "no parameter 'tolerence'; there is tolerance, most"},
        {"run " CG " --device host --param most=many", 2, "'many' is not a number"},
        {"run @/endless.atn --device host --bind x=@/x.npy", 1, "still calls itself"},
        {"show " CG " --plan --device host", 1, "--size b=ROWSxCOLUMNS"},
        {"show " CG " --plan --device host --size b=3", 2, "takes b=ROWSxCOLUMNS"},
        {"show " CG " --as xml", 1, "a program has one form"},
        {"show " CG " --plan --device host --param most=-1" SIZES, 1, "at most -1 rounds"},
        {"check " CG " --size b=3x4 --size x=3x5", 1, "Size(0)"},
        {"tune " CG " --device host --size b=4x4", 1, "its plan depends on the size of 'x', a matrix of SP"},
    };
    cli_refuses_all(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(manual), cmocka_unit_test(single_values),
                                       cmocka_unit_test(plans), cmocka_unit_test_setup(notes, zero),
                                       cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, begin, cli_end);
}
