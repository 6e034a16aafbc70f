/* T4: results of a tuning, as exchanged between tuners: an object whose "results" are one object each: the
 * "configuration", what it became ("invalidity"), its "measurements" and "times". Times are in the unit that
 * "metadata" names, else in milliseconds. Read as far as it matters here; recorded_t4_write.c writes it. */
#include "tune/recorded_parts.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *word; /* what others write, misspelt too */
    double seconds;
} UNITS[] = {
    {"seconds", 1}, {"milliseconds", 1e-3}, {"miliseconds", 1e-3}, {"microseconds", 1e-6}, {"nanoseconds", 1e-9},
};

static const struct {
    const char *word;
    atn_outcome outcome;
} INVALIDITIES[] = {
    {"correct", ATN_OUTCOME_RIGHT},     {"correctness", ATN_OUTCOME_WRONG}, {"compile", ATN_OUTCOME_BUILD},
    {"constraints", ATN_OUTCOME_BUILD}, {"runtime", ATN_OUTCOME_CRASH},     {"timeout", ATN_OUTCOME_HANG},
};
enum { N_INVALIDITIES = sizeof INVALIDITIES / sizeof *INVALIDITIES };

typedef struct reader {
    const atn_ctx *ctx;
    const char *name;
    atn_scan *scan;
    atn_recording *recording;
    atn_text key, text;
    double unit;  /* in seconds */
    bool first;   /* the entry that names the parameters */
    double value; /* of the entry's measurement; NAN: none */
    double mean;  /* of its runtimes; NAN: none */
    atn_outcome outcome;
    bool configured;
} reader;

static bool goes_on(const reader *r) { return r->scan->end == ATN_SCAN_GOES_ON; }

/* A key of an object and what reads its value; others are passed over. */
typedef struct row {
    const char *key;
    atn_status (*read)(reader *r);
} row;

static atn_status read_object(reader *r, const row *rows, size_t n) {
    bool first = true;
    atn_status status = ATN_OK;
    if (!atn_scan_begin(r->scan, '{')) return ATN_OK; /* the caller looks why */
    while (!status && goes_on(r) && atn_scan_next_member(r->scan, &first, &r->key)) {
        size_t k = 0;
        while (k < n && strcmp(rows[k].key, atn_text_str(&r->key)) != 0) ++k;
        if (k < n)
            status = rows[k].read(r);
        else
            atn_scan_skip(r->scan);
    }
    return status;
}
#define READ_OBJECT(reader, rows) read_object(reader, rows, sizeof(rows) / sizeof *(rows))

static atn_status read_unit(reader *r) {
    (void)atn_scan_scalar(r->scan, &r->text);
    for (size_t k = 0; k < sizeof UNITS / sizeof *UNITS; ++k)
        if (strcmp(UNITS[k].word, atn_text_str(&r->text)) == 0) r->unit = UNITS[k].seconds;
    return ATN_OK;
}

static atn_status read_metadata(reader *r) {
    static const row ROWS[] = {{"timeunit", read_unit}};
    return READ_OBJECT(r, ROWS);
}

static atn_status read_configuration(reader *r) {
    bool first = true;
    if (!atn_scan_begin(r->scan, '{')) return ATN_OK;
    while (atn_scan_next_member(r->scan, &first, &r->key)) {
        atn_scalar value = atn_scan_scalar(r->scan, &r->text);
        if (!goes_on(r)) return ATN_OK;
        int32_t p = atn_recording_find(r->recording, atn_text_str(&r->key));
        atn_status status = ATN_OK;
        if (p < 0 && r->first) {
            status = atn_recording_parameter(r->recording, atn_text_str(&r->key));
            p = atn_recording_parameters(r->recording) - 1;
        } else if (p < 0)
            status = atn_fail(r->ctx, ATN_ERR_INPUT, "%s: entry %lld has a parameter '%s' that the first has not",
                              r->name, (long long)atn_recording_entries(r->recording) + 1, atn_text_str(&r->key));
        if (!status) status = atn_recording_set(r->recording, p, &value, atn_text_str(&r->text));
        if (status) return status;
    }
    r->configured = true;
    return ATN_OK;
}

