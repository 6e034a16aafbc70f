/* attune bench space: counting and listing search spaces, against Python. */
#include "bench/bench.h"
#include "cli/bench.h"

atn_status atn_cli_bench_space(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_bench rows = {.ctx = call->ctx, .progress = atn_cli_bench_progress, .user = bench};
    atn_cli_bench_expect(bench, call->n_operands > 1 ? (size_t)call->n_operands - 1 : 2); /* two of its own */
    atn_status status = atn_bench_space(&rows, call->operands + 1, call->n_operands - 1);
    atn_cli_progress_end(call);
    for (size_t k = 0; k < rows.count && !status; ++k) {
        atn_cli_bench_row row = atn_cli_bench_row_of(&rows.rows[k]);
        if (!atn_cli_bench_add(bench, &row)) break;
    }
    atn_bench_free(&rows);
    return status;
}
