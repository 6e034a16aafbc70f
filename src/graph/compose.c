/* Copying the values of graphs into one store, with dimensions, objects and reads replaced on the way. */
#include "graph/compose.h"

#include "base/memory.h"
#include "graph/affine.h"
#include "graph/type.h"
#include "graph/value.h"

#include <string.h>

enum { AXES = ATN_MAX_RANK, MOST_OBJECTS = 128 };

typedef struct composer {
    atn_reader reader;
    atn_sketch sketch;
    atn_item item; /* what complaints of the store speak of */
    atn_graph *graph;
    const atn_ctx *ctx;
    const struct copy *fused;          /* the first part; or NULL */
    bool single;                       /* there is no first part */
    const char *refused;               /* why it cannot be done; NULL: it can */
    int64_t sizes[MOST_OBJECTS][AXES]; /* of the new graph's objects; -1: not known */
} composer;

/* One part being copied, with its dimensions at given values. */
typedef struct copy {
    composer *c;
    const atn_part *part;
    const struct copy *first; /* what is made on the spot; or NULL */
    int32_t *object;          /* per object: in the new graph when read, -1: made by `first` */
    int32_t *written;         /* and when written */
    int32_t *parameter;       /* per parameter; -1: held */
    int32_t *holder;          /* per parameter: the vector that holds it, -1: none */
    atn_value *value;         /* per value, once copied */
    atn_value dim[ATN_MAX_DIMS];
} copy;

static const char *refuse(composer *c, const char *why) {
    if (!c->refused) c->refused = why;
    return c->refused;
}

/* ---- objects and parameters ---- */

static int32_t add_object(composer *c, const atn_object *like, const char *name, const int64_t size[AXES]) {
    atn_graph *g = c->graph;
    for (int32_t k = 0; k < g->n_objects; ++k) {
        if (strcmp(g->objects[k].name, name) != 0 || like->table || g->objects[k].table) continue;
        if (g->objects[k].type != like->type || g->objects[k].rank != like->rank) refuse(c, "types differ");
        return k;
    }
    if (g->n_objects == MOST_OBJECTS) return refuse(c, "there are too many arrays"), 0;
    atn_object *object = &g->objects[g->n_objects];
    *object = *like;
    object->read = object->written = false;
    object->name = atn_arena_strdup(&g->arena, name);
    if (!object->name) c->reader.failed = true;
    if (like->table) {
        size_t bytes =
            (size_t)(like->table_size[0] * like->table_size[1] * like->table_size[2]) * atn_type_bytes(like->type);
        void *table = atn_arena_alloc(&g->arena, bytes + 1);
        if (table) memcpy(table, like->table, bytes);
        if (!table) c->reader.failed = true;
        object->table = table;
    }
    for (int axis = 0; axis < AXES; ++axis) c->sizes[g->n_objects][axis] = like->table ? -1 : size[axis];
    return g->n_objects++;
}

static int32_t add_parameter(composer *c, const atn_parameter *like, const char *name) {
    atn_graph *g = c->graph;
    for (int32_t k = 0; k < g->n_parameters; ++k)
        if (!strcmp(g->parameters[k].name, name)) return k;
    atn_parameter *parameter = &g->parameters[g->n_parameters];
    *parameter = *like;
    parameter->name = atn_arena_strdup(&g->arena, name);
    if (!parameter->name) c->reader.failed = true;
    return g->n_parameters++;
}

static bool makes(const atn_part *part, const char *name) {
    for (int32_t k = 0; part && k < part->graph->n_objects; ++k)
        if (part->graph->objects[k].written && !strcmp(part->writes[k], name)) return true;
    return false;
}

