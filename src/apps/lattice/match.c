/* The atoms of a slab, batch by batch, in passes: some atoms distributed over the slab are searched (seeds), then atoms
 * try the rotations of certain ones near them, and those that this does not explain are searched as seeds were and,
 * where they are not sure, wait for those around them. While the device works on a batch, the host judges the one
 * before and finds the neighbours of the one behind. */
#include "apps/lattice/order.h"
#include "apps/lattice/parts.h"

#include "base/attempt.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <string.h>

/* A pass: which atoms take part, and which rotation is tried; if there is none, all are searched. */
typedef struct pass {
    bool seeds, follow;
    bool late;     /* uncertain atoms wait for those around them */
    bool some;     /* of the models, those that are frequent, are searched for: who stays in doubt has another pass */
    int32_t cells; /* certain atoms are at most this many away */
    int32_t which; /* turn: that of the nearest one, or of the nearest with another */
} pass;
static const pass PASSES[] = {{.seeds = true},
                              {.follow = true, .cells = 2},
                              {.follow = true, .cells = 1},
                              {.follow = true, .cells = 1, .which = 1},
                              {.late = true, .some = true},
                              {.late = true}};
static const float DOUBT = 0.95F;
enum { LAST = sizeof PASSES / sizeof *PASSES - 1 };
enum { SITES = 1 << 14, PIECE = 128 }; /* sites for which a core is worth waking; atoms that one takes at a time */

/* Turns to try, of the next batch. */
typedef struct hinting {
    const atn_lattice *l;
    const size_t *which;
    size_t count;
    const pass *pass;
    const lattice_around *around;
    const atn_lattice_atom *out;
} hinting;

static void hint_part(void *user, int64_t from, int64_t to) {
    const hinting *f = user;
    lattice_sure list;
    list.known = false;
    for (size_t i = (size_t)from * PIECE; i < (size_t)to * PIECE && i < f->count; ++i)
        lattice_hint_make(f->l, f->around, f->which[i], f->pass->cells, f->pass->which, f->out, &list,
                          &f->l->next.hint[i]);
}

/* What is worked on: the slab, the pass, the places of two batches. */
typedef struct job {
    atn_lattice *l;
    lattice_around *around;
    const unsigned char *seed; /* of a site */
    const pass *pass;
    int32_t *open;     /* positions, in the order of the cells, of atoms that are not classified yet, ascending */
    size_t n_open, at; /* at: those of them that were looked at in this pass */
    size_t *which, *next;
    size_t *place; /* where each of `next` is among the open ones */
    lattice_late late;
    atn_lattice_atom *out;
} job;

/* Stretches of the list of open ones, each of which keeps some at its beginning. */
typedef struct keeping {
    job *j;
    bool all; /* of all places the first list is made */
    size_t count;
    int64_t stretches;
    size_t kept[ATN_PARALLEL_MOST];
} keeping;

/* Of several atoms at one site, the first one that belongs to the slab. Those that earlier passes classified are not in
 * the next. */
static void keep_stretch(void *user, int64_t first, int64_t last) {
    keeping *x = user;
    const lattice_around *a = x->j->around;
    const lattice_cells *c = a->cells;
    for (int64_t s = first; s < last; ++s) {
        size_t begin = lattice_stretch_begin(x->count, x->stretches, s), kept = begin;
        for (size_t k = begin; k < lattice_stretch_begin(x->count, x->stretches, s + 1); ++k) {
            int32_t at = x->all ? (int32_t)k : x->j->open[k], site = c->site[at];
            x->j->open[kept] = at;
            kept += x->all ? a->first[site] == c->order[at] : !(a->phase[site] | a->told[site]);
        }
        x->kept[s] = kept - begin;
    }
}

static void keep_open(job *j, bool all) {
    keeping x = {.j = j, .all = all, .count = all ? j->around->cells->atoms : j->n_open};
    x.stretches = lattice_stretches(x.count, 1);
    atn_parallel(x.stretches, 1, keep_stretch, &x);
    j->n_open = 0;
    for (int64_t s = 0; s < x.stretches; ++s) {
        memmove(j->open + j->n_open, j->open + lattice_stretch_begin(x.count, x.stretches, s),
                x.kept[s] * sizeof *j->open);
        j->n_open += x.kept[s];
    }
}

