/* B-scans as a scanner shows them. Per A-line the field is E(y) = sum_i w_i sqrt(b_i) g_i p(y - y_i) over what the wide
 * beam meets, g_i complex normal and tied to the place: |E|^2 is speckle with the beam's own grain. Behind metal is
 * shadow; tissue scatters by layers; the pixel is the logarithm of the sum with the noise floor. */
#include "sample/needle_parts.h"

#include "base/memory.h"
#include "sample/needle_speckle.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793;
static const double BEAM = 0.015 / 2.3548, PULSE = 0.008 / 2.3548; /* deviations of intensity: across, along */
static const double DARK_DB = -5, BRIGHT_DB = 42;                  /* black and white; the noise floor is at 0 */
static const double SHINE_DB = 40, SHINE_DEG = 10, DULL_DB = 30;   /* of metal: the mirror's lobe, the rough part */
static const double ECHO_DB = -30, ECHO = 0.04;                    /* below metal: how weak, and how it dies away */
enum { LOOKS = 2, PHASES = 16, TAPS = 64, NORMALS = 4096, COSINES = 512, LAYERS = 1500, BYTES = 1 << 16 };

/* Brightness of the retina over depth below its surface. */
static const struct {
    double depth, db; /* mm */
} RETINA[] = {{-0.006, -20}, {0, 26},    {0.006, 28}, {0.035, 24}, {0.045, 19}, {0.1, 17},   {0.11, 12},
              {0.14, 13},    {0.15, 18}, {0.165, 17}, {0.175, 8},  {0.23, 8},   {0.238, 25}, {0.246, 24},
              {0.252, 17},   {0.26, 30}, {0.28, 27},  {0.29, 21},  {0.4, 16},   {0.8, -4},   {1.5, -40}};
static const double LAYER_STEP = 0.001, ABOVE = 0.006;

struct needle_optics {
    const atn_ctx *ctx;
    const atn_needle_sample_settings *settings;
    const needle_tissue *tissue;
    const needle_map *map;
    double spacing[3];
    size_t rows, columns;
    float grain;                                 /* how much of the speckle there is: 0 to 1 */
    int half_x, half_y;                          /* of the beam in columns of the map, of the pulse in rows */
    float across[64], line[NEEDLE_LINES];        /* amplitudes of the beam */
    float pulse[PHASES][TAPS];                   /* amplitudes, at parts of a row */
    float normal[NORMALS][2];                    /* complex, of mean square 1 */
    float shine[COSINES + 1], dull[COSINES + 1]; /* intensities over the cosine */
    float layer[LAYERS];                         /* of the tissue, from ABOVE its surface down */
    unsigned char shown[BYTES];                  /* the pixel for the upper half of a float's bits */
    float *speckle, *floor;                      /* owned: tiles of mean 1, and of the noise floor */
    float *mean, *field, *mirror, *rough;        /* owned: of one A-line; field has LOOKS complex numbers a row */
};

static double from_db(double db) { return pow(10, db / 10); }

/* ---- tables ---- */

static void fill_metal(needle_optics *o) {
    for (int k = 0; k <= COSINES; ++k) {
        double cosine = (double)k / COSINES, angle = acos(cosine) * 180 / PI;
        o->shine[k] = (float)(from_db(SHINE_DB) * exp(-0.5 * angle * angle / (SHINE_DEG * SHINE_DEG)));
        o->dull[k] = (float)(from_db(DULL_DB) * pow(cosine, 2.5));
    }
}

static void fill_layers(needle_optics *o) {
    enum { KNOTS = sizeof RETINA / sizeof *RETINA };
    for (int k = 0, knot = 0; k < LAYERS; ++k) {
        double depth = k * LAYER_STEP - ABOVE;
        while (knot + 2 < KNOTS && RETINA[knot + 1].depth < depth) ++knot;
        double share = (depth - RETINA[knot].depth) / (RETINA[knot + 1].depth - RETINA[knot].depth);
        o->layer[k] = (float)from_db(RETINA[knot].db + fmin(share, 1) * (RETINA[knot + 1].db - RETINA[knot].db));
    }
}

/* Rows that are wider than the pulse must not miss it. */
static double pulse_of(const needle_optics *o) { return fmax(PULSE, 0.5 * o->spacing[1]); }

static void fill_beam(needle_optics *o) {
    double sum = 0, pulse = pulse_of(o) / o->spacing[1];
    o->half_x = (int)ceil(2.5 * BEAM / o->map->step);
    for (int k = -o->half_x; k <= o->half_x; ++k) {
        double at = k * o->map->step / BEAM;
        o->across[k + o->half_x] = (float)exp(-0.25 * at * at);
        sum += exp(-0.5 * at * at);
    }
    for (int k = 0; k <= 2 * o->half_x; ++k) o->across[k] /= (float)sqrt(sum);
    sum = 0;
    for (int k = 0; k < NEEDLE_LINES; ++k) {
        double at = (k - (NEEDLE_LINES - 1) / 2) * o->map->z_step / BEAM;
        o->line[k] = (float)exp(-0.25 * at * at);
        sum += exp(-0.5 * at * at);
    }
    for (int k = 0; k < NEEDLE_LINES; ++k) o->line[k] /= (float)sqrt(sum);
    o->half_y = (int)fmin(ceil(4 * pulse), TAPS / 2 - 1);
    for (int phase = 0; phase < PHASES; ++phase)
        for (int k = -o->half_y; k <= o->half_y; ++k) {
            double at = (k - (phase + 0.5) / PHASES) / pulse;
            o->pulse[phase][k + o->half_y] = (float)exp(-0.25 * at * at);
        }
}

