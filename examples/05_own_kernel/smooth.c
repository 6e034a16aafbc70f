/* A kernel of one's own from C, with the public headers only: three-point smoothing, described in XML, run again and
 * again on two arrays that take turns. The peak spreads, its mass stays; both are checked. */
#include <attune/attune.h>

#include <math.h>
#include <stdio.h>

enum { N = 101, STEPS = 50 };

static const char SMOOTH[] = "<ParallelAlgorithm name='smooth' dimensions='1'>"
                             "  <DataObjects>"
                             "    <DataObject name='x' structure='vector' elementDataType='SP'/>"
                             "    <DataObject name='y' structure='vector' elementDataType='SP'/>"
                             "    <Parameter name='amount' dataType='SP' default='0.25'/>"
                             "  </DataObjects>"
                             "  <Children>"
                             "    <DataAccessRead name='left' source='x' selFunction='v0 - 1' boundary='clamp'/>"
                             "    <DataAccessRead name='centre' source='x' selFunction='v0'/>"
                             "    <DataAccessRead name='right' source='x' selFunction='v0 + 1' boundary='clamp'/>"
                             "    <FunctionBlock name='blend' numInVars='4' numOutVars='1' dataType='SP'"
                             "      function='#in(1) + #in(3) * (#in(0) - 2 * #in(1) + #in(2))'/>"
                             "    <DataAccessWrite name='result' destination='y' selFunction='v0'/>"
                             "  </Children>"
                             "  <Connections>"
                             "    <Connection source='x.Size(0)' destination='smooth.Range(0)'/>"
                             "    <Connection source='smooth.i(0)' destination='left.v(0)'/>"
                             "    <Connection source='smooth.i(0)' destination='centre.v(0)'/>"
                             "    <Connection source='smooth.i(0)' destination='right.v(0)'/>"
                             "    <Connection source='left.out' destination='blend.in(0)'/>"
                             "    <Connection source='centre.out' destination='blend.in(1)'/>"
                             "    <Connection source='right.out' destination='blend.in(2)'/>"
                             "    <Connection source='amount.out' destination='blend.in(3)'/>"
                             "    <Connection source='blend.out(0)' destination='result.in'/>"
                             "    <Connection source='smooth.i(0)' destination='result.v(0)'/>"
                             "  </Connections>"
                             "</ParallelAlgorithm>";

/* Two kernels, one for each direction: what is bound stays bound, so that the steps only run. */
static atn_status smooth(atn_device *device, float *values) {
    atn_array *a = NULL, *b = NULL;
    atn_kernel *there = NULL, *back = NULL;
    atn_status status = atn_array_create_vector(device, ATN_SP, N, &a);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_SP, N, &b);
    if (status == ATN_OK) status = atn_array_put(a, values, 0);
    if (status == ATN_OK) status = atn_kernel_create(device, SMOOTH, NULL, &there);
    if (status == ATN_OK) status = atn_kernel_create(device, SMOOTH, NULL, &back);
    if (status == ATN_OK) status = atn_kernel_bind(there, "x", a);
    if (status == ATN_OK) status = atn_kernel_bind(there, "y", b);
    if (status == ATN_OK) status = atn_kernel_bind(back, "x", b);
    if (status == ATN_OK) status = atn_kernel_bind(back, "y", a);
    if (status == ATN_OK) status = atn_kernel_param(back, "amount", 0.25, 0); /* its default, given all the same */
    for (int k = 0; k < STEPS && status == ATN_OK; ++k) status = atn_kernel_run(k % 2 ? back : there);
    if (status == ATN_OK) status = atn_array_get(a, values, 0); /* the only transfer back */
    atn_kernel_free(back);
    atn_kernel_free(there);
    atn_array_free(b);
    atn_array_free(a);
    return status;
}

int main(void) {
    float values[N] = {[N / 2] = 1};
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = smooth(device, values);
    double mass = 0;
    for (int k = 0; k < N; ++k) mass += (double)values[k];
    if (status == ATN_OK)
        printf("after %d steps: peak %.6f, mass %.6f\n", STEPS, (double)values[N / 2], mass);
    else
        fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    /* fifty steps of (1/4, 1/2, 1/4) are a hundred of (1/2, 1/2): the peak is C(100, 50) / 2^100 */
    return status == ATN_OK && fabs(mass - 1) < 1e-5 && fabs((double)values[N / 2] - 0.0795892) < 1e-5 ? 0 : 1;
}
