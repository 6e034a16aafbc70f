/* Filling arrays. What an object is for shows in the graph: whose elements end up in a range or in a selector. */
#include "tune/inputs.h"

#include "base/memory.h"
#include "graph/affine.h"
#include "graph/type.h"
#include "tune/bounds.h"

#include <math.h>
#include <string.h>

static const double LESS = 0.8, LEAST = 1e-9; /* what a range shrinks by at a time, and how far */
static const double MARGIN = 0.98;            /* of what is just in range: another rounding must not matter */

/* A graph whose objects are to be filled. */
typedef struct survey {
    const atn_graph *g;
    const atn_bindings *frame;
    uint64_t *sources;    /* per value: the objects it hangs on */
    atn_bounds *bounds;   /* per value */
    atn_bounds *elements; /* per object */
    double range_length;
} survey;

static uint64_t bit_of(int32_t object) { return (uint64_t)1 << (object & 63); }

static bool decides(const survey *s, atn_value value, int32_t object) {
    return value >= 0 && (s->sources[value] & bit_of(object));
}

/* One access, a read or a write. */
typedef struct access {
    const atn_value *select;
    int32_t object;
    bool checked; /* computed, and out of range unless its elements keep it in */
} access;

static int32_t access_count(const atn_graph *g) { return g->n_reads + g->n_writes; }

static access access_at(const atn_graph *g, int32_t k) {
    bool read = k < g->n_reads;
    access a = {.select = read ? g->reads[k].select : g->writes[k - g->n_reads].select,
                .object = read ? g->reads[k].object : g->writes[k - g->n_reads].object};
    a.checked = (!read || g->reads[k].boundary == ATN_EDGE_NONE) && atn_select_is_computed(g, a.select);
    return a;
}

static int64_t size_along(const survey *s, int32_t object, int axis) {
    const atn_object *o = &s->g->objects[object];
    return o->table ? o->table_size[axis] : s->frame->views[object].size[axis];
}

/* Elements along a dimension: the least size of what is read or written along it. */
static int64_t room_along(const survey *s, int32_t dim) {
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < access_count(s->g); ++k) {
        access a = access_at(s->g, k);
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) {
            if (a.select[axis] < 0) continue;
            atn_affine form = atn_affine_of(s->g, a.select[axis]);
            if (form.is_affine && form.coefficient[dim] != 0 && size_along(s, a.object, axis) < least)
                least = size_along(s, a.object, axis);
        }
    }
    return least == INT64_MAX ? 0 : least;
}

/* The least size of what the object's elements select into; INT64_MAX: nothing. */
static int64_t selects_into(const survey *s, int32_t object) {
    int64_t least = INT64_MAX;
    for (int32_t k = 0; k < access_count(s->g); ++k) {
        access a = access_at(s->g, k);
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
            if (decides(s, a.select[axis], object) && size_along(s, a.object, axis) < least)
                least = size_along(s, a.object, axis);
    }
    return least;
}

static atn_filling first_filling(const survey *s, int32_t object) {
    const atn_graph *g = s->g;
    for (int32_t d = 0; d < g->n_dims; ++d) {
        bool begin = decides(s, g->dims[d].begin, object), end = decides(s, g->dims[d].end, object);
        if (!begin && !end) continue;
        int64_t room = room_along(s, d);
        if (begin) return (atn_filling){.role = ATN_ROLE_START, .below = room};
        if (g->values[g->dims[d].begin].op != ATN_OP_CONST) return (atn_filling){.role = ATN_ROLE_END, .below = room};
        int64_t most = (int64_t)ceil(2 * s->range_length) + 1;
        return (atn_filling){.role = ATN_ROLE_COUNT, .below = room > 0 && room + 1 < most ? room + 1 : most};
    }
    int64_t into = selects_into(s, object);
    if (into != INT64_MAX) return (atn_filling){.role = ATN_ROLE_INDEX, .below = into};
    return (atn_filling){.role = ATN_ROLE_NUMBER};
}

/* ---- selectors stay in range ---- */

static int64_t numbers_below(atn_type type) {
    return type == ATN_B ? 2 : type == ATN_U16 ? 65536 : type == ATN_U8 ? 256 : 100;
}

static atn_bounds bounds_of_filling(atn_filling f, atn_type type) {
    switch (f.role) {
    case ATN_ROLE_START:
    case ATN_ROLE_END:
        return (atn_bounds){0, (double)f.below};
    case ATN_ROLE_COUNT:
    case ATN_ROLE_INDEX:
        return (atn_bounds){0, f.below > 1 ? (double)(f.below - 1) : 0};
    case ATN_ROLE_WITHIN:
        return (atn_bounds){0, f.high};
    default:
        break;
    }
    if (atn_type_is_integer(type) || type == ATN_B) return (atn_bounds){0, (double)numbers_below(type) - 1};
    return (atn_bounds){-1, 1};
}

