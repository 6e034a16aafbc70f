/* The session: recall what is known, try the estimate and the seeds, then whatever the strategy asks for, in rounds:
 * a few candidates are built in parallel, then measured one after the other, alone. */
#include "tune/tune.h"

#include "base/clock.h"
#include "base/memory.h"
#include "built/outlook.h"
#include "device/facts.h"
#include "space/shipped.h"
#include "tune/facts.h"
#include "tune/seeds.h"
#include "tune/session.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BATCH = ATN_SPREAD_MOST, FOR_A_POOL = 8, MOST_REFUSALS = 2000 };
static const double FINAL_PART = 0.15, MOST_FINAL_S = 20, SENTINEL_EVERY_S = 5;

/* ---- opening ---- */

/* A class holds what is as exact as its name says: tuned for the name, not for what was asked. */
static double tolerance_of(const atn_tune_key *key) {
    double value = 0;
    return sscanf(key->tolerance, "%lf", &value) == 1 ? value : 0;
}

static atn_status open_space(atn_session *s) {
    atn_given facts[ATN_MOST_FACTS];
    size_t n;
    const char *text = s->options.space, *name = s->options.space_name;
    if (!text) {
        text = atn_space_shipped(s->info->backend);
        name = s->info->backend;
    }
    if (!text)
        return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED, "no space is shipped for devices of %s; name one",
                        s->info->backend);
    atn_status status = atn_facts(s->info, &s->c, facts, &n);
    if (status == ATN_OK)
        status = atn_space_parse(s->ctx, name ? name : "space", text, strlen(text), facts, n, &s->space);
    if (status == ATN_OK) s->key.key.space = atn_space_hash(s->space);
    if (status == ATN_OK)
        status = atn_field_open(s->ctx, s->c.graph, s->info, s->space, s->options.reproducible, &s->field);
    return status;
}

static atn_status open_key(atn_session *s) {
    atn_bindings frame = atn_case_frame(&s->c);
    atn_status status =
        atn_tune_key_make(s->ctx, s->c.graph, s->info, &frame, s->options.reproducible, s->options.tolerance, &s->key);
    s->tolerance = tolerance_of(&s->key);
    if (s->options.cold) {
        size_t length = strlen(s->key.layout);
        snprintf(s->key.layout + length, sizeof s->key.layout - length, ", cold");
    }
    return status;
}

static atn_status open_search(atn_session *s) {
    s->strategy = atn_strategy_find(s->options.strategy);
    if (!s->strategy) {
        atn_text names = {.ctx = s->ctx};
        for (const atn_strategy *const *k = ATN_STRATEGIES; *k; ++k)
            atn_text_printf(&names, "%s%s", names.length ? ", " : "", (*k)->name);
        atn_status status = atn_fail(s->ctx, ATN_ERR_INPUT, "no strategy '%s'; there are %s", s->options.strategy,
                                     atn_text_str(&names));
        atn_text_free(&names);
        return status;
    }
    return atn_strategy_begin(s->strategy, s->ctx, &s->field.domain, s->options.seed, s->options.evaluations,
                              &s->search);
}

static atn_status open_session(atn_session *s) {
    atn_status status = atn_case_open(s->ctx, s->workload, &s->c);
    if (status == ATN_OK) status = open_key(s);
    if (status == ATN_OK) status = open_space(s);
    if (status == ATN_OK) status = open_search(s);
    char device[200];
    snprintf(device, sizeof device, "%s %s %d", s->info->backend, s->info->name, s->info->ordinal);
    if (status == ATN_OK) status = atn_wisdom_lock(s->ctx, s->wisdom, device, false, &s->lock);
    s->setup = (atn_trial_setup){.tolerance = s->tolerance,
                                 .reproducible = s->options.reproducible,
                                 .cold = s->options.cold,
                                 .seed = s->options.seed + 1};
    if (status == ATN_OK)
        status = atn_worker_pool_create(s->ctx, s->info, s->workload, &s->setup, s->options.program, &s->pool);
    return status;
}

static void close_session(atn_session *s) {
    atn_worker_pool_free(s->pool);
    atn_wisdom_unlock(s->lock);
    atn_strategy_end(s->strategy, s->search);
    atn_free(s->ctx, s->ahead);
    atn_known_free(s);
    atn_field_close(&s->field);
    atn_space_free(s->space);
    atn_case_close(&s->c);
}

/* ---- who waits in the queue ---- */

