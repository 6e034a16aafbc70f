/* Types of expressions: literals that find theirs, conversions, the operators' rules. */
#include "graph/flatten.h"
#include "graph/type.h"

#include <math.h>
#include <stdio.h>

void atn_flat_complain(atn_flat *flat, size_t offset, const char *format, ...) {
    if (flat->failed) return;
    flat->failed = true;
    char sentence[512];
    ATN_FORMAT(sentence, format);
    atn_reader *reader = flat->sketch->reader;
    atn_reader_complain(reader, atn_attribute_place(reader, flat->text, offset), flat->what, "%s", sentence);
}

atn_term atn_flat_typed(atn_value value, atn_type type) { return (atn_term){.type = type, .value = value}; }
atn_term atn_flat_whole(int64_t integer) {
    return (atn_term){.whole = true, .integer = integer, .number = (double)integer};
}
atn_term atn_flat_fraction(double number) { return (atn_term){.number = number}; }

atn_value atn_value_convert(atn_sketch *sketch, atn_value value, atn_type type) {
    atn_type from = sketch->values[value].type, part = atn_type_get_info(type)->part;
    if (from == type || sketch->reader->failed) return value;
    if (type == ATN_B) return atn_value_make(sketch, ATN_OP_NE, ATN_B, value, atn_value_number(sketch, from, 0, 0), -1);
    if (atn_type_is_complex(from) && atn_type_is_complex(type)) return atn_value_cast(sketch, value, type);
    if (atn_type_is_complex(from))
        return atn_value_cast(sketch, atn_value_make(sketch, ATN_OP_REAL, atn_type_get_info(from)->part, value, -1, -1),
                              type);
    if (atn_type_is_complex(type))
        return atn_value_make(sketch, ATN_OP_COMPLEX, type, atn_value_cast(sketch, value, part),
                              atn_value_number(sketch, part, 0, 0), -1);
    return atn_value_cast(sketch, value, type);
}

atn_value atn_flat_literal(atn_flat *flat, atn_term term, atn_type type, size_t offset) {
    const atn_type_info *info = atn_type_get_info(type);
    if (!atn_type_is_integer(type)) return atn_value_number(flat->sketch, type, term.number, 0);
    if (!term.whole)
        atn_flat_complain(flat, offset, "%g is not of type %s; write %s(%g)", term.number, info->name, info->name,
                          term.number);
    else if (term.integer < info->lowest || term.integer > info->highest)
        atn_flat_complain(flat, offset, "%lld does not fit %s", (long long)term.integer, info->name);
    return atn_value_integer(flat->sketch, type, term.integer);
}

atn_type atn_flat_literal_type(const atn_flat *flat, bool whole, atn_type other) {
    atn_type own = atn_type_get_info(flat->literal)->part, part = atn_type_get_info(other)->part;
    if (flat->free && other) return whole || !atn_type_is_integer(part) ? atn_type_common(part, part) : ATN_DP;
    if (flat->free) return whole ? ATN_INT32 : ATN_DP;
    if (own == ATN_B) own = whole ? (other ? part : ATN_INT32) : ATN_DP;
    if (whole || atn_type_is_real(own))
        return own == ATN_DP && flat->literal == ATN_B && atn_type_is_real(part) ? part : own;
    return atn_type_is_real(part) ? part : ATN_DP; /* 0.5 in a block of integers */
}

atn_value atn_flat_assigned(atn_flat *flat, atn_term term, atn_type type, size_t offset) {
    if (term.type == ATN_TYPE_NONE) return atn_flat_literal(flat, term, type, offset);
    if (!atn_type_widens(term.type, type)) {
        atn_flat_complain(flat, offset, "%s is not converted to %s implicitly; write %s(...)", atn_type_name(term.type),
                          atn_type_name(type), atn_type_name(type));
        return atn_value_number(flat->sketch, type, 0, 0);
    }
    return atn_value_convert(flat->sketch, term.value, type);
}

atn_value atn_flat_truth(atn_flat *flat, atn_term term, size_t offset) {
    (void)offset;
    if (term.type == ATN_TYPE_NONE) return atn_value_integer(flat->sketch, ATN_B, term.number != 0);
    return atn_value_convert(flat->sketch, term.value, ATN_B);
}

