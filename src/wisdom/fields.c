/* Tables of fields, and the kinds of their values. */
#include "wisdom/fields.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

struct atn_field_kind {
    const char *wanted; /* what would be right, for a member of JSON that is not */
    int (*bind)(sqlite3_stmt *statement, int at, const void *value);
    void (*column)(sqlite3_stmt *statement, int at, void *value);
    json_t *(*to_json)(const atn_ctx *ctx, const void *value);
    bool (*from_json)(const json_t *json, void *value);
};

/* ---- texts ---- */

static const char *text_at(const void *value) {
    const char *text = *(const char *const *)value;
    return text ? text : "";
}

static int bind_text(sqlite3_stmt *statement, int at, const void *value) {
    return sqlite3_bind_text(statement, at, text_at(value), -1, SQLITE_STATIC);
}

static void column_text(sqlite3_stmt *statement, int at, void *value) {
    const unsigned char *text = sqlite3_column_text(statement, at);
    *(const char **)value = text ? (const char *)text : "";
}

static json_t *text_to_json(const atn_ctx *ctx, const void *value) {
    const char *text = text_at(value);
    if (atn_utf8_valid(text)) return json_string(text);
    char *copy = atn_strdup(ctx, text);
    if (copy) atn_utf8_clean(copy);
    json_t *json = copy ? json_string(copy) : NULL;
    atn_free(ctx, copy);
    return json;
}

static bool text_from_json(const json_t *json, void *value) {
    *(const char **)value = json_string_value(json);
    return json_is_string(json);
}

static const char *const OUTCOMES[] = {"right", "wrong", "build", "crash", "hang", "memory", "started"};

bool atn_outcome_known(const char *outcome) {
    for (size_t k = 0; outcome && k < sizeof OUTCOMES / sizeof *OUTCOMES; ++k)
        if (strcmp(OUTCOMES[k], outcome) == 0) return true;
    return false;
}

static bool outcome_from_json(const json_t *json, void *value) {
    return text_from_json(json, value) && atn_outcome_known(*(const char **)value);
}

/* Times are compared as texts, so they must all have one form. */
static bool when_from_json(const json_t *json, void *value) {
    static const char form[] = "0000-00-00T00:00:00.000Z";
    if (!text_from_json(json, value) || json_string_length(json) != sizeof form - 1) return false;
    const char *text = *(const char **)value;
    for (size_t k = 0; k < sizeof form - 1; ++k)
        if (form[k] == '0' ? !isdigit((unsigned char)text[k]) : text[k] != form[k]) return false;
    return true;
}

/* ---- hashes ---- */

static int bind_hash(sqlite3_stmt *statement, int at, const void *value) {
    char text[ATN_HASH_TEXT];
    atn_hash_print(*(const atn_hash *)value, text);
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
}

