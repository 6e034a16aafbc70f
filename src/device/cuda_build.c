/* The CUDA backend's built code: source to cubin by way of the cache, modules and their functions, launches. */
#include "device/cuda.h"

#include "base/mac.h"
#include "base/memory.h"
#include "device/cache.h"

#include <limits.h>
#include <string.h>

static const char SUFFIX[] = ".cubin";
enum { CUBIN_FORMAT = 1 };               /* raise it when cubins in the cache shall not be found any more */
enum { PLAIN_SHARED_BYTES = 48 * 1024 }; /* local memory that a group has without asking for more */

/* ---- modules ---- */

/* All that decides what the cubin holds. */
static atn_status make_key(const atn_cuda_device *device, const atn_build *build, atn_hash *key) {
    atn_text options = {.ctx = device->base.ctx};
    atn_nvrtc_options(build, device->target, &options);
    atn_status status = atn_text_status(&options);
    const int versions[] = {CUBIN_FORMAT, device->nvrtc.major, device->nvrtc.minor, device->api.version};
    atn_hash hash = {0};
    hash = atn_hash_add_text(hash, "cuda");
    hash = atn_hash_add(hash, versions, sizeof versions);
    hash = atn_hash_add_text(hash, device->target);
    hash = atn_hash_add_text(hash, device->nvrtc.include);
    hash = atn_hash_add_text(hash, atn_text_str(&options));
    hash = atn_digest_add_text(hash, build->source);
    *key = hash;
    atn_text_free(&options);
    return status;
}

/* The cache, or NULL if there is none: a build then works without. */
static atn_cache *cache_of(const atn_ctx *ctx) {
    atn_cache *cache;
    if (atn_cache_of(ctx, &cache) == ATN_OK) return cache;
    atn_log(ctx, ATN_LOG_WARNING, "cuda: building without a cache: %s", atn_ctx_message(ctx));
    return NULL;
}

/* Loads what the cache has, if it has it and the driver takes it; module->handle is NULL otherwise. */
static atn_status load_cached(atn_cuda_device *device, atn_cache *cache, atn_hash key, atn_cuda_module *module) {
    char *cubin = NULL;
    size_t length = 0;
    atn_status status = atn_cache_get(cache, key, SUFFIX, &cubin, &length);
    if (status != ATN_OK || !cubin) return status;
    int result = length > 0 ? device->api.module_load(&module->handle, cubin) : ATN_CU_INVALID_VALUE;
    atn_free(device->base.ctx, cubin);
    if (result == ATN_CU_SUCCESS) {
        module->base.code_bytes = length;
        module->base.cached = true;
        return ATN_OK;
    }
    module->handle = NULL;
    const atn_cuda_error *error = atn_cuda_error_of(result);
    if (error->status == ATN_ERR_LOST || error->status == ATN_ERR_MEMORY)
        return atn_cuda_check(device, result, "loading %s", module->name);
    atn_log(device->base.ctx, ATN_LOG_WARNING, "cuda: %s: the cached cubin was refused with %s (%d), building it again",
            module->name, error->name, result);
    return ATN_OK;
}

static atn_status compile(atn_cuda_device *device, atn_cache *cache, atn_hash key, const atn_build *build,
                          atn_cuda_module *module) {
    const atn_ctx *ctx = device->base.ctx;
    atn_nvrtc_output out;
    atn_status status = atn_nvrtc_run(ctx, &device->nvrtc, build, device->target, &out);
    if (status == ATN_OK) {
        int result = device->api.module_load(&module->handle, out.cubin);
        if (result != ATN_CU_SUCCESS) module->handle = NULL;
        status = atn_cuda_check(device, result, "loading %s", module->name);
    }
    if (status == ATN_OK) {
        module->base.code_bytes = out.length;
        if (cache) status = atn_cache_put(cache, key, SUFFIX, out.cubin, out.length);
    }
    atn_nvrtc_output_free(ctx, &out);
    return status;
}

