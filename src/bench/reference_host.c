/* References on the host: OpenBLAS, loaded at run time, and the straightforward loop over the rows of a sparse matrix,
 * built like generated code. */
#include "bench/parts.h"

#include "base/memory.h"
#include "device/host_abi.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- OpenBLAS ---- */

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 }; /* of CBLAS */

typedef struct blas {
    const bench_work *work;
    void (*sgemm)(int, int, int, int, int, int, float, const void *, int, const void *, int, float, void *, int);
    void (*dgemm)(int, int, int, int, int, int, double, const void *, int, const void *, int, double, void *, int);
} blas;

static void *data_of(const bench_work *work, const char *object) {
    return atn_buffer_host(bench_slot(work, object)->buffer);
}

static atn_status run_gemm(void *data) {
    blas *b = data;
    int m = (int)bench_size(b->work, "A", 1), k = (int)bench_size(b->work, "A", 0),
        n = (int)bench_size(b->work, "B", 0);
    const void *A = data_of(b->work, "A"), *B = data_of(b->work, "B");
    void *C = data_of(b->work, "C");
    if (bench_slot(b->work, "A")->view.type == ATN_SP)
        b->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, 1, A, k, B, n, 0, C, n);
    else
        b->dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, 1, A, k, B, n, 0, C, n);
    return ATN_OK;
}

static void close_blas(void *data) {
    blas *b = data;
    atn_free(b->work->stand.ctx, b);
}

static atn_status open_blas(bench_work *work, bench_reference *out, const char **why) {
    static const char *const NAMES[] = {"libopenblas.so.0", "libopenblas.so"};
    void *library = NULL;
    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0); /* else its threads wait on all cores while ours are measured */
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES && !library; ++k)
        library = dlopen(NAMES[k], RTLD_NOW | RTLD_LOCAL); /* stays loaded: it has threads of its own */
    *why = "libopenblas is not here";
    if (!library) return ATN_OK;
    blas *b = atn_zalloc(work->stand.ctx, sizeof *b);
    if (!b) return ATN_ERR_MEMORY;
    b->work = work;
    *(void **)&b->sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&b->dgemm = dlsym(library, "cblas_dgemm");
    if (!b->sgemm || !b->dgemm) {
        close_blas(b);
        *why = "libopenblas was built without CBLAS";
        return ATN_OK;
    }
    *out = (bench_reference){.name = "OpenBLAS", .run = run_gemm, .data = b, .close = close_blas};
    return ATN_OK;
}

/* ---- rows of a sparse matrix ---- */

static const char CSR[] = ATN_HOST_ABI_TEXT
    "#define ROWS(name, T) \\\n"
    "    void name(const struct atn_call *call) { \\\n"
    "        const int32_t *restrict start = *(int32_t **)call->args[0], *restrict column = *(int32_t "
    "**)call->args[1]; \\\n"
    "        const T *restrict element = *(T **)call->args[2], *restrict x = *(T **)call->args[3]; \\\n"
    "        T *restrict y = *(T **)call->args[4]; \\\n"
    "        int64_t rows = *(int64_t *)call->args[5]; \\\n"
    "        for (int64_t range[2]; call->next(call, rows, 0, 0, range);) \\\n"
    "        for (int64_t i = range[0]; i < range[1]; ++i) { \\\n"
    "            T sum = 0; \\\n"
    "            for (int32_t k = start[i]; k < start[i + 1]; ++k) sum += element[k] * x[column[k]]; \\\n"
    "            y[i] = sum; \\\n"
    "        } \\\n"
    "    }\n"
    "ROWS(rows_single, float)\n"
    "ROWS(rows_double, double)\n";

typedef struct rows {
    bench_work *work;
    atn_module *module;
    atn_function *function;
} rows;

static atn_status run_rows(void *data) {
    rows *r = data;
    static const char *const OBJECTS[] = {"start", "column", "element", "x", "y"};
    int64_t n = bench_size(r->work, "start", 0) - 1;
    atn_arg args[6];
    for (int k = 0; k < 5; ++k) args[k] = (atn_arg){.buffer = bench_slot(r->work, OBJECTS[k])->buffer};
    args[5] = (atn_arg){.value = &n, .bytes = 8};
    return atn_function_launch(atn_device_queue(r->work->device), r->function,
                               &(atn_launch){.groups = {1}, .args = args, .n_args = 6});
}

static void close_rows(void *data) {
    rows *r = data;
    atn_module_free(r->module);
    atn_free(r->work->stand.ctx, r);
}

static atn_status open_rows(bench_work *work, bench_reference *out) {
    rows *r = atn_zalloc(work->stand.ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->work = work;
    bool single = bench_slot(work, "x")->view.type == ATN_SP;
    atn_status status = atn_module_build(work->device, &(atn_build){.name = "rows", .source = CSR}, &r->module);
    if (status == ATN_OK) status = atn_module_function(r->module, single ? "rows_single" : "rows_double", &r->function);
    if (status != ATN_OK) {
        close_rows(r);
        return status;
    }
    *out = (bench_reference){.name = "plain loop", .run = run_rows, .data = r, .close = close_rows};
    return ATN_OK;
}

atn_status bench_host_reference(bench_work *work, bench_reference *out, const char **why) {
    *out = (bench_reference){0};
    *why = "no reference";
    if (work->against == BENCH_BLAS) return open_blas(work, out, why);
    if (work->against == BENCH_CSR) return open_rows(work, out);
    return ATN_OK;
}
