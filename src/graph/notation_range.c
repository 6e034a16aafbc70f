/* Indices and their ranges: a name in a subscript that nothing defines is an index of the kernel's own space; an index
 * without a range runs over the axis where it stands alone in a subscript of a read; else where it is a part of one
 * that has a boundary; else where it stands alone in a write. */
#include "graph/flatten.h"
#include "graph/notation_lower.h"

#include <string.h>

/* Names bound so far, on the way down. */
typedef struct bound {
    const atn_syntax *indices; /* linked by next */
    const struct bound *outer;
} bound;

static bool is_bound(const bound *b, const char *name) {
    for (; b; b = b->outer)
        for (const atn_syntax *one = b->indices; one; one = one->next)
            if (!strcmp(one->name, name)) return true;
    return false;
}

static bool is_defined(const atn_line *lines, const char *name) {
    for (const atn_line *line = lines; line; line = line->next) {
        for (const atn_named *one = line->names; one; one = one->next)
            if (!strcmp(one->name, name)) return true;
        if (is_defined(line->child, name)) return true;
    }
    return false;
}

typedef struct search {
    const atn_lowering *l;
    const atn_line *all;
    atn_free_names *names;
    const char *index; /* atn_range_find: whose range */
    atn_end *end;
    bool writes, found;
    bool loose;                   /* X[i + j - 1] with a boundary counts as well */
    const atn_edge_clause *edges; /* of the current line */
    int64_t *less;                /* second walk: the largest c of X[i + c] */
} search;

static void note_free(search *s, const atn_syntax *tree, const bound *b) {
    const char *name = tree->name;
    if (is_bound(b, name) || atn_symbol_find(s->l, name) || atn_flat_is_constant(name) || is_defined(s->all, name))
        return;
    for (int32_t k = 0; k < s->names->n; ++k)
        if (!strcmp(s->names->name[k], name)) return;
    if (s->names->n == 4) return;
    s->names->offset[s->names->n] = tree->offset;
    s->names->name[s->names->n++] = name;
}

/* i + ..., ... + i: the index among what is added. */
static bool is_added(const atn_syntax *tree, const char *index) {
    if (tree->kind == ATN_SYNTAX_NAME) return !strcmp(tree->name, index);
    if (tree->kind != ATN_SYNTAX_BINARY || (tree->op != ATN_OP_ADD && tree->op != ATN_OP_SUB)) return false;
    return is_added(tree->a, index) || (tree->op == ATN_OP_ADD && is_added(tree->b, index));
}

static bool has_edge(const atn_edge_clause *edge, const char *name) {
    while (edge && strcmp(edge->name, name) != 0) edge = edge->next;
    return edge != NULL;
}

static void note_range(search *s, const atn_syntax *element) {
    if (s->loose && !has_edge(s->edges, element->name)) return;
    const atn_symbol *object = atn_symbol_find(s->l, element->name);
    if (!object || object->kind != ATN_SYMBOL_OBJECT) return;
    int32_t count = 0, axis = 0;
    for (const atn_syntax *one = element->a; one; one = one->next) ++count;
    for (const atn_syntax *one = element->a; one && !s->found; one = one->next, ++axis) {
        bool alone = one->kind == ATN_SYNTAX_NAME && !strcmp(one->name, s->index);
        if (!(s->loose ? is_added(one, s->index) : alone) || count != object->datum->rank) continue;
        *s->end = (atn_end){.item = object->end.item, .port = ATN_PORT_SIZE, .k = count - 1 - axis, .text = s->index};
        s->found = true;
    }
}

/* X[i + 1], without a boundary: the index ends one earlier. */
static void note_less(search *s, const atn_syntax *element) {
    const atn_symbol *object = atn_symbol_find(s->l, element->name);
    if (!object || object->kind != ATN_SYMBOL_OBJECT || object->end.item != s->end->item) return;
    if (has_edge(s->edges, element->name)) return;
    int32_t axis = object->datum->rank - 1;
    for (const atn_syntax *one = element->a; one; one = one->next, --axis) {
        if (axis != s->end->k || one->kind != ATN_SYNTAX_BINARY || one->op != ATN_OP_ADD) continue;
        const atn_syntax *name = one->a->kind == ATN_SYNTAX_NAME ? one->a : one->b,
                         *number = name == one->a ? one->b : one->a;
        if (name->kind == ATN_SYNTAX_NAME && number->kind == ATN_SYNTAX_INTEGER && !strcmp(name->name, s->index) &&
            number->integer > *s->less)
            *s->less = number->integer;
    }
}