/* Those that have a turn to try come to the front. */
static size_t hint(const job *j, hinting *f, size_t count) {
    lattice_near *next = &j->l->next;
    size_t kept = 0;
    f->count = count;
    memset(next->hinted, 0, sizeof next->hinted);
    atn_parallel_pieces((int64_t)((count + PIECE - 1) / PIECE), hint_part, f);
    for (size_t i = 0; i < count; ++i) {
        if (next->hint[i].model < 0) continue;
        ++next->hinted[next->hint[i].model];
        if (kept < i) next->hint[kept] = next->hint[i];
        j->place[kept] = j->place[i];
        j->next[kept++] = j->next[i];
    }
    return kept;
}

/* The next atoms in the order of the cells, as many as there is room for: neighbours of one are still in the caches for
 * the next. */
static atn_status find(job *j) {
    atn_lattice *l = j->l;
    float *stage[3];
    const lattice_cells *cells = j->around->cells;
    hinting f = {l, j->next, 0, j->pass, j->around, j->out};
    size_t count = 0;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_HINTS);
    do {
        for (count = 0; j->at < j->n_open && count < (size_t)l->batch; ++j->at) {
            if (j->pass->seeds && !j->seed[cells->site[j->open[j->at]]]) continue;
            j->place[count] = j->at;
            j->next[count++] = (size_t)cells->order[j->open[j->at]];
        }
        if (j->pass->follow) count = hint(j, &f, count);
    } while (count == 0 && j->at < j->n_open);
    lattice_spend(&l->spent, l->known, LATTICE_NEARBY);
    atn_status status = lattice_engine_stage(l, stage);
    size_t n = status == ATN_OK ? lattice_near_fill(l, cells, j->next, count, stage[0] ? stage : NULL, &l->next) : 0;
    lattice_spend_back(&l->spent, l->known, before);
    if (n < count) j->at = j->place[n];
    return status;
}

/* ---- a pass ---- */

static atn_status end_part(void *user, int64_t from, int64_t to) {
    const job *j = user;
    atn_status status = ATN_OK;
    for (size_t i = (size_t)from; i < (size_t)to && status == ATN_OK; ++i)
        if (j->l->sure[i]) status = lattice_judge_end(j->l, i, &j->out[j->which[i]]);
    return status;
}

/* l->near, which is then empty: certain atoms are classified; in the last pass the others wait. */
static atn_status judge(job *j) {
    atn_lattice *l = j->l;
    bool last = j->pass->late;
    size_t n = l->near.atoms;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_JUDGED);
    lattice_judge_first(l, j->around, j->which, j->out);
    atn_status status = atn_attempt(l->ctx, (int64_t)n, LATTICE_PART, end_part, j);
    for (size_t i = 0; i < n && last && status == ATN_OK; ++i)
        if (!l->sure[i]) status = lattice_late_add(l, i, j->which[i], &j->late);
    l->near.atoms = 0;
    lattice_spend_back(&l->spent, l->known, before);
    return status == ATN_OK && n && last ? lattice_late_look(l, j->around, &j->late, &j->which[n - 1], j->out) : status;
}

static atn_status run(job *j, const pass *p) {
    atn_lattice *l = j->l;
    j->pass = p;
    j->around->followed = p->follow;
    j->around->doubt = p->some ? DOUBT : 0;
    j->l->search = p->some ? lattice_frequent(l) : LATTICE_ALL;
    j->at = 0;
    keep_open(j, false);
    if (p->follow) lattice_around_mark(l, j->around);
    atn_status status = find(j);
    while (status == ATN_OK && l->near.atoms + l->next.atoms > 0) {
        status = atn_tell_progress(l->ctx, l->known ? "matching" : "calibrating",
                                   (p - PASSES) * (int64_t)j->n_open + (int64_t)j->at, (LAST + 1) * (int64_t)j->n_open);
        if (status == ATN_OK && l->near.atoms) status = p->follow ? lattice_follow_finish(l) : lattice_engine_finish(l);
        if (status == ATN_OK && l->next.atoms)
            status = p->follow ? lattice_follow_start(l, &l->next) : lattice_engine_start(l, &l->next);
        if (status == ATN_OK) status = judge(j);
        lattice_near near = l->near;
        size_t *list = j->which;
        l->near = l->next, l->next = near;
        j->which = j->next, j->next = list;
        if (status == ATN_OK) status = find(j);
    }
    l->next.atoms = 0;
    lattice_around_settle(j->around);
    return status == ATN_OK && p->late ? lattice_late_look(l, j->around, &j->late, NULL, j->out) : status;
}

/* One atom of every eighth cell, counted from the first that the slab's own atoms lie in: there may be a single layer
 * of them between those of the halo. */
