/* Exponentials in single precision, as the library has them, native and as polynomials of every degree: over all of
 * their range, at its ends and beyond, where 0 and infinity are exact. */
#include "testkit.h"

#include "support/held.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = 1500 };

#define OBJECT(name)   "<DataObject name='" name "' structure='vector' elementDataType='SP'/>"
#define LINK(from, to) "<Connection source='" from "' destination='" to "'/>"

static const char FORMAT[] = "<ParallelAlgorithm name='power' dimensions='1'%s><DataObjects>" OBJECT("x")
    OBJECT("y") "</DataObjects><Children>"
                "<DataAccessRead name='a' source='x' selFunction='v0'/>"
                "<FunctionBlock name='f' dataType='SP' function='%s(#in(0))'/>"
                "<DataAccessWrite name='store' destination='y' selFunction='v0'/></Children><Connections>" LINK(
                    "x.Size(0)", "power.Range(0)") LINK("power.i(0)", "a.v(0)") LINK("a.out", "f.in(0)")
                    LINK("f.out(0)", "store.in") LINK("power.i(0)", "store.v(0)") "</Connections></ParallelAlgorithm>";

static const char *const VARIANTS[] = {
    "",
    "exp=native",
    "exp=native,lanes_p0=64,fast=1",
    "exp=native,vec_p0=4",
    "exp=polynomial",
    "exp=polynomial,degree=3",
    "exp=polynomial,degree=4,vec_p0=4",
    "exp=polynomial,degree=5,vec_p0=8",
    "exp=polynomial,degree=7,vec_p0=16",
    "exp=polynomial,vec_p0=2",
    "exp=polynomial,lanes_p0=32,degree=5",
    "exp=polynomial,degree=5,vec_p0=16,fast=1",
    "exp=polynomial,degree=3,fast=1",
};

/* All exponents, densely around where results become 0, and far beyond. */
static void fill(float *x, double scale, bool finite) {
    static const double ENDS[] = {-127.5, -127.00001, -127, -126.99999, -126.5, -126, -125.5, -149, -1e3, -6e4,
                                  -1e9,   -1e30,      0,    -0.0,       1,      -1,   0.5,    -0.5, 127,  127.4};
    static const double BEYOND[] = {(double)NAN, INFINITY, -INFINITY, 130, 1e9, 3e38, -3e38};
    enum { N_ENDS = sizeof ENDS / sizeof *ENDS, N_BEYOND = sizeof BEYOND / sizeof *BEYOND };
    for (int k = 0; k < LENGTH; ++k) {
        double at = k < N_ENDS                         ? ENDS[k]
                    : !finite && k < N_ENDS + N_BEYOND ? BEYOND[k - N_ENDS]
                                                       : 127.4 - (127.4 + 160) * k / LENGTH;
        x[k] = (float)(at * scale);
    }
}

static void hold(const char *function, double scale, bool finite) {
    atn_ctx *ctx = kit_ctx();
    static float data[2][LENGTH];
    atn_view views[2];
    char xml[sizeof FORMAT + 64];
    snprintf(xml, sizeof xml, FORMAT, finite ? " finite='true'" : "", function);
    fill(data[0], scale, finite);
    for (int k = 0; k < 2; ++k)
        views[k] = (atn_view){.data = data[k], .type = ATN_SP, .rank = 1, .size = {LENGTH, 1}, .pitch = LENGTH};
    held_on_all(ctx, function, xml, views, finite, VARIANTS, sizeof VARIANTS / sizeof *VARIANTS);
    kit_free(ctx);
}

KIT_TEST(powers_of_two) {
    hold("exp2", 1, false);
    hold("exp2", 1, true);
}

KIT_TEST(powers_of_e) {
    hold("exp", 0.6931471805599453, false);
    hold("exp", 0.6931471805599453, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(powers_of_two), cmocka_unit_test(powers_of_e)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
