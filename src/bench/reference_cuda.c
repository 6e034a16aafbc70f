/* References on a CUDA device: cuBLAS and cuSPARSE, loaded at run time, on the same context and stream. FP32 stays
 * FP32: cuBLAS's default math does not round to TF32. */
#include "bench/parts.h"

#include "base/environment.h"
#include "base/memory.h"
#include "device/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_cu_address address_of(bench_work *work, const char *object) {
    return ((const atn_cuda_buffer *)bench_slot(work, object)->buffer)->address;
}

/* By its usual names, then in the toolkit. Stays loaded. */
static void *load(const char *stem) {
    const char *roots[] = {atn_environment(ATN_ENV_CUDA_HOME), atn_environment(ATN_ENV_CUDA_PATH), "/usr/local/cuda"};
    char path[1024];
    for (int version = 19; version >= 11; --version) {
        snprintf(path, sizeof path, "%s.so.%d", stem, version);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    for (size_t k = 0; k < sizeof roots / sizeof *roots; ++k) {
        if (!roots[k]) continue;
        snprintf(path, sizeof path, "%s/lib64/%s.so", roots[k], stem);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        for (int version = 19; version >= 11 && !library; --version) {
            snprintf(path, sizeof path, "%s/lib64/%s.so.%d", roots[k], stem, version);
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
        if (library) return library;
    }
    return NULL;
}

/* ---- cuBLAS ---- */

typedef struct blas {
    bench_work *work;
    void *handle;
    int (*create)(void **handle), (*destroy)(void *handle), (*set_stream)(void *handle, atn_cu_stream *stream);
    int (*sgemm)(void *, int, int, int, int, int, const float *, atn_cu_address, int, atn_cu_address, int,
                 const float *, atn_cu_address, int);
    int (*dgemm)(void *, int, int, int, int, int, const double *, atn_cu_address, int, atn_cu_address, int,
                 const double *, atn_cu_address, int);
    int (*gemm_ex)(void *, int, int, int, int, int, const void *, atn_cu_address, int, int, atn_cu_address, int, int,
                   const void *, atn_cu_address, int, int, int, int);
} blas;

/* Row-major C = A B is column-major C' = B' A'. */
static atn_status run_gemm(void *data) {
    blas *b = data;
    int m = (int)bench_size(b->work, "A", 1), k = (int)bench_size(b->work, "A", 0),
        n = (int)bench_size(b->work, "B", 0);
    int result;
    atn_cu_address A = address_of(b->work, "A"), B = address_of(b->work, "B"), C = address_of(b->work, "C");
    static const float ONE = 1, ZERO = 0;
    static const double ONE2 = 1, ZERO2 = 0;
    enum { HALVES = 2, SUMS_OF_SINGLES = 68, ANY = -1 }; /* CUDA_R_16F, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT */
    atn_type type = bench_slot(b->work, "A")->view.type;
    if (type == ATN_HP)
        result = b->gemm_ex(b->handle, 0, 0, n, m, k, &ONE, B, HALVES, n, A, HALVES, k, &ZERO, C, HALVES, n,
                            SUMS_OF_SINGLES, ANY);
    else if (type == ATN_SP)
        result = b->sgemm(b->handle, 0, 0, n, m, k, &ONE, B, n, A, k, &ZERO, C, n);
    else
        result = b->dgemm(b->handle, 0, 0, n, m, k, &ONE2, B, n, A, k, &ZERO2, C, n);
    return result == 0 ? ATN_OK
                       : atn_fail(atn_device_ctx(b->work->device), ATN_ERR_DEVICE, "cuBLAS failed with %d", result);
}

static void close_blas(void *data) {
    blas *b = data;
    if (b->handle) b->destroy(b->handle);
    atn_free(atn_device_ctx(b->work->device), b);
}

static atn_status open_blas(bench_work *work, bench_reference *out, const char **why) {
    static const atn_library_symbol SYMBOLS[] = {
        {offsetof(blas, create), "cublasCreate_v2", false},        {offsetof(blas, destroy), "cublasDestroy_v2", false},
        {offsetof(blas, set_stream), "cublasSetStream_v2", false}, {offsetof(blas, sgemm), "cublasSgemm_v2", false},
        {offsetof(blas, dgemm), "cublasDgemm_v2", false},          {offsetof(blas, gemm_ex), "cublasGemmEx", false}};
    void *library = load("libcublas");
    *why = "libcublas is not here";
    if (!library) return ATN_OK;
    blas *b = atn_zalloc(atn_device_ctx(work->device), sizeof *b);
    if (!b) return ATN_ERR_MEMORY;
    b->work = work;
    bool good = !atn_symbols_load(library, b, SYMBOLS, sizeof SYMBOLS / sizeof *SYMBOLS) &&
                b->create(&b->handle) == 0 &&
                b->set_stream(b->handle, ((atn_cuda_queue *)atn_device_queue(work->device))->stream) == 0;
    if (!good) {
        close_blas(b);
        *why = "cuBLAS does not start";
        return ATN_OK;
    }
    *out = (bench_reference){.name = "cuBLAS", .run = run_gemm, .data = b, .close = close_blas};
    return ATN_OK;
}

/* ---- cuSPARSE ---- */

typedef struct sparse {
    bench_work *work;
    void *handle, *matrix, *x, *y;
    atn_buffer *space;
    int type; /* cudaDataType: 0 single, 1 double */
    int (*create)(void **handle), (*destroy)(void *handle), (*set_stream)(void *handle, atn_cu_stream *stream);
    int (*csr)(void **matrix, int64_t rows, int64_t columns, int64_t elements, atn_cu_address start,
               atn_cu_address column, atn_cu_address element, int start_type, int column_type, int base, int type);
    int (*vector)(void **vector, int64_t size, atn_cu_address data, int type);
    int (*space_of)(void *handle, int op, const void *alpha, void *matrix, void *x, const void *beta, void *y, int type,
                    int algorithm, size_t *bytes);
    int (*spmv)(void *handle, int op, const void *alpha, void *matrix, void *x, const void *beta, void *y, int type,
                int algorithm, atn_cu_address space);
} sparse;

static const double NUMBERS[2] = {1, 0};
static const float SINGLES[2] = {1, 0};
static const void *number(const sparse *s, int which) {
    return s->type ? (const void *)&NUMBERS[which] : (const void *)&SINGLES[which];
}

static atn_status run_spmv(void *data) {
    sparse *s = data;
    int result = s->spmv(s->handle, 0, number(s, 0), s->matrix, s->x, number(s, 1), s->y, s->type, 0,
                         ((const atn_cuda_buffer *)s->space)->address);
    return result == 0 ? ATN_OK
                       : atn_fail(atn_device_ctx(s->work->device), ATN_ERR_DEVICE, "cuSPARSE failed with %d", result);
}

static void close_sparse(void *data) {
    sparse *s = data;
    atn_buffer_free(s->space);
    if (s->handle) s->destroy(s->handle); /* the descriptors go with the process */
    atn_free(atn_device_ctx(s->work->device), s);
}

static bool start_sparse(sparse *s) {
    enum { INDEX_32 = 2, FROM_ZERO = 0 };
    int64_t m = bench_size(s->work, "y", 0), n = bench_size(s->work, "x", 0), all = bench_size(s->work, "element", 0);
    size_t bytes = 0;
    if (s->create(&s->handle) != 0) return false;
    if (s->set_stream(s->handle, ((atn_cuda_queue *)atn_device_queue(s->work->device))->stream) != 0) return false;
    if (s->csr(&s->matrix, m, n, all, address_of(s->work, "start"), address_of(s->work, "column"),
               address_of(s->work, "element"), INDEX_32, INDEX_32, FROM_ZERO, s->type) != 0)
        return false;
    if (s->vector(&s->x, n, address_of(s->work, "x"), s->type) != 0 ||
        s->vector(&s->y, m, address_of(s->work, "y"), s->type) != 0)
        return false;
    if (s->space_of(s->handle, 0, number(s, 0), s->matrix, s->x, number(s, 1), s->y, s->type, 0, &bytes) != 0)
        return false;
    return atn_buffer_create(s->work->device, bytes > 0 ? bytes : 16, &s->space) == ATN_OK;
}

static atn_status open_sparse(bench_work *work, bench_reference *out, const char **why) {
    static const atn_library_symbol SYMBOLS[] = {{offsetof(sparse, create), "cusparseCreate", false},
                                                 {offsetof(sparse, destroy), "cusparseDestroy", false},
                                                 {offsetof(sparse, set_stream), "cusparseSetStream", false},
                                                 {offsetof(sparse, csr), "cusparseCreateCsr", false},
                                                 {offsetof(sparse, vector), "cusparseCreateDnVec", false},
                                                 {offsetof(sparse, space_of), "cusparseSpMV_bufferSize", false},
                                                 {offsetof(sparse, spmv), "cusparseSpMV", false}};
    void *library = load("libcusparse");
    *why = "libcusparse is not here";
    if (!library) return ATN_OK;
    sparse *s = atn_zalloc(atn_device_ctx(work->device), sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    s->work = work;
    s->type = bench_slot(work, "x")->view.type == ATN_DP;
    if (atn_symbols_load(library, s, SYMBOLS, sizeof SYMBOLS / sizeof *SYMBOLS) || !start_sparse(s)) {
        close_sparse(s);
        *why = "cuSPARSE does not start";
        return ATN_OK;
    }
    *out = (bench_reference){.name = "cuSPARSE", .run = run_spmv, .data = s, .close = close_sparse};
    return ATN_OK;
}

atn_status bench_cuda_reference(bench_work *work, bench_reference *out, const char **why) {
    *out = (bench_reference){0};
    *why = "no reference";
    if (work->against == BENCH_BLAS) return open_blas(work, out, why);
    if (work->against == BENCH_CSR) return open_sparse(work, out, why);
    return ATN_OK;
}
