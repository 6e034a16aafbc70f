/* Recorded spaces: what the readers take, what they refuse and how they say it; files cut at every byte, packed and
 * not; T4 there and back; lack of memory. */
#include "base/file.h"
#include "base/memory.h"
#include "spacekit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char CACHE[] =
    "{\n\"device_name\": \"a \\\"device\\\"\",\n\"tune_params_keys\": [\n\"block\",\n\"on\",\n\"kind\"\n],\n"
    "\"tune_params\": {\"block\": [32, 16], \"on\": [true, false], \"kind\": [\"b\", \"a\\u00e9\"]},\n\"cache\": {\n"
    "\"32,true,b\": {\"block\": 32, \"on\": true, \"kind\": \"b\", \"time\": 2.5, \"times\": [2.5, 2.5]},\n"
    "\"16,true,b\": {\"block\": 16, \"on\": true, \"kind\": \"b\", \"time\": \"RuntimeFailedConfig\"},\n"
    "\"32,false,a\": {\"kind\": \"a\\u00e9\", \"block\": 32, \"on\": false, \"time\": 1.25, \"x\": {\"y\": [{}]}},\n"
    "\"16,false,a\": {\"block\": 16, \"on\": false, \"kind\": \"a\\u00e9\", \"time\": \"CompilationFailedConfig\"}";
static const char CACHE_END[] = "}\n}\n";

static const char T4[] =
    "{\"metadata\": {\"timeunit\": \"miliseconds\"}, \"results\": [\n"
    "{\"configuration\": {\"block\": 32, \"on\": true, \"kind\": \"b\"}, \"times\": {\"runtimes\": "
    "[2, 3]}, \"invalidity\": \"correct\", \"measurements\": [{\"name\": \"time\", \"value\": 2.5}]},\n"
    "{\"configuration\": {\"block\": 16, \"on\": true, \"kind\": \"b\"}, \"invalidity\": \"runtime\", "
    "\"measurements\": [{\"name\": \"time\", \"value\": \"RuntimeFailedConfig\"}]},\n"
    "{\"configuration\": {\"block\": 32, \"on\": false, \"kind\": \"a\\u00e9\"}, \"invalidity\": "
    "\"correct\", \"times\": {\"runtimes\": [1, 1.5]}, \"measurements\": []},\n"
    "{\"configuration\": {\"block\": 16, \"on\": false, \"kind\": \"a\\u00e9\"}, \"invalidity\": "
    "\"compile\"}\n], \"schema_version\": \"1.0.0\"}";

/* A context that counts its warnings. */
static kit_log warnings;
static atn_ctx *listening(void) {
    atn_ctx_settings options = {.log = kit_log_line, .log_user = &warnings};
    atn_ctx *ctx;
    warnings = (kit_log){0};
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    return ctx;
}

static void check_points(const atn_recorded *r) {
    assert_int_equal(atn_recorded_parameters(r), 3);
    assert_string_equal(atn_recorded_parameter(r, 0), "block");
    assert_string_equal(atn_recorded_parameter(r, 2), "kind");
    assert_int_equal(atn_recorded_levels(r, 0), 2);
    assert_true(atn_recorded_level(r, 0, 0)->number == 16); /* ascending */
    assert_int_equal(atn_recorded_level(r, 1, 1)->kind, ATN_SCALAR_BOOL);
    assert_string_equal(atn_recorded_level(r, 2, 0)->text, "b"); /* as they come */
    assert_string_equal(atn_recorded_level(r, 2, 1)->text, "a\xc3\xa9");
    assert_int_equal(atn_recorded_points(r), 4);
    static const atn_outcome OUTCOME[] = {ATN_OUTCOME_RIGHT, ATN_OUTCOME_CRASH, ATN_OUTCOME_RIGHT, ATN_OUTCOME_BUILD};
    static const double SECONDS[] = {2.5e-3, INFINITY, 1.25e-3, INFINITY};
    for (int k = 0; k < 4; ++k) {
        atn_score score = atn_recorded_score(r, k);
        assert_int_equal(score.outcome, OUTCOME[k]);
        assert_true(score.usable == (OUTCOME[k] == ATN_OUTCOME_RIGHT));
        assert_true(score.seconds == SECONDS[k] || fabs(score.seconds - SECONDS[k]) < 1e-15);
        assert_int_equal(atn_recorded_find(r, atn_recorded_point(r, k)), k);
    }
    assert_int_equal(atn_recorded_point(r, 0)[0], 1); /* 32 */
    assert_int_equal(atn_recorded_find(r, (const int32_t[]){0, 0, 0}), -1);
    atn_domain domain = atn_recorded_domain(r);
    assert_true(domain.ordered[0] && domain.ordered[1] && !domain.ordered[2]);
    assert_true(domain.number[0][1] == 32 && domain.number[2][1] == 1);
}

