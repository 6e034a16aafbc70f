/* Operations with complex arguments or results, by the textbook formulas that the generator prints too. Errors bound
 * the modulus. Products that are not finite are uncertain: which parts become NaN depends on the order of operations.
 */
#include "eval/number.h"

static num product(const num_rules *rules, atn_type type, num a, num b) {
    num r = {.re = a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re};
    if (!num_is_finite(r)) return num_uncertain(r);
    double x = num_modulus(a), y = num_modulus(b);
    r.error = x * b.error + y * a.error + a.error * b.error + 4 * rules->unit[type] * x * y;
    if (x * y > num_largest(type)) return num_uncertain(r);
    if (x * y > 0 && x * y < num_tiny(type) / rules->unit[type]) r.error += 4 * num_tiny(type);
    return num_rounded(rules, type, r, 0);
}

static num quotient(const num_rules *rules, atn_type type, num a, num b) {
    double norm = b.re * b.re + b.im * b.im;
    num r = {.re = (a.re * b.re + a.im * b.im) / norm, .im = (a.im * b.re - a.re * b.im) / norm};
    double x = num_modulus(a), y = num_modulus(b), tiny = num_tiny(type) / rules->unit[type];
    bool in_range =
        norm < num_largest(type) / 4 && norm > tiny && x * y < num_largest(type) / 4 && (x == 0 || x * y > tiny);
    if (!num_is_finite(r) || !in_range || !(y > 2 * b.error)) return num_uncertain(r);
    r.error = (a.error + num_modulus(r) * b.error) / (y - b.error) + 16 * rules->unit[type] * x / y;
    return num_rounded(rules, type, r, 0);
}

static num exponential(const num_rules *rules, atn_type type, num a) {
    double size = exp(a.re);
    num r = {.re = size * cos(a.im), .im = size * sin(a.im)};
    if (!num_is_finite(r) || num_is_uncertain(a)) return num_uncertain(r);
    double own = fmax(rules->exp_error, 6 * rules->unit[type]) + rules->exp_slope * fabs(a.re);
    r.error = size * (expm1(a.error) + own);
    return num_rounded(rules, type, r, 12);
}

static num equal(atn_op op, num a, num b) {
    bool same = a.re == b.re && a.im == b.im;
    num truth = {.whole = same == (op == ATN_OP_EQ)};
    double doubt = a.error + b.error;
    bool open = doubt > 0 && hypot(a.re - b.re, a.im - b.im) <= 2 * doubt;
    return num_is_uncertain(a) || num_is_uncertain(b) || open ? num_uncertain(truth) : truth;
}

/* Parts that are not finite stay certain: they go through sums as they are. */
static num sum(const num_rules *rules, atn_op op, atn_type type, num a, num b) {
    double sign = op == ATN_OP_SUB ? -1 : 1;
    num r = {.re = a.re + sign * b.re, .im = a.im + sign * b.im, .error = a.error + b.error};
    bool overflow = num_is_finite(a) && num_is_finite(b) && !num_is_finite(r);
    if (overflow) return num_uncertain(r);
    bool exact = !rules->fast && r.error == 0 && (num_modulus(b) == 0 || num_modulus(a) == 0);
    return num_rounded(rules, type, r, exact ? 0 : 1);
}

num num_complex(const num_rules *rules, atn_op op, atn_type type, const num arg[3]) {
    num a = arg[0], b = arg[1], r;
    switch (op) {
    case ATN_OP_ADD:
    case ATN_OP_SUB:
        return sum(rules, op, type, a, b);
    case ATN_OP_MUL:
        return product(rules, type, a, b);
    case ATN_OP_DIV:
        return quotient(rules, type, a, b);
    case ATN_OP_NEG:
        return a.re = -a.re, a.im = -a.im, a;
    case ATN_OP_CONJ:
        return a.im = -a.im, a;
    case ATN_OP_EQ:
    case ATN_OP_NE:
        return equal(op, a, b);
    case ATN_OP_EXP:
        return exponential(rules, type, a);
    case ATN_OP_COMPLEX:
        return (num){.re = a.re, .im = b.re, .error = hypot(a.error, b.error)};
    case ATN_OP_REAL:
        return (num){.re = a.re, .error = a.error};
    case ATN_OP_IMAG:
        return (num){.re = a.im, .error = a.error};
    case ATN_OP_ABS:
        r = (num){.re = hypot(a.re, a.im), .error = a.error};
        return isfinite(r.re) ? num_rounded(rules, type, r, 2 * 4) : num_is_finite(a) ? num_uncertain(r) : r;
    default:
        return num_uncertain(a);
    }
}
