/* Medians with intervals, duels and finals. The interval of a median from n sorted numbers is [x(k), x(n-1-k)] with the
 * largest k for which a fair coin thrown n times shows k heads or less in at most 2.5 % of cases. */
#include "tune/measure.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers to leave out at either end for an interval of 95 %. */
static int32_t left_out(int32_t n) {
    double heads = pow(0.5, n), sum = heads; /* exactly none */
    int32_t k = 0;
    if (sum > 0.025) return 0;
    while (k + 1 <= (n - 1) / 2) {
        heads *= (double)(n - k) / (double)(k + 1);
        if (sum + heads > 0.025) break;
        sum += heads;
        ++k;
    }
    return k;
}

atn_middle atn_middle_of(const double *numbers, int32_t count) {
    double sorted[ATN_MOST_SAMPLES];
    if (count < 1) return (atn_middle){0};
    if (count > ATN_MOST_SAMPLES) count = ATN_MOST_SAMPLES;
    memcpy(sorted, numbers, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, atn_ascending_double);
    int32_t k = left_out(count);
    return (atn_middle){.median = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2,
                        .low = sorted[k],
                        .high = sorted[count - 1 - k],
                        .count = count};
}

atn_middle atn_ratio_of(const double *a, const double *b, int32_t count) {
    double ratio[ATN_MOST_SAMPLES];
    if (count > ATN_MOST_SAMPLES) count = ATN_MOST_SAMPLES;
    for (int32_t k = 0; k < count; ++k) ratio[k] = a[k] / b[k];
    return atn_middle_of(ratio, count);
}

static atn_race_rules filled(const atn_race_rules *given) {
    atn_race_rules r = given ? *given : (atn_race_rules){0};
    if (!(r.drop > 0)) r.drop = 3;
    if (!(r.behind > 0)) r.behind = 1.15;
    if (r.least < 1) r.least = 6;
    if (r.most < r.least) r.most = r.least > 15 ? r.least : 15;
    if (r.most > ATN_MOST_SAMPLES) r.most = ATN_MOST_SAMPLES;
    if (!(r.even > 0)) r.even = 0.01;
    return r;
}

/* Are `count` ratios enough? */
static bool is_decided(const atn_race_rules *r, const double *a, const double *b, int32_t count) {
    bool far = count >= 3;
    for (int32_t k = 0; k < count && far; ++k) far = a[k] > r->behind * b[k];
    if (far) return true;
    if (count < r->least) return false;
    atn_middle ratio = atn_ratio_of(a, b, count);
    bool apart = ratio.low > 1 || ratio.high < 1;
    bool even = ratio.low > 1 - r->even && ratio.high < 1 + r->even;
    return apart || even;
}

atn_status atn_duel_run(const atn_race_rules *rules, const atn_sampler *sampler, double best, atn_duel *out) {
    atn_race_rules r = filled(rules);
    *out = (atn_duel){0};
    int32_t n = 0;
    for (bool decided = false; n < r.most && !decided;) {
        atn_status status = sampler->sample(sampler->user, 0, &out->challenger[n]);
        if (status != ATN_OK) return status;
        if (n == 0 && best > 0 && out->challenger[0] > r.drop * best) {
            out->dropped = true;
            out->seconds = atn_middle_of(out->challenger, 1);
            return ATN_OK;
        }
        if (best > 0) status = sampler->sample(sampler->user, 1, &out->incumbent[n]);
        if (status != ATN_OK) return status;
        ++n;
        decided = best > 0 ? is_decided(&r, out->challenger, out->incumbent, n) : n >= r.least;
    }
    out->count = n;
    out->seconds = atn_middle_of(out->challenger, n);
    if (best > 0) out->ratio = atn_ratio_of(out->challenger, out->incumbent, n);
    return ATN_OK;
}

/* ---- the final ---- */

static atn_status one_round(const atn_sampler *sampler, const bool *in, int32_t n, int32_t round, atn_final *out) {
    for (int32_t k = 0; k < n; ++k) {
        if (!in[k]) continue;
        atn_status status = sampler->sample(sampler->user, k, &out->samples[k][round]);
        if (status != ATN_OK) return status;
        out->count[k] = round + 1;
    }
    return ATN_OK;
}

/* The contestant of those still in with the least median ratio to `to`, itself left out; -1: none. */
static int32_t nearest(const atn_final *f, const bool *in, int32_t to, int32_t rounds) {
    int32_t found = -1;
    double least = INFINITY;
    for (int32_t k = 0; k < f->n; ++k) {
        if (!in[k] || k == to) continue;
        double ratio = atn_ratio_of(f->samples[k], f->samples[to], rounds).median;
        if (ratio < least) {
            least = ratio;
            found = k;
        }
    }
    return found;
}

