/* Export: the entries as JSON, one measurement on a line, so that files can be compared and put under version control.
 */
#include "wisdom/exchange.h"
#include "wisdom/store.h"

typedef struct exporter {
    const atn_ctx *ctx;
    atn_wisdom *wisdom;
    atn_text *out;
    atn_wisdom_counts counts;
    bool winners; /* and nothing else */
    bool first_row;
    atn_status status;
} exporter;

static int append(const char *bytes, size_t length, void *text) {
    atn_text_add_bytes(text, bytes, length);
    return 0;
}

/* Prints the object and drops it; `fields` were added to it if `whole`. */
static bool print(exporter *e, json_t *object, bool whole) {
    whole = whole && object && json_dump_callback(object, append, e->out, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    json_decref(object);
    if (!whole) e->status = atn_fail(e->ctx, ATN_ERR_MEMORY, "out of memory: the wisdom could not be exported");
    return whole;
}

static bool export_row(void *user, const atn_wisdom_row *row) {
    exporter *e = user;
    atn_text_add(e->out, e->first_row ? "\n" : ",\n");
    e->first_row = false;
    ++e->counts.measurements;
    json_t *object = json_object();
    return print(e, object, atn_fields_to_json(e->ctx, object, ATN_FIELDS_ROW, row));
}

/* A new object with these fields; NULL: out of memory. */
static json_t *object_of(const atn_ctx *ctx, const atn_wisdom_field *fields, const void *from) {
    json_t *object = json_object();
    if (atn_fields_to_json(ctx, object, fields, from)) return object;
    json_decref(object);
    return NULL;
}

static bool export_entry(void *user, const atn_wisdom_entry *entry) {
    exporter *e = user;
    const atn_wisdom_key *key = &entry->key;
    if (e->winners && !entry->has_winner) return true;
    json_t *object = json_object();
    bool whole = atn_fields_to_json(e->ctx, object, ATN_FIELDS_KERNEL, key) &&
                 json_object_set_new(object, ATN_JSON_DEVICE, object_of(e->ctx, ATN_FIELDS_DEVICE, key)) == 0 &&
                 json_object_set_new(object, ATN_JSON_SHAPE, atn_shape_to_json(key)) == 0 &&
                 atn_fields_to_json(e->ctx, object, ATN_FIELDS_USE, key) &&
                 json_object_set_new(object, ATN_JSON_WINNER,
                                     entry->has_winner ? object_of(e->ctx, ATN_FIELDS_WINNER, &entry->winner)
                                                       : json_null()) == 0;
    atn_text_add(e->out, e->counts.entries++ ? ",\n" : "\n");
    if (!print(e, object, whole)) return false;
    if (e->out->length && !e->out->failed) --e->out->length; /* the brace: measurements follow */
    atn_text_add(e->out, ",\"" ATN_JSON_MEASUREMENTS "\":[");
    e->counts.winners += entry->has_winner;
    e->first_row = true;
    atn_status status = e->winners ? ATN_OK : atn_wisdom_entry_rows(e->wisdom, entry->number, export_row, e);
    if (e->status == ATN_OK) e->status = status;
    atn_text_add(e->out, "]}");
    return e->status == ATN_OK;
}

atn_status atn_store_export(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_filter *filter, atn_text *out,
                            atn_wisdom_counts *counts) {
    exporter e = {.ctx = ctx, .wisdom = wisdom, .out = out, .winners = filter && filter->winners};
    atn_text_printf(out, "{\"" ATN_JSON_FORMAT "\":\"" ATN_JSON_FORMAT_NAME "\",\"" ATN_JSON_VERSION "\":%d,",
                    ATN_JSON_VERSION_NOW);
    atn_text_printf(out, "\"" ATN_JSON_PROGRAM "\":\"%s\",\"" ATN_JSON_ENTRIES "\":[", atn_version());
    atn_status status = wisdom ? atn_wisdom_entries(wisdom, filter, export_entry, &e) : ATN_OK;
    if (e.status != ATN_OK) status = e.status;
    atn_text_add(out, e.counts.entries ? "\n]}\n" : "]}\n");
    if (status == ATN_OK) status = atn_text_status(out);
    if (counts) *counts = status == ATN_OK ? e.counts : (atn_wisdom_counts){0};
    return status;
}
