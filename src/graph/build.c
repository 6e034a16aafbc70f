/* Items in their order become values, reads, writes and blocks. An item with something wrong makes nothing, and what
 * depends on it keeps quiet. */
#include "graph/flatten.h"
#include "graph/type.h"

#include <string.h>

/* A running value: known once the accumulators of its block are, and different at every step. */
static atn_value running(atn_sketch *sketch, const atn_item *from, atn_op op, int32_t k) {
    if (from->failed || !from->out || from->index < 0) return -1;
    const atn_block *block = &sketch->blocks[from->index];
    uint32_t dims = sketch->values[from->out[k]].dims;
    for (int32_t d = 0; d < block->rank; ++d) dims |= 1u << block->dim[d];
    atn_value value = atn_value_leaf(sketch, op, block->acc[k].type, from->index, k, dims,
                                     (atn_trait){.data = true, .running = 1 + from->index});
    atn_value_label(sketch, value, from->out_names ? from->out_names[k] : from->name);
    return value;
}

/* What a link carries; -1 when its source came to nothing. */
static atn_value carried(atn_sketch *sketch, const atn_link *link) {
    if (!link || link->source.item < 0) return -1;
    const atn_item *from = &sketch->items[link->source.item];
    int32_t k = link->source.k;
    if (link->source.port == ATN_PORT_SIZE) {
        const atn_object *object = &sketch->graph->objects[from->index];
        if (object->table || object->sized) return atn_value_integer(sketch, ATN_INDEX, object->table_size[k]);
        return atn_value_leaf(sketch, ATN_OP_SIZE, ATN_INDEX, from->index, k, 0, (atn_trait){0});
    }
    if (link->source.port == ATN_PORT_I) {
        if (from->index < 0 || k >= sketch->blocks[from->index].rank) return -1;
        int32_t dim = sketch->blocks[from->index].dim[k];
        return atn_value_leaf(sketch, ATN_OP_DIM, ATN_INDEX, dim, 0, 1u << dim, (atn_trait){0});
    }
    if (link->source.port == ATN_PORT_BEFORE) return running(sketch, from, ATN_OP_BEFORE, k);
    if (link->source.port == ATN_PORT_AFTER) return running(sketch, from, ATN_OP_AFTER, k);
    return from->out && !from->failed ? from->out[k] : -1;
}

/* The same, widened to the type that the acceptor takes; -1 with the complaint made. */
static atn_value accepted(atn_sketch *sketch, const atn_link *link, atn_type type) {
    atn_value value = carried(sketch, link);
    if (value < 0) return -1;
    atn_type from = sketch->values[value].type;
    if (atn_type_widens(from, type)) return atn_value_convert(sketch, value, type);
    atn_reader_complain(sketch->reader, link->at, link->destination.text,
                        "takes %s; '%s' is %s, which is not converted to %s without a cast", atn_type_name(type),
                        link->source.text, atn_type_name(from), atn_type_name(type));
    return -1;
}

static bool make_outs(atn_sketch *sketch, atn_item *item) {
    item->out = atn_reader_alloc(sketch->reader, (size_t)(item->n_out + 1) * sizeof *item->out);
    return item->out != NULL;
}

/* The item's name, with a number where it has several outputs. */
static void label_out(atn_sketch *sketch, const atn_item *item, int32_t k) {
    const char *label = item->out_names    ? item->out_names[k]
                        : item->n_out == 1 ? item->name
                                           : atn_arena_printf(&sketch->graph->arena, "%s_%d", item->name, k);
    if (label)
        atn_value_label(sketch, item->out[k], label);
    else
        sketch->reader->failed = true;
}

static void fail(atn_item *item) { item->failed = true; }

