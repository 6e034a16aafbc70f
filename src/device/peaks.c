/* The measured peaks: arithmetic rates from chains of multiply-adds, bandwidth from a copy larger than the caches.
 * Each is the best of several runs, since whatever disturbs a run makes it slower. Kept in the cache per device. */
#include "base/memory.h"
#include "base/size.h"
#include "device/backend.h"
#include "device/cache.h"
#include "device/probes.h"

#include <attune/version.h>

#include <string.h>

enum { RUNS = 15, MIB = 1 << 20 };
static const int64_t MOST_ROUNDS = (int64_t)1 << 40;
static const double LONG_ENOUGH_S = 0.015; /* of one run, far above the clock's grain */

typedef struct probe_run {
    atn_device *device;
    atn_function *function;
    atn_buffer *out, *in;
    size_t groups, items;
} probe_run;

static atn_status time_once(const probe_run *run, int64_t n, int64_t rounds, double *seconds) {
    atn_arg args[] = {
        {.buffer = run->out}, {.buffer = run->in}, {.value = &n, .bytes = 8}, {.value = &rounds, .bytes = 8}};
    atn_launch launch = {.groups = {run->groups}, .items = {run->items}, .args = args, .n_args = 4};
    atn_queue *queue = atn_device_queue(run->device);
    atn_event *begin = NULL, *end = NULL;
    atn_status status = atn_check_cancel(atn_device_ctx(run->device));
    if (status == ATN_OK) status = atn_event_record(queue, &begin);
    if (status == ATN_OK) status = atn_function_launch(queue, run->function, &launch);
    if (status == ATN_OK) status = atn_event_record(queue, &end);
    if (status == ATN_OK) status = atn_event_elapsed(begin, end, seconds);
    atn_event_free(begin);
    atn_event_free(end);
    return status;
}

/* The shortest of several runs. */
static atn_status time_best(const probe_run *run, int64_t n, int64_t rounds, double *seconds) {
    *seconds = 1e30;
    for (int k = 0; k < RUNS; ++k) {
        double once;
        atn_status status = time_once(run, n, rounds, &once);
        if (status != ATN_OK) return status;
        if (once < *seconds) *seconds = once;
    }
    return ATN_OK;
}

static atn_status measure_rate(const probe_run *run, double *rate) {
    double seconds = 0;
    float flops = 0;
    const float in[2] = {0.999f, 0.001f};
    int64_t rounds = 64;
    atn_status status = atn_buffer_put(NULL, run->in, 0, in, sizeof in);
    if (status == ATN_OK) status = time_once(run, 1, 0, &seconds);
    if (status == ATN_OK) status = atn_buffer_get(NULL, run->out, 0, &flops, sizeof flops);
    if (status == ATN_OK) status = time_once(run, 1, rounds, &seconds); /* wakes threads and clocks */
    for (seconds = 0; status == ATN_OK && seconds < LONG_ENOUGH_S && rounds < MOST_ROUNDS;) {
        rounds *= 2;
        status = time_once(run, 1, rounds, &seconds);
        if (status == ATN_OK && seconds >= LONG_ENOUGH_S)
            status = time_best(run, 1, rounds, &seconds); /* a slow start does not count */
    }
    if (status == ATN_OK) *rate = (double)flops * (double)rounds * (double)(run->groups * run->items) / seconds;
    return status;
}

/* An arithmetic probe; 0 where the device or its dialect has no such type. */
static atn_status probe_rate(atn_device *device, atn_module *module, atn_probe probe, double *rate) {
    *rate = 0;
    atn_probe_source source = atn_probe_get(device, probe);
    const atn_device_info *info = atn_device_get_info(device);
    probe_run run = {.device = device, .items = source.items};
    run.groups = (size_t)info->cores * (source.items > 1 ? 16 : 1);
    if (!source.function) return ATN_OK;
    atn_status status = atn_module_function(module, source.function, &run.function);
    if (status != ATN_OK) return status == ATN_ERR_INPUT ? ATN_OK : status; /* the compiler left it out */
    status = atn_buffer_create(device, run.groups * run.items * sizeof(float), &run.out);
    if (status == ATN_OK) status = atn_buffer_create(device, 64, &run.in);
    if (status == ATN_OK) status = measure_rate(&run, rate);
    atn_buffer_free(run.in);
    atn_buffer_free(run.out);
    return status;
}

