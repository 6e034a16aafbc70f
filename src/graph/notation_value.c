/* Expressions of the notation: reads, sizes, calls and reductions become items of their own; what is left is a text
 * over #in(k), as a FunctionBlock has it. */
#include "graph/flatten.h"
#include "graph/notation_lower.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool same_tree(const atn_syntax *a, const atn_syntax *b) {
    for (; a && b; a = a->next, b = b->next) {
        if (a == b) return true;
        if (a->kind != b->kind || a->op != b->op || a->type != b->type || a->integer != b->integer ||
            a->number != b->number || (a->name != b->name && (!a->name || !b->name || strcmp(a->name, b->name) != 0)))
            return false;
        if (!same_tree(a->a, b->a) || !same_tree(a->b, b->b) || !same_tree(a->c, b->c) || !same_tree(a->d, b->d))
            return false;
    }
    return !a && !b;
}

static bool same_element(const atn_syntax *a, const atn_syntax *b) {
    return a && b && a->kind == ATN_SYNTAX_ELEMENT && b->kind == ATN_SYNTAX_ELEMENT && !strcmp(a->name, b->name) &&
           same_tree(a->a, b->a);
}

/* The leaf that stands for input `end` of a text. */
static atn_syntax *input(atn_lowering *l, atn_inputs *inputs, atn_end end, const atn_syntax *tree) {
    if (!inputs) {
        atn_lowering_complain(l, tree->offset, NULL, "expected a constant here");
        return NULL;
    }
    int32_t k = 0;
    while (k < inputs->n &&
           (inputs->end[k].item != end.item || inputs->end[k].port != end.port || inputs->end[k].k != end.k))
        ++k;
    if (k == ATN_LIMIT_PORTS) {
        atn_lowering_complain(l, tree->offset, NULL, "more than %d values are used at once; give parts of it a name",
                              (int)ATN_LIMIT_PORTS);
        return NULL;
    }
    if (k == inputs->n) {
        inputs->end[k] = end;
        inputs->offset[k] = tree->offset;
        inputs->tree[k] = tree;
        ++inputs->n;
    }
    if (!inputs->selector) return atn_lowering_port(l, "in", k, tree->offset);
    atn_syntax *leaf = atn_lowering_node(l, ATN_SYNTAX_NAME, tree->offset);
    if (leaf) leaf->name = atn_arena_printf(&l->reader->arena, "v%d", k);
    if (leaf && !leaf->name) return l->reader->failed = true, NULL;
    return leaf;
}

bool atn_lower_link_all(atn_lowering *l, const atn_inputs *inputs, int32_t item, atn_port port) {
    for (int32_t k = 0; k < inputs->n; ++k) atn_lowering_link(l, inputs->end[k], inputs->offset[k], item, port, k);
    return !l->reader->failed;
}

/* `A[y - 1, x]`, blanks made one, for messages. */
static const char *snippet(const atn_lowering *l, const atn_syntax *tree) {
    enum { LONGEST = 48 };
    char text[LONGEST + 4];
    size_t n = 0;
    const char *from = l->file->text.value;
    for (size_t k = tree->offset; k < (size_t)tree->integer && from[k] && n < LONGEST; ++k) {
        bool blank = strchr(" \t\r\n", from[k]) != NULL;
        if (blank && n && text[n - 1] == ' ') continue;
        text[n++] = blank ? ' ' : from[k];
    }
    text[n] = '\0';
    if (n == LONGEST) memcpy(text + n, "...", 4);
    const char *own = atn_arena_strdup(&l->reader->arena, text);
    if (!own) l->reader->failed = true;
    return own ? own : "";
}

static const atn_symbol *find_object(atn_lowering *l, const atn_syntax *tree) {
    const atn_symbol *symbol = atn_symbol_find(l, tree->name);
    if (symbol && (symbol->kind == ATN_SYMBOL_OBJECT || symbol->kind == ATN_SYMBOL_POISON))
        return symbol->kind == ATN_SYMBOL_OBJECT ? symbol : NULL;
    if (symbol) {
        atn_lowering_complain(l, tree->offset, tree->name, "is not an array; it has no elements");
        return NULL;
    }
    atn_suggestion suggestion = {.wrong = tree->name};
    atn_symbol_suggest(l, &suggestion, true);
    if (!l->kernel->unsure || suggestion.best)
        atn_lowering_complain(l, tree->offset, tree->name, "no array '%s'%s", tree->name,
                              atn_suggestion_text(l->reader, &suggestion));
    return NULL;
}

