/* Timed batches of runs. */
#include "tune/moment.h"

#include "base/clock.h"
#include "device/facts.h"

enum { PLUG_BYTES = 512 << 20, RUNS_TO_A_PLUG = 8, MOST_REPEATS = 4096, LEAST_COLD = 32 << 20 };
static const double HOST_MOMENT_S = 4e-3, DEVICE_MOMENT_S = 3e-4;
static const double WARM_BELOW_S =
    1e-2; /* longer runs wake threads and fill caches by themselves, at no cost to speak of */

atn_status atn_moments_open(atn_device *device, bool cold, atn_moments *out) {
    const atn_device_info *info = atn_device_get_info(device);
    *out = (atn_moments){.device = device, .host = atn_backend_facts_of(info)->threads, .cold = cold};
    int64_t bytes = 2 * info->cache_bytes > LEAST_COLD ? 2 * info->cache_bytes : LEAST_COLD;
    if (cold && bytes > info->max_alloc_bytes / 4) bytes = info->max_alloc_bytes / 4;
    if (!cold) bytes = out->host || info->unified ? 0 : PLUG_BYTES;
    if (!cold && bytes > info->memory_bytes / 16) bytes = info->memory_bytes / 16;
    return bytes > 0 ? atn_buffer_create(device, (size_t)bytes, &out->plug) : ATN_OK;
}

void atn_moments_close(atn_moments *m) {
    atn_buffer_free(m->plug);
    m->plug = NULL;
}

static atn_status get_ready(const atn_runnable *r) { return r->stand->moved ? atn_stand_reset(r->stand) : ATN_OK; }

static atn_status run_all(const atn_runnable *r, int32_t times) {
    for (int32_t k = 0; k < times; ++k) {
        atn_status status = atn_built_run(r->kernel, NULL, r->stand->slots, r->stand->params);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

static atn_status fill_plug(const atn_moments *m, int32_t times) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; m->plug && k < times && status == ATN_OK; ++k)
        status = atn_buffer_fill(NULL, m->plug, 0, (uint8_t)k, atn_buffer_bytes(m->plug));
    return status;
}

int32_t atn_moment_repeats(const atn_moments *m, double once_s) {
    double wanted = (m->host ? HOST_MOMENT_S : DEVICE_MOMENT_S) / (once_s > 1e-9 ? once_s : 1e-9);
    return m->cold || wanted < 1 ? 1 : wanted > MOST_REPEATS ? MOST_REPEATS : (int32_t)wanted;
}

static atn_status host_moment(const atn_moments *m, const atn_runnable *r, double *seconds) {
    bool warm = !m->cold && r->once_s < WARM_BELOW_S;
    atn_status status = get_ready(r);
    if (status == ATN_OK && warm) status = run_all(r, 1);
    if (status == ATN_OK && warm) status = get_ready(r);
    if (status == ATN_OK && m->cold) status = fill_plug(m, 1);
    double from = atn_clock_seconds();
    if (status == ATN_OK) status = run_all(r, r->repeats);
    *seconds = (atn_clock_seconds() - from) / r->repeats;
    return status;
}

static atn_status device_moment(const atn_moments *m, const atn_runnable *r, double *seconds) {
    atn_queue *queue = atn_device_queue(m->device);
    atn_event *from = NULL, *to = NULL;
    atn_status status = get_ready(r);
    if (status == ATN_OK) status = fill_plug(m, m->cold ? 1 : 1 + r->repeats / RUNS_TO_A_PLUG);
    if (status == ATN_OK) status = atn_event_record(queue, &from);
    if (status == ATN_OK) status = run_all(r, r->repeats);
    if (status == ATN_OK) status = atn_event_record(queue, &to);
    if (status == ATN_OK) status = atn_event_elapsed(from, to, seconds);
    *seconds /= r->repeats;
    atn_event_free(from);
    atn_event_free(to);
    return status;
}

atn_status atn_moment_take(const atn_moments *m, const atn_runnable *r, double *seconds) {
    *seconds = 0;
    return m->host ? host_moment(m, r, seconds) : device_moment(m, r, seconds);
}

atn_status atn_moment_once(const atn_moments *m, const atn_runnable *r, double *seconds) {
    atn_status status = get_ready(r);
    double from = atn_clock_seconds();
    if (status == ATN_OK) status = run_all(r, 1);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(m->device));
    *seconds = atn_clock_seconds() - from;
    return status;
}
