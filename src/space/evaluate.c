/* Expressions and functions at a point: a walk over the tree. Derived values are computed once for each point. */
#include "space/lanai.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

atn_status atn_lan_env_begin(atn_lan_env *env, const atn_space *space, const int32_t *levels) {
    memset(env, 0, sizeof *env);
    env->space = space;
    env->levels = levels;
    if (space->n_derived == 0) return ATN_OK;
    env->derived = atn_alloc(space->ctx, space->n_derived * sizeof *env->derived);
    env->stamps = atn_zalloc(space->ctx, space->n_derived * sizeof *env->stamps);
    return env->derived && env->stamps ? ATN_OK : ATN_ERR_MEMORY;
}

void atn_lan_env_end(atn_lan_env *env) {
    if (!env->space) return;
    atn_free(env->space->ctx, env->derived);
    atn_free(env->space->ctx, env->stamps);
    atn_free(env->space->ctx, env->scratch);
    env->derived = NULL;
    env->stamps = NULL;
    env->scratch = NULL;
}

static bool wrong(atn_lan_env *env, const atn_lan_node *node, const char *why) {
    env->line = node->line;
    env->column = node->column;
    snprintf(env->why, sizeof env->why, "%s", why);
    return false;
}

static bool compute(atn_lan_env *env, int32_t index, atn_lan_value *out);

static bool compute_kid(atn_lan_env *env, const atn_lan_node *node, int32_t k, atn_lan_value *out) {
    return compute(env, env->space->links[node->first + k], out);
}

static bool compute_derived(atn_lan_env *env, int32_t which, atn_lan_value *out) {
    if (env->stamps[which] != env->stamp) {
        if (!compute(env, env->space->derived[which], &env->derived[which])) return false;
        env->stamps[which] = env->stamp;
    }
    *out = env->derived[which];
    return true;
}

/* The room is taken before the items are computed: those that are calls may leave lists behind it. */
static bool compute_items(atn_lan_env *env, const atn_lan_node *node, atn_lan_value *out) {
    atn_lan_value *items = atn_lan_scratch(env, node->n_kids);
    if (!items) return wrong(env, node, "too many values in lists");
    for (int32_t k = 0; k < node->n_kids; ++k) {
        atn_lan_value item;
        if (!compute_kid(env, node, k, &item)) return false;
        if (item.kind >= ATN_LAN_LIST) return wrong(env, node, "a list cannot hold a list");
        items[k] = item;
    }
    *out = (atn_lan_value){.kind = ATN_LAN_LIST, .items = items, .count = node->n_kids};
    return true;
}

/* As many values as there can be are taken at once; what the condition leaves out is wasted until the end. */
static bool compute_each(atn_lan_env *env, const atn_lan_node *node, atn_lan_value *out) {
    atn_lan_value list, taken, *items;
    if (!compute_kid(env, node, 1, &list)) return false;
    if (list.kind < ATN_LAN_LIST) return wrong(env, node, "'for x in' takes a list");
    if (!(items = atn_lan_scratch(env, list.count))) return wrong(env, node, "too many values in lists");
    int64_t n = 0;
    for (int64_t k = 0; k < list.count; ++k) {
        env->each[node->index2] = atn_lan_item(&list, k);
        if (node->n_kids > 2 && !compute_kid(env, node, 2, &taken)) return false;
        if (node->n_kids > 2 && !atn_lan_true(env->space, &taken)) continue;
        atn_lan_value item;
        if (!compute_kid(env, node, 0, &item)) return false;
        if (item.kind >= ATN_LAN_LIST) return wrong(env, node, "a list cannot hold a list");
        items[n++] = item;
    }
    *out = (atn_lan_value){.kind = ATN_LAN_LIST, .items = items, .count = n};
    return true;
}

/* [1, 2] + [4] */
static bool compute_joined(atn_lan_env *env, const atn_lan_node *node, const atn_lan_value *a, const atn_lan_value *b,
                           atn_lan_value *out) {
    atn_lan_value *items = NULL;
    if (a->count <= ATN_LAN_SCRATCH && b->count <= ATN_LAN_SCRATCH) items = atn_lan_scratch(env, a->count + b->count);
    if (!items) return wrong(env, node, "too many values in lists");
    for (int64_t k = 0; k < a->count; ++k) items[k] = atn_lan_item(a, k);
    for (int64_t k = 0; k < b->count; ++k) items[a->count + k] = atn_lan_item(b, k);
    *out = (atn_lan_value){.kind = ATN_LAN_LIST, .items = items, .count = a->count + b->count};
    return true;
}