static bool range_of(atn_sketch *sketch, atn_item *item, atn_port port, int32_t d, atn_value *value) {
    const atn_link *link = atn_item_link(sketch, item, port, d);
    *value = accepted(sketch, link, ATN_INDEX);
    if (*value < 0) return false;
    const atn_trait *trait = &sketch->traits[*value];
    if (item->kind == ATN_ITEM_ALGORITHM && trait->data) {
        atn_reader_complain(
            sketch->reader, link->at, link->destination.text,
            sketch->reader->notation
                ? "the kernel's own space depends on elements of an array; its ranges must be known before it starts"
                : "depends on elements of an object; the algorithm's range must be known before it starts");
        return false;
    }
    if (trait->running) {
        atn_reader_complain(sketch->reader, link->at, link->destination.text,
                            "depends on a running value of '%s'; loops inside run before it is known",
                            sketch->blocks[trait->running - 1].name);
        return false;
    }
    if (trait->after) {
        atn_reader_complain(sketch->reader, link->at, link->destination.text,
                            sketch->reader->notation
                                ? "depends on the result of the whole kernel; loops run before it is known"
                                : "depends on the result of the whole algorithm; iterators run before it is known");
        return false;
    }
    return true;
}

static void begin_block(atn_sketch *sketch, atn_item *item) {
    atn_reader *reader = sketch->reader;
    bool algorithm = item->kind == ATN_ITEM_ALGORITHM;
    int32_t rank = item->rank;
    if (!algorithm) {
        if (sketch->n_dims + (size_t)rank > ATN_MAX_DIMS) {
            atn_reader_complain(reader, item->at, item->name,
                                reader->notation ? "more than %d indices in one kernel"
                                                 : "more than %d dimensions in one algorithm",
                                (int)ATN_MAX_DIMS);
            fail(item);
            return;
        }
        const atn_item *scope = &sketch->items[item->scope];
        if (scope->index < 0) {
            fail(item);
            return;
        }
        if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->blocks, &sketch->blocks_room, sketch->n_blocks,
                             sizeof *sketch->blocks))
            return;
        item->index = (int32_t)sketch->n_blocks;
        sketch->blocks[sketch->n_blocks++] = (atn_block){
            .name = item->name, .parent = scope->index, .rank = rank, .line = item->at.line, .column = item->at.column};
        for (int32_t d = 0; d < ATN_MAX_RANK; ++d) sketch->blocks[item->index].dim[d] = -1;
    }
    for (int32_t d = 0; d < rank; ++d) {
        atn_dim dim = {.block = item->index, .axis = d};
        bool from_to = atn_item_link(sketch, item, ATN_PORT_END, d) != NULL;
        dim.begin = dim.end = atn_value_integer(sketch, ATN_INDEX, 0);
        if (from_to && !range_of(sketch, item, ATN_PORT_BEGIN, d, &dim.begin)) fail(item);
        if (!range_of(sketch, item, from_to ? ATN_PORT_END : ATN_PORT_RANGE, d, &dim.end)) fail(item);
        if (dim.begin < 0) dim.begin = 0;
        if (dim.end < 0) dim.end = 0;
        if (algorithm) {
            sketch->dims[sketch->blocks[0].dim[d]] = dim;
            continue;
        }
        if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->dims, &sketch->dims_room, sketch->n_dims,
                             sizeof *sketch->dims))
            return;
        sketch->blocks[item->index].dim[d] = (int32_t)sketch->n_dims;
        sketch->dims[sketch->n_dims++] = dim;
    }
}

