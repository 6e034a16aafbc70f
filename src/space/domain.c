/* The values of parameters. Those of an iterator depend on others: for every combination of what it uses its list is
 * computed once, and the domain is the union of all lists. Equal lists are kept once. */
#include "base/compare.h"
#include "base/memory.h"
#include "base/size.h"
#include "space/lanai.h"

#include <stdlib.h>
#include <string.h>

static const int64_t MOST_STEPS = (int64_t)1 << 28; /* nodes evaluated for all iterators together */

/* ---- lists ---- */

static atn_status too_many(const atn_space *space) {
    return atn_fail(space->ctx, ATN_ERR_INPUT, "%s: the parameters have more than %d values", space->name,
                    (int)ATN_LAN_MOST_VALUES);
}

static bool stands_before(const atn_setting *settings, int32_t count, const atn_lan_value *value) {
    for (int32_t k = 0; k < count; ++k) {
        atn_lan_value other = atn_lan_of_setting(&settings[k]);
        if (atn_lan_equal(&other, value)) return true;
    }
    return false;
}

atn_status atn_lan_set_domain(atn_space *space, atn_lan_parameter *parameter, const atn_lan_value *list) {
    if (list->count > ATN_LAN_MOST_VALUES - space->n_values) return too_many(space);
    parameter->settings = atn_arena_alloc(&space->arena, ((size_t)list->count + 1) * sizeof *parameter->settings);
    if (!parameter->settings) return ATN_ERR_MEMORY;
    for (int64_t k = 0; k < list->count; ++k) {
        atn_lan_value value = atn_lan_item(list, k);
        if (list->kind == ATN_LAN_LIST && stands_before(parameter->settings, parameter->levels, &value)) {
            atn_log(space->ctx, ATN_LOG_INFO, "%s: duplicate value of '%s'; it counts once", space->name,
                    parameter->name);
            continue;
        }
        parameter->settings[parameter->levels++] = atn_lan_to_setting(space, &value);
    }
    space->n_values += parameter->levels;
    return ATN_OK;
}

/* ---- what an iterator gives, before values are levels ---- */

typedef struct raw_list {
    atn_lan_value value; /* a range, or a list whose items are in the arena of the making */
    atn_hash hash;
} raw_list;

typedef struct making {
    atn_space *space;
    atn_lan_parameter *parameter;
    const atn_lan_function *function;
    atn_lan_env env;
    int32_t *levels; /* of all parameters */
    atn_arena arena;
    raw_list *lists;
    size_t n_lists, lists_capacity;
    int32_t *buckets; /* lists by hash; -1: free */
    size_t n_buckets;
    int64_t n_items; /* of all lists */
} making;

static atn_hash hash_list(const atn_lan_value *list) {
    int64_t head[4] = {list->kind, list->count, list->kind == ATN_LAN_RANGE ? list->whole : 0,
                       list->kind == ATN_LAN_RANGE ? list->step : 0};
    atn_hash hash = atn_hash_add((atn_hash){0}, head, sizeof head);
    for (int64_t k = 0; list->kind == ATN_LAN_LIST && k < list->count; ++k) {
        int64_t item[2] = {list->items[k].kind, list->items[k].whole}; /* a real's bits overlap with it */
        hash = atn_hash_add(hash, item, sizeof item);
    }
    return hash;
}

static atn_status rehash(making *m) {
    size_t wanted = m->n_buckets ? 2 * m->n_buckets : 64;
    int32_t *buckets = atn_alloc(m->space->ctx, wanted * sizeof *buckets);
    if (!buckets) return ATN_ERR_MEMORY;
    memset(buckets, 0xff, wanted * sizeof *buckets);
    for (size_t k = 0; k < m->n_lists; ++k) {
        size_t at = m->lists[k].hash.low & (wanted - 1);
        while (buckets[at] >= 0) at = (at + 1) & (wanted - 1);
        buckets[at] = (int32_t)k;
    }
    atn_free(m->space->ctx, m->buckets);
    m->buckets = buckets;
    m->n_buckets = wanted;
    return ATN_OK;
}

/* The number of the list, new or known. */
static atn_status number_list(making *m, const atn_lan_value *list, int32_t *out) {
    atn_hash hash = hash_list(list);
    atn_status status = 2 * m->n_lists >= m->n_buckets ? rehash(m) : ATN_OK;
    if (status) return status;
    size_t at = hash.low & (m->n_buckets - 1);
    for (; m->buckets[at] >= 0; at = (at + 1) & (m->n_buckets - 1)) {
        const raw_list *known = &m->lists[m->buckets[at]];
        if (known->hash.low != hash.low || known->hash.high != hash.high) continue;
        *out = m->buckets[at];
        return ATN_OK;
    }
    m->n_items += list->count;
    if (m->n_items > 4 * ATN_LAN_MOST_VALUES) return too_many(m->space);
    status = atn_grow(m->space->ctx, (void **)&m->lists, &m->lists_capacity, m->n_lists, sizeof *m->lists);
    if (status) return status;
    raw_list *kept = &m->lists[m->n_lists];
    *kept = (raw_list){.value = *list, .hash = hash};
    if (list->kind == ATN_LAN_LIST && list->count) {
        atn_lan_value *items = atn_arena_alloc(&m->arena, (size_t)list->count * sizeof *items);
        if (!items) return ATN_ERR_MEMORY;
        memcpy(items, list->items, (size_t)list->count * sizeof *items);
        kept->value.items = items;
    }
    *out = m->buckets[at] = (int32_t)m->n_lists++;
    return ATN_OK;
}

