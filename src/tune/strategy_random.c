/* The strategies that do not learn: every point in order, and random points, the baseline that all others are compared
 * with. */
#include "tune/search.h"

static bool ask_random(void *self, int32_t *point) {
    return atn_search_fresh(self, point) && atn_search_claim(self, point);
}

static bool ask_next(void *self, int32_t *point) {
    return atn_search_next(self, point) && atn_search_claim(self, point);
}

static void tell(void *self, const int32_t *point, const atn_score *score) {
    (void)atn_search_tell(self, point, score);
}

const atn_strategy ATN_STRATEGY_RANDOM = {
    "random", "random points, each equally likely: the baseline", sizeof(atn_search), NULL, ask_random, tell, NULL};

const atn_strategy ATN_STRATEGY_EXHAUSTIVE = {
    "exhaustive", "every point, in order", sizeof(atn_search), NULL, ask_next, tell, NULL};
