/* Values: each is computed once per place it depends on, and kept until its scope ends. Complex values are computed as
 * two real parts. */
#include "lower/lowering.h"

/* ---- dimensions ---- */

/* The dimension as a value: a vector if it is the vectorised one. */
static ir_ref dimension_value(lowering *l, int32_t dim, place at) {
    ir_ref first = ir_cast(l->p, ATN_INDEX, lower_dimension(l, dim, at));
    if (dim != l->vec_dim || at.lane >= 0) return first;
    ir_ref lanes[ATN_MOST_LANES];
    for (int32_t k = 0; k < l->dim[dim].vec; ++k) lanes[k] = ir_integer(l->p, ATN_INDEX, k);
    return ir_add(l->p, ir_splat(l->p, first, l->dim[dim].vec), ir_join(l->p, lanes, l->dim[dim].vec));
}

/* A dimension as INT32, which is how indices are kept: 4-byte lanes from the start, not 8-byte lanes that are narrowed.
 * */
static bool is_small_dimension(const lowering *l, const atn_node *n, place at) {
    if (n->op != ATN_OP_CAST || n->type != ATN_INT32 || at.lane >= 0) return false;
    const atn_node *from = &l->g->values[n->arg[0]];
    return from->op == ATN_OP_DIM && from->index == l->vec_dim;
}

static ir_ref small_dimension(lowering *l, int32_t dim, place at) {
    ir_ref first = ir_cast(l->p, ATN_INT32, lower_dimension(l, dim, at)), lanes[ATN_MOST_LANES];
    for (int32_t k = 0; k < l->dim[dim].vec; ++k) lanes[k] = ir_integer(l->p, ATN_INT32, k);
    return ir_add(l->p, ir_splat(l->p, first, l->dim[dim].vec), ir_join(l->p, lanes, l->dim[dim].vec));
}

static ir_ref affine_address(lowering *l, const atn_affine *form, place at) {
    ir_ref sum = ir_address(l->p, form->constant);
    for (int32_t d = 0; d < l->g->n_dims; ++d)
        if (form->coefficient[d])
            sum = ir_add(l->p, ir_multiply_integer(l->p, lower_dimension(l, d, at), form->coefficient[d]), sum);
    if (form->rest >= 0) sum = ir_add(l->p, sum, ir_cast(l->p, IR_ADDRESS, lower_value(l, form->rest, at, 0)));
    if (form->modulus >= 0)
        sum = ir_operation(l->p, ATN_OP_FLOORMOD, IR_ADDRESS, sum,
                           ir_cast(l->p, IR_ADDRESS, lower_value(l, form->modulus, at, 0)), -1);
    return sum;
}

ir_ref lower_index(lowering *l, atn_value value, place at, bool validated) {
    atn_affine form = atn_affine_of(l->g, value);
    bool computed = atn_value_is_computed(l->g, value), alone = form.is_affine && form.rest < 0 && form.modulus < 0;
    if (at.lane < 0 && l->vec_dim >= 0) at.lane = 0; /* an address is that of the first lane */
    if (!computed || (validated && alone)) return affine_address(l, &form, at);
    ir_ref index = lower_value(l, value, at, 0);
    return validated || ir_fits(l->p, index, IR_ADDRESS) ? ir_cast(l->p, IR_ADDRESS, index) : index;
}

ir_ref lower_end(lowering *l, atn_value value) {
    place at = PLACE_ORIGIN;
    if (!atn_value_is_computed(l->g, value)) return lower_index(l, value, at, true);
    if (l->vec_dim >= 0) at.lane = 0;
    ir_ref end = lower_value(l, value, at, 0);
    int64_t low = l->p->failed ? 0 : l->p->nodes[end].low, high = l->p->failed ? 0 : l->p->nodes[end].high;
    if (high > ATN_FARTHEST)
        end = ir_operation(l->p, ATN_OP_MIN, ATN_INDEX, end, ir_integer(l->p, ATN_INDEX, ATN_FARTHEST), -1);
    if (low < -ATN_FARTHEST)
        end = ir_operation(l->p, ATN_OP_MAX, ATN_INDEX, end, ir_integer(l->p, ATN_INDEX, -ATN_FARTHEST), -1);
    return ir_cast(l->p, IR_ADDRESS, end);
}