static void find_boundary(atn_lowering *l, const char *name, atn_item *item) {
    for (atn_edge_clause *edge = l->line ? l->line->edges : NULL; edge; edge = edge->next) {
        if (strcmp(edge->name, name) != 0) continue;
        item->boundary = edge->boundary;
        edge->used = true;
        return;
    }
}

int32_t atn_lower_access(atn_lowering *l, const atn_syntax *tree, bool write) {
    const atn_symbol *object = find_object(l, tree);
    if (!object) return -1;
    const atn_datum *datum = object->datum;
    int32_t target = object->end.item, count = 0;
    for (const atn_syntax *one = tree->a; one; one = one->next) ++count;
    if (count != datum->rank) {
        atn_lowering_complain(l, tree->offset, tree->name, "%d subscript%s for the %s '%s'; it takes %d", count,
                              count == 1 ? "" : "s", atn_rank_name(datum->rank), tree->name, datum->rank);
        return -1;
    }
    atn_inputs inputs = {.selector = true};
    atn_syntax *body = NULL, **last = &body; /* the column first */
    bool right = true;                       /* all errors are reported */
    for (int32_t axis = count; axis-- > 0;) {
        const atn_syntax *given = tree->a;
        for (int32_t k = 0; k < axis; ++k) given = given->next;
        atn_syntax *one = atn_lower_text(l, given, &inputs);
        right = right && one;
        if (!right) continue;
        *last = one;
        last = &one->next;
    }
    if (!right) return -1;
    int32_t item = atn_lowering_item(l, write ? ATN_ITEM_WRITE : ATN_ITEM_READ, snippet(l, tree), tree->offset);
    if (item < 0) return -1;
    atn_item *access = &l->sketch->items[item];
    access->object = target;
    access->body = body;
    access->variables = inputs.n == 64 ? ~0ull : (1ull << inputs.n) - 1;
    access->n_out = !write;
    access->label = l->sketch->items[target].name;
    if (!write) find_boundary(l, tree->name, access);
    access->failed = l->sketch->items[target].failed;
    return atn_lower_link_all(l, &inputs, item, ATN_PORT_V) ? item : -1;
}

/* planes(A), rows(A), columns(A), length(x) */
static bool is_size(const atn_lowering *l, const atn_syntax *tree, atn_end *end, const char **wrong) {
    static const struct {
        const char *name;
        int32_t axis, least, most; /* ranks that have it */
    } sizes[] = {{"planes", 2, 3, 3}, {"rows", 1, 2, 3}, {"columns", 0, 2, 3}, {"length", 0, 1, 1}};
    static const char *const own[] = {[1] = "is a vector; its size is length(...)",
                                      [2] = "is a matrix; its sizes are rows(...) and columns(...)",
                                      [3] = "is a volume; its sizes are planes(...), rows(...) and columns(...)"};
    *wrong = NULL;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        if (tree->kind != ATN_SYNTAX_CALL || strcmp(tree->name, sizes[k].name) != 0) continue;
        if (!tree->a || tree->a->kind != ATN_SYNTAX_NAME || tree->a->next) continue;
        const atn_symbol *object = atn_symbol_find(l, tree->a->name);
        if (!object || object->kind != ATN_SYMBOL_OBJECT) continue;
        int32_t rank = object->datum->rank;
        if (rank < sizes[k].least || rank > sizes[k].most) *wrong = own[rank];
        *end = (atn_end){.item = object->end.item, .port = ATN_PORT_SIZE, .k = sizes[k].axis, .text = object->name};
        return true;
    }
    return false;
}

static atn_syntax *copy_node(atn_lowering *l, const atn_syntax *tree) {
    atn_syntax *copy = atn_reader_alloc(l->reader, sizeof *copy);
    if (!copy) return NULL;
    *copy = *tree;
    copy->next = NULL;
    return copy;
}

