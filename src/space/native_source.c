/* The C source of a component's inner loops: one function for each constraint, one that counts below given levels of
 * the outer parameters, and the entry point that does so for many of them on all cores. */
#include "base/memory.h"
#include "space/native.h"

#include <string.h>

enum { MOST_TABLE = 1 << 16 }; /* values of a parameter that are written out */

typedef struct native_text {
    atn_emitter e;
    int32_t first;   /* depth of the outermost loop */
    bool *derived;   /* used somewhere */
    int32_t *depths; /* per derived value: where all it uses is bound */
    bool *may_fail;  /* per relation */
    atn_text *out;
} native_text;

static const char *type_of(const atn_shape *shape) { return shape->type == ATN_SHAPE_REAL ? "double" : "int64_t"; }

static int32_t depth_in(const atn_component *c, int32_t parameter) {
    const atn_parameter_place *place = &c->plan->places[parameter];
    return place->component == (int32_t)(c - c->plan->components) ? place->depth : -1;
}

/* ---- derived values ---- */

/* Marks those that an expression uses; the deepest depth it needs. */
static int32_t mark(native_text *s, int32_t index) {
    const atn_space *space = s->e.component->plan->space;
    const atn_lan_node *node = &space->nodes[index];
    if (node->op == ATN_LAN_PARAMETER) return depth_in(s->e.component, node->index);
    if (node->op == ATN_LAN_DERIVED) {
        if (!s->derived[node->index]) s->depths[node->index] = mark(s, space->derived[node->index]);
        s->derived[node->index] = true;
        return s->depths[node->index];
    }
    int32_t deepest = -1;
    for (int32_t k = 0; k < node->n_kids; ++k) {
        const atn_lan_node *kid = atn_lan_kid(space, node, k);
        bool chain = node->op == ATN_LAN_CHAIN; /* its kids share operands */
        for (int32_t j = chain && k ? 1 : 0; j < (chain ? 2 : 1); ++j) {
            int32_t depth = mark(s, chain ? space->links[kid->first + j] : space->links[node->first + k]);
            if (depth > deepest) deepest = depth;
        }
    }
    return deepest;
}

static void mark_block(native_text *s, const atn_lan_block *block) {
    for (int32_t k = 0; k < block->count; ++k) {
        const atn_lan_statement *statement = &block->items[k];
        if (statement->node >= 0) (void)mark(s, statement->node);
        for (int32_t b = 0; b < statement->n_branches; ++b) {
            if (statement->branches[b].condition >= 0) (void)mark(s, statement->branches[b].condition);
            mark_block(s, &statement->branches[b].block);
        }
    }
}

static bool add_derived(native_text *s, int32_t depth) {
    const atn_space *space = s->e.component->plan->space;
    for (size_t k = 0; k < space->n_derived; ++k) {
        int32_t own = s->depths[k] < s->first ? -1 : s->depths[k];
        if (!s->derived[k] || own != depth) continue;
        if (s->e.derived[k].fails || s->e.derived[k].type == ATN_SHAPE_UNKNOWN) return false;
        atn_text_printf(s->out, "const %s d%zu = ", type_of(&s->e.derived[k]), k);
        if (!atn_emit_value(&s->e, space->derived[k])) return false;
        atn_text_add(s->out, ";\n");
    }
    return true;
}

/* ---- constraints ---- */

static bool returns(const atn_lan_block *block) {
    for (int32_t k = 0; k < block->count; ++k) {
        const atn_lan_statement *s = &block->items[k];
        if (s->kind == ATN_LAN_RETURN) return true;
        bool all = s->n_branches > 0 && s->branches[s->n_branches - 1].condition < 0;
        for (int32_t b = 0; b < s->n_branches && all; ++b) all = returns(&s->branches[b].block);
        if (all) return true;
    }
    return false;
}

static bool add_block(native_text *s, const atn_lan_block *block, bool *fails);

