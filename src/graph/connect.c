/* Connections: ends named in text become links between ports; each has one source in scope, and none is left open. */
#include "graph/sketch.h"

#include <stdio.h>
#include <string.h>

typedef struct port_row {
    atn_item_kind kind;
    const char *name;
    atn_port port;
    bool emitter;
} port_row;

static const port_row ports[] = {
    {ATN_ITEM_OBJECT, "Size", ATN_PORT_SIZE, true},       {ATN_ITEM_PARAMETER, "out", ATN_PORT_OUT, true},
    {ATN_ITEM_ALGORITHM, "i", ATN_PORT_I, true},          {ATN_ITEM_ALGORITHM, "out", ATN_PORT_OUT, true},
    {ATN_ITEM_ALGORITHM, "Range", ATN_PORT_RANGE, false}, {ATN_ITEM_ALGORITHM, "Size", ATN_PORT_RANGE, false},
    {ATN_ITEM_ALGORITHM, "func", ATN_PORT_FUNC, false},   {ATN_ITEM_ITERATOR, "i", ATN_PORT_I, true},
    {ATN_ITEM_ITERATOR, "out", ATN_PORT_OUT, true},       {ATN_ITEM_ITERATOR, "Range", ATN_PORT_RANGE, false},
    {ATN_ITEM_ITERATOR, "Size", ATN_PORT_RANGE, false},   {ATN_ITEM_ITERATOR, "Begin", ATN_PORT_BEGIN, false},
    {ATN_ITEM_ITERATOR, "End", ATN_PORT_END, false},      {ATN_ITEM_ITERATOR, "func", ATN_PORT_FUNC, false},
    {ATN_ITEM_READ, "out", ATN_PORT_OUT, true},           {ATN_ITEM_READ, "v", ATN_PORT_V, false},
    {ATN_ITEM_WRITE, "in", ATN_PORT_IN, false},           {ATN_ITEM_WRITE, "v", ATN_PORT_V, false},
    {ATN_ITEM_WRITE, "enable", ATN_PORT_ENABLE, false},   {ATN_ITEM_FUNCTION, "in", ATN_PORT_IN, false},
    {ATN_ITEM_FUNCTION, "out", ATN_PORT_OUT, true},       {ATN_ITEM_ALGORITHM, "before", ATN_PORT_BEFORE, true},
    {ATN_ITEM_ALGORITHM, "after", ATN_PORT_AFTER, true},  {ATN_ITEM_ITERATOR, "before", ATN_PORT_BEFORE, true},
    {ATN_ITEM_ITERATOR, "after", ATN_PORT_AFTER, true},
};
enum { N_PORTS = sizeof ports / sizeof *ports };

const atn_link *atn_item_link(const atn_sketch *sketch, const atn_item *item, atn_port port, int32_t k) {
    for (int32_t at = item->links; at >= 0; at = sketch->links[at].next)
        if (sketch->links[at].destination.port == port && sketch->links[at].destination.k == k)
            return &sketch->links[at];
    return NULL;
}

/* How many ports of that kind an item has; v(k) are counted one by one. */
static int32_t count_of(const atn_item *item, atn_port port) {
    switch (port) {
    case ATN_PORT_SIZE:
    case ATN_PORT_I:
    case ATN_PORT_RANGE:
    case ATN_PORT_BEGIN:
    case ATN_PORT_END:
        return item->rank;
    case ATN_PORT_OUT:
    case ATN_PORT_BEFORE:
    case ATN_PORT_AFTER:
        return item->n_out;
    case ATN_PORT_V:
        return ATN_LIMIT_PORTS;
    case ATN_PORT_FUNC:
        return item->n_in;
    case ATN_PORT_IN:
        return item->kind == ATN_ITEM_WRITE ? 1 : item->n_in;
    default:
        return 1;
    }
}

/* "name.port(k)" cut in its parts; k is 0 when it is not said. */
static bool cut(const char *text, char name[ATN_LIMIT_NAME + 1], char port[16], int32_t *k) {
    size_t offset = 0;
    const char *dot = strchr(text, '.');
    atn_token first = atn_token_next(text, &offset);
    if (!dot || first.kind != ATN_TOKEN_WORD || first.length > ATN_LIMIT_NAME || text + offset != dot) return false;
    ++offset;
    atn_token second = atn_token_next(text, &offset), open = atn_token_next(text, &offset);
    if (second.kind != ATN_TOKEN_WORD || second.length > 15) return false;
    snprintf(name, ATN_LIMIT_NAME + 1, "%.*s", (int)first.length, first.text);
    snprintf(port, 16, "%.*s", (int)second.length, second.text);
    *k = 0;
    if (open.kind == ATN_TOKEN_END) return true;
    atn_token number = atn_token_next(text, &offset), close = atn_token_next(text, &offset);
    if (*open.text != '(' || number.kind != ATN_TOKEN_INTEGER || *close.text != ')') return false;
    if (atn_token_next(text, &offset).kind != ATN_TOKEN_END) return false;
    *k = number.integer > INT32_MAX ? INT32_MAX : (int32_t)number.integer;
    return true;
}