atn_status atn_cuda_build(atn_device *base, const atn_build *build, atn_module **out) {
    *out = NULL;
    atn_cuda_device *device = (atn_cuda_device *)base;
    atn_hash key = {0};
    atn_status status = atn_cuda_enter(device);
    if (status == ATN_OK) status = make_key(device, build, &key);
    if (status != ATN_OK) return status;
    const char *name = build->name ? build->name : "kernel";
    atn_cuda_module *module = atn_zalloc(base->ctx, sizeof *module + strlen(name) + 1);
    if (!module) return ATN_ERR_MEMORY;
    memcpy(module->name, name, strlen(name) + 1);
    module->base.device = base;
    module->heads.ctx = base->ctx;
    atn_cuda_heads(build->source, &module->heads);
    module->waits = strstr(build->source, "= atn_after_launch();") != NULL; /* as the generator writes all of them */
    status = atn_text_status(&module->heads);
    atn_cache *cache = build->no_cache ? NULL : cache_of(base->ctx);
    if (cache && status == ATN_OK) status = load_cached(device, cache, key, module);
    if (status == ATN_OK && !module->handle) status = compile(device, cache, key, build, module);
    if (status != ATN_OK) {
        atn_cuda_module_free(&module->base);
        return status;
    }
    *out = &module->base;
    return ATN_OK;
}

void atn_cuda_module_free(atn_module *base) {
    atn_cuda_module *module = (atn_cuda_module *)base;
    atn_cuda_device *device = (atn_cuda_device *)base->device;
    const atn_ctx *ctx = device->base.ctx;
    while (module->functions) {
        atn_cuda_function *function = module->functions;
        module->functions = function->next;
        atn_free(ctx, function);
    }
    if (module->handle && device->api.context_set(device->context) == ATN_CU_SUCCESS)
        device->api.module_unload(module->handle);
    atn_text_free(&module->heads);
    atn_free(ctx, module);
}

/* ---- functions ---- */

static atn_cuda_device *device_of(const atn_function *function) { return (atn_cuda_device *)function->module->device; }

/* The sizes of its parameters, so that a launch with wrong ones is refused instead of reading invalid memory. `count`:
 * their number according to the source; -1: the driver is queried until there is no further one. */
static void read_params(const atn_cuda_api *api, int count, atn_cuda_function *function) {
    function->n_params = -1;
    if (!api->function_param) return;
    for (int k = 0; k <= ATN_MAX_ARGS; ++k) {
        if (k == count) {
            function->n_params = count;
            return;
        }
        size_t offset = 0, bytes = 0;
        int result = api->function_param(function->handle, (size_t)k, &offset, &bytes);
        if (result != ATN_CU_SUCCESS) {
            if (result == ATN_CU_INVALID_VALUE) function->n_params = k; /* one past the last */
            return;
        }
        if (k < ATN_MAX_ARGS) function->param_bytes[k] = (uint16_t)(bytes < UINT16_MAX ? bytes : UINT16_MAX);
    }
    function->n_params = ATN_MAX_ARGS + 1; /* more than a launch can give */
}

static atn_status read_function(atn_cuda_device *device, atn_cuda_function *function) {
    const atn_cuda_api *api = &device->api;
    int result = api->function_get(&function->max_group, ATN_CU_FUNC_MAX_THREADS_PER_BLOCK, function->handle);
    if (result == ATN_CU_SUCCESS)
        result = api->function_get(&function->shared_bytes, ATN_CU_FUNC_SHARED_SIZE_BYTES, function->handle);
    if (result != ATN_CU_SUCCESS) return atn_cuda_check(device, result, "reading the attributes of %s", function->name);
    int dynamic = PLAIN_SHARED_BYTES - function->shared_bytes;
    function->dynamic_bytes = dynamic > 0 ? dynamic : 0;
    const atn_cuda_module *module = (const atn_cuda_module *)function->base.module;
    read_params(api, atn_cuda_count_params(atn_text_str(&module->heads), function->name), function);
    return ATN_OK;
}

