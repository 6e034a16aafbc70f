/* Building a program piece by piece. */
#include "lower/build.h"

#include "base/memory.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

static bool room(atn_lowered *p, void **array, size_t *capacity, int32_t count, size_t size) {
    if (p->failed || atn_grow(p->arena.ctx, array, capacity, (size_t)count, size) != ATN_OK) p->failed = true;
    return !p->failed;
}

/* ---- expressions ---- */

ir_ref ir_make(atn_lowered *p, ir_node node) {
    if (!room(p, (void **)&p->nodes, &p->nodes_capacity, p->n_nodes, sizeof node)) return 0;
    ir_bound(p, &node);
    p->nodes[p->n_nodes] = node;
    return p->n_nodes++;
}

static ir_node blank(ir_kind kind, int32_t type) {
    return (ir_node){.kind = kind, .type = type, .width = 1, .arg = {-1, -1, -1}};
}

ir_ref ir_integer(atn_lowered *p, int32_t type, int64_t value) {
    ir_node n = blank(IR_INTEGER, type);
    n.integer = value;
    return ir_make(p, n);
}

ir_ref ir_address(atn_lowered *p, int64_t value) { return ir_integer(p, IR_ADDRESS, value); }

ir_ref ir_number(atn_lowered *p, int32_t type, double value) {
    ir_node n = blank(IR_NUMBER, type);
    n.number = value;
    return ir_make(p, n);
}

ir_ref ir_variable_ref(atn_lowered *p, int32_t variable) {
    if (p->failed) return 0;
    ir_node n = blank(IR_VARIABLE, p->variables[variable].type);
    n.width = p->variables[variable].width;
    n.id = variable;
    return ir_make(p, n);
}

int32_t ir_type_of(const atn_lowered *p, ir_ref a) { return p->failed ? ATN_INDEX : p->nodes[a].type; }
int32_t ir_width_of(const atn_lowered *p, ir_ref a) { return p->failed ? 1 : p->nodes[a].width; }

bool ir_is_integer(const atn_lowered *p, ir_ref a, int64_t *value) {
    if (p->failed || a < 0 || p->nodes[a].kind != IR_INTEGER) return false;
    *value = p->nodes[a].integer;
    return true;
}

ir_ref ir_operation(atn_lowered *p, atn_op op, int32_t type, ir_ref a, ir_ref b, ir_ref c) {
    if (p->failed) return 0;
    ir_node n = blank(IR_OPERATION, type);
    ir_ref args[3] = {a, b, c};
    for (int k = 0; k < 3; ++k)
        if (args[k] >= 0 && p->nodes[args[k]].width > n.width) n.width = p->nodes[args[k]].width;
    for (int k = 0; k < 3; ++k) n.arg[k] = args[k] >= 0 ? ir_splat(p, args[k], n.width) : -1;
    n.op = op;
    return ir_make(p, n);
}

ir_ref ir_splat(atn_lowered *p, ir_ref a, int32_t width) {
    if (p->failed || p->nodes[a].width == width) return a;
    ir_node n = blank(IR_SPLAT, p->nodes[a].type);
    n.width = width;
    n.arg[0] = a;
    return ir_make(p, n);
}

ir_ref ir_lane(atn_lowered *p, ir_ref a, int32_t lane) {
    if (p->failed || p->nodes[a].width == 1) return a;
    if (p->nodes[a].kind == IR_SPLAT) return p->nodes[a].arg[0];
    if (p->nodes[a].kind == IR_JOIN) return p->list[p->nodes[a].list + lane];
    ir_node n = blank(IR_LANE, p->nodes[a].type);
    n.arg[0] = a;
    n.integer = lane;
    return ir_make(p, n);
}

ir_ref ir_turn(atn_lowered *p, ir_ref a, ir_ref b, int32_t piece, int32_t odd) {
    if (p->failed) return 0;
    ir_node n = blank(IR_TURN, p->nodes[a].type);
    n.width = p->nodes[a].width;
    n.arg[0] = a;
    n.arg[1] = b;
    n.integer = piece;
    n.id = odd;
    return ir_make(p, n);
}

ir_ref ir_join(atn_lowered *p, const ir_ref *scalars, int32_t width) {
    if (p->failed) return 0;
    ir_node n = blank(IR_JOIN, p->nodes[scalars[0]].type);
    n.width = width;
    n.list = p->n_list;
    for (int32_t k = 0; k < width; ++k) {
        if (!room(p, (void **)&p->list, &p->list_capacity, p->n_list, sizeof *p->list)) return 0;
        p->list[p->n_list++] = scalars[k];
    }
    return ir_make(p, n);
}

