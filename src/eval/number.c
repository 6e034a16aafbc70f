/* Running errors: what every operation adds. With unit roundoff u a result r carries the errors of its arguments, plus
 * units * u * |r|, plus what underflow takes; a result beyond the type's range is uncertain, since a wider variant may
 * still hold it. */
#include "eval/number.h"

#include <float.h>
#include <string.h>

static const struct {
    double unit, largest, tiny;
} floats[ATN_TYPE_COUNT] = {
    [ATN_HP] = {0x1p-11, 65504, 0x1p-14},
    [ATN_SP] = {0x1p-24, FLT_MAX, FLT_MIN},
    [ATN_DP] = {0x1p-53, DBL_MAX, DBL_MIN},
};

double num_largest(atn_type type) { return floats[atn_type_get_info(type)->part].largest; }
double num_tiny(atn_type type) { return floats[atn_type_get_info(type)->part].tiny; }

num_rules num_rules_of(const atn_eval_options *options) {
    static const atn_eval_options none;
    if (!options) options = &none;
    num_rules rules = {.exp_error = options->exp_error, .exp_slope = options->exp_slope, .fast = options->fast};
    for (int t = 0; t < ATN_TYPE_COUNT; ++t) {
        double own = options->unit[t] > 0 ? options->unit[t] : options->unit[atn_type_get_info((atn_type)t)->part];
        rules.unit[t] = own > 0 ? own : floats[atn_type_get_info((atn_type)t)->part].unit;
    }
    return rules;
}

bool num_fits(double number, double unit) {
    if (!isfinite(number)) return true;
    int exponent;
    double scaled = frexp(number, &exponent) / unit;
    return scaled == trunc(scaled);
}

num num_entered(const num_rules *rules, atn_type type, double re, double im) {
    num a = {.re = re, .im = im};
    double unit = rules->unit[type], size = num_modulus(a);
    if (!num_fits(re, unit) || !num_fits(im, unit)) a.error = unit * size;
    if (isfinite(size) && size > 0 && (fabs(re) < num_tiny(type) || (im != 0 && fabs(im) < num_tiny(type))) &&
        type != ATN_HP)
        a.error += num_tiny(type); /* a device may flush it */
    return a;
}

num num_rounded(const num_rules *rules, atn_type type, num a, double units) {
    /* parts that are not finite were judged by the caller */
    double size = hypot(isfinite(a.re) ? a.re : 0, isfinite(a.im) ? a.im : 0), tiny = num_tiny(type);
    if (size + a.error > num_largest(type)) return num_uncertain(a);
    a.error += units * rules->unit[type] * size;
    bool small = (a.re != 0 && fabs(a.re) < tiny) || (a.im != 0 && fabs(a.im) < tiny);
    if (small) a.error += tiny;
    if (isnan(a.error)) a.error = INFINITY;
    return a;
}

int num_compare(atn_op op, atn_type type, num a, num b) {
    if (num_is_uncertain(a) || num_is_uncertain(b)) return -1;
    if (atn_type_is_integer(type)) {
        int64_t x = a.whole, y = b.whole;
        return op == ATN_OP_LT ? x < y : op == ATN_OP_LE ? x <= y : op == ATN_OP_EQ ? x == y : x != y;
    }
    double x = a.re, y = b.re, doubt = a.error + b.error;
    if (doubt > 0 && isfinite(x) && isfinite(y) && fabs(x - y) <= 2 * doubt) return -1;
    return op == ATN_OP_LT ? x < y : op == ATN_OP_LE ? x <= y : op == ATN_OP_EQ ? x == y : x != y;
}

num num_either(atn_type type, num a, num b) {
    if (num_is_uncertain(a) || num_is_uncertain(b)) return num_uncertain(a);
    if (atn_type_is_integer(type)) return a.whole == b.whole ? a : num_uncertain(a);
    bool same_re = a.re == b.re || (isnan(a.re) && isnan(b.re)), same_im = a.im == b.im || (isnan(a.im) && isnan(b.im));
    if (same_re && same_im) return a.error = fmax(a.error, b.error), a;
    if (!num_is_finite(a) || !num_is_finite(b)) return num_uncertain(a);
    a.error = fmax(a.error, b.error + hypot(a.re - b.re, a.im - b.im));
    return a;
}

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
