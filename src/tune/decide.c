/* The end of a session: a paired final among the best, storing the winner, assembling the result. */
#include "tune/session.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISTS = 6, FINAL_ROUNDS = 31 };
static const double NEAR_BEST = 1.12;

bool atn_session_goes_on(atn_session *s, const char *phase) {
    double now = atn_clock_seconds();
    if (atn_check_cancel(s->ctx) != ATN_OK) s->stopped = true;
    if (!s->options.progress) return !s->stopped;
    atn_tune_progress p = {.elapsed_s = now - s->began_s,
                           .left_s = isfinite(s->until_s) ? s->until_s - now : -1,
                           .best = s->best >= 0 ? s->entries[s->best].text : NULL,
                           .best_s = s->best >= 0 ? s->entries[s->best].score.seconds : 0,
                           .phase = phase,
                           .steps = s->steps,
                           .n_steps = (int32_t)s->n_steps};
    if (p.left_s < 0 && isfinite(s->until_s)) p.left_s = 0;
    for (size_t k = 0; k < s->n_entries; ++k) {
        const atn_entry *e = &s->entries[k];
        p.tried += e->told;
        p.recalled += e->told && e->recalled;
        p.failed += e->told && e->score.outcome != ATN_OUTCOME_RIGHT;
    }
    if (s->estimate >= 0 && s->entries[s->estimate].told && isfinite(s->entries[s->estimate].score.seconds))
        p.default_s = s->entries[s->estimate].score.seconds;
    if (!s->options.progress(s->options.user, &p)) s->stopped = true;
    return !s->stopped;
}

static char *copy(const atn_session *s, int64_t entry) {
    return entry >= 0 ? atn_strdup(s->ctx, s->entries[entry].text) : NULL;
}

/* The best few within reach of the best, fastest first, and the estimate. */
static int32_t choose_finalists(const atn_session *s, int64_t *who) {
    int32_t n = 0;
    double least = INFINITY;
    for (size_t k = 0; k < s->n_entries; ++k)
        if (atn_known_can_win(&s->entries[k]) && s->entries[k].score.seconds < least)
            least = s->entries[k].score.seconds;
    while (n < FINALISTS) {
        int64_t next = -1;
        for (size_t k = 0; k < s->n_entries; ++k) {
            bool taken = !atn_known_can_win(&s->entries[k]) || s->entries[k].score.seconds > NEAR_BEST * least;
            for (int32_t j = 0; j < n && !taken; ++j) /* twins would tie for ever */
                taken = who[j] == (int64_t)k ||
                        (s->entries[k].code.high == s->entries[who[j]].code.high &&
                         s->entries[k].code.low == s->entries[who[j]].code.low && s->entries[k].code.low != 0);
            if (!taken && (next < 0 || s->entries[k].score.seconds < s->entries[next].score.seconds)) next = (int64_t)k;
        }
        if (next < 0) break;
        who[n++] = next;
    }
    const atn_entry *e = s->estimate >= 0 ? &s->entries[s->estimate] : NULL;
    bool has_estimate = !e || !e->told || e->score.outcome != ATN_OUTCOME_RIGHT || !isfinite(e->score.seconds);
    for (int32_t k = 0; k < n && !has_estimate; ++k) has_estimate = who[k] == s->estimate;
    if (!has_estimate) who[n++] = s->estimate;
    return n;
}

static int by_seconds(const void *a, const void *b) {
    const atn_tune_choice *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Every right one, and of them those that no other beats in both speed and accuracy. */
static atn_status list_choices(const atn_session *s, atn_tune_result *out) {
    atn_wisdom_row *rows = atn_zalloc(s->ctx, (s->n_entries + 1) * sizeof *rows);
    bool *front = atn_zalloc(s->ctx, s->n_entries + 1);
    out->all = atn_zalloc(s->ctx, (s->n_entries + 1) * sizeof *out->all);
    out->choices = atn_zalloc(s->ctx, (s->n_entries + 1) * sizeof *out->choices);
    atn_status status = rows && front && out->all && out->choices ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < s->n_entries && status == ATN_OK; ++k) {
        const atn_entry *e = &s->entries[k];
        if (!e->told || e->score.outcome != ATN_OUTCOME_RIGHT || !isfinite(e->score.seconds)) continue;
        atn_tune_choice one = {atn_strdup(s->ctx, e->text), e->score.seconds, e->score.error};
        if (!one.variant) status = ATN_ERR_MEMORY;
        out->all[out->n_all++] = one;
    }
    if (status == ATN_OK) qsort(out->all, (size_t)out->n_all, sizeof *out->all, by_seconds);
    for (int32_t k = 0; k < out->n_all && status == ATN_OK; ++k)
        rows[k] = (atn_wisdom_row){.variant = out->all[k].variant,
                                   .outcome = "right",
                                   .detail = "",
                                   .seconds = out->all[k].seconds,
                                   .error = out->all[k].error};
    if (status == ATN_OK) atn_wisdom_pareto(rows, (size_t)out->n_all, front);
    for (int32_t k = 0; k < out->n_all && status == ATN_OK; ++k)
        if (front[k]) out->choices[out->n_choices++] = out->all[k];
    atn_free(s->ctx, rows);
    atn_free(s->ctx, front);
    return status;
}