static void end_block(atn_sketch *sketch, atn_item *item) {
    atn_value inputs[ATN_LIMIT_PORTS];
    if (!item->text || item->failed || item->index < 0) return;
    bool after = false;
    for (int32_t k = 0; k < item->n_in; ++k) {
        inputs[k] = carried(sketch, atn_item_link(sketch, item, ATN_PORT_FUNC, k));
        if (inputs[k] < 0) {
            fail(item);
            return;
        }
        after |= sketch->traits[inputs[k]].after;
        if (!sketch->traits[inputs[k]].running) continue;
        atn_reader_complain(sketch->reader, item->at, item->name,
                            "what it accumulates depends on a running value of '%s'",
                            sketch->blocks[sketch->traits[inputs[k]].running - 1].name);
        fail(item);
        return;
    }
    if (after) {
        atn_reader_complain(sketch->reader, item->at, item->name,
                            sketch->reader->notation
                                ? "depends on the result of the whole kernel; loops run before it is known"
                                : "depends on the result of the whole algorithm; iterators run before it is known");
        fail(item);
        return;
    }
    atn_block *block = &sketch->blocks[item->index];
    if (!make_outs(sketch, item) || !atn_icf_build(sketch, item, block, inputs)) {
        fail(item);
        return;
    }
    uint32_t dims = 0, own = 0;
    for (int32_t d = 0; d < block->rank; ++d) {
        const atn_dim *dim = &sketch->dims[block->dim[d]];
        own |= 1u << block->dim[d];
        dims |= sketch->values[dim->begin].dims | sketch->values[dim->end].dims;
    }
    for (int32_t k = 0; k < block->n_accs; ++k) {
        const atn_value parts[] = {block->acc[k].init, block->acc[k].term, block->acc[k].update};
        for (size_t part = 0; part < 3; ++part)
            if (parts[part] >= 0) dims |= sketch->values[parts[part]].dims;
    }
    for (int32_t k = 0; k < item->n_out; ++k) {
        atn_trait trait = {.data = true, .after = item->kind == ATN_ITEM_ALGORITHM};
        item->out[k] = atn_value_leaf(sketch, ATN_OP_RESULT, block->acc[k].type, item->index, k, dims & ~own, trait);
        label_out(sketch, item, k);
    }
}

/* The selectors of an access; false when something is wrong. */
static bool select_of(atn_sketch *sketch, atn_item *item, atn_value select[ATN_MAX_RANK]) {
    atn_value variables[ATN_LIMIT_PORTS] = {0};
    for (int32_t k = 0; k < ATN_LIMIT_PORTS; ++k) {
        if (!(item->variables >> k & 1)) continue;
        variables[k] = accepted(sketch, atn_item_link(sketch, item, ATN_PORT_V, k), ATN_INDEX);
        if (variables[k] < 0) return false;
    }
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis) select[axis] = -1;
    const atn_syntax *one = item->body;
    for (int32_t axis = 0; one; one = one->next, ++axis) {
        atn_flat flat = {.sketch = sketch,
                         .text = item->text,
                         .what = item->name,
                         .at = item->at,
                         .literal = ATN_INDEX,
                         .variables = variables,
                         .selector = true};
        select[axis] = atn_flat_value(&flat, one, ATN_INDEX);
        if (flat.failed) return false;
    }
    return true;
}

static void build_read(atn_sketch *sketch, atn_item *item) {
    atn_reader *reader = sketch->reader;
    const atn_item *object = &sketch->items[item->object];
    atn_read read = {.name = item->name,
                     .object = object->index,
                     .boundary = item->boundary,
                     .line = item->at.line,
                     .column = item->at.column};
    if (!select_of(sketch, item, read.select) || !make_outs(sketch, item)) {
        fail(item);
        return;
    }
    size_t number = 0; /* equal reads are one */
    for (; number < sketch->n_reads; ++number) {
        const atn_read *other = &sketch->reads[number];
        if (other->object == read.object && other->boundary == read.boundary &&
            !memcmp(other->select, read.select, sizeof read.select))
            break;
    }
    if (number == sketch->n_reads) {
        if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->reads, &sketch->reads_room, number, sizeof read))
            return;
        sketch->reads[sketch->n_reads++] = read;
    }
    atn_trait trait = {.data = true};
    uint32_t dims = 0;
    for (int32_t axis = 0; axis < object->rank; ++axis) {
        dims |= sketch->values[read.select[axis]].dims;
        trait.after |= sketch->traits[read.select[axis]].after;
        if (!trait.running) trait.running = sketch->traits[read.select[axis]].running;
    }
    item->out[0] = atn_value_leaf(sketch, ATN_OP_READ, object->type, (int32_t)number, 0, dims, trait);
    atn_value_label(sketch, item->out[0], item->label ? item->label : item->name);
}

