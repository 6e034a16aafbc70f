/* Global rules: writes are one-to-one, and what is written is not accessed by another point. Proved by algebra if
 * selectors are affine, otherwise by testing small sizes (small.c); what cannot be proved is refused. */
#include "graph/affine.h"
#include "graph/sketch.h"
#include "graph/small.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 256 }; /* pairs tried at small sizes, per algorithm */

typedef struct judge {
    atn_reader *reader;
    const atn_graph *graph;
    atn_small *small; /* made when first needed */
    int32_t tried;
    bool *after; /* per value: depends on the algorithm's own result */
    bool *uses;  /* per value: depends on the current read */
} judge;

static atn_access access_of_read(const atn_read *read) {
    return (atn_access){.select = read->select, .enable = -1, .boundary = read->boundary, .object = read->object};
}

static atn_access access_of_write(const atn_write *write) {
    return (atn_access){
        .select = write->select, .enable = write->enable, .object = write->object, .block = write->block};
}

static atn_small_verdict try_out(judge *j, const atn_access *write, const atn_access *other) {
    if (!j->small) j->small = atn_small_make(j->reader, j->graph);
    if (!j->small || ++j->tried > MOST_PAIRS) return ATN_SMALL_UNKNOWN;
    return atn_small_judge(j->small, write, other);
}

static bool same_selectors(const atn_access *a, const atn_access *b) {
    return memcmp(a->select, b->select, ATN_MAX_RANK * sizeof *a->select) == 0;
}

/* c + sum a_i x_i = d + sum b_j y_j has no integer solution when the gcd of all a and b does not divide d - c. */
static bool never_meet(const atn_graph *graph, const atn_access *a, const atn_access *b) {
    if (b->boundary != ATN_EDGE_NONE && b->boundary != ATN_EDGE_ZERO) return false;
    for (int32_t axis = 0; axis < graph->objects[a->object].rank; ++axis) {
        atn_affine x = atn_affine_of(graph, a->select[axis]), y = atn_affine_of(graph, b->select[axis]);
        if (!x.is_affine || !y.is_affine || x.modulus >= 0 || y.modulus >= 0 || x.rest != y.rest) continue;
        uint64_t gcd = 0, apart;
        for (int d = 0; d < 2 * ATN_MAX_DIMS; ++d) {
            int64_t c = d < ATN_MAX_DIMS ? x.coefficient[d] : y.coefficient[d - ATN_MAX_DIMS];
            uint64_t other = c < 0 ? 0 - (uint64_t)c : (uint64_t)c;
            while (other) {
                uint64_t rest = gcd % other;
                gcd = other;
                other = rest;
            }
        }
        apart = (uint64_t)x.constant - (uint64_t)y.constant;
        if ((int64_t)apart < 0) apart = 0 - apart;
        if (gcd ? apart % gcd : apart) return true;
    }
    return false;
}

/* row = (row * by - pivot * times) / before; false where the numbers grow too large. */
static bool reduce_row(__int128 *row, const __int128 *pivot, __int128 by, __int128 times, __int128 before,
                       int32_t count) {
    for (int32_t k = 0; k < count; ++k) {
        __int128 a, b;
        if (__builtin_mul_overflow(row[k], by, &a) || __builtin_mul_overflow(pivot[k], times, &b) ||
            __builtin_sub_overflow(a, b, &row[k]))
            return false;
        row[k] /= before;
    }
    return true;
}

/* One-to-one over the dimensions of the write's block: as many selectors that are independent of each other as there
 * are dimensions (elimination without fractions: Bareiss). */
static bool full_rank(const atn_graph *graph, const atn_write *write, const int32_t *dims, int32_t count) {
    __int128 rows[ATN_MAX_RANK][ATN_MAX_RANK] = {{0}}, before = 1;
    int32_t n_rows = 0;
    if (count > ATN_MAX_RANK) return false;
    for (int32_t axis = 0; axis < graph->objects[write->object].rank; ++axis) {
        atn_affine form = atn_affine_of(graph, write->select[axis]);
        if (!form.is_affine || form.modulus >= 0) continue;
        for (int32_t k = 0; k < count; ++k) rows[n_rows][k] = form.coefficient[dims[k]];
        ++n_rows;
    }
    for (int32_t k = 0; k < count; ++k) {
        int32_t found = k;
        while (found < n_rows && !rows[found][k]) ++found;
        if (found >= n_rows) return false;
        __int128 pivot[ATN_MAX_RANK];
        memcpy(pivot, rows[found], sizeof pivot);
        memcpy(rows[found], rows[k], sizeof pivot);
        memcpy(rows[k], pivot, sizeof pivot);
        for (int32_t n = k + 1; n < n_rows; ++n)
            if (!reduce_row(rows[n], pivot, pivot[k], rows[n][k], before, count)) return false;
        before = pivot[k];
    }
    return true;
}

