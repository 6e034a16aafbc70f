/* Names: what each means, which parameters a function depends on, and in which order iterators can be computed. */
#include "base/memory.h"
#include "base/suggest.h"
#include "space/parser.h"

#include <string.h>

/* Known only after a build; only functions of stage="build" may use it. */
static const char *const BUILT[] = {"registers", "local_memory", "occupancy", "code_bytes", NULL};

static bool is_built_name(const char *name) {
    for (const char *const *b = BUILT; *b; ++b)
        if (strcmp(*b, name) == 0) return true;
    return false;
}

/* ---- single names ---- */

/* The line below that sets `name`, or 0. */
static int32_t set_later(const atn_lan_parser *parser, const char *name) {
    size_t length = strlen(name);
    int32_t line = parser->line;
    const char *at = parser->source + parser->line_start, *end = parser->source + parser->length;
    for (; at < end; ++line) {
        const char *rest = at;
        if (end - rest > 4 && memcmp(rest, "def ", 4) == 0) rest += 4;
        if ((size_t)(end - rest) > length && memcmp(rest, name, length) == 0) {
            rest += length;
            while (rest < end && *rest == ' ') ++rest;
            if (rest < end && (*rest == '=' || *rest == '(')) return line;
        }
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (!next) break;
        at = next + 1;
    }
    return 0;
}

static atn_status unknown(const atn_lan_parser *parser, const char *name, int32_t line, int32_t column) {
    const atn_space *space = parser->space;
    int32_t later = parser->function || parser->label ? 0 : set_later(parser, name);
    if (later) return atn_lan_refuse(parser, line, column, "'%s' is used before it is set in line %d", name, later);
    atn_suggest suggest = {.typed = name};
    for (size_t k = 0; k < space->n_symbols; ++k)
        if (space->symbols[k].kind != ATN_LAN_FREE) atn_suggest_try(&suggest, space->symbols[k].text);
    for (int32_t k = 0; parser->function && k < parser->function->n_locals; ++k)
        atn_suggest_try(&suggest, atn_lan_text(space, parser->function->locals[k]));
    for (const char *const *b = BUILT; parser->function && parser->function->built && *b; ++b)
        atn_suggest_try(&suggest, *b);
    return atn_lan_refuse(parser, line, column, "there is no '%s'%s%s%s", name, suggest.best ? "; did you mean '" : "",
                          suggest.best ? suggest.best : "", suggest.best ? "'?" : "");
}

static atn_status resolve_name(atn_lan_parser *parser, atn_lan_node *node) {
    const atn_space *space = parser->space;
    for (int32_t k = parser->n_each; k-- > 0;) {
        if (parser->each[k] != node->index) continue;
        node->op = ATN_LAN_EACH_VALUE;
        node->index = k;
        return ATN_OK;
    }
    const atn_lan_symbol *symbol = &space->symbols[node->index];
    const atn_lan_function *function = parser->function;
    for (int32_t k = 0; function && k < function->n_locals; ++k) {
        if (function->locals[k] != node->index) continue;
        node->op = ATN_LAN_LOCAL;
        node->index = k;
        return ATN_OK;
    }
    switch (symbol->kind) {
    case ATN_LAN_SYMBOL_CONSTANT:
        node->op = ATN_LAN_CONSTANT;
        node->value = symbol->value;
        return ATN_OK;
    case ATN_LAN_SYMBOL_PARAMETER:
        node->op = ATN_LAN_PARAMETER;
        node->index = symbol->index;
        return ATN_OK;
    case ATN_LAN_SYMBOL_DERIVED:
        node->op = ATN_LAN_DERIVED;
        node->index = symbol->index;
        node->height = space->nodes[space->derived[symbol->index]].height + 1;
        return ATN_OK;
    case ATN_LAN_SYMBOL_CONSTRAINT:
        return atn_lan_refuse(parser, node->line, node->column, "'%s' is a constraint and has no value", symbol->text);
    case ATN_LAN_SYMBOL_MODULE:
        return atn_lan_refuse(parser, node->line, node->column, "'%s' is a module; use %s.name", symbol->text,
                              symbol->text);
    case ATN_LAN_FREE:
        break;
    }
    if (!is_built_name(symbol->text)) return unknown(parser, symbol->text, node->line, node->column);
    if (!function || !function->built)
        return atn_lan_refuse(parser, node->line, node->column,
                              "'%s' is known only after a build; @condition(stage=\"build\") may use it", symbol->text);
    node->op = ATN_LAN_BUILT;
    return ATN_OK;
}