/* ---- values ---- */

/* The type in which a value is computed: terms that are summed in halves use halves instead of SP. */
static int32_t computed_in(const lowering *l, atn_type type) {
    return l->v.half == 2 && type == ATN_SP ? ATN_HP : lower_type(l, type);
}

static ir_ref constant(lowering *l, const atn_node *n, int32_t part) {
    bool whole =
        n->type == ATN_INT32 || n->type == ATN_INDEX || n->type == ATN_U8 || n->type == ATN_U16 || n->type == ATN_B;
    if (whole) return ir_integer(l->p, (int32_t)n->type, n->integer);
    return ir_number(l->p, computed_in(l, n->type), n->number[part]);
}

static ir_ref size_of(lowering *l, const atn_node *n) {
    const atn_object *object = &l->g->objects[n->index];
    if (object->table) return ir_integer(l->p, ATN_INDEX, object->table_size[n->axis]);
    return ir_cast(l->p, ATN_INDEX, lower_size(l, n->index, n->axis));
}

#define OP(op, a, b) ir_operation(l->p, op, t, a, b, -1)

/* One part of a complex operation, from the parts of its arguments. */
static ir_ref complex_part(lowering *l, const atn_node *n, place at, int32_t part) {
    int32_t t = computed_in(l, n->type);
    ir_ref a[2] = {-1, -1}, b[2] = {-1, -1};
    bool from_real =
        n->op == ATN_OP_COMPLEX || (n->op == ATN_OP_CAST && !atn_type_is_complex(l->g->values[n->arg[0]].type));
    bool product = n->op == ATN_OP_MUL || n->op == ATN_OP_DIV || n->op == ATN_OP_EXP;
    for (int k = 0; k < 2 && !from_real && n->op != ATN_OP_SELECT; ++k) {
        if (k != part && !product) continue;
        a[k] = lower_value(l, n->arg[0], at, k);
        if (n->arg[1] >= 0) b[k] = lower_value(l, n->arg[1], at, k);
    }
    switch (n->op) {
    case ATN_OP_COMPLEX:
        return lower_value(l, n->arg[part], at, 0);
    case ATN_OP_CAST:
        if (from_real) return part ? ir_number(l->p, t, 0) : ir_cast(l->p, t, lower_value(l, n->arg[0], at, 0));
        return ir_cast(l->p, t, a[part]);
    case ATN_OP_ADD:
    case ATN_OP_SUB:
        return OP(n->op, a[part], b[part]);
    case ATN_OP_NEG:
        return OP(n->op, a[part], -1);
    case ATN_OP_CONJ:
        return part ? OP(ATN_OP_NEG, a[1], -1) : a[0];
    case ATN_OP_MUL:
        if (part == 0) return OP(ATN_OP_SUB, OP(ATN_OP_MUL, a[0], b[0]), OP(ATN_OP_MUL, a[1], b[1]));
        return OP(ATN_OP_ADD, OP(ATN_OP_MUL, a[0], b[1]), OP(ATN_OP_MUL, a[1], b[0]));
    case ATN_OP_DIV: {
        ir_ref norm = OP(ATN_OP_ADD, OP(ATN_OP_MUL, b[0], b[0]), OP(ATN_OP_MUL, b[1], b[1]));
        ir_ref top = part == 0 ? OP(ATN_OP_ADD, OP(ATN_OP_MUL, a[0], b[0]), OP(ATN_OP_MUL, a[1], b[1]))
                               : OP(ATN_OP_SUB, OP(ATN_OP_MUL, a[1], b[0]), OP(ATN_OP_MUL, a[0], b[1]));
        return OP(ATN_OP_DIV, top, norm);
    }
    case ATN_OP_EXP:
        return OP(ATN_OP_MUL, OP(ATN_OP_EXP, a[0], -1), OP(part ? ATN_OP_SIN : ATN_OP_COS, a[1], -1));
    case ATN_OP_SELECT:
        return ir_operation(l->p, ATN_OP_SELECT, t, lower_value(l, n->arg[0], at, 0),
                            lower_value(l, n->arg[1], at, part), lower_value(l, n->arg[2], at, part));
    default:
        lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: '%s' is not supported for complex numbers", l->g->name,
                   atn_op_get_info(n->op)->name);
        return ir_number(l->p, t, 0);
    }
}

