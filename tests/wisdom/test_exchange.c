/* Export and import: a round trip loses nothing, a fault anywhere changes nothing, merging keeps what is better. */
#include "wisdomkit.h"

#include "wisdom/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_wisdom *fresh(const atn_ctx *ctx) {
    atn_wisdom *wisdom;
    kit_ok(ctx, atn_wisdom_open_memory(ctx, "memory", &wisdom));
    return wisdom;
}

/* Two keys, one of them without a winner, with failures and odd texts. */
static atn_wisdom *sample(const atn_ctx *ctx) {
    atn_wisdom *wisdom = fresh(ctx);
    atn_wisdom_key key = wkit_key(), host = wkit_key_of_shape(7, 0, INT64_MAX);
    int64_t starts;
    host.kernel = "spmv \"quoted\"\\ \n ü";
    host.graph.high = UINT64_MAX;
    host.backend = "host";
    host.device = "CPU \xff of bytes"; /* no UTF-8 */
    host.n_shape = 6;
    host.reproducible = true;
    wkit_tell(ctx, wisdom, &key, "lanes_p0=16", 0.1);
    wkit_tell(ctx, wisdom, &key, "lanes_p0=32", 1.0 / 3);
    wkit_crown(ctx, wisdom, &key, "lanes_p0=16", 0.1);
    atn_wisdom_row failed = {.variant = "stage=1", .outcome = "wrong", .detail = "off by\ttwo\n", .error = INFINITY};
    kit_ok(ctx, atn_wisdom_tell(wisdom, &host, &failed));
    kit_ok(ctx, atn_wisdom_begin(wisdom, &host, "", &starts));
    return wisdom;
}

static char *exported(const atn_ctx *ctx, atn_wisdom *wisdom, atn_wisdom_counts *counts) {
    atn_wisdom_filter all = {0};
    atn_text text = {.ctx = ctx};
    kit_ok(ctx, atn_store_export(ctx, wisdom, &all, &text, counts));
    char *copy = strdup(atn_text_str(&text));
    atn_text_free(&text);
    return copy;
}

KIT_TEST(round_trip) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = sample(ctx), *copy = fresh(ctx);
    atn_wisdom_counts counts;
    char *text = exported(ctx, wisdom, &counts), *again, *none = exported(ctx, NULL, NULL);
    assert_int_equal(counts.entries, 2);
    assert_int_equal(counts.measurements, 4);
    assert_int_equal(counts.winners, 1);
    kit_ok(ctx, atn_store_import(copy, "text", text, strlen(text), &counts));
    assert_int_equal(counts.entries, 2);
    assert_int_equal(counts.taken, 5);
    again = exported(ctx, copy, NULL);
    assert_string_equal(text, again);
    kit_ok(ctx, atn_store_import(copy, "text", text, strlen(text), &counts)); /* again: nothing is new */
    assert_int_equal(counts.measurements, 4);
    assert_int_equal(counts.taken, 0);
    kit_ok(ctx, atn_store_import(copy, "none", none, strlen(none), &counts));
    assert_int_equal(counts.entries, 0);
    wkit_sound(ctx, copy);
    free(text);
    free(again);
    free(none);
    atn_wisdom_close(wisdom);
    atn_wisdom_close(copy);
    kit_free(ctx);
}

static void refused(const atn_ctx *ctx, atn_wisdom *wisdom, const char *text, size_t length, const char *part) {
    char *before = exported(ctx, wisdom, NULL);
    kit_fails(ctx, ATN_ERR_INPUT, part, atn_store_import(wisdom, "file.json", text, length, NULL));
    assert_null(strchr(atn_ctx_message(ctx), '\n'));
    kit_contains(atn_ctx_message(ctx), "file.json: ");
    char *after = exported(ctx, wisdom, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

KIT_TEST(cut_short) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = sample(ctx), *other = fresh(ctx);
    atn_wisdom_key key = wkit_key_of_shape(1, 2, 3);
    wkit_crown(ctx, other, &key, "stage=1", 1);
    char *text = exported(ctx, wisdom, NULL);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length - 1; cut += 7) refused(ctx, other, text, cut, "broken JSON");
    free(text);
    atn_wisdom_close(wisdom);
    atn_wisdom_close(other);
    kit_free(ctx);
}

