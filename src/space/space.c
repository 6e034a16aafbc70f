/* A space as a whole: created from text, queried, freed. */
#include "base/memory.h"
#include "space/parser.h"
#include "space/plan.h"

#include <string.h>

/* ---- the hash of the meaning ---- */

static atn_hash hash_value(const atn_space *space, atn_hash hash, const atn_lan_value *value) {
    int64_t parts[2] = {value->kind, value->kind == ATN_LAN_TEXT ? 0 : value->whole};
    hash = atn_hash_add(hash, parts, sizeof parts);
    return value->kind == ATN_LAN_TEXT ? atn_hash_add_text(hash, atn_lan_text(space, (int32_t)value->whole)) : hash;
}

static atn_hash hash_node(const atn_space *space, atn_hash hash, int32_t index) {
    const atn_lan_node *node = &space->nodes[index];
    int32_t head[2] = {(int32_t)node->op, node->n_kids};
    hash = atn_hash_add(hash, head, sizeof head);
    if (node->op == ATN_LAN_CONSTANT) return hash_value(space, hash, &node->value);
    if (node->op == ATN_LAN_PARAMETER) return atn_hash_add_text(hash, space->parameters[node->index].name);
    if (node->op == ATN_LAN_CALL) hash = atn_hash_add_text(hash, ATN_LAN_BUILTINS[node->index].name);
    if (node->op == ATN_LAN_BUILT) hash = atn_hash_add_text(hash, atn_lan_text(space, node->index));
    if (node->op == ATN_LAN_LOCAL || node->op == ATN_LAN_DERIVED || node->op == ATN_LAN_EACH_VALUE)
        hash = atn_hash_add(hash, &node->index, sizeof node->index);
    if (node->op == ATN_LAN_CHAIN) { /* its comparisons share operands: the first one's left, then each one's right */
        const atn_lan_node *first = atn_lan_kid(space, node, 0);
        hash = hash_node(space, hash, space->links[first->first]);
        for (int32_t k = 0; k < node->n_kids; ++k) {
            const atn_lan_node *comparison = atn_lan_kid(space, node, k);
            hash = atn_hash_add(hash, &comparison->op, sizeof comparison->op);
            hash = hash_node(space, hash, space->links[comparison->first + 1]);
        }
        return hash;
    }
    for (int32_t k = 0; k < node->n_kids; ++k) hash = hash_node(space, hash, space->links[node->first + k]);
    return hash;
}

static atn_hash hash_block(const atn_space *space, atn_hash hash, const atn_lan_block *block) {
    hash = atn_hash_add(hash, &block->count, sizeof block->count);
    for (int32_t k = 0; k < block->count; ++k) {
        const atn_lan_statement *s = &block->items[k];
        int32_t head[3] = {(int32_t)s->kind, s->local, s->n_branches};
        hash = atn_hash_add(hash, head, sizeof head);
        if (s->node >= 0) hash = hash_node(space, hash, s->node);
        for (int32_t b = 0; b < s->n_branches; ++b) {
            if (s->branches[b].condition >= 0) hash = hash_node(space, hash, s->branches[b].condition);
            hash = hash_block(space, hash, &s->branches[b].block);
        }
    }
    return hash;
}

static atn_hash hash_space(const atn_space *space) {
    atn_hash hash = {0};
    for (size_t k = 0; k < space->n_parameters; ++k) {
        const atn_lan_parameter *p = &space->parameters[k];
        hash = atn_hash_add_text(hash, p->name);
        for (int32_t level = 0; level < p->levels; ++level) {
            atn_lan_value value = atn_lan_of_setting(&p->settings[level]);
            hash = hash_value(space, hash, &value);
        }
    }
    for (size_t k = 0; k < space->n_derived; ++k) hash = hash_node(space, hash, space->derived[k]);
    for (size_t k = 0; k < space->n_functions; ++k) {
        const atn_lan_function *f = &space->functions[k];
        int32_t head[2] = {(int32_t)f->role, f->built};
        hash = atn_hash_add(hash, head, sizeof head);
        if (f->role == ATN_LAN_ITERATOR) hash = atn_hash_add_text(hash, f->name);
        hash = hash_block(space, hash, &f->block);
    }
    return hash;
}

