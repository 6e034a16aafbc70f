/* The available OpenCL devices and their properties. Nothing a driver answers is trusted: counts are capped, texts may
 * lack their zero, and a question that fails leaves the field empty. */
#include "base/environment.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/threads.h"
#include "device/opencl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { MAX_PLATFORMS = 64, MAX_DEVICES = 256, MAX_TEXT = 1 << 16 };

/* ---- questions ---- */

static cl_int ask(const atn_opencl_api *api, atn_opencl_place place, cl_uint what, size_t room, void *to,
                  size_t *bytes) {
    return place.device ? api->clGetDeviceInfo(place.device, what, room, to, bytes)
                        : api->clGetPlatformInfo(place.platform, what, room, to, bytes);
}

/* Cuts blanks at both ends and makes runs inside into one: some vendors pad the name with them. */
static void trim(char *text) {
    char *to = text;
    for (const char *from = text; *from; ++from) {
        bool blank = isspace((unsigned char)*from);
        if (!blank || (to > text && to[-1] != ' ')) *to++ = blank ? ' ' : *from;
    }
    if (to > text && to[-1] == ' ') --to;
    *to = '\0';
}

char *atn_opencl_text(const atn_ctx *ctx, const atn_opencl_api *api, atn_opencl_place place, cl_uint what) {
    size_t bytes = 0;
    if (ask(api, place, what, 0, NULL, &bytes) != CL_SUCCESS || bytes > MAX_TEXT) bytes = 0;
    char *text = atn_zalloc(ctx, bytes + 1);
    if (!text || bytes == 0) return text;
    if (ask(api, place, what, bytes, text, NULL) != CL_SUCCESS) text[0] = '\0';
    trim(text);
    return text;
}

/* A number of whatever width the question has (cl_bool, cl_uint, size_t, cl_ulong); 0 when it is not answered. */
static uint64_t number(const atn_opencl_api *api, atn_opencl_place place, cl_uint what) {
    union {
        uint32_t narrow;
        uint64_t wide;
    } value = {.wide = 0};
    size_t bytes = 0;
    if (ask(api, place, what, sizeof value, &value, &bytes) != CL_SUCCESS) return 0;
    return bytes == sizeof value.narrow ? value.narrow : bytes == sizeof value.wide ? value.wide : 0;
}

static int32_t small(uint64_t value) { return value < INT32_MAX ? (int32_t)value : INT32_MAX; }
static int64_t large(uint64_t value) { return value < INT64_MAX ? (int64_t)value : INT64_MAX; }

/* Is `word` one of the blank-separated words? */
static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

/* "OpenCL 1.2 whatever" is 102; what cannot be read counts as the oldest that is supported. */
static int read_version(const char *text) {
    int major, minor;
    if (sscanf(text, "OpenCL %d.%d", &major, &minor) != 2 || major < 1 || major > 99 || minor < 0 || minor > 99)
        return 101;
    return major * 100 + minor;
}

/* ---- one device ---- */

typedef struct number_row {
    cl_uint what;
    size_t offset; /* of the field in atn_device_info */
    bool wide;     /* int64_t, else int32_t */
} number_row;

static const number_row NUMBERS[] = {
    {CL_DEVICE_MAX_COMPUTE_UNITS, offsetof(atn_device_info, cores), false},
    {CL_DEVICE_GLOBAL_MEM_SIZE, offsetof(atn_device_info, memory_bytes), true},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, offsetof(atn_device_info, max_alloc_bytes), true},
    {CL_DEVICE_LOCAL_MEM_SIZE, offsetof(atn_device_info, local_bytes), true},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, offsetof(atn_device_info, cache_bytes), true},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, offsetof(atn_device_info, max_group), false},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, offsetof(atn_device_info, clock_mhz), false},
};

/* Where a GPU's warp is asked for: vendors' questions are put only to those who know them. */
static const struct warp_row {
    const char *extension; /* NULL: any device of version */
    int version;
    cl_uint what;
} WARPS[] = {
    {"cl_nv_device_attribute_query", 0, CL_DEVICE_WARP_SIZE_NV},
    {"cl_amd_device_attribute_query", 0, CL_DEVICE_WAVEFRONT_WIDTH_AMD},
    {NULL, 300, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE},
};

