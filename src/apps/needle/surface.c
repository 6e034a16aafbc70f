/* The surface that the beam meets first: bright pixels of a scan are runs down its columns; runs of neighbouring
 * columns that touch, also by a corner, belong together; a component with too few pixels is noise. Of each column the
 * uppermost run that is left gives a point, at the middle of its peak. */
#include "apps/needle/segment.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { PEAK_ROWS = 32 }; /* of a run, in which its peak is looked for: metal is brightest where the beam enters it */
enum { AT_ONCE = 4 };    /* times eight columns that are looked at together */
enum { MOST_RUNS = 16 }; /* of a column: the needle is above its shadow, what is far below it is not looked at */

typedef struct needle_run {
    int32_t first, last; /* rows */
} needle_run;

/* What a thread needs for a scan: the runs of each column, to which component each belongs, and how many pixels that
 * has. Room for MOST_RUNS of each column. */
typedef struct scratch {
    needle_run *run;
    int32_t *end; /* the same memory: the first row of a run, its last, the next one's */
    int32_t *parent, *pixels;
    int32_t *count;  /* of a column's runs, */
    int32_t *ends;   /* and of their ends so far */
    uint64_t *above; /* eight columns each, of the eight rows above */
} scratch;

void needle_surface_free(needle_surface *s) {
    if (!s->ctx) return;
    atn_free(s->ctx, s->row);
    atn_free(s->ctx, s->scratch);
    *s = (needle_surface){.ctx = s->ctx};
}

/* Columns that are looked at together, filled up. */
static size_t scratch_columns(int64_t width) {
    size_t together = 8 * AT_ONCE;
    return ((size_t)width + together - 1) / together * together;
}

static size_t scratch_numbers(int64_t width) { return scratch_columns(width) / 8 * (8 * (4 * MOST_RUNS + 2) + 2); }

static scratch scratch_of(const needle_surface *s, int32_t worker) {
    size_t columns = scratch_columns(s->width), runs = columns * MOST_RUNS;
    int32_t *at = s->scratch + (size_t)worker * scratch_numbers(s->width), *after = at + 4 * runs;
    return (scratch){(needle_run *)at,
                     at,
                     at + 2 * runs,
                     at + 3 * runs,
                     after,
                     after + columns,
                     (uint64_t *)(void *)(after + 2 * columns)};
}

atn_status needle_surface_begin(needle_surface *s, int64_t frames, int64_t width) {
    if (s->row && s->frames == frames && s->width == width) return ATN_OK;
    needle_surface_free(s);
    s->row = atn_alloc(s->ctx, (size_t)frames * (size_t)width * sizeof *s->row);
    s->scratch = atn_alloc(s->ctx, (size_t)atn_parallel_workers() * scratch_numbers(width) * sizeof *s->scratch);
    if (!s->row || !s->scratch) {
        needle_surface_free(s);
        return ATN_ERR_MEMORY;
    }
    s->frames = frames;
    s->width = width;
    return ATN_OK;
}

/* ---- runs ---- */

/* Where eight columns change between black and bright, in these eight rows and at the border to the eight above. */
static uint64_t changes(uint64_t here, uint64_t above) {
    return here ^ ((here << 1 & 0xfefefefefefefefe) | (above >> 7 & 0x0101010101010101));
}

/* A run begins at the first row of a change and ends in front of the next. */
static void cut(scratch *s, int64_t column, uint64_t change, int32_t row) {
    for (; change; change &= change - 1) {
        int32_t at = __builtin_ctzll(change);
        int64_t c = column + at / NEEDLE_ROWS;
        int32_t ends = s->ends[c];
        if (ends == 2 * MOST_RUNS) continue;
        s->end[c * 2 * MOST_RUNS + ends] = row + at % NEEDLE_ROWS - (ends & 1);
        s->ends[c] = ends + 1;
    }
}

/* Runs of all columns, the uppermost of each. Most eights of columns do not change: several are passed over at a time.
 */
static void find_runs(scratch *s, const uint8_t *mask, int64_t high, int64_t stride, int64_t width) {
    int64_t groups = (stride + 7) / 8;
    memset(s->ends, 0, scratch_columns(width) * sizeof *s->ends);
    memset(s->above, 0, scratch_columns(width) / 8 * sizeof *s->above);
    for (int64_t r = 0; r < high; ++r)
        for (int64_t g = 0; g < groups; g += AT_ONCE) {
            uint64_t here[AT_ONCE] = {0}, change[AT_ONCE], any = 0;
            int64_t rest = stride - 8 * g;
            if (rest >= (int64_t)sizeof here)
                memcpy(here, mask + r * stride + 8 * g, sizeof here);
            else
                memcpy(here, mask + r * stride + 8 * g, (size_t)rest);
            for (int k = 0; k < AT_ONCE; ++k) {
                change[k] = changes(here[k], s->above[g + k]);
                any |= change[k];
                s->above[g + k] = here[k];
            }
            for (int k = 0; k < AT_ONCE && any; ++k) cut(s, 8 * (g + k), change[k], (int32_t)(NEEDLE_ROWS * r));
        }
    for (int64_t c = 0; c < width; ++c) {
        if (s->ends[c] & 1) s->end[c * 2 * MOST_RUNS + s->ends[c]++] = (int32_t)(NEEDLE_ROWS * high) - 1;
        s->count[c] = s->ends[c] / 2;
    }
}