/* A real-valued result of complex arguments. */
static ir_ref from_complex(lowering *l, const atn_node *n, place at) {
    int32_t t = computed_in(l, n->type);
    ir_ref re = lower_value(l, n->arg[0], at, 0), im = lower_value(l, n->arg[0], at, 1);
    int32_t from = ir_type_of(l->p, re);
    switch (n->op) {
    case ATN_OP_REAL:
        return re;
    case ATN_OP_IMAG:
        return im;
    case ATN_OP_ABS:
        return ir_operation(l->p, ATN_OP_HYPOT, from, re, im, -1);
    case ATN_OP_EQ:
    case ATN_OP_NE: {
        ir_ref first = ir_operation(l->p, n->op, ATN_B, re, lower_value(l, n->arg[1], at, 0), -1);
        ir_ref second = ir_operation(l->p, n->op, ATN_B, im, lower_value(l, n->arg[1], at, 1), -1);
        return ir_operation(l->p, n->op == ATN_OP_EQ ? ATN_OP_AND : ATN_OP_OR, ATN_B, first, second, -1);
    }
    default:
        lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: '%s' is not supported for complex numbers", l->g->name,
                   atn_op_get_info(n->op)->name);
        return ir_number(l->p, t, 0);
    }
}

/* An exponential that is to be computed by polynomial is marked. */
static ir_ref by_polynomial(lowering *l, ir_ref made) {
    ir_node *n = l->p->failed ? NULL : &l->p->nodes[made];
    if (n && n->kind == IR_OPERATION && (n->op == ATN_OP_EXP || n->op == ATN_OP_EXP2)) n->id = 1;
    return made;
}

/* exp(x) as 2^(x log2 e), which the hardware provides; if x is a product with a uniform value, log2 e is multiplied
 * into that one. */
static ir_ref native_exp(lowering *l, const atn_node *n, place at) {
    const atn_node *x = &l->g->values[n->arg[0]];
    ir_ref log2e = ir_number(l->p, ATN_SP, 1.4426950408889634);
    for (int k = 0; k < 2 && x->op == ATN_OP_MUL; ++k) {
        if (l->g->values[x->arg[k]].dims != 0 || l->needs.blocks[x->arg[k]] != 0) continue;
        ir_ref scale = ir_operation(l->p, ATN_OP_MUL, ATN_SP, lower_value(l, x->arg[k], at, 0), log2e, -1);
        ir_ref other = lower_value(l, x->arg[1 - k], at, 0);
        return ir_operation(l->p, ATN_OP_EXP2, ATN_SP, ir_operation(l->p, ATN_OP_MUL, ATN_SP, other, scale, -1), -1,
                            -1);
    }
    ir_ref scaled = ir_operation(l->p, ATN_OP_MUL, ATN_SP, lower_value(l, n->arg[0], at, 0), log2e, -1);
    return ir_operation(l->p, ATN_OP_EXP2, ATN_SP, scaled, -1, -1);
}

/* ---- halves that are computed in halves ---- */

/* Operations that exist for halves; the others use singles. */
static bool of_halves(const lowering *l, atn_op op, int32_t width) {
    if (op == ATN_OP_EXP2) return width > 1 && atn_variant_has_half_exp2(&l->v);
    return op == ATN_OP_ADD || op == ATN_OP_SUB || op == ATN_OP_MUL || op == ATN_OP_DIV || op == ATN_OP_NEG ||
           op == ATN_OP_MIN || op == ATN_OP_MAX || op == ATN_OP_SELECT || op == ATN_OP_LT || op == ATN_OP_LE ||
           op == ATN_OP_EQ || op == ATN_OP_NE;
}

