/* The results of tuning: a table for people, JSON for programs. */
#include "cli/tune_list.h"

#include <math.h>
#include <stdio.h>

void atn_cli_print_budget(const atn_tune_options *o, double elapsed_s, int32_t index, int32_t count, int64_t tried,
                          char *text, size_t bytes) {
    double tried_part = o->evaluations > 0 ? fmin(1, (double)tried / (double)o->evaluations) : 0;
    double by_time = o->budget_s > 0 ? elapsed_s / o->budget_s : 0, by_count = (index + tried_part) / count;
    char share[48];
    *text = '\0';
    if (!(o->budget_s > 0) && o->evaluations <= 0) return;
    atn_cli_print_share(elapsed_s, o->evaluations > 0 ? fmax(by_time, by_count) : by_time, share, sizeof share);
    snprintf(text, bytes, ", %s", share);
}

void atn_cli_print_time(double seconds, char *text, size_t bytes) {
    static const struct {
        double from;
        const char *unit;
    } UNITS[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    int k = 0;
    while (k < 3 && seconds < UNITS[k].from) ++k;
    snprintf(text, bytes, "%.3g %s", seconds / UNITS[k].from, UNITS[k].unit);
}

/* ---- for people ---- */

static void add_time(atn_text *table, double seconds) {
    char text[32] = "-";
    if (seconds > 0) atn_cli_print_time(seconds, text, sizeof text);
    atn_cli_add_cell(table, text);
}

static void add_row(atn_text *table, const atn_cli_label *label, const atn_tune_result *r) {
    char text[64];
    int64_t failed = 0;
    for (int k = 0; k < ATN_OUTCOME_COUNT; ++k) failed += r->failed[k];
    atn_cli_add_cell(table, label->kernel);
    atn_cli_add_cell(table, label->shape);
    add_time(table, r->default_s);
    add_time(table, r->best_s);
    add_time(table, r->worst_s);
    snprintf(text, sizeof text, "%.2fx", r->best_s > 0 ? r->default_s / r->best_s : 0);
    atn_cli_add_cell(table, r->best_s > 0 && r->default_s > 0 ? text : "-");
    snprintf(text, sizeof text, "%.0f %%", 100 * r->fraction_of_peak);
    atn_cli_add_cell(table, r->fraction_of_peak > 0 ? text : "-");
    snprintf(text, sizeof text, "%lld", (long long)r->tried);
    atn_cli_add_cell(table, text);
    snprintf(text, sizeof text, "%lld", (long long)failed);
    atn_cli_add_cell(table, text);
    atn_cli_add_cell(table, !r->variant ? "none is right" : *r->variant ? r->variant : "plain");
    atn_text_add(table, "\n");
}

static atn_status print_text(atn_cli_call *call, const atn_device_info *info, const atn_cli_work *list,
                             const atn_tune_result *results) {
    atn_text table = {.ctx = call->ctx}, page = {.ctx = call->ctx};
    atn_text_add(&table, "kernel\tshape\tdefault\tbest\tworst\tgain\tof peak\ttried\tfailed\tvariant\t\n");
    bool drifted = false;
    for (int32_t k = 0; k < list->n; ++k) {
        if (results[k].tried > 0) add_row(&table, &list->labels[k], &results[k]);
        drifted = drifted || results[k].drifted;
    }
    atn_cli_add_table(&page, atn_text_str(&table), "llrrrrrrrl");
    for (int32_t k = 0; k < list->n; ++k) {
        const atn_tune_result *r = &results[k];
        if (r->tie && r->runner_up)
            atn_text_printf(&page, "%s %s: a tie with %s (%.3f)\n", list->labels[k].kernel, list->labels[k].shape,
                            *r->runner_up ? r->runner_up : "plain", r->runner_up_ratio);
    }
    if (drifted) atn_text_printf(&page, "The speed of the machine changed during tuning; --again measures again.\n");
    atn_text_printf(&page, "On %s (%s).\n", info->name, info->backend);
    atn_status status = atn_cli_print_text(call, "tune", &page);
    atn_text_free(&table);
    atn_text_free(&page);
    return status;
}

/* ---- for programs ---- */

static bool put(json_t *object, const char *name, json_t *value) {
    return json_object_set_new(object, name, value) == 0;
}

static json_t *time_json(double seconds) { return seconds > 0 ? json_real(seconds) : json_null(); }

static json_t *failed_json(const atn_tune_result *r) {
    json_t *object = json_object();
    bool whole = true;
    for (int k = ATN_OUTCOME_WRONG; k < ATN_OUTCOME_STARTED; ++k)
        whole = put(object, atn_outcome_name((atn_outcome)k), json_integer(r->failed[k])) && whole;
    return atn_cli_json_if(whole, object);
}

static json_t *choices_json(const atn_ctx *ctx, const atn_tune_result *r) {
    json_t *array = json_array();
    bool whole = array != NULL;
    for (int32_t k = 0; k < r->n_choices; ++k) {
        json_t *one = json_object();
        whole = put(one, "variant", atn_cli_json_text(ctx, r->choices[k].variant)) && whole;
        whole = put(one, "seconds", json_real(r->choices[k].seconds)) && whole;
        whole = put(one, "error", json_real(r->choices[k].error)) && whole;
        whole = json_array_append_new(array, one) == 0 && whole;
    }
    return atn_cli_json_if(whole, array);
}

/* Adds all that is known of one workload to an object. */
static bool fill(const atn_ctx *ctx, json_t *object, const atn_device_info *info, const atn_cli_label *label,
                 const atn_tune_result *r) {
    bool whole = put(object, "kernel", atn_cli_json_text(ctx, label->kernel));
    whole = put(object, "device", atn_cli_json_text(ctx, info->name)) && whole;
    whole = put(object, "shape", atn_cli_json_text(ctx, label->shape)) && whole;
    whole = put(object, "default_s", time_json(r->default_s)) && whole;
    whole = put(object, "best_s", time_json(r->best_s)) && whole;
    whole = put(object, "low_s", time_json(r->low_s)) && whole;
    whole = put(object, "high_s", time_json(r->high_s)) && whole;
    whole = put(object, "worst_s", time_json(r->worst_s)) && whole;
    whole = put(object, "variant", r->variant ? atn_cli_json_text(ctx, r->variant) : json_null()) && whole;
    whole = put(object, "estimate", r->estimate ? atn_cli_json_text(ctx, r->estimate) : json_null()) && whole;
    whole = put(object, "runner_up", r->runner_up ? atn_cli_json_text(ctx, r->runner_up) : json_null()) && whole;
    whole = put(object, "tie", json_boolean(r->tie)) && whole;
    whole = put(object, "tried", json_integer(r->tried)) && whole;
    whole = put(object, "recalled", json_integer(r->recalled)) && whole;
    whole = put(object, "failed", failed_json(r)) && whole;
    whole = put(object, "seconds", json_real(r->seconds)) && whole;
    whole = put(object, "fraction_of_peak", atn_cli_json_rate(r->fraction_of_peak)) && whole;
    whole = put(object, "drifted", json_boolean(r->drifted)) && whole;
    whole = put(object, "stopped", json_boolean(r->stopped)) && whole;
    return put(object, "choices", choices_json(ctx, r)) && whole;
}

static atn_status print_json(atn_cli_call *call, const atn_device_info *info, const atn_cli_work *list,
                             const atn_tune_result *results) {
    json_t *root = json_object(), *rows = json_array();
    bool whole = root && rows;
    if (list->n == 1) whole = fill(call->ctx, root, info, &list->labels[0], &results[0]) && whole;
    for (int32_t k = 0; k < list->n; ++k) {
        if (results[k].tried == 0) continue; /* stopped before its turn */
        json_t *row = json_object();
        whole = fill(call->ctx, row, info, &list->labels[k], &results[k]) && whole;
        whole = json_array_append_new(rows, row) == 0 && whole;
    }
    whole = put(root, "results", rows) && whole;
    if (whole) return atn_cli_print_json(call, root);
    json_decref(root);
    return atn_cli_print_json(call, NULL);
}

atn_status atn_cli_print_tuned(atn_cli_call *call, const atn_device_info *info, const atn_cli_work *list,
                               const atn_tune_result *results) {
    return call->json ? print_json(call, info, list, results) : print_text(call, info, list, results);
}
