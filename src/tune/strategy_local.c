/* Iterated local search: from a start, to the first neighbour that is faster, until no neighbour is; then a kick, two
 * parameters changed at the best point known, or a fresh start, and down again. */
#include "tune/search.h"

#include <math.h>
#include <string.h>

enum {
    STARTS = 4,  /* points drawn for a start, of which the best is taken */
    FRESH_IN = 4 /* one kick in this many is a fresh start */
};

typedef struct local {
    atn_search search; /* first */
    int64_t at;        /* the current position of the descent, or ATN_NOWHERE: it starts again */
    int32_t starts;    /* drawn for this descent */
    int64_t kicks;
    bool kicked; /* the next reported point begins a descent wherever it is */
    int32_t *found;
} local;

static atn_status begin(void *self) {
    ((local *)self)->at = ATN_NOWHERE;
    return ATN_OK;
}

static bool take(void *self, const int32_t *point) {
    local *l = self;
    memcpy(l->found, point, (size_t)l->search.n_parameters * sizeof *point);
    l->found = NULL;
    return false;
}

/* A new neighbour of the current position of the descent: an adjacent one if there is one, then any. */
static bool step(local *l, int32_t *point) {
    const int32_t *from = atn_search_point(&l->search, l->at);
    if (atn_random_unit(&l->search.random) < 0.5 && atn_search_neighbour(&l->search, from, ATN_REACH_NEAR, point))
        return true;
    l->found = point;
    atn_search_around(&l->search, from, take, l);
    return !l->found;
}

static bool ask(void *self, int32_t *point) {
    local *l = self;
    atn_search *search = &l->search;
    bool found = l->at != ATN_NOWHERE && l->starts >= STARTS && step(l, point);
    if (!found && l->at != ATN_NOWHERE && l->starts >= STARTS) { /* the bottom */
        l->at = ATN_NOWHERE;
        if (++l->kicks % FRESH_IN == 0)
            l->starts = 0;
        else
            l->kicked = true;
    }
    if (!found && l->kicked && search->best != ATN_NOWHERE)
        found = atn_search_neighbour(search, atn_search_point(search, search->best), ATN_REACH_TWO, point);
    if (!found) {
        found = atn_search_fresh(search, point);
        l->starts += l->starts < STARTS;
    }
    return found && atn_search_claim(search, point);
}

static void tell(void *self, const int32_t *point, const atn_score *score) {
    local *l = self;
    int64_t place = atn_search_tell(&l->search, point, score);
    if (place == ATN_NOWHERE || !isfinite(l->search.value[place])) return;
    if (l->at == ATN_NOWHERE || l->search.value[place] < l->search.value[l->at]) {
        l->at = place;
        l->kicked = false;
    }
}

const atn_strategy ATN_STRATEGY_LOCAL = {
    "local", "descends from neighbour to neighbour, with kicks and fresh starts", sizeof(local), begin, ask, tell,
    NULL};
