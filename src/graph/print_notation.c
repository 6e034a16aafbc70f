/* A sketch in the notation: reads, ranges and written elements are inline, everything else has a line. `plain` omits
 * all other shortcuts. */
#include "graph/notation.h"
#include "graph/print_names.h"
#include "graph/type.h"

#include <string.h>

enum { WIDTH = 120 };

static const char *const edges[] = {"inside", "clamped", "zero", "wrapped", "mirrored"};
static const char *const scatters[] = {"=", "+=", "min=", "max=", "or=", "="};

static void print_source(atn_printer *p, const atn_end *end, int32_t strength);

static const atn_link *link_of(const atn_printer *p, int32_t item, atn_port port, int64_t k) {
    return atn_item_link(p->sketch, &p->sketch->items[item], port, (int32_t)k);
}

/* #in(k), v0, #acc(k) and locals of a text. */
static void leaf(const atn_unparse *u, const atn_syntax *tree, int32_t strength) {
    atn_printer *p = (atn_printer *)(uintptr_t)u->user;
    const atn_item *item = &p->sketch->items[u->item];
    int64_t k;
    bool access = item->kind == ATN_ITEM_READ || item->kind == ATN_ITEM_WRITE;
    if (access && atn_syntax_is_variable(tree, &k)) {
        print_source(p, &link_of(p, u->item, ATN_PORT_V, k)->source, strength);
    } else if (tree->kind == ATN_SYNTAX_NAME) {
        const char *name = tree->name;
        for (size_t n = 0; n < p->n_locals; ++n)
            if (p->locals[n].item == u->item && !strcmp(p->locals[n].name, tree->name)) name = p->locals[n].printed;
        atn_text_add(u->out, name);
    } else if (!strcmp(tree->name, "in") && tree->a->kind == ATN_SYNTAX_INTEGER) {
        bool block = atn_item_is_block(item);
        print_source(p, &link_of(p, u->item, block ? ATN_PORT_FUNC : ATN_PORT_IN, tree->a->integer)->source, strength);
    } else if (tree->a->kind == ATN_SYNTAX_INTEGER && tree->a->integer < item->n_out) {
        bool part = *tree->name == 'a' && !tree->name[1], other = *tree->name == 'b';
        if (part || other) atn_text_add(u->out, part ? "left(" : "right(");
        atn_text_add(u->out, p->item[u->item].out[tree->a->integer]);
        if (part || other) atn_text_add(u->out, ")");
    }
}

static atn_unparse unparse(atn_printer *p, int32_t item) {
    return (atn_unparse){.form = ATN_FORM_NOTATION, .out = p->out, .leaf = leaf, .user = p, .item = item};
}

static void print_element(atn_printer *p, int32_t number) {
    const atn_item *item = &p->sketch->items[number];
    atn_unparse u = unparse(p, number);
    atn_text_printf(p->out, "%s[", p->sketch->items[item->object].name);
    for (int32_t axis = p->sketch->items[item->object].rank; axis-- > 0;) { /* the column comes first in the sketch */
        const atn_syntax *one = item->body;
        for (int32_t k = 0; k < axis && one; ++k) one = one->next;
        if (one) atn_unparse_expression(&u, one, ATN_STRENGTH_LOW);
        if (axis) atn_text_add(p->out, ", ");
    }
    atn_text_add(p->out, "]");
    if (item->boundary) p->edge[item->object] = item->boundary;
}

