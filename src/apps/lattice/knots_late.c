/* Odds of confidences that the first ranks find, before or while the others match: each of the frames that are made for
 * it is matched by one of them, the first of all fits the odds, and whoever has results that need them reads them from
 * its memory. */
#include "apps/lattice/knots_late.h"
#include "apps/lattice/parts.h"
#include "apps/lattice/shared.h"
#include "base/memory.h"

#include <stddef.h>

static atn_status show(lattice_knots_late *x, size_t flag, atn_status own) {
    int64_t before;
    atn_status status = atn_ranks_add(x->ranks, &x->window, x->ranks->rank, flag,
                                      own == ATN_OK ? LATTICE_THERE : LATTICE_FAILED, &before);
    return own != ATN_OK ? own : status;
}

/* This rank's frames, as learning matches them. */
static atn_status check_own(atn_lattice *l, lattice_knots_late *x, size_t bytes) {
    bool known = l->known;
    char *told = atn_alloc(l->ctx, bytes);
    l->known = false;
    l->learning = true;
    l->ranks = x->ranks;
    atn_status status = told ? lattice_check_own(l, told) : ATN_ERR_MEMORY;
    l->ranks = NULL;
    l->learning = false;
    l->known = known;
    if (status == ATN_OK)
        status = atn_ranks_put(x->ranks, &x->window, x->ranks->rank, sizeof(lattice_board), told, bytes);
    atn_free(l->ctx, told);
    return show(x, offsetof(lattice_board, frames), status);
}

/* The first rank: from the frames of all. */
static atn_status fit_all(atn_lattice *l, lattice_knots_late *x, size_t frames, size_t bytes) {
    char *told = atn_alloc(l->ctx, frames * bytes);
    atn_status status = told ? ATN_OK : ATN_ERR_MEMORY;
    bool there = true;
    for (int32_t rank = 0; rank < x->ranks->count && status == ATN_OK && there; ++rank) {
        size_t at = atn_ranks_cut(x->ranks, frames, rank), end = atn_ranks_cut(x->ranks, frames, rank + 1);
        if (at == end) break; /* nor has any after it */
        status = lattice_knots_wait(x, rank, offsetof(lattice_board, frames), &there);
        if (there)
            status =
                atn_ranks_get(x->ranks, &x->window, rank, sizeof(lattice_board), told + at * bytes, (end - at) * bytes);
    }
    if (status == ATN_OK && there) status = lattice_fit_frames(l, told);
    if (status == ATN_OK)
        status = atn_ranks_put(x->ranks, &x->window, 0, offsetof(lattice_board, found), l->knots, sizeof l->knots);
    atn_free(l->ctx, told);
    return show(x, offsetof(lattice_board, knots), status);
}

atn_status lattice_knots_begin(atn_lattice *l, atn_ranks *ranks, atn_status own, bool wait) {
    size_t bytes, frames = lattice_check_frames(&bytes);
    if (own != ATN_OK) return atn_ranks_agree(ranks, own);
    if (!l->unchecked) return ATN_OK;
    lattice_knots_late *x = atn_zalloc(l->ctx, sizeof *x);
    size_t mine = atn_ranks_cut(ranks, frames, ranks->rank + 1) - atn_ranks_cut(ranks, frames, ranks->rank);
    size_t board = mine ? sizeof(lattice_board) : 0;
    atn_ranks_window window;
    atn_status status = atn_ranks_share(ranks, x ? ATN_OK : ATN_ERR_MEMORY, board + mine * bytes, board, &window);
    if (status != ATN_OK || !x) {
        atn_free(l->ctx, x);
        return status;
    }
    *x = (lattice_knots_late){.ranks = ranks, .window = window};
    if (mine) status = check_own(l, x, mine * bytes);
    if (ranks->rank == 0) {
        atn_status fitted = fit_all(l, x, frames, bytes);
        if (status == ATN_OK) status = fitted;
    }
    x->taken = ranks->rank == 0;
    l->knots_late = x;
    if (status == ATN_OK) status = lattice_engine_widen(l);
    return status == ATN_OK && wait ? lattice_knots_take(l) : status;
}

void lattice_knots_end(atn_lattice *l, atn_ranks *ranks) {
    if (!l->knots_late) return;
    atn_ranks_unshare(ranks, &l->knots_late->window);
    atn_free(l->ctx, l->knots_late);
    l->knots_late = NULL;
}
