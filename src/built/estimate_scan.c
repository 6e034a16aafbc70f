/* A reasonable variant of a scan. Along everything: in one launch, or parts, each with registers that wait for one row
 * only; on a GPU a row is a group's. At every point: the items of a warp along the range where there are warps. */
#include "built/outlook.h"
#include "built/scan.h"
#include "device/facts.h"
#include "graph/affine.h"

static int32_t fitting(int64_t extent, int32_t most) {
    int32_t n = 1;
    while (n * 2 <= most && n * 2 <= extent) n *= 2;
    return n;
}

/* In one launch, whose groups look back: of one running value, where nothing but the range decides what is accessed. */
static bool looks(const atn_outlook *o, const atn_device_info *info) {
    const atn_block *b = &o->g->blocks[o->block];
    const atn_dim *d = &o->g->dims[b->dim[0]];
    for (int32_t k = 0; k < o->g->n_writes; ++k)
        if (atn_select_is_computed(o->g, o->g->writes[k].select)) return false;
    return atn_target_of(info).waits && o->points == 0 && b->rank == 1 && b->n_accs == 1 && !o->gathers &&
           !o->complex_values && info->max_group >= 256 && atn_value_is_static(o->g, d->begin) &&
           atn_value_is_static(o->g, d->end);
}

static void estimate_look(const atn_outlook *o, int64_t range, atn_variant *v) {
    enum { SHORT = 1 << 18 }; /* steps of which every core has a tile when tiles are small */
    bool small = range < SHORT;
    v->q[0].lanes = 256;
    v->q[0].regs = small ? 4 : o->bytes > 4 ? 12 : 24;
    v->q[0].pack = 4;
    v->q[0].split = small ? 64 : 128;
    v->reduce = ATN_REDUCE_SHUFFLE;
    v->finish = ATN_FINISH_LOOK;
    v->resident = small ? 0 : 5;
}

void atn_estimate_scan(const atn_graph *graph, const atn_device_info *info, const atn_extent *extent, bool host,
                       atn_variant *v) {
    enum { LITTLE = 16384, PARTS = 64 };
    atn_outlook o = atn_outlook_of(graph);
    if (o.ordered || o.block < 0 || !atn_block_is_scan(graph, o.block)) return;
    const atn_block *b = &graph->blocks[o.block];
    if (!host && !info->cpu && o.points > 1 && o.ragged) { /* short lists, one after the other: an item each */
        v->p[0].lanes = info->max_group < 128 ? 1 : 16;
        v->p[1].lanes = 8;
        return;
    }
    int64_t range = extent && extent->range > 0 ? extent->range : INT64_MAX;
    bool items = !host && !info->cpu, custom = b->acc[0].join == ATN_JOIN_CUSTOM, known = range < INT64_MAX;
    if (looks(&o, info)) {
        estimate_look(&o, range, v);
        return;
    }
    int32_t splits = items ? info->cores * 8 : PARTS;
    if (splits > 2048) splits = 2048;
    splits = fitting(range / (items ? 4096 : LITTLE), splits);
    v->q[0].regs = b->n_accs > 8 ? 1 : b->n_accs > 4 ? 2 : items ? 8 : 4;
    if (!items && o.points > 0 && b->n_accs > 2) v->q[0].regs = 1; /* more joins, and none of them is waited for */
    if (items) {
        bool shuffle = atn_backend_facts_of(info)->shuffle;
        bool few = extent && extent->points[0] < (int64_t)info->cores * 64; /* a warp each would leave cores idle */
        int32_t most = o.points == 0 ? 256 : few ? 256 : 32;
        v->q[0].lanes = info->max_group < most ? info->max_group : most;
        v->reduce = shuffle ? ATN_REDUCE_SHUFFLE : ATN_REDUCE_TREE;
        while (!shuffle && v->q[0].lanes > 1 && v->q[0].lanes * v->q[0].regs * b->n_accs * 16 > info->local_bytes)
            v->q[0].lanes /= 2;
        while (known && o.points > 0 && v->q[0].regs > 1 && v->q[0].lanes * v->q[0].regs > range) v->q[0].regs /= 2;
    }
    if (o.points > 0) {
        if (!items) v->p[0].seq = extent ? fitting(extent->points[0], 8) : 8;
        return;
    }
    if (host && known && range <= LITTLE) v->threads = 1;
    (b->rank > 1 ? &v->q[1] : &v->q[0])->split = splits;
    if (b->rank > 1 && splits > 1) v->q[0].regs = 1; /* parts of rows with registers along them come out wrong */
    int32_t lanes = o.complex_values || custom ? 1 : info->simd * 4 / o.bytes;
    if (host && splits > 1 && b->rank == 1 && !o.gathers) v->q[0].vec = lanes < 1 ? 1 : lanes > 16 ? 16 : lanes;
}
