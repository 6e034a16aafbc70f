/* The verb lattice over a file: frames that are neighbourhoods, or one frame in slabs, whose results are written in the
 * order of the file. */
#include "apps/lattice/shared.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cli/lattice.h"
#include "cloud/elements.h"
#include "cloud/formats.h"
#include "cloud/rows.h"
#include "cloud/slabs.h"
#include "device/backend.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void lattice_tally(lattice_outcome *o, const atn_lattice_atom *atom, const double position[3]) {
    int bin = (int)(atom->confidence * LATTICE_BINS);
    bin = bin < 0 ? 0 : bin >= LATTICE_BINS ? LATTICE_BINS - 1 : bin;
    ++o->count[atom->structure];
    if (atom->phase) ++o->phase[atom->phase - 1];
    o->background += atom->structure == 0 && atom->background > 0.5F * atom->confidence;
    ++o->bin[atom->structure][bin];
    for (int axis = 0; axis < 3 && position; ++axis) {
        if (o->seen == 0 || position[axis] < o->low[axis]) o->low[axis] = position[axis];
        if (o->seen == 0 || position[axis] > o->high[axis]) o->high[axis] = position[axis];
    }
    ++o->seen;
}

/* ---- neighbourhoods ---- */

static atn_status match_cloud(atn_cli_call *call, const atn_cloud *cloud, atn_lattice *lattice, lattice_outcome *o) {
    size_t sets = atn_cloud_info_of(cloud).frames;
    size_t *start = atn_alloc(call->ctx, (sets + 1) * sizeof *start);
    atn_lattice_atom *atom = atn_alloc(call->ctx, (sets + 1) * sizeof *atom);
    o->label = atn_alloc(call->ctx, (sets + 1) * sizeof *o->label);
    atn_status status = start && atom && o->label ? ATN_OK : ATN_ERR_MEMORY;
    const double *const position[3] = {atn_cloud_positions(cloud, 0), atn_cloud_positions(cloud, 1),
                                       atn_cloud_positions(cloud, 2)};
    for (size_t k = 0; k <= sets && !status; ++k) start[k] = atn_cloud_frame(cloud, k);
    double from = atn_clock_seconds();
    if (!status) status = atn_lattice_match_sets(lattice, sets, start, position, 1, atom);
    o->match_seconds = atn_clock_seconds() - from;
    for (size_t k = 0; k < sets && !status; ++k) {
        o->label[k] = atom[k].structure;
        lattice_tally(o, &atom[k], NULL);
    }
    o->atoms = o->labels = sets;
    atn_free(call->ctx, start);
    atn_free(call->ctx, atom);
    return status;
}

atn_status lattice_run_frames(atn_cli_call *call, atn_lattice *lattice, lattice_outcome *o) {
    atn_cloud *cloud = NULL;
    atn_cloud_settings options = {.invalid = atn_cli_has(call, "drop-invalid") ? ATN_INVALID_DROP : ATN_INVALID_REFUSE};
    atn_status status = atn_cloud_read(call->ctx, call->operands[0], &options, &cloud);
    if (status) return status;
    atn_cloud_info info = atn_cloud_info_of(cloud);
    o->dropped = info.nan + info.inf;
    if (info.points == 0)
        status = atn_fail(call->ctx, ATN_ERR_INPUT, "%s: no atoms; a frame has some", call->operands[0]);
    if (!status) status = match_cloud(call, cloud, lattice, o);
    o->info = atn_lattice_info_of(lattice);
    atn_cloud_free(cloud);
    return status;
}

/* ---- a frame ---- */

typedef lattice_job job;

/* Species that masses tell, where the file has none; `room` is the caller's to free. */
static atn_status name_species(const job *j, atn_atoms *atoms, int32_t **room) {
    *room = NULL;
    if (atoms->species || !atoms->mass || !j->ranges) return ATN_OK;
    *room = atn_alloc(j->call->ctx, (atoms->count + 1) * sizeof **room);
    if (!*room) return ATN_ERR_MEMORY;
    atn_mass_ranges_apply(j->ranges, atoms->mass, atoms->count, *room, NULL);
    atoms->species = *room;
    return ATN_OK;
}

