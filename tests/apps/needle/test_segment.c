/* From B-scans to arcs: bright pixels against a plain loop, components and surfaces of scans that are drawn here, and
 * which pieces of a surface are a circle of the needle's radius. */
#include "needlekit.h"
#include "support/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SHARED_DEVICE(needle_device);

/* ---- bright pixels ---- */

static int32_t pixel_at(const atn_volume_info *info, const void *frame, int64_t row, int64_t column) {
    int64_t at = row * info->width + column;
    if (row < 0 || column < 0 || row >= info->height || column >= info->width) return -1; /* never bright */
    return info->bits == 8 ? ((const uint8_t *)frame)[at] : ((const uint16_t *)frame)[at];
}

static bool most_are_bright(const atn_volume_info *info, const void *frame, int64_t row, int64_t column,
                            int32_t level) {
    int count = 0;
    for (int64_t r = row - 1; r <= row + 1; ++r)
        for (int64_t c = column - 1; c <= column + 1; ++c) count += pixel_at(info, frame, r, c) > level;
    return count >= 5;
}

/* All scans' bright pixels, one behind the other. */
typedef struct collected {
    uint8_t *mask;
    size_t scan; /* bytes */
    int64_t next, frames, batch;
} collected;

static atn_status collect(void *user, const needle_batch *batch) {
    collected *c = user;
    const void *mask;
    assert_true(batch->first <= c->next && batch->first + c->batch <= c->frames); /* the last one may begin earlier */
    kit_ok(ctx, atn_array_map_read(batch->median, &mask));
    memcpy(c->mask + (size_t)batch->first * c->scan, mask, (size_t)c->batch * c->scan);
    c->next = batch->first + c->batch;
    return ATN_OK;
}

static void hold_bits(needle_bright *b, const int64_t shape[3], int32_t bits, int32_t level, bool pinned,
                      uint64_t seed) {
    size_t count = (size_t)(shape[0] * shape[1] * shape[2]), bytes = (size_t)bits / 8;
    unsigned char *data = malloc(count * bytes + 8);
    atn_volume *volume;
    for (size_t k = 0; k < count * bytes; k += 8) { /* eight pixels or four */
        uint64_t word = kit_random(&seed);
        memcpy(data + k, &word, 8);
    }
    kit_ok(ctx, pinned ? atn_volume_create_for(device, shape, bits, data, NULL, &volume)
                       : atn_volume_create(ctx, shape, bits, data, NULL, &volume));
    atn_volume_info info = atn_volume_info_of(volume);
    int64_t high = (info.height + 7) / 8, stride = (info.width + 3) / 4 * 4, ones = 0;
    kit_ok(ctx, needle_bright_begin(b, volume));
    collected c = {.mask = malloc((size_t)(info.frames * high * stride)),
                   .scan = (size_t)(high * stride),
                   .frames = info.frames,
                   .batch = b->batch};
    kit_ok(ctx, needle_bright_find(b, level, collect, &c));
    assert_int_equal(c.next, info.frames);
    for (int64_t f = 0; f < info.frames; ++f)
        for (int64_t r = 0; r < 8 * high; ++r)
            for (int64_t x = 0; x < info.width; ++x) {
                bool is = c.mask[(f * high + r / 8) * stride + x] >> (r % 8) & 1;
                bool wanted = r < info.height && most_are_bright(&info, atn_volume_frame(volume, f), r, x, level);
                ones += is;
                if (is != wanted)
                    fail_msg("%d bits, scan %d of %dx%d, row %d, column %d: %d", bits, (int)f, (int)info.height,
                             (int)info.width, (int)r, (int)x, is);
            }
    double share = 1 - (level + 1) / (bits == 8 ? 256.0 : 65536.0);
    if (count > 1000 && share > 0.4 && share < 0.6)
        assert_true(ones > (int64_t)count / 4 && ones < (int64_t)count / 4 * 3);
    atn_volume_free(volume);
    free(data);
    free(c.mask);
}

