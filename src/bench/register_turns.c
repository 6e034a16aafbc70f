/* Shared by the parts of the registration benchmark: progress, rows, and timed alternating runs. */
#include "bench/register_parts.h"

#include "base/clock.h"

#include <stdio.h>

void bench_tell(const bench_session *s, const char *format, ...) {
    char what[160];
    va_list arguments;
    if (!s->options->to.progress) return;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    atn_bench_progress(&s->options->to, what);
}

void bench_emit(bench_session *s, atn_bench_row row) {
    if (s->stopped) return;
    snprintf(row.device, sizeof row.device, "%.127s", atn_device_get_info(s->device)->name);
    s->stopped = !atn_bench_visit(&s->options->to, &row);
}

atn_status bench_turns(bench_session *s, bench_runner *runners, int32_t count, int32_t rounds) {
    atn_queue *queue = atn_device_queue(s->device);
    atn_status status = atn_queue_finish(queue);
    for (int32_t n = 0; n < rounds && status == ATN_OK; ++n)
        for (int32_t k = 0; k < count && status == ATN_OK; ++k) {
            bench_runner *r = &runners[k];
            double since = atn_clock_seconds();
            for (int32_t i = 0; i < r->repeats && status == ATN_OK; ++i) status = r->run(r->data);
            if (status == ATN_OK) status = atn_queue_finish(queue);
            r->second[n] = (atn_clock_seconds() - since) / r->repeats;
            if (status == ATN_OK) status = atn_check_cancel(s->ctx);
        }
    for (int32_t k = 0; k < count; ++k) runners[k].median = bench_median(runners[k].second, rounds);
    return status;
}

atn_status bench_run_one(void *data) {
    bench_one *one = data;
    return atn_register(one->session->device, one->pair->source, one->pair->target, &one->settings, &one->result);
}