atn_status atn_cuda_function_find(atn_module *base, const char *name, atn_function **out) {
    *out = NULL;
    atn_cuda_module *module = (atn_cuda_module *)base;
    atn_cuda_device *device = (atn_cuda_device *)base->device;
    const atn_ctx *ctx = device->base.ctx;
    for (atn_cuda_function *function = module->functions; function; function = function->next)
        if (strcmp(function->name, name) == 0) {
            *out = &function->base;
            return ATN_OK;
        }
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    atn_cuda_function *function = atn_zalloc(ctx, sizeof *function + strlen(name) + 1);
    if (!function) return ATN_ERR_MEMORY;
    memcpy(function->name, name, strlen(name) + 1);
    function->base.module = base;
    int result = device->api.module_function(&function->handle, module->handle, name);
    if (result == ATN_CU_NOT_FOUND)
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s has no function \"%s\"; it would be declared extern \"C\" __global__",
                          module->name, name);
    else
        status = atn_cuda_check(device, result, "finding %s in %s", name, module->name);
    if (status == ATN_OK) status = read_function(device, function);
    if (status != ATN_OK) {
        atn_free(ctx, function);
        return status;
    }
    function->next = module->functions;
    module->functions = function;
    *out = &function->base;
    return ATN_OK;
}

atn_status atn_cuda_function_info(const atn_function *base, int32_t items, atn_function_info *out) {
    const atn_cuda_function *function = (const atn_cuda_function *)base;
    atn_cuda_device *device = device_of(base);
    const atn_cuda_api *api = &device->api;
    *out = (atn_function_info){.groups_per_core = -1};
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int registers = -1, private_bytes = -1, groups = -1;
    int result = api->function_get(&registers, ATN_CU_FUNC_NUM_REGS, function->handle);
    if (result == ATN_CU_SUCCESS)
        result = api->function_get(&private_bytes, ATN_CU_FUNC_LOCAL_SIZE_BYTES, function->handle);
    if (result == ATN_CU_SUCCESS && items > 0) result = api->occupancy(&groups, function->handle, items, 0);
    status = atn_cuda_check(device, result, "reading the attributes of %s", function->name);
    if (status != ATN_OK) return status;
    out->registers = registers;
    out->local_bytes = function->shared_bytes;
    out->private_bytes = private_bytes;
    out->max_group = function->max_group;
    out->groups_per_core = groups;
    return ATN_OK;
}

/* ---- launches ---- */

/* Group and grid within what function and device can do. */
static atn_status check_sizes(const atn_cuda_device *device, const atn_cuda_function *function,
                              const atn_launch *launch) {
    const atn_ctx *ctx = device->base.ctx;
    size_t items = 1;
    for (int d = 0; d < 3; ++d) {
        size_t most_items = (size_t)device->base.info.max_items[d], most_groups = (size_t)device->max_grid[d];
        if (launch->items[d] > most_items)
            return atn_fail(ctx, ATN_ERR_DEVICE, "%s: %zu work-items in dimension %d of a group, %s allows %zu",
                            function->name, launch->items[d], d, device->base.info.name, most_items);
        if (launch->groups[d] > most_groups)
            return atn_fail(ctx, ATN_ERR_DEVICE, "%s: %zu groups in dimension %d, %s allows %zu", function->name,
                            launch->groups[d], d, device->base.info.name, most_groups);
        items *= launch->items[d]; /* at most 1024 * 1024 * 64 */
    }
    if (items > (size_t)function->max_group)
        return atn_fail(ctx, ATN_ERR_DEVICE, "%s: %zu work-items in a group, it can run with %d on %s", function->name,
                        items, function->max_group, device->base.info.name);
    return ATN_OK;
}

/* Where the address of a buffer is stored. A buffer of no bytes is a bare base: it has none. */
static const void *place_of(const atn_buffer *buffer) {
    static const atn_cu_address NOWHERE = 0;
    return buffer->bytes > 0 ? &((const atn_cuda_buffer *)buffer)->address : &NOWHERE;
}

/* Parameters as the kernel declares them, if the driver reports them; fills `params`, which the driver reads. */
static atn_status take_args(const atn_cuda_device *device, const atn_cuda_function *function, const atn_launch *launch,
                            void **params) {
    const atn_ctx *ctx = device->base.ctx;
    bool known = function->n_params >= 0;
    if (known && launch->n_args != (size_t)function->n_params)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: %zu arguments given, it takes %d", function->name, launch->n_args,
                        function->n_params);
    for (size_t k = 0; k < launch->n_args; ++k) {
        const atn_arg *arg = &launch->args[k];
        size_t bytes = arg->buffer ? sizeof(atn_cu_address) : arg->bytes;
        if (known && bytes != function->param_bytes[k])
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: argument %zu has %zu bytes, it takes %d", function->name, k, bytes,
                            function->param_bytes[k]);
        params[k] = (void *)(uintptr_t)(arg->buffer ? place_of(arg->buffer) : arg->value);
    }
    return ATN_OK;
}

