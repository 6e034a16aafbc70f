/* Numbers of a program that are known before it runs: literals, sizes, the caller's scalars, arithmetic on them. */
#include "plan/plan.h"

#include "graph/small.h"
#include "graph/type.h"

#include <math.h>
#include <string.h>

typedef struct question {
    atn_plan *plan;
    const atn_plan_frame *frame;
    bool deciding;
    atn_status status;
} question;

static double ask(question *q, const atn_syntax *tree);

static int32_t name_of(const question *q, const char *name) {
    const atn_routine *routine = q->frame->routine;
    for (int32_t k = 0; k < routine->n; ++k)
        if (!strcmp(routine->names[k].name, name)) return k;
    return -1;
}

static double size_of(question *q, const atn_syntax *tree) {
    int32_t name = tree->a ? name_of(q, tree->a->name) : -1, array = name >= 0 ? q->frame->array[name] : -1;
    int32_t axis = !strcmp(tree->name, "rows") ? 1 : !strcmp(tree->name, "planes") ? 2 : 0;
    const atn_datum_use *use = name >= 0 ? &q->frame->routine->names[name] : NULL;
    if (array < 0 && use && use->size[0]) /* declared, and not written yet */
        return ask(q, use->size[use->rank - 1 - axis]);
    if (array < 0 && use && q->frame->size[name][0] >= 0) return (double)q->frame->size[name][axis];
    if (array < 0) {
        q->status = atn_fail(q->plan->ctx, ATN_ERR_INPUT, "%s: the size of '%s' is asked for before it has one",
                             q->frame->routine->name, tree->a ? tree->a->name : "");
        return 0;
    }
    return (double)q->plan->arrays[array].size[axis];
}

static double scalar_of(question *q, int32_t number) {
    atn_plan_scalar *scalar = &q->plan->scalars[number];
    if (q->deciding) scalar->decides = true;
    if (!scalar->tree) return scalar->value[0];
    question inner = *q;
    inner.frame = scalar->frame;
    double value = ask(&inner, scalar->tree);
    q->status = inner.status;
    return value;
}

/* Of an integer type, as kernels have it. */
static bool is_integer(const question *q, const atn_syntax *tree) {
    switch (tree->kind) {
    case ATN_SYNTAX_NAME: {
        int32_t name = name_of(q, tree->name);
        return name >= 0 && atn_type_is_integer(q->frame->routine->names[name].type);
    }
    case ATN_SYNTAX_UNARY:
    case ATN_SYNTAX_POWER:
        return is_integer(q, tree->a);
    case ATN_SYNTAX_BINARY:
        return is_integer(q, tree->a) && is_integer(q, tree->b);
    case ATN_SYNTAX_CHOICE:
        return is_integer(q, tree->b) && is_integer(q, tree->c);
    default:
        return tree->kind != ATN_SYNTAX_NUMBER && !(tree->kind == ATN_SYNTAX_CALL && atn_known_function(tree->name));
    }
}

static double binary(question *q, const atn_syntax *tree, double a, double b) {
    switch (tree->op) {
    case ATN_OP_ADD:
        return a + b;
    case ATN_OP_SUB:
        return a - b;
    case ATN_OP_MUL:
        return a * b;
    case ATN_OP_DIV: /* where a scalar is real, it is written 1.0 / n */
        return b != 0 && is_integer(q, tree) ? trunc(a / b) : a / b;
    case ATN_OP_MOD:
        return b != 0 ? fmod(a, b) : 0;
    case ATN_OP_FLOORMOD:
        return b != 0 ? a - b * floor(a / b) : 0;
    case ATN_OP_LT:
    case ATN_OP_LE:
    case ATN_OP_EQ:
    case ATN_OP_NE:
        return atn_op_holds(tree->op, a < b, a == b);
    case ATN_OP_AND:
        return a != 0 && b != 0;
    case ATN_OP_OR:
        return a != 0 || b != 0;
    case ATN_OP_SHL:
        return a * exp2(b);
    case ATN_OP_SHR:
        return floor(a / exp2(b));
    default:
        q->status = atn_fail(q->plan->ctx, ATN_ERR_UNSUPPORTED, "%s: '%s' is not computed before the run",
                             q->frame->routine->name, atn_op_get_info(tree->op)->name);
        return 0;
    }
}

static double ask(question *q, const atn_syntax *tree) {
    if (q->status != ATN_OK) return 0;
    switch (tree->kind) {
    case ATN_SYNTAX_INTEGER:
        return (double)tree->integer;
    case ATN_SYNTAX_NUMBER:
        return tree->number;
    case ATN_SYNTAX_NAME: {
        int32_t name = name_of(q, tree->name);
        return name < 0 || q->frame->scalar[name] < 0 ? 0 : scalar_of(q, q->frame->scalar[name]);
    }
    case ATN_SYNTAX_CALL: {
        double (*function)(double) = atn_known_function(tree->name);
        return function ? function(ask(q, tree->a)) : size_of(q, tree);
    }
    case ATN_SYNTAX_UNARY: {
        double a = ask(q, tree->a);
        return tree->op == ATN_OP_NEG ? -a : tree->op == ATN_OP_NOT ? a == 0 : a;
    }
    case ATN_SYNTAX_BINARY:
        return binary(q, tree, ask(q, tree->a), ask(q, tree->b));
    case ATN_SYNTAX_CHOICE:
        return ask(q, tree->a) != 0 ? ask(q, tree->b) : ask(q, tree->c);
    case ATN_SYNTAX_POWER:
        return pow(ask(q, tree->a), (double)tree->integer);
    default:
        return 0;
    }
}

atn_status atn_plan_known(atn_plan *plan, const atn_plan_frame *frame, const atn_syntax *tree, bool deciding,
                          double *out) {
    question q = {.plan = plan, .frame = frame, .deciding = deciding};
    *out = ask(&q, tree);
    return q.status;
}

atn_status atn_plan_decides(atn_plan *plan, int32_t scalar) {
    question q = {.plan = plan, .frame = &plan->main, .deciding = true};
    scalar_of(&q, scalar);
    return q.status;
}

atn_status atn_plan_give(atn_plan *plan, const double (*value)[2]) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < plan->n_scalars; ++k)
        if (plan->scalars[k].head >= 0) memcpy(plan->scalars[k].value, value[plan->scalars[k].head], sizeof *value);
    for (int32_t k = 0; k < plan->n_scalars && status == ATN_OK; ++k) {
        atn_plan_scalar *scalar = &plan->scalars[k];
        if (scalar->tree) status = atn_plan_known(plan, scalar->frame, scalar->tree, false, &scalar->value[0]);
    }
    return status;
}
