/* The powers of likelihoods, so that confidences come true: a small frame is made with what was found of the real one
 * (phases, shares, noise, efficiency, background), matched with the same tables, and the powers are those with which
 * its known structures are most likely. What the making of frames does not have (strain, aberrations) is not in them.
 */
#include "apps/lattice/parts.h"

#include "apps/sample/atoms.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { ATOMS = 1000, ROUNDS = 2 };
static const double LEAST = 0.02; /* share of a phase */
static const double FAITH = 1;    /* nats that doubling or halving a power must gain */

typedef struct made {
    size_t count;
    double axis[3][ATOMS];
    int32_t label[ATOMS];
    atn_lattice_atom atom[ATOMS];
    size_t which[ATOMS];
} made;

/* ---- the frame ---- */

/* False: a phase is there that cannot be made. */
static bool describe(const atn_lattice *l, atn_sample_atoms_settings *s) {
    *s = (atn_sample_atoms_settings){.size = ATOMS, .seed = 8, .n_species = 1};
    s->species[0] = (atn_sample_species){.name = "Fe", .share = 1, .mass = 55.845};
    s->lateral = l->info.noise, s->depth = l->info.depth_noise;
    s->efficiency = fmin(l->info.efficiency, 1);
    s->strangers = l->info.background > 0.01 ? l->info.background : 0;
    for (int32_t m = 0; m < l->info.models && s->lattices < ATOMS_LATTICES; ++m) {
        crystal_structure k = CRYSTAL_BCC;
        if (l->info.share[m + 1] < LEAST) continue;
        while (k < CRYSTAL_GAS && strcmp(crystal_name(k), l->info.name[m]) != 0) ++k;
        if (l->slot[m].model.points || k == CRYSTAL_GAS || l->slot[m].strange) return false;
        s->lattice[s->lattices] = k;
        s->constant[s->lattices++] = l->info.constant[m];
    }
    s->grains = s->lattices > 1 ? s->lattices : 2;
    return s->lattices > 0;
}

static int32_t structure_of(const atn_lattice *l, crystal_structure k) {
    for (int32_t m = 0; m < l->info.models; ++m)
        if (strcmp(crystal_name(k), l->info.name[m]) == 0) return l->info.structure[m];
    return 0;
}

static atn_status make(const atn_lattice *l, const atn_sample_atoms_settings *s, made *out) {
    atn_ctx *ctx = atn_device_ctx(l->device);
    atn_sample_atoms *atoms = NULL;
    atn_sample_atom rows[100];
    size_t got = 1;
    atn_status status = atn_sample_atoms_make(ctx, s, NULL, NULL, &atoms);
    while (status == ATN_OK && got) {
        status = atn_sample_atoms_next(atoms, sizeof rows / sizeof *rows, rows, &got);
        for (size_t k = 0; k < got && status == ATN_OK && out->count < ATOMS; ++k, ++out->count) {
            const crystal_grain *grain = atn_sample_atoms_crystal(atoms)->grain;
            for (int axis = 0; axis < 3; ++axis) out->axis[axis][out->count] = 10 * (double)rows[k].position[axis];
            out->label[out->count] = rows[k].grain < 0 ? 0 : structure_of(l, grain[rows[k].grain].structure);
        }
    }
    atn_sample_atoms_free(atoms);
    return status;
}

/* All of it in one batch, which stays: l->near and l->found. */
static atn_status match(atn_lattice *l, made *m) {
    atn_atoms atoms = {.count = m->count, .own = m->count, .position = {m->axis[0], m->axis[1], m->axis[2]}};
    lattice_cells cells = {0};
    atn_status status = lattice_cells_make(l->ctx, &atoms, 1, l->info.cutoff, &cells);
    size_t n = 0;
    for (size_t k = 0; k < m->count && status == ATN_OK && !lattice_batch_is_full(l); ++k, ++n) {
        m->which[n] = (size_t)cells.order[k]; /* as they lie, so that turns of those before help */
        lattice_add_atom(l, &cells, m->which[n]);
    }
    lattice_cells_free(&cells);
    if (status == ATN_OK) status = lattice_run_batch(l, m->which, m->atom);
    m->count = n;
    return status;
}

/* ---- the powers ---- */

/* Logarithm of the chance that the right structures have. */
static double score(atn_lattice *l, const made *m) {
    double sum = 0;
    for (size_t i = 0; i < m->count; ++i) {
        double chance[ATN_LATTICE_MOST_MODELS + 1], right = 0;
        atn_lattice_atom atom;
        lattice_judge(l, i, &atom, chance);
        int32_t label = m->label[m->which[i]];
        for (int32_t c = 0; c <= l->info.models; ++c)
            if ((c ? l->info.structure[c - 1] : 0) == label) right += chance[c];
        sum += log(fmax(right, 1e-4)); /* some are hopeless */
    }
    return sum;
}

static void choose(atn_lattice *l, const made *m, double *power, const double *values, size_t count) {
    double best = *power, usual = *power, most = score(l, m);
    for (size_t k = 0; k < count; ++k) {
        *power = values[k];
        double here = score(l, m) - FAITH * fabs(log2(values[k] / usual));
        if (here > most) most = here, best = values[k];
    }
    *power = best;
}

static void choose_all(atn_lattice *l, const made *m) {
    static const double WHOLE[] = {0.5, 0.65, 0.8, 0.95}, PART[] = {0.04, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6},
                        EVEN[] = {0.05, 0.25, 0.5, 0.75, 0.9};
    for (int round = 0; round < ROUNDS; ++round) {
        choose(l, m, &l->temper_part, PART, sizeof PART / sizeof *PART);
        choose(l, m, &l->even_part, EVEN, sizeof EVEN / sizeof *EVEN);
        choose(l, m, &l->temper, WHOLE, sizeof WHOLE / sizeof *WHOLE);
    }
}

atn_status lattice_calibrate(atn_lattice *l) {
    atn_sample_atoms_settings about;
    if (!describe(l, &about)) return ATN_OK;
    made *m = atn_zalloc(l->ctx, sizeof *m);
    atn_status status = m ? make(l, &about, m) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = match(l, m);
    if (status == ATN_OK) choose_all(l, m);
    memset(&l->recent, 0, sizeof l->recent);
    l->near.atoms = 0;
    atn_free(l->ctx, m);
    return status;
}
