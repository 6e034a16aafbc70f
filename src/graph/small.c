/* Testing accesses at small sizes. */
#include "graph/small.h"

#include "graph/type.h"

#include <string.h>

enum {
    TRIALS = 24,
    LARGEST_CONSTANT = 4,
    LARGEST_PLAN = 256,
    SLOTS = 1 << 14,
    MOST_POINTS = SLOTS / 2,
    MOST_STEPS = 1 << 26
};

/* Who touched an element first. */
typedef struct owner {
    int64_t address[ATN_MAX_RANK], point;
    int32_t stamp; /* of the trial; others are empty */
} owner;

struct atn_small {
    const atn_graph *graph;
    int32_t list[LARGEST_PLAN]; /* values to compute, arguments first */
    int32_t n_list;
    int32_t number; /* of the trial: decides the sizes */
    int32_t stamp;  /* never used twice */
    int64_t *value; /* per value of the graph */
    owner *owners;
    int32_t n_owners;
    int64_t steps; /* values computed so far, over all trials */
    bool unknown, clash;
};
typedef atn_small trial;

static uint32_t scramble(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t hash = (a + 1) * 0x9e3779b1u ^ (b + 1) * 0x85ebca77u ^ (c + 1) * 0xc2b2ae3du;
    hash ^= hash >> 15;
    hash *= 0x27d4eb2fu;
    return hash ^ hash >> 13;
}

static int64_t size_of(const trial *t, int32_t object, int32_t axis) {
    const atn_object *o = &t->graph->objects[object];
    if (o->table) return o->table_size[axis];
    return 6 + scramble((uint32_t)object, (uint32_t)axis, (uint32_t)t->number) % 11;
}

/* Half of the time a choice, half of the time a length. */
static int64_t parameter_of(const trial *t, int32_t parameter) {
    uint32_t bits = scramble((uint32_t)parameter, 77, (uint32_t)t->number);
    return bits & 1 ? (int64_t)(bits / 2 % 9) - 4 : 6 + (int64_t)(bits / 2 % 11);
}

static bool can_compute(const atn_node *node) {
    int64_t ignored;
    if (!atn_type_is_integer(node->type)) return false;
    switch (node->op) {
    case ATN_OP_CONST:
        return node->integer >= -LARGEST_CONSTANT && node->integer <= LARGEST_CONSTANT;
    case ATN_OP_DIM:
    case ATN_OP_SIZE:
    case ATN_OP_PARAM:
    case ATN_OP_SELECT:
    case ATN_OP_CAST:
        return true;
    default:
        return node->op >= ATN_OP_ADD && atn_op_integer(node->op, node->type, 1, 1, &ignored);
    }
}

/* Adds what `value` needs; false when some of it cannot be computed here. Comparisons of floats end there too. */
static bool plan_within(trial *t, atn_value value, int32_t depth) {
    if (value < 0) return true;
    for (int32_t k = 0; k < t->n_list; ++k)
        if (t->list[k] == value) return true;
    const atn_node *node = &t->graph->values[value];
    if (!can_compute(node) || !depth) return false;
    for (int k = 0; k < 3; ++k)
        if (!plan_within(t, node->arg[k], depth - 1)) return false;
    if (t->n_list == LARGEST_PLAN) return false;
    t->list[t->n_list++] = value;
    return true;
}

static bool plan(trial *t, atn_value value) { return plan_within(t, value, LARGEST_PLAN); }

static int64_t compute(const trial *t, const atn_node *node) {
    int64_t a = node->arg[0] >= 0 ? t->value[node->arg[0]] : 0, b = node->arg[1] >= 0 ? t->value[node->arg[1]] : 0,
            result = 0;
    switch (node->op) {
    case ATN_OP_CONST:
        return node->integer;
    case ATN_OP_SIZE:
        return size_of(t, node->index, node->axis);
    case ATN_OP_PARAM:
        return parameter_of(t, node->index);
    case ATN_OP_SELECT:
        return a ? b : t->value[node->arg[2]];
    case ATN_OP_CAST:
        return atn_type_wrap(node->type, a);
    default:
        atn_op_integer(node->op, t->graph->values[node->arg[0]].type, a, b, &result);
        return atn_type_wrap(node->type, result);
    }
}

/* Computes the values that do not depend on dimensions still to come. */
static void compute_ready(trial *t, uint32_t known) {
    t->steps += t->n_list + 1;
    if (t->steps > MOST_STEPS) t->unknown = true;
    for (int32_t k = 0; k < t->n_list; ++k) {
        const atn_node *node = &t->graph->values[t->list[k]];
        if (node->dims & ~known || node->op == ATN_OP_DIM) continue;
        t->value[t->list[k]] = compute(t, node);
    }
}

static bool edge(atn_boundary boundary, int64_t size, int64_t *at) {
    if (*at >= 0 && *at < size) return true;
    if (boundary == ATN_EDGE_NONE || boundary == ATN_EDGE_ZERO || size <= 0) return false;
    if (boundary == ATN_EDGE_CLAMP) *at = *at < 0 ? 0 : size - 1;
    if (boundary == ATN_EDGE_WRAP) *at = (*at % size + size) % size;
    if (boundary == ATN_EDGE_MIRROR) {
        *at = (*at % (2 * size) + 2 * size) % (2 * size);
        if (*at >= size) *at = 2 * size - 1 - *at;
    }
    return true;
}