typedef struct seeding {
    const lattice_around *around;
    unsigned char *seed;
    int64_t low[3];
} seeding;

static int64_t layer_of(const lattice_cells *c, int axis, int32_t site) {
    return (int64_t)((double)c->axis[axis][site] / c->edge);
}

/* The first site of a cell that the slab's own atoms have; -1: none. */
static int32_t own_site(const lattice_around *a, size_t cell) {
    for (int32_t site = a->cells->start[cell]; site < a->cells->start[cell + 1]; ++site)
        if (a->first[site] >= 0) return site;
    return -1;
}

static void find_low(seeding *x) {
    const lattice_cells *c = x->around->cells;
    for (int axis = 0; axis < 3; ++axis) x->low[axis] = INT64_MAX;
    for (size_t k = 0; k < c->cells; ++k) {
        int32_t site = own_site(x->around, k);
        for (int axis = 0; axis < 3 && site >= 0; ++axis) {
            int64_t layer = layer_of(c, axis, site);
            if (layer < x->low[axis]) x->low[axis] = layer;
        }
    }
}

static void seed_part(void *user, int64_t from, int64_t to) {
    const seeding *x = user;
    for (int64_t k = from; k < to; ++k) {
        int32_t site = own_site(x->around, (size_t)k);
        bool even = site >= 0;
        for (int axis = 0; axis < 3 && even; ++axis)
            even = (layer_of(x->around->cells, axis, site) - x->low[axis]) % 2 == 0;
        if (even) x->seed[site] = 1;
    }
}

static atn_status match_own(job *j) {
    const lattice_cells *cells = j->around->cells;
    unsigned char *seed = atn_zalloc(cells->ctx, (size_t)cells->start[cells->cells] + 1);
    bool follow = lattice_can_follow(j->l);
    j->open = atn_alloc(cells->ctx, (cells->atoms + 1) * sizeof *j->open);
    atn_status status = seed && j->open ? ATN_OK : ATN_ERR_MEMORY;
    seeding seeds = {.around = j->around, .seed = seed};
    if (status == ATN_OK && follow) find_low(&seeds);
    if (status == ATN_OK && follow) atn_parallel((int64_t)cells->cells, SITES, seed_part, &seeds);
    if (status == ATN_OK) keep_open(j, true);
    j->seed = seed;
    for (int k = follow ? 0 : LAST; k <= LAST && status == ATN_OK; ++k) status = run(j, &PASSES[k]);
    j->l->search = LATTICE_ALL;
    atn_free(cells->ctx, seed);
    atn_free(cells->ctx, j->open);
    return status;
}

/* Stretches of cells, whose sites are no other cells'. */
typedef struct owning {
    const lattice_cells *cells;
    const int32_t *atom;
    size_t own;
    int32_t *first;
    int64_t stretches;
} owning;

/* The first place of the order whose site is not below; sites of a cell are above those of the cells before. */
static size_t place_of(const lattice_cells *c, int32_t site) {
    size_t low = 0, high = c->atoms;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->site[middle] < site)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void own_stretch(void *user, int64_t from, int64_t to) {
    const owning *x = user;
    const lattice_cells *c = x->cells;
    for (int64_t s = from; s < to; ++s) {
        int32_t begin = c->start[lattice_stretch_begin(c->cells, x->stretches, s)];
        int32_t end = c->start[lattice_stretch_begin(c->cells, x->stretches, s + 1)];
        size_t last = place_of(c, end);
        for (int32_t k = begin; k < end; ++k) x->first[k] = -1;
        for (size_t k = place_of(c, begin); k < last; ++k)
            if ((size_t)x->atom[k] < x->own && x->first[c->site[k]] < 0) x->first[c->site[k]] = c->order[k];
    }
}

atn_status lattice_around_make(const lattice_cells *cells, const int32_t *atom, size_t own, lattice_around *out) {
    size_t sites = (size_t)cells->start[cells->cells];
    int32_t *first = atn_alloc(cells->ctx, (sites + 1) * sizeof *first);
    *out = (lattice_around){.cells = cells, .first = first, .phase = atn_zalloc(cells->ctx, sites + 1)};
    out->told = atn_zalloc(cells->ctx, sites + 1);
    out->sure = atn_zalloc(cells->ctx, (sites / 64 + 1) * sizeof *out->sure);
    if (!first || !out->phase || !out->told || !out->sure) return ATN_ERR_MEMORY;
    owning x = {cells, atom, own, first, lattice_stretches(cells->atoms, 1)};
    atn_parallel(x.stretches, 1, own_stretch, &x);
    return ATN_OK;
}

