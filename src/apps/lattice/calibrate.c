/* Calibrated confidences, from synthetic frames generated with the estimated properties of the real one (phases, noise,
 * efficiency, background) and matched with the same tables. The powers of likelihoods are those with which the known
 * structures of a small frame are most likely. In a larger frame, the odds of being right are then derived from the
 * odds o that likelihoods give: as o^a e^b over all atoms (Platt), corrected by groups of similar odds if they have
 * enough atoms: errors are at boundaries, where likelihoods know least. Atoms classified as other have odds of their
 * own: if there is hardly any background, they are the ones that are wrong. Effects that synthetic frames do not
 * include (strain, aberrations) are in neither. */
#include "apps/lattice/parts.h"

#include "apps/lattice/atoms.h"
#include "apps/lattice/shared.h"
#include "base/attempt.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { ATOMS = 1000, CHECKED = 4000, FRAMES = 3, ROUNDS = 2, MOST_VALUES = 9 };
static const double LEAST = 0.02; /* share of a phase */
static const double FAITH = 1;    /* nats that doubling or halving a power must gain */
static const double ENOUGH = 40;  /* atoms of which as many are right as there will be */
static const double DOUBT = 10;   /* atoms that count as if they were right as often as all atoms together say */
static const double SUREST = 0.999999;
static const double SOME = 0.01;                    /* background that the first frames are made with */
enum { LEAST_SURE = 20 };                           /* atoms that tell it */
static const double FINEST = 0.0085;                /* of the cut-off: noise that tables still show */
static const double CONSTANT = 0.002, NOISE = 0.02; /* relative changes that matter */

typedef struct made {
    size_t count;
    double axis[3][FRAMES * CHECKED];
    int32_t label[FRAMES * CHECKED];
    atn_lattice_atom atom[FRAMES * CHECKED];
    size_t which[ATOMS];
    double odds[FRAMES * CHECKED]; /* of confidences, as logarithms */
} made;

/* ---- the frame ---- */

/* False: a phase is there that cannot be made. */
static bool describe(const atn_lattice *l, atn_sample_atoms_settings *s) {
    *s = (atn_sample_atoms_settings){.n_species = 1};
    s->species[0] = (atn_sample_species){.name = "Fe", .share = 1, .mass = 55.845};
    s->lateral = l->info.noise, s->depth = l->info.depth_noise;
    s->efficiency = fmin(l->info.efficiency, 1);
    s->background = l->info.background > SOME ? l->info.background : 0;
    for (int32_t m = 0; m < l->info.models && s->lattices < ATOMS_LATTICES; ++m) {
        crystal_structure k = CRYSTAL_BCC;
        if (l->info.share[m + 1] < LEAST) continue;
        const char *name = l->order[m].base ? l->order[m].base : l->info.name[m];
        while (k < CRYSTAL_PLANES && strcmp(crystal_name(k), name) != 0) ++k;
        if (l->slot[m].model.points || k == CRYSTAL_PLANES || l->slot[m].strange) return false;
        s->lattice[s->lattices] = k;
        s->constant[s->lattices++] = l->info.constant[m];
    }
    return s->lattices > 0;
}

static int32_t structure_of(const atn_lattice *l, crystal_structure k) {
    for (int32_t m = 0; m < l->info.models; ++m)
        if (strcmp(crystal_name(k), l->order[m].base ? l->order[m].base : l->info.name[m]) == 0)
            return l->info.structure[m];
    return 0;
}