KIT_TEST(bits_are_those_of_a_loop) {
    static const int64_t SHAPES[][3] = {{3, 64, 40}, {2, 37, 19}, {4, 100, 1}, {1, 1, 1}, {5, 31, 7}, {3, 33, 65}};
    for (int32_t bits = 8; bits <= 16; bits += 8) {
        needle_bright b = {.device = device, .ctx = ctx};
        for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; ++k)
            hold_bits(&b, SHAPES[k], bits, bits == 8 ? 120 : 31000, k % 2, k + 1);
        needle_bright_free(&b);
    }
}

KIT_TEST(levels_of_all_kinds) {
    static const int64_t SHAPE[3] = {2, 24, 36};
    static const int32_t LEVELS[] = {0, 1, 126, 127, 128, 129, 200, 253, 254};
    needle_bright b = {.device = device, .ctx = ctx};
    for (size_t k = 0; k < sizeof LEVELS / sizeof *LEVELS; ++k) {
        hold_bits(&b, SHAPE, 8, LEVELS[k], false, k + 1);
        hold_bits(&b, SHAPE, 16, LEVELS[k] << 8 | 255, true, k + 1);
        hold_bits(&b, SHAPE, 16, LEVELS[k] << 8, false, k + 1);
    }
    needle_bright_free(&b);
}

KIT_TEST(scans_go_through_in_batches) {
    static const int64_t SHAPES[2][3] = {{45, 641, 642},
                                         {45, 648, 640}}; /* forty fit into a batch; with copies, without */
    for (int k = 0; k < 2; ++k) {
        needle_bright b = {.device = device, .ctx = ctx};
        hold_bits(&b, SHAPES[k], 8, 120, false, 7);
        assert_true(b.batch > 1 && b.batch < SHAPES[k][0]);
        hold_bits(&b, SHAPES[k], 8, 120, true, 8); /* nothing of the frame before is left */
        needle_bright_free(&b);
    }
}

/* The same on every other device that is here: several batches are on their way at once. */
KIT_TEST(other_devices_have_the_same_bits) {
    static const int64_t SHAPES[][3] = {{5, 31, 7}, {11, 1024, 3200}, {37, 1280, 3200}}; /* eight in a batch */
    atn_device *host = device;
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    if (atn_devices_count(devices) < 2) print_message("    skipped: there is only the host\n");
    for (int32_t k = 1; k < atn_devices_count(devices); ++k) {
        kit_ok(ctx, atn_device_open(devices, k, &device));
        needle_bright b = {.device = device, .ctx = ctx};
        for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; ++s) {
            if (s < 2) hold_bits(&b, SHAPES[s], 8, 120, false, s + 5);
            hold_bits(&b, SHAPES[s], 8, 120, true, s + 1);
        }
        assert_true(b.slots > 1 && b.slots < b.batches && b.uploads);
        needle_bright_free(&b);
        atn_queue *taken[ATN_MAX_QUEUES - 1]; /* without a queue of its own */
        for (int q = 0; q < ATN_MAX_QUEUES - 1; ++q) kit_ok(ctx, atn_queue_create(device, &taken[q]));
        hold_bits(&b, SHAPES[1], 8, 120, true, 3);
        assert_null(b.uploads);
        needle_bright_free(&b);
        for (int q = 0; q < ATN_MAX_QUEUES - 1; ++q) atn_queue_free(taken[q]);
        atn_device_close(device);
    }
    atn_devices_free(devices);
    device = host;
}

KIT_TEST(levels_are_between_dark_and_bright) {
    uint8_t narrow[64 * 64];
    uint16_t wide[64 * 64];
    const int64_t shape[3] = {1, 64, 64};
    uint64_t seed = 3;
    for (int k = 0; k < 64 * 64; ++k) {
        narrow[k] = (uint8_t)((k % 10 ? 20 : 180) + (int)(kit_random(&seed) % 30));
        wide[k] = (uint16_t)(narrow[k] << 8);
    }
    for (int bits = 8; bits <= 16; bits += 8) {
        atn_volume *volume;
        kit_ok(ctx, atn_volume_create(ctx, shape, bits, bits == 8 ? (void *)narrow : (void *)wide, NULL, &volume));
        int32_t level = needle_bright_level(volume) >> (bits - 8);
        assert_true(level >= 49 && level < 180);
        atn_volume_free(volume);
    }
}