/* Settings are found from a sample. Of several ranks all have it and learn together. */
static atn_status learn(job *j) {
    atn_atoms atoms = {0};
    int32_t *species = NULL;
    atn_status status = slabs_read_sample(j->slabs, &atoms);
    if (!status) status = name_species(j, &atoms, &species);
    lattice_pass(j, LATTICE_SAMPLED);
    if (!status) status = lattice_learn_ranks(j->lattice, j->ranks, &atoms, j->about.angstrom);
    for (int32_t k = 1; k < j->devices && status == ATN_ERR_LOST && !j->ranks; ++k) {
        atn_log(j->call->ctx, ATN_LOG_WARNING, "lattice: %s; the others go on", atn_ctx_message(j->call->ctx));
        j->lattice = j->lattices[k];
        status = lattice_learn_ranks(j->lattice, NULL, &atoms, j->about.angstrom);
    }
    if (j->ranks) status = lattice_share_learned(j, status);
    lattice_pass(j, LATTICE_LEARNED);
    atn_free(j->call->ctx, species);
    return status;
}

static void place_of(const job *j, const atn_atoms *atoms, size_t k, double out[3]) {
    for (int axis = 0; axis < 3; ++axis) out[axis] = atoms->position[axis][k] * j->about.angstrom;
}

/* ---- rows ---- */

static const atn_atom_rows_column COLUMNS[] = {
    {"pos", 3, 4},     {"structure_type", 1, -1}, {"orientation", 4, 5}, {"confidence", 1, 4}, {"rmsd", 1, 4},
    {"matched", 1, 3}, {"value", 1, 4},           {"background", 1, 4},  {"phase", 1, -1},     {0}};
enum { ROW_VALUES = 14 };

static const char *species_of(const job *j, const atn_atoms *atoms, size_t k) {
    if (!j->ranges) return atoms->species && atoms->species[k] ? element_symbol(atoms->species[k]) : NULL;
    int32_t range = atoms->mass ? atn_mass_ranges_find(j->ranges, (double)atoms->mass[k]) : -1;
    if (range < 0) return NULL;
    return atn_mass_ranges_ion(j->ranges, (size_t)atn_mass_ranges_get(j->ranges, (size_t)range)->ion)->name;
}

static void fill_pos(const atn_atoms *atoms, size_t k, const atn_lattice_atom *a, double *value) {
    for (int c = 0; c < 3; ++c) value[c] = atoms->position[c][k];
    value[3] = a->structure;
}

static void fill_xyz(const job *j, const atn_atoms *atoms, size_t k, const atn_lattice_atom *a, const char **species,
                     double *value) {
    place_of(j, atoms, k, value);
    value[3] = a->structure;
    for (int c = 0; c < 4; ++c) /* as OVITO has them: x y z w */
        value[4 + c] = a->structure ? (double)a->quaternion[(c + 1) % 4] : c == 3;
    value[8] = (double)a->confidence, value[9] = (double)a->rmsd;
    value[10] = (double)a->matched, value[11] = (double)a->value;
    value[12] = (double)a->background, value[13] = a->phase;
    *species = species_of(j, atoms, k);
}

/* ---- results ---- */

/* Results of a slab, counted on all cores. */
typedef struct tallying {
    const job *j;
    const atn_atoms *atoms;
    const atn_lattice_atom *atom;
    lattice_outcome *of; /* of each core */
    size_t *length;      /* of each core and rank: bytes of the rows that the rank will write; NULL: it is not asked */
    rows_ruler ruler;
} tallying;

/* Rows of some atoms. Those of a group are in the order of the file: the rank is mostly that of the atom before. */
enum { MEASURED = 256 };
static void measure(const tallying *x, size_t from, size_t count, size_t *of_rank) {
    const job *j = x->j;
    const char *species[MEASURED] = {NULL};
    double value[MEASURED * ROW_VALUES];
    size_t length[MEASURED], rank = 0;
    for (size_t n = 0; n < count; ++n)
        fill_xyz(j, x->atoms, from + n, &x->atom[from + n], &species[n], value + n * ROW_VALUES);
    rows_measure(&x->ruler, count, species, value, length);
    for (size_t n = 0; n < count; ++n) {
        uint64_t index = x->atoms->index[from + n];
        while (index < j->begin[rank]) --rank;
        while (index >= j->begin[rank + 1]) ++rank;
        of_rank[rank] += length[n];
    }
}