static bool compute_call(atn_lan_env *env, const atn_lan_node *node, atn_lan_value *out) {
    const atn_lan_builtin *builtin = &ATN_LAN_BUILTINS[node->index];
    atn_lan_value few[4], *arguments = few;
    if (node->n_kids > 4 && !(arguments = atn_lan_scratch(env, node->n_kids)))
        return wrong(env, node, "too many values in lists");
    for (int32_t k = 0; k < node->n_kids; ++k)
        if (!compute_kid(env, node, k, &arguments[k])) return false;
    const char *why = builtin->call(env, arguments, node->n_kids, out);
    return why ? wrong(env, node, why) : true;
}

static bool compute_built(atn_lan_env *env, const atn_lan_node *node, atn_lan_value *out) {
    const char *name = atn_lan_text(env->space, node->index);
    for (size_t k = 0; k < env->n_built; ++k) {
        if (strcmp(env->built[k].name, name) != 0) continue;
        *out = atn_lan_of_setting(&env->built[k].value);
        if (out->kind != ATN_LAN_TEXT) return true;
        return wrong(env, node, "a result of a build must be a number");
    }
    env->undecided = true;
    return wrong(env, node, "the build does not report it");
}

/* a < b <= c: each operand once, in order, until one comparison is false. */
static bool compute_chain(atn_lan_env *env, const atn_lan_node *node, atn_lan_value *out) {
    atn_lan_value left, right;
    if (!compute_kid(env, atn_lan_kid(env->space, node, 0), 0, &left)) return false;
    for (int32_t k = 0; k < node->n_kids; ++k) {
        const atn_lan_node *comparison = atn_lan_kid(env->space, node, k);
        if (!compute_kid(env, comparison, 1, &right)) return false;
        const char *why = atn_lan_binary(env->space, comparison->op, &left, &right, out);
        if (why) return wrong(env, comparison, why);
        if (!out->whole) return true;
        left = right;
    }
    return true;
}

static bool compute_logic(atn_lan_env *env, const atn_lan_node *node, atn_lan_value *out) {
    for (int32_t k = 0; k < node->n_kids; ++k) {
        if (!compute_kid(env, node, k, out)) return false;
        if (atn_lan_true(env->space, out) == (node->op == ATN_LAN_OR)) return true;
    }
    return true;
}

static bool compute(atn_lan_env *env, int32_t index, atn_lan_value *out) {
    const atn_space *space = env->space;
    const atn_lan_node *node = &space->nodes[index];
    atn_lan_value a, b;
    const char *why;
    ++env->steps;
    switch (node->op) {
    case ATN_LAN_CONSTANT:
        *out = node->value;
        return true;
    case ATN_LAN_PARAMETER:
        *out = atn_lan_of_setting(&space->parameters[node->index].settings[env->levels[node->index]]);
        return true;
    case ATN_LAN_DERIVED:
        return compute_derived(env, node->index, out);
    case ATN_LAN_LOCAL:
        *out = env->locals[node->index];
        return out->kind != ATN_LAN_NONE || wrong(env, node, "a variable is used before it is set");
    case ATN_LAN_BUILT:
        return compute_built(env, node, out);
    case ATN_LAN_ITEMS:
        return compute_items(env, node, out);
    case ATN_LAN_CALL:
        return compute_call(env, node, out);
    case ATN_LAN_EACH:
        return compute_each(env, node, out);
    case ATN_LAN_EACH_VALUE:
        *out = env->each[node->index];
        return true;
    case ATN_LAN_NOT:
        if (!compute_kid(env, node, 0, &a)) return false;
        *out = (atn_lan_value){.kind = ATN_LAN_BOOL, .whole = !atn_lan_true(space, &a)};
        return true;
    case ATN_LAN_NEGATE:
    case ATN_LAN_PLUS:
    case ATN_LAN_INVERT:
        if (!compute_kid(env, node, 0, &a)) return false;
        why = atn_lan_unary(node->op, &a, out);
        return why ? wrong(env, node, why) : true;
    case ATN_LAN_CHAIN:
        return compute_chain(env, node, out);
    case ATN_LAN_AND:
    case ATN_LAN_OR:
        return compute_logic(env, node, out);
    case ATN_LAN_CHOOSE:
        if (!compute_kid(env, node, 0, &a)) return false;
        return compute_kid(env, node, atn_lan_true(space, &a) ? 1 : 2, out);
    case ATN_LAN_NAME:
    case ATN_LAN_MEMBER:
        return wrong(env, node, "unknown name");
    default:
        if (!compute_kid(env, node, 0, &a) || !compute_kid(env, node, 1, &b)) return false;
        if (node->op == ATN_LAN_ADD && a.kind >= ATN_LAN_LIST && b.kind >= ATN_LAN_LIST)
            return compute_joined(env, node, &a, &b, out);
        why = atn_lan_binary(space, node->op, &a, &b, out);
        return why ? wrong(env, node, why) : true;
    }
}

