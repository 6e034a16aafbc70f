/* Any bytes as an NPY file: read or refused, without leaks, and what was read is all there. */
#include "base/memory.h"
#include "num/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    atn_ctx *ctx;
    atn_npy npy;
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    char *bytes = atn_alloc(ctx, size);
    if (size) memcpy(bytes, data, size);
    atn_status status = atn_npy_take(ctx, "fuzz.npy", bytes, size, &npy);
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    if (status == ATN_OK) {
        atn_view view = atn_npy_view(&npy);
        size_t count = (size_t)view.size[0] * (size_t)view.size[1], element = atn_type_bytes(view.type);
        if (count * element > size) abort();
        volatile unsigned char sum = 0;
        for (size_t k = 0; k < count * element; ++k) sum = (unsigned char)(sum + ((unsigned char *)view.data)[k]);
    }
    atn_npy_free(&npy);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