/* Times of the variants that were asked for by name. */
static atn_status list_only(atn_session *s, atn_tune_result *out) {
    size_t n = 0;
    while (s->options.only && s->options.only[n]) ++n;
    if (n == 0) return ATN_OK;
    out->only_s = atn_zalloc(s->ctx, (n + 1) * sizeof *out->only_s);
    if (!out->only_s) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < n; ++k) {
        atn_variant v = atn_variant_plain();
        atn_status status = atn_variant_parse(s->ctx, &v, s->options.only[k]);
        if (status != ATN_OK) return status;
        int64_t entry = atn_known_enter(s, &v, NULL);
        if (entry < 0) return ATN_ERR_MEMORY;
        out->only_s[k] = atn_known_can_win(&s->entries[entry]) ? s->entries[entry].score.seconds : INFINITY;
    }
    return ATN_OK;
}

static void count_all(const atn_session *s, atn_tune_result *out) {
    for (size_t k = 0; k < s->n_entries; ++k) {
        const atn_entry *e = &s->entries[k];
        if (!e->told) continue;
        ++out->tried;
        out->recalled += e->recalled;
        ++out->failed[e->score.outcome];
        if (e->score.outcome == ATN_OUTCOME_RIGHT && isfinite(e->score.seconds) && e->score.seconds > out->worst_s)
            out->worst_s = e->score.seconds;
    }
    out->failed[ATN_OUTCOME_RIGHT] = 0;
}

/* Who ties with the estimate, is no simpler and in the rounds of both no faster does not take its place. */
static void prefer_estimate(const atn_session *s, const int64_t *who, atn_final *f) {
    int32_t k = f->n - 1;
    while (k >= 0 && who[k] != s->estimate) --k;
    if (k < 0 || !s->entries[who[k]].listed || k == f->winner || f->seconds[k].median > f->seconds[f->winner].median)
        return;
    if (atn_variant_burden(&s->entries[who[k]].variant) > atn_variant_burden(&s->entries[who[f->winner]].variant))
        return;
    atn_middle ratio = f->seconds[f->winner]; /* of the one that falls back to the estimate */
    ratio.low = f->seconds[f->winner].median / f->seconds[k].high;
    ratio.high = f->seconds[f->winner].median / f->seconds[k].low;
    ratio.median = f->seconds[f->winner].median / f->seconds[k].median;
    f->runner_up = f->winner;
    f->winner = k;
    f->ratio = ratio;
    f->tie = ratio.low <= 1 && ratio.high >= 1;
}

/* The estimate, where it takes part without being asked for, is there to be compared with. */
static void pass_over_unlisted(const atn_session *s, const int64_t *who, atn_final *f) {
    if (s->entries[who[f->winner]].listed) return;
    int32_t best = -1;
    for (int32_t k = 0; k < f->n; ++k)
        if (s->entries[who[k]].listed && (best < 0 || f->seconds[k].median < f->seconds[best].median)) best = k;
    f->winner = best; /* -1: none that may win is correct */
    f->runner_up = -1;
    f->tie = false;
}