static void print_source(atn_printer *p, const atn_end *end, int32_t strength) {
    const atn_item *item = &p->sketch->items[end->item];
    atn_unparse u = unparse(p, end->item);
    static const char *const axes[] = {"columns", "rows", "planes"};
    if (item->kind == ATN_ITEM_OBJECT)
        atn_text_printf(p->out, "%s(%s)", item->rank == 1 ? "length" : axes[end->k], item->name);
    else if (item->kind == ATN_ITEM_PARAMETER)
        atn_text_add(p->out, item->name);
    else if (end->port == ATN_PORT_BEFORE)
        atn_text_printf(p->out, "before(%s)", p->item[end->item].out[end->k]);
    else if (end->port == ATN_PORT_I)
        atn_text_add(p->out, p->item[end->item].index[end->k]);
    else if (item->kind == ATN_ITEM_READ && !p->item[end->item].named)
        print_element(p, end->item);
    else if (item->kind == ATN_ITEM_FUNCTION && p->item[end->item].inlined)
        atn_unparse_expression(&u, item->body, strength);
    else if (item->kind == ATN_ITEM_FUNCTION && p->item[end->item].out_tree[end->k])
        atn_unparse_expression(&u, p->item[end->item].out_tree[end->k], strength);
    else
        atn_text_add(p->out, p->item[end->item].out[end->k]);
}

/* A long line goes on behind an operator or a comma. */
static void wrap(atn_text *out) {
    size_t start = out->length;
    while (start && out->data[start - 1] != '\n') --start;
    if (out->length - start <= WIDTH) return;
    atn_text line = {.ctx = out->ctx};
    atn_text_add(&line, out->data + start);
    const char *text = atn_text_str(&line);
    size_t indent = strspn(text, " "), at = 0;
    out->data[out->length = start] = '\0';
    while (strlen(text + at) > WIDTH - (at ? indent + 8 : 0)) {
        size_t least = indent + 24, cut = WIDTH - (at ? indent + 8 : 0);
        while (cut > least && !(text[at + cut] == ' ' && strchr("+-*/,?:<>", text[at + cut - 1]))) --cut;
        if (cut == least) break;
        if (at) atn_text_printf(out, "%*s", (int)indent + 8, "");
        atn_text_add_bytes(out, text + at, cut);
        atn_text_add(out, "\n");
        at += cut + 1;
    }
    if (at) atn_text_printf(out, "%*s", (int)indent + 8, "");
    atn_text_add(out, text + at);
    if (line.failed) out->failed = true;
    atn_text_free(&line);
}

static void end_line(atn_printer *p) {
    for (int boundary = ATN_EDGE_CLAMP; boundary <= ATN_EDGE_MIRROR; ++boundary) {
        bool any = false;
        for (size_t k = 0; k < p->sketch->n_items; ++k) {
            if ((int)p->edge[k] != boundary) continue;
            atn_text_printf(p->out, "%s%s", any ? ", " : "  with ", p->sketch->items[k].name);
            any = true;
            p->edge[k] = ATN_EDGE_NONE;
        }
        if (any) atn_text_printf(p->out, " %s", edges[boundary]);
    }
    if (p->out->length && !p->out->failed) wrap(p->out);
    atn_text_add(p->out, "\n");
}

static void print_type(const atn_printer *p, int32_t number, atn_text *out) {
    const atn_item *item = &p->sketch->items[number];
    atn_unparse_type(ATN_FORM_NOTATION, item->type, item->written, out);
}

/* A function of the notation that was given no type prints none. */
static bool untyped(const atn_item *item) { return !item->element && !item->written; }

static bool same_type(const atn_printer *p, const atn_link *use, atn_type type) {
    const atn_item *to = &p->sketch->items[use->destination.item];
    switch (use->destination.port) {
    case ATN_PORT_IN:
        return to->kind == ATN_ITEM_WRITE && p->sketch->items[to->object].type == type;
    case ATN_PORT_ENABLE:
        return type == ATN_B;
    case ATN_PORT_RANGE:
    case ATN_PORT_BEGIN:
    case ATN_PORT_END:
        return type == ATN_INDEX;
    default:
        return false;
    }
}

/* Whether output k of a function is written inline and has no name. */
static bool stands_in_place(const atn_printer *p, int32_t number, int32_t k) {
    const atn_item *item = &p->sketch->items[number];
    const atn_link *use = atn_print_only_use(p->sketch, number, k);
    if (!use || item->kind != ATN_ITEM_FUNCTION) return false;
    atn_port port = use->destination.port;
    bool range = port == ATN_PORT_RANGE || port == ATN_PORT_BEGIN || port == ATN_PORT_END;
    if (p->plain && !range) return false;
    if (use->destination.port == ATN_PORT_FUNC) { /* the term of an accumulator of its type */
        const atn_item *block = &p->sketch->items[use->destination.item];
        if (use->destination.item != item->scope) return false;
        int32_t acc = atn_print_term_of(block, use->destination.k);
        return acc >= 0 && p->sketch->blocks[block->index].acc[acc].type == item->type;
    }
    return same_type(p, use, item->type);
}