static void touch(trial *t, const atn_access *access, int64_t point, bool enter) {
    owner mine = {.point = point, .stamp = t->stamp};
    int64_t *address = mine.address;
    if (access->enable >= 0 && !t->value[access->enable]) return;
    for (int32_t axis = 0; axis < t->graph->objects[access->object].rank; ++axis) {
        address[axis] = t->value[access->select[axis]];
        if (!edge(access->boundary, size_of(t, access->object, axis), &address[axis]))
            return; /* refused at run time, or no access */
    }
    uint32_t at = scramble((uint32_t)address[0], (uint32_t)address[1], 5 + (uint32_t)address[2]) % SLOTS;
    for (; t->owners[at].stamp == t->stamp; at = (at + 1) % SLOTS) {
        if (memcmp(t->owners[at].address, address, sizeof mine.address) != 0) continue;
        if (enter || t->owners[at].point != point || point < 0) t->clash = true;
        return;
    }
    if (!enter) return;
    if (++t->n_owners > MOST_POINTS) {
        t->unknown = true;
        return;
    }
    t->owners[at] = mine;
}

/* Every point of the dimensions in `wanted`, outer ones first; point: its number within P, -1 when steps of an
 * iterator count one by one. */
static void walk(trial *t, const atn_access *access, uint32_t wanted, int32_t dim, uint32_t known, int64_t point,
                 bool enter) {
    while (dim < t->graph->n_dims && !(wanted >> dim & 1)) ++dim;
    compute_ready(t, known);
    if (t->unknown || t->clash) return;
    if (dim == t->graph->n_dims) {
        touch(t, access, point, enter);
        return;
    }
    const atn_dim *d = &t->graph->dims[dim];
    int64_t begin = t->value[d->begin], end = t->value[d->end];
    if (end - begin > 16) end = begin + 16;
    for (int64_t i = begin; i < end; ++i) {
        for (int32_t k = 0; k < t->n_list; ++k)
            if (t->graph->values[t->list[k]].op == ATN_OP_DIM && t->graph->values[t->list[k]].index == dim)
                t->value[t->list[k]] = i;
        walk(t, access, wanted, dim + 1, known | 1u << dim, d->block || point < 0 ? point : point * 32 + i + 1, enter);
    }
}

static uint32_t dims_of_block(const atn_graph *graph, int32_t block) {
    uint32_t dims = 0;
    for (; block >= 0; block = graph->blocks[block].parent)
        for (int32_t d = 0; d < graph->blocks[block].rank; ++d) dims |= 1u << graph->blocks[block].dim[d];
    return dims;
}

/* The dimensions an access ranges over: those of its block, those its selectors name, and what encloses them. */
static uint32_t dims_of(const atn_graph *graph, const atn_access *access) {
    uint32_t dims = dims_of_block(graph, access->block);
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis) {
        uint32_t named = access->select[axis] >= 0 ? graph->values[access->select[axis]].dims : 0;
        for (int32_t d = 0; d < graph->n_dims; ++d)
            if (named >> d & 1) dims |= dims_of_block(graph, graph->dims[d].block);
    }
    return dims;
}

static bool plan_access(trial *t, const atn_access *access, atn_access *judged, uint32_t dims) {
    *judged = *access;
    for (int32_t d = 0; d < t->graph->n_dims; ++d)
        if (dims >> d & 1 && !(plan(t, t->graph->dims[d].begin) && plan(t, t->graph->dims[d].end))) return false;
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (!plan(t, access->select[axis])) return false;
    if (!plan(t, access->enable)) judged->enable = -1; /* decided by data: it may happen */
    return true;
}

atn_small *atn_small_make(atn_reader *reader, const atn_graph *graph) {
    trial *t = atn_reader_alloc(reader, sizeof *t);
    if (!t) return NULL;
    t->graph = graph;
    t->value = atn_reader_alloc(reader, (size_t)(graph->n_values + 1) * sizeof *t->value);
    t->owners = atn_reader_alloc(reader, SLOTS * sizeof *t->owners);
    return reader->failed ? NULL : t;
}

atn_small_verdict atn_small_judge(atn_small *t, const atn_access *write, const atn_access *other) {
    atn_access first, second;
    uint32_t dims[2] = {dims_of(t->graph, write), other ? dims_of(t->graph, other) : 0};
    t->n_list = 0;
    t->clash = t->unknown = false;
    if (!plan_access(t, write, &first, dims[0])) return ATN_SMALL_UNKNOWN;
    if (other && !plan_access(t, other, &second, dims[1])) return ATN_SMALL_UNKNOWN;
    for (t->number = 0; t->number < TRIALS && !t->clash && !t->unknown; ++t->number) {
        ++t->stamp;
        t->n_owners = 0;
        walk(t, &first, dims[0], 0, 0, write->block ? -1 : 0, true);
        if (other) walk(t, &second, dims[1], 0, 0, other->block ? -1 : 0, false);
    }
    return t->unknown ? ATN_SMALL_UNKNOWN : t->clash ? ATN_SMALL_CLASH : ATN_SMALL_APART;
}
