/* Bounds of integer expressions, whatever the data: derived from the types of elements and parameters upwards. A sum or
 * product that may overflow its type wraps and is printed as an unsigned operation; everything else, including all
 * address arithmetic, is plain. */
#include "lower/build.h"

#include "base/size.h"
#include "graph/affine.h"
#include "graph/type.h"

typedef struct bounds {
    int64_t low, high;
} bounds;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static bool holds(bounds outer, bounds inner) { return outer.low <= inner.low && inner.high <= outer.high; }
static bounds both(bounds a, bounds b) { return (bounds){least(a.low, b.low), most(a.high, b.high)}; }

/* Addresses were proven to be in range when arrays were bound (atn_eval_span), with room for overhanging tiles. */
static bounds of_type(const atn_lowered *p, int32_t type) {
    int64_t farthest = p->variant.index == 32 ? INT32_MAX : 4 * ATN_FARTHEST;
    if (type == IR_ADDRESS) return (bounds){-farthest - 1, farthest};
    const atn_type_info *info = atn_type_get_info((atn_type)type);
    return (bounds){info->lowest, info->highest};
}

static bool is_whole(int32_t type) { return type == IR_ADDRESS || atn_type_is_integer((atn_type)type); }

/* Over all four pairs of bounds; false if the result does not fit into 64 bits. */
static bool of_pairs(atn_op op, bounds a, bounds b, bounds *out) {
    const int64_t x[2] = {a.low, a.high}, y[2] = {b.low, b.high};
    for (int k = 0; k < 4; ++k) {
        int64_t v, left = x[k & 1], right = y[k >> 1];
        bool overflow = op == ATN_OP_ADD   ? __builtin_add_overflow(left, right, &v)
                        : op == ATN_OP_SUB ? __builtin_sub_overflow(left, right, &v)
                                           : __builtin_mul_overflow(left, right, &v);
        if (overflow) return false;
        *out = k ? both(*out, (bounds){v, v}) : (bounds){v, v};
    }
    return true;
}

/* The largest absolute value, where it exists. */
static int64_t size_of(bounds a) { return a.low == INT64_MIN ? INT64_MAX : most(-a.low, a.high); }

/* Bounds of an integer operation on integer arguments; `type` where nothing better is known. */
static bounds of_operation(const atn_lowered *p, ir_node *n, bounds type) {
    bounds arg[3] = {{0, 0}}, r = type;
    for (int k = 0; k < 3 && n->arg[k] >= 0; ++k) {
        const ir_node *from = &p->nodes[n->arg[k]];
        if (!is_whole(from->type)) return type;
        arg[k] = (bounds){from->low, from->high};
    }
    bounds a = arg[0], b = arg[1];
    switch (n->op) {
    case ATN_OP_NEG:
        b = a;
        a = (bounds){0, 0};
        n->wraps = !of_pairs(ATN_OP_SUB, a, b, &r) || !holds(type, r);
        break;
    case ATN_OP_ADD:
    case ATN_OP_SUB:
    case ATN_OP_MUL:
        n->wraps = !of_pairs(n->op, a, b, &r) || !holds(type, r);
        break;
    case ATN_OP_SHL:
        n->wraps = true;
        break;
    case ATN_OP_CAST:
        r = a;
        break;
    case ATN_OP_MIN:
        r = (bounds){least(a.low, b.low), least(a.high, b.high)};
        break;
    case ATN_OP_MAX:
        r = (bounds){most(a.low, b.low), most(a.high, b.high)};
        break;
    case ATN_OP_SELECT:
        r = both(arg[1], arg[2]);
        break;
    case ATN_OP_FLOORMOD:
        r = (bounds){least(0, b.low == INT64_MIN ? b.low : b.low + 1), most(0, b.high - (b.high > INT64_MIN))};
        break;
    case ATN_OP_MOD:
        r = (bounds){least(0, a.low), most(0, a.high)};
        break;
    case ATN_OP_DIV:
        if (a.low > INT64_MIN) r = (bounds){-size_of(a), size_of(a)};
        break;
    case ATN_OP_ABS:
        if (a.low > INT64_MIN) r = (bounds){0, size_of(a)};
        break;
    case ATN_OP_BITAND:
        if (a.low >= 0 || b.low >= 0)
            r = (bounds){0, a.low >= 0 && b.low >= 0 ? least(a.high, b.high) : a.low >= 0 ? a.high : b.high};
        break;
    case ATN_OP_SHR:
        r = (bounds){least(a.low, 0), a.high < 0 ? -1 : a.high};
        break;
    default:
        break;
    }
    return !n->wraps && holds(type, r) ? r : type; /* values that do not fit wrap */
}

void ir_bound(const atn_lowered *p, ir_node *n) {
    if (!is_whole(n->type)) return;
    bounds type = of_type(p, n->type), r = type;
    switch (n->kind) {
    case IR_INTEGER:
        r = (bounds){n->integer, n->integer};
        break;
    case IR_VARIABLE:
        r = (bounds){p->variables[n->id].low, p->variables[n->id].high};
        break;
    case IR_SPLAT:
    case IR_LANE:
        r = (bounds){p->nodes[n->arg[0]].low, p->nodes[n->arg[0]].high};
        break;
    case IR_JOIN:
        for (int32_t k = 0; k < n->width; ++k) {
            const ir_node *lane = &p->nodes[p->list[n->list + k]];
            r = k ? both(r, (bounds){lane->low, lane->high}) : (bounds){lane->low, lane->high};
        }
        break;
    case IR_OPERATION:
        if (n->type != IR_ADDRESS) r = of_operation(p, n, type);
        break;
    default:
        break;
    }
    n->low = r.low;
    n->high = r.high;
}

bool ir_fits(const atn_lowered *p, ir_ref a, int32_t type) {
    if (p->failed || (type == IR_ADDRESS && p->variant.index == 64)) return true;
    return holds(of_type(p, type), (bounds){p->nodes[a].low, p->nodes[a].high});
}
