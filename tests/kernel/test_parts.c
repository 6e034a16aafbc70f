/* Matrix products of BFloat16 parts (matrix=bfloat, bfloat2, bfloat3): held against the oracle in that arithmetic, with
 * the instruction in plain C everywhere and with the CPU's own where it has one; that what is lost has a bound of its
 * own, which three parts of SP and two of HP keep; and what is refused. */
#include "support/shared.h"

#include "graph/shipped.h"
#include "support/held.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHARED_DEVICES;

enum { MOST = 160, OBJECTS = 4 };

typedef struct product {
    atn_sequence *sequence;
    atn_view views[OBJECTS];
    float data[OBJECTS][MOST * MOST];
} product;
static product shared; /* large */

/* What follows the sum is computed from it like after any other. */
#define WITH_MORE                                                                                                      \
    "kernel more(A, B, D: matrix T) -> C: matrix T\n    C[i, j] = 2 * (sum(k) A[i, k] * B[k, j]) - D[i, j]\n"

static atn_sequence *parse(const char *text, const char *type) {
    const atn_define define = {"USED_FLOAT", type};
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, "product", text, strlen(text),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    return sequence;
}

static product *fill(const char *text, const char *type, int64_t rows, int64_t inner, int64_t columns, bool special) {
    static const double SPECIAL[] = {INFINITY, -INFINITY, NAN, 3.4028234e38, -3.4028234e38, 0, -0.0, 1e-39, 3e-36};
    product *p = &shared;
    uint64_t seed = 7;
    p->sequence = parse(text, type);
    const atn_graph *g = p->sequence->step[0];
    for (int32_t k = 0; k < g->n_objects; ++k) {
        bool left = g->objects[k].name[0] == 'A', right = g->objects[k].name[0] == 'B';
        p->views[k] = (atn_view){.data = p->data[k],
                                 .type = g->objects[k].type,
                                 .rank = 2,
                                 .size = {left ? inner : columns, right ? inner : rows},
                                 .pitch = (left ? inner : columns) + 3};
        assert_true(p->views[k].pitch * p->views[k].size[1] <= MOST * MOST);
        for (int64_t i = 0; i < p->views[k].pitch * p->views[k].size[1]; ++i) {
            double number[2] = {2 * kit_uniform(&seed) - 1, 0};
            if (i % p->views[k].pitch >= p->views[k].size[0]) number[0] = NAN;
            if (special && (left || right) && i % 61 == 7) number[0] = SPECIAL[i / 61 % 9];
            atn_element_store(p->views[k].type, number, 0,
                              (char *)p->data[k] + (size_t)i * atn_type_bytes(p->views[k].type));
        }
    }
    return p;
}

/* Runs a variant with an instruction, and holds it to the arithmetic of `as`. */
static atn_status hold(product *p, atn_device *device, atn_bf16 unit, const char *text, const char *as) {
    const atn_graph *g = p->sequence->step[0];
    atn_device_info *info = (atn_device_info *)(uintptr_t)atn_device_get_info(device);
    atn_bindings frame = {.views = p->views};
    held_case c = {.graph = g, .views = p->views};
    atn_variant v = atn_variant_plain(), usual = v;
    int32_t own = info->bf16;
    atn_eval_result *oracle;
    kit_ok(ctx, atn_variant_parse(ctx, &v, text));
    kit_ok(ctx, atn_variant_parse(ctx, &usual, as));
    atn_eval_options options = atn_variant_arithmetic(g, &usual, info);
    kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
    info->bf16 = (int32_t)unit;
    atn_status status = held_run(device, &c, &v, oracle);
    info->bf16 = own;
    atn_eval_free(oracle);
    return status;
}

static const struct {
    const char *text, *type, *variant; /* text NULL: gemm */
    int64_t rows, inner, columns;
    bool special;
} RUNS[] = {
    {NULL, "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,seq_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1", 21, 75, 150,
     false},
    {NULL, "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,regs_p1=16,seq_p1=2,tile_q0=64,stage=1", 64, 131, 64, true},
    {NULL, "SP", "matrix=bfloat2,vec_p0=16,regs_p0=4,regs_p1=4,seq_p1=3,tile_q0=64,stage=1,index=32", 13, 64, 67, true},
    {NULL, "SP", "matrix=bfloat,vec_p0=16,regs_p0=2,seq_p0=2,regs_p1=8,tile_q0=96,stage=1", 24, 33, 133, true},
    {NULL, "SP", "matrix=bfloat,vec_p0=16,regs_p0=2,seq_p0=2,regs_p1=32,tile_q0=32,stage=1,collapse=1", 35, 1, 64,
     false},
    {NULL, "HP", "matrix=bfloat2,vec_p0=16,regs_p0=2,seq_p0=2,regs_p1=12,seq_p1=2,tile_q0=32,stage=1", 50, 65, 97,
     false},
    {NULL, "HP", "matrix=bfloat2,vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1", 8, 40, 32, true},
    {NULL, "HP", "matrix=bfloat,vec_p0=16,regs_p0=2,seq_p0=2,regs_p1=16,tile_q0=64,stage=1", 33, 100, 65, true},
    {NULL, "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1,split_q0=3", 9, 150, 40,
     false},
    {NULL, "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1", 1, 1, 1, false},
    {NULL, "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1", 8, 0, 64, false},
    {NULL, "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1", 0, 5, 3, false},
    {WITH_MORE, "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,seq_p0=2,regs_p1=4,tile_q0=32,stage=1", 11, 45, 100, false},
};