static int32_t vector_width(const atn_opencl_api *api, atn_opencl_place place, const char *extensions, int version,
                            bool cpu) {
    if (cpu) {
        uint64_t native = number(api, place, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
        uint64_t preferred = number(api, place, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
        uint64_t wider = native > preferred ? native : preferred; /* a runtime that vectorizes by itself prefers 1 */
        return wider ? small(wider) : 1;
    }
    for (size_t k = 0; k < sizeof WARPS / sizeof *WARPS; ++k) {
        if (WARPS[k].extension ? !has_word(extensions, WARPS[k].extension) : version < WARPS[k].version) continue;
        uint64_t width = number(api, place, WARPS[k].what);
        if (width) return small(width);
    }
    return 32;
}

static void print_arch(const atn_opencl_api *api, atn_opencl_place place, const char *extensions, bool cpu,
                       atn_device_info *info) {
    struct utsname system;
    if (has_word(extensions, "cl_nv_device_attribute_query"))
        snprintf(info->arch, sizeof info->arch, "sm_%d%d",
                 small(number(api, place, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV)),
                 small(number(api, place, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV)));
    else if (cpu)
        snprintf(info->arch, sizeof info->arch, "%.31s", uname(&system) == 0 ? system.machine : "cpu");
    else if (strncmp(info->name, "gfx", 3) == 0) /* AMD's name is the architecture */
        snprintf(info->arch, sizeof info->arch, "%.*s", (int)strcspn(info->name, ": "), info->name);
    else
        snprintf(info->arch, sizeof info->arch, "%s",
                 number(api, place, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU ? "gpu" : "accelerator");
}

static void print_numbers(const atn_opencl_api *api, atn_opencl_place place, atn_device_info *info) {
    for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; ++k) {
        void *field = (char *)info + NUMBERS[k].offset;
        uint64_t value = number(api, place, NUMBERS[k].what);
        if (NUMBERS[k].wide)
            *(int64_t *)field = large(value);
        else
            *(int32_t *)field = small(value);
    }
    if (info->max_alloc_bytes == 0) info->max_alloc_bytes = info->memory_bytes;
    size_t items[16] = {0}; /* a device may have more than three dimensions */
    if (ask(api, place, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, NULL) != CL_SUCCESS) items[0] = 0;
    for (int d = 0; d < 3; ++d) info->max_items[d] = items[d] ? small(items[d]) : info->max_group;
}

static atn_status describe(atn_ctx *ctx, const atn_opencl_api *api, atn_opencl_place place, atn_device_info *info) {
    *info = (atn_device_info){.backend = "opencl"};
    const atn_opencl_place platform = {.platform = place.platform};
    char *name = atn_opencl_text(ctx, api, place, CL_DEVICE_NAME);
    char *maker = atn_opencl_text(ctx, api, platform, CL_PLATFORM_NAME);
    char *driver = atn_opencl_text(ctx, api, place, CL_DRIVER_VERSION);
    char *version = atn_opencl_text(ctx, api, place, CL_DEVICE_VERSION);
    char *extensions = atn_opencl_text(ctx, api, place, CL_DEVICE_EXTENSIONS);
    bool whole = name && maker && driver && version && extensions;
    if (whole) {
        snprintf(info->name, sizeof info->name, "%s", *name ? name : "unnamed OpenCL device");
        snprintf(info->platform, sizeof info->platform, "%s", maker);
        snprintf(info->driver, sizeof info->driver, "%s", driver);
        bool cpu = number(api, place, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
        print_numbers(api, place, info);
        print_arch(api, place, extensions, cpu, info);
        info->simd = vector_width(api, place, extensions, read_version(version), cpu);
        info->fp64 = has_word(extensions, "cl_khr_fp64") || number(api, place, CL_DEVICE_DOUBLE_FP_CONFIG);
        info->fp16 = has_word(extensions, "cl_khr_fp16");
        info->subgroups = has_word(extensions, "cl_khr_subgroup_shuffle") || has_word(extensions, "cl_intel_subgroups");
        info->cpu = cpu;
        info->unified = number(api, place, CL_DEVICE_HOST_UNIFIED_MEMORY);
    }
    atn_free(ctx, name), atn_free(ctx, maker), atn_free(ctx, driver), atn_free(ctx, version), atn_free(ctx, extensions);
    return whole ? ATN_OK : ATN_ERR_MEMORY;
}

/* ---- all of them ---- */

/* What is done with each device in turn; anything but ATN_OK ends the walk. */
typedef struct visitor {
    atn_status (*device)(struct visitor *, atn_opencl_place place, int32_t ordinal);
    atn_status (*note)(struct visitor *, const char *sentence); /* why something is not there */
    atn_ctx *ctx;
    const atn_opencl_api *api;
    atn_devices *devices;        /* listing: what to add to */
    const atn_device_info *info; /* finding: what to look for */
    atn_opencl_place found;      /* finding: where it is, once it is */
} visitor;

static atn_status visit_platform(visitor *visit, cl_platform_id platform, int32_t *ordinal) {
    const atn_opencl_api *api = visit->api;
    cl_device_id ids[MAX_DEVICES];
    cl_uint count = 0;
    atn_opencl_place place = {.platform = platform};
    char sentence[256];
    char *name = atn_opencl_text(visit->ctx, api, place, CL_PLATFORM_NAME);
    if (!name) return ATN_ERR_MEMORY;
    cl_int code = api->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count);
    if (code != CL_SUCCESS || count > MAX_DEVICES) count = count > MAX_DEVICES && code == CL_SUCCESS ? MAX_DEVICES : 0;

    atn_status status = ATN_OK;
    if (count == 0) {
        bool empty = code == CL_SUCCESS || code == CL_DEVICE_NOT_FOUND;
        snprintf(
            sentence, sizeof sentence, "platform '%.100s' %s%s", name,
            empty ? "has no device" : "fails to list its devices: ", empty ? "" : atn_opencl_error_find(code)->name);
        status = visit->note(visit, sentence);
    }
    for (cl_uint k = 0; k < count && status == ATN_OK; ++k) {
        place.device = ids[k];
        if (!ids[k]) continue;
        if (number(api, place, CL_DEVICE_AVAILABLE) && number(api, place, CL_DEVICE_COMPILER_AVAILABLE)) {
            status = visit->device(visit, place, (*ordinal)++);
        } else {
            snprintf(sentence, sizeof sentence, "device %u of platform '%.100s' is not available or has no compiler", k,
                     name);
            status = visit->note(visit, sentence);
        }
    }
    atn_free(visit->ctx, name);
    return status;
}

/* The loader modifies its list of drivers in place, in the environment that our child processes inherit: it is
 * restored. */
static atn_status list_platforms(visitor *visit, cl_platform_id *platforms, cl_uint *count, cl_int *code) {
    char *drivers = atn_environment(ATN_ENV_OCL_ICD_FILENAMES);
    char *before = drivers ? atn_strdup(visit->ctx, drivers) : NULL;
    if (drivers && !before) return ATN_ERR_MEMORY;
    *code = visit->api->clGetPlatformIDs(MAX_PLATFORMS, platforms, count);
    if (before && atn_environment(ATN_ENV_OCL_ICD_FILENAMES) == drivers) memcpy(drivers, before, strlen(before) + 1);
    atn_free(visit->ctx, before);
    return ATN_OK;
}

static atn_status visit_all(visitor *visit) {
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    cl_int code;
    atn_status status = list_platforms(visit, platforms, &count, &code);
    if (status != ATN_OK) return status;
    if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && count == 0))
        return visit->note(visit, "no platform is installed; a vendor's driver or PoCL brings one");
    if (code != CL_SUCCESS) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "the platforms cannot be listed: %s (%d)",
                 atn_opencl_error_find(code)->name, code);
        return visit->note(visit, sentence);
    }
    int32_t ordinal = 0;
    for (cl_uint k = 0; k < count && k < MAX_PLATFORMS && status == ATN_OK; ++k)
        if (platforms[k]) status = visit_platform(visit, platforms[k], &ordinal);
    return status;
}