static atn_status resolve_member(atn_lan_parser *parser, atn_lan_node *node) {
    atn_space *space = parser->space;
    const char *module = atn_lan_text(space, node->index), *name = atn_lan_text(space, node->index2);
    if (space->symbols[node->index].kind != ATN_LAN_SYMBOL_MODULE)
        return atn_lan_refuse(parser, node->line, node->column, "'%s' is not imported; 'import %s' comes first", module,
                              module);
    atn_suggest suggest = {.typed = name};
    bool any = false;
    for (size_t k = 0; k < parser->n_given; ++k) {
        const atn_given *given = &parser->given[k];
        if (!given->module || strcmp(given->module, module) != 0) continue;
        any = true;
        atn_suggest_try(&suggest, given->name);
        if (strcmp(given->name, name) != 0) continue;
        node->op = ATN_LAN_CONSTANT;
        node->value = atn_lan_of_setting(&given->value);
        if (given->value.kind == ATN_SETTING_TEXT) {
            node->value.whole = atn_lan_intern(space, given->value.text, strlen(given->value.text));
            if (node->value.whole < 0) return ATN_ERR_MEMORY;
        }
        return ATN_OK;
    }
    if (!any)
        return atn_lan_refuse(parser, node->line, node->column, "'%s' is unknown here; give %s.%s a value", module,
                              module, name);
    return atn_lan_refuse(parser, node->line, node->column, "'%s' has no '%s'%s%s%s", module, name,
                          suggest.best ? "; did you mean '" : "", suggest.best ? suggest.best : "",
                          suggest.best ? "'?" : "");
}

/* ---- whole expressions ---- */

/* The kids of a node that are to be visited: comparisons of a chain share operands, each is visited once. */
static int32_t visit_count(const atn_lan_node *node) {
    return node->op == ATN_LAN_CHAIN ? node->n_kids + 1 : node->n_kids;
}

static int32_t visit_kid(const atn_space *space, const atn_lan_node *node, int32_t k) {
    if (node->op != ATN_LAN_CHAIN) return space->links[node->first + k];
    const atn_lan_node *comparison = atn_lan_kid(space, node, k == 0 ? 0 : k - 1);
    return space->links[comparison->first + (k > 0)];
}

/* The list does not know the name, its items and the condition do. */
static atn_status open_each(atn_lan_parser *parser, atn_lan_node *node) {
    if (parser->n_each == ATN_LAN_MOST_EACH)
        return atn_lan_refuse(parser, node->line, node->column, "more than %d nested lists", (int)ATN_LAN_MOST_EACH);
    node->index2 = parser->n_each;
    parser->each[parser->n_each++] = node->index;
    return ATN_OK;
}

atn_status atn_lan_resolve(atn_lan_parser *parser, int32_t index) {
    atn_space *space = parser->space;
    atn_lan_node *node = &space->nodes[index]; /* nothing is added meanwhile */
    if (node->op == ATN_LAN_NAME) return resolve_name(parser, node);
    if (node->op == ATN_LAN_MEMBER) return resolve_member(parser, node);
    bool each = node->op == ATN_LAN_EACH;
    atn_status status = each ? atn_lan_resolve(parser, space->links[node->first + 1]) : ATN_OK;
    if (!status && each) status = open_each(parser, node);
    if (status) return status;
    for (int32_t k = 0; k < visit_count(node) && !status; ++k) {
        int32_t kid = visit_kid(space, node, k);
        if (!each || k != 1) status = atn_lan_resolve(parser, kid);
        if (space->nodes[kid].height >= node->height) node->height = space->nodes[kid].height + 1;
    }
    parser->n_each -= each;
    if (status) return status;
    if (node->height <= ATN_LAN_MOST_HEIGHT) return ATN_OK;
    return atn_lan_refuse(parser, node->line, node->column,
                          "the expression is nested more than %d deep, derived values included",
                          (int)ATN_LAN_MOST_HEIGHT);
}

bool atn_lan_uses_parameters(const atn_space *space, int32_t index) {
    const atn_lan_node *node = &space->nodes[index];
    if (node->op == ATN_LAN_PARAMETER || node->op == ATN_LAN_DERIVED) return true;
    for (int32_t k = 0; k < visit_count(node); ++k)
        if (atn_lan_uses_parameters(space, visit_kid(space, node, k))) return true;
    return false;
}

typedef atn_status visit_fn(atn_lan_parser *parser, int32_t node, void *user);

/* Every expression of a body. */
static atn_status each_expression(atn_lan_parser *parser, const atn_lan_block *block, visit_fn *visit, void *user) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < block->count && !status; ++k) {
        const atn_lan_statement *s = &block->items[k];
        if (s->node >= 0) status = visit(parser, s->node, user);
        for (int32_t b = 0; b < s->n_branches && !status; ++b) {
            if (s->branches[b].condition >= 0) status = visit(parser, s->branches[b].condition, user);
            if (!status) status = each_expression(parser, &s->branches[b].block, visit, user);
        }
    }
    return status;
}

static atn_status resolve_one(atn_lan_parser *parser, int32_t node, void *user) {
    (void)user;
    return atn_lan_resolve(parser, node);
}