/* ---- accumulators ---- */

static void print_acc_type(atn_printer *p, const atn_item *item, int32_t k) {
    const char *text = item->types ? item->types->given : NULL;
    if (!text && (!item->acc_types || item->acc_types[k] == ATN_TYPE_NONE)) return;
    atn_text_add(p->out, ": ");
    if (!text) {
        atn_unparse_type(ATN_FORM_NOTATION, item->acc_types[k], item->acc_written[k], p->out);
        return;
    }
    const char *part = text; /* one for all, or one each */
    for (int32_t n = 0; n < k && strchr(part, ','); ++n) part = strchr(part, ',') + 1;
    part += strspn(part, " \t\n");
    char one[32] = "";
    size_t length = strcspn(part, ", \t\n");
    memcpy(one, part, length < sizeof one ? length : 0);
    atn_unparse_type(ATN_FORM_NOTATION, p->sketch->blocks[item->index].acc[k].type, one, p->out);
}

/* The first value that was given for accumulator k; NULL: none. */
static const atn_syntax *init_of(atn_printer *p, const atn_item *item, int32_t k) {
    const atn_syntax *one = item->init ? atn_syntax_parse_list(p->reader, item->init, item->name, true) : item->inits;
    if (one && !one->next && item->n_out > 1) return one->kind == ATN_SYNTAX_EMPTY ? NULL : one;
    for (; one && k; --k) one = one->next;
    return one && one->kind != ATN_SYNTAX_EMPTY ? one : NULL;
}

/* Writes of the results of a loop follow it immediately: no other write may come between. */
static bool writes_follow(const atn_printer *p, int32_t block, int32_t write) {
    bool behind = false;
    for (size_t n = 0; n < p->sketch->n_order; ++n) {
        int32_t number = p->sketch->order[n] / 2;
        if (number == block && (p->sketch->order[n] % 2 || !block)) behind = true;
        if (number == write) return true;
        if (!behind || p->sketch->items[number].kind != ATN_ITEM_WRITE) continue;
        if (link_of(p, number, ATN_PORT_IN, 0)->source.item != block) return false;
    }
    return false;
}

/* sum[i] += term: the write that takes an accumulator's result alone. */
static const atn_link *result_write(const atn_printer *p, int32_t number, int32_t k) {
    const atn_link *use = p->plain ? NULL : atn_print_only_use(p->sketch, number, k);
    for (size_t n = 0; n < p->sketch->n_links; ++n) { /* its name is needed */
        const atn_end *from = &p->sketch->links[n].source;
        if (from->item == number && (from->port == ATN_PORT_BEFORE || from->port == ATN_PORT_AFTER)) return NULL;
    }
    if (!use || use->destination.port != ATN_PORT_IN) return NULL;
    const atn_item *to = &p->sketch->items[use->destination.item], *block = &p->sketch->items[number];
    bool right = to->kind == ATN_ITEM_WRITE && !to->scatter && to->scope == (number ? block->scope : 0) &&
                 !atn_item_link(p->sketch, to, ATN_PORT_ENABLE, 0) &&
                 p->sketch->items[to->object].type == p->sketch->blocks[block->index].acc[k].type;
    return right && writes_follow(p, number, use->destination.item) ? use : NULL;
}

static void print_names(atn_printer *p, int32_t number, int32_t from, int32_t to) {
    const atn_item *item = &p->sketch->items[number];
    for (int32_t k = from; k < to; ++k) {
        const atn_link *write = to - from == 1 ? result_write(p, number, k) : NULL;
        if (k > from) atn_text_add(p->out, ", ");
        if (write) {
            print_element(p, write->destination.item);
        } else {
            atn_text_add(p->out, p->item[number].out[k]);
            print_acc_type(p, item, k);
        }
    }
}

