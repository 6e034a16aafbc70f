/* attune tune unwrap: knobs of the phase unwrapper, measured with whole frames. */
#include "cli/tune_list.h"

#include "base/clock.h"

#include <attune/unwrap.h>

#include <stdio.h>
#include <string.h>

static const char *const SIZES[] = {"512x512", "1024x1024", "2048x2048"};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

typedef struct showing {
    atn_cli_call *call;
    const char *size;
    const atn_tune_options *options;
    int32_t index, count;
    double since_s; /* of all of them */
} showing;

static void show_progress(void *user, const atn_unwrap_tuned *t) {
    const showing *s = user;
    char best[64] = "none yet", left[48];
    if (t->seconds > 0) atn_cli_print_time(t->seconds, best, sizeof best);
    atn_cli_print_budget(s->options, atn_clock_seconds() - s->since_s, s->index, s->count, t->tried, left, sizeof left);
    atn_cli_progress(s->call, "unwrap %s: %d tried, %d failed, best %s%s", s->size, t->tried, t->failed, best, left);
}

static int32_t bits_of(const atn_cli_call *call) {
    const char *given;
    int32_t bits = 32;
    for (size_t at = 0; (given = atn_cli_next(call, "define", &at));)
        if (strncmp(given, "USED_FLOAT=", 11) == 0) bits = strcmp(given + 11, "DP") == 0 ? 64 : 32;
    return bits;
}

static atn_status tune_one(showing *show, atn_device *device, double budget_s, atn_tune_result *result,
                           atn_unwrap_tuned *tuned) {
    int64_t shape[3];
    atn_cli_call *call = show->call;
    const atn_tune_options *options = show->options;
    if (atn_cli_read_shape(show->size, shape) != 2)
        return atn_cli_misuse(call, "--size cannot be '%s'; it takes ROWSxCOLUMNS of a frame, such as 1024x1024",
                              show->size);
    atn_unwrap_tune_settings o = {.bits = bits_of(call),
                                  .seconds = budget_s,
                                  .evaluations = (int32_t)(options->evaluations < 512 ? options->evaluations : 512),
                                  .space = options->space,
                                  .space_name = options->space_name,
                                  .progress = show_progress,
                                  .user = show};
    double since = atn_clock_seconds();
    atn_status status = atn_unwrap_tune(device, shape[1], shape[0], &o, tuned);
    *result = (atn_tune_result){.ctx = call->ctx,
                                .variant = status == ATN_OK ? tuned->knobs : NULL,
                                .default_s = tuned->default_seconds,
                                .best_s = tuned->seconds,
                                .tried = tuned->tried,
                                .seconds = atn_clock_seconds() - since};
    result->failed[ATN_OUTCOME_WRONG] = tuned->failed;
    return status;
}

atn_status atn_cli_tune_unwrap(atn_cli_call *call, atn_device *device, const atn_tune_options *options) {
    const char *given = atn_cli_value(call, "size");
    atn_cli_label labels[SIZE_COUNT] = {0};
    atn_tune_result results[SIZE_COUNT] = {0};
    atn_unwrap_tuned tuned[SIZE_COUNT] = {0};
    atn_cli_work list = {.ctx = call->ctx, .labels = labels, .n = given ? 1 : SIZE_COUNT};
    showing show = {.call = call, .options = options, .count = list.n, .since_s = atn_clock_seconds()};
    double until = show.since_s + options->budget_s;
    atn_status status = ATN_OK;
    atn_ctx_on_progress(call->ctx, NULL, NULL); /* a line of its own */
    for (int32_t k = 0; k < list.n && status == ATN_OK; ++k) {
        const char *size = given ? given : SIZES[k];
        double left = options->budget_s > 0 ? (until - atn_clock_seconds()) / (list.n - k) : 0;
        labels[k].kernel = "unwrap";
        snprintf(labels[k].shape, sizeof labels[k].shape, "%s", size);
        show.size = size;
        show.index = k;
        status = tune_one(&show, device, options->budget_s > 0 && left < 0.01 ? 0.01 : left, &results[k], &tuned[k]);
    }
    atn_cli_progress_end(call);
    return status == ATN_OK ? atn_cli_print_tuned(call, atn_device_get_info(device), &list, results) : status;
}