static bool begin_copy(copy *m) {
    const atn_graph *from = m->part->graph;
    atn_reader *reader = &m->c->reader;
    m->object = atn_reader_alloc(reader, ((size_t)from->n_objects + 1) * sizeof *m->object);
    m->written = atn_reader_alloc(reader, ((size_t)from->n_objects + 1) * sizeof *m->written);
    m->parameter = atn_reader_alloc(reader, ((size_t)from->n_parameters + 1) * sizeof *m->parameter);
    m->holder = atn_reader_alloc(reader, ((size_t)from->n_parameters + 1) * sizeof *m->holder);
    m->value = atn_reader_alloc(reader, ((size_t)from->n_values + 1) * sizeof *m->value);
    if (reader->failed) return false;
    bool alone = !m->first && m->c->single; /* objects stay in their order: it is the same graph by other names */
    for (int32_t k = 0; k < from->n_objects; ++k) {
        const atn_object *object = &from->objects[k];
        bool made = m->first && !object->table && makes(m->first->part, m->part->reads[k]);
        m->object[k] = made ? -1 : 0;
        if (object->table || (!made && (object->read || !object->written || alone)))
            m->object[k] =
                add_object(m->c, object, object->table ? object->name : m->part->reads[k], m->part->sizes[k]);
    }
    for (int32_t k = 0; k < from->n_parameters; ++k) {
        const char *held = m->part->held ? m->part->held[k] : NULL;
        m->parameter[k] = held ? -1 : add_parameter(m->c, &from->parameters[k], m->part->parameters[k]);
        const atn_object like = {.rank = 1, .type = from->parameters[k].type};
        m->holder[k] = held ? add_object(m->c, &like, held, (const int64_t[AXES]){1, 1, 1}) : -1;
    }
    return !reader->failed;
}

/* Written objects follow those that are read, which keeps the order of the arguments of a single graph separate. */
static void begin_writes(copy *m) {
    const atn_graph *from = m->part->graph;
    for (int32_t k = 0; k < from->n_objects; ++k)
        m->written[k] = from->objects[k].written && (m != m->c->fused || (m->part->kept && m->part->kept[k]))
                            ? add_object(m->c, &from->objects[k], m->part->writes[k], m->part->sizes[k])
                            : -1;
}

/* ---- values ---- */

static atn_value copied(const copy *m, atn_value value) { return value < 0 ? -1 : m->value[value]; }

static atn_value read_at(composer *c, int32_t object, const atn_value select[AXES], atn_boundary boundary,
                         const atn_read *like) {
    atn_sketch *s = &c->sketch;
    size_t number = 0;
    for (; number < s->n_reads; ++number)
        if (s->reads[number].object == object && s->reads[number].boundary == boundary &&
            !memcmp(s->reads[number].select, select, sizeof s->reads[number].select))
            break;
    if (number == s->n_reads) {
        if (!atn_reader_grow(&c->reader, &c->reader.arena, (void **)&s->reads, &s->reads_room, number,
                             sizeof *s->reads))
            return 0;
        atn_read read = *like;
        read.name = atn_arena_strdup(&c->graph->arena, like->name);
        if (!read.name) c->reader.failed = true;
        read.object = object;
        read.boundary = boundary;
        memcpy(read.select, select, sizeof read.select);
        s->reads[s->n_reads++] = read;
    }
    atn_trait trait = {.data = true};
    uint32_t dims = 0;
    for (int axis = 0; axis < AXES && axis < c->graph->objects[object].rank; ++axis) {
        dims |= s->values[select[axis]].dims;
        trait.after |= s->traits[select[axis]].after;
    }
    return atn_value_leaf(s, ATN_OP_READ, c->graph->objects[object].type, (int32_t)number, 0, dims, trait);
}

static atn_affine affine_in(const composer *c, atn_value value) {
    const atn_graph view = {.values = c->sketch.values, .n_values = (int32_t)c->sketch.n_values};
    return atn_affine_of(&view, value);
}

