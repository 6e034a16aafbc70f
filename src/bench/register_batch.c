/* Many small pairs, each from a start near the answer: in one call, against one call for each. */
#include "bench/register_parts.h"

#include "base/clock.h"
#include "base/memory.h"
#include "sample/scans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 1000, OTHERS = 16, MANY = 2000, SOME = 512, FEW = 32, ALONE = 32, FEW_ALONE = 4 };
static const double OFF = 0.0524; /* of the starts: radians, 3 degrees, about the third axis */

typedef struct small {
    atn_scans scans[OTHERS];
    double start[OTHERS][16];
    atn_register_pair pairs[MANY];
} small;

static atn_status make(atn_ctx *ctx, size_t others, size_t count, small *out) {
    atn_status status = ATN_OK;
    for (size_t k = 0; k < others && status == ATN_OK; ++k) {
        atn_scans_settings settings = {.size = POINTS, .seed = k, .noise = 0.002, .overlap = 0.65, .turn_deg = -1};
        status = atn_scans_make(ctx, &settings, NULL, NULL, &out->scans[k]);
        if (status != ATN_OK) break;
        memcpy(out->start[k], out->scans[k].transform, sizeof out->start[k]);
        for (int j = 0; j < 4; ++j) {
            double x = out->start[k][j], y = out->start[k][4 + j];
            out->start[k][j] = cos(OFF) * x - sin(OFF) * y;
            out->start[k][4 + j] = sin(OFF) * x + cos(OFF) * y;
        }
    }
    for (size_t k = 0; k < count && status == ATN_OK; ++k)
        out->pairs[k] = (atn_register_pair){.source = out->scans[k % others].source,
                                            .target = out->scans[k % others].target,
                                            .start = out->start[k % others]};
    return status;
}

static atn_status one_by_one(bench_session *s, const small *all, size_t others, size_t count, double *per_second) {
    atn_status status = ATN_OK;
    double since = 0;
    for (size_t k = 0; k <= count && status == ATN_OK; ++k) { /* the first builds what all of them take */
        atn_register_result result = ATN_INIT(atn_register_result);
        atn_register_settings settings = {.init = ATN_START_GIVEN};
        if (k == 1) since = atn_clock_seconds();
        memcpy(settings.start, all->start[k % others], sizeof settings.start);
        status =
            atn_register(s->device, all->scans[k % others].source, all->scans[k % others].target, &settings, &result);
    }
    *per_second = (double)count / (atn_clock_seconds() - since);
    return status;
}

/* The first time without the clock: kernels are built. */
static atn_status together(bench_session *s, small *all, size_t count, size_t others, atn_bench_row *row) {
    double seconds = 0, worst = 0;
    size_t trusted = 0;
    atn_status status = atn_register_batch(s->device, count < SOME ? count : SOME, all->pairs, NULL);
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = atn_register_batch(s->device, count, all->pairs, NULL);
    seconds = atn_clock_seconds() - since;
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        const atn_register_pair *pair = &all->pairs[k];
        if (pair->status != ATN_OK || pair->result.verdict != ATN_VERDICT_TRUSTED) continue;
        ++trusted;
        worst = fmax(worst, bench_turn_error(pair->result.transform, all->scans[k % others].transform));
    }
    row->ours = (double)count / seconds;
    row->seconds = seconds;
    snprintf(row->note, sizeof row->note, "%zu of %zu trusted, of these the worst is off by %.3g rad", trusted, count,
             worst);
    return status;
}

atn_status bench_batch(bench_session *s) {
    bool quick = s->options->quick;
    size_t count = quick ? FEW : MANY, others = quick ? FEW_ALONE : OTHERS;
    atn_bench_row row = {.name = "batch of small pairs", .unit = "pairs/s", .reference_name = "one call for each"};
    small *all = atn_zalloc(s->ctx, sizeof *all);
    if (!all) return ATN_ERR_MEMORY;
    snprintf(row.shape, sizeof row.shape, "%zu pairs of %d points, 3 degrees off", count, (int)POINTS);
    bench_tell(s, "%s", row.shape);
    atn_status status = make(s->ctx, others, count, all);
    if (status == ATN_OK) status = one_by_one(s, all, others, quick ? FEW_ALONE : ALONE, &row.reference);
    if (status == ATN_OK) status = together(s, all, count, others, &row);
    row.ratio = row.reference > 0 ? row.ours / row.reference : 0;
    if (status == ATN_OK) bench_emit(s, row);
    for (size_t k = 0; k < OTHERS; ++k) atn_scans_free(&all->scans[k]);
    atn_free(s->ctx, all);
    return status;
}
