/* The measured peaks: arithmetic rates from chains of multiply-adds, bandwidth from a copy larger than the caches.
 * Each is the best of several runs, since whatever disturbs a run makes it slower. Kept in the cache per device. On a
 * CPU a run whose threads did not have the cores all the time is known by its CPU time: if that is the best one, the
 * machine was busy, and the peak is measured again later. */
#include "device/peaks.h"

#include "base/memory.h"
#include "base/size.h"
#include "base/sized.h"
#include "device/backend.h"
#include "device/cache.h"
#include "device/probes.h"

#include <attune/version.h>

#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MIB = 1 << 20, GROUPS_PER_CORE = 16, BUSY_FOR_S = 60 };
static const int64_t MOST_ROUNDS = (int64_t)1 << 40;
static const double WHOLE = 0.95; /* of the cores' time, that a run has on a machine with nothing else to do */

/* How long one run takes at least, far above the clock's grain, and how many there are. On a CPU many short ones: some
 * fall between the turns of other processes. */
static const struct timing {
    double least_s;
    int runs;
} TIMING[2] = {{0.015, 15}, {0.005, 45}}; /* [info.cpu] */

typedef struct probe_run {
    atn_device *device;
    atn_function *function;
    atn_buffer *out, *in;
    size_t groups, items;
} probe_run;

typedef struct timed {
    double seconds;
    bool busy; /* it had less than the whole of the cores */
} timed;

