/* Types and bounds of expressions. */
#include "base/memory.h"
#include "space/native.h"

static const __int128 LEAST = INT64_MIN, MOST = INT64_MAX;
static const atn_shape UNKNOWN = {.type = ATN_SHAPE_UNKNOWN};
static const atn_shape TRUTH = {.type = ATN_SHAPE_WHOLE, .truth = true, .hi = 1};

static atn_shape whole(__int128 lo, __int128 hi, bool fails) {
    if (lo < LEAST || hi > MOST) fails = true; /* then what goes on is within */
    return (atn_shape){
        .type = ATN_SHAPE_WHOLE, .fails = fails, .lo = lo < LEAST ? LEAST : lo, .hi = hi > MOST ? MOST : hi};
}
static atn_shape real(bool fails) { return (atn_shape){.type = ATN_SHAPE_REAL, .fails = fails}; }
static __int128 least(__int128 a, __int128 b) { return a < b ? a : b; }
static __int128 most(__int128 a, __int128 b) { return a > b ? a : b; }
static bool has_zero(const atn_shape *s) { return s->lo <= 0 && s->hi >= 0; }

/* Of two ways to the same value. */
static atn_shape join(atn_shape a, atn_shape b) {
    if (a.type != b.type) return UNKNOWN;
    return (atn_shape){.type = a.type,
                       .truth = a.truth && b.truth,
                       .fails = a.fails || b.fails,
                       .lo = least(a.lo, b.lo),
                       .hi = most(a.hi, b.hi)};
}

static atn_shape shape_of_setting(const atn_setting *s) {
    if (s->kind == ATN_SETTING_REAL) return real(false);
    if (s->kind == ATN_SETTING_TEXT) return (atn_shape){.type = ATN_SHAPE_TEXT};
    return (atn_shape){.type = ATN_SHAPE_WHOLE, .truth = s->kind == ATN_SETTING_BOOL, .lo = s->whole, .hi = s->whole};
}

static atn_shape shape_of_parameter(const atn_lan_parameter *p) {
    if (p->levels == 0) return whole(0, 0, false);
    atn_shape shape = shape_of_setting(&p->settings[0]);
    for (int32_t k = 1; k < p->levels; ++k) shape = join(shape, shape_of_setting(&p->settings[k]));
    return shape;
}

/* ---- operators ---- */

static atn_shape product(const atn_shape *a, const atn_shape *b) {
    __int128 p = a->lo * b->lo, q = a->lo * b->hi, r = a->hi * b->lo, s = a->hi * b->hi; /* of 64 bits each */
    return whole(least(least(p, q), least(r, s)), most(most(p, q), most(r, s)), false);
}

static atn_shape power(const atn_shape *a, const atn_shape *b) {
    if (b->lo < 0) return UNKNOWN; /* a real for some */
    __int128 base = most(a->hi, -a->lo), hi = 1;
    for (__int128 k = 0; k < b->hi && hi <= MOST && base > 1; ++k) hi *= base;
    return whole(a->lo < 0 ? -hi : 0, hi, false);
}

static atn_shape bits(atn_lan_op op, const atn_shape *a, const atn_shape *b) {
    __int128 hi = most(a->hi, b->hi), all = 1;
    if (op == ATN_LAN_SHIFT_LEFT) return whole(LEAST, MOST, true);
    if (op == ATN_LAN_SHIFT_RIGHT) return whole(least(a->lo, 0), most(a->hi, 0), b->lo < 0);
    if (a->lo < 0 || b->lo < 0) return whole(LEAST, MOST, false);
    while (all <= hi) all *= 2;
    return whole(0, op == ATN_LAN_BIT_AND ? least(a->hi, b->hi) : all - 1, false);
}

static atn_shape arithmetic(atn_lan_op op, const atn_shape *a, const atn_shape *b) {
    __int128 size;
    switch (op) {
    case ATN_LAN_ADD:
        return whole(a->lo + b->lo, a->hi + b->hi, false);
    case ATN_LAN_SUBTRACT:
        return whole(a->lo - b->hi, a->hi - b->lo, false);
    case ATN_LAN_MULTIPLY:
        return product(a, b);
    case ATN_LAN_DIVIDE:
        return real(has_zero(b));
    case ATN_LAN_FLOOR_DIVIDE:
        if (a->lo >= 0 && b->lo >= 0) return whole(0, a->hi, has_zero(b));
        size = most(a->hi, -a->lo);
        return whole(-size - 1, size, has_zero(b));
    case ATN_LAN_MODULO:
        if (b->lo >= 0)
            return whole(0, a->lo >= 0 ? least(a->hi, most(b->hi - 1, 0)) : most(b->hi - 1, 0), has_zero(b));
        return whole(least(b->lo, 0), most(b->hi, 0), has_zero(b));
    case ATN_LAN_POWER:
        return power(a, b);
    default:
        return bits(op, a, b);
    }
}

