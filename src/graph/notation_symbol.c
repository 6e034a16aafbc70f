/* Names of a kernel of the notation, and the items and links that they become. */
#include "graph/notation_lower.h"

#include <stdio.h>
#include <string.h>

atn_place atn_lowering_place(const atn_lowering *l, size_t offset) {
    return atn_attribute_place(l->reader, &l->file->text, offset);
}

void atn_lowering_complain(atn_lowering *l, size_t offset, const char *what, const char *format, ...) {
    char sentence[512];
    ATN_FORMAT(sentence, format);
    atn_reader_complain(l->reader, atn_lowering_place(l, offset), what ? what : l->kernel->name, "%s", sentence);
}

static bool encloses(const atn_sketch *sketch, int32_t outer, int32_t inner) {
    while (inner > 0 && inner != outer) inner = sketch->items[inner].scope;
    return inner == outer || outer <= 0;
}

const atn_symbol *atn_symbol_find(const atn_lowering *l, const char *name) {
    for (size_t k = l->n_symbols; k-- > 0;) {
        const atn_symbol *s = &l->symbols[k];
        bool seen = s->kind == ATN_SYMBOL_FUNCTION || s->frame == l->frame;
        if (*s->name != *name || !seen || strcmp(s->name, name) != 0) continue; /* few get as far as this */
        if (encloses(l->sketch, s->block, l->block)) return s;
    }
    return NULL;
}

void atn_symbol_suggest(const atn_lowering *l, atn_suggestion *suggestion, bool objects) {
    for (size_t k = 0; k < l->n_symbols; ++k) {
        const atn_symbol *s = &l->symbols[k];
        if (s->frame != l->frame || s->kind == ATN_SYMBOL_POISON || objects != (s->kind == ATN_SYMBOL_OBJECT)) continue;
        if (encloses(l->sketch, s->block, l->block)) atn_suggestion_try(l->reader, suggestion, s->name);
    }
}

static const char *describe(const atn_symbol *s) {
    switch (s->kind) {
    case ATN_SYMBOL_OBJECT:
        return s->datum->rank == 1 ? "the vector" : s->datum->rank == 2 ? "the matrix" : "the volume";
    case ATN_SYMBOL_PARAMETER:
        return "the parameter";
    case ATN_SYMBOL_INDEX:
        return "the index";
    case ATN_SYMBOL_FUNCTION:
        return "the function";
    default:
        return "the value";
    }
}

void atn_symbol_add(atn_lowering *l, atn_symbol symbol) {
    symbol.frame = l->frame;
    const atn_symbol *same = atn_symbol_find(l, symbol.name);
    if (same) {
        if (same->kind != ATN_SYMBOL_POISON)
            atn_lowering_complain(l, symbol.offset, symbol.name, "the name is taken by %s in line %d", describe(same),
                                  atn_lowering_place(l, same->offset).line);
        return; /* the first one stays */
    }
    if (atn_reader_grow(l->reader, &l->reader->arena, (void **)&l->symbols, &l->symbols_room, l->n_symbols,
                        sizeof symbol))
        l->symbols[l->n_symbols++] = symbol;
}

void atn_symbol_poison(atn_lowering *l, const atn_named *names, int32_t block) {
    for (; names; names = names->next)
        atn_symbol_add(
            l, (atn_symbol){.name = names->name, .kind = ATN_SYMBOL_POISON, .block = block, .offset = names->offset});
}

int32_t atn_lowering_item(atn_lowering *l, atn_item_kind kind, const char *name, size_t offset) {
    atn_sketch *sketch = l->sketch;
    atn_reader *reader = l->reader;
    if (sketch->n_items == ATN_LIMIT_ELEMENTS) {
        atn_lowering_complain(l, l->kernel->offset, NULL, "the kernel unfolds into more than %d objects",
                              (int)ATN_LIMIT_ELEMENTS);
        return -1;
    }
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->items, &sketch->items_room, sketch->n_items,
                         sizeof *sketch->items))
        return -1;
    const char *own = atn_arena_strdup(&sketch->graph->arena, name);
    if (!own) return reader->failed = true, -1;
    bool outside = kind == ATN_ITEM_ALGORITHM || kind == ATN_ITEM_OBJECT || kind == ATN_ITEM_PARAMETER;
    sketch->items[sketch->n_items] = (atn_item){.kind = kind,
                                                .name = own,
                                                .at = atn_lowering_place(l, offset),
                                                .scope = outside ? -1 : l->block,
                                                .object = -1,
                                                .text = &l->file->text,
                                                .links = -1,
                                                .index = -1};
    return (int32_t)sketch->n_items++;
}

void atn_lowering_link(atn_lowering *l, atn_end source, size_t offset, int32_t item, atn_port port, int32_t k) {
    const atn_item *to = &l->sketch->items[item];
    atn_end end = {.item = item, .port = port, .k = k, .text = to->name};
    atn_sketch_link(l->sketch, (atn_link){source, end, atn_lowering_place(l, offset), -1});
}

atn_syntax *atn_lowering_node(atn_lowering *l, atn_syntax_kind kind, size_t offset) {
    atn_syntax *tree = atn_reader_alloc(l->reader, sizeof *tree);
    if (!tree) return NULL;
    tree->kind = kind;
    tree->offset = offset;
    tree->depth = 1;
    return tree;
}

atn_syntax *atn_lowering_port(atn_lowering *l, const char *name, int64_t k, size_t offset) {
    atn_syntax *tree = atn_lowering_node(l, ATN_SYNTAX_PORT, offset);
    if (!tree) return NULL;
    tree->name = name;
    tree->a = atn_lowering_node(l, ATN_SYNTAX_INTEGER, offset);
    if (!tree->a) return NULL;
    tree->a->integer = k;
    return tree;
}