KIT_TEST(both_forms) {
    atn_ctx *ctx = listening();
    atn_recorded *r;
    char whole[2048];
    snprintf(whole, sizeof whole, "\xef\xbb\xbf%s%s", CACHE, CACHE_END);
    kit_ok(ctx, atn_recorded_parse(ctx, "whole", whole, strlen(whole), &r));
    check_points(r);
    atn_recorded_free(r);
    /* as a run leaves it: without the last braces, with or without a comma */
    kit_ok(ctx, atn_recorded_parse(ctx, "open", CACHE, strlen(CACHE), &r));
    check_points(r);
    atn_recorded_free(r);
    snprintf(whole, sizeof whole, "%s,\n", CACHE);
    kit_ok(ctx, atn_recorded_parse(ctx, "comma", whole, strlen(whole), &r));
    check_points(r);
    atn_recorded_free(r);
    kit_ok(ctx, atn_recorded_parse(ctx, "t4", T4, strlen(T4), &r));
    check_points(r);
    atn_recorded_free(r);
    assert_int_equal(warnings.warnings, 0);
    atn_ctx_free(ctx);
}

/* ---- cut ---- */

static size_t pack(const char *text, size_t length, char *to, size_t room) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text,
                       .avail_in = (uInt)length,
                       .next_out = (Bytef *)to,
                       .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

/* What lies before byte `length` in whole entries: each ends with "},\n", the last with the text. */
static int64_t whole_entries(const char *text, size_t length, const char *end) {
    const char *at = strstr(text, "\"32,true,b\"") ? strstr(text, "\"32,true,b\"") : strstr(text, "{\"configuration\"");
    int64_t n = 0;
    while (n < 3 && (at = strstr(at, "},\n")) && (size_t)(at - text) < length) {
        ++n;
        at += 3;
    }
    return n + (n == 3 && (size_t)(strstr(text, end) + strlen(end) - text) <= length);
}

static void cut_at(atn_ctx *ctx, const char *text, size_t length, int64_t expected) {
    atn_recorded *r;
    char *exact = malloc(length + 1); /* so that reading behind the end is seen */
    memcpy(exact, text, length);
    warnings.warnings = 0;
    atn_status status = atn_recorded_parse(ctx, "cut", exact, length, &r);
    free(exact);
    if (expected == 0) {
        if (status != ATN_ERR_INPUT) fail_msg("cut at byte %zu: %s", length, atn_status_name(status));
        assert_null(r);
        assert_null(strchr(atn_ctx_message(ctx), '\n'));
        return;
    }
    if (status) fail_msg("cut at byte %zu: %s", length, atn_ctx_message(ctx));
    if (expected > 0 && atn_recorded_points(r) != expected)
        fail_msg("cut at byte %zu: %lld entries", length, (long long)atn_recorded_points(r));
    atn_recorded_free(r);
}

KIT_TEST(cut_anywhere) {
    atn_ctx *ctx = listening();
    static const char LAST_CACHE[] = "\"CompilationFailedConfig\"}", LAST_T4[] = "\"compile\"}";
    for (size_t k = 0; k <= strlen(CACHE); ++k) cut_at(ctx, CACHE, k, whole_entries(CACHE, k, LAST_CACHE));
    for (size_t k = 0; k <= strlen(T4); ++k) {
        int64_t n = whole_entries(T4, k, LAST_T4);
        cut_at(ctx, T4, k, n);
        if (n > 0 && k < strlen(T4)) assert_int_equal(warnings.warnings, 1);
    }
    cut_at(ctx, CACHE, strlen(CACHE) - 5, 3);
    assert_int_equal(warnings.warnings, 1);
    kit_contains(warnings.last, "the 3 entries that are whole");
    atn_ctx_free(ctx);
}

KIT_TEST(cut_packed) {
    atn_ctx *ctx = listening();
    char packed[4096];
    size_t length = pack(CACHE, strlen(CACHE), packed, sizeof packed);
    atn_recorded *r;
    kit_ok(ctx, atn_recorded_parse(ctx, "packed", packed, length, &r));
    check_points(r);
    atn_recorded_free(r);
    int64_t before = 0;
    for (size_t k = 0; k < length; ++k) {
        warnings.warnings = 0;
        atn_status status = atn_recorded_parse(ctx, "packed", packed, k, &r);
        int64_t n = status ? 0 : atn_recorded_points(r);
        assert_true(status ? status == ATN_ERR_INPUT : warnings.warnings == 1);
        assert_true(n >= before);
        before = n;
        atn_recorded_free(r);
    }
    assert_int_equal(before, 4);
    /* one byte changed: refused, or it changes what is read; never more */
    for (size_t k = 0; k < length; ++k) {
        packed[k] ^= 0x55;
        atn_status status = atn_recorded_parse(ctx, "packed", packed, length, &r);
        assert_true(status == ATN_OK || status == ATN_ERR_INPUT);
        atn_recorded_free(r);
        packed[k] ^= 0x55;
    }
    atn_ctx_free(ctx);
}

