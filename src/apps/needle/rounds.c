/* The shifting algorithm: matches are counted for all combinations of a roll about the needle and a shift along it, and
 * the next round searches around the best one with smaller steps. T = [R Rz(roll), t + direction shift /
 * direction_z]. */
#include "apps/needle/needle.h"

#include "base/extreme.h"

#include <math.h>
#include <stdlib.h>

enum { WORTH_A_LIST = 6 };        /* combinations that are weighed together, at least */
static const double ABOUT = 0.02; /* of the points: counts that are as good as the most */
static const double DEGREE = 3.14159265358979323846 / 180;

geom_pose needle_pose(const needle_frame *frame, double roll_deg, double shift) {
    double c = cos(roll_deg * DEGREE), s = sin(roll_deg * DEGREE);
    geom_pose turn = {{c, -s, 0, s, c, 0, 0, 0, 1}, {0}}, out = geom_pose_compose(&frame->start, &turn);
    for (int axis = 0; axis < 3; ++axis) out.b[axis] += frame->along[axis] * shift;
    return out;
}

static int64_t steps_of(const atn_needle_interval *i) {
    return (int64_t)floor((i->high - i->low) / i->step + 1e-6) + 1;
}

static double value_at(const atn_needle_interval *i, int64_t step) { return i->low + (double)step * i->step; }

atn_status needle_poses(atn_needle *n, const needle_frame *f, const atn_needle_interval *rolls, int64_t n_rolls,
                        const atn_needle_interval *shifts, int64_t n_shifts) {
    atn_status status = needle_engine_room(n, n_rolls * n_shifts);
    geom_pose *pose = n->pose;
    for (int64_t r = 0; r < n_rolls && status == ATN_OK; ++r) {
        const geom_pose turned = needle_pose(f, value_at(rolls, r), 0);
        for (int64_t s = 0; s < n_shifts; ++s, ++pose) {
            *pose = turned;
            for (int axis = 0; axis < 3; ++axis) pose->b[axis] += f->along[axis] * value_at(shifts, s);
        }
    }
    return status;
}

/* A round's counts, roll by roll: shifts follow each other. */
typedef struct grid {
    int64_t rolls, shifts;
    const int32_t *count;
} grid;

/* Of combinations whose worth is the largest, the one nearest to their middle: the true place is inside. */
static int64_t middle_of_best(int64_t rolls, int64_t shifts, const double *worth) {
    double most = -INFINITY, middle[2] = {0}, ties = 0, nearest = INFINITY;
    int64_t best = 0;
    for (int64_t k = 0; k < rolls * shifts; ++k) {
        if (worth[k] > most) most = worth[k], ties = middle[0] = middle[1] = 0;
        if (worth[k] < most) continue;
        ++ties;
        middle[0] += (double)(k / shifts);
        middle[1] += (double)(k % shifts);
    }
    for (int64_t k = 0; k < rolls * shifts; ++k) {
        if (worth[k] < most) continue;
        double dr = (double)(k / shifts) - middle[0] / ties, ds = (double)(k % shifts) - middle[1] / ties;
        if (dr * dr + ds * ds >= nearest) continue;
        nearest = dr * dr + ds * ds;
        best = k;
    }
    return best;
}

/* Lists combinations from that many matches down, whole counts at a time, as long as `least` allows; returns the next
 * smaller count, -1 if there is none. */
static int32_t list_some(atn_needle *n, int64_t combinations, const int32_t *counts, int32_t count, double least,
                         int64_t *listed) {
    for (*listed = 0; count >= least && *listed < WORTH_A_LIST;) {
        int32_t next = -1;
        for (int64_t k = 0; k < combinations; ++k) {
            if (counts[k] == count) n->weighed[(*listed)++] = k;
            if (counts[k] < count && counts[k] > next) next = counts[k];
        }
        count = next;
    }
    return count;
}

/* Weighs the combinations that are listed: matches less the points in free space, as many as they would be of `points`.
 */
static atn_status weigh(atn_needle *n, const int32_t *counts, int64_t listed, double points, double *best) {
    atn_status status = needle_free_views(n, listed, n->weighed, n->listed);
    for (int64_t k = 0; k < listed && status == ATN_OK; ++k) {
        int64_t at = n->weighed[k];
        n->view[at] = n->listed[k];
        n->worth[at] = counts[at] - n->view[at].against * points / fmax(n->view[at].facing, 1);
        *best = fmax(*best, n->worth[at]);
    }
    return status;
}

/* The largest count; or with free space the largest count less the points in it, as many as they would be of the
 * scan's. Only what comes near to the most is looked at: free space decides where counts do not. Nothing is worth more
 * than its count: what has fewer matches than the best is worth need not be weighed. */
atn_status needle_best(atn_needle *n, int64_t rolls, int64_t shifts, const int32_t *counts, needle_choice points,
                       double about, int64_t *out) {
    int64_t combinations = rolls * shifts, listed;
    int32_t most = 0;
    double all = (double)n->counted[points].count, best = -INFINITY;
    atn_status status = ATN_OK;
    *out = 0;
    for (int64_t k = 0; k < combinations; ++k) {
        if (counts[k] > most) most = counts[k];
        n->worth[k] = n->empty_space.on ? -INFINITY : (double)counts[k];
    }
    for (int32_t count = most; n->empty_space.on && status == ATN_OK && count >= 0;) {
        count = list_some(n, combinations, counts, count, fmax(fmax(most - about * all, best), 0), &listed);
        if (listed == 0) break;
        status = weigh(n, counts, listed, all, &best);
    }
    if (status == ATN_OK) *out = middle_of_best(rolls, shifts, n->worth);
    return status;
}

