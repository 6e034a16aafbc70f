/* The search over the points of a command: strategies propose, runs answer; a candidate alternates with the best so
 * far, and the best few are compared in a final. */
#include "base/clock.h"
#include "base/memory.h"
#include "tune/command.h"
#include "tune/domain.h"
#include "tune/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FINALISTS = 4 };
static const double TIMEOUT_S = 60, SLACK_S = 1, PATIENCE = 10, NEAR_BEST = 1.12;
/* Runs of a command are dear: fewer of them than of a kernel. */
static const atn_race_rules DUEL = {.least = 2, .most = 5}, FINAL = {.least = 5, .most = 11};

typedef struct finalist {
    int32_t *point;
    double seconds;
} finalist;

typedef struct search {
    const atn_command *command;
    const atn_command_options *options;
    atn_command_result *out;
    atn_space_domain domain;
    const atn_strategy *strategy;
    void *self;
    double begun;
    double best_clock;        /* of one run of the best, by the clock */
    finalist best[FINALISTS]; /* fastest first; seconds INFINITY: none */
    const int32_t *contestants[FINALISTS + 1];
    atn_command_run last; /* of the sampler */
    bool failed;          /* it was no time */
} search;

static double limit_of(const search *s) {
    double most = s->options->timeout_s > 0 ? s->options->timeout_s : TIMEOUT_S;
    return s->best_clock > 0 ? fmin(most, PATIENCE * s->best_clock + SLACK_S) : most;
}

static atn_status sample(void *user, int32_t contestant, double *seconds) {
    search *s = user;
    atn_status status = atn_command_try(s->command, s->contestants[contestant], limit_of(s), &s->last);
    *seconds = s->last.seconds;
    if (status != ATN_OK) return status;
    s->failed = s->last.outcome != ATN_OUTCOME_RIGHT;
    return s->failed ? atn_fail(s->command->ctx, ATN_ERR_DEVICE, "%s", s->last.detail) : ATN_OK;
}

/* ---- one point ---- */

static void note_failure(search *s, const int32_t *point) {
    atn_command_result *out = s->out;
    ++out->failed[s->last.outcome];
    if (*out->failure) return;
    atn_text text = {.ctx = s->command->ctx};
    atn_space_print(s->command->space, point, &text);
    snprintf(out->failure, sizeof out->failure, "%s: %s", atn_text_str(&text), s->last.detail);
    atn_text_free(&text);
}

static void enter_best(search *s, const int32_t *point, double seconds) {
    int32_t n = s->domain.n, at = FINALISTS - 1;
    if (!(seconds < s->best[at].seconds)) return;
    int32_t *room = s->best[at].point;
    for (; at > 0 && seconds < s->best[at - 1].seconds; --at) s->best[at] = s->best[at - 1];
    memcpy(room, point, (size_t)n * sizeof *room);
    s->best[at] = (finalist){room, seconds};
}

/* Once alone, which also shows whether it works; then alternating with the best, unless it is far behind. */
static atn_status try_point(search *s, const int32_t *point, atn_score *score) {
    double first, best = s->best[0].seconds;
    s->contestants[0] = point;
    s->contestants[1] = s->best[0].point;
    atn_status status = sample(s, 0, &first);
    double clock = s->last.clock_s;
    *score = (atn_score){.outcome = s->last.outcome, .seconds = first, .low = first, .high = first};
    if (status == ATN_ERR_DEVICE && s->failed) {
        note_failure(s, point);
        return ATN_OK;
    }
    if (status != ATN_OK) return status;
    score->usable = true;
    if (isfinite(best) && first < 3 * best) {
        atn_duel duel;
        status = atn_duel_run(&DUEL, &(atn_sampler){sample, s}, best, &duel);
        if (status == ATN_ERR_DEVICE && s->failed) { /* it works at times: what cannot be counted on is no answer */
            note_failure(s, point);
            *score = (atn_score){.outcome = s->last.outcome, .seconds = INFINITY};
            return ATN_OK;
        }
        if (status != ATN_OK) return status;
        score->seconds = duel.ratio.count ? duel.ratio.median * best : duel.seconds.median;
        score->low = duel.seconds.low;
        score->high = duel.seconds.high;
    }
    if (score->seconds < best) s->best_clock = clock;
    if (score->seconds > s->out->worst_s) s->out->worst_s = score->seconds;
    enter_best(s, point, score->seconds);
    return ATN_OK;
}

/* ---- all of them ---- */

static double left_of(const search *s) {
    return s->options->budget_s > 0 ? s->begun + s->options->budget_s - atn_clock_seconds() : -1;
}

static void report(const search *s) {
    const atn_command_result *out = s->out;
    if (!s->options->progress) return;
    atn_command_progress now = {.tried = out->tried,
                                .elapsed_s = atn_clock_seconds() - s->begun,
                                .left_s = left_of(s),
                                .best_s = isfinite(s->best[0].seconds) ? s->best[0].seconds : 0};
    for (int k = 0; k < ATN_OUTCOME_COUNT; ++k) now.failed += out->failed[k];
    s->options->progress(s->options->user, &now);
}

