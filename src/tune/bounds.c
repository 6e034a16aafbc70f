/* Interval arithmetic over the values of a graph, in their order: arguments come before their users. Only dimensions do
 * not: their ranges are values themselves, so a few rounds are made, from the outermost block inwards. */
#include "tune/bounds.h"

#include "graph/type.h"

#include <math.h>

static const atn_bounds ANYTHING = {-INFINITY, INFINITY}, LOGICAL = {0, 1};

typedef struct bounder {
    const atn_graph *g;
    const atn_bindings *frame;
    const atn_bounds *elements;
    atn_bounds *value;
} bounder;

/* ---- intervals ---- */

static atn_bounds whole_range(atn_type type) {
    switch (type) {
    case ATN_INT32:
        return (atn_bounds){INT32_MIN, INT32_MAX};
    case ATN_U16:
        return (atn_bounds){0, UINT16_MAX};
    case ATN_U8:
        return (atn_bounds){0, UINT8_MAX};
    case ATN_B:
        return LOGICAL;
    default:
        return ANYTHING;
    }
}

/* What does not fit its type wraps, to anything there. */
static atn_bounds fit(atn_bounds b, atn_type type) {
    atn_bounds all = whole_range(type);
    return b.low >= all.low && b.high <= all.high ? b : all; /* false for NaN as well */
}

static atn_bounds join(atn_bounds a, atn_bounds b) { return (atn_bounds){fmin(a.low, b.low), fmax(a.high, b.high)}; }
static atn_bounds add(atn_bounds a, atn_bounds b) { return (atn_bounds){a.low + b.low, a.high + b.high}; }
static atn_bounds negate(atn_bounds a) { return (atn_bounds){-a.high, -a.low}; }

static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; } /* 0 of what has no end, too */

static atn_bounds multiply(atn_bounds a, atn_bounds b) {
    atn_bounds one = {times(a.low, b.low), times(a.low, b.low)}, other = {times(a.high, b.high), times(a.high, b.high)};
    one = join(one, (atn_bounds){times(a.low, b.high), times(a.low, b.high)});
    return join(join(one, other), (atn_bounds){times(a.high, b.low), times(a.high, b.low)});
}

static atn_bounds divide(atn_bounds a, atn_bounds b, bool integer) {
    if (b.low <= 0 && b.high >= 0) return ANYTHING;
    atn_bounds q = multiply(a, (atn_bounds){1 / b.high, 1 / b.low});
    return integer ? (atn_bounds){trunc(q.low), trunc(q.high)} : q;
}

static atn_bounds size_of(atn_bounds a) {
    if (a.low >= 0) return a;
    return a.high <= 0 ? negate(a) : (atn_bounds){0, fmax(-a.low, a.high)};
}

/* x mod m with the sign of x; of a divisor that may be 0, 0 as well. */
static atn_bounds remainder_of(atn_bounds x, atn_bounds m) {
    double most = fmax(size_of(m).high, 0);
    return (atn_bounds){x.low < 0 ? -fmin(most, -x.low) : 0, x.high > 0 ? fmin(most, x.high) : 0};
}

static atn_bounds and_of(atn_bounds a, atn_bounds b, atn_type type) {
    if (a.low >= 0 && b.low >= 0) return (atn_bounds){0, fmin(a.high, b.high)};
    if (a.low >= 0) return (atn_bounds){0, a.high};
    return b.low >= 0 ? (atn_bounds){0, b.high} : whole_range(type);
}

/* Of values without a sign, no bit beyond the highest of either is set. */
static atn_bounds or_of(atn_bounds a, atn_bounds b, atn_type type) {
    double most = fmax(a.high, b.high);
    if (a.low < 0 || b.low < 0 || !isfinite(most)) return whole_range(type);
    return (atn_bounds){0, exp2(floor(log2(fmax(most, 1))) + 1) - 1};
}

static atn_bounds shift(atn_bounds a, atn_bounds by, bool left, atn_type type) {
    if (by.low != by.high || by.low < 0 || by.low > 62) return whole_range(type);
    double factor = exp2(by.low);
    return left ? multiply(a, (atn_bounds){factor, factor})
                : (atn_bounds){floor(a.low / factor), floor(a.high / factor)};
}

/* ---- values ---- */

static double round_even(double x) { return rint(x); }

static atn_bounds monotone(double (*f)(double), atn_bounds a) { return (atn_bounds){f(a.low), f(a.high)}; }

static atn_bounds cast(atn_bounds a, atn_type from, atn_type to) {
    if (to == ATN_B) return LOGICAL;
    if (!atn_type_is_integer(to)) return a;
    if (atn_type_is_integer(from) || from == ATN_B) return fit(a, to);
    atn_bounds all = whole_range(to); /* truncates and saturates; what is no number gives 0 */
    return (atn_bounds){fmax(trunc(a.low), all.low), fmin(trunc(a.high), all.high)};
}

static atn_bounds of_table(const atn_object *o) {
    atn_bounds out = {INFINITY, -INFINITY};
    int64_t count = atn_table_elements(o);
    for (int64_t k = 0; k < count; ++k) {
        double number[2];
        int64_t whole;
        atn_element_load(o->type, (const char *)o->table + (size_t)k * atn_type_bytes(o->type), number, &whole);
        double v = atn_type_is_integer(o->type) ? (double)whole : number[0];
        if (!isfinite(v)) return ANYTHING;
        out = join(out, (atn_bounds){v, v});
    }
    return count ? out : ANYTHING;
}