/* ---- surfaces ---- */

enum { ROWS = 40, COLUMNS = 24 };

/* The surface of scans whose bright pixels are given, filled up to whole words. */
static const float *surface_from(needle_surface *s, const atn_volume_info *info, const void *pixels,
                                 const uint8_t *mask, int32_t least) {
    int64_t high = (info->height + 7) / 8, wide = (info->width + 3) / 4, bytes = info->bits / 8;
    atn_array *words, *median;
    void *to;
    const void *row;
    kit_ok(ctx, atn_array_create_matrix(s->device, ATN_INT32, info->frames * high * 8, wide * bytes, 0, &words));
    kit_ok(ctx, atn_array_map_write(words, &to));
    memset(to, 0, (size_t)(info->frames * high * 8 * wide * 4 * bytes));
    for (int64_t r = 0; r < info->frames * info->height; ++r)
        memcpy((char *)to + (r / info->height * high * 8 + r % info->height) * wide * 4 * bytes,
               (const char *)pixels + r * info->width * bytes, (size_t)(info->width * bytes));
    kit_ok(ctx, atn_array_create_matrix(s->device, ATN_INT32, info->frames * high, wide, 0, &median));
    kit_ok(ctx, atn_array_put(median, mask, 0));
    kit_ok(ctx, needle_surface_begin(s, info));
    const needle_batch batch = {0, 0, words, median};
    kit_ok(ctx, needle_surface_find(s, &batch, least));
    kit_ok(ctx, atn_array_map_read(s->row, &row));
    atn_array_free(words);
    atn_array_free(median);
    return row;
}

/* A scan as it is drawn: black is ' ', bright is '1' to '9'. Nothing is filtered: the mask is what is drawn. */
static const float *surface_of(needle_surface *s, const char *const *drawn, int rows, int32_t least) {
    uint8_t mask[ROWS / 8 * COLUMNS] = {0}, pixels[ROWS * COLUMNS] = {0};
    const atn_volume_info info = {.frames = 1, .height = ROWS, .width = COLUMNS, .bits = 8};
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < COLUMNS && drawn[r][c]; ++c) {
            if (drawn[r][c] == ' ') continue;
            pixels[r * COLUMNS + c] = (uint8_t)(25 * (drawn[r][c] - '0'));
            mask[r / 8 * COLUMNS + c] |= (uint8_t)(1u << (r % 8));
        }
    return surface_from(s, &info, pixels, mask, least);
}

KIT_TEST(corners_join_and_small_ones_go) {
    static const char *const DRAWN[] = {"       9      9         ", "                        ",
                                        "999                     ", "   999                  ",
                                        "                  9999  ", "                  9999  "};
    needle_surface s = {.device = device, .ctx = ctx};
    const float *row = surface_of(&s, DRAWN, 6, 6);
    for (int c = 0; c < COLUMNS; ++c) { /* six by a corner, eight in a block; single ones are noise */
        bool there = c < 6 || (c >= 18 && c < 22);
        if (isnan(row[c]) == there) fail_msg("column %d: %g", c, (double)row[c]);
    }
    assert_true(row[0] == 2 && row[4] == 3);
    row = surface_of(&s, DRAWN, 6, 7);
    assert_true(isnan(row[0]) && !isnan(row[18]));
    row = surface_of(&s, DRAWN, 6, 1);
    assert_true(row[7] == 0 && row[14] == 0);
    needle_surface_free(&s);
}