/* So many atoms from place `at` on; every phase has as many grains, of about 1,000 atoms or less. */
static atn_status make_one(const atn_lattice *l, const atn_sample_atoms_settings *about, size_t size, size_t at,
                           made *out) {
    atn_ctx *ctx = atn_device_ctx(l->device);
    atn_sample_atoms_settings s = *about;
    atn_sample_atoms *atoms = NULL;
    atn_sample_atom rows[100];
    size_t got = 1, least = size / ATOMS > 2 ? size / ATOMS : 2, end = at + size;
    s.size = size;
    s.seed = end; /* any, but the same one whenever */
    s.grains = (least + s.lattices - 1) / s.lattices * s.lattices;
    atn_status status = atn_sample_atoms_make(ctx, &s, NULL, NULL, &atoms);
    while (status == ATN_OK && got) {
        status = atn_sample_atoms_next(atoms, sizeof rows / sizeof *rows, rows, &got);
        for (size_t k = 0; k < got && status == ATN_OK && at < end; ++k, ++at) {
            const crystal_grain *grain = atn_sample_atoms_crystal(atoms)->grain;
            for (int axis = 0; axis < 3; ++axis) out->axis[axis][at] = 10 * (double)rows[k].position[axis];
            out->label[at] = rows[k].grain < 0 ? 0 : structure_of(l, grain[rows[k].grain].structure);
        }
    }
    atn_sample_atoms_free(atoms);
    return status;
}

/* Frames of that many atoms each, side by side. */
typedef struct frames {
    const atn_lattice *l;
    const atn_sample_atoms_settings *about;
    size_t size, first; /* first: that is made here */
    made *out;
} frames;

static atn_status make_part(void *user, int64_t from, int64_t to) {
    const frames *f = user;
    atn_status status = ATN_OK;
    for (size_t k = f->first + (size_t)from; k < f->first + (size_t)to && status == ATN_OK; ++k)
        status = make_one(f->l, f->about, f->size, f->out->count + k * f->size, f->out);
    return status;
}

/* Of several frames ranks make some each. */
static atn_status make(atn_lattice *l, const atn_sample_atoms_settings *about, size_t size, size_t count, made *out) {
    frames f = {.l = l, .about = about, .size = size, .out = out};
    size_t end = count;
    if (count > 1) lattice_shared_cut(l, count, &f.first, &end);
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_MADE);
    atn_status status = atn_attempt(l->ctx, (int64_t)(end - f.first), 0, make_part, &f);
    out->count += count * size;
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

/* All of it in one batch, which stays: l->near and l->found. */
static atn_status match(atn_lattice *l, made *m) {
    atn_atoms atoms = {.count = m->count, .own = m->count, .position = {m->axis[0], m->axis[1], m->axis[2]}};
    lattice_cells cells = {0};
    lattice_around around = {0};
    atn_status status = lattice_cells_make(l->ctx, &atoms, 1, l->info.cutoff, &cells);
    if (status == ATN_OK) status = lattice_around_make(&cells, cells.order, m->count, &around);
    size_t n = 0;
    for (size_t k = 0; k < m->count && status == ATN_OK && !lattice_batch_is_full(l); ++k, ++n) {
        m->which[n] = (size_t)cells.order[k]; /* as they lie, so that turns of those before help */
        lattice_add_atom(l, &cells, m->which[n]);
    }
    if (status == ATN_OK && n) status = lattice_engine_run(l);
    if (status == ATN_OK) {
        lattice_judge_first(l, &around, m->which, m->atom);
        status = lattice_rivals(l, l->sure);
    }
    if (status == ATN_OK) status = lattice_judge_shared(l, &around, m->which, m->atom);
    l->near.atoms = 0;
    lattice_around_free(&around);
    lattice_cells_free(&cells);
    m->count = n;
    return status;
}

/* ---- what is seen of a frame without background ---- */

typedef struct seen {
    size_t sure;
    double alone[ATOMS];
    lattice_fit fit[ATN_LATTICE_MOST_MODELS];
} seen;

/* What one atom of the frame says; of several ranks each looks at some. */
typedef struct looked {
    int32_t model; /* that it takes and is sure of; -1: none */
    double alone, square, weight, stretch[2];
} looked;