/* ---- levels ---- */

static int compare_values(const void *a, const void *b) {
    const atn_lan_value *x = a, *y = b;
    bool text_x = x->kind == ATN_LAN_TEXT, text_y = y->kind == ATN_LAN_TEXT;
    if (text_x != text_y) return text_x - text_y;
    if (text_x) return (x->whole > y->whole) - (x->whole < y->whole); /* by first appearance in the file */
    atn_lan_value less, more;
    atn_lan_binary(NULL, ATN_LAN_LESS, x, y, &less);
    atn_lan_binary(NULL, ATN_LAN_GREATER, x, y, &more);
    return (int)more.whole - (int)less.whole;
}

static int32_t find_level(const atn_lan_value *domain, int32_t count, const atn_lan_value *value) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (compare_values(&domain[middle], value) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The lists as ascending levels: as start, step and count where that is possible, else in the pool. */
static atn_status store_lists(making *m, const atn_lan_value *domain, int32_t n_domain) {
    atn_lan_iterator *to = &m->parameter->iterator;
    to->n_lists = (int32_t)m->n_lists;
    to->lists = atn_arena_alloc(&m->space->arena, (m->n_lists + 1) * sizeof *to->lists);
    to->pool = atn_arena_alloc(&m->space->arena, ((size_t)m->n_items + 1) * sizeof *to->pool);
    if (!to->lists || !to->pool) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < m->n_lists; ++k) {
        const atn_lan_value *list = &m->lists[k].value;
        int32_t *levels = to->pool + to->n_pool, count = 0, n = 0;
        for (int64_t i = 0; i < list->count; ++i) {
            atn_lan_value item = atn_lan_item(list, i);
            levels[count++] = find_level(domain, n_domain, &item);
        }
        qsort(levels, (size_t)count, sizeof *levels, atn_ascending_int32);
        for (int32_t i = 0; i < count; ++i)
            if (i == 0 || levels[i] != levels[n - 1]) levels[n++] = levels[i];
        bool even = true;
        for (int32_t i = 2; i < n && even; ++i) even = levels[i] - levels[i - 1] == levels[1] - levels[0];
        if (even) {
            to->lists[k] = (atn_lan_levels){n ? levels[0] : 0, n > 1 ? levels[1] - levels[0] : 1, n};
        } else {
            to->lists[k] = (atn_lan_levels){to->n_pool, 0, n};
            to->n_pool += n;
        }
    }
    return ATN_OK;
}

static atn_status make_domain(making *m) {
    atn_space *space = m->space;
    atn_lan_value *values = atn_alloc(space->ctx, ((size_t)m->n_items + 1) * sizeof *values);
    if (!values) return ATN_ERR_MEMORY;
    int64_t n = 0, kept = 0;
    for (size_t k = 0; k < m->n_lists; ++k)
        for (int64_t i = 0; i < m->lists[k].value.count; ++i) values[n++] = atn_lan_item(&m->lists[k].value, i);
    qsort(values, (size_t)n, sizeof *values, compare_values);
    for (int64_t i = 0; i < n; ++i)
        if (i == 0 || compare_values(&values[i], &values[kept - 1]) != 0) values[kept++] = values[i];
    atn_status status = kept > ATN_LAN_MOST_VALUES - space->n_values ? too_many(space) : ATN_OK;
    atn_lan_parameter *parameter = m->parameter;
    if (!status) {
        parameter->settings = atn_arena_alloc(&space->arena, ((size_t)kept + 1) * sizeof *parameter->settings);
        status = parameter->settings ? ATN_OK : ATN_ERR_MEMORY;
    }
    for (int64_t i = 0; i < kept && !status; ++i) parameter->settings[i] = atn_lan_to_setting(space, &values[i]);
    if (!status) {
        parameter->levels = (int32_t)kept;
        space->n_values += kept;
        status = store_lists(m, values, (int32_t)kept);
    }
    atn_free(space->ctx, values);
    return status;
}

/* ---- all combinations ---- */

int64_t atn_lan_combination(const atn_space *space, const atn_lan_function *function, const int32_t *levels) {
    int64_t key = 0;
    for (int32_t k = 0; k < function->n_uses; ++k)
        key = key * space->parameters[function->uses[k]].levels + levels[function->uses[k]];
    return key;
}

bool atn_lan_has_level(const atn_lan_iterator *iterator, const atn_lan_levels *list, int32_t level) {
    if (list->step) {
        int32_t distance = level - list->start;
        return distance >= 0 && distance % list->step == 0 && distance / list->step < list->count;
    }
    return bsearch(&level, iterator->pool + list->start, (size_t)list->count, sizeof level, atn_ascending_int32) !=
           NULL;
}

