/* Constraints in parts. "a < 4 and b < 4" keeps what both parts keep, so each may be tested as soon as its own
 * parameters are bound; likewise for conditions and 'or'. A part that may fail keeps those written before it as its
 * guards. */
#include "base/memory.h"
#include "space/native.h"
#include "space/parser.h"

typedef struct splitting {
    atn_lan_parser *parser;
    atn_emitter e; /* for shapes: what may fail, and what cannot */
    int32_t *parts;
    size_t count, capacity;
} splitting;

static atn_status collect(splitting *s, int32_t index, atn_lan_op op) {
    const atn_space *space = s->parser->space;
    const atn_lan_node *node = &space->nodes[index];
    if (node->op != op) {
        atn_status status = atn_grow(space->ctx, (void **)&s->parts, &s->capacity, s->count, sizeof *s->parts);
        if (!status) s->parts[s->count++] = index;
        return status;
    }
    for (int32_t k = 0; k < node->n_kids; ++k) {
        atn_status status = collect(s, space->links[node->first + k], op);
        if (status) return status;
    }
    return ATN_OK;
}

static atn_status add_part(splitting *s, size_t constraint, int32_t function) {
    atn_space *space = s->parser->space;
    atn_status status =
        atn_grow(space->ctx, (void **)&space->parts, &space->parts_capacity, space->n_parts, sizeof *space->parts);
    if (!status) space->parts[space->n_parts++] = (atn_lan_part){(int32_t)constraint, function};
    return status;
}

static atn_status add_function(splitting *s, size_t constraint, int32_t node) {
    atn_space *space = s->parser->space;
    atn_lan_function part = space->functions[space->constraints[constraint]];
    part.plain = true;
    part.uses = NULL;
    part.n_uses = 0;
    atn_status status = atn_lan_set_body(s->parser, &part, node);
    if (!status) status = atn_lan_find_uses_of(s->parser, &part);
    if (!status)
        status = atn_grow(space->ctx, (void **)&space->functions, &space->functions_capacity, space->n_functions,
                          sizeof *space->functions);
    if (status) return status;
    space->functions[space->n_functions++] = part;
    return add_part(s, constraint, (int32_t)space->n_functions - 1);
}

static atn_status split_one(splitting *s, size_t constraint) {
    atn_space *space = s->parser->space;
    const atn_lan_function *function = &space->functions[space->constraints[constraint]];
    const atn_lan_block *block = &function->block;
    bool simple = !function->built && block->count > 0 && block->items[block->count - 1].kind == ATN_LAN_RETURN;
    for (int32_t k = 0; k + 1 < block->count; ++k) simple = simple && block->items[k].kind == ATN_LAN_PASS;
    s->count = 0;
    atn_lan_op op = function->role == ATN_LAN_REQUIRE ? ATN_LAN_AND : ATN_LAN_OR;
    atn_status status = simple ? collect(s, block->items[block->count - 1].node, op) : ATN_OK;
    if (status || s->count < 2) return status ? status : add_part(s, constraint, space->constraints[constraint]);
    size_t guarded = 0; /* parts up to the last that may fail stay together */
    for (size_t k = 0; k < s->count; ++k) {
        atn_shape shape = atn_shape_of(&s->e, s->parts[k]);
        bool safe = shape.type != ATN_SHAPE_UNKNOWN && !shape.fails;
        if (!safe)
            guarded = k + 1;
        else
            status = add_function(s, constraint, s->parts[k]);
        if (status) return status;
    }
    if (guarded == 0) return ATN_OK;
    atn_lan_token at = {.line = space->nodes[s->parts[0]].line, .column = space->nodes[s->parts[0]].column};
    int32_t rest = atn_lan_add_node(s->parser, op, &at, s->parts, (int32_t)guarded, &status);
    return status ? status : add_function(s, constraint, rest);
}

atn_status atn_lan_split(atn_lan_parser *parser) {
    splitting s = {.parser = parser, .e = {.space = parser->space}};
    atn_shape *shapes = NULL;
    atn_status status = atn_shape_begin(&s.e, &shapes);
    for (size_t k = 0; k < parser->space->n_constraints && !status; ++k) status = split_one(&s, k);
    atn_free(parser->space->ctx, shapes);
    atn_free(parser->space->ctx, s.parts);
    return status;
}
