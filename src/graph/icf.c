/* Iteration connection functions: accumulators with their types, initial values, and how they are joined. */
#include "graph/flatten.h"
#include "graph/recognise.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

/* ICFType: one name for all accumulators, or one each; without it each takes the type of its input. */
static bool find_types(atn_sketch *sketch, const atn_item *item, const atn_value *inputs, atn_type *types) {
    atn_reader *reader = sketch->reader;
    for (int32_t k = 0; !item->types && k < item->n_out; ++k) {
        int32_t input = k < item->n_in ? k : 0;
        types[k] = item->acc_types ? item->acc_types[k] : ATN_TYPE_NONE;
        if (types[k] != ATN_TYPE_NONE) continue;
        if (!item->n_in) {
            atn_reader_complain(reader, item->at, item->name,
                                reader->notation ? "nothing says its type; write it: NAME: INT32 += 1"
                                                 : "the ICF has no input to take its type from; give ICFType");
            return false;
        }
        types[k] = sketch->values[inputs[input]].type;
    }
    if (!item->types) return true;
    int32_t count = 0;
    const char *text = item->types->value;
    for (size_t offset = 0, length;; offset += length + 1) {
        while (text[offset] == ' ' || text[offset] == '\n' || text[offset] == '\t') ++offset;
        length = strcspn(text + offset, ",");
        size_t word = strcspn(text + offset, ", \n\t");
        char name[16] = "";
        if (word < sizeof name) memcpy(name, text + offset, word);
        atn_type type = atn_type_from_name(name);
        size_t blanks = strspn(text + offset + word, " \n\t");
        if (type != ATN_TYPE_NONE && word + blanks != length) {
            atn_reader_complain(reader, atn_attribute_place(reader, item->types, offset + word + blanks), item->name,
                                "ICFType: types are separated by commas");
            return false;
        }
        if (type == ATN_TYPE_NONE) {
            atn_suggestion suggestion = {.wrong = name};
            for (int t = ATN_TYPE_NONE + 1; *name && t < ATN_TYPE_COUNT; ++t)
                atn_suggestion_try(reader, &suggestion, atn_type_name((atn_type)t));
            atn_reader_complain(reader, atn_attribute_place(reader, item->types, offset), item->name,
                                "ICFType: no type '%.*s'%s", (int)word, text + offset,
                                atn_suggestion_text(reader, &suggestion));
            return false;
        }
        if (count < item->n_out) types[count] = type;
        ++count;
        if (!text[offset + length]) break;
    }
    for (int32_t k = 1; count == 1 && k < item->n_out; ++k) types[k] = types[0];
    if (count == 1 || count == item->n_out) return true;
    atn_reader_complain(reader, atn_attribute_place(reader, item->types, 0), item->name,
                        "ICFType names %d types for %d accumulator%s", count, item->n_out, item->n_out == 1 ? "" : "s");
    return false;
}

/* ICFInit: one value for all, or one each; nothing between commas is the default. */
static bool find_inits(atn_sketch *sketch, const atn_item *item, atn_block *block) {
    const atn_syntax *given =
        item->init ? atn_syntax_parse_list(sketch->reader, item->init, item->name, true) : item->inits;
    if (item->init && !given) return false;
    int32_t count = 0;
    for (const atn_syntax *one = given; one; one = one->next) ++count;
    if (count > 1 && count != item->n_out) {
        atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, item->init, 0), item->name,
                            "ICFInit gives %d values for %d accumulator%s", count, item->n_out,
                            item->n_out == 1 ? "" : "s");
        return false;
    }
    for (int32_t k = 0; k < item->n_out; ++k) {
        atn_acc *acc = &block->acc[k];
        bool follower = acc->key >= 0 && acc->key != k;
        acc->init = follower ? -1 : atn_join_neutral(sketch, acc->join, acc->type);
        if (follower && (acc->type == ATN_INT32 || acc->type == ATN_INDEX))
            acc->init = atn_value_integer(sketch, acc->type, -1);
        if (given && given->kind != ATN_SYNTAX_EMPTY) {
            atn_flat flat = {.sketch = sketch,
                             .text = item->init ? item->init : item->text,
                             .what = item->name,
                             .at = item->at,
                             .literal = acc->type};
            acc->init = atn_flat_value(&flat, given, acc->type);
            if (flat.failed) return false;
        }
        if (count > 1) given = given->next;
        if (acc->init >= 0) continue;
        atn_reader_complain(sketch->reader, item->at, item->element ? item->name : item->out_names[k],
                            item->element ? "ICFInit is needed: %s has no neutral element"
                                          : "a first value is needed: %s has no neutral element",
                            acc->join == ATN_JOIN_ORDERED || acc->join == ATN_JOIN_CUSTOM
                                ? item->element ? "this ICF" : "what is carried"
                                : "a follower");
        return false;
    }
    return true;
}