static atn_status queue_text(atn_session *s, const char *text, bool must_fit) {
    atn_variant v = atn_variant_plain();
    atn_status status = atn_variant_parse(s->ctx, &v, text);
    const char *why;
    if (status != ATN_OK) return status;
    if (!atn_field_fits(&s->field, &v, &why))
        return must_fit ? atn_fail(s->ctx, ATN_ERR_INPUT, "%s: variant '%s': %s", s->workload->name, text, why)
                        : ATN_OK;
    if (!atn_known_allows(s, &v)) return ATN_OK;
    int64_t entry = atn_known_enter(s, &v, NULL);
    if (entry >= 0) s->entries[entry].listed = true;
    return entry < 0 ? ATN_ERR_MEMORY : ATN_OK;
}

static atn_status queue_first(atn_session *s) {
    atn_extent extent;
    atn_bindings frame = atn_case_frame(&s->c);
    atn_status status = atn_extent_of(s->ctx, s->c.graph, &frame, &extent);
    if (status != ATN_OK) return status;
    atn_variant guess = atn_variant_estimate(s->c.graph, s->info, &extent);
    if (!atn_field_fits(&s->field, &guess, NULL)) guess = atn_variant_plain(); /* reproducible ones are plainer */
    s->estimate = atn_known_enter(s, &guess, NULL); /* not listed, it is timed, to compare with, but does not win */
    if (s->estimate < 0) return ATN_ERR_MEMORY;
    for (const char *const *text = s->options.only; text && *text && status == ATN_OK; ++text)
        status = queue_text(s, *text, true);
    if (s->options.only) return status;
    atn_outlook outlook = atn_outlook_of(s->c.graph);
    bool to_a_half = outlook.halves || s->tolerance > 0x1p-10;
    const char *type = outlook.bytes == 8 ? "DP" : to_a_half ? "HP" : "SP";
    bool known = !s->info->cpu || atn_backend_facts_of(s->info)->threads; /* OpenCL on a CPU is another thing */
    for (const atn_seed *seed = NULL;
         known && status == ATN_OK && (seed = atn_seed_next(s->c.graph->name, type, s->info->backend, seed));)
        status = queue_text(s, seed->variant, false);
    return status;
}

/* ---- going on ---- */

static int64_t counted(const atn_session *s) {
    int64_t n = s->evaluations;
    for (size_t k = 0; k < s->n_entries && s->options.resume; ++k) n += s->entries[k].recalled;
    return n;
}

/* Most evaluations that are asked for, as a number or as a fraction of the space. */
static int64_t most_evaluations(const atn_session *s) {
    int64_t most = s->options.evaluations > 0 ? s->options.evaluations : INT64_MAX;
    double part = s->options.fraction > 0 ? ceil(s->options.fraction * s->field.domain.size) : INFINITY;
    return part < (double)most ? (int64_t)part : most;
}

static bool has_budget(const atn_session *s) {
    if (s->estimate >= 0 && !s->entries[s->estimate].told) return true; /* the minimum that must be measured */
    if (counted(s) >= most_evaluations(s)) return false;
    return atn_clock_seconds() < s->search_until_s;
}

static bool keep_building(void *user) {
    atn_session *s = user;
    return atn_session_goes_on(s, "building") && has_budget(s);
}

/* The next entry to try: from the queue, otherwise the one the strategy asks for. -1: there is none; -2: out of memory.
 * The requested one may already be waiting in a batch, outside the queue: the result is reported to the strategy when
 * it is complete. */
static int64_t next_entry(atn_session *s) {
    for (; s->queued < s->n_entries; ++s->queued)
        if (!s->entries[s->queued].told && !s->entries[s->queued].taken) {
            s->entries[s->queued].taken = true;
            return (int64_t)s->queued++;
        }
    if (s->options.only) return -1;
    int32_t *point = atn_zalloc(s->ctx, ((size_t)s->field.n + 1) * sizeof *point);
    if (!point) return -2;
    int64_t found = -1;
    for (int k = 0; k < MOST_REFUSALS && found == -1; ++k) {
        atn_variant v;
        if (!s->strategy->ask(s->search, point)) break;
        atn_score refused = {.outcome = ATN_OUTCOME_BUILD, .seconds = INFINITY};
        if (atn_field_variant(&s->field, point, &v) != ATN_OK || !atn_field_fits(&s->field, &v, NULL)) {
            s->strategy->tell(s->search, point, &refused);
            continue;
        }
        found = atn_known_enter(s, &v, point);
        if (found < 0)
            found = -2;
        else if (s->entries[found].told) {
            s->strategy->tell(s->search, point, &s->entries[found].score);
            found = -1;
        } else if (s->entries[found].taken) {
            found = -1;
        } else {
            s->entries[found].taken = true;
        }
    }
    s->queued = s->n_entries;
    atn_free(s->ctx, point);
    return found;
}

