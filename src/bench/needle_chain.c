/* From the pixels of a volume to the pose of the needle, and the time of each part of the pipeline. */
#include "bench/needle.h"

#include "apps/needle/needle.h"
#include "base/clock.h"
#include "base/memory.h"
#include "bench/parts.h"
#include "cloud/mesh.h"
#include "image/volume.h"
#include "sample/needle.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 21, FEW = 3, MODEL_POINTS = 100000, SEED = 7 };

static const char *const PARTS[NEEDLE_PARTS] = {[NEEDLE_PART_LEVEL] = "level",
                                                [NEEDLE_PART_BRIGHT] = "bright pixels",
                                                [NEEDLE_PART_SURFACE] = "surface",
                                                [NEEDLE_PART_ARCS] = "arcs",
                                                [NEEDLE_PART_AXIS] = "axis",
                                                [NEEDLE_PART_POINTS] = "points",
                                                [NEEDLE_PART_START] = "start",
                                                [NEEDLE_PART_ROUNDS] = "rounds",
                                                [NEEDLE_PART_REFINEMENT] = "refinement"};

typedef struct chain {
    atn_ctx *ctx;
    atn_device *device;
    const atn_bench_needle_options *options;
    atn_needle_sample sample;
    atn_needle *needle;
    atn_needle_result result;
    double second[ROUNDS], part[NEEDLE_PARTS][ROUNDS];
    int32_t rounds;
    bool stopped;
} chain;

/* The model as `attune needle` takes it from a file. */
static atn_status make_needle(chain *c) {
    const needle_mesh *m = &c->sample.mesh;
    const cloud_mesh mesh = {.ctx = c->ctx, .corner = m->triangle, .triangles = m->triangles};
    atn_cloud *corners = NULL, *model = NULL;
    atn_status status = atn_cloud_create(c->ctx, m->vertices, m->position, NULL, &corners);
    if (status == ATN_OK) status = cloud_mesh_sample(&mesh, corners, "the sample", MODEL_POINTS, 1, &model);
    if (status == ATN_OK) status = atn_needle_create(c->device, model, NULL, &c->needle);
    atn_cloud_free(model);
    atn_cloud_free(corners);
    return status;
}

static atn_status open_chain(chain *c) {
    atn_needle_sample_settings settings = ATN_NEEDLE_SAMPLE_USUAL;
    settings.seed = SEED;
    for (int axis = 0; axis < 3 && c->options->quick; ++axis) settings.shape[axis] /= 2;
    atn_status status = atn_needle_sample_make(c->ctx, &settings, NULL, NULL, &c->sample);
    return status == ATN_OK ? make_needle(c) : status;
}

static atn_status run(chain *c, const atn_volume *volume) {
    atn_status status = ATN_OK;
    c->rounds = c->options->quick ? FEW : ROUNDS;
    for (int32_t n = -2; n < c->rounds && status == ATN_OK; ++n) { /* the first to plan and to warm up */
        status = atn_check_cancel(c->ctx);
        if (status == ATN_OK) status = atn_needle_find(c->needle, volume, NULL, NULL, &c->result);
        if (status != ATN_OK || n < 0) continue;
        c->second[n] = c->result.seconds;
        for (int k = 0; k < NEEDLE_PARTS; ++k) c->part[k][n] = c->needle->part_s[k];
    }
    if (status == ATN_OK && !c->result.found)
        status = atn_fail(c->ctx, ATN_ERR_INTERNAL, "bench needle: %s", c->result.reason);
    return status;
}

static void tell(chain *c, const char *name, const double *second, const char *note) {
    atn_bench_row row = {.unit = "s"};
    atn_volume_info info = atn_volume_info_of(c->sample.volume);
    if (c->stopped) return;
    row.ours = row.seconds = bench_median(second, c->rounds);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.device, sizeof row.device, "%.127s", atn_device_get_info(c->device)->name);
    snprintf(row.shape, sizeof row.shape, "%lldx%lldx%lld", (long long)info.frames, (long long)info.height,
             (long long)info.width);
    snprintf(row.note, sizeof row.note, "%s", note);
    c->stopped = !atn_bench_visit(&c->options->to, &row);
}

/* Of one volume: all of it, then its parts. */
static atn_status measure(chain *c, const atn_volume *volume, const char *where) {
    char name[96], note[96];
    double off = 0;
    atn_status status = run(c, volume);
    if (status != ATN_OK) return status;
    for (int k = 0; k < 3; ++k) {
        const double *t = c->result.transform + 4 * k, *m = c->sample.truth.tip_model;
        double d = t[0] * m[0] + t[1] * m[1] + t[2] * m[2] + t[3] - c->sample.truth.tip_scan[k];
        off += d * d;
    }
    snprintf(name, sizeof name, "whole chain, %s", where);
    snprintf(note, sizeof note, "tip off by %.2g um", 1e3 * sqrt(off));
    tell(c, name, c->second, note);
    for (int k = 0; k < NEEDLE_PARTS; ++k) {
        snprintf(name, sizeof name, "chain, %s: %s", where, PARTS[k]);
        tell(c, name, c->part[k], "");
    }
    return ATN_OK;
}

/* The same scans in memory of the device's, where it has such. */
static atn_status measure_pinned(chain *c) {
    atn_volume_info info = atn_volume_info_of(c->sample.volume);
    const int64_t shape[3] = {info.frames, info.height, info.width};
    atn_volume *pinned = NULL;
    atn_status status = atn_volume_create_for(c->device, shape, info.bits, atn_volume_frame(c->sample.volume, 0),
                                              info.spacing, &pinned);
    if (status == ATN_OK && volume_is_pinned(pinned, c->device)) status = measure(c, pinned, "pinned");
    atn_volume_free(pinned);
    return status;
}

atn_status bench_needle_chain(atn_ctx *ctx, atn_device *device, const atn_bench_needle_options *options) {
    chain *c = atn_zalloc(ctx, sizeof *c);
    if (!c) return ATN_ERR_MEMORY;
    c->ctx = ctx;
    c->device = device;
    c->options = options;
    atn_bench_progress(&options->to, "the whole chain");
    atn_status status = open_chain(c);
    if (status == ATN_OK) status = measure(c, c->sample.volume, "pageable");
    if (status == ATN_OK && !c->stopped) status = measure_pinned(c);
    atn_needle_free(c->needle);
    atn_needle_sample_free(&c->sample);
    atn_free(ctx, c);
    return status;
}
