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
    held_on_all(ctx, name, xml, views, false, VARIANTS, sizeof VARIANTS / sizeof *VARIANTS);
}

KIT_TEST(reads_before_it_writes) { hold("swap", SWAP); }

KIT_TEST(writes_where_it_is_wanted) { hold("some", SOME); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_before_it_writes),
                                       cmocka_unit_test(writes_where_it_is_wanted)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
