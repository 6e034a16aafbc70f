/* Which pixels of a volume are bright: above a level, and most of the 3 x 3 around too (kernels above and median_bits).
 * Scans go through in batches that stay in a CPU's cache; bits come back, not pixels. */
#include "apps/needle/segment.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "num/array.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 32, BATCH_BYTES = 8 << 20 };

void needle_bright_free(needle_bright *b) {
    atn_kernel_free(b->above_kernel);
    atn_kernel_free(b->median_kernel);
    atn_array_free(b->pixels);
    atn_array_free(b->above);
    atn_array_free(b->median);
    if (b->ctx) atn_free(b->ctx, b->mask);
    *b = (needle_bright){.device = b->device, .ctx = b->ctx};
}

/* ---- the level ---- */

enum { LEVELS = 256 };
static const double MOST_BRIGHT = 0.25; /* share of the pixels */

/* Otsu: the level that makes the variance between both sides largest, over the bins from `first`. */
static int otsu(const double *count, int first) {
    double all = 0, sum = 0, below = 0, below_sum = 0, best = -1;
    int level = first;
    for (int k = first; k < LEVELS; ++k) {
        all += count[k];
        sum += count[k] * k;
    }
    for (int k = first; k + 1 < LEVELS; ++k) {
        below += count[k];
        below_sum += count[k] * k;
        double above = all - below;
        if (!(below > 0) || !(above > 0)) continue;
        double apart = below_sum / below - (sum - below_sum) / above, between = below * above * apart * apart;
        if (between > best) best = between, level = k;
    }
    return level;
}

/* The bin below which `share` of them lies. */
static int quantile(const double *count, double all, double share) {
    double below = 0;
    int k = 0;
    for (; k + 1 < LEVELS && (below += count[k]) < share * all;) ++k;
    return k;
}

/* Where little is in the scans the two sides that Otsu finds are both noise, and much of it is bright: then the level
 * is three median deviations above its median. */
static int level_of(const double *count) {
    double all = 0, above = 0, off[LEVELS] = {0};
    int level = otsu(count, 0);
    for (int k = 0; k < LEVELS; ++k) {
        all += count[k];
        above += k > level ? count[k] : 0;
    }
    if (above <= MOST_BRIGHT * all) return level;
    int median = quantile(count, all, 0.5);
    for (int k = 0; k < LEVELS; ++k) off[abs(k - median)] += count[k];
    int over = median + 3 * quantile(off, all, 0.5);
    return over < level ? level : over < LEVELS - 1 ? over : LEVELS - 2;
}

enum { LOOKED_AT = 16 }; /* scans of a volume */

typedef struct census {
    const atn_volume *volume;
    int64_t step; /* of scans */
    int32_t count[LOOKED_AT + 1][LEVELS];
} census;

/* Of a scan, rows that are spread evenly. */
static void count_some(void *user, int64_t from, int64_t to, int32_t worker) {
    census *h = user;
    atn_volume_info info = atn_volume_get_info(h->volume);
    int64_t step = info.height > 256 ? info.height / 256 : 1;
    (void)worker;
    for (int64_t k = from; k < to; ++k) {
        int32_t *bin = h->count[k];
        const uint8_t *frame = atn_volume_frame(h->volume, h->step / 2 + k * h->step);
        for (int64_t r = step / 2; r < info.height; r += step) {
            const uint8_t *row8 = frame + r * info.width * (info.bits / 8);
            const uint16_t *row16 = (const uint16_t *)(const void *)row8;
            for (int64_t c = 0; c < info.width; ++c) ++bin[info.bits == 8 ? row8[c] : row16[c] >> 8];
        }
    }
}

int32_t needle_bright_level(const atn_volume *volume) {
    atn_volume_info info = atn_volume_get_info(volume);
    census h = {.volume = volume, .step = info.frames > LOOKED_AT ? (info.frames + LOOKED_AT - 1) / LOOKED_AT : 1};
    int64_t scans = (info.frames - h.step / 2 + h.step - 1) / h.step;
    atn_parallel(scans, 1, count_some, &h);
    double sum[LEVELS] = {0};
    for (int64_t k = 0; k < scans; ++k)
        for (int b = 0; b < LEVELS; ++b) sum[b] += h.count[k][b];
    int level = level_of(sum);
    return info.bits == 8 ? level : level << 8 | 255;
}

/* ---- the kernels ---- */