/* Bytes to copy: well above the last cache, well below the memory. */
static size_t copy_bytes(const atn_device_info *info) {
    int64_t bytes = 256ll * MIB, least = 4 * info->cache_bytes;
    if (bytes < least) bytes = least;
    if (bytes > info->max_alloc_bytes / 4) bytes = info->max_alloc_bytes / 4;
    if (bytes > info->memory_bytes / 8) bytes = info->memory_bytes / 8;
    size_t grain = 16 * 4 * ATN_PROBE_ITEMS;
    return (size_t)(bytes > 0 ? bytes : 0) / grain * grain;
}

static atn_status probe_bandwidth(atn_device *device, atn_module *module, double *bandwidth) {
    *bandwidth = 0;
    atn_probe_source source = atn_probe_get(device, ATN_PROBE_COPY);
    const atn_device_info *info = atn_device_get_info(device);
    size_t bytes = copy_bytes(info);
    probe_run run = {.device = device, .items = source.items};
    run.groups = source.items > 1 ? bytes / (16 * 4 * source.items) : (size_t)info->cores;
    if (run.groups == 0) return ATN_OK;
    double seconds;
    atn_status status = atn_module_function(module, source.function, &run.function);
    if (status == ATN_OK) status = atn_buffer_create(device, bytes, &run.out);
    if (status == ATN_OK) status = atn_buffer_create(device, bytes, &run.in);
    if (status == ATN_OK) status = atn_buffer_fill(NULL, run.in, 0, 0x3f, bytes);
    if (status == ATN_OK) status = atn_buffer_fill(NULL, run.out, 0, 0, bytes);
    if (status == ATN_OK) status = time_best(&run, (int64_t)(bytes / 16), 1, &seconds);
    if (status == ATN_OK) *bandwidth = 2 * (double)bytes / seconds;
    atn_buffer_free(run.in);
    atn_buffer_free(run.out);
    return status;
}

static atn_status measure(atn_device *device, atn_peaks *peaks) {
    atn_probe_source source = atn_probe_get(device, ATN_PROBE_FP32);
    atn_module *module;
    double matrix64 = 0;
    atn_status status = atn_module_build(
        device, &(atn_build){.name = "peaks", .source = source.source, .flags = source.flags}, &module);
    if (status != ATN_OK) return status;
    status = probe_rate(device, module, ATN_PROBE_FP32, &peaks->fp32);
    if (status == ATN_OK) status = probe_rate(device, module, ATN_PROBE_FP64, &peaks->fp64);
    if (status == ATN_OK) status = probe_rate(device, module, ATN_PROBE_MATRIX64, &matrix64);
    if (status == ATN_OK) status = probe_rate(device, module, ATN_PROBE_FP16, &peaks->fp16);
    if (status == ATN_OK) status = probe_bandwidth(device, module, &peaks->bandwidth);
    if (matrix64 > peaks->fp64) peaks->fp64 = matrix64;
    atn_module_free(module);
    return status;
}

static atn_hash key_of(const atn_device_info *info) {
    atn_hash key = atn_hash_add_text((atn_hash){0}, "peaks " ATN_VERSION);
    const char *const texts[] = {info->backend, info->platform, info->name, info->driver, info->arch};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) key = atn_hash_add_text(key, texts[k]);
    return atn_hash_add(key, &info->cores, sizeof info->cores);
}

atn_status atn_device_peaks(atn_device *device, atn_peaks *out) {
    *out = (atn_peaks){0};
    atn_cache *cache;
    char *data;
    size_t length;
    atn_hash key = key_of(&device->info);
    atn_status status = atn_cache_of(device->ctx, &cache);
    if (status == ATN_OK) status = atn_cache_get(cache, key, ".peaks", &data, &length);
    if (status != ATN_OK) return status;
    bool known = length == sizeof *out;
    if (known) memcpy(out, data, sizeof *out);
    atn_free(device->ctx, data);
    if (known) return ATN_OK;
    atn_log(device->ctx, ATN_LOG_INFO, "measuring the peaks of %s", device->info.name);
    status = measure(device, out);
    if (status == ATN_OK) status = atn_cache_put(cache, key, ".peaks", out, sizeof *out);
    if (status != ATN_OK) *out = (atn_peaks){0};
    return status;
}
