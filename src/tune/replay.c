/* Replay: repeats run on several threads, each on its own strategy; what they found is put together in the order of
 * their seeds, so that the number of threads changes nothing.
 *   R(t) = the value at round(t (N+1) / (t+1)) of the N values that ran, worst first
 *   score = mean over t of (F(t) - R(t)) / (optimum - R(t)), F(t) the best after t evaluations, averaged over repeats
 */
#include "tune/replay.h"

#include "base/clock.h"
#include "base/compare.h"
#include "base/memory.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { EVALUATIONS = 200, REPEATS = 100, MOST_THREADS = 64 };
static const int64_t MOST_NUMBERS = (int64_t)1 << 27; /* repeats × evaluations */

typedef struct replay {
    const atn_ctx *ctx;
    const atn_recorded *recorded;
    const atn_strategy *strategy;
    atn_replay_options options; /* without zeros */
    double worst;               /* the slowest that ran: the value of a repeat before it has found anything */
    double *curve;              /* repeats × evaluations: the best so far */
    atomic_int_fast64_t next, done;
    atomic_int running; /* threads */
    atomic_int status;
    char message[ATN_MESSAGE_BYTES]; /* the sentence of the thread that failed first */
} replay;

/* ---- one repeat ---- */

static atn_status follow(replay *r, void *strategy, int32_t *point, double *curve) {
    double best = r->worst;
    bool over = false;
    for (int64_t t = 0; t < r->options.evaluations; ++t) {
        atn_status status = over ? ATN_OK : atn_check_cancel(r->ctx);
        if (status) return status;
        over = over || !r->strategy->ask(strategy, point);
        if (over && atn_strategy_lost(strategy)) return ATN_ERR_MEMORY;
        if (!over) {
            int64_t index = atn_recorded_find(r->recorded, point);
            if (index < 0)
                return atn_fail(r->ctx, ATN_ERR_INTERNAL, "strategy %s asked for a point that is not allowed",
                                r->strategy->name);
            atn_score score = atn_recorded_score(r->recorded, index);
            r->strategy->tell(strategy, point, &score);
            if (score.seconds < best) best = score.seconds;
        }
        curve[t] = best;
    }
    return ATN_OK;
}

static atn_status repeat(replay *r, int64_t k) {
    atn_domain domain = atn_recorded_domain(r->recorded);
    void *strategy;
    int32_t *point = atn_zalloc(r->ctx, ((size_t)domain.n_parameters + 1) * sizeof *point);
    if (!point) return ATN_ERR_MEMORY;
    atn_status status = atn_strategy_begin(r->strategy, r->ctx, &domain, r->options.seed + (uint64_t)k,
                                           r->options.evaluations, &strategy);
    if (!status) {
        status = follow(r, strategy, point, r->curve + k * r->options.evaluations);
        atn_strategy_end(r->strategy, strategy);
    }
    atn_free(r->ctx, point);
    return status;
}

static void *work(void *user) {
    replay *r = user;
    int64_t k;
    while (!atomic_load(&r->status) && (k = atomic_fetch_add(&r->next, 1)) < r->options.repeats) {
        atn_status status = repeat(r, k);
        int none = ATN_OK;
        if (status && atomic_compare_exchange_strong(&r->status, &none, (int)status))
            snprintf(r->message, sizeof r->message, "%s", atn_ctx_message(r->ctx));
        atomic_fetch_add(&r->done, 1);
    }
    atomic_fetch_sub(&r->running, 1);
    return NULL;
}

/* ---- all repeats ---- */

static void watch(replay *r) {
    const struct timespec pause = {.tv_nsec = 50000000};
    while (r->options.progress && atomic_load(&r->running) > 0) {
        r->options.progress(r->options.user, atomic_load(&r->done), r->options.repeats);
        nanosleep(&pause, NULL);
    }
}