static void build_write(atn_sketch *sketch, atn_item *item) {
    atn_reader *reader = sketch->reader;
    const atn_item *object = &sketch->items[item->object];
    const atn_link *enable = atn_item_link(sketch, item, ATN_PORT_ENABLE, 0);
    atn_write write = {.name = item->name,
                       .object = object->index,
                       .enable = -1,
                       .combine = item->scatter == ATN_WRITE_DISTINCT ? ATN_WRITE_ONCE : item->scatter,
                       .distinct = item->scatter == ATN_WRITE_DISTINCT,
                       .block = sketch->items[item->scope].index,
                       .line = item->at.line,
                       .column = item->at.column};
    bool right = select_of(sketch, item, write.select);
    write.value = accepted(sketch, atn_item_link(sketch, item, ATN_PORT_IN, 0), object->type);
    if (enable) write.enable = accepted(sketch, enable, ATN_B);
    if (!right || write.value < 0 || (enable && write.enable < 0) || write.block < 0) {
        fail(item);
        return;
    }
    if (write.enable >= 0 && atn_value_is_const(sketch, write.enable) && sketch->values[write.enable].integer)
        write.enable = -1;
    bool after = false;
    uint32_t dims = 0;
    atn_value parts[2 + ATN_MAX_RANK] = {write.value, write.enable};
    memcpy(parts + 2, write.select, sizeof write.select);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
        if (parts[k] < 0) continue;
        after |= sketch->traits[parts[k]].after;
        dims |= sketch->values[parts[k]].dims;
        int32_t running_in = sketch->traits[parts[k]].running - 1;
        if (running_in < 0 || running_in == write.block) continue;
        atn_reader_complain(reader, item->at, item->name,
                            "uses a running value of '%s'; a write directly inside it can",
                            sketch->blocks[running_in].name);
        fail(item);
        return;
    }
    if (after && (dims || write.block)) {
        atn_reader_complain(
            reader, item->at, item->name,
            reader->notation
                ? "depends on a result of '%s', known once after the whole space, and on a point of that space"
                : "depends on '%s.out', known once after the whole space, and on a point of that space",
            sketch->items[0].name);
        fail(item);
        return;
    }
    bool or_needs = write.combine == ATN_WRITE_OR && !atn_type_is_integer(object->type);
    bool order_needs =
        (write.combine == ATN_WRITE_MIN || write.combine == ATN_WRITE_MAX) && atn_type_is_complex(object->type);
    if (or_needs || order_needs || (write.combine == ATN_WRITE_ADD && object->type == ATN_B)) {
        atn_reader_complain(reader, item->at, item->name,
                            reader->notation ? "'%s' is not defined for %s" : "combine='%s' is not defined for %s",
                            or_needs                         ? "or"
                            : write.combine == ATN_WRITE_ADD ? "add"
                            : write.combine == ATN_WRITE_MIN ? "min"
                                                             : "max",
                            atn_type_name(object->type));
        fail(item);
        return;
    }
    if (after) write.block = -1;
    if (atn_reader_grow(reader, &reader->arena, (void **)&sketch->writes, &sketch->writes_room, sketch->n_writes,
                        sizeof write))
        sketch->writes[sketch->n_writes++] = write;
}

static void build_function(atn_sketch *sketch, atn_item *item) {
    atn_value inputs[ATN_LIMIT_PORTS];
    for (int32_t k = 0; k < item->n_in; ++k) {
        inputs[k] = carried(sketch, atn_item_link(sketch, item, ATN_PORT_IN, k));
        if (inputs[k] < 0) {
            fail(item);
            return;
        }
    }
    atn_flat flat = {.sketch = sketch,
                     .text = item->text,
                     .what = item->name,
                     .at = item->at,
                     .literal = item->type,
                     .target = "out",
                     .names = item->out_names,
                     .n_targets = item->n_out,
                     .in = inputs,
                     .n_in = item->n_in};
    if (!make_outs(sketch, item) || !atn_flat_begin(&flat)) return;
    if (item->type == ATN_TYPE_NONE) { /* notation: a name without a type takes that of its value */
        flat.free = true;
        atn_term term = atn_flat_expression(&flat, item->body);
        item->type = term.type != ATN_TYPE_NONE ? term.type : atn_flat_literal_type(&flat, term.whole, ATN_TYPE_NONE);
        item->out[0] = flat.failed ? 0 : atn_flat_assigned(&flat, term, item->type, item->body->offset);
        if (flat.failed)
            fail(item);
        else
            label_out(sketch, item, 0);
        return;
    }
    for (int32_t k = 0; k < item->n_out; ++k) flat.slots[k].type = item->type;
    if (!atn_flat_run(&flat, item->body, item->is_expression)) {
        fail(item);
        return;
    }
    for (int32_t k = 0; k < item->n_out; ++k) {
        item->out[k] = flat.slots[k].value;
        label_out(sketch, item, k);
    }
}

