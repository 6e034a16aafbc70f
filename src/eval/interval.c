/* Interval arithmetic on INDEX values. In an affine form the dimensions are eliminated from the innermost outward:
 * where it grows with i, i is replaced by its end - 1, else by its begin, which may be affine in outer dimensions
 * themselves; so p - q with q < p is known to be at least 1. */
#include "eval/interval.h"

#include "base/size.h"
#include "graph/affine.h"

static const interval unknown = {0};

static bool scaled_add(int64_t *sum, int64_t number, int64_t factor) {
    int64_t product;
    return atn_i64_mul(number, factor, &product) && atn_i64_add(*sum, product, sum);
}

/* What is dimension-free is known. */
static bool add_value(interp *in, atn_value value, int64_t factor, int64_t *sum) {
    return value < 0 || scaled_add(sum, interp_value(in, value).whole, factor);
}

/* Adds factor * form to another form without a modulus; the constant takes the part without dimensions. */
static bool add_form(interp *in, const atn_affine *form, int64_t factor, int64_t coefficient[ATN_MAX_DIMS],
                     int64_t *constant) {
    for (int32_t d = 0; d < in->graph->n_dims; ++d)
        if (!scaled_add(&coefficient[d], form->coefficient[d], factor)) return false;
    return scaled_add(constant, form->constant, factor) && add_value(in, form->rest, factor, constant);
}

static bool extreme(interp *in, int64_t coefficient[ATN_MAX_DIMS], int64_t constant, bool upper, int64_t *out) {
    for (int32_t d = in->graph->n_dims - 1; d >= 0; --d) {
        int64_t c = coefficient[d];
        if (c == 0) continue;
        bool at_end = (c > 0) == upper;
        atn_value limit = at_end ? in->graph->dims[d].end : in->graph->dims[d].begin;
        atn_affine form = atn_affine_of(in->graph, limit);
        coefficient[d] = 0;
        if (at_end && !scaled_add(&constant, -1, c)) return false;
        if (form.is_affine && form.modulus < 0) {
            if (!add_form(in, &form, c, coefficient, &constant)) return false;
            continue;
        }
        interval range = interval_of(in, limit);
        if (!range.known || !scaled_add(&constant, (c > 0) == upper ? range.high : range.low, c)) return false;
    }
    *out = constant;
    return true;
}

static interval of_form(interp *in, const atn_affine *form) {
    interval r = {.known = true};
    for (int upper = 0; upper < 2 && r.known; ++upper) {
        int64_t coefficient[ATN_MAX_DIMS] = {0}, constant = 0;
        r.known = add_form(in, form, 1, coefficient, &constant) &&
                  extreme(in, coefficient, constant, upper, upper ? &r.high : &r.low);
    }
    if (!r.known || form->modulus < 0) return r;
    int64_t m = interp_value(in, form->modulus).whole;
    if (m <= 0) return m == 0 ? (interval){true, 0, 0} : unknown;
    if (r.low < 0 || r.high >= m) r.low = 0, r.high = m - 1;
    return r;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Over all four pairs of ends. */
static interval of_pairs(atn_op op, interval a, interval b) {
    interval r = {.known = true};
    const int64_t x[2] = {a.low, a.high}, y[2] = {b.low, b.high};
    for (int k = 0; k < 4; ++k) {
        int64_t v = 0;
        if (op == ATN_OP_MUL && !atn_i64_mul(x[k & 1], y[k >> 1], &v)) return unknown;
        if (op == ATN_OP_ADD && !atn_i64_add(x[k & 1], y[k >> 1], &v)) return unknown;
        if (op == ATN_OP_DIV) v = x[k & 1] / y[k >> 1];
        r.low = k ? least(r.low, v) : v;
        r.high = k ? most(r.high, v) : v;
    }
    return r;
}

static interval of_operation(interp *in, const atn_node *node) {
    interval a = unknown, b = unknown;
    if (node->type != ATN_INDEX && node->type != ATN_INT32) return unknown;
    if (node->op == ATN_OP_SELECT) {
        a = interval_of(in, node->arg[1]);
        b = interval_of(in, node->arg[2]);
        return a.known && b.known ? (interval){true, least(a.low, b.low), most(a.high, b.high)} : unknown;
    }
    if (node->arg[0] >= 0) a = interval_of(in, node->arg[0]);
    if (node->arg[1] >= 0) b = interval_of(in, node->arg[1]);
    if (!a.known || (node->arg[1] >= 0 && !b.known)) return unknown;
    interval r = unknown;
    switch (node->op) {
    case ATN_OP_ADD:
    case ATN_OP_MUL:
        r = of_pairs(node->op, a, b);
        break;
    case ATN_OP_DIV:
        r = b.low > 0 || (b.high < 0 && b.low < -1 && b.high < -1) ? of_pairs(node->op, a, b) : unknown;
        break;
    case ATN_OP_MIN:
        r = (interval){true, least(a.low, b.low), least(a.high, b.high)};
        break;
    case ATN_OP_MAX:
        r = (interval){true, most(a.low, b.low), most(a.high, b.high)};
        break;
    case ATN_OP_CAST:
        r = a;
        break;
    case ATN_OP_FLOORMOD:
        if (b.low <= 0) return unknown;
        r = a.low >= 0 && a.high < b.low ? a : (interval){true, 0, b.high - 1};
        break;
    default:
        return unknown;
    }
    bool wraps = node->type == ATN_INT32 && r.known && (r.low < INT32_MIN || r.high > INT32_MAX);
    return wraps ? unknown : r;
}

interval interval_of(interp *in, atn_value value) {
    const atn_node *node = &in->graph->values[value];
    if (!node->dims) {
        int64_t whole = interp_value(in, value).whole;
        return (interval){atn_type_is_integer(node->type) && in->status == ATN_OK, whole, whole};
    }
    atn_affine form = atn_affine_of(in->graph, value);
    return form.is_affine ? of_form(in, &form) : of_operation(in, node);
}

bool interval_happens(interp *in, uint32_t dims) {
    for (int32_t d = 0; d < in->graph->n_dims; ++d) {
        if (!(dims >> d & 1)) continue;
        const atn_dim *dim = &in->graph->dims[d];
        if (atn_value_is_computed(in->graph, dim->begin) || atn_value_is_computed(in->graph, dim->end))
            continue; /* a range from data: it may have steps */
        atn_affine begin = atn_affine_of(in->graph, dim->begin), end = atn_affine_of(in->graph, dim->end);
        int64_t coefficient[ATN_MAX_DIMS] = {0}, length = 0;
        if (begin.modulus >= 0 || end.modulus >= 0) continue;
        if (!add_form(in, &end, 1, coefficient, &length) || !add_form(in, &begin, -1, coefficient, &length)) continue;
        if (extreme(in, coefficient, length, true, &length) && length <= 0) return false;
    }
    return true;
}
