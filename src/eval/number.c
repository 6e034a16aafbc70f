/* Operations on numbers with their errors, by the type of their arguments. */
#include "eval/number.h"

#include <string.h>

/* Truncated, saturated; uncertain where the error reaches the next integer. */
static num to_integer(atn_type to, num a) {
    num r = {.whole = atn_type_saturate(to, a.re)};
    if (isnan(a.re)) return a.error > 0 ? num_uncertain(r) : r;
    bool sure = a.error == 0 || (atn_type_saturate(to, a.re - 2 * a.error) == r.whole &&
                                 atn_type_saturate(to, a.re + 2 * a.error) == r.whole);
    return sure ? r : num_uncertain(r);
}

num num_convert(const num_rules *rules, atn_type from, atn_type to, num a) {
    bool to_whole = atn_type_is_integer(to);
    if (num_is_uncertain(a)) {
        num r = atn_type_is_integer(from) ? (num){.re = (double)a.whole, .whole = a.whole} : a;
        if (to_whole) r.whole = atn_type_is_integer(from) ? atn_type_wrap(to, a.whole) : atn_type_saturate(to, a.re);
        return num_uncertain(r);
    }
    if (atn_type_is_integer(from)) {
        if (to_whole) return num_whole(atn_type_wrap(to, a.whole));
        num r = {.re = (double)a.whole};
        bool exact = num_fits(r.re, rules->unit[to]) && r.re < 0x1p63 && (int64_t)r.re == a.whole;
        return num_rounded(rules, to, r, exact ? 0 : 2);
    }
    if (to_whole) return to_integer(to, a);
    if (!atn_type_is_complex(to)) a.im = 0;
    bool wider = rules->unit[to] <= rules->unit[from];
    bool exact =
        wider || (!rules->fast && a.error == 0 && num_fits(a.re, rules->unit[to]) && num_fits(a.im, rules->unit[to]));
    return num_rounded(rules, to, a, exact ? 0 : 1);
}

/* Uncertain where roundings could have changed them. */
static num bits_of(const num_rules *rules, atn_type from, num a) {
    float single = (float)a.re;
    int64_t wide;
    int32_t narrow;
    memcpy(&wide, &a.re, sizeof wide);
    memcpy(&narrow, &single, sizeof narrow);
    if (isnan(a.re)) wide = INT64_C(0x7ff8) << 48, narrow = 0x7fc00000;
    num r = {.whole = from == ATN_DP ? wide : narrow};
    return a.error == 0 && num_fits(a.re, rules->unit[from]) ? r : num_uncertain(r);
}

static num dispatch(const num_rules *rules, atn_op op, atn_type type, atn_type from, const num arg[3]) {
    if (atn_type_is_complex(from) || atn_type_is_complex(type)) return num_complex(rules, op, type, arg);
    if (op == ATN_OP_ISNAN || op == ATN_OP_ISFINITE)
        return num_whole(op == ATN_OP_ISNAN ? isnan(arg[0].re) : isfinite(arg[0].re));
    if (op == ATN_OP_BITS) return bits_of(rules, from, arg[0]);
    if (op >= ATN_OP_SQRT && op <= ATN_OP_COPYSIGN) return num_function(rules, op, type, arg);
    return num_real(rules, op, from, arg);
}

num num_operate(const num_rules *rules, atn_op op, atn_type type, atn_type from, const num arg[3]) {
    if (op == ATN_OP_CAST) return num_convert(rules, from, type, arg[0]);
    if (op == ATN_OP_SELECT) {
        num taken = arg[0].whole ? arg[1] : arg[2], other = arg[0].whole ? arg[2] : arg[1];
        return num_is_uncertain(arg[0]) ? num_either(type, taken, other) : taken;
    }
    if (atn_type_is_integer(from)) return num_integer(op, from, arg);
    num r = dispatch(rules, op, type, from, arg);
    for (int32_t k = 0; k < atn_op_get_info(op)->arity; ++k)
        if (num_is_uncertain(arg[k])) return num_uncertain(r); /* of floats: whatever the operation made of it */
    return r;
}