static const port_row *find_port(atn_sketch *sketch, const atn_item *item, const char *text, const char *name,
                                 bool emitter, atn_place at) {
    const port_row *other = NULL;
    atn_suggestion suggestion = {.wrong = name};
    char list[96] = "";
    for (size_t k = 0; k < N_PORTS; ++k) {
        if (ports[k].kind != item->kind) continue;
        bool same = !strcmp(ports[k].name, name);
        if (same && ports[k].emitter == emitter) return &ports[k];
        if (same) other = &ports[k];
        if (ports[k].emitter != emitter) continue;
        atn_suggestion_try(sketch->reader, &suggestion, ports[k].name);
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", ports[k].name);
    }
    const char *kind = atn_item_kind_name(item->kind);
    if (other)
        atn_reader_complain(sketch->reader, at, text, "'%s' of a %s %s", name, kind,
                            emitter ? "takes a value; it cannot be a source"
                                    : "gives a value; it cannot be a destination");
    else if (suggestion.best || !*list)
        atn_reader_complain(sketch->reader, at, text, "a %s has no %s '%s'%s", kind, emitter ? "emitter" : "acceptor",
                            name, atn_suggestion_text(sketch->reader, &suggestion));
    else
        atn_reader_complain(sketch->reader, at, text, "a %s has no %s '%s'; it has %s", kind,
                            emitter ? "emitter" : "acceptor", name, list);
    return NULL;
}

static void complain_index(atn_sketch *sketch, const atn_item *item, const port_row *row, const char *text,
                           atn_place at) {
    int32_t count = count_of(item, row->port);
    if (!count && atn_item_is_block(item) && !item->text)
        atn_reader_complain(sketch->reader, at, text, "'%s' has no ICF", item->name);
    else if (!count)
        atn_reader_complain(sketch->reader, at, text, "'%s' has no %s", item->name, row->name);
    else if (count == 1)
        atn_reader_complain(sketch->reader, at, text, "'%s' has %s(0) only", item->name, row->name);
    else
        atn_reader_complain(sketch->reader, at, text, "'%s' has %s(0) to %s(%d)", item->name, row->name, row->name,
                            count - 1);
}

/* A misspelled destination counts as the one it resembles, so that this is not called unconnected as well. */
static atn_end guess_end(const atn_sketch *sketch, atn_end end, const char *name, const char *port) {
    int32_t item = atn_sketch_find(sketch, name);
    for (size_t k = 0; k < N_PORTS; ++k) {
        if (ports[k].kind != sketch->items[item].kind || strcmp(ports[k].name, port) != 0 || ports[k].emitter) continue;
        end.item = item;
        end.port = ports[k].port;
    }
    end.guessed = true;
    return end;
}

static atn_end find_end(atn_sketch *sketch, const char *text, bool emitter, atn_place at) {
    atn_end end = {.item = -1, .text = text};
    char name[ATN_LIMIT_NAME + 1], port[16];
    if (!cut(text, name, port, &end.k)) {
        atn_reader_complain(sketch->reader, at, text, "a connection's end is written object.port or object.port(k)");
        return end;
    }
    int32_t item = atn_sketch_find(sketch, name);
    if (item < 0) {
        atn_suggestion suggestion = {.wrong = name};
        for (size_t k = 0; k < sketch->n_items; ++k)
            atn_suggestion_try(sketch->reader, &suggestion, sketch->items[k].name);
        atn_reader_complain(sketch->reader, at, text, "no object '%s'%s", name,
                            atn_suggestion_text(sketch->reader, &suggestion));
        return emitter || !suggestion.best ? end : guess_end(sketch, end, suggestion.best, port);
    }
    const atn_item *found = &sketch->items[item];
    const port_row *row = find_port(sketch, found, text, port, emitter, at);
    if (!row) {
        if (!emitter) sketch->items[item].failed = true;
        return end;
    }
    end.port = row->port;
    bool unused = row->port == ATN_PORT_V && (end.k >= ATN_LIMIT_PORTS || !(found->variables >> end.k & 1));
    if (unused || end.k >= count_of(found, row->port)) {
        if (!found->failed && unused)
            atn_reader_complain(sketch->reader, at, text, "the selector of '%s' does not use v%d", name, end.k);
        else if (!found->failed)
            complain_index(sketch, found, row, text, at);
        return end;
    }
    end.item = item;
    return end;
}

