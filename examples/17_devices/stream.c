/* Frames and pairs on all devices of this machine: whichever is free takes the next one, results come in order.
 * usage: stream [DEVICES]      "cuda,host" or indices of 'attune devices'; default: all */
#include "../shape.h"

#include <attune/attune.h>
#include <math.h>
#include <stdio.h>

enum { W = 128, H = 96, FRAMES = 12, PAIRS = 6 };
static float frame[FRAMES][W * H];

typedef struct stream {
    int next, done;
    bool good;
} stream;

/* A camera would wait here. */
static bool next(void *user, atn_unwrap_frame *f) {
    stream *s = user;
    if (s->next == FRAMES) return false;
    f->width = W;
    f->height = H;
    f->phase = f->out = frame[s->next++];
    return true;
}

static bool done(void *user, const atn_unwrap_frame *f) {
    stream *s = user;
    const float *u = f->out;
    double slope = f->status ? 0 : (double)(u[W - 1] - u[0]) / (W - 1);
    printf("frame %2d: slope %.3f, device %d %s\n", s->done, slope, (int)f->device, f->message);
    s->good = s->good && !f->status && u == frame[s->done] && fabs(slope - 0.2 * s->done) < 1e-3;
    ++s->done;
    return true;
}

int main(int argc, char **argv) {
    atn_ctx *ctx = NULL;
    atn_devices *found = NULL;
    atn_device *device[ATN_MOST_DEVICES];
    int32_t index[ATN_MOST_DEVICES], count = 0, open = 0;
    stream s = {.good = true};
    atn_unwrap_stream_settings settings = ATN_INIT(atn_unwrap_stream_settings);
    settings.next = next;
    settings.done = done;
    settings.user = &s;
    for (int k = 0; k < FRAMES * W * H; ++k) /* ramps that become steeper, wrapped */
        frame[k / (W * H)][k % (W * H)] = remainderf((float)(k % W) * 0.2F * (float)(k / (W * H)), 6.2831853F);
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (!status) status = atn_devices_find(ctx, &found);
    if (!status) status = atn_devices_pick_several(found, argc > 1 ? argv[1] : "all", index, &count);
    for (; !status && open < count; open += !status) status = atn_device_open(found, index[open], &device[open]);
    if (!status) status = atn_unwrap_stream(device, count, &settings);

    static atn_register_pair pair[PAIRS];
    atn_register_settings how = ATN_INIT(atn_register_settings);
    how.init = ATN_START_IDENTITY;
    atn_cloud *target = NULL, *source[PAIRS] = {NULL};
    if (!status) status = shape_target(ctx, &target);
    for (int k = 0; k < PAIRS && !status; ++k) {
        status = shape_cloud(ctx, 10 + (uint32_t)k, 1, &source[k]);
        pair[k].size = sizeof pair[k];
        pair[k].source = source[k];
        pair[k].target = target;
    }
    if (!status) status = atn_register_batch_several(device, count, PAIRS, pair, &how);
    for (int k = 0; k < PAIRS && !status; ++k) {
        printf("pair %d: %s on %s\n", k, atn_verdict_name(pair[k].result.verdict), pair[k].result.device);
        s.good = s.good && !pair[k].status && shape_error(pair[k].result.transform) < 0.04;
    }
    if (status) fprintf(stderr, "%s\n", atn_ctx_message(ctx));
    for (int k = 0; k < PAIRS; ++k) atn_cloud_free(source[k]);
    atn_cloud_free(target);
    while (open > 0) atn_device_close(device[--open]);
    atn_devices_free(found);
    atn_ctx_free(ctx);
    return status || !s.good || s.done != FRAMES;
}
