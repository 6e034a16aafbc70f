/* Counting in native code: the outer depths are walked here, and what lies below each combination of live levels is
 * counted by generated C on all cores, built by the host backend and kept in its cache. */
#include "space/native.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/backend.h"
#include "device/host_abi.h"
#include "space/device_given.h"

#include <math.h>
#include <string.h>

/* Costs of testing one value, in nanoseconds, as far as that can be said for all. */
static const double INTERPRETED = 60, NATIVE = 1.5;
static const double MOST_KEYS = 1 << 20;

/* ---- where the native loops begin ---- */

static double interpreted_cost(const atn_component *c, int32_t depths) {
    double cost = 0;
    for (int32_t d = 0; d < depths; ++d) cost += c->depths[d].visits * c->depths[d].size * INTERPRETED;
    return cost;
}

static double native_cost(const atn_component *c, int32_t depth, double cores) {
    double keys = c->depths[depth].visits, each = 0, product = 1;
    for (int32_t d = depth; d < c->n_depths; ++d) {
        product *= c->depths[d].size;
        each += product;
    }
    return interpreted_cost(c, depth) + keys * each * NATIVE / (keys < cores ? keys : cores);
}

/* The depth from which on it is native; -1: nowhere. */
static int32_t choose_depth(const atn_component *c, double cores, bool always) {
    double best = always ? -1 : interpreted_cost(c, c->n_depths) / 2;
    int32_t depth = -1;
    for (int32_t d = 0; d < c->n_depths; ++d) {
        if (c->depths[d].visits > MOST_KEYS || c->depths[d].keys > MOST_KEYS) continue;
        double cost = native_cost(c, d, cores);
        if (best >= 0 && cost >= best) continue;
        best = cost;
        depth = d;
    }
    return depth;
}

/* ---- the keys: combinations of live levels that are reached ---- */

typedef struct key_list {
    atn_component *component;
    atn_walk *walk;
    int32_t depth;
    atn_memo *seen;  /* per depth up to this one */
    int32_t *levels; /* n_live for each key */
    size_t count, capacity;
} key_list;

static atn_status keep_key(key_list *list) {
    const atn_component *c = list->component;
    const atn_depth *at = &c->depths[list->depth];
    size_t n = (size_t)at->n_live, wanted = (list->count + 1) * n;
    if (wanted > list->capacity) {
        size_t capacity = 2 * wanted + 64;
        int32_t *larger = atn_resize(c->plan->space->ctx, list->levels, capacity * sizeof *larger);
        if (!larger) return ATN_ERR_MEMORY;
        list->levels = larger;
        list->capacity = capacity;
    }
    for (size_t k = 0; k < n; ++k)
        list->levels[list->count * n + k] = list->walk->levels[c->depths[at->live[k]].parameter];
    ++list->count;
    return ATN_OK;
}

static atn_status collect(key_list *list, int32_t depth) {
    atn_component *c = list->component;
    const atn_depth *at = &c->depths[depth];
    const uint64_t *mask = list->walk->masks + at->mask;
    bool last = depth == list->depth;
    if (at->memo.on || last) {
        uint64_t key = atn_component_key(c, list->walk, depth);
        if (atn_memo_find(&list->seen[depth], key, NULL)) return ATN_OK;
        if (last && atn_memo_find(&at->memo, key, NULL)) return ATN_OK; /* it was counted before */
        atn_status status = atn_memo_put(c->plan->space->ctx, &list->seen[depth], key, 0);
        if (status) return status;
    }
    if (last) return keep_key(list);
    atn_status status = atn_component_mask(c, list->walk, depth);
    for (int32_t level = -1; !status && (level = atn_mask_next(mask, at->size, level + 1)) >= 0;) {
        list->walk->levels[at->parameter] = level;
        status = collect(list, depth + 1);
    }
    return status;
}

/* ---- building and running ---- */

typedef struct native_run {
    atn_device *device;
    atn_module *module;
    atn_function *function;
    atn_buffer *keys, *counts, *tables;
} native_run;

static void put_tables(const atn_component *c, int32_t first, int32_t *to) {
    for (int32_t d = first; d < c->n_depths; ++d) {
        if (!c->depths[d].iterator) continue;
        const atn_lan_iterator *iterator = &c->plan->space->parameters[c->depths[d].parameter].iterator;
        memcpy(to, iterator->list, (size_t)iterator->combinations * sizeof *to);
        to += iterator->combinations;
        for (int32_t k = 0; k < iterator->n_lists; ++k) {
            *to++ = iterator->lists[k].start;
            *to++ = iterator->lists[k].step;
            *to++ = iterator->lists[k].count;
        }
        if (iterator->n_pool) memcpy(to, iterator->pool, (size_t)iterator->n_pool * sizeof *to);
        to += iterator->n_pool;
    }
}

static atn_status build(native_run *run, const atn_walk *walk, const char *code) {
    atn_device_info info;
    atn_device_host_info(&info);
    atn_text all = {.ctx = walk->ctx};
    atn_text_add(&all, ATN_HOST_ABI_TEXT);
    atn_text_add(&all, code);
    atn_status status = atn_text_status(&all);
    /* the context is shared by all, and a device may leave things in it; questions about a space do not change it */
    if (!status) status = atn_device_open_info((atn_ctx *)(uintptr_t)walk->ctx, &info, &run->device);
    /* results must be those of the interpreter: nothing fused, and what overflowed was marked and wraps */
    atn_build how = {.name = "space", .source = atn_text_str(&all), .flags = "-ffp-contract=off -fwrapv"};
    if (!status) status = atn_module_build(run->device, &how, &run->module);
    if (!status) status = atn_module_function(run->module, "count", &run->function);
    atn_text_free(&all);
    return status;
}

