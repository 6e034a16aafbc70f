/* Arithmetic on reals. To first order: a + b carries e_a + e_b, a * b carries |a| e_b + |b| e_a, a / b carries
 * (e_a + |a/b| e_b) / |b|. An exact result of exact arguments adds nothing, unless the variant is `fast`. */
#include "eval/number.h"

/* What is not finite: certain when errors of the finite arguments cannot make it anything else. */
static num not_finite(num r, atn_op op, const num arg[3], int32_t arity) {
    bool doubt = false, exact = true, source = false, nan = false;
    for (int32_t k = 0; k < arity; ++k) {
        if (num_is_uncertain(arg[k])) doubt = true;
        nan |= isnan(arg[k].re);
        if (!isfinite(arg[k].re))
            source = true;
        else if (arg[k].error > 0)
            exact = false;
    }
    r.error = 0;
    if (doubt) return num_uncertain(r);
    if (nan) return r;
    if (op == ATN_OP_ADD || op == ATN_OP_SUB) return source ? r : num_uncertain(r);
    if (source) { /* infinity times or over something: its sign, or that it is not 0, must be known */
        for (int32_t k = 0; k < arity; ++k)
            if (isfinite(arg[k].re) && arg[k].error > 0 && fabs(arg[k].re) <= 2 * arg[k].error) return num_uncertain(r);
        return r;
    }
    bool by_zero = op == ATN_OP_DIV && arg[1].re == 0;
    return by_zero && exact ? r : num_uncertain(r);
}

static num sum(const num_rules *rules, atn_op op, atn_type type, const num arg[3]) {
    double a = arg[0].re, b = op == ATN_OP_SUB ? -arg[1].re : arg[1].re;
    num r = {.re = a + b, .error = arg[0].error + arg[1].error};
    if (!isfinite(r.re)) return not_finite(r, op, arg, 2);
    double part = r.re - a, lost = (a - (r.re - part)) + (b - part); /* Knuth: exactly a + b - r */
    bool exact = !rules->fast && r.error == 0 && lost == 0 && num_fits(r.re, rules->unit[type]);
    return num_rounded(rules, type, r, exact ? 0 : 1);
}

static num product(const num_rules *rules, atn_type type, const num arg[3]) {
    double a = arg[0].re, b = arg[1].re;
    num r = {.re = a * b};
    if (!isfinite(r.re)) return not_finite(r, ATN_OP_MUL, arg, 2);
    if (!isfinite(a) || !isfinite(b)) return num_uncertain(r);
    r.error = fabs(a) * arg[1].error + fabs(b) * arg[0].error + arg[0].error * arg[1].error;
    bool exact = !rules->fast && r.error == 0 && fma(a, b, -r.re) == 0 && num_fits(r.re, rules->unit[type]);
    r = num_rounded(rules, type, r, exact ? 0 : 1);
    if (r.re == 0 && a != 0 && b != 0) r.error += num_tiny(type);
    return r;
}

static num quotient(const num_rules *rules, atn_type type, const num arg[3]) {
    double a = arg[0].re, b = arg[1].re;
    num r = {.re = a / b};
    if (!isfinite(r.re)) return not_finite(r, ATN_OP_DIV, arg, 2);
    if (isinf(b)) return num_is_uncertain(arg[0]) ? num_uncertain(r) : r;
    double away = fabs(b) - 2 * arg[1].error;
    if (!(away > 0)) return num_uncertain(r);
    r.error = (arg[0].error + fabs(r.re) * arg[1].error) / (away + arg[1].error);
    if (fabs(b) < num_tiny(type) || fabs(b) > 0.25 * num_largest(type))
        return num_uncertain(r);           /* a reciprocal may leave the range */
    return num_rounded(rules, type, r, 5); /* OpenCL allows 2.5 ulp */
}

/* fmin, fmax: a NaN gives the other; else the error of whichever can be the result. */
static num extreme(atn_op op, const num arg[3]) {
    num a = arg[0], b = arg[1];
    if (num_is_uncertain(a) || num_is_uncertain(b)) return num_uncertain(isnan(a.re) ? b : a);
    if (isnan(a.re)) return b;
    if (isnan(b.re)) return a;
    int less = num_compare(ATN_OP_LT, ATN_DP, a, b);
    if (less < 0) {
        num r = (op == ATN_OP_MIN) == (a.re < b.re) ? a : b;
        r.error = fmax(a.error, b.error);
        return r;
    }
    return (op == ATN_OP_MIN) == (less == 1) ? a : b;
}

num num_real(const num_rules *rules, atn_op op, atn_type type, const num arg[3]) {
    num r = arg[0];
    switch (op) {
    case ATN_OP_ADD:
    case ATN_OP_SUB:
        return sum(rules, op, type, arg);
    case ATN_OP_MUL:
        return product(rules, type, arg);
    case ATN_OP_DIV:
        return quotient(rules, type, arg);
    case ATN_OP_NEG:
        return r.re = -r.re, r;
    case ATN_OP_ABS:
        return r.re = fabs(r.re), r;
    case ATN_OP_MIN:
    case ATN_OP_MAX:
        return extreme(op, arg);
    case ATN_OP_FMA: { /* fused or not */
        num terms[3] = {product(rules, type, arg), arg[2]};
        return sum(rules, ATN_OP_ADD, type, terms);
    }
    case ATN_OP_LT:
    case ATN_OP_LE:
    case ATN_OP_EQ:
    case ATN_OP_NE: {
        int known = num_compare(op, type, arg[0], arg[1]);
        double x = arg[0].re, y = arg[1].re;
        num truth = {.whole = op == ATN_OP_LT ? x < y : op == ATN_OP_LE ? x <= y : op == ATN_OP_EQ ? x == y : x != y};
        return known < 0 ? num_uncertain(truth) : truth;
    }
    default:
        return num_uncertain(r);
    }
}
