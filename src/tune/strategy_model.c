/* Model-guided search. First a few points far from each other; then, each time, the candidate with the largest expected
 * improvement over the best, by a Gaussian process over the log of the time. Candidates are points by chance and the
 * neighbours of the best points. Points that failed count as slow, so that regions that fail are left alone. */
#include "base/compare.h"
#include "base/memory.h"
#include "tune/pool.h"
#include "tune/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEASUREMENTS = 256, /* that the model holds; of more it holds the best and the newest */
    KEPT = 192,         /* of them when it is rebuilt, so that there is room for the next */
    BEST = KEPT / 2,    /* of those the best */
    CANDIDATES = 3072,  /* that are weighed */
    BY_CHANCE = 2560,   /* of them at the start */
    RENEWED = 128,      /* and this many each time the model is rebuilt */
    CENTRES = 4,        /* best points whose neighbours are candidates */
    PAIRS = 64,         /* neighbours of each that differ in two parameters */
    FIRST = 6,          /* points before the model is asked */
    DRAWS = 24,         /* for each of them, of which the farthest from the others is taken */
    SWEEPS = 2,         /* over the length scales of the model when it is rebuilt */
    SETTLED = 64,       /* measurements from which on one sweep does */
    REJECTS = 200,      /* draws in a row that bring no new candidate: enough */
};
static const double RENEW_AT = 1.25; /* rebuilt when there are this many times the measurements */
/* The slower half of what ran says where not to go; how slow it is matters less. */
static const double SLOW_FROM = 0.5, SLOW_SHARE = 0.3;

typedef struct model {
    atn_search search; /* first */
    atn_surrogate surrogate;
    atn_pool pool;
    uint8_t *x;     /* features of two points */
    int32_t *point; /* one, for tell */
    int64_t *order; /* indices in the order in which they were reported */
    size_t order_room;
    int64_t n_order, used;       /* used: of them, seen by the model */
    int64_t fitted;              /* n_order when the model was last rebuilt */
    int64_t taken[MEASUREMENTS]; /* place of each measurement in the model */
    int64_t best[BEST];          /* places of the fastest, the fastest first */
    int32_t n_best;
    double worst, slow; /* of what ran: the slowest; from where on it is slow */
    bool filled;        /* candidates by chance are there */
    bool changed;       /* a point was reported again */
} model;

static void end(void *self) {
    model *m = self;
    const atn_ctx *ctx = m->search.ctx;
    atn_pool_close(&m->pool);
    atn_surrogate_close(&m->surrogate);
    atn_free(ctx, m->x);
    atn_free(ctx, m->point);
    atn_free(ctx, m->order);
}

static atn_status begin(void *self) {
    model *m = self;
    const atn_ctx *ctx = m->search.ctx;
    const atn_domain *domain = m->search.domain;
    m->surrogate.ctx = m->pool.ctx = m->pool.known.ctx = ctx;
    atn_status status = atn_surrogate_open(&m->surrogate, ctx, domain, MEASUREMENTS);
    if (!status) status = atn_pool_open(&m->pool, ctx, &m->surrogate, domain->n_parameters, CANDIDATES);
    if (status) return status;
    m->x = atn_alloc(ctx, 2 * (size_t)m->surrogate.n_features + 1);
    m->point = atn_alloc(ctx, ((size_t)domain->n_parameters + 1) * sizeof *m->point);
    return m->x && m->point ? ATN_OK : ATN_ERR_MEMORY;
}

/* ---- candidates ---- */

/* The one to make room: of a few by chance, the one that is expected to be the slowest. */
static int32_t least_of_few(model *m) {
    int32_t least = 0;
    for (int k = 0; k < 8 && m->pool.n == m->pool.most; ++k) {
        int32_t c = (int32_t)atn_random_below(&m->search.random, (uint64_t)m->pool.n);
        if (k == 0 || m->pool.mean[c] > m->pool.mean[least]) least = c;
    }
    return least;
}

static bool add_candidate(void *self, const int32_t *point) {
    model *m = self;
    if (!atn_pool_add(&m->pool, point, least_of_few(m))) m->search.lost = true;
    return !m->search.lost;
}

