/* A graph without loops of its own in the notation, value by value: what a program that is one kernel is printed from
 * when it is put into XML. */
#include "graph/rewrite.h"
#include "graph/unparse.h"

static void index_of(const atn_graph *g, atn_value value, atn_text *out) {
    const atn_node *n = &g->values[value];
    static const char *const SIZES[] = {"columns", "rows", "planes"};
    switch (n->op) {
    case ATN_OP_CONST:
        atn_text_printf(out, n->integer < 0 ? "(%lld)" : "%lld", (long long)n->integer);
        break;
    case ATN_OP_DIM:
        atn_text_printf(out, "i%d_", (int)g->dims[n->index].axis);
        break;
    case ATN_OP_SIZE:
        atn_text_printf(out, "%s(%s)", g->objects[n->index].rank == 1 ? "length" : SIZES[n->axis],
                        g->objects[n->index].name);
        break;
    case ATN_OP_ADD:
    case ATN_OP_MUL:
    case ATN_OP_DIV:
        atn_text_add(out, "(");
        index_of(g, n->arg[0], out);
        atn_text_add(out, n->op == ATN_OP_ADD ? " + " : n->op == ATN_OP_MUL ? " * " : " / ");
        index_of(g, n->arg[1], out);
        atn_text_add(out, ")");
        break;
    default:
        atn_text_printf(out, "v%d_", (int)value);
    }
}

static void element(const atn_graph *g, int32_t object, const atn_value *select, atn_text *out) {
    atn_text_printf(out, "%s[", g->objects[object].name);
    for (int32_t axis = g->objects[object].rank - 1; axis >= 0; --axis) {
        index_of(g, select[axis], out);
        atn_text_add(out, axis ? ", " : "]");
    }
}

static void operand(const atn_graph *g, atn_value value, atn_text *out) {
    const atn_node *n = &g->values[value];
    if (n->type == ATN_INDEX)
        index_of(g, value, out);
    else if (n->op == ATN_OP_PARAM)
        atn_text_add(out, g->parameters[n->index].name);
    else if (n->op == ATN_OP_CONST) {
        atn_text_add(out, "(");
        atn_unparse_number(n->number[0], out);
        atn_text_add(out, ")");
    } else
        atn_text_printf(out, "v%d_", (int)value);
}

/* One value of arithmetic; false: not of the kind that is printed here. */
static bool definition(const atn_graph *g, atn_value value, atn_text *out) {
    const atn_node *n = &g->values[value];
    const char *sign = n->op == ATN_OP_ADD   ? " + "
                       : n->op == ATN_OP_SUB ? " - "
                       : n->op == ATN_OP_MUL ? " * "
                       : n->op == ATN_OP_DIV ? " / "
                                             : NULL;
    if (n->type == ATN_INDEX) return n->op <= ATN_OP_SIZE || sign;
    if (n->op == ATN_OP_CONST || n->op == ATN_OP_PARAM) return true;
    if (!sign && n->op != ATN_OP_READ && n->op != ATN_OP_NEG) return false;
    atn_text_printf(out, "        v%d_: %s = ", (int)value, atn_type_name(n->type));
    if (n->op == ATN_OP_READ) {
        if (g->reads[n->index].boundary != ATN_EDGE_NONE) return false;
        element(g, g->reads[n->index].object, g->reads[n->index].select, out);
    } else {
        if (!sign) atn_text_add(out, "-");
        operand(g, n->arg[0], out);
        if (sign) atn_text_add(out, sign);
        if (sign) operand(g, n->arg[1], out);
    }
    atn_text_add(out, "\n");
    return true;
}

static void head(const atn_graph *g, atn_text *out) {
    atn_text_printf(out, "kernel %s(", g->name);
    for (int32_t k = 0; k < g->n_objects; ++k)
        atn_text_printf(out, "%s%s%s: %s %s", k ? ", " : "",
                        !g->objects[k].written ? ""
                        : g->objects[k].read   ? "inout "
                                               : "out ",
                        g->objects[k].name, atn_rank_name(g->objects[k].rank), atn_type_name(g->objects[k].type));
    for (int32_t k = 0; k < g->n_parameters; ++k)
        atn_text_printf(out, ", %s: %s", g->parameters[k].name, atn_type_name(g->parameters[k].type));
    atn_text_add(out, ")\n");
    if (g->finite) atn_text_add(out, "    finite\n");
    if (g->tolerance > 0) atn_text_printf(out, "    tolerance %.17g\n", g->tolerance);
    for (int part = 0; part < 2; ++part) {
        atn_text_add(out, part ? " in " : "    for ");
        for (int32_t d = g->blocks[0].rank - 1; d >= 0; --d) {
            if (part)
                index_of(g, g->dims[g->blocks[0].dim[d]].end, out);
            else
                atn_text_printf(out, "i%d_", (int)d);
            if (d) atn_text_add(out, ", ");
        }
    }
    atn_text_add(out, "\n");
}

bool atn_graph_print_flat(const atn_graph *g, atn_text *out) {
    if (g->n_blocks != 1 || g->blocks[0].n_accs || !g->blocks[0].rank) return false;
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (g->objects[k].table || g->objects[k].sized) return false;
    head(g, out);
    for (atn_value v = 0; v < g->n_values; ++v)
        if (!definition(g, v, out)) return false;
    for (int32_t w = 0; w < g->n_writes; ++w) {
        const atn_write *write = &g->writes[w];
        if (write->combine != ATN_WRITE_ONCE || write->enable >= 0 || write->block != 0 || write->distinct)
            return false;
        atn_text_add(out, "        ");
        element(g, write->object, write->select, out);
        atn_text_add(out, " = ");
        operand(g, write->value, out);
        atn_text_add(out, "\n");
    }
    return !out->failed;
}
