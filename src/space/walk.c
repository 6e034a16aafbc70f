/* Queries over all points: their number, the n-th point, the index of a point, a random one, all in order. Points are
 * ordered by components, the last one fastest; within a component by its depths. */
#include "base/memory.h"
#include "space/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static atn_status forbidden(const atn_ctx *ctx, const atn_space *space) {
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: the space is empty: no point is allowed", space->name);
}

/* Do the constraints that use no choice keep everything? */
static atn_status check_fixed(const atn_ctx *ctx, atn_space_plan *plan, atn_walk *walk, bool *keep) {
    *keep = true;
    plan->env.levels = walk->levels;
    for (int32_t k = 0; k < plan->n_fixed && *keep; ++k) {
        int keeps = atn_lan_keeps(&plan->env, plan->fixed[k]);
        if (keeps < 0) return atn_lan_failed(ctx, &plan->env, plan->fixed[k]);
        *keep = keeps;
    }
    return ATN_OK;
}

/* Counts every component; the plan's lock is held. *total and *fits may be NULL. */
static atn_status count_all(atn_space_plan *plan, atn_walk *walk, atn_big *total, bool *empty) {
    bool keep, fits = true;
    atn_big product = atn_big_of(1);
    atn_status status = check_fixed(walk->ctx, plan, walk, &keep);
    *empty = !keep;
    for (int32_t k = 0; k < plan->n_components && !status; ++k) {
        atn_wide count;
        status = atn_component_count(&plan->components[k], walk, &count);
        if (status) break;
        if (count == 0) *empty = true;
        fits = fits && atn_big_multiply(&product, count);
    }
    if (status || !total) return status;
    *total = *empty ? atn_big_of(0) : product;
    if (*empty || fits) return ATN_OK;
    return atn_fail(walk->ctx, ATN_ERR_UNSUPPORTED, "%s: the space has more than 10^%d points", plan->space->name,
                    9 * ATN_BIG_PARTS);
}

atn_status atn_space_plan_count(const atn_ctx *ctx, atn_space_plan *plan, atn_big *out) {
    atn_walk walk;
    bool empty;
    pthread_mutex_lock(&plan->lock);
    atn_status status = atn_walk_begin(ctx, plan, &walk);
    if (!status) status = count_all(plan, &walk, out, &empty);
    atn_walk_end(plan, &walk);
    pthread_mutex_unlock(&plan->lock);
    return status;
}

atn_status atn_space_count(const atn_ctx *ctx, const atn_space *space, atn_count *out) {
    atn_space_plan *plan;
    atn_big count;
    *out = (atn_count){.digits = "0", .fits = true};
    atn_status status = atn_space_plan_of(ctx, space, &plan);
    if (!status) status = atn_space_plan_count(ctx, plan, &count);
    if (!status) *out = atn_big_count(&count);
    return status;
}

/* What a component that was not counted can have at most. */
static bool multiply_sizes(const atn_component *c, atn_big *product) {
    for (int32_t d = 0; d < c->n_depths; ++d)
        if (!atn_big_multiply(product, (atn_wide)c->depths[d].size)) return false;
    return true;
}

atn_status atn_space_count_soon(const atn_ctx *ctx, const atn_space *space, atn_count *out, bool *exact) {
    atn_space_plan *plan;
    atn_walk walk;
    atn_big product = atn_big_of(1);
    bool any = true, fits = true;
    *out = (atn_count){.digits = "0", .fits = true};
    *exact = true;
    atn_status status = atn_space_plan_of(ctx, space, &plan);
    if (status) return status;
    pthread_mutex_lock(&plan->lock);
    status = atn_walk_begin(ctx, plan, &walk);
    if (!status) status = check_fixed(ctx, plan, &walk, &any);
    for (int32_t k = 0; k < plan->n_components && any && !status; ++k) {
        const atn_component *c = &plan->components[k];
        atn_wide count;
        bool known;
        status = atn_component_count_soon(&plan->components[k], &walk, &count, &known);
        any = !known || count > 0;
        fits = fits && (known ? atn_big_multiply(&product, count) : multiply_sizes(c, &product));
        *exact = *exact && known;
    }
    atn_walk_end(plan, &walk);
    pthread_mutex_unlock(&plan->lock);
    if (!any) *exact = true;
    if (status || !any) return status;
    if (fits) {
        *out = atn_big_count(&product);
    } else {
        *exact = false;
        *out = (atn_count){.number = INFINITY};
        snprintf(out->digits, sizeof out->digits, "10^%d or more", 9 * ATN_BIG_PARTS);
    }
    return ATN_OK;
}

