/* Properties of devices and kernels as named values. */
#include "tune/facts.h"

#include "built/outlook.h"
#include "graph/affine.h"
#include "graph/bilinear.h"
#include "graph/type.h"
#include "lower/contract.h"
#include "space/device_given.h"

#include <string.h>

static atn_given whole(const char *module, const char *name, int64_t value) {
    return (atn_given){module, name, {.kind = ATN_SETTING_WHOLE, .whole = value, .number = (double)value}};
}

static atn_given truth(const char *module, const char *name, bool value) {
    return (atn_given){module, name, {.kind = ATN_SETTING_BOOL, .whole = value, .number = value}};
}

size_t atn_facts_of_device(const atn_device_info *info, atn_given *f) {
    atn_device_given(info, f);
    size_t n = ATN_DEVICE_GIVEN;
    atn_target target = atn_target_of(info);
    f[n++] = whole("device", "cache", info->cache_bytes);
    f[n++] = whole("device", "tile_bytes", target.local_bytes); /* what staged reads may take */
    f[n++] = truth("device", "shuffle", target.shuffle);
    f[n++] = truth("device", "matrix", target.matrix);
    f[n++] = truth("device", "products", target.products);
    f[n++] = truth("device", "warpgroup", target.warpgroup);
    f[n++] = whole("device", "bf16", (int64_t)target.bf16);
    f[n++] = truth("device", "vectors", target.vectors);
    f[n++] = truth("device", "cpu", info->cpu);
    return n;
}

/* Writes go where reads do not, and streaming past the caches makes sense. */
static bool writes_apart(const atn_graph *g) {
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (g->objects[k].read && g->objects[k].written) return false;
    return true;
}

/* Reads that neighbouring points, or points of one group, have in common. */
static bool has_shared_reads(const atn_outlook *o) {
    return o->shared_p0 || o->shared_p1 || o->stencil || o->along_p1 > 0;
}

atn_status atn_facts_of_case(const atn_case *c, atn_given *f, size_t *n) {
    const atn_graph *g = c->graph;
    atn_outlook o = atn_outlook_of(g);
    atn_steps steps;
    atn_bilinear form;
    atn_bindings frame = atn_case_frame(c);
    atn_status status = atn_steps_of(c->ctx, g, &frame, c->range_length, &steps);
    int32_t reduced = o.block >= 0 ? g->blocks[o.block].rank : 0, element = 1;
    for (int32_t k = 0; k < g->n_objects; ++k)
        if ((int32_t)atn_type_bytes(g->objects[k].type) > element)
            element = (int32_t)atn_type_bytes(g->objects[k].type);
    bool halves = false;
    for (int32_t k = 0; k < g->n_objects; ++k) halves = halves || g->objects[k].type == ATN_HP;
    int64_t points[ATN_MAX_RANK] = {1, 1, 1}, ranges[ATN_MAX_RANK] = {0};
    for (int32_t d = 0; d < o.points; ++d) points[d] = steps.steps[g->blocks[0].dim[d]];
    for (int32_t d = 0; d < reduced; ++d) ranges[d] = steps.steps[g->blocks[o.block].dim[d]];
    *n = 0;
    f[(*n)++] = whole("kernel", "points", o.points);
    f[(*n)++] = whole("kernel", "reduced", reduced);
    f[(*n)++] = whole("kernel", "n0", points[0]);
    f[(*n)++] = whole("kernel", "n1", points[1]);
    f[(*n)++] = whole("kernel", "n2", points[2]);
    f[(*n)++] = whole("kernel", "m0", ranges[0]);
    f[(*n)++] = whole("kernel", "m1", ranges[1]);
    f[(*n)++] = whole("kernel", "m2", ranges[2]);
    f[(*n)++] = whole("kernel", "bytes", element);
    f[(*n)++] = truth("kernel", "ragged", o.ragged);
    f[(*n)++] = truth("kernel", "rows", o.rows);
    f[(*n)++] = truth("kernel", "gathers", o.gathers);
    f[(*n)++] = truth("kernel", "exponential", o.exponential);
    f[(*n)++] = truth("kernel", "ordered", o.ordered);
    f[(*n)++] = truth("kernel", "scans", atn_graph_has_scan(g));
    f[(*n)++] = truth("kernel", "stages", has_shared_reads(&o));
    f[(*n)++] = truth("kernel", "stencil", o.stencil);
    f[(*n)++] = truth("kernel", "turned", o.along_p1 > 0 && o.along_p1 >= o.along_p0);
    f[(*n)++] = truth("kernel", "along_range", o.along_range);
    f[(*n)++] = truth("kernel", "complex", o.complex_values);
    f[(*n)++] = truth("kernel", "apart", writes_apart(g));
    f[(*n)++] = truth("kernel", "half", halves);
    f[(*n)++] = truth("kernel", "finite", g->finite);
    f[(*n)++] = truth("kernel", "contracts", lower_is_contraction(g)); /* of matrices of halves or doubles */
    bool found = atn_bilinear_find(g, &form, NULL);
    f[(*n)++] = truth("kernel", "products", found && form.list < 0); /* what matrix units compute */
    f[(*n)++] = truth("kernel", "listed", found && form.list >= 0);  /* of rows that a list names */
    f[(*n)++] = truth("kernel", "picks", found && form.picks != 0);  /* and not sums, but the least or the largest */
    return status;
}

atn_status atn_facts(const atn_device_info *info, const atn_case *c, atn_given *facts, size_t *n) {
    size_t device = atn_facts_of_device(info, facts);
    atn_status status = atn_facts_of_case(c, facts + device, n);
    *n += device;
    return status;
}

size_t atn_facts_of_build(int64_t registers, int64_t local_memory, int64_t occupancy, int64_t code_bytes,
                          atn_given *f) {
    const int64_t values[] = {registers, local_memory, occupancy, code_bytes};
    static const char *const NAMES[] = {"registers", "local_memory", "occupancy", "code_bytes"};
    size_t n = 0;
    for (size_t k = 0; k < ATN_BUILT_FACTS; ++k)
        if (values[k] >= 0) f[n++] = whole("build", NAMES[k], values[k]);
    return n;
}