static bool encloses(const atn_sketch *sketch, int32_t outer, int32_t inner) {
    while (inner >= 0 && inner != outer) inner = sketch->items[inner].scope;
    return inner == outer;
}

/* A value is seen in the block it belongs to and in the blocks inside. */
static bool check_sight(atn_sketch *sketch, const atn_link *link) {
    const atn_item *from = &sketch->items[link->source.item], *to = &sketch->items[link->destination.item];
    if (from->kind == ATN_ITEM_OBJECT || from->kind == ATN_ITEM_PARAMETER) return true;
    int32_t seen_in = atn_item_is_block(from) && link->source.port == ATN_PORT_I ? link->source.item : from->scope;
    int32_t used_in = link->destination.port == ATN_PORT_FUNC ? link->destination.item : to->scope;
    if (seen_in < 0) seen_in = 0;
    if (used_in < 0) used_in = 0;
    if (link->source.port == ATN_PORT_BEFORE || link->source.port == ATN_PORT_AFTER) {
        if (used_in == link->source.item && !atn_item_is_block(to)) return true;
        atn_reader_complain(sketch->reader, link->at, link->source.text,
                            used_in == link->source.item && link->destination.port == ATN_PORT_FUNC
                                ? "what is accumulated cannot use its own running value; let the ICF use it"
                                : "is a running value of '%s'; functions, reads and writes directly inside it see it",
                            from->name);
        return false;
    }
    bool result = from->kind == ATN_ITEM_ALGORITHM && link->source.port == ATN_PORT_OUT;
    if (result && (used_in != 0 || atn_item_is_block(to))) {
        atn_reader_complain(
            sketch->reader, link->at, link->source.text,
            "is known after the whole iteration space; it can feed functions and writes outside of iterators only");
        return false;
    }
    if (encloses(sketch, seen_in, used_in)) return true;
    const char *block = sketch->items[seen_in].name;
    if (link->source.port == ATN_PORT_I)
        atn_reader_complain(sketch->reader, link->at, link->source.text, "is known inside '%s' only; '%s' is outside",
                            block, to->name);
    else
        atn_reader_complain(sketch->reader, link->at, link->source.text,
                            "is inside '%s'; only the result of its ICF, %s.out, leaves it", block, block);
    return false;
}

void atn_sketch_link(atn_sketch *sketch, atn_link link) {
    atn_reader *reader = sketch->reader;
    atn_item *to = link.destination.item >= 0 ? &sketch->items[link.destination.item] : NULL;
    if (!to) return;
    const atn_link *before = atn_item_link(sketch, to, link.destination.port, link.destination.k);
    if (link.destination.guessed) link.source.item = -1;
    if (before && link.destination.guessed) return;
    if (before) {
        atn_reader_complain(reader, link.at, link.destination.text,
                            "is connected in line %d already; an acceptor has exactly one source", before->at.line);
        return;
    }
    if (link.source.item < 0 || !check_sight(sketch, &link)) {
        to->failed = true;
        link.source.item = -1; /* connected, if to nothing: no second complaint */
    }
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->links, &sketch->links_room, sketch->n_links,
                         sizeof link))
        return;
    link.next = to->links;
    to->links = (int32_t)sketch->n_links;
    sketch->links[sketch->n_links++] = link;
}

static void connect(atn_sketch *sketch, atn_element *element) {
    atn_reader *reader = sketch->reader;
    const atn_attribute *source = atn_element_find(element, "source"),
                        *destination = atn_element_find(element, "destination");
    atn_describe_leftovers(reader, element, element->name);
    if (!source || !destination) {
        atn_reader_complain(reader, element->at, element->name, "a Connection needs the attribute '%s'",
                            source ? "destination" : "source");
        return;
    }
    atn_link link = {.at = element->at, .next = -1};
    link.source = find_end(sketch, source->value, true, element->at);
    link.destination = find_end(sketch, destination->value, false, element->at);
    atn_sketch_link(sketch, link);
}

