/* Ranges that subscripts contradict: an access without a boundary that leaves its array whatever the sizes are, such as
 * x[i + 1] where i runs over length(x), or A[y - 1, x] from row 0. Such a kernel could never be bound; it is refused
 * when it is read. What depends on sizes is checked when they are known (eval/check.c). */
#include "base/size.h"
#include "graph/affine.h"
#include "graph/sketch.h"

/* What is known of one end of a subscript: a number, or a number beyond the size of the array along the axis. */
typedef struct bound {
    bool known, of_size;
    int64_t number;
} bound;

static bound bound_of(const atn_graph *g, atn_value value, int32_t object, int32_t axis) {
    const atn_node *node = &g->values[value];
    bound b = {.known = true};
    if (node->op == ATN_OP_ADD && g->values[node->arg[1]].op == ATN_OP_CONST) {
        b.number = g->values[node->arg[1]].integer;
        node = &g->values[node->arg[0]];
    }
    b.of_size = node->op == ATN_OP_SIZE && node->index == object && node->axis == axis;
    if (b.of_size) return b;
    b.known = node->op == ATN_OP_CONST && atn_i64_add(b.number, node->integer, &b.number);
    return b;
}

/* The least and the last index along an axis: sums over the dimensions, each at its first or last step. */
static void find_ends(const atn_graph *g, const atn_affine *form, int32_t object, int32_t axis, bound *low,
                      bound *high) {
    *low = *high = (bound){.known = form->is_affine && form->modulus < 0 && form->rest < 0, .number = form->constant};
    for (int32_t d = 0; d < g->n_dims; ++d) {
        int64_t factor = form->coefficient[d];
        if (!factor || !low->known) continue;
        bound begin = bound_of(g, g->dims[d].begin, object, axis), end = bound_of(g, g->dims[d].end, object, axis);
        bound *first = factor > 0 ? low : high, *last = factor > 0 ? high : low;
        int64_t part;
        first->known = first->known && begin.known && !begin.of_size && atn_i64_mul(factor, begin.number, &part) &&
                       atn_i64_add(first->number, part, &first->number);
        last->known = last->known && end.known && (!end.of_size || (factor == 1 && !last->of_size)) &&
                      atn_i64_mul(factor, end.number - 1, &part) && atn_i64_add(last->number, part, &last->number);
        last->of_size = last->of_size || end.of_size;
        bool empty = begin.known && end.known && !begin.of_size && !end.of_size && end.number <= begin.number;
        if (empty) low->known = high->known = false; /* nothing happens */
    }
}

static int64_t size_of(const atn_object *o, int32_t axis) { return o->table || o->sized ? o->table_size[axis] : -1; }

static void check_axis(atn_reader *reader, const atn_graph *g, atn_value select, int32_t object, int32_t axis,
                       atn_place at, const char *name) {
    const atn_object *o = &g->objects[object];
    atn_affine form = atn_affine_of(g, select);
    bound low, high;
    find_ends(g, &form, object, axis, &low, &high);
    int64_t size = size_of(o, axis);
    const char *what = o->rank == 1 ? "element" : axis == 0 ? "column" : "row";
    if (low.known && !low.of_size && low.number < 0)
        atn_reader_complain(reader, at, name, "begins at %s %lld of '%s'; give it a boundary, or another range", what,
                            (long long)low.number, o->name);
    else if (high.known && high.of_size && high.number >= 0)
        atn_reader_complain(reader, at, name,
                            "goes on to %lld %s%s beyond the end of '%s'; give it a boundary, or another range",
                            (long long)high.number + 1, what, high.number ? "s" : "", o->name);
    else if (high.known && !high.of_size && size >= 0 && high.number >= size)
        atn_reader_complain(reader, at, name, "goes on to %s %lld; '%s' has %lld", what, (long long)high.number,
                            o->name, (long long)size);
}

void atn_graph_check_ranges(atn_reader *reader, const atn_graph *g) {
    for (int32_t k = 0; k < g->n_reads && !reader->failed; ++k) {
        const atn_read *r = &g->reads[k];
        for (int32_t axis = 0; axis < 2 && r->boundary == ATN_EDGE_NONE; ++axis)
            if (r->select[axis] >= 0)
                check_axis(reader, g, r->select[axis], r->object, axis, (atn_place){r->line, r->column}, r->name);
    }
    for (int32_t k = 0; k < g->n_writes && !reader->failed; ++k) {
        const atn_write *w = &g->writes[k];
        for (int32_t axis = 0; axis < 2 && w->enable < 0; ++axis)
            if (w->select[axis] >= 0)
                check_axis(reader, g, w->select[axis], w->object, axis, (atn_place){w->line, w->column}, w->name);
    }
}
