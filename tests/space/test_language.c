/* LANAI: what each construct means, and the sentence for each mistake. */
#include "spacekit.h"

#include <string.h>

static const struct {
    const char *text;
    uint64_t count;
} COUNTS[] = {
    {"", 1},
    {"# nothing but a comment", 1},
    {"x = (1, 2, 3)", 3},
    {"x = [1, 2, 3]\ny = ('a', \"b\")\n", 6},
    {"x = 1, 2, 3\n", 3},
    {"x = ()\ny = (1, 2)", 0},
    {"x = (1)\ny = (x, 2)", 2}, /* x is a constant */
    {"x = range(5)", 5},
    {"x = range(1, 1024+1)\ny = range(0, 2**16+1, 2**10)", 1024 * 65},
    {"x = range(10, 0, -3)", 4},
    {"x = range(0, 0)", 0},
    {"x = divisors(36)", 9},
    {"x = divisors(97)", 2},
    {"x = pow2(1, 64)", 7},
    {"x = pow2(3, 20)", 3},
    {"x = pow2(1, 64) if 2 > 1 else (1,)", 7},
    {"x = (False, True)\ny = (0.5, 1e3, .25)", 6},
    {"x = (1,\n     2,   # inside parentheses\n\n     3)\n", 3},
    {"x = (1, \\\n 2)\r\ny = (0x10, 0b11, 0o7, 1_000)", 8},
    {"\xef\xbb\xbfx = (1, 2)", 2},
    {"'''a file may\nbegin so'''\nx = ('a' 'b', \"it's\", 'tab\\t')", 3},
    /* conditions prune, requirements keep */
    {"x = range(10)\n@condition\ndef c(x):\n    return x > 2\n", 3},
    {"x = range(10)\n@require\ndef c(x):\n    return x > 2\n", 7},
    {"x = range(10)\n@require\ndef c(x): return 2 < x <= 5 != 3", 3},
    {"x = range(10)\n@require\ndef c(x):\n\tif x < 3:\n\t\treturn True\n\telif x == 7:\n\t\treturn "
     "1\n\telse:\n\t\tpass\n\treturn 0",
     4},
    {"x = range(10)\n@require\ndef c(x):\n    '''why'''\n    t = x * 2\n    t += 1\n    return t in (3, 5, 99)", 2},
    {"x = range(10)\n@require\ndef c(x):\n    return x not in (3, 5) and not x == 1 or x == 5", 8},
    {"x = range(10)\n@require\ndef c(x):\n    return x in range(1, 9, 3)", 3},
    {"x = range(10)\n@require\ndef c(x):\n    return x % 2", 5},
    {"x = ('a', 'b', '')\n@require\ndef c(x):\n    return x", 2},
    {"x = ('a', 'b', 'c')\n@require\ndef c(x):\n    return x >= 'b'", 2},
    {"x = (1, 'a', 2.5)\n@require\ndef c(x):\n    return x != 'a'", 2},
    {"x = range(8)\nlimit = 3 * 2\n@require\ndef c(x):\n    return x < limit", 6},
    {"x = range(4)\ny = range(4)\ns = x + y\n@require\ndef c(s):\n    return s == 3", 4},
    {"x = range(4)\ny = range(4)\n@require\ndef c(x):\n    return x == y", 4}, /* y need not be an argument */
    /* Python's signs */
    {"x = range(-7, 8)\n@require\ndef c(x):\n    return x // 2 == -2", 2},
    {"x = range(-7, 8)\n@require\ndef c(x):\n    return x % 3 == 2 and x % -3 == -1", 5},
    {"x = (0.5, 1.5, -0.5)\n@require\ndef c(x):\n    return x % 1 == 0.5 and x // 1 <= 0", 2},
    {"x = (1, 2, 4)\n@require\ndef c(x):\n    return x / 2 == 0.5", 1},
    {"x = (1, 2, 4)\n@require\ndef c(x):\n    return 2 ** -x == 0.25 and -x ** 2 == -4", 1},
    {"x = range(1, 100)\n@require\ndef c(x):\n    return x & (x - 1) == 0", 7},
    {"x = range(1, 9)\n@require\ndef c(x):\n    return log2(x) == floor(log2(x))", 4},
    {"x = range(1, 9)\n@require\ndef c(x):\n    return min(x, 3) == max(2, x) or abs(-x) == ceil(7.5)", 3},
    /* iterators */
    {"x = range(1, 5)\n@iterator\ndef y(x):\n    return range(x)", 10},
    {"@iterator\ndef y(x):\n    return range(x)\nx = range(1, 5)\n", 10},
    {"x = (4, 6)\ny = divisors(x)", 7},
    {"x = (4, 6)\n@iterator\ndef y(x):\n    if x > 5:\n        return (1, 'a')\n    return 7", 3},
    {"x = range(3)\ny = range(x)\nz = range(y)", 1},
    {"x = range(4)\ny = (x, 3, x)", 7}, /* lists are sets */
    {"x = range(6)\ny = range(x)\n@require\ndef c(x, y):\n    return (x + y) % 2 == 0", 6},
    /* a constraint without a choice */
    {"x = range(3)\nn = 4\n@require\ndef c():\n    return n > 3", 3},
    {"x = range(3)\nn = 4\n@require\ndef c():\n    return n > 4", 0},
    {"x = range(3)\none = (1,)\n@condition\ndef c(one):\n    return one == 1", 0},
    /* what a build tells does not count */
    {"x = range(3)\n@condition(stage=\"build\")\ndef c(registers, x):\n    return registers > x", 3},
    /* guards */
    {"x = range(0, 7)\n@require\ndef c(x):\n    return x != 0 and 12 % x == 0", 5},
    {"x = range(0, 7)\ny = range(0, 3)\n@require\ndef c(x, y):\n    return x > y and 12 % (x - y) == 0", 13},
};