static looked look_at(const atn_lattice *l, const made *m, size_t i) {
    const atn_lattice_atom *a = &m->atom[m->which[i]];
    double n = l->near.start[i + 1] - l->near.start[i];
    looked out = {.model = -1};
    if (!a->structure || a->confidence < 0.9F || !(n > 0)) return out;
    out.model = a->phase - 1;
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)out.model];
    out.alone = fmax(0, 1 - (double)f->weight / n);
    out.square = (double)f->spread, out.weight = (double)f->weight;
    lattice_stretch(l, out.model, i, out.stretch);
    return out;
}

static void add_up(const atn_lattice *l, const looked *list, size_t count, seen *out) {
    double stretch[ATN_LATTICE_MOST_MODELS][2] = {{0}}, weight[ATN_LATTICE_MOST_MODELS] = {0};
    for (size_t i = 0; i < count; ++i) {
        const looked *a = &list[i];
        if (a->model < 0) continue;
        out->alone[out->sure++] = a->alone;
        ++out->fit[a->model].atoms;
        for (int k = 0; k < 2; ++k) stretch[a->model][k] += a->stretch[k];
        out->fit[a->model].square += a->square, weight[a->model] += a->weight;
    }
    for (int32_t k = 0; k < l->info.models; ++k) {
        out->fit[k].stretch = stretch[k][0] / fmax(stretch[k][1], 1e-9);
        out->fit[k].square /= fmax(weight[k], 1e-9);
    }
}

static atn_status look(atn_lattice *l, const atn_sample_atoms_settings *about, made *m, seen *out) {
    atn_sample_atoms_settings plain = *about;
    looked *list = atn_alloc(l->ctx, ATOMS * sizeof *list);
    size_t from, to;
    *out = (seen){0};
    plain.background = 0;
    m->count = 0;
    atn_status status = list ? make(l, &plain, ATOMS, 1, m) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = match(l, m);
    lattice_shared_cut(l, m->count, &from, &to);
    for (size_t i = from; i < to && status == ATN_OK; ++i) list[i] = look_at(l, m, i);
    if (list) status = lattice_shared_join(l, status, list, m->count, sizeof *list);
    if (status == ATN_OK) add_up(l, list, m->count, out);
    atn_free(l->ctx, list);
    l->near.atoms = 0;
    memset(&l->recent, 0, sizeof l->recent);
    return status;
}

/* Factors that make `made` of `found`; false: they are all near to 1. */
static bool take_factors(atn_lattice *l, const seen *made_as) {
    double square[2] = {0};
    bool changed = false;
    for (int32_t k = 0; k < l->info.models; ++k) {
        const lattice_fit *found = &l->slot[k].seen, *of = &made_as->fit[k];
        if (found->atoms < LEAST_SURE || of->atoms < LEAST_SURE || l->slot[k].model.points) continue;
        square[0] += (double)found->atoms * found->square, square[1] += (double)found->atoms * of->square;
        double times = found->stretch / of->stretch;
        if (l->slot[k].model.constant > 0 || fabs(times - 1) < CONSTANT) continue;
        l->info.constant[k] *= fmin(fmax(times, 0.97), 1.03);
        changed = true;
    }
    double times = square[1] > 0 ? sqrt(square[0] / square[1]) : 1;
    if (lattice_given_noise(l) > 0 || fabs(times - 1) < NOISE) return changed;
    double noise = l->info.noise * fmin(fmax(times, 0.8), 1.25), least = FINEST * l->info.cutoff;
    if (noise < least && l->info.noise <= least) return changed;
    lattice_take_noise(l, fmax(noise, least));
    return true;
}

atn_status lattice_correct(atn_lattice *l, bool *changed) {
    atn_sample_atoms_settings about;
    *changed = false;
    if (!describe(l, &about)) return ATN_OK;
    made *m = atn_alloc(l->ctx, sizeof *m); /* megabytes, of which it uses a twelfth */
    seen *s = atn_zalloc(l->ctx, sizeof *s);
    atn_status status = m && s ? look(l, &about, m, s) : ATN_ERR_MEMORY;
    if (status == ATN_OK) *changed = take_factors(l, s);
    atn_free(l->ctx, s);
    atn_free(l->ctx, m);
    return status;
}