KIT_TEST(the_uppermost_run_counts_at_its_peak) {
    static const char *const DRAWN[] = {"1111    ", "1311    ", "5831    ", "1931    ", "1821    ", "        ",
                                        "  99    ", "  99    ", "   9    ", "        ", "9999    "};
    needle_surface s = {.device = device, .ctx = ctx};
    const float *row = surface_of(&s, DRAWN, 11, 4);
    assert_true(row[0] == 2);                     /* a peak of one row */
    assert_true(fabs((double)row[1] - 3) < 1e-6); /* 8 9 8: the middle */
    assert_true(row[2] > 1.99 && row[2] < 3.01);  /* 3 3: between the two; not the brighter run below */
    assert_true(row[3] >= 0 && row[3] <= 3);      /* even: somewhere within */
    assert_true(isnan(row[4]) && isnan(row[COLUMNS - 1]));
    needle_surface_free(&s);
}

KIT_TEST(runs_go_on_over_words) {
    const char *drawn[ROWS];
    for (int r = 0; r < ROWS; ++r) drawn[r] = r >= 30 && r < 35 ? (r == 32 ? "99999999" : "33333333") : "        ";
    needle_surface s = {.device = device, .ctx = ctx};
    const float *row = surface_of(&s, drawn, ROWS, 40); /* rows 30 to 34 of eight columns: one component of 40 */
    assert_true(row[0] == 32 && row[7] == 32 && isnan(row[8]));
    row = surface_of(&s, drawn, ROWS, 41);
    assert_true(isnan(row[0]));
    needle_surface_free(&s);
}

/* More runs than are looked at, and one that goes on to the last row. */
KIT_TEST(columns_of_many_runs_and_of_one) {
    const char *drawn[ROWS];
    for (int r = 0; r < ROWS; ++r) drawn[r] = r % 2 ? "    9999" : "9   9999";
    needle_surface s = {.device = device, .ctx = ctx};
    const float *row = surface_of(&s, drawn, ROWS, 4 * ROWS);
    assert_true(isnan(row[0]) && isnan(row[1]) && !isnan(row[4]) && !isnan(row[7]));
    row = surface_of(&s, drawn, ROWS, 1);
    assert_true(row[0] == 0 && isnan(row[1]));
    needle_surface_free(&s);
}

/* The middle of a run of a column, step by step: up to 33 rows are looked at, and 32 to either side of its peak. */
static double plain_peak(const int32_t *pixel, int rows, int first, int last) {
    int most = -1, peak = 0, reach = 0;
    double weight = 0, sum = 0;
    if (last > first + 32) last = first + 32;
    for (int r = first; r <= last; ++r) {
        int three = (r > first ? pixel[r - 1] : 0) + 2 * pixel[r] + (r < last ? pixel[r + 1] : 0);
        if (three > most) most = three, peak = r;
    }
    while (reach < 32 && peak - reach > 0 && peak + reach + 1 < rows && 2 * pixel[peak - reach - 1] > pixel[peak] &&
           2 * pixel[peak + reach + 1] > pixel[peak])
        ++reach;
    for (int r = peak - reach; r <= peak + reach; ++r) {
        weight += pixel[r] - 0.5 * pixel[peak];
        sum += (pixel[r] - 0.5 * pixel[peak]) * r;
    }
    return weight > 0 ? sum / weight : peak;
}

enum { MOST_HIGH = 150, MOST_WIDE = 70, MOST_RUNS = 16, THICK = 32 };

/* A scan's runs, sixteen of a column at most and none below one that is thick, and how many pixels hang together. */
typedef struct plain {
    int runs[MOST_WIDE], first[MOST_WIDE][MOST_RUNS], last[MOST_WIDE][MOST_RUNS], part[MOST_WIDE][MOST_RUNS];
    int pixels[MOST_WIDE * MOST_RUNS];
} plain;

static void find_runs(plain *p, const bool *bright, int rows, int width) {
    for (int c = 0; c < width; ++c) {
        int n = 0;
        bool thick = false;
        for (int r = 0; r < rows && n < MOST_RUNS && !thick; ++r) {
            if (!bright[r * width + c]) continue;
            p->first[c][n] = r;
            while (r + 1 < rows && bright[(r + 1) * width + c]) ++r;
            p->last[c][n] = r;
            p->part[c][n] = c * MOST_RUNS + n;
            thick = r - p->first[c][n] + 1 >= THICK;
            ++n;
        }
        p->runs[c] = n;
    }
}

