/* The surface that the beam meets first: bright pixels of a scan are runs down its columns; runs of neighbouring
 * columns that touch, also by a corner, belong together; a component with too few pixels is noise. Of each column the
 * uppermost run that is left gives a point, at the middle of its peak. */
#include "apps/needle/segment.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { PEAK_ROWS = 32 }; /* of a run, in which its peak is looked for: metal is brightest where the beam enters it */
enum { MOST_RUNS = 16 }; /* of a column: the needle is above its shadow, what is far below it is not looked at */

typedef struct needle_run {
    int32_t first, last; /* rows */
} needle_run;

/* What a thread needs for a scan: the runs of each column, to which component each belongs, and how many pixels that
 * has. Room for MOST_RUNS of each column; the one that is open may be one more. */
typedef struct scratch {
    needle_run *run;
    int32_t *parent, *pixels;
    int32_t *count; /* of a column's runs */
} scratch;

void needle_surface_free(needle_surface *s) {
    if (!s->ctx) return;
    atn_free(s->ctx, s->row);
    atn_free(s->ctx, s->scratch);
    *s = (needle_surface){.ctx = s->ctx};
}

static size_t scratch_numbers(int64_t width) { return (size_t)width * (4 * MOST_RUNS + 1); }

static scratch scratch_of(const needle_surface *s, int32_t worker) {
    size_t runs = (size_t)s->width * MOST_RUNS;
    int32_t *at = s->scratch + (size_t)worker * scratch_numbers(s->width);
    return (scratch){(needle_run *)at, at + 2 * runs, at + 3 * runs, at + 4 * runs};
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

/* The ends of runs within eight rows of a column; returns whether one is open behind them. */
static bool cut_byte(scratch *s, int64_t column, uint32_t bits, bool open, int32_t row) {
    needle_run *run = s->run + column * MOST_RUNS;
    int32_t *count = &s->count[column];
    for (uint32_t at = 0; at < NEEDLE_ROWS && *count < MOST_RUNS;) { /* the next bit that differs from what it is in */
        uint32_t rest = ((open ? ~bits : bits) & 0xff) >> at;
        if (!rest) break;
        at += (uint32_t)__builtin_ctz(rest);
        if (open)
            run[(*count)++].last = row + (int32_t)at - 1;
        else
            run[*count].first = row + (int32_t)at;
        open = !open;
    }
    return open;
}

/* Runs of the columns c to c + many - 1, the uppermost of each. Eight rows of eight columns are as they were, all black
 * or all bright, where they are equal to what was open before. */
static void find_runs(scratch *s, const uint8_t *mask, int64_t high, int64_t stride, int64_t c, int64_t many) {
    uint64_t open = 0;
    for (int64_t r = 0; r < high; ++r) {
        uint64_t here = 0;
        if (many == 8) /* one load */
            memcpy(&here, mask + r * stride + c, 8);
        else
            memcpy(&here, mask + r * stride + c, (size_t)many);
        if (here == open) continue;
        for (int64_t k = 0; k < many; ++k) {
            uint64_t all = (uint64_t)0xff << (8 * k);
            if (((here ^ open) & all) == 0 || s->count[c + k] == MOST_RUNS) continue;
            bool now = cut_byte(s, c + k, (uint32_t)(here >> (8 * k)) & 0xff, open & all, (int32_t)(NEEDLE_ROWS * r));
            open = now ? open | all : open & ~all;
        }
    }
    for (int64_t k = 0; k < many; ++k)
        if (open >> (8 * k) & 1 && s->count[c + k] < MOST_RUNS)
            s->run[(c + k) * MOST_RUNS + s->count[c + k]++].last = (int32_t)(NEEDLE_ROWS * high) - 1;
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

static int32_t pixel_at(const atn_volume_info *info, const void *frame, int64_t row, int64_t column) {
    int64_t at = row * info->width + column;
    return info->bits == 8 ? ((const uint8_t *)frame)[at] : ((const uint16_t *)frame)[at];
}

/* Where a run is brightest, of three rows each time; the rows beyond its ends count nothing. */
static int64_t brightest(const atn_volume_info *info, const void *frame, int64_t column, int64_t first, int64_t last) {
    int32_t value[PEAK_ROWS + 3] = {0}, most = -1;
    int64_t rows = last - first + 1, peak = 0;
    for (int64_t k = 0; k < rows; ++k) value[k + 1] = pixel_at(info, frame, first + k, column);
    value[rows + 1] = 0;
    for (int64_t k = 0; k < rows; ++k) {
        int32_t sum = value[k] + 2 * value[k + 1] + value[k + 2];
        if (sum > most) most = sum, peak = k;
    }
    return first + peak;
}

/* The middle of what is above half of the run's peak, around the peak: metal is bright over the axial resolution, and
 * what echoes below it is dimmer. */
static float peak_of(const atn_volume_info *info, const void *frame, int64_t column, const needle_run *run) {
    int64_t last = run->last < info->height - 1 ? run->last : info->height - 1;
    if (last > run->first + PEAK_ROWS) last = run->first + PEAK_ROWS;
    int64_t peak = brightest(info, frame, column, run->first, last), from = peak, to = peak;
    double weight = 0, sum = 0, half = 0.5 * pixel_at(info, frame, peak, column);
    while (from > 0 && pixel_at(info, frame, from - 1, column) > half) --from;
    while (to + 1 < info->height && pixel_at(info, frame, to + 1, column) > half) ++to;
    int64_t reach = peak - from < to - peak ? peak - from : to - peak; /* as far to both sides */
    for (int64_t r = peak - reach; r <= peak + reach; ++r) {
        double w = pixel_at(info, frame, r, column) - half;
        weight += w;
        sum += w * (double)r;
    }
    return (float)(weight > 0 ? sum / weight : (double)peak);
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
        memset(w.count, 0, (size_t)info.width * sizeof *w.count);
        for (int64_t c = 0; c < info.width; c += 8)
            find_runs(&w, t->mask + f * high * stride, high, stride, c, info.width - c < 8 ? info.width - c : 8);
        join_runs(&w, info.width);
        for (int32_t c = 0; c < (int32_t)info.width; ++c) {
            float *row = &t->s->row[(t->first + f) * info.width + c];
            *row = NAN;
            for (int32_t k = c * MOST_RUNS; k < c * MOST_RUNS + w.count[c] && isnan(*row); ++k)
                if (w.pixels[root(w.parent, k)] >= t->least) *row = peak_of(&info, frame, c, &w.run[k]);
        }
    }
}

void needle_surface_find(needle_surface *s, const atn_volume *volume, const uint8_t *mask, int64_t first, int64_t count,
                         int32_t least) {
    task t = {s, volume, mask, first, least};
    atn_parallel(count, 1, find_scans, &t);
}
