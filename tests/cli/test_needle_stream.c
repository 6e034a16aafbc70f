/* attune needle --stream: folders that are full or being filled, bytes, frames that are broken, other or too many, and
 * a needle that is lost and found again. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"

#include <attune/image.h>

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAMES = 4, BYTES = 32 * 512 * 256, MOST_LINES = 16 };
static const char SAMPLE[] = "sample needle -o @/s --size 32x512x256 --seed 5 --noise 0.5 --tilt 8 --frames 4 --json";
static json_t *truth;              /* of the sample */
static unsigned char *raw[FRAMES]; /* its pixels */
static char spacing[100];          /* "--shape ... --spacing ..." */

static double number(const json_t *root, const char *name) { return json_number_value(json_object_get(root, name)); }
static bool is_true(const json_t *root, const char *name) { return json_is_true(json_object_get(root, name)); }

static char *path_of(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    return path;
}

static void put(const char *name, const void *bytes, size_t length) {
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path_of(name), bytes, length));
}

/* ---- lines ---- */

typedef struct lines {
    cli_result result;
    json_t *line[MOST_LINES]; /* the last is the summary */
    size_t count;
    const json_t *sum;
} lines;

/* Whatever standard output has, a line is an object. */
static lines split(cli_result result) {
    lines l = {.result = result};
    char *rest = NULL, *text = strdup(result.out);
    for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
        assert_true(l.count < MOST_LINES);
        l.line[l.count] = json_loads(at, 0, NULL);
        if (!json_is_object(l.line[l.count])) fail_msg("no object: %s", at);
        ++l.count;
    }
    free(text);
    if (l.count) l.sum = json_object_get(l.line[l.count - 1], "summary");
    if (!l.sum) fail_msg("no summary: %s%s", result.out, result.err);
    return l;
}

static void drop(lines *l) {
    for (size_t k = 0; k < l->count; ++k) json_decref(l->line[k]);
    cli_drop(&l->result);
}

static lines stream(const char *rest, int code) {
    char line[400];
    snprintf(line, sizeof line, "needle @/s/model.stl %s --stream --json --device host", rest);
    lines l = split(cli_run(line));
    if (l.result.code != code) fail_msg("%s: exit %d: %s%s", line, l.result.code, l.result.out, l.result.err);
    return l;
}

/* The pose of a frame of the sample, by its truth. */
static void check_pose(const json_t *line, size_t frame) {
    const json_t *t = json_array_get(json_object_get(truth, "frames"), frame);
    if (!is_true(line, "found")) fail_msg("frame %zu: %s", frame, json_string_value(json_object_get(line, "reason")));
    double z = number(line, "shift") - number(t, "shift"), roll = number(line, "roll_deg") - number(t, "roll_deg");
    if (!(fabs(z) < 0.08 && fabs(remainder(roll, 360)) < 6)) fail_msg("frame %zu: z %g, roll %g off", frame, z, roll);
    for (size_t k = 0; k < 3; ++k) {
        const json_t *is = json_array_get(json_array_get(json_object_get(line, "transform"), k), 3);
        const json_t *was = json_array_get(json_array_get(json_object_get(t, "transform"), k), 3);
        assert_true(fabs(json_number_value(is) - json_number_value(was)) < 0.15);
    }
    assert_true(number(line, "latency_s") >= number(json_object_get(line, "seconds"), "total"));
}

static void check_sum(const lines *l, double frames, double found, double failed, double dropped) {
    const json_t *latency = json_object_get(l->sum, "latency_s");
    if (number(l->sum, "frames") != frames || number(l->sum, "found") != found || number(l->sum, "failed") != failed ||
        number(l->sum, "dropped") != dropped)
        fail_msg("%s", l->result.out);
    assert_true(number(latency, "p50") <= number(latency, "p95") && number(latency, "p95") <= number(latency, "p99"));
    assert_int_equal(l->count, (size_t)(frames + failed + dropped) + 1); /* nothing is dropped unsaid */
    for (size_t k = 0; k + 1 < l->count; ++k) assert_int_equal(number(l->line[k], "frame"), k + 1);
}

/* ---- folders ---- */