static ir_ref cast_by_single(lowering *l, int32_t type, ir_ref a) {
    int32_t from = ir_type_of(l->p, a);
    if ((from == ATN_HP && type != ATN_HP) || (type == ATN_HP && from != ATN_HP)) a = ir_cast(l->p, ATN_SP, a);
    return ir_cast(l->p, type, a);
}

static ir_ref in_single(lowering *l, const atn_node *n, ir_ref args[3]) {
    int32_t type = computed_in(l, n->type);
    for (int k = 0; k < 3; ++k)
        if (args[k] >= 0 && ir_type_of(l->p, args[k]) == ATN_HP) args[k] = ir_cast(l->p, ATN_SP, args[k]);
    ir_ref made = ir_operation(l->p, n->op, type == ATN_HP ? ATN_SP : type, args[0], args[1], args[2]);
    return ir_cast(l->p, type, made);
}

static ir_ref make(lowering *l, atn_value value, place at, int32_t part) {
    const atn_node *n = &l->g->values[value];
    switch (n->op) {
    case ATN_OP_CONST:
        return constant(l, n, part);
    case ATN_OP_DIM:
        return dimension_value(l, n->index, at);
    case ATN_OP_SIZE:
        return size_of(l, n);
    case ATN_OP_PARAM: {
        int32_t passed = n->type == ATN_HP ? ATN_SP : computed_in(l, n->type);
        ir_ref ref = ir_argument_ref(l->p, IR_ARG_PARAM, n->index, passed);
        if (!l->p->failed) l->p->nodes[ref].list = part;
        return ir_cast(l->p, computed_in(l, n->type), ref);
    }
    case ATN_OP_READ:
        return lower_read(l, n, at, part);
    case ATN_OP_ACC:
        return ir_variable_ref(l->p, l->acc_variable[n->axis][part]);
    case ATN_OP_LEFT:
        return l->side[0][n->axis][part];
    case ATN_OP_RIGHT:
        return l->side[1][n->axis][part];
    case ATN_OP_BEFORE:
    case ATN_OP_AFTER:
    case ATN_OP_RESULT:
        lower_fail(l, ATN_ERR_INTERNAL, "%s: the result of '%s' is used before it is computed", l->g->name,
                   l->g->blocks[n->index].name);
        return ir_number(l->p, ATN_SP, 0);
    default:
        break;
    }
    if (is_small_dimension(l, n, at)) return small_dimension(l, l->g->values[n->arg[0]].index, at);
    if (atn_type_is_complex(n->type)) return complex_part(l, n, at, part);
    if (n->arg[0] >= 0 && atn_type_is_complex(l->g->values[n->arg[0]].type)) return from_complex(l, n, at);
    if (n->op == ATN_OP_EXP && n->type == ATN_SP && l->v.exp == ATN_EXP_NATIVE && !l->host)
        return l->polynomial ? by_polynomial(l, native_exp(l, n, at)) : native_exp(l, n, at);
    bool widens = n->op == ATN_OP_CAST && (n->type == ATN_INT32 || n->type == ATN_SP);
    ir_ref args[3] = {widens ? lower_widened_bytes(l, n->arg[0], at) : -1, -1, -1};
    for (int k = args[0] >= 0; k < 3 && n->arg[k] >= 0; ++k) args[k] = lower_value(l, n->arg[k], at, 0);
    if (n->op == ATN_OP_CAST) return cast_by_single(l, computed_in(l, n->type), args[0]);
    if (l->v.half && !of_halves(l, n->op, ir_width_of(l->p, args[0]))) return in_single(l, n, args);
    ir_ref made = ir_operation(l->p, n->op, computed_in(l, n->type), args[0], args[1], args[2]);
    return l->polynomial ? by_polynomial(l, made) : made;
}