atn_status atn_lan_resolve_function(atn_lan_parser *parser, atn_lan_function *function) {
    parser->function = function;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < function->n_arguments && !status; ++k) {
        const atn_lan_symbol *symbol = &parser->space->symbols[function->arguments[k]];
        bool value = symbol->kind == ATN_LAN_SYMBOL_PARAMETER || symbol->kind == ATN_LAN_SYMBOL_DERIVED ||
                     symbol->kind == ATN_LAN_SYMBOL_CONSTANT;
        if (!value && !(function->built && is_built_name(symbol->text)))
            status = unknown(parser, symbol->text, function->line, function->argument_columns[k]);
    }
    if (!status) status = each_expression(parser, &function->block, resolve_one, NULL);
    parser->function = NULL;
    return status;
}

/* ---- who uses whom ---- */

typedef struct use_marks {
    bool *parameters, *derived;
} use_marks;

static atn_status mark_uses(atn_lan_parser *parser, int32_t index, void *user) {
    const atn_space *space = parser->space;
    const atn_lan_node *node = &space->nodes[index];
    use_marks *marks = user;
    if (node->op == ATN_LAN_PARAMETER) marks->parameters[node->index] = true;
    if (node->op == ATN_LAN_DERIVED && !marks->derived[node->index]) {
        marks->derived[node->index] = true;
        return mark_uses(parser, space->derived[node->index], user);
    }
    for (int32_t k = 0; k < visit_count(node); ++k) (void)mark_uses(parser, visit_kid(space, node, k), user);
    return ATN_OK;
}

atn_status atn_lan_find_uses_of(atn_lan_parser *parser, atn_lan_function *function) {
    atn_space *space = parser->space;
    use_marks marks = {.parameters = atn_zalloc(space->ctx, space->n_parameters + 1),
                       .derived = atn_zalloc(space->ctx, space->n_derived + 1)};
    atn_status status = marks.parameters && marks.derived ? ATN_OK : ATN_ERR_MEMORY;
    if (!status) status = each_expression(parser, &function->block, mark_uses, &marks);
    for (size_t k = 0; k < space->n_parameters && !status; ++k) function->n_uses += marks.parameters[k];
    function->uses = atn_arena_alloc(&space->arena, ((size_t)function->n_uses + 1) * sizeof *function->uses);
    if (!function->uses) status = ATN_ERR_MEMORY;
    int32_t n = 0;
    for (size_t k = 0; k < space->n_parameters && !status; ++k)
        if (marks.parameters[k]) function->uses[n++] = (int32_t)k;
    atn_free(space->ctx, marks.parameters);
    atn_free(space->ctx, marks.derived);
    return status;
}

/* ---- the order of iterators ---- */

typedef enum visit_state { UNSEEN, OPEN, DONE } visit_state;

static atn_status say_cycle(const atn_lan_parser *parser, const int32_t *path, int32_t length, int32_t again) {
    const atn_space *space = parser->space;
    atn_text cycle = {.ctx = space->ctx};
    int32_t from = 0;
    while (path[from] != again) ++from;
    for (int32_t k = from; k < length; ++k) atn_text_printf(&cycle, "%s, ", space->parameters[path[k]].name);
    const atn_lan_function *function = &space->functions[space->parameters[again].function];
    atn_status status = atn_lan_refuse(parser, function->line, function->column, "'%s' depends on itself: %s%s",
                                       function->name, atn_text_str(&cycle), function->name);
    if (cycle.failed) status = ATN_ERR_MEMORY;
    atn_text_free(&cycle);
    return status;
}

/* Depth first; path[0..depth) are the open ones. */
static atn_status order_from(atn_lan_parser *parser, int32_t parameter, visit_state *states, int32_t *path,
                             int32_t depth) {
    atn_space *space = parser->space;
    if (space->parameters[parameter].function < 0 || states[parameter] == DONE) return ATN_OK;
    if (states[parameter] == OPEN) return say_cycle(parser, path, depth, parameter);
    const atn_lan_function *function = &space->functions[space->parameters[parameter].function];
    states[parameter] = OPEN;
    path[depth] = parameter;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < function->n_uses && !status; ++k)
        status = order_from(parser, function->uses[k], states, path, depth + 1);
    states[parameter] = DONE;
    if (!status) space->order[space->n_order++] = parameter;
    return status;
}

atn_status atn_lan_find_uses(atn_lan_parser *parser) {
    atn_space *space = parser->space;
    size_t n = space->n_parameters;
    visit_state *states = atn_zalloc(space->ctx, (n + 1) * sizeof *states);
    int32_t *path = atn_zalloc(space->ctx, (n + 1) * sizeof *path);
    space->order = atn_arena_alloc(&space->arena, (n + 1) * sizeof *space->order);
    atn_status status = states && path && space->order ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < space->n_functions && !status; ++k)
        status = atn_lan_find_uses_of(parser, &space->functions[k]);
    for (size_t k = 0; k < n && !status; ++k) status = order_from(parser, (int32_t)k, states, path, 0);
    atn_free(space->ctx, states);
    atn_free(space->ctx, path);
    return status;
}