KIT_TEST(a_full_folder) {
    put("s/frames/end", "", 0);
    put("s/frames/volume.json", "{}", 2); /* is no frame */
    lines l = stream("@/s/frames", 0);
    check_sum(&l, FRAMES, FRAMES, 0, 0);
    for (size_t k = 0; k < FRAMES; ++k) {
        check_pose(l.line[k], k);
        assert_true(number(json_object_get(l.line[k], "seconds"), "read") > 0);
    }
    assert_true(!is_true(l.line[0], "tracked") && is_true(l.line[1], "tracked"));
    assert_string_equal(json_string_value(json_object_get(l.line[2], "name")), "0002");
    kit_contains(json_string_value(json_object_get(l.sum, "reason")), "'end'");
    assert_true(number(l.sum, "fps") > 0 && number(l.sum, "seconds") > 0);
    drop(&l);
}

/* volume.json before the scans, scan after scan, and at last `end`. */
static void *fill_folder(void *folder) {
    char from[512], to[512];
    for (int k = 0; k < FRAMES; ++k) {
        snprintf(to, sizeof to, "%s/%04d", (char *)folder, k);
        mkdir(to, 0700);
        for (int f = -1; f < 32; ++f) {
            char name[32] = "volume.json", *bytes;
            size_t length;
            if (f >= 0) snprintf(name, sizeof name, "%04d.png", f);
            snprintf(from, sizeof from, "%s/s/frames/%04d/%s", cli_dir, k, name);
            snprintf(to, sizeof to, "%s/%04d/%s", (char *)folder, k, name);
            if (atn_file_read(cli_ctx, from, 1 << 24, &bytes, &length) != ATN_OK) return folder;
            atn_status status = atn_file_write(cli_ctx, to, bytes, length);
            atn_free(cli_ctx, bytes);
            if (status != ATN_OK) return folder;
            usleep(200); /* not waited for: only more often in the middle */
        }
    }
    snprintf(to, sizeof to, "%s/end", (char *)folder);
    return atn_file_write(cli_ctx, to, "", 0) == ATN_OK ? NULL : folder;
}

