/* Operations on integers and B: exact, wrapping, division by zero gives 0. One uncertain argument makes the result so,
 * unless the other decides alone. */
#include "eval/number.h"

static int64_t wrapped(atn_op op, int64_t a, int64_t b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return (int64_t)(op == ATN_OP_ADD ? x + y : op == ATN_OP_SUB ? x - y : x * y);
}

static int64_t divided(int64_t a, int64_t b) {
    if (b == 0) return 0;
    return b == -1 ? wrapped(ATN_OP_SUB, 0, a) : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static int64_t floor_mod(int64_t a, int64_t b) {
    int64_t r = remainder_of(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t shifted(atn_op op, atn_type type, int64_t a, int64_t b) {
    int count = (int)(b & (type == ATN_INDEX ? 63 : 31));
    if (op == ATN_OP_SHL) return (int64_t)((uint64_t)a << count);
    return a < 0 ? ~(~a >> count) : a >> count;
}

static int64_t result_of(atn_op op, atn_type type, int64_t a, int64_t b) {
    switch (op) {
    case ATN_OP_ADD:
    case ATN_OP_SUB:
    case ATN_OP_MUL:
        return wrapped(op, a, b);
    case ATN_OP_DIV:
        return divided(a, b);
    case ATN_OP_MOD:
        return remainder_of(a, b);
    case ATN_OP_FLOORMOD:
        return floor_mod(a, b);
    case ATN_OP_NEG:
        return wrapped(ATN_OP_SUB, 0, a);
    case ATN_OP_ABS:
        return a < 0 ? wrapped(ATN_OP_SUB, 0, a) : a;
    case ATN_OP_MIN:
        return a < b ? a : b;
    case ATN_OP_MAX:
        return a > b ? a : b;
    case ATN_OP_BITAND:
        return a & b;
    case ATN_OP_BITOR:
        return a | b;
    case ATN_OP_BITXOR:
        return a ^ b;
    case ATN_OP_BITNOT:
        return ~a;
    case ATN_OP_SHL:
    case ATN_OP_SHR:
        return shifted(op, type, a, b);
    case ATN_OP_AND:
        return a != 0 && b != 0;
    case ATN_OP_OR:
        return a != 0 || b != 0;
    case ATN_OP_NOT:
        return a == 0;
    case ATN_OP_LT:
        return a < b;
    case ATN_OP_LE:
        return a <= b;
    case ATN_OP_EQ:
        return a == b;
    case ATN_OP_NE:
        return a != b;
    default:
        return 0;
    }
}

num num_integer(atn_op op, atn_type type, const num arg[3]) {
    int32_t arity = atn_op_get_info(op)->arity;
    num r = {.whole = atn_type_wrap(type, result_of(op, type, arg[0].whole, arity > 1 ? arg[1].whole : 0))};
    bool doubt = num_is_uncertain(arg[0]) || (arity > 1 && num_is_uncertain(arg[1]));
    if (!doubt) return r;
    for (int k = 0; k < 2; ++k) { /* false && anything, true || anything */
        if (num_is_uncertain(arg[k])) continue;
        if ((op == ATN_OP_AND && arg[k].whole == 0) || (op == ATN_OP_OR && arg[k].whole != 0)) return r;
    }
    return num_uncertain(r);
}
