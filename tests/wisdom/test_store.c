/* The store as the tuner and the kernel manager use it: where it lies, starts, ends, rows, winners. */
#include "wisdomkit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

KIT_TEST(none_yet) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, true, &wisdom));
    assert_null(wisdom); /* and that is no failure */
    assert_int_equal(wkit_find(ctx, NULL, &key, NULL), ATN_HIT_NONE);
    kit_free(ctx);
}

/* In the context's cache folder, which is made; or where the environment says; or where the caller says. */
KIT_TEST(lies_where_it_should) {
    char *dir = kit_tempdir(), *before = kit_getenv("ATTUNE_WISDOM");
    char *folder = wkit_path(dir, "cache/of/mine"), *usual = wkit_path(folder, "wisdom.sqlite");
    char *moved = wkit_path(dir, "moved.db"), *given = wkit_path(dir, "given.db");
    atn_ctx_settings options = {.cache_dir = folder};
    atn_ctx *ctx;
    atn_wisdom *wisdom;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    unsetenv("ATTUNE_WISDOM");
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    atn_wisdom_close(wisdom);
    assert_int_equal(access(usual, F_OK), 0);
    setenv("ATTUNE_WISDOM", moved, 1);
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    atn_wisdom_close(wisdom);
    assert_int_equal(access(moved, F_OK), 0);
    kit_ok(ctx, atn_wisdom_open(ctx, given, false, &wisdom));
    atn_wisdom_close(wisdom);
    assert_int_equal(access(given, F_OK), 0);
    atn_ctx_free(ctx);
    kit_setenv("ATTUNE_WISDOM", before);
    free(folder);
    free(usual);
    free(moved);
    free(given);
    kit_remove(dir);
}

/* Looks at a row of every field. */
static bool check_fields(void *user, const atn_wisdom_row *row) {
    if (strcmp(row->variant, "stage=1") == 0) {
        assert_string_equal(row->outcome, "build");
        assert_string_equal(row->detail, "too many registers");
        assert_true(isinf(row->error)); /* no number was told */
        assert_true(row->seconds == 0);
    } else {
        assert_string_equal(row->variant, "lanes_p0=16");
        assert_string_equal(row->outcome, "right");
        assert_true(row->seconds == 0.5 && row->low == 0.45 && row->high == 0.55 && row->error == 0.25);
        assert_int_equal(row->samples, 7);
        assert_int_equal(row->starts, 2);
        assert_int_equal(row->code.high, 5);
        assert_int_equal(row->code.low, 6);
        assert_int_equal(strlen(row->when), 24);
    }
    return ++*(int *)user < 2;
}

KIT_TEST(begins_and_ends) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    int64_t starts;
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    kit_ok(ctx, atn_wisdom_begin(wisdom, &key, "lanes_p0=16", &starts));
    assert_int_equal(starts, 1);
    kit_ok(ctx, atn_wisdom_begin(wisdom, &key, "lanes_p0=16", &starts));
    assert_int_equal(starts, 2);
    assert_int_equal(wkit_rows(ctx, wisdom, &key).right, 0);
    wkit_tell(ctx, wisdom, &key, "lanes_p0=16", 0.5);
    atn_wisdom_row failed = {
        .variant = "stage=1", .outcome = "build", .detail = "too many registers", .seconds = INFINITY, .error = NAN};
    kit_ok(ctx, atn_wisdom_tell(wisdom, &key, &failed));
    failed.outcome = "odd";
    kit_fails(ctx, ATN_ERR_INPUT, "'odd' is not an outcome", atn_wisdom_tell(wisdom, &key, &failed));
    atn_wisdom_close(wisdom);

    kit_ok(ctx, atn_wisdom_open(ctx, NULL, true, &wisdom)); /* all of it is there for the next process */
    int seen = 0;
    kit_ok(ctx, atn_wisdom_rows(wisdom, &key, check_fields, &seen));
    assert_int_equal(seen, 2);
    kit_fails(ctx, ATN_ERR_IO, "may not be written to", atn_wisdom_begin(wisdom, &key, "", &starts));
    atn_wisdom_key other = key;
    other.space.low = 77;
    assert_int_equal(wkit_rows(ctx, wisdom, &other).rows, 0);
    wkit_sound(ctx, wisdom);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

