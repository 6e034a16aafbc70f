/* Classification of atoms, on all cores: each by itself first; then the uncertain ones, from the orientations of
 * certain atoms around them, which are all known by then: boundaries have two sides. Results do not depend on the
 * number of cores. */
#include "apps/lattice/parts.h"

#include "apps/lattice/shared.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { STRETCH = 64, FEW_ATOMS = 4 }; /* atoms that one core goes through in their order; where that is any */
enum { AT_ONCE = 1, LONELY = 2 };     /* sure; no atom around is */
enum { MET = 16 };                    /* turns around an atom that are told apart without symmetry */
static const float CLOSE = 0.9998F;   /* cosine of half the angle between two of these that are one */

typedef struct judging {
    atn_lattice *l;
    const lattice_around *around;
    const size_t *which;
    atn_lattice_atom *out;
    size_t first, end; /* atoms of the batch that are looked at again here */
} judging;

/* An atom on no site may still fit a lattice better than chance does: then many neighbours stay without a site, or it
 * is far off its own. */
static const double FAR = 2.8, MANY = 2.5; /* deviations */
static const double MOSTLY = 0.6;          /* of the neighbours: whose lattice explains so many has its turn */
static const double FEW = 0.03;            /* share of atoms on no site, above which each atom is held against that */
static const float SETTLED = 0.98F;        /* confidence that the atom is on its site, to look no further */

static bool is_sure(const atn_lattice_atom *atom) { return atom->structure && atom->confidence >= LATTICE_SURE; }

static bool is_typical(const atn_lattice *l, size_t i, int32_t model) {
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double n = l->near.start[i + 1] - l->near.start[i], alone = n * l->info.background, shift = 0;
    for (int c = 0; c < 3; ++c) shift += (double)f->shift[c] * (double)f->shift[c];
    return shift < FAR * FAR * l->sharp * l->sharp && n - (double)f->weight < alone + MANY * sqrt(alone + 1);
}

static bool is_explained(const atn_lattice *l, size_t i, int32_t model) {
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    return (double)f->weight >= MOSTLY * (l->near.start[i + 1] - l->near.start[i]);
}

/* The lattice that was found, and no other, is around: whether the atom is on a site of it is all that is open. */
static bool is_alone(const atn_lattice *l, const lattice_around *around, size_t i) {
    uint32_t frequent = lattice_frequent(l);
    return around && l->info.background < FEW &&
           (around->followed ? l->near.hint[i].alone : (frequent & (frequent - 1)) == 0);
}

/* At a boundary many neighbours stay without a site though the atom is on its own; one that is far off its site may be
 * on none, which its own lattice tells: planes and other lattices need no look then. */
static bool is_settled(const atn_lattice *l, size_t i, atn_lattice_atom *atom) {
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)atom->phase - 1];
    double shift = 0;
    for (int c = 0; c < 3; ++c) shift += (double)f->shift[c] * (double)f->shift[c];
    if (!is_explained(l, i, atom->phase - 1) || lattice_is_uneven(l)) return false;
    if (shift < FAR * FAR * l->sharp * l->sharp) return true;
    if (!lattice_look_off(l, i, atom->phase - 1)) return false;
    lattice_judge(l, i, atom, NULL);
    return atom->structure && atom->confidence >= SETTLED && is_explained(l, i, atom->phase - 1);
}

/* Stretches: some atoms take much longer than others. */
static void judge_part(void *user, int64_t from, int64_t to) {
    const judging *j = user;
    for (size_t i = (size_t)from * STRETCH; i < (size_t)to * STRETCH && i < j->l->near.atoms; ++i) {
        atn_lattice_atom *atom = &j->out[j->which[i]];
        if (lattice_is_uneven(j->l)) lattice_look_closer(j->l, i, LATTICE_ALL);
        lattice_judge(j->l, i, atom, NULL);
        j->l->sure[i] = is_sure(atom) && (is_typical(j->l, i, atom->phase - 1) ||
                                          (is_alone(j->l, j->around, i) && is_settled(j->l, i, atom)));
        if (!j->around || !j->l->sure[i]) continue;
        int32_t site = j->around->cells->site[j->around->cells->rank[j->which[i]]];
        j->around->phase[site] = (unsigned char)(atom->phase | (j->around->followed ? LATTICE_NEW : 0));
    }
}

