/* Writing a recorded space as T4 results, for other tuners. */
#include "tune/recorded_parts.h"

#include "base/file.h"
#include "base/number.h"

#include <stdio.h>

/* What T4 has for an outcome. */
static const char *const INVALIDITY[ATN_OUTCOME_COUNT] = {
    [ATN_OUTCOME_RIGHT] = "correct",  [ATN_OUTCOME_WRONG] = "correctness", [ATN_OUTCOME_BUILD] = "compile",
    [ATN_OUTCOME_CRASH] = "runtime",  [ATN_OUTCOME_HANG] = "timeout",      [ATN_OUTCOME_MEMORY] = "runtime",
    [ATN_OUTCOME_STARTED] = "runtime"};

static void add_quoted(atn_text *out, const char *text) {
    atn_text_add(out, "\"");
    for (; *text; ++text) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            atn_text_printf(out, "\\%c", c);
        else if (c < ' ')
            atn_text_printf(out, "\\u%04x", c);
        else
            atn_text_add_bytes(out, text, 1);
    }
    atn_text_add(out, "\"");
}

/* The shortest form that reads back as the same number, with a point in any locale. */
static void add_number(atn_text *out, double number) {
    char digits[40];
    for (int precision = 15; precision <= 17; ++precision) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        for (char *c = digits; *c; ++c)
            if (*c == ',') *c = '.';
        if (atn_number_read(digits, NULL) == number) break;
    }
    atn_text_add(out, digits);
}

static void add_value(atn_text *out, const atn_recorded_value *value) {
    if (value->kind == ATN_SCALAR_TEXT)
        add_quoted(out, value->text);
    else if (value->kind == ATN_SCALAR_BOOL)
        atn_text_add(out, value->number != 0 ? "true" : "false");
    else
        add_number(out, value->number);
}

static void add_result(atn_text *out, const atn_recorded *recorded, int64_t index) {
    const int32_t *point = atn_recorded_point(recorded, index);
    const atn_recorded_result *result = &recorded->results[index];
    bool right = result->outcome == ATN_OUTCOME_RIGHT;
    atn_text_add(out, "    {\"configuration\": {");
    for (int32_t p = 0; p < recorded->n_parameters; ++p) {
        atn_text_add(out, p ? ", " : "");
        add_quoted(out, recorded->names[p]);
        atn_text_add(out, ": ");
        add_value(out, &recorded->values[p][point[p]]);
    }
    atn_text_add(out, "}, \"times\": {\"runtimes\": [");
    if (right) add_number(out, result->seconds * 1e3);
    atn_text_printf(out, "]}, \"invalidity\": \"%s\", \"correctness\": %d, ", INVALIDITY[result->outcome], right);
    atn_text_add(out, "\"measurements\": [{\"name\": \"time\", \"value\": ");
    if (right)
        add_number(out, result->seconds * 1e3);
    else
        add_quoted(out, atn_outcome_name(result->outcome));
    atn_text_add(out, ", \"unit\": \"ms\"}], \"objectives\": [\"time\"]}");
}

void atn_recorded_print_t4(const atn_recorded *recorded, atn_text *out) {
    atn_text_add(out, "{\n  \"schema_version\": \"1.0.0\",\n  \"metadata\": {\"timeunit\": \"milliseconds\"},\n"
                      "  \"results\": [\n");
    for (int64_t k = 0; k < recorded->points.n; ++k) {
        add_result(out, recorded, k);
        atn_text_add(out, k + 1 < recorded->points.n ? ",\n" : "\n");
    }
    atn_text_add(out, "  ]\n}\n");
}

atn_status atn_recorded_write_t4(const atn_ctx *ctx, const atn_recorded *recorded, const char *path) {
    atn_text text = {.ctx = ctx};
    atn_recorded_print_t4(recorded, &text);
    atn_status status = atn_text_status(&text);
    if (!status) status = atn_file_write(ctx, path, atn_text_str(&text), text.length);
    atn_text_free(&text);
    return status;
}
