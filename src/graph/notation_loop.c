/* Loops of the notation: their ranges, what they accumulate, and the resulting ICF. */
#include "graph/notation_lower.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name;
    atn_assign assign;
} reductions[] = {{"sum", ATN_ASSIGN_ADD}, {"product", ATN_ASSIGN_MUL}, {"min", ATN_ASSIGN_MIN},
                  {"max", ATN_ASSIGN_MAX}, {"all", ATN_ASSIGN_AND},     {"any", ATN_ASSIGN_OR}};

typedef struct range {
    atn_end begin, end; /* begin.item -1: from 0 */
    size_t begin_at, end_at;
} range;

static bool is_zero(const atn_syntax *tree) { return tree->kind == ATN_SYNTAX_INTEGER && tree->integer == 0; }

/* `in xx`, `in A` of as many indices as it has axes: the sizes of an array. */
static const atn_symbol *named_array(const atn_lowering *l, const atn_syntax *ranges) {
    const atn_symbol *symbol = ranges->kind == ATN_SYNTAX_NAME ? atn_symbol_find(l, ranges->name) : NULL;
    return symbol && symbol->kind == ATN_SYMBOL_OBJECT ? symbol : NULL;
}

static bool one_range(atn_lowering *l, const atn_syntax *tree, bool algorithm, range *out) {
    const atn_syntax *end = tree->kind == ATN_SYNTAX_RANGE ? tree->b : tree;
    const atn_symbol *array = named_array(l, end);
    *out = (range){.begin = {.item = -1}, .begin_at = tree->offset, .end_at = end->offset};
    l->name = "range";
    if (array && array->datum->rank != 1) {
        atn_lowering_complain(l, end->offset, end->name, "is a %s; one index runs over %srows(%s) or columns(%s)",
                              atn_rank_name(array->datum->rank), array->datum->rank > 2 ? "planes, " : "", end->name,
                              end->name);
        return false;
    }
    if (tree->kind == ATN_SYNTAX_RANGE && !is_zero(tree->a)) {
        if (algorithm) {
            atn_lowering_complain(l, tree->a->offset, NULL,
                                  "the kernel's own space begins at 0; add what it begins at to the index");
            return false;
        }
        if (!atn_lower_value(l, tree->a, ATN_INDEX, false, &out->begin)) return false;
        l->name = "range";
    }
    if (array) {
        out->end = (atn_end){.item = array->end.item, .port = ATN_PORT_SIZE, .text = array->name};
        return true;
    }
    return atn_lower_value(l, end, ATN_INDEX, false, &out->end);
}

/* X.Size(d) - less, as a function. */
static bool subtract(atn_lowering *l, atn_end *end, int64_t less, size_t offset) {
    atn_syntax *body = atn_lowering_node(l, ATN_SYNTAX_BINARY, offset),
               *number = atn_lowering_node(l, ATN_SYNTAX_INTEGER, offset);
    int32_t item = atn_lowering_item(l, ATN_ITEM_FUNCTION, "range", offset);
    if (!body || !number || item < 0) return false;
    number->integer = less;
    body->op = ATN_OP_SUB;
    body->a = atn_lowering_port(l, "in", 0, offset);
    body->b = number;
    atn_item *function = &l->sketch->items[item];
    function->body = body;
    function->is_expression = true;
    function->type = ATN_INDEX;
    function->written = "INDEX";
    function->n_in = function->n_out = 1;
    atn_lowering_link(l, *end, offset, item, ATN_PORT_IN, 0);
    *end = (atn_end){.item = item, .port = ATN_PORT_OUT, .text = "range"};
    return body->a != NULL;
}