static int32_t dims_around(const atn_graph *graph, int32_t block, int32_t dims[ATN_MAX_DIMS]) {
    int32_t count = 0;
    for (; block >= 0; block = graph->blocks[block].parent)
        for (int32_t d = 0; d < graph->blocks[block].rank; ++d) dims[count++] = graph->blocks[block].dim[d];
    return count;
}

static void check_injective(judge *j, const atn_write *write) {
    const atn_graph *graph = j->graph;
    if (write->combine != ATN_WRITE_ONCE || write->distinct || write->block < 0) return;
    int32_t dims[ATN_MAX_DIMS], count = dims_around(graph, write->block, dims);
    if (full_rank(graph, write, dims, count)) return;
    atn_access access = access_of_write(write);
    uint32_t named = write->enable >= 0 ? graph->values[write->enable].dims : 0;
    for (int32_t axis = 0; axis < graph->objects[write->object].rank; ++axis)
        named |= graph->values[write->select[axis]].dims;
    atn_place at = {write->line, write->column};
    const char *object = graph->objects[write->object].name;
    for (int32_t k = 0; k < count; ++k) {
        if (named >> dims[k] & 1) continue;
        const atn_dim *dim = &graph->dims[dims[k]];
        if (j->reader->notation && dim->block)
            atn_reader_complain(j->reader, at, write->name,
                                "every step of the loop over '%s' writes the same element of '%s'; use the index in a "
                                "subscript, or put add, min, max or or before '%s' in the head",
                                graph->blocks[dim->block].name, object, object);
        else if (j->reader->notation)
            atn_reader_complain(j->reader, at, write->name,
                                "all points along an index of the kernel write the same element of '%s'; use the index "
                                "in a subscript, or put add, min, max or or before '%s' in the head",
                                object, object);
        else
            atn_reader_complain(
                j->reader, at, write->name,
                "every step of %s.i(%d) writes the same element of '%s'; select with it, or name a combine",
                graph->blocks[dim->block].name, dim->axis, object);
        return;
    }
    atn_small_verdict verdict = try_out(j, &access, NULL);
    if (verdict == ATN_SMALL_CLASH)
        atn_reader_complain(
            j->reader, at, write->name,
            j->reader->notation
                ? "two points write the same element of '%s'; make the subscripts one-to-one, or put add, min, max or "
                  "or "
                  "before its name in the head"
                : "two points write the same element of '%s'; make the selector one-to-one, or name a combine",
            object);
    if (verdict == ATN_SMALL_UNKNOWN)
        atn_reader_complain(j->reader, at, write->name,
                            j->reader->notation
                                ? "the subscripts cannot be shown to be one-to-one; put add, min, max or or before the "
                                  "array's name in the head"
                                : "the selector cannot be shown to be one-to-one; name a combine: add, min, max or or");
}

/* May `other` (a read, or a later write) touch what another point writes? */
static bool may_clash(judge *j, const atn_access *write, const atn_access *other) {
    if (write->block == other->block || !other->block) {
        if (same_selectors(write, other)) return false;
    }
    if (never_meet(j->graph, write, other)) return false;
    return try_out(j, write, other) != ATN_SMALL_APART;
}

static bool needs(const judge *j, atn_value value) { return value >= 0 && j->uses[value]; }

static bool needs_any(const judge *j, const atn_value select[ATN_MAX_RANK]) {
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (needs(j, select[axis])) return true;
    return false;
}

/* Values that need the read numbered `read`, through reductions too. */
static void find_uses(judge *j, int32_t read) {
    const atn_graph *graph = j->graph;
    for (int32_t v = 0; v < graph->n_values; ++v) {
        const atn_node *node = &graph->values[v];
        j->uses[v] = needs(j, node->arg[0]) || needs(j, node->arg[1]) || needs(j, node->arg[2]);
        if (node->op == ATN_OP_READ) j->uses[v] = node->index == read || needs_any(j, graph->reads[node->index].select);
        if (node->op != ATN_OP_RESULT && node->op != ATN_OP_BEFORE && node->op != ATN_OP_AFTER) continue;
        const atn_block *block = &graph->blocks[node->index];
        for (int32_t d = 0; d < block->rank; ++d)
            j->uses[v] |= needs(j, graph->dims[block->dim[d]].begin) || needs(j, graph->dims[block->dim[d]].end);
        for (int32_t k = 0; k < block->n_accs; ++k)
            j->uses[v] |=
                needs(j, block->acc[k].term) || needs(j, block->acc[k].update) || needs(j, block->acc[k].init);
    }
}