/* What is known of a twin is known of it too. */
static atn_status copy_twin(atn_session *s, int64_t entry, int64_t twin) {
    const atn_entry *other = &s->entries[twin];
    atn_trial trial = {.outcome = other->score.outcome,
                       .seconds = isfinite(other->score.seconds) ? other->score.seconds : 0,
                       .low = other->score.low,
                       .high = other->score.high,
                       .error = other->score.error,
                       .samples = (int32_t)other->samples,
                       .usable = other->score.usable,
                       .dropped = other->score.dropped};
    snprintf(trial.detail, sizeof trial.detail, "its code is identical to that of '%.200s'", other->text);
    int64_t best = s->best;
    atn_status status = atn_known_tell(s, entry, &trial);
    s->best = best; /* an equal of the best is no better */
    return status;
}

/* ---- one round ---- */

struct atn_batch {
    int64_t entry[MOST_BATCH];
    const char *text[MOST_BATCH];
    atn_trial built[MOST_BATCH];
    int32_t n;
    bool ahead; /* they are built before they are measured; otherwise the measuring process builds */
};

/* The next few candidates; their building is begun where there are several. */
static atn_status gather(atn_session *s, int32_t most, struct atn_batch **out) {
    struct atn_batch *b = *out = atn_zalloc(s->ctx, sizeof *b);
    atn_status status = ATN_OK;
    if (!b) return ATN_ERR_MEMORY;
    while (status == ATN_OK && b->n < most) {
        bool within = counted(s) + s->pending + b->n < most_evaluations(s) ||
                      (s->estimate >= 0 && !s->entries[s->estimate].told && b->n == 0);
        if (!within) break;
        int64_t k = next_entry(s), twin;
        if (k == -2) return ATN_ERR_MEMORY;
        if (k < 0) break;
        twin = atn_known_twin(s, k);
        if (twin >= 0)
            status = copy_twin(s, k, twin);
        else
            b->entry[b->n++] = k;
    }
    for (int32_t k = 0; status == ATN_OK && k < b->n; ++k) b->text[k] = s->entries[b->entry[k]].text;
    b->ahead = b->n > 1 && b->n <= atn_worker_pool_builders(s->pool);
    if (status == ATN_OK && b->ahead) status = atn_worker_pool_begin(s->pool, b->text, b->n);
    return status;
}

/* Constraints that only a build can answer. */
static bool built_as_wanted(atn_session *s, int64_t entry, atn_trial *t) {
    atn_given facts[ATN_BUILT_FACTS];
    const char *by = "";
    const int32_t *point = s->entries[entry].point;
    size_t n = atn_facts_of_build(t->registers, t->local_memory, t->occupancy, t->code_bytes, facts);
    if (!point || atn_space_allows_built(s->space, point, facts, n, &by)) return true;
    t->outcome = ATN_OUTCOME_BUILD;
    snprintf(t->detail, sizeof t->detail, "after the build, '%.200s' excludes it", by ? by : "a constraint");
    return false;
}

/* Notes what became of a candidate; *ratio is its time over the estimate's where it was timed, else 0. */
static atn_status note(atn_session *s, int64_t entry, const atn_trial *t, double *ratio) {
    bool right = t->outcome == ATN_OUTCOME_RIGHT && t->seconds > 0;
    if (s->chain == 0 && s->best >= 0) { /* known from before: the only place where times of other moments count */
        assert(s->entries);
        const atn_entry *e = s->estimate >= 0 ? &s->entries[s->estimate] : NULL;
        double seconds = e && e->told && isfinite(e->score.seconds) ? e->score.seconds : 0;
        s->chain = seconds > 0 ? s->entries[s->best].score.seconds / seconds : 1;
    }
    *ratio = !right ? 0 : t->ratio.count > 0 && s->chain > 0 ? t->ratio.median * s->chain : s->chain > 0 ? 0 : 1;
    atn_status status = atn_grow(s->ctx, (void **)&s->steps, &s->steps_room, s->n_steps, sizeof *s->steps);
    char *text = status == ATN_OK ? atn_strdup(s->ctx, s->entries[entry].text) : NULL;
    if (!text) return ATN_ERR_MEMORY;
    s->steps[s->n_steps++] = (atn_tune_step){.variant = text, .outcome = t->outcome, .ratio = *ratio};
    return ATN_OK;
}

