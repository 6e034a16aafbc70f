/* What a space can be asked: counts beyond 64 bits, points by name, draws that are uniform, reasons, built constraints,
 * T1 files, the shipped example, many threads, and every allocation failing once. */
#include "spacekit.h"

#include "space/device_given.h"
#include "space/shipped.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw_bits(void *user) { return kit_random(user); }

/* ---- the public spaces, smaller and typed anew ---- */

static const char GEMM[] = "MWG = (16, 32, 64)\nNWG = (16, 32)\nKWG = (16, 32)\nMDIMC = (8, 16)\nNDIMC = (8, 16)\n"
                           "MDIMA = (8, 16)\nVWM = (1, 2, 4)\nVWN = (1, 2)\nSA = (0, 1)\n"
                           "@require\ndef m(MWG, MDIMC, VWM): return MWG % (MDIMC * VWM) == 0\n"
                           "@require\ndef n(NWG, NDIMC, VWN): return NWG % (NDIMC * VWN) == 0\n"
                           "@require\ndef a(KWG, MDIMC, NDIMC, MDIMA): return KWG % ((MDIMC * NDIMC) / MDIMA) == 0\n"
                           "@condition\ndef r(MWG, NWG, MDIMC): return MWG == 64 and NWG == 32 and MDIMC == 8\n";

KIT_TEST(engines_agree) {
    atn_ctx *ctx = kit_ctx();
    uint64_t counts[3];
    for (int engine = ATN_SPACE_AUTO; engine <= ATN_SPACE_NATIVE; ++engine) {
        atn_space *space = space_of(ctx, GEMM);
        atn_space_use(space, (atn_space_engine)engine);
        counts[engine] = space_count(ctx, space);
        assert_int_equal(atn_space_count_native(space), engine == ATN_SPACE_NATIVE ? 1 : 0);
        if (engine == ATN_SPACE_AUTO) assert_true((int64_t)counts[0] == space_brute(ctx, space));
        atn_space_free(space);
    }
    assert_true(counts[0] == counts[1] && counts[1] == counts[2]);
    kit_free(ctx);
}

/* Large enough that the interpreter gives up and code is built; without a compiler it goes on. */
KIT_TEST(goes_native) {
    static const char TEXT[] = "a = range(1, 200)\nb = range(1, 200)\nc = range(1, 100)\n"
                               "@require\ndef f(a, b, c): return (a * b + c) % 7 == 0 and a * b * c <= 100000\n";
    uint64_t counts[2];
    for (int with = 0; with < 2; ++with) {
        char *cache = kit_tempdir();
        atn_ctx_settings options = {.cache_dir = cache, .compiler = with ? NULL : "/nonexistent/cc"};
        atn_ctx *ctx;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        atn_space *space = space_of(ctx, TEXT);
        counts[with] = space_count(ctx, space);
        assert_int_equal(atn_space_count_native(space), with);
        int32_t levels[3];
        uint64_t rank;
        kit_ok(ctx, atn_space_unrank(ctx, space, counts[with] / 3, levels));
        kit_ok(ctx, atn_space_rank(ctx, space, levels, &rank));
        assert_true(rank == counts[with] / 3);
        atn_space_free(space);
        atn_ctx_free(ctx);
        kit_remove(cache);
    }
    assert_true(counts[0] == counts[1] && counts[0] > 0);
}