/* ---- making one ---- */

atn_status atn_lan_open(const atn_ctx *ctx, const char *name, const atn_given *given, size_t n_given,
                        atn_lan_parser *parser) {
    *parser =
        (atn_lan_parser){.line = 1, .line_begins = true, .given = given, .n_given = n_given, .decoded = {.ctx = ctx}};
    atn_space *space = atn_zalloc(ctx, sizeof *space);
    if (!space) return ATN_ERR_MEMORY;
    parser->space = space;
    space->ctx = ctx;
    space->arena.ctx = ctx;
    space->shared = atn_zalloc(ctx, sizeof *space->shared);
    if (!space->shared) return ATN_ERR_MEMORY;
    pthread_mutex_init(&space->shared->lock, NULL);
    space->name = atn_arena_strdup(&space->arena, name);
    return space->name ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status atn_lan_finish(atn_lan_parser *parser) {
    atn_space *space = parser->space;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < space->n_functions && !status; ++k)
        if (!space->functions[k].plain) status = atn_lan_resolve_function(parser, &space->functions[k]);
    if (!status) status = atn_lan_find_uses(parser);
    if (!status) status = atn_lan_make_iterators(space);
    if (!status) space->hash = hash_space(space);
    if (!status) status = atn_lan_split(parser);
    return status;
}

atn_status atn_space_parse(const atn_ctx *ctx, const char *name, const char *text, size_t length,
                           const atn_given *given, size_t n_given, atn_space **out) {
    atn_lan_parser parser;
    *out = NULL;
    if (length > ATN_LAN_MOST_BYTES)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: a space has at most %d bytes, this one has %zu", name,
                        (int)ATN_LAN_MOST_BYTES, length);
    atn_status status = atn_lan_open(ctx, name, given, n_given, &parser);
    parser.source = text;
    parser.length = length;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) parser.at = parser.line_start = 3; /* byte-order mark */
    if (!status) status = atn_lan_read_file(&parser);
    if (!status) status = atn_lan_finish(&parser);
    atn_text_free(&parser.decoded);
    if (status)
        atn_space_free(parser.space);
    else
        *out = parser.space;
    return status;
}

void atn_space_free(atn_space *space) {
    if (!space) return;
    const atn_ctx *ctx = space->ctx;
    if (space->shared) {
        atn_space_plan_free(space->shared->plan);
        pthread_mutex_destroy(&space->shared->lock);
        atn_free(ctx, space->shared);
    }
    void *blocks[] = {space->symbols, space->buckets,   space->nodes,       space->links, space->parameters,
                      space->derived, space->functions, space->constraints, space->parts};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) atn_free(ctx, blocks[k]);
    atn_arena_free(&space->arena);
    atn_free(ctx, space);
}

/* ---- its parts ---- */

atn_hash atn_space_hash(const atn_space *space) { return space->hash; }
void atn_space_use(atn_space *space, atn_space_engine engine) { space->engine = engine; }
int32_t atn_space_count_parameters(const atn_space *space) { return (int32_t)space->n_parameters; }
const char *atn_space_parameter(const atn_space *space, int32_t k) { return space->parameters[k].name; }
int32_t atn_space_levels(const atn_space *space, int32_t k) { return space->parameters[k].levels; }
const atn_setting *atn_space_setting(const atn_space *space, int32_t k, int32_t level) {
    return &space->parameters[k].settings[level];
}
int32_t atn_space_count_constraints(const atn_space *space) { return (int32_t)space->n_constraints; }
const char *atn_space_constraint(const atn_space *space, int32_t k) {
    return space->functions[space->constraints[k]].name;
}
bool atn_space_constraint_is_built(const atn_space *space, int32_t k) {
    return space->functions[space->constraints[k]].built;
}