/* Objects that lead some computed access out of range, as far as bounds can tell. */
static uint64_t find_guilty(const survey *s, const atn_filling *fillings) {
    uint64_t guilty = 0;
    for (int32_t k = 0; k < s->g->n_objects; ++k)
        s->elements[k] = bounds_of_filling(fillings[k], s->g->objects[k].type);
    atn_bounds_of(s->g, s->frame, s->elements, s->bounds);
    for (int32_t k = 0; k < access_count(s->g); ++k) {
        access a = access_at(s->g, k);
        for (int axis = 0; a.checked && axis < ATN_MAX_RANK; ++axis) {
            if (a.select[axis] < 0) continue;
            atn_bounds reach = s->bounds[a.select[axis]];
            bool inside = reach.low >= 0 && reach.high <= (double)size_along(s, a.object, axis) - 1;
            if (!inside) guilty |= s->sources[a.select[axis]];
        }
    }
    return guilty;
}

/* False: there is nothing left to shrink. */
static bool shrink(atn_filling *f, atn_type type) {
    if (atn_type_is_integer(type) || type == ATN_B) {
        if (f->role != ATN_ROLE_INDEX || f->below <= 1) return false;
        f->below = (int64_t)((double)f->below * LESS);
        return true;
    }
    if (f->role == ATN_ROLE_INDEX) *f = (atn_filling){.role = ATN_ROLE_WITHIN, .high = (double)f->below};
    if (f->role != ATN_ROLE_WITHIN || f->high < LEAST) return false;
    f->high *= LESS;
    return true;
}

/* Elements that selectors are computed from shrink until bounds show every selector in range, or nothing helps. */
static void keep_in_range(const survey *s, atn_filling *fillings) {
    for (bool shrunk = true; shrunk;) {
        uint64_t guilty = find_guilty(s, fillings);
        shrunk = false;
        for (int32_t k = 0; k < s->g->n_objects; ++k)
            if (guilty & bit_of(k)) shrunk = shrink(&fillings[k], s->g->objects[k].type) || shrunk;
    }
    for (int32_t k = 0; k < s->g->n_objects; ++k) fillings[k].high *= MARGIN;
}

atn_status atn_fillings_of(const atn_ctx *ctx, const atn_graph *g, const atn_bindings *frame, double range_length,
                           atn_filling *out) {
    survey s = {.g = g, .frame = frame, .range_length = range_length};
    s.sources = atn_zalloc(ctx, ((size_t)g->n_values + 1) * sizeof *s.sources);
    s.bounds = atn_zalloc(ctx, ((size_t)g->n_values + 1) * sizeof *s.bounds);
    s.elements = atn_zalloc(ctx, ((size_t)g->n_objects + 1) * sizeof *s.elements);
    atn_status status = s.sources && s.bounds && s.elements ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        atn_bounds_sources(g, s.sources);
        for (int32_t k = 0; k < g->n_objects; ++k) out[k] = first_filling(&s, k);
        keep_in_range(&s, out);
    }
    atn_free(ctx, s.sources);
    atn_free(ctx, s.bounds);
    atn_free(ctx, s.elements);
    return status;
}

bool atn_inputs_guarded(const atn_graph *g) {
    for (int32_t k = 0; k < access_count(g); ++k)
        if (access_at(g, k).checked) return true;
    return false;
}

atn_status atn_inputs_moved(const atn_ctx *ctx, const atn_graph *g, bool *out) {
    uint64_t *sources = atn_zalloc(ctx, ((size_t)g->n_values + 1) * sizeof *sources), deciding = 0, moved = 0;
    if (!sources) return ATN_ERR_MEMORY;
    atn_bounds_sources(g, sources);
    for (int32_t d = 0; d < g->n_dims; ++d) deciding |= sources[g->dims[d].begin] | sources[g->dims[d].end];
    for (int32_t k = 0; k < access_count(g); ++k)
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
            if (access_at(g, k).select[axis] >= 0) deciding |= sources[access_at(g, k).select[axis]];
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (g->objects[k].written && g->objects[k].read) moved |= bit_of(k);
    atn_free(ctx, sources);
    *out = deciding & moved;
    return ATN_OK;
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
    return (int64_t)(bits % (uint64_t)numbers_below(view->type));
}

static double number_from(uint64_t bits, bool special) {
    static const double SPECIAL[] = {(double)NAN, INFINITY, -INFINITY, 0, -0.0, 1};
    if (special && bits % 23 == 0) return SPECIAL[bits / 23 % (sizeof SPECIAL / sizeof *SPECIAL)];
    return (double)(bits >> 11) * 0x1p-52 - 1; /* in [-1, 1) */
}

enum { PERIOD = 65537 }; /* a prime: no tile, row or vector is in step with it */

/* Large arrays of numbers repeat after a while: this hides no error, and they are quick to generate. */
static bool fill_by_copying(const atn_view *view, atn_filling f, const atn_fill_options *o, int32_t object) {
    int64_t all = atn_view_elements(view);
    bool dense = view->rank == 1 || view->pitch == view->size[0];
    if (f.role != ATN_ROLE_NUMBER || !dense || all < 4 * PERIOD) return false;
    atn_view first = {.data = view->data, .type = view->type, .rank = 1, .size = {PERIOD}, .pitch = PERIOD};
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
    int64_t rows = atn_view_rows(view);
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
            if (f.role == ATN_ROLE_WITHIN)
                number[0] = f.high * (double)(bits >> 11) * 0x1p-53;
            else if (!plain && !atn_type_is_integer(view->type))
                number[0] = (double)whole_at(view, f, o, k, bits); /* indices kept as numbers */
            atn_element_store(view->type, number, whole_at(view, f, o, k, bits), to);
        }
    }
}
