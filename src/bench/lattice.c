/* Neighbourhoods of bcc, fcc and hcp in random orientations, with noise of positions relative to the centre and missing
 * atoms: the fraction that is classified correctly. Constants and cut-off are those of the high-entropy alloy that
 * other methods are measured on. */
#include "bench/lattice.h"

#include "apps/lattice/lattice.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SETS = 1500, PLAIN_SETS = 6000, QUICK_SETS = 60, MOST_POINTS = 160, SEED = 8 };
static const double CUTOFF = 4.5;
static const double NOISE[] = {0, 0.25, 0.5, 0.75, 1.0}, MISSING[] = {0, 0.33, 0.5, 0.67};
static const char *const NAMES[3] = {"bcc", "fcc", "hcp"};

typedef struct sets {
    size_t count, points;
    size_t *start;
    double *axis[3];
} sets;

static void sets_free(const atn_ctx *ctx, sets *s) {
    atn_free(ctx, s->start);
    for (int axis = 0; axis < 3; ++axis) atn_free(ctx, s->axis[axis]);
    *s = (sets){0};
}

static atn_status sets_room(const atn_ctx *ctx, size_t count, sets *s) {
    *s = (sets){.count = count};
    s->start = atn_alloc(ctx, (count + 1) * sizeof *s->start);
    for (int axis = 0; axis < 3; ++axis) s->axis[axis] = atn_alloc(ctx, count * MOST_POINTS * sizeof **s->axis);
    return s->start && s->axis[0] && s->axis[1] && s->axis[2] ? ATN_OK : ATN_ERR_MEMORY;
}

static void add(sets *s, const double p[3]) {
    for (int axis = 0; axis < 3; ++axis) s->axis[axis][s->points] = p[axis];
    ++s->points;
}

/* One neighbourhood: the centre at the origin, the others as seen from it, which is off its site by `shift`. */
static void add_set(sets *s, const lattice_points *model, double noise, double shift, double missing,
                    atn_random *random) {
    double q[4], m[9], length = 0, centre[3] = {0};
    for (int axis = 0; axis < 3 && shift > 0; ++axis) centre[axis] = shift * atn_random_normal(random);
    for (int k = 0; k < 4; ++k) q[k] = atn_random_normal(random), length += q[k] * q[k];
    for (int k = 0; k < 4; ++k) q[k] /= sqrt(length);
    geom_quaternion_matrix(q, m);
    size_t first = s->points;
    add(s, (double[3]){0, 0, 0});
    for (size_t k = 0; k < model->count; ++k) {
        double p[3], square = 0;
        bool gone = atn_random_unit(random) < missing;
        for (int axis = 0; axis < 3; ++axis) {
            p[axis] = noise * atn_random_normal(random) - centre[axis];
            for (int c = 0; c < 3; ++c) p[axis] += m[3 * axis + c] * model->axis[c][k];
            square += p[axis] * p[axis];
        }
        if (!gone && square < CUTOFF * CUTOFF && s->points - first < MOST_POINTS) add(s, p);
    }
}

static atn_status make(const atn_ctx *ctx, size_t count, double noise, double shift, double missing, uint64_t seed,
                       sets *s) {
    atn_random random;
    atn_status status = sets_room(ctx, count, s);
    atn_random_seed(&random, seed);
    for (int32_t kind = 0; kind < 3 && status == ATN_OK; ++kind) {
        atn_lattice_model model = {.points = 0};
        lattice_points points;
        snprintf(model.name, sizeof model.name, "%s", NAMES[kind]);
        status =
            lattice_points_make(ctx, &model, lattice_kind_default(NAMES[kind]), CUTOFF + 4 * (noise + shift), &points);
        if (status != ATN_OK) break;
        for (size_t k = 0; k < count / 3; ++k) {
            s->start[(size_t)kind * (count / 3) + k] = s->points;
            add_set(s, &points, noise, shift, missing, &random);
        }
        lattice_points_free(ctx, &points);
    }
    if (status == ATN_OK) s->start[count] = s->points;
    return status;
}

