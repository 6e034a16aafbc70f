/* attune needle --stream, the matching thread: a pose for each frame while the next one is read. Two volumes circulate
 * between the threads, three with --latest. */
#include "cli/needle_stream.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "image/volume.h"

#include <string.h>

static const char NO_FRAMES[] = "json txt md"; /* files next to frames */

typedef needle_skipped skipped;
typedef needle_stream_slot slot;
typedef needle_run run;

/* ---- telling ---- */

static atn_status print_line(const run *r, json_t *root, bool good) {
    if (good) return atn_live_line(r->job->call, root);
    json_decref(root);
    return atn_live_line(r->job->call, NULL);
}

/* A frame without a pose: `what` is "error" or "dropped". */
static atn_status tell_other(const run *r, int64_t number, const char *name, const char *what, const char *why) {
    atn_cli_call *call = r->job->call;
    if (!call->json) {
        fprintf(call->out, "%s: %s: %s\n", name, what, why);
        return atn_live_flush(call);
    }
    json_t *root = json_object();
    bool good = json_object_set_new(root, "frame", json_integer(number)) == 0 &&
                json_object_set_new(root, "name", atn_cli_json_text(r->ctx, name)) == 0 &&
                json_object_set_new(root, what, atn_cli_json_text(r->ctx, why)) == 0;
    return print_line(r, root, good);
}

static atn_status tell_drop(run *r, int64_t number, const char *name, const char *why) {
    ++r->tally.dropped;
    return tell_other(r, number, name, "dropped", why);
}

static atn_status tell_failure(run *r, int64_t number, const char *name, const char *why) {
    if (!r->failed++) snprintf(r->first_failure, sizeof r->first_failure, "%s", why);
    return tell_other(r, number, name, "error", why);
}

static atn_status tell_skipped(run *r, skipped **list) {
    atn_status status = ATN_OK;
    for (const skipped *s = *list; s && status == ATN_OK; s = s->next)
        status = tell_drop(r, s->number, s->name, "a newer frame was there");
    needle_skipped_free(r->ctx, *list);
    *list = NULL;
    return status;
}

static atn_status tell_pose(const run *r, const needle_frame_facts *f, const atn_needle_result *result) {
    atn_cli_call *call = r->job->call;
    if (call->json) {
        json_t *root = atn_cli_needle_frame_json(call, f, result);
        return print_line(r, root, root);
    }
    if (result->found)
        fprintf(call->out, "%s: %s, tip %.4f %.4f %.4f, roll %.2f%s, %lld of %lld points, %.1f ms, latency %.1f ms\n",
                f->name, f->tracked ? "tracked" : "found", result->tip[0], result->tip[1], result->tip[2],
                result->roll_deg, result->roll_observable ? "" : " (not observable)", (long long)result->matches,
                (long long)result->scan_points, 1e3 * result->seconds, 1e3 * f->latency_s);
    else
        fprintf(call->out, "%s: not found: %s; %.1f ms, latency %.1f ms\n", f->name, result->reason,
                1e3 * result->seconds, 1e3 * f->latency_s);
    return atn_live_flush(call);
}

static atn_status tell_all(run *r) {
    atn_cli_call *call = r->job->call;
    const char *reason = atn_stream_reason(r->stream);
    if (!call->json) {
        fprintf(call->out, "%lld found, %lld failed; ", (long long)r->found, (long long)r->failed);
        atn_tally_text(&r->tally, reason, call->out);
        return atn_live_flush(call);
    }
    json_t *root = json_object(), *sum = json_object();
    bool good = json_object_set_new(root, "summary", sum) == 0 &&
                json_object_set_new(sum, "found", json_integer(r->found)) == 0 &&
                json_object_set_new(sum, "failed", json_integer(r->failed)) == 0 &&
                atn_tally_json(&r->tally, reason, sum);
    return print_line(r, root, good);
}

/* ---- looking ---- */

/* The next frame starts from a pose that was found, else anywhere. */
static void learn(run *r, const atn_needle_result *result) {
    r->tracks = result->found;
    r->found += result->found;
    memcpy(r->track.start, result->transform, sizeof r->track.start);
}

static atn_status look(run *r, const slot *s) {
    const needle_job *job = r->job;
    atn_needle_match_settings begin = job->settings;
    atn_needle_result result = {0};
    begin.otherwise = &r->search;
    atn_status status = atn_needle_find(job->needle, s->volume, &job->view,
                                        r->tracks           ? &r->track
                                        : r->tally.answered ? &r->search
                                                            : &begin,
                                        &result);
    if (status == ATN_ERR_INPUT) return tell_failure(r, s->number, s->name, atn_ctx_message(r->ctx));
    if (status != ATN_OK) return status;
    needle_frame_facts facts = {.number = s->number,
                                .name = s->name,
                                .tracked = r->tracks && !result.otherwise,
                                .read_s = s->read_s,
                                .latency_s = atn_clock_seconds() - s->came_s};
    learn(r, &result);
    status = atn_tally_add(&r->tally, facts.latency_s);
    r->tally.seconds = atn_clock_seconds() - r->tally.start_s;
    needle_live_show(r->live, s->volume, &result, &r->tally, facts.latency_s);
    return status ? status : tell_pose(r, &facts, &result);
}

static atn_status answer(run *r, slot *s) {
    atn_status status = tell_skipped(r, &s->before);
    if (r->tally.start_s == 0) r->tally.start_s = s->came_s;
    if (!status) status = atn_check_cancel(r->ctx);
    if (status) return status;
    if (s->fault.status == ATN_ERR_MEMORY) return atn_live_raise(r->ctx, ATN_OK, &s->fault);
    if (s->fault.status) return tell_failure(r, s->number, s->name, s->fault.message);
    return look(r, s);
}