const atn_lan_levels *atn_lan_allowed(const atn_space *space, const atn_lan_parameter *parameter,
                                      const int32_t *levels) {
    static const atn_lan_levels NONE = {0, 1, 0};
    const atn_lan_iterator *iterator = &parameter->iterator;
    int32_t list = iterator->list[atn_lan_combination(space, &space->functions[parameter->function], levels)];
    return list == ATN_LAN_FAILS ? NULL : list == ATN_LAN_UNREACHED ? &NONE : &iterator->lists[list];
}

/* Can the levels occur together, as far as the iterators among them say? */
static bool reachable(const making *m) {
    const atn_space *space = m->space;
    for (int32_t k = 0; k < m->function->n_uses; ++k) {
        const atn_lan_parameter *p = &space->parameters[m->function->uses[k]];
        if (p->function < 0) continue;
        const atn_lan_function *f = &space->functions[p->function];
        bool within = true; /* does it use no more than this one does? */
        for (int32_t i = 0, j = 0; i < f->n_uses && within; ++i) {
            while (j < m->function->n_uses && m->function->uses[j] < f->uses[i]) ++j;
            within = j < m->function->n_uses && m->function->uses[j] == f->uses[i];
        }
        if (!within) continue;
        const atn_lan_levels *list = atn_lan_allowed(space, p, m->levels);
        if (!list || !atn_lan_has_level(&p->iterator, list, m->levels[m->function->uses[k]])) return false;
    }
    return true;
}

static atn_status compute_list(making *m, int32_t *number) {
    atn_lan_value list;
    if (!reachable(m)) {
        *number = ATN_LAN_UNREACHED;
        return ATN_OK;
    }
    if (!atn_lan_call(&m->env, m->function, &list)) {
        *number = ATN_LAN_FAILS; /* said when a point gets there */
        return m->env.no_memory ? ATN_ERR_MEMORY : ATN_OK;
    }
    if (list.kind < ATN_LAN_LIST) { /* one value is a list of one */
        atn_lan_value *one = atn_lan_scratch(&m->env, 1);
        if (!one) return atn_fail_memory(m->space->ctx, sizeof *one, "the values of a list");
        *one = list;
        list = (atn_lan_value){.kind = ATN_LAN_LIST, .items = one, .count = 1};
    }
    return number_list(m, &list, number);
}

static atn_status compute_all(making *m) {
    const atn_space *space = m->space;
    const atn_lan_function *f = m->function;
    int64_t combinations = 1;
    for (int32_t k = 0; k < f->n_uses; ++k) {
        combinations *= space->parameters[f->uses[k]].levels;
        if (combinations > ATN_LAN_MOST_COMBINATIONS)
            return atn_fail(space->ctx, ATN_ERR_INPUT,
                            "%s:%d:%d: the iterator '%s' depends on more than %d combinations of values", space->name,
                            f->line, f->column, f->name, (int)ATN_LAN_MOST_COMBINATIONS);
    }
    atn_lan_iterator *to = &m->parameter->iterator;
    to->combinations = combinations;
    to->list = atn_arena_alloc(&m->space->arena, ((size_t)combinations + 1) * sizeof *to->list);
    if (!to->list) return ATN_ERR_MEMORY;
    for (int64_t c = 0; c < combinations; ++c) {
        int64_t rest = c;
        for (int32_t k = f->n_uses; k-- > 0;) {
            int32_t n = space->parameters[f->uses[k]].levels;
            m->levels[f->uses[k]] = (int32_t)(rest % n);
            rest /= n;
        }
        atn_status status = compute_list(m, &to->list[c]);
        if (!status && c % 1024 == 0) status = atn_check_cancel(space->ctx);
        if (!status && m->env.steps > MOST_STEPS)
            status = atn_fail(space->ctx, ATN_ERR_INPUT, "%s:%d:%d: the iterator '%s' takes too long to compute",
                              space->name, f->line, f->column, f->name);
        if (status) return status;
    }
    return ATN_OK;
}

atn_status atn_lan_make_iterators(atn_space *space) {
    int32_t *levels = atn_zalloc(space->ctx, (space->n_parameters + 1) * sizeof *levels);
    atn_status status = levels ? ATN_OK : ATN_ERR_MEMORY;
    int64_t steps = 0;
    for (size_t k = 0; k < space->n_order && !status; ++k) {
        atn_lan_parameter *parameter = &space->parameters[space->order[k]];
        making m = {.space = space,
                    .parameter = parameter,
                    .function = &space->functions[parameter->function],
                    .levels = levels,
                    .arena = {.ctx = space->ctx}};
        status = atn_lan_env_begin(&m.env, space, levels);
        m.env.steps = steps;
        if (!status) status = compute_all(&m);
        if (!status) status = make_domain(&m);
        steps = m.env.steps;
        atn_lan_env_end(&m.env);
        atn_arena_free(&m.arena);
        atn_free(space->ctx, m.lists);
        atn_free(space->ctx, m.buckets);
    }
    atn_free(space->ctx, levels);
    return status;
}