static void print_inits(atn_printer *p, int32_t number, int32_t from, int32_t to) {
    atn_unparse u = unparse(p, number);
    bool any = false;
    for (int32_t k = from; k < to; ++k) any |= init_of(p, &p->sketch->items[number], k) != NULL;
    for (int32_t k = from; any && k < to; ++k) {
        const atn_syntax *init = init_of(p, &p->sketch->items[number], k);
        atn_text_add(p->out, k > from ? ", " : " from ");
        if (init) atn_unparse_expression(&u, init, ATN_STRENGTH_LOW);
    }
}

static void rename_locals(atn_printer *p, int32_t item, const atn_syntax *tree);

static void print_icf(atn_printer *p, int32_t number, int32_t indent) {
    const atn_item *item = &p->sketch->items[number];
    atn_print_acc accs[ATN_MAX_ACCS];
    atn_unparse u = unparse(p, number);
    if (!item->text) return;
    bool key = atn_print_split_key(item, accs), simple = !key && atn_print_split(item, accs);
    if (!key && !simple) {
        rename_locals(p, number, item->body);
        atn_text_printf(p->out, "%*scarry ", (int)indent, "");
        for (int32_t k = 0; k < item->n_out; ++k) {
            const atn_syntax *init = init_of(p, item, k);
            bool typed = item->types || (item->acc_types && item->acc_types[k] != ATN_TYPE_NONE);
            atn_text_printf(p->out, "%s%s", k ? ", " : "", p->item[number].out[k]);
            if (typed)
                print_acc_type(p, item, k);
            else
                atn_text_printf(p->out, ": %s", atn_type_name(p->sketch->blocks[item->index].acc[k].type));
            if (init) atn_text_add(p->out, " = ");
            if (init) atn_unparse_expression(&u, init, ATN_STRENGTH_LOW);
        }
        atn_text_add(p->out, " {");
        if (item->is_expression) {
            atn_text_printf(p->out, "\n%*s%s = ", (int)indent + 4, "", p->item[number].out[0]);
            atn_unparse_expression(&u, item->body, ATN_STRENGTH_LOW);
            atn_text_add(p->out, ";");
        } else {
            atn_unparse_statements(&u, item->body->a, indent + 4);
        }
        atn_text_printf(p->out, "\n%*s}", (int)indent, "");
        bool expression = false;
        const atn_syntax *combine = item->combine
                                        ? atn_syntax_parse_body(p->reader, item->combine, item->name, &expression)
                                        : item->combine_body;
        if (combine) atn_text_add(p->out, " combine {");
        if (combine && expression) {
            atn_text_printf(p->out, "\n%*s%s = ", (int)indent + 4, "", p->item[number].out[0]);
            atn_unparse_expression(&u, combine, ATN_STRENGTH_LOW);
            atn_text_add(p->out, ";");
        } else if (combine) {
            rename_locals(p, number, combine);
            atn_unparse_statements(&u, combine->a, indent + 4);
        }
        if (combine) atn_text_printf(p->out, "\n%*s}", (int)indent, "");
        end_line(p);
        return;
    }
    int32_t step = key ? item->n_out : 1;
    for (int32_t k = 0; k < item->n_out; k += step) {
        atn_text_printf(p->out, "%*s", (int)indent, "");
        print_names(p, number, k, k + step);
        atn_text_printf(p->out, " %s ", accs[k].op);
        for (int32_t n = k; n < k + step; ++n) {
            if (n > k) atn_text_add(p->out, ", ");
            atn_unparse_expression(&u, accs[n].term, ATN_STRENGTH_LOW);
        }
        print_inits(p, number, k, k + step);
        end_line(p);
    }
}

/* ---- functions ---- */