static atn_status take_trial(atn_session *s, int64_t entry, const atn_trial *trial) {
    double ratio;
    ++s->evaluations;
    atn_status status = note(s, entry, trial, &ratio);
    if (status == ATN_OK) status = atn_known_tell(s, entry, trial);
    if (s->best == entry && ratio > 0) s->chain = ratio;
    return status;
}

static atn_status measure(atn_session *s, int64_t entry) {
    const atn_entry *best = s->best >= 0 ? &s->entries[s->best] : NULL;
    atn_trial trial;
    atn_status status = atn_worker_pool_ready(s->pool);
    if (status == ATN_OK)
        status = atn_wisdom_begin(s->wisdom, &s->key.key, s->entries[entry].text, &s->entries[entry].starts);
    if (status != ATN_OK) return status;
    status = atn_worker_pool_try(s->pool, s->entries[entry].text, best ? best->text : NULL,
                                 best ? best->score.seconds : 0, &trial);
    return status == ATN_OK ? take_trial(s, entry, &trial) : status;
}

/* Several at once, each by another rank; all compared with the same incumbent. */
static atn_status measure_apart(atn_session *s, const int64_t *entry, int32_t n) {
    const atn_entry *best = s->best >= 0 ? &s->entries[s->best] : NULL;
    const char *texts[MOST_BATCH];
    atn_trial *trials = atn_zalloc(s->ctx, MOST_BATCH * sizeof *trials);
    atn_status status = trials ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < n && status == ATN_OK; ++k) {
        atn_entry *e = &s->entries[entry[k]];
        texts[k] = e->text;
        status = atn_wisdom_begin(s->wisdom, &s->key.key, e->text, &e->starts);
    }
    if (status == ATN_OK)
        status = atn_spread_try(s->options.spread, s->workload, &s->setup, s->pool, texts, n, best ? best->text : NULL,
                                best ? best->score.seconds : 0, trials);
    double chain = s->chain; /* of the incumbent that all were compared with */
    for (int32_t k = 0; k < n && status == ATN_OK; ++k) {
        int64_t before = s->best;
        double later = s->chain;
        s->chain = chain;
        status = take_trial(s, entry[k], &trials[k]);
        if (s->best == before) s->chain = later;
    }
    atn_free(s->ctx, trials);
    return status;
}

/* An estimate on which the compiler fails is not what would run here: the plain variant is, and takes its place. */
static atn_status stand_in_for_estimate(atn_session *s) {
    const atn_entry *e = s->estimate >= 0 ? &s->entries[s->estimate] : NULL;
    if (!e || !e->told || e->score.outcome != ATN_OUTCOME_BUILD) return ATN_OK;
    atn_variant plain = atn_variant_plain();
    int64_t entry = atn_known_enter(s, &plain, NULL);
    if (entry < 0) return ATN_ERR_MEMORY;
    s->estimate = entry;
    if (s->entries[entry].told || s->entries[entry].taken || !atn_session_goes_on(s, "searching")) return ATN_OK;
    s->entries[entry].taken = true;
    return measure(s, entry);
}

static atn_status watch_speed(atn_session *s) {
    double now = atn_clock_seconds();
    if (now < s->next_sentinel_s || s->best < 0) return ATN_OK;
    double seconds;
    s->next_sentinel_s = now + SENTINEL_EVERY_S;
    atn_status status = atn_worker_pool_sentinel(s->pool, &seconds);
    int32_t most = (int32_t)(sizeof s->sentinels / sizeof *s->sentinels);
    if (status == ATN_OK && seconds > 0) {
        if (s->n_sentinels == most)
            memmove(&s->sentinels[3], &s->sentinels[4], sizeof(double) * (size_t)(--s->n_sentinels - 3));
        s->sentinels[s->n_sentinels++] = seconds;
    }
    return status;
}

static atn_status measure_batch(atn_session *s, struct atn_batch *b) {
    atn_status status = ATN_OK;
    int64_t apart[MOST_BATCH];
    int32_t n_apart = 0;
    for (int32_t k = 0; k < b->n && status == ATN_OK; ++k) {
        atn_trial *t = &b->built[k];
        bool known = b->ahead && t->outcome != ATN_OUTCOME_STARTED;
        if (known && t->outcome == ATN_OUTCOME_RIGHT) known = !built_as_wanted(s, b->entry[k], t);
        if (known) {
            double ratio;
            ++s->evaluations;
            status = note(s, b->entry[k], t, &ratio);
            if (status == ATN_OK) status = atn_known_tell(s, b->entry[k], t);
        } else if (atn_session_goes_on(s, "searching") && has_budget(s)) {
            if (atn_spread_count(s->options.spread) > 1 && s->best >= 0)
                apart[n_apart++] = b->entry[k];
            else
                status = measure(s, b->entry[k]);
        }
        if (s->pending > 0) --s->pending;
        if (status == ATN_OK) status = watch_speed(s);
    }
    return status == ATN_OK && n_apart ? measure_apart(s, apart, n_apart) : status;
}

