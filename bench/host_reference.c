/* What the host is measured against: a copy, OpenBLAS, and the loop over the rows of a sparse matrix that one writes
 * without thinking twice. */
#include "bench.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/probes.h"

#include <time.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#if ATN_HAVE_CBLAS
#include <cblas.h>
#endif

static bool alone; /* one thread: its own time counts */

void bench_threads(int32_t threads) {
    alone = threads == 1;
    if (threads <= 0) return;
#if defined(_OPENMP)
    omp_set_num_threads(threads);
#endif
#if ATN_HAVE_CBLAS
    openblas_set_num_threads(threads);
#endif
}

double bench_clock(void) {
    struct timespec now;
    if (!alone) return atn_clock_seconds();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- a copy, the one that the device's peak is measured with ---- */

typedef struct copy_data {
    const atn_ctx *ctx;
    atn_device *device;
    atn_module *module;
    atn_function *function;
    atn_buffer *to, *from;
    size_t bytes, groups, items;
} copy_data;

static atn_status run_copy(void *data) {
    copy_data *c = data;
    int64_t n = (int64_t)(c->bytes / 16), rounds = 1;
    atn_arg args[] = {
        {.buffer = c->to}, {.buffer = c->from}, {.value = &n, .bytes = 8}, {.value = &rounds, .bytes = 8}};
    return atn_function_launch(
        atn_device_queue(c->device), c->function,
        &(atn_launch){.groups = {c->groups}, .items = {c->items}, .args = args, .threads = alone ? 1 : 0, .n_args = 4});
}

static void close_copy(void *data) {
    copy_data *c = data;
    atn_buffer_free(c->to);
    atn_buffer_free(c->from);
    atn_module_free(c->module);
    atn_free(c->ctx, c);
}

atn_status bench_copy(atn_device *device, bench_reference *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    const atn_device_info *info = atn_device_get_info(device);
    atn_probe_source source = atn_probe_get(device, ATN_PROBE_COPY);
    copy_data *c = atn_zalloc(ctx, sizeof *c);
    if (!c) return ATN_ERR_MEMORY;
    *c = (copy_data){.ctx = ctx, .device = device, .items = source.items, .bytes = (size_t)256 << 20};
    c->groups = source.items > 1 ? c->bytes / (16 * 4 * source.items) : (size_t)info->cores;
    atn_status status = atn_module_build(
        device, &(atn_build){.name = "copy", .source = source.source, .flags = source.flags}, &c->module);
    if (status == ATN_OK) status = atn_module_function(c->module, source.function, &c->function);
    if (status == ATN_OK) status = atn_buffer_create(device, c->bytes, &c->to);
    if (status == ATN_OK) status = atn_buffer_create(device, c->bytes, &c->from);
    if (status == ATN_OK) status = run_copy(c); /* from what is there: this places the pages in parallel */
    if (status == ATN_OK) status = atn_buffer_fill(NULL, c->from, 0, 0x3f, c->bytes);
    if (status != ATN_OK) {
        close_copy(c);
        return status;
    }
    *out = (bench_reference){
        .name = "copy", .run = run_copy, .data = c, .close = close_copy, .amount = 2 * (double)c->bytes};
    return ATN_OK;
}

/* ---- OpenBLAS ---- */

static void *data_of(bench_work *work, const char *object) { return atn_buffer_host(bench_slot(work, object)->buffer); }

#if ATN_HAVE_CBLAS
static atn_status run_gemm(void *data) {
    bench_work *work = data;
    const bench_job *job = work->job;
    int m = (int)job->m, n = (int)job->n, k = (int)job->k;
    void *a = data_of(work, "A"), *b = data_of(work, "B"), *c = data_of(work, "C");
    if (bench_slot(work, "A")->view.type == ATN_SP)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
    return ATN_OK;
}
#endif

/* ---- rows of a sparse matrix ---- */

#define CSR(name, T)                                                                                                   \
    static void name(int64_t rows, const int32_t *restrict start, const int32_t *restrict column,                      \
                     const T *restrict element, const T *restrict x, T *restrict y) {                                  \
        _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < rows; ++i) {                              \
            T sum = 0;                                                                                                 \
            for (int32_t k = start[i]; k < start[i + 1]; ++k) sum += element[k] * x[column[k]];                        \
            y[i] = sum;                                                                                                \
        }                                                                                                              \
    }
CSR(csr_single, float)
CSR(csr_double, double)

static atn_status run_csr(void *data) {
    bench_work *work = data;
    void *start = data_of(work, "start"), *column = data_of(work, "column"), *element = data_of(work, "element");
    if (bench_slot(work, "x")->view.type == ATN_SP)
        csr_single(work->job->m, start, column, element, data_of(work, "x"), data_of(work, "y"));
    else
        csr_double(work->job->m, start, column, element, data_of(work, "x"), data_of(work, "y"));
    return ATN_OK;
}

atn_status bench_host_reference(bench_work *work, bench_reference *out, const char **why) {
    *out = (bench_reference){.data = work};
    if (work->job->against == BENCH_CSR) {
        out->name = "OpenMP loop";
        out->run = run_csr;
        return ATN_OK;
    }
#if ATN_HAVE_CBLAS
    if (work->job->against == BENCH_BLAS) {
        out->name = "OpenBLAS";
        out->run = run_gemm;
        return ATN_OK;
    }
    *why = "nobody to compare with";
#else
    *why = "built without OpenBLAS";
#endif
    return ATN_OK;
}
