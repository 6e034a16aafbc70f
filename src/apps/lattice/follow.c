/* Atoms of a grain share their orientation: an atom tries the rotation of a certain atom near it, with a few EM steps
 * of one model, and all rotations of all models are searched only if that does not explain it. What the other models
 * would reach is taken from made atoms of which all rotations were searched: of the nats by which the right model beats
 * the null model, it beats model b by a share, of which the least but for some count (lattice_rivals). */
#include "apps/lattice/parts.h"

#include "base/compare.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, LEAST = 40, ROWS = 1 << 11 }; /* ROWS: for which a core is worth waking */
enum { WORD = 64, WORDS = 1 << 9 };             /* sites of a word of bits; words for which a core is worth waking */
static const double LOW = 0.01;                 /* of the made atoms have a smaller share */
static const double MANY = 0.3;                 /* of a made frame must be sure at once, or few would be explained */

/* ---- what other models would reach ---- */

/* The share of model b where model a is right, from the sure atoms of the batch; 0: too few. */
static double share_of(const atn_lattice *l, const unsigned char *sure, int32_t a, int32_t b, double *list) {
    size_t count = 0;
    for (size_t i = 0; i < l->near.atoms; ++i) {
        double term[ATN_LATTICE_MOST_MODELS + 1];
        if (!sure[i]) continue;
        int32_t best = lattice_terms(l, i, term);
        double gain = term[best] - term[0];
        if (best - 1 == a && gain > 0) list[count++] = (gain - (term[b + 1] - term[0])) / gain;
    }
    if (count < LEAST) return 0;
    qsort(list, count, sizeof *list, atn_ascending_double);
    return fmax(list[(size_t)(LOW * (double)count)], 0);
}

atn_status lattice_rivals(atn_lattice *l, const unsigned char *sure) {
    double *list = atn_alloc(l->ctx, (l->near.atoms + 1) * sizeof *list);
    size_t count = 0;
    if (!list) return ATN_ERR_MEMORY;
    for (size_t i = 0; i < l->near.atoms; ++i) count += sure[i] != 0;
    bool many = (double)count > MANY * (double)l->near.atoms && !lattice_is_uneven(l);
    for (int32_t a = 0; a < l->info.models; ++a) {
        l->follows[a] = many;
        for (int32_t b = 0; b < l->info.models; ++b) {
            if (a == b || !l->follows[a]) continue;
            l->rival[a][b] = share_of(l, sure, a, b, list);
            l->follows[a] = l->rival[a][b] > 0;
        }
    }
    if (l->info.models == 1) l->follows[0] = many;
    atn_free(l->ctx, list);
    return ATN_OK;
}

bool lattice_can_follow(const atn_lattice *l) {
    for (int32_t m = 0; m < l->info.models; ++m)
        if (l->follows[m]) return true;
    return false;
}

/* ---- which turn ---- */

static bool same_lattice(const atn_lattice *l, const atn_lattice_atom *a, const atn_lattice_atom *b) {
    double p[4], q[4];
    if (a->phase != b->phase) return false;
    for (int k = 0; k < 4; ++k) { /* into the crystal */
        p[k] = k ? -(double)a->quaternion[k] : (double)a->quaternion[0];
        q[k] = k ? -(double)b->quaternion[k] : (double)b->quaternion[0];
    }
    return lattice_turn_is(&l->slot[a->phase - 1], p, q);
}

/* The one of the list that is nearest to a site and whose lattice is not that of `but`; -1: none. */
static int32_t nearest_sure(const atn_lattice *l, const lattice_around *a, int32_t own, const lattice_sure *list,
                            const atn_lattice_atom *out, const atn_lattice_atom *but) {
    const lattice_cells *c = a->cells;
    const float p[3] = {c->axis[0][own], c->axis[1][own], c->axis[2][own]};
    int32_t best = -1;
    float least = INFINITY;
    for (int32_t k = 0; k < list->count; ++k) {
        float square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            float d = list->axis[axis][k] - p[axis];
            square += d * d;
        }
        if (square >= least || list->site[k] == own) continue;
        if (but && same_lattice(l, &out[a->first[list->site[k]]], but)) continue;
        least = square;
        best = list->site[k];
    }
    return best;
}

static void list_one(const lattice_around *a, int32_t site, lattice_sure *list) {
    for (int axis = 0; axis < 3; ++axis) list->axis[axis][list->count] = a->cells->axis[axis][site];
    list->site[list->count++] = site;
    list->phases |= 1u << (a->phase[site] - 1);
}

/* Sure atoms of the cells around, which atoms of one cell share; of very many some at the end are left out. */
static void list_sure(const lattice_around *a, int32_t own, int32_t cells, lattice_sure *list) {
    int32_t from[LATTICE_ROWS], end[LATTICE_ROWS];
    int64_t at[3];
    lattice_cells_at(a->cells, own, at);
    if (list->known && at[0] == list->at[0] && at[1] == list->at[1] && at[2] == list->at[2]) return;
    int32_t rows = lattice_cells_rows(a->cells, own, cells, from, end);
    list->known = true;
    list->count = 0;
    list->phases = 0;
    for (int axis = 0; axis < 3; ++axis) list->at[axis] = at[axis];
    for (int32_t r = 0; r < rows; ++r)
        for (int32_t word = from[r] / WORD; word * WORD < end[r]; ++word) {
            uint64_t bits = a->sure[word];
            if (word * WORD < from[r]) bits &= ~(uint64_t)0 << (from[r] - word * WORD);
            if (end[r] - word * WORD < WORD) bits &= ((uint64_t)1 << (end[r] - word * WORD)) - 1;
            for (; bits && list->count < LATTICE_SURE_LISTED; bits &= bits - 1)
                list_one(a, word * WORD + __builtin_ctzll(bits), list);
        }
}