/* The predicate under which a read matters at all: that of the one write it serves; -1: it always does. */
static atn_value needed_if(judge *j, int32_t read) {
    const atn_graph *graph = j->graph;
    atn_value enable = -1;
    find_uses(j, read);
    for (int32_t k = 0; k < graph->blocks[0].n_accs; ++k)
        if (needs(j, graph->blocks[0].acc[k].term) || needs(j, graph->blocks[0].acc[k].update)) return -1;
    for (int32_t d = 0; d < graph->n_dims; ++d) /* it decides how often something happens */
        if (needs(j, graph->dims[d].begin) || needs(j, graph->dims[d].end)) return -1;
    for (int32_t w = 0; w < graph->n_writes; ++w) {
        const atn_write *write = &graph->writes[w];
        if (needs_any(j, write->select) || needs(j, write->enable)) return -1;
        if (!needs(j, write->value)) continue;
        if (write->enable < 0 || write->block || (enable >= 0 && enable != write->enable)) return -1;
        enable = write->enable;
    }
    return enable;
}

static void check_read(judge *j, int32_t number, const atn_write *write) {
    const atn_read *read = &j->graph->reads[number];
    if (read->object != write->object || write->block < 0) return;
    const atn_graph *graph = j->graph;
    int64_t effort = 16 + (write->enable >= 0 ? graph->n_values / 16 : 0);
    if (!atn_reader_step(j->reader, effort, (atn_place){write->line, write->column}, write->name)) return;
    const char *object = graph->objects[read->object].name;
    bool after = false;
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis) after |= read->select[axis] >= 0 && j->after[read->select[axis]];
    atn_access reading = access_of_read(read), writing = access_of_write(write);
    if (write->enable >= 0) reading.enable = needed_if(j, number);
    if (after)
        atn_reader_complain(j->reader, (atn_place){read->line, read->column}, read->name,
                            j->reader->notation ? "reads '%s' after '%s' wrote it; use another kernel of the file"
                                                : "reads '%s' after '%s' wrote it; use another algorithm of a Sequence",
                            object, write->name);
    else if (write->combine ? !never_meet(graph, &writing, &reading) : may_clash(j, &writing, &reading))
        atn_reader_complain(
            j->reader, (atn_place){read->line, read->column}, read->name,
            j->reader->notation
                ? "a point may read what another point writes to '%s' (by '%s'); write to another array"
                : "a point may read what another point writes to '%s' (by '%s'); write to another object",
            object, write->name);
}

static void check_writes(judge *j, const atn_write *first, const atn_write *second) {
    if (first->object != second->object || first->block < 0 || second->block < 0) return;
    if (first->combine == second->combine && first->combine != ATN_WRITE_ONCE) return;
    if (!atn_reader_step(j->reader, 16, (atn_place){second->line, second->column}, second->name)) return;
    atn_access a = access_of_write(first), b = access_of_write(second);
    if (first->combine == second->combine && !may_clash(j, &a, &b)) return;
    atn_reader_complain(j->reader, (atn_place){second->line, second->column}, second->name,
                        "may write the same element of '%s' as '%s' does at another point",
                        j->graph->objects[first->object].name, first->name);
}

static void find_after(judge *j) {
    for (int32_t v = 0; v < j->graph->n_values; ++v) {
        const atn_node *node = &j->graph->values[v];
        j->after[v] = node->op == ATN_OP_RESULT && node->index == 0;
        for (int k = 0; k < 3; ++k)
            if (node->arg[k] >= 0 && j->after[node->arg[k]]) j->after[v] = true;
        if (node->op != ATN_OP_READ) continue;
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) {
            atn_value select = j->graph->reads[node->index].select[axis];
            if (select >= 0 && j->after[select]) j->after[v] = true;
        }
    }
}

void atn_graph_validate(atn_reader *reader, const atn_graph *graph) {
    judge j = {.reader = reader, .graph = graph};
    j.after = atn_reader_alloc(reader, (size_t)graph->n_values + 1);
    j.uses = atn_reader_alloc(reader, (size_t)graph->n_values + 1);
    if (reader->failed) return;
    find_after(&j);
    for (int32_t w = 0; w < graph->n_writes && !reader->failed; ++w) {
        const atn_write *write = &graph->writes[w];
        check_injective(&j, write);
        for (int32_t r = 0; r < graph->n_reads && !reader->failed; ++r) check_read(&j, r, write);
        for (int32_t k = 0; k < w && !reader->failed; ++k) check_writes(&j, &graph->writes[k], write);
    }
}
