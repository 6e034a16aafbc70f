/* Commands of the user's own: words, places for values, times from output and clock, what crashes and hangs, the
 * search. */
#include "testkit.h"

#include "tune/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char SPACE[] = "x = range(0, 8)\n"
                            "mode = (\"fine\", \"odd one\")\n";
/* Takes as long as it says: least at x = 5. 0 crashes, 1 hangs, 2 fails, 3 says nothing. */
static const char SCRIPT[] = "case $1 in\n"
                             "0) kill -SEGV $$ ;;\n"
                             "1) sleep 30 ;;\n"
                             "2) echo no such size >&2; exit 4 ;;\n"
                             "3) echo done; exit 0 ;;\n"
                             "esac\n"
                             "d=$(($1 - 5)); extra=0\n"
                             "[ \"$2\" = 'odd one' ] && extra=7\n"
                             "echo \"warm-up: 99 us\"\n"
                             "echo \"time: $((10 + d * d + extra)) us, $FLAVOUR\"\n";

typedef struct bench {
    atn_ctx *ctx;
    atn_space *space;
    char *folder, script[300], text[400];
} bench;

static bench start(void) {
    bench b = {.ctx = kit_ctx(), .folder = kit_tempdir()};
    snprintf(b.script, sizeof b.script, "%s/run.sh", b.folder);
    FILE *file = fopen(b.script, "w");
    assert_non_null(file);
    fputs(SCRIPT, file);
    fclose(file);
    kit_ok(b.ctx, atn_space_parse(b.ctx, "s", SPACE, strlen(SPACE), NULL, 0, &b.space));
    snprintf(b.text, sizeof b.text, "FLAVOUR={x}{{}} sh '%s' {x} \"{mode}\"", b.script);
    return b;
}

static void finish(bench *b) {
    atn_space_free(b->space);
    kit_remove(b->folder);
    kit_free(b->ctx);
}

static atn_command_run try(bench *b, const char *command, const char *time, const char *point) {
    atn_command c;
    atn_command_run run;
    int32_t levels[2];
    kit_ok(b->ctx, atn_command_open(b->ctx, b->space, command, time, &c));
    kit_ok(b->ctx, atn_space_point(b->ctx, b->space, point, levels));
    kit_ok(b->ctx, atn_command_try(&c, levels, 5, &run));
    atn_command_close(&c);
    return run;
}

KIT_TEST(one_run) {
    bench b = start();
    atn_command_run run = try(&b, b.text, "time: {} us, 6{}", "x=6,mode=odd one"); /* one word, braces as they are */
    assert_int_equal(run.outcome, ATN_OUTCOME_RIGHT);
    assert_true(fabs(run.seconds - 18e-6) < 1e-12);
    run = try(&b, b.text, "{} us", "x=6,mode=fine"); /* the last one counts */
    assert_true(fabs(run.seconds - 11e-6) < 1e-12);
    run = try(&b, b.text, NULL, "x=6,mode=fine");
    assert_true(run.outcome == ATN_OUTCOME_RIGHT && run.seconds == run.clock_s && run.seconds > 0);
    run = try(&b, b.text, "time: {} us", "x=0,mode=fine");
    assert_int_equal(run.outcome, ATN_OUTCOME_CRASH);
    kit_contains(run.detail, "SIGSEGV");
    run = try(&b, b.text, "time: {} us", "x=2,mode=fine");
    assert_int_equal(run.outcome, ATN_OUTCOME_WRONG);
    kit_contains(run.detail, "exit 4: no such size");
    run = try(&b, b.text, "time: {} us", "x=3,mode=fine");
    assert_int_equal(run.outcome, ATN_OUTCOME_WRONG);
    kit_contains(run.detail, "no time 'time: {} us'");
    finish(&b);
}

