/* The verdict: trusted, doubtful or refused, with its reason. It depends on how the clouds agree at their own
 * resolution, compared with chance, on directions that slide, and on the best other pose. */
#include "apps/register/beside.h"
#include "apps/register/judge.h"
#include "apps/register/search.h"

#include "base/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double CHANCE = 0.45;                        /* agreement that wrong poses reach */
static const double AGREES = 0.65;                        /* agreement that is none by chance */
static const double MISFIT = 0.31;                        /* more is no noise; a third is for distances spread evenly */
static const double MISFIT_NOISY = 0.2;                   /* where planes show in noise alone, which makes it 0.16 */
static const double MISFIT_ALONE = 0.36, NONE_NEAR = 0.1; /* a little more is forgiven beside such a runner-up */
static const double PLANAR = 0.97; /* share of normals along three directions: walls and floors */
static const double FREE = 0.96;   /* share of what is over these that lies at them: all there is */
static const double MOSTLY_PLANAR = 0.9, MOSTLY_FREE = 0.92; /* where a little else meets */
static const double NONE_OVER = 0.98;                        /* share of it that hardly anything else leaves room for */
static const double DETAIL = 0.75;   /* share of what is no wall that must be there too, where walls and floors meet */
static const double FURNISHED = 0.8; /* share of it that makes up for points over walls and floors */
static const double SURELY = 0.9;    /* agreement that needs no yardstick, unless walls and floors make it */
static const double MIRRORED = 0.85; /* value of the mirrored source that makes a doubt: where walls and floors meet, */
static const double MIRRORED_WEAK = 0.6;   /* where agreement is less than sure, */
static const double MIRRORED_OVER = 0.6;   /* where walls and floors meet, and more than FREE allows is over them, */
static const double BOTH = 1;              /* and value of it and of the runner-up together there, */
static const double MIRRORED_BLIND = 1;    /* where there is no surface */
static const double LEAST = 0.03;          /* overlap that tells anything */
static const double RIVALLED = 0.5;        /* value of the runner-up from which on the answer does not stand out, */
static const double RIVALLED_CLEAR = 0.75; /* where what meets agrees everywhere; in between from here on: */
static const double NEARLY_CLEAR = 0.92;
static const double CLOSE = 0.8; /* value of the runner-up that makes a doubt of its own a refusal */
static const double LARGER = 20, FAR_LARGER = 200,
                    SMALLER = 1e-3;   /* the source beside the target: hardly the same unit */
static const double AHEAD_ALONE = 7;  /* deviations that scores of nearest points are above all others, mirrored too; */
static const double NEARLY_AHEAD = 3; /* above those alone where the few planes that there are agree; else a doubt */
static const double BY_DENSITY = 0.6; /* agreement of points that fill space; equal densities alone make it 0.53 */
static const float EXACTLY =
    0.998F; /* score of a point within 0.03 of the sixth neighbour's distance of its own place, */
static const double NEARLY_ALL = 0.9;   /* and share of these that few points need */
static const double LEAST_SCORE = 0.15; /* mean score that tells anything */
static const double BLIND = 0.01;       /* what a score counts beside the value that planes give */
enum { FEWEST = 12, FEW = 100 };        /* planes on a surface that say something; fewer may be there by chance */
enum { FEW_POINTS = 20 };               /* of a cloud: fewer come near others by chance */

const char *atn_verdict_name(atn_verdict verdict) {
    static const char *const NAMES[] = {"refused", "doubtful", "trusted"};
    return (int)verdict >= 0 && verdict <= ATN_VERDICT_TRUSTED ? NAMES[verdict] : "unknown";
}

static void say(atn_register_result *r, atn_verdict verdict, const char *why) {
    r->verdict = verdict;
    snprintf(r->reason, sizeof r->reason, "%s", why);
}

/* Walls and floors meet, and what stands there does not, or there is nothing. */
static bool only_walls(const fitness_seen *seen) {
    double detail = judge_detail(seen);
    if (seen->planar > PLANAR && seen->free < FREE && detail < FURNISHED) return true;
    if (seen->planar <= MOSTLY_PLANAR) return false;
    return seen->free < MOSTLY_FREE || (seen->free < NONE_OVER && seen->missing > 1 && detail < DETAIL);
}

/* Noise that hides planes of few neighbours in both clouds is all that keeps the right pose's surfaces apart. */
static double most_misfit(const fitness *f) {
    return fitness_in_noise(&f->side[0]) && fitness_in_noise(&f->side[1]) ? MISFIT_NOISY : MISFIT;
}

