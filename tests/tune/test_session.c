/* Sessions and what may come between: another tuner, Ctrl-C, no program for workers, a device that is gone. */
#include "tunekit.h"

#include "graph/shipped.h"
#include "tune/spread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SPACE[] = "vec_p0 = (1, 2)\nregs_p0 = (1, 2)\n";

typedef struct watch {
    tunekit *k;
    int64_t stop_at; /* tried so many: stop */
    bool cancel;     /* by the context, as Ctrl-C does; else by saying so */
    bool nested;     /* begins a second tuning, which must be refused */
    int refusals;
    char message[512];
} watch;

static bool look(void *user, const atn_tune_progress *now) {
    watch *w = user;
    if (w->nested) {
        atn_tune_result r;
        atn_workload add = tunekit_add();
        atn_tune_options options = tunekit_options(SPACE);
        w->nested = false;
        w->refusals += atn_tune(w->k->device, w->k->wisdom, &add, &options, &r) == ATN_ERR_DEVICE;
        snprintf(w->message, sizeof w->message, "%s", atn_ctx_message(w->k->ctx));
    }
    if (w->stop_at == 0 || now->tried < w->stop_at) return true;
    if (w->cancel) atn_ctx_cancel(w->k->ctx);
    return w->cancel;
}

KIT_TEST(two_tuners_do_not_meet) {
    tunekit k;
    tunekit_open(&k, NULL);
    watch w = {.k = &k, .nested = true};
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options(SPACE);
    atn_tune_result r;
    options.progress = look;
    options.user = &w;
    options.evaluations = 2;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(w.refusals, 1);
    kit_contains(w.message, "is being tuned by process");
    assert_int_equal(r.tried, 2);
    atn_tune_result_free(&r);
    options.resume = true; /* two of four are there already */
    options.evaluations = 4;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(r.tried, 4);
    assert_int_equal(r.recalled, 2);
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

/* Two equal devices in one process: each has workers of its own, and all candidates are tried once. */
KIT_TEST(devices_share_candidates) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_device *devices[2] = {k.device, NULL};
    atn_spread *spread;
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options(SPACE);
    atn_tune_result r;
    int32_t host;
    kit_ok(k.ctx, atn_devices_pick(k.devices, "host", &host));
    kit_ok(k.ctx, atn_device_open(k.devices, host, &devices[1]));
    kit_ok(k.ctx, atn_spread_open_devices(devices, 1, options.program, &spread));
    assert_null(spread); /* nobody to share with */
    kit_ok(k.ctx, atn_spread_open_devices(devices, 2, options.program, &spread));
    assert_int_equal(atn_spread_count(spread), 2);
    options.spread = spread;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(r.tried, tunekit_count(&k, NULL));
    assert_int_equal(r.tried, tunekit_count(&k, "right"));
    assert_true(r.tried >= 4);
    assert_non_null(r.variant);
    atn_tune_result_free(&r);
    kit_ok(k.ctx, atn_spread_end(spread));
    atn_spread_free(spread);
    atn_device_close(devices[1]);
    tunekit_close(&k);
}

KIT_TEST(stopping_keeps_all) {
    for (int cancel = 0; cancel < 2; ++cancel) {
        tunekit k;
        tunekit_open(&k, NULL);
        watch w = {.k = &k, .stop_at = 3, .cancel = cancel};
        atn_workload add = tunekit_add();
        atn_tune_options options = tunekit_options(SPACE);
        atn_tune_result r;
        options.progress = look;
        options.user = &w;
        kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
        assert_true(r.stopped);
        assert_int_equal(r.tried, 3);
        assert_non_null(r.variant); /* the best of what there is */
        assert_int_equal(tunekit_count(&k, "started"), 0);
        assert_int_equal(tunekit_count(&k, "right"), 3);
        atn_tune_result_free(&r);
        tunekit_close(&k);
    }
}

/* Seeds and the estimate may lie outside of a space that the caller gave: the winner may not. */
KIT_TEST(winners_are_of_the_space) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload add = tunekit_add();
    add.name = "add"; /* there are seeds for it */
    atn_tune_options options = tunekit_options("regs_p1 = (2, 3)\n@require\ndef f(regs_p1): return regs_p1 > 2\n");
    atn_tune_result r;
    for (int round = 0; round < 2; ++round) { /* measured, then recalled */
        kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
        assert_int_equal(r.tried, 2); /* the estimate is timed all the same */
        assert_string_equal(r.variant, "regs_p1=3");
        assert_true(r.default_s > 0);
        assert_string_not_equal(r.estimate, r.variant);
        atn_tune_result_free(&r);
    }
    options = tunekit_options("vec_p0 = (3, 5)\n"); /* no point of it fits */
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(r.tried, 1);
    assert_null(r.variant);
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