static bool is_over(const search *s) {
    const atn_command_options *o = s->options;
    return (o->evaluations > 0 && s->out->tried >= o->evaluations) || (o->budget_s > 0 && left_of(s) <= 0);
}

static atn_status look_around(search *s) {
    const atn_ctx *ctx = s->command->ctx;
    int32_t *point = atn_alloc(ctx, ((size_t)s->domain.n + 1) * sizeof *point);
    atn_status status = point ? ATN_OK : ATN_ERR_MEMORY;
    while (status == ATN_OK && !is_over(s)) {
        atn_score score;
        if (!s->strategy->ask(s->self, point)) break;
        status = try_point(s, point, &score);
        if (status != ATN_OK) break;
        ++s->out->tried;
        s->strategy->tell(s->self, point, &score);
        report(s);
    }
    if (status == ATN_OK && atn_strategy_lost(s->self)) status = ATN_ERR_MEMORY;
    atn_free(ctx, point);
    return status;
}

static char *print_point(const search *s, const int32_t *point) {
    atn_text text = {.ctx = s->command->ctx};
    atn_space_print(s->command->space, point, &text);
    char *copy = text.failed ? NULL : atn_strdup(text.ctx, atn_text_str(&text));
    atn_text_free(&text);
    return copy;
}

/* The best few in turns; where one of them fails now, the order stays as it was. */
static atn_status decide(search *s) {
    atn_command_result *out = s->out;
    int32_t n = 0, winner = 0, second = -1;
    atn_final final = {0};
    while (n < FINALISTS && s->best[n].seconds <= NEAR_BEST * s->best[0].seconds && isfinite(s->best[n].seconds)) {
        s->contestants[n] = s->best[n].point;
        ++n;
    }
    if (n == 0) return ATN_OK;
    out->best_s = out->low_s = out->high_s = s->best[0].seconds;
    atn_status status =
        n > 1 && !out->stopped ? atn_final_run(&FINAL, &(atn_sampler){sample, s}, n, NULL, &final) : ATN_OK;
    bool held = n > 1 && !out->stopped && status == ATN_OK;
    if (status == ATN_ERR_DEVICE || status == ATN_ERR_CANCELLED) status = ATN_OK;
    if (held) {
        winner = final.winner;
        second = final.runner_up;
        out->best_s = final.seconds[winner].median;
        out->low_s = final.seconds[winner].low;
        out->high_s = final.seconds[winner].high;
        out->runner_up_ratio = final.ratio.median;
        out->tie = final.tie;
    }
    if (status == ATN_OK && !(out->variant = print_point(s, s->best[winner].point))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK && second >= 0 && !(out->runner_up = print_point(s, s->best[second].point)))
        status = ATN_ERR_MEMORY;
    return status;
}

static atn_status open_search(search *s) {
    const atn_ctx *ctx = s->command->ctx;
    atn_status status = atn_space_domain_open(ctx, s->command->space, &s->domain);
    for (int k = 0; k < FINALISTS && status == ATN_OK; ++k) {
        s->best[k] = (finalist){atn_zalloc(ctx, ((size_t)s->domain.n + 1) * sizeof(int32_t)), INFINITY};
        if (!s->best[k].point) status = ATN_ERR_MEMORY;
    }
    if (status != ATN_OK) return status;
    return atn_strategy_begin(s->strategy, ctx, &s->domain.domain, s->options->seed, s->options->evaluations, &s->self);
}

atn_status atn_command_tune(const atn_command *command, const atn_command_options *options, atn_command_result *out) {
    *out = (atn_command_result){.ctx = command->ctx};
    search s = {.command = command,
                .options = options,
                .out = out,
                .strategy = atn_strategy_find(options->strategy),
                .begun = atn_clock_seconds()};
    if (!s.strategy) return atn_fail(command->ctx, ATN_ERR_INPUT, "there is no strategy '%s'", options->strategy);
    atn_status status = open_search(&s);
    if (status == ATN_OK) status = look_around(&s);
    out->stopped = status == ATN_ERR_CANCELLED;
    if (status == ATN_OK || out->stopped) status = decide(&s);
    out->seconds = atn_clock_seconds() - s.begun;
    atn_strategy_end(s.strategy, s.self);
    for (int k = 0; k < FINALISTS; ++k) atn_free(command->ctx, s.best[k].point);
    atn_space_domain_close(&s.domain);
    return status;
}

void atn_command_result_free(atn_command_result *result) {
    if (!result->ctx) return;
    atn_free(result->ctx, result->variant);
    atn_free(result->ctx, result->runner_up);
    *result = (atn_command_result){0};
}