/* More dynamic local memory than a function starts with has to be asked for, once for each larger amount. */
static atn_status allow_local(atn_cuda_device *device, atn_cuda_function *function, size_t bytes) {
    int64_t most = device->base.info.local_bytes - function->shared_bytes;
    if (bytes > (size_t)function->dynamic_bytes) {
        if (most < 0) most = 0;
        if (bytes > (size_t)most || bytes > INT_MAX)
            return atn_fail(device->base.ctx, ATN_ERR_DEVICE,
                            "%s: %zu bytes of dynamic local memory, %s allows %lld beside the %d declared",
                            function->name, bytes, device->base.info.name, (long long)most, function->shared_bytes);
        int result = device->api.function_set(function->handle, ATN_CU_FUNC_MAX_DYNAMIC_SHARED_BYTES, (int)bytes);
        if (result != ATN_CU_SUCCESS)
            return atn_cuda_check(device, result, "allowing %s %zu bytes of local memory", function->name, bytes);
        function->dynamic_bytes = (int)bytes;
    }
    if (bytes > 0 && !function->carved) /* as many groups at once as fit; a hint, which may be refused */
        (void)device->api.function_set(function->handle, ATN_CU_FUNC_SHARED_CARVEOUT, ATN_CU_CARVEOUT_MOST);
    function->carved = function->carved || bytes > 0;
    return ATN_OK;
}

/* Launches go to a graph: one of ours, or one that a caller captures, whose edges are left as a plain launch has them.
 */
static bool is_captured(const atn_cuda_device *device, const atn_cuda_queue *queue) {
    int status = 0;
    if (queue->captures || !device->shared) return queue->captures;
    return !device->api.capturing || device->api.capturing(queue->stream, &status) != ATN_CU_SUCCESS || status != 0;
}

/* Kernels that wait for earlier launches themselves begin while these end: about a microsecond less for each. */
static int launch_now(const atn_cuda_device *device, const atn_cuda_queue *queue, const atn_cuda_function *function,
                      const atn_launch *launch, void **params) {
    const atn_cuda_module *module = (const atn_cuda_module *)function->base.module;
    static const atn_cu_launch_attribute OVERLAP = {.id = ATN_CU_ATTRIBUTE_OVERLAP, .overlap = 1};
    const size_t *groups = launch->groups, *items = launch->items;
    if (!device->overlaps || !module->waits || is_captured(device, queue))
        return device->api.launch(function->handle, (unsigned)groups[0], (unsigned)groups[1], (unsigned)groups[2],
                                  (unsigned)items[0], (unsigned)items[1], (unsigned)items[2],
                                  (unsigned)launch->local_bytes, queue->stream, params, NULL);
    atn_cu_launch_config config = {.grid = {(unsigned)groups[0], (unsigned)groups[1], (unsigned)groups[2]},
                                   .block = {(unsigned)items[0], (unsigned)items[1], (unsigned)items[2]},
                                   .dynamic_bytes = (unsigned)launch->local_bytes,
                                   .stream = queue->stream,
                                   .attributes = &OVERLAP,
                                   .count = 1};
    return device->api.launch_ex(&config, function->handle, params, NULL);
}

atn_status atn_cuda_launch(atn_queue *queue, atn_function *base, const atn_launch *launch) {
    atn_cuda_function *function = (atn_cuda_function *)base;
    atn_cuda_device *device = device_of(base);
    void *params[ATN_MAX_ARGS];
    atn_status status = atn_cuda_enter(device);
    if (status == ATN_OK) status = check_sizes(device, function, launch);
    if (status == ATN_OK) status = take_args(device, function, launch, params);
    if (status == ATN_OK) status = allow_local(device, function, launch->local_bytes);
    if (status != ATN_OK) return status;
    int result = launch_now(device, (const atn_cuda_queue *)queue, function, launch, params);
    return atn_cuda_check(device, result, "launching %s", function->name);
}
