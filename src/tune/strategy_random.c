/* The strategies without memory of speed: every point in order, and points by chance. The latter is the baseline that
 * all others are held against. */
#include "base/memory.h"
#include "tune/search.h"

static atn_status create(const atn_ctx *ctx, const atn_domain *domain, uint64_t seed, int64_t evaluations,
                         void **self) {
    *self = NULL;
    atn_search *search = atn_alloc(ctx, sizeof *search);
    if (!search) return ATN_ERR_MEMORY;
    atn_status status = atn_search_open(search, ctx, domain, seed, evaluations);
    if (status)
        atn_free(ctx, search);
    else
        *self = search;
    return status;
}

static bool ask_random(void *self, int32_t *point) {
    return atn_search_fresh(self, point) && atn_search_claim(self, point);
}

static bool ask_next(void *self, int32_t *point) {
    return atn_search_next(self, point) && atn_search_claim(self, point);
}

static void tell(void *self, const int32_t *point, const atn_score *score) {
    (void)atn_search_tell(self, point, score);
}

static void drop(void *self) {
    atn_search *search = self;
    if (!search) return;
    const atn_ctx *ctx = search->ctx;
    atn_search_close(search);
    atn_free(ctx, search);
}

const atn_strategy ATN_STRATEGY_RANDOM = {
    .name = "random",
    .meaning = "points by chance, each equally likely: the baseline",
    .create = create,
    .ask = ask_random,
    .tell = tell,
    .lost = atn_search_lost,
    .free = drop,
};

const atn_strategy ATN_STRATEGY_EXHAUSTIVE = {
    .name = "exhaustive",
    .meaning = "every point, in order",
    .create = create,
    .ask = ask_next,
    .tell = tell,
    .lost = atn_search_lost,
    .free = drop,
};
