/* Measuring in turn: in every round each runner has its moment, so that whatever slows the machine down for a while
 * slows all of them, and only ratios within a round are compared. On the host a run before each moment wakes its
 * threads and fills the caches; on a GPU all that a moment needs is queued behind other work, so that no launch waits
 * for the host. */
#include "bench/parts.h"

#include "base/clock.h"
#include "base/compare.h"
#include "device/facts.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_ROUNDS = 5, MOST_REPEATS = 64 };
static const double HOST_MOMENT_S = 4e-3, DEVICE_MOMENT_S = 3e-4;
enum {
    PLUG_BYTES = 512 << 20,
    RUNS_TO_A_PLUG = 8
}; /* filled before each moment on a GPU: about a fifth of a millisecond */

typedef struct stand {
    atn_device *device;
    bool host;
    atn_buffer *plug;
} stand;

static atn_status run_all(bench_runner *r, int32_t times) {
    for (int32_t k = 0; k < times; ++k) {
        atn_status status = r->run(r->data);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

static atn_status get_ready(bench_runner *r) { return r->ready ? r->ready(r->data) : ATN_OK; }

static atn_status host_moment(bench_runner *r, double *second) {
    atn_status status = get_ready(r);
    if (status == ATN_OK) status = run_all(r, 1);
    if (status == ATN_OK) status = get_ready(r);
    double from = atn_clock_seconds();
    if (status == ATN_OK) status = run_all(r, r->repeats);
    *second = (atn_clock_seconds() - from) / r->repeats;
    return status;
}

static atn_status device_moment(const stand *s, bench_runner *r, double *second) {
    atn_queue *queue = atn_device_queue(s->device);
    atn_event *from = NULL, *to = NULL;
    atn_status status = get_ready(r);
    for (int32_t k = 0; s->plug && k <= r->repeats / RUNS_TO_A_PLUG && status == ATN_OK; ++k)
        status = atn_buffer_fill(queue, s->plug, 0, 0, PLUG_BYTES);
    if (status == ATN_OK) status = atn_event_record(queue, &from);
    if (status == ATN_OK) status = run_all(r, r->repeats);
    if (status == ATN_OK) status = atn_event_record(queue, &to);
    if (status == ATN_OK) status = atn_event_elapsed(from, to, second);
    if (status == ATN_OK) *second /= r->repeats;
    atn_event_free(from);
    atn_event_free(to);
    return status;
}

static atn_status moment(const stand *s, bench_runner *r, double *second) {
    return s->host ? host_moment(r, second) : device_moment(s, r, second);
}

double bench_median(const double *values, int32_t count) {
    double sorted[BENCH_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, atn_ascending_double);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Enough runs to a moment that the clock's grain does not show. */
static atn_status choose_repeats(const stand *s, bench_runner *r, double *round_s) {
    double once = 1e30, aim = s->host ? HOST_MOMENT_S : DEVICE_MOMENT_S;
    r->repeats = 1;
    for (int k = 0; k < 3; ++k) {
        double now;
        atn_status status = moment(s, r, &now);
        if (status != ATN_OK) return status;
        if (now < once) once = now;
        if (once > 50 * aim) break;
    }
    double wanted = aim / (once > 1e-9 ? once : 1e-9);
    r->repeats = wanted < 1 || r->ready ? 1 : wanted > MOST_REPEATS ? MOST_REPEATS : (int32_t)wanted;
    *round_s += once * (r->repeats + s->host) + (s->host ? 0 : 5e-4);
    return ATN_OK;
}

atn_status bench_measure(atn_device *device, bench_runner *runners, int32_t count, double budget_s, int32_t *rounds) {
    const atn_device_info *info = atn_device_get_info(device);
    stand s = {.device = device, .host = atn_backend_facts_of(info)->threads};
    atn_status status = s.host || info->unified ? ATN_OK : atn_buffer_create(device, PLUG_BYTES, &s.plug);
    double round_s = 0;
    for (int32_t k = 0; k < count && status == ATN_OK; ++k) status = choose_repeats(&s, &runners[k], &round_s);
    double affordable = budget_s / (round_s > 0 ? round_s : 1);
    *rounds = affordable < LEAST_ROUNDS ? LEAST_ROUNDS : affordable > BENCH_ROUNDS ? BENCH_ROUNDS : (int32_t)affordable;
    for (int32_t n = 0; n < *rounds; ++n)
        for (int32_t k = 0; k < count && status == ATN_OK; ++k) status = moment(&s, &runners[k], &runners[k].second[n]);
    for (int32_t k = 0; k < count && status == ATN_OK; ++k)
        runners[k].median = bench_median(runners[k].second, *rounds);
    atn_buffer_free(s.plug);
    return status;
}

double bench_compare(const bench_runner *ours, const bench_runner *reference, int32_t rounds) {
    double ratio[BENCH_ROUNDS];
    for (int32_t n = 0; n < rounds; ++n) ratio[n] = reference->second[n] / ours->second[n];
    return bench_median(ratio, rounds);
}