static void tally_part(void *user, int64_t from, int64_t to) {
    const tallying *x = user;
    size_t worker = (size_t)atn_parallel_worker(), end = (size_t)to;
    lattice_outcome *o = &x->of[worker];
    for (size_t k = (size_t)from; k < end; ++k) {
        double p[3];
        place_of(x->j, x->atoms, k, p);
        lattice_tally(o, &x->atom[k], p);
    }
    for (size_t k = (size_t)from; k < end && x->length; k += MEASURED)
        measure(x, k, end - k < MEASURED ? end - k : MEASURED, x->length + worker * (size_t)x->j->ranks->count);
}

/* All that is added up are whole numbers: they do not depend on how atoms are shared out. */
static void tally_add(const lattice_outcome *from, lattice_outcome *to) {
    for (int c = 0; c <= ATN_LATTICE_MOST_MODELS; ++c) {
        to->count[c] += from->count[c];
        if (c) to->phase[c - 1] += from->phase[c - 1];
        for (int b = 0; b < LATTICE_BINS; ++b) to->bin[c][b] += from->bin[c][b];
    }
    for (int axis = 0; axis < 3 && from->seen; ++axis) {
        to->low[axis] = to->seen ? fmin(to->low[axis], from->low[axis]) : from->low[axis];
        to->high[axis] = to->seen ? fmax(to->high[axis], from->high[axis]) : from->high[axis];
    }
    to->background += from->background;
    to->seen += from->seen;
}

static atn_status tally_all(const job *j, const atn_atoms *atoms, const atn_lattice_atom *atom) {
    enum { LEAST = 1 << 13 }; /* atoms for which a core is worth waking */
    int32_t workers = atn_parallel_workers();
    tallying x = {.j = j, .atoms = atoms, .atom = atom};
    double *length = j->length; /* of each rank; NULL: nobody asks */
    size_t ranks = length ? (size_t)j->ranks->count : 0, all = (size_t)workers * ranks;
    x.of = atn_zalloc(j->call->ctx, (size_t)workers * sizeof *x.of);
    if (length) x.length = atn_zalloc(j->call->ctx, all * sizeof *x.length);
    if (length) rows_ruler_make(COLUMNS, &x.ruler);
    atn_status status = x.of && (x.length || !length) ? ATN_OK : ATN_ERR_MEMORY;
    if (!status) atn_parallel((int64_t)atoms->own, LEAST, tally_part, &x);
    for (int32_t w = 0; w < workers && !status; ++w) tally_add(&x.of[w], j->o);
    for (size_t k = 0; k < all && length && !status; ++k) length[k % ranks] += (double)x.length[k];
    atn_free(j->call->ctx, x.of);
    atn_free(j->call->ctx, x.length);
    return status;
}

/* One in this many atoms is kept for the report. */
static void keep_shown(const job *j, const atn_atoms *atoms, const atn_lattice_atom *atom) {
    size_t step = j->about.atoms / LATTICE_SHOWN + 1;
    for (size_t k = 0; k < atoms->own && (j->o->composition || j->o->shown); ++k) {
        double p[3];
        int32_t range = j->o->composition && atoms->mass ? atn_mass_ranges_find(j->ranges, (double)atoms->mass[k]) : -1;
        if (range >= 0) ++j->o->composition[atn_mass_ranges_get(j->ranges, (size_t)range)->ion][atom[k].structure];
        if (!j->o->shown || atoms->index[k] % step || j->o->n_shown >= LATTICE_SHOWN) continue;
        place_of(j, atoms, k, p);
        j->o->shown[j->o->n_shown++] = (lattice_shown){{(float)p[0], (float)p[1], (float)p[2]}, atom[k]};
    }
}

static atn_status match_atoms(const job *j, atn_lattice *lattice, size_t slab, atn_atoms *atoms,
                              atn_lattice_atom *out) {
    int32_t *species = NULL;
    bool there;
    atn_status status = lattice_resume_take(j, slab, atoms, out, &there);
    if (status || there) return status;
    status = name_species(j, atoms, &species);
    if (!status) status = atn_lattice_match(lattice, atoms, j->about.angstrom, out);
    if (!status) status = lattice_resume_keep(j, slab, atoms, out);
    atn_free(j->call->ctx, species);
    return status;
}

static atn_status keep_atoms(const job *j, size_t slab, const atn_atoms *atoms, const atn_lattice_atom *atom) {
    atn_status status = tally_all(j, atoms, atom);
    keep_shown(j, atoms, atom);
    if (j->output && !status)
        status = j->ranks ? slabs_give(j->slabs, slab, atom)
                          : atn_atom_column_put(j->column, atoms->index, atoms->own, atom);
    ++j->o->slabs;
    return status;
}

