/* A plan: which parameters belong together, and one component for each group. */
#include "space/plan.h"
#include "base/memory.h"

#include <string.h>

typedef struct planning {
    atn_space_plan *plan;
    const bool *active;
    int32_t *group; /* per parameter: a parameter of the same group, or itself (union-find) */
    const atn_lan_function **functions;
    int32_t *parameters;
} planning;

static int32_t root_of(const planning *p, int32_t parameter) {
    while (p->group[parameter] != parameter) parameter = p->group[parameter];
    return parameter;
}

/* The lower one stays the root, so that groups come in the order of the file. */
static void join(planning *p, int32_t a, int32_t b) {
    a = root_of(p, a);
    b = root_of(p, b);
    p->group[a > b ? a : b] = a > b ? b : a;
}

/* A parameter with one value that is always there is as good as a constant. */
static bool has_choice(const atn_space *space, int32_t parameter) {
    return space->parameters[parameter].levels != 1 || space->parameters[parameter].function >= 0;
}

/* The function of an active part; NULL: it is not active. */
static const atn_lan_function *active_part(const planning *p, size_t part) {
    const atn_space *space = p->plan->space;
    const atn_lan_function *function = &space->functions[space->parts[part].function];
    if (function->built || (p->active && !p->active[space->parts[part].constraint])) return NULL;
    return function;
}

/* The first parameter with a choice that the function uses; -1: none. */
static int32_t first_choice(const atn_space *space, const atn_lan_function *function) {
    for (int32_t k = 0; k < function->n_uses; ++k)
        if (has_choice(space, function->uses[k])) return function->uses[k];
    return -1;
}

static void join_all(planning *p, const atn_lan_function *function, int32_t with) {
    for (int32_t k = 0; k < function->n_uses; ++k)
        if (has_choice(p->plan->space, function->uses[k])) join(p, with, function->uses[k]);
}

static void find_groups(planning *p) {
    const atn_space *space = p->plan->space;
    for (size_t k = 0; k < space->n_parameters; ++k) p->group[k] = (int32_t)k;
    for (size_t k = 0; k < space->n_parameters; ++k)
        if (space->parameters[k].function >= 0)
            join_all(p, &space->functions[space->parameters[k].function], (int32_t)k);
    for (size_t k = 0; k < space->n_parts; ++k) {
        const atn_lan_function *function = active_part(p, k);
        if (!function) continue;
        int32_t first = first_choice(space, function);
        if (first >= 0)
            join_all(p, function, first);
        else
            p->plan->fixed[p->plan->n_fixed++] = function;
    }
}

static atn_status make_component(planning *p, int32_t root) {
    const atn_space *space = p->plan->space;
    atn_component *c = &p->plan->components[p->plan->n_components++];
    int32_t n = 0, n_functions = 0;
    c->plan = p->plan;
    for (size_t k = 0; k < space->n_parameters; ++k)
        if (root_of(p, (int32_t)k) == root) p->parameters[n++] = (int32_t)k;
    for (size_t k = 0; k < space->n_parts; ++k) {
        const atn_lan_function *function = active_part(p, k);
        int32_t first = function ? first_choice(space, function) : -1;
        if (first >= 0 && root_of(p, first) == root) p->functions[n_functions++] = function;
    }
    atn_status status = n > 1 ? atn_component_order(space, p->parameters, n, p->functions, n_functions) : ATN_OK;
    return status ? status : atn_component_prepare(c, p->parameters, n, p->functions, n_functions);
}

atn_status atn_space_plan_create(const atn_space *space, const bool *active, atn_space_plan **out) {
    const atn_ctx *ctx = space->ctx;
    size_t n = space->n_parameters;
    *out = NULL;
    atn_space_plan *plan = atn_zalloc(ctx, sizeof *plan);
    if (!plan) return ATN_ERR_MEMORY;
    plan->space = space;
    plan->arena.ctx = ctx;
    pthread_mutex_init(&plan->lock, NULL);
    planning p = {.plan = plan,
                  .active = active,
                  .group = atn_alloc(ctx, (n + 1) * sizeof *p.group),
                  .functions = atn_alloc(ctx, (space->n_parts + 1) * sizeof(void *)),
                  .parameters = atn_alloc(ctx, (n + 1) * sizeof *p.parameters)};
    plan->components = atn_arena_alloc(&plan->arena, (n + 1) * sizeof *plan->components);
    plan->fixed = atn_arena_alloc(&plan->arena, (space->n_parts + 1) * sizeof(void *));
    plan->places = atn_arena_alloc(&plan->arena, (n + 1) * sizeof *plan->places);
    bool whole = p.group && p.functions && p.parameters && plan->components && plan->fixed && plan->places;
    atn_status status = whole ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < n && whole; ++k) plan->places[k].component = -1;
    if (!status) status = atn_lan_env_begin(&plan->env, space, NULL);
    if (!status) find_groups(&p);
    for (size_t k = 0; k < n && !status; ++k)
        if (p.group[k] == (int32_t)k) status = make_component(&p, (int32_t)k);
    atn_free(ctx, p.group);
    atn_free(ctx, (void *)p.functions);
    atn_free(ctx, p.parameters);
    if (status)
        atn_space_plan_free(plan);
    else
        *out = plan;
    return status;
}

void atn_space_plan_free(atn_space_plan *plan) {
    if (!plan) return;
    for (int32_t k = 0; k < plan->n_components; ++k) atn_component_free(&plan->components[k]);
    atn_lan_env_end(&plan->env);
    pthread_mutex_destroy(&plan->lock);
    atn_arena_free(&plan->arena);
    atn_free(plan->space->ctx, plan);
}

atn_status atn_space_plan_of(const atn_ctx *ctx, const atn_space *space, atn_space_plan **out) {
    (void)ctx;
    atn_status status = ATN_OK;
    pthread_mutex_lock(&space->shared->lock);
    if (!space->shared->plan) status = atn_space_plan_create(space, NULL, &space->shared->plan);
    *out = space->shared->plan;
    pthread_mutex_unlock(&space->shared->lock);
    return status;
}

int32_t atn_space_count_native(const atn_space *space) {
    int32_t count = 0;
    pthread_mutex_lock(&space->shared->lock);
    const atn_space_plan *plan = space->shared->plan;
    for (int32_t k = 0; plan && k < plan->n_components; ++k) count += plan->components[k].native;
    pthread_mutex_unlock(&space->shared->lock);
    return count;
}

/* ---- walks ---- */

atn_status atn_walk_begin(const atn_ctx *ctx, const atn_space_plan *plan, atn_walk *out) {
    const atn_space *space = plan->space;
    size_t words = 0;
    for (int32_t k = 0; k < plan->n_components; ++k)
        if (words < plan->components[k].mask_words) words = plan->components[k].mask_words;
    *out = (atn_walk){.ctx = ctx,
                      .levels = atn_zalloc(space->ctx, (space->n_parameters + 1) * sizeof *out->levels),
                      .masks = atn_alloc(space->ctx, (words + 1) * sizeof *out->masks)};
    return out->levels && out->masks ? ATN_OK : ATN_ERR_MEMORY;
}

void atn_walk_end(const atn_space_plan *plan, atn_walk *walk) {
    atn_free(plan->space->ctx, walk->levels);
    atn_free(plan->space->ctx, walk->masks);
}
