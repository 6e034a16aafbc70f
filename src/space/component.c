/* One component: its depths, the masks of what is allowed, and counting what lies below. */
#include "base/compare.h"
#include "base/memory.h"
#include "space/plan.h"

#include <stdlib.h>
#include <string.h>

static const double MOST_ROW_WORDS = 1 << 20; /* of one relation's table */
static const double SMALL_ROW_WORDS = 1 << 10;
static const double MOST_KEYS = 0x1p62;          /* that a memo can tell apart */
static const double MOST_PREFIXES = 1 << 20;     /* remembered although none comes twice, for ranking */
enum { MOST_MEMO_ENTRIES = 1 << 21, REUSE = 4 }; /* a table pays when a row is used this often */

/* ---- making one ---- */

/* -1: a parameter of another component, which has no choice. */
static int32_t depth_of(const atn_component *c, int32_t parameter) {
    const atn_parameter_place *place = &c->plan->places[parameter];
    return place->component == (int32_t)(c - c->plan->components) ? place->depth : -1;
}

static atn_status make_relation(atn_component *c, const atn_lan_function *function, atn_relation *r) {
    *r = (atn_relation){.function = function};
    r->uses = atn_arena_alloc(&c->plan->arena, (size_t)(function->n_uses + 1) * sizeof *r->uses);
    if (!r->uses) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < function->n_uses; ++k) {
        int32_t d = depth_of(c, function->uses[k]);
        if (d >= 0) r->uses[r->n_uses++] = d;
    }
    qsort(r->uses, (size_t)r->n_uses, sizeof *r->uses, atn_ascending_int32);
    r->depth = r->uses[--r->n_uses];
    return ATN_OK;
}

/* Relations by the depth where they are tested, as written within one. */
static atn_status add_relations(atn_component *c, const atn_lan_function *const *functions, int32_t n) {
    atn_relation *made = atn_arena_alloc(&c->plan->arena, (size_t)(n + 1) * sizeof *made);
    c->relations = atn_arena_alloc(&c->plan->arena, (size_t)(n + 1) * sizeof *c->relations);
    if (!made || !c->relations) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < n; ++k) {
        atn_status status = make_relation(c, functions[k], &made[k]);
        if (status) return status;
    }
    for (int32_t d = 0; d < c->n_depths; ++d) {
        c->depths[d].first_relation = c->n_relations;
        for (int32_t k = 0; k < n; ++k)
            if (made[k].depth == d) c->relations[c->n_relations++] = made[k];
        c->depths[d].n_relations = c->n_relations - c->depths[d].first_relation;
    }
    return ATN_OK;
}

static void mark_live(const atn_component *c, const atn_lan_function *function, int32_t below, bool *live) {
    for (int32_t k = 0; k < function->n_uses; ++k) {
        int32_t d = depth_of(c, function->uses[k]);
        if (d >= 0 && d < below) live[d] = true;
    }
}

static atn_status find_live(atn_component *c, int32_t depth, bool *live) {
    const atn_space *space = c->plan->space;
    memset(live, 0, (size_t)c->n_depths);
    for (int32_t k = 0; k < c->n_relations; ++k)
        if (c->relations[k].depth >= depth) mark_live(c, c->relations[k].function, depth, live);
    for (int32_t d = depth; d < c->n_depths; ++d) {
        int32_t function = space->parameters[c->depths[d].parameter].function;
        if (function >= 0) mark_live(c, &space->functions[function], depth, live);
    }
    atn_depth *at = &c->depths[depth];
    at->live = atn_arena_alloc(&c->plan->arena, (size_t)(depth + 1) * sizeof *at->live);
    if (!at->live) return ATN_ERR_MEMORY;
    double prefixes = 1;
    at->keys = 1;
    for (int32_t d = 0; d < depth; ++d) {
        prefixes *= c->depths[d].size;
        if (!live[d]) continue;
        at->live[at->n_live++] = d;
        at->keys *= c->depths[d].size;
    }
    if (depth > 0) c->depths[depth - 1].live_below = live[depth - 1];
    at->memo.on = depth > 0 && at->keys <= MOST_KEYS && (at->keys < prefixes || prefixes <= MOST_PREFIXES);
    at->visits = at->memo.on && at->keys < prefixes ? at->keys : prefixes;
    return ATN_OK;
}