/* The ranges of `rank` indices, the slowest first. */
static bool find_ranges(atn_lowering *l, bool algorithm, const atn_syntax *indices, const atn_syntax *ranges,
                        int32_t rank, const atn_line *lines, const atn_syntax *tree, range *out) {
    int32_t given = 0, k = 0;
    for (const atn_syntax *one = ranges; one; one = one->next) ++given;
    const atn_symbol *array = given == 1 && rank > 1 ? named_array(l, ranges) : NULL;
    if (array && array->datum->rank == rank) {
        for (; k < rank && k < ATN_MAX_RANK; ++k)
            out[k] = (range){{.item = -1},
                             {.item = array->end.item, .port = ATN_PORT_SIZE, .k = rank - 1 - k, .text = array->name},
                             ranges->offset,
                             ranges->offset};
        return true;
    }
    if (given && given != rank) {
        atn_lowering_complain(l, ranges->offset, NULL, "%d range%s for %d ind%s", given, given == 1 ? "" : "s", rank,
                              rank == 1 ? "ex" : "ices");
        return false;
    }
    bool right = true;
    for (const atn_syntax *index = indices; index; index = index->next, ++k) {
        if (ranges) {
            right = one_range(l, ranges, algorithm, &out[k]) && right;
            ranges = ranges->next;
            continue;
        }
        out[k] = (range){.begin = {.item = -1}, .end_at = index->offset};
        int64_t less;
        if (atn_range_find(l, index->name, lines, tree, &out[k].end, &less)) {
            if (less && !subtract(l, &out[k].end, less, index->offset)) right = false;
            continue;
        }
        bool unsure = l->kernel->unsure;
        for (const atn_datum *datum = l->kernel->data; datum; datum = datum->next)
            unsure |= datum->type == ATN_TYPE_NONE;
        if (!unsure)
            atn_lowering_complain(l, index->offset, index->name,
                                  "no subscript is this index alone, so that its range is not known; write 'in'");
        right = false;
    }
    return right;
}

/* A loop that cannot be built: uses of its indices are not reported, other errors in it are. */
static void poison_indices(atn_lowering *l, atn_loop *loop, const atn_syntax *indices) {
    if (loop->item != 0) loop->item = atn_lowering_item(l, ATN_ITEM_ITERATOR, indices->name, indices->offset);
    if (loop->item < 0) return;
    l->sketch->items[loop->item].failed = true;
    l->block = loop->item;
    for (const atn_syntax *one = indices; one; one = one->next)
        atn_symbol_add(
            l, (atn_symbol){.name = one->name, .kind = ATN_SYMBOL_POISON, .block = loop->item, .offset = one->offset});
}

bool atn_loop_open(atn_lowering *l, atn_loop *loop, const atn_syntax *indices, const atn_syntax *ranges,
                   const atn_line *lines, const atn_syntax *tree) {
    bool algorithm = loop->item == 0;
    int32_t rank = 0, depth = 0;
    assert(algorithm || indices);
    for (const atn_syntax *one = indices; one; one = one->next) ++rank;
    if (rank > ATN_MAX_RANK) { /* its lines are checked nevertheless */
        atn_lowering_complain(l, indices->offset, indices->name, "a loop has at most %d indices, not %d",
                              (int)ATN_MAX_RANK, rank);
        poison_indices(l, loop, indices);
        return !l->reader->failed;
    }
    range found[ATN_MAX_RANK];
    bool right = find_ranges(l, algorithm, indices, ranges, rank, lines, tree, found);
    if (!algorithm) {
        for (int32_t at = l->block; at > 0; at = l->sketch->items[at].scope) ++depth;
        if (depth > 1 || (depth && l->reader->options->strict))
            atn_lowering_complain(l, indices->offset, indices->name,
                                  depth > 1 ? "loops may be nested one level deep, not two"
                                            : "a loop inside another is not allowed (strict)");
        loop->item = atn_lowering_item(l, ATN_ITEM_ITERATOR, indices->name, indices->offset);
        if (loop->item < 0) return false;
    }
    atn_item *item = &l->sketch->items[loop->item];
    item->rank = rank;
    item->text = NULL;
    if (!right) item->failed = true;
    int32_t k = 0;
    l->block = loop->item;
    for (const atn_syntax *one = indices; one; one = one->next, ++k) {
        int32_t d = rank - 1 - k;
        bool from = right && found[k].begin.item >= 0;
        if (right && from) atn_lowering_link(l, found[k].begin, found[k].begin_at, loop->item, ATN_PORT_BEGIN, d);
        if (from && found[k].begin.item >= 0)
            atn_lowering_link(l, found[k].end, found[k].end_at, loop->item, ATN_PORT_END, d);
        else if (right)
            atn_lowering_link(l, found[k].end, found[k].end_at, loop->item, ATN_PORT_RANGE, d);
        atn_symbol_add(l, (atn_symbol){.name = one->name,
                                       .kind = ATN_SYMBOL_INDEX,
                                       .end = {.item = loop->item, .port = ATN_PORT_I, .k = d, .text = one->name},
                                       .block = loop->item,
                                       .offset = one->offset});
    }
    return true;
}