KIT_TEST(a_folder_being_filled) {
    pthread_t thread;
    char *folder = strdup(path_of("live"));
    void *failed;
    mkdir(folder, 0700);
    assert_int_equal(pthread_create(&thread, NULL, fill_folder, folder), 0);
    lines l = stream("@/live --patience 20", 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    check_sum(&l, FRAMES, FRAMES, 0, 0);
    for (size_t k = 0; k < FRAMES; ++k) check_pose(l.line[k], k);
    drop(&l);
    free(folder);
}

/* A file cut short, a volume of another shape, and one that is whole again. */
KIT_TEST(broken_frames) {
    char line[300];
    mkdir(path_of("raw"), 0700);
    put("raw/a1", raw[0], BYTES);
    put("raw/a2", raw[1], BYTES / 2);
    put("raw/a10", raw[3], BYTES);
    put("raw/end", "", 0);
    cli_does("sample needle -o @/small --size 16x32x32", "truth.json");
    assert_int_equal(rename(path_of("small/scan"), strcat(strcpy((char[600]){0}, cli_dir), "/raw/a3")), 0);
    snprintf(line, sizeof line, "@/raw %s --patience 0.001", spacing);
    lines l = stream(line, 1);
    check_sum(&l, 2, 2, 2, 0);
    check_pose(l.line[0], 0);
    kit_contains(json_string_value(json_object_get(l.line[1], "error")), "are not the 2097152 bytes of the file");
    kit_contains(json_string_value(json_object_get(l.line[2], "error")), "16x32x32 values");
    check_pose(l.line[3], 3);
    assert_true(is_true(l.line[3], "tracked"));
    assert_int_equal(cli_lines(l.result.err), 1);
    kit_contains(l.result.err, "2 of 4 frames could not be read; the first: ");
    drop(&l);
    unlink(path_of("raw/end"));
    snprintf(line, sizeof line, "needle @/s/model.stl @/raw %s --stream --device host --idle 0.05 --patience 0.001",
             spacing);
    cli_result r = cli_run(line);
    assert_int_equal(r.code, 1);
    kit_contains(r.out, "a1: found, tip ");
    kit_contains(r.out, "a2: error: ");
    kit_contains(r.out, "a10: tracked, tip ");
    kit_contains(r.out, "2 found, 2 failed; 2 frames in");
    kit_contains(r.out, "nothing came for 0.05 s");
    cli_drop(&r);
}

/* ---- bytes ---- */

/* Runs with a file of frames as standard input, which comes back. */
static lines stream_bytes(const char *file, const char *rest, int code) {
    char line[300];
    int was = dup(0), fd = open(path_of(file), O_RDONLY | O_CLOEXEC);
    assert_true(was >= 0 && fd >= 0);
    assert_int_equal(dup2(fd, 0), 0);
    snprintf(line, sizeof line, "- %s %s", spacing, rest);
    lines l = stream(line, code);
    dup2(was, 0);
    close(was);
    close(fd);
    return l;
}

/* The frames one behind the other, and some bytes of another; -1 is a black frame. */
static void put_bytes(const char *name, const int *frame, size_t count, size_t left) {
    FILE *to = fopen(path_of(name), "wb");
    unsigned char *black = calloc(1, BYTES);
    assert_non_null(to);
    for (size_t k = 0; k < count; ++k)
        assert_int_equal(fwrite(frame[k] < 0 ? black : raw[frame[k]], 1, BYTES, to), BYTES);
    assert_int_equal(fwrite(black, 1, left, to), left);
    free(black);
    fclose(to);
}

KIT_TEST(bytes_from_outside) {
    put_bytes("whole.raw", (const int[]){0, 1, -1, 2, 3}, 5, 0);
    put_bytes("cut.raw", (const int[]){2}, 1, 77);
    lines l = stream_bytes("whole.raw", "", 0);
    check_sum(&l, 5, 4, 0, 0);
    for (size_t k = 0; k < 5; ++k) {
        if (k != 2) check_pose(l.line[k], k - (k > 2));
        assert_false(k != 1 && k != 4 && is_true(l.line[k], "tracked")); /* lost, and found by searching */
    }
    assert_false(is_true(l.line[2], "found"));
    assert_true(strlen(json_string_value(json_object_get(l.line[2], "reason"))) > 0);
    drop(&l);
    l = stream_bytes("cut.raw", "", 1);
    check_sum(&l, 1, 1, 1, 0);
    kit_contains(json_string_value(json_object_get(l.line[1], "error")), "it ended after 77 bytes");
    drop(&l);
}

/* ---- too many ---- */

KIT_TEST(the_latest_only) {
    lines l = stream("@/s/frames --latest", 0);
    check_sum(&l, 1, 1, 0, FRAMES - 1);
    kit_contains(json_string_value(json_object_get(l.line[0], "dropped")), "a newer frame was there");
    assert_string_equal(json_string_value(json_object_get(l.line[1], "name")), "0001");
    check_pose(l.line[FRAMES - 1], FRAMES - 1);
    drop(&l);
    put_bytes("many.raw", (const int[]){0, 1, 2, 3}, 4, 0);
    l = stream_bytes("many.raw", "--latest", 0); /* how many depends on the machine, but all are told in order */
    double frames = number(l.sum, "frames");
    assert_true(frames >= 1);
    check_sum(&l, frames, frames, 0, 4 - frames);
    check_pose(l.line[3], 3); /* the last is never dropped */
    drop(&l);
}

/* ---- ends ---- */

KIT_TEST(what_is_refused) {
    static const cli_refusal CASES[] = {
        {"needle @/s/model.stl - --stream --device host", 2, "need --shape SxRxC and --spacing DX,DY,DZ"},
        {"needle @/s/model.stl - --stream --shape 2x2x2 --device host", 2, "need --shape"},
        {"needle @/s/model.stl @/s/model.stl --stream --device host", 1, "no folder"},
        {"needle @/s/model.stl @/s --stream --frames 0 --device host", 2, "--frames"},
        {"needle @/s/model.stl @/s --stream --idle -1 --device host", 2, "--idle"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
    mkdir(path_of("none"), 0700);
    lines l = stream("@/none --idle 0.01", 1);
    check_sum(&l, 0, 0, 0, 0);
    kit_contains(l.result.err, "no frame came: nothing came for 0.01 s");
    drop(&l);
}

/* One run with an allocation that fails; how many there were. Nothing stays behind, and the reason is told. */
static long run_short(long fail_at) {
    kit_faults faults = {.fail_at = fail_at};
    atn_ctx_settings options = kit_fault_options(&faults);
    atn_ctx *usual = cli_ctx;
    kit_ok(usual, atn_ctx_create(&options, &cli_ctx));
    cli_result r = cli_run("needle @/s/model.stl @/s/frames --stream --latest --json --device host");
    atn_ctx_free(cli_ctx);
    cli_ctx = usual;
    bool failed = fail_at > 0 && faults.count >= fail_at;
    if (faults.live != 0) fail_msg("allocation %ld failed: %ld blocks stay behind", fail_at, (long)faults.live);
    if (r.code != failed || cli_lines(r.err) != failed) fail_msg("%ld: exit %d: %s", fail_at, r.code, r.err);
    cli_drop(&r);
    return (long)faults.count;
}

/* The last ones: those of the stream. Which is which is left to the threads. */
KIT_TEST(no_memory) {
    static const long FROM_THE_END[] = {2, 100};
    long all = run_short(0);
    for (size_t k = 0; k < sizeof FROM_THE_END / sizeof *FROM_THE_END; ++k) run_short(all - FROM_THE_END[k]);
}

/* Stops the program as soon as it has printed something. */
static ssize_t stop_at_once(void *to, const char *bytes, size_t length) {
    atn_ctx_cancel(cli_ctx);
    return fwrite(bytes, 1, length, to) == length ? (ssize_t)length : -1;
}

KIT_TEST(stopping_tells_the_rest) {
    cli_result kept = {0};
    size_t length;
    FILE *text = open_memstream(&kept.out, &length);
    FILE *out = fopencookie(text, "w", (cookie_io_functions_t){.write = stop_at_once});
    assert_non_null(out);
    unlink(path_of("s/frames/end")); /* it would wait for ever */
    cli_result r = cli_run_to("needle @/s/model.stl @/s/frames --stream --json --device host", out);
    fclose(text);
    if (r.code != 0) fail_msg("exit %d: %s", r.code, r.err);
    kept.err = r.err;
    lines l = split(kept);
    double frames = number(l.sum, "frames");
    check_sum(&l, frames, frames, 0, (double)l.count - 1 - frames);
    assert_true(frames >= 1);
    kit_contains(json_string_value(json_object_get(l.sum, "reason")), "stopped");
    drop(&l);
}

/* ---- the sample ---- */

static int begin(void **state) {
    cli_begin(state);
    truth = cli_object(SAMPLE);
    const json_t *step = json_object_get(truth, "spacing");
    snprintf(spacing, sizeof spacing, "--shape 32x512x256 --spacing %.9g,%.9g,%.9g",
             json_number_value(json_array_get(step, 0)), json_number_value(json_array_get(step, 1)),
             json_number_value(json_array_get(step, 2)));
    for (int k = 0; k < FRAMES; ++k) {
        char name[32];
        atn_volume *volume;
        snprintf(name, sizeof name, "s/frames/%04d", k);
        kit_ok(cli_ctx, atn_volume_read(cli_ctx, path_of(name), NULL, &volume));
        raw[k] = malloc(BYTES);
        memcpy(raw[k], atn_volume_frame(volume, 0), BYTES);
        atn_volume_free(volume);
    }
    return 0;
}

static int end(void **state) {
    json_decref(truth);
    for (int k = 0; k < FRAMES; ++k) free(raw[k]);
    return cli_end(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_folder),   cmocka_unit_test(a_folder_being_filled),
        cmocka_unit_test(broken_frames),   cmocka_unit_test(bytes_from_outside),
        cmocka_unit_test(the_latest_only), cmocka_unit_test(what_is_refused),
        cmocka_unit_test(no_memory),       cmocka_unit_test(stopping_tells_the_rest)}; /* last: it cancels */
    return cmocka_run_group_tests(tests, begin, end);
}
