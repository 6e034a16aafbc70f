/* Calls: the math functions by name, with C's other spellings, and a few made of others. */
#include "graph/flatten.h"
#include "graph/type.h"

#include <string.h>

static const struct {
    const char *name;
    atn_op op;
} aliases[] = {
    {"fabs", ATN_OP_ABS},   {"cabs", ATN_OP_ABS},   {"fmin", ATN_OP_MIN},       {"fmax", ATN_OP_MAX},
    {"creal", ATN_OP_REAL}, {"cimag", ATN_OP_IMAG}, {"nearbyint", ATN_OP_RINT}, {"mad", ATN_OP_FMA},
};

enum { COMPOSED_ARG = ATN_OP_COUNT, COMPOSED_CLAMP, NOT_FOUND };
static const struct {
    const char *name;
    int32_t arity, id;
} composed[] = {{"arg", 1, COMPOSED_ARG}, {"clamp", 3, COMPOSED_CLAMP}};

static int32_t find(const char *name, int32_t *arity) {
    for (int k = 0; k < ATN_OP_COUNT; ++k) {
        const atn_op_info *info = atn_op_get_info((atn_op)k);
        if (info->function && !strcmp(info->name, name)) return *arity = info->arity, k;
    }
    for (size_t k = 0; k < sizeof aliases / sizeof *aliases; ++k)
        if (!strcmp(aliases[k].name, name))
            return *arity = atn_op_get_info(aliases[k].op)->arity, (int32_t)aliases[k].op;
    for (size_t k = 0; k < sizeof composed / sizeof *composed; ++k)
        if (!strcmp(composed[k].name, name)) return *arity = composed[k].arity, composed[k].id;
    return NOT_FOUND;
}

bool atn_flat_is_function(const char *name) {
    int32_t arity;
    return find(name, &arity) != NOT_FOUND;
}

static void complain_unknown(atn_flat *flat, const atn_syntax *tree) {
    atn_suggestion suggestion = {.wrong = tree->name};
    for (int k = 0; k < ATN_OP_COUNT; ++k)
        if (atn_op_get_info((atn_op)k)->function)
            atn_suggestion_try(flat->sketch->reader, &suggestion, atn_op_get_info((atn_op)k)->name);
    for (size_t k = 0; k < sizeof aliases / sizeof *aliases; ++k)
        atn_suggestion_try(flat->sketch->reader, &suggestion, aliases[k].name);
    for (int t = ATN_TYPE_NONE + 1; t < ATN_TYPE_COUNT; ++t)
        atn_suggestion_try(flat->sketch->reader, &suggestion, atn_type_name((atn_type)t));
    atn_flat_complain(flat, tree->offset, "no function '%s'%s", tree->name,
                      atn_suggestion_text(flat->sketch->reader, &suggestion));
}

/* The floating type that arguments meet in; integers and literals take the block's. */
static atn_type real_type(const atn_flat *flat, const atn_term *args, int32_t count) {
    atn_type type = ATN_TYPE_NONE, own = atn_type_get_info(flat->literal)->part;
    bool open = false;
    for (int32_t k = 0; k < count; ++k) {
        atn_type t = args[k].type;
        if (t == ATN_TYPE_NONE || atn_type_is_integer(t))
            open = true;
        else
            type = type == ATN_TYPE_NONE ? t : atn_type_common(type, t);
    }
    if (type == ATN_TYPE_NONE) return atn_type_is_real(own) ? own : ATN_DP;
    return open && atn_type_is_real(own) ? atn_type_common(type, own) : type;
}

static atn_value argument(atn_flat *flat, atn_term term, atn_type type, size_t offset) {
    return term.type == ATN_TYPE_NONE ? atn_flat_literal(flat, term, type, offset)
                                      : atn_value_convert(flat->sketch, term.value, type);
}

