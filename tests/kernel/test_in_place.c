/* Kernels that read what they write: all reads of a point come before its writes, and points that write nothing disturb
 * no other. */
#include "support/shared.h"

#include "support/held.h"

#include <string.h>

enum { LENGTH = 19 };

#define OBJECT(name)   "<DataObject name='" name "' structure='vector' elementDataType='SP'/>"
#define LINK(from, to) "<Connection source='" from "' destination='" to "'/>"

/* u and v change places: written one after the other, read before. */
static const char SWAP[] = "<ParallelAlgorithm name='swap' dimensions='1'><DataObjects>" OBJECT("u") OBJECT(
    "v") "</DataObjects><Children>"
         "<DataAccessRead name='a' source='u' selFunction='v0'/><DataAccessRead name='b' source='v' selFunction='v0'/>"
         "<DataAccessWrite name='first' destination='u' selFunction='v0'/>"
         "<DataAccessWrite name='second' destination='v' selFunction='v0'/></Children><Connections>" LINK(
             "u.Size(0)", "swap.Range(0)") LINK("swap.i(0)", "a.v(0)") LINK("swap.i(0)", "b.v(0)")
             LINK("swap.i(0)", "first.v(0)") LINK("swap.i(0)", "second.v(0)") LINK("b.out", "first.in")
                 LINK("a.out", "second.in") "</Connections></ParallelAlgorithm>";

/* u doubles where v is positive. */
static const char SOME[] = "<ParallelAlgorithm name='some' dimensions='1'><DataObjects>" OBJECT("u") OBJECT(
    "v") "</DataObjects><Children>"
         "<DataAccessRead name='a' source='u' selFunction='v0'/><DataAccessRead name='b' source='v' selFunction='v0'/>"
         "<FunctionBlock name='twice' dataType='SP' function='2 * #in(0)'/><FunctionBlock name='wanted' dataType='B' "
         "function='#in(0) > 0'/>"
         "<DataAccessWrite name='store' destination='u' selFunction='v0'/></Children><Connections>" LINK(
             "u.Size(0)", "some.Range(0)") LINK("some.i(0)", "a.v(0)") LINK("some.i(0)", "b.v(0)")
             LINK("some.i(0)", "store.v(0)") LINK("a.out", "twice.in(0)") LINK("b.out", "wanted.in(0)")
                 LINK("twice.out(0)", "store.in")
                     LINK("wanted.out(0)", "store.enable") "</Connections></ParallelAlgorithm>";

SHARED_CTX;

static void hold(const char *name, const char *xml) {
    static const char *const VARIANTS[] = {"", "regs_p0=2", "vec_p0=4", "lanes_p0=8,regs_p0=2",
                                           "lanes_p0=4,vec_p0=2,seq_p0=2"};
    float data[2][LENGTH];
    atn_view views[2];
    uint64_t seed = 7;
    for (int k = 0; k < 2; ++k) {
        for (int n = 0; n < LENGTH; ++n) data[k][n] = (float)(2 * kit_uniform(&seed) - 1);
        views[k] = (atn_view){.data = data[k], .type = ATN_SP, .rank = 1, .size = {LENGTH, 1}, .pitch = LENGTH};
    }
    atn_sequence *sequence;
    atn_devices *devices;
    kit_ok(ctx, atn_sequence_parse(ctx, name, xml, strlen(xml), &(atn_parse_options){0}, NULL, &sequence));
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    const atn_graph *g = sequence->step[0];
    atn_bindings frame = {.views = views};
    held_case c = {.graph = g, .views = views};
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        atn_device *device;
        if (!kit_wants(atn_devices_info(devices, d)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        for (size_t n = 0; n < sizeof VARIANTS / sizeof *VARIANTS; ++n) {
            atn_variant v = atn_variant_plain();
            if (*VARIANTS[n]) kit_ok(ctx, atn_variant_parse(ctx, &v, VARIANTS[n]));
            atn_eval_options options = atn_variant_arithmetic(g, &v, atn_device_get_info(device));
            atn_eval_result *oracle;
            kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
            atn_status status = held_run(device, &c, &v, oracle);
            atn_eval_free(oracle);
            if (status != ATN_OK && status != ATN_ERR_UNSUPPORTED)
                fail_msg("%s on %s, variant '%s': %s", name, atn_device_get_info(device)->backend, VARIANTS[n],
                         atn_ctx_message(ctx));
        }
        atn_device_close(device);
    }
    atn_devices_free(devices);
    atn_sequence_free(sequence);
}

KIT_TEST(reads_before_it_writes) { hold("swap", SWAP); }

KIT_TEST(writes_where_it_is_wanted) { hold("some", SOME); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_before_it_writes),
                                       cmocka_unit_test(writes_where_it_is_wanted)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
