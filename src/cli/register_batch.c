/* attune register --batch: many pairs in one run, kernels planned once. A pair that fails does not stop the others. */
#include "cli/register.h"
#include "cli/register_list.h"

#include "base/memory.h"

#include <string.h>

typedef struct batch {
    atn_cli_register *r;
    atn_cli_list list;
    atn_register_pair *pairs; /* those rows that can be worked on */
    size_t *pair_of;          /* by row; SIZE_MAX: none */
    size_t n_pairs;
} batch;

/* Why there is no result that can be trusted; "" where there is one. */
static const char *failure(const batch *b, size_t row) {
    const char *objection = atn_cli_list_objection(&b->list, &b->list.rows[row]);
    if (*objection) return objection;
    const atn_register_pair *pair = &b->pairs[b->pair_of[row]];
    if (pair->status) return *pair->message ? pair->message : atn_status_name(pair->status);
    return pair->result.verdict == ATN_VERDICT_REFUSED ? pair->result.reason : "";
}

static bool has_result(const batch *b, size_t row) {
    return b->pair_of[row] != SIZE_MAX && b->pairs[b->pair_of[row]].status == ATN_OK;
}

static atn_status choose_pairs(batch *b) {
    const atn_ctx *ctx = b->r->call->ctx;
    b->pairs = atn_zalloc(ctx, (b->list.n_rows + 1) * sizeof *b->pairs);
    b->pair_of = atn_zalloc(ctx, (b->list.n_rows + 1) * sizeof *b->pair_of);
    if (!b->pairs || !b->pair_of) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < b->list.n_rows; ++k) {
        const atn_cli_list_row *row = &b->list.rows[k];
        b->pair_of[k] = SIZE_MAX;
        if (*atn_cli_list_objection(&b->list, row)) continue;
        b->pair_of[k] = b->n_pairs;
        b->pairs[b->n_pairs++] = (atn_register_pair){.source = b->list.clouds[row->clouds[0]].cloud,
                                                     .target = b->list.clouds[row->clouds[1]].cloud,
                                                     .start = row->has_start ? row->start : NULL};
    }
    return ATN_OK;
}

/* Aligned clouds of the rows that ask for one; a failure is that row's. */
static atn_status write_aligned(batch *b) {
    const atn_ctx *ctx = b->r->call->ctx;
    for (size_t k = 0; k < b->list.n_rows; ++k) {
        atn_cli_list_row *row = &b->list.rows[k];
        atn_cloud *moved = NULL;
        if (!row->aligned || !has_result(b, k)) continue;
        const atn_register_pair *pair = &b->pairs[b->pair_of[k]];
        atn_status status = atn_cloud_moved(pair->source, pair->result.transform, &moved);
        if (!status) status = atn_cli_register_write(b->r->call, moved, row->aligned);
        atn_cloud_free(moved);
        if (status == ATN_ERR_CANCELLED) return status;
        if (status) snprintf(row->message, sizeof row->message, "%s", atn_ctx_message(ctx));
    }
    return ATN_OK;
}

/* ---- what came out ---- */

static atn_status print_text(const batch *b) {
    atn_text rows = {.ctx = b->r->call->ctx}, page = {.ctx = b->r->call->ctx};
    atn_text_add(&rows, "source\ttarget\trmse\toverlap\titerations\tseconds\t\t\n");
    for (size_t k = 0; k < b->list.n_rows; ++k) {
        const char *why = failure(b, k);
        atn_cli_add_cell(&rows, b->list.rows[k].source);
        atn_cli_add_cell(&rows, b->list.rows[k].target);
        if (has_result(b, k)) {
            const atn_register_result *x = &b->pairs[b->pair_of[k]].result;
            atn_text_printf(&rows, "%.4g\t%.1f %%\t%d\t%.3g\t", x->rmse, 100 * x->overlap, (int)x->iterations,
                            x->seconds);
        } else {
            atn_text_add(&rows, "-\t-\t-\t-\t");
        }
        const atn_register_result *x = has_result(b, k) ? &b->pairs[b->pair_of[k]].result : NULL;
        char said[256];
        snprintf(said, sizeof said, "%s%s%s", x ? atn_verdict_name(x->verdict) : "", x ? ": " : "",
                 x && !*why ? x->reason : why);
        atn_cli_add_cell(&rows, said);
        atn_text_add(&rows, "\n");
    }
    atn_cli_add_table(&page, atn_text_str(&rows), "llrrrrl");
    if (rows.failed) page.failed = true;
    atn_status status = atn_cli_print_text(b->r->call, "register", &page);
    atn_text_free(&rows);
    atn_text_free(&page);
    return status;
}