static void into_crystal(const atn_lattice_atom *atom, double turn[4]) {
    for (int k = 0; k < 4; ++k) turn[k] = k ? -(double)atom->quaternion[k] : (double)atom->quaternion[0];
}

static void remember(const atn_lattice *l, const atn_lattice_atom *atom, lattice_recent *recent) {
    double turn[4];
    into_crystal(atom, turn);
    lattice_remember(l, atom->phase - 1, turn, recent);
}

/* Atoms of a grain have few of all turns that are the same to its symmetry: those that were met need no look at that.
 */
typedef struct met {
    int32_t count, phase[MET];
    float turn[MET][4];
} met;

static bool is_met(const atn_lattice_atom *atom, met *of) {
    const float *q = atom->quaternion;
    for (int32_t k = 0; k < of->count; ++k) {
        const float *p = of->turn[k];
        if (atom->phase == of->phase[k] && fabsf(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]) > CLOSE)
            return true;
    }
    if (of->count == MET) return false;
    of->phase[of->count] = atom->phase;
    memcpy(of->turn[of->count++], q, sizeof *of->turn);
    return false;
}

/* Turns of sure atoms around one, those of the nearer ones first, and the later of them before the earlier. False:
 * there are none. */
static bool remember_around(const judging *j, size_t atom, lattice_recent *recent) {
    const lattice_around *a = j->around;
    int32_t site[ATN_LATTICE_MOST_NEIGHBOURS];
    float far[ATN_LATTICE_MOST_NEIGHBOURS], nearer = (float)(j->l->info.cutoff * j->l->info.cutoff);
    bool any = false;
    met seen;
    seen.count = 0;
    int32_t n = lattice_cells_sites(a->cells, atom, LATTICE_AROUND * j->l->info.cutoff, site, far);
    *recent = (lattice_recent){.near = true};
    for (int32_t k = 0; k < n; ++k) /* they lie here and there: their turns are on the way when they are needed */
        if (a->phase[site[k]]) __builtin_prefetch(j->out[a->first[site[k]]].quaternion);
    for (int outer = 0; outer < 2; ++outer)
        for (int32_t k = n - 1; k >= 0; --k) {
            if (!a->phase[site[k]] || (far[k] >= nearer) != outer) continue;
            const atn_lattice_atom *from = &j->out[a->first[site[k]]];
            double turn[4];
            any = true;
            if (is_met(from, &seen)) continue;
            into_crystal(from, turn);
            lattice_remember_last(j->l, from->phase - 1, turn, recent);
        }
    return any;
}

/* Atoms around have no other model. */
static bool is_only(const atn_lattice *l, const lattice_recent *recent, int32_t model) {
    for (int32_t m = 0; m < l->info.models; ++m)
        if ((recent->count[m] > 0) != (m == model)) return false;
    return l->info.background < FEW && !lattice_is_uneven(l);
}

static void look_again(const judging *j, size_t i, const lattice_recent *recent) {
    atn_lattice_atom *atom = &j->out[j->which[i]];
    uint32_t models = lattice_likely(j->l, i, recent);
    lattice_looked looked;
    lattice_look(j->l, i, recent, models, &looked);
    lattice_judge(j->l, i, atom, NULL);
    if (is_sure(atom) && is_typical(j->l, i, atom->phase - 1)) return;
    lattice_look_closer(j->l, i, models); /* tables are too coarse to hold it against an atom on no site */
    lattice_halving h;
    lattice_mixed(j->l, i, recent, models, &looked, &h);
    lattice_judge(j->l, i, atom, NULL);
    if (is_sure(atom) && is_only(j->l, recent, atom->phase - 1) && is_explained(j->l, i, atom->phase - 1) &&
        lattice_look_off(j->l, i, atom->phase - 1)) {
        lattice_judge(j->l, i, atom, NULL);
        if (atom->structure && atom->confidence >= SETTLED) return;
    }
    lattice_mixed_off(j->l, i, recent, &h);
    lattice_judge(j->l, i, atom, NULL);
}