/* Paired rounds; what they say is written over what single duels said. *winner and *second are entries. */
static atn_status run_final(atn_session *s, atn_tune_result *out, int64_t *winner, int64_t *second) {
    int64_t who[FINALISTS + 1];
    const char *texts[FINALISTS + 1];
    int32_t n = choose_finalists(s, who);
    for (int32_t k = 0; k < n; ++k) texts[k] = s->entries[who[k]].text;
    atn_final *final = atn_zalloc(s->ctx, sizeof *final);
    if (!final) return ATN_ERR_MEMORY;
    double left = isfinite(s->until_s) ? s->until_s - atn_clock_seconds() : 0;
    if (isfinite(s->until_s) && left < 0.5) left = 0.5;
    atn_status status =
        n > 0 && !s->stopped ? atn_worker_pool_final(s->pool, texts, n, FINAL_ROUNDS, left, final) : ATN_OK;
    if (status == ATN_ERR_DEVICE) { /* someone broke down after all: what the duels said must do */
        atn_log(s->ctx, ATN_LOG_WARNING, "%s: %s", s->workload->name, atn_ctx_message(s->ctx));
        status = ATN_OK;
    }
    *winner = s->best;
    *second = -1;
    if (status == ATN_OK && final->n == n && n > 0 && !s->stopped && final->winner >= 0) {
        for (int32_t k = 0; k < n && status == ATN_OK; ++k) {
            atn_entry *e = &s->entries[who[k]];
            e->score.seconds = final->seconds[k].median;
            e->score.low = final->seconds[k].low;
            e->score.high = final->seconds[k].high;
            e->samples = final->count[k];
            atn_wisdom_row row = {.variant = e->text,
                                  .outcome = "right",
                                  .detail = "",
                                  .seconds = e->score.seconds,
                                  .low = e->score.low,
                                  .high = e->score.high,
                                  .error = e->score.error,
                                  .samples = e->samples,
                                  .code = e->code};
            status = atn_wisdom_tell(s->wisdom, &s->key.key, &row);
        }
        prefer_estimate(s, who, final);
        pass_over_unlisted(s, who, final);
        *winner = final->winner >= 0 ? who[final->winner] : -1;
        if (final->runner_up >= 0) {
            *second = who[final->runner_up];
            out->runner_up_ratio = final->ratio.median;
            out->tie = final->tie;
        }
    }
    atn_free(s->ctx, final);
    return status;
}

static void find_fraction(atn_session *s, atn_tune_result *out) {
    atn_amount amount = {0};
    atn_peaks peaks = {0};
    atn_bindings frame = atn_case_frame(&s->c);
    if (atn_amount_of(s->ctx, s->c.graph, &frame, s->c.range_length, &amount) != ATN_OK) return;
    out->bytes = amount.bytes;
    out->flops = amount.flops;
    if (s->stopped || !(out->best_s > 0)) return;
    atn_peaks reached = {0};
    *(amount.twice ? &reached.fp64 : &reached.fp32) = out->flops / out->best_s;
    bool cached = out->bytes < 4 * (double)atn_device_get_info(s->device)->cache_bytes;
    if (!cached) reached.bandwidth = out->bytes / out->best_s;
    if (atn_device_peaks_reached(s->device, &reached, &peaks) != ATN_OK) return;
    double flops = amount.twice ? peaks.fp64 : peaks.fp32;
    double moved = peaks.bandwidth > 0 ? out->bytes / out->best_s / peaks.bandwidth : 0;
    double computed = flops > 0 ? out->flops / out->best_s / flops : 0;
    out->fraction_of_peak = moved > computed ? moved : computed;
}

static atn_status crown(atn_session *s, const atn_tune_result *out) {
    atn_wisdom_winner winner = {.variant = out->variant,
                                .runner_up = out->runner_up ? out->runner_up : "",
                                .seconds = out->best_s,
                                .low = out->low_s,
                                .high = out->high_s,
                                .runner_up_ratio = out->runner_up_ratio,
                                .tie = out->tie,
                                .fallback_seconds = out->default_s,
                                .fraction_of_peak = out->fraction_of_peak,
                                .tried = out->tried};
    return atn_wisdom_crown(s->wisdom, &s->key.key, &winner);
}

atn_status atn_session_decide(atn_session *s, atn_tune_result *out) {
    int64_t winner = -1, second = -1;
    atn_session_goes_on(s, "deciding");
    atn_status status = run_final(s, out, &winner, &second);
    if (status == ATN_ERR_CANCELLED) { /* the duels are all there is */
        s->stopped = true;
        status = ATN_OK;
    }
    count_all(s, out);
    out->drifted = atn_has_drifted(s->sentinels, s->n_sentinels);
    out->stopped = s->stopped;
    if (s->estimate >= 0) {
        const atn_entry *e = &s->entries[s->estimate];
        if (e->told && isfinite(e->score.seconds)) out->default_s = e->score.seconds;
        out->estimate = copy(s, s->estimate);
        if (!out->estimate) return ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) status = list_choices(s, out);
    if (status == ATN_OK) status = list_only(s, out);
    out->n_shape = s->key.key.n_shape;
    memcpy(out->shape, s->key.key.shape, sizeof out->shape);
    if (status == ATN_OK && winner >= 0) {
        const atn_entry *e = &s->entries[winner];
        out->variant = copy(s, winner);
        out->runner_up = copy(s, second);
        if (!out->variant || (second >= 0 && !out->runner_up)) return ATN_ERR_MEMORY;
        out->best_s = e->score.seconds;
        out->low_s = e->score.low;
        out->high_s = e->score.high;
        find_fraction(s, out);
        status = crown(s, out);
    }
    out->seconds = atn_clock_seconds() - s->began_s;
    return status;
}
