/* One worker, talked to by hand: what it says, the limits it lives under, and what is held of a child's output. */
#include "tunekit.h"

#include "base/clock.h"
#include "tune/child.h"
#include "tune/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double LONG_S = 300; /* never reached where all is right */

static atn_child start(const atn_ctx *ctx, const char *body, char *dir) {
    char *path = kit_script(dir, "child", body);
    const char *argv[] = {path, NULL};
    atn_child child;
    kit_ok(ctx, atn_child_start(ctx, argv, true, &child));
    free(path);
    return child;
}

/* ---- children ---- */

KIT_TEST(a_flood_is_held_back) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir();
    static const char *const FLOODS[] = {"yes | tr -d '\\n'", "head -c 1000000000 /dev/zero"};
    for (size_t k = 0; k < 2; ++k) {
        atn_child child = start(ctx, FLOODS[k], dir);
        const char *line;
        kit_fails(ctx, ATN_ERR_IO, "a worker ended: it printed a line that is too long",
                  atn_child_hear(&child, atn_clock_seconds() + LONG_S, &line));
        assert_true(child.heard.capacity <= 4 * ATN_CHILD_MOST_LINE);
        assert_int_equal(child.pid, 0);
        atn_child_end(&child);
    }
    atn_child child = start(ctx, "yes line", dir); /* short ones without end: as many as are asked for */
    for (int k = 0; k < 100000; ++k) {
        const char *line;
        kit_ok(ctx, atn_child_hear(&child, atn_clock_seconds() + LONG_S, &line));
        assert_string_equal(line, "line");
    }
    assert_true(child.heard.capacity <= 4 * ATN_CHILD_MOST_LINE);
    atn_child_end(&child);
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(who_does_not_read_is_not_waited_for) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *large = malloc((1 << 20) + 1);
    memset(large, 'x', 1 << 20);
    large[1 << 20] = '\0';
    atn_child child = start(ctx, "exec sleep 1000", dir);
    kit_fails(ctx, ATN_ERR_TIMEOUT, "does not read", atn_child_say(&child, large, atn_clock_seconds() + 0.1));
    atn_child_end(&child);
    child = start(ctx, "wc -c", dir); /* more than a pipe holds, read to its end */
    kit_ok(ctx, atn_child_say(&child, large, atn_clock_seconds() + LONG_S));
    close(child.to);
    child.to = -1;
    const char *line;
    kit_ok(ctx, atn_child_hear(&child, atn_clock_seconds() + LONG_S, &line));
    assert_int_equal(atol(line), (1 << 20) + 1);
    atn_child_end(&child);
    free(large);
    kit_remove(dir);
    kit_free(ctx);
}

/* ---- limits ---- */

/* The soft limit named so in /proc; -1: unlimited. */
static long long limit_of(const atn_child *child, const char *name) {
    char path[64], line[256], value[64] = "";
    snprintf(path, sizeof path, "/proc/%ld/limits", (long)child->pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) sscanf(line + strlen(name), "%63s", value);
    fclose(file);
    assert_true(*value);
    return strcmp(value, "unlimited") == 0 ? -1 : atoll(value);
}

static atn_said hear(const tunekit *k, atn_child *child) {
    const char *line;
    atn_said said;
    do {
        kit_ok(k->ctx, atn_child_hear(child, atn_clock_seconds() + LONG_S, &line));
        if (!atn_wire_hear(line, &said)) fail_msg("not understood: %s", line);
    } while (said.kind == ATN_SAID_STAGE);
    return said;
}

KIT_TEST(a_worker_lives_under_limits) {
    tunekit k;
    tunekit_open(&k, NULL);
    const char *argv[] = {ATN_BINARY_DIR "/attune", "worker", NULL};
    atn_child child;
    kit_ok(k.ctx, atn_child_start(k.ctx, argv, true, &child));
    atn_said said = hear(&k, &child);
    assert_int_equal(said.kind, ATN_SAID_HELLO);
    assert_int_equal(said.version, ATN_WIRE_VERSION);
    assert_int_equal(limit_of(&child, "Max core file size"), 0);
    assert_true(limit_of(&child, "Max file size") <= 1 << 30);
    long long cpu = limit_of(&child, "Max cpu time");
    assert_true((double)cpu > ATN_WIRE_OPEN_S);
    long long memory = limit_of(&child, "Max data size");
    atn_workload add = tunekit_add();
    json_t *job = atn_wire_open(atn_device_get_info(k.device), &add, &(atn_trial_setup){.build_only = true});
    json_object_set_new(job, "job", json_integer(1));
    char *text = json_dumps(job, JSON_COMPACT);
    kit_ok(k.ctx, atn_child_say(&child, text, atn_clock_seconds() + LONG_S));
    said = hear(&k, &child);
    if (said.kind == ATN_SAID_FAILED) fail_msg("%s", said.message);
    assert_int_equal(said.kind, ATN_SAID_DONE);
    assert_int_equal(said.job, 1);
    if (kit_memory_limits()) {
        long long now = limit_of(&child, "Max data size");
        assert_true(now > 0 && (memory < 0 || now <= memory));
        assert_true(now >= sysconf(_SC_PHYS_PAGES)); /* pages, so less than any sensible limit in bytes */
    }
    json_decref(said.done);
    json_decref(job);
    free(text);
    atn_child_end(&child);
    tunekit_close(&k);
}