KIT_TEST(beyond_64_bits) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    for (int k = 0; k < 12; ++k) atn_text_printf(&text, "p%d = range(1000)\n", k);
    atn_space *space = space_of(ctx, text.data);
    atn_count count;
    kit_ok(ctx, atn_space_count(ctx, space, &count));
    assert_string_equal(count.digits, "1000000000000000000000000000000000000");
    assert_false(count.fits);
    assert_true(count.number == 1e36);
    atn_space_free(space);
    /* one component: how often is p0 < p1 < ... < p9 of 40? 40 choose 10 */
    atn_text_clear(&text);
    for (int k = 0; k < 10; ++k) atn_text_printf(&text, "p%d = range(40)\n", k);
    for (int k = 1; k < 10; ++k)
        atn_text_printf(&text, "@require\ndef c%d(p%d, p%d): return p%d < p%d\n", k, k - 1, k, k - 1, k);
    space = space_of(ctx, text.data);
    assert_true(space_count(ctx, space) == 847660528);
    int32_t levels[10];
    uint64_t rank;
    kit_ok(ctx, atn_space_unrank(ctx, space, 847660527, levels));
    assert_int_equal(levels[0], 30);
    kit_ok(ctx, atn_space_rank(ctx, space, levels, &rank));
    assert_true(rank == 847660527);
    atn_space_free(space);
    atn_text_clear(&text);
    for (int k = 0; k < 16; ++k)
        atn_text_printf(&text, "p%d = range(100000)\n", k); /* 10^80, drawn from all the same */
    space = space_of(ctx, text.data);
    uint64_t state_of = 7;
    int32_t many[16];
    kit_ok(ctx, atn_space_draw(ctx, space, draw_bits, &state_of, many));
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "the point's number is beyond 2^64", atn_space_rank(ctx, space, many, &rank));
    atn_space_free(space);
    atn_text_free(&text);
    kit_free(ctx);
}

/* ---- drawing ---- */

/* Chi-square with n - 1 degrees of freedom: mean n - 1, deviation sqrt(2 (n - 1)); five deviations are allowed. */
KIT_TEST(draws_uniformly) {
    atn_ctx *ctx = kit_ctx();
    static const char TEXT[] = "x = range(1, 9)\ny = range(x)\nz = (0, 1, 2)\n"
                               "@require\ndef c(x, y): return (x + y) % 3 != 0\n";
    atn_space *space = space_of(ctx, TEXT);
    uint64_t n = space_count(ctx, space), seed = 12345;
    enum { EACH = 200, MOST = 128 };
    int hits[MOST] = {0};
    assert_true(n > 20 && n < MOST);
    for (uint64_t k = 0; k < n * EACH; ++k) {
        int32_t levels[3];
        uint64_t rank;
        kit_ok(ctx, atn_space_draw(ctx, space, draw_bits, &seed, levels));
        kit_ok(ctx, atn_space_rank(ctx, space, levels, &rank));
        ++hits[rank];
    }
    double chi = 0, freedom = (double)n - 1;
    for (uint64_t k = 0; k < n; ++k) chi += (hits[k] - EACH) * (double)(hits[k] - EACH) / EACH;
    if ((chi - freedom) * (chi - freedom) > 25 * 2 * freedom) fail_msg("chi-square %g, %g expected", chi, freedom);
    atn_space_free(space);
    space = space_of(ctx, "x = range(3)\n@condition\ndef c(x): return x >= 0\n");
    int32_t levels[1];
    kit_fails(ctx, ATN_ERR_INPUT, "t.lanai: the space is empty: no point is allowed",
              atn_space_draw(ctx, space, draw_bits, &seed, levels));
    atn_space_free(space);
    kit_free(ctx);
}

static bool never(void *user, const int32_t *levels) {
    (void)levels;
    ++*(int *)user;
    return false;
}

static bool cancel(void *user, const int32_t *levels) {
    (void)levels;
    atn_ctx_cancel(user);
    return true; /* heard at the latest when the innermost parameter has had all its values */
}

KIT_TEST(listing_stops) {
    atn_ctx *ctx = kit_ctx();
    atn_space *space = space_of(ctx, "x = range(1000)\ny = range(1000)\nz = range(1000)\nw = range(1000)\n");
    int visits = 0;
    kit_ok(ctx, atn_space_list(ctx, space, never, &visits));
    assert_int_equal(visits, 1);
    assert_int_equal(atn_space_list(ctx, space, cancel, ctx), ATN_ERR_CANCELLED);
    atn_space_free(space);
    kit_free(ctx);
}

