/* A frame of atoms, piece by piece in the order of its file. Atom probe files are streamed: the piece is a cloud that
 * is refilled each time. Long text is read once, and its atoms are kept in a temporary file. Other files are read
 * whole, and pieces are views of that cloud. */
#include "cloud/frame.h"
#include "base/extreme.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "cloud/formats.h"
#include "cloud/ions.h"
#include "cloud/spill.h"

#include <math.h>
#include <string.h>

/* By the file's first bytes, else by its ending; NULL: it is none of an atom probe's. */
static ion_layout_find *layout_of(const char *name, const char *head, size_t length) {
    static const struct {
        const cloud_format *format;
        ion_layout_find *find;
    } KINDS[] = {{&CLOUD_POS, ion_pos_layout}, {&CLOUD_EPOS, ion_epos_layout}, {&CLOUD_APT, ion_apt_layout}};
    const cloud_format *format = cloud_format_of(name, head, length);
    for (size_t k = 0; format && k < sizeof KINDS / sizeof *KINDS; ++k)
        if (format == KINDS[k].format) return KINDS[k].find;
    return NULL;
}

/* An atom in the temporary file. */
typedef struct kept_atom {
    double position[3];
    float mass;
    int32_t species;
} kept_atom;

struct atn_frame {
    const atn_ctx *ctx;
    char *path; /* owned; the source's name */
    source s;
    ion_stream ions;  /* where it is streamed */
    atn_cloud *cloud; /* the piece, or all of it; owned */
    bool streamed;
    spill *kept;       /* atoms of long text, or NULL; owned */
    kept_atom *read;   /* a piece of them; owned */
    uint64_t *index;   /* of the piece's atoms; owned */
    size_t at;         /* of the whole: the next atom */
    atn_ranks *ranks;  /* NULL: it is alone; not owned */
    size_t first, end; /* indices of this rank's part */
    size_t part_atoms; /* that were found there */
    atn_frame_info info;
};

void atn_frame_close(atn_frame *f) {
    if (!f) return;
    ions_close(&f->ions);
    source_close(&f->s);
    spill_free(f->kept);
    atn_free(f->ctx, f->read);
    atn_cloud_free(f->cloud);
    atn_free(f->ctx, f->index);
    atn_free(f->ctx, f->path);
    atn_free(f->ctx, f);
}

const atn_ctx *frame_ctx(const atn_frame *f) { return f->ctx; }

atn_status atn_frame_get_info(const atn_frame *f, atn_frame_info *out) {
    return ATN_GIVE(f->ctx, atn_frame_info, &f->info, out);
}

/* Atoms of the cloud from `from` on. */
static void show(const atn_frame *f, size_t from, size_t count, atn_atoms *out) {
    *out = (atn_atoms){.count = count, .own = count, .index = f->index};
    for (int d = 0; d < 3; ++d) out->position[d] = atn_cloud_positions(f->cloud, d) + from;
    if (f->info.masses) out->mass = atn_cloud_masses(f->cloud) + from;
    if (f->info.species) out->species = atn_cloud_species(f->cloud) + from;
}

static atn_status next_streamed(atn_frame *f, atn_atoms *out) {
    atn_cloud *piece = f->cloud;
    atn_status status = ATN_OK;
    piece->count = 0;
    while (status == ATN_OK && piece->count < ATN_FRAME_PIECE && f->ions.next < f->end) {
        size_t at = piece->count, room = ATN_FRAME_PIECE - at, left = f->end - f->ions.next, ion = f->ions.next;
        status = ions_some(&f->ions, left < room ? left : room, piece);
        for (size_t k = at; k < piece->count; ++k) f->index[k] = ion + (k - at);
    }
    if (status == ATN_OK) show(f, 0, piece->count, out);
    return status;
}

/* ---- long text ---- */

static atn_status keep(void *user, atn_cloud *cloud) {
    const atn_frame *f = user;
    for (size_t k = 0; k < cloud->count; ++k) {
        void *to;
        kept_atom atom = {.position = {0}};
        for (int d = 0; d < 3; ++d) atom.position[d] = atn_cloud_positions(cloud, d)[k];
        if (cloud->roles & ROLE_BIT(ROLE_MASS)) atom.mass = atn_cloud_masses(cloud)[k];
        if (cloud->roles & ROLE_BIT(ROLE_SPECIES)) atom.species = atn_cloud_species(cloud)[k];
        atn_status status = spill_put(f->kept, 0, &to);
        if (status != ATN_OK) return status;
        memcpy(to, &atom, sizeof atom);
    }
    return atn_check_cancel(f->ctx);
}

