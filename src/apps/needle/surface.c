/* The surface that the beam meets first: bright pixels of a scan are runs down its columns; runs of neighbouring
 * columns that touch, also by a corner, belong together; a component with too few pixels is noise. Of each column the
 * uppermost run that is left gives a point, at the middle of its peak. */
#include "apps/needle/segment.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>

enum { PEAK_ROWS = 32 }; /* of a run, in which its peak is looked for: metal is brightest where the beam enters it */
enum { MOST_RUNS = 16 }; /* of a column: the needle is above its shadow, what is far below it is not looked at */

typedef struct needle_run {
    int32_t first, last; /* rows */
} needle_run;

/* What a thread needs for a scan: its runs, to which component each belongs, and how many pixels that has. */
typedef struct scratch {
    needle_run *run;
    int32_t *parent, *pixels;
    int32_t *start; /* of a column's runs; one more than columns */
} scratch;

void needle_surface_free(needle_surface *s) {
    if (!s->ctx) return;
    atn_free(s->ctx, s->row);
    atn_free(s->ctx, s->scratch);
    *s = (needle_surface){.ctx = s->ctx};
}

static size_t scratch_numbers(int64_t width) { return (size_t)width * (4 * MOST_RUNS + 1) + 1; }

static scratch scratch_of(const needle_surface *s, int32_t worker) {
    size_t runs = (size_t)s->width * MOST_RUNS;
    int32_t *at = s->scratch + (size_t)worker * scratch_numbers(s->width);
    return (scratch){(needle_run *)at, at + 2 * runs, at + 3 * runs, at + 4 * runs};
}

static atn_status make_room(needle_surface *s, int64_t frames, int64_t width) {
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

/* Runs of ones of a column whose words are `width` apart; at most MOST_RUNS, the uppermost. */
static int32_t column_runs(const int32_t *word, int64_t words, int64_t width, needle_run *run) {
    int32_t count = 0, open = -1;
    for (int64_t w = 0; w < words; ++w) {
        uint32_t bits = (uint32_t)word[w * width];
        int32_t base = (int32_t)(32 * w), at = 0;
        if (open < 0 && !bits) continue;
        while (at < 32) { /* the next bit that differs from what it is in */
            uint32_t rest = (open < 0 ? bits : ~bits) >> at;
            if (!rest) break;
            at += __builtin_ctz(rest);
            if (open < 0) {
                open = base + at;
            } else {
                run[count++] = (needle_run){open, base + at - 1};
                open = -1;
                if (count == MOST_RUNS) return count;
            }
        }
    }
    if (open >= 0) run[count++] = (needle_run){open, (int32_t)(32 * words) - 1};
    return count;
}

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

/* All runs of a scan, joined; start[c] … start[c + 1] - 1 are column c's. */
static void join_runs(scratch *s, const int32_t *mask, int64_t words, int64_t width) {
    int32_t *start = s->start;
    int32_t count = 0;
    start[0] = 0;
    for (int64_t c = 0; c < width; ++c) {
        int32_t found = column_runs(mask + c, words, width, s->run + count);
        for (int32_t k = count; k < count + found; ++k) {
            s->parent[k] = k;
            s->pixels[k] = s->run[k].last - s->run[k].first + 1;
        }
        for (int32_t a = c ? start[c - 1] : 0, b = count; c && a < count && b < count + found;) {
            const needle_run *left = &s->run[a], *here = &s->run[b];
            if (left->first <= here->last + 1 && here->first <= left->last + 1) join(s, a, b);
            if (left->last < here->last)
                ++a;
            else
                ++b;
        }
        count += found;
        start[c + 1] = count;
    }
}

static double pixel_at(const atn_volume_info *info, const void *frame, int64_t row, int64_t column) {
    int64_t at = row * info->width + column;
    return info->bits == 8 ? ((const uint8_t *)frame)[at] : ((const uint16_t *)frame)[at];
}

/* The middle of what is above half of the run's peak, around the peak: metal is bright over the axial resolution, and
 * what echoes below it is dimmer. */
static float peak_of(const atn_volume_info *info, const void *frame, int64_t column, const needle_run *run) {
    int64_t last = run->last < info->height - 1 ? run->last : info->height - 1, peak = run->first;
    if (last > run->first + PEAK_ROWS) last = run->first + PEAK_ROWS;
    double most = -1, weight = 0, sum = 0;
    for (int64_t r = run->first; r <= last; ++r) {
        double value = pixel_at(info, frame, r, column);
        if (r > run->first) value += 0.5 * pixel_at(info, frame, r - 1, column);
        if (r < last) value += 0.5 * pixel_at(info, frame, r + 1, column);
        if (value > most) most = value, peak = r;
    }
    double half = 0.5 * pixel_at(info, frame, peak, column);
    int64_t from = peak, to = peak;
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
    const needle_bright *b;
    const atn_volume *volume;
    int32_t least;
} task;

static void find_scans(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    const needle_bright *b = t->b;
    atn_volume_info info = atn_volume_get_info(t->volume);
    scratch w = scratch_of(t->s, worker);
    for (int64_t f = from; f < to; ++f) {
        const void *frame = atn_volume_frame(t->volume, f);
        join_runs(&w, b->mask + f * b->words * b->width, b->words, b->width);
        for (int64_t c = 0; c < b->width; ++c) {
            float *row = &t->s->row[f * b->width + c];
            *row = NAN;
            for (int32_t k = w.start[c]; k < w.start[c + 1] && isnan(*row); ++k)
                if (w.pixels[root(w.parent, k)] >= t->least) *row = peak_of(&info, frame, c, &w.run[k]);
        }
    }
}

atn_status needle_surface_find(needle_surface *s, const needle_bright *b, const atn_volume *volume, int32_t least) {
    task t = {s, b, volume, least};
    atn_status status = make_room(s, b->frames, b->width);
    if (status == ATN_OK) atn_parallel(b->frames, 1, find_scans, &t);
    return status;
}
