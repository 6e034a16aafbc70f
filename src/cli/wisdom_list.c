/* attune wisdom list and show: entries and their rows, for people and as JSON. */
#include "base/arena.h"
#include "base/memory.h"
#include "cli/wisdom.h"
#include "wisdom/fields.h"

#include <string.h>

/* ---- as JSON ---- */

/* The winner's fields, or null in each. */
static bool add_winner(const atn_ctx *ctx, json_t *object, const atn_wisdom_entry *entry) {
    if (entry->has_winner) return atn_fields_to_json(ctx, object, ATN_FIELDS_WINNER, &entry->winner);
    for (const atn_wisdom_field *f = ATN_FIELDS_WINNER; f->name; ++f)
        if (json_object_set_new(object, f->name, json_null()) != 0) return false;
    return true;
}

static json_t *entry_json(const atn_ctx *ctx, const atn_wisdom_entry *entry) {
    const atn_wisdom_key *key = &entry->key;
    json_t *object = json_object();
    return atn_cli_json_if(
        atn_fields_to_json(ctx, object, ATN_FIELDS_KERNEL, key) &&
            atn_fields_to_json(ctx, object, ATN_FIELDS_DEVICE, key) &&
            json_object_set(object, "device", json_object_get(object, "name")) == 0 && /* whose name it is, here */
            json_object_del(object, "name") == 0 && json_object_set_new(object, "shape", atn_shape_to_json(key)) == 0 &&
            atn_fields_to_json(ctx, object, ATN_FIELDS_USE, key) && add_winner(ctx, object, entry) &&
            json_object_set_new(object, "measured", json_integer(entry->measured)) == 0 &&
            json_object_set_new(object, "right", json_integer(entry->right)) == 0 &&
            json_object_set_new(object, "stale", json_boolean(entry->stale)) == 0 &&
            json_object_set_new(object, "stale_reason", entry->stale ? json_string(entry->stale) : json_null()) == 0,
        object);
}

/* ---- for people ---- */

static void add_time(atn_text *to, double seconds) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t k = 0;
    while (k < 3 && seconds < units[k].unit) ++k;
    atn_text_printf(to, "%.4g %s", seconds / units[k].unit, units[k].name);
}

static void add_shape(atn_text *to, const atn_wisdom_key *key) {
    for (int32_t d = 0; d < key->n_shape; ++d) atn_text_printf(to, "%s%lld", d ? "x" : "", (long long)key->shape[d]);
}

static const char *variant_name(const char *variant) { return *variant ? variant : "plain"; }

static void add_entry_row(atn_text *table, const atn_wisdom_entry *entry) {
    const atn_wisdom_winner *winner = &entry->winner;
    atn_cli_add_cell(table, entry->key.kernel);
    atn_cli_add_cell(table, entry->key.backend);
    atn_cli_add_cell(table, entry->key.device);
    add_shape(table, &entry->key);
    atn_text_add(table, "\t");
    if (entry->has_winner) {
        add_time(table, winner->seconds);
        atn_text_add(table, "\t");
        if (winner->runner_up_ratio > 0)
            atn_text_printf(table, "%.3f%s", winner->runner_up_ratio, winner->tie ? "=" : "");
        atn_text_printf(table, "\t%lld\t%.16s\t", (long long)winner->tried, winner->when);
        atn_cli_add_cell(table, variant_name(winner->variant));
    } else {
        atn_text_printf(table, "-\t\t%lld\t\t-\t", (long long)entry->measured);
    }
    atn_cli_add_cell(table, entry->stale ? entry->stale : "");
    atn_text_add(table, "\n");
}

/* ---- list ---- */

typedef struct listing {
    atn_cli_wisdom *self;
    atn_arena arena; /* of the rows of one entry */
    atn_text page;   /* list: the table's cells; show: all of it */
    json_t *list;    /* with --json */
    bool whole;      /* false: out of memory */
    int64_t count;
    atn_status status;
} listing;

static bool list_entry(void *user, const atn_wisdom_entry *entry) {
    listing *l = user;
    ++l->count;
    if (l->list)
        l->whole = json_array_append_new(l->list, entry_json(l->self->call->ctx, entry)) == 0;
    else
        add_entry_row(&l->page, entry);
    return l->whole;
}