/* What can be said without other poses; false: there is nothing to ask of them. */
static bool stands(const fitness *f, const fitness_seen *seen, atn_register_result *r) {
    r->verdict = ATN_VERDICT_TRUSTED;
    if (seen->identical) return true;
    if (seen->precision < CHANCE) {
        r->verdict = ATN_VERDICT_REFUSED;
        snprintf(r->reason, sizeof r->reason,
                 "%.0f %% of the points next to the other surface lie on it, no more than for unrelated clouds",
                 100 * seen->precision);
    } else if (seen->precision < AGREES) {
        r->verdict = ATN_VERDICT_DOUBTFUL;
        snprintf(r->reason, sizeof r->reason, "only %.0f %% of the points next to the other surface lie on it",
                 100 * seen->precision);
    } else if (only_walls(seen)) {
        r->verdict = ATN_VERDICT_DOUBTFUL;
        snprintf(r->reason, sizeof r->reason, "only planes along three directions meet, as in any room");
    } else if (seen->misfit > most_misfit(f)) {
        r->verdict = ATN_VERDICT_DOUBTFUL;
        snprintf(r->reason, sizeof r->reason,
                 "the surfaces meet, but are farther apart than noise and spacing explain");
    }
    return r->verdict != ATN_VERDICT_REFUSED;
}

/* Surfaces that are a little too far apart: chance would have found other poses that fit like this. */
static bool forgiven(const fitness *f, const fitness_seen *seen, const atn_register_result *r) {
    double most = most_misfit(f);
    return seen->precision >= AGREES && !only_walls(seen) && seen->misfit > most &&
           seen->misfit <= (most < MISFIT ? MISFIT : MISFIT_ALONE) && r->runner_up <= NONE_NEAR;
}

/* The surer what meets agrees, the nearer another pose may come. */
static double most_rivalled(const reg_problem *p, const fitness_seen *seen) {
    double clear = p->fitness->solid ? 0 : fmax(0, (seen->clear - NEARLY_CLEAR) / (1 - NEARLY_CLEAR));
    return RIVALLED + (RIVALLED_CLEAR - RIVALLED) * clear;
}

/* Other poses and sliding directions take trust away. */
static void weigh(const reg_problem *p, const fitness_seen *seen, const char *like, atn_register_result *r) {
    bool weak = !p->fitness->solid && (seen->precision < AGREES || seen->misfit > most_misfit(p->fitness));
    if (weak && r->verdict == ATN_VERDICT_DOUBTFUL && r->runner_up > CLOSE) {
        r->verdict = ATN_VERDICT_REFUSED;
        snprintf(
            r->reason, sizeof r->reason,
            "no pose stands out: %.0f %% of the points next to the other surface lie on it, as many as in other poses",
            100 * r->agreement);
        return;
    }
    if (r->n_sliding)
        snprintf(r->reason, sizeof r->reason, "%s", like);
    else if (r->n_alternatives)
        snprintf(r->reason, sizeof r->reason, "%d poses fit equally", (int)r->n_alternatives + 1);
    else if (p->beaten)
        snprintf(r->reason, sizeof r->reason, "another pose fits %.2g times as well", r->runner_up);
    else if (r->runner_up > most_rivalled(p, seen))
        snprintf(r->reason, sizeof r->reason, "another pose fits %.0f %% as well", 100 * r->runner_up);
    else {
        if (!forgiven(p->fitness, seen, r)) return;
        r->reason[0] = '\0';
        r->verdict = ATN_VERDICT_TRUSTED;
        return;
    }
    r->verdict = ATN_VERDICT_DOUBTFUL;
}

/* Planes of both clouds meet hardly anywhere: there are none, noise hides them, or the clouds do not touch. */
static bool is_blind(const reg_problem *p, const fitness_seen *seen) {
    return !seen->identical &&
           (p->fitness->solid || seen->fits < FEWEST || fmax(seen->overlap[0], seen->overlap[1]) < LEAST);
}

/* Walls and floors meet in other rooms too, and in mirrored ones, but not all that stands there; what agrees less than
 * surely, in few places, or beside another pose that comes near, may do so by chance. */
static atn_status hold_against_chance(reg_problem *p, const fitness_seen *seen, atn_register_result *r) {
    double as_well;
    bool furnished = seen->free >= FREE && judge_detail(seen) >= FURNISHED;
    bool walls = seen->planar >= MOSTLY_PLANAR && !furnished, weak = seen->precision < SURELY;
    bool many = fitness_planes(p->fitness, seen->fits) >= FEW;
    bool near = r->runner_up > (weak ? NONE_NEAR : RIVALLED); /* what other poses reach is chance, too */
    if (r->verdict != ATN_VERDICT_TRUSTED || seen->identical || (!walls && many && !near)) return ATN_OK;
    double least = weak ? MIRRORED_WEAK : MIRRORED;
    bool open = walls && seen->free < FREE;
    double told = open ? fmin(least, fmin(MIRRORED_OVER, BOTH - r->runner_up)) : least;
    atn_status status = judge_mirror(p, seen, told, &as_well);
    bool over = open && (as_well > MIRRORED_OVER || as_well + r->runner_up > BOTH);
    if (status != ATN_OK || (as_well < least && !over)) return status;
    r->verdict = ATN_VERDICT_DOUBTFUL;
    snprintf(r->reason, sizeof r->reason, "the mirrored source, which is another object, fits %.0f %% as well",
             100 * as_well);
    return ATN_OK;
}