static atn_status read_invalidity(reader *r) {
    (void)atn_scan_scalar(r->scan, &r->text);
    r->outcome = ATN_OUTCOME_CRASH;
    for (size_t k = N_INVALIDITIES; k-- > 0;)
        if (strcmp(INVALIDITIES[k].word, atn_text_str(&r->text)) == 0) r->outcome = INVALIDITIES[k].outcome;
    return ATN_OK;
}

static atn_status read_runtimes(reader *r) {
    bool first = true;
    double sum = 0;
    int64_t n = 0;
    if (atn_scan_peek(r->scan) != '[') {
        atn_scan_skip(r->scan);
        return ATN_OK;
    }
    ++r->scan->at;
    while (atn_scan_next_element(r->scan, &first)) {
        sum += atn_scan_scalar(r->scan, &r->text).number;
        ++n;
    }
    r->mean = n ? sum / (double)n : (double)NAN;
    return ATN_OK;
}

static atn_status read_times(reader *r) {
    static const row ROWS[] = {{"runtimes", read_runtimes}};
    return READ_OBJECT(r, ROWS);
}

/* One measurement: {"name": "time", "value": 3.9}. The name may come behind the value. */
static void read_measurement(reader *r) {
    bool first = true, is_time = true;
    double number = (double)NAN;
    if (!atn_scan_begin(r->scan, '{')) return;
    while (atn_scan_next_member(r->scan, &first, &r->key)) {
        bool name = strcmp(atn_text_str(&r->key), "name") == 0, value = strcmp(atn_text_str(&r->key), "value") == 0;
        atn_scalar scalar = atn_scan_scalar(r->scan, &r->text);
        if (!goes_on(r)) return;
        if (name) is_time = strcmp(atn_text_str(&r->text), "time") == 0;
        if (value && scalar.kind == ATN_SCALAR_NUMBER) number = scalar.number;
    }
    if (is_time) r->value = number;
}

static atn_status read_measurements(reader *r) {
    bool first = true;
    if (!atn_scan_begin(r->scan, '[')) return ATN_OK;
    while (atn_scan_next_element(r->scan, &first)) read_measurement(r);
    return ATN_OK;
}

static atn_status read_result(reader *r) {
    static const row ROWS[] = {{"configuration", read_configuration},
                               {"invalidity", read_invalidity},
                               {"times", read_times},
                               {"measurements", read_measurements}};
    r->value = r->mean = (double)NAN;
    r->outcome = ATN_OUTCOME_RIGHT;
    r->configured = false;
    atn_status status = READ_OBJECT(r, ROWS);
    if (status || r->scan->end != ATN_SCAN_GOES_ON) return status;
    if (!r->configured)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: entry %lld has no \"configuration\"", r->name,
                        (long long)atn_recording_entries(r->recording) + 1);
    r->first = false;
    return atn_recording_add(r->recording, r->outcome, (isnan(r->value) ? r->mean : r->value) * r->unit);
}

static atn_status read_results(reader *r) {
    bool first = true;
    atn_status status = ATN_OK;
    if (!atn_scan_begin(r->scan, '[')) return ATN_OK;
    while (!status && goes_on(r) && atn_scan_next_element(r->scan, &first)) {
        status = read_result(r);
        if (!status) status = atn_check_cancel(r->ctx);
    }
    return status;
}

atn_status atn_recorded_read_t4(const atn_ctx *ctx, const char *name, atn_scan *scan, atn_recording *recording) {
    static const row UNIT[] = {{"metadata", read_metadata}}, RESULTS[] = {{"results", read_results}};
    atn_scan ahead = *scan; /* the unit may follow the results */
    reader r = {.ctx = ctx,
                .name = name,
                .scan = &ahead,
                .recording = recording,
                .key = {.ctx = ctx},
                .text = {.ctx = ctx},
                .unit = 1e-3,
                .first = true};
    (void)READ_OBJECT(&r, UNIT); /* what is wrong or cut is met again */
    if (ahead.end == ATN_SCAN_LOST) scan->end = ahead.end;
    r.scan = scan;
    atn_status status = READ_OBJECT(&r, RESULTS);
    atn_text_free(&r.key);
    atn_text_free(&r.text);
    return status;
}
