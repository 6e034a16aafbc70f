/* Simulated annealing: a walk over neighbours that also steps up, the more rarely the colder it is. A step up by d in
 * the log of the time is taken with probability exp(-d / T); T falls from about a factor of 1.5 to one of 1.01. */
#include "tune/search.h"

#include <math.h>

enum {
    STARTS = 8,  /* points by chance before the walk begins, from the best of them */
    CYCLE = 200, /* evaluations of one cooling, where their number is not known */
    STUCK = 30,  /* steps refused in a row, after which the walk goes back to the best point */
};

static const double HOT = 0.4, COLD = 0.01;

typedef struct annealing {
    atn_search search; /* first */
    int64_t at;        /* the current position of the walk, or ATN_NOWHERE */
    int32_t refused;
} annealing;

static atn_status begin(void *self) {
    ((annealing *)self)->at = ATN_NOWHERE;
    return ATN_OK;
}

static double temperature(const atn_search *search) {
    int64_t cycle = search->evaluations > 0 ? search->evaluations : CYCLE;
    return HOT * pow(COLD / HOT, (double)(search->told % cycle) / (double)cycle);
}

static bool ask(void *self, int32_t *point) {
    annealing *a = self;
    atn_search *search = &a->search;
    bool found = false;
    if (a->at != ATN_NOWHERE && search->points.n >= STARTS) {
        const int32_t *from = atn_search_point(search, a->at);
        double chance = atn_random_unit(&search->random);
        atn_step_reach reach = chance < 0.4 ? ATN_REACH_NEAR : chance < 0.85 ? ATN_REACH_ONE : ATN_REACH_TWO;
        for (int k = 0; k < 3 && !found; ++k, reach = (atn_step_reach)((reach + 1) % 3))
            found = atn_search_neighbour(search, from, reach, point);
    }
    return (found || atn_search_fresh(search, point)) && atn_search_claim(search, point);
}

static void tell(void *self, const int32_t *point, const atn_score *score) {
    annealing *a = self;
    atn_search *search = &a->search;
    int64_t place = atn_search_tell(search, point, score);
    if (place == ATN_NOWHERE || !isfinite(search->value[place])) return;
    double up = a->at == ATN_NOWHERE ? -1 : search->value[place] - search->value[a->at];
    bool begun = search->points.n > STARTS;
    if (up <= 0 || (begun && atn_random_unit(&search->random) < exp(-up / temperature(search)))) {
        a->at = place;
        a->refused = 0;
    } else if (begun && ++a->refused > STUCK) {
        a->at = search->best;
        a->refused = 0;
    }
}

const atn_strategy ATN_STRATEGY_ANNEALING = {
    "annealing", "walks over neighbours, uphill too while it is hot", sizeof(annealing), begin, ask, tell, NULL};