/* The point of the first part that writes the element `at` of an axis, by its selector: s d + k. False: another one. */
static bool invert(composer *c, const atn_affine *form, atn_value at, int32_t *dim, atn_value *point) {
    *dim = -1;
    for (int d = 0; d < ATN_MAX_DIMS; ++d) {
        if (!form->coefficient[d]) continue;
        if (*dim >= 0) return refuse(c, "its selectors mix dimensions"), false;
        *dim = d;
    }
    if (!form->is_affine || form->rest >= 0 || form->modulus >= 0)
        return refuse(c, "its selectors are computed"), false;
    atn_value shifted = atn_value_sum(&c->sketch, at, atn_value_integer(&c->sketch, ATN_INDEX, -form->constant));
    if (*dim < 0) { /* one element alone: the reader must mean that one */
        const atn_node *node = atn_value_node(&c->sketch, shifted);
        if (node->op != ATN_OP_CONST) return refuse(c, "an element is read that may be another one"), false;
        return node->integer == 0;
    }
    int64_t step = form->coefficient[*dim];
    if (step < 0) return refuse(c, "its selectors run backwards"), false;
    if (step == 1) return *point = shifted, true;
    atn_affine read = affine_in(c, shifted);
    if (!read.is_affine || read.rest >= 0 || read.modulus >= 0 || read.constant % step) {
        if (!read.is_affine || read.rest >= 0 || read.modulus >= 0) refuse(c, "every other element of it is read");
        return false;
    }
    *point = atn_value_integer(&c->sketch, ATN_INDEX, read.constant / step);
    for (int d = 0; d < ATN_MAX_DIMS; ++d) {
        if (!read.coefficient[d]) continue;
        if (read.coefficient[d] % step) return refuse(c, "every other element of it is read"), false;
        atn_value own = atn_value_leaf(&c->sketch, ATN_OP_DIM, ATN_INDEX, d, 0, 1u << d, (atn_trait){0});
        *point = atn_value_sum(&c->sketch, *point, atn_value_scale(&c->sketch, own, read.coefficient[d] / step));
    }
    return true;
}

static void copy_values(copy *m);

/* What the first part writes to `name` at `select`, computed here. */
static atn_value make(const copy *m, const char *name, const atn_value select[AXES]) {
    composer *c = m->c;
    const atn_part *part = m->first->part;
    const atn_graph *from = part->graph;
    for (int32_t w = 0; w < from->n_writes && !c->refused && !c->reader.failed; ++w) {
        const atn_write *write = &from->writes[w];
        if (strcmp(part->writes[write->object], name) != 0) continue;
        if (write->combine != ATN_WRITE_ONCE || write->enable >= 0 || write->block != 0)
            return refuse(c, "it is not written by every point"), 0;
        copy here = *m->first;
        bool right = true, placed[ATN_MAX_DIMS] = {false};
        for (int axis = 0; axis < AXES && axis < from->objects[write->object].rank && right; ++axis) {
            atn_affine form = atn_affine_of(from, write->select[axis]);
            int32_t dim;
            atn_value point = 0;
            right = invert(c, &form, select[axis], &dim, &point);
            if (!right || dim < 0) continue;
            here.dim[dim] = point;
            placed[dim] = true;
        }
        for (int32_t d = 0; d < from->blocks[0].rank && right; ++d)
            if (!placed[from->blocks[0].dim[d]]) return refuse(c, "it is written along one axis alone"), 0;
        if (!right) continue;
        here.value = atn_reader_alloc(&c->reader, ((size_t)from->n_values + 1) * sizeof *here.value);
        if (!here.value) return 0;
        copy_values(&here);
        return here.value[write->value];
    }
    return refuse(c, "elements are read that it does not write"), 0;
}

/* An edge never matters where the reader runs over exactly the elements there are. */
static bool stays_inside(const copy *m, const atn_read *read, const atn_value select[AXES]) {
    if (read->boundary == ATN_EDGE_NONE) return true;
    const atn_graph *from = m->part->graph;
    for (int axis = 0; axis < AXES && axis < from->objects[read->object].rank; ++axis) {
        atn_affine form = affine_in(m->c, select[axis]);
        if (!form.is_affine || form.modulus >= 0 || form.rest >= 0) return false;
        const atn_node *node = atn_value_node(&m->c->sketch, select[axis]);
        if (node->op != ATN_OP_DIM) return false;
        const atn_node *end = &from->values[from->dims[node->index].end];
        const atn_node *begin = &from->values[from->dims[node->index].begin];
        if (begin->op != ATN_OP_CONST || begin->integer != 0 || end->op != ATN_OP_SIZE) return false;
        if (m->part->sizes[end->index][end->axis] != m->part->sizes[read->object][axis]) return false;
    }
    return true;
}

