/* Functions of reals. A monotonic f carries max |f(a ± e) - f(a)|, others their derivative's bound; the function's own
 * error is what OpenCL 1.2 (section 7.4) allows, the loosest of our backends. */
#include "eval/number.h"

typedef double (*plain)(double);

static double rsqrt_of(double x) { return 1 / sqrt(x); }

typedef enum course { MONOTONIC, STEP, WAVE, TANGENT } course;

/* ulps of error (1 ulp: 2 units of roundoff), how the argument's error goes on, where the function is defined */
static const struct {
    plain f;
    double ulps;
    course how;
    double low, high;
} rows[ATN_OP_COUNT] = {
    [ATN_OP_SQRT] = {sqrt, 3, MONOTONIC, 0, INFINITY},
    [ATN_OP_RSQRT] = {rsqrt_of, 4, MONOTONIC, 0, INFINITY},
    [ATN_OP_CBRT] = {cbrt, 2, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_EXP] = {exp, 3, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_EXP2] = {exp2, 3, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_EXPM1] = {expm1, 3, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_LOG] = {log, 3, MONOTONIC, 0, INFINITY},
    [ATN_OP_LOG2] = {log2, 3, MONOTONIC, 0, INFINITY},
    [ATN_OP_LOG10] = {log10, 3, MONOTONIC, 0, INFINITY},
    [ATN_OP_LOG1P] = {log1p, 2, MONOTONIC, -1, INFINITY},
    [ATN_OP_SIN] = {sin, 4, WAVE, -INFINITY, INFINITY},
    [ATN_OP_COS] = {cos, 4, WAVE, -INFINITY, INFINITY},
    [ATN_OP_TAN] = {tan, 5, TANGENT, -INFINITY, INFINITY},
    [ATN_OP_ASIN] = {asin, 4, MONOTONIC, -1, 1},
    [ATN_OP_ACOS] = {acos, 4, MONOTONIC, -1, 1},
    [ATN_OP_ATAN] = {atan, 5, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_SINH] = {sinh, 4, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_COSH] = {cosh, 4, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_TANH] = {tanh, 5, MONOTONIC, -INFINITY, INFINITY},
    [ATN_OP_FLOOR] = {floor, 0, STEP, -INFINITY, INFINITY},
    [ATN_OP_CEIL] = {ceil, 0, STEP, -INFINITY, INFINITY},
    [ATN_OP_ROUND] = {round, 0, STEP, -INFINITY, INFINITY},
    [ATN_OP_RINT] = {rint, 0, STEP, -INFINITY, INFINITY},
    [ATN_OP_TRUNC] = {trunc, 0, STEP, -INFINITY, INFINITY},
};

static double carried(atn_op op, num a, double r) {
    double e = a.error;
    if (e == 0) return 0;
    if (rows[op].how == WAVE) return fmin(e, 2);
    double low = a.re - 2 * e, high = a.re + 2 * e;
    if (low < rows[op].low || high > rows[op].high) return INFINITY; /* may fall where it is not defined */
    if (rows[op].how == TANGENT && floor(low / M_PI + 0.5) != floor(high / M_PI + 0.5)) return INFINITY;
    if (rows[op].how != STEP) low = a.re - e, high = a.re + e;
    double off = fmax(fabs(rows[op].f(low) - r), fabs(rows[op].f(high) - r));
    return isnan(off) ? INFINITY : off;
}

static double own_error(const num_rules *rules, atn_op op, atn_type type, num a, num r) {
    double unit = rules->unit[type];
    bool exponential = op == ATN_OP_EXP || op == ATN_OP_EXP2 || op == ATN_OP_EXPM1;
    double own = exponential && rules->exp_error > 0 ? rules->exp_error : 2 * rows[op].ulps * unit;
    if (exponential) own += rules->exp_slope * fabs(a.re);
    if (op == ATN_OP_EXPM1 && (rules->exp_error > 0 || rules->exp_slope > 0))
        return own * (1 + fabs(r.re)); /* exp - 1 */
    return own * fabs(r.re);
}

