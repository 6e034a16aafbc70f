/* Build, verify, time. */
#include "tune/trial.h"

#include "base/memory.h"
#include "tune/moment.h"

#include <stdio.h>
#include <string.h>

enum { KEPT = ATN_MOST_RACERS + 2 }; /* built variants: the finalists, or incumbent, sentinel and challenger */
static const double BUILD_LIMIT_S = 150, FIRST_RUN_LIMIT_S = 30, LEAST_LIMIT_S = 2, LIMIT_RUNS = 50;
/* It came back several times before it is timed; on a busy machine threads that wait for each other take their time. */
static const double LEAST_TIMING_S = 30;
static const double FAR_BEHIND = 5, WAKING_S = 0.02; /* of a first run: that many times the best, and a slow start */

typedef struct kept {
    char *text;
    atn_built *kernel;
    int32_t repeats;
    double once_s; /* about how long a run takes; 0: not known */
    int64_t used;  /* when, to find the oldest */
} kept;

struct atn_trials {
    const atn_ctx *ctx;
    atn_device *device;
    atn_case c;
    atn_stand stand; /* at the tuned shape */
    atn_moments moments;
    atn_verifier *verifier;
    atn_trial_setup setup;
    atn_verify_stage stage;
    kept kept[KEPT];
    int64_t clock;
};

int32_t atn_variant_burden(const atn_variant *variant) {
    atn_variant plain = atn_variant_plain();
    int32_t differ = 0;
    for (int32_t k = 0; k < atn_variant_knob_count(); ++k) {
        int64_t a, b;
        atn_variant_get(variant, atn_variant_knob_name(k), &a);
        atn_variant_get(&plain, atn_variant_knob_name(k), &b);
        differ += a != b;
    }
    return differ;
}

static void enter(const atn_trials *t, const char *stage, double limit_s) {
    if (t->stage.enter) t->stage.enter(t->stage.user, stage, limit_s);
}

static void enter_stage(void *user, const char *stage, double limit_s) {
    enter(user, stage, limit_s > 0 ? limit_s : BUILD_LIMIT_S);
}

/* Spaces try gathers without guards: not before the elements that were made for it are seen to stay in range. A
 * compiler that builds nothing at all shows in every candidate. */
static atn_status earn_unguarded(atn_trials *t) {
    enter(t, "build", 2 * BUILD_LIMIT_S);
    atn_status status = atn_stand_prove(&t->stand);
    if (status == ATN_ERR_INPUT)
        return atn_fail_within(t->ctx, status,
                               "elements that keep it in range were not found; other sizes or --param may help");
    return status == ATN_ERR_BUILD || status == ATN_ERR_TIMEOUT || status == ATN_ERR_UNSUPPORTED ? ATN_OK : status;
}

atn_status atn_trials_open(atn_device *device, const atn_workload *workload, const atn_trial_setup *setup,
                           const atn_verify_stage *stage, atn_trials **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    *out = NULL;
    atn_trials *t = atn_zalloc(ctx, sizeof *t);
    if (!t) return ATN_ERR_MEMORY;
    t->ctx = ctx;
    t->device = device;
    t->setup = *setup;
    if (stage) t->stage = *stage;
    atn_status status = atn_case_open(ctx, workload, &t->c);
    if (status == ATN_OK && !setup->build_only) {
        atn_fill_options fill = {.seed = setup->seed, .lengths = t->c.range_length, .spread = 0.5};
        status =
            atn_stand_open(device, t->c.graph, (const double(*)[2])t->c.params, t->c.views, &fill, true, &t->stand);
        if (status == ATN_OK) status = earn_unguarded(t);
        if (status == ATN_OK) status = atn_moments_open(device, setup->cold, &t->moments);
        atn_verify_options verify = {.tolerance = setup->tolerance,
                                     .reproducible = setup->reproducible,
                                     .seed = setup->seed,
                                     .run_limit_s = 1.5 * LEAST_LIMIT_S};
        atn_verify_stage through = {enter_stage, t};
        if (status == ATN_OK) status = atn_verifier_create(device, &t->c, &t->stand, &verify, &through, &t->verifier);
    }
    if (status == ATN_OK)
        *out = t;
    else
        atn_trials_free(t);
    return status;
}