static atn_value copy_read(const copy *m, const atn_node *node) {
    const atn_read *read = &m->part->graph->reads[node->index];
    atn_value select[AXES];
    for (int axis = 0; axis < AXES; ++axis) select[axis] = copied(m, read->select[axis]);
    if (m->object[read->object] >= 0) return read_at(m->c, m->object[read->object], select, read->boundary, read);
    if (!stays_inside(m, read, select)) return refuse(m->c, "it is read beyond its edge"), 0;
    return make(m, m->part->reads[read->object], select);
}

/* The size of what is gone: that of another array which is as large, or the number. */
static atn_value size_of(const copy *m, int32_t object, int32_t axis) {
    composer *c = m->c;
    int64_t size = m->part->sizes[object][axis];
    const atn_object *described = &m->part->graph->objects[object];
    int32_t own = described->read || !described->written ? m->object[object] : m->written[object];
    if (own >= 0) return atn_value_leaf(&c->sketch, ATN_OP_SIZE, ATN_INDEX, own, axis, 0, (atn_trait){0});
    for (int32_t k = 0; k < c->graph->n_objects; ++k)
        for (int a = 0; a < c->graph->objects[k].rank; ++a)
            if (c->sizes[k][a] == size)
                return atn_value_leaf(&c->sketch, ATN_OP_SIZE, ATN_INDEX, k, a, 0, (atn_trait){0});
    if (m->part->symbolic) refuse(c, "the size of what is fused is that of no other array");
    return atn_value_integer(&c->sketch, ATN_INDEX, size);
}

static uint32_t result_dims(const copy *m, int32_t block) {
    const atn_block *b = &m->part->graph->blocks[block];
    uint32_t dims = 0, own = 0;
    for (int32_t d = 0; d < b->rank; ++d) own |= 1u << b->dim[d];
    for (int32_t d = 0; d < b->rank; ++d) {
        dims |= m->c->sketch.values[copied(m, m->part->graph->dims[b->dim[d]].begin)].dims;
        dims |= m->c->sketch.values[copied(m, m->part->graph->dims[b->dim[d]].end)].dims;
    }
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_value parts[] = {b->acc[k].init, b->acc[k].term, b->acc[k].update};
        for (int p = 0; p < 3; ++p)
            if (parts[p] >= 0) dims |= m->c->sketch.values[copied(m, parts[p])].dims;
    }
    return dims & ~own;
}

static atn_value copy_value(const copy *m, const atn_node *node) {
    atn_sketch *s = &m->c->sketch;
    switch (node->op) {
    case ATN_OP_CONST:
        return atn_type_is_integer(node->type) || node->type == ATN_B
                   ? atn_value_integer(s, node->type, node->integer)
                   : atn_value_number(s, node->type, node->number[0], node->number[1]);
    case ATN_OP_DIM:
        return m->dim[node->index];
    case ATN_OP_SIZE:
        return size_of(m, node->index, node->axis);
    case ATN_OP_PARAM:
        if (!m->part->held || m->holder[node->index] < 0)
            return atn_value_leaf(s, ATN_OP_PARAM, node->type, m->parameter[node->index], 0, 0, (atn_trait){0});
        return read_at(m->c, m->holder[node->index], (atn_value[AXES]){atn_value_integer(s, ATN_INDEX, 0), -1, -1},
                       ATN_EDGE_NONE, &(atn_read){.name = m->part->held[node->index]});
    case ATN_OP_READ:
        return copy_read(m, node);
    case ATN_OP_RESULT:
        return atn_value_leaf(s, ATN_OP_RESULT, node->type, node->index, node->axis, result_dims(m, node->index),
                              (atn_trait){.data = true, .after = node->index == 0});
    case ATN_OP_ACC:
        return atn_value_leaf(s, ATN_OP_ACC, node->type, node->index, node->axis, node->dims,
                              (atn_trait){.accs = 1u << node->axis});
    case ATN_OP_BEFORE:
    case ATN_OP_AFTER:
        return atn_value_leaf(s, node->op, node->type, node->index, node->axis, node->dims, (atn_trait){.data = true});
    case ATN_OP_LEFT:
    case ATN_OP_RIGHT:
        return atn_value_leaf(s, node->op, node->type, node->index, node->axis, 0, (atn_trait){0});
    default:
        return atn_value_make(s, node->op, node->type, copied(m, node->arg[0]), copied(m, node->arg[1]),
                              copied(m, node->arg[2]));
    }
}