static bool add_if(native_text *s, const atn_lan_statement *statement, bool *fails) {
    uint64_t before = s->e.set, after = ~(uint64_t)0;
    bool otherwise = false;
    for (int32_t b = 0; b < statement->n_branches; ++b) {
        const atn_lan_branch *branch = &statement->branches[b];
        s->e.set = before;
        if (b) atn_text_add(s->out, " else ");
        otherwise = branch->condition < 0;
        if (!otherwise) {
            *fails |= atn_shape_of(&s->e, branch->condition).fails;
            atn_text_add(s->out, "if (");
            if (!atn_emit_truth(&s->e, branch->condition)) return false;
            atn_text_add(s->out, ") ");
        }
        atn_text_add(s->out, "{\n");
        if (!add_block(s, &branch->block, fails)) return false;
        atn_text_add(s->out, "}");
        if (!returns(&branch->block)) after &= s->e.set;
    }
    atn_text_add(s->out, "\n");
    s->e.set = otherwise ? after : after & before;
    return true;
}

static bool add_block(native_text *s, const atn_lan_block *block, bool *fails) {
    for (int32_t k = 0; k < block->count; ++k) {
        const atn_lan_statement *statement = &block->items[k];
        if (statement->node >= 0) *fails |= atn_shape_of(&s->e, statement->node).fails;
        if (statement->kind == ATN_LAN_IF && !add_if(s, statement, fails)) return false;
        if (statement->kind == ATN_LAN_ASSIGN) {
            atn_text_printf(s->out, "v%d = ", statement->local);
            if (!atn_emit_value(&s->e, statement->node)) return false;
            atn_text_add(s->out, ";\n");
            s->e.set |= (uint64_t)1 << statement->local;
        }
        if (statement->kind == ATN_LAN_RETURN) {
            atn_text_add(s->out, s->e.function->role == ATN_LAN_REQUIRE ? "return " : "return !");
            if (!atn_emit_truth(&s->e, statement->node)) return false;
            atn_text_add(s->out, ";\n");
            return true; /* what follows is never reached */
        }
    }
    return true;
}

/* The names a constraint's function is given: with types where it is made, without where it is called. */
static void add_names(native_text *s, const atn_lan_function *function, bool types) {
    const atn_space *space = s->e.component->plan->space;
    for (int32_t k = 0; k < function->n_uses; ++k) {
        int32_t p = function->uses[k];
        if (depth_in(s->e.component, p) < 0) continue;
        atn_text_printf(s->out, "%s%sp%d, ", types ? type_of(&s->e.parameters[p]) : "", types ? " " : "", p);
    }
    for (size_t k = 0; k < space->n_derived; ++k)
        if (s->derived[k])
            atn_text_printf(s->out, "%s%sd%zu, ", types ? type_of(&s->e.derived[k]) : "", types ? " " : "", k);
    atn_text_add(s->out, types ? "int *bad" : "bad");
}

/* Derived values that this function itself uses, into s->derived. */
static void mark_function(native_text *s, const atn_lan_function *function) {
    memset(s->derived, 0, s->e.component->plan->space->n_derived);
    mark_block(s, &function->block);
}

static bool add_constraint(native_text *s, int32_t which) {
    const atn_lan_function *function = s->e.component->relations[which].function;
    s->e.function = function;
    s->e.set = 0;
    memset(s->e.locals, 0, sizeof s->e.locals);
    for (int32_t k = 0; k < function->n_uses; ++k)
        if (s->e.parameters[function->uses[k]].type == ATN_SHAPE_UNKNOWN) return false;
    if (!atn_shape_locals(&s->e, &function->block)) return false;
    mark_function(s, function);
    atn_text_printf(s->out, "static inline int c%d(", which);
    add_names(s, function, true);
    atn_text_add(s->out, ") {\n");
    for (int32_t k = 0; k < function->n_locals; ++k)
        if (s->e.locals[k].type != ATN_SHAPE_UNKNOWN)
            atn_text_printf(s->out, "%s v%d = 0;\n", type_of(&s->e.locals[k]), k);
    if (!add_block(s, &function->block, &s->may_fail[which])) return false;
    if (!returns(&function->block)) {
        atn_text_add(s->out, "*bad = 1; return 0;\n");
        s->may_fail[which] = true;
    }
    atn_text_add(s->out, "}\n");
    return true;
}

/* ---- loops ---- */

int64_t atn_native_table(const atn_component *c, int32_t first, int32_t depth) {
    int64_t at = 0;
    for (int32_t d = first; d < depth; ++d) {
        const atn_lan_iterator *iterator = &c->plan->space->parameters[c->depths[d].parameter].iterator;
        if (c->depths[d].iterator) at += iterator->combinations + 3 * (int64_t)iterator->n_lists + iterator->n_pool;
    }
    return at;
}