static void walk_tree(search *s, const atn_syntax *tree, bool subscript, const bound *b) {
    for (; tree && !s->found; tree = tree->next) {
        bound inner = {tree->kind == ATN_SYNTAX_REDUCE ? tree->a : NULL, b};
        if (tree->kind == ATN_SYNTAX_REDUCE) {
            walk_tree(s, tree->b, false, b);
            bool hidden = s->index && is_bound(&(bound){tree->a, NULL}, s->index);
            if (!hidden) walk_tree(s, tree->c, subscript, &inner);
            continue;
        }
        if (tree->kind == ATN_SYNTAX_NAME && subscript && s->names) note_free(s, tree, b);
        if (tree->kind == ATN_SYNTAX_ELEMENT && s->index && !s->writes && !s->less) note_range(s, tree);
        if (tree->kind == ATN_SYNTAX_ELEMENT && s->index && s->less) note_less(s, tree);
        bool inside = subscript || tree->kind == ATN_SYNTAX_ELEMENT;
        walk_tree(s, tree->a, inside, b);
        walk_tree(s, tree->b, subscript, b);
        walk_tree(s, tree->c, subscript, b);
        walk_tree(s, tree->d, subscript, b);
    }
}

static void walk_lines(search *s, const atn_line *lines, const bound *b, bool targets) {
    for (const atn_line *line = lines; line && !s->found; line = line->next) {
        bound inner = {line->indices, b};
        s->edges = line->edges;
        if (s->index && is_bound(&(bound){line->indices, NULL}, s->index)) continue; /* another one of that name */
        if (targets && line->target) {
            if (s->index && s->writes) note_range(s, line->target);
            walk_tree(s, line->target->a, true, b);
        }
        if (!targets) {
            walk_tree(s, line->ranges, false, b);
            if (line->target) walk_tree(s, line->target->a, true, b);
            walk_tree(s, line->values, false, b);
            walk_tree(s, line->body, false, b);
            walk_tree(s, line->where, false, b);
        }
        walk_lines(s, line->child, &inner, targets);
    }
}

void atn_range_free(const atn_lowering *l, const atn_line *lines, atn_free_names *names) {
    search s = {.l = l, .all = lines, .names = names};
    walk_lines(&s, lines, NULL, true);
    walk_lines(&s, lines, NULL, false);
}

bool atn_range_find(const atn_lowering *l, const char *index, const atn_line *lines, const atn_syntax *tree,
                    atn_end *end, int64_t *less) {
    search s = {.l = l, .all = lines, .index = index, .end = end, .edges = l->line ? l->line->edges : NULL};
    *less = 0;
    walk_tree(&s, tree, false, NULL);
    walk_lines(&s, lines, NULL, false);
    s.loose = !s.found;
    if (!s.found) {
        s.edges = l->line ? l->line->edges : NULL;
        walk_tree(&s, tree, false, NULL);
        walk_lines(&s, lines, NULL, false);
    }
    s.loose = false;
    s.writes = true;
    if (!s.found) walk_lines(&s, lines, NULL, true);
    if (!s.found) return false;
    s.found = s.writes = false;
    s.less = less;
    s.edges = l->line ? l->line->edges : NULL;
    walk_tree(&s, tree, false, NULL);
    walk_lines(&s, lines, NULL, false);
    return true;
}

static const atn_syntax *find_reduction(const atn_syntax *tree) {
    for (; tree; tree = tree->next) {
        if (tree->kind == ATN_SYNTAX_REDUCE) return tree;
        const atn_syntax *parts[] = {tree->a, tree->b, tree->c, tree->d};
        for (size_t k = 0; k < 4; ++k) {
            const atn_syntax *found = parts[k] ? find_reduction(parts[k]) : NULL;
            if (found) return found;
        }
    }
    return NULL;
}

const atn_syntax *atn_range_reduction(const atn_line *lines) {
    for (const atn_line *line = lines; line; line = line->next) {
        const atn_syntax *found = find_reduction(line->values);
        if (found) return found;
    }
    return NULL;
}
