/* attune register --batch: many pairs in one run, kernels planned once. A pair that fails does not stop the others, and
 * each is printed as soon as it is done. */
#include "cli/register.h"
#include "cli/register_list.h"
#include "cli/rows.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "plot/page.h"

#include <stdlib.h>
#include <string.h>

typedef struct batch {
    atn_cli_register *r;
    atn_device *const *devices;
    int32_t n_devices;
    atn_cli_list list;
    size_t limit;             /* rows before it are this piece */
    size_t first, end;        /* rows that are at work */
    atn_register_pair *pairs; /* those of them that can be worked on */
    size_t *pair_of;          /* by row, from `first` on; SIZE_MAX: none */
    size_t *row_of;           /* by pair */
    size_t n_pairs;
    double voxel;  /* edge; 0: all points are registered */
    int names[2];  /* columns that sources and targets take in the table */
    bool begun;    /* the text before the rows is printed */
    size_t told;   /* rows so far */
    size_t failed; /* of these, and the first of them: */
    atn_text first_failed;
    bool reported;     /* rows are kept for the report */
    atn_text rows;     /* of it */
    atn_status status; /* of telling; a failure is kept until the work returns */
} batch;

static size_t pair_of(const batch *b, size_t row) { return b->pair_of[row - b->first]; }

/* Why there is no result that can be trusted; "" where there is one. */
static const char *failure(const batch *b, size_t row) {
    const char *objection = atn_cli_list_objection(&b->list, &b->list.rows[row]);
    if (*objection) return objection;
    const atn_register_pair *pair = &b->pairs[pair_of(b, row)];
    if (pair->status) return *pair->message ? pair->message : atn_status_name(pair->status);
    return pair->result.verdict == ATN_VERDICT_REFUSED ? pair->result.reason : "";
}

static const atn_register_result *result_of(const batch *b, size_t row) {
    if (pair_of(b, row) == SIZE_MAX || b->pairs[pair_of(b, row)].status) return NULL;
    return &b->pairs[pair_of(b, row)].result;
}

static void drop_pairs(batch *b) {
    const atn_ctx *ctx = b->r->call->ctx;
    atn_free(ctx, b->pairs);
    atn_free(ctx, b->pair_of);
    atn_free(ctx, b->row_of);
    b->pairs = NULL;
    b->pair_of = b->row_of = NULL;
    b->n_pairs = 0;
}

static atn_status choose_pairs(batch *b) {
    const atn_ctx *ctx = b->r->call->ctx;
    size_t rows = b->end - b->first;
    b->pairs = atn_zalloc(ctx, (rows + 1) * sizeof *b->pairs);
    b->pair_of = atn_zalloc(ctx, (rows + 1) * sizeof *b->pair_of);
    b->row_of = atn_zalloc(ctx, (rows + 1) * sizeof *b->row_of);
    if (!b->pairs || !b->pair_of || !b->row_of) return ATN_ERR_MEMORY;
    for (size_t k = b->first; k < b->end; ++k) {
        const atn_cli_list_row *row = &b->list.rows[k];
        const atn_cli_list_cloud *source = &b->list.clouds[row->clouds[0]], *target = &b->list.clouds[row->clouds[1]];
        b->pair_of[k - b->first] = SIZE_MAX;
        if (*atn_cli_list_objection(&b->list, row)) continue;
        b->pair_of[k - b->first] = b->n_pairs;
        b->row_of[b->n_pairs] = k;
        b->pairs[b->n_pairs++] = (atn_register_pair){.source = source->thin ? source->thin : source->cloud,
                                                     .target = target->thin ? target->thin : target->cloud,
                                                     .start = row->has_start ? row->start : NULL,
                                                     .init = row->searched ? ATN_START_AUTO : ATN_START_DEFAULT};
    }
    return ATN_OK;
}

/* What a row asks to be written; a failure is that row's. */
static void write_files(batch *b, size_t k) {
    atn_cli_call *call = b->r->call;
    atn_cli_list_row *row = &b->list.rows[k];
    const atn_register_result *x = result_of(b, k);
    atn_cloud *moved = NULL;
    atn_status status = ATN_OK;
    if (x && row->matrix) status = atn_cli_matrix_write(call->ctx, row->matrix, x->transform);
    if (!status && x && row->aligned) {
        status = atn_cloud_moved(b->list.clouds[row->clouds[0]].cloud, x->transform, &moved);
        if (!status) status = atn_cli_register_write(call, moved, row->aligned);
        atn_cloud_free(moved);
    }
    if (status) snprintf(row->message, sizeof row->message, "%s", atn_ctx_message(call->ctx));
}

/* ---- rows for people ---- */