KIT_TEST(meanings) {
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; ++k) {
        atn_space *space = space_of(ctx, COUNTS[k].text);
        uint64_t count = space_count(ctx, space);
        int64_t brute = space_brute(ctx, space);
        if (count != COUNTS[k].count || brute != (int64_t)count)
            fail_msg("%llu, by trying %lld, wanted %llu:\n%s", (unsigned long long)count, (long long)brute,
                     (unsigned long long)COUNTS[k].count, COUNTS[k].text);
        atn_space_free(space);
    }
    kit_free(ctx);
}

static const struct {
    const char *text, *message;
} MISTAKES[] = {
    {"x = (1, 2", "t.lanai:1:10: a parenthesis is not closed"},
    {"x = (1 2)", "t.lanai:1:8: ',' or ')' is missing before '2'"},
    {"x = ", "t.lanai:1:5: a value is missing; found the end of the line"},
    {"x = 1 +", "t.lanai:1:8: a value is missing; found the end of the line"},
    {"x 1", "t.lanai:1:3: '=' is missing after the name; found '1'"},
    {"x = 1 2", "t.lanai:1:7: the line should end before '2'"},
    {"x = 'abc", "t.lanai:1:5: the string has no end; ' is missing"},
    {"x = 12abc", "t.lanai:1:5: '12a' is not a number"},
    {"x = 9223372036854775808", "t.lanai:1:5: the number does not fit into 64 bits"},
    {"x = 1e999", "t.lanai:1:5: the number is too large or too long"},
    {"x = $", "t.lanai:1:5: '$' means nothing here"},
    {"x = (1, 2)\n  y = 3", "t.lanai:2:3: this line is indented, but in no function"},
    {"for x in y: pass", "t.lanai:1:1: an assignment, an import or a function is expected; found 'for'"},
    {"def f(x): return 1", "t.lanai:1:1: a function needs @iterator, @condition or @require in front of it"},
    {"@conditon\ndef f(): return 1", "t.lanai:1:2: there is no decorator 'conditon'; did you mean 'condition'?"},
    {"@condition\nx = 1", "t.lanai:2:1: 'def' is missing after @condition"},
    {"@condition(stage='run')\ndef f(): return 1",
     "t.lanai:1:18: the only stage is \"build\", for conditions and requirements"},
    {"@condition\ndef f(x y): return 1", "t.lanai:2:9: ',' is missing between arguments; found 'y'"},
    {"x = (1,)\n@condition\ndef f(x, x): return 1", "t.lanai:3:10: duplicate argument 'x'"},
    {"@condition\ndef f():\nreturn 1", "t.lanai:3:1: indented lines are missing; found 'return'"},
    {"@condition\ndef f():\n    return 1\n  x = 1", "t.lanai:4:3: this line is indented like none before it"},
    {"@condition\ndef f():\n    while 1: pass",
     "t.lanai:3:5: an assignment, 'if' or 'return' is expected; found 'while'"},
    {"x = (1,)\n@condition\ndef f(x):\n    x = 2\n    return x",
     "t.lanai:4:5: 'x' is an argument and keeps its value; take another name"},
    {"x = 1\nx = 2", "t.lanai:2:1: 'x' is already defined in line 1"},
    {"x = (1, 2)\nx = (3, 4)", "t.lanai:2:1: 'x' is already defined in line 1"},
    {"x = (1, 2)\nx = range(3)", "t.lanai:2:1: 'x' is already defined in line 1"},
    {"x = (1, 2)\n@condition\ndef x(): return 1", "t.lanai:3:5: 'x' is already defined in line 1"},
    {"max = 3", "t.lanai:1:1: 'max' is a function; take another name"},
    {"x = y + 1\ny = 2", "t.lanai:1:5: 'y' is used before it is set in line 2"},
    {"block = (1, 2)\nx = blok * 2", "t.lanai:2:5: there is no 'blok'; did you mean 'block'?"},
    {"tile = (1, 2)\n@require\ndef c(tyle): return 1", "t.lanai:3:7: there is no 'tyle'; did you mean 'tile'?"},
    {"x = rnage(1, 2)", "t.lanai:1:5: there is no function 'rnage'; did you mean 'range'?"},
    {"x = range()", "t.lanai:1:5: range takes 1 to 3 arguments, not 0"},
    {"x = divisors(1, 2)", "t.lanai:1:5: divisors takes 1 argument, not 2"},
    {"x = divisors(0)", "t.lanai:1:5: divisors takes numbers above zero"},
    {"x = range(1, 2, 0)", "t.lanai:1:5: range with a step of zero"},
    {"x = range(0.5)", "t.lanai:1:5: range takes whole numbers"},
    {"x = ((1, 2), 3)", "t.lanai:1:5: a list cannot hold a list"},
    {"x = 1 // 0", "t.lanai:1:7: division by zero"},
    {"x = 2 ** 63", "t.lanai:1:7: the result does not fit into 64 bits"},
    {"x = 'a' + 1", "t.lanai:1:9: arithmetic takes numbers"},
    {"x = 'a' < 1", "t.lanai:1:9: a number and a text have no order"},
    {"x = 1 in 2", "t.lanai:1:7: 'in' takes a list: x in (1, 2, 4)"},
    {"x = 1 is 1", "t.lanai:1:7: 'is' is not a part of LANAI; use '=='"},
    {"x = device.cores", "t.lanai:1:5: 'device' is not imported; 'import device' comes first"},
    {"import device\nx = device.cores", "t.lanai:2:5: 'device' is unknown here; give device.cores a value"},
    {"import device\nx = device", "t.lanai:2:5: 'device' is a module; use device.name"},
    {"@condition\ndef f(): return 1\nx = f", "t.lanai:3:5: 'f' is a constraint and has no value"},
    {"@condition\ndef f(registers): return registers > 3", "t.lanai:2:7: there is no 'registers'"},
    {"@condition\ndef f(): return registers > 3",
     "t.lanai:2:17: 'registers' is known only after a build; @condition(stage=\"build\") may use it"},
    {"@iterator\ndef a(b): return range(b)\n@iterator\ndef b(a): return range(a)",
     "t.lanai:2:5: 'a' depends on itself: a, b, a"},
    {"@iterator\ndef a(): return range(a)", "t.lanai:2:5: 'a' depends on itself: a, a"},
    {"x = range(5000000)", "t.lanai:1:1: the parameters have more than 4194304 values"},
    {"x = range(2000)\ny = range(2000)\nz = range(x, y)",
     "t.lanai:3:1: the iterator 'z' depends on more than 1048576 combinations of values"},
};

