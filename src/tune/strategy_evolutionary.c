/* An evolutionary search: the fastest points known are the population; a child takes each level from one of two
 * parents and then changes a few. Children that are not allowed or known already are made again. */
#include "tune/search.h"

#include <math.h>
#include <string.h>

enum {
    POPULATION = 16, /* of the fastest */
    TRIES = 32       /* at a child */
};

typedef struct evolutionary {
    atn_search search;           /* first */
    int64_t fittest[POPULATION]; /* places, the fastest first */
    int32_t count;
} evolutionary;

/* The faster of two, by chance. */
static const int32_t *parent(evolutionary *e) {
    uint64_t a = atn_random_below(&e->search.random, (uint64_t)e->count);
    uint64_t b = atn_random_below(&e->search.random, (uint64_t)e->count);
    return atn_search_point(&e->search, e->fittest[a < b ? a : b]);
}

static bool child(evolutionary *e, int32_t *point) {
    atn_search *search = &e->search;
    if (!search->n_varying) return false;
    double rate = 1.0 / search->n_varying;
    for (int tries = 0; tries < TRIES; ++tries) {
        const int32_t *one = parent(e), *two = parent(e);
        memcpy(point, one, (size_t)search->n_parameters * sizeof *point);
        for (int32_t k = 0; k < search->n_varying; ++k) {
            int32_t p = search->varying[k];
            if (atn_random_next(&search->random) >> 63) point[p] = two[p];
            if (atn_random_unit(&search->random) < rate)
                point[p] = (int32_t)atn_random_below(&search->random, (uint64_t)search->domain->levels[p]);
        }
        if (atn_search_is_new(search, point)) return true;
    }
    return atn_search_neighbour(search, parent(e), ATN_REACH_ONE, point);
}

static bool ask(void *self, int32_t *point) {
    evolutionary *e = self;
    bool found = e->count >= POPULATION / 2 && child(e, point);
    return (found || atn_search_fresh(&e->search, point)) && atn_search_claim(&e->search, point);
}

static void tell(void *self, const int32_t *point, const atn_score *score) {
    evolutionary *e = self;
    int64_t place = atn_search_tell(&e->search, point, score);
    const double *value = e->search.value;
    if (place == ATN_NOWHERE || !isfinite(value[place])) return;
    int32_t k = 0;
    for (int32_t j = 0; j < e->count; ++j)
        if (e->fittest[j] != place) e->fittest[k++] = e->fittest[j]; /* reported again: its rank may have changed */
    e->count = k;
    if (k == POPULATION && value[place] >= value[e->fittest[k - 1]]) return;
    if (k < POPULATION) ++e->count;
    for (k = e->count - 1; k > 0 && value[place] < value[e->fittest[k - 1]]; --k) e->fittest[k] = e->fittest[k - 1];
    e->fittest[k] = place;
}

const atn_strategy ATN_STRATEGY_EVOLUTIONARY = {"evolutionary",
                                                "recombines the fastest points known and mutates a few levels",
                                                sizeof(evolutionary),
                                                NULL,
                                                ask,
                                                tell,
                                                NULL};