static void copy_values(copy *m) {
    const atn_graph *from = m->part->graph;
    for (int32_t v = 0; v < from->n_values && !m->c->refused && !m->c->reader.failed && !m->c->reader.overrun; ++v) {
        m->value[v] = copy_value(m, &from->values[v]);
        if (!from->values[v].label || m->c->reader.failed) continue;
        char *label = atn_arena_strdup(&m->c->graph->arena, from->values[v].label);
        if (label) atn_value_label(&m->c->sketch, m->value[v], label);
    }
}

/* ---- blocks, dimensions, writes ---- */

static bool begin_blocks(composer *c, const atn_graph *from) {
    atn_sketch *s = &c->sketch;
    s->blocks = atn_reader_alloc(&c->reader, ((size_t)from->n_blocks + 1) * sizeof *s->blocks);
    s->dims = atn_reader_alloc(&c->reader, (ATN_MAX_DIMS + 1) * sizeof *s->dims);
    if (c->reader.failed) return false;
    s->blocks_room = s->n_blocks = (size_t)from->n_blocks;
    s->dims_room = ATN_MAX_DIMS;
    s->n_dims = (size_t)from->n_dims;
    for (int32_t k = 0; k < from->n_blocks; ++k) {
        s->blocks[k] = from->blocks[k];
        s->blocks[k].name = atn_arena_strdup(&c->graph->arena, from->blocks[k].name);
        if (!s->blocks[k].name) c->reader.failed = true;
    }
    for (int32_t d = 0; d < from->n_dims; ++d) s->dims[d] = (atn_dim){from->dims[d].block, from->dims[d].axis, -1, -1};
    atn_value_integer(s, ATN_INDEX, 0); /* value 0 always exists */
    return !c->reader.failed;
}

static void copy_blocks(const copy *m) {
    atn_sketch *s = &m->c->sketch;
    const atn_graph *from = m->part->graph;
    for (int32_t d = 0; d < from->n_dims; ++d) {
        s->dims[d].begin = copied(m, from->dims[d].begin);
        s->dims[d].end = copied(m, from->dims[d].end);
    }
    for (int32_t k = 0; k < from->n_blocks; ++k)
        for (int32_t a = 0; a < from->blocks[k].n_accs; ++a) {
            const atn_acc *acc = &from->blocks[k].acc[a];
            atn_acc *to = &s->blocks[k].acc[a];
            to->init = copied(m, acc->init);
            to->term = copied(m, acc->term);
            to->update = copied(m, acc->update);
            to->combine = copied(m, acc->combine);
        }
}

static void copy_write(const copy *m, const atn_write *write) {
    atn_sketch *s = &m->c->sketch;
    atn_reader *reader = &m->c->reader;
    if (!atn_reader_grow(reader, &reader->arena, (void **)&s->writes, &s->writes_room, s->n_writes, sizeof *write))
        return;
    atn_write *to = &s->writes[s->n_writes++];
    *to = *write;
    to->name = atn_arena_strdup(&m->c->graph->arena, write->name);
    if (!to->name) reader->failed = true;
    to->object = m->written[write->object];
    for (int axis = 0; axis < AXES; ++axis) to->select[axis] = copied(m, write->select[axis]);
    to->value = copied(m, write->value);
    to->enable = copied(m, write->enable);
}

/* ---- the whole ---- */