static atn_status next_kept(atn_frame *f, atn_atoms *out) {
    size_t left = f->end - f->at, count = left < ATN_FRAME_PIECE ? left : ATN_FRAME_PIECE;
    atn_status status = spill_get(f->kept, 0, f->at, count, f->read);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < count; ++k) {
        const kept_atom *atom = &f->read[k];
        for (int d = 0; d < 3; ++d) ((double *)f->cloud->column[d])[k] = atom->position[d];
        if (f->info.masses) ((float *)f->cloud->column[ROLE_MASS])[k] = atom->mass;
        if (f->info.species) ((int32_t *)f->cloud->column[ROLE_SPECIES])[k] = atom->species;
        f->index[k] = f->at + k;
    }
    show(f, 0, count, out);
    f->at += count;
    return atn_check_cancel(f->ctx);
}

static atn_status next(atn_frame *f, atn_atoms *out) {
    if (f->kept) return next_kept(f, out);
    if (f->streamed) return next_streamed(f, out);
    size_t left = f->end - f->at, count = left < ATN_FRAME_PIECE ? left : ATN_FRAME_PIECE;
    for (size_t k = 0; k < count; ++k) f->index[k] = f->at + k;
    show(f, f->at, count, out);
    f->at += count;
    return atn_check_cancel(f->ctx);
}

atn_status atn_frame_next(atn_frame *f, atn_atoms *out) {
    atn_atoms atoms = {0};
    atn_status status = ATN_CHECK_OUT(f->ctx, atn_atoms, out);
    if (status != ATN_OK) return status;
    status = next(f, &atoms);
    ATN_GIVE(f->ctx, atn_atoms, &atoms, out);
    return status;
}

atn_status atn_frame_rewind(atn_frame *f) {
    f->at = f->first;
    if (f->streamed && !f->kept) ions_seek(&f->ions, f->first);
    return ATN_OK;
}

/* ---- the part of a rank ---- */

void frame_part(const atn_frame *f, size_t *first, size_t *end) {
    *first = f->first;
    *end = f->end;
}

atn_ranks *frame_ranks(const atn_frame *f) { return f->ranks; }
size_t frame_part_atoms(const atn_frame *f) { return f->part_atoms; }
bool frame_is_of_ions(const atn_frame *f) { return f->streamed && !f->kept && f->info.records <= UINT32_MAX; }

static void take_part(atn_frame *f) {
    bool ions = f->streamed && !f->kept;
    f->info.records = ions ? f->ions.layout.ions : f->kept ? spill_count(f->kept, 0) : f->cloud->count;
    f->end = f->info.records;
    if (f->ranks) {
        f->first = atn_ranks_cut(f->ranks, f->info.records, f->ranks->rank);
        f->end = atn_ranks_cut(f->ranks, f->info.records, f->ranks->rank + 1);
    }
    (void)atn_frame_rewind(f);
}

/* Do all ranks read the same file? Where each machine has one of its own, they may be of different frames. */
static atn_status check_same(const atn_frame *f) {
    enum { SAMPLES = 8 };
    atn_hash own = {0};
    int32_t other;
    atn_status status = atn_file_hash_samples(f->ctx, f->path, SAMPLES, &own);
    status = atn_ranks_compare(f->ranks, status, &own, sizeof own, &other);
    if (status != ATN_OK || !other) return status;
    return atn_fail(f->ctx, ATN_ERR_INPUT, "%s: rank %d has another file than rank 0; all read parts of one", f->path,
                    (int)other);
}