static atn_status run_all(replay *r) {
    pthread_t threads[MOST_THREADS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t wanted = r->options.threads > 0 ? r->options.threads : processors > 0 ? processors : 1;
    if (wanted > r->options.repeats) wanted = r->options.repeats;
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    int64_t n = 0;
    atomic_store(&r->running, (int)wanted);
    while (n < wanted && pthread_create(&threads[n], NULL, work, r) == 0) ++n;
    atomic_fetch_sub(&r->running, (int)(wanted - n));
    if (n == 0) { /* no thread to be had: the work is done here */
        atomic_store(&r->running, 1);
        work(r);
    }
    watch(r);
    for (int64_t k = 0; k < n; ++k) pthread_join(threads[k], NULL);
    atn_status status = (atn_status)atomic_load(&r->status);
    return status ? atn_fail(r->ctx, status, "%s", r->message) : ATN_OK;
}

/* ---- the score ---- */

double atn_replay_baseline(const double *sorted, int64_t n, int64_t evaluations) {
    double m = (double)evaluations;
    int64_t rank = (int64_t)llround(m * ((double)n + 1) / (m + 1)); /* from the worst, from 1 */
    if (rank < 1) rank = 1;
    if (rank > n) rank = n;
    return sorted[n - rank];
}

static void judge(const replay *r, const double *sorted, int64_t n, atn_replay_result *out) {
    int64_t evaluations = r->options.evaluations, repeats = r->options.repeats, counted = 0;
    double sum = 0, mean = 0;
    out->optimum = sorted[0];
    out->median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    for (int64_t t = 0; t < evaluations; ++t) {
        mean = 0;
        for (int64_t k = 0; k < repeats; ++k) mean += r->curve[k * evaluations + t];
        mean /= (double)repeats;
        double chance = atn_replay_baseline(sorted, n, t + 1);
        if (!(chance > out->optimum)) continue; /* chance is there already: nothing can be won */
        sum += (mean - chance) / (out->optimum - chance);
        ++counted;
    }
    int64_t found = 0;
    for (int64_t k = 0; k < repeats; ++k) found += r->curve[(k + 1) * evaluations - 1] <= out->optimum;
    out->found = (double)found / (double)repeats;
    out->score = counted ? sum / (double)counted : out->found;
    out->mean_best = mean;
    out->fraction = out->optimum / mean;
}

/* The times of what ran, ascending; owned by the caller. */
static atn_status sort_times(const atn_ctx *ctx, const atn_recorded *recorded, double **sorted, int64_t *n) {
    int64_t points = atn_recorded_points(recorded);
    *n = 0;
    *sorted = atn_alloc(ctx, ((size_t)points + 1) * sizeof **sorted);
    if (!*sorted) return ATN_ERR_MEMORY;
    for (int64_t k = 0; k < points; ++k) {
        atn_score score = atn_recorded_score(recorded, k);
        if (score.usable) (*sorted)[(*n)++] = score.seconds;
    }
    qsort(*sorted, (size_t)*n, sizeof **sorted, atn_ascending_double);
    if (*n) return ATN_OK;
    atn_free(ctx, *sorted);
    *sorted = NULL;
    return atn_fail(ctx, ATN_ERR_INPUT, "none of the %lld recorded points ran", (long long)points);
}

atn_status atn_replay(const atn_ctx *ctx, const atn_recorded *recorded, const atn_strategy *strategy,
                      const atn_replay_options *options, atn_replay_result *out) {
    replay r = {.ctx = ctx, .recorded = recorded, .strategy = strategy, .options = *options};
    double begin = atn_clock_seconds(), *sorted;
    int64_t n;
    *out = (atn_replay_result){0};
    if (r.options.evaluations <= 0) r.options.evaluations = EVALUATIONS;
    if (r.options.repeats <= 0) r.options.repeats = REPEATS;
    if (r.options.evaluations > MOST_NUMBERS / r.options.repeats)
        return atn_fail(ctx, ATN_ERR_INPUT, "%lld repeats of %lld evaluations are too many: at most %lld in all",
                        (long long)r.options.repeats, (long long)r.options.evaluations, (long long)MOST_NUMBERS);
    atn_status status = sort_times(ctx, recorded, &sorted, &n);
    if (status) return status;
    r.worst = sorted[n - 1];
    r.curve = atn_alloc(ctx, (size_t)(r.options.evaluations * r.options.repeats) * sizeof *r.curve);
    status = r.curve ? run_all(&r) : ATN_ERR_MEMORY;
    if (!status) {
        *out = (atn_replay_result){.strategy = strategy->name,
                                   .evaluations = r.options.evaluations,
                                   .repeats = r.options.repeats,
                                   .points = atn_recorded_points(recorded),
                                   .failures = atn_recorded_points(recorded) - n};
        judge(&r, sorted, n, out);
        out->seconds = atn_clock_seconds() - begin;
    }
    atn_free(ctx, r.curve);
    atn_free(ctx, sorted);
    return status;
}
