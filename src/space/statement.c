/* Statements: assignments, imports, and functions with a decorator that says what they are for. */
#include "base/memory.h"
#include "base/suggest.h"
#include "space/parser.h"

#include <string.h>

static const struct {
    const char *name;
    atn_lan_role role;
} DECORATORS[] = {{"iterator", ATN_LAN_ITERATOR}, {"condition", ATN_LAN_CONDITION}, {"require", ATN_LAN_REQUIRE}};
enum { N_DECORATORS = sizeof DECORATORS / sizeof *DECORATORS };

/* ---- symbols ---- */

static atn_status define(atn_lan_parser *parser, int32_t text, int32_t line, int32_t column, atn_lan_symbol_kind kind,
                         int32_t index) {
    atn_lan_symbol *symbol = &parser->space->symbols[text];
    if (symbol->kind != ATN_LAN_FREE && symbol->line > 0)
        return atn_lan_refuse(parser, line, column, "'%s' is already defined in line %d", symbol->text, symbol->line);
    if (symbol->kind != ATN_LAN_FREE)
        return atn_lan_refuse(parser, line, column, "'%s' has a meaning already", symbol->text);
    for (const atn_lan_builtin *b = ATN_LAN_BUILTINS; b->name; ++b)
        if (strcmp(b->name, symbol->text) == 0)
            return atn_lan_refuse(parser, line, column, "'%s' is a function; take another name", symbol->text);
    symbol->kind = kind;
    symbol->index = index;
    symbol->line = line;
    return ATN_OK;
}

atn_status atn_lan_add_parameter(atn_lan_parser *parser, int32_t text, int32_t line, int32_t column, int32_t *out) {
    atn_space *space = parser->space;
    if (space->n_parameters == ATN_LAN_MOST_PARAMETERS)
        return atn_lan_refuse(parser, line, column, "a space has at most %d parameters", (int)ATN_LAN_MOST_PARAMETERS);
    *out = (int32_t)space->n_parameters;
    atn_status status = define(parser, text, line, column, ATN_LAN_SYMBOL_PARAMETER, *out);
    if (!status)
        status = atn_grow(space->ctx, (void **)&space->parameters, &space->parameters_capacity, space->n_parameters,
                          sizeof *space->parameters);
    if (status) return status;
    space->parameters[space->n_parameters++] = (atn_lan_parameter){.name = atn_lan_text(space, text), .function = -1};
    return ATN_OK;
}

/* Keeps the function, as an iterator's parameter or as a constraint. */
atn_status atn_lan_add_function(atn_lan_parser *parser, const atn_lan_function *function) {
    atn_space *space = parser->space;
    int32_t number = (int32_t)space->n_functions, parameter = -1;
    atn_status status = atn_grow(space->ctx, (void **)&space->functions, &space->functions_capacity, space->n_functions,
                                 sizeof *space->functions);
    if (!status) space->functions[space->n_functions++] = *function;
    if (!status && function->role == ATN_LAN_ITERATOR) {
        status = atn_lan_add_parameter(parser, function->text, function->line, function->column, &parameter);
        if (!status) space->parameters[parameter].function = number;
        return status;
    }
    if (!status)
        status = define(parser, function->text, function->line, function->column, ATN_LAN_SYMBOL_CONSTRAINT, number);
    if (!status)
        status = atn_grow(space->ctx, (void **)&space->constraints, &space->constraints_capacity, space->n_constraints,
                          sizeof *space->constraints);
    if (!status) space->constraints[space->n_constraints++] = number;
    return status;
}

atn_status atn_lan_set_body(atn_lan_parser *parser, atn_lan_function *function, int32_t node) {
    function->block.items = atn_arena_alloc(&parser->space->arena, sizeof *function->block.items);
    if (!function->block.items) return ATN_ERR_MEMORY;
    function->block.items[0] = (atn_lan_statement){.kind = ATN_LAN_RETURN, .node = node};
    function->block.count = 1;
    return ATN_OK;
}

/* ---- lines outside of functions ---- */

static atn_status end_line(atn_lan_parser *parser) {
    char found[64];
    if (parser->token.kind == ATN_LAN_NEWLINE) return atn_lan_next(parser);
    return atn_lan_refuse(parser, parser->token.line, parser->token.column, "the line should end before %s",
                          atn_lan_found(parser, found));
}