static void settle_part(void *user, int64_t from, int64_t to) {
    unsigned char *phase = user;
    for (int64_t k = from; k < to; ++k) phase[k] &= (unsigned char)~LATTICE_NEW;
}

void lattice_around_settle(const lattice_around *around) {
    atn_parallel(around->cells->start[around->cells->cells], SITES, settle_part, around->phase);
}

void lattice_around_free(lattice_around *around) {
    if (!around->cells) return;
    atn_free(around->cells->ctx, around->first);
    atn_free(around->cells->ctx, around->phase);
    atn_free(around->cells->ctx, around->told);
    atn_free(around->cells->ctx, around->sure);
}

/* Results in the order of the cells, where those around an atom lie together, and the atoms that they are of. */
typedef struct sorted {
    const lattice_around *around;
    int32_t *same, *atom, *rank; /* numbers of atoms as cells have them, which is that order; and as they were */
    size_t own;
    atn_lattice_atom *told, *out;
} sorted;

static void number_part(void *user, int64_t from, int64_t to) {
    int32_t *same = user;
    for (int64_t k = from; k < to; ++k) same[k] = (int32_t)k;
}

/* Atoms at one position get the same result. */
static void share_part(void *user, int64_t from, int64_t to) {
    const sorted *x = user;
    for (int64_t k = from; k < to; ++k)
        if ((size_t)x->atom[k] < x->own) x->out[x->atom[k]] = x->told[x->around->first[x->around->cells->site[k]]];
}

/* Confidences as they come true, which calibration has found. */
typedef struct confiding {
    const atn_lattice *l;
    atn_lattice_atom *out;
} confiding;

static void confide_part(void *user, int64_t from, int64_t to) {
    const confiding *x = user;
    for (int64_t k = from; k < to; ++k)
        x->out[k].confidence = lattice_confidence(x->l, x->out[k].structure == 0, x->out[k].confidence);
}

static atn_status sort_results(lattice_cells *cells, sorted *x) {
    x->same = atn_alloc(cells->ctx, (cells->atoms + 1) * sizeof *x->same);
    x->told = atn_alloc(cells->ctx, (cells->atoms + 1) * sizeof *x->told);
    if (!x->same || !x->told) return ATN_ERR_MEMORY;
    atn_parallel((int64_t)cells->atoms, SITES, number_part, x->same);
    x->atom = cells->order, x->rank = cells->rank;
    cells->order = cells->rank = x->same;
    return ATN_OK;
}

/* Numbers are those of the slab again. */
static void unsort(lattice_cells *cells, sorted *x) {
    if (x->atom) cells->order = x->atom, cells->rank = x->rank;
    atn_free(cells->ctx, x->same);
    atn_free(cells->ctx, x->told);
}

atn_status lattice_match_atoms(atn_lattice *l, const atn_atoms *atoms, double angstrom, atn_lattice_atom *out) {
    lattice_cells cells = {0};
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_CELLS);
    atn_status status = lattice_cells_make(l->ctx, atoms, angstrom, l->info.cutoff, &cells);
    lattice_spend_back(&l->spent, l->known, before);
    if (status != ATN_OK) return status;
    l->recent = (lattice_recent){.near = false}; /* the results of a slab do not depend on those before it */
    size_t *which = atn_alloc(l->ctx, 3 * (size_t)l->batch * sizeof *which);
    lattice_around around = {0};
    sorted all = {.around = &around, .own = atoms->own, .out = out};
    status = which ? sort_results(&cells, &all) : ATN_ERR_MEMORY;
    job j = {.l = l, .around = &around, .which = which, .next = which + l->batch, .out = all.told};
    j.place = which + 2 * l->batch;
    if (status == ATN_OK) status = lattice_around_make(&cells, all.atom, atoms->own, &around);
    if (status == ATN_OK) status = match_own(&j);
    if (status == ATN_OK) atn_parallel((int64_t)cells.atoms, SITES, share_part, &all);
    unsort(&cells, &all);
    if (status == ATN_OK) status = lattice_knots_take(l);
    if (status == ATN_OK) atn_parallel((int64_t)atoms->own, SITES, confide_part, &(confiding){l, out});
    if (status == ATN_OK && atoms->species && lattice_is_ordered(l)) status = lattice_order_tell(l, &cells, atoms, out);
    l->near.atoms = 0;
    lattice_late_free(l, &j.late);
    lattice_around_free(&around);
    atn_free(l->ctx, which);
    lattice_cells_free(&cells);
    return status;
}