/* ---- points ---- */

static bool stop_at_three(void *user, const int32_t *levels) {
    (void)levels;
    return ++*(int *)user < 3;
}

/* What is said before a list begins costs next to nothing, and so do its first points. */
KIT_TEST(counted_soon) {
    static const struct {
        const char *text, *digits;
        bool exact;
    } cases[] = {
        {"x = range(10)\n@require\ndef f(x): return x > 3", "6", true},
        {"x = range(1000000)\ny = range(1000000)\nz = range(1000)", "1000000000000000", true},
        {"x = range(1000000)\ny = range(1000000)\nz = range(1000)\n@require\ndef f(x, y, z): return x * y != z + 1",
         "1000000000000000", false},
        {"x = range(1000000)\ny = range(1000000)\nz = (1, 2)\n@require\ndef f(x, y): return x * y >= 0\n"
         "@require\ndef g(z): return z > 2",
         "0", true},
        {"x = range(3)\n@require\ndef f(): return False", "0", true},
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        atn_space *space = space_of(ctx, cases[k].text);
        atn_count count;
        bool exact;
        int seen = 0;
        kit_ok(ctx, atn_space_count_soon(ctx, space, &count, &exact));
        assert_string_equal(count.digits, cases[k].digits);
        assert_int_equal(exact, cases[k].exact);
        kit_ok(ctx, atn_space_list(ctx, space, stop_at_three, &seen));
        assert_int_equal(seen, count.number > 3 ? 3 : 0);
        atn_space_free(space);
    }
    atn_text text = {.ctx = ctx};
    for (int k = 0; k < 700; ++k) atn_text_printf(&text, "x%d = (0, 1)\n", k);
    atn_space *space;
    atn_count count;
    bool exact;
    kit_ok(ctx, atn_space_parse(ctx, "t", text.data, text.length, NULL, 0, &space));
    kit_ok(ctx, atn_space_count_soon(ctx, space, &count, &exact));
    assert_string_equal(count.digits, "10^189 or more");
    assert_true(isinf(count.number));
    atn_space_free(space);
    atn_text_free(&text);
    kit_free(ctx);
}

KIT_TEST(points) {
    atn_ctx *ctx = kit_ctx();
    atn_space *space =
        space_of(ctx, "size = (1, 2, 4)\nhow = ('a', 'b,c')\nfast = (False, True)\nf = (0.5, 2.0)\none = (7,)\n"
                      "@condition\ndef large(size, fast): return size > 2 and fast\n"
                      "@require\ndef odd(size): return 4 % size == 0\n");
    int32_t levels[5];
    const char *by;
    atn_text text = {.ctx = ctx};
    kit_ok(ctx, atn_space_point(ctx, space, "fast=True,size=4,how=b,c,f=2.0,one=7", levels));
    atn_space_print(space, levels, &text);
    assert_string_equal(text.data, "size=4,how=b,c,fast=True,f=2.0,one=7");
    assert_false(atn_space_allows(space, levels, &by));
    assert_string_equal(by, "large");
    kit_ok(ctx, atn_space_point(ctx, space, "fast=False,size=4,how=a,f=0.5", levels)); /* one has no choice */
    assert_true(atn_space_allows(space, levels, &by));
    assert_null(by);
    static const char *const WRONG[][2] = {
        {"siz=4", "t.lanai: there is no parameter 'siz'; did you mean 'size'?"},
        {"size=3", "t.lanai: 'size' cannot be '3'; it is one of 1, 2, 4"},
        {"size=4,size=4", "t.lanai: 'size' is given twice"},
        {"size=4", "t.lanai: the point has no value for 'how'"},
        {"size", "'size' is not a name=value"},
    };
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k)
        kit_fails(ctx, ATN_ERR_INPUT, WRONG[k][1], atn_space_point(ctx, space, WRONG[k][0], levels));
    atn_text_free(&text);
    atn_space_free(space);
    kit_free(ctx);
}

