/* The table of strategies, and the names of outcomes. */
#include "tune/strategy.h"

#include <string.h>

const atn_strategy *const ATN_STRATEGIES[] = {
    &ATN_STRATEGY_PORTFOLIO, &ATN_STRATEGY_MODEL,  &ATN_STRATEGY_LOCAL,      &ATN_STRATEGY_EVOLUTIONARY,
    &ATN_STRATEGY_ANNEALING, &ATN_STRATEGY_RANDOM, &ATN_STRATEGY_EXHAUSTIVE, NULL,
};

const atn_strategy *atn_strategy_find(const char *name) {
    if (!name || strcmp(name, "default") == 0) return ATN_STRATEGIES[0];
    for (const atn_strategy *const *strategy = ATN_STRATEGIES; *strategy; ++strategy)
        if (strcmp((*strategy)->name, name) == 0) return *strategy;
    return NULL;
}

const char *atn_outcome_name(atn_outcome outcome) {
    static const char *const NAMES[ATN_OUTCOME_COUNT] = {
        [ATN_OUTCOME_RIGHT] = "right",     [ATN_OUTCOME_WRONG] = "wrong", [ATN_OUTCOME_BUILD] = "build",
        [ATN_OUTCOME_CRASH] = "crash",     [ATN_OUTCOME_HANG] = "hang",   [ATN_OUTCOME_MEMORY] = "memory",
        [ATN_OUTCOME_STARTED] = "started",
    };
    return (unsigned)outcome < ATN_OUTCOME_COUNT ? NAMES[outcome] : "unknown";
}