static atn_status make_kernels(needle_bright *b) {
    atn_status status = atn_kernel_create(b->device, b->bits == 8 ? "above" : "above16", NULL, &b->above_kernel);
    if (status == ATN_OK) status = atn_kernel_bind(b->above_kernel, "pixels", b->pixels);
    if (status == ATN_OK) status = atn_kernel_bind(b->above_kernel, "bits", b->above);
    if (status == ATN_OK) status = atn_kernel_create(b->device, "median_bits", NULL, &b->median_kernel);
    if (status == ATN_OK) status = atn_kernel_bind(b->median_kernel, "bits", b->above);
    if (status == ATN_OK) status = atn_kernel_bind(b->median_kernel, "median", b->median);
    if (status == ATN_OK) status = atn_kernel_param(b->median_kernel, "words", (double)b->words, 0);
    return status;
}

static atn_status fit_to(needle_bright *b, const atn_volume_info *info) {
    if (b->above_kernel && b->height == info->height && b->width == info->width && b->bits == info->bits &&
        b->frames == info->frames)
        return ATN_OK;
    needle_bright_free(b);
    b->height = info->height;
    b->width = info->width;
    b->bits = info->bits;
    b->frames = info->frames;
    b->words = (info->height + WORD - 1) / WORD;
    b->batch = BATCH_BYTES / (int64_t)info->frame_bytes;
    b->batch = b->batch < 1 ? 1 : b->batch > info->frames ? info->frames : b->batch;
    int64_t rows = b->batch * b->words;
    b->mask = atn_alloc(b->ctx, (size_t)(b->frames * b->words) * (size_t)b->width * sizeof *b->mask);
    atn_status status = b->mask ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK)
        status =
            atn_array_create_matrix(b->device, b->bits == 8 ? ATN_U8 : ATN_U16, b->width, rows * WORD, 0, &b->pixels);
    if (status == ATN_OK) status = atn_array_create_matrix(b->device, ATN_INT32, b->width, rows, 0, &b->above);
    if (status == ATN_OK) status = atn_array_create_matrix(b->device, ATN_INT32, b->width, rows, 0, &b->median);
    if (status == ATN_OK) status = make_kernels(b);
    if (status != ATN_OK) needle_bright_free(b);
    return status;
}

typedef struct filling {
    const needle_bright *b;
    const atn_volume *volume;
    int64_t first, count;
    uint8_t *to;
} filling;

/* Scans of a batch, each filled up with black to a whole number of words; black ones after the last. */
static void put_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const filling *f = user;
    const needle_bright *b = f->b;
    size_t scan = (size_t)b->height * (size_t)b->width * (size_t)(b->bits / 8);
    size_t room = (size_t)b->words * WORD * (size_t)b->width * (size_t)(b->bits / 8);
    (void)worker;
    for (int64_t k = from; k < to; ++k) {
        size_t used = k < f->count ? scan : 0;
        if (used) memcpy(f->to + (size_t)k * room, atn_volume_frame(f->volume, f->first + k), scan);
        memset(f->to + (size_t)k * room + used, 0, room - used);
    }
}

static atn_status put_scans(needle_bright *b, const atn_volume *volume, int64_t first, int64_t count) {
    void *to;
    atn_status status = atn_array_map_write(b->pixels, &to);
    filling f = {b, volume, first, count, to};
    if (status == ATN_OK) atn_parallel(b->batch, 2, put_some, &f);
    return status;
}

atn_status needle_bright_find(needle_bright *b, const atn_volume *volume, int32_t level) {
    atn_volume_info info = atn_volume_get_info(volume);
    atn_status status = fit_to(b, &info);
    if (status == ATN_OK) status = atn_kernel_param(b->above_kernel, "level", level, 0);
    for (int64_t first = 0; first < b->frames && status == ATN_OK; first += b->batch) {
        int64_t count = b->frames - first < b->batch ? b->frames - first : b->batch;
        size_t words = (size_t)b->words * (size_t)b->width;
        const void *median = NULL;
        status = atn_check_cancel(b->ctx);
        if (status == ATN_OK) status = put_scans(b, volume, first, count);
        if (status == ATN_OK) status = atn_kernel_run(b->above_kernel);
        if (status == ATN_OK) status = atn_kernel_run(b->median_kernel);
        if (status == ATN_OK) status = atn_array_map_read(b->median, &median);
        if (status == ATN_OK) memcpy(b->mask + (size_t)first * words, median, (size_t)count * words * sizeof *b->mask);
    }
    return status;
}
