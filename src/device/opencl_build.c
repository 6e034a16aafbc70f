/* Programs of the OpenCL backend: source and options in, a built program out, its binary kept in the cache under
 * the hash of all that made it. What the cache holds is never trusted: a binary that does not load is rebuilt. */
#include "device/opencl.h"

#include "base/environment.h"
#include "base/mac.h"
#include "base/memory.h"
#include "base/text.h"
#include "device/cache.h"

#include <stdlib.h>
#include <string.h>

static const char SUFFIX[] = ".clbin";
enum { MAX_LOG = 16 << 20, MAX_BINARY = 1 << 30 }; /* more than this is a driver talking nonsense */

/* ---- options and key ---- */

/* Nothing that loosens arithmetic is given unless fast_math asks for it, and then all: -cl-fast-relaxed-math says
 * nothing of subnormal numbers, around which single instructions become several, as CUDA's --use_fast_math does.
 * Caller's flags come last and may name a language version of their own. */
char *atn_opencl_options(const atn_device *device, const atn_build *build) {
    const char *flags = build->flags ? build->flags : "";
    atn_text text = {.ctx = device->ctx};
    atn_text_add(&text, atn_opencl_of(device)->version >= 102 && !strstr(flags, "-cl-std=") ? "-cl-std=CL1.2" : "");
    if (build->fast_math) atn_text_add(&text, " -cl-fast-relaxed-math -cl-mad-enable -cl-denorms-are-zero");
    if (*flags) atn_text_printf(&text, " %s", flags);
    const char *more =
        atn_environment(ATN_ENV_OPENCL_FLAGS); /* for every build: -cl-opt-disable under a simulator, say */
    if (more) atn_text_printf(&text, " %s", more);
    bool whole = atn_text_status(&text) == ATN_OK;
    if (whole && text.data) return text.data;
    atn_text_free(&text);
    return whole ? atn_strdup(device->ctx, "") : NULL;
}

atn_hash atn_opencl_key(const atn_device *device, const atn_build *build, const char *options) {
    atn_hash key = atn_hash_add_text((atn_hash){0}, "opencl binary 1");
    key = atn_hash_add_text(key, atn_opencl_of(device)->identity);
    key = atn_hash_add_text(key, options);
    return atn_digest_add_text(key, build->source);
}

/* ---- the compiler's log ---- */

