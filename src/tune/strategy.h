/* Strategies: which point to try next. They see levels and scores, never a device, so that recorded spaces can be
 * replayed with them. Ask for a point, measure it, tell; a strategy asks for no point twice. */
#ifndef ATN_TUNE_STRATEGY_H
#define ATN_TUNE_STRATEGY_H

#include "base/context.h"

/* What a strategy sees of a space. */
typedef struct atn_domain {
    int32_t n_parameters;
    const int32_t *levels;       /* per parameter, how many */
    const double *const *number; /* number[parameter][level]: its value, or the level where values are no numbers */
    const bool *ordered;         /* per parameter: values are numbers, so that near levels mean near values */
    double size;                 /* allowed points, as far as known; 0: not known */
    bool (*allows)(void *self, const int32_t *point);
    /* An allowed point, each equally likely; false: there is none. */
    bool (*draw)(void *self, uint64_t (*random)(void *user), void *user, int32_t *point);
    /* The rank-th allowed point, from 0; false: there are fewer. Or NULL: then an exhaustive search walks the product
     * of all levels instead. */
    bool (*at)(void *self, uint64_t rank, int32_t *point);
    void *self;
} atn_domain;

typedef enum atn_outcome {
    ATN_OUTCOME_RIGHT, /* verified and timed */
    ATN_OUTCOME_WRONG, /* does not agree with the oracle */
    ATN_OUTCOME_BUILD, /* did not build, or the build broke a rule of stage="build" */
    ATN_OUTCOME_CRASH,
    ATN_OUTCOME_HANG,
    ATN_OUTCOME_MEMORY,
    ATN_OUTCOME_STARTED, /* it was begun, and nothing is known of how it ended */
    ATN_OUTCOME_COUNT
} atn_outcome;
const char *atn_outcome_name(atn_outcome outcome);

/* What became of a point. */
typedef struct atn_score {
    atn_outcome outcome;
    double seconds;   /* of one run, at best known; INFINITY when it is not right */
    double low, high; /* 95 % interval of seconds */
    double error;     /* largest error found, as a fraction of what is allowed; above 1 is wrong */
    bool usable;      /* right, and within the caller's tolerance */
    bool dropped;     /* timed by one sample only, since it was far behind */
} atn_score;

typedef struct atn_strategy {
    const char *name, *meaning;
    size_t bytes; /* of its state, which begins with an atn_search (tune/search.h) */
    /* Fills the state, which is zeroed except for the search; what it allocates is freed by `end`; or NULL. */
    atn_status (*begin)(void *self);
    bool (*ask)(void *self, int32_t *point); /* false: nothing is left to try, or lost */
    void (*tell)(void *self, const int32_t *point,
                 const atn_score *score); /* unasked points too: what is known already */
    void (*end)(void *self);              /* frees what it has in addition to the search; or NULL */
} atn_strategy;

/* `evaluations`: about how many there will be, 0: not known. */
atn_status atn_strategy_begin(const atn_strategy *strategy, const atn_ctx *ctx, const atn_domain *domain, uint64_t seed,
                              int64_t evaluations, void **self);
/* Did memory run out while it searched? Then it asks for nothing more, and the sentence was left. */
bool atn_strategy_lost(const void *self);
void atn_strategy_end(const atn_strategy *strategy, void *self); /* self may be NULL */

extern const atn_strategy *const ATN_STRATEGIES[];       /* the default first; ends with NULL */
const atn_strategy *atn_strategy_find(const char *name); /* "default" and NULL: the first; NULL: unknown */

extern const atn_strategy ATN_STRATEGY_PORTFOLIO, ATN_STRATEGY_MODEL, ATN_STRATEGY_LOCAL, ATN_STRATEGY_EVOLUTIONARY,
    ATN_STRATEGY_ANNEALING, ATN_STRATEGY_RANDOM, ATN_STRATEGY_EXHAUSTIVE;

#endif