/* In braces: names assigned to, names declared. */
static atn_syntax *brace_name(atn_lowering *l, const atn_syntax *tree) {
    int64_t k = 0;
    if (!l->braces) return NULL;
    for (const atn_named *one = l->braces->targets; one; one = one->next, ++k)
        if (!strcmp(one->name, tree->name)) return atn_lowering_port(l, l->braces->port, k, tree->offset);
    for (int32_t j = 0; j < l->braces->n_locals; ++j)
        if (!strcmp(l->braces->locals[j], tree->name)) return copy_node(l, tree);
    return NULL;
}

static atn_syntax *name(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs) {
    atn_syntax *own = brace_name(l, tree);
    if (own) return own;
    const atn_symbol *symbol = atn_symbol_find(l, tree->name);
    atn_end running;
    if (atn_running_find(l, tree, &running)) return input(l, inputs, running, tree);
    if (!symbol && atn_flat_is_constant(tree->name)) return copy_node(l, tree);
    if (!symbol) {
        atn_suggestion suggestion = {.wrong = tree->name};
        atn_symbol_suggest(l, &suggestion, false);
        atn_symbol_suggest(l, &suggestion, true);
        if (!l->kernel->unsure || suggestion.best)
            atn_lowering_complain(l, tree->offset, tree->name, "no name '%s'%s", tree->name,
                                  atn_suggestion_text(l->reader, &suggestion));
        return NULL;
    }
    switch (symbol->kind) {
    case ATN_SYMBOL_OBJECT:
        atn_lowering_complain(l, tree->offset, tree->name, "is a %s; an element of it is %s",
                              atn_rank_name(symbol->datum->rank),
                              symbol->datum->rank == 1   ? "x[i]"
                              : symbol->datum->rank == 2 ? "A[row, column]"
                                                         : "A[plane, row, column]");
        return NULL;
    case ATN_SYMBOL_FUNCTION:
        atn_lowering_complain(l, tree->offset, tree->name, "is a function; its arguments are missing");
        return NULL;
    case ATN_SYMBOL_POISON:
        return NULL;
    case ATN_SYMBOL_TEXT:
        return copy_node(l, symbol->tree);
    case ATN_SYMBOL_CONSTANT:
        return atn_lower_text(l, symbol->tree, inputs);
    default:
        return input(l, inputs, symbol->end, tree);
    }
}

static atn_syntax *cast_to(atn_lowering *l, const atn_named *named, atn_syntax *text) {
    if (!text || !named || !named->written) return text;
    atn_syntax *tree = atn_lowering_node(l, ATN_SYNTAX_CAST, text->offset);
    if (!tree) return NULL;
    tree->type = named->type;
    tree->written = named->written;
    tree->a = text;
    return tree;
}

/* Within braces, arguments may be local variables: the expression of the function replaces the call. */
static atn_syntax *call_in_braces(atn_lowering *l, const atn_syntax *tree, const atn_symbol *symbol,
                                  atn_inputs *inputs) {
    const atn_function_text *function = symbol->function;
    const atn_named *parameter = function->parameters;
    if (!function->values || function->values->next || l->calls == ATN_LIMIT_CALLS) {
        atn_lowering_complain(l, tree->offset, tree->name,
                              l->calls == ATN_LIMIT_CALLS ? "functions call one another too deep"
                                                          : "in braces, functions are called that are one expression");
        return NULL;
    }
    size_t before = l->n_symbols;
    int32_t frame = l->frame, inner = ++l->frames;
    bool right = true;
    for (const atn_syntax *one = tree->a; one && right; one = one->next) {
        atn_syntax *text = parameter ? cast_to(l, parameter, atn_lower_text(l, one, inputs)) : NULL;
        right = text != NULL;
        l->frame = inner;
        if (right)
            atn_symbol_add(l, (atn_symbol){.name = parameter->name,
                                           .kind = ATN_SYMBOL_TEXT,
                                           .block = l->block,
                                           .offset = parameter->offset,
                                           .tree = text});
        l->frame = frame;
        if (parameter)
            parameter = parameter->next;
        else
            atn_lowering_complain(l, one->offset, tree->name, "takes fewer arguments");
    }
    if (right && parameter) {
        atn_lowering_complain(l, tree->offset, tree->name, "takes more arguments");
        right = false;
    }
    atn_braces *braces = l->braces;
    l->braces = NULL;
    l->frame = inner;
    ++l->calls;
    atn_syntax *text = right ? cast_to(l, function->results, atn_lower_text(l, function->values, inputs)) : NULL;
    --l->calls;
    l->frame = frame;
    l->braces = braces;
    l->n_symbols = before;
    return text;
}

