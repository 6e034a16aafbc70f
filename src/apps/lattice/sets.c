/* Neighbourhoods that come one by one: each is matched on its own, by the average over all rotations. The shares of the
 * models are half those that make a sample of them likely, by EM, and half even: few neighbours tell little of shares.
 */
#include "apps/lattice/order.h"
#include "apps/lattice/parts.h"

#include "base/memory.h"

static void add_set(atn_lattice *l, const lattice_sets *sets, size_t set) {
    int32_t at = l->near.start[l->near.atoms];
    at += lattice_set_near(sets, set, l->info.cutoff, l->near.axis[0] + at, l->near.axis[1] + at, l->near.axis[2] + at);
    lattice_near_add(&l->near, at, at);
}

static atn_status open(atn_lattice *l, const lattice_sets *sets) {
    atn_status status = lattice_order_check(l, NULL);
    double noise = 0;
    if (status == ATN_OK) status = lattice_sets_learn(l, sets, &noise);
    if (status != ATN_OK) return status;
    l->inner = l->info.cutoff * 1.01;
    lattice_even_shares(l, 0.003);
    l->info.background = 1e-9;
    l->temper = 1;
    l->fine = 2; /* the average over rotations is all there is */
    l->known = l->alone = l->info.estimated = true;
    status = lattice_engine_open(l);
    return status == ATN_OK ? lattice_sets_weigh(l, noise) : status;
}

static atn_status run_batch(atn_lattice *l, const size_t *which, atn_lattice_atom *out) {
    atn_status status = l->near.atoms ? lattice_engine_run(l) : ATN_OK;
    if (status == ATN_OK) lattice_judge_first(l, NULL, which, out);
    for (size_t i = 0; i < l->near.atoms && status == ATN_OK; ++i) {
        atn_lattice_atom *atom = &out[which[i]];
        status = lattice_judge_end(l, i, atom);
        atom->confidence = lattice_confidence(l, atom->structure == 0, atom->confidence);
    }
    l->near.atoms = 0;
    return status;
}

atn_status atn_lattice_match_sets(atn_lattice *l, size_t sets, const size_t *start, const double *const position[3],
                                  double angstrom, atn_lattice_atom *out) {
    const lattice_sets all = {sets, start, position, angstrom};
    atn_status status = l->known && l->ready ? ATN_OK : open(l, &all);
    if (status != ATN_OK) return status;
    size_t *which = atn_alloc(l->ctx, (size_t)l->batch * sizeof *which);
    if (!which) return ATN_ERR_MEMORY;
    double sum = 0;
    for (size_t s = 0; s < sets && status == ATN_OK; ++s) {
        int32_t before = l->near.start[l->near.atoms];
        which[l->near.atoms] = s;
        add_set(l, &all, s);
        sum += l->near.start[l->near.atoms] - before;
        if (lattice_batch_is_full(l)) status = run_batch(l, which, out);
    }
    if (status == ATN_OK) status = run_batch(l, which, out);
    if (sets) l->info.neighbours = sum / (double)sets;
    l->near.atoms = 0;
    atn_free(l->ctx, which);
    return status;
}
