/* A value of the oracle and its running error; the arithmetic on it. */
#ifndef ATN_EVAL_NUMBER_H
#define ATN_EVAL_NUMBER_H

#include "eval/eval.h"
#include "graph/type.h"

#include <math.h>

typedef struct num {
    double re, im; /* floating */
    int64_t whole; /* integers and B */
    double error;  /* absolute bound, of the modulus for a complex; integers: 0. INFINITY: uncertain */
} num;

/* What the arithmetic must know of the variant: options with their defaults put in. */
typedef struct num_rules {
    double unit[ATN_TYPE_COUNT];
    double exp_error, exp_slope, element_unit;
    int64_t run; /* above 0: SP in halves, sums added up in single after that many steps */
    bool fast;
} num_rules;
num_rules num_rules_of(const atn_eval_options *options);

static inline bool num_is_uncertain(num a) { return isinf(a.error); }
static inline num num_uncertain(num a) { return a.error = INFINITY, a; }
static inline num num_whole(int64_t whole) { return (num){.whole = whole}; }
static inline double num_modulus(num a) { return a.im == 0 ? fabs(a.re) : hypot(a.re, a.im); }
static inline bool num_is_finite(num a) { return isfinite(a.re) && isfinite(a.im); }

double num_largest(atn_type type); /* finite number of a floating type */
#define NUM_LEAST_HALF 0x1p-24     /* what halves lose of small numbers, where these are not flushed */
double num_tiny(atn_type type);    /* what is below may be flushed to zero, or lose that much */

/* Is a number held exactly in arithmetic of unit roundoff `unit`? */
bool num_fits(double number, double unit);

/* A number that entered as `type`: exact, unless the variant computes in less. */
num num_entered(const num_rules *rules, atn_type type, double re, double im);
/* The same for an element of an array, which may be split into parts: small ones may be flushed to zero. */
num num_element(const num_rules *rules, atn_type type, double re, double im);

/* `a` holds the result of one operation in `type` and the error that its arguments carry over: adds the operation's own
 * rounding (`units` of roundoff), what underflow may do, and the doubt about overflow. */
num num_rounded(const num_rules *rules, atn_type type, num a, double units);

/* One operation; `type` is the result's, `from` that of the first argument (of the second, for SELECT). */
num num_operate(const num_rules *rules, atn_op op, atn_type type, atn_type from, const num arg[3]);

/* By kind of the arguments, in the files of these names. */
num num_integer(atn_op op, atn_type type, const num arg[3]);
num num_real(const num_rules *rules, atn_op op, atn_type type, const num arg[3]);
num num_function(const num_rules *rules, atn_op op, atn_type type, const num arg[3]);
num num_complex(const num_rules *rules, atn_op op, atn_type type, const num arg[3]);
num num_convert(const num_rules *rules, atn_type from, atn_type to, num a);

/* One of two, not known which: a's value with a bound that covers both. */
num num_either(atn_type type, num a, num b);

/* LT, LE, EQ or NE of two reals or integers: 1, 0, or -1 where the errors leave it open. */
int num_compare(atn_op op, atn_type type, num a, num b);

#endif