/* What all parts together have. Whoever reads a file whole has dropped what is invalid in all of it. */
static atn_status join_parts(atn_frame *f, atn_status status) {
    atn_frame_info *info = &f->info;
    bool counts = (f->streamed && !f->kept) || f->ranks->rank == 0;
    double sum[3] = {(double)info->atoms, counts ? (double)info->nan : 0, counts ? (double)info->inf : 0}, bounds[6];
    for (int d = 0; d < 3; ++d) {
        bounds[d] = info->low[d];
        bounds[d + 3] = -info->high[d];
    }
    if (status == ATN_OK) status = check_same(f);
    status = atn_ranks_sum(f->ranks, status, sum, 3);
    if (status == ATN_OK) status = atn_ranks_least(f->ranks, status, bounds, 6);
    if (status != ATN_OK) return status;
    info->atoms = (size_t)sum[0];
    info->nan = (size_t)sum[1];
    info->inf = (size_t)sum[2];
    for (int d = 0; d < 3; ++d) {
        info->low[d] = bounds[d];
        info->high[d] = -bounds[d + 3];
    }
    return ATN_OK;
}

/* Bounds of a piece, on all cores. */
typedef struct bounding {
    const atn_atoms *piece;
    double low[ATN_PARALLEL_MOST][3], high[ATN_PARALLEL_MOST][3]; /* of each worker, from those of the frame on */
} bounding;

static void bound_part(void *user, int64_t from, int64_t to) {
    bounding *x = user;
    int32_t worker = atn_parallel_worker();
    for (int d = 0; d < 3; ++d) {
        const double *position = x->piece->position[d];
        double low = x->low[worker][d], high = x->high[worker][d];
        for (int64_t k = from; k < to; ++k) low = atn_lesser(low, position[k]), high = atn_larger(high, position[k]);
        x->low[worker][d] = low, x->high[worker][d] = high;
    }
}

static void bound(const atn_atoms *piece, atn_frame_info *info) {
    enum { LEAST = 1 << 12 };
    bounding x = {.piece = piece};
    int32_t workers = atn_parallel_workers();
    for (int32_t w = 0; w < workers; ++w) {
        memcpy(x.low[w], info->low, sizeof info->low);
        memcpy(x.high[w], info->high, sizeof info->high);
    }
    atn_parallel((int64_t)piece->count, LEAST, bound_part, &x);
    for (int32_t w = 0; w < workers; ++w)
        for (int d = 0; d < 3; ++d) {
            info->low[d] = atn_lesser(info->low[d], x.low[w][d]);
            info->high[d] = atn_larger(info->high[d], x.high[w][d]);
        }
}

/* Reads it through once: bounds, and how many are invalid. */
static atn_status look_through(atn_frame *f) {
    atn_frame_info *info = &f->info;
    atn_atoms piece = {0};
    for (int d = 0; d < 3; ++d) {
        info->low[d] = INFINITY;
        info->high[d] = -INFINITY;
    }
    atn_status status = atn_frame_next(f, &piece);
    for (; status == ATN_OK && piece.count; status = atn_frame_next(f, &piece)) {
        info->atoms += piece.count;
        bound(&piece, info);
    }
    f->part_atoms = info->atoms;
    info->nan = f->cloud->nan;
    info->inf = f->cloud->inf;
    info->left_out = f->cloud->left_out;
    return status == ATN_OK ? atn_frame_rewind(f) : status;
}

/* Elements of which no atom has been seen are at the origin. */
static void end_bounds(atn_frame_info *info) {
    for (int d = 0; d < 3 && !info->atoms; ++d) info->low[d] = info->high[d] = 0;
}

static atn_status open_streamed(atn_frame *f, ion_layout_find *find, const char *name,
                                const atn_cloud_settings *options) {
    ion_layout layout = {0};
    f->streamed = true;
    atn_status status = cloud_make(f->ctx, options, &f->cloud);
    if (status == ATN_OK) status = find(&f->s, f->cloud, &layout);
    if (status == ATN_OK) status = ions_open(&f->s, &layout, &f->ions);
    size_t room = status == ATN_OK && layout.ions < ATN_FRAME_PIECE ? layout.ions : ATN_FRAME_PIECE;
    if (status == ATN_OK) status = cloud_begin(f->cloud, &f->s, ions_roles(&f->ions), room);
    f->info = (atn_frame_info){.format = name, .masses = status == ATN_OK && layout.masses, .streamed = true};
    return status;
}

static atn_status check_one(const atn_frame *f, size_t frames) {
    if (frames == 1) return ATN_OK;
    return atn_fail(f->ctx, ATN_ERR_INPUT, "%s: has %zu frames, one is needed", f->path, frames);
}