/* Two for each rank, so that most of the time all have one. */
static int32_t spread_batch(const atn_session *s, int32_t builders) {
    int32_t wanted = 2 * atn_spread_count(s->options.spread);
    if (wanted < builders) wanted = builders;
    return wanted < MOST_BATCH ? wanted : MOST_BATCH;
}

/* A CPU is measured while nothing is being built; for other devices, the next ones are built meanwhile. */
static atn_status search_round(atn_session *s, bool *any) {
    int32_t wanted = atn_worker_pool_builders(s->pool);
    if (wanted > FOR_A_POOL) wanted = FOR_A_POOL;
    if (atn_spread_count(s->options.spread) > 1) wanted = spread_batch(s, wanted);
    if (s->estimate >= 0 && !s->entries[s->estimate].told) wanted = 1; /* all others are compared with it */
    struct atn_batch *b = s->ahead;
    s->ahead = NULL;
    atn_status status = b ? ATN_OK : gather(s, wanted, &b);
    s->pending = b ? b->n : 0;
    *any = s->pending > 0;
    if (!b) return status;
    if (status == ATN_OK && b->ahead) status = atn_worker_pool_finish(s->pool, keep_building, s, b->built);
    if (status == ATN_OK && *any && wanted > 1 && !s->info->cpu && has_budget(s)) status = gather(s, wanted, &s->ahead);
    if (status == ATN_OK) status = measure_batch(s, b);
    atn_free(s->ctx, b);
    return status;
}

static atn_status search(atn_session *s) {
    atn_status status = ATN_OK;
    for (bool any = true; any && status == ATN_OK && has_budget(s) && atn_session_goes_on(s, "searching");) {
        status = search_round(s, &any);
        if (status == ATN_OK) status = stand_in_for_estimate(s);
    }
    if (status == ATN_ERR_CANCELLED) {
        s->stopped = true;
        status = ATN_OK;
    }
    return status;
}

static void set_clock(atn_session *s) {
    s->began_s = atn_clock_seconds();
    bool limited = s->options.budget_s > 0;
    double final_s = fmin(FINAL_PART * s->options.budget_s, MOST_FINAL_S);
    s->until_s = limited ? s->began_s + s->options.budget_s : INFINITY;
    s->search_until_s = limited ? s->until_s - final_s : INFINITY;
}

atn_status atn_tune(atn_device *device, atn_wisdom *wisdom, const atn_workload *workload,
                    const atn_tune_options *options, atn_tune_result *out) {
    atn_session *s = atn_zalloc(atn_device_ctx(device), sizeof *s);
    *out = (atn_tune_result){.ctx = atn_device_ctx(device)};
    if (!s) return ATN_ERR_MEMORY;
    *s = (atn_session){.ctx = atn_device_ctx(device),
                       .device = device,
                       .info = atn_device_get_info(device),
                       .wisdom = wisdom,
                       .workload = workload,
                       .options = options ? *options : (atn_tune_options){0},
                       .best = -1,
                       .estimate = -1};
    set_clock(s);
    atn_status status = open_session(s);
    if (status == ATN_OK) status = atn_known_recall(s);
    if (status == ATN_OK) status = queue_first(s);
    if (status == ATN_OK) atn_known_settle(s);
    if (status == ATN_OK) status = search(s);
    if (status == ATN_OK) status = atn_session_decide(s, out);
    out->steps = s->steps;
    out->n_steps = (int32_t)s->n_steps;
    close_session(s);
    atn_free(atn_device_ctx(device), s);
    if (status != ATN_OK) atn_tune_result_free(out);
    return status;
}

void atn_tune_result_free(atn_tune_result *r) {
    const atn_ctx *ctx = r->ctx;
    if (!ctx) return;
    atn_free(ctx, r->variant);
    atn_free(ctx, r->runner_up);
    atn_free(ctx, r->estimate);
    for (int32_t k = 0; k < r->n_all; ++k) atn_free(ctx, r->all[k].variant);
    for (int32_t k = 0; k < r->n_steps; ++k) atn_free(ctx, r->steps[k].variant);
    atn_free(ctx, r->steps);
    atn_free(ctx, r->all);
    atn_free(ctx, r->choices);
    atn_free(ctx, r->only_s);
    *r = (atn_tune_result){.ctx = ctx};
}