/* The text with the first `from` replaced. */
static char *changed(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (!at) fail_msg("%s is not in it", from);
    char *copy = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(copy);
    sprintf(copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return copy;
}

KIT_TEST(every_member_is_checked) {
    static const struct {
        const char *from, *to, *part;
    } cases[] = {
        {"\"version\":1", "\"version\":2", "of a newer attune (version 2, this one reads 1)"},
        {"\"version\":1", "\"version\":0", "'version' is not what it should be"},
        {"\"version\":1", "\"version\":\"1\"", "'version' is not what it should be"},
        {"attune wisdom", "soup", "this is not exported wisdom"},
        {"\"entries\":[", "\"entry\":[", "'entries' is missing"},
        {"\"attune\":", "\"attuned\":", "'attune' is missing"},
        {"{\"format\"", "{\"more\":1,\"format\"", "'more' is not known"},
        {"{\"kernel\"", "7,{\"kernel\"", "entry 1: an object is expected"},
        {"\"kernel\":\"gemm\"", "\"kernel\":7", "entry 1: 'kernel' is not what it should be: a text"},
        {"\"graph\":\"0", "\"graph\":\"x", "'graph' is not what it should be: 32 hexadecimal digits"},
        {"\"graph\":\"0", "\"graph\":\"", "'graph' is not what it should be"},
        {"\"device\":{", "\"device\":[],\"x\":{", "'x' is not known"},
        {"\"backend\":", "\"backed\":", "entry 1: device: 'backend' is missing; a text is expected"},
        {"\"arch\":", "\"more\":1,\"arch\":", "device: 'more' is not known"},
        {"[1024,1024,512]", "[1024,-1,512]", "'shape' is not what it should be: at most 6 whole numbers"},
        {"[1024,1024,512]", "[1,2,3,4,5,6,7]", "'shape' is not what it should be"},
        {"[1024,1024,512]", "1024", "'shape' is not what it should be"},
        {"[1024,1024,512]", "[1024,1024.5]", "'shape' is not what it should be"},
        {"\"reproducible\":false", "\"reproducible\":0", "'reproducible' is not what it should be: true or false"},
        {"\"winner\":{", "\"winner\":{\"variant\":\"\",", "line 2, column"},
        {"\"runner_up\":\"stage=1\",\"seconds\":0.10000000000000001", "\"runner_up\":\"\",\"seconds\":0",
         "a winner must have been"},
        {"\"runner_up\":", "\"second\":", "entry 1: winner: 'runner_up' is missing"},
        {"\"winner\":{", "\"winner\":7,\"more\":{", "'more' is not known"},
        {"\"tried\":12", "\"tried\":-12", "winner: 'tried' is not what it should be: a whole number from 0"},
        {"\"measurements\":[", "\"measurements\":7,\"more\":[", "'more' is not known"},
        {"\"samples\":7", "\"samples\":7.5", "entry 1: measurement 1: 'samples' is not what it should be"},
        {"\"outcome\":\"right\"", "\"outcome\":\"fine\"", "right, wrong, build, crash, hang, memory or started"},
        {"\"error\":0.25", "\"error\":-1", "'error' is not what it should be: a number from 0, or null"},
        {"\"seconds\":0.3333", "\"seconds\":-0.3333", "measurement 2: 'seconds' is not what it should be"},
        {"\"seconds\":0.3333", "\"seconds\":1e999,\"s\":0.3333", "broken JSON"},
        {"Z\"}", "\"}", "'when' is not what it should be: a time like"},
        {"\"when\":\"2", "\"when\":\"x", "'when' is not what it should be"},
        {"\"dropped\":false", "\"dropped\":null", "'dropped' is not what it should be"},
        {"]}\n", "]}\nmore", "broken JSON"},
    };
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = fresh(ctx), *other = fresh(ctx);
    atn_wisdom_key key = wkit_key(), second = wkit_key_of_shape(1, 2, 3);
    wkit_tell(ctx, wisdom, &key, "lanes_p0=16", 0.1);
    wkit_tell(ctx, wisdom, &key, "lanes_p0=32", 1.0 / 3);
    wkit_crown(ctx, wisdom, &key, "lanes_p0=16", 0.1);
    wkit_crown(ctx, other, &second, "stage=1", 1);
    char *text = exported(ctx, wisdom, NULL);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char *wrong = changed(text, cases[k].from, cases[k].to);
        refused(ctx, other, wrong, strlen(wrong), cases[k].part);
        free(wrong);
    }
    refused(ctx, other, "[]", 2, "this is not exported wisdom");
    free(text);
    atn_wisdom_close(wisdom);
    atn_wisdom_close(other);
    kit_free(ctx);
}

