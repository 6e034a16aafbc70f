/* Filling arrays. What an object is for shows in the graph: whose elements end up in a range or in a selector. */
#include "tune/inputs.h"

#include "graph/affine.h"
#include "graph/type.h"

#include <math.h>
#include <string.h>

enum { VISITS = 512 };

/* Does the value hang on elements of the object? */
static bool hangs_on(const atn_graph *g, atn_value value, int32_t object, int32_t *visits) {
    if (value < 0 || --*visits < 0) return false;
    const atn_node *node = &g->values[value];
    if (node->op == ATN_OP_READ && g->reads[node->index].object == object) return true;
    for (int k = 0; k < 3; ++k)
        if (hangs_on(g, node->arg[k], object, visits)) return true;
    return false;
}

static bool decides(const atn_graph *g, atn_value value, int32_t object) {
    int32_t visits = VISITS;
    return hangs_on(g, value, object, &visits);
}

/* Elements along a dimension: the least size of what is read or written along it. */
static int64_t room_along(const atn_graph *g, const atn_view *views, int32_t dim) {
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < g->n_reads + g->n_writes; ++k) {
        bool read = k < g->n_reads;
        const atn_value *select = read ? g->reads[k].select : g->writes[k - g->n_reads].select;
        int32_t object = read ? g->reads[k].object : g->writes[k - g->n_reads].object;
        for (int axis = 0; axis < 2; ++axis) {
            if (select[axis] < 0) continue;
            atn_affine form = atn_affine_of(g, select[axis]);
            if (form.is_affine && form.coefficient[dim] != 0 && views[object].size[axis] < least)
                least = views[object].size[axis];
        }
    }
    return least == INT64_MAX ? 0 : least;
}

/* The least size of what the object's elements select into; INT64_MAX: nothing. */
static int64_t selects_into(const atn_graph *g, const atn_view *views, int32_t object) {
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < g->n_reads + g->n_writes; ++k) {
        bool read = k < g->n_reads;
        const atn_value *select = read ? g->reads[k].select : g->writes[k - g->n_reads].select;
        int32_t into = read ? g->reads[k].object : g->writes[k - g->n_reads].object;
        for (int axis = 0; axis < 2; ++axis)
            if (select[axis] >= 0 && decides(g, select[axis], object) && views[into].size[axis] < least)
                least = views[into].size[axis];
    }
    return least;
}

atn_filling atn_filling_of(const atn_graph *g, const atn_view *views, int32_t object, double range_length) {
    for (int32_t d = 0; d < g->n_dims; ++d) {
        bool begin = decides(g, g->dims[d].begin, object), end = decides(g, g->dims[d].end, object);
        if (!begin && !end) continue;
        int64_t room = room_along(g, views, d);
        if (begin) return (atn_filling){ATN_ROLE_START, room};
        if (g->values[g->dims[d].begin].op != ATN_OP_CONST) return (atn_filling){ATN_ROLE_END, room};
        int64_t most = (int64_t)ceil(2 * range_length) + 1;
        return (atn_filling){ATN_ROLE_COUNT, room > 0 && room + 1 < most ? room + 1 : most};
    }
    int64_t into = selects_into(g, views, object);
    if (into != INT64_MAX) return (atn_filling){ATN_ROLE_INDEX, into};
    return (atn_filling){ATN_ROLE_NUMBER, 0};
}

/* The k-th number of a sequence, from nothing but k: elements can be made in any order. */
static uint64_t scramble(uint64_t k) {
    k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
    k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
    return k ^ (k >> 31);
}

/* Begin of range k of n, all in all `most` elements: even, moved by up to half the spread of a length. */
static int64_t start_of(int64_t k, int64_t n, int64_t most, const atn_fill_options *o) {
    double each = n > 0 ? fmin((double)most / (double)n, o->lengths) : 0, at = each * (double)k;
    if (k <= 0) return 0;
    if (k >= n) return (int64_t)fmin((double)most, floor(each * (double)n + 0.5));
    double moved = at + each * o->spread * ((double)(scramble((uint64_t)k + o->seed) >> 40) * 0x1p-24 - 0.5);
    return (int64_t)fmin(fmax(moved, 0), (double)most);
}