static atn_bounds of_leaf(const bounder *b, const atn_node *n) {
    double v;
    switch (n->op) {
    case ATN_OP_CONST:
        v = atn_type_is_integer(n->type) || n->type == ATN_B ? (double)n->integer : n->number[0];
        return (atn_bounds){v, v};
    case ATN_OP_DIM: {
        const atn_dim *dim = &b->g->dims[n->index];
        return (atn_bounds){b->value[dim->begin].low, b->value[dim->end].high - 1};
    }
    case ATN_OP_SIZE:
        v = (double)(b->g->objects[n->index].table ? b->g->objects[n->index].table_size[n->axis]
                                                   : b->frame->views[n->index].size[n->axis]);
        return (atn_bounds){v, v};
    case ATN_OP_PARAM:
        v = b->frame->params[n->index][0];
        return (atn_bounds){v, v};
    case ATN_OP_READ: {
        const atn_read *read = &b->g->reads[n->index];
        const atn_object *object = &b->g->objects[read->object];
        atn_bounds out = object->table ? of_table(object) : b->elements[read->object];
        return read->boundary == ATN_EDGE_ZERO ? join(out, (atn_bounds){0, 0}) : out;
    }
    default:
        return whole_range(n->type);
    }
}

static atn_bounds of_operation(const bounder *k, const atn_node *n) {
    atn_bounds a = n->arg[0] >= 0 ? k->value[n->arg[0]] : ANYTHING;
    atn_bounds b = n->arg[1] >= 0 ? k->value[n->arg[1]] : ANYTHING;
    atn_bounds c = n->arg[2] >= 0 ? k->value[n->arg[2]] : ANYTHING;
    bool integer = atn_type_is_integer(n->type);
    switch (n->op) {
    case ATN_OP_ADD:
        return add(a, b);
    case ATN_OP_SUB:
        return add(a, negate(b));
    case ATN_OP_MUL:
        return multiply(a, b);
    case ATN_OP_FMA:
        return add(multiply(a, b), c);
    case ATN_OP_DIV:
        return integer && b.low <= 0 && b.high >= 0 ? join((atn_bounds){0, 0}, join(a, negate(a)))
                                                    : divide(a, b, integer);
    case ATN_OP_MOD:
    case ATN_OP_FMOD:
        return remainder_of(a, b);
    case ATN_OP_FLOORMOD:
        return (atn_bounds){0, fmax(b.high - 1, 0)};
    case ATN_OP_NEG:
        return negate(a);
    case ATN_OP_MIN:
        return (atn_bounds){fmin(a.low, b.low), fmin(a.high, b.high)};
    case ATN_OP_MAX:
        return (atn_bounds){fmax(a.low, b.low), fmax(a.high, b.high)};
    case ATN_OP_BITAND:
        return and_of(a, b, n->type);
    case ATN_OP_BITOR:
    case ATN_OP_BITXOR:
        return or_of(a, b, n->type);
    case ATN_OP_SHL:
        return shift(a, b, true, n->type);
    case ATN_OP_SHR:
        return shift(a, b, false, n->type);
    case ATN_OP_SELECT:
        return join(b, c);
    case ATN_OP_CAST:
        return cast(a, k->g->values[n->arg[0]].type, n->type);
    case ATN_OP_REAL:
        return a;
    case ATN_OP_ABS:
        return atn_type_is_complex(k->g->values[n->arg[0]].type) ? (atn_bounds){0, INFINITY} : size_of(a);
    case ATN_OP_SQRT:
        return a.low >= 0 ? monotone(sqrt, a) : ANYTHING;
    case ATN_OP_HYPOT:
        return (atn_bounds){0, size_of(a).high + size_of(b).high};
    case ATN_OP_FLOOR:
        return monotone(floor, a);
    case ATN_OP_CEIL:
        return monotone(ceil, a);
    case ATN_OP_ROUND:
        return monotone(round, a);
    case ATN_OP_RINT:
        return monotone(round_even, a);
    case ATN_OP_TRUNC:
        return monotone(trunc, a);
    case ATN_OP_COPYSIGN:
        return (atn_bounds){-size_of(a).high, size_of(a).high};
    case ATN_OP_SIN:
    case ATN_OP_COS:
    case ATN_OP_TANH:
        return (atn_bounds){-1, 1};
    default:
        return whole_range(n->type);
    }
}

static atn_bounds of_value(const bounder *b, const atn_node *n) {
    if (n->type == ATN_B) return LOGICAL;
    if (atn_type_is_complex(n->type)) return ANYTHING; /* nobody selects by one */
    if (n->op <= ATN_OP_RIGHT) return of_leaf(b, n);
    atn_bounds out = of_operation(b, n);
    if (isnan(out.low) || isnan(out.high)) return whole_range(n->type);
    return atn_type_is_integer(n->type) ? fit(out, n->type) : out;
}

void atn_bounds_of(const atn_graph *g, const atn_bindings *frame, const atn_bounds *elements, atn_bounds *out) {
    bounder b = {.g = g, .frame = frame, .elements = elements, .value = out};
    for (atn_value v = 0; v < g->n_values; ++v) out[v] = ANYTHING;
    for (int32_t round = 0; round <= g->n_blocks; ++round)
        for (atn_value v = 0; v < g->n_values; ++v) out[v] = of_value(&b, &g->values[v]);
}

void atn_bounds_sources(const atn_graph *g, uint64_t *out) {
    for (atn_value v = 0; v < g->n_values; ++v) {
        const atn_node *n = &g->values[v];
        out[v] = n->op == ATN_OP_READ ? (uint64_t)1 << (g->reads[n->index].object & 63) : 0;
        for (int k = 0; k < 3; ++k)
            if (n->arg[k] >= 0) out[v] |= out[n->arg[k]];
    }
}