KIT_TEST(built) {
    atn_ctx *ctx = kit_ctx();
    atn_space *space = space_of(ctx, "x = (32, 64)\n"
                                     "@condition(stage=\"build\")\ndef spills(registers): return registers > 128\n"
                                     "@require(stage=\"build\")\ndef busy(occupancy, x): return occupancy * x >= 16\n");
    const int32_t levels[1] = {0};
    atn_given given[] = {{NULL, "registers", {.kind = ATN_SETTING_WHOLE, .whole = 200, .number = 200}},
                         {NULL, "occupancy", {.kind = ATN_SETTING_REAL, .number = 0.5}}};
    const char *by;
    assert_true(atn_space_constraint_is_built(space, 0));
    assert_false(atn_space_allows_built(space, levels, given, 2, &by));
    assert_string_equal(by, "spills");
    given[0].value.whole = 100;
    assert_true(atn_space_allows_built(space, levels, given, 2, &by));
    assert_true(atn_space_allows_built(space, levels, NULL, 0, &by)); /* nothing is known, so nothing is excluded */
    given[1].value.number = 0.25;
    assert_false(atn_space_allows_built(space, levels, given, 2, &by));
    assert_string_equal(by, "busy");
    atn_prune rows[2];
    kit_ok(ctx, atn_space_prune_report(ctx, space, rows));
    assert_true(rows[0].alone.whole == 0 && rows[1].only.whole == 0);
    atn_space_free(space);
    kit_free(ctx);
}

/* ---- other tuners' files ---- */

static const char T1[] = "{\"General\": {}, \"ConfigurationSpace\": {\"TuningParameters\": ["
                         "{\"Name\": \"bx\", \"Type\": \"int\", \"Values\": \"[1, 2, 4, 8]\", \"Default\": 1},"
                         "{\"Name\": \"by\", \"Type\": \"int\", \"Values\": [1, 2, 3]},"
                         "{\"Name\": \"how\", \"Type\": \"string\", \"Values\": \"['a', 'b']\"}],"
                         "\"Conditions\": [{\"Expression\": \"bx * by <= 8\", \"Parameters\": [\"bx\", \"by\"]},"
                         "{\"Expression\": \"how == 'a' or bx > 1\", \"Parameters\": [\"how\", \"bx\"]}]}}";