/* acc(k) op in(m), as a text. */
static atn_syntax *update(atn_lowering *l, atn_assign assign, int32_t k, int32_t m, size_t offset) {
    static const atn_op ops[] = {[ATN_ASSIGN_ADD] = ATN_OP_ADD,
                                 [ATN_ASSIGN_SUB] = ATN_OP_SUB,
                                 [ATN_ASSIGN_MUL] = ATN_OP_MUL,
                                 [ATN_ASSIGN_AND] = ATN_OP_AND,
                                 [ATN_ASSIGN_OR] = ATN_OP_OR};
    bool call = assign == ATN_ASSIGN_MIN || assign == ATN_ASSIGN_MAX;
    atn_syntax *tree = atn_lowering_node(l, call ? ATN_SYNTAX_CALL : ATN_SYNTAX_BINARY, offset);
    atn_syntax *acc = atn_lowering_port(l, "acc", k, offset), *in = atn_lowering_port(l, "in", m, offset);
    if (!tree || !acc || !in) return NULL;
    tree->a = acc;
    if (call) {
        tree->name = assign == ATN_ASSIGN_MIN ? "fmin" : "fmax";
        acc->next = in;
    } else {
        tree->op = ops[assign];
        tree->b = in;
    }
    return tree;
}

/* in(key) beats acc(key) ? in(m) : acc(k): a key, or what follows it. */
static atn_syntax *follow(atn_lowering *l, bool max, int32_t key, int32_t key_in, int32_t k, int32_t m, size_t offset) {
    atn_syntax *choice = atn_lowering_node(l, ATN_SYNTAX_CHOICE, offset),
               *less = atn_lowering_node(l, ATN_SYNTAX_BINARY, offset);
    if (!choice || !less) return NULL;
    less->op = ATN_OP_LT;
    atn_syntax *acc = atn_lowering_port(l, "acc", key, offset), *in = atn_lowering_port(l, "in", key_in, offset);
    less->a = max ? acc : in;
    less->b = max ? in : acc;
    choice->a = less;
    choice->b = atn_lowering_port(l, "in", m, offset);
    choice->c = atn_lowering_port(l, "acc", k, offset);
    return l->reader->failed ? NULL : choice;
}

static bool add_term(atn_lowering *l, atn_loop *loop, atn_end end, size_t offset) {
    if (loop->n_in == ATN_LIMIT_PORTS || loop->n == ATN_MAX_ACCS) {
        atn_lowering_complain(l, offset, NULL, "a loop has at most %d accumulators", (int)ATN_MAX_ACCS);
        return false;
    }
    loop->in[loop->n_in] = end;
    loop->in_at[loop->n_in++] = offset;
    return true;
}

bool atn_lower_reduce(atn_lowering *l, const atn_syntax *tree, atn_type type, atn_end *end) {
    const char *label = l->name, *written = l->written;
    l->name = l->written = NULL;
    size_t row = 0;
    while (strcmp(reductions[row].name, tree->name) != 0) ++row;
    bool whole = tree == l->whole;
    atn_loop own = {.item = -1}, *outer = l->loop, *loop = whole ? l->loop : &own;
    int32_t block = l->block;
    if (l->frame) {
        atn_lowering_complain(l, tree->offset, tree->name, "a function has no loops");
        return false;
    }
    if (!whole && !atn_loop_open(l, loop, tree->a, tree->b, NULL, tree->c)) return l->block = block, false;
    l->loop = loop;
    atn_end term;
    bool right = atn_lower_value(l, tree->c, type, false, &term) && add_term(l, loop, term, tree->c->offset);
    if (right) {
        loop->acc[loop->n] =
            (atn_running){.name = label ? label : tree->name,
                          .offset = tree->offset,
                          .type = type,
                          .written = written,
                          .update = update(l, reductions[row].assign, loop->n, loop->n_in - 1, tree->offset)};
        *end = (atn_end){.item = loop->item, .port = ATN_PORT_OUT, .k = loop->n, .text = tree->name};
        ++loop->n;
    } else {
        l->sketch->items[loop->item].failed = true;
    }
    if (!whole) atn_loop_close(l, loop);
    l->block = block;
    l->loop = outer;
    return right;
}