static atn_syntax *call(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs) {
    atn_end end;
    const char *wrong;
    if (is_size(l, tree, &end, &wrong)) {
        if (wrong) atn_lowering_complain(l, tree->offset, tree->a->name, "%s", wrong);
        return wrong ? NULL : input(l, inputs, end, tree);
    }
    if (atn_running_find(l, tree, &end)) return input(l, inputs, end, tree);
    if (l->braces && l->braces->parts && tree->a && tree->a->kind == ATN_SYNTAX_NAME && !tree->a->next &&
        (!strcmp(tree->name, "left") || !strcmp(tree->name, "right"))) {
        int64_t k = 0;
        for (const atn_named *one = l->braces->targets; one; one = one->next, ++k)
            if (!strcmp(one->name, tree->a->name))
                return atn_lowering_port(l, *tree->name == 'l' ? "a" : "b", k, tree->offset);
    }
    const atn_symbol *symbol = atn_symbol_find(l, tree->name);
    if (symbol && symbol->kind == ATN_SYMBOL_POISON) return NULL;
    if (symbol && symbol->kind == ATN_SYMBOL_FUNCTION && l->braces) return call_in_braces(l, tree, symbol, inputs);
    if (symbol && symbol->kind == ATN_SYMBOL_FUNCTION)
        return atn_lower_call(l, tree, symbol, &end, 1) ? input(l, inputs, end, tree) : NULL;
    atn_syntax *copy = copy_node(l, tree);
    if (!copy || !tree->a) return copy;
    copy->a = atn_lower_list(l, tree->a, inputs);
    return copy->a ? copy : NULL;
}

/* An element that the text has already is the same input. */
static atn_syntax *element(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs) {
    for (int32_t k = 0; inputs && k < inputs->n; ++k)
        if (same_element(inputs->tree[k], tree)) return input(l, inputs, inputs->end[k], tree);
    int32_t item = atn_lower_access(l, tree, false);
    if (item < 0) return NULL;
    atn_end end = {.item = item, .port = ATN_PORT_OUT, .text = l->sketch->items[item].name};
    return input(l, inputs, end, tree);
}

static void declare_local(atn_lowering *l, const atn_syntax *tree) {
    if (!l->braces || l->braces->n_locals == 64) return;
    const atn_symbol *same = atn_symbol_find(l, tree->name);
    if (same && same->kind != ATN_SYMBOL_POISON)
        atn_lowering_complain(l, tree->offset, tree->name, "the name is taken in line %d",
                              atn_lowering_place(l, same->offset).line);
    l->braces->locals[l->braces->n_locals++] = tree->name;
}

/* x * x * ... */
static atn_syntax *power(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs) {
    atn_syntax *base = atn_lower_text(l, tree->a, inputs), *product = base;
    for (int64_t k = 1; product && k < tree->integer; ++k) {
        atn_syntax *next = atn_lowering_node(l, ATN_SYNTAX_BINARY, tree->offset);
        if (!next) return NULL;
        next->op = ATN_OP_MUL;
        next->a = product;
        next->b = base;
        product = next;
    }
    return product;
}

atn_syntax *atn_lower_list(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs) {
    atn_syntax *first = NULL, **last = &first;
    bool right = true;
    for (; tree && !l->reader->failed; tree = tree->next) {
        *last = atn_lower_text(l, tree, inputs);
        right = right && *last;
        if (*last) last = &(*last)->next;
    }
    return right ? first : NULL;
}

