/* Finding points that are new: by chance, in order, and in the neighbourhood of a point. Nothing here may search for
 * ever: a space may have any number of points, of which none or all are known already. */
#include "tune/search.h"

#include <string.h>

enum {
    FEW_DRAWS = 32,         /* before it is asked whether anything can be left */
    MORE_DRAWS = 4096,      /* for each point known, when it cannot be told; see draws_enough */
    LONGEST_WALK = 1 << 22, /* points of the product that one step may pass over */
    SMALL_PRODUCT = 1 << 16,
    TRIES = 24,      /* at a random neighbour */
    ALL_LEVELS = 64, /* a parameter with more is not looked at in full */
};

/* Levels of all parameters multiplied, as near as a double comes. */
static double product_of(const atn_domain *domain) {
    double product = 1;
    for (int32_t k = 0; k < domain->n_parameters; ++k) product *= domain->levels[k];
    return product;
}

static bool draw(atn_search *search, int32_t *point) {
    const atn_domain *domain = search->domain;
    return domain->draw(domain->self, atn_random_next, &search->random, point);
}

bool atn_search_fresh(atn_search *search, int32_t *point) {
    const atn_domain *domain = search->domain;
    if (search->lost) return false;
    for (int k = 0; k < FEW_DRAWS; ++k) {
        if (!draw(search, point)) return false;
        if (atn_search_find(search, point) == ATN_NOWHERE) return true;
    }
    /* Most points are known, it seems: the order finds what is left sooner than chance, where it can be followed. */
    if (domain->at || product_of(domain) <= SMALL_PRODUCT) return atn_search_next(search, point);
    /* The chance to miss the last of n points in 16 n draws is one in ten million. */
    for (int64_t k = 0; k < 16 * search->points.n + MORE_DRAWS; ++k)
        if (draw(search, point) && atn_search_find(search, point) == ATN_NOWHERE) return true;
    return false;
}

/* The walk's next point of the product, the last parameter fastest. */
static void walk_on(atn_search *search) {
    int32_t k = search->n_parameters - 1;
    while (k >= 0 && ++search->walk[k] >= search->domain->levels[k]) search->walk[k--] = 0;
    search->walk_over = k < 0;
}

bool atn_search_next(atn_search *search, int32_t *point) {
    const atn_domain *domain = search->domain;
    if (search->lost) return false;
    while (domain->at) {
        if (!domain->at(domain->self, search->walked, point)) return false;
        ++search->walked;
        if (atn_search_find(search, point) == ATN_NOWHERE) return true;
    }
    for (int32_t k = 0; k < domain->n_parameters; ++k)
        if (domain->levels[k] < 1) return false;
    for (int64_t passed = 0; !search->walk_over && passed < LONGEST_WALK; ++passed) {
        memcpy(point, search->walk, (size_t)search->n_parameters * sizeof *point);
        walk_on(search);
        if (atn_search_is_new(search, point)) return true;
    }
    if (search->walk_over) return false;
    /* Allowed points are rare in the product: chance finds them sooner. */
    for (int64_t k = 0; k < 16 * search->points.n + MORE_DRAWS; ++k)
        if (draw(search, point) && atn_search_find(search, point) == ATN_NOWHERE) return true;
    return false;
}

/* Another level of the parameter: next to the old one, or any. */
static int32_t other_level(atn_search *search, int32_t parameter, int32_t level, bool near) {
    int32_t levels = search->domain->levels[parameter];
    if (near && search->domain->ordered[parameter]) {
        if (level == 0) return 1;
        if (level == levels - 1) return level - 1;
        return level + (atn_random_next(&search->random) >> 63 ? 1 : -1);
    }
    int32_t other = (int32_t)atn_random_below(&search->random, (uint64_t)levels - 1);
    return other + (other >= level);
}

bool atn_search_neighbour(atn_search *search, const int32_t *from, atn_step_reach reach, int32_t *point) {
    int32_t changes = reach == ATN_REACH_TWO ? 2 : 1;
    if (search->lost || search->n_varying < changes) return false;
    for (int tries = 0; tries < TRIES; ++tries) {
        memcpy(point, from, (size_t)search->n_parameters * sizeof *point);
        for (int32_t k = 0; k < changes; ++k) {
            int32_t p = search->varying[atn_random_below(&search->random, (uint64_t)search->n_varying)];
            point[p] = other_level(search, p, point[p], reach == ATN_REACH_NEAR);
        }
        if (atn_search_is_new(search, point)) return true;
    }
    return false;
}

/* Which level of a parameter comes k-th around `level`; -1: none, or not this time. Of many levels only those near it
 * and some by chance are looked at. */
static int32_t level_around(atn_search *search, int32_t levels, int32_t level, int32_t first, int32_t k) {
    if (levels <= ALL_LEVELS) return (first + k) % levels;
    if (k >= ALL_LEVELS / 2) return (int32_t)atn_random_below(&search->random, (uint64_t)levels);
    int32_t near = level + (k % 2 ? 1 + k / 2 : -1 - k / 2);
    return near >= 0 && near < levels ? near : -1;
}

void atn_search_around(atn_search *search, const int32_t *from, bool (*visit)(void *user, const int32_t *point),
                       void *user) {
    int32_t *point = search->scratch;
    memcpy(point, from, (size_t)search->n_parameters * sizeof *point);
    atn_random_shuffle(&search->random, search->varying, search->n_varying);
    for (int32_t v = 0; v < search->n_varying; ++v) {
        int32_t p = search->varying[v], levels = search->domain->levels[p], level = point[p];
        int32_t first = (int32_t)atn_random_below(&search->random, (uint64_t)levels);
        for (int32_t k = 0; k < (levels < ALL_LEVELS ? levels : ALL_LEVELS); ++k) {
            point[p] = level_around(search, levels, level, first, k);
            if (point[p] >= 0 && point[p] != level && atn_search_is_new(search, point) && !visit(user, point)) return;
        }
        point[p] = level;
    }
}
