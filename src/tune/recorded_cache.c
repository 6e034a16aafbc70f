/* Kernel Tuner's cache: an object that names its parameters ("tune_params_keys") and holds, under "cache", one object
 * for each configuration: the parameters' values and "time" in milliseconds, or a word that says what failed. Runs
 * append to the file and add the last two braces when they end well, so those may be missing. */
#include "tune/recorded_parts.h"

#include <math.h>
#include <string.h>

static const double MILLISECOND = 1e-3, FAILED_TIME = 1e20; /* old versions write failures as such a time */

static const struct {
    const char *word;
    atn_outcome outcome;
} FAILURES[] = {
    {"CompilationFailedConfig", ATN_OUTCOME_BUILD},  {"InvalidConfig", ATN_OUTCOME_BUILD},
    {"RuntimeFailedConfig", ATN_OUTCOME_CRASH},      {"TimeoutConfig", ATN_OUTCOME_HANG},
    {"VerificationFailedConfig", ATN_OUTCOME_WRONG},
};

static atn_outcome outcome_of(const char *word) {
    for (size_t k = 0; k < sizeof FAILURES / sizeof *FAILURES; ++k)
        if (strcmp(FAILURES[k].word, word) == 0) return FAILURES[k].outcome;
    return ATN_OUTCOME_CRASH;
}

/* What is read of one entry, and where. */
typedef struct reader {
    const atn_ctx *ctx;
    const char *name;
    atn_scan *scan;
    atn_recording *recording;
    atn_text key, text;
} reader;

/* ["a", "b"] names parameters. */
static atn_status read_keys(reader *r) {
    bool first = true;
    if (!atn_scan_begin(r->scan, '[')) return atn_recorded_wrong(r->ctx, r->name, r->scan);
    while (atn_scan_next_element(r->scan, &first)) {
        atn_scalar value = atn_scan_scalar(r->scan, &r->text);
        if (r->scan->end != ATN_SCAN_GOES_ON) break;
        if (value.kind != ATN_SCALAR_TEXT)
            return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: \"tune_params_keys\" holds something that is not a name",
                            r->name);
        atn_status status = atn_recording_parameter(r->recording, atn_text_str(&r->text));
        if (status) return status;
    }
    return ATN_OK;
}

static atn_status read_entry(reader *r) {
    bool first = true;
    atn_outcome outcome = ATN_OUTCOME_CRASH; /* an entry without a time did not run */
    double seconds = 0;
    atn_status status = ATN_OK;
    if (!atn_scan_begin(r->scan, '{')) return ATN_OK; /* the caller looks why */
    while (!status && atn_scan_next_member(r->scan, &first, &r->key)) {
        int32_t p = atn_recording_find(r->recording, atn_text_str(&r->key));
        bool is_time = strcmp(atn_text_str(&r->key), "time") == 0;
        if (p < 0 && !is_time) {
            atn_scan_skip(r->scan);
            continue;
        }
        atn_scalar value = atn_scan_scalar(r->scan, &r->text);
        if (r->scan->end != ATN_SCAN_GOES_ON) break;
        if (p >= 0)
            status = atn_recording_set(r->recording, p, &value, atn_text_str(&r->text));
        else if (value.kind == ATN_SCALAR_TEXT)
            outcome = outcome_of(atn_text_str(&r->text));
        else if (value.kind == ATN_SCALAR_NUMBER && value.number > 0 && value.number < FAILED_TIME) {
            outcome = ATN_OUTCOME_RIGHT;
            seconds = value.number * MILLISECOND;
        }
    }
    if (status || r->scan->end != ATN_SCAN_GOES_ON) return status;
    return atn_recording_add(r->recording, outcome, seconds);
}

/* The object under "cache". That its end is missing right behind an entry is how runs leave it: no cut. */
static atn_status read_entries(reader *r) {
    bool first = true;
    if (!atn_scan_begin(r->scan, '{')) return atn_recorded_wrong(r->ctx, r->name, r->scan);
    for (;;) {
        char c = atn_scan_peek(r->scan);
        if (c == ',' && !first) {
            ++r->scan->at;
            first = true; /* its part is behind it, or the end of the bytes is */
            c = atn_scan_peek(r->scan);
        }
        if (!c && r->scan->end == ATN_SCAN_CUT) {
            r->scan->end = ATN_SCAN_GOES_ON;
            return ATN_OK;
        }
        if (!atn_scan_next_member(r->scan, &first, &r->key)) return ATN_OK;
        atn_status status = read_entry(r);
        if (status || r->scan->end != ATN_SCAN_GOES_ON) return status;
        if ((status = atn_check_cancel(r->ctx))) return status;
    }
}

static atn_status read_top(reader *r) {
    bool first = true;
    atn_scan later = {0}; /* at a cache that came before its parameters */
    if (!atn_scan_begin(r->scan, '{')) return ATN_OK;
    while (atn_scan_next_member(r->scan, &first, &r->key)) {
        atn_status status = ATN_OK;
        if (strcmp(atn_text_str(&r->key), "tune_params_keys") == 0 && !atn_recording_parameters(r->recording))
            status = read_keys(r);
        else if (strcmp(atn_text_str(&r->key), "cache") == 0 && atn_recording_parameters(r->recording))
            return read_entries(r);
        else {
            if (strcmp(atn_text_str(&r->key), "cache") == 0) later = *r->scan;
            atn_scan_skip(r->scan);
        }
        if (status) return status;
    }
    if (r->scan->end > ATN_SCAN_CUT || !later.start || !atn_recording_parameters(r->recording)) return ATN_OK;
    *r->scan = later;
    return read_entries(r);
}

atn_status atn_recorded_read_cache(const atn_ctx *ctx, const char *name, atn_scan *scan, atn_recording *recording) {
    reader r = {
        .ctx = ctx, .name = name, .scan = scan, .recording = recording, .key = {.ctx = ctx}, .text = {.ctx = ctx}};
    atn_status status = read_top(&r);
    if (!status && scan->end <= ATN_SCAN_CUT && !atn_recording_parameters(recording))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: \"tune_params_keys\" is missing, which names the parameters", name);
    atn_text_free(&r.key);
    atn_text_free(&r.text);
    return status;
}