static int64_t wrapped(int32_t type, uint64_t sum) {
    return type == IR_ADDRESS ? (int64_t)sum : atn_type_wrap((atn_type)type, (int64_t)sum);
}

ir_ref ir_add(atn_lowered *p, ir_ref a, ir_ref b) {
    int64_t x, y;
    bool ax = ir_is_integer(p, a, &x), by = ir_is_integer(p, b, &y);
    if (ax && by) return ir_integer(p, ir_type_of(p, a), wrapped(ir_type_of(p, a), (uint64_t)x + (uint64_t)y));
    if (ax && x == 0) return b;
    if (by && y == 0) return a;
    return ir_operation(p, ATN_OP_ADD, ir_type_of(p, a), a, b, -1);
}

ir_ref ir_subtract(atn_lowered *p, ir_ref a, ir_ref b) {
    int64_t x, y;
    bool ax = ir_is_integer(p, a, &x), by = ir_is_integer(p, b, &y);
    if (ax && by) return ir_integer(p, ir_type_of(p, a), wrapped(ir_type_of(p, a), (uint64_t)x - (uint64_t)y));
    if (by && y == 0) return a;
    if (a == b) return ir_integer(p, ir_type_of(p, a), 0);
    return ir_operation(p, ATN_OP_SUB, ir_type_of(p, a), a, b, -1);
}

ir_ref ir_multiply(atn_lowered *p, ir_ref a, ir_ref b) {
    int64_t x = 0, y = 0;
    bool ax = ir_is_integer(p, a, &x), by = ir_is_integer(p, b, &y);
    if (ax && by) return ir_integer(p, ir_type_of(p, a), wrapped(ir_type_of(p, a), (uint64_t)x * (uint64_t)y));
    if ((ax && x == 1) || (by && y == 0)) return b;
    if ((by && y == 1) || (ax && x == 0)) return a;
    return ir_operation(p, ATN_OP_MUL, ir_type_of(p, a), a, b, -1);
}

ir_ref ir_add_integer(atn_lowered *p, ir_ref a, int64_t b) {
    return b == 0 ? a : ir_add(p, a, ir_integer(p, ir_type_of(p, a), b));
}

ir_ref ir_multiply_integer(atn_lowered *p, ir_ref a, int64_t b) {
    return ir_multiply(p, a, ir_integer(p, ir_type_of(p, a), b));
}

ir_ref ir_cast(atn_lowered *p, int32_t type, ir_ref a) {
    if (p->failed || p->nodes[a].type == type) return a;
    bool whole = type == IR_ADDRESS || type == ATN_INDEX;
    if (p->nodes[a].kind == IR_INTEGER && whole) return ir_integer(p, type, p->nodes[a].integer);
    const ir_node *n = &p->nodes[a]; /* a cast and its inverse cancel: addresses are indices that fit */
    bool wide = n->type == IR_ADDRESS || n->type == ATN_INDEX; /* a narrower type in between loses bits */
    if (whole && wide && n->kind == IR_OPERATION && n->op == ATN_OP_CAST && p->nodes[n->arg[0]].type == type)
        return n->arg[0];
    return ir_operation(p, ATN_OP_CAST, type, a, -1, -1);
}

ir_ref ir_and(atn_lowered *p, ir_ref a, ir_ref b) {
    if (a < 0) return b;
    if (b < 0) return a;
    return ir_operation(p, ATN_OP_AND, ATN_B, a, b, -1);
}

ir_ref ir_less(atn_lowered *p, ir_ref a, ir_ref b) { return ir_operation(p, ATN_OP_LT, ATN_B, a, b, -1); }

ir_ref ir_within(atn_lowered *p, ir_ref a, ir_ref n) {
    ir_node node = blank(IR_WITHIN, ATN_B);
    node.arg[0] = a;
    node.arg[1] = n;
    return ir_make(p, node);
}

ir_ref ir_argument_ref(atn_lowered *p, ir_argument_kind kind, int32_t id, int32_t type) {
    ir_node n = blank(IR_ARGUMENT, type);
    n.integer = kind;
    n.id = id;
    return ir_make(p, n);
}

ir_ref ir_special(atn_lowered *p, ir_kind kind, int32_t type) { return ir_make(p, blank(kind, type)); }

/* ---- statements ---- */

ir_stmt ir_append(atn_lowered *p, ir_block *block, ir_statement statement) {
    if (!room(p, (void **)&p->statements, &p->statements_capacity, p->n_statements, sizeof statement)) return -1;
    statement.next = -1;
    p->statements[p->n_statements] = statement;
    if (block->last >= 0)
        p->statements[block->last].next = p->n_statements;
    else
        block->first = p->n_statements;
    return block->last = p->n_statements++;
}