/* ---- one component ---- */

static uint64_t select_bit(const uint64_t *mask, uint64_t n) { /* the n-th bit that is set; there is one */
    uint64_t word = 0, bit = 0;
    for (;; ++word) {
        uint64_t in = (uint64_t)__builtin_popcountll(mask[word]);
        if (n < in) break;
        n -= in;
    }
    uint64_t bits = mask[word];
    for (; n; --n) bits &= bits - 1;
    bit = (uint64_t)__builtin_ctzll(bits);
    return word * 64 + bit;
}

static uint64_t bits_before(const uint64_t *mask, int32_t level) {
    uint64_t count = 0;
    for (int32_t w = 0; w < level / 64; ++w) count += (uint64_t)__builtin_popcountll(mask[w]);
    if (level % 64) count += (uint64_t)__builtin_popcountll(mask[level / 64] & (((uint64_t)1 << (level % 64)) - 1));
    return count;
}

static atn_status unrank(atn_component *c, atn_walk *walk, atn_wide rank) {
    if (c->plain) {
        walk->levels[c->depths[0].parameter] = (int32_t)rank;
        return ATN_OK;
    }
    for (int32_t d = 0; d < c->n_depths; ++d) {
        const atn_depth *at = &c->depths[d];
        const uint64_t *mask = walk->masks + at->mask;
        int32_t *level = &walk->levels[at->parameter];
        atn_status status = atn_component_mask(c, walk, d);
        if (status) return status;
        if (d + 1 == c->n_depths) {
            *level = (int32_t)select_bit(mask, (uint64_t)rank);
            return ATN_OK;
        }
        for (int32_t next = -1; (next = atn_mask_next(mask, at->size, next + 1)) >= 0;) {
            atn_wide below;
            *level = next;
            status = atn_component_count_from(c, walk, d + 1, &below);
            if (status) return status;
            if (!at->live_below) {
                *level = (int32_t)select_bit(mask, (uint64_t)(rank / below));
                rank %= below;
                break;
            }
            if (rank < below) break;
            rank -= below;
        }
    }
    return ATN_OK;
}

/* The point's levels are in the walk, and it is allowed. */
static atn_status rank_of(atn_component *c, atn_walk *walk, const int32_t *levels, atn_wide *rank) {
    *rank = 0;
    if (c->plain) {
        *rank = (atn_wide)levels[c->depths[0].parameter];
        return ATN_OK;
    }
    for (int32_t d = 0; d < c->n_depths; ++d) {
        const atn_depth *at = &c->depths[d];
        const uint64_t *mask = walk->masks + at->mask;
        int32_t own = levels[at->parameter];
        atn_status status = atn_component_mask(c, walk, d);
        atn_wide below = 1;
        if (!status && d + 1 < c->n_depths && !at->live_below) {
            walk->levels[at->parameter] = own;
            status = atn_component_count_from(c, walk, d + 1, &below);
        }
        if (!status && (d + 1 == c->n_depths || !at->live_below)) *rank += below * bits_before(mask, own);
        for (int32_t next = -1; !status && d + 1 < c->n_depths && at->live_below;) {
            next = atn_mask_next(mask, at->size, next + 1);
            if (next < 0 || next >= own) break;
            walk->levels[at->parameter] = next;
            status = atn_component_count_from(c, walk, d + 1, &below);
            *rank += below;
        }
        if (status) return status;
        walk->levels[at->parameter] = own;
    }
    return ATN_OK;
}

/* ---- rank, unrank, draw ---- */

/* Begins a walk over a space whose points are counted: it is not empty. Whatever comes of it, leave ends it. */
static atn_status enter(const atn_ctx *ctx, const atn_space *space, atn_space_plan **plan, atn_walk *walk,
                        atn_big *total) {
    bool empty;
    *plan = NULL;
    atn_status status = atn_space_plan_of(ctx, space, plan);
    if (status) return status;
    pthread_mutex_lock(&(*plan)->lock);
    status = atn_walk_begin(ctx, *plan, walk);
    if (!status) status = count_all(*plan, walk, total, &empty);
    return !status && empty ? forbidden(ctx, space) : status;
}