static void drop(const atn_trials *t, kept *k) {
    atn_built_free(k->kernel);
    atn_free(t->ctx, k->text);
    *k = (kept){0};
}

void atn_trials_free(atn_trials *t) {
    if (!t) return;
    for (int k = 0; k < KEPT; ++k) drop(t, &t->kept[k]);
    atn_verifier_free(t->verifier);
    atn_moments_close(&t->moments);
    atn_stand_close(&t->stand);
    atn_case_close(&t->c);
    atn_free(t->ctx, t);
}

/* ---- built variants ---- */

static kept *find(atn_trials *t, const char *text) {
    for (int k = 0; k < KEPT; ++k)
        if (t->kept[k].text && strcmp(t->kept[k].text, text) == 0) {
            t->kept[k].used = ++t->clock;
            return &t->kept[k];
        }
    return NULL;
}

static atn_status keep(atn_trials *t, const char *text, kept **out) {
    *out = find(t, text);
    if (*out) return ATN_OK;
    kept *oldest = &t->kept[0];
    for (int k = 1; k < KEPT; ++k)
        if (t->kept[k].used < oldest->used) oldest = &t->kept[k];
    drop(t, oldest);
    atn_variant variant = atn_variant_plain();
    atn_status status = atn_variant_parse(t->ctx, &variant, text);
    if (status != ATN_OK) return status;
    enter(t, "build", BUILD_LIMIT_S);
    status = atn_built_make(t->device, t->c.graph, &variant, &oldest->kernel);
    if (status == ATN_OK && atn_built_is_compiled_in(oldest->kernel) && *atn_device_get_info(t->device)->driver) {
        drop(t, oldest); /* the compiler failed: what came with the library says nothing about the variant */
        status = atn_fail(t->ctx, ATN_ERR_BUILD, "%s", atn_ctx_message(t->ctx));
    }
    if (status != ATN_OK) return status;
    oldest->text = atn_strdup(t->ctx, text);
    if (!oldest->text) {
        drop(t, oldest);
        return ATN_ERR_MEMORY;
    }
    oldest->used = ++t->clock;
    *out = oldest;
    return ATN_OK;
}

static void built_facts(const atn_trials *t, const kept *k, atn_trial *out) {
    const atn_lowered *program = atn_built_lowered(k->kernel);
    (void)t;
    out->code_bytes = (int64_t)atn_built_code_bytes(k->kernel);
    for (int32_t s = 0; s < program->n_stages; ++s) { /* the hungriest stage */
        atn_function_info info;
        if (atn_function_get_info(atn_built_function(k->kernel, s), program->stage[s].items, &info) != ATN_OK) continue;
        if (info.registers > out->registers) out->registers = info.registers;
        if (info.local_bytes > out->local_memory) out->local_memory = info.local_bytes;
        if (info.groups_per_core >= 0 && (out->occupancy < 0 || info.groups_per_core < out->occupancy))
            out->occupancy = info.groups_per_core;
    }
}

/* What a failure makes of a trial; those of the worker itself stay failures. */
static atn_status settle(const atn_trials *t, atn_status status, atn_trial *out) {
    static const atn_outcome OUTCOMES[] = {
        [ATN_OK] = ATN_OUTCOME_RIGHT,
        [ATN_ERR_INPUT] = ATN_OUTCOME_BUILD,
        [ATN_ERR_MEMORY] = ATN_OUTCOME_MEMORY,
        [ATN_ERR_IO] = ATN_OUTCOME_BUILD,
        [ATN_ERR_BUILD] = ATN_OUTCOME_BUILD,
        [ATN_ERR_TIMEOUT] = ATN_OUTCOME_BUILD,
        [ATN_ERR_DEVICE] = ATN_OUTCOME_CRASH,
        [ATN_ERR_LOST] = ATN_OUTCOME_CRASH,
        [ATN_ERR_UNSUPPORTED] = ATN_OUTCOME_BUILD,
        [ATN_ERR_CANCELLED] = ATN_OUTCOME_STARTED,
        [ATN_ERR_INTERNAL] = ATN_OUTCOME_CRASH,
    };
    if (status == ATN_OK || status == ATN_ERR_CANCELLED) return status;
    out->outcome = OUTCOMES[status];
    snprintf(out->detail, sizeof out->detail, "%s", atn_ctx_message(t->ctx));
    return ATN_OK;
}