static void add_by_chance(model *m, int32_t count, int32_t *point) {
    const atn_domain *domain = m->search.domain;
    for (int32_t rejects = 0; count > 0 && rejects < REJECTS;) {
        if (!domain->draw(domain->self, atn_random_next, &m->search.random, point)) return;
        int64_t before = m->pool.known.n;
        if (atn_search_find(&m->search, point) == ATN_NOWHERE && !add_candidate(m, point)) return;
        bool added = m->pool.known.n > before;
        count -= added;
        rejects = added ? 0 : rejects + 1;
    }
}

static void add_around(model *m, int64_t place, int32_t *point) {
    atn_search *search = &m->search;
    const int32_t *from = atn_search_point(search, place);
    atn_search_around(search, from, add_candidate, m);
    for (int32_t k = 0; k < PAIRS; ++k)
        if (atn_search_neighbour(search, from, ATN_REACH_TWO, point) && !add_candidate(m, point)) return;
}

/* ---- the model ---- */

static void find_slow(model *m) {
    double sorted[MEASUREMENTS];
    size_t n = 0;
    for (int32_t k = 0; k < m->surrogate.n; ++k)
        if (isfinite(m->search.value[m->taken[k]])) sorted[n++] = m->search.value[m->taken[k]];
    if (!n) return;
    qsort(sorted, n, sizeof *sorted, atn_ascending_double);
    m->worst = sorted[n - 1];
    m->slow = sorted[(size_t)(SLOW_FROM * (double)(n - 1))];
}

/* What a place counts in the model. */
static double target(const model *m, int64_t place) {
    double value = fmin(m->search.value[place], m->worst);
    return value < m->slow ? value : m->slow + SLOW_SHARE * (value - m->slow);
}

static void take(model *m, int64_t place, bool extend) {
    atn_surrogate *s = &m->surrogate;
    m->taken[s->n] = place;
    atn_surrogate_buckets(s, atn_search_point(&m->search, place), m->x);
    if (extend)
        atn_surrogate_extend(s, m->x, 0); /* values follow */
    else
        atn_surrogate_put(s, m->x, 0);
}

/* Chooses the measurements: all, or the best and then the newest. */
static void choose(model *m) {
    atn_surrogate_clear(&m->surrogate);
    if (m->n_order <= MEASUREMENTS) {
        for (int64_t k = 0; k < m->n_order; ++k) take(m, m->order[k], false);
        return;
    }
    for (int32_t k = 0; k < m->n_best; ++k) take(m, m->best[k], false);
    double bound = m->n_best ? m->search.value[m->best[m->n_best - 1]] : -(double)INFINITY;
    for (int64_t k = m->n_order - 1; k >= 0 && m->surrogate.n < KEPT; --k)
        if (m->search.value[m->order[k]] > bound) take(m, m->order[k], false);
}

static void update(model *m, int32_t *point) {
    atn_surrogate *s = &m->surrogate;
    int32_t had = s->n;
    bool anew = had == 0 || m->changed || had + (m->n_order - m->used) > MEASUREMENTS ||
                m->n_order >= (int64_t)(RENEW_AT * (double)m->fitted) + 2;
    if (anew)
        choose(m);
    else
        for (int64_t k = m->used; k < m->n_order; ++k) take(m, m->order[k], true);
    m->used = m->n_order;
    find_slow(m);
    for (int32_t k = 0; k < s->n; ++k) s->y[k] = target(m, m->taken[k]);
    if (anew) {
        atn_surrogate_learn(s, s->n < SETTLED ? SWEEPS : 1);
        m->fitted = m->n_order;
        m->changed = false;
        atn_pool_rebuild(&m->pool);
        add_by_chance(m, m->filled ? RENEWED : BY_CHANCE, point);
        m->filled = true;
    } else if (s->n > had) {
        atn_surrogate_weigh(s);
        atn_pool_extend(&m->pool, had);
    }
}

/* ---- asking ---- */

/* How much faster than `best` a value is expected to be, if it is. */
static double improvement(double mean, double deviation, double best) {
    double z = (best - mean) / deviation;
    return deviation * (z * 0.5 * erfc(-z * 0.7071067811865476) + 0.3989422804014327 * exp(-0.5 * z * z));
}

