/* Every rule of programs, broken: with the exact place and line, all errors of a file at once. */
#include "testkit.h"

#include "graph/routine.h"

#include <string.h>

typedef struct row {
    const char *what, *text, *expected;
} row;

#define K                                                                                                              \
    "kernel one(x: vector SP) -> y: vector SP\n    y[i] = x[i]\n"                                                      \
    "kernel two(x: vector SP, A: matrix SP, s: SP = 2) -> y, z: vector SP\n    y[i], z[i] = s * x[i], A[i, 0]\n"       \
    "kernel change(inout u: vector SP, c: vector SP)\n    u[i] = c[i]\n"                                               \
    "kernel total(x: vector SP) -> s: vector SP\n    s[0] = sum(i) x[i]\n" /* 8 lines */
#define P "program p(x: vector SP, inout u: vector SP, A: matrix SP, w: SP) -> r: vector SP\n"
#define R "    r = one(x)\n"

static const row lines[] = {
    {"right", K P R, ""},
    {"no step", K P "    r\n", "10:6: 'p': expected a step here: a = kernel(b, c), kernel(a), repeat, while or if"},
    {"one too many", K P R "    r = one(x) 2\n", "11:16: 'p': unexpected '2'"},
    {"a loop without a bound", K P R "    while total(r) > w\n        r = one(r)\n",
     "11:5: 'p': may never end; say how many rounds it may take: while ..., at most 100"},
    {"a bound that is none", K P R "    while total(r) > w, at must 3\n        r = one(r)\n",
     "11:28: 'p': unexpected 'must'; expected 'most'"},
    {"counted", K P R "    while total(r) > w, at most 3, counted on n\n        r = one(r)\n",
     "11:44: 'p': unexpected 'on'; expected 'in'"},
    {"a size is missing", K P R "    t: vector SP\n    t = one(x)\n", "11:17: 'p': the text ends; expected '['"},
    {"else alone", K P R "    else\n        r = one(x)\n", "11:5: 'p': 'else' without 'if'"},
    {"no result", K P "    u = one(x)\n", "9:9: 'r': no step gives it a value"},
    {"a result in one branch", K P "    if total(x) > w\n        r = one(x)\n", "9:9: 'r': no step gives it a value"},
    {"a result of a loop that may not run", K P "    while total(x) > w, at most 3\n        r = one(x)\n",
     "9:9: 'r': no step gives it a value"},
};

static const row names[] = {
    {"unknown", K P "    r = one(xx)\n", "10:13: 'xx': no name 'xx'; did you mean 'x'?"},
    {"no kernel", K P "    r = onee(x)\n", "10:9: 'p': no kernel or program 'onee'; did you mean 'one'?"},
    {"no kernel, alone", K P R "    chang(u, x)\n", "11:5: 'p': no kernel or program 'chang'; did you mean 'change'?"},
    {"no value yet", K P "    r = one(t)\n    t = one(x)\n", "10:13: 't': no name 't'"},
    {"declared, but without a value", K P "    t: vector SP[3]\n    r = one(t)\n", "11:13: 't': has no value yet"},
    {"a result read", K P "    u = one(r)\n" R, "10:13: 'r': has no value yet"},
    {"the counter within its loop",
     K P R "    while total(r) > w, at most 3, counted in n\n        r = one(r)\n        m = n\n",
     "13:13: 'n': has no value yet"},
    {"the counter as its condition",
     K P R "    n: INT32 = 0\n    while n < 3, at most 3, counted in n\n        r = one(r)\n",
     "12:11: 'n': has no value yet"},
    {"an input written", K P R "    x = one(u)\n", "11:5: 'x': comes in and is not written; say inout x"},
    {"an input changed", K P R "    change(x, u)\n", "11:12: 'x': comes in, but 'change' writes it; say inout x"},
    {"a scalar set", K P R "    w = 2\n", "11:5: 'w': is given by the caller and cannot be set"},
    {"declared twice", K P R "    u: vector SP[3]\n", "11:5: 'u': the name is taken already"},
    {"a name of the head twice", K "program p(x: vector SP, x: matrix SP) -> r: vector SP\n" R,
     "9:25: 'x': the name is taken already"},
    {"a table", K "program p(x: vector SP = [1, 2]) -> r: vector SP\n" R,
     "9:11: 'x': a program has no tables; they are a kernel's"},
    {"a default", K "program p(x: vector SP, w: SP = two) -> r: vector SP\n" R,
     "9:25: 'w': the default 'two' is not of type SP"},
    {"the name of a type", "kernel half(x: vector SP) -> y: vector SP\n    y[i] = x[i]\n" K P R,
     "1:8: 'half': is a type; what programs call needs another name"},
    {"the name of a kernel", K "program one(x: vector SP) -> r: vector SP\n" R,
     "9:9: 'one': the name is taken already"},
};

