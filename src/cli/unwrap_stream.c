/* attune unwrap --stream: reading, solving and writing concurrently, each on its own thread, with short queues between
 * them; a full queue makes its producer wait, so no frame is dropped silently. */
#include "cli/unwrap.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "cli/lane.h"
#include "cli/live.h"
#include "cli/serve.h"
#include "plot/surface.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char ENDINGS[] = "png tif tiff bmp npy dat sdf raw phase bin";

/* A frame on its way. */
typedef struct slot {
    int64_t number;
    char *name; /* owned */
    double came_s;
    atn_status status; /* of reading it; its sentence is in `message` */
    char message[ATN_MESSAGE_BYTES];
    unwrap_phase phase;
    atn_unwrap_solve_settings settings;
    bool surface;              /* it spans more than 2 pi */
    bool bad;                  /* it is dropped; why is in `message` */
    int64_t answered, dropped; /* when it was solved, with it */
    double latency_s;
    int64_t residues;
} slot;

typedef struct run {
    unwrap_job *job;
    const atn_ctx *ctx;
    atn_stream *stream;
    atn_type type;                          /* of values from standard input */
    atn_lane read, done;                    /* slots that were read, slots that were solved */
    atn_live_fault read_fault, write_fault; /* of the two threads, */
    atn_live_fault next_fault, done_fault;  /* of those between them, where frames come and go */
    int64_t size[2];                        /* of all frames; zeros: none has come */
    atn_tally tally;
    unwrap_stack stack; /* --steps: what came of the next one */
    atn_serve *serve;   /* NULL: no live view */
    double event_s;     /* when the last event was reported there */
    int64_t frames_shown;
} run;

static void drop(const run *r, slot *s) {
    if (!s) return;
    unwrap_phase_free(r->job, &s->phase);
    atn_free(r->ctx, s->name);
    atn_free(r->ctx, s);
}

/* ---- reading ---- */

static double value_of(const run *r, const void *bytes, size_t k) {
    if (r->type == ATN_U8) return ((const uint8_t *)bytes)[k];
    if (r->type == ATN_U16) return ((const uint16_t *)bytes)[k];
    return (double)((const float *)bytes)[k];
}

