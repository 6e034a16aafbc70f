/* Uncertain atoms wait until all atoms around them are matched; meanwhile the results of the kernels for them are kept.
 * Atoms are processed in layers of cells, so only a few layers wait at a time. */
#include "apps/lattice/parts.h"

#include "base/memory.h"

#include <string.h>

enum { MOST = 4096 }; /* that are looked at together */

atn_status lattice_late_add(const atn_lattice *l, size_t i, size_t atom, lattice_late *late) {
    size_t row = (size_t)l->info.models * sizeof *late->found;
    atn_status status = atn_grow(l->ctx, (void **)&late->which, &late->which_room, late->count, sizeof *late->which);
    if (status == ATN_OK) status = atn_grow(l->ctx, (void **)&late->found, &late->found_room, late->count, row);
    if (status != ATN_OK) return status;
    late->which[late->count] = atom;
    memcpy(late->found + late->count * (size_t)l->info.models, l->found + i * (size_t)l->info.models, row);
    ++late->count;
    return ATN_OK;
}

static atn_status open(const atn_lattice *l, lattice_late *late) {
    size_t batch = l->batch < MOST ? (size_t)l->batch : MOST;
    if (late->near.start) return ATN_OK;
    late->batch = batch;
    return lattice_near_make(l->ctx, batch, batch * 64 + ATN_LATTICE_MOST_NEIGHBOURS, &late->near);
}

static int64_t layer_of(const lattice_cells *c, size_t atom) {
    return (int64_t)((double)c->axis[2][c->site[c->rank[atom]]] / c->edge);
}

/* Some of those from `from` on, which it takes the place of the batch for; *to is behind the last. */
static atn_status look_at(atn_lattice *l, const lattice_around *around, lattice_late *late, size_t from, size_t end,
                          size_t *to, atn_lattice_atom *out) {
    atn_status status = ATN_OK;
    lattice_near near = l->near;
    lattice_found *found = l->found;
    l->near = late->near;
    l->found = late->found + from * (size_t)l->info.models;
    size_t count = end - from < late->batch ? end - from : late->batch;
    *to = from + lattice_near_fill(l, around->cells, late->which + from, count, NULL, &l->near);
    memset(l->sure, 0, l->near.atoms);
    lattice_judge_again(l, around, late->which + from, out);
    for (size_t i = 0; i < l->near.atoms && status == ATN_OK; ++i) {
        atn_lattice_atom *atom = &out[late->which[from + i]];
        if (around->doubt > 0 && (!atom->structure || atom->confidence < around->doubt)) continue;
        around->told[around->cells->site[around->cells->rank[late->which[from + i]]]] = 1;
        status = lattice_judge_end(l, i, atom);
    }
    l->near = near;
    l->found = found;
    return status;
}

atn_status lattice_late_look(atn_lattice *l, const lattice_around *around, lattice_late *late, const size_t *last,
                             atn_lattice_atom *out) {
    size_t end = late->count, from = 0, models = (size_t)l->info.models;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_WAITING);
    atn_status status = open(l, late);
    if (last) { /* of the layers before the last two all atoms around are matched */
        int64_t layer = layer_of(around->cells, *last);
        for (end = 0; end < late->count && layer_of(around->cells, late->which[end]) + 2 < layer;) ++end;
    }
    while (from < end && status == ATN_OK) {
        status = atn_check_cancel(l->ctx);
        if (status == ATN_OK) status = look_at(l, around, late, from, end, &from, out);
    }
    lattice_spend_back(&l->spent, l->known, before);
    if (end == 0) return status;
    late->count -= end;
    memmove(late->which, late->which + end, late->count * sizeof *late->which);
    memmove(late->found, late->found + end * models, late->count * models * sizeof *late->found);
    return status;
}

void lattice_late_free(const atn_lattice *l, lattice_late *late) {
    atn_free(l->ctx, late->which);
    atn_free(l->ctx, late->found);
    lattice_near_free(l->ctx, &late->near);
    *late = (lattice_late){0};
}