static bool begin(composer *c, const atn_ctx *ctx, const char *name, const atn_part *first, const atn_part *second) {
    static const atn_parse_options none;
    c->ctx = ctx;
    c->graph = atn_zalloc(ctx, sizeof *c->graph);
    if (!c->graph) return false;
    c->graph->arena.ctx = ctx;
    c->reader = (atn_reader){.ctx = ctx, .arena = {.ctx = ctx}, .file = name, .xml = "", .options = &none};
    c->graph->name = atn_arena_strdup(&c->graph->arena, name);
    c->graph->file = c->graph->name;
    c->graph->objects = atn_arena_alloc(&c->graph->arena, (MOST_OBJECTS + 1) * sizeof *c->graph->objects);
    int32_t parameters = second->graph->n_parameters + (first ? first->graph->n_parameters : 0);
    c->graph->parameters = atn_arena_alloc(&c->graph->arena, ((size_t)parameters + 1) * sizeof *c->graph->parameters);
    c->graph->tolerance = second->graph->tolerance;
    if (first && first->graph->tolerance > c->graph->tolerance) c->graph->tolerance = first->graph->tolerance;
    c->graph->finite = second->graph->finite && (!first || first->graph->finite);
    c->item = (atn_item){.kind = ATN_ITEM_ALGORITHM, .name = name};
    c->sketch = (atn_sketch){.reader = &c->reader, .graph = c->graph, .items = &c->item, .n_items = 1};
    if (!c->graph->name || !c->graph->objects || !c->graph->parameters) c->reader.failed = true;
    return true;
}

static atn_status finish(composer *c, atn_graph **out) {
    atn_status status = ATN_OK;
    if (!c->refused && !c->reader.failed && !c->reader.overrun) atn_sketch_prune(&c->sketch);
    if (!c->refused && !c->reader.failed && !c->reader.overrun) atn_graph_validate(&c->reader, c->graph);
    if (!c->refused && !c->reader.failed) c->graph->hash = atn_graph_hash(&c->reader, c->graph);
    if (c->reader.failed)
        status = atn_fail_memory(c->ctx, 0, "a fused kernel");
    else if (c->refused)
        status = atn_fail(c->ctx, ATN_ERR_UNSUPPORTED, "%s", c->refused);
    else if (c->reader.n_complaints || c->reader.overrun)
        status = atn_fail(c->ctx, ATN_ERR_UNSUPPORTED, "points would read what others write, or it grows too large");
    if (status == ATN_OK)
        *out = c->graph;
    else
        atn_graph_free(c->ctx, c->graph);
    atn_arena_free(&c->reader.arena);
    return status;
}

static void own_dims(composer *c, copy *m) {
    for (int d = 0; d < (int)c->sketch.n_dims; ++d)
        m->dim[d] = atn_value_leaf(&c->sketch, ATN_OP_DIM, ATN_INDEX, d, 0, 1u << d, (atn_trait){0});
}

void atn_graph_free(const atn_ctx *ctx, atn_graph *graph) {
    if (!graph) return;
    atn_arena_free(&graph->arena);
    atn_free(ctx, graph);
}

static void keep_writes(const copy *first) {
    composer *c = first->c;
    const atn_graph *from = first->part->graph;
    bool any = false;
    for (int32_t k = 0; first->part->kept && k < from->n_objects; ++k) any |= first->part->kept[k];
    if (!any) return;
    copy here = *first;
    here.value = atn_reader_alloc(&c->reader, ((size_t)from->n_values + 1) * sizeof *here.value);
    if (!here.value) return;
    own_dims(c, &here);
    copy_values(&here);
    for (int32_t w = 0; w < from->n_writes && !c->refused && !c->reader.failed; ++w)
        if (first->part->kept[from->writes[w].object]) copy_write(&here, &from->writes[w]);
}

/* The points of the whole are those of the first. */
static void take_range(const copy *first) {
    composer *c = first->c;
    const atn_graph *from = first->part->graph;
    copy here = *first;
    here.value = atn_reader_alloc(&c->reader, ((size_t)from->n_values + 1) * sizeof *here.value);
    if (!here.value) return;
    own_dims(c, &here);
    copy_values(&here);
    if (from->blocks[0].rank != c->sketch.blocks[0].rank) refuse(c, "its points have other dimensions");
    for (int32_t d = 0; d < from->blocks[0].rank && !c->refused && !c->reader.failed; ++d) {
        atn_dim *dim = &c->sketch.dims[c->sketch.blocks[0].dim[d]];
        dim->begin = copied(&here, from->dims[from->blocks[0].dim[d]].begin);
        dim->end = copied(&here, from->dims[from->blocks[0].dim[d]].end);
    }
}

