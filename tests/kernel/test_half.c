/* Halves computed in halves (half=1): a product with sums of halves, and a body that mixes them with what is done in
 * singles; sums of SP whose tiles are added up in halves (half=2), with 2^x in halves. All held against the oracle in
 * that arithmetic; and that it is arithmetic of its own, with a bound of its own.
 */
#include "support/shared.h"

#include "graph/shipped.h"
#include "support/held.h"

#include <string.h>

enum { ROWS = 21, INNER = 19, COLUMNS = 37 };

#define LINK(from, to) "<Connection source='" from "' destination='" to "'/>"

static const char MIXED[] =
    "<ParallelAlgorithm name='mixed' dimensions='1'><DataObjects>"
    "<DataObject name='x' structure='vector' elementDataType='HP'/>"
    "<DataObject name='y' structure='vector' elementDataType='HP'/>"
    "<DataObject name='z' structure='vector' elementDataType='HP'/>"
    "<DataObject name='whole' structure='vector' elementDataType='INT32'/></DataObjects><Children>"
    "<DataAccessRead name='a' source='x' selFunction='v0'/><DataAccessRead name='b' source='y' selFunction='v0'/>"
    "<FunctionBlock name='f' dataType='HP' function='#in(0) &lt; #in(1) ? fmin(#in(0) * #in(1), HP(3)) / (#in(1) + 4) "
    ": "
    "HP(sqrt(fabs(#in(0)))) - #in(1)'/>"
    "<FunctionBlock name='g' dataType='INT32' function='INT32(8 * #in(0))'/>"
    "<DataAccessWrite name='store' destination='z' selFunction='v0'/>"
    "<DataAccessWrite name='keep' destination='whole' selFunction='v0'/></Children><Connections>" LINK("x.Size(0)",
                                                                                                       "mixed.Range(0)")
        LINK("mixed.i(0)", "a.v(0)") LINK("mixed.i(0)", "b.v(0)") LINK("a.out", "f.in(0)") LINK("b.out", "f.in(1)")
            LINK("b.out", "g.in(0)") LINK("f.out(0)", "store.in") LINK("mixed.i(0)", "store.v(0)")
                LINK("g.out(0)", "keep.in") LINK("mixed.i(0)", "keep.v(0)") "</Connections></ParallelAlgorithm>";

SHARED_DEVICES;

static atn_view view_of(atn_type type, int64_t columns, int64_t rows, void *data) {
    return (atn_view){.data = data, .type = type, .rank = rows > 1 ? 2 : 1, .size = {columns, rows}, .pitch = columns};
}

static void fill(uint16_t *to, size_t count, uint64_t seed) {
    for (size_t k = 0; k < count; ++k) to[k] = atn_half_from_double(4 * kit_uniform(&seed) - 2);
}

static void hold(const char *name, const char *xml, atn_view *views, const char *const *variants) {
    const atn_define define = {"USED_FLOAT", "HP"};
    atn_sequence *sequence;
    atn_device *device;
    kit_ok(ctx, atn_sequence_parse(ctx, name, xml, strlen(xml),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    const atn_graph *g = sequence->step[0];
    atn_bindings frame = {.views = views};
    held_case c = {.graph = g, .views = views};
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    for (; *variants; ++variants) {
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, *variants));
        atn_eval_options options = atn_variant_arithmetic(g, &v, atn_device_get_info(device));
        assert_true(options.unit[ATN_HP] == (v.half ? 0x1p-11 : 0x1p-24));
        atn_eval_result *oracle;
        kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
        atn_status status = held_run(device, &c, &v, oracle);
        atn_eval_free(oracle);
        if (status != ATN_OK) fail_msg("%s, variant '%s': %s", name, *variants, atn_ctx_message(ctx));
    }
    atn_device_close(device);
    atn_sequence_free(sequence);
}

static void need_halves(void) {
    if (atn_devices_info(devices, 0)->fp16) return;
    print_message("this CPU has no arithmetic on halves\n");
    skip();
}

KIT_TEST(products) {
    need_halves();
    static const char *const VARIANTS[] = {"half=1",
                                           "half=0,vec_p0=8",
                                           "half=1,vec_p0=8,regs_p0=2",
                                           "half=1,vec_p0=8,regs_p0=3,regs_p1=8,tile_q0=16,stage=1,stage_swap=2,wide=4",
                                           "half=1,vec_p0=4,regs_p1=4,seq_p1=2,tile_q0=8,stage=1,accumulate=32",
                                           "half=1,vec_q0=8,regs_p0=2",
                                           "half=1,vec_p0=16,accumulate=64",
                                           "half=1,vec_p0=32",
                                           NULL};
    uint16_t a[ROWS * INNER], b[INNER * COLUMNS], c[ROWS * COLUMNS] = {0};
    fill(a, ROWS * INNER, 5);
    fill(b, INNER * COLUMNS, 6);
    atn_view views[] = {view_of(ATN_HP, INNER, ROWS, a), view_of(ATN_HP, COLUMNS, INNER, b),
                        view_of(ATN_HP, COLUMNS, ROWS, c)};
    hold("gemm", atn_shipped_find("gemm"), views, VARIANTS);
}

KIT_TEST(mixed_with_singles) {
    need_halves();
    static const char *const VARIANTS[] = {
        "half=1", "half=1,vec_p0=8,regs_p0=2,seq_p0=2", "half=1,vec_p0=4", "half=1,vec_p0=32", "half=0,vec_p0=8", NULL};
    uint16_t x[COLUMNS], y[COLUMNS], z[COLUMNS] = {0};
    int32_t whole[COLUMNS] = {0};
    fill(x, COLUMNS, 7);
    fill(y, COLUMNS, 8);
    atn_view views[] = {view_of(ATN_HP, COLUMNS, 1, x), view_of(ATN_HP, COLUMNS, 1, y), view_of(ATN_HP, COLUMNS, 1, z),
                        view_of(ATN_INT32, COLUMNS, 1, whole)};
    hold("mixed", MIXED, views, VARIANTS);
}