static atn_status match_slab(const job *j, size_t slab) {
    atn_atoms atoms = {0};
    lattice_part before = lattice_spend(&j->lattice->spent, true, LATTICE_READ);
    atn_status status = slabs_read(j->slabs, slab, &atoms);
    lattice_spend_back(&j->lattice->spent, true, before);
    atn_lattice_atom *atom = status ? NULL : atn_alloc(j->call->ctx, (atoms.own + 1) * sizeof *atom);
    if (!status && !atom) status = ATN_ERR_MEMORY;
    double from = atn_clock_seconds();
    if (!status) status = match_atoms(j, j->lattice, slab, &atoms, atom);
    j->o->match_seconds += atn_clock_seconds() - from;
    before = lattice_spend(&j->lattice->spent, true, LATTICE_GIVEN);
    if (!status) status = keep_atoms(j, slab, &atoms, atom);
    lattice_spend_back(&j->lattice->spent, true, before);
    atn_free(j->call->ctx, atom);
    return status;
}

/* Between batches of atoms, other ranks are served. */
static bool show_progress(void *user, const atn_progress *now) {
    const job *j = user;
    atn_ranks_serve(j->ranks);
    return atn_cli_show_progress(j->call, now);
}

/* Of several ranks, whoever is free takes the next slab. */
static atn_status match_one_by_one(const job *j) {
    size_t slab = 0, all = atn_slabs_info_of(j->slabs).slabs;
    bool there = true;
    atn_status status = ATN_OK;
    while (there && !status) {
        status = slabs_take(j->slabs, &slab, &there);
        if (there && all > 1) atn_cli_progress(j->call, "slab %zu of %zu ...", slab + 1, all);
        if (!status && there) status = match_slab(j, slab);
    }
    return status;
}

enum { FARTHEST = 40 }; /* Angstrom: no cut-off is larger */

/* How far from a slab settings are found from: about twice as far as 60 neighbours are, at the mean density. */
static double guess_reach(const job *j) {
    double volume = 1;
    for (int axis = 0; axis < 3; ++axis)
        volume *= fmax((j->about.high[axis] - j->about.low[axis]) * j->about.angstrom, 1e-3);
    return fmin(fmax(2 * cbrt(60 * volume / (double)j->about.atoms / 4.19), 1), FARTHEST);
}

/* Slabs of a halo that wide, and what is learned from one of them. */
static atn_status open_slabs(job *j, double reach, double wanted) {
    atn_slabs_settings settings = {.halo = reach / j->about.angstrom};
    double from = atn_clock_seconds();
    atn_status status = lattice_plan_memory(j, reach, &settings.atoms);
    settings.memory = j->held;
    if (!status) status = slabs_open(j->frame, &settings, (size_t)wanted, &j->slabs);
    j->o->read_seconds += atn_clock_seconds() - from;
    if (status) return status;
    lattice_pass(j, LATTICE_CUT);
    j->cut = atn_slabs_info_of(j->slabs).slabs;
    j->o->estimated_bytes = lattice_foresee(j, atn_slabs_info_of(j->slabs).most);
    atn_cli_progress(j->call, "%zu atoms, %.3g MB of memory ...", j->about.atoms, 1e-6 * (double)j->o->estimated_bytes);
    from = atn_clock_seconds();
    if (!j->learned) status = learn(j);
    j->o->learn_seconds += atn_clock_seconds() - from;
    return status;
}

/* Slabs of a rank, so that ranks end at about the same time: whoever is free takes the next one. Fewer where they would
 * be thin, even as strips of thicker ones: the atoms around them cost time, too. */
static int32_t slabs_of_a_rank(const job *j, double reach) {
    enum { MOST = 6 };
    double longest = 0, second = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double length = (j->about.high[axis] - j->about.low[axis]) * j->about.angstrom;
        second = fmax(second, fmin(longest, length));
        longest = fmax(longest, length);
    }
    double each = longest / (reach * j->ranks->count); /* of this thickness */
    double strips = longest * second / (4 * reach * reach * j->ranks->count);
    if (each < 2.0 / 3 && strips < 2) return 1;
    return (int32_t)fmin(fmax(fmax(1.5 * each, strips), 2), MOST);
}