/* A variant that is right, but less accurate than the tolerance allows, does not win, and with a wider one it does. */
KIT_TEST(winners_keep_the_tolerance) {
    static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload estep = {.name = "estep", .xml = atn_shipped_find("estep"), .defines = DEFINES};
    estep.sizes = (const char *const[]){"yx=40", "xx=5", NULL}; /* few terms: rounding of their sum hides nothing */
    atn_tune_options options = tunekit_options("exp = (\"polynomial\",)\ndegree = (3,)\n");
    atn_tune_result r;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &estep, &options, &r));
    assert_true(r.tried >= 1);
    assert_null(r.variant);
    atn_tune_result_free(&r);
    options.tolerance = 1e-3;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &estep, &options, &r));
    assert_string_equal(r.variant, "exp=polynomial,degree=3");
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

KIT_TEST(workers_must_be_found) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options(SPACE);
    atn_tune_result r;
    options.program = "/nowhere/attune";
    kit_fails(k.ctx, ATN_ERR_IO, "'/nowhere/attune', which tries candidates",
              atn_tune(k.device, k.wisdom, &add, &options, &r));
    char *gone = kit_script(k.dir, "gone",
                            ATN_BINARY_DIR "/attune worker </dev/null | head -n 1\n"
                                           "echo '{\"failed\": \"lost\", \"message\": \"the device is gone\"}'\n");
    options.program = gone;
    kit_fails(k.ctx, ATN_ERR_LOST, "a worker could not begin: the device is gone",
              atn_tune(k.device, k.wisdom, &add, &options, &r));
    char *mute = kit_script(k.dir, "mute", "exit 7\n");
    options.program = mute;
    kit_fails(k.ctx, ATN_ERR_IO, "exit 7", atn_tune(k.device, k.wisdom, &add, &options, &r));
    options.program = ATN_BINARY_DIR "/attune"; /* what was begun then is not held against the candidate */
    options.evaluations = 2;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(r.failed[ATN_OUTCOME_CRASH], 0);
    atn_tune_result_free(&r);
    free(gone);
    free(mute);
    tunekit_close(&k);
}

typedef struct keys {
    tunekit *k;
    const char *variant;
} keys;

/* As if the machine had gone down with it, twice. */
static bool begin_twice(void *user, const atn_wisdom_entry *entry) {
    keys *x = user;
    atn_wisdom *other; /* the first one is reading */
    int64_t starts;
    kit_ok(x->k->ctx, atn_wisdom_open(x->k->ctx, x->k->database, false, &other));
    for (int n = 0; n < 2; ++n) kit_ok(x->k->ctx, atn_wisdom_begin(other, &entry->key, x->variant, &starts));
    atn_wisdom_close(other);
    return true;
}

KIT_TEST(who_kills_twice_is_not_tried_again) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options(SPACE);
    atn_tune_result r;
    options.evaluations = 1;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    atn_tune_result_free(&r);
    keys x = {&k, "vec_p0=2,regs_p0=2"};
    kit_ok(k.ctx, atn_wisdom_entries(k.wisdom, &(atn_wisdom_filter){0}, begin_twice, &x));
    options.evaluations = 0;
    kit_ok(k.ctx, atn_tune(k.device, k.wisdom, &add, &options, &r));
    kit_contains(tunekit_row(&k, "vec_p0=2,regs_p0=2"), "crash 2 it was begun twice and never ended");
    assert_int_equal(r.failed[ATN_OUTCOME_CRASH], 1);
    assert_string_not_equal(r.variant, "vec_p0=2,regs_p0=2");
    atn_tune_result_free(&r);
    tunekit_close(&k);
}

KIT_TEST(wrong_questions_are_refused) {
    tunekit k;
    tunekit_open(&k, NULL);
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options("vec_p0 = (1, 2\n");
    atn_tune_result r;
    kit_fails(k.ctx, ATN_ERR_INPUT, "test.lanai:", atn_tune(k.device, k.wisdom, &add, &options, &r));
    options = tunekit_options("tiles = (1, 2)\n");
    kit_fails(k.ctx, ATN_ERR_INPUT, "unknown knob 'tiles'", atn_tune(k.device, k.wisdom, &add, &options, &r));
    options = tunekit_options(SPACE);
    options.strategy = "guessing";
    kit_fails(k.ctx, ATN_ERR_INPUT, "no strategy 'guessing'; there are",
              atn_tune(k.device, k.wisdom, &add, &options, &r));
    assert_int_equal(tunekit_count(&k, NULL), 0);
    tunekit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tuners_do_not_meet),
        cmocka_unit_test(devices_share_candidates),
        cmocka_unit_test(stopping_keeps_all),
        cmocka_unit_test(winners_are_of_the_space),
        cmocka_unit_test(winners_keep_the_tolerance),
        cmocka_unit_test(workers_must_be_found),
        cmocka_unit_test(who_kills_twice_is_not_tried_again),
        cmocka_unit_test(wrong_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
