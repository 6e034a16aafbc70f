/* attune bench: what was measured against what others reach, in one run. */
#include "cli/cli.h"

#include "bench/bench.h"

#include <string.h>

/* What can be measured, one row each. */
static const struct {
    const char *name, *meaning;
    atn_status (*measure)(atn_bench *bench, const char *const *files, size_t n_files);
} SUBJECTS[] = {
    {"space", "counting and listing search spaces, against Python", atn_bench_space},
};
enum { N_SUBJECTS = sizeof SUBJECTS / sizeof *SUBJECTS };

static void show_progress(void *user, const char *what) { atn_cli_progress(user, "measuring %s ...", what); }

static json_t *row_json(const atn_ctx *ctx, const atn_bench_row *row) {
    json_t *object = json_object();
    if (json_object_set_new(object, "name", atn_cli_json_text(ctx, row->name)) == 0 &&
        json_object_set_new(object, "device", atn_cli_json_text(ctx, row->device)) == 0 &&
        json_object_set_new(object, "shape", atn_cli_json_text(ctx, row->shape)) == 0 &&
        json_object_set_new(object, "ours", json_real(row->ours)) == 0 &&
        json_object_set_new(object, "reference", atn_cli_json_rate(row->reference)) == 0 &&
        json_object_set_new(object, "reference_name", atn_cli_json_text(ctx, row->reference_name)) == 0 &&
        json_object_set_new(object, "ratio", atn_cli_json_rate(row->ratio)) == 0 &&
        json_object_set_new(object, "unit", json_string(row->unit)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static atn_status print_json(atn_cli_call *call, const atn_bench *bench) {
    json_t *root = json_object(), *rows = json_array();
    bool whole = json_object_set_new(root, "rows", rows) == 0;
    for (size_t k = 0; k < bench->count && whole; ++k)
        whole = json_array_append_new(rows, row_json(call->ctx, &bench->rows[k])) == 0;
    if (whole) return atn_cli_print_json(call, root);
    json_decref(root);
    return atn_cli_print_json(call, NULL);
}

static atn_status print_table(atn_cli_call *call, const atn_bench *bench) {
    atn_text table = {.ctx = call->ctx}, page = {.ctx = call->ctx};
    atn_text_add(&table, "name\tshape\tours\treference\t\tratio\tmeasured against\t\n");
    for (size_t k = 0; k < bench->count; ++k) {
        const atn_bench_row *row = &bench->rows[k];
        atn_cli_add_cell(&table, row->name);
        atn_cli_add_cell(&table, row->shape);
        atn_text_printf(&table, "%.3g\t%.3g\t%s\t%.3g\t", row->ours, row->reference, row->unit, row->ratio);
        atn_cli_add_cell(&table, row->reference_name);
        atn_text_add(&table, "\n");
    }
    atn_cli_add_table(&page, atn_text_str(&table), "llrrlrl");
    page.failed |= table.failed;
    atn_status status = atn_cli_print_text(call, "bench", &page);
    atn_text_free(&table);
    atn_text_free(&page);
    return status;
}

static atn_status run(atn_cli_call *call) {
    atn_suggest suggest = {.typed = call->operands[0]};
    atn_bench bench = {.ctx = call->ctx, .progress = show_progress, .user = call};
    for (size_t k = 0; k < N_SUBJECTS; ++k) {
        atn_suggest_try(&suggest, SUBJECTS[k].name);
        if (strcmp(SUBJECTS[k].name, call->operands[0]) != 0) continue;
        atn_status status = SUBJECTS[k].measure(&bench, call->operands + 1, call->n_operands - 1);
        atn_cli_progress_end(call);
        if (!status) status = call->json ? print_json(call, &bench) : print_table(call, &bench);
        atn_bench_free(&bench);
        return status;
    }
    return atn_cli_misuse(call, "there is nothing to measure called '%s'%s%s%s", call->operands[0],
                          suggest.best ? "; did you mean '" : "", suggest.best ? suggest.best : "",
                          suggest.best ? "'?" : "");
}

const atn_cli_verb ATN_VERB_BENCH = {
    .name = "bench",
    .summary = "measure against what others reach, in one run",
    .synopsis = "SUBJECT [FILE...]",
    .paragraphs =
        (const char *const[]){
            "SUBJECT space: counting and listing search spaces (FILE..., or two that are made for it) "
            "against a plain enumeration in Python, which python3 must be there for.",
            "JSON: rows (name, device, shape, ours, reference, reference_name, ratio, unit). A ratio "
            "above 1 says how many times as good as the reference we are.",
            NULL},
    .examples = (const atn_cli_pair[]){{"attune bench space gemm.lanai", "how fast is a space counted?"}, {0}},
    .min_operands = 1,
    .max_operands = 64,
    .run = run,
};