static atn_status compose(const atn_ctx *ctx, const char *name, const atn_part *first, const atn_part *second,
                          bool by_first, atn_graph **out) {
    composer c = {0};
    *out = NULL;
    if (!begin(&c, ctx, name, first, second)) return ATN_ERR_MEMORY;
    c.single = !first;
    copy one = {.c = &c, .part = first}, two = {.c = &c, .part = second, .first = first ? &one : NULL};
    if (first && (first->graph->n_blocks != 1 || first->graph->blocks[0].n_accs))
        refuse(&c, "it reduces: what it writes is not computed again for each reader");
    if ((first && !begin_copy(&one)) || !begin_copy(&two) || !begin_blocks(&c, second->graph)) return finish(&c, out);
    begin_writes(&two);
    c.fused = &one;
    if (first) begin_writes(&one);
    own_dims(&c, &two);
    copy_values(&two);
    if (!c.refused && !c.reader.failed) copy_blocks(&two);
    if (first && by_first && !c.refused && !c.reader.failed) take_range(&one);
    if (first && !c.refused && !c.reader.failed) keep_writes(&one);
    for (int32_t w = 0; w < second->graph->n_writes && !c.refused && !c.reader.failed; ++w)
        copy_write(&two, &second->graph->writes[w]);
    return finish(&c, out);
}

atn_status atn_graph_compose(const atn_ctx *ctx, const char *name, const atn_part *first, const atn_part *second,
                             atn_graph **out) {
    return compose(ctx, name, first, second, false, out);
}

/* ---- cells ---- */

static atn_op op_of_join(atn_join join) {
    static const atn_op ops[] = {
        [ATN_JOIN_SUM] = ATN_OP_ADD, [ATN_JOIN_PRODUCT] = ATN_OP_MUL, [ATN_JOIN_MIN] = ATN_OP_MIN,
        [ATN_JOIN_MAX] = ATN_OP_MAX, [ATN_JOIN_AND] = ATN_OP_AND,     [ATN_JOIN_OR] = ATN_OP_OR};
    return join <= ATN_JOIN_OR ? ops[join] : ATN_OP_COUNT;
}

/* The points of one place in the cells; what they add to accumulators is joined with the places before. */
static void copy_place(copy *m, const int32_t cell[2], const int32_t at[2], bool first) {
    composer *c = m->c;
    const atn_graph *from = m->part->graph;
    own_dims(c, m);
    for (int32_t d = 0; d < from->blocks[0].rank && d < 2; ++d)
        m->dim[from->blocks[0].dim[d]] =
            atn_value_sum(&c->sketch, atn_value_scale(&c->sketch, m->dim[from->blocks[0].dim[d]], cell[d]),
                          atn_value_integer(&c->sketch, ATN_INDEX, at[d]));
    copy_values(m);
    if (c->refused || c->reader.failed || c->reader.overrun) return;
    atn_block *block = &c->sketch.blocks[0];
    if (first) copy_blocks(m);
    for (int32_t a = 0; a < block->n_accs && !first; ++a) {
        atn_op op = op_of_join(block->acc[a].join);
        if (op == ATN_OP_COUNT || block->acc[a].update >= 0)
            refuse(c, "it is reduced in an order");
        else
            block->acc[a].term = atn_value_make(&c->sketch, op, block->acc[a].type, block->acc[a].term,
                                                copied(m, from->blocks[0].acc[a].term), -1);
    }
    for (int32_t w = 0; w < from->n_writes; ++w)
        if (first || from->writes[w].block >= 0) copy_write(m, &from->writes[w]);
}

