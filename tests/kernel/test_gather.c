/* Gathers and conversions in whole vectors: what is read by a computed place, of every type, and what floor, fabs,
 * copysign and INT32() make of numbers that do not fit, lane for lane as the oracle has it. */
#include "support/shared.h"

#include "support/held.h"

#include <math.h>
#include <string.h>

enum { LENGTH = 53, ROWS = 3, TABLE = 37 };

#define LINK(from, to) "<Connection source='" from "' destination='" to "'/>"

/* out(i) = table(7 at(i) mod TABLE, row 1), and once more as it is: bytes are not only widened. */
static const char GATHER[] =
    "<ParallelAlgorithm name='gather' dimensions='1'><DataObjects>"
    "<DataObject name='at' structure='vector' elementDataType='INT32'/>"
    "<DataObject name='table' structure='matrix' elementDataType='KIND'/>"
    "<DataObject name='wide' structure='vector' elementDataType='DP'/>"
    "<DataObject name='same' structure='vector' elementDataType='KIND'/></DataObjects><Children>"
    "<DataAccessRead name='a' source='at' selFunction='v0'/>"
    "<FunctionBlock name='place' dataType='INT32' function='INT32((7 * #in(0)) % 37)'/>"
    "<DataAccessRead name='t' source='table' selFunction='v0, 1'/>"
    "<DataAccessRead name='first' source='table' selFunction='v0, 0'/>"
    "<FunctionBlock name='sum' dataType='DP' function='DP(INT32(#in(0)))'/>"
    "<DataAccessWrite name='store' destination='wide' selFunction='v0'/>"
    "<DataAccessWrite name='keep' destination='same' selFunction='v0'/></Children><Connections>" LINK(
        "at.Size(0)", "gather.Range(0)") LINK("gather.i(0)", "a.v(0)") LINK("a.out", "place.in(0)")
        LINK("place.out(0)", "t.v(0)") LINK("a.out", "first.v(0)") LINK("t.out", "sum.in(0)")
            LINK("sum.out(0)", "store.in") LINK("gather.i(0)", "store.v(0)") LINK("first.out", "keep.in")
                LINK("gather.i(0)", "keep.v(0)") "</Connections></ParallelAlgorithm>";

static const char CONVERT[] =
    "<ParallelAlgorithm name='convert' dimensions='1'><DataObjects>"
    "<DataObject name='x' structure='vector' elementDataType='KIND'/>"
    "<DataObject name='y' structure='vector' elementDataType='KIND'/>"
    "<DataObject name='whole' structure='vector' elementDataType='INT32'/>"
    "<DataObject name='below' structure='vector' elementDataType='KIND'/>"
    "<DataObject name='signs' structure='vector' elementDataType='KIND'/></DataObjects><Children>"
    "<DataAccessRead name='a' source='x' selFunction='v0'/><DataAccessRead name='b' source='y' selFunction='v0'/>"
    "<FunctionBlock name='cut' dataType='INT32' function='INT32(#in(0))'/>"
    "<FunctionBlock name='low' dataType='KIND' function='floor(#in(0))'/>"
    "<FunctionBlock name='sign' dataType='KIND' function='copysign(fabs(#in(0)), #in(1))'/>"
    "<DataAccessWrite name='store' destination='whole' selFunction='v0'/>"
    "<DataAccessWrite name='keep' destination='below' selFunction='v0'/>"
    "<DataAccessWrite name='hold' destination='signs' selFunction='v0'/></Children><Connections>" LINK(
        "x.Size(0)", "convert.Range(0)") LINK("convert.i(0)", "a.v(0)") LINK("convert.i(0)", "b.v(0)")
        LINK("a.out", "cut.in(0)") LINK("a.out", "low.in(0)") LINK("a.out", "sign.in(0)") LINK("b.out", "sign.in(1)")
            LINK("cut.out(0)", "store.in") LINK("convert.i(0)", "store.v(0)") LINK("low.out(0)", "keep.in")
                LINK("convert.i(0)", "keep.v(0)") LINK("sign.out(0)", "hold.in")
                    LINK("convert.i(0)", "hold.v(0)") "</Connections></ParallelAlgorithm>";

SHARED_DEVICES;

static atn_view view_of(atn_type type, int rank, int64_t columns, void *data) {
    return (atn_view){
        .data = data, .type = type, .rank = rank, .size = {columns, rank > 1 ? ROWS : 1}, .pitch = columns};
}