static ir_statement bare(ir_statement_kind kind) {
    return (ir_statement){
        .kind = kind, .id = -1, .index = -1, .value = -1, .limit = -1, .body = -1, .other = -1, .step = 1, .unroll = 1};
}

void ir_comment(atn_lowered *p, ir_block *block, const char *format, ...) {
    char text[256];
    ATN_FORMAT(text, format);
    ir_statement s = bare(IR_COMMENT);
    s.text = atn_arena_strdup(&p->arena, text);
    if (!s.text) p->failed = true;
    ir_append(p, block, s);
}

/* Letters, digits and '_' only, not starting with a digit, and never ending in digits, because a number may be
 * appended. */
static void tidy(const char *name, char *out, size_t bytes) {
    size_t n = 0;
    if (!name || !*name) name = "t";
    if (*name >= '0' && *name <= '9') out[n++] = '_';
    for (; *name && n + 1 < bytes; ++name) {
        char c = *name;
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out[n++] = good ? c : '_';
    }
    out[n] = '\0';
}

int32_t ir_new_variable(atn_lowered *p, const char *name, int32_t type, int32_t width, bool is_mutable) {
    char base[64];
    tidy(name, base, sizeof base);
    const char *unique = atn_arena_printf(&p->arena, "%s_%d", base, p->n_variables);
    if (!unique) p->failed = true;
    if (!room(p, (void **)&p->variables, &p->variables_capacity, p->n_variables, sizeof *p->variables)) return 0;
    ir_node any = blank(IR_LOAD, type);
    ir_bound(p, &any);
    p->variables[p->n_variables] = (ir_variable){unique, type, width, is_mutable, any.low, any.high};
    return p->n_variables++;
}

static int32_t declare(atn_lowered *p, ir_block *block, const char *name, ir_ref value, bool is_mutable) {
    if (p->failed) return 0;
    int32_t variable = ir_new_variable(p, name, p->nodes[value].type, p->nodes[value].width, is_mutable);
    if (!p->failed && !is_mutable) {
        p->variables[variable].low = p->nodes[value].low;
        p->variables[variable].high = p->nodes[value].high;
    }
    ir_statement s = bare(IR_DECLARE);
    s.id = variable;
    s.value = value;
    ir_append(p, block, s);
    return variable;
}

ir_ref ir_declare(atn_lowered *p, ir_block *block, const char *name, ir_ref value) {
    if (p->failed || p->nodes[value].kind == IR_INTEGER || p->nodes[value].kind == IR_VARIABLE) return value;
    return ir_variable_ref(p, declare(p, block, name, value, false));
}

int32_t ir_declare_mutable(atn_lowered *p, ir_block *block, const char *name, ir_ref value) {
    return declare(p, block, name, value, true);
}

void ir_assign(atn_lowered *p, ir_block *block, int32_t variable, ir_ref value) {
    ir_statement s = bare(IR_ASSIGN);
    s.id = variable;
    s.value = value;
    ir_append(p, block, s);
}

void ir_if(atn_lowered *p, ir_block *block, ir_ref condition, ir_block body, ir_block other) {
    ir_statement s = bare(IR_IF);
    s.value = condition;
    s.body = body.first;
    s.other = other.first;
    ir_append(p, block, s);
}

void ir_for(atn_lowered *p, ir_block *block, int32_t variable, ir_ref from, ir_ref to, int64_t step, int32_t unroll,
            ir_block body) {
    ir_statement s = bare(IR_FOR);
    s.id = variable;
    s.value = from;
    s.limit = to;
    s.step = step;
    s.unroll = unroll;
    s.body = body.first;
    ir_append(p, block, s);
}

void ir_barrier(atn_lowered *p, ir_block *block) { ir_append(p, block, bare(IR_BARRIER)); }

int32_t ir_load_matrices(atn_lowered *p, ir_block *block, const char *name, int32_t count, int32_t tile, ir_ref at,
                         bool turned) {
    int32_t first = -1;
    for (int32_t k = 0; k < count; ++k) {
        int32_t variable = ir_new_variable(p, name, ATN_INT32, 1, true);
        if (k == 0) first = variable;
    }
    ir_append(p, block,
              (ir_statement){.kind = IR_MATRIX_LOAD,
                             .id = first,
                             .index = at,
                             .value = -1,
                             .limit = -1,
                             .step = tile,
                             .unroll = count,
                             .component = turned,
                             .body = -1,
                             .other = -1});
    return first;
}