/* NULL is "", sizes behind n_shape do not count, and neither does the kernel's name. */
KIT_TEST(equal_keys_are_one) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key(), same = key;
    int64_t starts;
    same.compiler = same.threads = NULL;
    same.kernel = "otherwise";
    same.shape[4] = 99;
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    kit_ok(ctx, atn_wisdom_begin(wisdom, &key, "", &starts));
    kit_ok(ctx, atn_wisdom_begin(wisdom, &same, "", &starts));
    assert_int_equal(starts, 2);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

KIT_TEST(crowns) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    wkit_crown(ctx, wisdom, &key, "lanes_p0=16", 0.5);
    wkit_crown(ctx, wisdom, &key, "lanes_p0=32", 0.75); /* the last word counts, even if slower */
    atn_hit hit;
    kit_ok(ctx, atn_wisdom_find(ctx, wisdom, &key, &hit));
    assert_int_equal(hit.kind, ATN_HIT_EXACT);
    assert_string_equal(hit.variant, "lanes_p0=32");
    assert_string_equal(hit.device, "Sample 9000");
    assert_int_equal(hit.n_shape, 3);
    assert_int_equal(hit.shape[2], 512);
    assert_true(hit.distance == 0 && hit.seconds == 0.75 && hit.fraction_of_peak == 0.5);
    atn_hit_free(&hit);
    atn_wisdom_winner nobody = {.variant = ""};
    kit_fails(ctx, ATN_ERR_INPUT, "must have been measured", atn_wisdom_crown(wisdom, &key, &nobody));
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

/* Ctrl-C: nothing new is begun, but what was measured is kept. */
KIT_TEST(cancelled) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom, *other;
    atn_wisdom_key key = wkit_key();
    int64_t starts;
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    kit_ok(ctx, atn_wisdom_begin(wisdom, &key, "", &starts));
    atn_ctx_cancel(ctx);
    kit_fails(ctx, ATN_ERR_CANCELLED, "", atn_wisdom_begin(wisdom, &key, "", &starts));
    kit_fails(ctx, ATN_ERR_CANCELLED, "", atn_wisdom_open(ctx, NULL, false, &other));
    wkit_tell(ctx, wisdom, &key, "", 0.5);
    wkit_crown(ctx, wisdom, &key, "", 0.5);
    assert_int_equal(wkit_rows(ctx, wisdom, &key).right, 1);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

KIT_TEST(pareto) {
    atn_wisdom_row rows[] = {{.outcome = "right", .seconds = 2, .error = 0.5},
                             {.outcome = "right", .seconds = 1, .error = 0.9},
                             {.outcome = "right", .seconds = 3, .error = 0.5}, /* slower than the first */
                             {.outcome = "wrong", .seconds = 0.1, .error = 9},
                             {.outcome = "right", .seconds = 4, .error = 0.1},
                             {.outcome = "right", .seconds = 1, .error = 0.9}, /* an equal one */
                             {.outcome = "right", .seconds = 1, .error = 0.95},
                             {.outcome = "right", .seconds = 0, .error = 0}}; /* not measured */
    static const bool wanted[] = {true, true, false, false, true, true, false, false};
    bool front[8];
    assert_int_equal(atn_wisdom_pareto(rows, 8, front), 4);
    assert_memory_equal(front, wanted, sizeof front);
    assert_int_equal(atn_wisdom_pareto(rows, 0, front), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_yet),        cmocka_unit_test(lies_where_it_should),
        cmocka_unit_test(begins_and_ends), cmocka_unit_test(equal_keys_are_one),
        cmocka_unit_test(crowns),          cmocka_unit_test(cancelled),
        cmocka_unit_test(pareto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