/* Are the values start, start + step, ...? */
static bool is_even(const atn_lan_parameter *p) {
    for (int32_t k = 0; k < p->levels; ++k) {
        if (p->settings[k].kind != ATN_SETTING_WHOLE) return false;
        __int128 step = k ? (__int128)p->settings[k].whole - p->settings[k - 1].whole : 0;
        if (k > 1 && step != (__int128)p->settings[1].whole - p->settings[0].whole) return false;
        if (step > INT32_MAX || step < INT32_MIN) return false;
    }
    return true;
}

static bool add_values(native_text *s, int32_t parameter) {
    const atn_lan_parameter *p = &s->e.component->plan->space->parameters[parameter];
    if (is_even(p)) return true;
    if (p->levels > MOST_TABLE || s->e.parameters[parameter].type == ATN_SHAPE_UNKNOWN) return false;
    atn_text_printf(s->out, "static const %s a%d[] = {", type_of(&s->e.parameters[parameter]), parameter);
    for (int32_t k = 0; k < p->levels; ++k) {
        atn_lan_value value = atn_lan_of_setting(&p->settings[k]);
        atn_emit_constant(s->out, &value);
        atn_text_add(s->out, k + 1 < p->levels ? "," : "};\n");
    }
    return true;
}

static void add_value(native_text *s, int32_t parameter) {
    const atn_lan_parameter *p = &s->e.component->plan->space->parameters[parameter];
    atn_text_printf(s->out, "const %s p%d = ", type_of(&s->e.parameters[parameter]), parameter);
    if (!is_even(p)) {
        atn_text_printf(s->out, "a%d[l%d];\n", parameter, parameter);
        return;
    }
    atn_lan_value start = {.kind = ATN_LAN_WHOLE, .whole = p->levels ? p->settings[0].whole : 0};
    int64_t step = p->levels > 1 ? p->settings[1].whole - p->settings[0].whole : 1;
    atn_emit_constant(s->out, &start);
    atn_text_printf(s->out, " + INT64_C(%lld) * l%d;\n", (long long)step, parameter);
}

static void add_loop(native_text *s, int32_t depth) {
    const atn_component *c = s->e.component;
    const atn_space *space = c->plan->space;
    const atn_depth *at = &c->depths[depth];
    int32_t p = at->parameter;
    if (!at->iterator) {
        atn_text_printf(s->out, "for (int32_t l%d = 0; l%d < %d; ++l%d) {\n", p, p, at->size, p);
        return;
    }
    const atn_lan_iterator *iterator = &space->parameters[p].iterator;
    const atn_lan_function *function = &space->functions[space->parameters[p].function];
    int64_t table = atn_native_table(c, s->first, depth), lists = table + iterator->combinations;
    int64_t pool = lists + 3 * (int64_t)iterator->n_lists;
    atn_text_printf(s->out, "int64_t k%d = 0;\n", p);
    for (int32_t k = 0; k < function->n_uses; ++k) {
        int32_t u = function->uses[k];
        atn_text_printf(s->out, "k%d = k%d * %d", p, p, space->parameters[u].levels);
        if (depth_in(c, u) >= 0) atn_text_printf(s->out, " + l%d", u);
        atn_text_add(s->out, ";\n");
    }
    atn_text_printf(
        s->out,
        "const int32_t w%d = tables[%lld + k%d];\n"
        "if (w%d == %d) { *bad = 1; return 0; }\n"
        "const int32_t *i%d = tables + %lld + 3 * (int64_t)(w%d < 0 ? 0 : w%d), n%d = w%d < 0 ? 0 : i%d[2];\n"
        "for (int32_t j%d = 0; j%d < n%d; ++j%d) {\n"
        "const int32_t l%d = i%d[1] ? i%d[0] + j%d * i%d[1] : tables[%lld + i%d[0] + j%d];\n",
        p, (long long)table, p, p, (int)ATN_LAN_FAILS, p, (long long)lists, p, p, p, p, p, p, p, p, p, p, p, p, p, p,
        (long long)pool, p, p);
}

static void add_test(native_text *s, int32_t which) {
    mark_function(s, s->e.component->relations[which].function);
    atn_text_printf(s->out, "c%d(", which);
    add_names(s, s->e.component->relations[which].function, false);
    atn_text_add(s->out, ")");
}