/* The accumulator of the first element of a line with several; that of the element itself if it is the first. */
static int32_t key_of(const atn_loop *loop, const atn_line *line) {
    for (int32_t k = 0; k < loop->n; ++k)
        if (loop->acc[k].write == line->key) return k;
    return loop->n;
}

static bool accumulates(atn_lowering *l, const atn_line *line) {
    atn_loop *loop = l->loop;
    bool element = line->kind == ATN_LINE_WRITE;
    int32_t names = element, values = 0, inits = 0, base = loop->n;
    for (const atn_named *one = line->names; one; one = one->next) ++names;
    for (const atn_syntax *one = line->values; one; one = one->next) ++values;
    for (const atn_syntax *one = line->inits; one; one = one->next) ++inits;
    bool order = line->assign == ATN_ASSIGN_MIN || line->assign == ATN_ASSIGN_MAX;
    if (names != values || (inits && inits != names)) {
        atn_lowering_complain(l, line->offset, NULL, "%d name%s, but %d value%s", names, names == 1 ? "" : "s",
                              names != values ? values : inits, (names != values ? values : inits) == 1 ? "" : "s");
        return false;
    }
    if (loop->carried) {
        atn_lowering_complain(l, line->offset, NULL, "the loop carries values in line %d already; add this one there",
                              atn_lowering_place(l, loop->carried->offset).line);
        return false;
    }
    const atn_symbol *object = element ? atn_symbol_find(l, line->target->name) : NULL;
    const atn_named *named = line->names;
    const atn_syntax *init = line->inits;
    for (const atn_syntax *one = line->values; one; one = one->next) {
        atn_type type = element ? object->datum->type : named->type;
        atn_end term;
        l->name = element ? object->name : named->name;
        l->written = element ? object->datum->written : named->written;
        if (!atn_lower_value(l, one, type, false, &term) || !add_term(l, loop, term, one->offset)) {
            l->sketch->items[loop->item].failed = true;
            return false;
        }
        int32_t k = loop->n;
        loop->acc[k] = (atn_running){.name = l->name   ? l->name
                                             : element ? object->name
                                                       : named->name,
                                     .offset = element ? line->offset : named->offset,
                                     .type = type,
                                     .written = element ? object->datum->written : named->written,
                                     .init = init,
                                     .write = element ? line : NULL};
        if (element) loop->acc[k].name = object->name;
        if (!element) loop->acc[k].name = named->name;
        loop->acc[k].in = loop->n_in - 1;
        int32_t key = line->key ? key_of(loop, line) : base;
        bool together = line->key || (names > 1 && order);
        loop->acc[k].update = together ? follow(l, line->assign == ATN_ASSIGN_MAX, key, loop->acc[key].in, k,
                                                loop->n_in - 1, line->offset)
                                       : update(l, line->assign, k, loop->n_in - 1, line->offset);
        ++loop->n;
        if (!element) {
            atn_symbol_add(
                l, (atn_symbol){.name = named->name,
                                .kind = ATN_SYMBOL_RUNNING,
                                .end = {.item = loop->item, .port = ATN_PORT_AFTER, .k = k, .text = named->name},
                                .block = loop->item,
                                .offset = named->offset});
            named = named->next;
        }
        if (init) init = init->next;
    }
    return true;
}

void atn_loop_accumulate(atn_lowering *l, const atn_line *line) {
    int32_t scope = l->loop->item ? l->sketch->items[l->loop->item].scope : 0;
    if (!accumulates(l, line)) atn_symbol_poison(l, line->names, scope);
}

