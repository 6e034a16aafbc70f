/* Accumulators: init joined with every term, in order. The bound of a sum holds for any order: the terms' errors plus
 * n u sum |terms|. ARGMIN and ARGMAX take a term only if it is strictly better, so ties keep the earliest; NaN never
 * wins. */
#include "eval/interp.h"

static const atn_op join_ops[] = {
    [ATN_JOIN_SUM] = ATN_OP_ADD, [ATN_JOIN_PRODUCT] = ATN_OP_MUL, [ATN_JOIN_MIN] = ATN_OP_MIN,
    [ATN_JOIN_MAX] = ATN_OP_MAX, [ATN_JOIN_AND] = ATN_OP_AND,     [ATN_JOIN_OR] = ATN_OP_OR};

static bool is_float(atn_type type) { return !atn_type_is_integer(type); }
static bool is_keyed(const atn_acc *acc) { return acc->join == ATN_JOIN_ARGMIN || acc->join == ATN_JOIN_ARGMAX; }

/* Only what is finite counts toward the scale: what is not decides the sum alone. */
static double finite_size(num a) { return hypot(isfinite(a.re) ? a.re : 0, isfinite(a.im) ? a.im : 0); }

void fold_begin(interp *in, int32_t block, const num *init) {
    for (int32_t k = 0; k < in->graph->blocks[block].n_accs; ++k) {
        double size = finite_size(init[k]);
        in->folds[block][k] = (fold){.value = init[k],
                                     .error = init[k].error,
                                     .scale = size,
                                     .up = fmax(1, size),
                                     .down = size > 0 ? fmin(1, size) : 1};
    }
}

static void add(const num_rules *rules, fold *f, atn_type type, num term) {
    bool before = num_is_finite(f->value), whole = num_is_finite(term);
    f->value.re += term.re;
    f->value.im += term.im;
    f->error += term.error;
    f->scale += finite_size(term);
    if (before && whole && !num_is_finite(f->value)) f->error = INFINITY; /* overflow */
    (void)rules, (void)type;
}

static void multiply(const num_rules *rules, fold *f, atn_type type, num term) {
    num pair[3] = {f->value, term};
    double size = finite_size(term);
    f->value = num_operate(rules, ATN_OP_MUL, type, type, pair);
    f->up *= fmax(1, size);
    if (size > 0) f->down *= fmin(1, size);
}

static void join(const num_rules *rules, const atn_acc *acc, fold *f, num term) {
    num pair[3] = {f->value, term};
    if (acc->join == ATN_JOIN_SUM && is_float(acc->type))
        add(rules, f, acc->type, term);
    else if (acc->join == ATN_JOIN_PRODUCT && is_float(acc->type))
        multiply(rules, f, acc->type, term);
    else
        f->value = num_operate(rules, join_ops[acc->join], acc->type, acc->type, pair);
}

/* The key of a group of followers against its next candidate. */
static void challenge(interp *in, const atn_block *b, int32_t key, fold *folds, const num *terms) {
    const atn_acc *acc = &b->acc[key];
    fold *best = &folds[key];
    num a = best->value, t = terms[key];
    bool max = acc->join == ATN_JOIN_ARGMAX;
    int better = max ? num_compare(ATN_OP_LT, acc->type, a, t) : num_compare(ATN_OP_LT, acc->type, t, a);
    bool wins = is_float(acc->type) ? (max ? a.re < t.re : t.re < a.re) : (max ? a.whole < t.whole : t.whole < a.whole);
    if (better == 0) return;
    best->ambiguous = better < 0;
    if (better < 0) {
        double error = fmax(a.error, t.error);
        if (wins) best->value = t;
        best->value.error = error;
    } else {
        best->value = t;
    }
    for (int32_t k = 0; k < b->n_accs; ++k) {
        if (b->acc[k].key != key || k == key) continue;
        num old = folds[k].value, now = terms[k];
        folds[k].value = better > 0 ? now
                         : wins     ? num_either(b->acc[k].type, now, old)
                                    : num_either(b->acc[k].type, old, now);
    }
    (void)in;
}

void fold_step(interp *in, int32_t block, const num *terms) {
    const atn_block *b = &in->graph->blocks[block];
    fold *folds = in->folds[block];
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *acc = &b->acc[k];
        ++folds[k].count;
        if (interp_is_updated(acc)) {
            num change = {.re = terms[k].re - folds[k].value.re, .im = terms[k].im - folds[k].value.im};
            folds[k].scale += finite_size(change);
            folds[k].value = terms[k];
        } else if (!is_keyed(acc)) {
            join(&in->rules, acc, &folds[k], terms[k]);
        } else if (acc->key == k) {
            challenge(in, b, k, folds, terms);
        }
    }
}

/* Errors of sums and products in any order; joined customs move by roundings of all their changes. */
void fold_end(interp *in, int32_t block) {
    const atn_block *b = &in->graph->blocks[block];
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *acc = &b->acc[k];
        fold *f = &in->folds[block][k];
        if (!is_float(acc->type) || f->count == 0) continue;
        double steps = (double)f->count + 1, unit = in->rules.unit[acc->type], largest = num_largest(acc->type),
               tiny = num_tiny(acc->type);
        double units = steps * unit;
        if (in->rules.run > 0 && acc->type == ATN_SP) {
            units = fmin(steps, (double)in->rules.run + 1) * unit + steps * 0x1p-24;
            tiny = NUM_LEAST_HALF;
        }
        double growth = units * (f->scale + f->error) * (atn_type_is_complex(acc->type) ? 2 : 1);
        switch (acc->join) {
        case ATN_JOIN_SUM:
            f->value.error = f->error + growth + (f->scale > 0 ? steps * tiny : 0);
            if (f->scale > largest || isnan(f->value.error)) f->value.error = INFINITY;
            if (!num_is_finite(f->value) && !isinf(f->value.error) && !atn_type_is_complex(acc->type))
                f->value.error = 0;
            break;
        case ATN_JOIN_PRODUCT:
            if (f->up > largest || f->down < tiny) f->value.error = INFINITY;
            break;
        case ATN_JOIN_CUSTOM:
            if (num_is_finite(f->value)) f->value.error += steps * unit * f->scale;
            break;
        default:
            break;
        }
    }
}