static bool half_from_text(const char *text, uint64_t *half) {
    *half = 0;
    for (int k = 0; k < 16; ++k) {
        const char *digits = "0123456789abcdef", *digit = text[k] ? strchr(digits, text[k]) : NULL;
        if (!digit) return false;
        *half = *half << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

static bool hash_from_text(const char *text, atn_hash *hash) {
    bool good = text && strlen(text) == ATN_HASH_TEXT - 1 && half_from_text(text, &hash->high) &&
                half_from_text(text + 16, &hash->low);
    if (!good) *hash = (atn_hash){0};
    return good;
}

static void column_hash(sqlite3_stmt *statement, int at, void *value) {
    (void)hash_from_text((const char *)sqlite3_column_text(statement, at), value);
}

static json_t *hash_to_json(const atn_ctx *ctx, const void *value) {
    (void)ctx;
    char text[ATN_HASH_TEXT];
    atn_hash_print(*(const atn_hash *)value, text);
    return json_string(text);
}

static bool hash_from_json(const json_t *json, void *value) { return hash_from_text(json_string_value(json), value); }

/* ---- numbers ---- */

/* What was not measured is 0; so is what is no number. */
static int bind_real(sqlite3_stmt *statement, int at, const void *value) {
    double real = *(const double *)value;
    return sqlite3_bind_double(statement, at, isfinite(real) && real > 0 ? real : 0.0);
}

static void column_real(sqlite3_stmt *statement, int at, void *value) {
    *(double *)value = sqlite3_column_double(statement, at);
}

static json_t *real_to_json(const atn_ctx *ctx, const void *value) {
    (void)ctx;
    double real = *(const double *)value;
    return json_real(isfinite(real) ? real : 0.0);
}

static bool real_from_json(const json_t *json, void *value) {
    *(double *)value = json_number_value(json);
    return json_is_number(json) && *(double *)value >= 0;
}

/* An error has no upper end: infinite where a result was no number at all. JSON has no infinity: null. */
static int bind_error(sqlite3_stmt *statement, int at, const void *value) {
    double error = *(const double *)value;
    return sqlite3_bind_double(statement, at, error >= 0 ? error : INFINITY);
}

static json_t *error_to_json(const atn_ctx *ctx, const void *value) {
    (void)ctx;
    double error = *(const double *)value;
    return isfinite(error) ? json_real(error) : json_null();
}

static bool error_from_json(const json_t *json, void *value) {
    if (!json_is_null(json)) return real_from_json(json, value);
    *(double *)value = INFINITY;
    return true;
}

static int bind_count(sqlite3_stmt *statement, int at, const void *value) {
    return sqlite3_bind_int64(statement, at, *(const int64_t *)value);
}

static void column_count(sqlite3_stmt *statement, int at, void *value) {
    *(int64_t *)value = sqlite3_column_int64(statement, at);
}

static json_t *count_to_json(const atn_ctx *ctx, const void *value) {
    (void)ctx;
    return json_integer(*(const int64_t *)value);
}

static bool count_from_json(const json_t *json, void *value) {
    *(int64_t *)value = json_integer_value(json);
    return json_is_integer(json) && *(int64_t *)value >= 0;
}

static int bind_flag(sqlite3_stmt *statement, int at, const void *value) {
    return sqlite3_bind_int(statement, at, *(const bool *)value);
}

static void column_flag(sqlite3_stmt *statement, int at, void *value) {
    *(bool *)value = sqlite3_column_int(statement, at) != 0;
}

static json_t *flag_to_json(const atn_ctx *ctx, const void *value) {
    (void)ctx;
    return json_boolean(*(const bool *)value);
}

static bool flag_from_json(const json_t *json, void *value) {
    *(bool *)value = json_is_true(json);
    return json_is_boolean(json);
}

/* ---- the tables ---- */

static const atn_field_kind TEXT = {"a text", bind_text, column_text, text_to_json, text_from_json};
static const atn_field_kind OUTCOME = {"right, wrong, build, crash, hang, memory or started", bind_text, column_text,
                                       text_to_json, outcome_from_json};
static const atn_field_kind WHEN = {"a time like 2025-01-31T12:00:00.000Z", bind_text, column_text, text_to_json,
                                    when_from_json};
static const atn_field_kind HASH = {"32 hexadecimal digits", bind_hash, column_hash, hash_to_json, hash_from_json};
static const atn_field_kind REAL = {"a number from 0", bind_real, column_real, real_to_json, real_from_json};
static const atn_field_kind ERROR = {"a number from 0, or null", bind_error, column_real, error_to_json,
                                     error_from_json};
static const atn_field_kind COUNT = {"a whole number from 0", bind_count, column_count, count_to_json, count_from_json};
static const atn_field_kind FLAG = {"true or false", bind_flag, column_flag, flag_to_json, flag_from_json};

#define KEY(member) offsetof(atn_wisdom_key, member)
const atn_wisdom_field ATN_FIELDS_KERNEL[] = {
    {"kernel", &TEXT, KEY(kernel)}, {"graph", &HASH, KEY(graph)}, {"generator", &TEXT, KEY(generator)}, {0}};
const atn_wisdom_field ATN_FIELDS_DEVICE[] = {{"backend", &TEXT, KEY(backend)},
                                              {"arch", &TEXT, KEY(arch)},
                                              {"name", &TEXT, KEY(device)},
                                              {"driver", &TEXT, KEY(driver)},
                                              {"compiler", &TEXT, KEY(compiler)},
                                              {"threads", &TEXT, KEY(threads)},
                                              {0}};
const atn_wisdom_field ATN_FIELDS_USE[] = {{"space", &HASH, KEY(space)},
                                           {"layout", &TEXT, KEY(layout)},
                                           {"reproducible", &FLAG, KEY(reproducible)},
                                           {"tolerance", &TEXT, KEY(tolerance)},
                                           {0}};

#define ROW(member) offsetof(atn_wisdom_row, member)
const atn_wisdom_field ATN_FIELDS_ROW[] = {{"variant", &TEXT, ROW(variant)},
                                           {"outcome", &OUTCOME, ROW(outcome)},
                                           {"detail", &TEXT, ROW(detail)},
                                           {"seconds", &REAL, ROW(seconds)},
                                           {"low", &REAL, ROW(low)},
                                           {"high", &REAL, ROW(high)},
                                           {"error", &ERROR, ROW(error)},
                                           {"samples", &COUNT, ROW(samples)},
                                           {"dropped", &FLAG, ROW(dropped)},
                                           {"starts", &COUNT, ROW(starts)},
                                           {"code", &HASH, ROW(code)},
                                           {"when", &WHEN, ROW(when)},
                                           {0}};

#define WINNER(member) offsetof(atn_wisdom_winner, member)
const atn_wisdom_field ATN_FIELDS_WINNER[] = {{"variant", &TEXT, WINNER(variant)},
                                              {"runner_up", &TEXT, WINNER(runner_up)},
                                              {"seconds", &REAL, WINNER(seconds)},
                                              {"low", &REAL, WINNER(low)},
                                              {"high", &REAL, WINNER(high)},
                                              {"runner_up_ratio", &REAL, WINNER(runner_up_ratio)},
                                              {"tie", &FLAG, WINNER(tie)},
                                              {"fallback_seconds", &REAL, WINNER(fallback_seconds)},
                                              {"fraction_of_peak", &REAL, WINNER(fraction_of_peak)},
                                              {"tried", &COUNT, WINNER(tried)},
                                              {"when", &WHEN, WINNER(when)},
                                              {0}};

static const void *member(const void *from, const atn_wisdom_field *field) {
    return (const char *)from + field->offset;
}

int atn_fields_bind(sqlite3_stmt *statement, int first, const atn_wisdom_field *fields, const void *from) {
    int code = SQLITE_OK, most = sqlite3_bind_parameter_count(statement);
    for (const atn_wisdom_field *f = fields; f->name && code == SQLITE_OK; ++f, ++first)
        if (first <= most) code = f->kind->bind(statement, first, member(from, f));
    return code;
}

int atn_key_bind(sqlite3_stmt *statement, const atn_wisdom_key *key) {
    int code = atn_fields_bind(statement, 1, ATN_FIELDS_KERNEL, key);
    if (code == SQLITE_OK) code = atn_fields_bind(statement, 4, ATN_FIELDS_DEVICE, key);
    if (code == SQLITE_OK) code = atn_fields_bind(statement, 10, ATN_FIELDS_USE, key);
    int most = sqlite3_bind_parameter_count(statement);
    if (code == SQLITE_OK && most >= 14) code = sqlite3_bind_int(statement, 14, key->n_shape);
    for (int d = 0; d < ATN_WISDOM_DIMS && code == SQLITE_OK && most >= 15 + d; ++d)
        code = sqlite3_bind_int64(statement, 15 + d, d < key->n_shape ? key->shape[d] : 0);
    return code;
}

int atn_fields_column(sqlite3_stmt *statement, int first, const atn_wisdom_field *fields, void *to) {
    for (const atn_wisdom_field *f = fields; f->name; ++f) f->kind->column(statement, first++, (char *)to + f->offset);
    return first;
}

int atn_key_column(sqlite3_stmt *statement, int first, atn_wisdom_key *key) {
    first = atn_fields_column(statement, first, ATN_FIELDS_KERNEL, key);
    first = atn_fields_column(statement, first, ATN_FIELDS_DEVICE, key);
    first = atn_fields_column(statement, first, ATN_FIELDS_USE, key);
    int n = sqlite3_column_int(statement, first++);
    key->n_shape = n < 0 ? 0 : n > ATN_WISDOM_DIMS ? ATN_WISDOM_DIMS : n;
    for (int d = 0; d < ATN_WISDOM_DIMS; ++d) key->shape[d] = sqlite3_column_int64(statement, first++);
    return first;
}

bool atn_fields_to_json(const atn_ctx *ctx, json_t *object, const atn_wisdom_field *fields, const void *from) {
    for (const atn_wisdom_field *f = fields; f->name; ++f)
        if (json_object_set_new(object, f->name, f->kind->to_json(ctx, member(from, f))) != 0) return false;
    return true;
}

json_t *atn_shape_to_json(const atn_wisdom_key *key) {
    json_t *shape = json_array();
    for (int32_t d = 0; d < key->n_shape; ++d)
        if (json_array_append_new(shape, json_integer(key->shape[d])) != 0) {
            json_decref(shape);
            return NULL;
        }
    return shape;
}

atn_status atn_fields_from_json(const atn_ctx *ctx, const json_t *object, const atn_wisdom_field *fields, void *to) {
    for (const atn_wisdom_field *f = fields; f->name; ++f) {
        const json_t *json = json_object_get(object, f->name);
        if (!json) return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is missing; %s is expected", f->name, f->kind->wanted);
        if (!f->kind->from_json(json, (char *)to + f->offset))
            return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is not what it should be: %s", f->name, f->kind->wanted);
    }
    return ATN_OK;
}
