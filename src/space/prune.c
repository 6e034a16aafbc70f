/* What constraints remove: counts of the space under some of its constraints only, and their differences. */
#include "base/memory.h"
#include "space/plan.h"

#include <string.h>

static atn_status count_with(const atn_ctx *ctx, const atn_space *space, const bool *active, atn_big *out) {
    atn_space_plan *plan;
    atn_status status = atn_space_plan_create(space, active, &plan);
    if (!status) status = atn_space_plan_count(ctx, plan, out);
    atn_space_plan_free(plan);
    return status;
}

atn_status atn_space_product(const atn_ctx *ctx, const atn_space *space, atn_count *out) {
    atn_big count;
    *out = (atn_count){.digits = "0", .fits = true};
    bool *none = atn_zalloc(space->ctx, space->n_constraints + 1);
    if (!none) return ATN_ERR_MEMORY;
    atn_status status = count_with(ctx, space, none, &count);
    if (!status) *out = atn_big_count(&count);
    atn_free(space->ctx, none);
    return status;
}

static atn_count difference(const atn_big *more, const atn_big *less) {
    atn_big rest = *more;
    atn_big_subtract(&rest, less);
    return atn_big_count(&rest);
}

atn_status atn_space_prune_report(const atn_ctx *ctx, const atn_space *space, atn_prune *rows) {
    size_t n = space->n_constraints;
    bool *active = atn_zalloc(space->ctx, n + 1), *before = atn_zalloc(space->ctx, n + 1);
    atn_big product = {0}, left, all, some;
    atn_status status = active && before ? ATN_OK : ATN_ERR_MEMORY;
    if (!status) status = count_with(ctx, space, active, &product);
    if (!status) status = count_with(ctx, space, NULL, &all);
    left = product;
    for (size_t k = 0; k < n && !status; ++k) {
        memset(active, 0, n);
        active[k] = true;
        rows[k].constraint = atn_space_constraint(space, (int32_t)k);
        status = count_with(ctx, space, active, &some);
        if (!status) rows[k].alone = difference(&product, &some);
        before[k] = true;
        if (!status) status = count_with(ctx, space, before, &some);
        if (!status) rows[k].together = difference(&left, &some);
        left = some;
        memset(active, 1, n);
        active[k] = false;
        if (!status) status = count_with(ctx, space, active, &some);
        if (!status) rows[k].only = difference(&some, &all);
    }
    atn_free(space->ctx, active);
    atn_free(space->ctx, before);
    return status;
}
