/* Rounding errors: what a type can hold, and what every operation adds. With unit roundoff u a result r carries the
 * errors of its arguments, plus units * u * |r|, plus what underflow takes; a result beyond the type's range is
 * uncertain, since a wider variant may still hold it. */
#include "eval/number.h"

#include <float.h>

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
    num_rules rules = {.exp_error = options->exp_error,
                       .exp_slope = options->exp_slope,
                       .element_unit = options->element_unit,
                       .run = options->run,
                       .fast = options->fast};
    for (int t = 0; t < ATN_TYPE_COUNT; ++t) {
        double own = options->unit[t] > 0 ? options->unit[t] : options->unit[atn_type_get_info((atn_type)t)->part];
        rules.unit[t] = own > 0 ? own : floats[atn_type_get_info((atn_type)t)->part].unit;
    }
    if (rules.run > 0) rules.unit[ATN_SP] = floats[ATN_HP].unit;
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

num num_element(const num_rules *rules, atn_type type, double re, double im) {
    num a = num_entered(rules, type, re, im);
    if (rules->element_unit > 0 && a.re != 0 && isfinite(a.re))
        a.error += rules->element_unit * fabs(a.re) + num_tiny(ATN_SP);
    return a;
}

num num_rounded(const num_rules *rules, atn_type type, num a, double units) {
    /* parts that are not finite were judged by the caller */
    double size = hypot(isfinite(a.re) ? a.re : 0, isfinite(a.im) ? a.im : 0), tiny = num_tiny(type);
    if (size + a.error > num_largest(type)) return num_uncertain(a);
    a.error += units * rules->unit[type] * size;
    bool small = (a.re != 0 && fabs(a.re) < tiny) || (a.im != 0 && fabs(a.im) < tiny);
    if (small) a.error += tiny;
    if (rules->run > 0 && type == ATN_SP && a.re != 0 && fabs(a.re) < num_tiny(ATN_HP)) a.error += NUM_LEAST_HALF;
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
