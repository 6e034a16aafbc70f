/* Which pixels of a volume are bright: above a level, and most of the 3 x 3 around too (kernels above and median_bits).
 * Scans go through in batches: on the host those that stay in its cache, read where they are. To a GPU several batches
 * are on their way at once: while one is copied there, the one before is computed. Nothing comes back. */
#include "apps/needle/segment.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "device/facts.h"
#include "image/volume.h"
#include "kernel/give.h"
#include "num/array.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 16 << 20, CACHED_BYTES = 16 << 20 }; /* of a batch; on the host */

void needle_bright_free(needle_bright *b) {
    atn_kernel_free(b->above_kernel);
    atn_kernel_free(b->median_kernel);
    for (int k = 0; k < NEEDLE_BATCHES; ++k) {
        atn_array_free(b->pixels[k]);
        atn_event_free(b->done[k]);
        atn_host_free(b->device, &b->staged[k]);
    }
    atn_array_free(b->above);
    atn_array_free(b->median);
    atn_queue_free(b->uploads);
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

enum { TABLES = 4 }; /* in turn: most pixels are dark, and a number that was just counted up is slow to come back */

/* Of a scan, rows that are spread evenly. */
static void count_some(void *user, int64_t from, int64_t to) {
    census *h = user;
    atn_volume_info info = atn_volume_info_of(h->volume);
    int64_t step = info.height > 256 ? info.height / 256 : 1, bytes = info.bits / 8;
    for (int64_t k = from; k < to; ++k) {
        int32_t table[TABLES][LEVELS] = {0};
        const uint8_t *frame = atn_volume_frame(h->volume, h->step / 2 + k * h->step);
        for (int64_t r = step / 2; r < info.height; r += step) {
            const uint8_t *row = frame + r * info.width * bytes;
            if (bytes == 1)
                for (int64_t c = 0; c < info.width; ++c) ++table[c % TABLES][row[c]];
            else
                for (int64_t c = 0; c < info.width; ++c)
                    ++table[c % TABLES][((const uint16_t *)(const void *)row)[c] >> 8];
        }
        for (int b = 0; b < LEVELS; ++b)
            for (int t = 0; t < TABLES; ++t) h->count[k][b] += table[t][b];
    }
}

int32_t needle_bright_level(const atn_volume *volume) {
    atn_volume_info info = atn_volume_info_of(volume);
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
    atn_status status = atn_kernel_make(b->device, b->bits == 8 ? "above" : "above16", ATN_SP, 0, &b->above_kernel);
    if (status == ATN_OK) status = atn_kernel_make(b->device, "median_bits", ATN_SP, 0, &b->median_kernel);
    if (status == ATN_OK) status = atn_kernel_give(b->above_kernel, ATN_ARRAYS({"bits", b->above}), ATN_NOTHING);
    if (status != ATN_OK) return status;
    return atn_kernel_give(b->median_kernel, ATN_ARRAYS({"bits", b->above}, {"median", b->median}),
                           ATN_NUMBERS({"high", (double)b->high}));
}

/* The host's own cores are done with a batch when it was queued: more than one would only leave the cache. */
static bool is_host(const needle_bright *b) { return atn_backend_facts_of(atn_device_get_info(b->device))->threads; }

static int64_t slots_of(const needle_bright *b, int64_t batches) {
    return is_host(b) ? 1 : batches < NEEDLE_BATCHES ? batches : NEEDLE_BATCHES;
}

static bool fits(const needle_bright *b, const atn_volume_info *info) {
    return b->above_kernel && b->height == info->height && b->width == info->width && b->bits == info->bits &&
           b->frames == info->frames;
}

static atn_status fit_to(needle_bright *b, const atn_volume_info *info) {
    if (fits(b, info)) return ATN_OK;
    needle_bright_free(b);
    b->height = info->height;
    b->width = info->width;
    b->bits = info->bits;
    b->frames = info->frames;
    b->high = (info->height + NEEDLE_ROWS - 1) / NEEDLE_ROWS;
    b->wide = (info->width + NEEDLE_COLUMNS - 1) / NEEDLE_COLUMNS;
    int64_t most = (is_host(b) ? CACHED_BYTES : BATCH_BYTES) / (int64_t)info->frame_bytes;
    if (most < 1) most = 1;
    b->batches = (b->frames + most - 1) / most;
    b->batch = (b->frames + b->batches - 1) / b->batches;
    b->batches = (b->frames + b->batch - 1) / b->batch;
    b->slots = slots_of(b, b->batches);
    int64_t rows = b->batch * b->high;
    atn_status status = atn_array_create_matrix(b->device, ATN_INT32, rows, b->wide, 0, &b->above);
    if (status == ATN_OK) status = atn_array_create_matrix(b->device, ATN_INT32, rows, b->wide, 0, &b->median);
    if (status == ATN_OK && b->slots > 1) status = atn_queue_create(b->device, &b->uploads);
    if (status == ATN_ERR_INPUT) status = ATN_OK; /* there are as many as there may be: copies go in the first queue */
    if (status == ATN_OK) status = make_kernels(b);
    if (status != ATN_OK) needle_bright_free(b);
    return status;
}

/* ---- scans on their way ---- */

/* All batches are equally long: the last one begins earlier. */
static int64_t first_of(const needle_bright *b, int64_t batch) {
    int64_t first = batch * b->batch, last = b->frames - b->batch;
    return first < last ? first : last;
}

typedef struct filling {
    const needle_bright *b;
    const atn_volume *volume;
    int64_t first;
    uint8_t *to;
} filling;

/* Scans of a batch, each filled up with black to whole words. */
static void put_some(void *user, int64_t from, int64_t to) {
    const filling *f = user;
    const needle_bright *b = f->b;
    size_t bytes = (size_t)(b->bits / 8), row = (size_t)b->width * bytes,
           room = (size_t)b->wide * NEEDLE_COLUMNS * bytes;
    for (int64_t r = from; r < to; ++r) {
        int64_t scan = r / (b->high * NEEDLE_ROWS), y = r % (b->high * NEEDLE_ROWS);
        size_t used = y < b->height ? row : 0;
        const uint8_t *frame = atn_volume_frame(f->volume, f->first + scan);
        if (used) memcpy(f->to + (size_t)r * room, frame + (size_t)y * row, row);
        memset(f->to + (size_t)r * room + used, 0, room - used);
    }
}

/* Scans of a batch as the device takes them. */
static void fill(const needle_bright *b, int64_t first, void *to) {
    filling f = {b, b->volume, first, to};
    atn_parallel(b->batch * b->high * NEEDLE_ROWS, 64, put_some, &f);
}

static bool is_whole(const needle_bright *b) { return b->height % NEEDLE_ROWS == 0 && b->width % NEEDLE_COLUMNS == 0; }

/* Beside the kernels, from pinned memory: where the volume is, or where its scans are copied to by all cores. */
static atn_status send_beside(needle_bright *b, int64_t slot, int64_t first) {
    atn_host_memory *staged = &b->staged[slot];
    const void *from = atn_volume_frame(b->volume, first);
    size_t bytes = (size_t)(b->batch * b->high * NEEDLE_ROWS * b->wide * (b->bits / 8)) * sizeof(int32_t);
    atn_status status = ATN_OK;
    if (!is_whole(b) || !volume_is_pinned(b->volume, b->device)) {
        if (!staged->data) status = atn_host_alloc(b->device, bytes, staged);
        if (status == ATN_OK && b->done[slot]) status = atn_event_wait(b->done[slot]); /* what was there is copied */
        if (status != ATN_OK) return status;
        fill(b, first, staged->data);
        from = staged->data;
    } else if (b->done[slot])
        status = atn_queue_wait(b->uploads, b->done[slot]); /* what is there is no longer needed */
    return status == ATN_OK ? atn_array_send(b->pixels[slot], b->uploads, from) : status;
}

/* A batch for its slot. */
static atn_status send(needle_bright *b, int64_t batch) {
    int64_t first = first_of(b, batch), rows = b->batch * b->high * NEEDLE_ROWS, columns = b->wide * (b->bits / 8);
    atn_array **pixels = &b->pixels[batch % b->slots];
    atn_status status = ATN_OK;
    if (is_whole(b) && is_host(b)) {
        atn_array_free(*pixels);
        *pixels = NULL;
        status =
            atn_array_create_around(b->device, ATN_INT32, rows, columns, atn_volume_frame(b->volume, first), pixels);
        if (status != ATN_OK || *pixels) return status;
    }
    if (!*pixels) status = atn_array_create_matrix(b->device, ATN_INT32, rows, columns, 0, pixels);
    if (status != ATN_OK || b->uploads) return status == ATN_OK ? send_beside(b, batch % b->slots, first) : status;
    void *to;
    status = atn_array_map_write(*pixels, &to);
    if (status == ATN_OK) fill(b, first, to);
    return status;
}

atn_status needle_bright_begin(needle_bright *b, const atn_volume *volume) {
    atn_volume_info info = atn_volume_info_of(volume);
    atn_status status = fit_to(b, &info);
    b->volume = volume;
    b->sent = 0;
    if (status == ATN_OK && b->uploads && volume_is_pinned(volume, b->device))
        for (; b->sent < b->slots && status == ATN_OK; ++b->sent) status = send(b, b->sent);
    if (status != ATN_OK) needle_bright_end(b);
    return status;
}

void needle_bright_end(needle_bright *b) {
    if (b->uploads) (void)atn_queue_finish(b->uploads);
    if (is_host(b) && b->volume) { /* it may be the volume's memory */
        atn_array_free(b->pixels[0]);
        b->pixels[0] = NULL;
    }
    b->volume = NULL;
}

static atn_status queue_batch(needle_bright *b, int64_t batch, needle_bright_visit *visit, void *user) {
    needle_batch on = {(int32_t)(batch % b->slots), first_of(b, batch), NULL, b->median};
    atn_status status = atn_tell_progress(b->ctx, "segmenting", batch, b->batches);
    if (status == ATN_OK && b->sent == batch) status = send(b, b->sent++);
    on.pixels = b->pixels[on.slot];
    if (status == ATN_OK) status = atn_kernel_bind(b->above_kernel, "pixels", on.pixels);
    if (status == ATN_OK) status = atn_kernel_run(b->above_kernel);
    if (status == ATN_OK) status = atn_kernel_run(b->median_kernel);
    if (status == ATN_OK) status = visit(user, &on);
    if (status == ATN_OK && b->uploads && !b->done[on.slot]) status = atn_event_create(b->device, &b->done[on.slot]);
    return status == ATN_OK && b->uploads ? atn_event_mark(atn_device_queue(b->device), b->done[on.slot]) : status;
}

atn_status needle_bright_find(needle_bright *b, int32_t level, needle_bright_visit *visit, void *user) {
    atn_status status = atn_kernel_param(b->above_kernel, "level", level, 0);
    for (int64_t k = 0; k < b->batches && status == ATN_OK; ++k) status = queue_batch(b, k, visit, user);
    if (status != ATN_OK && b->slots > 1) (void)atn_queue_finish(atn_device_queue(b->device));
    needle_bright_end(b);
    return status;
}