static void fill_shown(needle_optics *o) {
    for (uint32_t k = 0; k < BYTES; ++k) {
        uint32_t bits = k << 16 | 0x8000;
        float value;
        memcpy(&value, &bits, sizeof value);
        double level = value > 0 ? 255 * (10 * log10((double)value) - DARK_DB) / (BRIGHT_DB - DARK_DB) : 0;
        o->shown[k] = (unsigned char)(level >= 255 ? 255 : level > 0 ? level + 0.5 : 0); /* NaN and less: black */
    }
}

static atn_status fill_tiles(needle_optics *o) {
    double noise = o->settings->noise, x = sqrt(2) * BEAM / o->spacing[0], y = sqrt(2) * pulse_of(o) / o->spacing[1];
    size_t cells = (size_t)NEEDLE_TILE_COLUMNS * NEEDLE_TILE_ROWS;
    atn_random random;
    atn_random_seed(&random, o->settings->seed ^ 0x5bec71e5u);
    for (int k = 0; k < NORMALS; ++k)
        for (int d = 0; d < 2; ++d) o->normal[k][d] = (float)(sqrt(0.5) * atn_random_normal(&random));
    atn_status status = needle_speckle_fill(o->ctx, &random, LOOKS, x, y, o->speckle);
    if (status == ATN_OK) status = needle_speckle_fill(o->ctx, &random, LOOKS, 0, 0.5 * y, o->floor);
    for (size_t k = 0; k < cells && status == ATN_OK; ++k) {
        o->speckle[k] = 1 + o->grain * (o->speckle[k] - 1);
        o->floor[k] *= (float)(noise * noise);
    }
    return status;
}

atn_status needle_optics_make(const atn_ctx *ctx, const atn_needle_sample_settings *settings,
                              const needle_tissue *tissue, const needle_map *map, const double spacing[3],
                              needle_optics **out) {
    needle_optics *o = atn_zalloc(ctx, sizeof *o);
    size_t tile = (size_t)NEEDLE_TILE_COLUMNS * NEEDLE_TILE_ROWS * sizeof(float), rows = (size_t)settings->shape[1];
    *out = NULL;
    if (!o) return ATN_ERR_MEMORY;
    o->ctx = ctx;
    o->settings = settings;
    o->tissue = tissue;
    o->map = map;
    memcpy(o->spacing, spacing, sizeof o->spacing);
    o->rows = rows;
    o->columns = (size_t)settings->shape[2];
    o->grain = (float)fmin(settings->noise, 1);
    o->speckle = atn_alloc(ctx, tile);
    o->floor = atn_alloc(ctx, tile);
    o->mean = atn_zalloc(ctx, rows * sizeof(float));
    o->mirror = atn_zalloc(ctx, rows * sizeof(float));
    o->rough = atn_zalloc(ctx, rows * sizeof(float));
    o->field = atn_zalloc(ctx, rows * 2 * LOOKS * sizeof(float));
    atn_status status =
        o->speckle && o->floor && o->mean && o->mirror && o->rough && o->field ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = fill_tiles(o);
    if (status != ATN_OK) {
        needle_optics_free(o);
        return status;
    }
    fill_metal(o);
    fill_layers(o);
    fill_beam(o);
    fill_shown(o);
    *out = o;
    return ATN_OK;
}

void needle_optics_free(needle_optics *o) {
    if (!o) return;
    atn_free(o->ctx, o->speckle);
    atn_free(o->ctx, o->floor);
    atn_free(o->ctx, o->mean);
    atn_free(o->ctx, o->mirror);
    atn_free(o->ctx, o->rough);
    atn_free(o->ctx, o->field);
    atn_free(o->ctx, o);
}

/* ---- one A-line ---- */

static uint64_t mix(uint64_t word) {
    word = (word ^ word >> 31) * 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 29) * 0xbf58476d1ce4e5b9u;
    return word ^ word >> 32;
}

/* What was met in an A-line. A plain value. */
typedef struct met {
    int from, to;         /* rows that were touched */
    float covered, power; /* share of the beam, and what came back of it */
    double depth;         /* its mean */
} met;