static atn_status take_intensity(const run *r, const void *bytes, unwrap_phase *out) {
    size_t count = (size_t)(r->job->shape[0] * r->job->shape[1]);
    *out = (unwrap_phase){.width = r->job->shape[1], .height = r->job->shape[0]};
    out->full = r->type == ATN_U8 ? UINT8_MAX : r->type == ATN_U16 ? UINT16_MAX : 0;
    out->intensity = atn_alloc(r->ctx, count * sizeof *out->intensity);
    for (size_t k = 0; out->intensity && k < count; ++k) out->intensity[k] = (float)value_of(r, bytes, k);
    return out->intensity ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status take_bytes(const run *r, const void *bytes, unwrap_phase *out) {
    const unwrap_job *job = r->job;
    size_t count = (size_t)(job->shape[0] * job->shape[1]);
    double turn = 2 * 3.141592653589793, scale = job->scale;
    if (scale == 0) scale = r->type == ATN_U8 ? turn / 256 : r->type == ATN_U16 ? turn / 65536 : 1;
    *out = (unwrap_phase){.width = job->shape[1], .height = job->shape[0], .spacing_m = {job->pixel_m, job->pixel_m}};
    out->value = atn_alloc(r->ctx, count * unwrap_value_bytes(job));
    if (!out->value) return ATN_ERR_MEMORY;
    out->low = INFINITY;
    out->high = -INFINITY;
    for (size_t k = 0; k < count; ++k) {
        double value = scale * value_of(r, bytes, k);
        unwrap_phase_put(job, out, k, value);
    }
    return ATN_OK;
}

static atn_status read_one(const run *r, const atn_stream_frame *frame, unwrap_phase *out) {
    if (r->job->steps)
        return frame->path ? unwrap_read_intensity(r->job, frame->path, out) : take_intensity(r, frame->bytes, out);
    return frame->path ? unwrap_read_file(r->job, frame->path, out) : take_bytes(r, frame->bytes, out);
}

/* Reads until it can be read, or is given up. */
static slot *slot_of(run *r, const atn_stream_frame *frame) {
    slot *s = atn_zalloc(r->ctx, sizeof *s);
    char number[32];
    snprintf(number, sizeof number, "frame%06lld", (long long)frame->number);
    if (s) s->name = atn_strdup(r->ctx, frame->path ? strrchr(frame->path, '/') + 1 : number);
    if (!s || !s->name) {
        drop(r, s);
        return NULL;
    }
    s->number = frame->number;
    s->came_s = frame->came_s;
    do s->status = read_one(r, frame, &s->phase);
    while ((s->status == ATN_ERR_INPUT || s->status == ATN_ERR_IO) && atn_stream_again(r->stream, frame));
    if (s->status) snprintf(s->message, sizeof s->message, "%s", atn_ctx_message(r->ctx));
    return s;
}

static void *read_all(void *given) {
    run *r = given;
    atn_stream_frame frame;
    bool any = true;
    atn_status status = ATN_OK;
    while (status == ATN_OK && any) {
        status = atn_stream_next(r->stream, &frame, &any);
        if (status != ATN_OK || !any) break;
        slot *s = slot_of(r, &frame);
        if (!s) status = ATN_ERR_MEMORY;
        if (s && !atn_lane_put(&r->read, s)) {
            drop(r, s);
            break;
        }
    }
    atn_live_keep(r->ctx, &r->read_fault, status);
    atn_lane_close(&r->read);
    return NULL;
}

/* ---- writing ---- */

static atn_status write_one(const run *r, const slot *s) {
    if (!r->job->output) return ATN_OK;
    const char *dot = strrchr(s->name, '.');
    atn_text path = {.ctx = r->ctx};
    atn_text_printf(&path, "%s/%.*s.%s", r->job->output,
                    (int)(dot && dot > s->name ? dot - s->name : (long)strlen(s->name)), s->name,
                    r->job->options.bits == 64 ? "npy" : "tif");
    atn_status status = atn_text_status(&path);
    if (!status) status = unwrap_write(r->job, &s->phase, path.data);
    atn_text_free(&path);
    return status;
}

/* ---- showing ---- */

/* As many pixels of a frame as a page with `side` of them draws, 0: all. */
static void show_frame(run *r, const slot *s, int64_t side) {
    const unwrap_phase *p = &s->phase;
    double height = unwrap_height_of(r->job, p), factor = height > 0 ? height : 1, low, high;
    int64_t step = atn_surface_step(p->width, p->height, side);
    int64_t w = (p->width + step - 1) / step, h = (p->height + step - 1) / step;
    size_t count = (size_t)(w * h);
    bool wide = r->job->options.bits == 64;
    uint16_t *packed = atn_serve_room(r->serve, count * sizeof *packed);
    float *narrow = wide && packed ? atn_alloc(r->ctx, count * sizeof *narrow) : NULL;
    for (size_t k = 0; narrow && k < count; ++k)
        narrow[k] = (float)((const double *)p->value)[((int64_t)k / w * p->width + (int64_t)k % w) * step];
    atn_surface surface = {.width = wide ? w : p->width, .height = wide ? h : p->height};
    surface.values = wide ? narrow : p->value;
    if (packed && surface.values) {
        atn_surface_pack(&surface, wide ? 1 : step, &low, &high, packed);
        atn_serve_show(r->serve, json_pack("{s:I,s:I,s:I,s:I,s:f,s:f,s:s,s:f,s:f}", "number",
                                           (json_int_t)++r->frames_shown, "w", (json_int_t)w, "h", (json_int_t)h,
                                           "step", (json_int_t)step, "low", low * factor, "high", high * factor, "unit",
                                           height > 0 ? "m" : "rad", "dx", p->spacing_m[0], "dy", p->spacing_m[1]));
    } else if (packed)
        atn_serve_show(r->serve, NULL); /* no memory: not shown */
    atn_free(r->ctx, narrow);
}

/* To the live page, where there is one: a frame when it waits for one, numbers ten times a second. */
static void show(run *r, const slot *s) {
    static const double EVENT_S = 0.1;
    if (!r->serve) return;
    int64_t side;
    if (atn_serve_wants(r->serve, &side)) show_frame(r, s, side);
    double now = atn_clock_seconds();
    if (now - r->event_s < EVENT_S) return;
    r->event_s = now;
    char note[64];
    snprintf(note, sizeof note, "%lld residues;", (long long)s->residues);
    atn_serve_event(r->serve,
                    json_pack("{s:f,s:I,s:I,s:f,s:s}", "t", now - r->tally.start_s, "answered", (json_int_t)s->answered,
                              "dropped", (json_int_t)s->dropped, "latency_s", s->latency_s, "note", note));
}

/* The last frame stays on the page, with all its pixels. */
static void *write_all(void *given) {
    run *r = given;
    slot *last = NULL;
    for (slot *s; (s = atn_lane_take(&r->done));) {
        show(r, s);
        if (!r->write_fault.status) {
            atn_live_keep(r->ctx, &r->write_fault, write_one(r, s));
            if (r->write_fault.status) atn_stream_stop(r->stream);
        }
        drop(r, r->serve ? last : s);
        if (r->serve) last = s;
    }
    if (last) show_frame(r, last, 0);
    drop(r, last);
    return NULL;
}

/* ---- telling ---- */

static atn_status print_line(const run *r, json_t *root, bool good) {
    if (good) return atn_live_line(r->job->call, root);
    json_decref(root);
    return atn_live_line(r->job->call, NULL);
}

static atn_status tell_frame(const run *r, const slot *s, const atn_unwrap_result *result, double latency) {
    atn_cli_call *call = r->job->call;
    if (!call->json) {
        fprintf(call->out, "%s: %lld residues, %d cycles, %.2f ms, latency %.2f ms\n", s->name,
                (long long)result->residues, (int)result->cycles, 1e3 * result->seconds, 1e3 * latency);
        return atn_live_flush(call);
    }
    json_t *root = json_object();
    bool good = json_object_set_new(root, "frame", json_integer(s->number)) == 0 &&
                json_object_set_new(root, "name", atn_cli_json_text(r->ctx, s->name)) == 0 &&
                json_object_set_new(root, "residues", json_integer(result->residues)) == 0 &&
                json_object_set_new(root, "valid", json_integer(result->valid)) == 0 &&
                json_object_set_new(root, "cycles", json_integer(result->cycles)) == 0 &&
                json_object_set_new(root, "converged", json_boolean(result->converged)) == 0 &&
                json_object_set_new(root, "seconds", json_real(result->seconds)) == 0 &&
                json_object_set_new(root, "latency_s", json_real(latency)) == 0;
    return print_line(r, root, good);
}

static atn_status tell_drop(run *r, const slot *s, const char *why) {
    atn_cli_call *call = r->job->call;
    ++r->tally.dropped;
    fprintf(call->err, "attune unwrap: frame %lld dropped: %s\n", (long long)s->number, why);
    if (!call->json) return ATN_OK;
    json_t *root = json_object();
    bool good = json_object_set_new(root, "frame", json_integer(s->number)) == 0 &&
                json_object_set_new(root, "name", atn_cli_json_text(r->ctx, s->name)) == 0 &&
                json_object_set_new(root, "error", atn_cli_json_text(r->ctx, why)) == 0;
    return print_line(r, root, good);
}

/* Once the threads have ended. */
static atn_status tell_all(run *r) {
    atn_cli_call *call = r->job->call;
    const char *reason = atn_stream_reason(r->stream);
    size_t left = atn_stream_left(r->stream);
    if (left) {
        ++r->tally.dropped;
        fprintf(call->err, "attune unwrap: last frame dropped: it ended after %zu bytes\n", left);
    }
    if (!call->json) {
        atn_tally_text(&r->tally, reason, call->out);
        return atn_live_flush(call);
    }
    json_t *root = json_object();
    return print_line(r, root, atn_tally_json(&r->tally, reason, root));
}

/* ---- solving ---- */

/* A frame that cannot be answered, and why, in its message. */
static bool check(slot *s, const int64_t size[2]) {
    if (s->status != ATN_OK) return false;
    if (!size[0] || (s->phase.width == size[0] && s->phase.height == size[1])) return true;
    snprintf(s->message, sizeof s->message, "%s: %lldx%lld, but the first frame is %lldx%lld", s->name,
             (long long)s->phase.height, (long long)s->phase.width, (long long)size[1], (long long)size[0]);
    return false;
}

/* Adds a frame to its stack: frames 1 to N are the first one, whatever becomes of them. A stack that misses one is
 * dropped, with all its frames. *there: the frame gets a turn, as the phase of the stack or to be reported as dropped.
 * */
static atn_status stack_up(run *r, slot *s, bool *good, bool *there) {
    int64_t before = (s->number - 1) % r->job->steps;
    if (*good && r->stack.have == before) return unwrap_stack_add(r->job, &r->stack, &s->phase, there);
    r->tally.dropped += r->stack.have;
    unwrap_stack_clear(r->job, &r->stack);
    *there = true;
    if (*good) snprintf(s->message, sizeof s->message, "%s: another frame of its stack is missing", s->name);
    *good = false;
    return ATN_OK;
}

/* Takes over the slot: it gets a turn, or waits in its stack. */
static atn_status take_up(run *r, slot *s, atn_unwrap_frame *frame, bool *there) {
    bool good = check(s, r->size);
    atn_status status = ATN_OK;
    *there = true;
    if (r->tally.start_s == 0) r->tally.start_s = s->came_s;
    if (s->status == ATN_ERR_MEMORY) status = atn_fail(r->ctx, ATN_ERR_MEMORY, "%s", s->message);
    if (!status && good && !r->size[0]) { /* the first frame says the size */
        status = unwrap_read_weights(r->job, &s->phase);
        r->size[0] = s->phase.width;
        r->size[1] = s->phase.height;
    }
    if (!status && r->job->steps) status = stack_up(r, s, &good, there);
    if (status || !*there) {
        drop(r, s);
        *there = false;
        return status;
    }
    s->bad = !good;
    s->settings = r->job->settings;
    s->settings.unwrapped = s->surface = good && unwrap_is_surface(r->job, &s->phase);
    frame->width = s->phase.width;
    frame->height = s->phase.height;
    frame->phase = frame->out = s->phase.value;
    frame->settings = &s->settings;
    frame->status = good ? ATN_OK : ATN_ERR_INPUT;
    frame->user = s;
    return ATN_OK;
}

static bool next_frame(void *user, atn_unwrap_frame *frame) {
    run *r = user;
    bool there = false;
    for (slot *s; !there && (s = atn_lane_take(&r->read));) {
        atn_status status = take_up(r, s, frame, &there);
        if (!status) continue;
        atn_live_keep(r->ctx, &r->next_fault, status);
        return false;
    }
    return there;
}

static atn_status tell_solved(run *r, slot *s, const atn_unwrap_result *result) {
    double latency = atn_clock_seconds() - s->came_s;
    if (s->surface) fprintf(r->job->call->err, "attune unwrap: %s spans more than 2 pi: taken as unwrapped\n", s->name);
    if (!result->converged && result->valid) {
        snprintf(s->message, sizeof s->message, "%s: not converged: %s", s->name, result->reason);
        s->bad = true;
        return tell_drop(r, s, s->message);
    }
    atn_status status = result->valid ? unwrap_form(r->job, &s->phase) : ATN_OK;
    if (!status) status = atn_tally_add(&r->tally, latency);
    s->answered = (int64_t)r->tally.answered;
    s->dropped = r->tally.dropped;
    s->latency_s = latency;
    s->residues = result->residues;
    return status ? status : tell_frame(r, s, result, latency);
}

/* Those that were not reached are only counted: why is said once, for all. */
static bool frame_done(void *user, const atn_unwrap_frame *frame) {
    run *r = user;
    slot *s = frame->user;
    bool over = r->done_fault.status || (frame->status && !s->bad);
    atn_status status = ATN_OK;
    if (over)
        ++r->tally.dropped;
    else
        status = s->bad ? tell_drop(r, s, s->message) : tell_solved(r, s, frame->result);
    if (over && !r->done_fault.status && frame->status != ATN_ERR_LOST && frame->status != ATN_ERR_UNSUPPORTED &&
        frame->status != ATN_ERR_CANCELLED)
        status = atn_fail(r->ctx, frame->status, "%s", frame->message);
    if (over || status || s->bad || !atn_lane_put(&r->done, s)) drop(r, s);
    r->tally.seconds = atn_clock_seconds() - r->tally.start_s;
    if (status) {
        atn_live_keep(r->ctx, &r->done_fault, status);
        atn_lane_close(&r->read); /* whoever waits for a frame gets none */
    }
    return !over && !status;
}

static atn_status solve_all(run *r) {
    const atn_unwrap_stream_settings settings = {
        .size = sizeof settings, .solver = &r->job->options, .next = next_frame, .done = frame_done, .user = r};
    r->job->settings.warm = !atn_cli_has(r->job->call, "cold");
    atn_status status = atn_unwrap_stream(r->job->devices, r->job->n_devices, &settings);
    if (status == ATN_ERR_CANCELLED) status = ATN_OK; /* Ctrl-C is how a stream ends */
    atn_stream_stop(r->stream);
    atn_lane_close(&r->read);
    atn_lane_close(&r->done);
    status = atn_live_raise(r->ctx, status, &r->next_fault);
    return atn_live_raise(r->ctx, status, &r->done_fault);
}

/* ---- the whole ---- */

/* Answers among the questions would be unwrapped too. */
static atn_status make_output(const unwrap_job *job) {
    const atn_ctx *ctx = job->call->ctx;
    struct stat in, out;
    if (!job->output) return ATN_OK;
    if (mkdir(job->output, 0777) != 0 && (stat(job->output, &out) != 0 || !S_ISDIR(out.st_mode)))
        return atn_fail(ctx, ATN_ERR_IO, "%s: cannot be made a folder; -o is one with --stream", job->output);
    if (stat(job->input, &in) == 0 && stat(job->output, &out) == 0 && in.st_ino == out.st_ino &&
        in.st_dev == out.st_dev)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: frames come from this folder; -o must be another", job->output);
    return ATN_OK;
}

static atn_status open_stream(run *r) {
    static const struct {
        const char *name;
        atn_type type;
        size_t bytes;
    } TYPES[] = {{"f32", ATN_SP, 4}, {"u8", ATN_U8, 1}, {"u16", ATN_U16, 2}};
    unwrap_job *job = r->job;
    atn_cli_call *call = job->call;
    const char *type = atn_cli_value(call, "type");
    atn_stream_options options = {.endings = ENDINGS};
    size_t k = 0, values;
    while (type && strcmp(type, TYPES[k].name) != 0) ++k;
    r->type = TYPES[k].type;
    atn_status status = atn_live_options(call, &options);
    if (status) return status;
    if (strcmp(job->input, "-") != 0)
        options.folder = job->input;
    else if (!job->shape[0])
        return atn_cli_misuse(call, "frames from standard input need --shape HxW");
    else if (!atn_size_mul((size_t)job->shape[0], (size_t)job->shape[1], &values) ||
             !atn_size_mul(values, 8, &options.bytes))
        return atn_cli_misuse(call, "--shape: more pixels than any memory can hold");
    else
        options.bytes = values * TYPES[k].bytes;
    if (job->steps && job->n_devices > 1) return atn_cli_misuse(call, "stacks of frames (--steps) take one device");
    if (job->preview || job->report)
        return atn_cli_misuse(call, "--%s cannot be combined with --stream", job->preview ? "preview" : "report");
    status = make_output(job);
    return status ? status : atn_stream_open(r->ctx, &options, &r->stream);
}

atn_status unwrap_stream(unwrap_job *job) {
    run r = {.job = job, .ctx = job->call->ctx, .tally = {.ctx = job->call->ctx}};
    pthread_t reader, writer;
    atn_ctx_on_progress(job->call->ctx, NULL, NULL); /* lines of frames tell it */
    atn_status status = open_stream(&r);
    if (!status)
        status = atn_serve_open(job->call, "surface", strcmp(job->input, "-") == 0 ? "standard input" : job->input,
                                &r.serve);
    if (status) {
        atn_stream_close(r.stream);
        return status;
    }
    atn_lane_begin(&r.read);
    atn_lane_begin(&r.done);
    bool reads = pthread_create(&reader, NULL, read_all, &r) == 0;
    bool writes = reads && pthread_create(&writer, NULL, write_all, &r) == 0;
    if (writes)
        status = solve_all(&r);
    else
        status = atn_fail(r.ctx, ATN_ERR_MEMORY, "a thread could not be started");
    atn_stream_stop(r.stream);
    atn_lane_close(&r.read);
    if (reads) pthread_join(reader, NULL);
    if (writes) pthread_join(writer, NULL);
    for (slot *s; (s = atn_lane_take(&r.read)); drop(&r, s))
        ++r.tally.dropped;           /* read, but stopped before their turn */
    r.tally.dropped += r.stack.have; /* of a stack that was never whole */
    unwrap_stack_free(job, &r.stack);
    if (!status) status = tell_all(&r);
    if (r.serve) {
        json_t *summary = json_object();
        atn_tally_json(&r.tally, atn_stream_reason(r.stream), summary);
        json_object_set_new(summary, "summary", json_true());
        atn_serve_end(r.serve, summary);
        atn_serve_close(r.serve);
    }
    status = atn_live_raise(r.ctx, status, &r.read_fault);
    status = atn_live_raise(r.ctx, status, &r.write_fault);
    if (!status && !r.tally.answered)
        status =
            atn_fail(r.ctx, ATN_ERR_INPUT, "%s: no frame was unwrapped: %s", job->input, atn_stream_reason(r.stream));
    atn_lane_end(&r.read);
    atn_lane_end(&r.done);
    atn_stream_close(r.stream);
    atn_tally_free(&r.tally);
    return status;
}