static const row calls[] = {
    {"too few", K P "    r = one()\n", "10:9: 'one': takes 1 value, not 0"},
    {"too many", K P "    r = one(x, x)\n", "10:9: 'one': takes 1 value, not 2"},
    {"a default may be left out", K P "    r, t = two(x, A)\n", ""},
    {"one result of two", K P "    r = two(x, A)\n", "10:9: 'two': gives 2 results, where 1 is taken"},
    {"two results of one", K P "    r, t = one(x)\n", "10:12: 'one': gives 1 result, where 2 are taken"},
    {"no result is taken", K P R "    one(x)\n", "11:5: 'one': gives 1 result, where 0 are taken"},
    {"a matrix for a vector", K P "    r = one(A)\n",
     "10:13: 'one': 'A' is a matrix of SP; expected a vector of SP for 'x'"},
    {"another type", K P R "    n: INT32 = 3\n    r = one(n)\n",
     "12:13: 'one': 'n' is a vector of INT32; expected a vector of SP for 'x'"},
    {"a result of another kind", K P R "    n: INT32 = 3\n    n = one(x)\n",
     "12:5: 'n': is a vector of INT32; what it takes here is a vector of SP"},
    {"a number for a vector", K P "    r = one(2)\n", "10:13: 'one': 'x' is a vector; expected the name of one here"},
    {"a matrix for a scalar", K P "    r, t = two(x, A, A)\n",
     "10:22: 'two': 'A' is a matrix of SP; expected one value of SP for 's'"},
    {"an array of two data that are written", K P R "    change(u, u)\n",
     "11:5: 'u': stands for 'u' and 'c' of 'change', which writes it; each needs an array of its own"},
    {"one name for two results", K P "    r, r = two(x, A)\n",
     "10:12: 'r': stands for 'y' and 'z' of 'two', which writes it; each needs an array of its own"},
    {"a changed array is a name", K P R "    change(one(x), x)\n",
     "11:12: 'change': 'u' is a vector; expected the name of one here"},
};

static const row numbers[] = {
    {"a count from data", K P R "    repeat total(x)\n        r = one(r)\n",
     "11:12: 'p': how often it is repeated must be known before the run; use while"},
    {"a condition that stays", K P R "    while w > 2, at most 3\n        r = one(r)\n",
     "11:13: 'p': the condition never changes: no step makes a part of it"},
    {"a size of a scalar", K P R "    t: vector SP[length(w)]\n", "11:25: 'w': is a scalar, which has no length"},
    {"rows of a vector", K P R "    t: vector SP[rows(x)]\n", "11:23: 'x': is a vector, which has no rows"},
    {"a size of two", K P R "    t: vector SP[length(x, u)]\n", "11:18: 'length': asks for the size of one array"},
    {"a size from data", K P R "    t: vector SP[x[0]]\n", "11:18: 'p': cannot be known before the run"},
    {"a size from nowhere", K P R "    t: vector SP[two(x)]\n", "11:18: 'p': no kernel or program 'two'"},
    {"a matrix as a value", K P R "    t = A + 1\n",
     "11:11: 'A': is a matrix; arithmetic in a program is on single values, kernels compute arrays"},
    {"a matrix copied", K P R "    t = A\n", "11:5: 't': takes a whole matrix; call a kernel that copies it"},
    {"no type", K P R "    t = 2\n", "11:9: 'p': needs a type: alpha: T = ..."},
    {"two names, one value", K P R "    t, s = 2 * w\n", "11:5: 'p': expected one name before =, or a call after it"},
    {"a narrower value", K P R "    n: INT32 = 2.5 * total(x)\n",
     "11:20: 'p': SP is not converted to INT32 implicitly; write INT32(...)"},
};