/* Reads all of it, a piece at a time into the temporary file. */
static atn_status open_kept(atn_frame *f, const cloud_format *format, const atn_cloud_settings *options) {
    enum { LEAST = 6 }; /* bytes of a line with an atom */
    size_t most = source_left(&f->s) / LEAST + 1;
    f->streamed = true;
    atn_status status = cloud_make(f->ctx, options, &f->cloud);
    if (status == ATN_OK) status = spill_make(f->ctx, sizeof(kept_atom), 1, &most, 0, NULL, &f->kept);
    if (status != ATN_OK) return status;
    f->read = atn_alloc(f->ctx, ATN_FRAME_PIECE * sizeof *f->read);
    if (!f->read) return ATN_ERR_MEMORY;
    f->cloud->drain = keep;
    f->cloud->drain_user = f;
    f->cloud->most = ATN_FRAME_PIECE;
    status = format->read(&f->s, f->cloud);
    if (status == ATN_OK) status = keep(f, f->cloud);
    if (status == ATN_OK) status = spill_end(f->kept);
    f->cloud->drain = NULL;
    atn_cloud_info info = atn_cloud_info_of(f->cloud);
    f->info =
        (atn_frame_info){.format = format->name, .masses = info.masses, .species = info.species, .streamed = true};
    return status == ATN_OK ? check_one(f, info.frames) : status;
}

static atn_status open_whole(atn_frame *f, const atn_cloud_settings *options) {
    atn_status status = cloud_read_source(&f->s, options, 0, &f->cloud);
    if (status != ATN_OK) return status;
    atn_cloud_info info = atn_cloud_info_of(f->cloud);
    f->info = (atn_frame_info){.format = info.format, .masses = info.masses, .species = info.species};
    return check_one(f, info.frames);
}

static atn_status open_one(atn_frame *f, const char *path, const atn_cloud_settings *options, size_t whole) {
    const char *head;
    size_t length;
    enum { HEAD = 16 };
    f->path = atn_strdup(f->ctx, path);
    f->index = f->path ? atn_alloc(f->ctx, ATN_FRAME_PIECE * sizeof *f->index) : NULL;
    if (!f->index) return ATN_ERR_MEMORY;
    atn_status status = source_open(f->ctx, f->path, &f->s);
    f->s.tells = true;
    if (status == ATN_OK) status = source_peek(&f->s, HEAD, &head, &length);
    if (status != ATN_OK) return status;
    const cloud_format *format = cloud_format_of(path, head, length);
    ion_layout_find *find = layout_of(path, head, length);
    bool text = format && format == &CLOUD_XYZ && source_left(&f->s) > whole;
    status = find && format ? open_streamed(f, find, format->name, options)
             : text         ? open_kept(f, format, options)
                            : open_whole(f, options);
    f->info.angstrom = find ? 10 : 1;
    if (status != ATN_OK) return status;
    take_part(f);
    return look_through(f);
}

static atn_status frame_make(atn_ctx *ctx, const char *path, const atn_cloud_settings *options, size_t whole,
                             atn_ranks *ranks, atn_frame **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    atn_status status = *out ? ATN_OK : ATN_ERR_MEMORY;
    if (*out) {
        (*out)->ctx = ctx;
        (*out)->ranks = ranks;
        status = open_one(*out, path, options, whole);
    }
    if (ranks) status = status == ATN_OK ? join_parts(*out, status) : atn_ranks_agree(ranks, status);
    if (status == ATN_OK && *out) end_bounds(&(*out)->info);
    if (status == ATN_OK) return ATN_OK;
    atn_frame_close(*out);
    *out = NULL;
    return status;
}

atn_status frame_open(atn_ctx *ctx, const char *path, const atn_cloud_settings *options, size_t whole,
                      atn_frame **out) {
    return frame_make(ctx, path, options, whole, NULL, out);
}

enum { WHOLE = 1 << 26 };

atn_status atn_frame_open(atn_ctx *ctx, const char *path, const atn_cloud_settings *given, atn_frame **out) {
    atn_cloud_settings settings;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_cloud_settings, given, &settings);
    return status == ATN_OK ? frame_open(ctx, path, &settings, WHOLE, out) : status;
}

atn_status frame_open_ranks(atn_ctx *ctx, const char *path, const atn_cloud_settings *given, atn_ranks *ranks,
                            atn_frame **out) {
    return frame_make(ctx, path, given, WHOLE, ranks->count > 1 ? ranks : NULL, out);
}