/* Those around which some atom is sure; the others are LONELY. */
static void look_part(void *user, int64_t from, int64_t to) {
    const judging *j = user;
    for (size_t i = j->first + (size_t)from * FEW_ATOMS; i < j->first + (size_t)to * FEW_ATOMS && i < j->end; ++i) {
        lattice_recent around;
        if (j->l->sure[i]) continue;
        if (remember_around(j, j->which[i], &around))
            look_again(j, i, &around);
        else
            j->l->sure[i] = LONELY;
    }
}

/* They have the turns of those that were of late, in a stretch. */
static void look_late(void *user, int64_t from, int64_t to) {
    const judging *j = user;
    for (int64_t s = from; s < to; ++s) {
        size_t begin = (size_t)s * STRETCH, end = begin + STRETCH;
        lattice_recent late = j->l->recent;
        for (size_t i = begin; i < end && i < j->l->near.atoms; ++i) {
            const atn_lattice_atom *atom = &j->out[j->which[i]];
            if (j->l->sure[i] == AT_ONCE) continue;
            if (j->l->sure[i] == LONELY) look_again(j, i, &late);
            if (is_sure(atom) && is_typical(j->l, i, atom->phase - 1)) remember(j->l, atom, &late);
        }
    }
}

void lattice_judge_first(atn_lattice *l, const lattice_around *around, const size_t *which, atn_lattice_atom *out) {
    judging j = {l, around, which, out, 0, 0};
    lattice_note_shares(l);
    size_t n = l->near.atoms;
    atn_parallel_pieces((int64_t)((n + STRETCH - 1) / STRETCH), judge_part, &j);
    for (size_t i = n > STRETCH ? n - STRETCH : 0; i < n && around; ++i)
        if (l->sure[i]) remember(l, &out[which[i]], &l->recent);
}

static void look_at_some(judging *j) {
    atn_parallel_pieces((int64_t)((j->end - j->first + FEW_ATOMS - 1) / FEW_ATOMS), look_part, j);
}

static void look_at_lonely(judging *j) {
    atn_lattice *l = j->l;
    size_t lonely = 0;
    for (size_t i = 0; i < l->near.atoms; ++i) lonely += l->sure[i] == LONELY;
    if (lonely) atn_parallel_pieces((int64_t)((l->near.atoms + STRETCH - 1) / STRETCH), look_late, j);
    for (size_t i = 0; i < l->near.atoms; ++i) l->sure[i] = l->sure[i] == AT_ONCE;
}

void lattice_judge_again(atn_lattice *l, const lattice_around *around, const size_t *which, atn_lattice_atom *out) {
    judging j = {l, around, which, out, 0, l->near.atoms};
    lattice_note_shares(l);
    look_at_some(&j);
    look_at_lonely(&j);
}

atn_status lattice_judge_shared(atn_lattice *l, const lattice_around *around, const size_t *which,
                                atn_lattice_atom *out) {
    size_t n = l->near.atoms;
    judging j = {l, around, which, out, 0, n};
    atn_lattice_atom *atom = atn_alloc(l->ctx, (n + 1) * sizeof *atom);
    lattice_shared_cut(l, n, &j.first, &j.end);
    lattice_note_shares(l);
    if (atom) look_at_some(&j);
    for (size_t i = j.first; i < j.end && atom; ++i) atom[i] = out[which[i]];
    atn_status status = lattice_shared_join(l, atom ? ATN_OK : ATN_ERR_MEMORY, atom, n, sizeof *atom);
    if (status == ATN_OK) status = lattice_shared_join(l, status, l->sure, n, sizeof *l->sure);
    if (status == ATN_OK)
        status = lattice_shared_join(l, status, l->found, n, (size_t)l->info.models * sizeof *l->found);
    for (size_t i = 0; i < n && status == ATN_OK && atom; ++i) out[which[i]] = atom[i];
    if (status == ATN_OK) look_at_lonely(&j);
    atn_free(l->ctx, atom);
    return status;
}

atn_status lattice_judge_end(const atn_lattice *l, size_t i, atn_lattice_atom *out) {
    return l->settings.exact && out->structure ? lattice_exact(l, i, out) : ATN_OK;
}