/* The whole log; owned by the caller; NULL when there is none or no memory for it. */
static char *read_log(atn_opencl_device *device, cl_program program) {
    const atn_opencl_api *api = &device->api;
    size_t bytes = 0;
    cl_int code = api->clGetProgramBuildInfo(program, device->place.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    if (code != CL_SUCCESS || bytes == 0 || bytes > MAX_LOG) return NULL;
    char *log = atn_zalloc(device->base.ctx, bytes + 1);
    if (!log) return NULL;
    code = api->clGetProgramBuildInfo(program, device->place.device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    if (code == CL_SUCCESS) return log;
    atn_free(device->base.ctx, log);
    return NULL;
}

/* Line by line: the log's own lines are limited in length. */
static void tell_log(const atn_ctx *ctx, atn_log_level level, const char *name, const char *log) {
    while (*log) {
        size_t length = strcspn(log, "\r\n");
        if (length) atn_log(ctx, level, "%s: %.*s", name, length < 900 ? (int)length : 900, log);
        log += length;
        log += strspn(log, "\r\n");
    }
}

/* The line that says what is wrong: the first with "error:", else with "error", else the first that is not blank. */
static const char *first_error(const char *log, int *length) {
    const char *hit = strcasestr(log, "error:");
    if (!hit) hit = strcasestr(log, "error");
    if (!hit) hit = log + strspn(log, " \t\r\n");
    const char *begin = hit;
    while (begin > log && begin[-1] != '\n' && begin[-1] != '\r') --begin;
    begin += strspn(begin, " \t");
    size_t bytes = strcspn(begin, "\r\n");
    *length = bytes < 600 ? (int)bytes : 600;
    return begin;
}

static atn_status fail_build(atn_opencl_device *device, cl_program program, const atn_build *build, cl_int code) {
    const atn_opencl_error *error = atn_opencl_error_find(code);
    if (error->after != ATN_OPENCL_KEEPS || error->status == ATN_ERR_MEMORY) {
        atn_status status = atn_opencl_check(&device->base, code, "building %s", build->name);
        if (status == ATN_ERR_LOST || code == CL_OUT_OF_HOST_MEMORY) return status;
    }
    char *log = read_log(device, program);
    int length = 0;
    const char *line = log ? first_error(log, &length) : "";
    atn_status status =
        atn_fail(device->base.ctx, ATN_ERR_BUILD, "%s: %s does not build: %.*s%s%s (%d)", device->base.info.name,
                 build->name, length, line, length ? "; " : "", error->name, code);
    if (log) tell_log(device->base.ctx, ATN_LOG_INFO, build->name, log);
    atn_free(device->base.ctx, log);
    return status;
}

/* ---- the binary ---- */

/* Of the one device that the program was built for; *data is NULL when the driver does not give it. */
static atn_status read_binary(const atn_opencl_device *device, cl_program program, char **data, size_t *length) {
    *data = NULL;
    *length = 0;
    size_t bytes = 0;
    cl_int code = device->api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL);
    if (code != CL_SUCCESS || bytes == 0 || bytes > MAX_BINARY) return ATN_OK;
    char *binary = atn_alloc(device->base.ctx, bytes);
    if (!binary) return ATN_ERR_MEMORY;
    code = device->api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    if (code == CL_SUCCESS) {
        *data = binary;
        *length = bytes;
    } else {
        atn_free(device->base.ctx, binary);
    }
    return ATN_OK;
}

/* NULL for whatever reason: the caller has the source. */
static cl_program load_binary(const atn_opencl_device *device, const char *options, const char *data, size_t length) {
    const atn_opencl_api *api = &device->api;
    const unsigned char *bytes = (const unsigned char *)data;
    cl_int loaded = CL_SUCCESS, code;
    cl_program program =
        api->clCreateProgramWithBinary(device->context, 1, &device->place.device, &length, &bytes, &loaded, &code);
    if (code != CL_SUCCESS) return NULL;
    if (loaded == CL_SUCCESS &&
        api->clBuildProgram(program, 1, &device->place.device, options, NULL, NULL) == CL_SUCCESS)
        return program;
    (void)api->clReleaseProgram(program);
    return NULL;
}

/* From the cache into module->program, if it is there and loads. */
static void build_from_cache(atn_opencl_device *device, atn_opencl_module *module, const char *options,
                             const atn_cache *cache, atn_hash key) {
    char *data;
    size_t length;
    if (atn_cache_get(cache, key, SUFFIX, &data, &length) != ATN_OK || !data) return;
    module->program = load_binary(device, options, data, length);
    module->base.cached = module->program != NULL;
    module->base.code_bytes = module->program ? length : 0;
    if (!module->program)
        atn_log(device->base.ctx, ATN_LOG_INFO, "opencl: the kept binary of %s does not load; building it again",
                module->name);
    atn_free(device->base.ctx, data);
}

static atn_status build_from_source(atn_opencl_device *device, atn_opencl_module *module, const atn_build *build,
                                    const char *options) {
    const atn_opencl_api *api = &device->api;
    const char *source = build->source;
    cl_int code;
    module->program = api->clCreateProgramWithSource(device->context, 1, &source, NULL, &code);
    if (code != CL_SUCCESS) {
        module->program = NULL;
        return atn_opencl_check(&device->base, code, "taking the source of %s", build->name);
    }
    code = api->clBuildProgram(module->program, 1, &device->place.device, options, NULL, NULL);
    if (code != CL_SUCCESS) return fail_build(device, module->program, build, code);
    char *log = read_log(device, module->program); /* warnings */
    if (log) tell_log(device->base.ctx, ATN_LOG_DEBUG, build->name, log);
    atn_free(device->base.ctx, log);
    return ATN_OK;
}

/* Its size into the module, and the binary itself into the cache, if there is one. */
static atn_status keep_binary(const atn_opencl_device *device, atn_opencl_module *module, const atn_cache *cache,
                              atn_hash key) {
    char *data;
    atn_status status = read_binary(device, module->program, &data, &module->base.code_bytes);
    if (data && cache && atn_cache_put(cache, key, SUFFIX, data, module->base.code_bytes) != ATN_OK)
        atn_log(device->base.ctx, ATN_LOG_INFO, "opencl: %s is not kept: %s", module->name,
                atn_ctx_message(device->base.ctx));
    atn_free(device->base.ctx, data);
    return status;
}

/* ---- modules ---- */

static atn_status build_module(atn_opencl_device *device, atn_opencl_module *module, const atn_build *build,
                               const char *options) {
    const atn_ctx *ctx = device->base.ctx;
    atn_hash key = atn_opencl_key(&device->base, build, options);
    atn_cache *cache = NULL;
    if (!build->no_cache && atn_cache_of(ctx, &cache) != ATN_OK)
        atn_log(ctx, ATN_LOG_WARNING, "opencl: built code is not kept: %s", atn_ctx_message(ctx));
    if (cache) build_from_cache(device, module, options, cache, key);
    if (module->program) return ATN_OK;
    atn_status status = build_from_source(device, module, build, options);
    return status == ATN_OK ? keep_binary(device, module, cache, key) : status;
}

/* timeout_s is not looked at: OpenCL has no way to stop a compiler that runs inside this process. */
atn_status atn_opencl_build(atn_device *base, const atn_build *build, atn_module **out) {
    *out = NULL;
    atn_opencl_module *module = atn_zalloc(base->ctx, sizeof *module);
    if (!module) return ATN_ERR_MEMORY;
    module->base.device = base;
    module->name = atn_strdup(base->ctx, build->name ? build->name : "kernel");
    char *options = atn_opencl_options(base, build);
    atn_status status =
        module->name && options ? build_module(atn_opencl_of(base), module, build, options) : ATN_ERR_MEMORY;
    atn_free(base->ctx, options);
    if (status == ATN_OK)
        *out = &module->base;
    else
        atn_opencl_module_free(&module->base);
    return status;
}

void atn_opencl_module_free(atn_module *base) {
    atn_opencl_module *module = (atn_opencl_module *)base;
    atn_opencl_functions_free(module);
    if (module->program) (void)atn_opencl_of(base->device)->api.clReleaseProgram(module->program);
    atn_free(base->device->ctx, module->name);
    atn_free(base->device->ctx, module);
}
