/* The hash of what a graph computes. Names and positions are excluded; values are hashed by their definition. */
#include "graph/sketch.h"
#include "graph/type.h"

static atn_hash add_numbers(atn_hash hash, const int64_t *numbers, size_t count) {
    return atn_hash_add(hash, numbers, count * sizeof *numbers);
}
#define ADD(hash, ...)                                                                                                 \
    add_numbers(hash, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static atn_hash add_value(atn_hash hash, const atn_hash *of, atn_value value) {
    return value < 0 ? ADD(hash, -1) : atn_hash_add(hash, &of[value], sizeof *of);
}

/* Two selectors always, which is what there was before volumes: hashes stay what they were. */
static atn_hash add_select(atn_hash hash, const atn_hash *of, const atn_value select[ATN_MAX_RANK]) {
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (axis < 2 || select[axis] >= 0) hash = add_value(hash, of, select[axis]);
    return hash;
}

static atn_hash hash_value(const atn_graph *graph, const atn_hash *of, const atn_node *node) {
    atn_hash hash = ADD((atn_hash){0}, node->op, node->type, node->axis, node->integer);
    hash = atn_hash_add(hash, node->number, sizeof node->number);
    for (int k = 0; k < 3; ++k) hash = add_value(hash, of, node->arg[k]);
    if (node->op == ATN_OP_DIM) return ADD(hash, graph->dims[node->index].block, graph->dims[node->index].axis);
    if (node->op != ATN_OP_READ) return ADD(hash, node->index);
    const atn_read *read = &graph->reads[node->index];
    hash = ADD(hash, read->object, read->boundary);
    return add_select(hash, of, read->select);
}

static atn_hash add_block(atn_hash hash, const atn_graph *graph, const atn_hash *of, const atn_block *block) {
    hash = ADD(hash, block->parent, block->rank, block->n_accs);
    for (int32_t d = 0; d < block->rank; ++d)
        hash = add_value(add_value(hash, of, graph->dims[block->dim[d]].begin), of, graph->dims[block->dim[d]].end);
    for (int32_t k = 0; k < block->n_accs; ++k) {
        const atn_acc *acc = &block->acc[k];
        hash = ADD(hash, acc->type, acc->join, acc->key, acc->order, acc->hidden);
        hash = add_value(add_value(hash, of, acc->init), of, acc->term);
        hash = add_value(add_value(hash, of, acc->update), of, acc->combine);
    }
    return hash;
}

static atn_hash add_object(atn_hash hash, const atn_object *object) {
    hash = ADD(hash, object->rank, object->type, object->read, object->written, object->table != NULL);
    if (object->sized) hash = ADD(hash, object->table_size[0], object->table_size[1]);
    if (!object->table) return hash;
    hash = ADD(hash, object->table_size[0], object->table_size[1]);
    for (int32_t axis = 2; axis < object->rank; ++axis) hash = ADD(hash, object->table_size[axis]);
    return atn_hash_add(hash, object->table, (size_t)atn_table_elements(object) * atn_type_bytes(object->type));
}

atn_hash atn_graph_hash(atn_reader *reader, const atn_graph *graph) {
    atn_hash hash =
        ADD((atn_hash){0}, graph->finite, graph->n_objects, graph->n_parameters, graph->n_blocks, graph->n_writes);
    atn_hash *of = atn_reader_alloc(reader, (size_t)(graph->n_values + 1) * sizeof *of);
    if (!of) return hash;
    for (int32_t k = 0; k < graph->n_values; ++k) of[k] = hash_value(graph, of, &graph->values[k]);
    for (int32_t k = 0; k < graph->n_objects; ++k) hash = add_object(hash, &graph->objects[k]);
    for (int32_t k = 0; k < graph->n_parameters; ++k) hash = ADD(hash, graph->parameters[k].type);
    for (int32_t k = 0; k < graph->n_blocks; ++k) hash = add_block(hash, graph, of, &graph->blocks[k]);
    for (int32_t k = 0; k < graph->n_writes; ++k) {
        const atn_write *write = &graph->writes[k];
        hash = ADD(hash, write->object, write->distinct ? ATN_WRITE_DISTINCT : write->combine, write->block);
        hash = add_select(hash, of, write->select);
        hash = add_value(add_value(hash, of, write->value), of, write->enable);
    }
    return hash;
}
