#include "kernel/ahead.h"

#include "base/attempt.h"
#include "base/memory.h"
#include "device/cache.h"
#include "kernel/kernel.h"
#include "num/array.h"
#include "tune/key.h"

#include <string.h>

static const char SUFFIX[] = ".ahead", SPENT[] = ".spent";

static atn_hash key_of(const atn_device *device, const char *set) {
    const atn_device_info *info = atn_device_get_info(device);
    const char *parts[] = {"ahead", set, ATN_GENERATOR_VERSION, info->backend, info->name, info->arch, info->driver};
    atn_hash hash = {0};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) hash = atn_hash_add_text(hash, parts[k]);
    return hash;
}

bool atn_ahead_is_due(atn_device *device, const char *set) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_cache *cache;
    char *data = NULL;
    size_t length;
    if (atn_cache_of(ctx, &cache) != ATN_OK) return false;
    if (atn_cache_get(cache, key_of(device, set), SUFFIX, &data, &length) != ATN_OK) return false;
    bool done = data;
    atn_free(ctx, data);
    return !done;
}

double atn_ahead_spent(atn_device *device, const char *set) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_cache *cache;
    double spent = 0;
    char *data = NULL;
    size_t length;
    if (atn_cache_of(ctx, &cache) != ATN_OK) return 0;
    if (atn_cache_get(cache, key_of(device, set), SPENT, &data, &length) == ATN_OK && data && length == sizeof spent)
        memcpy(&spent, data, sizeof spent);
    atn_free(ctx, data);
    return spent > 0 ? spent : 0;
}

void atn_ahead_spend(atn_device *device, const char *set, double seconds) {
    atn_cache *cache;
    double spent = atn_ahead_spent(device, set) + seconds;
    if (atn_cache_of(atn_device_ctx(device), &cache) == ATN_OK)
        (void)atn_cache_put(cache, key_of(device, set), SPENT, &spent, sizeof spent);
}

/* What else goes wrong is said when the kernel is used. */
static atn_status build(void *user, int64_t k, int64_t end) {
    atn_kernel *const *kernels = user;
    (void)end;
    return atn_kernel_build_ahead(kernels[k]) == ATN_ERR_MEMORY ? ATN_ERR_MEMORY : ATN_OK;
}

atn_status atn_ahead_build(atn_device *device, const char *set, atn_kernel *const *kernels, int32_t count) {
    atn_cache *cache;
    atn_status status = atn_attempt(atn_device_ctx(device), count, 0, build, (void *)(uintptr_t)kernels);
    if (status != ATN_OK) return status;
    status = atn_cache_of(atn_device_ctx(device), &cache);
    if (status == ATN_OK) status = atn_cache_put(cache, key_of(device, set), SUFFIX, set, strlen(set));
    return status == ATN_ERR_MEMORY ? status : ATN_OK;
}