static void say(const batch *b, size_t k, char *said, size_t size) {
    const atn_register_result *x = result_of(b, k);
    const char *why = failure(b, k);
    snprintf(said, size, "%s%s%s", x ? atn_verdict_name(x->verdict) : "", x ? ": " : "", x && !*why ? x->reason : why);
}

/* Names are as wide as the widest of the list, so that rows need not wait for each other. */
static void measure_names(batch *b) {
    b->names[0] = b->names[1] = 6;
    for (size_t k = 0; k < b->list.n_rows; ++k) {
        const char *names[2] = {b->list.rows[k].source, b->list.rows[k].target};
        for (int n = 0; n < 2; ++n)
            if ((int)strlen(names[n]) > b->names[n]) b->names[n] = (int)strlen(names[n]);
    }
}

static void print_row(const batch *b, size_t k) {
    FILE *out = b->r->call->out;
    const atn_register_result *x = result_of(b, k);
    char said[256];
    say(b, k, said, sizeof said);
    for (char *c = said; *c; ++c)
        if ((unsigned char)*c < ' ') *c = ' ';
    fprintf(out, "%-*s  %-*s  ", b->names[0], b->list.rows[k].source, b->names[1], b->list.rows[k].target);
    if (x)
        fprintf(out, "%9.4g  %5.1f %%  %10d  %7.3g  %s\n", x->rmse, 100 * x->overlap, (int)x->iterations, x->seconds,
                said);
    else
        fprintf(out, "%9s  %7s  %10s  %7s  %s\n", "-", "-", "-", "-", said);
}

/* ---- rows for programs: one object, row after row ---- */

static bool fill_row(const batch *b, size_t k, json_t *object) {
    const atn_ctx *ctx = b->r->call->ctx;
    const atn_cli_list_row *row = &b->list.rows[k];
    const atn_register_result *x = result_of(b, k);
    const char *why = failure(b, k);
    bool good = true;
    if (x) {
        const atn_register_pair *pair = &b->pairs[pair_of(b, k)];
        size_t used[2] = {atn_cloud_info_of(pair->source).points, atn_cloud_info_of(pair->target).points};
        atn_cli_registered done = {.source_name = row->source,
                                   .target_name = row->target,
                                   .source = b->list.clouds[row->clouds[0]].cloud,
                                   .target = b->list.clouds[row->clouds[1]].cloud,
                                   .voxel = b->voxel,
                                   .used = {b->voxel > 0 ? used[0] : 0, b->voxel > 0 ? used[1] : 0},
                                   .result = x,
                                   .estimated_bytes =
                                       atn_register_bytes(b->devices[0], &b->r->settings, used[0], used[1])};
        good = atn_cli_register_json(b->r, &done, object);
    } else {
        json_t *source = json_object(), *target = json_object();
        good = json_object_set_new(source, "file", atn_cli_json_text(ctx, row->source)) == 0 &&
               json_object_set_new(target, "file", atn_cli_json_text(ctx, row->target)) == 0 &&
               json_object_set_new(object, "converged", json_false()) == 0;
        good = json_object_set_new(object, "source", source) == 0 && good;
        good = json_object_set_new(object, "target", target) == 0 && good;
    }
    return good && json_object_set_new(object, "error", *why ? atn_cli_json_text(ctx, why) : json_null()) == 0;
}

static atn_status print_json_row(const batch *b, size_t k) {
    atn_cli_call *call = b->r->call;
    atn_text text = {.ctx = call->ctx};
    json_t *object = json_object();
    atn_status status = atn_cli_json_add(&text, fill_row(b, k, object) ? object : NULL);
    json_decref(object);
    if (!status) fprintf(call->out, "%s%s", k ? "," : "", atn_text_str(&text));
    atn_text_free(&text);
    return status;
}

/* ---- as they come ---- */

/* The text before the rows, together with the first of them: a run that is refused before that has printed nothing. */
static void begin(batch *b, FILE *out) {
    if (b->begun) return;
    b->begun = b->r->call->printed = true;
    if (b->r->call->json)
        fputs("{\"results\": [\n", out);
    else
        fprintf(out, "%-*s  %-*s  %9s  %7s  %10s  %7s\n", b->names[0], "source", b->names[1], "target", "rmse",
                "overlap", "iterations", "seconds");
}