static bool is_comparison(atn_op op) {
    return op == ATN_OP_LT || op == ATN_OP_LE || op == ATN_OP_EQ || op == ATN_OP_NE;
}
static bool is_whole_op(atn_op op) {
    return op == ATN_OP_MOD || op == ATN_OP_FLOORMOD || (op >= ATN_OP_BITAND && op <= ATN_OP_SHR);
}

/* Two literals: computed at once, still a literal. */
static atn_term fold_literals(atn_flat *flat, atn_op op, atn_term a, atn_term b, size_t offset) {
    int64_t whole = 0;
    bool both = a.whole && b.whole, fits = false;
    bool integers = atn_type_is_integer(flat->literal);
    switch (op) {
    case ATN_OP_ADD:
        fits = both && !__builtin_add_overflow(a.integer, b.integer, &whole);
        break;
    case ATN_OP_SUB:
        fits = both && !__builtin_sub_overflow(a.integer, b.integer, &whole);
        break;
    case ATN_OP_MUL:
        fits = both && !__builtin_mul_overflow(a.integer, b.integer, &whole);
        break;
    case ATN_OP_MIN:
    case ATN_OP_MAX:
        fits = both, whole = (a.integer < b.integer) == (op == ATN_OP_MIN) ? a.integer : b.integer;
        break;
    case ATN_OP_DIV:
        if (both && integers && b.integer == 0) atn_flat_complain(flat, offset, "division by zero");
        fits = both && integers && b.integer != 0 && b.integer != -1;
        if (fits) whole = a.integer / b.integer;
        break;
    default:
        if (is_comparison(op)) {
            bool truth = op == ATN_OP_LT   ? a.number < b.number
                         : op == ATN_OP_LE ? a.number <= b.number
                         : op == ATN_OP_EQ ? a.number == b.number
                                           : a.number != b.number;
            return atn_flat_typed(atn_value_integer(flat->sketch, ATN_B, truth), ATN_B);
        }
        if (!both) {
            atn_flat_complain(flat, offset, "'%s' is for integers%s", atn_op_get_info(op)->name,
                              op == ATN_OP_MOD ? "; use fmod" : "");
            return atn_flat_whole(0);
        }
        atn_value x = atn_value_integer(flat->sketch, ATN_INDEX, a.integer),
                  y = atn_value_integer(flat->sketch, ATN_INDEX, b.integer);
        return atn_flat_whole(flat->sketch->values[atn_value_make(flat->sketch, op, ATN_INDEX, x, y, -1)].integer);
    }
    if (fits) return atn_flat_whole(whole);
    double x = a.number, y = b.number;
    return atn_flat_fraction(op == ATN_OP_ADD   ? x + y
                             : op == ATN_OP_SUB ? x - y
                             : op == ATN_OP_MUL ? x * y
                             : op == ATN_OP_DIV ? x / y
                             : op == ATN_OP_MIN ? fmin(x, y)
                                                : fmax(x, y));
}

/* The type that a literal and a value meet in. */
static atn_type meet(const atn_flat *flat, atn_op op, atn_term literal, atn_type other) {
    bool integer = atn_type_is_integer(other);
    if (literal.whole && integer && (is_whole_op(op) || is_comparison(op))) return atn_type_common(other, other);
    if (is_comparison(op) && !integer) return other;
    return atn_type_common(atn_flat_literal_type(flat, literal.whole, other), other);
}

static atn_value operand(atn_flat *flat, atn_term term, atn_type type, size_t offset) {
    if (term.type == ATN_TYPE_NONE) return atn_flat_literal(flat, term, type, offset);
    return atn_value_convert(flat->sketch, term.value, type);
}

/* && and || of anything; & | ^ of two B. */
static bool logic(atn_flat *flat, atn_op op, atn_term a, atn_term b, size_t offset, atn_term *result) {
    bool bits =
        a.type == ATN_B && b.type == ATN_B && (op == ATN_OP_BITAND || op == ATN_OP_BITOR || op == ATN_OP_BITXOR);
    if (op != ATN_OP_AND && op != ATN_OP_OR && !bits) return false;
    atn_op as = op == ATN_OP_BITAND   ? ATN_OP_AND
                : op == ATN_OP_BITOR  ? ATN_OP_OR
                : op == ATN_OP_BITXOR ? ATN_OP_NE
                                      : op;
    atn_value x = atn_flat_truth(flat, a, offset), y = atn_flat_truth(flat, b, offset);
    *result = atn_flat_typed(atn_value_make(flat->sketch, as, ATN_B, x, y, -1), ATN_B);
    return true;
}