static atn_term complex_call(atn_flat *flat, atn_op op, const atn_term *args, size_t offset) {
    atn_sketch *sketch = flat->sketch;
    if (op == ATN_OP_COMPLEX) {
        atn_type part = real_type(flat, args, 2);
        if (atn_type_is_complex(part)) atn_flat_complain(flat, offset, "complex(re, im) is made of two reals");
        if (part == ATN_HP) part = ATN_SP;
        atn_type type = part == ATN_DP ? ATN_DP2 : ATN_SP2;
        if (flat->failed) return atn_flat_whole(0);
        atn_value re = argument(flat, args[0], part, offset), im = argument(flat, args[1], part, offset);
        return atn_flat_typed(atn_value_make(sketch, ATN_OP_COMPLEX, type, re, im, -1), type);
    }
    if (!atn_type_is_complex(args[0].type)) { /* of a real: itself, 0, itself */
        if (op == ATN_OP_IMAG) return atn_flat_whole(0);
        return args[0];
    }
    atn_type type = op == ATN_OP_CONJ ? args[0].type : atn_type_get_info(args[0].type)->part;
    return atn_flat_typed(atn_value_make(sketch, op, type, args[0].value, -1, -1), type);
}

static atn_term absolute(atn_flat *flat, atn_term arg, size_t offset) {
    if (arg.type == ATN_TYPE_NONE) {
        arg.integer = arg.integer < 0 ? (int64_t)(0 - (uint64_t)arg.integer) : arg.integer;
        arg.number = arg.number < 0 ? -arg.number : arg.number;
        return arg;
    }
    if (atn_type_is_complex(arg.type)) return complex_call(flat, ATN_OP_ABS, &arg, offset);
    atn_type type = atn_type_is_integer(arg.type) ? atn_type_common(arg.type, arg.type) : arg.type;
    return atn_flat_typed(
        atn_value_make(flat->sketch, ATN_OP_ABS, type, atn_value_convert(flat->sketch, arg.value, type), -1, -1), type);
}

static atn_term composed_call(atn_flat *flat, int32_t id, const atn_term *args, size_t offset) {
    if (id == COMPOSED_CLAMP)
        return atn_flat_binary(flat, ATN_OP_MIN, atn_flat_binary(flat, ATN_OP_MAX, args[0], args[1], offset), args[2],
                               offset);
    if (!atn_type_is_complex(args[0].type)) {
        atn_flat_complain(flat, offset, "arg is for complex numbers");
        return atn_flat_whole(0);
    }
    atn_term im = complex_call(flat, ATN_OP_IMAG, args, offset), re = complex_call(flat, ATN_OP_REAL, args, offset);
    return atn_flat_typed(atn_value_make(flat->sketch, ATN_OP_ATAN2, im.type, im.value, re.value, -1), im.type);
}

int32_t atn_flat_arity(atn_flat *flat, const atn_syntax *tree) {
    int32_t arity = 0;
    if (find(tree->name, &arity) != NOT_FOUND) return arity;
    complain_unknown(flat, tree);
    return -1;
}

atn_term atn_flat_call(atn_flat *flat, const atn_syntax *tree, const atn_term args[ATN_FLAT_MOST_ARGS], int32_t count) {
    int32_t arity = 0, id = find(tree->name, &arity);
    if (count != arity)
        atn_flat_complain(flat, tree->offset, "'%s' takes %d argument%s, not %d", tree->name, arity,
                          arity == 1 ? "" : "s", count);
    if (flat->failed) return atn_flat_whole(0);
    size_t offset = tree->offset;
    if (id >= ATN_OP_COUNT) return composed_call(flat, id, args, offset);
    atn_op op = (atn_op)id;
    if (op == ATN_OP_ABS) return absolute(flat, args[0], offset);
    if (op == ATN_OP_MIN || op == ATN_OP_MAX) return atn_flat_binary(flat, op, args[0], args[1], offset);
    if (op == ATN_OP_COMPLEX || op == ATN_OP_REAL || op == ATN_OP_IMAG || op == ATN_OP_CONJ)
        return complex_call(flat, op, args, offset);
    atn_type type = real_type(flat, args, arity);
    if (atn_type_is_complex(type)) {
        atn_flat_complain(flat, offset, "'%s' is not defined for complex numbers", tree->name);
        return atn_flat_whole(0);
    }
    if (op == ATN_OP_BITS && type == ATN_HP) type = ATN_SP;
    atn_value values[ATN_FLAT_MOST_ARGS] = {-1, -1, -1};
    for (int32_t k = 0; k < arity; ++k) values[k] = argument(flat, args[k], type, offset);
    atn_type made = op == ATN_OP_ISNAN || op == ATN_OP_ISFINITE ? ATN_B
                    : op != ATN_OP_BITS                         ? type
                    : type == ATN_DP                            ? ATN_INDEX
                                                                : ATN_INT32;
    return atn_flat_typed(atn_value_make(flat->sketch, op, made, values[0], values[1], values[2]), made);
}
