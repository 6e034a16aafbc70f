/* Scans: two stages where a range is split, one else, also where groups look back; variants that do not exist, with
 * their reasons; and every allocation of lowering in turn fails. Results are held against the oracle by kernel/shipped
 * and kernel/random_scans.
 */
#include "testkit.h"

#include "graph/graph.h"
#include "lower/lower.h"

#include <string.h>

static const char SUM[] = "kernel k(x: vector SP) -> y: vector SP\n    y[i] = s\n    s += x[i]\n";
static const char ROWS[] =
    "kernel k(x: matrix SP) -> y: matrix SP\n    for r in rows(x)\n        over c in columns(x)\n"
    "            s max= x[r, c]\n            y[r, c] = s\n";
static const char RUNS[] =
    "kernel k(x: vector SP, b: vector B) -> y: vector SP\n    for i in x\n        f, v = b[i], x[i]\n"
    "        carry s: SP = 0, n: INT32 = 0, g: INT32 = 0 {\n            s = f ? v : s + v;\n"
    "            n = n + INT32(f);\n            g = g | INT32(f);\n        } combine {\n"
    "            s = right(g) != 0 ? right(s) : left(s) + right(s);\n            n = left(n) + right(n);\n"
    "            g = left(g) | right(g);\n        }\n        y[i] = s + n + before(n)\n";
static const char ORDERED[] =
    "kernel k(x: vector SP) -> y: vector SP\n    for i in x\n        carry s: SP = 0 { s = s * 0.5 + x[i]; }\n"
    "        y[i] = s\n";
static const char ELEMENT[] =
    "kernel k(x: vector SP, n: vector INT32) -> y: vector SP\n    over i in 0 .. n[0]\n        s += x[i]\n"
    "        y[i] = s\n";

/* Reductions whose combine has an earlier side, and one whose sides may change places. */
static const char CHAIN[] =
    "kernel k(c: vector DP) -> y: vector DP\n    for i in c\n        carry p: DP = 1, v: DP = 0 {\n"
    "            p = p * 0.5;\n            v = v * 0.5 + c[i];\n        } combine {\n            p = left(p) * "
    "right(p);\n"
    "            v = left(v) * right(p) + right(v);\n        }\n    y[0] = v\n";
static const char SPREAD[] =
    "kernel k(x: vector DP) -> y: vector DP\n    for i in x\n        carry n: DP = 0, q: DP = 0 {\n"
    "            n = n + x[i];\n            q = q + x[i] * x[i];\n        } combine {\n"
    "            n = right(n) + left(n);\n            q = right(q) + left(q);\n"
    "        }\n    y[0] = n + q\n";

static const atn_target HOST = {.host = true, .vectors = true, .warp = 1, .max_items = 1, .local_bytes = 1 << 20};
static const atn_target GPU = {.shuffle = true, .warp = 32, .max_items = 1024, .local_bytes = 48 << 10};

static const atn_target CUDA = {
    .shuffle = true, .waits = true, .warp = 32, .max_items = 1024, .local_bytes = 48 << 10, .dynamic_bytes = 100 << 10};