static void divide_ranges(composer *c, const atn_graph *from, const int32_t cell[2]) {
    for (int32_t d = 0; d < from->blocks[0].rank && d < 2 && !c->refused && !c->reader.failed; ++d) {
        atn_dim *dim = &c->sketch.dims[from->blocks[0].dim[d]];
        const atn_node *begin = atn_value_node(&c->sketch, dim->begin);
        if (begin->op != ATN_OP_CONST || begin->integer != 0) refuse(c, "its points do not begin at 0");
        if (cell[d] > 1)
            dim->end = atn_value_make(&c->sketch, ATN_OP_DIV, ATN_INDEX, dim->end,
                                      atn_value_integer(&c->sketch, ATN_INDEX, cell[d]), -1);
    }
}

atn_status atn_graph_cells(const atn_ctx *ctx, const atn_graph *graph, const int32_t cell[2], atn_graph **out) {
    composer c = {0};
    const char *objects[MOST_OBJECTS], *parameters[MOST_OBJECTS];
    int64_t sizes[MOST_OBJECTS][AXES];
    *out = NULL;
    if (graph->n_objects > MOST_OBJECTS || graph->n_parameters > MOST_OBJECTS)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "there are too many arrays");
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        objects[k] = graph->objects[k].name;
        for (int axis = 0; axis < AXES; ++axis) sizes[k][axis] = -1;
    }
    for (int32_t k = 0; k < graph->n_parameters; ++k) parameters[k] = graph->parameters[k].name;
    const atn_part part = {
        .graph = graph, .reads = objects, .writes = objects, .parameters = parameters, .sizes = sizes};
    if (!begin(&c, ctx, graph->name, NULL, &part)) return ATN_ERR_MEMORY;
    if (graph->n_blocks != 1 || graph->blocks[0].rank > 2) refuse(&c, "it has loops, or more than two dimensions");
    for (int32_t w = 0; w < graph->n_writes && graph->blocks[0].n_accs; ++w) /* terms are joined behind such values */
        if (graph->values[graph->writes[w].value].op != ATN_OP_RESULT) refuse(&c, "its sum is computed on");
    copy m = {.c = &c, .part = &part};
    if (!begin_copy(&m) || !begin_blocks(&c, graph)) return finish(&c, out);
    begin_writes(&m);
    for (int32_t y = 0; y < cell[1]; ++y)
        for (int32_t x = 0; x < cell[0] && !c.refused && !c.reader.failed; ++x)
            copy_place(&m, cell, (const int32_t[]){x, y}, !x && !y);
    if (!c.refused && !c.reader.failed) divide_ranges(&c, graph, cell);
    return finish(&c, out);
}

atn_status atn_graph_compose_cells(const atn_ctx *ctx, const char *name, const atn_part *first, const atn_part *second,
                                   atn_graph **out) {
    const char *reads[MOST_OBJECTS], *writes[MOST_OBJECTS], *parameters[MOST_OBJECTS];
    int64_t sizes[MOST_OBJECTS][AXES];
    atn_graph *cells;
    *out = NULL;
    const int32_t cell[2] = {2, second->graph->blocks[0].rank > 1 ? 2 : 1};
    atn_status status = atn_graph_cells(ctx, second->graph, cell, &cells);
    if (status != ATN_OK) return status;
    for (int32_t k = 0; k < cells->n_objects; ++k) /* its objects are in another order */
        for (int32_t j = 0; j < second->graph->n_objects; ++j) {
            if (strcmp(cells->objects[k].name, second->graph->objects[j].name) != 0) continue;
            reads[k] = second->reads[j];
            writes[k] = second->writes[j];
            memcpy(sizes[k], second->sizes[j], sizeof sizes[k]);
        }
    for (int32_t k = 0; k < cells->n_parameters; ++k)
        for (int32_t j = 0; j < second->graph->n_parameters; ++j)
            if (!strcmp(cells->parameters[k].name, second->graph->parameters[j].name))
                parameters[k] = second->parameters[j];
    const atn_part part = {.graph = cells,
                           .reads = reads,
                           .writes = writes,
                           .parameters = parameters,
                           .sizes = (const int64_t(*)[AXES])sizes,
                           .symbolic = second->symbolic};
    status = compose(ctx, name, first, &part, true, out);
    atn_graph_free(ctx, cells);
    return status;
}