/* Cut, learned and matched by all ranks; results are with those who read the atoms. */
static atn_status match_cut(job *j, double reach, double wanted) {
    atn_status status = open_slabs(j, reach, wanted);
    if (!status && atn_lattice_reach(j->lattice) > reach && reach < FARTHEST) { /* farther than was guessed */
        atn_slabs_close(j->slabs);
        j->slabs = NULL;
        reach = FARTHEST;
        status = open_slabs(j, reach, wanted);
    }
    if (!status && atn_lattice_reach(j->lattice) > reach)
        status =
            atn_fail(j->call->ctx, ATN_ERR_INPUT, "the cut-off is above %g Angstrom; a smaller one would do", reach);
    if (!status) slabs_narrow(j->slabs, 1.001 * atn_lattice_reach(j->lattice) / j->about.angstrom);
    double from = atn_clock_seconds();
    if (j->ranks && j->output) status = lattice_hold_results(j, status);
    j->o->read_seconds += atn_clock_seconds() - from;
    lattice_pass(j, LATTICE_SHARED);
    if (j->ranks) status = lattice_knots_begin(j->lattice, j->ranks, status, j->devices > 1);
    if (!status) status = lattice_resume_learned(j, wanted);
    from = atn_clock_seconds();
    if (!status && j->devices > 1) {
        status = lattice_match_devices(j, match_atoms, keep_atoms);
        j->o->match_seconds = atn_clock_seconds() - from;
    } else if (!status) {
        if (j->ranks) atn_ctx_on_progress(j->call->ctx, show_progress, j);
        status = match_one_by_one(j);
        if (j->ranks) atn_ctx_on_progress(j->call->ctx, atn_cli_show_progress, j->call);
    }
    lattice_pass(j, LATTICE_MATCHED);
    atn_cli_progress_end(j->call);
    return status;
}

/* On ranks by all, after they have agreed on how it went. */
static void close_slabs(job *j) {
    if (j->ranks) lattice_knots_end(j->lattice, j->ranks);
    atn_slabs_close(j->slabs);
    j->slabs = NULL;
}

static atn_status match_all(job *j) {
    enum { FOR_A_DEVICE = 4 };
    int32_t at_work = j->devices;
    for (int32_t k = 0; k < j->devices; ++k) at_work -= (int32_t)(j->reserve >> k & 1);
    double reach = guess_reach(j), wanted = 0; /* slabs */
    int32_t ranks = j->ranks ? j->ranks->count : 1, shares = at_work > 1 ? FOR_A_DEVICE * at_work : 1;
    if (j->ranks && at_work == 1) shares = slabs_of_a_rank(j, reach);
    atn_status status = atn_cli_read_whole(j->call, "slabs", 1, ranks * shares > 1 ? ranks * shares : 0, &wanted);
    if (!status && j->resume) status = lattice_resume_begin(j, &wanted);
    if (!status)
        status = match_cut(j, reach, wanted);
    else if (j->ranks)
        status = atn_ranks_agree(j->ranks, status);
    if (!j->ranks) close_slabs(j);
    return status;
}

/* ---- writing ---- */

/* A piece of the frame, and what is kept of its atoms. */
typedef struct writing {
    const job *j;
    atn_atom_rows *rows;
    bool pos;
    size_t next; /* index of the record of the column that comes next */
    atn_atoms atoms;
    atn_lattice_atom *list;
} writing;

/* Results of the piece's atoms; in a column those of atoms that were dropped lie between them. */
static atn_status take_results(writing *w) {
    const atn_atoms *atoms = &w->atoms;
    size_t first = w->j->first, got = 1;
    atn_status status = ATN_OK;
    if (w->j->ranks) {
        for (size_t k = 0; k < atoms->count; ++k)
            memcpy(&w->list[k], slabs_held(w->j->slabs, atoms->index[k]), sizeof *w->list);
        return ATN_OK;
    }
    if (atoms->index[atoms->count - 1] - first + 1 - w->next == atoms->count) {
        w->next += atoms->count;
        return atn_atom_column_get(w->j->column, atoms->count, w->list, &got);
    }
    for (size_t k = 0; k < atoms->count && !status; ++k) {
        w->list[k] = (atn_lattice_atom){0};
        for (; w->next <= atoms->index[k] - first && got && !status; ++w->next)
            status = atn_atom_column_get(w->j->column, 1, &w->list[k], &got);
    }
    return status;
}