/* Parts take the lower number of what they touch until nothing changes. */
static void find_parts(plain *p, int width) {
    for (bool again = true; again;) {
        again = false;
        for (int c = 1; c < width; ++c)
            for (int a = 0; a < p->runs[c - 1]; ++a)
                for (int b = 0; b < p->runs[c]; ++b) {
                    int *left = &p->part[c - 1][a], *right = &p->part[c][b];
                    if (p->first[c - 1][a] > p->last[c][b] + 1 || p->first[c][b] > p->last[c - 1][a] + 1) continue;
                    if (*left == *right) continue;
                    *left = *right = *left < *right ? *left : *right;
                    again = true;
                }
    }
    memset(p->pixels, 0, sizeof p->pixels);
    for (int c = 0; c < width; ++c)
        for (int k = 0; k < p->runs[c]; ++k) p->pixels[p->part[c][k]] += p->last[c][k] - p->first[c][k] + 1;
}

static void hold_surface(const float *row, const int32_t *pixel, const bool *bright, int rows, int width, int least,
                         const char *what) {
    static plain p;
    find_runs(&p, bright, rows, width);
    find_parts(&p, width);
    for (int c = 0; c < width; ++c) {
        int32_t column[MOST_HIGH] = {0};
        double wanted = (double)NAN;
        for (int r = 0; r < rows; ++r) column[r] = pixel[r * width + c];
        for (int k = 0; k < p.runs[c] && isnan(wanted); ++k)
            if (p.pixels[p.part[c][k]] >= least) wanted = plain_peak(column, rows, p.first[c][k], p.last[c][k]);
        if (isnan(wanted) != isnan(row[c]) || fabs(wanted - (double)row[c]) > 1e-4)
            fail_msg("%s, %d x %d, least %d, column %d: %g instead of %g", what, rows, width, least, c, (double)row[c],
                     wanted);
    }
}

/* Kinds of scans: runs that begin and end anywhere; blots; noise; all dark; all bright; lines of every other row. */
enum { RUNS, BLOTS, NOISE, DARK, BRIGHT, LINES, KINDS };

static bool is_bright(int kind, uint64_t *seed, const bool *above, int r, int c) {
    double wave = sin(0.31 * r + 0.17 * c) + sin(0.23 * c - 0.11 * r) + 0.8 * kit_uniform(seed);
    switch (kind) {
    case RUNS:
        return (above && *above) != (r > 2 && kit_random(seed) % 40 > 36);
    case BLOTS:
        return wave > 1.1;
    case NOISE:
        return kit_random(seed) % 100 < 45;
    case LINES:
        return r % 2 == 0;
    default:
        return kind == BRIGHT;
    }
}

static void surfaces_on(atn_device *on, int kinds) {
    static const int SIZES[][2] = {{90, 1}, {1, 9}, {1, 1}, {150, 7}, {31, 33}, {64, 64}, {149, 70}};
    static const int LEAST[] = {1, 9, 60};
    static int32_t pixel[MOST_HIGH * MOST_WIDE];
    static bool bright[MOST_HIGH * MOST_WIDE];
    uint64_t seed = 11;
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; ++k)
        for (int kind = 0; kind < kinds; ++kind) {
            if (!kit_turn(k + (size_t)kind, 2)) continue;
            int rows = SIZES[k][0], width = SIZES[k][1], stride = (width + 3) / 4 * 4, wide = kind % 2;
            uint8_t narrow[MOST_HIGH * MOST_WIDE], mask[(MOST_HIGH + 7) / 8 * (MOST_WIDE + 3)] = {0};
            uint16_t deep[MOST_HIGH * MOST_WIDE];
            const atn_volume_info info = {.frames = 1, .height = rows, .width = width, .bits = wide ? 16 : 8};
            needle_surface s = {.device = on, .ctx = ctx};
            for (int at = 0; at < rows * width; ++at) {
                int r = at / width, c = at % width;
                bright[at] = is_bright(kind, &seed, r ? &bright[at - width] : NULL, r, c);
                narrow[at] = (uint8_t)((bright[at] ? 101 : 0) + kit_random(&seed) % 100);
                deep[at] = (uint16_t)(narrow[at] << 8 | narrow[at]);
                pixel[at] = wide ? deep[at] : narrow[at];
                if (bright[at]) mask[r / 8 * stride + c] |= (uint8_t)(1u << (r % 8));
            }
            for (size_t n = 0; n < sizeof LEAST / sizeof *LEAST; ++n) {
                const float *row = surface_from(&s, &info, wide ? (void *)deep : narrow, mask, LEAST[n]);
                hold_surface(row, pixel, bright, rows, width, LEAST[n], atn_device_get_info(on)->backend);
            }
            needle_surface_free(&s);
        }
}

