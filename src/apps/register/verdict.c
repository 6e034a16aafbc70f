/* The verdict: trusted, doubtful or refused, with its reason. It rests on how the clouds agree at their own resolution,
 * held against chance, on what slides, and on the best other pose. */
#include "apps/register/judge.h"
#include "apps/register/search.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

static const double CHANCE = 0.45;   /* agreement that wrong poses reach */
static const double AGREES = 0.65;   /* agreement that is none by chance */
static const double LEAST = 0.03;    /* overlap that tells anything */
static const double IDENTICAL = 0.5; /* share of the samples with the very same point in the other cloud */
static const double RIVALLED = 0.6;  /* value of the runner-up from which on the answer does not stand out */
static const double LARGER = 20, SMALLER = 1e-3; /* the source beside the target: hardly the same unit */
enum { FEWEST = 12 };                            /* samples on a surface that say something */

const char *atn_verdict_name(atn_verdict verdict) {
    static const char *const NAMES[] = {"refused", "doubtful", "trusted"};
    return (int)verdict >= 0 && verdict <= ATN_VERDICT_TRUSTED ? NAMES[verdict] : "unknown";
}

static void say(atn_register_result *r, atn_verdict verdict, const char *why) {
    r->verdict = verdict;
    snprintf(r->reason, sizeof r->reason, "%s", why);
}

/* What can be said without other poses; false: there is nothing to ask of them. */
static bool stands(const reg_problem *p, const fitness_seen *seen, atn_register_result *r) {
    double overlap = fmax(seen->overlap[0], seen->overlap[1]);
    bool identical = seen->same > IDENTICAL && seen->near >= FEWEST;
    r->verdict = ATN_VERDICT_REFUSED;
    if (seen->near == 0)
        snprintf(r->reason, sizeof r->reason, "the clouds do not overlap: no point lies near the other cloud");
    else if (identical)
        r->verdict = ATN_VERDICT_TRUSTED;
    else if (p->fitness->solid)
        say(r, seen->fits >= FEWEST && overlap > LEAST ? ATN_VERDICT_DOUBTFUL : ATN_VERDICT_REFUSED,
            "there is no surface to compare, and the points of one cloud are not those of the other");
    else if (seen->fits < FEWEST || overlap < LEAST)
        snprintf(r->reason, sizeof r->reason,
                 "only %.2g %% of either cloud lies on the other: too little to tell a pose", 100 * overlap);
    else if (seen->precision < CHANCE)
        snprintf(r->reason, sizeof r->reason,
                 "of the points beside the other surface %.0f %% lie on it, which clouds that share nothing reach too",
                 100 * seen->precision);
    else if (seen->precision < AGREES) {
        r->verdict = ATN_VERDICT_DOUBTFUL;
        snprintf(r->reason, sizeof r->reason, "of the points beside the other surface only %.0f %% lie on it",
                 100 * seen->precision);
    } else
        r->verdict = ATN_VERDICT_TRUSTED;
    return r->verdict != ATN_VERDICT_REFUSED;
}

/* Other poses and sliding directions take trust away. */
static void weigh(const reg_problem *p, const char *like, atn_register_result *r) {
    if (r->n_sliding)
        snprintf(r->reason, sizeof r->reason, "%s", like);
    else if (r->n_alternatives)
        snprintf(r->reason, sizeof r->reason, "%d poses fit equally", (int)r->n_alternatives + 1);
    else if (p->beaten)
        snprintf(r->reason, sizeof r->reason, "another pose fits %.2g times as well", r->runner_up);
    else if (r->runner_up > RIVALLED)
        snprintf(r->reason, sizeof r->reason, "another pose fits %.0f %% as well", 100 * r->runner_up);
    else
        return;
    r->verdict = ATN_VERDICT_DOUBTFUL;
}

static atn_status judge(reg_problem *p, atn_register_result *r) {
    fitness_seen seen;
    char like[160] = "";
    fitness_look(p->fitness, &p->pose, &seen);
    r->overlap_source = seen.overlap[0];
    r->overlap_target = seen.overlap[1];
    r->agreement = seen.precision;
    p->value = seen.value;
    if (!stands(p, &seen, r)) return ATN_OK;
    judge_sliding(p, &seen, r, like, sizeof like);
    atn_status status = judge_rivals(p, &seen, r);
    if (status == ATN_OK) weigh(p, like, r);
    return status;
}

static atn_status look_closely(reg_problem *p) {
    if (p->fitness) return ATN_OK;
    p->fitness = atn_zalloc(p->engine.ctx, sizeof *p->fitness);
    if (!p->fitness) return ATN_ERR_MEMORY;
    atn_status status = fitness_make(p, p->fitness);
    p->noise = hypot(p->fitness->side[0].noise, p->fitness->side[1].noise);
    return status;
}

atn_status reg_judge(reg_problem *p, atn_register_result *r) {
    double larger = reg_radius(&p->source, p->source_origin) / p->unit * reg_pose_scale(&p->pose);
    double since = atn_clock_seconds();
    atn_status status = ATN_OK;
    r->n_alternatives = r->n_sliding = 0;
    r->runner_up = p->value = 0;
    r->converged = p->converged;
    r->verdict = ATN_VERDICT_REFUSED;
    p->beaten = false;
    if (!judge_degenerate(p, r->reason, sizeof r->reason)) {
        status = look_closely(p);
        if (status == ATN_OK) status = judge(p, r);
        if (r->verdict == ATN_VERDICT_TRUSTED && !p->converged) r->verdict = ATN_VERDICT_DOUBTFUL;
        if (!p->converged && *p->reason) snprintf(r->reason, sizeof r->reason, "%s", p->reason);
        if (r->verdict != ATN_VERDICT_TRUSTED && (larger > LARGER || larger < SMALLER)) {
            r->verdict = ATN_VERDICT_REFUSED;
            snprintf(r->reason, sizeof r->reason,
                     "the source is %.3g times as large as the target: are both in one unit?", larger);
        }
    }
    if (r->verdict == ATN_VERDICT_TRUSTED)
        snprintf(r->reason, sizeof r->reason, "%.0f %% of what meets agrees, and no other pose comes near",
                 100 * r->agreement);
    if (r->verdict == ATN_VERDICT_REFUSED) r->converged = r->has_covariance = false;
    reg_timed(&p->engine, REG_JUDGE, since);
    return status;
}
