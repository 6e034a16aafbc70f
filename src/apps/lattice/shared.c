/* Learning that is distributed over ranks. */
#include "apps/lattice/shared.h"

enum { LEAST = 16 }; /* atoms for each rank: fewer are searched before the others have answered */

atn_status lattice_shared_same(atn_lattice *l, void *data, size_t bytes) {
    if (!l->ranks) return ATN_OK;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_RANKS);
    atn_status status = atn_ranks_broadcast(l->ranks, ATN_OK, 0, data, bytes);
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

void lattice_shared_cut(const atn_lattice *l, size_t count, size_t *from, size_t *to) {
    *from = l->ranks ? atn_ranks_cut(l->ranks, count, l->ranks->rank) : 0;
    *to = l->ranks ? atn_ranks_cut(l->ranks, count, l->ranks->rank + 1) : count;
}

atn_status lattice_shared_join(atn_lattice *l, atn_status own, void *list, size_t count, size_t bytes) {
    if (!l->ranks) return own;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_RANKS);
    atn_status status = atn_ranks_fill(l->ranks, own, list, count, bytes);
    lattice_spend_back(&l->spent, l->known, before);
    return status;
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
    size_t n = l->near.atoms, from, to;
    if (!l->ranks || n < LEAST * (size_t)l->ranks->count) {
        atn_status alone = lattice_engine_start(l, &l->near);
        return alone == ATN_OK ? lattice_engine_finish(l) : alone;
    }
    lattice_shared_cut(l, n, &from, &to);
    atn_status status = run_own(l, from, to);
    return lattice_shared_join(l, status, l->found, n, (size_t)l->info.models * sizeof *l->found);
}
