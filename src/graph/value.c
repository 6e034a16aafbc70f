/* The store of values: a growing array and a table of those already made. */
#include "graph/value.h"

#include "base/compare.h"
#include "graph/type.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t bits) {
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

static uint64_t hash_of(const atn_node *node) {
    uint64_t bits[2];
    memcpy(bits, node->number, sizeof bits);
    uint64_t hash = mix(0, (uint64_t)node->op << 8 | (uint64_t)node->type);
    for (int k = 0; k < 3; ++k) hash = mix(hash, (uint64_t)(uint32_t)node->arg[k]);
    hash = mix(hash, (uint64_t)(uint32_t)node->index << 32 | (uint32_t)node->axis);
    return mix(mix(mix(hash, (uint64_t)node->integer), bits[0]), bits[1]);
}

static bool same(const atn_node *a, const atn_node *b) {
    return a->op == b->op && a->type == b->type && !memcmp(a->arg, b->arg, sizeof a->arg) && a->index == b->index &&
           a->axis == b->axis && a->integer == b->integer && atn_same_bits(a->number, b->number, sizeof a->number);
}

static bool rehash(atn_sketch *sketch) {
    size_t size = sketch->table_size ? sketch->table_size * 2 : 256;
    int32_t *table = atn_reader_alloc(sketch->reader, size * sizeof *table);
    if (!table) return false;
    memset(table, 0xff, size * sizeof *table);
    for (size_t k = 0; k < sketch->n_values; ++k) {
        size_t at = hash_of(&sketch->values[k]) & (size - 1);
        while (table[at] >= 0) at = (at + 1) & (size - 1);
        table[at] = (int32_t)k;
    }
    sketch->table = table;
    sketch->table_size = size;
    return true;
}

static atn_value store(atn_sketch *sketch, atn_node node, atn_trait trait) {
    atn_reader *reader = sketch->reader;
    if (2 * (sketch->n_values + 1) > sketch->table_size && !rehash(sketch)) return 0;
    size_t at = hash_of(&node) & (sketch->table_size - 1);
    for (; sketch->table[at] >= 0; at = (at + 1) & (sketch->table_size - 1))
        if (same(&sketch->values[sketch->table[at]], &node)) return sketch->table[at];
    if (sketch->n_values >= ATN_LIMIT_VALUES) {
        if (!reader->overrun)
            atn_reader_complain(reader, sketch->items[0].at, sketch->items[0].name,
                                "the description unfolds into more than %d values; use smaller loops",
                                (int)ATN_LIMIT_VALUES);
        reader->overrun = true;
        return 0;
    }
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->values, &sketch->values_room, sketch->n_values,
                         sizeof node))
        return 0;
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->traits, &sketch->traits_room, sketch->n_values,
                         sizeof trait))
        return 0;
    sketch->values[sketch->n_values] = node;
    sketch->traits[sketch->n_values] = trait;
    sketch->table[at] = (int32_t)sketch->n_values;
    return (atn_value)sketch->n_values++;
}

atn_value atn_value_integer(atn_sketch *sketch, atn_type type, int64_t number) {
    atn_node node = {.op = ATN_OP_CONST, .type = type, .arg = {-1, -1, -1}, .integer = atn_type_wrap(type, number)};
    return store(sketch, node, (atn_trait){0});
}

atn_value atn_value_number(atn_sketch *sketch, atn_type type, double real, double imaginary) {
    if (atn_type_is_integer(type)) return atn_value_integer(sketch, type, atn_type_saturate(type, real));
    atn_node node = {.op = ATN_OP_CONST,
                     .type = type,
                     .arg = {-1, -1, -1},
                     .number = {atn_type_round(type, real), atn_type_round(type, imaginary)}};
    return store(sketch, node, (atn_trait){0});
}

atn_value atn_value_leaf(atn_sketch *sketch, atn_op op, atn_type type, int32_t index, int32_t axis, uint32_t dims,
                         atn_trait trait) {
    atn_node node = {.op = op, .type = type, .arg = {-1, -1, -1}, .dims = dims, .index = index, .axis = axis};
    return store(sketch, node, trait);
}

atn_value atn_value_plain(atn_sketch *sketch, atn_op op, atn_type type, atn_value a, atn_value b, atn_value c) {
    atn_node node = {.op = op, .type = type, .arg = {a, b, c}};
    atn_trait trait = {0};
    for (int k = 0; k < 3; ++k) {
        if (node.arg[k] < 0) continue;
        const atn_trait *of = &sketch->traits[node.arg[k]];
        node.dims |= sketch->values[node.arg[k]].dims;
        trait.data |= of->data;
        trait.after |= of->after;
        trait.accs |= of->accs;
        if (!trait.running) trait.running = of->running;
    }
    return store(sketch, node, trait);
}

void atn_value_label(atn_sketch *sketch, atn_value value, const char *label) {
    if (sketch->reader->failed) return;
    atn_node *node = &sketch->values[value];
    bool nameless = node->op == ATN_OP_CONST || node->op == ATN_OP_DIM || node->op == ATN_OP_SIZE;
    if (!nameless && !node->label) node->label = label;
}