atn_term atn_flat_binary(atn_flat *flat, atn_op op, atn_term a, atn_term b, size_t offset) {
    atn_term result;
    if (logic(flat, op, a, b, offset, &result)) return result;
    if (a.type == ATN_TYPE_NONE && b.type == ATN_TYPE_NONE) return fold_literals(flat, op, a, b, offset);
    atn_type type = a.type == ATN_TYPE_NONE   ? meet(flat, op, a, b.type)
                    : b.type == ATN_TYPE_NONE ? meet(flat, op, b, a.type)
                                              : atn_type_common(a.type, b.type);
    const char *name = atn_op_get_info(op)->name;
    if (is_whole_op(op) && !atn_type_is_integer(type)) {
        atn_flat_complain(flat, offset, "'%s' is for integers, not for %s%s", name, atn_type_name(type),
                          op == ATN_OP_MOD ? "; use fmod" : "");
        return atn_flat_whole(0);
    }
    bool ordered = op == ATN_OP_LT || op == ATN_OP_LE || op == ATN_OP_MIN || op == ATN_OP_MAX;
    if (ordered && atn_type_is_complex(type)) {
        atn_flat_complain(flat, offset, "complex numbers have no order for '%s'; compare abs(...)", name);
        return atn_flat_whole(0);
    }
    atn_value x = operand(flat, a, type, offset), y = operand(flat, b, type, offset);
    atn_type made = is_comparison(op) ? ATN_B : type;
    return atn_flat_typed(atn_value_make(flat->sketch, op, made, x, y, -1), made);
}

atn_term atn_flat_unary(atn_flat *flat, atn_op op, atn_term a, size_t offset) {
    if (op == ATN_OP_NOT) {
        atn_value truth = atn_flat_truth(flat, a, offset);
        return atn_flat_typed(atn_value_make(flat->sketch, ATN_OP_NOT, ATN_B, truth, -1, -1), ATN_B);
    }
    if (a.type == ATN_TYPE_NONE) {
        if (op == ATN_OP_BITNOT && !a.whole) atn_flat_complain(flat, offset, "'~' is for integers");
        if (a.whole) return atn_flat_whole(op == ATN_OP_NEG ? (int64_t)(0 - (uint64_t)a.integer) : ~a.integer);
        return atn_flat_fraction(-a.number);
    }
    atn_type type = atn_type_is_integer(a.type) ? atn_type_common(a.type, a.type) : a.type;
    if (op == ATN_OP_BITNOT && !atn_type_is_integer(type)) {
        atn_flat_complain(flat, offset, "'~' is for integers, not for %s", atn_type_name(type));
        return atn_flat_whole(0);
    }
    return atn_flat_typed(
        atn_value_make(flat->sketch, op, type, atn_value_convert(flat->sketch, a.value, type), -1, -1), type);
}

atn_term atn_flat_choose(atn_flat *flat, atn_value condition, atn_term a, atn_term b, size_t offset) {
    if (atn_value_is_const(flat->sketch, condition) && a.type == b.type)
        return flat->sketch->values[condition].integer ? a : b;
    atn_type type;
    if (a.type == ATN_TYPE_NONE && b.type == ATN_TYPE_NONE) {
        type = atn_flat_literal_type(flat, a.whole && b.whole, ATN_TYPE_NONE);
        if (flat->literal == ATN_B && a.whole && b.whole && (a.integer | b.integer) >> 1 == 0) type = ATN_B;
    } else if (a.type == ATN_TYPE_NONE || b.type == ATN_TYPE_NONE) {
        atn_type other = a.type == ATN_TYPE_NONE ? b.type : a.type;
        atn_type literal = atn_flat_literal_type(flat, a.type == ATN_TYPE_NONE ? a.whole : b.whole, other);
        type = atn_type_widens(literal, other) ? other : atn_type_common(literal, other);
    } else {
        type = a.type == b.type ? a.type : atn_type_common(a.type, b.type);
    }
    atn_value x = operand(flat, a, type, offset), y = operand(flat, b, type, offset);
    return atn_flat_typed(atn_value_make(flat->sketch, ATN_OP_SELECT, type, condition, x, y), type);
}