static void empty(const run *r, slot *s) {
    atn_free(r->ctx, s->name);
    s->name = NULL;
    needle_skipped_free(r->ctx, s->before);
    s->before = NULL;
}

static atn_status look_at_all(run *r) {
    atn_status status = ATN_OK;
    for (slot *s; status == ATN_OK && (s = atn_lane_take(&r->read));) {
        status = answer(r, s);
        if (status == ATN_ERR_CANCELLED) status = tell_drop(r, s->number, s->name, "stopped"); /* the end, no fault */
        empty(r, s);
        atn_lane_put(&r->spare, s); /* false: the reader has ended */
    }
    return status;
}

/* ---- the whole ---- */

static atn_status make_slots(run *r) {
    size_t slots = r->latest ? NEEDLE_SLOTS : NEEDLE_SLOTS - 1;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < slots && !r->folder && status == ATN_OK; ++k)
        status = atn_volume_create_for(r->job->device, r->shape, 8, NULL, NULL, &r->slot[k].volume);
    for (size_t k = 0; k < NEEDLE_SLOTS - 1 && status == ATN_OK; ++k) atn_lane_put(&r->spare, &r->slot[k]);
    return status;
}

static atn_status open_stream(run *r) {
    const needle_job *job = r->job;
    atn_cli_call *call = job->call;
    atn_stream_options options = {.others = NO_FRAMES};
    size_t scan;
    atn_status status = atn_live_options(call, &options);
    if (status) return status;
    r->folder = strcmp(call->operands[1], "-") != 0;
    r->latest = atn_cli_has(call, "latest");
    memcpy(r->shape, job->volume.shape, sizeof r->shape);
    if (r->folder)
        options.folder = call->operands[1];
    else if (!r->shape[0] || !(job->view.spacing[0] > 0))
        return atn_cli_misuse(call, "volumes from standard input need --shape SxRxC and --spacing DX,DY,DZ");
    else if (!atn_size_mul((size_t)r->shape[0], (size_t)r->shape[1], &scan) ||
             !atn_size_mul(scan, (size_t)r->shape[2], &options.bytes))
        return atn_cli_misuse(call, "--shape: more pixels than any memory can hold");
    r->search = job->settings;
    r->search.has_start = r->search.track = false;
    r->track = (atn_needle_match_settings){
        .has_start = true, .track = true, .marginal = job->settings.marginal, .otherwise = &r->search};
    return atn_stream_open(r->ctx, &options, &r->stream);
}

/* Frames that were read or dropped, but not reported, when the stream was stopped. */
static atn_status tell_rest(run *r) {
    atn_status status = ATN_OK;
    for (slot *s; (s = atn_lane_try(&r->read)); empty(r, s)) {
        if (!status) status = tell_skipped(r, &s->before);
        if (!status) status = tell_drop(r, s->number, s->name, "stopped");
    }
    if (!status) status = tell_skipped(r, &r->late);
    size_t left = atn_stream_left(r->stream);
    char why[80];
    snprintf(why, sizeof why, "it ended after %zu bytes", left);
    if (!status && left) status = tell_failure(r, r->came + 1, "the last frame", why);
    return status;
}

static atn_status stream(run *r) {
    pthread_t reader;
    atn_status status = make_slots(r);
    if (status) return status;
    if (pthread_create(&reader, NULL, needle_read_all, r) != 0)
        return atn_fail(r->ctx, ATN_ERR_MEMORY, "a thread could not be started");
    status = look_at_all(r);
    atn_stream_stop(r->stream);
    atn_lane_close(&r->read);
    atn_lane_close(&r->spare);
    pthread_join(reader, NULL);
    if (!status) status = tell_rest(r);
    if (!status) status = tell_all(r);
    status = atn_live_raise(r->ctx, status, &r->fault);
    const char *from = r->job->call->operands[1];
    if (!status && r->failed)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: %lld of %lld frames could not be read; the first: %s", from,
                        (long long)r->failed, (long long)r->failed + (long long)r->tally.answered + r->tally.dropped,
                        r->first_failure);
    if (!status && !r->tally.answered && !r->tally.dropped)
        status = atn_fail(r->ctx, ATN_ERR_INPUT, "%s: no frame came: %s", from, atn_stream_reason(r->stream));
    return status;
}

atn_status atn_cli_needle_stream(needle_job *job) {
    const atn_ctx *ctx = job->call->ctx;
    run r = {.job = job, .ctx = ctx, .tally = {.ctx = ctx}};
    atn_lane_begin(&r.spare);
    atn_lane_begin(&r.read);
    atn_ctx_on_progress(job->call->ctx, NULL, NULL); /* lines of frames tell it */
    atn_status status = open_stream(&r);
    if (!status) status = atn_cli_needle_prepare(job);
    if (!status) status = needle_live_open(job, &r.live);
    if (!status) status = stream(&r);
    if (r.live) {
        json_t *summary =
            json_pack("{s:b,s:I,s:I}", "summary", 1, "found", (json_int_t)r.found, "failed", (json_int_t)r.failed);
        if (summary) atn_tally_json(&r.tally, atn_stream_reason(r.stream), summary);
        needle_live_end(r.live, summary);
    }
    for (size_t k = 0; k < NEEDLE_SLOTS; ++k) {
        empty(&r, &r.slot[k]);
        atn_volume_free(r.slot[k].volume);
    }
    needle_skipped_free(ctx, r.late);
    atn_stream_close(r.stream);
    atn_lane_end(&r.spare);
    atn_lane_end(&r.read);
    atn_tally_free(&r.tally);
    return status;
}