static void agree(atn_bf16 unit) {
    atn_device *device;
    setenv("ATTUNE_HOST_FLAGS", "-O1", 0); /* many small builds */
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    for (size_t k = 0; k < sizeof RUNS / sizeof *RUNS; ++k) {
        const char *text = RUNS[k].text ? RUNS[k].text : atn_shipped_find("gemm");
        product *p = fill(text, RUNS[k].type, RUNS[k].rows, RUNS[k].inner, RUNS[k].columns, RUNS[k].special);
        if (hold(p, device, unit, RUNS[k].variant, RUNS[k].variant) != ATN_OK)
            fail_msg("%s of %s: %s", RUNS[k].variant, RUNS[k].type, atn_ctx_message(ctx));
        atn_sequence_free(p->sequence);
    }
    atn_device_close(device);
}

KIT_TEST(in_plain_c) { agree(ATN_BF16_PLAIN); }

KIT_TEST(by_the_cpu) {
    int32_t most = atn_devices_info(devices, 0)->bf16;
    if (most == 0) print_message("    skipped: this CPU does not multiply numbers of BFloat16\n"), skip();
    for (int32_t unit = ATN_BF16_DOTS; unit <= most; ++unit) agree((atn_bf16)unit);
}

/* Three parts of SP, and two of HP, keep the bound of the description; fewer do not. */
KIT_TEST(bounds_tell_them_apart) {
    static const struct {
        const char *type, *matrix;
        bool in_class;
    } CASES[] = {
        {"SP", "bfloat", false}, {"SP", "bfloat2", false}, {"SP", "bfloat3", true},
        {"HP", "bfloat", false}, {"HP", "bfloat2", true},
    };
    atn_device *device;
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        char variant[128];
        snprintf(variant, sizeof variant, "matrix=%s,vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1",
                 CASES[k].matrix);
        product *p = fill(atn_shipped_find("gemm"), CASES[k].type, 16, 4, 64, false);
        atn_status status = hold(p, device, ATN_BF16_PLAIN, variant, "");
        if ((status == ATN_OK) != CASES[k].in_class)
            fail_msg("%s of %s: %s", CASES[k].matrix, CASES[k].type,
                     status == ATN_OK ? "within the bound" : atn_ctx_message(ctx));
        atn_sequence_free(p->sequence);
    }
    atn_device_close(device);
}

KIT_TEST(what_does_not_fit_says_why) {
#define STEP "vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,"
    static const struct {
        const char *kernel, *type, *variant, *why;
    } CASES[] = {
        {"gemm", "DP", "matrix=bfloat3," STEP "tile_q0=32,stage=1", "HP or SP"},
        {"gemm", "HP", "matrix=bfloat3," STEP "tile_q0=32,stage=1", "all bits of HP"},
        {"gemm", "SP", "matrix=bfloat3,vec_p0=8,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1", "vec_p0=16"},
        {"gemm", "SP", "matrix=bfloat3,vec_p0=16,regs_p0=3,regs_p1=4,seq_p1=2,tile_q0=32,stage=1", "even number"},
        {"gemm", "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,regs_p1=6,seq_p1=2,tile_q0=32,stage=1", "multiple of 4"},
        {"gemm", "SP", "matrix=bfloat3,vec_p0=16,regs_p0=2,regs_p1=4,tile_q0=32,stage=1", "sequence"},
        {"gemm", "SP", "matrix=bfloat3," STEP "tile_q0=48,stage=1", "multiple of 32"},
        {"gemm", "SP", "matrix=bfloat3," STEP "tile_q0=32", "staged tiles"},
        {"gemm", "SP", "matrix=bfloat3," STEP "tile_q0=32,stage=1,accumulate=64", "single precision"},
        {"gemm", "SP", "matrix=bfloat3,mix=1,exp=native," STEP "tile_q0=32,stage=1", "mix requires"},
        {"gemv", "SP", "matrix=bfloat,stage=1,tile_q0=32", "not a product of two matrices"},
    };
    atn_target target = atn_target_of(atn_devices_info(devices, 0)), gpu = {.matrix = true, .vectors = true};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        const char *why = "";
        atn_sequence *sequence = parse(atn_shipped_find(CASES[k].kernel), CASES[k].type);
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, CASES[k].variant));
        target.bf16 = ATN_BF16_PLAIN;
        assert_false(atn_variant_fits(sequence->step[0], &v, &target, &why));
        kit_contains(why, CASES[k].why);
        target.bf16 = ATN_BF16_NONE;
        assert_false(atn_variant_fits(sequence->step[0], &v, &target, &why));
        gpu.max_items = 1024;
        assert_false(atn_variant_fits(sequence->step[0], &v, &gpu, &why));
        atn_sequence_free(sequence);
    }
    const char *why = "";
    atn_sequence *sequence = parse(atn_shipped_find("gemm"), "SP");
    atn_variant v = atn_variant_plain();
    kit_ok(ctx, atn_variant_parse(ctx, &v, "matrix=bfloat3," STEP "tile_q0=32,stage=1"));
    target.bf16 = ATN_BF16_NONE;
    assert_false(atn_variant_fits(sequence->step[0], &v, &target, &why));
    kit_contains(why, "BFMMLA");
    assert_false(atn_variant_fits(sequence->step[0], &v, &gpu, &why));
    kit_contains(why, "for CPUs");
    target.bf16 = ATN_BF16_DOTS;
    assert_true(atn_variant_fits(sequence->step[0], &v, &target, &why));
    atn_sequence_free(sequence);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_cpu),
        cmocka_unit_test(in_plain_c),
        cmocka_unit_test(bounds_tell_them_apart),
        cmocka_unit_test(what_does_not_fit_says_why),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
