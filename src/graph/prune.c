/* From sketch to graph: values that reach a write are kept and renumbered, the rest is dropped. */
#include "graph/sketch.h"

#include <string.h>

typedef struct sieve {
    atn_sketch *sketch;
    bool *values, *reads, *blocks, *results; /* live; results: a block's accumulators are used */
    int32_t *value_at, *read_at, *block_at;  /* new numbers, -1: dropped */
    int32_t dim_at[ATN_MAX_DIMS];
} sieve;

static void keep(sieve *s, atn_value value) {
    if (value >= 0) s->values[value] = true;
}

static void keep_block(sieve *s, int32_t block) {
    for (; block >= 0 && !s->blocks[block]; block = s->sketch->blocks[block].parent) {
        const atn_block *b = &s->sketch->blocks[block];
        s->blocks[block] = true;
        for (int32_t d = 0; d < b->rank; ++d) {
            keep(s, s->sketch->dims[b->dim[d]].begin);
            keep(s, s->sketch->dims[b->dim[d]].end);
        }
    }
}

static void keep_results(sieve *s, int32_t block) {
    const atn_block *b = &s->sketch->blocks[block];
    keep_block(s, block);
    s->results[block] = true;
    for (int32_t k = 0; k < b->n_accs; ++k) {
        keep(s, b->acc[k].init);
        keep(s, b->acc[k].term);
        keep(s, b->acc[k].update);
        keep(s, b->acc[k].combine);
    }
}

/* Whatever a value needs was made before it, so one sweep from the last to the first finds all. */
static void mark(sieve *s) {
    atn_sketch *sketch = s->sketch;
    keep_block(s, 0);
    for (size_t k = 0; k < sketch->n_writes; ++k) {
        const atn_write *write = &sketch->writes[k];
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) keep(s, write->select[axis]);
        keep(s, write->value);
        keep(s, write->enable);
        if (write->block >= 0) keep_block(s, write->block);
    }
    for (size_t v = sketch->n_values; v-- > 0;) {
        if (!s->values[v]) continue;
        const atn_node *node = &sketch->values[v];
        for (int k = 0; k < 3; ++k) keep(s, node->arg[k]);
        if (node->op == ATN_OP_DIM) keep_block(s, sketch->dims[node->index].block);
        if (node->op == ATN_OP_RESULT || node->op == ATN_OP_BEFORE || node->op == ATN_OP_AFTER)
            keep_results(s, node->index);
        if (node->op != ATN_OP_READ) continue;
        s->reads[node->index] = true;
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) keep(s, sketch->reads[node->index].select[axis]);
    }
}

static int32_t number(const bool *live, size_t count, int32_t *at) {
    int32_t next = 0;
    for (size_t k = 0; k < count; ++k) at[k] = live[k] ? next++ : -1;
    return next;
}

static atn_value moved(const sieve *s, atn_value value) { return value < 0 ? -1 : s->value_at[value]; }

static atn_node move_node(const sieve *s, atn_node node) {
    uint32_t dims = 0;
    for (int d = 0; d < ATN_MAX_DIMS; ++d)
        if (node.dims >> d & 1 && s->dim_at[d] >= 0) dims |= 1u << s->dim_at[d];
    node.dims = dims;
    for (int k = 0; k < 3; ++k) node.arg[k] = moved(s, node.arg[k]);
    if (node.op == ATN_OP_DIM) node.index = s->dim_at[node.index];
    if (node.op == ATN_OP_READ) node.index = s->read_at[node.index];
    if (node.op == ATN_OP_RESULT || node.op == ATN_OP_ACC || node.op == ATN_OP_LEFT || node.op == ATN_OP_RIGHT ||
        node.op == ATN_OP_BEFORE || node.op == ATN_OP_AFTER)
        node.index = s->block_at[node.index];
    return node;
}

