/* Folding: constants, and identities that hold for every value of the type, NaN and signed zeros included. */
#include "graph/small.h"
#include "graph/value.h"

#include "graph/type.h"

#include <math.h>

static int64_t wrapping(atn_op op, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (int64_t)(op == ATN_OP_ADD ? x + y : op == ATN_OP_SUB ? x - y : x * y);
}

static int64_t divide(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }
static int64_t remainder_of(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static int64_t floor_mod(int64_t a, int64_t b) {
    int64_t r = remainder_of(a, b);
    return r && (r < 0) != (b < 0) ? r + b : r;
}

/* Shifts by more than the type has are those of C on the masked count, as devices do. */
static int64_t shift(atn_op op, atn_type type, int64_t a, int64_t b) {
    unsigned count = (unsigned)(b & (type == ATN_INDEX ? 63 : 31));
    return op == ATN_OP_SHL ? (int64_t)((uint64_t)a << count) : a >> count;
}

bool atn_op_holds(atn_op op, bool less, bool equal) {
    return op == ATN_OP_LT ? less : op == ATN_OP_LE ? less || equal : op == ATN_OP_EQ ? equal : !equal;
}

bool atn_op_integer(atn_op op, atn_type type, int64_t a, int64_t b, int64_t *result) {
    switch (op) {
    case ATN_OP_ADD:
    case ATN_OP_SUB:
    case ATN_OP_MUL:
        *result = wrapping(op, a, b);
        return true;
    case ATN_OP_DIV:
        *result = divide(a, b);
        return true;
    case ATN_OP_MOD:
        *result = remainder_of(a, b);
        return true;
    case ATN_OP_FLOORMOD:
        *result = floor_mod(a, b);
        return true;
    case ATN_OP_NEG:
        *result = wrapping(ATN_OP_SUB, 0, a);
        return true;
    case ATN_OP_ABS:
        *result = a < 0 ? wrapping(ATN_OP_SUB, 0, a) : a;
        return true;
    case ATN_OP_MIN:
        *result = a < b ? a : b;
        return true;
    case ATN_OP_MAX:
        *result = a > b ? a : b;
        return true;
    case ATN_OP_BITAND:
    case ATN_OP_AND:
        *result = a & b;
        return true;
    case ATN_OP_BITOR:
    case ATN_OP_OR:
        *result = a | b;
        return true;
    case ATN_OP_BITXOR:
        *result = a ^ b;
        return true;
    case ATN_OP_BITNOT:
        *result = ~a;
        return true;
    case ATN_OP_NOT:
        *result = !a;
        return true;
    case ATN_OP_SHL:
    case ATN_OP_SHR:
        *result = shift(op, type, a, b);
        return true;
    case ATN_OP_LT:
    case ATN_OP_LE:
    case ATN_OP_EQ:
    case ATN_OP_NE:
        *result = atn_op_holds(op, a < b, a == b);
        return true;
    default:
        return false;
    }
}

/* One operation in double, rounded once, is the correctly rounded one of SP and DP; half computes in single, so it is
 * left to the device. */
static bool real_of(atn_op op, double a, double b, double *result) {
    switch (op) {
    case ATN_OP_ADD:
        *result = a + b;
        return true;
    case ATN_OP_SUB:
        *result = a - b;
        return true;
    case ATN_OP_MUL:
        *result = a * b;
        return true;
    case ATN_OP_DIV:
        *result = a / b;
        return true;
    case ATN_OP_NEG:
        *result = -a;
        return true;
    case ATN_OP_ABS:
        *result = fabs(a);
        return true;
    case ATN_OP_MIN:
        *result = fmin(a, b);
        return true;
    case ATN_OP_MAX:
        *result = fmax(a, b);
        return true;
    case ATN_OP_LT:
    case ATN_OP_LE:
    case ATN_OP_EQ:
    case ATN_OP_NE:
        *result = atn_op_holds(op, a < b, a == b);
        return true;
    default:
        return false;
    }
}

static atn_value fold_constants(atn_sketch *sketch, atn_op op, atn_type type, const atn_node *a, const atn_node *b) {
    if (op == ATN_OP_CAST) {
        bool from_integer = atn_type_is_integer(a->type);
        if (atn_type_is_integer(type)) {
            int64_t whole = from_integer ? atn_type_wrap(type, a->integer) : atn_type_saturate(type, a->number[0]);
            return atn_value_integer(sketch, type, whole);
        }
        return from_integer ? atn_value_number(sketch, type, (double)a->integer, 0)
                            : atn_value_number(sketch, type, a->number[0], a->number[1]);
    }
    if (atn_type_is_integer(a->type)) {
        int64_t whole;
        if (atn_op_integer(op, a->type, a->integer, b ? b->integer : 0, &whole))
            return atn_value_integer(sketch, type, whole);
    } else if (a->type == ATN_SP || a->type == ATN_DP) {
        double number;
        if (op == ATN_OP_COMPLEX) return atn_value_number(sketch, type, a->number[0], b ? b->number[0] : 0);
        if (!real_of(op, a->number[0], b ? b->number[0] : 0, &number)) return -1;
        return atn_type_is_integer(type) ? atn_value_integer(sketch, type, number != 0)
                                         : atn_value_number(sketch, type, number, 0);
    } else if (atn_type_is_complex(a->type)) {
        switch (op) {
        case ATN_OP_REAL:
            return atn_value_number(sketch, type, a->number[0], 0);
        case ATN_OP_IMAG:
            return atn_value_number(sketch, type, a->number[1], 0);
        case ATN_OP_CONJ:
            return atn_value_number(sketch, type, a->number[0], -a->number[1]);
        case ATN_OP_NEG:
            return atn_value_number(sketch, type, -a->number[0], -a->number[1]);
        default:
            return -1;
        }
    }
    return -1;
}

static bool equals(const atn_node *node, double number) {
    if (!node || node->op != ATN_OP_CONST) return false;
    return atn_type_is_integer(node->type) ? (double)node->integer == number
                                           : node->number[0] == number && node->number[1] == 0;
}

static atn_value identity(atn_sketch *sketch, atn_op op, atn_type type, atn_value a, atn_value b) {
    const atn_node *x = &sketch->values[a], *y = b >= 0 ? &sketch->values[b] : NULL;
    bool integer = atn_type_is_integer(type), complex = atn_type_is_complex(type);
    switch (op) {
    case ATN_OP_ADD:
        if (integer && equals(y, 0)) return a;
        if (integer && equals(x, 0)) return b;
        return -1;
    case ATN_OP_SUB:
        return equals(y, 0) && (integer || !signbit(y->number[0])) && !complex ? a
               : integer && a == b                                             ? atn_value_integer(sketch, type, 0)
                                                                               : -1;
    case ATN_OP_MUL:
        if (!complex && equals(y, 1)) return a;
        if (!complex && equals(x, 1)) return b;
        return integer && (equals(x, 0) || equals(y, 0)) ? atn_value_integer(sketch, type, 0) : -1;
    case ATN_OP_DIV:
        return !complex && equals(y, 1) ? a : -1;
    case ATN_OP_MOD:
    case ATN_OP_FLOORMOD:
        return equals(y, 1) ? atn_value_integer(sketch, type, 0) : -1;
    case ATN_OP_NEG:
        return x->op == ATN_OP_NEG ? x->arg[0] : -1;
    case ATN_OP_NOT:
        return x->op == ATN_OP_NOT ? x->arg[0] : -1;
    case ATN_OP_AND:
        return equals(x, 1) || a == b ? b : equals(y, 1) || equals(x, 0) ? a : equals(y, 0) ? b : -1;
    case ATN_OP_OR:
        return equals(x, 0) || a == b ? b : equals(y, 0) || equals(x, 1) ? a : equals(y, 1) ? b : -1;
    case ATN_OP_MIN:
    case ATN_OP_MAX:
        return a == b ? a : -1;
    case ATN_OP_CONJ:
        return x->op == ATN_OP_CONJ ? x->arg[0] : -1;
    case ATN_OP_REAL:
        return x->op == ATN_OP_COMPLEX ? x->arg[0] : -1;
    case ATN_OP_IMAG:
        return x->op == ATN_OP_COMPLEX ? x->arg[1] : -1;
    default:
        return -1;
    }
}

/* A value equal to op(a, b, c) that is there already or simpler; -1: none. */
static atn_value fold(atn_sketch *sketch, atn_op op, atn_type type, atn_value a, atn_value b, atn_value c) {
    const atn_node *x = &sketch->values[a];
    if (op == ATN_OP_SELECT) {
        if (b == c) return b;
        return x->op == ATN_OP_CONST ? (x->integer ? b : c) : -1;
    }
    if (op == ATN_OP_CAST && x->type == type) return a;
    if (x->op == ATN_OP_CONST && (b < 0 || atn_value_is_const(sketch, b)) && c < 0) {
        atn_node left = *x, right = b >= 0 ? sketch->values[b] : left; /* copies: the array may move */
        atn_value folded = fold_constants(sketch, op, type, &left, b >= 0 ? &right : NULL);
        if (folded >= 0) return folded;
    }
    atn_value known = identity(sketch, op, type, a, b);
    if (known >= 0) return known;
    if (type != ATN_INDEX) return -1;
    switch (op) {
    case ATN_OP_ADD:
        return atn_value_sum(sketch, a, b);
    case ATN_OP_SUB:
        return atn_value_sum(sketch, a, atn_value_scale(sketch, b, -1));
    case ATN_OP_NEG:
        return atn_value_scale(sketch, a, -1);
    case ATN_OP_MUL:
        if (atn_value_is_const(sketch, b)) return atn_value_scale(sketch, a, sketch->values[b].integer);
        if (atn_value_is_const(sketch, a)) return atn_value_scale(sketch, b, sketch->values[a].integer);
        return -1;
    default:
        return -1;
    }
}

atn_value atn_value_make(atn_sketch *sketch, atn_op op, atn_type type, atn_value a, atn_value b, atn_value c) {
    if (sketch->reader->failed) return 0;
    atn_value folded = fold(sketch, op, type, a, b, c);
    return folded >= 0 ? folded : atn_value_plain(sketch, op, type, a, b, c);
}

atn_value atn_value_cast(atn_sketch *sketch, atn_value value, atn_type type) {
    return sketch->values[value].type == type ? value : atn_value_make(sketch, ATN_OP_CAST, type, value, -1, -1);
}
