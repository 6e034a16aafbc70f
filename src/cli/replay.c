/* attune replay: how good a strategy is on a recorded space. Needs no device. */
#include "cli/cli.h"

#include "tune/replay.h"

#include <string.h>

/* ---- progress ---- */

typedef struct watched {
    atn_cli_call *call;
    const char *strategy;
} watched;

static void show_progress(void *user, int64_t done, int64_t repeats) {
    const watched *w = user;
    char doing[48];
    snprintf(doing, sizeof doing, "replaying %.36s", w->strategy);
    atn_cli_show_progress(w->call, &(atn_progress){.doing = doing, .done = done, .count = repeats});
}

/* ---- output ---- */

static json_t *result_json(const atn_replay_result *result) {
    json_t *object = json_object();
    return atn_cli_json_if(json_object_set_new(object, "strategy", json_string(result->strategy)) == 0 &&
                               json_object_set_new(object, "evals", json_integer(result->evaluations)) == 0 &&
                               json_object_set_new(object, "repeats", json_integer(result->repeats)) == 0 &&
                               json_object_set_new(object, "points", json_integer(result->points)) == 0 &&
                               json_object_set_new(object, "failures", json_integer(result->failures)) == 0 &&
                               json_object_set_new(object, "mean_best", json_real(result->mean_best)) == 0 &&
                               json_object_set_new(object, "optimum", json_real(result->optimum)) == 0 &&
                               json_object_set_new(object, "median", json_real(result->median)) == 0 &&
                               json_object_set_new(object, "fraction", json_real(result->fraction)) == 0 &&
                               json_object_set_new(object, "found", json_real(result->found)) == 0 &&
                               json_object_set_new(object, "score", json_real(result->score)) == 0 &&
                               json_object_set_new(object, "seconds", json_real(result->seconds)) == 0,
                           object);
}

static json_t *rows_json(const atn_replay_result *results, size_t n) {
    json_t *root = json_object(), *rows = json_array();
    bool whole = rows != NULL;
    for (size_t k = 0; k < n && whole; ++k) whole = json_array_append_new(rows, result_json(&results[k])) == 0;
    rows = atn_cli_json_if(whole, rows);
    return atn_cli_json_if(json_object_set_new(root, "rows", rows) == 0, root);
}

static atn_status print_table(atn_cli_call *call, const atn_replay_result *results, size_t n) {
    atn_text table = {.ctx = call->ctx}, text = {.ctx = call->ctx};
    atn_text_printf(&text, "%lld points, %lld of them failures; %lld evaluations, %lld repeats; optimum %.6g s\n\n",
                    (long long)results->points, (long long)results->failures, (long long)results->evaluations,
                    (long long)results->repeats, results->optimum);
    atn_text_add(&table, "strategy\tscore\tmean best\tof optimum\toptimum found\ttook\t\n");
    for (size_t k = 0; k < n; ++k)
        atn_text_printf(&table, "%s\t%.3f\t%.6g s\t%.2f %%\t%.0f %%\t%.1f s\t\n", results[k].strategy, results[k].score,
                        results[k].mean_best, 100 * results[k].fraction, 100 * results[k].found, results[k].seconds);
    if (atn_text_status(&table))
        text.failed = true;
    else
        atn_cli_add_table(&text, atn_text_str(&table), "lrrrrr");
    atn_status status = atn_cli_print_text(call, "replay", &text);
    atn_text_free(&table);
    atn_text_free(&text);
    return status;
}

/* ---- the verb ---- */

enum { MOST_STRATEGIES = 32 };

static atn_status replay_one(atn_cli_call *call, const atn_recorded *recorded, const atn_strategy *strategy,
                             atn_replay_options *options, atn_replay_result *result) {
    watched w = {.call = call, .strategy = strategy->name};
    options->progress = show_progress;
    options->user = &w;
    atn_status status = atn_replay(call->ctx, recorded, strategy, options, result);
    atn_cli_progress_end(call);
    return status == ATN_ERR_INPUT ? atn_fail_within(call->ctx, status, "%s", call->operands[0]) : status;
}

static atn_status run(atn_cli_call *call) {
    const char *name = atn_cli_value(call, "strategy");
    bool all = name && strcmp(name, "all") == 0;
    const atn_strategy *strategy = all ? NULL : atn_strategy_find(name);
    if (!all && !strategy) return atn_cli_misuse(call, "there is no strategy '%s'", name);
    double evaluations, repeats, seed;
    atn_status status = atn_cli_read_whole(call, "evals", 1, 0, &evaluations);
    if (!status) status = atn_cli_read_whole(call, "repeats", 1, 0, &repeats);
    if (!status) status = atn_cli_read_whole(call, "seed", 0, 1, &seed);
    if (status) return status;
    atn_replay_options options = {
        .evaluations = (int64_t)evaluations, .repeats = (int64_t)repeats, .seed = (uint64_t)seed};
    atn_recorded *recorded;
    status = atn_recorded_read(call->ctx, call->operands[0], &recorded);
    if (status) return status;
    const char *t4 = atn_cli_value(call, "t4");
    if (t4) status = atn_recorded_write_t4(call->ctx, recorded, t4);
    atn_replay_result results[MOST_STRATEGIES] = {{0}};
    size_t n = 0;
    if (!all && !status) status = replay_one(call, recorded, strategy, &options, &results[n++]);
    for (; all && !status && ATN_STRATEGIES[n] && n < MOST_STRATEGIES; ++n)
        status = replay_one(call, recorded, ATN_STRATEGIES[n], &options, &results[n]);
    atn_recorded_free(recorded);
    if (status) return status;
    if (!call->json) return print_table(call, results, n);
    return atn_cli_print_json(call, all ? rows_json(results, n) : result_json(&results[0]));
}

const atn_cli_verb ATN_VERB_REPLAY = {
    .name = "replay",
    .summary = "evaluate search strategies on a recorded space, without a device",
    .synopsis = "CACHE.json.gz",
    .paragraphs =
        (const char *const[]){
            "Reads a space that was measured completely (a Kernel Tuner cache or T4 results, optionally gzipped) and "
            "lets a strategy search it. Failed points count as evaluations. A truncated file is read as far as "
            "possible.",
            "The score is the progress from random search (0) to the optimum (1), averaged over the evaluations.",
            "JSON: strategy, evals, repeats, points, failures, mean_best, optimum, median (seconds), fraction (optimum "
            "/ mean_best), found (repeats that found the optimum), score, seconds; for all strategies these in "
            "rows.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("strategy", "default|portfolio|model|local|evolutionary|annealing|random|exhaustive|all",
                       "strategy, or all to compare them; default: portfolio"),
            ATN_OPTION("evals", "N", "evaluations; default: 200"),
            ATN_OPTION("repeats", "N", "repeats; default: 100"),
            ATN_OPTION("seed", "N", "of the first repeat; default: 1"),
            ATN_OPTION("t4", "FILE", "also write the space as T4 results"),
            {0}},
    .examples =
        (const atn_cli_pair[]){{"attune replay cache.json.gz --strategy all", "which strategy is best here?"}, {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