/* The text of an ICF, which assigns accumulators of these types. */
static atn_flat flat_of(atn_sketch *sketch, const atn_item *item, const atn_type *types) {
    return (atn_flat){.sketch = sketch,
                      .text = item->text,
                      .what = item->name,
                      .at = item->at,
                      .literal = types[0],
                      .target = "acc",
                      .names = item->out_names,
                      .n_targets = item->n_out};
}

static bool find_combine(atn_sketch *sketch, const atn_item *item, atn_block *block, const atn_type *types,
                         const atn_value *updates, uint32_t dims) {
    bool is_expression = false;
    const atn_syntax *body = item->combine
                                 ? atn_syntax_parse_body(sketch->reader, item->combine, item->name, &is_expression)
                                 : item->combine_body;
    atn_value left[ATN_MAX_ACCS], right[ATN_MAX_ACCS];
    int32_t number = (int32_t)(block - sketch->blocks);
    for (int32_t k = 0; k < item->n_out; ++k) {
        left[k] = atn_value_leaf(sketch, ATN_OP_LEFT, types[k], number, k, dims, (atn_trait){0});
        right[k] = atn_value_leaf(sketch, ATN_OP_RIGHT, types[k], number, k, dims, (atn_trait){0});
    }
    atn_flat flat = flat_of(sketch, item, types);
    if (item->combine) flat.text = item->combine;
    flat.left = left;
    flat.right = right;
    if (!body || !atn_flat_begin(&flat)) return false;
    for (int32_t k = 0; k < item->n_out; ++k) flat.slots[k].type = types[k];
    if (!atn_flat_run(&flat, body, is_expression)) return false;
    for (int32_t k = 0; k < item->n_out; ++k) {
        atn_acc *acc = &block->acc[k];
        acc->join = ATN_JOIN_CUSTOM;
        acc->update = updates[k];
        acc->combine = flat.slots[k].value;
    }
    return true;
}

static uint32_t dims_of_inputs(const atn_sketch *sketch, const atn_item *item, const atn_block *block,
                               const atn_value *inputs) {
    uint32_t dims = 0;
    for (int32_t k = 0; k < item->n_in; ++k) dims |= sketch->values[inputs[k]].dims;
    for (int32_t d = 0; d < block->rank; ++d) {
        const atn_dim *dim = &sketch->dims[block->dim[d]];
        dims |= sketch->values[dim->begin].dims | sketch->values[dim->end].dims;
    }
    return dims;
}

bool atn_icf_build(atn_sketch *sketch, atn_item *item, atn_block *block, const atn_value *inputs) {
    atn_type types[ATN_MAX_ACCS];
    atn_value accs[ATN_MAX_ACCS], updates[ATN_MAX_ACCS];
    if (!find_types(sketch, item, inputs, types)) return false;
    uint32_t own = 0, dims = dims_of_inputs(sketch, item, block, inputs);
    for (int32_t d = 0; d < block->rank; ++d) own |= 1u << block->dim[d];
    int32_t number = (int32_t)(block - sketch->blocks);
    for (int32_t k = 0; k < item->n_out; ++k)
        accs[k] = atn_value_leaf(sketch, ATN_OP_ACC, types[k], number, k, dims | own, (atn_trait){.accs = 1u << k});
    atn_flat flat = flat_of(sketch, item, types);
    flat.in = inputs;
    flat.n_in = item->n_in;
    flat.accs = accs;
    if (!atn_flat_begin(&flat)) return false;
    for (int32_t k = 0; k < item->n_out; ++k)
        flat.slots[k] = (atn_flat_slot){.name = "", .type = types[k], .value = accs[k]};
    if (!atn_flat_run(&flat, item->body, item->is_expression)) return false;
    block->n_accs = item->n_out;
    for (int32_t k = 0; k < item->n_out; ++k) {
        updates[k] = flat.slots[k].value;
        block->acc[k] =
            (atn_acc){.type = types[k], .init = -1, .term = -1, .key = -1, .order = -1, .update = -1, .combine = -1};
    }
    if (!item->combine && !item->combine_body)
        atn_icf_recognise(sketch, block, accs, updates);
    else if (!find_combine(sketch, item, block, types, updates, dims & ~own))
        return false;
    return find_inits(sketch, item, block) && !sketch->reader->failed;
}