KIT_TEST(mistakes) {
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof MISTAKES / sizeof *MISTAKES; ++k) {
        atn_space *space;
        const char *text = MISTAKES[k].text;
        atn_status status = atn_space_parse(ctx, "t.lanai", text, strlen(text), NULL, 0, &space);
        if (status != ATN_ERR_INPUT || strcmp(atn_ctx_message(ctx), MISTAKES[k].message) != 0)
            fail_msg("%s\nsays \"%s\", wanted \"%s\"", text, status ? atn_ctx_message(ctx) : "ok", MISTAKES[k].message);
        assert_null(space);
    }
    kit_free(ctx);
}

/* Mistakes that only show at a point. */
static const struct {
    const char *text, *message;
} FAILURES[] = {
    {"x = range(3)\n@require\ndef c(x):\n    return 6 % x == 0",
     "t.lanai:4:14: division by zero in the requirement 'c' at x=0"},
    {"x = range(3)\ny = ('a', 'b')\n@condition\ndef c(x, y):\n    return y == 'b' and 1 / x > 0",
     "t.lanai:5:27: division by zero in the condition 'c' at x=0, y=b"},
    {"x = (2**40, 2**50)\n@require\ndef c(x):\n    return x * x > 0",
     "t.lanai:4:14: the result does not fit into 64 bits in the requirement 'c' at x=1099511627776"},
    {"x = range(3)\n@iterator\ndef y(x):\n    return range(6 // x)",
     "t.lanai:4:20: division by zero in the iterator 'y' at x=0"},
    {"x = range(3)\n@require\ndef c(x):\n    if x > 1:\n        return 1",
     "t.lanai:3:5: it ends without a return in the requirement 'c' at x=0"},
    {"x = range(3)\n@require\ndef c(x):\n    if x > 1:\n        t = 1\n    return t",
     "t.lanai:6:12: a variable is used before it is set in the requirement 'c' at x=0"},
    {"n = 0\n@require\ndef c():\n    return 1 % n", "t.lanai:4:14: division by zero in the requirement 'c'"},
};