static double cpu_seconds(void) {
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static atn_status time_once(const probe_run *run, int64_t n, int64_t rounds, timed *out) {
    atn_arg args[] = {
        {.buffer = run->out}, {.buffer = run->in}, {.value = &n, .bytes = 8}, {.value = &rounds, .bytes = 8}};
    atn_launch launch = {.groups = {run->groups}, .items = {run->items}, .args = args, .n_args = 4};
    atn_queue *queue = atn_device_queue(run->device);
    atn_event *begin = NULL, *end = NULL;
    double before = cpu_seconds();
    atn_status status = atn_check_cancel(atn_device_ctx(run->device));
    if (status == ATN_OK) status = atn_event_record(queue, &begin);
    if (status == ATN_OK) status = atn_function_launch(queue, run->function, &launch);
    if (status == ATN_OK) status = atn_event_record(queue, &end);
    if (status == ATN_OK) status = atn_event_elapsed(begin, end, &out->seconds);
    const atn_device_info *info = &run->device->info;
    out->busy = info->cpu && cpu_seconds() - before < WHOLE * info->cores * out->seconds;
    atn_event_free(begin);
    atn_event_free(end);
    return status;
}

/* The shortest of several runs. */
static atn_status time_best(const probe_run *run, int64_t n, int64_t rounds, timed *best) {
    *best = (timed){.seconds = 1e30};
    for (int k = 0; k < TIMING[run->device->info.cpu].runs; ++k) {
        timed once = {0};
        atn_status status = time_once(run, n, rounds, &once);
        if (status != ATN_OK) return status;
        if (once.seconds < best->seconds) *best = once;
    }
    return ATN_OK;
}

/* What one probe gave. */
typedef struct measured {
    double rate; /* 0 where the device or its dialect has no such type */
    bool busy;
} measured;

static atn_status measure_rate(const probe_run *run, measured *out) {
    timed time = {0};
    float flops = 0;
    const float in[2] = {0.999f, 0.001f};
    const double least_s = TIMING[run->device->info.cpu].least_s;
    int64_t rounds = 64;
    atn_status status = atn_buffer_put(NULL, run->in, 0, in, sizeof in);
    if (status == ATN_OK) status = time_once(run, 1, 0, &time);
    if (status == ATN_OK) status = atn_buffer_get(NULL, run->out, 0, &flops, sizeof flops);
    if (status == ATN_OK) status = time_once(run, 1, rounds, &time); /* wakes threads and clocks */
    for (time.seconds = 0; status == ATN_OK && time.seconds < least_s && rounds < MOST_ROUNDS;) {
        rounds *= 2;
        status = time_once(run, 1, rounds, &time);
        if (status == ATN_OK && time.seconds >= least_s)
            status = time_best(run, 1, rounds, &time); /* a slow start does not count */
    }
    if (status == ATN_OK)
        *out =
            (measured){(double)flops * (double)rounds * (double)(run->groups * run->items) / time.seconds, time.busy};
    return status;
}

/* An arithmetic probe. */
static atn_status probe_rate(atn_device *device, atn_module *module, atn_probe probe, measured *out) {
    *out = (measured){0};
    atn_probe_source source = atn_probe_get(device, probe);
    const atn_device_info *info = atn_device_get_info(device);
    probe_run run = {.device = device, .items = source.items};
    run.groups = (size_t)info->cores * (strcmp(info->backend, "host") == 0 ? 1 : GROUPS_PER_CORE);
    if (!source.function) return ATN_OK;
    atn_status status = atn_module_function(module, source.function, &run.function);
    if (status != ATN_OK) return status == ATN_ERR_INPUT ? ATN_OK : status; /* the compiler left it out */
    status = atn_buffer_create(device, run.groups * run.items * sizeof(float), &run.out);
    if (status == ATN_OK) status = atn_buffer_create(device, 64, &run.in);
    if (status == ATN_OK) status = measure_rate(&run, out);
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

static void swap_buffers(probe_run *run) {
    atn_buffer *out = run->out;
    run->out = run->in;
    run->in = out;
}

static atn_status probe_bandwidth(atn_device *device, atn_module *module, atn_probe probe, measured *out) {
    *out = (measured){0};
    atn_probe_source source = atn_probe_get(device, probe);
    const atn_device_info *info = atn_device_get_info(device);
    size_t bytes = copy_bytes(info);
    probe_run run = {.device = device, .items = source.items};
    run.groups = source.items > 1 ? bytes / (16 * 4 * source.items) : (size_t)info->cores;
    if (run.groups == 0) return ATN_OK;
    int64_t n = (int64_t)(bytes / 16);
    timed time = {0};
    atn_status status = atn_module_function(module, source.function, &run.function);
    if (status == ATN_OK) status = atn_buffer_create(device, bytes, &run.out);
    if (status == ATN_OK) status = atn_buffer_create(device, bytes, &run.in);
    for (int way = 0; way < 2 && status == ATN_OK; ++way) { /* pages lie near the thread that writes them first */
        status = time_once(&run, n, 1, &time);
        swap_buffers(&run);
    }
    if (status == ATN_OK) status = atn_buffer_fill(NULL, run.in, 0, 0x3f, bytes);
    if (status == ATN_OK) status = time_best(&run, n, 1, &time);
    if (status == ATN_OK) *out = (measured){2 * (double)bytes / time.seconds, time.busy};
    atn_buffer_free(run.in);
    atn_buffer_free(run.out);
    return status;
}

/* Each peak: where it is in atn_peaks, and what measures it. */
static const struct peak_row {
    size_t at;
    atn_status (*measure)(atn_device *device, atn_module *module, atn_probe probe, measured *out);
    atn_probe probe;
    atn_probe other; /* another way, of which the faster counts; the same: none */
} ROWS[ATN_PEAK_COUNT] = {
    [ATN_PEAK_FP16] = {offsetof(atn_peaks, fp16), probe_rate, ATN_PROBE_FP16, ATN_PROBE_FP16},
    [ATN_PEAK_FP32] = {offsetof(atn_peaks, fp32), probe_rate, ATN_PROBE_FP32, ATN_PROBE_FP32},
    [ATN_PEAK_FP64] = {offsetof(atn_peaks, fp64), probe_rate, ATN_PROBE_FP64, ATN_PROBE_MATRIX64},
    [ATN_PEAK_BANDWIDTH] = {offsetof(atn_peaks, bandwidth), probe_bandwidth, ATN_PROBE_COPY, ATN_PROBE_COPY},
};
enum { ALL_PEAKS = (1 << ATN_PEAK_COUNT) - 1 };

static double *rate_of(atn_peaks *peaks, int k) { return (double *)(void *)((char *)peaks + ROWS[k].at); }
static double get_rate(const atn_peaks *peaks, int k) {
    return *(const double *)(const void *)((const char *)peaks + ROWS[k].at);
}

/* Measures the peaks of the set `which` and raises those that are kept. */
static atn_status measure(atn_device *device, uint32_t which, atn_peaks_kept *kept) {
    atn_probe_source source = atn_probe_get(device, ATN_PROBE_FP32);
    atn_module *module;
    atn_status status = atn_module_build(
        device, &(atn_build){.name = "peaks", .source = source.source, .flags = source.flags}, &module);
    if (status != ATN_OK) return status;
    for (int k = 0; k < ATN_PEAK_COUNT && status == ATN_OK; ++k) {
        const struct peak_row *row = &ROWS[k];
        measured found = {0}, other = {0};
        if (!(which >> k & 1)) continue;
        status = atn_tell_progress(atn_device_ctx(device), "measuring peaks", k, ATN_PEAK_COUNT);
        if (status == ATN_OK) status = row->measure(device, module, row->probe, &found);
        if (status == ATN_OK && row->other != row->probe) status = row->measure(device, module, row->other, &other);
        if (status != ATN_OK) break;
        double *rate = rate_of(&kept->peaks, k), faster = found.rate > other.rate ? found.rate : other.rate;
        if (faster > *rate) *rate = faster;
        kept->busy = found.busy ? kept->busy | 1u << k : kept->busy & ~(1u << k);
    }
    atn_module_free(module);
    kept->when = (int64_t)time(NULL);
    return status;
}

atn_hash atn_device_peaks_key(const atn_device *device) {
    const atn_device_info *info = &device->info;
    atn_hash key = atn_hash_add_text((atn_hash){0}, "peaks " ATN_VERSION);
    atn_probe_source source = atn_probe_get(device, ATN_PROBE_FP32);
    const char *const texts[] = {info->backend, info->platform, info->name,  info->driver,
                                 info->arch,    source.source,  source.flags};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) key = atn_hash_add_text(key, texts[k]);
    return atn_hash_add(key, &info->cores, sizeof info->cores);
}

/* Reads the stored values: false if there are none. */
static atn_status read_kept(const atn_device *device, const atn_cache *cache, bool *known, atn_peaks_kept *out) {
    char *data;
    size_t length;
    *out = (atn_peaks_kept){0};
    atn_status status = atn_cache_get(cache, atn_device_peaks_key(device), ".peaks", &data, &length);
    if (status != ATN_OK) return status;
    *known = length == sizeof *out;
    if (*known) memcpy(out, data, sizeof *out);
    atn_free(device->ctx, data);
    return ATN_OK;
}

/* The peaks to be measured, as a set; values of `reached` (or NULL) above both the peak and what was reported before
 * are recorded. */
static uint32_t choose(bool known, const atn_peaks *reached, atn_peaks_kept *kept) {
    if (!known) return ALL_PEAKS;
    int64_t age = (int64_t)time(NULL) - kept->when;
    uint32_t which = age < 0 || age >= BUSY_FOR_S ? kept->busy & ALL_PEAKS : 0;
    for (int k = 0; k < ATN_PEAK_COUNT && reached; ++k) {
        double rate = get_rate(reached, k), *before = rate_of(&kept->reached, k);
        if (!(rate > get_rate(&kept->peaks, k)) || !(rate > *before)) continue;
        *before = rate;
        which |= 1u << k;
    }
    return which;
}

static atn_status know(atn_device *device, const atn_peaks *reached, atn_peaks_kept *out) {
    atn_cache *cache;
    bool known = false;
    atn_status status = atn_cache_of(device->ctx, &cache);
    if (status == ATN_OK) status = read_kept(device, cache, &known, out);
    uint32_t which = status == ATN_OK ? choose(known, reached, out) : 0;
    if (status == ATN_OK && which) {
        atn_log(device->ctx, ATN_LOG_INFO, "measuring the peaks of %s%s", device->info.name,
                known ? " again: they were exceeded, or the machine was busy" : "");
        status = measure(device, which, out);
        if (status == ATN_OK) status = atn_cache_put(cache, atn_device_peaks_key(device), ".peaks", out, sizeof *out);
    }
    if (status != ATN_OK) *out = (atn_peaks_kept){0};
    return status;
}

atn_status atn_device_peaks_kept(atn_device *device, atn_peaks_kept *out) { return know(device, NULL, out); }

atn_status atn_device_peaks_reached(atn_device *device, const atn_peaks *reached, atn_peaks *out) {
    atn_peaks_kept kept;
    atn_status status = know(device, reached, &kept);
    *out = kept.peaks;
    return status;
}

atn_status atn_device_peaks(atn_device *device, atn_peaks *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_peaks peaks = {0};
    atn_status status = ATN_CHECK_OUT(ctx, atn_peaks, out);
    if (status == ATN_OK) status = atn_device_peaks_reached(device, NULL, &peaks);
    return status == ATN_OK ? ATN_GIVE(ctx, atn_peaks, &peaks, out) : status;
}