/* For the report, and the last line. */
static void keep_row(batch *b, size_t k) {
    const atn_register_result *x = result_of(b, k);
    const atn_cli_list_row *row = &b->list.rows[k];
    const char *why = failure(b, k);
    if (*why && !b->failed++) atn_text_printf(&b->first_failed, "%s onto %s: %s", row->source, row->target, why);
    if (!b->reported) return;
    char said[256];
    say(b, k, said, sizeof said);
    atn_cli_add_cell(&b->rows, row->source);
    atn_cli_add_cell(&b->rows, row->target);
    if (x)
        atn_text_printf(&b->rows, "%.4f\t%.4g\t%.1f %%\t%d\t%.3g\t", atn_cli_turn_of(x->transform).degrees, x->rmse,
                        100 * x->overlap, (int)x->iterations, x->seconds);
    else
        atn_text_add(&b->rows, "\t\t\t\t\t");
    atn_cli_add_cell(&b->rows, said);
    atn_text_add(&b->rows, "\n");
}

/* Rows up to `end`, each with its files. */
static void tell_until(batch *b, size_t end) {
    atn_cli_call *call = b->r->call;
    for (; b->told < end && !b->status; ++b->told) {
        atn_cli_progress_end(call);
        write_files(b, b->told);
        if (call->json)
            b->status = print_json_row(b, b->told);
        else
            print_row(b, b->told);
        keep_row(b, b->told);
        fflush(call->out);
    }
}

static void pair_done(void *user, size_t pair) {
    batch *b = user;
    if (b->pairs[pair].status == ATN_ERR_CANCELLED) return;
    tell_until(b, b->row_of[pair] + 1);
    b->r->pair = b->told + 1;
}

/* ---- the report ---- */

static atn_status write_report(const batch *b, const char *list, const char *path) {
    const atn_ctx *ctx = b->r->call->ctx;
    atn_text page = {.ctx = ctx}, subtitle = {.ctx = ctx};
    atn_text_printf(&subtitle, "%zu pairs of %s, %zu failed or refused; %s, %s", b->list.n_rows, list, b->failed,
                    b->r->method, b->r->transform);
    atn_page_begin(&page, "attune register --batch", atn_text_str(&subtitle));
    atn_page_table(&page, atn_text_str(&b->rows), "llrrrrrl");
    if (b->rows.failed || subtitle.failed) page.failed = true;
    atn_status status = atn_cli_page_write(b->r->call, &page, path);
    atn_text_free(&subtitle);
    atn_text_free(&page);
    return status;
}

/* ---- the whole ---- */

static atn_status check_all(const batch *b) {
    if (!b->failed) return ATN_OK;
    return atn_fail(b->r->call->ctx, ATN_ERR_INPUT, "%zu of %zu pairs failed, first %s", b->failed, b->list.n_rows,
                    atn_text_str(&b->first_failed));
}

/* Rows from b->first on, as many as are read at once. */
static atn_status work_some(batch *b) {
    atn_cli_register *r = b->r;
    bool thinned = atn_cli_has(r->call, "voxel");
    b->end = b->limit;
    atn_status status =
        atn_cli_list_take(r->call, &r->reading, thinned ? &b->voxel : NULL, &b->list, b->first, &b->end);
    if (!status) status = choose_pairs(b);
    r->pair = b->first + 1;
    if (!status && b->n_pairs)
        status = atn_register_batch_several(b->devices, b->n_devices, b->n_pairs, b->pairs, &r->settings);
    atn_cli_progress_end(r->call);
    if (!status) status = atn_check_cancel(r->call->ctx);
    if (!status) tell_until(b, b->end);
    drop_pairs(b);
    atn_cli_list_drop(&b->list, b->first, b->end);
    b->first = b->end;
    return status ? status : b->status;
}

/* ---- in pieces, on several ranks or with a journal ---- */

/* What the first rank has reported. */
typedef struct telling {
    FILE *out;
    batch *b;
    size_t failed;
    atn_text first_failed, rows;
} telling;

/* What is printed goes into the answer. */
static atn_status work_rows(void *user, atn_cli_rows_answer *a) {
    batch *b = ((telling *)user)->b;
    atn_cli_call *call = b->r->call;
    FILE *before = call->out;
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) return atn_fail_memory(call->ctx, 0, "what is printed");
    call->out = memory;
    b->first = b->told = a->from;
    b->limit = a->to;
    b->failed = 0;
    atn_status status = ATN_OK;
    while (!status && b->first < b->limit) status = work_some(b);
    call->out = before;
    if (fclose(memory) != 0 && !status) status = atn_fail_memory(call->ctx, length, "what is printed");
    if (!status) atn_text_add_bytes(&a->printed, text, length);
    free(text);
    if (call->ranks->count > 1) atn_cli_list_drop_all(&b->list); /* it is unknown which rank has the next rows */
    a->failed = b->failed;
    a->first_failed = b->first_failed;
    a->report = b->rows;
    b->first_failed = b->rows = (atn_text){.ctx = call->ctx};
    return status ? status : a->printed.failed ? ATN_ERR_MEMORY : ATN_OK;
}