static int32_t most_promising(const model *m) {
    double deviation = sqrt(m->surrogate.variance), best = target(m, m->search.best), highest = -1;
    int32_t chosen = -1;
    for (int32_t c = 0; c < m->pool.n; ++c) {
        double spread = deviation * sqrt(fmax((double)m->pool.spread[c], 1e-6));
        double worth = improvement((double)m->pool.mean[c], spread, best);
        if (worth > highest) {
            highest = worth;
            chosen = c;
        }
    }
    return chosen;
}

static bool guided(model *m, int32_t *point) {
    update(m, point);
    for (int32_t chosen; (chosen = most_promising(m)) >= 0;) {
        memcpy(point, atn_pool_point(&m->pool, chosen), (size_t)m->search.n_parameters * sizeof *point);
        atn_pool_remove(&m->pool, chosen);
        if (atn_search_find(&m->search, point) == ATN_NOWHERE) return true; /* otherwise it was reported unasked */
    }
    return false;
}

/* Of a few draws the one that is least like any point known. */
static bool farthest(model *m, int32_t *point) {
    atn_search *search = &m->search;
    int64_t n = search->points.n, from = n > DRAWS ? n - DRAWS : 0;
    double least = INFINITY;
    int32_t draws = search->lost ? 0 : DRAWS;
    uint8_t *x = m->x, *other = x + m->surrogate.n_features;
    for (int32_t k = 0; k < draws; ++k) {
        if (!search->domain->draw(search->domain->self, atn_random_next, &search->random, search->scratch))
            return false;
        if (atn_search_find(search, search->scratch) != ATN_NOWHERE) continue;
        atn_surrogate_buckets(&m->surrogate, search->scratch, x);
        double nearest = 0;
        for (int64_t j = from; j < n; ++j) {
            atn_surrogate_buckets(&m->surrogate, atn_search_point(search, j), other);
            nearest = fmax(nearest, atn_surrogate_alike(&m->surrogate, x, other));
        }
        if (nearest >= least) continue;
        least = nearest;
        memcpy(point, search->scratch, (size_t)search->n_parameters * sizeof *point);
    }
    return isfinite(least);
}

static bool ask(void *self, int32_t *point) {
    model *m = self;
    atn_search *search = &m->search;
    bool knows = search->told >= FIRST && search->right >= 2;
    bool found = knows ? guided(m, point) : farthest(m, point);
    return (found || atn_search_fresh(search, point)) && atn_search_claim(search, point);
}

/* ---- telling ---- */

/* Enters a place among the best; its rank there. */
static int32_t rank_best(model *m, int64_t place) {
    const double *value = m->search.value;
    int32_t k = 0;
    for (int32_t j = 0; j < m->n_best; ++j)
        if (m->best[j] != place) m->best[k++] = m->best[j]; /* reported again: its rank may have changed */
    m->n_best = k;
    if (!isfinite(value[place]) || (k == BEST && value[place] >= value[m->best[k - 1]])) return BEST;
    m->n_best += k < BEST;
    for (k = m->n_best - 1; k > 0 && value[place] < value[m->best[k - 1]]; --k) m->best[k] = m->best[k - 1];
    m->best[k] = place;
    return k;
}

static void tell(void *self, const int32_t *point, const atn_score *score) {
    model *m = self;
    int64_t told = m->search.told, place = atn_search_tell(&m->search, point, score);
    if (place == ATN_NOWHERE) return;
    if (m->search.told == told)
        m->changed = true;
    else if (atn_grow(m->search.ctx, (void **)&m->order, &m->order_room, (size_t)m->n_order, sizeof *m->order) ==
             ATN_OK)
        m->order[m->n_order++] = place;
    else
        m->search.lost = true;
    if (rank_best(m, place) < CENTRES) add_around(m, place, m->point);
}

const atn_strategy ATN_STRATEGY_MODEL = {
    "model", "samples where a model of the measurements expects the most improvement", sizeof(model), begin, ask, tell,
    end};