static atn_status print_list(atn_cli_call *call, listing *l) {
    json_t *root = json_object();
    bool whole = json_object_set_new(root, "entries", l->list) == 0 && l->whole;
    l->list = NULL;
    if (!whole) json_decref(root);
    return atn_cli_print_json(call, whole ? root : NULL);
}

atn_status atn_cli_wisdom_list(atn_cli_wisdom *self) {
    atn_cli_call *call = self->call;
    atn_text page = {.ctx = call->ctx};
    listing l = {.self = self, .page = {.ctx = call->ctx}, .list = call->json ? json_array() : NULL, .whole = true};
    if (!call->json)
        atn_text_add(&l.page, "kernel\tbackend\tdevice\tshape\ttime\t2nd\ttried\twhen\tvariant\tstale\t\n");
    atn_status status = self->wisdom ? atn_wisdom_entries(self->wisdom, &self->filter, list_entry, &l) : ATN_OK;
    if (!status && call->json) {
        status = print_list(call, &l);
    } else if (!status) {
        if (l.count)
            atn_cli_add_table(&page, atn_text_str(&l.page), "lllrrrrlll");
        else
            atn_text_add(&page, "no entries\n");
        page.failed |= l.page.failed;
        status = atn_cli_print_text(call, "wisdom", &page);
    }
    json_decref(l.list);
    atn_text_free(&l.page);
    atn_text_free(&page);
    return status;
}

/* ---- show: the rows of an entry ---- */

typedef struct rows {
    const atn_ctx *ctx;
    atn_arena *arena;
    atn_wisdom_row *row; /* owned */
    bool *front;         /* owned; on the Pareto front */
    size_t count, capacity;
    atn_status status;
} rows;

static bool keep_row(void *user, const atn_wisdom_row *row) {
    rows *r = user;
    r->status = atn_grow(r->ctx, (void **)&r->row, &r->capacity, r->count, sizeof *r->row);
    if (r->status) return false;
    atn_wisdom_row *kept = &r->row[r->count++];
    *kept = *row;
    bool copied = (kept->variant = atn_arena_strdup(r->arena, row->variant)) &&
                  (kept->outcome = atn_arena_strdup(r->arena, row->outcome)) &&
                  (kept->detail = atn_arena_strdup(r->arena, row->detail)) &&
                  (kept->when = atn_arena_strdup(r->arena, row->when));
    if (!copied) r->status = ATN_ERR_MEMORY;
    return copied;
}

static bool is_right(const atn_wisdom_row *row) { return strcmp(row->outcome, "right") == 0; }

