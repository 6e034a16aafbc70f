/* Many scans of one object in unknown poses, with one scan of another object among them: the largest pose error, and
 * which scans were left out. */
#include "bench/register_parts.h"

#include "attune/align.h"
#include "base/memory.h"
#include "sample/views.h"

#include <math.h>
#include <stdio.h>

/* Where scan k belongs in the frame of another one: the turn alone. */
static void turn_into(const double anchor[16], const double scan[16], double out[16]) {
    for (int i = 0; i < 16; ++i) out[i] = i % 5 == 0;
    for (int i = 0; i < 9; ++i) {
        out[i / 3 * 4 + i % 3] = 0;
        for (int k = 0; k < 3; ++k) out[i / 3 * 4 + i % 3] += anchor[4 * k + i / 3] * scan[4 * k + i % 3];
    }
}

/* The largest error of those that were placed; the distractor, which is the last, has none. */
static double worst(const atn_views *views, const atn_align_result *found) {
    double most = 0;
    for (size_t k = 0; k + 1 < views->count; ++k) {
        double truth[16];
        if (!found->scan[k]->placed) continue;
        turn_into(views->scan[found->anchor].transform, views->scan[k].transform, truth);
        most = fmax(most, bench_turn_error(found->scan[k]->transform, truth));
    }
    return most;
}

static atn_status align(bench_session *s, const atn_views *views, const char *shape) {
    const atn_cloud **clouds = atn_alloc(s->ctx, views->count * sizeof *clouds);
    atn_align_result found = ATN_INIT(atn_align_result);
    if (!clouds) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < views->count; ++k) clouds[k] = views->scan[k].cloud;
    atn_status status = atn_align(s->device, views->count, clouds, NULL, &found);
    if (status == ATN_OK) {
        bool other = found.scan[views->count - 1]->placed;
        atn_bench_row row = {.name = "many scans, worst pose", .unit = "rad", .ours = worst(views, &found)};
        row.seconds = found.seconds;
        snprintf(row.shape, sizeof row.shape, "%s", shape);
        snprintf(row.note, sizeof row.note, "%zu of %zu placed in %.3g s, the scan of another object %s",
                 found.placed - other, views->count - 1, found.seconds,
                 other ? "among them, which is wrong" : "left out");
        bench_emit(s, row);
    }
    atn_align_free(&found);
    atn_free(s->ctx, clouds);
    return status;
}

atn_status bench_views(bench_session *s) {
    bool quick = s->options->quick;
    const atn_views_settings made = {
        .size = quick ? 2000 : 10000, .views = quick ? 6 : 20, .distractor = true, .seed = 1, .noise = 0.002};
    atn_views views;
    char shape[64];
    snprintf(shape, sizeof shape, "%zu scans of %zu points, and another", made.views, made.size);
    bench_tell(s, "%s", shape);
    atn_status status = atn_views_make(s->ctx, &made, NULL, NULL, &views);
    if (status == ATN_OK) status = align(s, &views, shape);
    atn_views_free(&views);
    return status;
}