/* Some neighbours seem to be on no site where all are: that share, which a frame without background has too, is taken
 * off. */
static atn_status correct_background(atn_lattice *l, atn_sample_atoms_settings *about, made *m) {
    if (about->background == 0 || lattice_background_given(&l->settings)) return ATN_OK;
    seen *s = atn_zalloc(l->ctx, sizeof *s);
    atn_status status = s ? look(l, about, m, s) : ATN_ERR_MEMORY;
    double none = 0;
    bool told = status == ATN_OK && s->sure >= LEAST_SURE;
    if (told) status = lattice_background(l->ctx, s->alone, s->sure, l->info.neighbours, &none);
    if (told && status == ATN_OK) {
        l->info.background = fmax((l->info.background - none) / (1 - none), LATTICE_FEWEST);
        about->background = l->info.background > SOME ? l->info.background : 0;
    }
    atn_free(l->ctx, s);
    return status;
}

/* ---- the powers ---- */

typedef struct scoring {
    const atn_lattice *l;
    const made *m;
    double chance[ATOMS];
} scoring;

static void score_part(void *user, int64_t from, int64_t to) {
    scoring *x = user;
    const atn_lattice *l = x->l;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        double chance[ATN_LATTICE_MOST_MODELS + 1], right = 0;
        atn_lattice_atom atom;
        lattice_judge(l, i, &atom, chance);
        int32_t label = x->m->label[x->m->which[i]];
        for (int32_t c = 0; c <= l->info.models; ++c)
            if ((c ? l->info.structure[c - 1] : 0) == label) right += chance[c];
        x->chance[i] = log(fmax(right, 1e-4)); /* some are hopeless */
    }
}

/* Logarithm of the chance that the right structures have. */
static double score(const atn_lattice *l, const made *m) {
    scoring x = {.l = l, .m = m};
    double sum = 0;
    atn_parallel((int64_t)m->count, LATTICE_PART, score_part, &x);
    for (size_t i = 0; i < m->count; ++i) sum += x.chance[i];
    return sum;
}

/* Of several ranks each tries some. */
static atn_status choose(atn_lattice *l, const made *m, double *power, const double *values, size_t count) {
    double told[MOST_VALUES + 1], most = -INFINITY, usual = *power, best = usual; /* the first: of the usual one */
    size_t from, to;
    lattice_shared_cut(l, count + 1, &from, &to);
    for (size_t k = from; k < to; ++k) {
        *power = k ? values[k - 1] : usual;
        told[k] = score(l, m) - FAITH * fabs(log2(*power / usual));
    }
    atn_status status = lattice_shared_join(l, ATN_OK, told, count + 1, sizeof *told);
    for (size_t k = 0; k <= count && status == ATN_OK; ++k)
        if (told[k] > most) most = told[k], best = k ? values[k - 1] : usual;
    *power = best;
    return status;
}

static atn_status choose_all(atn_lattice *l, const made *m) {
    static const double WHOLE[] = {0.4, 0.5, 0.65, 0.8, 0.95, 1.2},
                        PART[MOST_VALUES] = {0.04, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.8, 1};
    atn_status status = ATN_OK;
    for (int round = 0; round < ROUNDS && status == ATN_OK; ++round) {
        status = choose(l, m, &l->temper_part, PART, sizeof PART / sizeof *PART);
        if (status == ATN_OK) status = choose(l, m, &l->temper, WHOLE, sizeof WHOLE / sizeof *WHOLE);
    }
    return status;
}

/* ---- the odds ---- */

/* Logarithms of odds x that likelihoods give come true as slope x + step. */
typedef struct line {
    double slope, step;
} line;

static double chance_at(const line *p, double x) { return 1 / (1 + exp(-p->slope * x - p->step)); }

static bool is_right(const made *m, size_t k) { return m->atom[k].structure == m->label[k]; }
static bool is_other(const made *m, size_t k) { return m->atom[k].structure == 0; }