static atn_status list_note(visitor *visit, const char *sentence) {
    return atn_devices_add_note(visit->devices, "opencl: %s", sentence);
}

static atn_status list_device(visitor *visit, atn_opencl_place place, int32_t ordinal) {
    atn_device_info info;
    atn_status status = describe(visit->ctx, visit->api, place, &info);
    if (status != ATN_OK) return status;
    info.ordinal = ordinal;
    return atn_devices_add(visit->devices, &info);
}

atn_status atn_opencl_list(atn_ctx *ctx, atn_devices *devices) {
    atn_opencl_api api;
    char why[ATN_OPENCL_WHY];
    int32_t cores = atn_parallel_workers();
    if (atn_threads_possible(cores + 1) <= cores) /* PoCL makes one for each core, and ends the process without */
        return atn_devices_add_note(devices, "opencl: no threads can be made here (ulimit -u, -v), and it needs some");
    if (!atn_opencl_load(&api, why, sizeof why)) return atn_devices_add_note(devices, "opencl: %s", why);
    visitor visit = {.device = list_device, .note = list_note, .ctx = ctx, .api = &api, .devices = devices};
    return visit_all(&visit);
}

static atn_status find_note(visitor *visit, const char *sentence) {
    atn_log(visit->ctx, ATN_LOG_DEBUG, "opencl: %s", sentence);
    return ATN_OK;
}

static atn_status find_device(visitor *visit, atn_opencl_place place, int32_t ordinal) {
    if (ordinal == visit->info->ordinal) visit->found = place;
    return ATN_OK;
}

atn_status atn_opencl_find(atn_ctx *ctx, const atn_opencl_api *api, const atn_device_info *info,
                           atn_opencl_place *place, int *version) {
    visitor visit = {.device = find_device, .note = find_note, .ctx = ctx, .api = api, .info = info};
    atn_status status = visit_all(&visit);
    if (status != ATN_OK) return status;
    atn_device_info now = {0};
    if (visit.found.device && (status = describe(ctx, api, visit.found, &now)) != ATN_OK) return status;
    if (strcmp(now.name, info->name) != 0)
        return atn_fail(ctx, ATN_ERR_DEVICE, "%s: OpenCL's device %d is %s by now; look for devices again", info->name,
                        info->ordinal, visit.found.device ? now.name : "gone");
    char *text = atn_opencl_text(ctx, api, visit.found, CL_DEVICE_VERSION);
    if (!text) return ATN_ERR_MEMORY;
    *version = read_version(text);
    *place = visit.found;
    atn_free(ctx, text);
    return ATN_OK;
}