static const row several[] = {
    {"one in each line", K P "    r = one(xx)\n    u = on(x)\n    w = 2\n    repeat total(x)\n        r = one(u)\n",
     "10:13: 'xx': no name 'xx'; did you mean 'x'?\n11:9: 'p': no kernel or program 'on'; did you mean 'one'?\n"
     "12:5: 'w': is given by the caller and cannot be set\n"
     "13:12: 'p': how often it is repeated must be known before the run; use while"},
    {"lines that cannot be read come first", K P "    r = one(xx)\n    repeat\n        r = one(u)\n    u = = 2\n",
     "11:11: 'p': the text ends; expected a value\n13:9: 'p': unexpected '='; expected a value"},
    {"in a kernel, and in two programs",
     "kernel one(x: vector SP) -> y: vector SP\n    y[i] = zz[i]\n"
     "program a(x: vector SP) -> r: vector SP\n    r = on(x)\n"
     "program b(x: vector SP) -> r: vector SP\n    r = a(x, x)\n",
     "2:12: 'zz': no array 'zz'\n4:9: 'a': no kernel or program 'on'; did you mean 'one'?\n"
     "6:9: 'a': takes 1 value, not 2"},
};

static void check(const row *rows, size_t count) {
    int wrong = 0;
    for (size_t k = 0; k < count; ++k) {
        atn_ctx *ctx = kit_ctx();
        size_t before = atn_ctx_bytes(ctx);
        atn_text got = {.ctx = ctx}, wanted = {.ctx = ctx};
        atn_diagnostics diagnostics = {.lines = &got};
        atn_programs *programs;
        atn_status status =
            atn_programs_parse(ctx, "p.atn", rows[k].text, strlen(rows[k].text), NULL, &diagnostics, &programs);
        for (const char *line = rows[k].expected; *line;) {
            size_t length = strcspn(line, "\n");
            atn_text_printf(&wanted, "p.atn:%.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
        if (strcmp(atn_text_str(&got), atn_text_str(&wanted)) != 0) {
            print_message("%s: got\n%swanted\n%s", rows[k].what, atn_text_str(&got), atn_text_str(&wanted));
            ++wrong;
        }
        if (!wrong) {
            assert_int_equal(status, *rows[k].expected ? ATN_ERR_INPUT : ATN_OK);
            assert_int_equal(programs != NULL, status == ATN_OK);
        }
        atn_programs_free(programs);
        atn_text_free(&got);
        atn_text_free(&wanted);
        assert_int_equal(atn_ctx_bytes(ctx), before);
        kit_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

#define CHECKED(rows)                                                                                                  \
    static void check_##rows(void **state) {                                                                           \
        (void)state;                                                                                                   \
        check(rows, sizeof(rows) / sizeof *(rows));                                                                    \
    }
CHECKED(lines)
CHECKED(names)
CHECKED(calls)
CHECKED(numbers)
CHECKED(several)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_lines),   cmocka_unit_test(check_names),   cmocka_unit_test(check_calls),
        cmocka_unit_test(check_numbers), cmocka_unit_test(check_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