static atn_trial blank(void) {
    return (atn_trial){.outcome = ATN_OUTCOME_RIGHT, .registers = -1, .local_memory = -1, .occupancy = -1};
}

atn_status atn_trials_build(atn_trials *t, const char *variant, atn_trial *out) {
    *out = blank();
    kept *k;
    atn_status status = keep(t, variant, &k);
    if (status == ATN_OK) {
        built_facts(t, k, out);
        drop(t, k); /* it is in the cache of built code, for the process that measures it */
    }
    return settle(t, status, out);
}

/* ---- timing ---- */

typedef struct lineup {
    atn_trials *t;
    kept *in[ATN_MOST_RACERS];
} lineup;

static atn_runnable runnable(atn_trials *t, const kept *k) {
    return (atn_runnable){.kernel = k->kernel,
                          .stand = &t->stand,
                          .repeats = k->repeats > 0 && !t->stand.moved ? k->repeats : 1,
                          .once_s = k->once_s};
}

static atn_status sample(void *user, int32_t contestant, double *seconds) {
    lineup *l = user;
    kept *k = l->in[contestant];
    atn_status status = atn_check_cancel(l->t->ctx);
    atn_runnable r = runnable(l->t, k);
    if (status == ATN_OK) status = atn_moment_take(&l->t->moments, &r, seconds);
    int32_t enough = atn_moment_repeats(&l->t->moments, *seconds);
    if (status == ATN_OK && k->repeats > 8 * enough)
        k->repeats = enough; /* first runs flattered, or the machine is busy */
    return status;
}

/* How many runs make a moment; *once_s: the better of two first runs. */
static atn_status find_repeats(atn_trials *t, kept *k, double limit_s, double *once_s) {
    atn_runnable r = runnable(t, k);
    double first = 0, second = 0;
    enter(t, "run", limit_s);
    atn_status status = atn_moment_once(&t->moments, &r, &first);
    if (status == ATN_OK) status = atn_moment_once(&t->moments, &r, &second);
    *once_s = k->once_s = second < first ? second : first;
    if (status != ATN_OK || k->repeats > 0) return status;
    k->repeats = t->stand.moved ? 1 : atn_moment_repeats(&t->moments, *once_s);
    if (k->repeats > 1 && !t->moments.host) { /* what one run costs when it does not wait for the host */
        r.repeats = k->repeats;
        status = atn_moment_take(&t->moments, &r, &first);
        k->repeats = atn_moment_repeats(&t->moments, first);
        *once_s = first;
    }
    return status;
}

static double limit_for(double best_s) {
    double limit = best_s > 0 ? LIMIT_RUNS * best_s : FIRST_RUN_LIMIT_S;
    return limit > LEAST_LIMIT_S ? limit : LEAST_LIMIT_S;
}

static double plug_s(const atn_trials *t) { return t->moments.plug ? 0.2 : 0; } /* far more than a filling takes */

static atn_status time_it(atn_trials *t, kept *challenger, kept *incumbent, double best_s, atn_trial *out) {
    lineup l = {.t = t, .in = {challenger, incumbent}};
    atn_sampler sampler = {sample, &l};
    atn_duel duel;
    double once, unused;
    atn_status status = find_repeats(t, challenger, limit_for(best_s), &once);
    if (status != ATN_OK) return status;
    if (incumbent && incumbent->repeats == 0) status = find_repeats(t, incumbent, limit_for(best_s), &unused);
    if (status != ATN_OK) return status;
    double each = LIMIT_RUNS * (once * challenger->repeats + plug_s(t)),
           more = incumbent ? limit_for(best_s) * incumbent->repeats : 0;
    enter(t, "time", LEAST_TIMING_S + each + more);
    atn_race_rules rules = {.most = once > 0.2 ? 7 : 0};
    status = atn_duel_run(&rules, &sampler, incumbent ? best_s : 0, &duel);
    if (status != ATN_OK) return status;
    out->seconds = duel.seconds.median;
    out->low = duel.seconds.low;
    out->high = duel.seconds.high;
    out->samples = duel.dropped ? 1 : duel.count;
    out->dropped = duel.dropped;
    out->ratio = duel.ratio;
    return ATN_OK;
}

