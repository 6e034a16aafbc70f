/* Learning that is distributed over ranks. */
#include "apps/lattice/shared.h"

#include "base/memory.h"

#include <string.h>

enum { LEAST = 16 }; /* atoms for each rank: fewer are searched before the others have answered */

bool lattice_shared_is_mine(const atn_lattice *l, int32_t part) {
    return !l->ranks || part % l->ranks->count == l->ranks->rank;
}

atn_status lattice_shared_take(atn_lattice *l, int32_t part, void *data, size_t bytes) {
    if (!l->ranks) return ATN_OK;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_RANKS);
    atn_status status = atn_ranks_broadcast(l->ranks, ATN_OK, part % l->ranks->count, data, bytes);
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

atn_status lattice_shared_same(atn_lattice *l, void *data, size_t bytes) {
    return lattice_shared_take(l, 0, data, bytes);
}

/* This rank's atoms of the batch, as if they were all of it. */
static atn_status run_own(atn_lattice *l, size_t from, size_t to) {
    lattice_near all = l->near, own = all;
    lattice_found *found = l->found;
    own.atoms = to - from;
    own.start += from;
    own.inner += from;
    own.hint += from;
    own.null += from;
    l->near = own;
    l->found = found + from * (size_t)l->info.models;
    atn_status status = own.atoms ? lattice_engine_start(l, &l->near) : ATN_OK;
    if (status == ATN_OK && own.atoms) status = lattice_engine_finish(l);
    l->near = all;
    l->found = found;
    return status;
}

atn_status lattice_engine_run(atn_lattice *l) {
    const atn_ranks *r = l->ranks;
    size_t n = l->near.atoms, each = (size_t)l->info.models * sizeof *l->found, most = 0;
    if (!r || n < LEAST * (size_t)r->count) {
        atn_status alone = lattice_engine_start(l, &l->near);
        return alone == ATN_OK ? lattice_engine_finish(l) : alone;
    }
    size_t from = atn_ranks_cut(r, n, r->rank), to = atn_ranks_cut(r, n, r->rank + 1);
    most = n / (size_t)r->count + 1;
    char *mine = atn_zalloc(l->ctx, most * each), *all = atn_alloc(l->ctx, most * each * (size_t)r->count);
    atn_status status = mine && all ? run_own(l, from, to) : ATN_ERR_MEMORY;
    if (status == ATN_OK) memcpy(mine, l->found + from * (size_t)l->info.models, (to - from) * each);
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_RANKS);
    status = atn_ranks_allgather(l->ranks, status, mine, most * each, all);
    lattice_spend_back(&l->spent, l->known, before);
    for (int32_t rank = 0; rank < r->count && status == ATN_OK && all; ++rank) {
        size_t first = atn_ranks_cut(r, n, rank), end = atn_ranks_cut(r, n, rank + 1);
        memcpy(l->found + first * (size_t)l->info.models, all + (size_t)rank * most * each, (end - first) * each);
    }
    atn_free(l->ctx, mine);
    atn_free(l->ctx, all);
    return status;
}