/* Of an expression that uses parameters: is it a list at every point? */
static bool gives_list(const atn_space *space, int32_t index) {
    const atn_lan_node *node = &space->nodes[index];
    if (node->op == ATN_LAN_CHOOSE)
        return gives_list(space, space->links[node->first + 1]) || gives_list(space, space->links[node->first + 2]);
    if (node->op == ATN_LAN_ADD) /* lists joined */
        return gives_list(space, space->links[node->first]) || gives_list(space, space->links[node->first + 1]);
    return node->op == ATN_LAN_ITEMS || node->op == ATN_LAN_EACH ||
           (node->op == ATN_LAN_CALL && ATN_LAN_BUILTINS[node->index].list);
}

static atn_status assign_computed(atn_lan_parser *parser, const atn_lan_token *name, int32_t text, int32_t node) {
    atn_space *space = parser->space;
    if (gives_list(space, node)) {
        atn_lan_function function = {.name = atn_lan_text(space, text),
                                     .text = text,
                                     .line = name->line,
                                     .column = name->column,
                                     .role = ATN_LAN_ITERATOR,
                                     .plain = true};
        atn_status status = atn_lan_set_body(parser, &function, node);
        return status ? status : atn_lan_add_function(parser, &function);
    }
    atn_status status =
        define(parser, text, name->line, name->column, ATN_LAN_SYMBOL_DERIVED, (int32_t)space->n_derived);
    if (!status)
        status = atn_grow(space->ctx, (void **)&space->derived, &space->derived_capacity, space->n_derived,
                          sizeof *space->derived);
    if (!status) space->derived[space->n_derived++] = node;
    return status;
}

static atn_status assign_known(atn_lan_parser *parser, const atn_lan_token *name, int32_t text, int32_t node) {
    atn_space *space = parser->space;
    atn_lan_env env;
    atn_lan_value value;
    int32_t parameter = -1;
    atn_status status = atn_lan_env_begin(&env, space, NULL);
    if (!status && !atn_lan_compute(&env, node, &value))
        status = env.no_memory ? ATN_ERR_MEMORY : atn_lan_refuse(parser, env.line, env.column, "%s", env.why);
    if (!status && value.kind >= ATN_LAN_LIST) {
        status = atn_lan_add_parameter(parser, text, name->line, name->column, &parameter);
        if (!status) {
            status = atn_lan_set_domain(space, &space->parameters[parameter], &value);
            if (status == ATN_ERR_INPUT) /* said again with its place */
                status = atn_lan_refuse(parser, name->line, name->column, "the parameters have more than %d values",
                                        (int)ATN_LAN_MOST_VALUES);
        }
    } else if (!status) {
        status = define(parser, text, name->line, name->column, ATN_LAN_SYMBOL_CONSTANT, -1);
        space->symbols[text].value = value;
    }
    atn_lan_env_end(&env);
    return status;
}

static atn_status read_assignment(atn_lan_parser *parser) {
    atn_lan_token name = parser->token;
    int32_t node, text = atn_lan_intern(parser->space, name.text, name.length);
    atn_status status = text < 0 ? ATN_ERR_MEMORY : atn_lan_next(parser);
    if (!status) status = atn_lan_expect(parser, "=", "after the name");
    if (!status) status = atn_lan_read(parser, true, &node);
    if (!status) status = end_line(parser);
    if (!status) status = atn_lan_resolve(parser, node);
    if (status) return status;
    return atn_lan_uses_parameters(parser->space, node) ? assign_computed(parser, &name, text, node)
                                                        : assign_known(parser, &name, text, node);
}

static atn_status read_import(atn_lan_parser *parser) {
    atn_status status = atn_lan_next(parser);
    while (!status) {
        atn_lan_token name = parser->token;
        if (name.kind != ATN_LAN_WORD || atn_lan_reserved(&name))
            return atn_lan_refuse(parser, name.line, name.column, "the name of a module is missing: import device");
        int32_t text = atn_lan_intern(parser->space, name.text, name.length);
        if (text < 0) return ATN_ERR_MEMORY;
        if (parser->space->symbols[text].kind != ATN_LAN_SYMBOL_MODULE)
            status = define(parser, text, name.line, name.column, ATN_LAN_SYMBOL_MODULE, -1);
        if (!status) status = atn_lan_next(parser);
        if (status || !atn_lan_is(parser, ",")) break;
        status = atn_lan_next(parser);
    }
    return status ? status : end_line(parser);
}

/* ---- the body of a function ---- */

typedef struct statement_list {
    const atn_ctx *ctx;
    atn_lan_statement *items;
    size_t count, capacity;
} statement_list;

