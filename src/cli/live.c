/* What verbs with --stream share. The p-th percentile is the latency that a share p of the frames did not exceed. */
#include "cli/live.h"

#include "base/compare.h"
#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

atn_status atn_live_options(atn_cli_call *call, atn_stream_options *out) {
    double frames;
    atn_status status = atn_cli_read_whole(call, "frames", 1, 0, &frames);
    if (!status) status = atn_cli_read_number(call, "idle", 0, 1e9, 0, &out->idle_s);
    if (!status) status = atn_cli_read_number(call, "patience", 1e-3, 1e6, 1, &out->patience_s);
    if (!status) out->frames = (int64_t)frames;
    return status;
}

/* ---- lines ---- */

static int append(const char *bytes, size_t length, void *text) {
    atn_text_add_bytes(text, bytes, length);
    return 0;
}

atn_status atn_live_flush(const atn_cli_call *call) {
    errno = 0;
    if (fflush(call->out) == 0 && !ferror(call->out)) return ATN_OK;
    return atn_fail(call->ctx, ATN_ERR_IO, "standard output could not be written%s%s", errno ? ": " : "",
                    errno ? strerror(errno) : "");
}

atn_status atn_live_line(atn_cli_call *call, json_t *root) {
    atn_text line = {.ctx = call->ctx};
    atn_status status = root && json_dump_callback(root, append, &line, JSON_COMPACT) == 0
                            ? ATN_OK
                            : atn_fail_memory(call->ctx, 0, "a line of JSON");
    atn_text_add(&line, "\n");
    if (!status) status = atn_text_status(&line);
    if (!status) fwrite(line.data, 1, line.length, call->out);
    if (!status) call->printed = true;
    if (!status) status = atn_live_flush(call);
    atn_text_free(&line);
    json_decref(root);
    return status;
}

/* ---- threads ---- */

void atn_live_keep(const atn_ctx *ctx, atn_live_fault *fault, atn_status status) {
    fault->status = status;
    if (status != ATN_OK) snprintf(fault->message, sizeof fault->message, "%s", atn_ctx_message(ctx));
}

atn_status atn_live_raise(const atn_ctx *ctx, atn_status status, const atn_live_fault *fault) {
    if (status != ATN_OK || fault->status == ATN_OK) return status;
    return atn_fail(ctx, fault->status, "%s", fault->message);
}

/* ---- the tally ---- */

atn_status atn_tally_add(atn_tally *tally, double latency_s) {
    void *array = tally->latency;
    atn_status status = atn_grow(tally->ctx, &array, &tally->room, tally->answered, sizeof *tally->latency);
    tally->latency = array;
    if (status == ATN_OK) tally->latency[tally->answered++] = latency_s;
    return status;
}

void atn_tally_free(atn_tally *tally) { atn_free(tally->ctx, tally->latency); }

static void sort(atn_tally *t) {
    if (t->answered) qsort(t->latency, t->answered, sizeof *t->latency, atn_ascending_double);
}

/* Of latencies that are sorted. */
static double percentile(const atn_tally *t, double share) {
    if (!t->answered) return 0;
    size_t at = (size_t)ceil(share * (double)t->answered);
    return t->latency[at ? at - 1 : 0];
}

static double rate_of(const atn_tally *t) { return t->seconds > 0 ? (double)t->answered / t->seconds : 0; }

bool atn_tally_json(atn_tally *tally, const char *reason, json_t *root) {
    json_t *latency = json_object();
    sort(tally);
    return json_object_set_new(root, "latency_s", latency) == 0 &&
           json_object_set_new(root, "frames", json_integer((json_int_t)tally->answered)) == 0 &&
           json_object_set_new(root, "dropped", json_integer(tally->dropped)) == 0 &&
           json_object_set_new(root, "fps", atn_cli_json_rate(rate_of(tally))) == 0 &&
           json_object_set_new(root, "seconds", json_real(tally->seconds)) == 0 &&
           json_object_set_new(root, "reason", atn_cli_json_text(tally->ctx, reason)) == 0 &&
           json_object_set_new(latency, "p50", json_real(percentile(tally, 0.5))) == 0 &&
           json_object_set_new(latency, "p95", json_real(percentile(tally, 0.95))) == 0 &&
           json_object_set_new(latency, "p99", json_real(percentile(tally, 0.99))) == 0 &&
           json_object_set_new(latency, "max", json_real(percentile(tally, 1))) == 0;
}

void atn_tally_text(atn_tally *tally, const char *reason, FILE *out) {
    sort(tally);
    fprintf(out, "%zu frames in %.3g s, %.4g per second; latency p50 %.2f, p95 %.2f, p99 %.2f ms; %lld dropped; %s\n",
            tally->answered, tally->seconds, rate_of(tally), 1e3 * percentile(tally, 0.5),
            1e3 * percentile(tally, 0.95), 1e3 * percentile(tally, 0.99), (long long)tally->dropped, reason);
}