KIT_TEST(surfaces_are_those_of_a_loop) { surfaces_on(device, KINDS); }

/* What the other devices that are here make of scans, of every kind in turn. */
static void on_other_devices(void (*look)(atn_device *on)) {
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    if (atn_devices_count(devices) < 2) print_message("    skipped: there is only the host\n");
    for (int32_t k = 1; k < atn_devices_count(devices); ++k) {
        atn_device *other;
        if (!kit_wants(atn_devices_info(devices, k)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, k, &other));
        look(other);
        atn_device_close(other);
    }
    atn_devices_free(devices);
}

static void look_at_surfaces(atn_device *on) { surfaces_on(on, KINDS); }

KIT_TEST(other_devices_have_the_same_surfaces) { on_other_devices(look_at_surfaces); }

/* A scan that is all of one grey is missing, whatever the grey and the width; one pixel in an eighth row tells. */
KIT_TEST(scans_that_are_missing) {
    enum { SCANS = 5, HIGH = 19, WIDE = 13 };
    uint8_t pixels[SCANS][HIGH][WIDE], mask[SCANS * 3 * 16] = {0};
    const int32_t wanted[SCANS] = {0, 0, 1, 1, 0};
    const atn_volume_info info = {.frames = SCANS, .height = HIGH, .width = WIDE, .bits = 8};
    needle_surface s = {.device = device, .ctx = ctx};
    const void *seen;
    memset(pixels, 0, sizeof pixels);
    memset(pixels[1], 77, sizeof pixels[1]);
    pixels[2][16][12] = 1;
    memset(pixels[3], 9, sizeof pixels[3]);
    pixels[3][0][0] = 8;
    pixels[4][3][3] = 200; /* not in an eighth row */
    surface_from(&s, &info, pixels, mask, 1);
    kit_ok(ctx, atn_array_map_read(s.seen, &seen));
    for (int f = 0; f < SCANS; ++f)
        if (((const int32_t *)seen)[f] != wanted[f]) fail_msg("scan %d", f);
    needle_surface_free(&s);
}

/* ---- arcs ---- */

static const double SPACING[3] = {0.01, 0.005, 0.02}, RADIUS = 0.25;
enum { WIDE = 200 };

static void draw_circle(float *row, double x, double y, double noise, uint64_t seed) {
    for (int c = 0; c < WIDE; ++c) {
        double off = c * SPACING[0] - x, bump = noise * (2 * kit_uniform(&seed) - 1);
        bool met = fabs(off) < 0.8 * RADIUS;
        row[c] = met ? (float)((y - sqrt(RADIUS * RADIUS - off * off) + bump) / SPACING[1]) : NAN;
    }
}

static needle_arcs arcs_of(float *row) {
    const atn_volume_info info = {.frames = 1, .height = 8, .width = WIDE, .bits = 8};
    needle_surface s = {.device = device, .ctx = ctx};
    needle_arcs arcs = {.device = device, .ctx = ctx};
    kit_ok(ctx, needle_surface_begin(&s, &info));
    kit_ok(ctx, atn_array_put(s.row, row, 0));
    kit_ok(ctx, needle_arcs_find(&arcs, &s, SPACING, RADIUS, 20));
    needle_surface_free(&s);
    return arcs;
}

