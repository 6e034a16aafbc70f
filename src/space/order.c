/* The order in which a component binds its parameters: one that keeps few of them live, so that counts repeat and are
 * remembered. The order of the file is kept unless another is clearly better. */
#include "base/memory.h"
#include "space/plan.h"

#include <math.h>
#include <string.h>

enum { MOST_SEARCHED = 128, MOST_STARTS = 24 };

/* A constraint, or an iterator with the parameter it gives values to: parameters of the component that belong together.
 */
typedef struct bundle {
    int32_t *parameters;
    int32_t n, unplaced;
} bundle;

typedef struct ordering {
    const atn_space *space;
    const int32_t *parameters; /* of the component, ascending */
    int32_t n;
    bundle *bundles;
    int32_t n_bundles;
    bool *member, *placed; /* per parameter of the space: of the component; bound already */
    int32_t *seen, round;  /* per parameter: counted in this round */
} ordering;

static void reset(ordering *o) {
    memset(o->placed, 0, o->space->n_parameters);
    for (int32_t b = 0; b < o->n_bundles; ++b) o->bundles[b].unplaced = o->bundles[b].n;
}

static void place(ordering *o, int32_t parameter, bool placed) {
    o->placed[parameter] = placed;
    for (int32_t b = 0; b < o->n_bundles; ++b)
        for (int32_t k = 0; k < o->bundles[b].n; ++k)
            if (o->bundles[b].parameters[k] == parameter) o->bundles[b].unplaced += placed ? -1 : 1;
}

/* log2 of how many combinations of live parameters there are with what is placed now. */
static double frontier(ordering *o) {
    double sum = 0;
    ++o->round;
    for (int32_t b = 0; b < o->n_bundles; ++b) {
        const bundle *set = &o->bundles[b];
        for (int32_t k = 0; k < set->n && set->unplaced; ++k) {
            int32_t p = set->parameters[k];
            if (!o->placed[p] || o->seen[p] == o->round) continue;
            o->seen[p] = o->round;
            sum += log2((double)o->space->parameters[p].levels);
        }
    }
    return sum;
}

/* An iterator's parameter comes behind all that it uses. */
static bool may_follow(const ordering *o, int32_t parameter) {
    int32_t function = o->space->parameters[parameter].function;
    if (function < 0) return true;
    const atn_lan_function *f = &o->space->functions[function];
    for (int32_t k = 0; k < f->n_uses; ++k)
        if (o->member[f->uses[k]] && !o->placed[f->uses[k]]) return false;
    return true;
}

/* The order of the file as far as iterators let it. */
static void order_as_written(ordering *o, int32_t *order) {
    for (int32_t n = 0; n < o->n; ++n)
        for (int32_t k = 0; k < o->n; ++k) {
            int32_t p = o->parameters[k];
            if (o->placed[p] || !may_follow(o, p)) continue;
            place(o, p, true);
            order[n] = p;
            break;
        }
}

static void order_greedily(ordering *o, int32_t start, int32_t *order) {
    for (int32_t n = 0; n < o->n; ++n) {
        double best = INFINITY;
        int32_t next = -1;
        for (int32_t k = 0; k < o->n; ++k) {
            int32_t p = o->parameters[k];
            if (o->placed[p] || !may_follow(o, p) || (n == 0 && p != start)) continue;
            place(o, p, true);
            double width = frontier(o);
            place(o, p, false);
            if (width < best - 1e-9) {
                best = width;
                next = p;
            }
        }
        place(o, next, true);
        order[n] = next;
    }
}

/* Values tested, when every count is computed once for each combination of live parameters. */
static double cost_of(ordering *o, const int32_t *order) {
    reset(o);
    double cost = 0, product = 1;
    for (int32_t n = 0; n < o->n; ++n) {
        double size = o->space->parameters[order[n]].levels, visits = exp2(frontier(o));
        cost += (visits < product ? visits : product) * size;
        product *= size;
        place(o, order[n], true);
    }
    return cost;
}

static atn_status search(ordering *o, int32_t *parameters) {
    const atn_ctx *ctx = o->space->ctx;
    int32_t *order = atn_alloc(ctx, (size_t)o->n * sizeof *order), *best = atn_alloc(ctx, (size_t)o->n * sizeof *best);
    if (!order || !best) {
        atn_free(ctx, order);
        atn_free(ctx, best);
        return ATN_ERR_MEMORY;
    }
    reset(o);
    order_as_written(o, best);
    double written = cost_of(o, best), least = written / 2; /* what is not clearly better is not worth a new order */
    for (int32_t k = 0; k < o->n && k < MOST_STARTS && o->n <= MOST_SEARCHED; ++k) {
        reset(o);
        if (!may_follow(o, o->parameters[k])) continue;
        order_greedily(o, o->parameters[k], order);
        double cost = cost_of(o, order);
        if (cost >= least) continue;
        least = cost;
        memcpy(best, order, (size_t)o->n * sizeof *best);
    }
    memcpy(parameters, best, (size_t)o->n * sizeof *best);
    atn_free(ctx, order);
    atn_free(ctx, best);
    return ATN_OK;
}

/* The function's parameters that belong to the component, and `own`. */
static atn_status add_bundle(ordering *o, atn_arena *arena, const atn_lan_function *function, int32_t own) {
    bundle *set = &o->bundles[o->n_bundles++];
    set->parameters = atn_arena_alloc(arena, (size_t)(function->n_uses + 1) * sizeof *set->parameters);
    if (!set->parameters) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < function->n_uses; ++k)
        if (o->member[function->uses[k]]) set->parameters[set->n++] = function->uses[k];
    if (own >= 0) set->parameters[set->n++] = own;
    return ATN_OK;
}

atn_status atn_component_order(const atn_space *space, int32_t *parameters, int32_t n,
                               const atn_lan_function *const *functions, int32_t n_functions) {
    atn_arena arena = {.ctx = space->ctx};
    size_t all = space->n_parameters + 1;
    int32_t *ascending = atn_arena_alloc(&arena, (size_t)(n + 1) * sizeof *ascending);
    ordering o = {.space = space,
                  .parameters = ascending,
                  .n = n,
                  .bundles = atn_arena_alloc(&arena, (size_t)(n + n_functions + 1) * sizeof *o.bundles),
                  .member = atn_arena_alloc(&arena, all),
                  .placed = atn_arena_alloc(&arena, all),
                  .seen = atn_arena_alloc(&arena, all * sizeof *o.seen)};
    atn_status status = ascending && o.bundles && o.member && o.placed && o.seen ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < n && !status; ++k) {
        ascending[k] = parameters[k];
        o.member[parameters[k]] = true;
    }
    for (int32_t k = 0; k < n_functions && !status; ++k) status = add_bundle(&o, &arena, functions[k], -1);
    for (int32_t k = 0; k < n && !status; ++k) {
        int32_t function = space->parameters[parameters[k]].function;
        if (function >= 0) status = add_bundle(&o, &arena, &space->functions[function], parameters[k]);
    }
    if (!status) status = search(&o, parameters);
    atn_arena_free(&arena);
    return status;
}
