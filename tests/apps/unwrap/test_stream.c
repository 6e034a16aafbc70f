/* A stream of frames in C, on one and on several devices: the same surfaces, handed back in the order in which frames
 * came, each once; a device that is lost in the middle leaves its frames to the others. */
#include "testkit.h"

#include "device/backend.h"

#include <attune/unwrap.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { W = 40, H = 30, FRAMES = 25, DEVICES = 2 };

typedef struct fixture {
    atn_ctx *ctx;
    atn_device *device[DEVICES]; /* the host, and OpenCL or another host */
    kit_log log;
    float phase[FRAMES][W * H], one[FRAMES][W * H], out[FRAMES][W * H];
} fixture;

/* What a run saw, and what is to happen in it. */
typedef struct seen {
    fixture *f;
    int next, done;           /* frames so far */
    int bad;                  /* frame that cannot be read; -1: none */
    int lose_at;              /* frame with whose end devices are lost; -1: none */
    uint32_t lose;            /* a bit for each of them */
    int cancel_at, enough_at; /* with the end of which frame; -1: none */
    int by[DEVICES], failed;
    bool in_order;
    char message[1024]; /* of the last that failed */
} seen;

static fixture all;
static char *folder;

/* Kernels are built once. */
static int begin(void **state) {
    atn_ctx_settings options = {.size = sizeof options, .log = kit_log_line, .log_user = &all.log};
    options.cache_dir = folder = kit_tempdir();
    kit_pool_take(folder);
    assert_int_equal(atn_ctx_create(&options, &all.ctx), ATN_OK);
    for (int n = 0; n < FRAMES; ++n)
        for (int k = 0; k < W * H; ++k)
            all.phase[n][k] = (float)remainder(0.004 * n * (k % W) * (k % W) + 0.6 * (k / W), 6.283185307179586);
    *state = &all;
    return 0;
}

static int end(void **state) {
    (void)state;
    atn_ctx_free(all.ctx);
    kit_pool_give(folder);
    kit_remove(folder);
    return 0;
}

/* Devices that were lost stay so. */
static int setup(void **state) {
    fixture *f = *state;
    atn_devices *found;
    int32_t index;
    kit_ok(f->ctx, atn_devices_find(f->ctx, &found));
    kit_ok(f->ctx, atn_devices_pick(found, "host", &index));
    kit_ok(f->ctx, atn_device_open(found, index, &f->device[0]));
    if (getenv("ATTUNE_TEST_ALL") && atn_devices_pick(found, "opencl", &index) != ATN_OK) {
        printf("SKIPPED: no OpenCL; the host twice\n");
        kit_ok(f->ctx, atn_devices_pick(found, "host", &index));
    }
    kit_ok(f->ctx, atn_device_open(found, index, &f->device[1]));
    atn_devices_free(found);
    f->log.warnings = 0;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    for (int k = 0; k < DEVICES; ++k) atn_device_close(f->device[k]);
    return 0;
}

static bool next(void *user, atn_unwrap_frame *frame) {
    seen *s = user;
    if (s->next == FRAMES) return false;
    frame->width = W;
    frame->height = H;
    frame->phase = s->f->phase[s->next];
    frame->out = s->f->out[s->next];
    frame->user = s->f->out[s->next];
    if (s->next == s->bad) frame->status = ATN_ERR_IO;
    ++s->next;
    return true;
}

static bool done(void *user, const atn_unwrap_frame *frame) {
    seen *s = user;
    int n = s->done++;
    s->in_order = s->in_order && frame->user == s->f->out[n];
    if (frame->status == ATN_OK) {
        assert_in_range(frame->device, 0, DEVICES - 1);
        assert_int_equal(frame->result->valid, W * H);
        ++s->by[frame->device];
    } else {
        assert_int_equal(frame->device, -1);
        assert_true(frame->result->valid == 0 && frame->result->seconds == 0);
        ++s->failed;
        snprintf(s->message, sizeof s->message, "%s", frame->message);
    }
    for (int k = 0; k < DEVICES && n == s->lose_at; ++k)
        if (s->lose >> k & 1) (void)atn_device_lose(s->f->device[k], "unplugged");
    if (n == s->cancel_at) atn_ctx_cancel(s->f->ctx);
    return n != s->enough_at;
}

static seen seen_of(fixture *f) {
    return (seen){.f = f, .bad = -1, .lose_at = -1, .cancel_at = -1, .enough_at = -1, .in_order = true};
}

static atn_status run(fixture *f, int32_t devices, seen *s) {
    const atn_unwrap_stream_settings settings = {.size = sizeof settings, .next = next, .done = done, .user = s};
    memset(f->out, 0x55, sizeof f->out);
    return atn_unwrap_stream(f->device, devices, &settings);
}