static atn_shape binary(atn_lan_op op, atn_shape a, atn_shape b) {
    bool numbers = (a.type == ATN_SHAPE_WHOLE || a.type == ATN_SHAPE_REAL) &&
                   (b.type == ATN_SHAPE_WHOLE || b.type == ATN_SHAPE_REAL);
    atn_shape shape;
    if (op >= ATN_LAN_EQUAL)
        shape = a.type == ATN_SHAPE_UNKNOWN || b.type == ATN_SHAPE_UNKNOWN ? UNKNOWN : TRUTH;
    else if (numbers && a.type == ATN_SHAPE_WHOLE && b.type == ATN_SHAPE_WHOLE)
        shape = arithmetic(op, &a, &b);
    else
        shape = numbers && op < ATN_LAN_BIT_AND ? real(op >= ATN_LAN_DIVIDE) : UNKNOWN;
    shape.fails |= a.fails || b.fails;
    return shape;
}

/* ---- the rest ---- */

static atn_shape call(const atn_emitter *e, const atn_lan_node *node) {
    const char *name = ATN_LAN_BUILTINS[node->index].name;
    const atn_space *space = e->space;
    atn_shape a = atn_shape_of(e, space->links[node->first]);
    bool number = a.type == ATN_SHAPE_WHOLE || a.type == ATN_SHAPE_REAL;
    if (name[0] == 'm') { /* min, max */
        if (node->n_kids < 2) return UNKNOWN;
        for (int32_t k = 1; k < node->n_kids; ++k) {
            atn_shape b = atn_shape_of(e, space->links[node->first + k]), joined = join(a, b);
            if (joined.type == ATN_SHAPE_WHOLE && name[1] == 'i') joined.hi = least(a.hi, b.hi);
            if (joined.type == ATN_SHAPE_WHOLE && name[1] == 'a') joined.lo = most(a.lo, b.lo);
            a = joined;
        }
        return a.type == ATN_SHAPE_TEXT ? UNKNOWN : a;
    }
    if (!number) return UNKNOWN;
    a.truth = false;
    if (name[0] == 'a') { /* abs */
        if (a.type == ATN_SHAPE_REAL) return a;
        return whole(has_zero(&a) ? 0 : least(a.lo < 0 ? -a.lo : a.lo, a.hi < 0 ? -a.hi : a.hi),
                     most(a.hi < 0 ? -a.hi : a.hi, a.lo < 0 ? -a.lo : a.lo), a.fails);
    }
    if (name[0] == 'c' || name[0] == 'i' || (name[0] == 'f' && name[3] == 'o')) /* ceil, int, floor */
        return a.type == ATN_SHAPE_WHOLE ? a : whole(LEAST, MOST, true);
    if (name[0] == 'f') return real(a.fails); /* float */
    if (name[0] == 'l' && name[1] == 'o') return real(true);
    return UNKNOWN;
}

/* `in` takes lists that are written out; anything else of a list is left to the interpreter. */
static atn_shape membership(const atn_emitter *e, const atn_lan_node *node) {
    const atn_space *space = e->space;
    const atn_lan_node *list = atn_lan_kid(space, node, 1);
    atn_shape shape = atn_shape_of(e, space->links[node->first]), result = TRUTH;
    result.fails = shape.fails;
    if (list->op != ATN_LAN_ITEMS || shape.type == ATN_SHAPE_UNKNOWN) return UNKNOWN;
    for (int32_t k = 0; k < list->n_kids; ++k) {
        atn_shape item = atn_shape_of(e, space->links[list->first + k]);
        if (item.type == ATN_SHAPE_UNKNOWN) return UNKNOWN;
        result.fails |= item.fails;
    }
    return result;
}

static atn_shape logic(const atn_emitter *e, const atn_lan_node *node) {
    const atn_space *space = e->space;
    atn_shape result = TRUTH;
    for (int32_t k = 0; k < node->n_kids; ++k) {
        atn_shape kid = atn_shape_of(e, space->links[node->first + k]);
        if (kid.type != ATN_SHAPE_WHOLE && kid.type != ATN_SHAPE_REAL) return UNKNOWN;
        result.fails |= kid.fails;
        result.truth = result.truth && kid.truth; /* its value is that of a kid: known as a truth only if all are */
    }
    return result;
}