static num unary(const num_rules *rules, atn_op op, atn_type type, num a) {
    num r = {.re = rows[op].f(a.re)};
    if (num_is_uncertain(a))
        return rows[op].how == WAVE && isfinite(a.re) ? (num){.re = r.re, .error = INFINITY} : num_uncertain(r);
    if (!isfinite(r.re)) {
        bool sure = a.error == 0 && (!isfinite(a.re) || isnan(r.re) || a.re == 0 || a.re == rows[op].low);
        return isnan(a.re) || sure ? r : num_uncertain(r);
    }
    if (!isfinite(a.re)) return r; /* exp(-inf), atan(inf) */
    r.error = carried(op, a, r.re);
    if (isinf(r.error)) return r;
    r.error += own_error(rules, op, type, a, r);
    return num_rounded(rules, type, r, 0);
}

/* Off the corners of the box that the errors span; x > 0. */
static num power(const num_rules *rules, atn_type type, num x, num y) {
    num r = {.re = pow(x.re, y.re)};
    if (num_is_uncertain(x) || num_is_uncertain(y)) return num_uncertain(r);
    bool exact = x.error == 0 && y.error == 0;
    if (!isfinite(r.re))
        return isnan(x.re) || isnan(y.re) || (exact && (isnan(r.re) || x.re == 0 || isinf(x.re) || isinf(y.re)))
                   ? r
                   : num_uncertain(r);
    if (!exact && !(x.re - 2 * x.error > 0)) return num_uncertain(r);
    if (!isfinite(x.re) || !isfinite(y.re) || isnan(x.re) || isnan(y.re)) return r;
    for (int corner = 0; corner < 4 && !exact; ++corner) {
        double a = x.re + (corner & 1 ? x.error : -x.error), b = y.re + (corner & 2 ? y.error : -y.error);
        r.error = fmax(r.error, fabs(pow(a, b) - r.re));
    }
    return num_rounded(rules, type, r, 2 * 16);
}

static num angle(const num_rules *rules, atn_type type, num y, num x) {
    num r = {.re = atan2(y.re, x.re)};
    if (num_is_uncertain(x) || num_is_uncertain(y)) return num_uncertain(r);
    if (isnan(r.re)) return r;
    double e = x.error + y.error, away = hypot(x.re, y.re);
    if (e > 0 && isfinite(away)) {
        if (away <= 4 * e || (x.re < 0 && fabs(y.re) <= 2 * y.error)) return num_uncertain(r);
        r.error = 1.5 * e / away;
    }
    return num_rounded(rules, type, r, 2 * 6);
}

static num remainder_of(const num_rules *rules, atn_type type, num a, num b) {
    num r = {.re = fmod(a.re, b.re)};
    if (num_is_uncertain(a) || num_is_uncertain(b)) return num_uncertain(r);
    if (isnan(a.re) || isnan(b.re) || (a.error == 0 && b.error == 0 && !rules->fast)) return r;
    if (!isfinite(r.re) || !isfinite(b.re)) return num_uncertain(r);
    r.error = a.error + fabs(trunc(a.re / b.re)) * b.error + 2 * rules->unit[type] * fabs(a.re) * rules->fast;
    bool jumps = fabs(r.re) <= 2 * r.error || fabs(b.re) - fabs(r.re) <= 2 * r.error;
    return jumps ? num_uncertain(r) : num_rounded(rules, type, r, 0);
}

num num_function(const num_rules *rules, atn_op op, atn_type type, const num arg[3]) {
    num a = arg[0], b = arg[1], r;
    switch (op) {
    case ATN_OP_POW:
        return power(rules, type, a, b);
    case ATN_OP_ATAN2:
        return angle(rules, type, a, b);
    case ATN_OP_FMOD:
        return remainder_of(rules, type, a, b);
    case ATN_OP_HYPOT:
        r = (num){.re = hypot(a.re, b.re), .error = a.error + b.error};
        return isfinite(r.re) || num_is_uncertain(r) ? num_rounded(rules, type, r, 2 * 4)
                                                     : (r.error = isfinite(a.re) && isfinite(b.re) ? INFINITY : 0, r);
    case ATN_OP_COPYSIGN:
        r = (num){.re = copysign(a.re, b.re), .error = a.error};
        return isnan(b.re) || num_is_uncertain(b) || (b.error > 0 && fabs(b.re) <= 2 * b.error) ? num_uncertain(r) : r;
    default:
        return unary(rules, op, type, a);
    }
}
