/* The live view of attune needle --stream: the downsampled volume, and the points of the model in the pose found. */
#include "cli/needle_live.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

enum { MOST_COLUMNS = 128, MOST_ROWS = 128, MOST_SCANS = 64, MOST_MODEL = 1500 };

struct needle_live {
    const needle_job *job;
    atn_serve *serve;
    atn_cloud *model;
    int64_t frames;
    double event_s, start_s;
};

atn_status needle_live_open(const needle_job *job, needle_live **out) {
    const atn_cli_call *call = job->call;
    atn_serve *serve;
    *out = NULL;
    atn_status status = atn_serve_open(call, "needle", call->operands[1], &serve);
    if (status || !serve) return status;
    needle_live *live = atn_zalloc(call->ctx, sizeof *live);
    status = live ? atn_needle_model(call->ctx, call->operands[0], &live->model) : ATN_ERR_MEMORY;
    if (status) {
        atn_serve_close(serve);
        atn_free(call->ctx, live);
        return status;
    }
    live->job = job;
    live->serve = serve;
    live->start_s = atn_clock_seconds();
    *out = live;
    return ATN_OK;
}

/* Every step-th pixel as 8 bits; what is behind is padded to 8 bytes. */
static size_t thin(const atn_volume *volume, const atn_volume_info *info, int64_t n[3], int64_t step[3],
                   unsigned char *to) {
    const int64_t size[3] = {info->width, info->height, info->frames}, most[3] = {MOST_COLUMNS, MOST_ROWS, MOST_SCANS};
    for (int d = 0; d < 3; ++d) {
        step[d] = (size[d] + most[d] - 1) / most[d];
        n[d] = (size[d] + step[d] - 1) / step[d];
    }
    unsigned char *at = to;
    for (int64_t z = 0; z < size[2]; z += step[2]) {
        const void *frame = atn_volume_frame(volume, z);
        for (int64_t y = 0; y < size[1]; y += step[1])
            for (int64_t x = 0; x < size[0]; x += step[0])
                *at++ = info->bits == 8 ? ((const uint8_t *)frame)[y * size[0] + x]
                                        : (unsigned char)(((const uint16_t *)frame)[y * size[0] + x] >> 8);
    }
    while ((at - to) % 8) *at++ = 0;
    return (size_t)(at - to);
}

static size_t add_model(const needle_live *live, const double *t, unsigned char *to) {
    size_t n = atn_cloud_info_of(live->model).points, step = n / MOST_MODEL + 1, bytes = 0;
    for (size_t k = 0; k < n; k += step)
        for (int d = 0; d < 3; ++d, bytes += sizeof(double)) {
            double v = t[4 * d + 3];
            for (int c = 0; c < 3; ++c) v += t[4 * d + c] * atn_cloud_positions(live->model, c)[k];
            memcpy(to + bytes, &v, sizeof v);
        }
    return bytes;
}

static void show_volume(needle_live *live, const atn_volume *volume, const atn_needle_result *r) {
    atn_volume_info info = atn_volume_info_of(volume);
    size_t room = (size_t)MOST_COLUMNS * MOST_ROWS * MOST_SCANS + 8 + (MOST_MODEL + 1) * 3 * sizeof(double);
    unsigned char *bytes = atn_serve_room(live->serve, room);
    int64_t n[3], step[3];
    double d[3];
    if (!bytes) return;
    size_t length = thin(volume, &info, n, step, bytes);
    for (int k = 0; k < 3; ++k) {
        double given = live->job->view.spacing[k] > 0 ? live->job->view.spacing[k] : info.spacing[k];
        d[k] = (given > 0 ? given : 1) * (double)step[k];
    }
    if (r->n_rounds) length += add_model(live, r->transform, bytes + length);
    json_t *about =
        json_pack("{s:I,s:[I,I,I],s:[f,f,f],s:s}", "number", (json_int_t)++live->frames, "n", (json_int_t)n[0],
                  (json_int_t)n[1], (json_int_t)n[2], "d", d[0], d[1], d[2], "unit", info.unit);
    if (about)
        json_object_set_new(about, "tip",
                            r->n_rounds ? json_pack("[f,f,f]", r->tip[0], r->tip[1], r->tip[2]) : json_null());
    if (about) json_object_set_new(about, "bytes", json_integer((json_int_t)length));
    atn_serve_show(live->serve, about);
}

void needle_live_show(needle_live *live, const atn_volume *volume, const atn_needle_result *r, const atn_tally *tally,
                      double latency_s) {
    static const double EVENT_S = 0.05;
    if (!live) return;
    int64_t side; /* volumes are small as it is */
    if (atn_serve_wants(live->serve, &side)) show_volume(live, volume, r);
    double now = atn_clock_seconds();
    if (now - live->event_s < EVENT_S) return;
    live->event_s = now;
    char note[128];
    if (r->found)
        snprintf(note, sizeof note, "tip %.4f %.4f %.4f, roll %.2f°;", r->tip[0], r->tip[1], r->tip[2], r->roll_deg);
    else
        snprintf(note, sizeof note, "not found;");
    atn_serve_event(live->serve, json_pack("{s:f,s:I,s:I,s:f,s:s}", "t", now - live->start_s, "answered",
                                           (json_int_t)tally->answered, "dropped", (json_int_t)tally->dropped,
                                           "latency_s", latency_s, "note", note));
}

void needle_live_end(needle_live *live, json_t *summary) {
    if (!live) {
        json_decref(summary);
        return;
    }
    const atn_ctx *ctx = live->job->call->ctx;
    atn_serve_end(live->serve, summary);
    atn_serve_close(live->serve);
    atn_cloud_free(live->model);
    atn_free(ctx, live);
}