KIT_TEST(failures) {
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof FAILURES / sizeof *FAILURES; ++k)
        for (int engine = ATN_SPACE_AUTO; engine <= ATN_SPACE_NATIVE; ++engine) {
            atn_space *space = space_of(ctx, FAILURES[k].text);
            atn_count count;
            atn_space_use(space, (atn_space_engine)engine);
            assert_int_equal(atn_space_count(ctx, space, &count), ATN_ERR_INPUT);
            assert_string_equal(atn_ctx_message(ctx), FAILURES[k].message);
            atn_space_free(space);
        }
    kit_free(ctx);
}

/* Nested too deep, too long, too many: refused, not crashed on. */
KIT_TEST(limits) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    atn_space *space;
    static const char *const OPEN[] = {"(", "-", "not ", "[", "1 if 1 else ", "2 ** "};
    for (size_t k = 0; k < sizeof OPEN / sizeof *OPEN; ++k) {
        atn_text_clear(&text);
        atn_text_add(&text, "x = ");
        for (int n = 0; n < 100000; ++n) atn_text_add(&text, OPEN[k]);
        kit_fails(ctx, ATN_ERR_INPUT, "nested", atn_space_parse(ctx, "t", text.data, text.length, NULL, 0, &space));
    }
    atn_text_clear(&text);
    atn_text_add(&text, "x = 1");
    for (int n = 0; n < 1000; ++n) atn_text_add(&text, " + 1");
    kit_fails(ctx, ATN_ERR_INPUT, "nested more than 200 deep",
              atn_space_parse(ctx, "t", text.data, text.length, NULL, 0, &space));
    atn_text_clear(&text);
    for (int n = 0; n < 1025; ++n) atn_text_printf(&text, "x%d = (1, 2)\n", n);
    kit_fails(ctx, ATN_ERR_INPUT, "t:1025:1: a space has at most 1024 parameters",
              atn_space_parse(ctx, "t", text.data, text.length, NULL, 0, &space));
    atn_text_clear(&text);
    atn_text_add(&text, "p = (1, 2)\nx0 = p\n");
    for (int n = 1; n < 90; ++n) atn_text_printf(&text, "x%d = x%d + x%d\n", n, n - 1, n - 1);
    atn_text_add(&text, "@require\ndef c(x40): return x40 > 0\n@require\ndef d(x89): return x89 > 0");
    kit_ok(ctx, atn_space_parse(ctx, "t", text.data, text.length, NULL, 0, &space));
    atn_count count; /* x89 is 2^89 p: each derived value is computed once, and the overflow is seen */
    kit_fails(ctx, ATN_ERR_INPUT, "does not fit into 64 bits", atn_space_count(ctx, space, &count));
    atn_space_free(space);
    atn_text_free(&text);
    kit_free(ctx);
}