/* Leaves cost nothing; a value used once, without a name of its own, is written inline. */
static bool inlined(const lowering *l, const atn_node *n, atn_value value) {
    if (n->op == ATN_OP_CONST || n->op == ATN_OP_SIZE || n->op == ATN_OP_PARAM || n->op == ATN_OP_DIM) return true;
    if (n->op == ATN_OP_LEFT || n->op == ATN_OP_RIGHT || n->op == ATN_OP_ACC || (l->needs.blocks[value] >> 31))
        return true;
    return l->needs.uses[value] == 1 && !n->label && n->op != ATN_OP_READ;
}

ir_ref lower_value(lowering *l, atn_value value, place at, int32_t part) {
    const atn_node *n = &l->g->values[value];
    ir_ref ref;
    if (l->p->failed) return 0;
    at = lower_normal(l, n->dims, at);
    if (lower_memo_find(l, value, part, at, &ref)) return ref;
    if (at.lane >= 0) { /* one lane of a vector that exists already */
        place whole = at;
        whole.lane = -1;
        if (lower_memo_find(l, value, part, whole, &ref)) return ir_lane(l->p, ref, at.lane);
    }
    ref = make(l, value, at, part);
    if (inlined(l, n, value)) return ref;
    ref = ir_declare(l->p, l->block,
                     n->label               ? n->label
                     : n->op == ATN_OP_READ ? l->g->reads[n->index].name
                                            : "t",
                     ref);
    lower_memo_keep(l, value, part, at, ref);
    return ref;
}

void lower_value_named(lowering *l, atn_value value, place at) {
    ir_ref ref;
    place here = lower_normal(l, l->g->values[value].dims, at);
    const char *label = l->g->values[value].label;
    if (lower_memo_find(l, value, 0, here, &ref)) return;
    ref = ir_declare(l->p, l->block, label ? label : "t", lower_value(l, value, here, 0));
    if (!lower_memo_find(l, value, 0, here, &ref)) lower_memo_keep(l, value, 0, here, ref);
}

/* Constants and the like are not worth a variable; everything else is computed for every register it depends on. */
void lower_hoist(lowering *l, atn_value value) {
    const atn_node *n = &l->g->values[value];
    if (n->op == ATN_OP_CONST || n->op == ATN_OP_SIZE || n->op == ATN_OP_PARAM || n->op == ATN_OP_DIM ||
        n->op == ATN_OP_ACC)
        return;
    if (lower_ready(l, value)) {
        int32_t parts = atn_type_is_complex(n->type) ? 2 : 1;
        place at = PLACE_ORIGIN;
        do {
            for (int32_t part = 0; part < parts; ++part) {
                ir_ref ref;
                place here = lower_normal(l, n->dims, at);
                if (lower_memo_find(l, value, part, here, &ref)) continue;
                ref = ir_declare(l->p, l->block, n->label ? n->label : "t", lower_value(l, value, here, part));
                if (!lower_memo_find(l, value, part, here, &ref)) lower_memo_keep(l, value, part, here, ref);
            }
        } while (lower_next_place(l, n->dims, &at));
        return;
    }
    for (int k = 0; k < 3 && n->arg[k] >= 0; ++k) lower_hoist(l, n->arg[k]);
    if (n->op == ATN_OP_READ)
        for (int k = 0; k < ATN_MAX_RANK && l->g->reads[n->index].select[k] >= 0; ++k) {
            if (!atn_affine_of(l->g, l->g->reads[n->index].select[k]).is_affine)
                lower_hoist(l, l->g->reads[n->index].select[k]);
        }
    if (n->op == ATN_OP_RESULT) {
        const atn_block *b = &l->g->blocks[n->index];
        for (int32_t k = 0; k < b->n_accs; ++k) {
            if (b->acc[k].term >= 0) lower_hoist(l, b->acc[k].term);
            if (b->acc[k].update >= 0) lower_hoist(l, b->acc[k].update);
        }
    }
}