static atn_status tell_rows(void *user, const atn_cli_rows_answer *a) {
    telling *t = user;
    begin(t->b, t->out);
    if (a->failed && !t->failed) atn_text_add(&t->first_failed, atn_text_str(&a->first_failed));
    t->failed += a->failed;
    atn_text_add_bytes(&t->rows, atn_text_str(&a->report), a->report.length);
    fwrite(atn_text_str(&a->printed), 1, a->printed.length, t->out);
    fflush(t->out); /* a full disk is said at the end, as always */
    return t->rows.failed || t->first_failed.failed ? ATN_ERR_MEMORY : ATN_OK;
}

/* The list, what it names as that is now, and what is asked of it; not where it is done. */
static atn_status make_key(const batch *b, const char *path, char *key, size_t room) {
    enum { LONGEST = 1 << 28 };
    static const char *const ELSEWHERE[] = {"resume", "device", "verbose"};
    atn_cli_call *call = b->r->call;
    char *data, text[ATN_HASH_TEXT];
    size_t length;
    atn_status status = atn_file_read(call->ctx, path, LONGEST, &data, &length);
    if (status) return status;
    atn_hash hash = atn_hash_add_text((atn_hash){0}, atn_version());
    hash = atn_cli_list_hash(&b->list, atn_hash_add(hash, data, length));
    hash = atn_cli_hash_options(call, hash, ELSEWHERE, sizeof ELSEWHERE / sizeof *ELSEWHERE);
    atn_hash_print(hash, text);
    snprintf(key, room, "%s", text);
    atn_free(call->ctx, data);
    return ATN_OK;
}

/* By all ranks; the first one knows all of it then. */
static atn_status work_in_pieces(batch *b, const char *path) {
    enum { MOST = 4096 };
    atn_cli_call *call = b->r->call;
    telling t = {.out = call->out, .b = b, .first_failed = {.ctx = call->ctx}, .rows = b->rows};
    atn_cli_rows rows = {.call = call, .count = b->list.n_rows, .most = MOST, .work = work_rows, .tell = tell_rows};
    rows.user = &t;
    rows.journal = atn_cli_value(call, "resume");
    b->rows = (atn_text){.ctx = call->ctx};
    atn_status status = rows.journal ? make_key(b, path, rows.key, sizeof rows.key) : ATN_OK;
    if (!status && atn_cli_has(call, "voxel") && b->voxel == 0 && b->list.n_rows) { /* that of the first cloud */
        size_t end = 1;
        status = atn_cli_list_take(call, &b->r->reading, &b->voxel, &b->list, 0, &end);
        atn_cli_list_drop_all(&b->list);
    }
    if (!status) status = atn_cli_rows_run(&rows);
    atn_text_free(&b->rows);
    atn_text_free(&b->first_failed);
    b->rows = t.rows;
    b->first_failed = t.first_failed;
    b->failed = t.failed;
    return status;
}

/* The list is read; what was printed stays complete if the work ends early. */
static atn_status work(batch *b, const char *path) {
    atn_cli_register *r = b->r;
    atn_status status = ATN_OK;
    r->n_pairs = b->limit = b->list.n_rows;
    r->settings.done = pair_done;
    r->settings.done_user = b;
    bool pieces = r->call->ranks->count > 1 || atn_cli_has(r->call, "resume");
    measure_names(b);
    if (!pieces) begin(b, r->call->out);
    if (pieces)
        status = work_in_pieces(b, path);
    else
        while (!status && b->first < b->list.n_rows) status = work_some(b);
    if (!status) begin(b, r->call->out);
    if (b->begun && r->call->json) fputs("]}\n", r->call->out);
    return status;
}

atn_status atn_cli_register_batch(atn_cli_register *r, atn_device *const *devices, int32_t n_devices,
                                  const char *list) {
    atn_cli_call *call = r->call;
    const char *report = atn_cli_value(call, "report");
    batch b = {.r = r,
               .devices = devices,
               .n_devices = n_devices,
               .voxel = r->voxel,
               .reported = report != NULL,
               .rows = {.ctx = call->ctx},
               .first_failed = {.ctx = call->ctx}};
    if (report && call->ranks->rank == 0)
        atn_text_add(&b.rows, "source\ttarget\trotation, °\trmse\toverlap\titerations\tseconds\tverdict\t\n");
    atn_status status = atn_cli_register_check_files(call);
    if (!status) status = atn_cli_list_read(call, list, &b.list);
    if (!status) status = work(&b, list);
    if (!status && report && call->ranks->rank == 0) status = write_report(&b, list, report);
    if (!status) status = check_all(&b);
    atn_text_free(&b.rows);
    atn_text_free(&b.first_failed);
    atn_cli_list_free(&b.list);
    return status;
}
