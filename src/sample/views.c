/* Views from all sides: directions on a spiral of equal areas (Fibonacci), randomly rotated, in any order. */
#include "sample/views.h"

#include "base/memory.h"
#include "base/size.h"
#include "sample/scanner.h"

#include <math.h>

/* What is scanned now, and from where. */
typedef struct tour {
    const atn_views_settings *settings;
    scanner_session session;
    atn_random random;
    shape *shape;   /* owned */
    float *squares; /* owned; what the scanner sees, and room to work */
    size_t *order;  /* owned; which direction comes k-th */
    double frame[16];
} tour;

static void direction_of(const tour *t, size_t k, double out[3]) {
    const double golden = 2.399963229728653; /* radians */
    double z = 1 - (2 * (double)k + 1) / (double)t->settings->views, rest = sqrt(fmax(0, 1 - z * z));
    double on_spiral[3] = {rest * cos(golden * (double)k), rest * sin(golden * (double)k), z};
    for (int i = 0; i < 3; ++i)
        out[i] =
            t->frame[4 * i] * on_spiral[0] + t->frame[4 * i + 1] * on_spiral[1] + t->frame[4 * i + 2] * on_spiral[2];
}

static void shuffle(tour *t) {
    for (size_t k = 0; k < t->settings->views; ++k) {
        size_t other = (size_t)atn_random_below(&t->random, k + 1);
        t->order[k] = t->order[other];
        t->order[other] = k;
    }
}

static atn_status scan_one(tour *t, atn_view_scan *out) {
    scanner sc = scanner_place(t->shape, out->direction, &t->random);
    sc.from = t->squares;
    scanner_look_around(&sc, t->squares + SCANNER_SIDE * SCANNER_SIDE);
    scanner_draw_pose(&t->random, -1, out->transform);
    atn_status status = scanner_scan(&t->session, &sc, out->transform, &out->cloud);
    t->session.from += t->session.share;
    return status;
}

static atn_status scan_all(tour *t, atn_views *out) {
    atn_status status = ATN_OK;
    sample_shape_make(t->shape, &t->random);
    scanner_draw_pose(&t->random, -1, t->frame);
    shuffle(t);
    for (size_t k = 0; k < t->settings->views && status == ATN_OK; ++k) {
        direction_of(t, t->order[k], out->scan[k].direction);
        status = scan_one(t, &out->scan[k]);
    }
    if (status != ATN_OK || !t->settings->distractor) return status;
    sample_shape_make(t->shape, &t->random);
    sample_shape_direction(&t->random, out->scan[out->count - 1].direction);
    return scan_one(t, &out->scan[out->count - 1]);
}

atn_status atn_views_make(atn_ctx *ctx, const atn_views_settings *settings, atn_scans_progress *progress, void *user,
                          atn_views *out) {
    size_t count = settings->views + settings->distractor, bytes;
    tour t = {.settings = settings,
              .session = {.ctx = ctx,
                          .size = settings->size,
                          .noise = settings->noise,
                          .progress = progress,
                          .user = user,
                          .share = 1 / (double)count}};
    *out = (atn_views){.ctx = ctx, .count = count, .outliers = SCANNER_OUTLIERS};
    atn_random_seed(&t.random, settings->seed);
    if (!atn_size_mul(count, sizeof *out->scan, &bytes)) return atn_fail_memory(ctx, SIZE_MAX, "scans");
    out->scan = atn_zalloc(ctx, bytes);
    t.order = out->scan ? atn_zalloc(ctx, settings->views * sizeof *t.order) : NULL;
    t.shape = t.order ? atn_alloc(ctx, sizeof *t.shape) : NULL;
    t.squares = t.shape ? atn_alloc(ctx, 2 * sizeof(float[SCANNER_SIDE * SCANNER_SIDE])) : NULL;
    atn_status status = t.squares ? scan_all(&t, out) : ATN_ERR_MEMORY;
    atn_free(ctx, t.squares);
    atn_free(ctx, t.shape);
    atn_free(ctx, t.order);
    if (status != ATN_OK) atn_views_free(out);
    return status;
}

void atn_views_free(atn_views *views) {
    for (size_t k = 0; views->scan && k < views->count; ++k) atn_cloud_free(views->scan[k].cloud);
    if (views->scan) atn_free(views->ctx, views->scan);
    *views = (atn_views){0};
}