static atn_block move_block(const sieve *s, atn_block block, bool results) {
    if (block.parent >= 0) block.parent = s->block_at[block.parent];
    for (int32_t d = 0; d < block.rank; ++d) block.dim[d] = s->dim_at[block.dim[d]];
    if (!results) block.n_accs = 0;
    for (int32_t k = 0; k < block.n_accs; ++k) {
        atn_acc *acc = &block.acc[k];
        acc->init = moved(s, acc->init);
        acc->term = moved(s, acc->term);
        acc->update = moved(s, acc->update);
        acc->combine = moved(s, acc->combine);
    }
    for (int32_t k = block.n_accs; k < ATN_MAX_ACCS; ++k) block.acc[k] = (atn_acc){0};
    return block;
}

static bool make_sieve(sieve *s) {
    atn_reader *reader = s->sketch->reader;
    size_t values = s->sketch->n_values + 1, reads = s->sketch->n_reads + 1, blocks = s->sketch->n_blocks + 1;
    s->values = atn_reader_alloc(reader, values);
    s->reads = atn_reader_alloc(reader, reads);
    s->blocks = atn_reader_alloc(reader, blocks);
    s->results = atn_reader_alloc(reader, blocks);
    s->value_at = atn_reader_alloc(reader, values * sizeof *s->value_at);
    s->read_at = atn_reader_alloc(reader, reads * sizeof *s->read_at);
    s->block_at = atn_reader_alloc(reader, blocks * sizeof *s->block_at);
    return !reader->failed;
}

static bool make_arrays(atn_graph *graph, const atn_sketch *sketch) {
    graph->values = atn_arena_alloc(&graph->arena, (size_t)(graph->n_values + 1) * sizeof *graph->values);
    graph->reads = atn_arena_alloc(&graph->arena, (size_t)(graph->n_reads + 1) * sizeof *graph->reads);
    graph->blocks = atn_arena_alloc(&graph->arena, (size_t)(graph->n_blocks + 1) * sizeof *graph->blocks);
    graph->dims = atn_arena_alloc(&graph->arena, (sketch->n_dims + 1) * sizeof *graph->dims);
    graph->writes = atn_arena_alloc(&graph->arena, (sketch->n_writes + 1) * sizeof *graph->writes);
    return graph->values && graph->reads && graph->blocks && graph->dims && graph->writes;
}

void atn_sketch_prune(atn_sketch *sketch) {
    sieve s = {.sketch = sketch};
    atn_graph *graph = sketch->graph;
    if (!sketch->n_values || !make_sieve(&s)) return;
    mark(&s);
    graph->n_values = number(s.values, sketch->n_values, s.value_at);
    graph->n_reads = number(s.reads, sketch->n_reads, s.read_at);
    graph->n_blocks = number(s.blocks, sketch->n_blocks, s.block_at);
    if (!make_arrays(graph, sketch)) {
        sketch->reader->failed = true;
        return;
    }
    for (size_t d = 0; d < sketch->n_dims; ++d) {
        const atn_dim *dim = &sketch->dims[d];
        s.dim_at[d] = s.blocks[dim->block] ? graph->n_dims : -1;
        if (s.dim_at[d] < 0) continue;
        graph->dims[graph->n_dims++] =
            (atn_dim){s.block_at[dim->block], dim->axis, moved(&s, dim->begin), moved(&s, dim->end)};
    }
    for (size_t k = 0; k < sketch->n_values; ++k)
        if (s.values[k]) graph->values[s.value_at[k]] = move_node(&s, sketch->values[k]);
    for (size_t k = 0; k < sketch->n_blocks; ++k)
        if (s.blocks[k]) graph->blocks[s.block_at[k]] = move_block(&s, sketch->blocks[k], s.results[k]);
    for (size_t k = 0; k < sketch->n_reads; ++k) {
        if (!s.reads[k]) continue;
        atn_read *read = &graph->reads[s.read_at[k]];
        *read = sketch->reads[k];
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) read->select[axis] = moved(&s, read->select[axis]);
        graph->objects[read->object].read = true;
    }
    for (size_t k = 0; k < sketch->n_writes; ++k) {
        atn_write *write = &graph->writes[graph->n_writes++];
        *write = sketch->writes[k];
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) write->select[axis] = moved(&s, write->select[axis]);
        write->value = moved(&s, write->value);
        write->enable = moved(&s, write->enable);
        if (write->block >= 0) write->block = s.block_at[write->block];
        graph->objects[write->object].written = true;
    }
}
