/* The judgement over a batch, on all cores: each atom by itself first; then those that are not sure, from the turns of
 * sure atoms shortly before them. What an atom is told depends on the batch only, not on how many cores there are. */
#include "apps/lattice/lattice.h"

#include "base/parallel.h"

#include <math.h>

enum { STRETCH = 64 }; /* atoms that one core goes through in their order */

typedef struct judging {
    atn_lattice *l;
    const size_t *which;
    atn_lattice_atom *out;
} judging;

/* An atom on no site may still fit a lattice better than chance does: then many neighbours stay without a site, or it
 * is far off its own. */
static const double FAR = 2.8, MANY = 2.5; /* deviations */

static bool is_sure(const atn_lattice_atom *atom) { return atom->structure && atom->confidence >= LATTICE_SURE; }

static bool is_typical(const atn_lattice *l, size_t i, int32_t model) {
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double n = l->near.start[i + 1] - l->near.start[i], alone = n * l->info.background, shift = 0;
    for (int c = 0; c < 3; ++c) shift += (double)f->shift[c] * (double)f->shift[c];
    return shift < FAR * FAR * l->sharp * l->sharp && n - (double)f->weight < alone + MANY * sqrt(alone + 1);
}

static void judge_part(void *user, int64_t from, int64_t to, int32_t worker) {
    const judging *j = user;
    (void)worker;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        atn_lattice_atom *atom = &j->out[j->which[i]];
        if (lattice_is_uneven(j->l)) lattice_look(j->l, i, NULL, true);
        lattice_judge(j->l, i, atom, NULL);
        j->l->sure[i] = is_sure(atom) && is_typical(j->l, i, atom->phase - 1);
    }
}

/* Turns of those that were sure at first in the stretch before atom `end`. */
static void remember_before(const judging *j, size_t end, lattice_recent *recent) {
    for (size_t i = end > STRETCH ? end - STRETCH : 0; i < end; ++i)
        if (j->l->sure[i]) lattice_remember(j->l, i, j->out[j->which[i]].phase - 1, recent);
}

static void look_again(const judging *j, size_t from, size_t to, lattice_recent *recent) {
    for (size_t i = from; i < to; ++i) {
        atn_lattice_atom *atom = &j->out[j->which[i]];
        if (!is_sure(atom)) {
            lattice_look(j->l, i, recent, false);
            lattice_judge(j->l, i, atom, NULL);
        }
        if (is_sure(atom) && is_typical(j->l, i, atom->phase - 1)) {
            lattice_remember(j->l, i, atom->phase - 1, recent);
            continue;
        }
        if (!is_sure(atom)) lattice_mixed(j->l, i);
        lattice_look_off(j->l, i, recent);
        lattice_judge(j->l, i, atom, NULL);
    }
}

static void look_part(void *user, int64_t from, int64_t to, int32_t worker) {
    const judging *j = user;
    (void)worker;
    for (int64_t s = from; s < to; ++s) {
        size_t begin = (size_t)s * STRETCH, end = begin + STRETCH, i = begin;
        if (end > j->l->near.atoms) end = j->l->near.atoms;
        while (i < end && j->l->sure[i]) ++i;
        if (i == end) continue;
        lattice_recent recent = j->l->recent;
        remember_before(j, begin, &recent);
        look_again(j, begin, end, &recent);
    }
}

atn_status lattice_judge_batch(atn_lattice *l, const size_t *which, atn_lattice_atom *out) {
    judging j = {l, which, out};
    int64_t atoms = (int64_t)l->near.atoms;
    atn_status status = ATN_OK;
    atn_parallel(atoms, STRETCH, judge_part, &j);
    if (!l->alone) {
        atn_parallel((atoms + STRETCH - 1) / STRETCH, 1, look_part, &j);
        remember_before(&j, l->near.atoms, &l->recent);
    }
    for (size_t i = 0; i < l->near.atoms; ++i)
        out[which[i]].confidence = lattice_confidence(l, out[which[i]].confidence);
    for (size_t i = 0; i < l->near.atoms && status == ATN_OK && l->settings.exact; ++i)
        if (out[which[i]].structure) status = lattice_exact(l, i, &out[which[i]]);
    l->near.atoms = 0;
    return status;
}