static atn_shape chain(const atn_emitter *e, const atn_lan_node *node) {
    const atn_space *space = e->space;
    atn_shape left = atn_shape_of(e, space->links[atn_lan_kid(space, node, 0)->first]), result = TRUTH;
    for (int32_t k = 0; k < node->n_kids; ++k) {
        const atn_lan_node *comparison = atn_lan_kid(space, node, k);
        if (comparison->op >= ATN_LAN_IN) return UNKNOWN;
        atn_shape right = atn_shape_of(e, space->links[comparison->first + 1]),
                  shape = binary(comparison->op, left, right);
        if (shape.type == ATN_SHAPE_UNKNOWN) return UNKNOWN;
        result.fails |= shape.fails;
        left = right;
    }
    return result;
}

atn_shape atn_shape_of(const atn_emitter *e, int32_t index) {
    const atn_space *space = e->space;
    const atn_lan_node *node = &space->nodes[index];
    const int32_t *kids = space->links + node->first;
    atn_shape a;
    switch (node->op) {
    case ATN_LAN_CONSTANT: {
        if (node->value.kind >= ATN_LAN_LIST || node->value.kind == ATN_LAN_NONE) return UNKNOWN;
        atn_setting setting = atn_lan_to_setting(space, &node->value);
        return shape_of_setting(&setting);
    }
    case ATN_LAN_PARAMETER:
        return e->parameters[node->index];
    case ATN_LAN_DERIVED:
        return e->derived[node->index];
    case ATN_LAN_LOCAL:
        return e->locals[node->index];
    case ATN_LAN_CALL:
        return call(e, node);
    case ATN_LAN_NOT:
        a = atn_shape_of(e, kids[0]);
        if (a.type != ATN_SHAPE_WHOLE && a.type != ATN_SHAPE_REAL) return UNKNOWN;
        return (atn_shape){.type = ATN_SHAPE_WHOLE, .truth = true, .hi = 1, .fails = a.fails};
    case ATN_LAN_NEGATE:
    case ATN_LAN_PLUS:
    case ATN_LAN_INVERT:
        a = atn_shape_of(e, kids[0]);
        a.truth = false;
        if (a.type == ATN_SHAPE_REAL && node->op != ATN_LAN_INVERT) return a;
        if (a.type != ATN_SHAPE_WHOLE) return UNKNOWN;
        if (node->op == ATN_LAN_NEGATE) return whole(-a.hi, -a.lo, a.fails);
        return node->op == ATN_LAN_PLUS ? a : whole(-a.hi - 1, -a.lo - 1, a.fails);
    case ATN_LAN_CHAIN:
        return chain(e, node);
    case ATN_LAN_AND:
    case ATN_LAN_OR:
        return logic(e, node);
    case ATN_LAN_IN:
    case ATN_LAN_NOT_IN:
        return membership(e, node);
    case ATN_LAN_CHOOSE: {
        atn_shape condition = atn_shape_of(e, kids[0]);
        if (condition.type != ATN_SHAPE_WHOLE && condition.type != ATN_SHAPE_REAL) return UNKNOWN;
        a = join(atn_shape_of(e, kids[1]), atn_shape_of(e, kids[2]));
        a.fails |= condition.fails;
        return a;
    }
    case ATN_LAN_NAME:
    case ATN_LAN_MEMBER:
    case ATN_LAN_BUILT:
    case ATN_LAN_ITEMS:
    case ATN_LAN_EACH:
    case ATN_LAN_EACH_VALUE:
        return UNKNOWN;
    default:
        return binary(node->op, atn_shape_of(e, kids[0]), atn_shape_of(e, kids[1]));
    }
}

/* Derived values use only those set before them. */
atn_status atn_shape_begin(atn_emitter *e, atn_shape **shapes) {
    const atn_space *space = e->space;
    *shapes = atn_zalloc(space->ctx, (space->n_parameters + space->n_derived + 1) * sizeof **shapes);
    if (!*shapes) return ATN_ERR_MEMORY;
    e->parameters = *shapes;
    e->derived = *shapes + space->n_parameters;
    for (size_t k = 0; k < space->n_parameters; ++k) (*shapes)[k] = shape_of_parameter(&space->parameters[k]);
    for (size_t k = 0; k < space->n_derived; ++k)
        (*shapes)[space->n_parameters + k] = atn_shape_of(e, space->derived[k]);
    return ATN_OK;
}

bool atn_shape_locals(atn_emitter *e, const atn_lan_block *block) {
    for (int32_t k = 0; k < block->count; ++k) {
        const atn_lan_statement *s = &block->items[k];
        if (s->kind == ATN_LAN_ASSIGN) {
            atn_shape *local = &e->locals[s->local], shape = atn_shape_of(e, s->node);
            *local = local->type == ATN_SHAPE_UNKNOWN ? shape : join(*local, shape);
            if (local->type == ATN_SHAPE_UNKNOWN) return false;
        }
        for (int32_t b = 0; b < s->n_branches; ++b)
            if (!atn_shape_locals(e, &s->branches[b].block)) return false;
    }
    return true;
}
