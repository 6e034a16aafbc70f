/* Sparse matrices in CSR. Validated on creation, so that kernels need not check their accesses. */
#include "num/array.h"

#include "base/memory.h"

static atn_status check(const atn_ctx *ctx, int64_t rows, int64_t columns, const int32_t *start,
                        const int32_t *column) {
    if (rows < 0 || columns < 0 || rows >= INT32_MAX || columns > INT32_MAX)
        return atn_fail(ctx, ATN_ERR_INPUT, "csr: %lld rows and %lld columns; 0 to %d are possible", (long long)rows,
                        (long long)columns, INT32_MAX - 1);
    if (start[0] != 0) return atn_fail(ctx, ATN_ERR_INPUT, "csr: start[0] is %d; it is always 0", start[0]);
    for (int64_t k = 0; k < rows; ++k)
        if (start[k + 1] < start[k])
            return atn_fail(ctx, ATN_ERR_INPUT, "csr: start decreases from %d to %d after row %lld", start[k],
                            start[k + 1], (long long)k);
    for (int64_t k = 0; k < start[rows]; ++k)
        if (column[k] < 0 || column[k] >= columns)
            return atn_fail(ctx, ATN_ERR_INPUT, "csr: column[%lld] is %d; there are %lld columns", (long long)k,
                            column[k], (long long)columns);
    return ATN_OK;
}

static atn_status copy(atn_device *device, atn_type type, int64_t length, const void *from, atn_array **out) {
    atn_status status = atn_array_create_vector(device, type, length, out);
    return status == ATN_OK ? atn_array_put(*out, from, 0) : status;
}

atn_status atn_csr_create(atn_device *device, atn_type type, int64_t rows, int64_t columns, const int32_t *start,
                          const int32_t *column, const void *element, atn_csr **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    *out = NULL;
    atn_status status = check(ctx, rows, columns, start, column);
    if (status != ATN_OK) return status;
    atn_csr *csr = atn_zalloc(ctx, sizeof *csr);
    if (!csr) return ATN_ERR_MEMORY;
    csr->rows = rows;
    csr->columns = columns;
    csr->count = start[rows];
    status = copy(device, ATN_INT32, rows + 1, start, &csr->start);
    if (status == ATN_OK) status = copy(device, ATN_INT32, csr->count, column, &csr->column);
    if (status == ATN_OK) status = copy(device, type, csr->count, element, &csr->element);
    if (status == ATN_OK)
        *out = csr;
    else {
        atn_array_free(csr->start);
        atn_array_free(csr->column);
        atn_array_free(csr->element);
        atn_free(ctx, csr);
    }
    return status;
}

void atn_csr_free(atn_csr *csr) {
    if (!csr) return;
    const atn_ctx *ctx = atn_array_ctx(csr->start);
    atn_array_free(csr->column);
    atn_array_free(csr->element);
    atn_array_free(csr->start);
    atn_free(ctx, csr);
}

int64_t atn_csr_rows(const atn_csr *csr) { return csr->rows; }
int64_t atn_csr_columns(const atn_csr *csr) { return csr->columns; }
int64_t atn_csr_count(const atn_csr *csr) { return csr->count; }
atn_array *atn_csr_elements(const atn_csr *csr) { return csr->element; }
