/* Expressions as text. Scalars are printed in the same way in all dialects; vectors are those of OpenCL, or of the
 * compiler's vector extension, where true is a lane of all ones. */
#include "render/printer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ADD(...) atn_text_printf(r->out, __VA_ARGS__)

bool print_by_extension(const printer *r) { return r->d->vectors == ATN_VECTORS_EXTENSION; }
void print_convert(printer *r, int which, const char *base, int32_t width) { ADD(r->d->convert[which], base, width); }

bool print_atomic_partials(const printer *r) { return r->d->atomic_partials && r->p->scratch_counter; }

const char *print_type(int32_t type) {
    static const char *const NAMES[] = {
        [ATN_B] = "int",     [ATN_U8] = "uchar",    [ATN_U16] = "ushort", [ATN_INT32] = "int",
        [ATN_INDEX] = "idx", [ATN_HP] = "atn_half", [ATN_SP] = "float",   [ATN_DP] = "double",
        [ATN_SP2] = "float", [ATN_DP2] = "double",  [IR_ADDRESS] = "adr"};
    return NAMES[type];
}

const char *print_storage(atn_type type) { return type == ATN_B ? "uchar" : print_type((int32_t)type); }

const char *print_vector_base(int32_t type, int32_t mask_bytes) {
    static const char *const MASKS[] = {[1] = "char", [2] = "short", [4] = "int", [8] = "long"};
    if (type == ATN_B) return MASKS[mask_bytes];
    if (type == ATN_HP) return "half";
    return type == ATN_INDEX || type == IR_ADDRESS ? "long" : print_type(type);
}

void print_vector_type(printer *r, int32_t type, int32_t width) {
    if (width == 1)
        ADD("%s", print_type(type));
    else
        ADD("%s%d", print_vector_base(type, 4), width);
}

static int32_t type_bytes(int32_t type) { return type == IR_ADDRESS ? 8 : (int32_t)atn_type_bytes((atn_type)type); }

int32_t print_mask_bytes(const printer *r, ir_ref ref) {
    const ir_node *n = &r->p->nodes[ref];
    if (n->kind == IR_LOAD || n->kind == IR_TILE) return 1;
    if (n->kind != IR_OPERATION) return 4;
    switch (n->op) {
    case ATN_OP_LT:
    case ATN_OP_LE:
    case ATN_OP_EQ:
    case ATN_OP_NE:
    case ATN_OP_ISNAN:
    case ATN_OP_ISFINITE:
    case ATN_OP_CAST:
        return r->p->nodes[n->arg[0]].type == ATN_B ? print_mask_bytes(r, n->arg[0])
                                                    : type_bytes(r->p->nodes[n->arg[0]].type);
    case ATN_OP_AND:
    case ATN_OP_OR: {
        int32_t a = print_mask_bytes(r, n->arg[0]), b = print_mask_bytes(r, n->arg[1]);
        return a > b ? a : b;
    }
    case ATN_OP_NOT:
        return print_mask_bytes(r, n->arg[0]);
    default:
        return 4;
    }
}

/* A mask vector with lanes of `bytes`; variables have 4. */
static void print_mask(printer *r, ir_ref ref, int32_t bytes) {
    const ir_node *n = &r->p->nodes[ref];
    int32_t own = print_mask_bytes(r, ref);
    if (own != bytes) print_convert(r, 0, print_vector_base(ATN_B, bytes), n->width);
    print_expression(r, ref);
    if (own != bytes) print_convert(r, 1, print_vector_base(ATN_B, bytes), n->width);
}

static void print_number(printer *r, double value, int32_t type) {
    bool twice = type == ATN_DP;
    if (type == ATN_HP) ADD("(atn_half)");
    if (isnan(value))
        ADD("%s", r->d->nan[twice]);
    else if (isinf(value))
        ADD("%s%s", value < 0 ? "-" : "", r->d->infinity[twice]);
    else {
        char text[40];
        snprintf(text, sizeof text, twice ? "%.17g" : "%.9g", value);
        bool marked = strpbrk(text, ".e") != NULL;
        ADD("%s%s%s%s%s", value < 0 ? "(" : "", text, marked ? "" : ".0", twice ? "" : "f", value < 0 ? ")" : "");
    }
}