/* The likeliest line, by Newton's method; right and wrong count a little less than wholly (Platt 1999), so that there
 * is one where no atom is wrong. */
static line fit_line(made *m, bool other) {
    line p = {1, 0};
    double right = 0, n = 0;
    for (size_t k = 0; k < m->count; ++k)
        if (is_other(m, k) == other) right += is_right(m, k), n += 1;
    double target[2] = {1 / (n - right + 2), (right + 1) / (right + 2)};
    for (size_t k = 0; k < m->count; ++k) m->odds[k] = lattice_odds(fmin((double)m->atom[k].confidence, SUREST));
    for (int round = 0; round < 30; ++round) {
        double g[2] = {0}, h[3] = {1e-3, 0, 1e-3};
        for (size_t k = 0; k < m->count; ++k) {
            if (is_other(m, k) != other) continue;
            double x = m->odds[k], c = chance_at(&p, x);
            double off = target[is_right(m, k)] - c, w = c * (1 - c);
            g[0] += off * x, g[1] += off;
            h[0] += w * x * x, h[1] += w * x, h[2] += w;
        }
        double det = h[0] * h[2] - h[1] * h[1], by = 1;
        double slope = (h[2] * g[0] - h[1] * g[1]) / det, step = (h[0] * g[1] - h[1] * g[0]) / det;
        if (!(det > 0) || !isfinite(slope + step)) break;
        if (fabs(slope) + fabs(step) > 1) by = 1 / (fabs(slope) + fabs(step)); /* not too far at once */
        line before = p;
        p.slope = fmax(p.slope + by * slope, 0.05);
        p.step += by * step;
        if (p.slope == before.slope && p.step == before.step) break; /* and so it would stay */
    }
    return p;
}

/* Atoms of about the same confidence: how many, the sums of their confidences and of what the line makes of them, how
 * many are right. */
typedef struct group {
    double n, told, fitted, right;
} group;

static double truth(const group *g) { return lattice_odds((g->right + DOUBT * g->fitted / g->n) / (g->n + DOUBT)); }

/* For atoms classified as other, or for those that are not: groups of ENOUGH atoms, or one of all; a group that is more
 * certain but right less often is merged with the previous one. */
static void fit_odds(made *m, bool other, lattice_knots *out) {
    static const double TO[LATTICE_KNOTS] = {0.5, 0.7, 0.85, 0.95, 0.99, 0.999, 0.99999, 2};
    group all[LATTICE_KNOTS + 1] = {{0}};
    line fitted = fit_line(m, other);
    int32_t count = 0;
    for (int b = 0; b < LATTICE_KNOTS; ++b) {
        group *g = &all[count];
        for (size_t k = 0; k < m->count; ++k) {
            double c = (double)m->atom[k].confidence;
            if (is_other(m, k) != other || c >= TO[b] || (b > 0 && c < TO[b - 1])) continue;
            c = fmin(c, SUREST);
            g->n += 1, g->told += c, g->fitted += chance_at(&fitted, lattice_odds(c)), g->right += is_right(m, k);
        }
        if (g->n < ENOUGH) continue;
        for (++count; count > 1 && truth(&all[count - 1]) < truth(&all[count - 2]); --count) {
            group *to = &all[count - 2], *from = &all[count - 1];
            to->n += from->n, to->told += from->told, to->fitted += from->fitted, to->right += from->right;
        }
        all[count] = (group){0};
    }
    if (count == 0 && all[0].n > 0) count = 1;
    out->count = count;
    for (int32_t k = 0; k < count; ++k) {
        out->told[k] = lattice_odds(all[k].told / all[k].n);
        out->right[k] = truth(&all[k]);
    }
}

/* Several frames: a single one has too few atoms at boundaries, and always the same few. They have as much background
 * as the classification expects, even if that is little: otherwise every atom classified as other would be wrong in
 * them. Of several ranks each matches some of them. */