static atn_status make_table(atn_component *c, atn_relation *r) {
    const atn_depth *at = &c->depths[r->depth];
    const atn_ctx *ctx = c->plan->space->ctx;
    double rows = 1;
    for (int32_t k = 0; k < r->n_uses; ++k) rows *= c->depths[r->uses[k]].size;
    bool small = rows * at->words <= SMALL_ROW_WORDS; /* spares later walks the work, too */
    if (rows * at->words > MOST_ROW_WORDS || (rows * REUSE > at->visits && !small)) return ATN_OK;
    r->rows = atn_alloc(ctx, (size_t)rows * (size_t)at->words * sizeof *r->rows);
    r->known = atn_zalloc(ctx, (size_t)rows + 1);
    return r->rows && r->known ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status atn_component_prepare(atn_component *c, const int32_t *parameters, int32_t n,
                                 const atn_lan_function *const *functions, int32_t n_functions) {
    const atn_space *space = c->plan->space;
    c->budget = INT64_MAX;
    c->n_depths = n;
    c->depths = atn_arena_alloc(&c->plan->arena, (size_t)n * sizeof *c->depths);
    if (!c->depths) return ATN_ERR_MEMORY;
    for (int32_t d = 0; d < n; ++d) {
        atn_depth *at = &c->depths[d];
        at->parameter = parameters[d];
        at->size = space->parameters[at->parameter].levels;
        at->words = (at->size + 63) / 64;
        at->iterator = space->parameters[at->parameter].function >= 0;
        at->mask = c->mask_words;
        c->mask_words += (size_t)at->words;
        c->plan->places[at->parameter] = (atn_parameter_place){(int32_t)(c - c->plan->components), d};
    }
    c->plain = n == 1 && n_functions == 0 && !c->depths[0].iterator;
    if (c->plain) {
        c->count = (atn_wide)c->depths[0].size;
        c->counted = true;
        c->mask_words = 0;
        return ATN_OK;
    }
    atn_status status = add_relations(c, functions, n_functions);
    bool *live = atn_alloc(space->ctx, (size_t)n);
    if (!live) status = ATN_ERR_MEMORY;
    for (int32_t d = 0; d < n && !status; ++d) status = find_live(c, d, live);
    for (int32_t k = 0; k < c->n_relations && !status; ++k) status = make_table(c, &c->relations[k]);
    atn_free(space->ctx, live);
    return status;
}

void atn_component_free(atn_component *c) {
    const atn_ctx *ctx = c->plan->space->ctx;
    for (int32_t k = 0; k < c->n_relations; ++k) {
        atn_free(ctx, c->relations[k].rows);
        atn_free(ctx, c->relations[k].failing);
        atn_free(ctx, c->relations[k].known);
    }
    for (int32_t d = 0; c->depths && d < c->n_depths; ++d) atn_memo_free(ctx, &c->depths[d].memo);
}

/* ---- masks ---- */

atn_status atn_component_step(atn_component *c, const atn_walk *walk, int64_t steps) {
    int64_t before = c->steps;
    c->steps += steps;
    if (c->steps > c->budget) return ATN_ERR_TIMEOUT;
    return (before ^ c->steps) >> 14 ? atn_check_cancel(walk->ctx) : ATN_OK;
}

static void set_range(uint64_t *mask, int32_t from, int32_t to) { /* to: excluded */
    for (int32_t w = from / 64; w * 64 < to; ++w) {
        uint64_t bits = ~(uint64_t)0;
        if (w * 64 < from) bits <<= from - w * 64;
        if (to - w * 64 < 64) bits &= ((uint64_t)1 << (to - w * 64)) - 1;
        mask[w] |= bits;
    }
}

static atn_status begin_mask(atn_component *c, atn_walk *walk, int32_t depth, uint64_t *mask) {
    const atn_depth *at = &c->depths[depth];
    const atn_space *space = c->plan->space;
    const atn_lan_parameter *parameter = &space->parameters[at->parameter];
    memset(mask, 0, (size_t)at->words * sizeof *mask);
    if (!at->iterator) {
        set_range(mask, 0, at->size);
        return ATN_OK;
    }
    const atn_lan_levels *list = atn_lan_allowed(space, parameter, walk->levels);
    if (!list) { /* computed again for its sentence */
        atn_lan_value value;
        const atn_lan_function *function = &space->functions[parameter->function];
        c->plan->env.levels = walk->levels;
        (void)atn_lan_call(&c->plan->env, function, &value);
        return atn_lan_failed(walk->ctx, &c->plan->env, function);
    }
    if (list->step == 1) {
        set_range(mask, list->start, list->start + list->count);
        return ATN_OK;
    }
    for (int32_t k = 0; k < list->count; ++k) {
        int32_t level = list->step ? list->start + k * list->step : parameter->iterator.pool[list->start + k];
        mask[level / 64] |= (uint64_t)1 << (level % 64);
    }
    return ATN_OK;
}

/* Tests one value after the other. */
static atn_status test_values(atn_component *c, atn_walk *walk, const atn_relation *r, uint64_t *mask) {
    const atn_depth *at = &c->depths[r->depth];
    atn_lan_env *env = &c->plan->env;
    int64_t before = env->steps;
    env->levels = walk->levels;
    for (int32_t level = -1; (level = atn_mask_next(mask, at->size, level + 1)) >= 0;) {
        walk->levels[at->parameter] = level;
        int keeps = atn_lan_keeps(env, r->function);
        if (keeps < 0) return atn_lan_failed(walk->ctx, env, r->function);
        if (!keeps) mask[level / 64] &= ~((uint64_t)1 << (level % 64));
    }
    return atn_component_step(c, walk, env->steps - before);
}

static atn_status make_row(atn_component *c, atn_walk *walk, atn_relation *r, size_t row) {
    const atn_depth *at = &c->depths[r->depth];
    const atn_ctx *ctx = c->plan->space->ctx;
    atn_lan_env *env = &c->plan->env;
    size_t offset = row * (size_t)at->words;
    int64_t before = env->steps;
    env->levels = walk->levels;
    memset(r->rows + offset, 0, (size_t)at->words * sizeof *r->rows);
    for (int32_t level = 0; level < at->size; ++level) {
        walk->levels[at->parameter] = level;
        int keeps = atn_lan_keeps(env, r->function);
        if (keeps > 0) r->rows[offset + (size_t)level / 64] |= (uint64_t)1 << (level % 64);
        if (keeps >= 0) continue;
        if (env->no_memory) return atn_lan_failed(walk->ctx, env, r->function);
        if (!r->failing) { /* such values may be excluded by others before anyone asks */
            size_t rows = 1;
            for (int32_t k = 0; k < r->n_uses; ++k) rows *= (size_t)c->depths[r->uses[k]].size;
            r->failing = atn_zalloc(ctx, rows * (size_t)at->words * sizeof *r->failing);
            if (!r->failing) return ATN_ERR_MEMORY;
        }
        r->failing[offset + (size_t)level / 64] |= (uint64_t)1 << (level % 64);
    }
    r->known[row] = 1;
    return atn_component_step(c, walk, env->steps - before);
}

static atn_status test_row(atn_component *c, atn_walk *walk, atn_relation *r, uint64_t *mask) {
    const atn_depth *at = &c->depths[r->depth];
    size_t row = 0;
    for (int32_t k = 0; k < r->n_uses; ++k) {
        const atn_depth *other = &c->depths[r->uses[k]];
        row = row * (size_t)other->size + (size_t)walk->levels[other->parameter];
    }
    if (!r->known[row]) {
        atn_status status = make_row(c, walk, r, row);
        if (status) return status;
    }
    const uint64_t *bits = r->rows + row * (size_t)at->words;
    for (int32_t w = 0; w < at->words; ++w) {
        uint64_t fails = r->failing ? r->failing[row * (size_t)at->words + (size_t)w] & mask[w] : 0;
        if (fails) {
            walk->levels[at->parameter] = w * 64 + __builtin_ctzll(fails);
            c->plan->env.levels = walk->levels;
            (void)atn_lan_keeps(&c->plan->env, r->function);
            return atn_lan_failed(walk->ctx, &c->plan->env, r->function);
        }
        mask[w] &= bits[w];
    }
    return ATN_OK;
}

atn_status atn_component_mask(atn_component *c, atn_walk *walk, int32_t depth) {
    const atn_depth *at = &c->depths[depth];
    uint64_t *mask = walk->masks + at->mask;
    atn_status status = begin_mask(c, walk, depth, mask);
    for (int32_t k = 0; k < at->n_relations && !status; ++k) {
        atn_relation *r = &c->relations[at->first_relation + k];
        status = r->rows ? test_row(c, walk, r, mask) : test_values(c, walk, r, mask);
    }
    return status ? status : atn_component_step(c, walk, 1);
}

/* ---- counting ---- */

uint64_t atn_component_key(const atn_component *c, const atn_walk *walk, int32_t depth) {
    const atn_depth *at = &c->depths[depth];
    uint64_t key = 0;
    for (int32_t k = 0; k < at->n_live; ++k) {
        const atn_depth *live = &c->depths[at->live[k]];
        key = key * (uint64_t)live->size + (uint64_t)walk->levels[live->parameter];
    }
    return key;
}

static atn_status too_many(const atn_walk *walk, const atn_component *c) {
    return atn_fail(walk->ctx, ATN_ERR_UNSUPPORTED,
                    "%s: '%s' and those that depend on it have more than 2^128 points together", c->plan->space->name,
                    c->plan->space->parameters[c->depths[0].parameter].name);
}

static atn_status count_below(atn_component *c, atn_walk *walk, int32_t depth, atn_wide *out) {
    const atn_depth *at = &c->depths[depth];
    const uint64_t *mask = walk->masks + at->mask;
    uint64_t allowed = 0;
    atn_wide total = 0, below;
    for (int32_t w = 0; w < at->words; ++w) allowed += (uint64_t)__builtin_popcountll(mask[w]);
    *out = allowed;
    if (depth + 1 == c->n_depths || allowed == 0) return ATN_OK;
    for (int32_t level = -1; (level = atn_mask_next(mask, at->size, level + 1)) >= 0;) {
        walk->levels[at->parameter] = level;
        atn_status status = atn_component_count_from(c, walk, depth + 1, &below);
        if (status) return status;
        if (!at->live_below) { /* the same for every value */
            if (__builtin_mul_overflow(below, (atn_wide)allowed, out)) return too_many(walk, c);
            return ATN_OK;
        }
        if (__builtin_add_overflow(total, below, &total)) return too_many(walk, c);
    }
    *out = total;
    return ATN_OK;
}

atn_status atn_component_count_from(atn_component *c, atn_walk *walk, int32_t depth, atn_wide *out) {
    atn_depth *at = &c->depths[depth];
    uint64_t key = at->memo.on ? atn_component_key(c, walk, depth) : 0;
    if (at->memo.on && atn_memo_find(&at->memo, key, out)) return ATN_OK;
    atn_status status = atn_component_mask(c, walk, depth);
    if (!status) status = count_below(c, walk, depth, out);
    if (status || !at->memo.on || c->memo_entries >= MOST_MEMO_ENTRIES) return status;
    ++c->memo_entries;
    return atn_memo_put(c->plan->space->ctx, &at->memo, key, *out);
}