static int64_t whole_at(const atn_view *view, atn_filling f, const atn_fill_options *o, int64_t k, uint64_t bits) {
    switch (f.role) {
    case ATN_ROLE_START: /* one more than ranges, where it holds their ends as well */
        return start_of(k, view->size[0] - 1, f.below, o);
    case ATN_ROLE_END:
        return start_of(k + 1, view->size[0], f.below, o);
    case ATN_ROLE_COUNT:
    case ATN_ROLE_INDEX:
        return f.below > 0 ? (int64_t)(bits % (uint64_t)f.below) : 0;
    default:
        break;
    }
    return (int64_t)(bits % (view->type == ATN_B     ? 2
                             : view->type == ATN_U16 ? 65536
                             : view->type == ATN_U8  ? 256
                                                     : 100));
}

static double number_from(uint64_t bits, bool special) {
    static const double SPECIAL[] = {(double)NAN, INFINITY, -INFINITY, 0, -0.0, 1};
    if (special && bits % 23 == 0) return SPECIAL[bits / 23 % (sizeof SPECIAL / sizeof *SPECIAL)];
    return (double)(bits >> 11) * 0x1p-52 - 1; /* in [-1, 1) */
}

enum { PERIOD = 65537 }; /* a prime: no tile, row or vector is in step with it */

/* Large arrays of numbers repeat after a while: nobody who computes wrongly can tell, and they are made in no time. */
static bool fill_by_copying(const atn_view *view, atn_filling f, const atn_fill_options *o, int32_t object) {
    int64_t all = view->rank > 1 ? view->size[0] * view->size[1] : view->size[0];
    bool dense = view->rank == 1 || view->pitch == view->size[0];
    if (f.role != ATN_ROLE_NUMBER || !dense || all < 4 * PERIOD) return false;
    atn_view first = {.data = view->data, .type = view->type, .rank = 1, .size = {PERIOD, 1}, .pitch = PERIOD};
    size_t bytes = atn_type_bytes(view->type), total = (size_t)all * bytes, done = PERIOD * bytes;
    atn_fill(&first, f, o, object);
    while (done < total) {
        size_t piece = done < total - done ? done : total - done;
        memcpy((char *)view->data + done, view->data, piece);
        done += piece;
    }
    return true;
}

void atn_fill(const atn_view *view, atn_filling f, const atn_fill_options *o, int32_t object) {
    if (fill_by_copying(view, f, o, object)) return;
    int64_t rows = view->rank > 1 ? view->size[1] : 1;
    uint64_t base = scramble(o->seed * 0x9e3779b97f4a7c15u + (uint64_t)object + 1);
    bool plain = f.role == ATN_ROLE_NUMBER && !atn_type_is_integer(view->type);
    for (int64_t row = 0; row < rows; ++row) {
        char *to = atn_view_at(view, 0, row);
        size_t bytes = atn_type_bytes(view->type);
        for (int64_t k = 0; k < view->size[0]; ++k, to += bytes) {
            uint64_t bits = scramble(base + (uint64_t)(row * view->size[0] + k) * 0x9e3779b97f4a7c15u);
            if (plain && view->type == ATN_SP) { /* most of what there is */
                *(float *)(void *)to = (float)number_from(bits, o->special);
                continue;
            }
            double number[2] = {number_from(bits, o->special), number_from(scramble(bits), o->special)};
            if (!plain && view->type != ATN_INT32 && !atn_type_is_integer(view->type))
                number[0] = (double)whole_at(view, f, o, k, bits); /* indices kept as numbers */
            atn_element_store(view->type, number, whole_at(view, f, o, k, bits), to);
        }
    }
}