static int32_t fastest(const atn_final *f, const bool *in, int32_t rounds) {
    int32_t found = -1;
    double least = INFINITY;
    for (int32_t k = 0; k < f->n; ++k) {
        double seconds = in[k] ? atn_middle_of(f->samples[k], rounds).median : INFINITY;
        if (in[k] && (found < 0 || seconds < least)) {
            least = seconds;
            found = k;
        }
    }
    if (found < 0) return found;
    int32_t better = nearest(f, in, found, rounds); /* paired ratios have the last word */
    return better >= 0 && atn_ratio_of(f->samples[better], f->samples[found], rounds).median < 1 ? better : found;
}

/* The worse half goes, by paired ratios to the best; what ties with the best may stay until the last two. */
static void halve(atn_final *f, bool *in, int32_t *left, int32_t rounds) {
    int32_t keep = *left > 3 ? (*left + 1) / 2 : 2, best = fastest(f, in, rounds);
    while (*left > keep) {
        int32_t worst = -1;
        double most = -1;
        for (int32_t k = 0; k < f->n; ++k) {
            if (!in[k] || k == best) continue;
            double ratio = atn_ratio_of(f->samples[k], f->samples[best], rounds).median;
            if (!(ratio <= most)) {
                most = ratio;
                worst = k;
            }
        }
        in[worst] = false;
        --*left;
    }
}

/* Of the winner and what ties with it over the rounds of both: the simplest; of equally simple ones the
 * fastest. */
static int32_t simplest(const atn_final *f, int32_t winner, const int32_t *burden) {
    int32_t found = winner;
    double least = 1;
    for (int32_t k = 0; k < f->n && burden; ++k) {
        int32_t rounds = f->count[k] < f->count[winner] ? f->count[k] : f->count[winner];
        if (k == winner || rounds < 6) continue;
        atn_middle ratio = atn_ratio_of(f->samples[k], f->samples[winner], rounds);
        bool ties = ratio.low <= 1 && ratio.high >= 1 && ratio.median < 1.02;
        if (!ties || burden[k] > burden[found] || (burden[k] == burden[found] && ratio.median >= least)) continue;
        found = k;
        least = ratio.median;
    }
    return found;
}

/* Times of all on the winner's scale: their ratios to it in the rounds of both, so that a slow moment of the machine
 * that only some took part in does not count. */
static void scale_all(atn_final *f) {
    atn_middle own = atn_middle_of(f->samples[f->winner], f->count[f->winner]);
    for (int32_t k = 0; k < f->n; ++k) {
        int32_t both = f->count[k] < f->count[f->winner] ? f->count[k] : f->count[f->winner];
        atn_middle ratio = atn_ratio_of(f->samples[k], f->samples[f->winner], both);
        f->seconds[k] = k == f->winner ? own
                                       : (atn_middle){.median = own.median * ratio.median,
                                                      .low = own.median * ratio.low,
                                                      .high = own.median * ratio.high,
                                                      .count = both};
    }
}

static void conclude(atn_final *f, const int32_t *burden, const bool *in, int32_t rounds) {
    f->winner = simplest(f, fastest(f, in, rounds), burden);
    f->runner_up = -1;
    scale_all(f);
    for (int32_t k = 0; k < f->n; ++k)
        if (k != f->winner && (f->runner_up < 0 || f->seconds[k].median < f->seconds[f->runner_up].median))
            f->runner_up = k;
    if (f->runner_up < 0) return;
    int32_t both = f->count[f->runner_up] < f->count[f->winner] ? f->count[f->runner_up] : f->count[f->winner];
    f->ratio = atn_ratio_of(f->samples[f->runner_up], f->samples[f->winner], both);
    f->tie = f->ratio.low <= 1 && f->ratio.high >= 1;
}

atn_status atn_final_run(const atn_race_rules *rules, const atn_sampler *sampler, int32_t n, const int32_t *burden,
                         atn_final *out) {
    atn_race_rules r = filled(rules);
    *out = (atn_final){.n = n, .winner = -1, .runner_up = -1};
    if (n < 1 || n > ATN_MOST_RACERS) return ATN_OK;
    bool in[ATN_MOST_RACERS] = {false};
    for (int32_t k = 0; k < n; ++k) in[k] = true;
    int32_t left = n, round = 0, stage = 0;
    while (round < r.most) {
        atn_status status = one_round(sampler, in, n, round++, out);
        if (status != ATN_OK) return status;
        ++stage;
        if (left > 2) {
            if (stage < r.least) continue;
            halve(out, in, &left, round);
            stage = 0;
            continue;
        }
        if (round < r.least || stage % r.least != 0) continue; /* who looks too often sees differences everywhere */
        int32_t best = fastest(out, in, round), second = nearest(out, in, best, round);
        if (second < 0 || is_decided(&r, out->samples[second], out->samples[best], round)) break;
    }
    conclude(out, burden, in, round);
    return ATN_OK;
}

bool atn_has_drifted(const double *times, int32_t count) {
    if (count < 6) return false;
    double usual = atn_middle_of(times, 3).median;
    int32_t faster = 0, slower = 0;
    for (int32_t k = count - 3; k < count; ++k) {
        faster += times[k] < 0.9 * usual;
        slower += times[k] > 1.1 * usual;
    }
    return faster == 3 || slower == 3;
}