atn_syntax *atn_lower_text(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs) {
    if (!atn_reader_step(l->reader, 1, atn_lowering_place(l, l->kernel->offset), l->kernel->name)) return NULL;
    atn_end end;
    switch (tree->kind) {
    case ATN_SYNTAX_NAME:
        return name(l, tree, inputs);
    case ATN_SYNTAX_ELEMENT:
        return element(l, tree, inputs);
    case ATN_SYNTAX_CALL:
        return call(l, tree, inputs);
    case ATN_SYNTAX_REDUCE:
        return atn_lower_reduce(l, tree, ATN_TYPE_NONE, &end) ? input(l, inputs, end, tree) : NULL;
    case ATN_SYNTAX_POWER:
        return power(l, tree, inputs);
    case ATN_SYNTAX_PORT:
        atn_lowering_complain(l, tree->offset, NULL, "there are no numbered inputs in the notation; use names");
        return NULL;
    case ATN_SYNTAX_RANGE:
        atn_lowering_complain(l, tree->offset, NULL, "a range is allowed after 'in' only");
        return NULL;
    default:
        break;
    }
    atn_syntax *copy = copy_node(l, tree);
    if (!copy) return NULL;
    struct {
        const atn_syntax *from;
        atn_syntax **to;
    } parts[] = {{tree->a, &copy->a}, {tree->b, &copy->b}, {tree->c, &copy->c}, {tree->d, &copy->d}};
    if (tree->kind == ATN_SYNTAX_FOR) { /* the step, c, names what the loop declared */
        parts[2].from = tree->d, parts[2].to = &copy->d;
        parts[3].from = tree->c, parts[3].to = &copy->c;
    }
    bool right = true; /* all errors are reported */
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
        if (parts[k].from) *parts[k].to = atn_lower_list(l, parts[k].from, inputs);
        right = right && (!parts[k].from || *parts[k].to);
        if (k == 0 && tree->kind == ATN_SYNTAX_DECLARE) declare_local(l, tree);
    }
    return right ? copy : NULL;
}

/* Something that has a value of its own already, and needs no function. */
static bool direct(atn_lowering *l, const atn_syntax *tree, atn_end *end) {
    const char *wrong;
    if (atn_running_find(l, tree, end)) return true;
    if (tree->kind == ATN_SYNTAX_NAME) {
        const atn_symbol *symbol = atn_symbol_find(l, tree->name);
        if (!symbol || (symbol->kind != ATN_SYMBOL_VALUE && symbol->kind != ATN_SYMBOL_INDEX &&
                        symbol->kind != ATN_SYMBOL_PARAMETER))
            return false;
        *end = symbol->end;
        return true;
    }
    return is_size(l, tree, end, &wrong) && !wrong;
}

bool atn_lower_value(atn_lowering *l, const atn_syntax *tree, atn_type type, bool exact, atn_end *end) {
    const char *label = l->name, *written = l->written;
    l->name = l->written = NULL;
    if (tree->kind == ATN_SYNTAX_REDUCE) {
        l->name = label;
        l->written = written;
        return atn_lower_reduce(l, tree, type, end);
    }
    if (!exact && direct(l, tree, end)) return true;
    if (!exact && tree->kind == ATN_SYNTAX_ELEMENT) {
        int32_t item = atn_lower_access(l, tree, false);
        if (item < 0) return false;
        const char *own = label ? atn_arena_strdup(&l->sketch->graph->arena, label) : NULL; /* outlives the reader */
        if (label && !own) return l->reader->failed = true, false;
        if (own) l->sketch->items[item].label = own;
        *end = (atn_end){.item = item, .port = ATN_PORT_OUT, .text = l->sketch->items[item].name};
        return true;
    }
    const atn_symbol *symbol = tree->kind == ATN_SYNTAX_CALL ? atn_symbol_find(l, tree->name) : NULL;
    if (!exact && symbol && symbol->kind == ATN_SYMBOL_FUNCTION) {
        l->name = label;
        return atn_lower_call(l, tree, symbol, end, 1);
    }
    atn_inputs inputs = {0};
    const atn_syntax *body = atn_lower_text(l, tree, &inputs);
    int32_t item = body ? atn_lowering_item(l, ATN_ITEM_FUNCTION, label ? label : "value", tree->offset) : -1;
    if (item < 0) return false;
    atn_item *function = &l->sketch->items[item];
    function->body = body;
    function->is_expression = true;
    function->type = type;
    function->written = type == ATN_TYPE_NONE ? NULL : written;
    function->n_in = inputs.n;
    function->n_out = 1;
    *end = (atn_end){.item = item, .port = ATN_PORT_OUT, .text = function->name};
    return atn_lower_link_all(l, &inputs, item, ATN_PORT_IN);
}

