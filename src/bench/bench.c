/* The list of rows. */
#include "bench/bench.h"

#include "base/memory.h"

bool atn_bench_visit(const atn_bench_listener *to, const atn_bench_row *row) { return to->visit(to->user, row); }

void atn_bench_progress(const atn_bench_listener *to, const char *what) {
    if (to->progress) to->progress(to->user, what);
}

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