/* ---- refused, and taken ---- */

static void refuse(atn_ctx *ctx, const char *text, const char *part) {
    atn_recorded *r;
    kit_fails(ctx, ATN_ERR_INPUT, part, atn_recorded_parse(ctx, "bad.json", text, strlen(text), &r));
    assert_null(r);
    kit_contains(atn_ctx_message(ctx), "bad.json: ");
}

#define KEYS "{\"tune_params_keys\": [\"a\"], \"cache\": "
KIT_TEST(wrong_files) {
    atn_ctx *ctx = listening();
    refuse(ctx, "", "is not a recorded space");
    refuse(ctx, "[1, 2]", "is not a recorded space");
    refuse(ctx, "{\"a\": 1}", "is not a recorded space");
    refuse(ctx, "{\"cache\": {}}", "\"tune_params_keys\" is missing");
    refuse(ctx, "{\"cache\": {\"x\": {\"a\": 1}}}", "\"tune_params_keys\" is missing");
    refuse(ctx, "{\"tune_params_keys\": [\"a\", \"a\"], \"cache\": {}}", "named twice");
    refuse(ctx, "{\"tune_params_keys\": [3], \"cache\": {}}", "not a name");
    refuse(ctx, KEYS "{}}", "has no entry");
    refuse(ctx, KEYS "[]}", "no JSON at byte 37");
    refuse(ctx, KEYS "{\"x\": {\"a\": 1, \"time\": 1} \"y\": 3}}", "no JSON at byte");
    refuse(ctx, KEYS "{\"x\": {\"a\": 1, \"time\": 1e}}}", "no JSON at byte");
    refuse(ctx, KEYS "{\"x\": {\"a\": 1, \"y\": [1}, \"time\": 1}}}", "no JSON at byte");
    refuse(ctx, KEYS "{\"x\": {\"a\": 1, \"y\": \"\\q\", \"a\": \"\\q\"}}}", "no JSON at byte");
    refuse(ctx, KEYS "{\"x\": {\"time\": 1}}}", "entry 1 has no value of 'a'");
    refuse(ctx, KEYS "{\"x\": {\"a\": null, \"time\": 1}}}", "is not a number, text or bool");
    refuse(ctx, KEYS "{\"x\": {\"a\": [1], \"time\": 1}}}", "is not a number, text or bool");
    refuse(ctx, KEYS "{\"x\": {\"a\": NaN, \"time\": 1}}}", "is not a number, text or bool");
    refuse(ctx, KEYS "{\"x\": {\"a\": 1, \"ti", "is cut before its first entry ends");
    refuse(ctx, "{\"results\": []}", "has no entry");
    refuse(ctx, "{\"results\": [{\"configuration\": {}}]}", "no parameters");
    refuse(ctx, "{\"results\": {}}", "no JSON at byte");
    refuse(ctx, "{\"results\": [{\"invalidity\": \"correct\"}]}", "no \"configuration\"");
    refuse(ctx, "{\"results\": [{\"configuration\": {\"a\": 1}}, {\"configuration\": {\"b\": 1}}]}",
           "entry 2 has a parameter 'b'");
    char deep[4096] = "{\"x\": ";
    memset(deep + 6, '[', 2000);
    refuse(ctx, deep, "is not a recorded space");
    atn_recorded *r;
    kit_fails(ctx, ATN_ERR_IO, "nowhere", atn_recorded_read(ctx, "/nowhere/at/all.json", &r));
    kit_fails(ctx, ATN_ERR_INPUT, "directory", atn_recorded_read(ctx, "/", &r));
    atn_ctx_free(ctx);
}

static atn_recorded *take(atn_ctx *ctx, const char *text) {
    atn_recorded *r;
    kit_ok(ctx, atn_recorded_parse(ctx, "odd", text, strlen(text), &r));
    return r;
}