/* Lists as the public hub's descriptions write them, in the words of Python. */
KIT_TEST(t1_lists) {
    static const struct {
        const char *values;
        int levels;
        int64_t first, last;
    } GOOD[] = {
        {"list(range(1, 11))", 10, 1, 10},
        {"[32*i for i in range(1, 33)]", 32, 32, 1024},
        {"[1, 2, 4, 8, 16] + [32*i for i in range(1, 33)]", 37, 1, 1024},
        {"[2**i for i in range(6)]", 6, 1, 32},
        {"[i for i in range(1, 11) if 60 % i == 0]", 7, 1, 10},
        {"[i * j for i in [max(k for k in range(3))] if i]", 0, 0, 0},
        {"list(i + 1 for i in [j * j for j in range(4)])", 4, 1, 10},
        {"[x for x in range(3)] + list(range(5, 7))", 5, 0, 6},
        {"[1 if i < 2 else i for i in range(4)]", 3, 1, 3},
    };
    static const char *const BAD[][2] = {
        {"[i for i in 5]", "takes a list"},
        {"[i for j in range(3)]", "there is no 'i'"},
        {"[i for 3 in range(3)]", "a name is missing after 'for'"},
        {"[i for i of range(3)]", "'in' is missing"},
        {"[i for i in range(3) for j in range(3)]", "one 'for' and at most one 'if'"},
        {"[i for i in range(100000)]", "too many values"},
        {"range(9000) + range(9000)", "too many values"},
        {"[range(i) for i in range(3)]", "a list cannot hold a list"},
        {"list(3)", "it takes a list"},
        {"[i / 0 for i in range(3)]", "zero"},
    };
    atn_ctx *ctx = kit_ctx();
    atn_space *space;
    char text[400];
    for (size_t k = 0; k < sizeof GOOD / sizeof *GOOD; ++k) {
        snprintf(text, sizeof text,
                 "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Values\": \"%s\"}]}}",
                 GOOD[k].values);
        if (GOOD[k].levels == 0) { /* j is nobody's */
            kit_fails(ctx, ATN_ERR_INPUT, "there is no 'j'", atn_space_parse_t1(ctx, "t", text, strlen(text), &space));
            continue;
        }
        kit_ok(ctx, atn_space_parse_t1(ctx, "t", text, strlen(text), &space));
        assert_int_equal(atn_space_levels(space, 0), GOOD[k].levels);
        assert_int_equal(atn_space_setting(space, 0, 0)->whole, GOOD[k].first);
        assert_int_equal(atn_space_setting(space, 0, GOOD[k].levels - 1)->whole, GOOD[k].last);
        atn_space_free(space);
    }
    for (size_t k = 0; k < sizeof BAD / sizeof *BAD; ++k) {
        snprintf(text, sizeof text,
                 "{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Values\": \"%s\"}]}}",
                 BAD[k][0]);
        kit_fails(ctx, ATN_ERR_INPUT, BAD[k][1], atn_space_parse_t1(ctx, "t", text, strlen(text), &space));
    }
    kit_free(ctx);
}

KIT_TEST(t1) {
    atn_ctx *ctx = kit_ctx();
    atn_space *space;
    kit_ok(ctx, atn_space_parse_t1(ctx, "t.json", T1, strlen(T1), &space));
    assert_true(space_count(ctx, space) == 15);
    assert_true(space_brute(ctx, space) == 15);
    assert_string_equal(atn_space_constraint(space, 0), "bx * by <= 8");
    atn_space_free(space);
    static const char *const WRONG[][2] = {
        {"{", "t.json:1:1: this is not JSON"},
        {"{}", "t.json: ConfigurationSpace: TuningParameters, a list, is missing"},
        {"{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\"}]}}",
         "t.json: TuningParameters[0]: Values is missing"},
        {"{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Values\": \"[1, 2\"}]}}",
         "t.json: TuningParameters[0]: column 6: a parenthesis is not closed"},
        {"{\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Values\": [1]}], "
         "\"Conditions\": [{\"Expression\": \"y > 1\"}]}}",
         "t.json: Conditions[0]: column 1: there is no 'y'"},
    };
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k) {
        kit_fails(ctx, ATN_ERR_INPUT, WRONG[k][1],
                  atn_space_parse_t1(ctx, "t.json", WRONG[k][0], strlen(WRONG[k][0]), &space));
        assert_null(space);
    }
    kit_free(ctx);
}

KIT_TEST(shipped) {
    atn_ctx *ctx = kit_ctx();
    assert_null(atn_space_shipped("nosuch"));
    const char *text = atn_space_shipped("example");
    assert_non_null(text);
    atn_device_info host;
    atn_given given[ATN_DEVICE_GIVEN];
    atn_device_host_info(&host);
    atn_device_given(&host, given);
    atn_space *space;
    kit_ok(ctx, atn_space_parse(ctx, "example", text, strlen(text), given, ATN_DEVICE_GIVEN, &space));
    assert_true((int64_t)space_count(ctx, space) == space_brute(ctx, space));
    atn_space_free(space);
    kit_free(ctx);
}

/* ---- several threads, one space ---- */

typedef struct asking {
    atn_ctx *ctx;
    const atn_space *space;
    uint64_t seed, count;
} asking;

