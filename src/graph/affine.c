/* Reading a selector as an affine form. Sums were brought into one shape when they were made (index.c), so at most one
 * part without dimensions is left to name. */
#include "graph/affine.h"

#include "base/size.h"

enum { LARGEST = 256 }; /* visits before we call it computed */

typedef struct reading {
    const atn_graph *graph;
    atn_affine *form;
    int32_t visits;
} reading;

static bool scaled_add(int64_t *sum, int64_t number, int64_t factor) {
    int64_t product;
    return atn_i64_mul(number, factor, &product) && atn_i64_add(*sum, product, sum);
}

static bool read_sum(reading *r, atn_value value, int64_t factor) {
    const atn_node *node = &r->graph->values[value];
    if (++r->visits > LARGEST || node->type != ATN_INDEX) return false;
    if (node->op == ATN_OP_CONST) return scaled_add(&r->form->constant, node->integer, factor);
    if (!node->dims) {
        bool shifted = node->op == ATN_OP_ADD && r->graph->values[node->arg[1]].op == ATN_OP_CONST;
        if (factor != 1 || r->form->rest >= 0) return false;
        r->form->rest = shifted ? node->arg[0] : value;
        return !shifted || scaled_add(&r->form->constant, r->graph->values[node->arg[1]].integer, 1);
    }
    if (node->op == ATN_OP_DIM) return scaled_add(&r->form->coefficient[node->index], 1, factor);
    if (node->op == ATN_OP_ADD) return read_sum(r, node->arg[0], factor) && read_sum(r, node->arg[1], factor);
    if (node->op == ATN_OP_MUL && r->graph->values[node->arg[1]].op == ATN_OP_CONST)
        return atn_i64_mul(factor, r->graph->values[node->arg[1]].integer, &factor) &&
               read_sum(r, node->arg[0], factor);
    return false;
}

/* Larger numbers would wrap in sums of a few of them: such a selector is computed, step by step, as it is written. */
static bool is_moderate(const atn_affine *form) {
    const int64_t steepest = (int64_t)1 << 32;
    for (int d = 0; d < ATN_MAX_DIMS; ++d)
        if (form->coefficient[d] >= steepest || form->coefficient[d] <= -steepest) return false;
    return form->constant <= ATN_FARTHEST && form->constant >= -ATN_FARTHEST;
}

atn_affine atn_affine_of(const atn_graph *graph, atn_value value) {
    atn_affine form = {.rest = -1, .modulus = -1};
    reading r = {.graph = graph, .form = &form};
    const atn_node *node = &graph->values[value];
    if (node->op == ATN_OP_FLOORMOD && !graph->values[node->arg[1]].dims) {
        form.modulus = node->arg[1];
        value = node->arg[0];
    }
    form.is_affine = read_sum(&r, value, 1) && (!node->dims || is_moderate(&form));
    return form;
}

/* Known from sizes and parameters alone, for any values of the dimensions. */
static bool is_static(const atn_graph *graph, atn_value value, int32_t *visits) {
    const atn_node *node = &graph->values[value];
    if (--*visits < 0) return false;
    switch (node->op) {
    case ATN_OP_READ:
    case ATN_OP_RESULT:
    case ATN_OP_ACC:
    case ATN_OP_LEFT:
    case ATN_OP_RIGHT:
    case ATN_OP_BEFORE:
    case ATN_OP_AFTER:
        return false;
    case ATN_OP_DIM:
        return is_static(graph, graph->dims[node->index].begin, visits) &&
               is_static(graph, graph->dims[node->index].end, visits);
    default:
        break;
    }
    for (int k = 0; k < 3; ++k)
        if (node->arg[k] >= 0 && !is_static(graph, node->arg[k], visits)) return false;
    return true;
}

bool atn_value_is_static(const atn_graph *graph, atn_value value) {
    int32_t visits = LARGEST;
    return is_static(graph, value, &visits);
}

static bool is_computed(const atn_graph *graph, atn_value value, int32_t *visits) {
    return value >= 0 && (!atn_affine_of(graph, value).is_affine || !is_static(graph, value, visits));
}

bool atn_value_is_computed(const atn_graph *graph, atn_value value) {
    int32_t visits = LARGEST;
    return is_computed(graph, value, &visits);
}

bool atn_select_is_computed(const atn_graph *graph, const atn_value select[ATN_MAX_RANK]) {
    int32_t visits = LARGEST;
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (is_computed(graph, select[axis], &visits)) return true;
    return false;
}
