/* The rules of measuring: which numbers come out of noisy samples, and when enough were taken. Nothing here knows a
 * device or a clock: samples come through a function, so that the rules can be tested with noise of known kind. */
#ifndef ATN_TUNE_MEASURE_H
#define ATN_TUNE_MEASURE_H

#include "base/context.h"
#include "base/limits.h"

/* A median with its interval of 95 % from order statistics: no assumption of how the noise is distributed. Below 6
 * numbers the interval reaches from the least to the most, which holds less than 95 %. */
typedef struct atn_middle {
    double median, low, high;
    int32_t count;
} atn_middle;
atn_middle atn_middle_of(const double *numbers, int32_t count);
/* Of a[k] / b[k]: samples taken together, so that what slows both cancels. */
atn_middle atn_ratio_of(const double *a, const double *b, int32_t count);

/* One sample of a contestant, in seconds of one run. */
typedef struct atn_sampler {
    atn_status (*sample)(void *user, int32_t contestant, double *seconds);
    void *user;
} atn_sampler;

typedef struct atn_race_rules {
    double drop;         /* a first sample of this many times the best ends it; 0: 3 */
    double behind;       /* three ratios in a row above this end it; 0: 1.15 */
    int32_t least, most; /* samples; 0: 6 and 15 */
    double even;         /* a ratio's interval within 1 +- this is even: no use in going on; 0: 0.01 */
} atn_race_rules;

/* A challenger against an incumbent, one sample of each in turn. */
typedef struct atn_duel {
    double challenger[ATN_MOST_SAMPLES], incumbent[ATN_MOST_SAMPLES];
    int32_t count;      /* of pairs; the challenger alone has one more where it was dropped at once */
    bool dropped;       /* by its first sample */
    atn_middle seconds; /* of the challenger */
    atn_middle ratio;   /* challenger over incumbent; count 0: no incumbent */
} atn_duel;

/* `best`: seconds of the incumbent as known, 0: none, then the challenger runs alone. Contestants are 0, the
 * challenger, and 1, the incumbent. */
atn_status atn_duel_run(const atn_race_rules *rules, const atn_sampler *sampler, double best, atn_duel *out);

/* The final: all in turn, the worse half leaves after each stage (successive halving), and the two that are left go on
 * until it is decided or `most` rounds are over. */
typedef struct atn_final {
    int32_t n;                                         /* contestants */
    double samples[ATN_MOST_RACERS][ATN_MOST_SAMPLES]; /* of each, round by round */
    int32_t count[ATN_MOST_RACERS];                    /* rounds that each took part in, from the first */
    atn_middle seconds[ATN_MOST_RACERS];
    int32_t winner, runner_up; /* runner_up -1: there was one contestant only */
    atn_middle ratio;          /* the runner-up's over the winner's, in the rounds of both */
    bool tie;                  /* the interval of the ratio holds 1 */
} atn_final;

/* `burden[k]`: how far a contestant is from the simplest; of those that tie with the fastest, the least wins. May be
 * NULL. */
atn_status atn_final_run(const atn_race_rules *rules, const atn_sampler *sampler, int32_t n, const int32_t *burden,
                         atn_final *out);

/* Has the machine changed its speed? Times of one fixed kernel, oldest first: true when the last three all are more
 * than a tenth off the median of the first three. */
bool atn_has_drifted(const double *times, int32_t count);

#endif
