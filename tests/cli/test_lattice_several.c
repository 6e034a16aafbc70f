/* Slabs of a frame on several devices: the atoms of one device; a device that is lost, before it learns or when it has
 * matched a slab, leaves its slabs to the others, and all of them lost is a failure. */
#include "clikit.h"

#include "apps/lattice/lattice.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/lattice.h"
#include "device/backend.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES = 3 };

extern const atn_cli_verb ATN_VERB_LATTICE;

static int32_t wanted;
static bool lose[DEVICES];  /* before anything is done */
static bool later[DEVICES]; /* once all is learned and the slabs are under way */
static atn_device *opened[DEVICES];

/* The first atoms are told: by now somebody works. */
static bool watch(void *user, const atn_progress *now) {
    (void)user;
    if (strcmp(now->doing, "matching") != 0) return true;
    for (int32_t k = 0; k < wanted; ++k) {
        if (later[k]) (void)atn_device_lose(opened[k], "unplugged");
        later[k] = false;
    }
    return true;
}

/* The same device several times: each is one of its own. */
static atn_status run(atn_cli_call *call) {
    atn_lattice_settings settings = {0};
    atn_cloud *model = NULL;
    atn_devices *devices = NULL;
    atn_lattice *lattice[DEVICES] = {NULL};
    lattice_outcome *o = atn_zalloc(call->ctx, sizeof *o);
    int32_t count = 0;
    atn_status status = o ? lattice_read_options(call, &settings, &model) : ATN_ERR_MEMORY;
    if (!status) status = atn_devices_find(call->ctx, &devices);
    for (; count < wanted && !status; ++count) {
        status = atn_device_open(devices, 0, &opened[count]);
        if (!status) status = atn_lattice_create(opened[count], &settings, &lattice[count]);
        if (!status && lose[count]) (void)atn_device_lose(opened[count], "unplugged");
    }
    atn_devices_free(devices);
    if (!status) {
        o->device_info = atn_device_get_info(opened[0]);
        atn_ctx_on_progress(call->ctx, watch, NULL);
        status = lattice_run_slabs(call, lattice, count, o);
        atn_ctx_on_progress(call->ctx, NULL, NULL);
    }
    for (int32_t k = 0; k < count; ++k) {
        atn_lattice_free(lattice[k]);
        atn_device_close(opened[k]);
    }
    atn_free(call->ctx, o);
    atn_cloud_free(model);
    return status;
}

/* Exit status; what was said is in *err, owned by the caller. */
static int match(const char *out, char **err) {
    atn_cli_verb verb = ATN_VERB_LATTICE;
    verb.run = run;
    const atn_cli_verb *const verbs[] = {&verb, NULL};
    size_t length;
    FILE *files[2] = {fopen("/dev/null", "w"), open_memstream(err, &length)};
    char from[512], to[512];
    snprintf(from, sizeof from, "%s/frame.pos", cli_dir);
    snprintf(to, sizeof to, "%s/%s", cli_dir, out);
    char *argv[] = {"attune",       "lattice", from,           "-o",      to,        "--slabs", "6",        "--models",
                    "bcc",          "--even",  "--constant",   "bcc=3.2", "--noise", "0.2",     "--cutoff", "5",
                    "--efficiency", "0.6",     "--background", "0.02",    NULL};
    int code = atn_cli_run(cli_ctx, verbs, 20, argv, files[0], files[1]);
    fclose(files[0]);
    fclose(files[1]);
    return code;
}

static void check(const char *out) {
    char *err = NULL, *one, *here, path[512];
    size_t length[2];
    int code = match(out, &err);
    if (code) fail_msg("%s", err);
    free(err);
    snprintf(path, sizeof path, "%s/one.xyz", cli_dir);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path, 1 << 24, &one, &length[0]));
    snprintf(path, sizeof path, "%s/%s", cli_dir, out);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path, 1 << 24, &here, &length[1]));
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(one, here, length[0]);
    atn_free(cli_ctx, one);
    atn_free(cli_ctx, here);
}

KIT_TEST(as_one) {
    cli_does("sample atoms -o @ --size 1500 --grains 2 --seed 3 --species Al", "1500");
    wanted = 1;
    check("one.xyz");
    wanted = DEVICES;
    check("three.xyz");
}

KIT_TEST(lost_ones_leave_theirs) {
    wanted = DEVICES;
    lose[0] = lose[2] = true; /* the one that would have learned is among them */
    check("left.xyz");
    lose[0] = lose[2] = false;
    later[1] = later[2] = true;
    check("later.xyz");
    assert_false(later[1]);
}

KIT_TEST(all_are_lost) {
    char *err = NULL;
    wanted = DEVICES;
    lose[0] = lose[1] = lose[2] = true;
    assert_int_equal(match("none.xyz", &err), 1);
    if (!strstr(err, "was lost")) fail_msg("%s", err);
    free(err);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_one), cmocka_unit_test(lost_ones_leave_theirs),
                                       cmocka_unit_test(all_are_lost)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