atn_status atn_trials_try(atn_trials *t, const char *variant, const char *incumbent, double best_s, atn_trial *out) {
    *out = blank();
    kept *challenger = NULL, *other = NULL;
    atn_verify_result verdict = {0};
    atn_status status = keep(t, variant, &challenger);
    if (status == ATN_OK) {
        built_facts(t, challenger, out);
        status = atn_verify(t->verifier, challenger->kernel, limit_for(best_s), &verdict);
    }
    if (status != ATN_OK) return settle(t, status, out);
    out->outcome = verdict.outcome;
    out->error = verdict.error;
    out->usable = verdict.usable;
    snprintf(out->detail, sizeof out->detail, "%s", verdict.detail);
    if (verdict.outcome != ATN_OUTCOME_RIGHT) return ATN_OK;
    if (best_s > 0 && verdict.run_s > FAR_BEHIND * best_s + WAKING_S) { /* no need to time what is so slow */
        out->seconds = out->low = out->high = verdict.run_s;
        out->samples = 1;
        out->dropped = true;
        return ATN_OK;
    }
    if (incumbent && best_s > 0 && strcmp(incumbent, variant) != 0) status = keep(t, incumbent, &other);
    if (status == ATN_OK) status = time_it(t, challenger, other, best_s, out);
    return settle(t, status, out);
}

atn_status atn_trials_final(atn_trials *t, const char *const *variants, int32_t n, const atn_race_rules *rules,
                            double limit_s, atn_final *out) {
    lineup l = {.t = t};
    int32_t burden[ATN_MOST_RACERS] = {0};
    double round_s = 0;
    if (n > ATN_MOST_RACERS) n = ATN_MOST_RACERS;
    for (int32_t k = 0; k < n; ++k) {
        double once;
        atn_status status = keep(t, variants[k], &l.in[k]);
        if (status == ATN_OK) status = find_repeats(t, l.in[k], FIRST_RUN_LIMIT_S, &once);
        if (status != ATN_OK) return status;
        burden[k] = atn_variant_burden(atn_built_variant(l.in[k]->kernel));
        round_s += once * l.in[k]->repeats + (once < 0.01 ? once : 0) + (t->moments.plug ? 1e-3 : 0);
    }
    atn_race_rules within = rules ? *rules : (atn_race_rules){0};
    if (limit_s > 0 && round_s > 0 && within.most > limit_s / round_s) {
        int32_t afford = (int32_t)(limit_s / round_s);
        within.most = afford > 6 ? afford : 6;
    }
    enter(t, "time", 2 * LEAST_TIMING_S + 4 * round_s * ATN_MOST_SAMPLES);
    atn_sampler sampler = {sample, &l};
    return atn_final_run(&within, &sampler, n, burden, out);
}

atn_status atn_trials_sentinel(atn_trials *t, double *seconds) {
    atn_extent extent;
    atn_bindings frame = atn_case_frame(&t->c);
    atn_text text = {.ctx = t->ctx};
    kept *k = NULL;
    double once;
    *seconds = 0;
    atn_status status = atn_extent_of(t->ctx, t->c.graph, &frame, &extent);
    if (status == ATN_OK) {
        atn_variant v = atn_variant_estimate(t->c.graph, atn_device_get_info(t->device), &extent);
        atn_variant_print(&v, &text);
        status = atn_text_status(&text);
    }
    if (status == ATN_OK) status = keep(t, atn_text_str(&text), &k);
    atn_text_free(&text);
    if (status == ATN_OK) status = find_repeats(t, k, FIRST_RUN_LIMIT_S, &once);
    double three[3] = {0};
    lineup l = {.t = t, .in = {k}};
    enter(t, "time", LEAST_TIMING_S);
    for (int n = 0; n < 3 && status == ATN_OK; ++n) status = sample(&l, 0, &three[n]);
    *seconds = atn_middle_of(three, 3).median;
    return status;
}