KIT_TEST(odd_files) {
    atn_ctx *ctx = listening();
    /* the parameters behind the cache; a point that comes again; times that are none */
    atn_recorded *r =
        take(ctx, "{\"cache\": {\"x\": {\"a\": 1, \"time\": 5}, \"y\": {\"a\": 2.5, \"time\": NaN}, "
                  "\"z\": {\"a\": 1.0, \"time\": 7}, \"w\": {\"a\": -3, \"time\": 1e20}, "
                  "\"v\": {\"a\": 4}, \"u\": {\"a\": \"1\", \"time\": 2}}, \"tune_params_keys\": [\"a\"]}");
    assert_int_equal(atn_recorded_points(r), 5);
    assert_true(fabs(atn_recorded_score(r, 0).seconds - 7e-3) < 1e-15);
    for (int k = 1; k < 4; ++k) assert_int_equal(atn_recorded_score(r, k).outcome, ATN_OUTCOME_CRASH);
    assert_false(atn_recorded_domain(r).ordered[0]); /* a text among numbers */
    atn_recorded_free(r);
    /* the unit behind the results */
    r = take(ctx,
             "{\"results\": [{\"configuration\": {\"a\": 1}, \"measurements\": [{\"value\": 3, \"name\": \"power\"}, "
             "{\"value\": 5, \"name\": \"time\"}]}], \"metadata\": {\"timeunit\": \"microseconds\"}}");
    assert_true(fabs(atn_recorded_score(r, 0).seconds - 5e-6) < 1e-15);
    atn_recorded_free(r);
    r = take(ctx, "{\"tune_params_keys\": [\"\\ud83d\\ude00\"], \"cache\": {\"x\": {\"\\ud83d\\ude00\": \"\\ud83d\", "
                  "\"time\": 1}}}");
    assert_string_equal(atn_recorded_parameter(r, 0), "\xf0\x9f\x98\x80");
    assert_string_equal(atn_recorded_level(r, 0, 0)->text, "\xef\xbf\xbd");
    atn_recorded_free(r);
    atn_ctx_free(ctx);
}

/* ---- there and back ---- */

KIT_TEST(round_trip) {
    atn_ctx *ctx = listening();
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/out.json", dir);
    for (const kit_space *space = KIT_SPACES; space->name; ++space) {
        atn_recorded *before = kit_space_record(ctx, space), *after;
        if (!atn_recorded_points(before)) {
            atn_recorded_free(before);
            continue;
        }
        kit_ok(ctx, atn_recorded_write_t4(ctx, before, path));
        kit_ok(ctx, atn_recorded_read(ctx, path, &after));
        assert_int_equal(atn_recorded_points(after), atn_recorded_points(before));
        for (int64_t k = 0; k < atn_recorded_points(before); ++k) {
            atn_score a = atn_recorded_score(before, k), b = atn_recorded_score(after, k);
            assert_int_equal(a.outcome, b.outcome);
            assert_true(a.seconds == b.seconds || fabs(a.seconds - b.seconds) <= 1e-15 * a.seconds);
            assert_memory_equal(atn_recorded_point(before, k), atn_recorded_point(after, k),
                                (size_t)space->n_parameters * sizeof(int32_t));
        }
        atn_recorded_free(before);
        atn_recorded_free(after);
    }
    atn_recorded *odd = take(
                     ctx, "{\"tune_params_keys\": [\"a\\\"\\n\"], \"cache\": {\"x\": {\"a\\\"\\n\": \"\\\\\\u0001\", "
                          "\"time\": 1}}}"),
                 *again;
    kit_ok(ctx, atn_recorded_write_t4(ctx, odd, path));
    kit_ok(ctx, atn_recorded_read(ctx, path, &again));
    assert_string_equal(atn_recorded_parameter(again, 0), "a\"\n");
    assert_string_equal(atn_recorded_level(again, 0, 0)->text, "\\\001");
    atn_recorded_free(odd);
    atn_recorded_free(again);
    kit_remove(dir);
    atn_ctx_free(ctx);
}

/* ---- lack of memory ---- */

KIT_TEST(no_memory) {
    char packed[4096];
    size_t length = pack(CACHE, strlen(CACHE), packed, sizeof packed);
    const struct {
        const char *bytes;
        size_t length;
    } FILES[] = {{CACHE, strlen(CACHE)}, {T4, strlen(T4)}, {packed, length}};
    for (size_t f = 0; f < 3; ++f) {
        bool through = false;
        for (long n = 0; !through; ++n) {
            kit_faults faults = {0};
            atn_ctx_settings options = kit_fault_options(&faults);
            atn_ctx *ctx;
            atn_recorded *r;
            assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
            faults.fail_at = n ? faults.count + n : 0;
            atn_status status = atn_recorded_parse(ctx, "x", FILES[f].bytes, FILES[f].length, &r);
            through = n > 0 && faults.count < faults.fail_at;
            if (status != (n == 0 || through ? ATN_OK : ATN_ERR_MEMORY))
                fail_msg("file %zu, allocation %ld: %s", f, n, atn_status_name(status));
            if (!status) check_points(r);
            atn_recorded_free(r);
            faults.fail_at = 0;
            atn_ctx_free(ctx);
            assert_int_equal(faults.live, 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms),  cmocka_unit_test(cut_anywhere), cmocka_unit_test(cut_packed),
        cmocka_unit_test(wrong_files), cmocka_unit_test(odd_files),    cmocka_unit_test(round_trip),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