static const struct {
    const char *text;
    const atn_target *target;
    const char *variant;
    int stages;      /* 0: there is no such variant, */
    const char *why; /* for this reason */
} CASES[] = {
    {SUM, &HOST, "", 1, NULL},
    {SUM, &HOST, "regs_q0=4,vec_q0=4,split_q0=8", 2, NULL},
    {SUM, &HOST, "vec_q0=4", 0, "vectors along a scan"},
    {SUM, &GPU, "lanes_q0=256,regs_q0=8,split_q0=64,reduce=shuffle", 2, NULL},
    {SUM, &GPU, "lanes_q0=32,regs_q0=2", 1, NULL},
    {SUM, &GPU, "lanes_q0=32,split_q0=4,finish=last", 0, "with finish=launch"},
    {SUM, &CUDA, "lanes_q0=256,regs_q0=16,pack_q0=4,split_q0=256,reduce=shuffle,finish=look", 1, NULL},
    {SUM, &CUDA, "lanes_q0=64,split_q0=3,reduce=shuffle,finish=look", 1, NULL},
    {SUM, &GPU, "lanes_q0=64,split_q0=3,reduce=shuffle,finish=look", 0, "supported on CUDA only"},
    {SUM, &CUDA, "lanes_q0=512,regs_q0=24,pack_q0=4,split_q0=64,stage=1,reduce=shuffle,finish=look", 1, NULL},
    {SUM, &CUDA, "lanes_q0=512,regs_q0=24,split_q0=64,stage=1,reduce=shuffle,finish=look", 0, "keeping a tile"},
    {SUM, &CUDA, "lanes_q0=1024,regs_q0=32,pack_q0=4,split_q0=64,stage=1,reduce=shuffle,finish=look", 0,
     "are available"},
    {SUM, &CUDA, "lanes_q0=64,split_q0=3,finish=look", 0, "with reduce=shuffle"},
    {SUM, &CUDA, "lanes_q0=64,regs_q0=24,split_q0=3", 0, "require finish=look"},
    {SUM, &CUDA, "lanes_q0=64,split_q0=3,stage=1", 0, "a scan stages nothing"},
    {SUM, &CUDA, "lanes_q0=64,reduce=shuffle,finish=look", 0, "a split scan"},
    {SUM, &CUDA, "lanes_q0=64,split_q0=3,reduce=shuffle,finish=look,groups=7", 0, "groups=0"},
    {SUM, &CUDA, "lanes_q0=64,regs_q0=6,pack_q0=4", 0, "must divide their registers"},
    {SUM, &CUDA, "regs_q0=4,pack_q0=4", 0, "items along q0"},
    {SUM, &GPU, "lanes_q0=64,regs_q0=8,pack_q0=2,split_q0=3", 2, NULL},
    {CHAIN, &CUDA, "split_q0=8,reduce=shuffle,finish=look", 0, "a split reduction over everything"},
    {ELEMENT, &CUDA, "lanes_q0=64,split_q0=3,reduce=shuffle,finish=look", 0, "elements determine the length"},
    {RUNS, &CUDA, "lanes_q0=64,regs_q0=4,split_q0=4,reduce=shuffle,finish=look", 1, NULL},
    {ROWS, &GPU, "lanes_q0=32,regs_q0=4,reduce=shuffle", 1, NULL},
    {ROWS, &GPU, "lanes_p0=64", 1, NULL},
    {ROWS, &GPU, "lanes_p0=2,lanes_q0=32", 0, "the items of a group share one scan"},
    {ROWS, &GPU, "lanes_q0=32,split_q0=4", 0, "only a scan over everything"},
    {ROWS, &HOST, "regs_p0=2", 0, "one point at a time"},
    {RUNS, &GPU, "lanes_q0=64,regs_q0=4,split_q0=4,reduce=shuffle", 2, NULL},
    {RUNS, &GPU, "lanes_q0=16,regs_q0=2,split_q0=4", 2, NULL},
    {ORDERED, &HOST, "", 1, NULL},
    {CHAIN, &HOST, "split_q0=8", 2, NULL},
    {CHAIN, &GPU, "split_q0=8", 2, NULL},
    {CHAIN, &HOST, "regs_q0=4", 0, "not commutative"},
    {CHAIN, &HOST, "vec_q0=4", 0, "not commutative"},
    {CHAIN, &GPU, "lanes_q0=32", 0, "not commutative"},
    {SPREAD, &HOST, "regs_q0=4,vec_q0=2", 1, NULL},
    {SPREAD, &GPU, "lanes_q0=32,split_q0=8", 2, NULL},
    {ORDERED, &HOST, "split_q0=2", 0, "must keep its order"},
};

static atn_sequence *parsed(const atn_ctx *ctx, const char *text) {
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, "k.atn", text, strlen(text), NULL, NULL, &sequence));
    return sequence;
}

KIT_TEST(stages_and_reasons) {
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        atn_sequence *sequence = parsed(ctx, CASES[k].text);
        atn_variant variant = atn_variant_plain();
        atn_lowered *program;
        kit_ok(ctx, atn_variant_parse(ctx, &variant, CASES[k].variant));
        atn_status status = atn_lower(ctx, sequence->step[0], &variant, CASES[k].target, &program);
        if (CASES[k].stages) {
            kit_ok(ctx, status);
            assert_int_equal(program->n_stages, CASES[k].stages);
        } else {
            assert_int_equal(status, ATN_ERR_UNSUPPORTED);
            assert_non_null(strstr(atn_ctx_message(ctx), CASES[k].why));
        }
        atn_lowered_free(program);
        atn_sequence_free(sequence);
    }
    kit_free(ctx);
}

KIT_TEST(memory_that_fails) {
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        long needed = 0;
        for (long fail_at = 0; CASES[k].stages && fail_at <= needed; ++fail_at) {
            kit_faults faults = {0};
            atn_ctx_settings made = kit_fault_options(&faults);
            atn_ctx *ctx;
            assert_int_equal(atn_ctx_create(&made, &ctx), ATN_OK);
            atn_sequence *sequence = parsed(ctx, CASES[k].text);
            atn_variant variant = atn_variant_plain();
            atn_lowered *program;
            kit_ok(ctx, atn_variant_parse(ctx, &variant, CASES[k].variant));
            long before = faults.count;
            faults.fail_at = fail_at ? before + fail_at : 0;
            atn_status status = atn_lower(ctx, sequence->step[0], &variant, CASES[k].target, &program);
            faults.fail_at = 0;
            if (!fail_at) needed = faults.count - before;
            assert_int_equal(status, fail_at ? ATN_ERR_MEMORY : ATN_OK);
            atn_lowered_free(program);
            atn_sequence_free(sequence);
            assert_int_equal(atn_ctx_bytes(ctx), 0);
            atn_ctx_free(ctx);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages_and_reasons), cmocka_unit_test(memory_that_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
