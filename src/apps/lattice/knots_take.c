/* Odds of confidences that other ranks find: the wait for them, when a slab is done. */
#include "apps/lattice/knots_late.h"
#include "apps/lattice/parts.h"

#include <sched.h>
#include <stddef.h>

atn_status lattice_knots_wait(lattice_knots_late *x, int32_t rank, size_t flag, bool *there) {
    int64_t now = LATTICE_NOT_YET;
    atn_status status = ATN_OK;
    while (status == ATN_OK && now == LATTICE_NOT_YET) {
        status = atn_ranks_add(x->ranks, &x->window, rank, flag, 0, &now);
        if (status == ATN_OK && now == LATTICE_NOT_YET) status = atn_check_cancel(x->ranks->ctx);
        if (now == LATTICE_NOT_YET) sched_yield();
    }
    *there = status == ATN_OK && now == LATTICE_THERE;
    return status;
}

atn_status lattice_knots_take(atn_lattice *l) {
    lattice_knots_late *x = l->knots_late;
    bool there;
    if (!x || x->taken) return ATN_OK;
    atn_status status = lattice_knots_wait(x, 0, offsetof(lattice_board, knots), &there);
    if (there)
        status = atn_ranks_get(x->ranks, &x->window, 0, offsetof(lattice_board, found), l->knots, sizeof l->knots);
    x->taken = status == ATN_OK;
    return status;
}
