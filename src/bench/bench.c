/* The list of rows. */
#include "bench/bench.h"

#include "base/memory.h"

atn_status atn_bench_add(atn_bench *bench, const atn_bench_row *row) {
    atn_status status =
        atn_grow(bench->ctx, (void **)&bench->rows, &bench->capacity, bench->count, sizeof *bench->rows);
    if (!status) bench->rows[bench->count++] = *row;
    return status;
}

void atn_bench_free(atn_bench *bench) {
    atn_free(bench->ctx, bench->rows);
    bench->rows = NULL;
    bench->count = bench->capacity = 0;
}