static atn_status keep(statement_list *list, const atn_lan_statement *statement) {
    atn_status status = atn_grow(list->ctx, (void **)&list->items, &list->capacity, list->count, sizeof *list->items);
    if (!status) list->items[list->count++] = *statement;
    return status;
}

static atn_status store(atn_lan_parser *parser, statement_list *list, atn_lan_block *block) {
    block->count = (int32_t)list->count;
    block->items = atn_arena_alloc(&parser->space->arena, (list->count + 1) * sizeof *block->items);
    if (!block->items) return ATN_ERR_MEMORY;
    if (list->count) memcpy(block->items, list->items, list->count * sizeof *block->items);
    return ATN_OK;
}

static atn_status find_local(atn_lan_parser *parser, const atn_lan_token *name, int32_t *local) {
    atn_lan_function *function = parser->function;
    int32_t text = atn_lan_intern(parser->space, name->text, name->length);
    if (text < 0) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < function->n_arguments; ++k)
        if (function->arguments[k] == text)
            return atn_lan_refuse(parser, name->line, name->column,
                                  "'%s' is an argument and keeps its value; take another name",
                                  atn_lan_text(parser->space, text));
    for (*local = 0; *local < function->n_locals; ++*local)
        if (function->locals[*local] == text) return ATN_OK;
    if (function->n_locals == ATN_LAN_MOST_LOCALS)
        return atn_lan_refuse(parser, name->line, name->column, "a function has at most %d variables",
                              (int)ATN_LAN_MOST_LOCALS);
    function->locals[function->n_locals++] = text;
    return ATN_OK;
}

/* x = e, x += e and the like */
static atn_status read_local(atn_lan_parser *parser, atn_lan_statement *out) {
    static const struct {
        const char *sign;
        atn_lan_op op;
    } AND_ASSIGN[] = {{"+=", ATN_LAN_ADD},    {"-=", ATN_LAN_SUBTRACT},      {"*=", ATN_LAN_MULTIPLY},
                      {"/=", ATN_LAN_DIVIDE}, {"//=", ATN_LAN_FLOOR_DIVIDE}, {"%=", ATN_LAN_MODULO}};
    atn_lan_token name = parser->token;
    atn_lan_op op = ATN_LAN_CONSTANT;
    out->kind = ATN_LAN_ASSIGN;
    atn_status status = find_local(parser, &name, &out->local);
    if (!status) status = atn_lan_next(parser);
    if (status) return status;
    for (size_t k = 0; k < sizeof AND_ASSIGN / sizeof *AND_ASSIGN; ++k)
        if (atn_lan_is(parser, AND_ASSIGN[k].sign)) op = AND_ASSIGN[k].op;
    atn_lan_token at = parser->token;
    status = op == ATN_LAN_CONSTANT ? atn_lan_expect(parser, "=", "after the name") : atn_lan_next(parser);
    if (!status) status = atn_lan_read(parser, true, &out->node);
    if (status || op == ATN_LAN_CONSTANT) return status;
    int32_t kids[2] = {atn_lan_add_node(parser, ATN_LAN_NAME, &name, NULL, 0, &status), out->node};
    if (status) return status;
    parser->space->nodes[kids[0]].index = parser->function->locals[out->local];
    out->node = atn_lan_add_node(parser, op, &at, kids, 2, &status);
    return status;
}

static atn_status read_simple(atn_lan_parser *parser, statement_list *list) {
    const atn_lan_token *token = &parser->token;
    atn_lan_statement s = {.kind = ATN_LAN_PASS, .node = -1};
    atn_status status;
    char found[64];
    if (atn_lan_is(parser, "return")) {
        s.kind = ATN_LAN_RETURN;
        status = atn_lan_next(parser);
        if (!status) status = atn_lan_read(parser, true, &s.node);
    } else if (atn_lan_is(parser, "pass") ||
               (token->kind == ATN_LAN_LITERAL && token->value.kind == ATN_LAN_TEXT)) { /* or a comment as a string */
        status = atn_lan_next(parser);
    } else if (token->kind == ATN_LAN_WORD && !atn_lan_reserved(token)) {
        status = read_local(parser, &s);
    } else {
        return atn_lan_refuse(parser, token->line, token->column,
                              "an assignment, 'if' or 'return' is expected; found %s", atn_lan_found(parser, found));
    }
    if (!status) status = end_line(parser);
    return status ? status : keep(list, &s);
}

static atn_status read_if(atn_lan_parser *parser, statement_list *list);

