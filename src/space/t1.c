/* T1 JSON, the space as other tuners write it: parameters with values as a Python list in a string (or as a JSON
 * array), conditions as Python expressions that keep a point when they are true. */
#include "base/memory.h"
#include "space/parser.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Starts to read `text`, which comes from `label`. */
static atn_status begin(atn_lan_parser *parser, const char *label, const char *text, size_t length) {
    parser->label = label;
    parser->source = text;
    parser->length = length;
    parser->at = parser->line_start = 0;
    parser->line = 1;
    parser->line_begins = parser->line_open = false;
    parser->parentheses = 0;
    return atn_lan_next(parser);
}

static atn_status read_whole(atn_lan_parser *parser, int32_t *node) {
    char found[64];
    atn_status status = atn_lan_read(parser, true, node);
    if (status || parser->token.kind == ATN_LAN_NEWLINE || parser->token.kind == ATN_LAN_END) return status;
    return atn_lan_refuse(parser, parser->token.line, parser->token.column, "the expression should end before %s",
                          atn_lan_found(parser, found));
}

static atn_status wrong(const atn_lan_parser *parser, const char *label, const char *what) {
    return atn_fail(parser->space->ctx, ATN_ERR_INPUT, "%s: %s: %s", parser->space->name, label, what);
}

/* ---- parameters ---- */

static atn_status value_of(atn_lan_parser *parser, const char *label, const json_t *json, atn_lan_value *out) {
    *out = (atn_lan_value){.kind = ATN_LAN_WHOLE};
    if (json_is_integer(json)) {
        out->whole = json_integer_value(json);
    } else if (json_is_real(json)) {
        out->kind = ATN_LAN_REAL;
        out->real = json_real_value(json);
    } else if (json_is_boolean(json)) {
        out->kind = ATN_LAN_BOOL;
        out->whole = json_is_true(json);
    } else if (json_is_string(json)) {
        out->kind = ATN_LAN_TEXT;
        out->whole = atn_lan_intern(parser->space, json_string_value(json), json_string_length(json));
        if (out->whole < 0) return ATN_ERR_MEMORY;
    } else {
        return wrong(parser, label, "a value is a number, a boolean or a string");
    }
    return ATN_OK;
}

static atn_status set_domain(atn_lan_parser *parser, const char *label, int32_t parameter, const atn_lan_value *list) {
    if (list->kind < ATN_LAN_LIST) return wrong(parser, label, "Values is a list: \"[1, 2, 4]\"");
    return atn_lan_set_domain(parser->space, &parser->space->parameters[parameter], list);
}

static atn_status read_text_values(atn_lan_parser *parser, const char *label, const json_t *values, int32_t parameter) {
    atn_lan_env env;
    atn_lan_value list;
    int32_t node;
    atn_status status = begin(parser, label, json_string_value(values), json_string_length(values));
    if (!status) status = read_whole(parser, &node);
    if (!status) status = atn_lan_resolve(parser, node);
    if (!status && atn_lan_uses_parameters(parser->space, node))
        status = wrong(parser, label, "values cannot depend on other parameters");
    if (status) return status;
    status = atn_lan_env_begin(&env, parser->space, NULL);
    if (!status && !atn_lan_compute(&env, node, &list))
        status = env.no_memory ? ATN_ERR_MEMORY : atn_lan_refuse(parser, env.line, env.column, "%s", env.why);
    if (!status) status = set_domain(parser, label, parameter, &list);
    atn_lan_env_end(&env);
    return status;
}

static atn_status read_array_values(atn_lan_parser *parser, const char *label, const json_t *values,
                                    int32_t parameter) {
    size_t n = json_array_size(values);
    atn_lan_value *items = atn_alloc(parser->space->ctx, (n + 1) * sizeof *items);
    atn_status status = items ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < n && !status; ++k) status = value_of(parser, label, json_array_get(values, k), &items[k]);
    atn_lan_value list = {.kind = ATN_LAN_LIST, .items = items, .count = (int64_t)n};
    if (!status) status = set_domain(parser, label, parameter, &list);
    atn_free(parser->space->ctx, items);
    return status;
}