KIT_TEST(circles_are_found) {
    float row[WIDE];
    for (int form = 0; form < 4; ++form) { /* clean, noise, a gap, points that are off */
        draw_circle(row, 0.8, 0.9, form == 1 ? 0.01 : 0, 5);
        if (form == 2) row[75] = row[76] = row[77] = NAN;
        if (form == 3)
            for (int c = 70; c < 74; ++c) row[c] += 8;
        needle_arcs arcs = arcs_of(row);
        assert_int_equal(arcs.count, 1);
        const needle_arc *a = arcs.arc;
        if (fabs(a->centre[0] - 0.8) > 0.006 || fabs(a->centre[1] - 0.9) > 0.006 || a->centre[2] != 0)
            fail_msg("form %d: centre %g %g, rms %g", form, a->centre[0], a->centre[1], a->rms);
        needle_arcs_free(&arcs);
    }
}

KIT_TEST(jumps_and_gaps_end_an_arc) {
    float row[WIDE];
    draw_circle(row, 0.8, 0.9, 0, 1);
    for (int c = 84; c < WIDE; ++c)
        if (!isnan(row[c])) row[c] += 40; /* 0.2 deeper */
    needle_arcs arcs = arcs_of(row);
    assert_int_equal(arcs.count, 0); /* one piece is too narrow to tell, the other too short */
    needle_arcs_free(&arcs);
    draw_circle(row, 0.8, 0.9, 0, 1);
    for (int c = 93; c < 99; ++c) row[c] = NAN;
    arcs = arcs_of(row);
    assert_int_equal(arcs.count, 1);
    assert_true(arcs.arc[0].frame == 0 && arcs.arc[0].first == 61 && arcs.arc[0].last == 92);
    needle_arcs_free(&arcs);
}

KIT_TEST(what_is_not_round) {
    float row[WIDE];
    for (int form = 0; form < 3; ++form) { /* flat, wide and flat, hollow */
        for (int c = 0; c < WIDE; ++c) {
            double off = (c - 80) * SPACING[0];
            row[c] = fabs(off) > (form == 1 ? 0.7 : 0.2) ? NAN : 100;
            if (form == 2)
                row[c] = fabs(off) < 0.2 ? (float)((0.5 + sqrt(RADIUS * RADIUS - off * off)) / SPACING[1]) : NAN;
        }
        needle_arcs arcs = arcs_of(row);
        if (arcs.count != 0) fail_msg("form %d: %zu arcs, rms %g radii", form, arcs.count, arcs.arc[0].rms / RADIUS);
        needle_arcs_free(&arcs);
    }
    for (int c = 0; c < WIDE; ++c) row[c] = NAN;
    needle_arcs arcs = arcs_of(row);
    assert_int_equal(arcs.count, 0);
    needle_arcs_free(&arcs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_those_of_a_loop),
                                       cmocka_unit_test(levels_of_all_kinds),
                                       cmocka_unit_test(scans_go_through_in_batches),
                                       cmocka_unit_test(other_devices_have_the_same_bits),
                                       cmocka_unit_test(levels_are_between_dark_and_bright),
                                       cmocka_unit_test(corners_join_and_small_ones_go),
                                       cmocka_unit_test(the_uppermost_run_counts_at_its_peak),
                                       cmocka_unit_test(runs_go_on_over_words),
                                       cmocka_unit_test(columns_of_many_runs_and_of_one),
                                       cmocka_unit_test(surfaces_are_those_of_a_loop),
                                       cmocka_unit_test(other_devices_have_the_same_surfaces),
                                       cmocka_unit_test(scans_that_are_missing),
                                       cmocka_unit_test(circles_are_found),
                                       cmocka_unit_test(jumps_and_gaps_end_an_arc),
                                       cmocka_unit_test(what_is_not_round)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