bool atn_lower_braces(atn_lowering *l, const atn_syntax *body, const atn_named *targets, size_t offset, atn_end *ends) {
    atn_braces braces = {.targets = targets, .port = "out"}, *outer = l->braces;
    atn_inputs inputs = {0};
    int32_t count = 0;
    assert(targets);
    for (const atn_named *one = targets; one; one = one->next) ++count;
    l->braces = &braces;
    const atn_syntax *text = atn_lower_text(l, body, &inputs);
    l->braces = outer;
    int32_t item = text ? atn_lowering_item(l, ATN_ITEM_FUNCTION, targets->name, offset) : -1;
    const char **names = atn_reader_alloc(l->reader, ((size_t)count + 1) * sizeof *names);
    if (item < 0 || !names) return false;
    atn_item *function = &l->sketch->items[item];
    function->body = text;
    function->type = targets->type;
    function->written = targets->written;
    function->n_in = inputs.n;
    function->n_out = count;
    function->out_names = names;
    int32_t k = 0;
    for (const atn_named *one = targets; one; one = one->next, ++k) {
        names[k] = atn_arena_strdup(&l->sketch->graph->arena, one->name);
        if (!names[k]) return l->reader->failed = true, false;
        ends[k] = (atn_end){.item = item, .port = ATN_PORT_OUT, .k = k, .text = names[k]};
    }
    return atn_lower_link_all(l, &inputs, item, ATN_PORT_IN);
}

/* The arguments become values of the parameters' types; the body sees nothing else. */
bool atn_lower_call(atn_lowering *l, const atn_syntax *tree, const atn_symbol *symbol, atn_end *ends, int32_t n) {
    const atn_function_text *function = symbol->function;
    int32_t given = 0, wanted = 0, results = 0;
    for (const atn_syntax *one = tree->a; one; one = one->next) ++given;
    for (const atn_named *one = function->parameters; one; one = one->next) ++wanted;
    for (const atn_named *one = function->results; one; one = one->next) ++results;
    for (const atn_syntax *one = function->values; one && !function->results; one = one->next) ++results;
    if (given != wanted) {
        atn_lowering_complain(l, tree->offset, tree->name, "takes %d argument%s, not %d", wanted,
                              wanted == 1 ? "" : "s", given);
        return false;
    }
    if (results != n) {
        atn_lowering_complain(l, tree->offset, tree->name, "gives %d values, not %d", results, n);
        return false;
    }
    if (l->calls == ATN_LIMIT_CALLS) {
        atn_lowering_complain(l, tree->offset, tree->name, "functions call one another more than %d deep",
                              (int)ATN_LIMIT_CALLS);
        return false;
    }
    atn_end arguments[ATN_LIMIT_PORTS];
    const char *label = l->name;
    const atn_named *parameter = function->parameters;
    if (given > ATN_LIMIT_PORTS) return false;
    bool right = true;
    int32_t k = 0;
    for (const atn_syntax *one = tree->a; one; one = one->next, parameter = parameter->next, ++k) {
        l->name = parameter->name;
        l->written = parameter->written;
        right = atn_lower_value(l, one, parameter->type, parameter->written != NULL, &arguments[k]) && right;
    }
    if (!right) return false;
    int32_t frame = l->frame;
    size_t before = l->n_symbols;
    atn_braces *braces = l->braces;
    const atn_line *line = l->line;
    l->braces = NULL;
    l->line = NULL;
    l->frame = ++l->frames;
    ++l->calls;
    k = 0;
    for (parameter = function->parameters; parameter; parameter = parameter->next, ++k)
        atn_symbol_add(l, (atn_symbol){.name = parameter->name,
                                       .kind = ATN_SYMBOL_VALUE,
                                       .end = arguments[k],
                                       .block = l->block,
                                       .offset = parameter->offset});
    if (function->body) {
        right = atn_lower_braces(l, function->body, function->results, function->offset, ends);
    } else {
        const atn_named *result = function->results;
        k = 0;
        for (const atn_syntax *one = function->values; one && right && k < n; one = one->next, ++k) {
            l->name = label ? label : function->name;
            l->written = result ? result->written : NULL;
            right = atn_lower_value(l, one, result ? result->type : ATN_TYPE_NONE, result != NULL, &ends[k]);
            if (result) result = result->next;
        }
        right = right && k == n;
    }
    --l->calls;
    l->frame = frame;
    l->n_symbols = before;
    l->braces = braces;
    l->line = line;
    return right;
}
