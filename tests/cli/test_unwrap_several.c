/* Frames of an unwrap stream on several devices: told in the order in which they came, with the answers of one device;
 * a device that is lost leaves its frames to the others, and all of them lost is a failure. */
#include "clikit.h"

#include "cli/unwrap.h"
#include "device/backend.h"
#include "num/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { W = 24, H = 18, FRAMES = 23 };

extern const atn_cli_verb ATN_VERB_UNWRAP;

static int32_t devices_wanted;
static bool lose[ATN_MOST_DEVICES]; /* before the first frame comes */

/* The same device several times: each is one of its own. */
static atn_status run(atn_cli_call *call) {
    unwrap_job job = {.call = call, .input = call->operands[0], .output = atn_cli_value(call, "output"), .least = -1};
    atn_devices *devices = NULL;
    job.options.bits = 64;
    job.repeat = 1;
    atn_status status = atn_devices_find(call->ctx, &devices);
    for (; job.n_devices < devices_wanted && !status; ++job.n_devices)
        status = atn_device_open(devices, 0, &job.devices[job.n_devices]);
    atn_devices_free(devices);
    job.device = job.devices[0];
    for (int32_t k = 0; k < job.n_devices; ++k)
        if (lose[k]) (void)atn_device_lose(job.devices[k], "unplugged");
    if (!status) status = unwrap_stream(&job);
    for (int32_t k = 0; k < job.n_devices; ++k) atn_device_close(job.devices[k]);
    return status;
}

static char *path_of(const char *folder, int frame) {
    static char path[512];
    snprintf(path, sizeof path, frame < 0 ? "%s/%s" : "%s/%s/f%02d.npy", cli_dir, folder, frame);
    return path;
}

static void make_frames(void) {
    float wrapped[W * H];
    mkdir(path_of("in", -1), 0777);
    for (int f = 0; f < FRAMES; ++f) {
        for (int k = 0; k < W * H; ++k)
            wrapped[k] = (float)remainder(0.02 * f * (k % W) * (k % W) + 0.7 * (k / W), 6.283185307179586);
        atn_view view = {.type = ATN_SP, .rank = 2, .size = {W, H}, .pitch = W, .data = wrapped};
        kit_ok(cli_ctx, atn_npy_write(cli_ctx, path_of("in", f), &view));
    }
    cli_put("in/end", "");
}

/* Exit status; what was printed is in *out, owned by the caller. */
static int stream(const char *folder, char **out, char **err) {
    atn_cli_verb verb = ATN_VERB_UNWRAP;
    verb.run = run;
    const atn_cli_verb *const verbs[] = {&verb, NULL};
    size_t length[2];
    FILE *files[2] = {open_memstream(out, &length[0]), open_memstream(err, &length[1])};
    char from[512], to[512];
    snprintf(from, sizeof from, "%s", path_of("in", -1));
    snprintf(to, sizeof to, "%s", path_of(folder, -1));
    char *argv[] = {"attune", "unwrap", from, "--stream", "--cold", "-o", to, NULL};
    int code = atn_cli_run(cli_ctx, verbs, 7, argv, files[0], files[1]);
    fclose(files[0]);
    fclose(files[1]);
    return code;
}

/* Runs; all frames in their order, and their answers those of `one`. */
static void check(const char *folder) {
    char *out = NULL, *err = NULL;
    assert_int_equal(stream(folder, &out, &err), 0);
    const char *at = out;
    for (int f = 0; f < FRAMES; ++f) {
        char name[16];
        snprintf(name, sizeof name, "f%02d.npy:", f);
        if (strncmp(at, name, strlen(name)) != 0) fail_msg("not %s: %.60s", name, at);
        at = strchr(at, '\n') + 1;
        atn_npy one, here;
        kit_ok(cli_ctx, atn_npy_read(cli_ctx, path_of("one", f), &one));
        kit_ok(cli_ctx, atn_npy_read(cli_ctx, path_of(folder, f), &here));
        assert_memory_equal(one.data, here.data, W * H * sizeof(double));
        atn_npy_free(&one);
        atn_npy_free(&here);
    }
    assert_string_equal(err, "");
    free(out);
    free(err);
}

KIT_TEST(in_order) {
    make_frames();
    devices_wanted = 1;
    memset(lose, 0, sizeof lose);
    char *out = NULL, *err = NULL;
    assert_int_equal(stream("one", &out, &err), 0);
    free(out);
    free(err);
    devices_wanted = 3;
    check("three");
}

KIT_TEST(lost_ones_leave_theirs) {
    devices_wanted = 3;
    lose[0] = lose[2] = true;
    check("left");
}

KIT_TEST(all_are_lost) {
    char *out = NULL, *err = NULL;
    lose[1] = true;
    assert_int_equal(stream("none", &out, &err), 1);
    if (!strstr(err, "was lost")) fail_msg("%s", err);
    free(out);
    free(err);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order), cmocka_unit_test(lost_ones_leave_theirs),
                                       cmocka_unit_test(all_are_lost)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