typedef struct marking {
    const atn_lattice *l;
    const lattice_around *around;
} marking;

static void mark_part(void *user, int64_t from, int64_t to) {
    const marking *m = user;
    const lattice_around *a = m->around;
    int32_t sites = a->cells->start[a->cells->cells];
    for (int32_t word = (int32_t)from; word < (int32_t)to; ++word) {
        uint64_t bits = 0;
        for (int32_t k = 0; k < WORD && word * WORD + k < sites; ++k) {
            int32_t phase = a->phase[word * WORD + k];
            if (phase && !(phase & LATTICE_NEW) && m->l->follows[phase - 1]) bits |= (uint64_t)1 << k;
        }
        a->sure[word] = bits;
    }
}

void lattice_around_mark(const atn_lattice *l, const lattice_around *around) {
    marking m = {l, around};
    atn_parallel((around->cells->start[around->cells->cells] + WORD - 1) / WORD, WORDS, mark_part, &m);
}

void lattice_hint_make(const atn_lattice *l, const lattice_around *a, size_t atom, int32_t cells, int32_t which,
                       const atn_lattice_atom *out, lattice_sure *list, lattice_hint *hint) {
    int32_t own = a->cells->site[a->cells->rank[atom]];
    list_sure(a, own, cells, list);
    int32_t at = nearest_sure(l, a, own, list, out, NULL);
    hint->model = -1;
    if (which && at >= 0) at = nearest_sure(l, a, own, list, out, &out[a->first[at]]);
    if (at < 0) return;
    const atn_lattice_atom *from = &out[a->first[at]];
    hint->model = from->phase - 1;
    hint->alone = (list->phases & (list->phases - 1)) == 0;
    for (int k = 0; k < 4; ++k) hint->turn[k] = k ? -from->quaternion[k] : from->quaternion[k]; /* into the crystal */
}

/* ---- the steps ---- */

/* What parts of a loop over the rows of a batch need. */
typedef struct hinting {
    const lattice_near *near;
    int32_t model;
    float *turn[4];
    int32_t *end;
} hinting;

static void hint_part(void *user, int64_t from, int64_t to) {
    const hinting *h = user;
    const lattice_near *near = h->near;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        bool is = i < near->atoms && near->hint[i].model == h->model;
        h->end[i] = is ? near->start[i + 1] : i < near->atoms ? near->start[i] : 0;
        for (int k = 0; k < 4; ++k) h->turn[k][i] = is ? near->hint[i].turn[k] : (float)(k == 0);
    }
}

atn_status lattice_follow_start(atn_lattice *l, const lattice_near *near) {
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_STARTED);
    atn_status status = atn_check_cancel(l->ctx);
    if (status == ATN_OK) status = lattice_engine_put(l, near);
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
        lattice_slot *s = &l->slot[m];
        void *to[4] = {NULL}, *end = NULL;
        if (!near->hinted[m]) continue;
        for (int k = 0; k < 4 && status == ATN_OK; ++k) status = atn_array_map_write(s->follow.q[k], &to[k]);
        if (status == ATN_OK) status = atn_array_map_write(s->follow.end, &end);
        hinting h = {near, m, {to[0], to[1], to[2], to[3]}, end};
        if (status == ATN_OK) atn_parallel(l->batch, ROWS, hint_part, &h);
        for (int k = 0; k < STEPS && status == ATN_OK; ++k) status = atn_kernel_run(s->follow.kernel[k > 0]);
        if (status == ATN_OK) status = atn_array_fetch(s->follow.turns, NULL);
        if (status == ATN_OK) status = atn_array_fetch(s->follow.found, NULL);
    }
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

/* What the hinted model found; the others what they would have at most. */
static void take(const atn_lattice *l, size_t i, const lattice_seen *v, lattice_found *found) {
    int32_t own = l->near.hint[i].model;
    double term[ATN_LATTICE_MOST_MODELS + 1];
    for (int32_t m = 0; m < l->info.models; ++m) {
        found[m] = (lattice_found){.evidence = 0, .background = -INFINITY, .part = -1};
        found[m].quaternion[0] = 1;
    }
    lattice_found *f = &found[own];
    f->around = (float)lattice_engine_around(l, &l->slot[own], v, i);
    f->evidence = v->fit[0][i] + f->around;
    for (int k = 0; k < 3; ++k) f->shift[k] = v->shift[k][i];
    for (int k = 0; k < 4; ++k) f->quaternion[k] = v->q[k][i];
    f->weight = v->fit[1][i];
    f->spread = v->fit[2][i];
    lattice_terms(l, i, term);
    double gain = term[own + 1] - term[0];
    for (int32_t m = 0; m < l->info.models; ++m)
        if (m != own) found[m].evidence = (float)(term[own + 1] - l->rival[own][m] * fmax(gain, 0) - term[m + 1]);
}

/* What parts of a loop over the atoms of a batch need. */
typedef struct taking {
    atn_lattice *l;
    lattice_seen seen[ATN_LATTICE_MOST_MODELS];
} taking;

static void take_part(void *user, int64_t from, int64_t to) {
    const taking *t = user;
    for (size_t i = (size_t)from; i < (size_t)to; ++i)
        take(t->l, i, &t->seen[t->l->near.hint[i].model], &t->l->found[i * (size_t)t->l->info.models]);
}

atn_status lattice_follow_finish(atn_lattice *l) {
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_KERNELS);
    atn_status status = ATN_OK;
    taking t = {.l = l};
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m)
        if (l->near.hinted[m]) status = lattice_engine_see(&l->slot[m].follow, &t.seen[m]);
    if (status == ATN_OK) atn_parallel((int64_t)l->near.atoms, LATTICE_PART, take_part, &t);
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}