static bool add_row(const batch *b, size_t k, json_t *results) {
    const atn_ctx *ctx = b->r->call->ctx;
    const atn_cli_list_row *row = &b->list.rows[k];
    const char *why = failure(b, k);
    json_t *object = json_object();
    bool good = true;
    if (has_result(b, k)) {
        const atn_register_pair *pair = &b->pairs[b->pair_of[k]];
        atn_cli_registered done = {.source_name = row->source,
                                   .target_name = row->target,
                                   .source = pair->source,
                                   .target = pair->target,
                                   .result = &pair->result,
                                   .foreseen_bytes =
                                       atn_register_bytes(&b->r->settings, atn_cloud_get_info(pair->source).points,
                                                          atn_cloud_get_info(pair->target).points)};
        good = atn_cli_register_json(b->r, &done, object);
    } else {
        json_t *source = json_object(), *target = json_object();
        good = json_object_set_new(source, "file", atn_cli_json_text(ctx, row->source)) == 0 &&
               json_object_set_new(target, "file", atn_cli_json_text(ctx, row->target)) == 0 &&
               json_object_set_new(object, "converged", json_false()) == 0;
        good = json_object_set_new(object, "source", source) == 0 && good;
        good = json_object_set_new(object, "target", target) == 0 && good;
    }
    good = good && json_object_set_new(object, "error", *why ? atn_cli_json_text(ctx, why) : json_null()) == 0;
    return json_array_append_new(results, object) == 0 && good;
}

static atn_status print_json(const batch *b) {
    json_t *root = json_object(), *results = json_array();
    bool good = true;
    for (size_t k = 0; k < b->list.n_rows && good; ++k) good = add_row(b, k, results);
    good = json_object_set_new(root, "results", results) == 0 && good;
    if (!good) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(b->r->call, root);
}

static atn_status check_all(const batch *b) {
    size_t failed = 0, first = 0;
    for (size_t k = b->list.n_rows; k-- > 0;)
        if (*failure(b, k)) {
            ++failed;
            first = k;
        }
    if (!failed) return ATN_OK;
    return atn_fail(b->r->call->ctx, ATN_ERR_INPUT, "%zu of %zu pairs failed, first %s onto %s: %s", failed,
                    b->list.n_rows, b->list.rows[first].source, b->list.rows[first].target, failure(b, first));
}

atn_status atn_cli_register_batch(atn_cli_register *r, atn_device *device, const char *list) {
    batch b = {.r = r};
    atn_status status = atn_cli_list_read(r->call, list, &r->reading, &b.list);
    for (size_t k = 0; k < b.list.n_rows && !status; ++k)
        status = atn_cli_register_check_output(r->call, b.list.rows[k].aligned);
    if (!status) status = choose_pairs(&b);
    r->n_pairs = b.n_pairs;
    if (!status && b.n_pairs) status = atn_register_batch(device, b.n_pairs, b.pairs, &r->settings);
    atn_cli_progress_end(r->call);
    if (!status) status = atn_check_cancel(r->call->ctx);
    if (!status) status = write_aligned(&b);
    if (!status) status = r->call->json ? print_json(&b) : print_text(&b);
    if (!status) status = check_all(&b);
    atn_free(r->call->ctx, b.pairs);
    atn_free(r->call->ctx, b.pair_of);
    atn_cli_list_free(&b.list);
    return status;
}
