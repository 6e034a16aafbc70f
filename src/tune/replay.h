/* Replaying a strategy on a recorded space: no device, only what was measured once. How good a strategy is, as
 * Willemsen and others score it: at each number of evaluations, how far it has come from the value that chance would
 * have reached to the optimum, averaged. */
#ifndef ATN_TUNE_REPLAY_H
#define ATN_TUNE_REPLAY_H

#include "tune/recorded.h"

typedef struct atn_replay_options {
    int64_t evaluations; /* of each repeat; 0: 200 */
    int64_t repeats;     /* with the seeds seed, seed+1, …; 0: 100 */
    uint64_t seed;
    int32_t threads; /* 0: one per processor */
    /* Called now and then, from the calling thread, with the repeats that are done; may be NULL. */
    void (*progress)(void *user, int64_t done, int64_t repeats);
    void *user;
} atn_replay_options;

typedef struct atn_replay_result {
    const char *strategy;
    int64_t evaluations, repeats;
    int64_t points, failures; /* of the recorded space */
    double optimum;           /* seconds */
    double median;            /* of the points that ran, in seconds */
    double mean_best;         /* the fastest found, averaged over the repeats, in seconds */
    double fraction;          /* optimum / mean_best */
    double score;             /* about 0: as chance; 1: the optimum at once */
    double found;             /* fraction of the repeats that found the optimum */
    double seconds;           /* that the replay took */
} atn_replay_result;

/* Fails for a space in which nothing ran. */
atn_status atn_replay(const atn_ctx *ctx, const atn_recorded *recorded, const atn_strategy *strategy,
                      const atn_replay_options *options, atn_replay_result *out);

/* The value that chance is expected to reach in `evaluations`: sorted[n] holds what ran, ascending. */
double atn_replay_baseline(const double *sorted, int64_t n, int64_t evaluations);

#endif