/* Tests at a depth; at the innermost one they are added up without a branch, if none may fail. */
static void add_tests(native_text *s, int32_t depth) {
    const atn_component *c = s->e.component;
    const atn_depth *at = &c->depths[depth];
    bool last = depth + 1 == c->n_depths, any = false;
    for (int32_t k = 0; k < at->n_relations; ++k) any = any || s->may_fail[at->first_relation + k];
    if (last && !any) {
        atn_text_add(s->out, "total += (uint64_t)(1");
        for (int32_t k = 0; k < at->n_relations; ++k) {
            atn_text_add(s->out, " && ");
            add_test(s, at->first_relation + k);
        }
        atn_text_add(s->out, ");\n");
        return;
    }
    for (int32_t k = 0; k < at->n_relations; ++k) {
        atn_text_add(s->out, "{ const int keep = ");
        add_test(s, at->first_relation + k);
        atn_text_add(s->out, s->may_fail[at->first_relation + k] ? "; if (*bad) return 0; if (!keep) continue; }\n"
                                                                 : "; if (!keep) continue; }\n");
    }
    if (last) atn_text_add(s->out, "++total;\n");
}

static bool add_count(native_text *s) {
    const atn_component *c = s->e.component;
    const atn_depth *outer = &c->depths[s->first];
    atn_text_add(s->out, "static uint64_t one(const int32_t *key, const int32_t *tables, int *bad) {\n"
                         "uint64_t total = 0;\n");
    for (int32_t k = 0; k < outer->n_live; ++k) {
        int32_t p = c->depths[outer->live[k]].parameter;
        atn_text_printf(s->out, "const int32_t l%d = key[%d];\n", p, k);
        add_value(s, p);
    }
    memset(s->derived, 0, c->plan->space->n_derived);
    for (int32_t k = 0; k < c->n_relations; ++k)
        if (c->relations[k].depth >= s->first) mark_block(s, &c->relations[k].function->block);
    bool *all = s->derived, *none = s->derived + c->plan->space->n_derived; /* tests mark their own */
    if (!add_derived(s, -1)) return false;
    for (int32_t d = s->first; d < c->n_depths; ++d) {
        add_loop(s, d);
        add_value(s, c->depths[d].parameter);
        if (!add_derived(s, d)) return false;
        s->derived = none;
        add_tests(s, d);
        s->derived = all;
    }
    for (int32_t d = s->first; d < c->n_depths; ++d) atn_text_add(s->out, "}");
    atn_text_add(s->out, "\nreturn total;\n}\n");
    return true;
}

static bool add_all(native_text *s) {
    const atn_component *c = s->e.component;
    bool good = true;
    for (int32_t k = 0; k < c->n_relations && good; ++k)
        if (c->relations[k].depth >= s->first) good = add_constraint(s, k);
    const atn_depth *outer = &c->depths[s->first];
    for (int32_t k = 0; k < outer->n_live && good; ++k) good = add_values(s, c->depths[outer->live[k]].parameter);
    for (int32_t d = s->first; d < c->n_depths && good; ++d) good = add_values(s, c->depths[d].parameter);
    good = good && add_count(s);
    atn_text_printf(s->out, "enum { LIVE = %d };\n%s", outer->n_live, atn_embedded_find(ATN_NATIVE_TEXTS, "count"));
    return good && s->out->length <= ATN_NATIVE_MOST_TEXT;
}

atn_status atn_native_source(const atn_component *c, int32_t depth, atn_text *out, bool *possible) {
    const atn_space *space = c->plan->space;
    native_text s = {.e = {.space = space, .component = c, .out = out}, .first = depth, .out = out};
    atn_shape *shapes = NULL;
    *possible = false;
    bool *derived = s.derived = atn_zalloc(space->ctx, 2 * space->n_derived + 1);
    s.depths = atn_zalloc(space->ctx, (space->n_derived + 1) * sizeof *s.depths);
    s.may_fail = atn_zalloc(space->ctx, (size_t)c->n_relations + 1);
    atn_status status = s.derived && s.depths && s.may_fail ? atn_shape_begin(&s.e, &shapes) : ATN_ERR_MEMORY;
    if (!status) {
        atn_text_add(out, atn_embedded_find(ATN_NATIVE_TEXTS, "helpers"));
        *possible = add_all(&s);
        status = atn_text_status(out);
    }
    atn_free(space->ctx, derived);
    atn_free(space->ctx, s.depths);
    atn_free(space->ctx, s.may_fail);
    atn_free(space->ctx, shapes);
    return status;
}
