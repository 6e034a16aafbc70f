/* attune tune --command: tunes the parameters of a user's command by running it. */
#include "cli/tune_list.h"

#include "cli/space_file.h"
#include "tune/command.h"

#include <stdio.h>
#include <string.h>

typedef struct showing {
    atn_cli_call *call;
    const atn_tune_options *options;
} showing;

static void show_progress(void *user, const atn_command_progress *p) {
    const showing *s = user;
    char best[64] = "none yet", left[48];
    if (p->best_s > 0) atn_cli_print_time(p->best_s, best, sizeof best);
    atn_cli_print_budget(s->options, p->elapsed_s, 0, 1, p->tried, left, sizeof left);
    atn_cli_progress(s->call, "%lld tried, %lld failed, best %s%s", (long long)p->tried, (long long)p->failed, best,
                     left);
}

static int64_t count_failed(const atn_command_result *r) {
    int64_t failed = 0;
    for (int k = 0; k < ATN_OUTCOME_COUNT; ++k) failed += r->failed[k];
    return failed;
}

static atn_status print_people(atn_cli_call *call, const atn_command_result *r) {
    atn_text page = {.ctx = call->ctx};
    char best[32], low[32], high[32], worst[32];
    atn_cli_print_time(r->best_s, best, sizeof best);
    atn_cli_print_time(r->low_s, low, sizeof low);
    atn_cli_print_time(r->high_s, high, sizeof high);
    atn_cli_print_time(r->worst_s, worst, sizeof worst);
    atn_text_printf(&page, "best      %s  (%s to %s; the slowest: %s)\n", r->variant, low, high, worst);
    atn_text_printf(&page, "time      %s\n", best);
    atn_text_printf(&page, "tried     %lld, %lld failed, in %.3g s\n", (long long)r->tried, (long long)count_failed(r),
                    r->seconds);
    if (r->runner_up)
        atn_text_printf(&page, "next      %s  (%.3f times%s)\n", r->runner_up, r->runner_up_ratio,
                        r->tie ? ", a tie" : "");
    if (*r->failure) atn_text_printf(&page, "failed    %s\n", r->failure);
    atn_status status = atn_cli_print_text(call, "tune", &page);
    atn_text_free(&page);
    return status;
}

static atn_status print_json(atn_cli_call *call, const char *command, const atn_command_result *r) {
    json_t *failed = json_object();
    bool whole = true;
    for (int k = ATN_OUTCOME_WRONG; k < ATN_OUTCOME_STARTED; ++k)
        whole = json_object_set_new(failed, atn_outcome_name((atn_outcome)k), json_integer(r->failed[k])) == 0 && whole;
    json_t *root = json_pack("{s:o, s:o, s:f, s:f, s:f, s:f, s:I, s:o, s:f, s:b, s:f}", "command",
                             atn_cli_json_text(call->ctx, command), "variant", atn_cli_json_text(call->ctx, r->variant),
                             "best_s", r->best_s, "low_s", r->low_s, "high_s", r->high_s, "worst_s", r->worst_s,
                             "tried", (json_int_t)r->tried, "failed", failed, "seconds", r->seconds, "tie", (int)r->tie,
                             "runner_up_ratio", r->runner_up_ratio);
    if (root && r->runner_up)
        whole = json_object_set_new(root, "runner_up", atn_cli_json_text(call->ctx, r->runner_up)) == 0 && whole;
    if (root && *r->failure)
        whole = json_object_set_new(root, "failure", atn_cli_json_text(call->ctx, r->failure)) == 0 && whole;
    if (root && !whole) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

static atn_status check_use(atn_cli_call *call) {
    static const char *const OTHERS[] = {"tolerance", "reproducible", "cold",  "resume", "again",
                                         "report",    "define",       "param", "size"};
    if (call->n_operands)
        return atn_cli_misuse(call, "--command tunes a command; unexpected argument '%s'", call->operands[0]);
    if (!atn_cli_has(call, "space")) return atn_cli_misuse(call, "--command takes its parameters from --space FILE");
    for (size_t k = 0; k < sizeof OTHERS / sizeof *OTHERS; ++k)
        if (atn_cli_has(call, OTHERS[k]))
            return atn_cli_misuse(call, "--%s is for kernels, not for --command", OTHERS[k]);
    return ATN_OK;
}

atn_status atn_cli_tune_command(atn_cli_call *call, const atn_tune_options *tune) {
    const char *text = atn_cli_value(call, "command"), *limit = atn_cli_value(call, "timeout");
    showing show = {call, tune};
    atn_command_options options = {.budget_s = tune->budget_s,
                                   .evaluations = tune->evaluations,
                                   .strategy = tune->strategy,
                                   .seed = tune->seed,
                                   .progress = show_progress,
                                   .user = &show};
    atn_space *space = NULL;
    atn_command command = {0};
    atn_command_result result = {0};
    atn_status status = check_use(call);
    if (!status && tune->fraction > 0)
        status = atn_cli_misuse(call, "--budget of a command is a time, such as 60s; --evals counts");
    if (!status && limit && !atn_cli_read_duration(limit, &options.timeout_s))
        status = atn_cli_misuse(call, "--timeout cannot be '%s'; it takes a time, 10s or 2m", limit);
    if (!status) status = atn_cli_space_open(call, atn_cli_value(call, "space"), &space);
    if (!status) status = atn_command_open(call->ctx, space, text, atn_cli_value(call, "time"), &command);
    if (!status) status = atn_command_tune(&command, &options, &result);
    atn_cli_progress_end(call);
    if (!status && !result.variant)
        status = result.stopped ? atn_fail(call->ctx, ATN_ERR_CANCELLED, "cancelled before anything was measured")
                                : atn_fail(call->ctx, ATN_ERR_INPUT, "no point of the space ran; the first: %s",
                                           *result.failure ? result.failure : "there was no time for any");
    if (!status) status = call->json ? print_json(call, text, &result) : print_people(call, &result);
    if (!status && result.stopped)
        status = atn_fail(call->ctx, ATN_ERR_CANCELLED, "cancelled; the best so far was printed");
    atn_command_result_free(&result);
    atn_command_close(&command);
    atn_space_free(space);
    return status;
}