void atn_loop_carry(atn_lowering *l, const atn_line *line) {
    atn_loop *loop = l->loop;
    if (loop->n || loop->carried) {
        atn_lowering_complain(l, line->offset, NULL, "a loop carries values in one place; put them together");
        return;
    }
    loop->carried = line;
    atn_braces braces = {.targets = line->names, .port = "acc"}, parts = braces, *outer = l->braces;
    parts.parts = true;
    atn_inputs inputs = {0};
    l->braces = &braces;
    loop->body = line->body ? atn_lower_text(l, line->body, &inputs) : NULL;
    l->braces = &parts;
    if (line->combine) loop->combine = atn_lower_text(l, line->combine, NULL);
    l->braces = outer;
    if (!loop->body || (line->combine && !loop->combine)) l->sketch->items[loop->item].failed = true;
    for (int32_t k = 0; k < inputs.n; ++k) {
        loop->in[k] = inputs.end[k];
        loop->in_at[k] = inputs.offset[k];
    }
    loop->n_in = inputs.n;
    for (const atn_named *one = line->names; one; one = one->next) {
        if (loop->n == ATN_MAX_ACCS) {
            atn_lowering_complain(l, one->offset, one->name, "a loop has at most %d accumulators", (int)ATN_MAX_ACCS);
            l->sketch->items[loop->item].failed = true;
            return;
        }
        loop->acc[loop->n++] = (atn_running){
            .name = one->name, .offset = one->offset, .type = one->type, .written = one->written, .init = one->init};
        atn_symbol_add(
            l, (atn_symbol){.name = one->name,
                            .kind = ATN_SYMBOL_RUNNING,
                            .end = {.item = loop->item, .port = ATN_PORT_AFTER, .k = loop->n - 1, .text = one->name},
                            .block = loop->item,
                            .offset = one->offset});
    }
}

/* The accumulators as one text, with their types and first values. */
static bool make_icf(atn_lowering *l, atn_loop *loop) {
    atn_type *types = atn_reader_alloc(l->reader, ATN_MAX_ACCS * sizeof *types);
    const char **names = atn_reader_alloc(l->reader, 2 * ATN_MAX_ACCS * sizeof *names),
               **written = names + ATN_MAX_ACCS;
    atn_syntax *body = atn_lowering_node(l, ATN_SYNTAX_BLOCK, loop->acc[0].offset), **last = body ? &body->a : NULL;
    atn_syntax *inits = NULL, **init = &inits;
    bool any = false;
    if (!types || !names || !body) return false;
    for (int32_t k = 0; k < loop->n; ++k) {
        const atn_running *acc = &loop->acc[k];
        types[k] = acc->type;
        written[k] = acc->written;
        names[k] = atn_arena_strdup(&l->sketch->graph->arena, acc->name);
        if (!names[k]) return l->reader->failed = true, false;
        *init = acc->init ? atn_lower_text(l, acc->init, NULL) : atn_lowering_node(l, ATN_SYNTAX_EMPTY, acc->offset);
        if (!*init) return false;
        init = &(*init)->next;
        any |= acc->init != NULL;
        if (loop->carried) continue;
        *last = atn_lowering_node(l, ATN_SYNTAX_ASSIGN, acc->offset);
        if (!*last) return false;
        (*last)->a = atn_lowering_port(l, "acc", k, acc->offset);
        (*last)->b = (atn_syntax *)(uintptr_t)acc->update;
        last = &(*last)->next;
    }
    atn_item *item = &l->sketch->items[loop->item];
    item->text = &l->file->text;
    item->body = loop->carried ? loop->body : body;
    item->combine_body = loop->combine;
    item->acc_types = types;
    item->acc_written = written;
    item->inits = any ? inits : NULL;
    item->out_names = names;
    item->n_in = loop->n_in;
    item->n_out = loop->n;
    return !l->reader->failed;
}

void atn_loop_close(atn_lowering *l, atn_loop *loop) {
    atn_item *item = &l->sketch->items[loop->item];
    atn_running_settle(l, loop);
    if (loop->n && !make_icf(l, loop)) item->failed = true;
    for (int32_t k = 0; k < loop->n_in; ++k)
        atn_lowering_link(l, loop->in[k], loop->in_at[k], loop->item, ATN_PORT_FUNC, k);
}