/* Several files are one import: a fault in the last takes back the first. */
KIT_TEST(all_or_nothing) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = sample(ctx), *other = fresh(ctx);
    char *text = exported(ctx, wisdom, NULL), *none = exported(ctx, other, NULL);
    atn_wisdom_source sources[] = {{"one.json", text, strlen(text)}, {"two.json", "{", 1}};
    kit_fails(ctx, ATN_ERR_INPUT, "two.json: line 1, column", atn_store_import_all(other, sources, 2, NULL));
    char *after = exported(ctx, other, NULL);
    assert_string_equal(after, none);
    atn_ctx_cancel(ctx);
    kit_fails(ctx, ATN_ERR_CANCELLED, "", atn_store_import(other, "one.json", text, strlen(text), NULL));
    free(text);
    free(none);
    free(after);
    atn_wisdom_close(wisdom);
    atn_wisdom_close(other);
    kit_free(ctx);
}

KIT_TEST(merging) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *here = fresh(ctx), *there = fresh(ctx);
    atn_wisdom_key key = wkit_key();
    int64_t starts;
    /* there, in 2001: a faster winner, and an end that is not known here */
    wkit_crown(ctx, there, &key, "lanes_p0=16", 0.1);
    wkit_tell(ctx, there, &key, "stage=1", 5);
    wkit_tell(ctx, there, &key, "stage=2", 6);
    assert_int_equal(sqlite3_exec(there->db,
                                  "UPDATE winners SET at='2001-01-01T00:00:00.000Z';"
                                  "UPDATE measurements SET at='2001-01-01T00:00:00.000Z', starts=9",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    char *text = exported(ctx, there, NULL);
    /* here, now */
    wkit_crown(ctx, here, &key, "lanes_p0=32", 0.2);
    kit_ok(ctx, atn_wisdom_begin(here, &key, "stage=1", &starts));
    wkit_tell(ctx, here, &key, "stage=2", 7);
    atn_wisdom_counts counts;
    kit_ok(ctx, atn_store_import(here, "there", text, strlen(text), &counts));
    assert_int_equal(counts.taken, 2);
    assert_int_equal(wkit_find(ctx, here, &key, "lanes_p0=16"), ATN_HIT_EXACT); /* the faster one */
    wkit_count rows = wkit_rows(ctx, here, &key);
    assert_int_equal(rows.rows, 2);
    assert_int_equal(rows.right, 2);  /* a known end beats a start */
    assert_int_equal(rows.starts, 9); /* 9 of stage=1; none of stage=2, which is newer here */
    assert_true(rows.seconds == 7);
    wkit_crown(ctx, here, &key, "lanes_p0=8", 0.01);
    kit_ok(ctx, atn_store_import(here, "there", text, strlen(text), &counts));
    assert_int_equal(counts.taken, 0);
    assert_int_equal(wkit_find(ctx, here, &key, "lanes_p0=8"), ATN_HIT_EXACT); /* ours is faster: it stays */
    free(text);
    atn_wisdom_close(here);
    atn_wisdom_close(there);
    kit_free(ctx);
}

KIT_TEST(winners_alone) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = sample(ctx), *copy = fresh(ctx);
    atn_wisdom_filter winners = {.winners = true};
    atn_wisdom_counts counts;
    atn_text text = {.ctx = ctx};
    kit_ok(ctx, atn_store_export(ctx, wisdom, &winners, &text, &counts));
    assert_int_equal(counts.entries, 1);
    assert_int_equal(counts.winners, 1);
    assert_int_equal(counts.measurements, 0);
    kit_ok(ctx, atn_store_import(copy, "text", atn_text_str(&text), text.length, &counts));
    assert_int_equal(counts.taken, 1);
    atn_text_free(&text);
    atn_wisdom_close(wisdom);
    atn_wisdom_close(copy);
    kit_free(ctx);
}

/* ---- entries ---- */

typedef struct seen {
    int count, stale;
    char last[64]; /* why it is stale */
} seen;

static bool see(void *user, const atn_wisdom_entry *entry) {
    seen *s = user;
    ++s->count;
    s->stale += entry->stale != NULL;
    if (entry->stale) snprintf(s->last, sizeof s->last, "%s", entry->stale);
    return true;
}

