/* Blocks come in size classes an eighth apart, so that arrays of nearly the same size can reuse one. Little is kept:
 * pinned memory is unavailable to all other processes. */
#include "device/pinned.h"

#include "device/backend.h"

#include <pthread.h>

static const size_t MOST = (size_t)256 << 20; /* bytes that are kept */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t round_up(size_t bytes) {
    size_t step = 4096;
    while (step < bytes / 8) step *= 2;
    return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

/* The smallest of those kept that are large enough, and not more than twice as large. */
static void *find(atn_pinned_pool *pool, size_t *bytes) {
    size_t best = pool->count;
    for (size_t k = 0; k < pool->count; ++k)
        if (pool->kept[k].bytes >= *bytes && pool->kept[k].bytes / 2 <= *bytes &&
            (best == pool->count || pool->kept[k].bytes < pool->kept[best].bytes))
            best = k;
    if (best == pool->count) return NULL;
    void *block = pool->kept[best].block;
    *bytes = pool->kept[best].bytes;
    pool->bytes -= *bytes;
    pool->kept[best] = pool->kept[--pool->count];
    return block;
}

void *atn_pinned_take(atn_device *device, size_t *bytes) {
    if (!device->backend->host_alloc) return NULL;
    size_t all = round_up(*bytes), kept = all;
    pthread_mutex_lock(&lock);
    void *block = find(&device->pinned, &kept);
    pthread_mutex_unlock(&lock);
    if (block) *bytes = kept;
    if (block) return block;
    block = device->backend->host_alloc(device, all);
    if (!block && device->pinned.count) {
        atn_pinned_drop(device);
        block = device->backend->host_alloc(device, all);
    }
    *bytes = all;
    return block;
}

void atn_pinned_give(atn_device *device, void *block, size_t bytes) {
    atn_pinned_pool *pool = &device->pinned;
    pthread_mutex_lock(&lock);
    bool keep = !device->lost && pool->count < ATN_PINNED_KEPT && pool->bytes + bytes <= MOST;
    if (keep) {
        pool->kept[pool->count].block = block;
        pool->kept[pool->count++].bytes = bytes;
        pool->bytes += bytes;
    }
    pthread_mutex_unlock(&lock);
    if (!keep) device->backend->host_free(device, block);
}

void atn_pinned_drop(atn_device *device) {
    atn_pinned_pool *pool = &device->pinned;
    pthread_mutex_lock(&lock);
    while (pool->count) {
        --pool->count;
        pool->bytes -= pool->kept[pool->count].bytes;
        device->backend->host_free(device, pool->kept[pool->count].block);
    }
    pthread_mutex_unlock(&lock);
}
