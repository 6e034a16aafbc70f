/* The few cached buffers are searched linearly. */
#include "device/cuda_pool.h"

static const size_t SMALL = (size_t)64 << 10; /* bytes: a registration takes hundreds of such in turn */

size_t atn_cuda_pool_size(size_t bytes) {
    size_t step = 256;
    while (bytes < SMALL && step < bytes) step *= 2;
    if (bytes < SMALL) return step;
    while (step < bytes / 8) step *= 2;
    return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

bool atn_cuda_pool_take(atn_cuda_pool *pool, size_t bytes, atn_cu_address *address, size_t *size) {
    size_t best = pool->count, most = bytes < SMALL ? atn_cuda_pool_size(bytes) : bytes + bytes / 4;
    for (size_t k = 0; k < pool->count; ++k)
        if (pool->kept[k].bytes >= bytes && pool->kept[k].bytes <= most &&
            (best == pool->count || pool->kept[k].bytes < pool->kept[best].bytes))
            best = k;
    if (best == pool->count) return false;
    *address = pool->kept[best].address;
    *size = pool->kept[best].bytes;
    pool->bytes -= *size;
    pool->kept[best] = pool->kept[--pool->count];
    return true;
}

bool atn_cuda_pool_give(atn_cuda_pool *pool, atn_cu_address address, size_t size, size_t most) {
    if (pool->count == ATN_CUDA_KEPT || size > most || pool->bytes > most - size) return false;
    pool->kept[pool->count].address = address;
    pool->kept[pool->count++].bytes = size;
    pool->bytes += size;
    return true;
}

bool atn_cuda_pool_drop(atn_cuda_pool *pool, atn_cu_address *address) {
    if (!pool->count) return false;
    *address = pool->kept[--pool->count].address;
    pool->bytes -= pool->kept[pool->count].bytes;
    return true;
}
