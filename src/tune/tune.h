/* The tuner: finds the fastest right variant of a kernel on a device by measurement. Candidates come from a space
 * through a strategy; each is verified against the oracle before it is timed, both in a worker process, so that no
 * candidate can harm the tuning; every step is in the wisdom database before it begins. */
#ifndef ATN_TUNE_TUNE_H
#define ATN_TUNE_TUNE_H

#include "built/built.h"
#include "space/space.h"
#include "tune/strategy.h"
#include "wisdom/wisdom.h"

/* What is tuned: one kernel at one shape. Worker processes read it again, so it is all text. */
typedef struct atn_workload {
    const char *name;           /* a shipped kernel's, or a file's, for messages */
    const char *xml;            /* the description */
    bool packed;                /* a graph as packed by atn_graph_pack: a step that is in no file */
    const char *const *defines; /* "USED_FLOAT=SP", ended by NULL; or NULL */
    const char *const
        *sizes; /* "A=1024x1024" (Size(1) x Size(0)), ended by NULL; what is not named takes what is reached */
    const char *const *params; /* "s=2.5", ended by NULL; or NULL */
    int32_t step;              /* of a Sequence; 0 for a single kernel */
    double range_length;       /* mean length of ranges that come from data; 0: 32 */
} atn_workload;

/* A candidate that was tried. Times drift with the machine; ratios to what is measured in the same moments do not, and
 * ratios of incumbents one after the other give one to the estimate. */
typedef struct atn_tune_step {
    char *variant; /* owned */
    atn_outcome outcome;
    double ratio; /* its time over the estimate's; 0: it was not timed */
} atn_tune_step;

typedef struct atn_tune_progress {
    int64_t tried, failed, recalled; /* recalled: known from an earlier session */
    double elapsed_s, left_s;        /* left_s < 0: not known */
    double best_s, default_s;        /* 0: none yet */
    const char *best;                /* variant */
    const char *phase;               /* "building", "searching", "deciding" */
    const atn_tune_step *steps;      /* of this session, in order */
    int32_t n_steps;
} atn_tune_progress;

typedef struct atn_tune_options {
    double budget_s;        /* 0: no limit of time */
    int64_t evaluations;    /* 0: no limit */
    double fraction;        /* of the allowed points; 0: no limit */
    const char *strategy;   /* NULL: the default */
    const char *space;      /* text of a LANAI space; NULL: the shipped one of the backend */
    const char *space_name; /* for messages */
    uint64_t seed;
    double tolerance;          /* relative error that the caller accepts beyond rounding; 0: what is derived */
    bool reproducible;         /* only variants whose results do not depend on the variant */
    bool cold;                 /* caches are emptied before each sample */
    bool again;                /* measures known results again */
    bool resume;               /* goes on: what is known counts as evaluations of this session */
    const char *const *only;   /* these variants and no search, ended by NULL; or NULL */
    const char *program;       /* the attune program that workers are; NULL: found */
    struct atn_spread *spread; /* ranks that try candidates, too (spread.h); NULL: this process alone does */
    /* Called often; false stops the tuning as Ctrl-C does. */
    bool (*progress)(void *user, const atn_tune_progress *now);
    void *user;
} atn_tune_options;

/* A variant with how fast it is and how near to the oracle: error as a fraction of what is allowed. */
typedef struct atn_tune_choice {
    char *variant;
    double seconds, error;
} atn_tune_choice;

typedef struct atn_tune_result {
    const atn_ctx *ctx;
    char *variant, *runner_up, *estimate; /* texts, owned; "" is the plain variant; variant NULL: none is right */
    atn_tune_choice *all;                 /* every right variant that was timed, fastest first, usable or not */
    atn_tune_choice *choices; /* of these, what no other beats in both speed and accuracy; theirs are all's */
    int32_t n_all, n_choices;
    atn_tune_step *steps; /* owned; candidates of this session in their order */
    int32_t n_steps;
    double default_s, best_s, low_s, high_s, worst_s; /* default: of the estimate */
    double *only_s; /* per variant of options.only: its seconds, INFINITY where it is not right; else NULL */
    int32_t n_shape;
    int64_t shape[ATN_WISDOM_DIMS]; /* as in the key: points along p0, p1, then ranges */
    double runner_up_ratio;
    bool tie;
    int64_t tried, recalled, failed[ATN_OUTCOME_COUNT];
    double seconds;          /* that the tuning took */
    double bytes, flops;     /* of one run, from the description; 0: not known */
    double fraction_of_peak; /* of the nearer roof, bandwidth or arithmetic */
    bool drifted;            /* the sentinel saw the machine change its speed */
    bool stopped;            /* by Ctrl-C, with what was measured kept */
} atn_tune_result;
void atn_tune_result_free(atn_tune_result *result);

/* Tunes one workload on a device and crowns the winner. `device` is an open one of the list: workers open it again
 * by its index. */
atn_status atn_tune(atn_device *device, atn_wisdom *wisdom, const atn_workload *workload,
                    const atn_tune_options *options, atn_tune_result *out);

#endif
