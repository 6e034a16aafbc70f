/* Freed buffers, kept for the next allocation: the driver is slow to allocate, and waits for all queued work before it
 * frees. The next user is queued behind the work of the previous one, so only devices with a single queue keep any, and
 * no buffer whose address was given away: others may still use it. */
#ifndef ATN_DEVICE_CUDA_POOL_H
#define ATN_DEVICE_CUDA_POOL_H

#include "device/cuda_api.h"

#include <stdbool.h>
#include <stddef.h>

enum { ATN_CUDA_KEPT = 1024 }; /* buffers */

/* Of a device; zeroed to begin with. Buffers of one device are made and freed by one thread at a time. */
typedef struct atn_cuda_pool {
    struct {
        atn_cu_address address;
        size_t bytes;
    } kept[ATN_CUDA_KEPT];
    size_t count, bytes; /* of what is kept */
} atn_cuda_pool;

/* Size requested from the driver: sizes are an eighth apart, small ones powers of 2, so that one serves many. */
size_t atn_cuda_pool_size(size_t bytes);
/* The smallest kept buffer that has at least that many bytes and not more than a fourth beyond, or, if small, the same
 * size; false: none. */
bool atn_cuda_pool_take(atn_cuda_pool *pool, size_t bytes, atn_cu_address *address, size_t *size);
/* Keeps it; false: nothing more is kept, beyond `most` bytes of all. */
bool atn_cuda_pool_give(atn_cuda_pool *pool, atn_cu_address address, size_t size, size_t most);
/* The next of those kept, which the caller frees; false: none is left. */
bool atn_cuda_pool_drop(atn_cuda_pool *pool, atn_cu_address *address);

#endif
