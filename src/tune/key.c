/* Keys of measurements: the sizes that decide how fast a kernel is, how rows lie, what results may differ by. */
#include "tune/key.h"

#include "built/built.h"
#include "device/facts.h"
#include "graph/affine.h"

#include <math.h>
#include <stdio.h>

enum { LINE = 64 }; /* bytes; rows that begin on one need no shifted loads */

/* Known from sizes and parameters, and the same for all points. */
static bool is_fixed(const atn_graph *g, atn_value value) {
    return g->values[value].dims == 0 && !atn_value_is_computed(g, value);
}

static int64_t elements_of(const atn_view *view) {
    int64_t all = 1;
    for (int32_t axis = 0; axis < view->rank; ++axis)
        if (view->size[axis] <= 0 || __builtin_mul_overflow(all, view->size[axis], &all)) return 0;
    return all;
}

/* Each element of what a range walks along is met about once by all different ranges: points that differ in what the
 * range does not depend on have the same one. Gathers say nothing: they may jump anywhere. */
static int64_t mean_length(const atn_graph *g, const atn_bindings *frame, int32_t dim, const atn_extent *extent) {
    int64_t most = 0, points = 1;
    uint32_t of = g->values[g->dims[dim].begin].dims | g->values[g->dims[dim].end].dims;
    for (int32_t k = 0; k < g->n_reads; ++k) {
        const atn_read *read = &g->reads[k];
        bool along = false;
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) {
            if (read->select[axis] < 0) continue;
            atn_affine form = atn_affine_of(g, read->select[axis]);
            along = along || (form.is_affine && form.coefficient[dim] != 0);
        }
        if (!along || g->objects[read->object].table) continue;
        int64_t elements = elements_of(&frame->views[read->object]);
        if (elements > most) most = elements;
    }
    for (int d = 0; d < ATN_MAX_RANK; ++d)
        if (of >> d & 1 && __builtin_mul_overflow(points, extent->points[d], &points)) return 1;
    if (points < 1) return 1;
    return most / points + (most % points >= points - most % points); /* to nearest */
}

static atn_status range_of(const atn_ctx *ctx, const atn_graph *g, const atn_bindings *frame, int32_t number,
                           const atn_extent *extent, int64_t *out) {
    const atn_dim *dim = &g->dims[number];
    int64_t begin, end;
    if (!is_fixed(g, dim->begin) || !is_fixed(g, dim->end)) {
        *out = mean_length(g, frame, number, extent);
        return ATN_OK;
    }
    atn_status status = atn_eval_index(ctx, g, frame, dim->begin, &begin);
    if (status == ATN_OK) status = atn_eval_index(ctx, g, frame, dim->end, &end);
    if (status == ATN_OK && __builtin_sub_overflow(end, begin, out)) *out = INT64_MAX;
    return status;
}

int32_t atn_tune_key_points(const atn_graph *g) {
    int32_t points = g->blocks[0].n_accs > 0 ? 0 : g->blocks[0].rank;
    return points > 2 ? points : 2;
}

static atn_status fill_shape(const atn_ctx *ctx, const atn_graph *g, const atn_bindings *frame, atn_wisdom_key *key) {
    atn_extent extent;
    atn_status status = atn_extent_of(ctx, g, frame, &extent);
    if (status != ATN_OK) return status;
    int32_t block = atn_graph_outermost(g, NULL);
    for (int32_t d = 0; d < atn_tune_key_points(g); ++d) key->shape[key->n_shape++] = extent.points[d];
    for (int32_t d = 0; block >= 0 && d < g->blocks[block].rank && status == ATN_OK; ++d)
        status = range_of(ctx, g, frame, g->blocks[block].dim[d], &extent, &key->shape[key->n_shape++]);
    for (int32_t d = 0; d < key->n_shape; ++d)
        if (key->shape[d] < 1) key->shape[d] = 1; /* distances are of logarithms */
    return status;
}

/* Without gaps the sizes say all; with them it counts whether rows begin on cache lines. */
static const char *layout_of(const atn_graph *g, const atn_bindings *frame) {
    bool gaps = false, aligned = true;
    for (int32_t k = 0; k < g->n_objects; ++k) {
        const atn_view *view = &frame->views[k];
        if (g->objects[k].table || g->objects[k].rank < 2 || view->size[0] < 0 || atn_view_rows(view) < 2) continue;
        gaps = gaps || view->pitch != view->size[0];
        aligned = aligned && (size_t)view->pitch * atn_type_bytes(view->type) % LINE == 0;
    }
    return !gaps ? "dense" : aligned ? "gaps, lines" : "gaps";
}

/* Whole powers of ten, downwards: what is as exact as asked for, and a little more, is one class. */
static void print_tolerance(double tolerance, char *text, size_t bytes) {
    if (tolerance > 0)
        snprintf(text, bytes, "1e%d", (int)floor(log10(tolerance) + 1e-9));
    else
        snprintf(text, bytes, "derived");
}

atn_wisdom_key atn_tune_key_device(const atn_device_info *info) {
    bool host = atn_backend_facts_of(info)->threads;
    return (atn_wisdom_key){.backend = info->backend,
                            .arch = info->arch,
                            .device = info->name,
                            .driver = host ? "" : info->driver,
                            .compiler = host ? info->driver : ""};
}

atn_status atn_tune_key_make(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                             const atn_bindings *frame, bool reproducible, double tolerance, atn_tune_key *out) {
    *out = (atn_tune_key){.key = atn_tune_key_device(info)};
    out->key.kernel = graph->name;
    out->key.graph = graph->hash;
    out->key.generator = ATN_GENERATOR_VERSION;
    out->key.reproducible = reproducible;
    if (atn_backend_facts_of(info)->threads) snprintf(out->threads, sizeof out->threads, "%d threads", info->cores);
    snprintf(out->layout, sizeof out->layout, "%s", layout_of(graph, frame));
    print_tolerance(tolerance, out->tolerance, sizeof out->tolerance);
    out->key.threads = out->threads; /* so it may not be copied */
    out->key.layout = out->layout;
    out->key.tolerance = out->tolerance;
    return fill_shape(ctx, graph, frame, &out->key);
}
