/* What every strategy remembers: the points it asked for or learned of, their results, and how to find new points.
 * Points are known by their position in this memory. */
#ifndef ATN_TUNE_SEARCH_H
#define ATN_TUNE_SEARCH_H

#include "base/random.h"
#include "tune/points.h"
#include "tune/strategy.h"

typedef struct atn_search {
    const atn_ctx *ctx;
    const atn_domain *domain;
    atn_random random;
    int64_t evaluations;  /* about how many there will be; 0: not known */
    int32_t n_parameters; /* of a point */
    int32_t *varying;     /* parameters with more than one level */
    int32_t n_varying;
    atn_points points; /* that were requested or reported */
    double *value;     /* per point: log of the seconds; INFINITY: failed; NAN: requested, not reported yet */
    size_t value_room; /* allocated */
    int64_t told, right;
    int64_t best;     /* place of the fastest, or ATN_NOWHERE */
    int32_t *scratch; /* one point */
    int32_t *walk;    /* the current position of the walk through the product */
    uint64_t walked;  /* points it has passed, or ranks that were taken */
    bool walk_over;
    bool lost; /* memory ran out: nothing more is asked for */
} atn_search;

/* A failure leaves nothing to free. */
atn_status atn_search_open(atn_search *search, const atn_ctx *ctx, const atn_domain *domain, uint64_t seed,
                           int64_t evaluations);
void atn_search_close(atn_search *search);

const int32_t *atn_search_point(const atn_search *search, int64_t place);
int64_t atn_search_find(const atn_search *search, const int32_t *point);
bool atn_search_is_new(const atn_search *search, const int32_t *point); /* allowed, and not known */

/* Enters a new point that is about to be asked for. False: known already, or no memory. */
bool atn_search_claim(atn_search *search, const int32_t *point);
/* Enters what became of a point, asked for or not. Its place, or ATN_NOWHERE without memory, and for a point that is
 * outside of the domain. */
int64_t atn_search_tell(atn_search *search, const int32_t *point, const atn_score *score);

/* A new point, each about equally likely. False: there is none, as far as can be found out. */
bool atn_search_fresh(atn_search *search, int32_t *point);
/* The next new point in order. False: there is none. */
bool atn_search_next(atn_search *search, int32_t *point);

/* How far a neighbour is. */
typedef enum atn_step_reach {
    ATN_REACH_NEAR, /* one parameter, by one level (any, where levels have no order) */
    ATN_REACH_ONE,  /* one parameter, any level */
    ATN_REACH_TWO   /* two parameters */
} atn_step_reach;
/* A random new neighbour, or false where a number of tries found none. */
bool atn_search_neighbour(atn_search *search, const int32_t *from, atn_step_reach reach, int32_t *point);
/* Calls visit with every new point that differs from `from` in one parameter, in random order, until it says false; of
 * parameters with very many levels with some. `from` may not move meanwhile: visit enters no points. */
void atn_search_around(atn_search *search, const int32_t *from, bool (*visit)(void *user, const int32_t *point),
                       void *user);

#endif
