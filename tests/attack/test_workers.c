/* Workers that lie and workers that flood: generated code runs in them, and could make them say anything. A tuning ends
 * with what the others measured, or with one sentence; it never reads outside of its arrays, grows or waits without
 * bound. */
#include "tune/tunekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SPACE[] = "vec_p0 = (1, 2)\nregs_p0 = (1, 2)\n";

static tunekit k;
static char *program;

/* A tuning whose workers are the script `body`; $real is attune. */
static atn_status tune_with(const char *body, atn_tune_result *r) {
    char text[2048];
    free(program);
    snprintf(text, sizeof text, "real='%s'\n%s", ATN_BINARY_DIR "/attune", body);
    program = kit_script(k.dir, "worker", text);
    atn_workload add = tunekit_add();
    atn_tune_options options = tunekit_options(SPACE);
    options.program = program;
    options.again = true;
    return atn_tune(k.device, k.wisdom, &add, &options, r);
}

/* What a real worker says goes through sed. */
static atn_status tune_edited(const char *edit, atn_tune_result *r) {
    char body[1024];
    snprintf(body, sizeof body, "\"$real\" \"$@\" | sed -u '%s'", edit);
    return tune_with(body, r);
}

/* Finals that cannot be: the duels decide, as they do where a finalist breaks down. */
KIT_TEST(lies_about_the_winner) {
    static const char *const LIES[] = {
        "s/\"winner\": *[0-9]*/\"winner\":2000000000/",
        "s/\"winner\": *[0-9]*/\"winner\":-5/",
        "s/\"winner\": *[0-9]*/\"winner\":\"me\"/",
        "s/\"runner_up\": *[-0-9]*/\"runner_up\":1000000/",
        "s/\"n\": *[0-9]*/\"n\":1000000/",
        "s/\"counts\": *\\[[^]]*\\]/\"counts\":[]/",
    };
    for (size_t l = 0; l < sizeof LIES / sizeof *LIES; ++l) {
        atn_tune_result r;
        kit_ok(k.ctx, tune_edited(LIES[l], &r));
        assert_non_null(r.variant);
        assert_true(r.best_s > 0);
        assert_int_equal(r.failed[ATN_OUTCOME_CRASH], 0);
        atn_tune_result_free(&r);
    }
}

/* Trials that cannot be, and answers to what was not asked: the candidate counts as one that crashed. */
KIT_TEST(lies_about_trials) {
    static const char *const LIES[] = {
        "s/\"outcome\": *\"right\"/\"outcome\":\"splendid\"/", "s/\"samples\": *[1-9][0-9]*/\"samples\":1000000/",
        "s/\"seconds\": *[0-9.e-]*,/\"seconds\":-1,/",         "s/\"job\": *[0-9]*/\"job\":7/",
        "s/\"stage\": *\"oracle\"/\"stage\":\"for ever\"/",
    };
    for (size_t l = 0; l < sizeof LIES / sizeof *LIES; ++l) {
        atn_tune_result r;
        atn_status status = tune_edited(LIES[l], &r);
        if (l == 3) { /* it cannot even open its workload */
            assert_int_equal(status, ATN_ERR_DEVICE);
            kit_contains(atn_ctx_message(k.ctx), "a worker could not begin: a worker's answer makes no sense");
            continue;
        }
        kit_ok(k.ctx, status);
        assert_null(r.variant);
        assert_true(r.failed[ATN_OUTCOME_CRASH] > 0);
        atn_tune_result_free(&r);
    }
}

#define HELLO_OF(field, value)                                                                                         \
    "\"$real\" worker </dev/null | head -n 1 | sed 's/\"" field "\": *\"[^\"]*\"/\"" field "\":\"" value               \
    "\"/'; sleep 1000"
#define HELLO "\"$real\" worker </dev/null | head -n 1\n" /* as ours begins */

/* A line without an end, lines without an end, output closed with nobody gone: each is noticed, and the worker ended.
 */
KIT_TEST(floods_and_silence) {
    static const struct {
        const char *body, *message;
    } rows[] = {
        {HELLO "yes | tr -d '\\n'", "a line that is too long"},
        {"yes | tr -d '\\n'", "a line that is too long"},
        {HELLO "yes '{\"stage\":\"run\",\"limit\":1}'", "more than 1000 lines"},
        {HELLO "exec >&-; sleep 1000", "closed its output"},
        {HELLO "echo '{\"done\":{},\"job\":1}{\"done\":{},\"job\":2}'; sleep 1000", "makes no sense"},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; ++n) {
        atn_tune_result r;
        assert_int_not_equal(tune_with(rows[n].body, &r), ATN_OK);
        kit_contains(atn_ctx_message(k.ctx), rows[n].message);
    }
}

KIT_TEST(another_protocol) {
    static const struct {
        const char *body, *message;
    } rows[] = {
        {"echo '{\"hello\":\"attune worker\",\"protocol\":5}'; sleep 1000",
         "speaks protocol 5, this attune protocol 4"},
        {HELLO_OF("version", "9.9.9"), "is attune '9.9.9' with generator"},
        {HELLO_OF("generator", "0123"), "with generator '0123', this is"},
        {"echo '{\"done\":{}}'; sleep 1000", "speaks another protocol or none"}, /* as workers did before */
        {"echo hello; sleep 1000", "speaks another protocol or none"},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; ++n) {
        atn_tune_result r;
        assert_int_equal(tune_with(rows[n].body, &r), ATN_ERR_UNSUPPORTED);
        kit_contains(atn_ctx_message(k.ctx), rows[n].message);
        kit_contains(atn_ctx_message(k.ctx), "ATTUNE_PROGRAM");
    }
}

/* A tuner of another version: the worker says so, too. */
KIT_TEST(another_tuner) {
    atn_tune_result r;
    assert_int_equal(tune_with("sed -u 's/\"protocol\": *4/\"protocol\":1/' | \"$real\" \"$@\"", &r), ATN_ERR_DEVICE);
    kit_contains(atn_ctx_message(k.ctx), "the worker speaks protocol 4, the tuner 1");
    assert_int_equal(tune_with("sed -u 's/\"generator\": *\"[^\"]*\"/\"generator\":\"other\"/' | \"$real\" \"$@\"", &r),
                     ATN_ERR_DEVICE);
    kit_contains(atn_ctx_message(k.ctx), "the tuner's other; both must be of one build");
}

static int setup(void **state) {
    (void)state;
    tunekit_open(&k, NULL);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    tunekit_close(&k);
    free(program);
    program = NULL;
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(lies_about_the_winner), TEST(lies_about_trials), TEST(floods_and_silence),
        TEST(another_protocol),      TEST(another_tuner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