static atn_status match_frames(atn_lattice *l, atn_sample_atoms_settings *about, made *m) {
    size_t from, to;
    if (!lattice_background_given(&l->settings)) about->background = l->info.background;
    m->count = 0;
    atn_status status = make(l, about, CHECKED, FRAMES, m);
    lattice_shared_cut(l, FRAMES, &from, &to);
    for (size_t f = from; f < to && status == ATN_OK; ++f) {
        size_t first = f * CHECKED;
        l->near.atoms = 0;
        memset(&l->recent, 0, sizeof l->recent);
        atn_atoms atoms = {.count = CHECKED, .own = CHECKED};
        for (int axis = 0; axis < 3; ++axis) atoms.position[axis] = m->axis[axis] + first;
        status = lattice_match_atoms(l, &atoms, 1, m->atom + first);
    }
    memset(&l->recent, 0, sizeof l->recent);
    l->near.atoms = 0;
    return status;
}

static void fit_knots(atn_lattice *l, made *m) {
    for (int other = 0; other < 2; ++other) fit_odds(m, other, &l->knots[other]);
}

/* What was matched of a frame, as ranks send it. */
typedef struct frame_told {
    atn_lattice_atom atom[CHECKED];
    int32_t label[CHECKED];
} frame_told;

static void tell_frame(const made *m, size_t f, frame_told *out) {
    memcpy(out->atom, m->atom + f * CHECKED, sizeof out->atom);
    memcpy(out->label, m->label + f * CHECKED, sizeof out->label);
}

static void hear_frame(const frame_told *told, size_t f, made *m) {
    memcpy(m->atom + f * CHECKED, told->atom, sizeof told->atom);
    memcpy(m->label + f * CHECKED, told->label, sizeof told->label);
}

atn_status lattice_calibrate(atn_lattice *l) {
    atn_sample_atoms_settings about;
    if (!describe(l, &about)) return ATN_OK;
    made *m = atn_alloc(l->ctx, sizeof *m);
    atn_status status = m ? correct_background(l, &about, m) : ATN_ERR_MEMORY;
    if (m) m->count = 0;
    if (status == ATN_OK) status = make(l, &about, ATOMS, 1, m);
    if (status == ATN_OK) status = match(l, m);
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_POWERS);
    if (status == ATN_OK) status = choose_all(l, m);
    lattice_spend_back(&l->spent, l->known, before);
    l->unchecked = l->ranks && l->ranks->count > 1; /* lattice_check_own and lattice_fit_frames follow */
    if (status == ATN_OK && !l->unchecked) {
        status = match_frames(l, &about, m);
        if (status == ATN_OK) fit_knots(l, m);
    }
    memset(&l->recent, 0, sizeof l->recent);
    l->near.atoms = 0;
    atn_free(l->ctx, m);
    return status;
}

size_t lattice_check_frames(size_t *bytes) {
    *bytes = sizeof(frame_told);
    return FRAMES;
}

atn_status lattice_check_own(atn_lattice *l, void *told) {
    atn_sample_atoms_settings about;
    size_t from, to;
    made *m = atn_zalloc(l->ctx, sizeof *m);
    if (!m) return ATN_ERR_MEMORY;
    atn_status status = describe(l, &about) ? match_frames(l, &about, m) : ATN_OK;
    lattice_shared_cut(l, FRAMES, &from, &to);
    for (size_t f = from; f < to && status == ATN_OK; ++f) tell_frame(m, f, (frame_told *)told + f - from);
    atn_free(l->ctx, m);
    return status;
}

atn_status lattice_fit_frames(atn_lattice *l, const void *told) {
    made *m = atn_zalloc(l->ctx, sizeof *m);
    if (!m) return ATN_ERR_MEMORY;
    m->count = (size_t)FRAMES * CHECKED;
    for (size_t f = 0; f < FRAMES; ++f) hear_frame((const frame_told *)told + f, f, m);
    fit_knots(l, m);
    atn_free(l->ctx, m);
    return ATN_OK;
}
