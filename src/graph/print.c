/* A graph as text, one line per item, for people and tests. */
#include "graph/graph.h"
#include "graph/recognise.h"
#include "graph/type.h"

static const char *const edges[] = {"none", "clamp", "zero", "wrap", "mirror"};
static const char *const combines[] = {"once", "add", "min", "max", "or"};

static void print_constant(const atn_node *node, atn_text *out) {
    if (atn_type_is_integer(node->type))
        atn_text_printf(out, "%lld", (long long)node->integer);
    else if (atn_type_is_complex(node->type))
        atn_text_printf(out, "(%.17g, %.17g)", node->number[0], node->number[1]);
    else
        atn_text_printf(out, "%.17g", node->number[0]);
}

static void print_select(const atn_graph *graph, int32_t object, const atn_value select[ATN_MAX_RANK], atn_text *out) {
    atn_text_printf(out, "%s[v%d", graph->objects[object].name, select[0]);
    for (int axis = 1; axis < ATN_MAX_RANK; ++axis)
        if (select[axis] >= 0) atn_text_printf(out, ", v%d", select[axis]);
    atn_text_add(out, "]");
}

static void print_operation(const atn_graph *graph, const atn_node *node, atn_text *out) {
    const atn_op_info *info = atn_op_get_info(node->op);
    switch (node->op) {
    case ATN_OP_CONST:
        print_constant(node, out);
        return;
    case ATN_OP_DIM:
        atn_text_printf(out, "d%d", node->index);
        return;
    case ATN_OP_SIZE:
        atn_text_printf(out, "%s.Size(%d)", graph->objects[node->index].name, node->axis);
        return;
    case ATN_OP_PARAM:
        atn_text_printf(out, "param %s", graph->parameters[node->index].name);
        return;
    case ATN_OP_RESULT:
        atn_text_printf(out, "%s.out(%d)", graph->blocks[node->index].name, node->axis);
        return;
    case ATN_OP_BEFORE:
    case ATN_OP_AFTER:
        atn_text_printf(out, "%s.%s(%d)", graph->blocks[node->index].name, info->name, node->axis);
        return;
    case ATN_OP_ACC:
    case ATN_OP_LEFT:
    case ATN_OP_RIGHT:
        atn_text_printf(out, "%s(%d)", info->name, node->axis);
        return;
    case ATN_OP_READ: {
        const atn_read *read = &graph->reads[node->index];
        atn_text_add(out, "read ");
        print_select(graph, read->object, read->select, out);
        if (read->boundary) atn_text_printf(out, " %s", edges[read->boundary]);
        return;
    }
    default:
        break;
    }
    atn_text_add(out, info->name);
    for (int32_t k = 0; k < info->arity; ++k) atn_text_printf(out, " v%d", node->arg[k]);
}

static void print_value(const atn_graph *graph, int32_t v, atn_text *out) {
    const atn_node *node = &graph->values[v];
    atn_text_printf(out, "  v%d %s = ", v, atn_type_name(node->type));
    print_operation(graph, node, out);
    for (int32_t d = 0, first = 1; d < graph->n_dims; ++d) {
        if (!(node->dims >> d & 1)) continue;
        atn_text_printf(out, "%sd%d", first ? "  {" : " ", d);
        first = 0;
    }
    if (node->dims) atn_text_add(out, "}");
    if (node->label) atn_text_printf(out, "  %s", node->label);
    atn_text_add(out, "\n");
}

static void print_part(const char *name, atn_value value, atn_text *out) {
    if (value >= 0) atn_text_printf(out, " %s v%d", name, value);
}

static void print_block(const atn_graph *graph, int32_t number, atn_text *out) {
    const atn_block *block = &graph->blocks[number];
    atn_text_printf(out, "  block %s", block->name);
    if (block->parent >= 0) atn_text_printf(out, " in %s", graph->blocks[block->parent].name);
    for (int32_t d = 0; d < block->rank; ++d)
        atn_text_printf(out, "%s d%d from v%d to v%d", d ? "," : ":", block->dim[d], graph->dims[block->dim[d]].begin,
                        graph->dims[block->dim[d]].end);
    atn_text_add(out, "\n");
    for (int32_t k = 0; k < block->n_accs; ++k) {
        const atn_acc *acc = &block->acc[k];
        atn_text_printf(out, "    acc(%d) %s %s", k, atn_type_name(acc->type), atn_join_name(acc->join));
        print_part("init", acc->init, out);
        print_part("term", acc->term, out);
        if (acc->key >= 0) atn_text_printf(out, " key %d order %d", acc->key, acc->order);
        print_part("update", acc->update, out);
        print_part("combine", acc->combine, out);
        atn_text_add(out, acc->hidden ? " hidden\n" : "\n");
    }
}

static void print_write(const atn_graph *graph, const atn_write *write, atn_text *out) {
    atn_text_printf(out, "  write %s: ", write->name);
    print_select(graph, write->object, write->select, out);
    atn_text_printf(out, " = v%d", write->value);
    if (write->enable >= 0) atn_text_printf(out, " if v%d", write->enable);
    if (write->combine) atn_text_printf(out, " %s", combines[write->combine]);
    atn_text_printf(out, " %s %s\n", write->block < 0 ? "after" : "in",
                    graph->blocks[write->block < 0 ? 0 : write->block].name);
}

void atn_graph_print(const atn_graph *graph, atn_text *out) {
    atn_text_printf(out, "graph %s\n", graph->name);
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        const atn_object *object = &graph->objects[k];
        atn_text_printf(out, "  object %s: %s of %s%s%s%s\n", object->name, atn_rank_name(object->rank),
                        atn_type_name(object->type), object->table ? ", table" : "", object->read ? ", read" : "",
                        object->written ? ", written" : "");
    }
    for (int32_t k = 0; k < graph->n_parameters; ++k)
        atn_text_printf(out, "  parameter %s: %s\n", graph->parameters[k].name,
                        atn_type_name(graph->parameters[k].type));
    for (int32_t k = 0; k < graph->n_values; ++k) print_value(graph, k, out);
    for (int32_t k = 0; k < graph->n_blocks; ++k) print_block(graph, k, out);
    for (int32_t k = 0; k < graph->n_writes; ++k) print_write(graph, &graph->writes[k], out);
}