/* ---- components ---- */

static int32_t root(int32_t *parent, int32_t k) {
    while (parent[k] != k) k = parent[k] = parent[parent[k]];
    return k;
}

static void join(scratch *s, int32_t a, int32_t b) {
    a = root(s->parent, a);
    b = root(s->parent, b);
    if (a == b) return;
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    s->parent[high] = low;
    s->pixels[low] += s->pixels[high];
}

/* All runs of a scan, joined. */
static void join_runs(scratch *s, int64_t width) {
    for (int32_t c = 0; c < (int32_t)width; ++c) {
        int32_t from = c * MOST_RUNS, to = from + s->count[c], left_from = c ? from - MOST_RUNS : 0;
        int32_t left_to = c ? left_from + s->count[c - 1] : 0;
        for (int32_t k = from; k < to; ++k) {
            s->parent[k] = k;
            s->pixels[k] = s->run[k].last - s->run[k].first + 1;
        }
        for (int32_t a = left_from, b = from; a < left_to && b < to;) {
            const needle_run *left = &s->run[a], *here = &s->run[b];
            if (left->first <= here->last + 1 && here->first <= left->last + 1) join(s, a, b);
            if (left->last < here->last)
                ++a;
            else
                ++b;
        }
    }
}

/* ---- points ---- */

/* A column of a scan: pixels of 8 bits, or of 16 (wide), `step` apart. */
typedef struct line {
    const uint8_t *low;
    const uint16_t *high;
    int64_t step, rows;
} line;

static inline int32_t pixel_at(const line *l, bool wide, int64_t row) {
    return wide ? l->high[row * l->step] : l->low[row * l->step];
}

/* Where a run is brightest, of three rows each time; the rows beyond its ends count nothing. */
static inline int64_t brightest(const line *l, bool wide, int64_t first, int64_t last) {
    int32_t before = 0, here = pixel_at(l, wide, first), most = -1;
    int64_t peak = first;
    for (int64_t r = first; r <= last; ++r) {
        int32_t after = r < last ? pixel_at(l, wide, r + 1) : 0, sum = before + 2 * here + after;
        if (sum > most) most = sum, peak = r;
        before = here;
        here = after;
    }
    return peak;
}

/* The middle of what is above half of the run's peak, around the peak: metal is bright over the axial resolution, and
 * what echoes below it is dimmer. Weights are twice a pixel less the peak's: whole. */
static inline float peak_of(const line *l, bool wide, const needle_run *run) {
    int64_t last = run->last < l->rows - 1 ? run->last : l->rows - 1;
    if (last > run->first + PEAK_ROWS) last = run->first + PEAK_ROWS;
    int64_t peak = brightest(l, wide, run->first, last), reach = 0, weight, sum;
    int32_t most = pixel_at(l, wide, peak);
    weight = most;
    sum = most * peak;
    for (;; ++reach) { /* as far to both sides */
        int64_t up = peak - reach - 1, down = peak + reach + 1;
        if (up < 0 || down >= l->rows) break;
        int32_t over = 2 * pixel_at(l, wide, up) - most, under = 2 * pixel_at(l, wide, down) - most;
        if (over <= 0 || under <= 0) break;
        weight += over + under;
        sum += over * up + under * down;
    }
    return (float)(weight > 0 ? (double)sum / (double)weight : (double)peak);
}

typedef struct task {
    needle_surface *s;
    const atn_volume *volume;
    const uint8_t *mask;
    int64_t first;
    int32_t least;
} task;

static void find_scans(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    atn_volume_info info = atn_volume_get_info(t->volume);
    int64_t high = (info.height + NEEDLE_ROWS - 1) / NEEDLE_ROWS;
    int64_t stride = (info.width + NEEDLE_COLUMNS - 1) / NEEDLE_COLUMNS * NEEDLE_COLUMNS;
    scratch w = scratch_of(t->s, worker);
    for (int64_t f = from; f < to; ++f) {
        const void *frame = atn_volume_frame(t->volume, t->first + f);
        find_runs(&w, t->mask + f * high * stride, high, stride, info.width);
        join_runs(&w, info.width);
        for (int32_t c = 0; c < (int32_t)info.width; ++c) {
            float *row = &t->s->row[(t->first + f) * info.width + c];
            line l = {(const uint8_t *)frame + c, (const uint16_t *)frame + c, info.width, info.height};
            *row = NAN;
            for (int32_t k = c * MOST_RUNS; k < c * MOST_RUNS + w.count[c] && isnan(*row); ++k)
                if (w.pixels[root(w.parent, k)] >= t->least)
                    *row = info.bits == 8 ? peak_of(&l, false, &w.run[k]) : peak_of(&l, true, &w.run[k]);
        }
    }
}

void needle_surface_find(needle_surface *s, const atn_volume *volume, const uint8_t *mask, int64_t first, int64_t count,
                         int32_t least) {
    task t = {s, volume, mask, first, least};
    atn_parallel(count, 1, find_scans, &t);
}
