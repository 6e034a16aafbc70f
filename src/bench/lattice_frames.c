/* Whole frames of crystal grains, with estimated settings: are confidences calibrated? The fraction right of the atoms
 * with a confidence of 0.85 to 0.95, against their mean confidence. And frames of none of the models: the fraction that
 * is classified as other. The default seed is one that the calibration was developed with; others are fresh. */
#include "bench/lattice.h"

#include "apps/lattice/atoms.h"
#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

enum { ATOMS = 24000, PIECE = 500 };           /* of a frame, at most */
enum { FEWEST = 50 };                          /* atoms told at 0.85 to 0.95 whose share says something: to 0.04 */
static const double LEAST = 0.80, MOST = 0.97; /* share of them that may be right */

/* Where a frame has one structure and no background, whatever is told as that structure is right: such frames say
 * nothing, so single structures have a little background. */
static const struct frame {
    crystal_structure lattice[3];
    double constant[3]; /* 0: as usual */
    size_t lattices, grains, atoms;
    double noise, depth, missing, background;
} FRAMES[] = {
    {{CRYSTAL_BCC}, {0}, 1, 16, 16000, 0.2, 0.2, 0.4, 0.02},
    {{CRYSTAL_FCC}, {0}, 1, 16, 16000, 0.3, 0.3, 0.4, 0.02},
    {{CRYSTAL_HCP}, {0}, 1, 16, 16000, 0.3, 0.3, 0.4, 0.02},
    {{CRYSTAL_BCC, CRYSTAL_FCC}, {0}, 2, 24, 24000, 0.2, 0.2, 0.6, 0},
    {{CRYSTAL_BCC, CRYSTAL_FCC}, {0}, 2, 8, 8000, 0.3, 0.3, 0.4, 0},
    {{CRYSTAL_BCC, CRYSTAL_HCP, CRYSTAL_FCC}, {0}, 3, 9, 8000, 0.3, 0.3, 0.4, 0},
    {{CRYSTAL_BCC, CRYSTAL_FCC}, {0}, 2, 4, 8000, 0.5, 0.15, 0.4, 0},
    {{CRYSTAL_BCC}, {0}, 1, 4, 16000, 0.2, 0.2, 0.4, 0.1},
    {{CRYSTAL_FCC}, {0}, 1, 4, 16000, 0.2, 0.2, 0.4, 0.1},
    {{CRYSTAL_BCC, CRYSTAL_BCC}, {2.87, 3.3}, 2, 12, 24000, 0.2, 0.2, 0.4, 0.02},
    {{CRYSTAL_GAS}, {0}, 1, 1, 8000, 0.2, 0.2, 0.4, 0},
    {{CRYSTAL_PACKING}, {0}, 1, 1, 8000, 0.2, 0.2, 0.4, 0},
    {{CRYSTAL_SC}, {0}, 1, 2, 8000, 0.2, 0.2, 0.4, 0},
    {{CRYSTAL_DIAMOND}, {0}, 1, 2, 8000, 0.2, 0.2, 0.4, 0},
    {{CRYSTAL_PLANES}, {0}, 1, 2, 8000, 0.2, 0.2, 0.4, 0},
};

static bool is_null(const struct frame *f) { return f->lattice[0] >= CRYSTAL_SC; }

/* Positions in Angstrom and labels. */
typedef struct made {
    double *axis[3];
    int32_t *label;
    bool *background;
    atn_lattice_atom *atom;
} made;

static atn_status make(atn_ctx *ctx, const struct frame *f, uint64_t seed, made *out) {
    atn_sample_atoms_settings s = {.size = f->atoms, .seed = seed, .lattices = f->lattices, .grains = f->grains};
    atn_sample_atoms *atoms = NULL;
    atn_sample_atom rows[PIECE];
    for (size_t k = 0; k < f->lattices; ++k) {
        s.lattice[k] = f->lattice[k];
        s.constant[k] = f->constant[k] > 0 ? f->constant[k] : crystal_usual(f->lattice[k]);
    }
    s.lateral = f->noise, s.depth = f->depth, s.efficiency = 1 - f->missing, s.background = f->background;
    s.n_species = 1;
    s.species[0] = (atn_sample_species){.name = "Fe", .share = 1, .mass = 55.845};
    atn_status status = atn_sample_atoms_make(ctx, &s, NULL, NULL, &atoms);
    size_t got = 1, n = 0;
    while (status == ATN_OK && got) {
        status = atn_sample_atoms_next(atoms, PIECE, rows, &got);
        for (size_t k = 0; k < got && status == ATN_OK; ++k, ++n) {
            for (int axis = 0; axis < 3; ++axis) out->axis[axis][n] = 10 * (double)rows[k].position[axis];
            const crystal_grain *grain = atn_sample_atoms_crystal(atoms)->grain;
            out->background[n] = rows[k].grain < 0;
            out->label[n] = rows[k].grain < 0 || is_null(f) ? 0 : (int32_t)grain[rows[k].grain].structure;
        }
    }
    atn_sample_atoms_free(atoms);
    return status;
}

/* Frames whose share says something, and those of them that keep their promise. */
typedef struct tally {
    int told, kept;
} tally;