static void add_local(atn_printer *p, int32_t item, const char *name) {
    for (size_t n = 0; n < p->n_locals; ++n)
        if (p->locals[n].item == item && !strcmp(p->locals[n].name, name)) return;
    if (!atn_reader_grow(p->reader, &p->reader->arena, (void **)&p->locals, &p->locals_room, p->n_locals,
                         sizeof *p->locals))
        return;
    p->locals[p->n_locals++] = (atn_print_local){item, name, atn_print_unique(p, name)};
}

static void rename_locals(atn_printer *p, int32_t item, const atn_syntax *tree) {
    for (; tree; tree = tree->next) {
        if (tree->kind == ATN_SYNTAX_DECLARE) add_local(p, item, tree->name);
        if (tree->kind == ATN_SYNTAX_BLOCK) rename_locals(p, item, tree->a);
        if (tree->kind == ATN_SYNTAX_IF) rename_locals(p, item, tree->b), rename_locals(p, item, tree->c);
        if (tree->kind == ATN_SYNTAX_FOR) rename_locals(p, item, tree->a), rename_locals(p, item, tree->d);
    }
}

/* Declarations and outputs as lines of the kernel. */
static void print_lines(atn_printer *p, int32_t number, int32_t indent) {
    const atn_item *item = &p->sketch->items[number];
    atn_unparse u = unparse(p, number);
    for (const atn_syntax *one = item->body->a; one; one = one->next) {
        bool local = one->kind == ATN_SYNTAX_DECLARE;
        int64_t k = local ? 0 : one->a->a->integer;
        if (!local && stands_in_place(p, number, (int32_t)k)) {
            p->item[number].out_tree[k] = one->b;
            continue;
        }
        if (local) add_local(p, number, one->name);
        atn_text_printf(p->out, "%*s%s", (int)indent, "",
                        local ? p->locals[p->n_locals - 1].printed : p->item[number].out[k]);
        if (!local || one->type != ATN_TYPE_NONE) atn_text_add(p->out, ": ");
        if (local && one->type != ATN_TYPE_NONE)
            atn_unparse_type(ATN_FORM_NOTATION, one->type, one->written, p->out);
        else if (!local)
            print_type(p, number, p->out);
        atn_text_add(p->out, " = ");
        atn_unparse_expression(&u, local ? one->a : one->b, ATN_STRENGTH_LOW);
        end_line(p);
    }
}

static void print_function(atn_printer *p, int32_t number, int32_t indent) {
    const atn_item *item = &p->sketch->items[number];
    atn_unparse u = unparse(p, number);
    if (!p->plain && atn_print_is_linear(item)) {
        print_lines(p, number, indent);
        return;
    }
    atn_text_printf(p->out, "%*s", (int)indent, "");
    for (int32_t k = 0; k < item->n_out; ++k) atn_text_printf(p->out, "%s%s", k ? ", " : "", p->item[number].out[k]);
    if (!untyped(item)) atn_text_add(p->out, ": ");
    if (!untyped(item)) print_type(p, number, p->out);
    atn_text_add(p->out, " = ");
    if (item->is_expression) {
        atn_unparse_expression(&u, item->body, ATN_STRENGTH_LOW);
    } else {
        rename_locals(p, number, item->body->a);
        atn_text_add(p->out, "{");
        atn_unparse_statements(&u, item->body->a, indent + 4);
        atn_text_printf(p->out, "\n%*s}", (int)indent, "");
    }
    end_line(p);
}

static void print_write(atn_printer *p, int32_t number, int32_t indent) {
    const atn_item *item = &p->sketch->items[number];
    const atn_link *in = link_of(p, number, ATN_PORT_IN, 0), *enable = link_of(p, number, ATN_PORT_ENABLE, 0);
    if (atn_item_is_block(&p->sketch->items[in->source.item]) && in->source.port == ATN_PORT_OUT) {
        const atn_link *own = result_write(p, in->source.item, in->source.k);
        atn_print_acc accs[ATN_MAX_ACCS];
        if (own == in && atn_print_split(&p->sketch->items[in->source.item], accs)) return; /* in its loop already */
    }
    atn_text_printf(p->out, "%*s", (int)indent, "");
    print_element(p, number);
    atn_text_printf(p->out, " %s ", scatters[item->scatter]);
    print_source(p, &in->source, ATN_STRENGTH_LOW);
    if (enable) atn_text_add(p->out, "  where ");
    if (enable) print_source(p, &enable->source, ATN_STRENGTH_LOW);
    end_line(p);
}