static void fill_row(void *user, size_t k, const char **species, double *value) {
    const writing *w = user;
    if (w->pos)
        fill_pos(&w->atoms, k, &w->list[k], value);
    else
        fill_xyz(w->j, &w->atoms, k, &w->list[k], species, value);
}

/* All atoms of the frame, or of this rank's part. */
static atn_status write_all(const job *j, atn_atom_rows *rows, bool pos) {
    writing w = {.j = j, .rows = rows, .pos = pos};
    w.list = atn_alloc(j->call->ctx, ATN_FRAME_PIECE * sizeof *w.list);
    atn_status status = w.list ? atn_frame_rewind(j->frame) : ATN_ERR_MEMORY;
    while (!status) {
        status = atn_frame_next(j->frame, &w.atoms);
        if (status || w.atoms.count == 0) break;
        status = take_results(&w);
        if (!status) status = rows_add_some(rows, w.atoms.count, fill_row, &w);
    }
    atn_free(j->call->ctx, w.list);
    return status;
}

static atn_status write_parts(const job *j, const char *path, bool pos) {
    atn_atom_rows *rows = NULL;
    size_t ranks = (size_t)j->ranks->count;
    atn_status status = pos ? ATN_OK : atn_ranks_sum(j->ranks, ATN_OK, j->length, ranks);
    if (!status)
        status = rows_open_ranks(j->call->ctx, path, j->about.atoms, frame_part_atoms(j->frame),
                                 pos ? 0 : (uint64_t)j->length[j->ranks->rank], pos ? NULL : COLUMNS, j->ranks, &rows);
    if (!status) status = rows_finish_ranks(rows, write_all(j, rows, pos));
    atn_atom_rows_free(rows);
    return status;
}

static bool is_pos(const char *path) { return cloud_format_of(path, "", 0) == &CLOUD_POS; }

atn_status lattice_check_output(atn_cli_call *call) {
    static const char *const NAMES[] = {"output", "report"};
    const char *path = atn_cli_value(call, "output"), *ending = path ? strrchr(path, '.') : NULL;
    const cloud_format *format = path ? cloud_format_of(path, "", 0) : NULL;
    struct stat about;
    bool other = format && format != &CLOUD_POS && format != &CLOUD_XYZ;
    if (other || (ending && strcasecmp(ending, ".csv") == 0))
        return atn_cli_misuse(call, "--output %s: atoms are written as .xyz or .pos", path);
    if (call->ranks->rank) return ATN_OK;
    atn_status status = atn_cli_check_files(call, NAMES, sizeof NAMES / sizeof *NAMES);
    if (!status && call->ranks->count > 1 && path && stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        status = rows_not_a_file(call->ctx, path);
    return status;
}

static atn_status write_rows(const job *j, const char *path) {
    atn_atom_rows *rows = NULL;
    bool pos = is_pos(path);
    if (j->ranks) return write_parts(j, path, pos);
    atn_status status = pos ? atn_atom_rows_open_pos(j->call->ctx, path, j->about.atoms, &rows)
                            : atn_atom_rows_open_xyz(j->call->ctx, path, j->about.atoms, true, NULL, COLUMNS, &rows);
    if (!status) status = write_all(j, rows, pos);
    if (!status) status = atn_atom_rows_finish(rows);
    atn_atom_rows_free(rows);
    return status;
}

/* How many atoms have a range; none of them: the file belongs to another frame. */
static atn_status count_ranged(const job *j) {
    atn_atoms atoms = {0};
    size_t ranged = 0;
    atn_status status = j->about.masses
                            ? atn_frame_rewind(j->frame)
                            : atn_fail(j->call->ctx, ATN_ERR_INPUT,
                                       "%s: --ranges needs masses, which POS, ePOS and APT have", j->call->operands[0]);
    while (!status) {
        status = atn_frame_next(j->frame, &atoms);
        if (status || atoms.count == 0) break;
        ranged += atn_mass_ranges_apply(j->ranges, atoms.mass, atoms.count, NULL, NULL);
    }
    double sum = (double)ranged;
    if (j->ranks) status = atn_ranks_sum(j->ranks, status, &sum, 1);
    ranged = (size_t)sum;
    j->o->unranged = j->about.atoms - ranged;
    if (!status && ranged == 0)
        status = atn_fail(j->call->ctx, ATN_ERR_INPUT,
                          "%s: no mass of the frame is in any of its ranges; does it belong to another frame?",
                          atn_cli_value(j->call, "ranges"));
    return status;
}

static atn_status list_ions(const job *j) {
    const atn_ctx *ctx = j->call->ctx;
    size_t n = atn_mass_ranges_info_of(j->ranges).ions;
    j->o->composition = atn_zalloc(ctx, (n + 1) * sizeof *j->o->composition);
    j->o->ion = atn_zalloc(ctx, (n + 1) * sizeof *j->o->ion);
    if (!j->o->composition || !j->o->ion) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < n; ++k)
        snprintf(j->o->ion[k], sizeof j->o->ion[k], "%s", atn_mass_ranges_ion(j->ranges, k)->name);
    j->o->ions = n;
    return ATN_OK;
}