/* Behind ':' either one simple statement, or indented lines. */
static atn_status read_suite(atn_lan_parser *parser, atn_lan_block *block) {
    statement_list list = {.ctx = parser->space->ctx};
    char found[64];
    atn_status status = atn_lan_expect(parser, ":", "before the indented lines");
    if (!status && parser->token.kind != ATN_LAN_NEWLINE) {
        status = read_simple(parser, &list);
    } else if (!status) {
        status = atn_lan_next(parser);
        if (!status && parser->token.kind != ATN_LAN_INDENT)
            status = atn_lan_refuse(parser, parser->token.line, parser->token.column,
                                    "indented lines are missing; found %s", atn_lan_found(parser, found));
        if (!status) status = atn_lan_next(parser);
        while (!status && parser->token.kind != ATN_LAN_DEDENT)
            status = atn_lan_is(parser, "if") ? read_if(parser, &list) : read_simple(parser, &list);
        if (!status) status = atn_lan_next(parser);
    }
    if (!status) status = store(parser, &list, block);
    atn_free(list.ctx, list.items);
    return status;
}

static atn_status read_if(atn_lan_parser *parser, statement_list *list) {
    atn_lan_statement s = {.kind = ATN_LAN_IF, .node = -1};
    atn_lan_branch *branches = NULL;
    size_t count = 0, capacity = 0;
    atn_status status;
    for (bool last = false; !last;) {
        last = atn_lan_is(parser, "else");
        status = atn_grow(list->ctx, (void **)&branches, &capacity, count, sizeof *branches);
        if (!status) branches[count] = (atn_lan_branch){.condition = -1};
        if (!status) status = atn_lan_next(parser);
        if (!status && !last) status = atn_lan_read(parser, false, &branches[count].condition);
        if (!status) status = read_suite(parser, &branches[count].block);
        if (status) break;
        ++count;
        last = last || (!atn_lan_is(parser, "elif") && !atn_lan_is(parser, "else"));
    }
    if (!status) {
        s.n_branches = (int32_t)count;
        s.branches = atn_arena_alloc(&parser->space->arena, count * sizeof *s.branches);
        if (s.branches)
            memcpy(s.branches, branches, count * sizeof *branches);
        else
            status = ATN_ERR_MEMORY;
    }
    atn_free(list->ctx, branches);
    return status ? status : keep(list, &s);
}

/* ---- functions ---- */

static atn_status read_stage(atn_lan_parser *parser, atn_lan_function *function) {
    atn_status status = atn_lan_next(parser);
    if (!status) status = atn_lan_expect(parser, "stage", "in the decorator: @condition(stage=\"build\")");
    if (!status) status = atn_lan_expect(parser, "=", "after 'stage'");
    if (status) return status;
    const atn_lan_token *token = &parser->token;
    const char *stage = token->kind == ATN_LAN_LITERAL && token->value.kind == ATN_LAN_TEXT
                            ? atn_lan_text(parser->space, (int32_t)token->value.whole)
                            : "";
    if (strcmp(stage, "build") != 0 || function->role == ATN_LAN_ITERATOR)
        return atn_lan_refuse(parser, token->line, token->column,
                              "the only stage is \"build\", for conditions and requirements");
    function->built = true;
    status = atn_lan_next(parser);
    return status ? status : atn_lan_expect(parser, ")", "after the stage");
}

static atn_status read_decorator(atn_lan_parser *parser, atn_lan_function *function) {
    atn_status status = atn_lan_next(parser);
    if (status) return status;
    const atn_lan_token *token = &parser->token;
    char typed[32] = "";
    if (token->kind == ATN_LAN_WORD && token->length < sizeof typed) memcpy(typed, token->text, token->length);
    atn_suggest suggest = {.typed = typed};
    size_t which = N_DECORATORS;
    for (size_t k = 0; k < N_DECORATORS; ++k) {
        if (strcmp(DECORATORS[k].name, typed) == 0) which = k;
        atn_suggest_try(&suggest, DECORATORS[k].name);
    }
    if (which == N_DECORATORS)
        return atn_lan_refuse(parser, token->line, token->column, "there is no decorator '%s'; %s%s%s", typed,
                              suggest.best ? "did you mean '" : "there are iterator, condition and require",
                              suggest.best ? suggest.best : "", suggest.best ? "'?" : "");
    function->role = DECORATORS[which].role;
    status = atn_lan_next(parser);
    if (!status && atn_lan_is(parser, "(")) status = read_stage(parser, function);
    if (!status) status = end_line(parser);
    if (!status && !atn_lan_is(parser, "def"))
        status = atn_lan_refuse(parser, parser->token.line, parser->token.column, "'def' is missing after @%s", typed);
    return status;
}