static void print_integer(printer *r, int64_t value, int32_t type) {
    bool large = value > INT32_MAX || value <= INT32_MIN;
    if (type == ATN_INDEX) ADD("(idx)");
    if (type == ATN_INT32 && value == INT32_MIN)
        ADD("(-2147483647 - 1)");
    else if (value == INT64_MIN)
        ADD("(-9223372036854775807%s - 1)", r->d->long_suffix);
    else
        ADD(value < 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s", value, large ? r->d->long_suffix : "");
}

static void print_list(printer *r, const ir_node *n) {
    for (int k = 0; k < 3 && n->arg[k] >= 0; ++k) {
        if (k) ADD(", ");
        print_expression(r, n->arg[k]);
    }
}

static void infix(printer *r, const ir_node *n, const char *sign) {
    ADD("(");
    print_expression(r, n->arg[0]);
    ADD(" %s ", sign);
    print_expression(r, n->arg[1]);
    ADD(")");
}

bool print_is_integer(int32_t type) { return type != ATN_SP && type != ATN_DP && type != ATN_HP; }

/* ---- operations ---- */

/* A function by its C name; separate names for doubles and singles if the dialect requires it, lane by lane for C's
 * vectors. */
static void function(printer *r, const ir_node *n, const char *name) {
    int32_t type = r->p->nodes[n->arg[0]].type;
    const char *suffix = r->d->typed_functions && type == ATN_SP ? "f" : "";
    bool whole = n->op == ATN_OP_FMA || n->op == ATN_OP_RINT || n->op == ATN_OP_FLOOR || n->op == ATN_OP_ABS ||
                 n->op == ATN_OP_COPYSIGN; /* lane by lane they would not be vectorised */
    if (n->width > 1 && print_by_extension(r) && whole) {
        ADD("atn_%s_%s%d(", name, print_vector_base(n->type, 4), n->width);
    } else if (n->width > 1 && print_by_extension(r)) {
        int arity = n->arg[2] >= 0 ? 3 : n->arg[1] >= 0 ? 2 : 1;
        ADD("atn_map%d(%s%d, %d, %s%s, ", arity, print_vector_base(n->type, 4), n->width, n->width, name, suffix);
    } else {
        ADD("%s%s(", name, suffix);
    }
    print_list(r, n);
    ADD(")");
}

static void select_value(printer *r, const ir_node *n) {
    if (n->width == 1 || r->p->nodes[n->arg[0]].width == 1) {
        ADD("(");
        print_expression(r, n->arg[0]);
        ADD(" ? ");
        print_expression(r, n->arg[1]);
        ADD(" : ");
        print_expression(r, n->arg[2]);
        ADD(")");
        return;
    }
    int32_t bytes = n->type == ATN_B ? 4 : type_bytes(n->type);
    if (print_by_extension(r)) {
        ADD("atn_select_%s%d(", print_vector_base(n->type, 4), n->width);
        print_mask(r, n->arg[0], bytes);
        for (int k = 1; k < 3; ++k) {
            ADD(", ");
            if (n->type == ATN_B)
                print_mask(r, n->arg[k], 4);
            else
                print_expression(r, n->arg[k]);
        }
        ADD(")");
        return;
    }
    ADD("select(");
    for (int k = 2; k > 0; --k) {
        if (n->type == ATN_B)
            print_mask(r, n->arg[k], 4);
        else
            print_expression(r, n->arg[k]);
        ADD(", ");
    }
    print_mask(r, n->arg[0], bytes);
    ADD(")");
}

/* A boolean expression of comparisons, 0 or 1, that reads nothing from memory. */
static bool is_plain_truth(const printer *r, ir_ref ref) {
    const ir_node *n = &r->p->nodes[ref];
    if (n->kind != IR_OPERATION) return n->kind == IR_VARIABLE || n->kind == IR_INTEGER || n->kind == IR_NUMBER;
    for (int k = 0; k < 3; ++k)
        if (n->arg[k] >= 0 && !is_plain_truth(r, n->arg[k])) return false;
    return true;
}

static bool is_comparison(const printer *r, ir_ref ref) {
    const ir_node *n = &r->p->nodes[ref];
    if (n->kind != IR_OPERATION) return false;
    if (n->op == ATN_OP_AND || n->op == ATN_OP_OR) return is_comparison(r, n->arg[0]) && is_comparison(r, n->arg[1]);
    return n->op == ATN_OP_LT || n->op == ATN_OP_LE || n->op == ATN_OP_EQ || n->op == ATN_OP_NE;
}

/* On GPUs both sides are evaluated: a branch costs more than a comparison. */
static void logic(printer *r, const ir_node *n, const char *scalar, const char *vector) {
    bool both = r->d->both_sides && is_comparison(r, n->arg[0]) && is_comparison(r, n->arg[1]) &&
                is_plain_truth(r, n->arg[0]) && is_plain_truth(r, n->arg[1]);
    if (n->width == 1) {
        infix(r, n, both ? vector : scalar);
        return;
    }
    int32_t a = print_mask_bytes(r, n->arg[0]), b = print_mask_bytes(r, n->arg[1]), bytes = a > b ? a : b;
    ADD("(");
    print_mask(r, n->arg[0], bytes);
    ADD(" %s ", vector);
    print_mask(r, n->arg[1], bytes);
    ADD(")");
}

/* Integer division and the like use safe helpers, except for generated addresses, which divide by constants. */
static void divide(printer *r, const ir_node *n) {
    bool mod = n->op == ATN_OP_MOD;
    if (n->type == IR_ADDRESS || !print_is_integer(n->type)) {
        if (mod && !print_is_integer(n->type))
            function(r, n, "fmod");
        else
            infix(r, n, mod ? "%" : "/");
        return;
    }
    const char *base = n->type == ATN_INDEX ? "idx" : "int";
    if (n->width > 1) {
        ADD("atn_%s_%s%d(", mod ? "mod" : "div", print_vector_base(n->type, 4), n->width);
        print_list(r, n);
        ADD(")");
        return;
    }
    if (n->type == ATN_U8 || n->type == ATN_U16) ADD("(%s)", print_type(n->type));
    ADD("%s_%s(", base, mod ? "mod" : "div");
    print_list(r, n);
    ADD(")");
}

static void least_or_most(printer *r, const ir_node *n) {
    bool least = n->op == ATN_OP_MIN;
    if (n->width > 1 && print_by_extension(r)) {
        ADD("atn_%s_%s%d(", least ? "min" : "max", print_vector_base(n->type, 4), n->width);
    } else if (n->width > 1) {
        ADD("%s(", print_is_integer(n->type) ? (least ? "min" : "max") : (least ? "fmin" : "fmax"));
    } else {
        const char *kind = n->type == ATN_SP       ? "float"
                           : n->type == ATN_DP     ? "double"
                           : n->type == ATN_HP     ? "half"
                           : n->type == ATN_INDEX  ? "idx"
                           : n->type == IR_ADDRESS ? "adr"
                                                   : "int";
        ADD("atn_%s_%s(", least ? "min" : "max", kind);
    }
    print_list(r, n);
    ADD(")");
}

/* exp or exp2. Lowering generates native exponentials from exp2. */
static void exponential(printer *r, const ir_node *n) {
    const atn_variant *v = &r->p->variant;
    bool twos = n->op == ATN_OP_EXP2,
         polynomial = v->exp == ATN_EXP_POLYNOMIAL || !r->d->native_exp[twos] || n->id == 1;
    if (n->type == ATN_HP) {
        ADD("atn_exp2_half%d(", n->width); /* lowering generates no other exponential of halves */
        print_list(r, n);
        ADD(")");
        return;
    }
    if (n->type != ATN_SP || v->exp == ATN_EXP_LIBRARY) {
        function(r, n, atn_op_get_info(n->op)->name);
        return;
    }
    if (polynomial)
        ADD(twos ? "atn_exp2_%d(" : "atn_exp%d(", n->width);
    else if (twos && n->width == 1)
        ADD("atn_native_exp2(");
    else
        ADD("%s", r->d->native_exp[twos]);
    print_list(r, n);
    ADD(")");
}

/* Operations that may overflow wrap, as the language specifies: unsigned, by a helper. */
static void wrapping(printer *r, const ir_node *n) {
    static const char *const NAMES[ATN_OP_COUNT] = {
        [ATN_OP_ADD] = "add", [ATN_OP_SUB] = "sub", [ATN_OP_MUL] = "mul", [ATN_OP_NEG] = "neg", [ATN_OP_SHL] = "shl"};
    if (n->width > 1)
        ADD("atn_%s_%s%d(", NAMES[n->op], print_vector_base(n->type, 4), n->width);
    else
        ADD("%s_%s(", n->type == ATN_INDEX ? "idx" : "int", NAMES[n->op]);
    print_list(r, n);
    ADD(")");
}

static void arithmetic(printer *r, const ir_node *n, const char *sign) {
    bool narrow = n->width == 1 && (n->type == ATN_U8 || n->type == ATN_U16); /* C computes them in int */
    if (narrow) ADD("(%s)", print_type(n->type));
    infix(r, n, sign);
}

typedef struct operation_text {
    const char *sign;     /* infix */
    const char *function; /* by name */
} operation_text;

static const operation_text TEXTS[ATN_OP_COUNT] = {
    [ATN_OP_ADD] = {"+", NULL},
    [ATN_OP_SUB] = {"-", NULL},
    [ATN_OP_MUL] = {"*", NULL},
    [ATN_OP_BITAND] = {"&", NULL},
    [ATN_OP_BITOR] = {"|", NULL},
    [ATN_OP_BITXOR] = {"^", NULL},
    [ATN_OP_LT] = {"<", NULL},
    [ATN_OP_LE] = {"<=", NULL},
    [ATN_OP_EQ] = {"==", NULL},
    [ATN_OP_NE] = {"!=", NULL},
    [ATN_OP_SQRT] = {NULL, "sqrt"},
    [ATN_OP_CBRT] = {NULL, "cbrt"},
    [ATN_OP_EXP2] = {NULL, "exp2"},
    [ATN_OP_EXPM1] = {NULL, "expm1"},
    [ATN_OP_LOG] = {NULL, "log"},
    [ATN_OP_LOG2] = {NULL, "log2"},
    [ATN_OP_LOG10] = {NULL, "log10"},
    [ATN_OP_LOG1P] = {NULL, "log1p"},
    [ATN_OP_SIN] = {NULL, "sin"},
    [ATN_OP_COS] = {NULL, "cos"},
    [ATN_OP_TAN] = {NULL, "tan"},
    [ATN_OP_ASIN] = {NULL, "asin"},
    [ATN_OP_ACOS] = {NULL, "acos"},
    [ATN_OP_ATAN] = {NULL, "atan"},
    [ATN_OP_SINH] = {NULL, "sinh"},
    [ATN_OP_COSH] = {NULL, "cosh"},
    [ATN_OP_TANH] = {NULL, "tanh"},
    [ATN_OP_FLOOR] = {NULL, "floor"},
    [ATN_OP_CEIL] = {NULL, "ceil"},
    [ATN_OP_ROUND] = {NULL, "round"},
    [ATN_OP_RINT] = {NULL, "rint"},
    [ATN_OP_TRUNC] = {NULL, "trunc"},
    [ATN_OP_POW] = {NULL, "pow"},
    [ATN_OP_ATAN2] = {NULL, "atan2"},
    [ATN_OP_HYPOT] = {NULL, "hypot"},
    [ATN_OP_FMOD] = {NULL, "fmod"},
    [ATN_OP_COPYSIGN] = {NULL, "copysign"},
    [ATN_OP_FMA] = {NULL, "fma"},
};

static void operation(printer *r, const ir_node *n) {
    int32_t from = n->arg[0] >= 0 ? r->p->nodes[n->arg[0]].type : n->type;
    if (n->wraps && (n->type == ATN_INT32 || n->type == ATN_INDEX)) {
        wrapping(r, n);
        return;
    }
    switch (n->op) {
    case ATN_OP_CAST:
        if (n->width > 1)
            print_cast_vector(r, n, from);
        else
            print_cast_scalar(r, n, from);
        return;
    case ATN_OP_NEG:
        ADD("(%s-", n->width == 1 && (n->type == ATN_U8 || n->type == ATN_U16) ? print_type(n->type) : "");
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    case ATN_OP_NOT:
        ADD(n->width > 1 ? "(~" : "(!");
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    case ATN_OP_BITNOT:
        ADD("(~");
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    case ATN_OP_AND:
        logic(r, n, "&&", "&");
        return;
    case ATN_OP_OR:
        logic(r, n, "||", "|");
        return;
    case ATN_OP_SELECT:
        select_value(r, n);
        return;
    case ATN_OP_DIV:
    case ATN_OP_MOD:
        divide(r, n);
        return;
    case ATN_OP_FLOORMOD:
        if (n->width > 1)
            ADD("atn_floormod_%s%d(", print_vector_base(n->type, 4), n->width);
        else
            ADD("%s_floormod(", n->type == IR_ADDRESS ? "adr" : n->type == ATN_INDEX ? "idx" : "int");
        print_list(r, n);
        ADD(")");
        return;
    case ATN_OP_MIN:
    case ATN_OP_MAX:
        least_or_most(r, n);
        return;
    case ATN_OP_SHL:
    case ATN_OP_SHR:
        ADD("(");
        print_expression(r, n->arg[0]);
        ADD(n->op == ATN_OP_SHL ? " << (" : " >> (");
        print_expression(r, n->arg[1]);
        ADD(" & %d))", n->type == ATN_INDEX ? 63 : 31);
        return;
    case ATN_OP_ABS:
        if (print_is_integer(n->type)) {
            if (n->width > 1)
                ADD("atn_abs_%s%d(", print_vector_base(n->type, 4), n->width);
            else
                ADD("atn_abs_%s(", n->type == ATN_INDEX ? "idx" : "int");
            print_list(r, n);
            ADD(")");
        } else {
            function(r, n, "fabs");
        }
        return;
    case ATN_OP_RSQRT:
        ADD("(1 / ");
        function(r, n, "sqrt");
        ADD(")");
        return;
    case ATN_OP_EXP:
    case ATN_OP_EXP2:
        exponential(r, n);
        return;
    case ATN_OP_ISNAN:
        ADD("(");
        print_expression(r, n->arg[0]);
        ADD(" != ");
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    case ATN_OP_BITS:
        ADD("atn_bits_of_%s", from == ATN_DP ? "double" : "float");
        if (n->width > 1) ADD("%d", n->width);
        ADD("(");
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    case ATN_OP_ISFINITE: /* not by a difference: contraction to a multiply-add would leave a remainder */
        ADD("((");
        print_expression(r, n->arg[0]);
        ADD(" < %s) %s (", r->d->infinity[from == ATN_DP], n->width > 1 ? "&" : "&&");
        print_expression(r, n->arg[0]);
        ADD(" > -%s))", r->d->infinity[from == ATN_DP]);
        return;
    default:
        break;
    }
    if (TEXTS[n->op].sign)
        arithmetic(r, n, TEXTS[n->op].sign);
    else if (TEXTS[n->op].function)
        function(r, n, TEXTS[n->op].function);
    else
        r->status = atn_fail(r->ctx, ATN_ERR_INTERNAL, "%s: '%s' has no printed form", r->p->graph->name,
                             atn_op_get_info(n->op)->name);
}

static void print_call(printer *r, const ir_node *n) {
    static const char *const NAMES[] = {[IR_CALL_PACK] = "atn_pack_halves",       [IR_CALL_LOW_HALF] = "atn_low_half",
                                        [IR_CALL_HIGH_HALF] = "atn_high_half",    [IR_CALL_AS_HALF] = "atn_as_half",
                                        [IR_CALL_AS_TF32] = "atn_as_tf32",        [IR_CALL_REST_TF32] = "atn_rest_tf32",
                                        [IR_CALL_ALIGNED] = "atn_aligned",        [IR_CALL_ALL] = "atn_all",
                                        [IR_CALL_EXP2_HALVES] = "atn_exp2_halves"};
    ADD("%s(", NAMES[n->id]);
    if (n->id == IR_CALL_ALIGNED) { /* of an address, not of its contents */
        const ir_node *load = &r->p->nodes[n->arg[0]];
        print_pointer(r, load->id);
        ADD(" + ");
        print_expression(r, load->arg[0]);
        ADD(", ");
        print_expression(r, n->arg[1]);
        ADD(")");
        return;
    }
    for (int k = 0; k < 3 && n->arg[k] >= 0; ++k) {
        if (k) ADD(", ");
        print_expression(r, n->arg[k]);
    }
    ADD(")");
}

static void print_shuffle(printer *r, const ir_node *n) {
    static const char *const WHOM[IR_SHUFFLES] = {
        [IR_SHUFFLE_ACROSS] = "",      [IR_SHUFFLE_UP] = "_up",     [IR_SHUFFLE_FROM] = "_from",
        [IR_SHUFFLE_LEAST] = "_least", [IR_SHUFFLE_MOST] = "_most",
    };
    ADD("atn_shuffle%s<%d>(", WHOM[n->list], (int)n->id);
    print_expression(r, n->arg[0]);
    if (n->list < IR_SHUFFLE_LEAST) ADD(", %d", (int)n->integer);
    ADD(")");
}

void print_expression(printer *r, ir_ref ref) {
    const ir_node *n = &r->p->nodes[ref];
    switch (n->kind) {
    case IR_INTEGER:
        print_integer(r, n->integer, n->type);
        return;
    case IR_NUMBER:
        print_number(r, n->number, n->type);
        return;
    case IR_VARIABLE:
        ADD("%s", r->p->variables[n->id].name);
        return;
    case IR_OPERATION:
        operation(r, n);
        return;
    case IR_WITHIN: {
        const char *whole = r->p->nodes[n->arg[0]].type == IR_ADDRESS ? "uadr" : "uidx";
        ADD("((%s)", whole);
        print_expression(r, n->arg[0]);
        ADD(" < (%s)", whole);
        print_expression(r, n->arg[1]);
        ADD(")");
        return;
    }
    case IR_SPLAT:
        if (n->type == ATN_B) ADD("(-");
        ADD(r->d->splat, print_vector_base(n->type, 4), n->width);
        print_expression(r, n->arg[0]);
        ADD(n->type == ATN_B ? "))" : ")");
        return;
    case IR_LANE:
        ADD(n->type == ATN_B ? "(" : "");
        print_expression(r, n->arg[0]);
        ADD("%s", r->d->lane[n->integer]);
        ADD(n->type == ATN_B ? " != 0)" : "");
        return;
    case IR_JOIN:
        if (n->type == ATN_B) ADD("(-");
        ADD(r->d->join[0], print_vector_base(n->type, 4), n->width);
        for (int k = 0; k < n->width; ++k) {
            if (k) ADD(", ");
            print_expression(r, r->p->list[n->list + k]);
        }
        ADD("%s", r->d->join[1]);
        if (n->type == ATN_B) ADD(")");
        return;
    case IR_TURN:
        print_turn(r, n);
        return;
    case IR_LOAD:
        print_load(r, n);
        return;
    case IR_TILE:
        print_tile(r, n);
        return;
    case IR_SCRATCH:
        if (print_atomic_partials(r))
            ADD("atn_get_%s(&scratch[2 + (", print_type(n->type));
        else
            ADD("*(%s%s *)&scratch[2 + (", r->d->global, print_type(n->type));
        print_expression(r, n->arg[0]);
        ADD(print_atomic_partials(r) ? ")])" : ")]");
        return;
    case IR_ARGUMENT:
        print_argument_name(r, (ir_argument_kind)n->integer, n->id, n->list);
        return;
    case IR_GROUP:
        ADD("%s", r->d->group);
        return;
    case IR_GROUPS:
        ADD("%s", r->d->groups);
        return;
    case IR_ITEM:
        ADD("%s", r->d->item);
        return;
    case IR_SHUFFLE:
        print_shuffle(r, n);
        return;
    case IR_CALL:
        print_call(r, n);
        return;
    case IR_DRAW:
        ADD("atn_draw(scratch)");
        return;
    case IR_PEEK:
        ADD("(idx)atn_seen_word(&scratch[2 + (");
        print_expression(r, n->arg[0]);
        ADD(")])");
        return;
    case IR_AWAIT:
        ADD("atn_await<%s>(&scratch[2 + (", print_type(n->type));
        print_expression(r, n->arg[0]);
        ADD(")], ");
        print_expression(r, n->arg[1]);
        if (n->arg[2] >= 0) ADD(", ");
        if (n->arg[2] >= 0) print_expression(r, n->arg[2]);
        ADD(")");
        return;
    case IR_LAST:
        ADD("atn_last(scratch, item_flag, ");
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    }
}