atn_status lattice_run_slabs(atn_cli_call *call, atn_lattice *const *lattices, int32_t devices, lattice_outcome *o) {
    job j = {.call = call, .lattice = lattices[0], .lattices = lattices, .devices = devices, .o = o};
    atn_device *device[ATN_MOST_DEVICES];
    for (int32_t k = 0; k < devices; ++k) device[k] = lattices[k]->device;
    j.reserve = atn_devices_reserve(device, devices);
    if (j.reserve)
        atn_log(call->ctx, ATN_LOG_INFO, "lattice: the cores of the host serve the GPU; it takes slabs if that fails");
    j.resume = atn_cli_value(call, "resume");
    j.output = atn_cli_value(call, "output") != NULL;
    if (call->ranks->count > 1) j.ranks = call->ranks;
    if (j.ranks) atn_memory_in_large_pages();
    const char *out = atn_cli_value(call, "output"), *ranges = atn_cli_value(call, "ranges");
    atn_cloud_settings options = {.invalid = atn_cli_has(call, "drop-invalid") ? ATN_INVALID_DROP : ATN_INVALID_REFUSE};
    atn_status status = ranges ? atn_mass_ranges_read(call->ctx, ranges, &j.ranges) : ATN_OK;
    if (!status && ranges) o->overlaps = atn_mass_ranges_info_of(j.ranges).overlaps;
    double from = o->began = atn_clock_seconds();
    if (!status) status = frame_open_ranks(call->ctx, call->operands[0], &options, call->ranks, &j.frame);
    if (!status) {
        frame_part(j.frame, &j.first, &j.end);
        j.about = atn_frame_info_of(j.frame);
        o->atoms = j.about.atoms;
        o->dropped = j.about.nan + j.about.inf;
        o->nanometres = j.about.angstrom > 1;
        if (j.about.atoms == 0)
            status = atn_fail(call->ctx, ATN_ERR_INPUT, "%s: no atoms; a frame has some", call->operands[0]);
    }
    o->read_seconds = atn_clock_seconds() - from;
    lattice_pass(&j, LATTICE_OPENED);
    if (!status && j.ranges) status = count_ranged(&j);
    if (!status && j.ranges) status = list_ions(&j);
    if (!status) status = lattice_plan_memory(&j, guess_reach(&j), &(size_t){0});
    if (!status && out && !j.ranks)
        status = atn_atom_column_create(call->ctx, j.end - j.first, sizeof(atn_lattice_atom), j.held, &j.column);
    if (!status && out && j.ranks && !is_pos(out)) status = lattice_begin_lengths(&j);
    if (!status && atn_cli_value(call, "report")) {
        o->shown = atn_alloc(call->ctx, LATTICE_SHOWN * sizeof *o->shown);
        if (!o->shown) status = ATN_ERR_MEMORY;
    }
    if (!status) status = match_all(&j);
    o->info = atn_lattice_info_of(j.lattice);
    if (j.ranks) status = lattice_join_outcome(&j, status);
    lattice_pass(&j, LATTICE_SENT);
    from = atn_clock_seconds();
    if (!status && out) status = write_rows(&j, out);
    o->write_seconds = atn_clock_seconds() - from;
    lattice_pass(&j, LATTICE_WRITTEN);
    o->ended = atn_clock_seconds();
    if (!status) lattice_resume_end(&j);
    close_slabs(&j);
    atn_atom_column_free(j.column);
    atn_free(call->ctx, j.length);
    atn_free(call->ctx, j.begin);
    atn_frame_close(j.frame);
    atn_mass_ranges_free(j.ranges);
    return status;
}