/* Fastest first, then failures in the order they came. */
static int by_time(const void *a, const void *b) {
    const atn_wisdom_row *x = a, *y = b;
    bool x_right = is_right(x), y_right = is_right(y);
    if (x_right != y_right) return x_right ? -1 : 1;
    if (x_right && x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
    return strcmp(x->when, y->when);
}

static atn_status read_rows(atn_wisdom *wisdom, const atn_wisdom_entry *entry, rows *r) {
    atn_status status = atn_wisdom_entry_rows(wisdom, entry->number, keep_row, r);
    if (!status) status = r->status;
    if (status) return status;
    r->front = atn_alloc(r->ctx, r->count * sizeof *r->front);
    if (!r->front) return ATN_ERR_MEMORY;
    if (r->count) qsort(r->row, r->count, sizeof *r->row, by_time);
    (void)atn_wisdom_pareto(r->row, r->count, r->front);
    return ATN_OK;
}

/* ---- which rows, in both forms ---- */

static bool in_front(const rows *r, size_t k) { return r->front[k]; }
static bool failed(const rows *r, size_t k) { return !is_right(&r->row[k]); }
static bool any(const rows *r, size_t k) {
    (void)r, (void)k;
    return true;
}

static json_t *rows_json(const rows *r, bool (*wanted)(const rows *r, size_t k)) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->count; ++k) {
        if (!wanted(r, k)) continue;
        json_t *object = json_object();
        bool whole = atn_fields_to_json(r->ctx, object, ATN_FIELDS_ROW, &r->row[k]);
        if (!whole) json_decref(object);
        if (json_array_append_new(list, whole ? object : NULL) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *shown_json(const atn_ctx *ctx, const atn_wisdom_entry *entry, const rows *r, bool all) {
    json_t *object = entry_json(ctx, entry);
    return atn_cli_json_if(object && json_object_set_new(object, "pareto", rows_json(r, in_front)) == 0 &&
                               json_object_set_new(object, "failures", rows_json(r, failed)) == 0 &&
                               (!all || json_object_set_new(object, "measurements", rows_json(r, any)) == 0),
                           object);
}

static void add_measured(atn_text *table, const rows *r, size_t k, const char *winner) {
    const atn_wisdom_row *row = &r->row[k];
    atn_text_add(table, "\t"); /* indented */
    atn_text_add(table, winner && strcmp(winner, row->variant) == 0 ? "winner\t" : r->front[k] ? "front\t" : "\t");
    if (is_right(row)) {
        add_time(table, row->seconds);
        atn_text_printf(table, "\t%.3g\t%lld\t", row->error, (long long)row->samples);
    } else {
        atn_cli_add_cell(table, row->outcome);
        atn_text_printf(table, "\t%lld starts\t", (long long)row->starts);
    }
    atn_cli_add_cell(table, variant_name(row->variant));
    atn_cli_add_cell(table, row->detail);
    atn_text_add(table, "\n");
}

static void add_shown(atn_text *page, const atn_wisdom_entry *entry, const rows *r, bool all) {
    const atn_wisdom_key *key = &entry->key;
    atn_text table = {.ctx = r->ctx};
    atn_text_printf(page, "%s%s ", page->length ? "\n" : "", key->kernel);
    add_shape(page, key);
    atn_text_printf(page, " on %s %s: %lld measured, %lld right%s%s%s\n", key->backend, key->device,
                    (long long)entry->measured, (long long)entry->right, entry->stale ? ", stale (" : "",
                    entry->stale ? entry->stale : "", entry->stale ? ")" : "");
    atn_text_add(&table, "\t\ttime\terror\tsamples\tvariant\t\n");
    for (size_t k = 0; k < r->count; ++k)
        if (all || in_front(r, k) || failed(r, k))
            add_measured(&table, r, k, entry->has_winner ? entry->winner.variant : NULL);
    atn_cli_add_table(page, atn_text_str(&table), "llrrrll");
    page->failed |= table.failed;
    atn_text_free(&table);
}

static bool show_entry(void *user, const atn_wisdom_entry *entry) {
    listing *l = user;
    const atn_ctx *ctx = l->self->call->ctx;
    rows r = {.ctx = ctx, .arena = &l->arena};
    bool all = atn_cli_has(l->self->call, "all");
    l->status = read_rows(l->self->wisdom, entry, &r);
    if (!l->status && l->list)
        l->whole = json_array_append_new(l->list, shown_json(ctx, entry, &r, all)) == 0;
    else if (!l->status)
        add_shown(&l->page, entry, &r, all);
    ++l->count;
    atn_free(ctx, r.row);
    atn_free(ctx, r.front);
    atn_arena_free(&l->arena);
    return !l->status && l->whole;
}

atn_status atn_cli_wisdom_show(atn_cli_wisdom *self) {
    atn_cli_call *call = self->call;
    listing l = {.self = self,
                 .arena = {.ctx = call->ctx},
                 .page = {.ctx = call->ctx},
                 .list = call->json ? json_array() : NULL,
                 .whole = true};
    if (self->filter.kernel) return atn_cli_misuse(call, "show takes the kernel's name without --kernel");
    self->filter.kernel = call->operands[1];
    atn_status status = self->wisdom ? atn_wisdom_entries(self->wisdom, &self->filter, show_entry, &l) : ATN_OK;
    if (!status) status = l.status;
    if (!status && l.count == 0)
        status = atn_fail(call->ctx, ATN_ERR_INPUT, "there is no wisdom for '%s'%s; see 'attune wisdom list'",
                          call->operands[1], self->filter.device || self->filter.stale ? " with these options" : "");
    if (!status) status = call->json ? print_list(call, &l) : atn_cli_print_text(call, "wisdom", &l.page);
    json_decref(l.list);
    atn_text_free(&l.page);
    return status;
}