static atn_status read_arguments(atn_lan_parser *parser, atn_lan_function *function) {
    atn_space *space = parser->space;
    int32_t pairs[2 * ATN_LAN_MOST_LOCALS], n = 0;
    atn_status status = atn_lan_expect(parser, "(", "after the function's name");
    while (!status && !atn_lan_is(parser, ")")) {
        const atn_lan_token *token = &parser->token;
        char found[64];
        if (token->kind != ATN_LAN_WORD || atn_lan_reserved(token))
            return atn_lan_refuse(parser, token->line, token->column, "an argument's name is missing; found %s",
                                  atn_lan_found(parser, found));
        if (n == ATN_LAN_MOST_LOCALS)
            return atn_lan_refuse(parser, token->line, token->column, "a function has at most %d arguments",
                                  (int)ATN_LAN_MOST_LOCALS);
        int32_t text = atn_lan_intern(space, token->text, token->length);
        if (text < 0) return ATN_ERR_MEMORY;
        for (int32_t k = 0; k < n; ++k)
            if (pairs[k] == text)
                return atn_lan_refuse(parser, token->line, token->column, "duplicate argument '%s'",
                                      atn_lan_text(space, text));
        pairs[ATN_LAN_MOST_LOCALS + n] = token->column;
        pairs[n++] = text;
        status = atn_lan_next(parser);
        if (!status && !atn_lan_is(parser, ")")) status = atn_lan_expect(parser, ",", "between arguments");
    }
    if (!status) status = atn_lan_next(parser);
    if (status) return status;
    function->n_arguments = n;
    function->arguments = atn_arena_alloc(&space->arena, (size_t)(2 * n + 1) * sizeof(int32_t));
    if (!function->arguments) return ATN_ERR_MEMORY;
    function->argument_columns = function->arguments + n;
    memcpy(function->arguments, pairs, (size_t)n * sizeof(int32_t));
    memcpy(function->argument_columns, pairs + ATN_LAN_MOST_LOCALS, (size_t)n * sizeof(int32_t));
    return ATN_OK;
}

static atn_status read_function(atn_lan_parser *parser) {
    atn_lan_function function = {0};
    atn_status status = read_decorator(parser, &function);
    if (!status) status = atn_lan_next(parser);
    if (status) return status;
    const atn_lan_token name = parser->token;
    if (name.kind != ATN_LAN_WORD || atn_lan_reserved(&name))
        return atn_lan_refuse(parser, name.line, name.column, "the name of the function is missing after 'def'");
    function.text = atn_lan_intern(parser->space, name.text, name.length);
    if (function.text < 0) return ATN_ERR_MEMORY;
    function.name = atn_lan_text(parser->space, function.text);
    function.line = name.line;
    function.column = name.column;
    status = atn_lan_next(parser);
    if (!status) status = read_arguments(parser, &function);
    parser->function = &function;
    if (!status) status = read_suite(parser, &function.block);
    parser->function = NULL;
    return status ? status : atn_lan_add_function(parser, &function);
}

atn_status atn_lan_read_file(atn_lan_parser *parser) {
    atn_status status = atn_lan_next(parser);
    while (!status && parser->token.kind != ATN_LAN_END) {
        const atn_lan_token *token = &parser->token;
        char found[64];
        if (token->kind == ATN_LAN_NEWLINE)
            status = atn_lan_next(parser);
        else if (atn_lan_is(parser, "@"))
            status = read_function(parser);
        else if (atn_lan_is(parser, "import"))
            status = read_import(parser);
        else if (token->kind == ATN_LAN_WORD && !atn_lan_reserved(token))
            status = read_assignment(parser);
        else if (token->kind == ATN_LAN_LITERAL && token->value.kind == ATN_LAN_TEXT) { /* a comment as a string */
            status = atn_lan_next(parser);
            if (!status) status = end_line(parser);
        } else if (token->kind == ATN_LAN_INDENT)
            status = atn_lan_refuse(parser, token->line, token->column, "this line is indented, but in no function");
        else if (atn_lan_is(parser, "def"))
            status = atn_lan_refuse(parser, token->line, token->column,
                                    "a function needs @iterator, @condition or @require in front of it");
        else
            status = atn_lan_refuse(parser, token->line, token->column,
                                    "an assignment, an import or a function is expected; found %s",
                                    atn_lan_found(parser, found));
    }
    return status;
}