/* Sums in halves are right in their own arithmetic and wrong in that of singles. */
KIT_TEST(bounds_tell_them_apart) {
    need_halves();
    uint16_t a[ROWS * INNER], b[INNER * COLUMNS], c[ROWS * COLUMNS] = {0};
    fill(a, ROWS * INNER, 5);
    fill(b, INNER * COLUMNS, 6);
    atn_view views[] = {view_of(ATN_HP, INNER, ROWS, a), view_of(ATN_HP, COLUMNS, INNER, b),
                        view_of(ATN_HP, COLUMNS, ROWS, c)};
    const atn_define define = {"USED_FLOAT", "HP"};
    const char *xml = atn_shipped_find("gemm");
    atn_sequence *sequence;
    atn_device *device;
    kit_ok(ctx, atn_sequence_parse(ctx, "gemm", xml, strlen(xml),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    atn_bindings frame = {.views = views};
    held_case held = {.graph = sequence->step[0], .views = views};
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    atn_variant v = atn_variant_plain();
    atn_eval_options singles = atn_variant_arithmetic(sequence->step[0], &v, atn_device_get_info(device));
    atn_eval_result *oracle;
    kit_ok(ctx, atn_eval_run(ctx, sequence->step[0], &frame, &singles, &oracle));
    v.half = 1;
    assert_int_not_equal(held_run(device, &held, &v, oracle), ATN_OK);
    atn_eval_free(oracle);
    atn_device_close(device);
    atn_sequence_free(sequence);
}

enum { MOST_POINTS = 67, MOST_STEPS = 150, INPUTS = 7, SUMS = 4 };

/* Points about a sigma apart, and the last step one that is none. */
static void sum_pairs(int64_t points, int64_t steps, const char *const *variants) {
    uint16_t input[INPUTS][MOST_STEPS];
    float sum[SUMS][MOST_POINTS] = {{0}};
    atn_view views[INPUTS + SUMS];
    for (int k = 0; k < INPUTS; ++k) {
        fill(input[k], MOST_STEPS, 11 + (uint64_t)k);
        views[k] = view_of(ATN_HP, k < 3 ? points : steps, 1, input[k]);
    }
    if (steps > 0) input[6][steps - 1] = atn_half_from_double(-60000);
    for (int k = 0; k < SUMS; ++k) views[INPUTS + k] = view_of(ATN_SP, points, 1, sum[k]);
    hold("estep", atn_shipped_find("estep"), views, variants);
}

KIT_TEST(sums_of_tiles) {
    need_halves();
    static const char *const VARIANTS[] = {"half=2,tile_q0=16",
                                           "half=2,vec_p0=8,exp=polynomial,degree=3,tile_q0=16",
                                           "half=2,vec_p0=8,regs_p0=2,exp=polynomial,degree=3,tile_q0=32,unroll_q0=2",
                                           "half=2,vec_p0=4,regs_p0=3,exp=polynomial,degree=5,tile_q0=7",
                                           "half=2,vec_p0=16,exp=polynomial,degree=3,tile_q0=64,fast=1",
                                           "half=2,vec_q0=8,regs_p0=2,exp=polynomial,degree=3,tile_q0=64",
                                           "half=2,vec_p0=32,exp=polynomial,degree=3,tile_q0=32",
                                           "half=1,vec_p0=8,regs_p0=2,exp=polynomial,degree=3",
                                           NULL};
    static const int64_t SIZES[][2] = {{67, 150}, {1, 1}, {8, 33}, {17, 0}};
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k) sum_pairs(SIZES[k][0], SIZES[k][1], VARIANTS);
}

/* Whose sums they are, and in what tiles, is said where it does not fit. */
KIT_TEST(what_has_no_tiles_is_refused) {
    static const struct {
        const char *kernel, *type, *variant;
        bool fits;
    } CASES[] = {{"estep", "HP", "half=2,tile_q0=32", true},
                 {"estep", "SP", "half=2,tile_q0=32", false},
                 {"estep", "HP", "half=2", false},
                 {"estep", "HP", "half=2,tile_q0=32,vec_p0=32", true},
                 {"estep", "HP", "vec_p0=32", false},
                 {"estep", "HP", "half=2,tile_q0=128", false},
                 {"gemm", "HP", "half=2,tile_q0=32", false},
                 {"estep", "HP", "half=2,tile_q0=32,accumulate=32", false},
                 {"estep_near", "HP", "half=2,tile_q0=32", false}};
    atn_target target = {.host = true, .vectors = true, .half = true, .max_items = 1};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        const atn_define define = {"USED_FLOAT", CASES[k].type};
        const char *text = atn_shipped_find(CASES[k].kernel), *why = "";
        atn_sequence *sequence;
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_sequence_parse(ctx, CASES[k].kernel, text, strlen(text),
                                       &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
        kit_ok(ctx, atn_variant_parse(ctx, &v, CASES[k].variant));
        if (atn_variant_fits(sequence->step[0], &v, &target, &why) != CASES[k].fits)
            fail_msg("%s of %s, %s: %s", CASES[k].kernel, CASES[k].type, CASES[k].variant, why);
        atn_sequence_free(sequence);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(mixed_with_singles),
                                       cmocka_unit_test(bounds_tell_them_apart), cmocka_unit_test(sums_of_tiles),
                                       cmocka_unit_test(what_has_no_tiles_is_refused)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