KIT_TEST(given) {
    atn_ctx *ctx = kit_ctx();
    const atn_given GIVEN[] = {
        {"device", "cores", {.kind = ATN_SETTING_WHOLE, .whole = 4, .number = 4}},
        {"device", "name", {.kind = ATN_SETTING_TEXT, .text = "fast"}},
        {"kernel", "points", {.kind = ATN_SETTING_WHOLE, .whole = 2, .number = 2}},
    };
    static const char TEXT[] = "import device\nimport kernel\n"
                               "threads = range(1, device.cores + 1)\n"
                               "x = pow2(1, 64) if kernel.points > 1 else (1,)\n"
                               "@require\ndef c(x):\n    return device.name == 'fast' and x < 8\n";
    atn_space *space, *other;
    kit_ok(ctx, atn_space_parse(ctx, "t", TEXT, strlen(TEXT), GIVEN, 3, &space));
    assert_true(space_count(ctx, space) == 12);
    static const char WRONG[] = "import device\nx = device.core\n";
    kit_fails(ctx, ATN_ERR_INPUT, "t:2:5: 'device' has no 'core'; did you mean 'cores'?",
              atn_space_parse(ctx, "t", WRONG, strlen(WRONG), GIVEN, 3, &other));
    /* the hash is that of the meaning */
    static const char SAME[] =
        "import device, kernel\nthreads = range(1,  4 + 1) # four\nx = (1, 2, 4, 8, 16, 32, 64)\n\n"
        "@require\ndef c(x): return 'fast' == 'fast' and x < 4 * 2\n";
    static const char SAME2[] = "threads = [1, 2, 3, 4]\nx = pow2(1, 64)\n@require\ndef other(x):\n"
                                "    return 'fast' == 'fast' and x < 4 * 2\n";
    kit_ok(ctx, atn_space_parse(ctx, "u", SAME, strlen(SAME), NULL, 0, &other));
    atn_space *third = space_of(ctx, SAME2);
    atn_hash a = atn_space_hash(other), b = atn_space_hash(third), c = atn_space_hash(space);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.low != c.low || a.high != c.high);
    atn_space_free(third);
    atn_space_free(other);
    atn_space_free(space);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meanings), cmocka_unit_test(mistakes), cmocka_unit_test(failures),
        cmocka_unit_test(limits),   cmocka_unit_test(given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
