/* Trying variants of one workload on one device, in this process: build, verify, time. What workers do; nothing here
 * protects anybody from what a variant may do. */
#ifndef ATN_TUNE_TRIAL_H
#define ATN_TUNE_TRIAL_H

#include "tune/measure.h"
#include "tune/verify.h"

typedef struct atn_trial_setup {
    double tolerance;
    bool reproducible, cold;
    bool build_only; /* no arrays are made, nothing is run */
    uint64_t seed;
} atn_trial_setup;

/* What became of one variant. */
typedef struct atn_trial {
    atn_outcome outcome;
    char detail[320];
    double seconds, low, high; /* of one run; 0: not measured */
    double error;
    int32_t samples;
    bool usable, dropped;
    atn_middle ratio;                                       /* to the incumbent, in the same rounds; count 0: none */
    int64_t registers, local_memory, occupancy, code_bytes; /* -1: the backend does not say */
} atn_trial;

typedef struct atn_trials atn_trials;

/* `stage` is called before every step that may never return, with its time limit; may be NULL. */
atn_status atn_trials_open(atn_device *device, const atn_workload *workload, const atn_trial_setup *setup,
                           const atn_verify_stage *stage, atn_trials **out);
void atn_trials_free(atn_trials *trials);

/* ATN_OK: the trial says what became of it. Else the device is lost, or memory of our own ran out. */
atn_status atn_trials_build(atn_trials *trials, const char *variant, atn_trial *out);
/* Against `incumbent` (NULL: alone), which took best_s (0: not known). */
atn_status atn_trials_try(atn_trials *trials, const char *variant, const char *incumbent, double best_s,
                          atn_trial *out);
/* In about limit_s seconds (0: no limit), though not with less than 6 rounds. */
atn_status atn_trials_final(atn_trials *trials, const char *const *variants, int32_t n, const atn_race_rules *rules,
                            double limit_s, atn_final *out);
/* The fixed kernel that shows whether the machine changed its speed: the estimate, one moment of it. */
atn_status atn_trials_sentinel(atn_trials *trials, double *seconds);

/* How far a variant is from the plain one: knobs that differ. */
int32_t atn_variant_burden(const atn_variant *variant);

#endif