static void *ask(void *user) {
    asking *a = user;
    int32_t levels[SPACE_MOST];
    atn_count count;
    for (int k = 0; k < 50; ++k) {
        if (atn_space_draw(a->ctx, a->space, draw_bits, &a->seed, levels) != ATN_OK) return NULL;
        if (!atn_space_allows(a->space, levels, NULL)) return NULL;
    }
    a->count = atn_space_count(a->ctx, a->space, &count) == ATN_OK ? count.whole : 0;
    return NULL;
}

KIT_TEST(threads) {
    atn_ctx *ctx = kit_ctx();
    atn_space *space = space_of(ctx, GEMM);
    pthread_t thread[4];
    asking asks[4];
    for (int k = 0; k < 4; ++k) {
        asks[k] = (asking){.ctx = ctx, .space = space, .seed = (uint64_t)k + 1};
        assert_int_equal(pthread_create(&thread[k], NULL, ask, &asks[k]), 0);
    }
    for (int k = 0; k < 4; ++k) pthread_join(thread[k], NULL);
    uint64_t count = space_count(ctx, space);
    for (int k = 0; k < 4; ++k) assert_true(asks[k].count == count);
    atn_space_free(space);
    kit_free(ctx);
}

/* ---- every allocation fails once ---- */

static const char SMALL[] =
    "import device\nx = (1, 2, 'abc' 'd')\ny = divisors(12)\nz = range(y)\nd = y * 2\n"
    "@require\ndef c(d, z):\n    t = d + z\n    if t > 3:\n        return t % 2 == 0\n    return True\n"
    "@condition\ndef e(x, y): return x == 'abcd' or y in (4, 6)\n";

static atn_status ask_all(atn_ctx *ctx, bool t1_too) {
    atn_given given = {"device", "cores", {.kind = ATN_SETTING_WHOLE, .whole = 3}};
    atn_space *space = NULL;
    atn_status status = t1_too ? atn_space_parse_t1(ctx, "t", T1, strlen(T1), &space)
                               : atn_space_parse(ctx, "t", SMALL, strlen(SMALL), &given, 1, &space);
    atn_count count;
    atn_prune rows[4];
    int32_t levels[SPACE_MOST];
    uint64_t seed = 3, rank;
    int visits = 0;
    if (!status) status = atn_space_count(ctx, space, &count);
    if (!status) status = atn_space_draw(ctx, space, draw_bits, &seed, levels);
    if (!status) status = atn_space_rank(ctx, space, levels, &rank);
    if (!status) status = atn_space_list(ctx, space, never, &visits);
    if (!status) status = atn_space_neighbours(ctx, space, levels, false, never, &visits);
    if (!status) status = atn_space_prune_report(ctx, space, rows);
    atn_space_free(space);
    return status;
}

KIT_TEST(out_of_memory) {
    for (int t1_too = 0; t1_too < 2; ++t1_too)
        for (long n = 1;; ++n) {
            kit_faults faults = {.fail_at = n};
            atn_ctx_settings options = kit_fault_options(&faults);
            atn_ctx *ctx;
            if (atn_ctx_create(&options, &ctx) != ATN_OK) continue;
            atn_status status = ask_all(ctx, t1_too);
            bool through = faults.count < n;
            if (status != (through ? ATN_OK : ATN_ERR_MEMORY))
                fail_msg("allocation %ld failed: %s: %s", n, atn_status_name(status), atn_ctx_message(ctx));
            atn_ctx_free(ctx);
            if (faults.live) fail_msg("allocation %ld failed: %ld blocks stay behind", n, (long)faults.live);
            if (through) break;
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_agree),   cmocka_unit_test(goes_native),   cmocka_unit_test(beyond_64_bits),
        cmocka_unit_test(draws_uniformly), cmocka_unit_test(listing_stops), cmocka_unit_test(counted_soon),
        cmocka_unit_test(points),          cmocka_unit_test(built),         cmocka_unit_test(t1),
        cmocka_unit_test(t1_lists),        cmocka_unit_test(shipped),       cmocka_unit_test(threads),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