static void add_echo(needle_optics *o, size_t cell, float weight, met *m) {
    double row = (double)o->map->depth[cell] / o->spacing[1];
    int at = (int)floor(row), phase = (int)((row - at) * PHASES), cosine = (int)(o->map->cosine[cell] * COSINES);
    float shine = o->shine[cosine], dull = o->dull[cosine], power = weight * weight, amplitude = weight * sqrtf(dull);
    uint64_t hash = mix(cell + 1);
    const float *g[LOOKS];
    for (int k = 0; k < LOOKS; ++k) g[k] = o->normal[hash >> (16 * k) & (NORMALS - 1)];
    m->covered += power;
    m->power += power * (shine + dull);
    m->depth += (double)(power * (shine + dull)) * row;
    int from = at - o->half_y < 0 ? 0 : at - o->half_y;
    int to = at + o->half_y >= (int)o->rows ? (int)o->rows - 1 : at + o->half_y;
    for (int r = from; r <= to; ++r) {
        float p = o->pulse[phase][r - at + o->half_y], a = p * amplitude, *field = o->field + (size_t)r * 2 * LOOKS;
        o->mirror[r] += p * p * power * shine;
        o->rough[r] += a * a;
        for (int k = 0; k < LOOKS; ++k) {
            field[2 * k] += a * g[k][0];
            field[2 * k + 1] += a * g[k][1];
        }
    }
    if (from < m->from) m->from = from;
    if (to > m->to) m->to = to;
}

static met meet(needle_optics *o, size_t scan, size_t column) {
    const needle_map *map = o->map;
    met m = {.from = (int)o->rows, .to = -1};
    int64_t middle = (int64_t)(column * map->parts);
    for (size_t l = 0; l < NEEDLE_LINES; ++l)
        for (int k = -o->half_x; k <= o->half_x; ++k) {
            int64_t at = middle + k;
            if (at < 0 || at >= (int64_t)map->columns) continue;
            size_t cell = (scan * NEEDLE_LINES + l) * map->columns + (size_t)at;
            if (isfinite(map->depth[cell])) add_echo(o, cell, o->across[k + o->half_x] * o->line[l], &m);
        }
    if (m.power > 0) m.depth /= (double)m.power;
    return m;
}

/* Metal: the mirror's part keeps half of its speckle; the fields are emptied for the next A-line. */
static void add_metal(needle_optics *o, const met *m, const float *speckle) {
    for (int r = m->from; r <= m->to; ++r) {
        float *field = o->field + (size_t)r * 2 * LOOKS, sum = 0;
        for (int k = 0; k < 2 * LOOKS; ++k) {
            sum += field[k] * field[k];
            field[k] = 0;
        }
        float mild = 0.5F + 0.5F * speckle[r & (NEEDLE_TILE_ROWS - 1)];
        o->mean[r] += o->mirror[r] * mild + (1 - o->grain) * o->rough[r] + o->grain * sum / LOOKS;
        o->mirror[r] = o->rough[r] = 0;
    }
    int from = (int)m->depth;
    float echo = m->power * (float)from_db(ECHO_DB), fade = (float)exp(-o->spacing[1] / ECHO);
    for (int r = from < 0 ? 0 : from; r < (int)o->rows && echo > 0.01F; ++r, echo *= fade)
        o->mean[r] += echo * speckle[r & (NEEDLE_TILE_ROWS - 1)];
}

static void add_tissue(needle_optics *o, double x, double z, float share, const float *speckle) {
    double per_row = o->spacing[1] / LAYER_STEP / o->tissue->thick;
    double surface = needle_tissue_at(o->tissue, x, z) - ABOVE * o->tissue->thick;
    double first = fmax(0, ceil(surface / o->spacing[1]));
    double at = (first - surface / o->spacing[1]) * per_row;
    for (size_t r = (size_t)fmin(first, (double)o->rows); r < o->rows && at < LAYERS; ++r, at += per_row)
        o->mean[r] += share * o->layer[(int)at] * speckle[r & (NEEDLE_TILE_ROWS - 1)];
}

/* The tiles begin elsewhere in each scan: scans are farther apart than the beam is wide. */
void needle_scan_draw(needle_optics *o, size_t scan, unsigned char *pixels) {
    uint64_t hash = mix(o->settings->seed * 0x100000001b3u + scan + 1 + ((uint64_t)o->settings->frame << 32));
    size_t shift = hash & (NEEDLE_TILE_COLUMNS - 1), other = hash >> 20 & (NEEDLE_TILE_COLUMNS - 1);
    size_t down = hash >> 40 & (NEEDLE_TILE_ROWS - 1);
    double z = (double)scan * o->spacing[2];
    for (size_t c = 0; c < o->columns; ++c) {
        const float *speckle = o->speckle + ((c + shift) & (NEEDLE_TILE_COLUMNS - 1)) * NEEDLE_TILE_ROWS;
        const float *noise = o->floor + ((c + other) & (NEEDLE_TILE_COLUMNS - 1)) * NEEDLE_TILE_ROWS;
        met m = meet(o, scan, c);
        memset(o->mean, 0, o->rows * sizeof *o->mean);
        if (m.covered > 0) add_metal(o, &m, speckle);
        if (o->tissue->any && m.covered < 0.999F) add_tissue(o, (double)c * o->spacing[0], z, 1 - m.covered, speckle);
        for (size_t r = 0; r < o->rows; ++r) {
            float value = o->mean[r] + noise[(r + down) & (NEEDLE_TILE_ROWS - 1)];
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            pixels[r * o->columns + c] = o->shown[bits >> 16];
        }
    }
}
