/* A kernel of the notation into a sketch: its data, its own space, then line by line. */
#include "graph/notation_lower.h"
#include "graph/flatten.h"

#include <assert.h>
#include <string.h>

static const atn_scatter scatters[] = {[ATN_ASSIGN_ADD] = ATN_WRITE_ADD,
                                       [ATN_ASSIGN_MIN] = ATN_WRITE_MIN,
                                       [ATN_ASSIGN_MAX] = ATN_WRITE_MAX,
                                       [ATN_ASSIGN_OR] = ATN_WRITE_OR};

/* Literals and names of constants alone. */
static bool is_constant(const atn_lowering *l, const atn_syntax *tree) {
    for (; tree; tree = tree->next) {
        switch (tree->kind) {
        case ATN_SYNTAX_INTEGER:
        case ATN_SYNTAX_NUMBER:
            break;
        case ATN_SYNTAX_NAME: {
            const atn_symbol *symbol = atn_symbol_find(l, tree->name);
            if (symbol ? symbol->kind != ATN_SYMBOL_CONSTANT : !atn_flat_is_constant(tree->name)) return false;
            break;
        }
        case ATN_SYNTAX_UNARY:
        case ATN_SYNTAX_BINARY:
            if (!is_constant(l, tree->a) || !is_constant(l, tree->b)) return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

static void define(atn_lowering *l, const atn_line *line) {
    int32_t names = 0, values = 0;
    const atn_named *first = line->names;
    assert(first);
    for (const atn_named *one = first; one; one = one->next) ++names;
    for (const atn_syntax *one = line->values; one; one = one->next) ++values;
    atn_end ends[ATN_LIMIT_PORTS];
    const atn_syntax *constants[ATN_LIMIT_PORTS] = {0};
    const atn_symbol *call =
        values == 1 && line->values->kind == ATN_SYNTAX_CALL ? atn_symbol_find(l, line->values->name) : NULL;
    bool many = names > 1 && call && call->kind == ATN_SYMBOL_FUNCTION, right = names <= ATN_LIMIT_PORTS;
    if (!right) {
        atn_lowering_complain(l, line->offset, NULL, "more than %d names in one line", (int)ATN_LIMIT_PORTS);
    } else if (line->body) {
        for (const atn_named *one = first; one && right; one = one->next) {
            right = one->written && one->type == first->type;
            if (!right && (!one->written || one->type != ATN_TYPE_NONE))
                atn_lowering_complain(l, one->offset, one->name,
                                      "names of statements in braces have one type: a, b: T = { ... }");
        }
        right = right && first->type != ATN_TYPE_NONE && atn_lower_braces(l, line->body, first, line->offset, ends);
    } else if (many) {
        right = atn_lower_call(l, line->values, call, ends, names);
    } else if (names != values) {
        atn_lowering_complain(l, line->offset, NULL, "%d name%s, but %d value%s", names, names == 1 ? "" : "s", values,
                              values == 1 ? "" : "s");
        right = false;
    } else {
        int32_t k = 0;
        const atn_syntax *value = line->values;
        for (const atn_named *one = line->names; one; one = one->next, value = value->next, ++k) {
            l->name = one->name;
            l->written = one->written;
            atn_syntax alone = *value;
            alone.next = NULL;
            if (!one->written && is_constant(l, &alone))
                constants[k] = value;
            else if (one->written && one->type == ATN_TYPE_NONE)
                right = false;
            else
                right = atn_lower_value(l, value, one->type, one->written != NULL, &ends[k]) && right;
        }
    }
    l->name = NULL;
    if (!right) {
        atn_symbol_poison(l, line->names, l->block);
        return;
    }
    int32_t k = 0;
    for (const atn_named *one = line->names; one; one = one->next, ++k)
        atn_symbol_add(l, (atn_symbol){.name = one->name,
                                       .kind = constants[k] ? ATN_SYMBOL_CONSTANT : ATN_SYMBOL_VALUE,
                                       .end = ends[k],
                                       .block = l->block,
                                       .offset = one->offset,
                                       .tree = constants[k]});
}

static void write(atn_lowering *l, const atn_line *line, const atn_end *given, const atn_syntax *value) {
    atn_end end, enable;
    const atn_symbol *object = atn_symbol_find(l, line->target->name);
    l->name = object->name;
    l->written = object->datum->written;
    bool right = true; /* all errors are reported */
    if (given)
        end = *given;
    else
        right = atn_lower_value(l, value, object->datum->type, false, &end);
    l->name = "enable";
    l->written = NULL;
    if (line->where) right = atn_lower_value(l, line->where, ATN_B, false, &enable) && right;
    l->name = NULL;
    int32_t item = atn_lower_access(l, line->target, true);
    if (item < 0 || !right) {
        if (item >= 0) l->sketch->items[item].failed = true;
        return;
    }
    if (object->datum->scatter && line->assign) l->sketch->items[item].scatter = scatters[line->assign];
    if (object->datum->distinct && !line->assign) l->sketch->items[item].scatter = ATN_WRITE_DISTINCT;
    atn_lowering_link(l, end, given ? line->offset : value->offset, item, ATN_PORT_IN, 0);
    if (line->where) atn_lowering_link(l, enable, line->where->offset, item, ATN_PORT_ENABLE, 0);
}

static bool uses_index(const atn_lowering *l, const atn_syntax *tree, int32_t block) {
    for (; tree; tree = tree->next) {
        const atn_symbol *symbol = tree->kind == ATN_SYNTAX_NAME ? atn_symbol_find(l, tree->name) : NULL;
        if (symbol && symbol->kind != ATN_SYMBOL_PARAMETER && symbol->kind != ATN_SYMBOL_OBJECT &&
            symbol->block == block)
            return true;
        if (uses_index(l, tree->a, block) || uses_index(l, tree->b, block) || uses_index(l, tree->c, block))
            return true;
    }
    return false;
}

/* a[i] += x, without add: what is there, and x. */
static atn_syntax *with_old(atn_lowering *l, const atn_line *line) {
    static const atn_op ops[] = {
        [ATN_ASSIGN_ADD] = ATN_OP_ADD, [ATN_ASSIGN_SUB] = ATN_OP_SUB, [ATN_ASSIGN_MUL] = ATN_OP_MUL,
        [ATN_ASSIGN_MIN] = ATN_OP_MIN, [ATN_ASSIGN_MAX] = ATN_OP_MAX, [ATN_ASSIGN_AND] = ATN_OP_AND,
        [ATN_ASSIGN_OR] = ATN_OP_OR};
    atn_syntax *tree = atn_lowering_node(l, ATN_SYNTAX_BINARY, line->offset);
    if (!tree) return NULL;
    tree->op = ops[line->assign];
    tree->a = line->target;
    tree->b = line->values;
    return tree;
}

static void write_line(atn_lowering *l, const atn_line *line) {
    const atn_symbol *object = atn_symbol_find(l, line->target->name);
    if (!object || object->kind != ATN_SYMBOL_OBJECT) {
        atn_end end; /* for their complaints */
        atn_lower_access(l, line->target, true);
        for (const atn_syntax *value = line->values; value; value = value->next)
            atn_lower_value(l, value, ATN_TYPE_NONE, false, &end);
        return;
    }
    const atn_datum *datum = object->datum;
    bool scatter = datum->scatter && line->assign;
    if (datum->values) {
        atn_lowering_complain(l, line->offset, datum->name, "is a constant table and cannot be written");
    } else if (datum->role == ATN_ROLE_IN) {
        atn_lowering_complain(l, line->offset, datum->name,
                              "is an input and cannot be written; put it after ->, or declare it inout %s",
                              datum->name);
    } else if (!line->values || line->values->next) {
        atn_lowering_complain(l, line->offset, datum->name, "expected one value after =");
    } else if (datum->scatter && (!line->assign || (!scatters[line->assign] && scatter))) {
        atn_lowering_complain(l, line->offset, datum->name, "many points meet in it: write +=, min=, max= or or=");
    } else if (line->key && (scatter || uses_index(l, line->target->a, l->loop->item))) {
        atn_lowering_complain(
            l, line->offset, datum->name,
            "several elements with min= or max= keep a key and what belongs to it, which needs elements "
            "that stay the same throughout the loop; for a minimum of each, write a line for each");
    } else if (!line->assign || scatter) {
        write(l, line, NULL, line->values);
    } else if (uses_index(l, line->target->a, l->loop->item)) {
        atn_syntax *value = with_old(l, line);
        if (datum->role != ATN_ROLE_INOUT)
            atn_lowering_complain(l, line->offset, datum->name,
                                  "has no value yet; say inout %s, or add %s where points meet in one element",
                                  datum->name, datum->name);
        else if (value)
            write(l, line, NULL, value);
    } else {
        atn_loop_accumulate(l, line);
    }
}

void atn_lower_loop(atn_lowering *l, const atn_line *line) {
    atn_loop loop = {.item = line->kind == ATN_LINE_FOR ? 0 : -1}, *outer = l->loop;
    int32_t block = l->block;
    bool open = atn_loop_open(l, &loop, line->indices, line->ranges, line->child, NULL);
    if (!open && loop.item < 0) {
        l->block = block;
        return;
    }
    l->loop = &loop;
    loop.lines = line->child;
    atn_lower_lines(l, line->child);
    l->line = NULL;
    atn_loop_close(l, &loop);
    l->loop = outer;
    l->block = block;
    bool failed = l->sketch->items[loop.item].failed;
    for (int32_t k = 0; k < loop.n; ++k) {
        const atn_running *acc = &loop.acc[k];
        atn_end end = {.item = loop.item, .port = ATN_PORT_OUT, .k = k, .text = acc->name};
        if (acc->write) {
            if (!failed) write(l, acc->write, &end, NULL);
            continue;
        }
        if (loop.item == 0) /* the name was seen in the whole kernel */
            for (size_t s = 0; s < l->n_symbols; ++s)
                if (l->symbols[s].kind == ATN_SYMBOL_RUNNING && !strcmp(l->symbols[s].name, acc->name))
                    l->symbols[s].name = "";
        atn_symbol_add(l, (atn_symbol){.name = acc->name,
                                       .kind = failed ? ATN_SYMBOL_POISON : ATN_SYMBOL_VALUE,
                                       .end = end,
                                       .block = l->block,
                                       .offset = acc->offset});
    }
    if (loop.item == 0) /* indices of the space are gone */
        for (size_t s = 0; s < l->n_symbols; ++s)
            if (l->symbols[s].kind == ATN_SYMBOL_INDEX && l->symbols[s].block == 0) l->symbols[s].name = "";
}

void atn_lower_lines(atn_lowering *l, const atn_line *lines) {
    for (const atn_line *line = lines; line && !l->reader->failed; line = line->next) {
        l->line = line;
        if (line->failed) {
            atn_symbol_poison(l, line->names, l->block);
            continue;
        }
        switch (line->kind) {
        case ATN_LINE_DEFINE:
            define(l, line);
            break;
        case ATN_LINE_ACCUMULATE:
            atn_loop_accumulate(l, line);
            break;
        case ATN_LINE_WRITE:
            write_line(l, line);
            break;
        case ATN_LINE_CARRY:
            atn_loop_carry(l, line);
            break;
        case ATN_LINE_OVER:
            atn_lower_loop(l, line);
            break;
        case ATN_LINE_FOR:
            atn_lowering_complain(l, line->offset, NULL, "'for' is written once, at the front; inner loops are 'over'");
            break;
        }
        for (const atn_edge_clause *edge = line->edges; edge; edge = edge->next)
            if (!edge->used && !l->reader->n_complaints && line->edges != (line->next ? line->next->edges : NULL))
                atn_lowering_complain(l, edge->offset, edge->name, "nothing is read from '%s' in this line",
                                      edge->name);
    }
}

static void add_data(atn_lowering *l) {
    for (const atn_datum *datum = l->kernel->data; datum; datum = datum->next) {
        bool array = datum->rank > 0;
        int32_t item = atn_lowering_item(l, array ? ATN_ITEM_OBJECT : ATN_ITEM_PARAMETER, datum->name, datum->offset);
        if (item < 0) return;
        atn_item *one = &l->sketch->items[item];
        one->rank = datum->rank;
        one->type = datum->type;
        one->written = datum->written;
        one->n_out = !array;
        one->size = datum->size;
        if (array)
            one->values = datum->values;
        else
            one->initial = datum->values;
        one->failed = datum->type == ATN_TYPE_NONE;
        atn_symbol_add(l, (atn_symbol){.name = datum->name,
                                       .kind = one->failed ? ATN_SYMBOL_POISON
                                               : array     ? ATN_SYMBOL_OBJECT
                                                           : ATN_SYMBOL_PARAMETER,
                                       .end = {.item = item, .port = ATN_PORT_OUT, .text = datum->name},
                                       .offset = datum->offset,
                                       .datum = datum});
    }
}

/* Without `for`: the indices of what is written, or of the one reduction of all. */
static void own_space(atn_lowering *l, const atn_line *lines) {
    atn_free_names names = {.n = 0};
    atn_range_free(l, lines, &names);
    atn_loop loop = {.item = 0};
    atn_syntax *indices = NULL, **last = &indices;
    const atn_syntax *ranges = NULL, *inside = NULL;
    for (int32_t k = 0; k < names.n; ++k) {
        *last = atn_lowering_node(l, ATN_SYNTAX_NAME, names.offset[k]);
        if (!*last) return;
        (*last)->name = names.name[k];
        last = &(*last)->next;
    }
    if (!names.n) l->whole = atn_range_reduction(lines);
    if (l->whole) {
        indices = l->whole->a;
        ranges = l->whole->b;
        inside = l->whole->c;
    }
    if (!atn_loop_open(l, &loop, indices, ranges, inside ? NULL : lines, inside)) return;
    l->loop = &loop;
    loop.lines = lines;
    atn_lower_lines(l, lines);
    atn_loop_close(l, &loop);
    l->line = NULL;
    for (int32_t k = 0; k < loop.n; ++k) {
        atn_end end = {.item = 0, .port = ATN_PORT_OUT, .k = k, .text = loop.acc[k].name};
        if (loop.acc[k].write && !l->sketch->items[0].failed) write(l, loop.acc[k].write, &end, NULL);
    }
    l->loop = NULL;
}

/* The lines after the loop run once, with its result. */
static void check_after(atn_lowering *l, size_t from) {
    atn_sketch *sketch = l->sketch;
    bool *after = atn_reader_alloc(l->reader, sketch->n_items + 1);
    for (size_t k = 0; after && k < sketch->n_items; ++k) { /* what an item waits for was made before it */
        for (int32_t at = sketch->items[k].links; at >= 0 && k; at = sketch->links[at].next) {
            const atn_end *source = &sketch->links[at].source;
            after[k] |= source->item < 0 || (source->item == 0 && source->port == ATN_PORT_OUT) || after[source->item];
        }
        if (k < from || sketch->items[k].kind != ATN_ITEM_WRITE || after[k]) continue;
        sketch->items[k].failed = true;
        if (!l->reader->n_complaints)
            atn_reader_complain(l->reader, sketch->items[k].at, sketch->items[k].name,
                                "comes after the loop and uses none of its results; put it inside");
    }
}

/* Every `for` first, then what runs after the whole space. */
static void given_space(atn_lowering *l, const atn_line *lines) {
    atn_lower_loop(l, lines);
    atn_loop none = {.item = 0};
    size_t before = l->sketch->n_items;
    l->loop = &none;
    atn_lower_lines(l, lines->next);
    check_after(l, before);
    if (none.n) atn_lowering_complain(l, none.acc[0].offset, none.acc[0].name, "nothing is accumulated after the loop");
    l->loop = NULL;
}

void atn_sketch_lower(atn_sketch *sketch, const atn_file_text *file, const atn_kernel_text *kernel) {
    atn_lowering l = {.sketch = sketch, .reader = sketch->reader, .file = file, .kernel = kernel};
    int32_t item = atn_lowering_item(&l, ATN_ITEM_ALGORITHM, kernel->name, kernel->offset);
    if (item < 0) return;
    sketch->items[0].text = NULL;
    sketch->graph->name = sketch->items[0].name;
    sketch->graph->finite = kernel->finite;
    sketch->facts = kernel->facts;
    sketch->graph->tolerance = kernel->tolerance;
    for (const atn_function_text *one = file->functions; one; one = one->next)
        if (one->name)
            atn_symbol_add(&l, (atn_symbol){.name = one->name,
                                            .kind = one->values || one->body ? ATN_SYMBOL_FUNCTION : ATN_SYMBOL_POISON,
                                            .offset = one->offset,
                                            .function = one});
    add_data(&l);
    const atn_line *lines = kernel->lines;
    if (lines && lines->kind == ATN_LINE_FOR && !lines->failed)
        given_space(&l, lines);
    else if (lines)
        own_space(&l, lines);
}
