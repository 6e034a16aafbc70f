/* Import: every member is checked, everything is merged in one transaction, and a single error rolls it back. */
#include "base/memory.h"
#include "wisdom/exchange.h"
#include "wisdom/store.h"

#include <string.h>

/* ---- members ---- */

/* An object's tables of fields and its members beside them, both ended by NULL. */
typedef struct form {
    const atn_wisdom_field *tables[3];
    const char *others[5];
} form;

static const form ROOT = {{NULL}, {ATN_JSON_FORMAT, ATN_JSON_VERSION, ATN_JSON_PROGRAM, ATN_JSON_ENTRIES, NULL}};
static const form ENTRY = {{ATN_FIELDS_KERNEL, ATN_FIELDS_USE, NULL},
                           {ATN_JSON_DEVICE, ATN_JSON_SHAPE, ATN_JSON_WINNER, ATN_JSON_MEASUREMENTS, NULL}};
static const form DEVICE = {{ATN_FIELDS_DEVICE, NULL}, {NULL}};
static const form ROW = {{ATN_FIELDS_ROW, NULL}, {NULL}};
static const form WINNER = {{ATN_FIELDS_WINNER, NULL}, {NULL}};

static bool has(const form *f, const char *name) {
    for (const char *const *other = f->others; *other; ++other)
        if (strcmp(*other, name) == 0) return true;
    for (const atn_wisdom_field *const *table = f->tables; *table; ++table)
        for (const atn_wisdom_field *field = *table; field->name; ++field)
            if (strcmp(field->name, name) == 0) return true;
    return false;
}

/* Takes the fields of an object, which must have all of its form and nothing else. */
static atn_status take(const atn_ctx *ctx, const json_t *object, const form *f, void *to) {
    if (!json_is_object(object)) return atn_fail(ctx, ATN_ERR_INPUT, "an object is expected");
    for (const atn_wisdom_field *const *table = f->tables; *table; ++table) {
        atn_status status = atn_fields_from_json(ctx, object, *table, to);
        if (status != ATN_OK) return status;
    }
    for (const char *const *other = f->others; *other; ++other)
        if (!json_object_get(object, *other)) return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is missing", *other);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (!has(f, name)) return atn_fail(ctx, ATN_ERR_INPUT, "'%.60s' is not known", name);
    }
    return ATN_OK;
}

static atn_status take_shape(const atn_ctx *ctx, const json_t *shape, atn_wisdom_key *key) {
    size_t count = json_array_size(shape);
    bool good = json_is_array(shape) && count <= ATN_WISDOM_DIMS;
    for (size_t d = 0; good && d < count; ++d) {
        const json_t *size = json_array_get(shape, d);
        good = json_is_integer(size) && json_integer_value(size) >= 0;
        key->shape[d] = json_integer_value(size);
    }
    key->n_shape = (int32_t)count;
    if (good) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is not what it should be: at most %d whole numbers from 0",
                    ATN_JSON_SHAPE, ATN_WISDOM_DIMS);
}

/* ---- merging ---- */

static atn_status merge(atn_wisdom *wisdom, atn_statement which, int64_t number, const atn_wisdom_field *fields,
                        const void *from, atn_wisdom_counts *counts) {
    int before = sqlite3_total_changes(wisdom->db);
    atn_status status = atn_store_put(wisdom, which, number, fields, from);
    counts->taken += sqlite3_total_changes(wisdom->db) != before;
    return status;
}

static atn_status merge_winner(atn_wisdom *wisdom, int64_t number, const json_t *json, atn_wisdom_counts *counts) {
    atn_wisdom_winner winner;
    if (json_is_null(json)) return ATN_OK;
    atn_status status = take(wisdom->ctx, json, &WINNER, &winner);
    if (status == ATN_OK && !(winner.seconds > 0))
        status = atn_fail(wisdom->ctx, ATN_ERR_INPUT, "'seconds' is 0; a winner must have been measured");
    ++counts->winners;
    if (status != ATN_OK) return atn_fail_within(wisdom->ctx, status, "winner");
    return merge(wisdom, ATN_SQL_MERGE_CROWN, number, ATN_FIELDS_WINNER, &winner, counts);
}