/* Returns the current point of the walk, if all went well. */
static atn_status leave(const atn_space *space, atn_space_plan *plan, atn_walk *walk, atn_status status,
                        int32_t *levels) {
    if (!status) memcpy(levels, walk->levels, space->n_parameters * sizeof *levels);
    atn_walk_end(plan, walk);
    pthread_mutex_unlock(&plan->lock);
    return status;
}

atn_status atn_space_unrank(const atn_ctx *ctx, const atn_space *space, uint64_t rank, int32_t *levels) {
    atn_space_plan *plan;
    atn_walk walk;
    atn_big total;
    atn_status status = enter(ctx, space, &plan, &walk, &total);
    if (!plan) return status;
    if (!status) {
        atn_count count = atn_big_count(&total);
        if (count.fits && rank >= count.whole)
            status = atn_fail(ctx, ATN_ERR_INPUT, "%s: there is no point %llu, the last one is %llu", space->name,
                              (unsigned long long)rank, (unsigned long long)count.whole - 1);
    }
    atn_wide rest = rank;
    for (int32_t k = plan->n_components; k-- > 0 && !status;) {
        atn_component *c = &plan->components[k];
        status = unrank(c, &walk, rest % c->count);
        rest /= c->count;
    }
    return leave(space, plan, &walk, status, levels);
}

atn_status atn_space_rank(const atn_ctx *ctx, const atn_space *space, const int32_t *levels, uint64_t *rank) {
    atn_space_plan *plan;
    atn_walk walk;
    bool empty, allowed;
    const char *by;
    *rank = 0;
    atn_status status = atn_space_why(ctx, space, levels, &allowed, &by);
    if (!status && !allowed)
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: the point is not allowed by '%s'", space->name, by);
    if (!status) status = atn_space_plan_of(ctx, space, &plan);
    if (status) return status;
    pthread_mutex_lock(&plan->lock);
    status = atn_walk_begin(ctx, plan, &walk);
    if (!status) status = count_all(plan, &walk, NULL, &empty);
    atn_wide total = 0;
    for (int32_t k = 0; k < plan->n_components && !status; ++k) {
        atn_wide own;
        atn_component *c = &plan->components[k];
        status = rank_of(c, &walk, levels, &own);
        if (status) break;
        if (__builtin_mul_overflow(total, c->count, &total) || __builtin_add_overflow(total, own, &total) ||
            total > UINT64_MAX)
            status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: the point's number is beyond 2^64", space->name);
    }
    *rank = status ? 0 : (uint64_t)total;
    atn_walk_end(plan, &walk);
    pthread_mutex_unlock(&plan->lock);
    return status;
}

/* Uniform below `limit`: bits are drawn until they are, which takes less than two tries on average. */
static atn_wide draw_below(atn_wide limit, uint64_t (*random)(void *user), void *user) {
    if (limit <= 1) return 0;
    atn_wide most = limit - 1, bits = ~(atn_wide)0, value;
    bool wide = (uint64_t)(most >> 64) != 0;
    int idle = wide ? __builtin_clzll((uint64_t)(most >> 64)) : 64 + __builtin_clzll((uint64_t)most);
    bits >>= idle;
    do {
        value = random(user);
        if (wide) value |= (atn_wide)random(user) << 64;
        value &= bits;
    } while (value >= limit);
    return value;
}

atn_status atn_space_draw(const atn_ctx *ctx, const atn_space *space, uint64_t (*random)(void *user), void *user,
                          int32_t *levels) {
    atn_space_plan *plan;
    atn_walk walk;
    atn_status status = enter(ctx, space, &plan, &walk, NULL);
    if (!plan) return status;
    for (int32_t k = 0; k < plan->n_components && !status; ++k) {
        atn_component *c = &plan->components[k];
        status = unrank(c, &walk, draw_below(c->count, random, user));
    }
    return leave(space, plan, &walk, status, levels);
}

/* ---- listing ---- */

/* The next allowed point of a component after the current one, or its first. */
static atn_status advance(atn_component *c, atn_walk *walk, bool first, bool *found) {
    atn_status status = ATN_OK;
    int32_t depth = first ? 0 : c->n_depths - 1, last = c->n_depths - 1;
    int32_t *level = &walk->levels[c->depths[depth].parameter];
    *found = false;
    if (c->plain) {
        *level = first ? 0 : *level + 1;
        *found = *level < c->depths[0].size;
        return ATN_OK;
    }
    if (first) {
        status = atn_component_mask(c, walk, 0);
        *level = -1;
    }
    while (!status) {
        const atn_depth *at = &c->depths[depth];
        level = &walk->levels[at->parameter];
        int32_t next = atn_mask_next(walk->masks + at->mask, at->size, *level + 1);
        if (next < 0) {
            *level = 0;
            if (depth-- == 0) return ATN_OK;
            continue;
        }
        *level = next;
        if (depth == last) {
            *found = true;
            return ATN_OK;
        }
        status = atn_component_mask(c, walk, ++depth);
        walk->levels[c->depths[depth].parameter] = -1;
    }
    return status;
}

