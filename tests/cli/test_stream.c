/* Frames as they come: bytes through a pipe, entries of a folder that is being filled, and how it ends. */
#include "testkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/lane.h"
#include "cli/stream.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atn_ctx *ctx;
static char *dir;

static int begin(void **state) {
    (void)state;
    ctx = kit_ctx();
    dir = kit_tempdir();
    return 0;
}

static int end(void **state) {
    (void)state;
    kit_free(ctx);
    kit_remove(dir);
    return 0;
}

static void put(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    kit_ok(ctx, atn_file_write(ctx, path, text, strlen(text)));
}

static void expect(atn_stream *s, const char *name) {
    atn_stream_frame frame;
    bool any;
    kit_ok(ctx, atn_stream_next(s, &frame, &any));
    if (!any) fail_msg("%s did not come: %s", name, atn_stream_reason(s));
    if (strcmp(strrchr(frame.path, '/') + 1, name) != 0) fail_msg("%s came, not %s", frame.path, name);
}

static void expect_end(atn_stream *s, const char *part) {
    atn_stream_frame frame;
    bool any;
    for (int k = 0; k < 2; ++k) { /* and it stays so */
        kit_ok(ctx, atn_stream_next(s, &frame, &any));
        assert_false(any);
        if (!strstr(atn_stream_reason(s), part)) fail_msg("%s", atn_stream_reason(s));
    }
}

static atn_stream *open_stream(atn_stream_options options) {
    atn_stream *s;
    kit_ok(ctx, atn_stream_open(ctx, &options, &s));
    return s;
}

KIT_TEST(bytes_through_a_pipe) {
    int ends[2];
    atn_stream_frame frame;
    bool any;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abcdefg", 7), 7);
    atn_stream *s = open_stream((atn_stream_options){.fd = ends[0], .bytes = 3});
    kit_ok(ctx, atn_stream_next(s, &frame, &any));
    assert_true(any && frame.number == 1);
    assert_memory_equal(frame.bytes, "abc", 3);
    kit_ok(ctx, atn_stream_next(s, &frame, &any));
    assert_memory_equal(frame.bytes, "def", 3);
    assert_false(atn_stream_again(s, &frame));
    close(ends[1]);
    expect_end(s, "standard input ended");
    assert_int_equal(atn_stream_left(s), 1); /* cut short, and said so */
    atn_stream_close(s);
    close(ends[0]);
    assert_int_equal(pipe(ends), 0);
    s = open_stream((atn_stream_options){.fd = ends[0], .bytes = 3, .idle_s = 0.01});
    expect_end(s, "nothing came for 0.01 s");
    atn_stream_close(s);
    close(ends[0]);
    close(ends[1]);
}

KIT_TEST(a_folder_being_filled) {
    put("f10.tif", "x");
    put("f2.tif", "x");
    put(".f1.tif", "x");
    put("notes.txt", "x");
    atn_stream *s = open_stream((atn_stream_options){.folder = dir, .endings = "tif tiff"});
    expect(s, "f2.tif");
    expect(s, "f10.tif");
    put("f12.tif", "x");
    put("f11.TIFF", "x");
    expect(s, "f11.TIFF");
    put("f3.tif", "x"); /* late, but new */
    expect(s, "f12.tif");
    expect(s, "f3.tif");
    put("f13.tif", "x");
    put("end", "");
    expect(s, "f13.tif");
    expect_end(s, "'end'");
    atn_stream_close(s);
    s = open_stream((atn_stream_options){.folder = dir, .frames = 2});
    expect(s, "f2.tif");
    expect(s, "f3.tif");
    expect_end(s, "2 frames came");
    atn_stream_close(s);
    s = open_stream((atn_stream_options){.folder = dir});
    atn_stream_stop(s);
    expect_end(s, "stopped");
    atn_stream_close(s);
    atn_ctx_cancel(ctx);
    s = open_stream((atn_stream_options){.folder = dir});
    expect_end(s, "stopped");
    atn_stream_close(s);
}

/* An entry is tried while it grows, and then for as long as patience lasts. */
KIT_TEST(half_of_an_entry) {
    put("a.tif", "x");
    atn_stream *s = open_stream((atn_stream_options){.folder = dir, .patience_s = 1e-9});
    atn_stream_frame frame;
    bool any;
    kit_ok(ctx, atn_stream_next(s, &frame, &any));
    assert_true(any);
    assert_true(atn_stream_again(s, &frame));
    put("a.tif", "xx");
    assert_true(atn_stream_again(s, &frame));
    assert_false(atn_stream_again(s, &frame));
    atn_stream_close(s);
    assert_int_equal(atn_stream_open(ctx, &(atn_stream_options){.folder = "/nowhere"}, &s), ATN_ERR_IO);
    assert_null(s);
}

static void *count_up(void *lane) {
    static int numbers[100];
    for (int k = 0; k < 100; ++k) {
        numbers[k] = k;
        if (!atn_lane_put(lane, &numbers[k])) return NULL;
    }
    atn_lane_close(lane);
    return NULL;
}

KIT_TEST(lanes) {
    atn_lane lane;
    pthread_t thread;
    atn_lane_begin(&lane);
    assert_int_equal(pthread_create(&thread, NULL, count_up, &lane), 0);
    for (int k = 0; k < 100; ++k) assert_int_equal(*(int *)atn_lane_take(&lane), k);
    assert_null(atn_lane_take(&lane));
    assert_false(atn_lane_put(&lane, &lane));
    pthread_join(thread, NULL);
    atn_lane_end(&lane);
    atn_lane_begin(&lane); /* who puts is told when nobody takes any more */
    assert_int_equal(pthread_create(&thread, NULL, count_up, &lane), 0);
    atn_lane_close(&lane);
    pthread_join(thread, NULL);
    atn_lane_end(&lane);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(bytes_through_a_pipe, begin, end),
                                       cmocka_unit_test_setup_teardown(a_folder_being_filled, begin, end),
                                       cmocka_unit_test_setup_teardown(half_of_an_entry, begin, end),
                                       cmocka_unit_test(lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