static atn_status measure(const atn_ctx *ctx, atn_device *device, const sets *s, double noise, double missing,
                          atn_bench_row *row) {
    atn_lattice *lattice = NULL;
    atn_lattice_settings settings = {.noise = fmax(noise, 0.1) / sqrt(2), .efficiency = fmin(1 - missing, 0.98)};
    atn_lattice_atom *atom = atn_alloc(ctx, s->count * sizeof *atom);
    const double *const position[3] = {s->axis[0], s->axis[1], s->axis[2]};
    atn_status status = atom ? atn_lattice_create(device, &settings, &lattice) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = atn_lattice_match_sets(lattice, s->count, s->start, position, 1, atom); /* warm */
    double from = atn_clock_seconds();
    if (status == ATN_OK) status = atn_lattice_match_sets(lattice, s->count, s->start, position, 1, atom);
    row->seconds = atn_clock_seconds() - from;
    size_t right = 0;
    for (size_t k = 0; k < s->count && status == ATN_OK; ++k)
        right += atom[k].structure == (int32_t)(k / (s->count / 3)) + 1;
    row->ours = 100 * (double)right / (double)s->count;
    snprintf(row->note, sizeof row->note, "%.3g neighbourhoods a second", (double)s->count / fmax(row->seconds, 1e-9));
    atn_lattice_free(lattice);
    atn_free(ctx, atom);
    return status;
}

/* ---- no settings given ---- */

static size_t number_of(const sets *s, size_t k) {
    size_t n = s->start[k + 1] - s->start[k] - 1;
    return n < MOST_POINTS ? n : MOST_POINTS;
}

/* What the number of neighbours tells of each set, as others of the same making have it: 0 to 2. */
static void tell_by_number(const sets *s, const sets *others, int32_t *model) {
    double times[3][MOST_POINTS + 1] = {{0}};
    for (size_t k = 0; k < others->count; ++k) times[k / (others->count / 3)][number_of(others, k)] += 1;
    for (size_t k = 0; k < s->count; ++k) {
        size_t n = number_of(s, k);
        model[k] = 0;
        for (int32_t m = 1; m < 3; ++m)
            if (times[m][n] > times[model[k]][n]) model[k] = m;
    }
}

/* Both were asked of the same sets: what scatters is where only one of them is right. */
static void compare(const sets *s, const atn_lattice_atom *atom, const int32_t *by_number, atn_bench_row *row) {
    double n = (double)s->count, right = 0, number = 0, differ = 0;
    for (size_t k = 0; k < s->count; ++k) {
        int32_t is = (int32_t)(3 * k / s->count);
        bool ours = atom[k].structure == is + 1, theirs = by_number[k] == is;
        right += ours, number += theirs, differ += ours != theirs;
    }
    double ahead = (right - number) / n, error = sqrt(fmax(0, differ / n - ahead * ahead) / n);
    row->ours = 100 * right / n;
    row->reference = 100 * number / n;
    row->ratio = number > 0 ? right / number : 0;
    snprintf(row->reference_name, sizeof row->reference_name, "number of neighbours, learned");
    snprintf(row->note, sizeof row->note, "no settings given; %+.2f ± %.2f %% (one standard error)%s", 100 * ahead,
             100 * error, fabs(ahead) < 2 * error ? ", not significant" : "");
}

/* Neighbourhoods of which nothing is known, the centre displaced as all are: told by what is found from all of them,
 * against their number of neighbours alone. */
static atn_status measure_plain(const atn_ctx *ctx, atn_device *device, size_t count, double noise, double missing,
                                uint64_t seed, atn_bench_row *row) {
    sets s = {0}, others = {0};
    atn_lattice *lattice = NULL;
    atn_lattice_atom *atom = atn_alloc(ctx, count * sizeof *atom);
    int32_t *by_number = atn_alloc(ctx, count * sizeof *by_number);
    atn_status status = atom && by_number ? make(ctx, count, noise, noise, missing, seed, &s) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = make(ctx, count, noise, noise, missing, seed + 1, &others);
    const double *const position[3] = {s.axis[0], s.axis[1], s.axis[2]};
    if (status == ATN_OK) status = atn_lattice_create(device, NULL, &lattice);
    double from = atn_clock_seconds();
    if (status == ATN_OK) status = atn_lattice_match_sets(lattice, s.count, s.start, position, 1, atom);
    row->seconds = atn_clock_seconds() - from;
    if (status == ATN_OK) {
        tell_by_number(&s, &others, by_number);
        compare(&s, atom, by_number, row);
    }
    atn_lattice_free(lattice);
    sets_free(ctx, &s);
    sets_free(ctx, &others);
    atn_free(ctx, by_number);
    atn_free(ctx, atom);
    return status;
}