typedef struct listing {
    atn_space_plan *plan;
    int32_t *levels;            /* of all parameters */
    atn_component **components; /* those with a choice */
    atn_walk *walks;            /* per component, all with the same levels */
    int32_t n;
} listing;

/* Moves to the first point, or to the next one. */
static atn_status move(listing *l, bool first, bool *found) {
    int32_t k = first ? 0 : l->n - 1;
    *found = first && l->n == 0;
    while (k >= 0 && k < l->n) {
        atn_status status = advance(l->components[k], &l->walks[k], first, found);
        if (status) return status;
        if (*found) { /* the following ones start again */
            first = true;
            ++k;
        } else {
            if (first) return ATN_OK; /* it has no point at all, so the space has none */
            --k;
        }
    }
    return ATN_OK;
}

/* The next value of the innermost parameter: all that is needed is in the walk, so no lock is. */
static bool move_inside(listing *l) {
    if (l->n == 0) return false;
    const atn_component *c = l->components[l->n - 1];
    const atn_depth *at = &c->depths[c->n_depths - 1];
    int32_t *level = &l->levels[at->parameter];
    int32_t next = c->plain ? *level + 1 : atn_mask_next(l->walks[l->n - 1].masks + at->mask, at->size, *level + 1);
    if (next < 0 || next >= at->size) return false;
    *level = next;
    return true;
}

static atn_status list_all(listing *l, const atn_ctx *ctx, bool (*visit)(void *user, const int32_t *levels),
                           void *user) {
    bool found;
    atn_walk none = {.ctx = ctx, .levels = l->levels};
    pthread_mutex_lock(&l->plan->lock);
    atn_status status = check_fixed(ctx, l->plan, &none, &found);
    if (!status && found) status = move(l, true, &found);
    pthread_mutex_unlock(&l->plan->lock);
    while (!status && found) { /* not locked while it visits: the visitor may ask, too */
        do {
            if (!visit(user, l->levels)) return ATN_OK;
        } while (move_inside(l));
        status = atn_check_cancel(ctx);
        pthread_mutex_lock(&l->plan->lock);
        if (!status) status = move(l, false, &found);
        pthread_mutex_unlock(&l->plan->lock);
    }
    return status;
}

static atn_status begin_listing(listing *l, const atn_ctx *ctx, const atn_space *space) {
    size_t n = (size_t)l->plan->n_components;
    l->levels = atn_zalloc(space->ctx, (space->n_parameters + 1) * sizeof *l->levels);
    l->components = atn_alloc(space->ctx, (n + 1) * sizeof *l->components);
    l->walks = atn_zalloc(space->ctx, (n + 1) * sizeof *l->walks);
    if (!l->levels || !l->components || !l->walks) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < n; ++k) {
        atn_component *c = &l->plan->components[k];
        if (c->plain && c->depths[0].size == 1) continue;
        l->components[l->n] = c;
        l->walks[l->n] = (atn_walk){
            .ctx = ctx, .levels = l->levels, .masks = atn_alloc(space->ctx, (c->mask_words + 1) * sizeof(uint64_t))};
        if (!l->walks[l->n++].masks) return ATN_ERR_MEMORY;
    }
    return ATN_OK;
}

atn_status atn_space_list(const atn_ctx *ctx, const atn_space *space, bool (*visit)(void *user, const int32_t *levels),
                          void *user) {
    listing l = {0};
    atn_status status = atn_space_plan_of(ctx, space, &l.plan);
    if (status) return status;
    status = begin_listing(&l, ctx, space);
    if (!status) status = list_all(&l, ctx, visit, user);
    for (int32_t k = 0; k < l.n; ++k) atn_free(space->ctx, l.walks[k].masks);
    atn_free(space->ctx, l.levels);
    atn_free(space->ctx, (void *)l.components);
    atn_free(space->ctx, l.walks);
    return status;
}