/* Objects and parameters, in the order of the file. */
static void build_data(atn_sketch *sketch) {
    atn_graph *graph = sketch->graph;
    graph->objects = atn_arena_alloc(&graph->arena, (sketch->n_items + 1) * sizeof *graph->objects);
    graph->parameters = atn_arena_alloc(&graph->arena, (sketch->n_items + 1) * sizeof *graph->parameters);
    if (!graph->objects || !graph->parameters) {
        sketch->reader->failed = true;
        return;
    }
    for (size_t k = 0; k < sketch->n_items; ++k) {
        atn_item *item = &sketch->items[k];
        if (item->kind == ATN_ITEM_OBJECT) {
            item->index = graph->n_objects++;
            atn_object *object = &graph->objects[item->index];
            *object = (atn_object){.name = item->name,
                                   .rank = item->rank,
                                   .type = item->type,
                                   .line = item->at.line,
                                   .column = item->at.column};
            if (item->values && !item->failed && !atn_describe_table(sketch, item, item->values, object)) fail(item);
            if (item->size && !item->failed && !atn_describe_size(sketch, item, item->size, object)) fail(item);
        } else if (item->kind == ATN_ITEM_PARAMETER && make_outs(sketch, item)) {
            item->index = graph->n_parameters++;
            atn_parameter *parameter = &graph->parameters[item->index];
            *parameter = (atn_parameter){.name = item->name, .type = item->type};
            const atn_attribute *given = item->initial;
            parameter->has_default = given != NULL;
            bool wrong = given && !atn_number_parse(given->value, strlen(given->value), parameter->default_value);
            wrong |= parameter->default_value[1] != 0 && !atn_type_is_complex(item->type);
            if (given && wrong)
                atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, given, 0), item->name,
                                    "the default '%s' is not of type %s", given->value, atn_type_name(item->type));
            item->out[0] = atn_value_leaf(sketch, ATN_OP_PARAM, item->type, item->index, 0, 0, (atn_trait){0});
            atn_value_label(sketch, item->out[0], item->name);
        }
    }
}

static bool begin_algorithm(atn_sketch *sketch) {
    atn_reader *reader = sketch->reader;
    atn_item *item = &sketch->items[0];
    atn_value_integer(sketch, ATN_INDEX, 0); /* value 0 always exists */
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->blocks, &sketch->blocks_room, 0,
                         sizeof *sketch->blocks))
        return false;
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->dims, &sketch->dims_room, 0, sizeof *sketch->dims))
        return false;
    item->index = 0;
    sketch->n_blocks = 1;
    sketch->blocks[0] = (atn_block){
        .name = item->name, .parent = -1, .rank = item->rank, .line = item->at.line, .column = item->at.column};
    for (int32_t d = 0; d < ATN_MAX_RANK; ++d) sketch->blocks[0].dim[d] = -1;
    for (int32_t d = 0; d < item->rank; ++d) {
        sketch->blocks[0].dim[d] = d;
        sketch->dims[sketch->n_dims++] = (atn_dim){.block = 0, .axis = d};
    }
    return true;
}

void atn_sketch_build(atn_sketch *sketch) {
    if (!begin_algorithm(sketch)) return;
    build_data(sketch);
    for (size_t k = 0; k < sketch->n_order && !sketch->reader->failed; ++k) {
        atn_item *item = &sketch->items[sketch->order[k] / 2];
        if (sketch->order[k] % 2) {
            end_block(sketch, item);
        } else if (atn_item_is_block(item)) {
            begin_block(sketch, item);
        } else if (!item->failed) {
            if (item->kind == ATN_ITEM_READ) build_read(sketch, item);
            if (item->kind == ATN_ITEM_WRITE) build_write(sketch, item);
            if (item->kind == ATN_ITEM_FUNCTION) build_function(sketch, item);
        }
    }
}