/* How far ahead of the mirrored source's nearest points must be: less where the few planes agree that meet. */
static double least_ahead(const fitness *f, const fitness_seen *seen) {
    return f->solid || seen->near < FEWEST || seen->precision < AGREES ? AHEAD_ALONE : NEARLY_AHEAD;
}

/* Nearest points tell whether the answer stands out from other poses. */
static atn_status judge_by_points(reg_problem *p, const fitness_seen *seen, atn_register_result *r) {
    fitness_scores scores;
    double ahead = 0, by_chance = 0, mirrored = 0;
    bool touch = seen->fits >= FEWEST && fmax(seen->overlap[0], seen->overlap[1]) > LEAST;
    fitness_score(p->fitness, &p->pose, &scores);
    p->value = BLIND * scores.mean;
    r->verdict = ATN_VERDICT_REFUSED;
    if (!(scores.mean > 0)) {
        bool few = !(p->fitness->side[0].sixth > 0 || p->fitness->side[1].sixth > 0); /* no point has six others */
        say(r, ATN_VERDICT_REFUSED,
            few ? "the clouds have too few points to judge a pose by"
                : "the clouds do not overlap: no point lies near the other cloud");
        return ATN_OK;
    }
    atn_status status = judge_rivals_by_points(p, &scores, r, &ahead);
    double least = least_ahead(p->fitness, seen);
    bool stands_out = ahead >= AHEAD_ALONE && scores.mean > LEAST_SCORE;
    if (status == ATN_OK && stands_out) status = judge_mirror_by_points(p, seen, &scores, &mirrored, &by_chance);
    if (!p->fitness->solid) mirrored = 0; /* of hardly any planes */
    if (!p->fitness->solid && seen->near >= FEWEST && seen->precision < CHANCE)
        snprintf(r->reason, sizeof r->reason,
                 "%.0f %% of the points next to the other surface lie on it, no more than for unrelated clouds",
                 100 * seen->precision);
    else if (stands_out && !p->fitness->solid && seen->near >= FEWEST && seen->precision < AGREES) {
        r->verdict = ATN_VERDICT_DOUBTFUL;
        snprintf(r->reason, sizeof r->reason, "only %.0f %% of the points next to the other surface lie on it",
                 100 * seen->precision);
    } else if (stands_out && (by_chance < least || mirrored > MIRRORED_BLIND))
        say(r, ATN_VERDICT_DOUBTFUL, "there is no surface to compare, and the mirrored source fits about as well");
    else if (stands_out && p->fitness->solid && seen->precision < BY_DENSITY && r->runner_up > RIVALLED)
        say(r, ATN_VERDICT_DOUBTFUL, "the clouds are alike in density only: single points do not coincide");
    else if (stands_out)
        say(r, ATN_VERDICT_TRUSTED, "points lie nearer to each other than in any other pose");
    else {
        bool doubt = (p->fitness->solid && touch) || ahead >= NEARLY_AHEAD;
        r->verdict = doubt ? ATN_VERDICT_DOUBTFUL : ATN_VERDICT_REFUSED;
        if (r->runner_up > 0)
            snprintf(r->reason, sizeof r->reason,
                     "there is no surface to compare, and by nearest points another pose fits %.0f %% as well",
                     100 * r->runner_up);
        else
            say(r, r->verdict, "there is no surface to compare, and few points lie near the other cloud");
    }
    return status;
}

static atn_status judge(reg_problem *p, atn_register_result *r) {
    fitness_seen seen;
    char like[160] = "";
    fitness_look(p->fitness, &p->pose, &seen);
    r->overlap_source = seen.overlap[0];
    r->overlap_target = seen.overlap[1];
    r->agreement = seen.precision;
    p->value = seen.value;
    if (is_blind(p, &seen)) return judge_by_points(p, &seen, r);
    if (!stands(p->fitness, &seen, r)) return ATN_OK;
    if (!seen.identical) judge_sliding(p, &seen, r, like, sizeof like);
    atn_status status = judge_rivals(p, &seen, r);
    if (status != ATN_OK) return status;
    weigh(p, &seen, like, r);
    return hold_against_chance(p, &seen, r);
}

/* But for points far away from all others. */
static double size_of(const reg_usual *usual, double radius) {
    return usual->radius > 0 ? fmin(radius, REG_STRAY * usual->radius) : radius;
}