static seen look(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_filter *filter) {
    seen s = {0};
    kit_ok(ctx, atn_wisdom_entries(wisdom, filter, see, &s));
    return s;
}

KIT_TEST(filters_and_forgetting) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = fresh(ctx);
    atn_wisdom_key key = wkit_key(), old = key, driver = key, host = key;
    old.generator = "0";
    driver.driver = "540.0";
    host.backend = "host";
    host.device = "Some CPU";
    host.kernel = "dot";
    host.graph.low = 9;
    atn_wisdom_key *all[] = {&key, &old, &driver, &host};
    for (size_t k = 0; k < 4; ++k) wkit_crown(ctx, wisdom, all[k], "stage=1", 1);
    atn_wisdom_key now[] = {key};
    atn_wisdom_filter filter = {0};
    assert_int_equal(look(ctx, wisdom, &filter).count, 4);
    assert_int_equal(look(ctx, wisdom, &filter).stale, 0); /* nothing is known of now */
    filter.now = (atn_wisdom_now){.generator = "1", .devices = now, .n_devices = 1};
    assert_int_equal(look(ctx, wisdom, &filter).stale, 2);
    filter.kernel = "dot";
    assert_int_equal(look(ctx, wisdom, &filter).count, 1);
    filter.kernel = NULL;
    filter.device = "sample";
    assert_int_equal(look(ctx, wisdom, &filter).count, 3);
    filter.device = "host";
    assert_int_equal(look(ctx, wisdom, &filter).count, 1);
    filter.device = NULL;
    filter.stale = true;
    seen s = look(ctx, wisdom, &filter);
    assert_int_equal(s.count, 2);
    kit_contains("another generator, another driver", s.last);
    atn_wisdom_counts counts;
    kit_ok(ctx, atn_store_forget(wisdom, &filter, &counts));
    assert_int_equal(counts.entries, 2);
    assert_int_equal(counts.winners, 2);
    filter.stale = false;
    assert_int_equal(look(ctx, wisdom, &filter).count, 2);
    wkit_sound(ctx, wisdom);
    kit_ok(ctx, atn_store_forget(wisdom, &filter, NULL));
    assert_int_equal(look(ctx, wisdom, &filter).count, 0);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

/* ---- verifying ---- */

static void keep_problem(void *user, const char *line) {
    atn_text_add(user, line);
    atn_text_add(user, "\n");
}

KIT_TEST(problems_are_named) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = sample(ctx);
    static const struct {
        const char *sql, *line;
    } cases[] = {
        {"UPDATE measurements SET variant='soup=1' WHERE variant='stage=1'",
         "a variant 'soup=1': variant: unknown knob"},
        {"UPDATE measurements SET outcome='odd' WHERE variant='lanes_p0=16'",
         "gemm on Sample 9000: 'odd' is not an outcome"},
        {"UPDATE measurements SET low=9 WHERE variant='lanes_p0=32'", "lanes_p0=32: 0.333333 s, from 9 s to"},
        {"UPDATE winners SET variant='stage=77'", "the winner 'stage=77': variant: stage=77: expected 0 to 4"},
        {"PRAGMA foreign_keys=OFF; INSERT INTO winners SELECT 12345,variant,runner_up,seconds,low,high,"
         "runner_up_ratio,tie,fallback_seconds,fraction_of_peak,tried,at FROM winners",
         "row 12345 of winners belongs to a row of keys that is not there"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        assert_int_equal(sqlite3_exec(wisdom->db, cases[k].sql, NULL, NULL, NULL), SQLITE_OK);
        atn_text lines = {.ctx = ctx};
        kit_ok(ctx, atn_wisdom_verify(wisdom, NULL, keep_problem, &lines));
        kit_contains(atn_text_str(&lines), cases[k].line);
        atn_text_free(&lines);
    }
    atn_wisdom_now later = {.generator = "99"}; /* variants of another generator are not judged */
    atn_text lines = {.ctx = ctx};
    kit_ok(ctx, atn_wisdom_verify(wisdom, &later, keep_problem, &lines));
    assert_null(strstr(atn_text_str(&lines), "unknown knob"));
    atn_text_free(&lines);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(every_member_is_checked),
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(merging),
        cmocka_unit_test(winners_alone),
        cmocka_unit_test(filters_and_forgetting),
        cmocka_unit_test(problems_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
