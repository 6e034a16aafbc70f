/* The atoms of a slab, batch by batch, in passes: some atoms spread over the slab are searched (seeds), then atoms try
 * the turns of sure ones near them, and those that this does not explain are searched as seeds were and, where they
 * are not sure, wait for those around them. While the device works on a batch, the host judges the one before and finds
 * the neighbours of the one behind. */
#include "apps/lattice/order.h"
#include "apps/lattice/parts.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <stdatomic.h>

/* What a pass does: who is in it, and which turn is tried; all are searched where none is. */
typedef struct pass {
    bool seeds, follow;
    bool late;     /* who is not sure waits for those around */
    bool some;     /* of the models, those that are frequent, are searched for: who stays in doubt has another pass */
    int32_t cells; /* sure atoms are at most so many away */
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
    int32_t *open;     /* places in the order of the cells of atoms that are not told yet, ascending */
    size_t n_open, at; /* at: those of them that were looked at in this pass */
    size_t *which, *next;
    size_t *place; /* where each of `next` is among the open ones */
    lattice_late late;
    atn_lattice_atom *out;
} job;

/* Of several atoms at one site the first of the slab's own. */
static void list_open(job *j) {
    const lattice_cells *c = j->around->cells;
    j->n_open = 0;
    for (size_t k = 0; k < c->atoms; ++k)
        if (j->around->first[c->site[k]] == c->order[k]) j->open[j->n_open++] = (int32_t)k;
}

/* Those that the passes before told are not in the next ones. */
static void drop_told(job *j) {
    size_t kept = 0;
    for (size_t k = 0; k < j->n_open; ++k) {
        int32_t site = j->around->cells->site[j->open[k]];
        j->open[kept] = j->open[k];
        kept += !(j->around->phase[site] | j->around->told[site]);
    }
    j->n_open = kept;
}

/* Those that have a turn to try come to the front. */
static size_t hint(const job *j, hinting *f, size_t count) {
    size_t kept = 0;
    f->count = count;
    atn_parallel_pieces((int64_t)((count + PIECE - 1) / PIECE), hint_part, f);
    for (size_t i = 0; i < count; ++i) {
        if (j->l->next.hint[i].model < 0) continue;
        if (kept < i) j->l->next.hint[kept] = j->l->next.hint[i];
        j->place[kept] = j->place[i];
        j->next[kept++] = j->next[i];
    }
    return kept;
}

/* The next atoms in the order of the cells, as many as there is room for: neighbours of one are still in the caches for
 * the next. */
static void find(job *j) {
    atn_lattice *l = j->l;
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
    size_t n = lattice_near_fill(l, cells, j->next, count, &l->next);
    lattice_spend_back(&l->spent, l->known, before);
    if (n < count) j->at = j->place[n];
}

/* ---- a pass ---- */

typedef struct ending {
    const job *j;
    atomic_int status;
} ending;

static void end_part(void *user, int64_t from, int64_t to) {
    ending *e = user;
    const atn_lattice *l = e->j->l;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        atn_status status = l->sure[i] ? lattice_judge_end(l, i, &e->j->out[e->j->which[i]]) : ATN_OK;
        if (status != ATN_OK) atomic_store(&e->status, (int)status);
    }
}

/* l->near, which is empty then: sure atoms are told; in the last pass the others wait. */
static atn_status judge(job *j) {
    atn_lattice *l = j->l;
    bool last = j->pass->late;
    ending end = {.j = j};
    size_t n = l->near.atoms;
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_JUDGED);
    lattice_judge_first(l, j->around, j->which, j->out);
    atn_parallel((int64_t)n, LATTICE_PART, end_part, &end);
    atn_status status = (atn_status)atomic_load(&end.status);
    for (size_t i = 0; i < n && last && status == ATN_OK; ++i)
        if (!l->sure[i]) status = lattice_late_add(l, i, j->which[i], &j->late);
    l->near.atoms = 0;
    lattice_spend_back(&l->spent, l->known, before);
    return status == ATN_OK && n && last ? lattice_late_look(l, j->around, &j->late, &j->which[n - 1], j->out) : status;
}

static atn_status run(job *j, const pass *p) {
    atn_lattice *l = j->l;
    atn_status status = ATN_OK;
    j->pass = p;
    j->around->followed = p->follow;
    j->around->doubt = p->some ? DOUBT : 0;
    j->l->search = p->some ? lattice_frequent(l) : LATTICE_ALL;
    j->at = 0;
    drop_told(j);
    for (find(j); status == ATN_OK && l->near.atoms + l->next.atoms > 0;) {
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
        if (status == ATN_OK) find(j);
    }
    l->next.atoms = 0;
    lattice_around_settle(j->around);
    return status == ATN_OK && p->late ? lattice_late_look(l, j->around, &j->late, NULL, j->out) : status;
}

/* One atom of every eighth cell. */
static void mark_seeds(const lattice_cells *c, unsigned char *seed) {
    for (size_t k = 0; k < c->cells; ++k) {
        int32_t site = c->start[k];
        bool even = c->start[k + 1] > site;
        for (int axis = 0; axis < 3 && even; ++axis) even = (int64_t)((double)c->axis[axis][site] / c->edge) % 2 == 0;
        if (even) seed[site] = 1;
    }
}

static atn_status match_own(job *j) {
    const lattice_cells *cells = j->around->cells;
    unsigned char *seed = atn_zalloc(cells->ctx, (size_t)cells->start[cells->cells] + 1);
    bool follow = lattice_can_follow(j->l);
    j->open = atn_alloc(cells->ctx, (cells->atoms + 1) * sizeof *j->open);
    atn_status status = seed && j->open ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) mark_seeds(cells, seed);
    if (status == ATN_OK) list_open(j);
    j->seed = seed;
    for (int k = follow ? 0 : LAST; k <= LAST && status == ATN_OK; ++k) status = run(j, &PASSES[k]);
    j->l->search = LATTICE_ALL;
    atn_free(cells->ctx, seed);
    atn_free(cells->ctx, j->open);
    return status;
}

atn_status lattice_around_make(const lattice_cells *cells, const int32_t *atom, size_t own, lattice_around *out) {
    size_t sites = (size_t)cells->start[cells->cells];
    int32_t *first = atn_alloc(cells->ctx, (sites + 1) * sizeof *first);
    *out = (lattice_around){.cells = cells, .first = first, .phase = atn_zalloc(cells->ctx, sites + 1)};
    out->told = atn_zalloc(cells->ctx, sites + 1);
    if (!first || !out->phase || !out->told) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < sites; ++k) first[k] = -1;
    for (size_t k = 0; k < cells->atoms; ++k)
        if ((size_t)atom[k] < own && first[cells->site[k]] < 0) first[cells->site[k]] = cells->order[k];
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

/* Atoms at one place are told the same. */
static void share_part(void *user, int64_t from, int64_t to) {
    const sorted *x = user;
    for (int64_t k = from; k < to; ++k)
        if ((size_t)x->atom[k] < x->own) x->out[x->atom[k]] = x->told[x->around->first[x->around->cells->site[k]]];
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
    l->recent = (lattice_recent){.near = false}; /* what is told of a slab does not depend on those before */
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
    if (status == ATN_OK && atoms->species && lattice_is_ordered(l)) status = lattice_order_tell(l, &cells, atoms, out);
    l->near.atoms = 0;
    lattice_late_free(l, &j.late);
    lattice_around_free(&around);
    atn_free(l->ctx, which);
    lattice_cells_free(&cells);
    return status;
}