static void hold(const char *name, const char *xml, const char *kind, atn_view *views) {
    static const char *const VARIANTS[] = {"vec_p0=4,guard=0", "vec_p0=16,guard=0", "vec_p0=8"};
    const atn_define define = {"KIND", kind};
    atn_sequence *sequence;
    atn_device *device;
    kit_ok(ctx, atn_sequence_parse(ctx, name, xml, strlen(xml),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    const atn_graph *g = sequence->step[0];
    atn_bindings frame = {.views = views};
    held_case c = {.graph = g, .views = views};
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    for (size_t n = 0; n < sizeof VARIANTS / sizeof *VARIANTS; ++n) {
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, VARIANTS[n]));
        atn_eval_options options = atn_variant_arithmetic(g, &v, atn_device_get_info(device));
        atn_eval_result *oracle;
        kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
        atn_status status = held_run(device, &c, &v, oracle);
        atn_eval_free(oracle);
        if (status != ATN_OK) fail_msg("%s of %s, variant '%s': %s", name, kind, VARIANTS[n], atn_ctx_message(ctx));
    }
    atn_device_close(device);
    atn_sequence_free(sequence);
}

KIT_TEST(gathers_of_every_type) {
    static const struct {
        const char *name;
        atn_type type;
    } KINDS[] = {{"U8", ATN_U8}, {"U16", ATN_U16}, {"INT32", ATN_INT32}, {"SP", ATN_SP}, {"DP", ATN_DP}};
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; ++k) {
        int32_t at[LENGTH];
        double table[ROWS * TABLE], wide[LENGTH] = {0}, same[LENGTH] = {0};
        uint64_t seed = 11;
        for (int n = 0; n < LENGTH; ++n) at[n] = (int32_t)(kit_random(&seed) % TABLE);
        for (int n = 0; n < ROWS * TABLE; ++n) {
            double number[2] = {200 * kit_uniform(&seed) - 100, 0};
            atn_element_store(KINDS[k].type, number, (int64_t)(kit_random(&seed) % 256),
                              (char *)table + (size_t)n * atn_type_bytes(KINDS[k].type));
        }
        atn_view views[] = {view_of(ATN_INT32, 1, LENGTH, at), view_of(KINDS[k].type, 2, TABLE, table),
                            view_of(ATN_DP, 1, LENGTH, wide), view_of(KINDS[k].type, 1, LENGTH, same)};
        hold("gather", GATHER, KINDS[k].name, views);
    }
}

KIT_TEST(numbers_that_do_not_fit) {
    static const double ODD[] = {0.0,       -0.0,   0.5,  -0.5,         1e30,         -1e30,         INFINITY,
                                 -INFINITY, NAN,    2.5,  2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0,
                                 1e-40,     -1e-40, -7.0, 8388607.5,    -8388607.5,   123456.78};
    float x[LENGTH], y[LENGTH], below[LENGTH] = {0}, signs[LENGTH] = {0};
    double x2[LENGTH], y2[LENGTH], below2[LENGTH] = {0}, signs2[LENGTH] = {0};
    int32_t whole[LENGTH] = {0};
    for (int n = 0; n < LENGTH; ++n) {
        x2[n] = ODD[n % (int)(sizeof ODD / sizeof *ODD)];
        y2[n] = n % 3 ? 1 : -0.0;
        x[n] = (float)x2[n], y[n] = (float)y2[n];
    }
    atn_view single[] = {view_of(ATN_SP, 1, LENGTH, x), view_of(ATN_SP, 1, LENGTH, y),
                         view_of(ATN_INT32, 1, LENGTH, whole), view_of(ATN_SP, 1, LENGTH, below),
                         view_of(ATN_SP, 1, LENGTH, signs)};
    atn_view twice[] = {view_of(ATN_DP, 1, LENGTH, x2), view_of(ATN_DP, 1, LENGTH, y2),
                        view_of(ATN_INT32, 1, LENGTH, whole), view_of(ATN_DP, 1, LENGTH, below2),
                        view_of(ATN_DP, 1, LENGTH, signs2)};
    hold("convert", CONVERT, "SP", single);
    hold("convert", CONVERT, "DP", twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gathers_of_every_type),
                                       cmocka_unit_test(numbers_that_do_not_fit)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
