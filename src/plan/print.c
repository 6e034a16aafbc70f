/* A plan as text: its nodes, its seams, its memory. */
#include "plan/plan.h"

static void print_shape(const atn_plan_array *a, atn_text *out) {
    atn_text_printf(out, "%s %s ", atn_rank_name(a->rank), atn_type_name(a->type));
    for (int32_t axis = a->rank - 1; axis >= 0; --axis)
        atn_text_printf(out, "%lld%s", (long long)a->size[axis], axis ? "x" : "");
}

static void indent(atn_text *out, int32_t depth) {
    for (int32_t k = 0; k < depth; ++k) atn_text_add(out, "    ");
}

static const char *name_of(const atn_plan *plan, int32_t array) { return array < 0 ? "" : plan->arrays[array].name; }

static const char *first_written(const atn_graph *graph) {
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (graph->objects[k].written) return graph->objects[k].name;
    return "";
}

static void print_queue(const atn_plan *plan, const atn_plan_node *node, atn_text *out) {
    bool any = false;
    atn_text_printf(out, "    queue %d", node->queue);
    for (int32_t q = 0; q < plan->queues; ++q) {
        if (node->after[q] < 0) continue;
        atn_text_printf(out, "%s%s", any ? ", " : " after ", first_written(plan->nodes[node->after[q]].graph));
        any = true;
    }
}

/* "v = sweep(f, u; w)", and what is computed in it. */
static void print_step(const atn_plan *plan, const atn_plan_node *node, atn_text *out) {
    const atn_graph *graph = node->graph;
    bool any = false;
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (graph->objects[k].written) {
            atn_text_printf(out, "%s%s", any ? ", " : "", graph->objects[k].name);
            any = true;
        }
    atn_text_printf(out, " = %s(", graph->name);
    any = false;
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (graph->objects[k].read && !graph->objects[k].table) {
            atn_text_printf(out, "%s%s", any ? ", " : "", graph->objects[k].name);
            any = true;
        }
    for (int32_t k = 0; k < graph->n_parameters; ++k)
        atn_text_printf(out, "%s%s", k ? ", " : any ? "; " : "", graph->parameters[k].name);
    atn_text_add(out, ")");
    if (node->fused) atn_text_printf(out, "    with %s", node->fused);
    if (plan->queues > 1) print_queue(plan, node, out);
    atn_text_add(out, "\n");
}

static void print_nodes(const atn_plan *plan, atn_text *out) {
    int32_t depth = 1;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        const atn_plan_node *node = &plan->nodes[k];
        if (node->kind == ATN_NODE_GONE) continue;
        if (node->kind == ATN_NODE_END || node->kind == ATN_NODE_ELSE || node->kind == ATN_NODE_FI) --depth;
        if (node->kind != ATN_NODE_END && node->kind != ATN_NODE_FI) indent(out, depth);
        switch (node->kind) {
        case ATN_NODE_STEP:
            print_step(plan, node, out);
            break;
        case ATN_NODE_MOVE:
            atn_text_printf(out, "%s takes %s\n", name_of(plan, node->to), name_of(plan, node->from));
            break;
        case ATN_NODE_LOOP:
            atn_text_printf(out, "loop, at most %lld times", (long long)node->most);
            if (node->to >= 0) atn_text_printf(out, ", counted in %s", name_of(plan, node->to));
            atn_text_add(out, "\n");
            ++depth;
            break;
        case ATN_NODE_UNTIL:
            atn_text_printf(out, "leave unless %s\n", name_of(plan, node->from));
            break;
        case ATN_NODE_IF:
            atn_text_printf(out, "if %s\n", name_of(plan, node->from));
            ++depth;
            break;
        case ATN_NODE_ELSE:
            atn_text_add(out, "else\n");
            ++depth;
            break;
        default:
            break;
        }
    }
}

static void print_arrays(const atn_plan *plan, atn_text *out) {
    for (int32_t k = 0; k < plan->n_arrays; ++k) {
        const atn_plan_array *a = &plan->arrays[k];
        if (a->head < 0 && a->piece < 0 && a->same < 0 && plan->n_pieces) continue; /* fused away */
        atn_text_printf(out, "    %s: ", a->name);
        print_shape(a, out);
        if (a->head >= 0) atn_text_add(out, ", the caller's");
        if (a->same >= 0) atn_text_printf(out, ", in %s", name_of(plan, atn_plan_root(plan, k)));
        if (a->piece >= 0) atn_text_printf(out, ", at byte %zu of the arena", plan->piece_at[a->piece]);
        atn_text_add(out, "\n");
    }
}

void atn_plan_print(const atn_plan *plan, atn_text *out) {
    atn_text_printf(out, "program %s\n", plan->main.routine->name);
    print_nodes(plan, out);
    atn_text_add(out, "arrays\n");
    print_arrays(plan, out);
    if (plan->n_seams && plan->origin) atn_text_printf(out, "seams from wisdom (%s)\n", plan->origin);
    if (plan->n_seams && !plan->origin) atn_text_add(out, "seams\n");
    for (int32_t k = 0; k < plan->n_seams; ++k) {
        const atn_plan_seam *seam = &plan->seams[k];
        atn_text_printf(out, "    %d %s: ", k, name_of(plan, seam->array));
        if (seam->possible)
            atn_text_add(out, seam->fused ? "fused\n" : "could be fused\n");
        else
            atn_text_printf(out, "stays: %s\n", seam->why_not ? seam->why_not : "");
    }
    atn_text_printf(out, "arena: %zu bytes\n", plan->bytes);
}