static void print_block(atn_printer *p, int32_t number, int32_t indent);

static void print_children(atn_printer *p, int32_t scope, bool after, bool late, int32_t indent) {
    for (size_t n = 0; n < p->sketch->n_order; ++n) {
        int32_t number = p->sketch->order[n] / 2;
        const atn_item *item = &p->sketch->items[number];
        bool block = item->kind == ATN_ITEM_ITERATOR, end = p->sketch->order[n] % 2;
        if (item->scope != scope || !number || p->item[number].after != after || block != end) continue;
        if (p->item[number].late != late) continue;
        if (block)
            print_block(p, number, indent);
        else if (item->kind == ATN_ITEM_READ && p->item[number].named) {
            atn_text_printf(p->out, "%*s%s = ", (int)indent, "", p->item[number].out[0]);
            print_element(p, number);
            end_line(p);
        } else if (item->kind == ATN_ITEM_FUNCTION && !p->item[number].inlined)
            print_function(p, number, indent);
        else if (item->kind == ATN_ITEM_WRITE)
            print_write(p, number, indent);
    }
}

static void print_block(atn_printer *p, int32_t number, int32_t indent) {
    const atn_item *item = &p->sketch->items[number];
    atn_text_printf(p->out, "%*s%s", (int)indent, "", number ? "over" : "for");
    for (int32_t d = item->rank; d-- > 0;)
        atn_text_printf(p->out, "%s%s", d == item->rank - 1 ? " " : ", ", p->item[number].index[d]);
    for (int32_t d = item->rank; d-- > 0;) {
        const atn_link *range = link_of(p, number, ATN_PORT_RANGE, d), *begin = link_of(p, number, ATN_PORT_BEGIN, d),
                       *last = link_of(p, number, ATN_PORT_END, d);
        atn_text_add(p->out, d == item->rank - 1 ? " in " : ", ");
        if (begin) {
            print_source(p, &begin->source, ATN_STRENGTH_LOW);
            atn_text_add(p->out, " .. ");
        }
        print_source(p, range ? &range->source : &last->source, ATN_STRENGTH_LOW);
    }
    end_line(p);
    print_children(p, number, false, false, indent + 4);
    print_icf(p, number, indent + 4);
    print_children(p, number, false, true, indent + 4);
    if (!number) print_children(p, 0, true, false, indent);
}

/* ---- the head ---- */

static const char *role_of(const atn_sketch *sketch, const atn_item *item, bool behind) {
    static const char *const scatter_roles[] = {"", "add ", "min ", "max ", "or ", "distinct "};
    const atn_object *object = &sketch->graph->objects[item->index];
    for (size_t k = 0; k < sketch->n_items; ++k) {
        const atn_item *write = &sketch->items[k];
        if (write->kind != ATN_ITEM_WRITE || !write->scatter || &sketch->items[write->object] != item) continue;
        return scatter_roles[write->scatter];
    }
    if (!object->written || behind) return "";
    return object->read ? "inout " : "out ";
}