static void tell(const made *m, const struct frame *f, tally *t, atn_bench_row *row) {
    double n = 0, right = 0, promised = 0, all = 0, background = 0, found = 0, atoms = (double)f->atoms;
    for (size_t k = 0; k < f->atoms; ++k) {
        double confidence = (double)m->atom[k].confidence;
        bool is = m->atom[k].structure == m->label[k];
        all += is, background += m->background[k], found += m->background[k] && is;
        if (confidence < 0.85 || confidence >= 0.95) continue;
        n += 1, right += is, promised += confidence;
    }
    row->ours = is_null(f) ? 100 * all / atoms : n > 0 ? 100 * right / n : 0;
    if (is_null(f)) return;
    row->reference = n > 0 ? 100 * promised / n : 0;
    row->ratio = promised > 0 ? right / promised : 0;
    snprintf(row->reference_name, sizeof row->reference_name, "mean confidence");
    double share = n > 0 ? right / n : 0, scatters = n > 0 ? sqrt(0.9 * 0.1 / n) : 0;
    bool says = n >= FEWEST, kept = share >= LEAST && share <= MOST;
    t->told += says;
    t->kept += says && kept;
    int at = snprintf(row->note, sizeof row->note, "%.0f of %zu atoms (± %.1f %%)%s; %.4f of all are right", n,
                      f->atoms, 100 * scatters,
                      !says  ? ", too few to say"
                      : kept ? ""
                             : ", outside 80 to 97 %",
                      all / atoms);
    if (background > 0)
        snprintf(row->note + at, sizeof row->note - (size_t)at, "; %.3f of background, %.4f of others",
                 found / background, (all - found) / (atoms - background));
}

static atn_status measure(atn_ctx *ctx, atn_device *device, const struct frame *f, uint64_t seed, made *m, tally *t,
                          atn_bench_row *row) {
    atn_lattice *lattice = NULL;
    atn_lattice_settings settings = {.noise = f->depth != f->noise ? f->noise : 0};
    settings.depth_noise = f->depth != f->noise ? f->depth : 0;
    atn_status status = make(ctx, f, seed, m);
    if (status == ATN_OK) status = atn_lattice_create(device, &settings, &lattice);
    atn_atoms atoms = {.count = f->atoms, .own = f->atoms, .position = {m->axis[0], m->axis[1], m->axis[2]}};
    double from = atn_clock_seconds();
    if (status == ATN_OK) status = atn_lattice_match(lattice, &atoms, 1, m->atom);
    row->seconds = atn_clock_seconds() - from;
    atn_lattice_free(lattice);
    if (status == ATN_OK) tell(m, f, t, row);
    return status;
}

static void name(const struct frame *f, atn_bench_row *row) {
    int at = snprintf(row->name, sizeof row->name, is_null(f) ? "other, " : "right at 0.9, ");
    for (size_t k = 0; k < f->lattices; ++k)
        at +=
            snprintf(row->name + at, sizeof row->name - (size_t)at, "%s%s", k ? "+" : "", crystal_name(f->lattice[k]));
    at += snprintf(row->name + at, sizeof row->name - (size_t)at, ", noise %.2f", f->noise);
    if (f->depth != f->noise) at += snprintf(row->name + at, sizeof row->name - (size_t)at, ",%.2f", f->depth);
    at += snprintf(row->name + at, sizeof row->name - (size_t)at, ", missing %.0f %%", 100 * f->missing);
    if (f->background > 0)
        snprintf(row->name + at, sizeof row->name - (size_t)at, ", background %.0f %%", 100 * f->background);
    snprintf(row->shape, sizeof row->shape, "%zu, %zu grains", f->atoms, f->grains);
}

static bool sum_up(const atn_bench_lattice_options *options, const tally *t) {
    atn_bench_row row = {.unit = "%", .reference = 100, .ours = t->told ? 100.0 * t->kept / t->told : 100};
    row.ratio = row.ours / row.reference;
    snprintf(row.name, sizeof row.name, "frames that keep their promise");
    snprintf(row.shape, sizeof row.shape, "%d of %d", t->kept, t->told);
    snprintf(row.reference_name, sizeof row.reference_name, "wanted");
    snprintf(row.note, sizeof row.note, "80 to 97 %% right at 0.85 to 0.95, where that are %d atoms or more",
             (int)FEWEST);
    return atn_bench_visit(&options->to, &row);
}

size_t atn_bench_lattice_frame_steps(void) { return sizeof FRAMES / sizeof *FRAMES; }

atn_status atn_bench_lattice_frames(atn_ctx *ctx, atn_device *device, const atn_bench_lattice_options *options) {
    made m = {.label = atn_alloc(ctx, ATOMS * sizeof *m.label), .atom = atn_alloc(ctx, ATOMS * sizeof *m.atom)};
    m.background = atn_alloc(ctx, ATOMS * sizeof *m.background);
    tally t = {0};
    bool room = m.label && m.atom && m.background, go = true;
    for (int axis = 0; axis < 3; ++axis) {
        m.axis[axis] = atn_alloc(ctx, ATOMS * sizeof **m.axis);
        room = room && m.axis[axis];
    }
    atn_status status = room ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < sizeof FRAMES / sizeof *FRAMES && go && status == ATN_OK; ++k) {
        atn_bench_row row = {.unit = "%"};
        name(&FRAMES[k], &row);
        snprintf(row.device, sizeof row.device, "%s", atn_device_get_info(device)->name);
        atn_bench_progress(&options->to, row.name);
        status = measure(ctx, device, &FRAMES[k], options->seed, &m, &t, &row);
        if (status == ATN_OK) go = atn_bench_visit(&options->to, &row);
    }
    if (status == ATN_OK && go) sum_up(options, &t);
    for (int axis = 0; axis < 3; ++axis) atn_free(ctx, m.axis[axis]);
    atn_free(ctx, m.label);
    atn_free(ctx, m.background);
    atn_free(ctx, m.atom);
    return status;
}