/* ---- answers ---- */

KIT_TEST(answers_come_back) {
    atn_trial trial = {.outcome = ATN_OUTCOME_RIGHT,
                       .seconds = 1.5,
                       .low = 1,
                       .high = 2,
                       .samples = 7,
                       .usable = true,
                       .registers = -1,
                       .local_memory = -1,
                       .occupancy = -1,
                       .detail = "clean\x1b[2J"},
              read;
    json_t *object = atn_wire_trial(&trial);
    assert_true(atn_wire_read_trial(object, &read));
    assert_string_equal(read.detail, "clean?[2J");
    assert_true(read.outcome == ATN_OUTCOME_RIGHT && read.seconds == 1.5 && read.samples == 7 && read.usable);
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, name, value) { /* each field is needed, and of its type */
        json_t *without = json_copy(object);
        json_object_del(without, name);
        assert_false(atn_wire_read_trial(without, &read));
        json_object_set_new(without, name, json_array());
        assert_false(atn_wire_read_trial(without, &read));
        json_decref(without);
    }
    json_object_set_new(object, "seconds", json_real(1e300)); /* infinite, and right? */
    assert_false(atn_wire_read_trial(object, &read));
    json_decref(object);
    atn_final *final = calloc(1, sizeof *final), *again = calloc(1, sizeof *final);
    *final = (atn_final){.n = 3, .winner = 1, .runner_up = 2, .count = {6, 6, 6}};
    for (int k = 0; k < 3; ++k) final->seconds[k] = (atn_middle){1, 1, 1, 6};
    object = atn_wire_final(final);
    assert_true(atn_wire_read_final(object, 3, again));
    assert_int_equal(again->winner, 1);
    assert_false(atn_wire_read_final(object, 2, again)); /* other than were raced */
    assert_false(atn_wire_read_final(object, 4, again));
    json_object_set_new(object, "runner_up", json_integer(1)); /* the winner itself */
    assert_false(atn_wire_read_final(object, 3, again));
    json_decref(object);
    assert_false(atn_wire_read_final(NULL, 3, again));
    assert_false(atn_wire_read_trial(NULL, &read));
    free(final);
    free(again);
}

KIT_TEST(lines_that_make_no_sense) {
    static const char *const LINES[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"stage\": 3}",
        "{\"stage\": \"run\"}",
        "{\"stage\": \"run\", \"limit\": -1}",
        "{\"stage\": \"run\", \"limit\": \"1\"}",
        "{\"stage\": \"party\", \"limit\": 1}",
        "{\"failed\": \"ok\", \"message\": \"\"}",
        "{\"failed\": \"lost\"}",
        "{\"done\": 3, \"job\": 1}",
        "{\"done\": {}, \"job\": 0}",
        "{\"done\": {}}",
        "{\"hello\": 1}",
        "{\"hello\": \"a\", \"protocol\": 99999999999}",
        "{\"done\": {}, \"job\": 1, \"job\": 2}",
    };
    atn_said said;
    for (size_t k = 0; k < sizeof LINES / sizeof *LINES; ++k)
        if (atn_wire_hear(LINES[k], &said)) fail_msg("taken for sense: %s", LINES[k]);
    assert_true(atn_wire_hear("{\"stage\": \"time\", \"limit\": 1e250}", &said));
    assert_true(said.limit_s == ATN_WIRE_STAGE_S);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_is_held_back),        cmocka_unit_test(who_does_not_read_is_not_waited_for),
        cmocka_unit_test(a_worker_lives_under_limits), cmocka_unit_test(answers_come_back),
        cmocka_unit_test(lines_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