static const double CASES[][2] = {{0.5, 0.33}, {0.5, 0.5}, {0.75, 0.33}, {0.75, 0.5}, {1, 0.33}, {1, 0.5}};

static atn_status plain_rows(atn_ctx *ctx, atn_device *device, const atn_bench_lattice_options *options, bool *go) {
    size_t count = options->quick ? QUICK_SETS : PLAIN_SETS, rows = options->quick ? 1 : sizeof CASES / sizeof *CASES;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < rows && *go && status == ATN_OK; ++k) {
        atn_bench_row row = {.unit = "%"};
        snprintf(row.name, sizeof row.name, "right, not given: noise %.2f, missing %.0f %%", CASES[k][0],
                 100 * CASES[k][1]);
        snprintf(row.device, sizeof row.device, "%s", atn_device_get_info(device)->name);
        snprintf(row.shape, sizeof row.shape, "%zu", count);
        atn_bench_progress(&options->to, row.name);
        status = measure_plain(ctx, device, count, CASES[k][0], CASES[k][1], options->seed, &row);
        if (status == ATN_OK) *go = atn_bench_visit(&options->to, &row);
    }
    return status;
}

/* What polyhedral template matching gets right of complete neighbourhoods; 0: not known. */
static double template_matching(double noise, double missing) {
    if (missing > 0) return 0;
    return noise == 0.25 ? 0.997 : noise == 0.5 ? 0.57 : noise == 0.75 ? 0.14 : 0;
}

size_t atn_bench_lattice_steps(const atn_bench_lattice_options *options) {
    const size_t missing = sizeof MISSING / sizeof *MISSING, plain = sizeof CASES / sizeof *CASES;
    if (options->quick) return missing + 1;
    return sizeof NOISE / sizeof *NOISE * missing + plain + atn_bench_lattice_frame_steps();
}

atn_status atn_bench_lattice(atn_ctx *ctx, atn_device *device, const atn_bench_lattice_options *options) {
    size_t count = options->quick ? QUICK_SETS : SETS, first = options->quick ? 1 : 0, last = options->quick ? 2 : 5;
    for (size_t n = first; n < last; ++n)
        for (size_t m = 0; m < sizeof MISSING / sizeof *MISSING; ++m) {
            atn_bench_row row = {.unit = "%", .reference = 100 * template_matching(NOISE[n], MISSING[m])};
            sets s;
            snprintf(row.name, sizeof row.name, "right, noise %.2f, missing %.0f %%", NOISE[n], 100 * MISSING[m]);
            snprintf(row.device, sizeof row.device, "%s", atn_device_get_info(device)->name);
            snprintf(row.shape, sizeof row.shape, "%zu", count);
            if (row.reference > 0)
                snprintf(row.reference_name, sizeof row.reference_name, "template matching, published");
            atn_bench_progress(&options->to, row.name);
            atn_status status = make(ctx, count, NOISE[n], 0, MISSING[m], SEED, &s);
            if (status == ATN_OK) status = measure(ctx, device, &s, NOISE[n], MISSING[m], &row);
            sets_free(ctx, &s);
            if (status != ATN_OK) return status;
            row.ratio = row.reference > 0 ? row.ours / row.reference : 0;
            if (!atn_bench_visit(&options->to, &row)) return ATN_OK;
        }
    bool go = true;
    atn_status status = plain_rows(ctx, device, options, &go);
    return options->quick || !go || status != ATN_OK ? status : atn_bench_lattice_frames(ctx, device, options);
}