static void begin(reg_problem *p, atn_register_result *r) {
    r->n_alternatives = r->n_sliding = 0;
    r->runner_up = p->value = 0;
    r->verdict = ATN_VERDICT_REFUSED;
    r->reason[0] = '\0';
    p->beaten = false;
}

/* So few points come near each other by chance: they have to be the same ones. */
static void doubt_few(const reg_problem *p, atn_register_result *r) {
    size_t source = p->fitness->side[0].points.count, target = p->fitness->side[1].points.count, same = 0;
    fitness_scores scores;
    if (r->verdict != ATN_VERDICT_TRUSTED || (source >= FEW_POINTS && target >= FEW_POINTS)) return;
    fitness_score(p->fitness, &p->pose, &scores);
    for (size_t k = 0; k < scores.count; ++k) same += scores.of[k] > EXACTLY;
    if ((double)same >= NEARLY_ALL * (double)scores.count) return;
    r->verdict = ATN_VERDICT_DOUBTFUL;
    snprintf(r->reason, sizeof r->reason, "%zu points may come near %zu others by chance", source, target);
}

static atn_status judge_now(reg_problem *p, atn_register_result *r) {
    begin(p, r);
    atn_status status = judge(p, r);
    if (status == ATN_OK) doubt_few(p, r);
    atomic_store(&p->over, true);
    return status;
}

static bool fitness_there(void *user) {
    return atomic_load_explicit(&((reg_problem *)user)->fitness_there, memory_order_acquire);
}

/* Planes that are still being made are not waited for by the thread that has the device. */
static void judge_beside(void *user) {
    reg_problem *p = user;
    atn_aside_await(fitness_there, p);
    p->judge_status = p->fitness_status == ATN_OK ? judge_now(p, p->result) : p->fitness_status;
}

void reg_judge_begin(reg_problem *p) {
    char why[200];
    bool made = p->fitness && (p->fitness_aside.gang || atomic_load(&p->fitness_there));
    if (p->scene_aside.work || !p->scene || !made || (!p->engine.remote && !p->spare) ||
        judge_degenerate(p, why, sizeof why))
        return;
    atomic_store(&p->near, true);
    atn_aside_begin(p->engine.ctx, &p->judge_aside, judge_beside, p, reg_judge_threads(p));
}

/* Begun beside the device's last work, or now. */
static atn_status judge_pose(reg_problem *p, atn_register_result *r) {
    bool begun = p->judge_aside.work != NULL;
    atomic_store(&p->near, true);
    atn_aside_end(&p->judge_aside);
    atn_status status = reg_fitness_ready(p);
    if (status != ATN_OK) return status;
    return begun ? p->judge_status : judge_now(p, r);
}

/* What convergence and sizes make of a verdict. */
static void temper(const reg_problem *p, double larger, atn_register_result *r) {
    if (r->verdict == ATN_VERDICT_TRUSTED && !p->converged) r->verdict = ATN_VERDICT_DOUBTFUL;
    bool known = *r->reason && r->verdict == ATN_VERDICT_REFUSED && p->settings->init == ATN_START_AUTO;
    if (!p->converged && *p->reason && !known) snprintf(r->reason, sizeof r->reason, "%s", p->reason);
    double most = r->verdict == ATN_VERDICT_TRUSTED ? FAR_LARGER : LARGER; /* next to nothing of it is on the target */
    if (larger > most || (r->verdict != ATN_VERDICT_TRUSTED && larger < SMALLER)) {
        r->verdict = ATN_VERDICT_REFUSED;
        snprintf(r->reason, sizeof r->reason, "the source is %.3g times as large as the target: are both in one unit?",
                 larger);
    }
}

atn_status reg_judge(reg_problem *p, atn_register_result *r) {
    double target = size_of(&p->target_usual, p->target_spread.radius);
    double larger = size_of(&p->source_usual, p->source_spread.radius) / (target > 0 ? target : p->unit);
    larger *= geom_pose_scale(&p->pose);
    reg_span span = reg_begin(&p->engine);
    atn_status status = ATN_OK;
    char why[sizeof r->reason];
    if (judge_degenerate(p, why, sizeof why)) {
        begin(p, r);
        memcpy(r->reason, why, sizeof why);
    } else {
        status = judge_pose(p, r);
        temper(p, larger, r);
    }
    r->converged = p->converged;
    if (r->verdict == ATN_VERDICT_TRUSTED && !*r->reason)
        snprintf(r->reason, sizeof r->reason,
                 "%.0f %% of the overlapping surface agrees, and no other pose fits nearly as well",
                 100 * r->agreement);
    if (r->verdict == ATN_VERDICT_REFUSED) r->converged = r->has_covariance = false;
    if (r->n_sliding) r->has_covariance = false; /* what slides has no deviation */
    reg_end(&p->engine, REG_JUDGE, span);
    return status;
}