static void begin(atn_lan_env *env) {
    env->n_scratch = 0;
    env->undecided = false;
    if (++env->stamp == 0) { /* once in 2^32 evaluations: no old stamp may look like a new one */
        memset(env->stamps, 0, env->space->n_derived * sizeof *env->stamps);
        env->stamp = 1;
    }
}

bool atn_lan_compute(atn_lan_env *env, int32_t node, atn_lan_value *out) {
    begin(env);
    return compute(env, node, out);
}

/* 1: returned, 0: ran through, -1: failed. */
static int run_block(atn_lan_env *env, const atn_lan_block *block, atn_lan_value *out) {
    for (int32_t k = 0; k < block->count; ++k) {
        const atn_lan_statement *s = &block->items[k];
        if (s->kind == ATN_LAN_RETURN) return compute(env, s->node, out) ? 1 : -1;
        if (s->kind == ATN_LAN_ASSIGN && !compute(env, s->node, &env->locals[s->local])) return -1;
        for (int32_t b = 0; b < s->n_branches; ++b) {
            atn_lan_value taken;
            const atn_lan_branch *branch = &s->branches[b];
            if (branch->condition >= 0) {
                if (!compute(env, branch->condition, &taken)) return -1;
                if (!atn_lan_true(env->space, &taken)) continue;
            }
            int end = run_block(env, &branch->block, out);
            if (end) return end;
            break;
        }
    }
    return 0;
}

bool atn_lan_call(atn_lan_env *env, const atn_lan_function *function, atn_lan_value *out) {
    begin(env);
    for (int32_t k = 0; k < function->n_locals; ++k) env->locals[k].kind = ATN_LAN_NONE;
    int end = run_block(env, &function->block, out);
    if (end > 0) return true;
    if (end < 0) return false;
    env->line = function->line;
    env->column = function->column;
    snprintf(env->why, sizeof env->why, "it ends without a return");
    return false;
}

int atn_lan_keeps(atn_lan_env *env, const atn_lan_function *function) {
    atn_lan_value value;
    if (!atn_lan_call(env, function, &value)) return -1;
    return atn_lan_true(env->space, &value) == (function->role == ATN_LAN_REQUIRE);
}

atn_status atn_lan_failed(const atn_ctx *ctx, const atn_lan_env *env, const atn_lan_function *function) {
    if (env->no_memory) return atn_fail_memory(ctx, ATN_LAN_SCRATCH * sizeof *env->scratch, "the values of a list");
    atn_text point = {.ctx = ctx};
    for (int32_t k = 0; k < function->n_uses; ++k) {
        const atn_lan_parameter *parameter = &env->space->parameters[function->uses[k]];
        atn_text_printf(&point, "%s%s=", k ? ", " : " at ", parameter->name);
        atn_setting_print(&parameter->settings[env->levels[function->uses[k]]], &point);
    }
    static const char *const ROLES[] = {"iterator", "condition", "requirement"};
    atn_status status = ATN_ERR_MEMORY;
    if (!point.failed)
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s:%d:%d: %s in the %s '%s'%s", env->space->name, env->line, env->column,
                          env->why, ROLES[function->role], function->name, atn_text_str(&point));
    atn_text_free(&point);
    return status;
}
