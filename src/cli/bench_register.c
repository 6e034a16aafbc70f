/* attune bench register: registration against the structure it was published in, what its modes cost, and all methods
 * on two files. */
#include "bench/register.h"
#include "cli/bench.h"

static atn_status measure(atn_cli_call *call, atn_device *device, const void *options) {
    return atn_bench_register(call->ctx, device, options);
}

atn_status atn_cli_bench_register(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_cloud *clouds[2] = {NULL, NULL};
    if (call->n_operands != 1 && call->n_operands != 3)
        return atn_cli_misuse(call, "register takes two files, SOURCE TARGET, or none");
    atn_status status = ATN_OK;
    for (size_t k = 0; k + 1 < call->n_operands && !status; ++k)
        status = atn_cloud_read(call->ctx, call->operands[k + 1], NULL, &clouds[k]);
    atn_bench_register_options options = {.quick = atn_cli_has(call, "quick"),
                                          .source = clouds[0],
                                          .target = clouds[1],
                                          .to = atn_cli_bench_listener(bench)};
    atn_cli_bench_expect(bench, atn_bench_register_steps(&options));
    if (!status) status = atn_cli_bench_on_device(bench, measure, &options);
    for (int k = 0; k < 2; ++k) atn_cloud_free(clouds[k]);
    return status;
}
