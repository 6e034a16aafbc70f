/* Derives from the accesses where neighbouring points lie in memory and what is shared. */
#include "built/outlook.h"

#include "graph/affine.h"

static void count_access(atn_outlook *o, const atn_value select[ATN_MAX_RANK]) {
    atn_affine column = atn_affine_of(o->g, select[0]);
    bool p0 = o->points > 0 && column.is_affine && column.coefficient[o->p[0]] == 1;
    bool q = o->q >= 0 && column.is_affine && column.coefficient[o->q] == 1;
    bool pairs = o->points > 0 && column.is_affine && column.coefficient[o->p[0]] == 2;
    o->along_p0 += p0;
    o->along_q += q;
    o->pairs_p0 += pairs;
    o->across += !p0 && !q && !pairs && o->g->values[select[0]].dims;
}

/* The fastest dimension of an outermost reduction: there may be several, one after the other. */
static bool is_range(const atn_graph *g, int32_t d) {
    const atn_block *b = &g->blocks[g->dims[d].block];
    return g->dims[d].block > 0 && b->parent == 0 && b->dim[0] == d;
}

/* What is read at every step of every point: the traffic of a reduction, compared with which elements that all points
 * share and results are negligible. */
static void count_stream(atn_outlook *o, const atn_affine *column, uint32_t dims) {
    uint32_t points = (o->points > 0 ? 1u << o->p[0] : 0) | (o->points > 1 ? 1u << o->p[1] : 0);
    if (!column->is_affine || !(dims & points) || !(dims & ~points)) return;
    bool along_p0 = column->coefficient[o->p[0]] == 1, along_range = false;
    for (int32_t d = 0; d < o->g->n_dims; ++d)
        along_range = along_range || (column->coefficient[d] == 1 && is_range(o->g, d));
    o->streams_p0 += along_p0;
    o->streams_q += along_range && !along_p0;
}

/* A[y + j, x + i]: points move over what is read by their range, so that neighbours read mostly the same. */
static bool is_window(const atn_outlook *o, const atn_value select[2]) {
    for (int axis = 0; axis < 2 && select[axis] >= 0 && o->q >= 0; ++axis) {
        atn_affine form = atn_affine_of(o->g, select[axis]);
        bool point = false, range = false;
        for (int32_t d = 0; d < o->g->n_dims && form.is_affine; ++d) {
            bool one = form.coefficient[d] == 1 || form.coefficient[d] == -1, mine = o->g->dims[d].block == 0;
            point = point || (one && mine);
            range = range || (one && !mine);
        }
        if (point && range) return true;
    }
    return false;
}

/* Do ranges depend on the rows only, not on p0: those of the outermost reduction, or of loops inside? */
static bool alike_in_rows(const atn_outlook *o, bool inside) {
    const atn_graph *g = o->g;
    for (int32_t d = 0; d < g->n_dims; ++d)
        if (g->dims[d].block != 0 && (g->dims[d].block != o->block) == inside &&
            ((g->values[g->dims[d].begin].dims | g->values[g->dims[d].end].dims) >> o->p[0] & 1))
            return false;
    return o->points > 1;
}

atn_outlook atn_outlook_of(const atn_graph *g) {
    atn_outlook o = {.g = g, .block = -1, .p = {-1, -1, -1}, .q = -1, .bytes = 4};
    bool icf = g->blocks[0].n_accs > 0, only_p0 = false, only_p1 = false;
    o.points = icf ? 0 : g->blocks[0].rank;
    for (int32_t d = 0; d < o.points; ++d) o.p[d] = g->blocks[0].dim[d];
    for (int32_t k = 0; k < g->n_objects; ++k) o.halves |= g->objects[k].read && g->objects[k].type == ATN_HP;
    for (int32_t k = icf ? 0 : 1; k < g->n_blocks && o.block < 0; ++k)
        if (k == 0 || g->blocks[k].parent == 0) o.block = k;
    if (o.block >= 0) {
        const atn_block *b = &g->blocks[o.block];
        o.q = b->dim[0];
        for (int32_t k = 0; k < b->rank; ++k)
            o.ragged = o.ragged || g->values[g->dims[b->dim[k]].begin].dims || g->values[g->dims[b->dim[k]].end].dims;
        o.rows = o.ragged && alike_in_rows(&o, false);
        o.alike = o.rows && alike_in_rows(&o, true);
        for (int32_t k = 0; k < b->n_accs; ++k) o.ordered = o.ordered || b->acc[k].join == ATN_JOIN_ORDERED;
        o.ordered = o.ordered || (!atn_block_is_scan(g, o.block) && !atn_block_commutes(g, o.block));
    }
    for (atn_value v = 0; v < g->n_values; ++v) {
        o.complex_values = o.complex_values || g->values[v].type == ATN_SP2 || g->values[v].type == ATN_DP2;
        bool exponential = g->values[v].op == ATN_OP_EXP || g->values[v].op == ATN_OP_EXP2;
        o.exponential = o.exponential || (exponential && (g->values[v].type == ATN_SP || g->values[v].type == ATN_HP));
        o.scaled = o.scaled || g->values[v].op == ATN_OP_EXP;
        if (g->values[v].type == ATN_DP || g->values[v].type == ATN_DP2) o.bytes = 8;
    }
    for (int32_t k = 0; k < g->n_reads; ++k) {
        const atn_read *r = &g->reads[k];
        uint32_t dims = 0;
        count_access(&o, r->select);
        for (int axis = 0; axis < ATN_MAX_RANK && r->select[axis] >= 0; ++axis) {
            dims |= g->values[r->select[axis]].dims;
            o.gathers = o.gathers || !atn_affine_of(g, r->select[axis]).is_affine;
        }
        atn_affine column = atn_affine_of(g, r->select[0]);
        o.along_p1 +=
            o.points > 1 && column.is_affine && column.coefficient[o.p[1]] == 1 && column.coefficient[o.p[0]] == 0;
        for (int32_t j = 0; j < k && o.points > 1; ++j)
            for (int axis = 1; axis < ATN_MAX_RANK; ++axis)
                o.stencil =
                    o.stencil || (g->reads[j].object == r->object && g->reads[j].select[axis] != r->select[axis]);
        if (o.points > 0) count_stream(&o, &column, dims);
        o.window = o.window || (o.points > 0 && is_window(&o, r->select));
        if (o.q < 0 || !(dims >> o.q & 1)) continue;
        if (o.points > 0) o.shared_p0 = o.shared_p0 || !(dims >> o.p[0] & 1);
        if (o.points > 1) o.shared_p1 = o.shared_p1 || !(dims >> o.p[1] & 1);
        bool by_p0 = o.points > 1 && (dims >> o.p[0] & 1), by_p1 = o.points > 1 && (dims >> o.p[1] & 1);
        only_p0 = only_p0 || (by_p0 && !by_p1);
        only_p1 = only_p1 || (by_p1 && !by_p0);
    }
    o.product = only_p0 && only_p1;
    o.along_range = o.streams_q > o.streams_p0;
    for (int32_t k = 0; k < g->n_writes; ++k) count_access(&o, g->writes[k].select);
    return o;
}

double atn_outlook_length(const atn_graph *graph) {
    static const double SHORT = 32;
    return graph->n_values > SHORT ? graph->n_values / SHORT : 1;
}