/* All frames, but for that one, as one device has them. */
static void check(const fixture *f, const seen *s) {
    assert_true(s->in_order);
    assert_int_equal(s->next, FRAMES);
    assert_int_equal(s->done, FRAMES);
    for (int n = 0; n < FRAMES; ++n)
        for (int k = 0; k < W * H && n != s->bad; ++k) assert_true(fabs((double)(f->out[n][k] - f->one[n][k])) < 1e-4);
}

static void as_one(void **state) {
    fixture *f = *state;
    seen s = seen_of(f);
    kit_ok(f->ctx, run(f, 1, &s));
    memcpy(f->one, f->out, sizeof f->one);
    check(f, &s);
    assert_int_equal(s.by[0], FRAMES);
    assert_true(fabs((double)(f->one[5][W - 1] - f->one[5][0]) - 0.02 * (W - 1) * (W - 1)) < 1e-3);
    s = seen_of(f);
    s.bad = 7;
    kit_ok(f->ctx, run(f, 2, &s));
    check(f, &s);
    assert_int_equal(s.failed, 1);
    assert_int_equal(s.by[0] + s.by[1], FRAMES - 1);
    assert_int_equal(f->log.warnings, 0);
}

/* The second one; then the first, so that none is left. */
static void lost_in_the_middle(void **state) {
    fixture *f = *state;
    seen s = seen_of(f);
    s.lose_at = 9;
    s.lose = 2;
    kit_ok(f->ctx, run(f, 2, &s));
    check(f, &s);
    assert_int_equal(s.failed, 0);
    assert_true(s.by[0] >= FRAMES - 10 - 8); /* of those that were under way, it may have ended all */
    assert_true(f->log.warnings <= 1);       /* none if it would not have had another frame */
    if (f->log.warnings) kit_contains(f->log.last, "the other devices continue");
    s = seen_of(f);
    s.lose_at = 11;
    s.lose = 1;
    kit_fails(f->ctx, ATN_ERR_LOST, "was lost", run(f, 2, &s));
    assert_true(s.in_order && s.done == s.next && s.next < FRAMES && s.failed > 0);
    kit_contains(s.message, "was lost");
}

/* The calling thread has no device then, and all frames are unwrapped by the other. */
static void the_first_is_lost(void **state) {
    fixture *f = *state;
    seen s = seen_of(f);
    (void)atn_device_lose(f->device[0], "unplugged");
    kit_ok(f->ctx, run(f, 2, &s));
    check(f, &s);
    assert_int_equal(s.by[1], FRAMES);
}

static void ended_by_the_caller(void **state) {
    fixture *f = *state;
    seen s = seen_of(f);
    s.enough_at = 6;
    kit_ok(f->ctx, run(f, 2, &s));
    assert_true(s.in_order && s.done == s.next && s.next < FRAMES);
    s = seen_of(f);
    s.cancel_at = 6;
    kit_fails(f->ctx, ATN_ERR_CANCELLED, "stopped on request", run(f, 2, &s));
    assert_true(s.in_order && s.done == s.next && s.next < FRAMES);
    atn_ctx_resume(f->ctx);
    s = seen_of(f);
    s.next = FRAMES; /* none come */
    kit_ok(f->ctx, run(f, 2, &s));
    assert_int_equal(s.done, 0);
}

static void refusals(void **state) {
    const fixture *f = *state;
    atn_device *const twice[2] = {f->device[0], f->device[0]};
    seen s = {0};
    atn_unwrap_stream_settings settings = {.size = sizeof settings, .next = next, .done = done, .user = &s};
    kit_fails(NULL, ATN_ERR_INPUT, "needs a device", atn_unwrap_stream(twice, 0, &settings));
    kit_fails(f->ctx, ATN_ERR_INPUT, "named twice", atn_unwrap_stream(twice, 2, &settings));
    kit_fails(f->ctx, ATN_ERR_INPUT, "needs `next` and `done`", atn_unwrap_stream(f->device, 2, NULL));
    settings.ahead = 65;
    kit_fails(f->ctx, ATN_ERR_INPUT, "65 frames ahead; 1 to 64", atn_unwrap_stream(f->device, 2, &settings));
    settings.ahead = 0;
    settings.size = 10000;
    kit_fails(f->ctx, ATN_ERR_INPUT, "atn_unwrap_stream_settings", atn_unwrap_stream(f->device, 2, &settings));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(as_one, setup, teardown),
                                       cmocka_unit_test_setup_teardown(lost_in_the_middle, setup, teardown),
                                       cmocka_unit_test_setup_teardown(the_first_is_lost, setup, teardown),
                                       cmocka_unit_test_setup_teardown(ended_by_the_caller, setup, teardown),
                                       cmocka_unit_test_setup_teardown(refusals, setup, teardown)};
    return cmocka_run_group_tests(tests, begin, end);
}
