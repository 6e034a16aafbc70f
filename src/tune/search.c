/* The points that a search has seen. */
#include "tune/search.h"

#include "base/memory.h"

#include <math.h>

atn_status atn_search_open(atn_search *search, const atn_ctx *ctx, const atn_domain *domain, uint64_t seed,
                           int64_t evaluations) {
    size_t n = (size_t)domain->n_parameters + 1;
    *search = (atn_search){.ctx = ctx,
                           .domain = domain,
                           .evaluations = evaluations,
                           .n_parameters = domain->n_parameters,
                           .points = {.ctx = ctx, .width = domain->n_parameters},
                           .best = ATN_NOWHERE};
    atn_random_seed(&search->random, seed);
    search->varying = atn_zalloc(ctx, 3 * n * sizeof(int32_t));
    if (!search->varying) return ATN_ERR_MEMORY;
    search->scratch = search->varying + n;
    search->walk = search->scratch + n;
    for (int32_t k = 0; k < domain->n_parameters; ++k)
        if (domain->levels[k] > 1) search->varying[search->n_varying++] = k;
    return ATN_OK;
}

void atn_search_close(atn_search *search) {
    atn_free(search->ctx, search->varying);
    atn_free(search->ctx, search->value);
    atn_points_free(&search->points);
}

atn_status atn_strategy_begin(const atn_strategy *strategy, const atn_ctx *ctx, const atn_domain *domain, uint64_t seed,
                              int64_t evaluations, void **self) {
    *self = NULL;
    atn_search *search = atn_zalloc(ctx, strategy->bytes);
    if (!search) return ATN_ERR_MEMORY;
    atn_status status = atn_search_open(search, ctx, domain, seed, evaluations);
    if (status) {
        atn_free(ctx, search);
        return status;
    }
    if (strategy->begin) status = strategy->begin(search);
    if (status)
        atn_strategy_end(strategy, search);
    else
        *self = search;
    return status;
}

bool atn_strategy_lost(const void *self) { return ((const atn_search *)self)->lost; }

void atn_strategy_end(const atn_strategy *strategy, void *self) {
    atn_search *search = self;
    if (!search) return;
    const atn_ctx *ctx = search->ctx;
    if (strategy->end) strategy->end(self);
    atn_search_close(search);
    atn_free(ctx, search);
}

const int32_t *atn_search_point(const atn_search *search, int64_t place) {
    return atn_points_get(&search->points, place);
}

int64_t atn_search_find(const atn_search *search, const int32_t *point) {
    return atn_points_find(&search->points, point);
}

bool atn_search_is_new(const atn_search *search, const int32_t *point) {
    return atn_search_find(search, point) == ATN_NOWHERE && search->domain->allows(search->domain->self, point);
}

static int64_t enter(atn_search *search, const int32_t *point) {
    int64_t place = ATN_NOWHERE;
    if (!atn_grow(search->ctx, (void **)&search->value, &search->value_room, (size_t)search->points.n, sizeof(double)))
        place = atn_points_add(&search->points, point);
    if (place == ATN_NOWHERE)
        search->lost = true;
    else
        search->value[place] = (double)NAN;
    return place;
}

bool atn_search_claim(atn_search *search, const int32_t *point) {
    if (search->lost || atn_search_find(search, point) != ATN_NOWHERE) return false;
    return enter(search, point) != ATN_NOWHERE;
}

int64_t atn_search_tell(atn_search *search, const int32_t *point, const atn_score *score) {
    for (int32_t k = 0; k < search->n_parameters; ++k)
        if (point[k] < 0 || point[k] >= search->domain->levels[k]) return ATN_NOWHERE;
    int64_t place = atn_search_find(search, point);
    if (place == ATN_NOWHERE) place = enter(search, point);
    if (place == ATN_NOWHERE) return place;
    bool right = score->outcome == ATN_OUTCOME_RIGHT && score->usable && score->seconds > 0 && isfinite(score->seconds);
    if (isnan(search->value[place])) {
        ++search->told;
        search->right += right;
    } else
        search->right += right - (isfinite(search->value[place]) ? 1 : 0);
    search->value[place] = right ? log(score->seconds) : (double)INFINITY;
    if (right && (search->best == ATN_NOWHERE || search->value[place] < search->value[search->best]))
        search->best = place;
    return place;
}