static void add_rule(atn_sketch *sketch, atn_element *element) {
    atn_reader *reader = sketch->reader;
    int32_t ends[2];
    for (int32_t k = 0; k < 2; ++k) {
        const atn_attribute *name = atn_element_find(element, k ? "second" : "first");
        if (!name) {
            atn_reader_complain(reader, element->at, element->name, "an Order needs the attribute '%s'",
                                k ? "second" : "first");
            return;
        }
        ends[k] = atn_sketch_find(sketch, name->value);
        bool runs = ends[k] >= 0 && (sketch->items[ends[k]].scope >= 0);
        if (runs) continue;
        atn_suggestion suggestion = {.wrong = name->value};
        for (size_t j = 0; j < sketch->n_items; ++j)
            if (sketch->items[j].scope >= 0) atn_suggestion_try(sketch->reader, &suggestion, sketch->items[j].name);
        if (ends[k] >= 0)
            atn_reader_complain(reader, element->at, name->value, "a %s has no place in the order",
                                atn_item_kind_name(sketch->items[ends[k]].kind));
        else
            atn_reader_complain(reader, element->at, name->value, "no object '%s'%s", name->value,
                                atn_suggestion_text(reader, &suggestion));
        return;
    }
    const atn_item *first = &sketch->items[ends[0]], *second = &sketch->items[ends[1]];
    if (first->kind == ATN_ITEM_WRITE && second->kind == ATN_ITEM_READ && first->object == second->object) {
        atn_reader_complain(reader, element->at, first->name,
                            "reads see what was there before the kernel; connect '%s' to what '%s' writes",
                            second->name, first->name);
        return;
    }
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->rules, &sketch->rules_room, sketch->n_rules,
                         sizeof *sketch->rules))
        return;
    sketch->rules[sketch->n_rules++] = (atn_rule){ends[0], ends[1]};
}

static void require(atn_sketch *sketch, atn_item *item, atn_port port, const char *name, int32_t k, const char *hint) {
    if (atn_item_link(sketch, item, port, k)) return;
    char text[ATN_LIMIT_NAME + 32];
    if (item->kind == ATN_ITEM_WRITE && port == ATN_PORT_IN)
        snprintf(text, sizeof text, "%s.%s", item->name, name);
    else
        snprintf(text, sizeof text, "%s.%s(%d)", item->name, name, k);
    atn_reader_complain(sketch->reader, item->at, text, "is not connected%s", hint);
    item->failed = true;
}

static void require_ranges(atn_sketch *sketch, atn_item *item) {
    for (int32_t d = 0; d < item->rank; ++d) {
        bool begin = atn_item_link(sketch, item, ATN_PORT_BEGIN, d), end = atn_item_link(sketch, item, ATN_PORT_END, d);
        const atn_link *range = atn_item_link(sketch, item, ATN_PORT_RANGE, d);
        if (range && (begin || end)) {
            atn_reader_complain(sketch->reader, range->at, range->destination.text,
                                "Range is given together with Begin or End; use Range, or Begin and End");
            item->failed = true;
        } else if (begin || end) {
            require(sketch, item, begin ? ATN_PORT_END : ATN_PORT_BEGIN, begin ? "End" : "Begin", d,
                    "; Begin and End go together");
        } else {
            require(sketch, item, ATN_PORT_RANGE, "Range", d, "; it says how many steps the dimension has");
        }
    }
}

static void require_all(atn_sketch *sketch, atn_item *item) {
    bool quiet = item->failed; /* its text was wrong: nothing is known of its inputs */
    if (atn_item_is_block(item)) require_ranges(sketch, item);
    if (quiet) return;
    for (int32_t k = 0; k < ATN_LIMIT_PORTS; ++k)
        if (item->variables >> k & 1) require(sketch, item, ATN_PORT_V, "v", k, "; the selector uses it");
    if (item->kind == ATN_ITEM_WRITE) {
        require(sketch, item, ATN_PORT_IN, "in", 0, "; it is what is written");
    } else {
        bool block = atn_item_is_block(item);
        for (int32_t k = 0; k < item->n_in; ++k)
            require(sketch, item, block ? ATN_PORT_FUNC : ATN_PORT_IN, block ? "func" : "in", k,
                    block ? "; the ICF uses it" : "");
    }
}

void atn_sketch_connect(atn_sketch *sketch, atn_element *root) {
    static const char *const expected[] = {"Connection", "Order"};
    for (atn_element *part = root->child; part; part = part->next) {
        bool rules = !strcmp(part->name, "OrderingRules");
        if (!rules && strcmp(part->name, "Connections") != 0) continue;
        for (atn_element *child = part->child; child; child = child->next) {
            bool right = !strcmp(child->name, expected[rules]);
            if (!right)
                atn_reader_complain(sketch->reader, child->at, child->name,
                                    "this element does not belong in %s; did you mean '%s'?", part->name,
                                    expected[rules]);
            else if (rules)
                add_rule(sketch, child);
            else
                connect(sketch, child);
        }
    }
    for (size_t k = 0; k < sketch->n_items; ++k) require_all(sketch, &sketch->items[k]);
}