static atn_status give(native_run *run, const key_list *list) {
    const atn_component *c = list->component;
    size_t n_live = (size_t)c->depths[list->depth].n_live;
    int64_t table = atn_native_table(c, list->depth, c->n_depths);
    atn_status status = atn_buffer_create(run->device, (list->count * n_live + 1) * sizeof(int32_t), &run->keys);
    if (!status) status = atn_buffer_create(run->device, (list->count + 1) * sizeof(uint64_t), &run->counts);
    if (!status) status = atn_buffer_create(run->device, (size_t)(table + 4) * sizeof(int32_t), &run->tables);
    if (status) return status;
    if (list->count > 0 && n_live > 0)
        memcpy(atn_buffer_host(run->keys), list->levels, list->count * n_live * sizeof(int32_t));
    put_tables(c, list->depth, atn_buffer_host(run->tables));
    return ATN_OK;
}

/* A few keys at a time, so that Ctrl-C is heard. */
static atn_status launch(native_run *run, const atn_walk *walk, size_t keys) {
    size_t piece = 64;
    for (size_t first = 0; first < keys;) {
        int64_t offset = (int64_t)first;
        size_t n = keys - first < piece ? keys - first : piece;
        atn_arg args[] = {{.buffer = run->keys},
                          {.buffer = run->counts},
                          {.buffer = run->tables},
                          {.value = &offset, .bytes = sizeof offset}};
        atn_launch how = {.groups = {n}, .args = args, .n_args = 4};
        double begun = atn_clock_seconds();
        atn_status status = atn_function_launch(atn_device_queue(run->device), run->function, &how);
        if (!status) status = atn_check_cancel(walk->ctx);
        if (status) return status;
        double took = atn_clock_seconds() - begun;
        if (took < 0.05) piece *= 4;
        if (took > 0.4 && piece > 8) piece /= 2;
        first += n;
    }
    return ATN_OK;
}

/* The counts become the depth's memory. A key that went wrong is counted again by the interpreter, which says why. */
static atn_status keep_counts(key_list *list, const uint64_t *counts) {
    atn_component *c = list->component;
    atn_depth *at = &c->depths[list->depth];
    for (size_t k = 0; k < list->count; ++k) {
        atn_wide count = counts[k];
        for (int32_t i = 0; i < at->n_live; ++i)
            list->walk->levels[c->depths[at->live[i]].parameter] = list->levels[k * (size_t)at->n_live + (size_t)i];
        if (counts[k] == UINT64_MAX) {
            atn_status status = atn_component_count_from(c, list->walk, list->depth, &count);
            if (status) return status;
        } else {
            atn_status status =
                atn_memo_put(c->plan->space->ctx, &at->memo, atn_component_key(c, list->walk, list->depth), count);
            if (status) return status;
        }
    }
    return ATN_OK;
}

static atn_status run_native(key_list *list, const char *code, bool *built) {
    native_run run = {0};
    *built = false;
    atn_status status = build(&run, list->walk, code);
    if (status != ATN_OK && status != ATN_ERR_MEMORY && status != ATN_ERR_CANCELLED) {
        atn_log(list->walk->ctx, ATN_LOG_INFO, "%s: interpreted, as native code cannot be built: %s",
                list->component->plan->space->name, atn_ctx_message(list->walk->ctx));
        status = ATN_OK;
    } else if (!status) {
        *built = true;
        status = give(&run, list);
        if (!status) status = launch(&run, list->walk, list->count);
        if (!status) status = keep_counts(list, atn_buffer_host(run.counts));
    }
    atn_buffer_free(run.keys);
    atn_buffer_free(run.counts);
    atn_buffer_free(run.tables);
    atn_module_free(run.module);
    atn_device_close(run.device);
    return status;
}

atn_status atn_component_go_native(atn_component *c, atn_walk *walk, bool always, bool *done) {
    const atn_ctx *ctx = c->plan->space->ctx;
    atn_device_info info;
    atn_device_host_info(&info);
    *done = false;
    int32_t depth = choose_depth(c, info.cores, always);
    if (depth < 0 || !isfinite(c->depths[depth].keys)) return ATN_OK;
    atn_text code = {.ctx = ctx};
    key_list list = {.component = c, .walk = walk, .depth = depth};
    bool possible;
    atn_status status = atn_native_source(c, depth, &code, &possible);
    if (!status && possible) {
        list.seen = atn_zalloc(ctx, (size_t)(depth + 1) * sizeof *list.seen);
        status = list.seen ? collect(&list, 0) : ATN_ERR_MEMORY;
        bool remembered = c->depths[depth].memo.on;
        c->depths[depth].memo.on = true; /* it holds what follows, whether or not it would pay otherwise */
        if (!status) status = run_native(&list, atn_text_str(&code), done);
        if (!*done) c->depths[depth].memo.on = remembered;
    }
    for (int32_t d = 0; list.seen && d <= depth; ++d) atn_memo_free(ctx, &list.seen[d]);
    atn_free(ctx, list.seen);
    atn_free(ctx, list.levels);
    atn_text_free(&code);
    return status;
}