static void print_data(atn_printer *p, size_t from, size_t to, atn_item_kind kind, bool behind, bool *any) {
    const atn_sketch *sketch = p->sketch;
    atn_text before = {.ctx = p->out->ctx}, now = before;
    for (size_t k = from; k < to; ++k) {
        const atn_item *item = &sketch->items[k];
        if (item->kind != kind) continue;
        bool object = kind == ATN_ITEM_OBJECT;
        const char *role = object ? role_of(sketch, item, behind) : "";
        atn_text_clear(&now);
        atn_text_printf(&now, "%s: %s%s", role, object ? atn_rank_name(item->rank) : "", object ? " " : "");
        atn_unparse_type(ATN_FORM_NOTATION, item->type, item->written, &now);
        if (item->size) atn_text_printf(&now, "[%s]", item->size->given);
        if (item->values) atn_text_printf(&now, " = [%s]", item->values->given);
        if (item->initial) atn_text_printf(&now, " = %s", item->initial->given);
        if (before.length && strcmp(atn_text_str(&before), atn_text_str(&now)) != 0)
            atn_text_add(p->out, strchr(atn_text_str(&before), ':'));
        bool fresh = !before.length || strcmp(atn_text_str(&before), atn_text_str(&now)) != 0;
        if (*any) atn_text_add(p->out, ", ");
        atn_text_printf(p->out, "%s%s", fresh ? role : "", item->name);
        atn_text_clear(&before);
        atn_text_add(&before, atn_text_str(&now));
        *any = true;
    }
    if (before.length) atn_text_add(p->out, strchr(atn_text_str(&before), ':'));
    if (before.failed || now.failed) p->out->failed = true;
    atn_text_free(&before);
    atn_text_free(&now);
}

/* Outputs, which come last, after ->. */
static size_t first_result(const atn_sketch *sketch) {
    size_t first = sketch->n_items;
    for (size_t k = sketch->n_items; k-- > 0;) {
        const atn_item *item = &sketch->items[k];
        if (item->kind != ATN_ITEM_OBJECT) continue;
        const atn_object *object = &sketch->graph->objects[item->index];
        if (!object->written || object->read) break;
        first = k;
    }
    return first;
}

/* Long heads go on behind a comma. */
static void print_head(atn_printer *p) {
    atn_text head = {.ctx = p->out->ctx}, *out = p->out;
    size_t results = first_result(p->sketch), line = 0;
    bool any = false;
    p->out = &head;
    atn_text_printf(&head, "kernel %s(", p->sketch->items[0].name);
    print_data(p, 1, results, ATN_ITEM_OBJECT, false, &any);
    print_data(p, 1, p->sketch->n_items, ATN_ITEM_PARAMETER, false, &any);
    atn_text_add(&head, ")");
    any = false;
    if (results < p->sketch->n_items) atn_text_add(&head, " -> ");
    print_data(p, results, p->sketch->n_items, ATN_ITEM_OBJECT, true, &any);
    p->out = out;
    const char *text = atn_text_str(&head);
    while (strlen(text + line) > WIDTH) {
        size_t cut = WIDTH;
        while (cut > WIDTH / 2 && text[line + cut - 1] != ',') --cut;
        atn_text_add_bytes(out, text + line, cut);
        line += cut + (text[line + cut] == ' ');
        atn_text_add(out, "\n        ");
    }
    atn_text_printf(out, "%s\n", text + line);
    if (head.failed) out->failed = true;
    atn_text_free(&head);
}

void atn_sketch_print_notation(const atn_sketch *sketch, const char *const *types, bool plain, atn_text *out) {
    atn_printer p = {.sketch = sketch, .reader = sketch->reader, .types = types, .plain = plain, .out = out};
    if (!atn_print_prepare(&p)) {
        out->failed = true;
        return;
    }
    for (size_t k = 0; k < sketch->n_items; ++k) {
        const atn_item *item = &sketch->items[k];
        if (item->kind == ATN_ITEM_FUNCTION && item->is_expression)
            p.item[k].inlined = stands_in_place(&p, (int32_t)k, 0);
    }
    print_head(&p);
    for (const atn_fact *fact = sketch->facts; fact; fact = fact->next) atn_text_printf(out, "    %s\n", fact->text);
    if (sketch->graph->finite || sketch->graph->tolerance > 0)
        atn_text_printf(out, "    %s%s", sketch->graph->finite ? "finite" : "",
                        sketch->graph->finite && sketch->graph->tolerance > 0 ? ", " : "");
    if (sketch->graph->tolerance > 0) {
        atn_text_add(out, "tolerance ");
        atn_unparse_number(sketch->graph->tolerance, out);
    }
    if (sketch->graph->finite || sketch->graph->tolerance > 0) atn_text_add(out, "\n");
    print_block(&p, 0, 4);
    if (sketch->reader->failed) out->failed = true;
}