static atn_status read_parameter(atn_lan_parser *parser, const json_t *json, size_t number) {
    char label[64];
    const json_t *name = json_object_get(json, "Name"), *values = json_object_get(json, "Values");
    snprintf(label, sizeof label, "TuningParameters[%zu]", number);
    parser->label = label;
    atn_status status;
    int32_t parameter, text;
    if (!json_is_string(name)) {
        status = wrong(parser, label, "Name is missing");
    } else if (!json_is_string(values) && !json_is_array(values)) {
        status = wrong(parser, label, "Values is missing");
    } else if ((text = atn_lan_intern(parser->space, json_string_value(name), json_string_length(name))) < 0) {
        status = ATN_ERR_MEMORY;
    } else {
        status = atn_lan_add_parameter(parser, text, 0, 1, &parameter);
        if (!status)
            status = json_is_string(values) ? read_text_values(parser, label, values, parameter)
                                            : read_array_values(parser, label, values, parameter);
    }
    parser->label = NULL;
    return status;
}

/* ---- conditions ---- */

/* The expression is its own name: that is how its writers know it. */
static atn_status read_condition(atn_lan_parser *parser, const json_t *json, size_t number) {
    char label[64];
    const json_t *expression = json_is_string(json) ? json : json_object_get(json, "Expression");
    atn_space *space = parser->space;
    snprintf(label, sizeof label, "Conditions[%zu]", number);
    if (!json_is_string(expression)) return wrong(parser, label, "Expression is missing");
    int32_t node;
    atn_lan_function function = {.role = ATN_LAN_REQUIRE, .line = 1, .column = 1, .plain = true};
    function.name = atn_arena_strdup(&space->arena, json_string_value(expression));
    atn_status status = function.name ? ATN_OK : ATN_ERR_MEMORY;
    if (!status) status = begin(parser, label, function.name, strlen(function.name));
    if (!status) status = read_whole(parser, &node);
    if (!status) status = atn_lan_resolve(parser, node);
    if (!status) status = atn_lan_set_body(parser, &function, node);
    parser->label = NULL;
    if (!status)
        status = atn_grow(space->ctx, (void **)&space->functions, &space->functions_capacity, space->n_functions,
                          sizeof *space->functions);
    if (!status)
        status = atn_grow(space->ctx, (void **)&space->constraints, &space->constraints_capacity, space->n_constraints,
                          sizeof *space->constraints);
    if (status) return status;
    space->constraints[space->n_constraints++] = (int32_t)space->n_functions;
    space->functions[space->n_functions++] = function;
    return ATN_OK;
}

static atn_status read_space(atn_lan_parser *parser, const json_t *root) {
    const json_t *space = json_object_get(root, "ConfigurationSpace");
    const json_t *parameters = json_object_get(space, "TuningParameters");
    const json_t *conditions = json_object_get(space, "Conditions");
    if (!json_is_array(parameters)) return wrong(parser, "ConfigurationSpace", "TuningParameters, a list, is missing");
    if (conditions && !json_is_array(conditions) && !json_is_null(conditions))
        return wrong(parser, "ConfigurationSpace", "Conditions is a list");
    atn_status status = ATN_OK;
    for (size_t k = 0; k < json_array_size(parameters) && !status; ++k)
        status = read_parameter(parser, json_array_get(parameters, k), k);
    for (size_t k = 0; k < json_array_size(conditions) && !status; ++k)
        status = read_condition(parser, json_array_get(conditions, k), k);
    return status ? status : atn_lan_finish(parser);
}

atn_status atn_space_parse_t1(const atn_ctx *ctx, const char *name, const char *text, size_t length, atn_space **out) {
    atn_lan_parser parser;
    json_error_t error;
    *out = NULL;
    json_t *root = json_loadb(text, length, 0, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return atn_fail_memory(ctx, length, "a JSON file");
    if (!root)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s:%d:%d: this is not JSON: %s", name, error.line, error.column,
                        error.text);
    atn_status status = atn_lan_open(ctx, name, NULL, 0, &parser);
    if (!status) status = read_space(&parser, root);
    json_decref(root);
    atn_text_free(&parser.decoded);
    if (status)
        atn_space_free(parser.space);
    else
        *out = parser.space;
    return status;
}