static atn_status merge_rows(atn_wisdom *wisdom, int64_t number, const json_t *list, atn_wisdom_counts *counts) {
    if (!json_is_array(list))
        return atn_fail(wisdom->ctx, ATN_ERR_INPUT, "'%s' is not what it should be: an array", ATN_JSON_MEASUREMENTS);
    for (size_t k = 0; k < json_array_size(list); ++k) {
        atn_wisdom_row row;
        atn_status status = take(wisdom->ctx, json_array_get(list, k), &ROW, &row);
        if (status != ATN_OK) return atn_fail_within(wisdom->ctx, status, "measurement %zu", k + 1);
        ++counts->measurements;
        status = merge(wisdom, ATN_SQL_MERGE_ROW, number, ATN_FIELDS_ROW, &row, counts);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

static atn_status merge_entry(atn_wisdom *wisdom, const json_t *json, atn_wisdom_counts *counts) {
    const atn_ctx *ctx = wisdom->ctx;
    atn_wisdom_key key = {0};
    int64_t number = 0;
    atn_status status = take(ctx, json, &ENTRY, &key);
    if (status != ATN_OK) return status;
    status = take(ctx, json_object_get(json, ATN_JSON_DEVICE), &DEVICE, &key);
    if (status != ATN_OK) return atn_fail_within(ctx, status, ATN_JSON_DEVICE);
    status = take_shape(ctx, json_object_get(json, ATN_JSON_SHAPE), &key);
    if (status == ATN_OK) status = atn_store_key(wisdom, &key, true, &number);
    if (status == ATN_OK) status = merge_winner(wisdom, number, json_object_get(json, ATN_JSON_WINNER), counts);
    if (status == ATN_OK) status = merge_rows(wisdom, number, json_object_get(json, ATN_JSON_MEASUREMENTS), counts);
    ++counts->entries;
    return status;
}

static atn_status merge_entries(atn_wisdom *wisdom, const json_t *list, atn_wisdom_counts *counts) {
    atn_status status = ATN_OK;
    for (size_t k = 0; k < json_array_size(list) && status == ATN_OK; ++k) {
        status = atn_check_cancel(wisdom->ctx);
        if (status != ATN_OK) return status;
        status = merge_entry(wisdom, json_array_get(list, k), counts);
        if (status == ATN_ERR_INPUT) status = atn_fail_within(wisdom->ctx, status, "entry %zu", k + 1);
    }
    return status;
}

/* ---- the text ---- */

static atn_status parse(const atn_ctx *ctx, const char *text, size_t length, json_t **out) {
    json_error_t error;
    size_t refused =
        atn_ctx_refused(ctx); /* a lack of memory may show as broken JSON, or as characters that are lost */
    *out = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    bool starved = atn_ctx_refused(ctx) != refused || (!*out && json_error_code(&error) == json_error_out_of_memory);
    if (*out && !starved) return ATN_OK;
    json_decref(*out);
    *out = NULL;
    if (starved) return atn_fail(ctx, ATN_ERR_MEMORY, "out of memory: %zu bytes of JSON could not be read", length);
    return atn_fail(ctx, ATN_ERR_INPUT, "line %d, column %d: broken JSON: %s", error.line, error.column, error.text);
}

/* What it says of itself is read first: of a newer file the members may well be others. */
static atn_status check_root(const atn_ctx *ctx, const json_t *root) {
    const char *format = json_string_value(json_object_get(root, ATN_JSON_FORMAT));
    const json_t *version = json_object_get(root, ATN_JSON_VERSION);
    if (!format || strcmp(format, ATN_JSON_FORMAT_NAME) != 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "this is not exported wisdom: \"%s\": \"%s\" is expected", ATN_JSON_FORMAT,
                        ATN_JSON_FORMAT_NAME);
    if (!json_is_integer(version) || json_integer_value(version) < 1)
        return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is not what it should be: a whole number from 1", ATN_JSON_VERSION);
    if (json_integer_value(version) > ATN_JSON_VERSION_NOW)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "this is of a newer attune (version %lld, this one reads %d); update attune",
                        (long long)json_integer_value(version), ATN_JSON_VERSION_NOW);
    atn_status status = take(ctx, root, &ROOT, NULL);
    if (status != ATN_OK || json_is_array(json_object_get(root, ATN_JSON_ENTRIES))) return status;
    return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is not what it should be: an array", ATN_JSON_ENTRIES);
}

static atn_status merge_source(atn_wisdom *wisdom, const atn_wisdom_source *source, atn_wisdom_counts *counts) {
    json_t *root;
    atn_status status = parse(wisdom->ctx, source->text, source->length, &root);
    if (status == ATN_OK) status = check_root(wisdom->ctx, root);
    if (status == ATN_OK) status = merge_entries(wisdom, json_object_get(root, ATN_JSON_ENTRIES), counts);
    json_decref(root);
    return status == ATN_ERR_INPUT ? atn_fail_within(wisdom->ctx, status, "%s", source->name) : status;
}

atn_status atn_store_import_all(atn_wisdom *wisdom, const atn_wisdom_source *sources, size_t count,
                                atn_wisdom_counts *counts) {
    atn_wisdom_counts all = {0};
    pthread_mutex_lock(&wisdom->lock);
    atn_status status = atn_store_begin(wisdom);
    if (status == ATN_OK) {
        for (size_t k = 0; k < count && status == ATN_OK; ++k) status = merge_source(wisdom, &sources[k], &all);
        status = atn_store_end(wisdom, status);
    }
    pthread_mutex_unlock(&wisdom->lock);
    if (counts) *counts = status == ATN_OK ? all : (atn_wisdom_counts){0};
    return status;
}

atn_status atn_store_import(atn_wisdom *wisdom, const char *name, const char *text, size_t length,
                            atn_wisdom_counts *counts) {
    atn_wisdom_source source = {name, text, length};
    return atn_store_import_all(wisdom, &source, 1, counts);
}
