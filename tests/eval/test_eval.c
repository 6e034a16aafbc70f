/* The oracle on each construct of the language, with results worked out by hand. */
#include "support/kernel.h"

#include <math.h>
#include <string.h>

static const char listing2[] =
    "<ParallelAlgorithm name='MV' dimensions='1'><DataObjects>" KERNEL_MATRIX("A", "SP") KERNEL_VECTOR("b", "SP") KERNEL_VECTOR("c", "SP")
    "</DataObjects><Children><IteratorBlock name='iter1' dimensions='1' ICF='#acc(0)+#in(0)' ICFType='SP'>"
    "<DataAccessRead name='access_A' source='A' selfFunction='v0, v1'/><DataAccessRead name='access_b' source='b' selfFunction='v0'/>"
    "<FunctionBlock name='MulFunc' numInVars='2' numOutVars='1' dataType='SP' function='#in(0) * #in(1);'/></IteratorBlock>"
    "<DataAccessWrite name='access_c' destination='c' accessFunction='v0'/></Children><Connections>"
    KERNEL_LINK("A.Size(1)", "MV.Range(0)") KERNEL_LINK("A.Size(0)", "iter1.Range(0)") KERNEL_LINK("iter1.i(0)", "access_A.v(0)")
    KERNEL_LINK("MV.i(0)", "access_A.v(1)") KERNEL_LINK("iter1.i(0)", "access_b.v(0)") KERNEL_LINK("access_A.out", "MulFunc.in(0)")
    KERNEL_LINK("access_b.out", "MulFunc.in(1)") KERNEL_LINK("MulFunc.out(0)", "iter1.func(0)") KERNEL_LINK("iter1.out", "access_c.in")
    KERNEL_LINK("MV.i(0)", "access_c.v(0)") "</Connections></ParallelAlgorithm>";

static void matrix_times_vector(void **state) {
    (void)state;
    atn_ctx *ctx = kit_ctx();
    kernel k = kernel_parse(ctx, listing2);
    float A[2][4] = {{1, 2, 3, -99}, {4, 5, 6, -99}}, b[3] = {1, 10, 100}, c[2] = {-1, -1};
    kernel_matrix(&k, "A", ATN_SP, A, 3, 2, 4);
    kernel_vector(&k, "b", ATN_SP, b, 3);
    kernel_vector(&k, "c", ATN_SP, c, 2);
    kit_ok(ctx, kernel_eval(&k, NULL));
    assert_true(c[0] == 321 && c[1] == 654);
    kernel_free(&k);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_times_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