KIT_TEST(wrong_commands) {
    bench b = start();
    static const char *const WRONG[][3] = {
        {"", NULL, "empty"},
        {"sh {x}", NULL, "{mode} is not in it"},
        {"sh {x} {mode} {y}", NULL, "no parameter 'y'"},
        {"sh {x} {mode} }", NULL, "unmatched brace"},
        {"sh {x} {mode", NULL, "unmatched brace"},
        {"sh {x} '{mode}", NULL, "not closed"},
        {"no-such-program {x} {mode}", NULL, "no program 'no-such-program'"},
        {"sh {x} {mode}", "ms", "{} marks the number"},
    };
    atn_command c;
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k) {
        kit_fails(b.ctx, ATN_ERR_INPUT, WRONG[k][2], atn_command_open(b.ctx, b.space, WRONG[k][0], WRONG[k][1], &c));
        atn_command_close(&c);
    }
    finish(&b);
}

KIT_TEST(the_least_is_found) {
    bench b = start();
    atn_command c;
    atn_command_result r;
    atn_command_options options = {.strategy = "exhaustive", .timeout_s = 0.5};
    kit_ok(b.ctx, atn_command_open(b.ctx, b.space, b.text, "time: {} us", &c));
    kit_ok(b.ctx, atn_command_tune(&c, &options, &r));
    assert_string_equal(r.variant, "x=5,mode=fine");
    assert_string_equal(r.runner_up, "x=4,mode=fine"); /* or x=6, which is as fast: the first of them */
    assert_true(fabs(r.best_s - 10e-6) < 1e-12 && fabs(r.worst_s - 21e-6) < 1e-12);
    assert_int_equal(r.tried, 16);
    assert_true(r.failed[ATN_OUTCOME_CRASH] == 2 && r.failed[ATN_OUTCOME_HANG] == 2 &&
                r.failed[ATN_OUTCOME_WRONG] == 4);
    kit_contains(r.failure, "x=0,mode=fine: SIGSEGV");
    atn_command_result_free(&r);
    options = (atn_command_options){.evaluations = 3, .strategy = "random", .timeout_s = 0.5, .seed = 4};
    kit_ok(b.ctx, atn_command_tune(&c, &options, &r));
    assert_int_equal(r.tried, 3);
    atn_command_result_free(&r);
    options.strategy = "luck";
    kit_fails(b.ctx, ATN_ERR_INPUT, "no strategy 'luck'", atn_command_tune(&c, &options, &r));
    atn_command_close(&c);
    finish(&b);
}

static void stop(void *user, const atn_command_progress *now) {
    if (now->tried == 2) atn_ctx_cancel(user);
}

/* Ctrl-C keeps what was found. */
KIT_TEST(stopped) {
    bench b = start();
    atn_command c;
    atn_command_result r;
    atn_command_options options = {.strategy = "exhaustive", .timeout_s = 0.5, .progress = stop, .user = b.ctx};
    char text[400];
    snprintf(text, sizeof text, "sh '%s' 6 {x} {mode}", b.script); /* works at every point */
    kit_ok(b.ctx, atn_command_open(b.ctx, b.space, text, "time: {} us", &c));
    kit_ok(b.ctx, atn_command_tune(&c, &options, &r));
    assert_true(r.stopped && r.tried == 2 && r.variant);
    atn_command_result_free(&r);
    atn_command_close(&c);
    finish(&b);
}

KIT_TEST(out_of_memory) {
    atn_command c;
    for (long at = 1;; ++at) {
        kit_faults faults = {0};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        atn_space *space;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        kit_ok(ctx, atn_space_parse(ctx, "s", SPACE, strlen(SPACE), NULL, 0, &space));
        faults.fail_at = faults.count + at;
        atn_status status = atn_command_open(ctx, space, "sh '{x}' {mode}", "time {} ms", &c);
        faults.fail_at = 0;
        atn_command_close(&c);
        atn_space_free(space);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
        if (status == ATN_OK) break;
        assert_int_equal(status, ATN_ERR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run), cmocka_unit_test(wrong_commands), cmocka_unit_test(the_least_is_found),
        cmocka_unit_test(stopped), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