/* As published: the roll with the largest sum over shifts, the shift with the largest sum over rolls; the first. */
static void marginal(const grid *g, int64_t *roll, int64_t *shift) {
    int64_t most = -1;
    for (int64_t r = 0; r < g->rolls; ++r) {
        int64_t sum = 0;
        for (int64_t s = 0; s < g->shifts; ++s) sum += g->count[r * g->shifts + s];
        if (sum > most) most = sum, *roll = r;
    }
    most = -1;
    for (int64_t s = 0; s < g->shifts; ++s) {
        int64_t sum = 0;
        for (int64_t r = 0; r < g->rolls; ++r) sum += g->count[r * g->shifts + s];
        if (sum > most) most = sum, *shift = s;
    }
}

/* The most matches of a combination farther from the winner than later rounds look. */
static int64_t runner_up(const grid *g, int64_t roll, int64_t shift, int64_t around) {
    int64_t most = 0;
    for (int64_t k = 0; k < g->rolls * g->shifts; ++k)
        if ((llabs(k / g->shifts - roll) > around || llabs(k % g->shifts - shift) > around) && g->count[k] > most)
            most = g->count[k];
    return most;
}

static atn_status one_round(atn_needle *n, const needle_frame *f, const atn_needle_interval *rolls,
                            const atn_needle_interval *shifts, grid *g) {
    *g = (grid){.rolls = steps_of(rolls), .shifts = steps_of(shifts)};
    if ((double)g->rolls * (double)g->shifts > (double)f->settings->most_combinations)
        return atn_fail(n->ctx, ATN_ERR_INPUT,
                        "needle: %lld rolls by %lld shifts are more than the %lld combinations that a round may have; "
                        "larger steps or smaller intervals have fewer",
                        (long long)g->rolls, (long long)g->shifts, (long long)f->settings->most_combinations);
    atn_status status = needle_poses(n, f, rolls, g->rolls, shifts, g->shifts);
    if (status != ATN_OK) return status;
    return needle_engine_count(n, g->rolls * g->shifts, NEEDLE_ALL, &g->count);
}

static void narrow(const needle_frame *f, atn_needle_interval *i, double winner) {
    double half = f->around * i->step;
    *i = (atn_needle_interval){winner - half, winner + half, i->step / f->divide};
}

atn_status needle_rounds(atn_needle *n, const needle_frame *f, atn_needle_result *out) {
    atn_needle_interval rolls = f->settings->roll_deg, shifts = f->settings->shift;
    for (int32_t k = 0; k < f->settings->rounds; ++k) {
        grid g;
        int64_t roll = 0, shift = 0;
        atn_status status = atn_tell_progress(n->ctx, "matching", k, f->settings->rounds);
        if (status == ATN_OK) status = one_round(n, f, &rolls, &shifts, &g);
        if (status != ATN_OK) return status;
        if (f->settings->marginal) {
            marginal(&g, &roll, &shift);
        } else {
            int64_t best;
            status = needle_best(n, g.rolls, g.shifts, g.count, NEEDLE_ALL, ABOUT, &best);
            if (status != ATN_OK) return status;
            roll = best / g.shifts;
            shift = best % g.shifts;
        }
        out->round[k] = (atn_needle_round){value_at(&rolls, roll), value_at(&shifts, shift),
                                           g.count[roll * g.shifts + shift], g.rolls * g.shifts};
        if (k == 0) out->runner_up = runner_up(&g, roll, shift, f->around);
        out->n_rounds = k + 1;
        narrow(f, &rolls, out->round[k].roll_deg);
        narrow(f, &shifts, out->round[k].shift);
    }
    const atn_needle_round *last = &out->round[out->n_rounds - 1];
    out->roll_deg = last->roll_deg;
    out->shift = last->shift;
    out->matches = last->matches;
    return ATN_OK;
}

/* Counts over a whole turn at the winner's shift. The count is a sum over points, each matched with probability p: that
 * is its noise where the surface does not tell rolls apart. */
atn_status needle_roll_observable(atn_needle *n, const needle_frame *f, const geom_pose *pose, atn_needle_result *out,
                                  int64_t *matches) {
    enum { ROLLS = 36, DEVIATIONS = 5 };
    const int32_t *count;
    atn_status status = needle_engine_room(n, ROLLS + 1);
    if (status != ATN_OK) return status;
    for (int k = 0; k < ROLLS; ++k) n->pose[k] = needle_pose(f, out->roll_deg + 360.0 / ROLLS * k, out->shift);
    n->pose[ROLLS] = *pose;
    status = needle_engine_count(n, ROLLS + 1, NEEDLE_ALL, &count);
    if (status != ATN_OK) return status;
    *matches = count[ROLLS];
    double points = (double)(n->options.count == ATN_NEEDLE_COUNT_MODEL ? n->model.count : (size_t)n->scan_points);
    double least = (double)out->matches, share = points > 0 ? (double)out->matches / points : 0;
    for (int k = 0; k < ROLLS; ++k) least = atn_lesser(least, (double)count[k]);
    double noise = sqrt(points * share * (1 - share) + 1);
    out->roll_observable = (double)out->matches - least > DEVIATIONS * noise;
    return ATN_OK;
}
