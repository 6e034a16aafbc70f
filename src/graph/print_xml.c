/* A sketch as XML, whichever form it was described in. */
#include "graph/type.h"
#include "graph/unparse.h"

#include <assert.h>
#include <string.h>

static const char *const edges[] = {"none", "clamp", "zero", "wrap", "mirror"};
static const char *const combines[] = {"once", "add", "min", "max", "or", "distinct"};

typedef struct xml_printer {
    const atn_sketch *sketch;
    const char *const *types; /* of functions without one */
    const char **names;       /* per item: unique, of letters and digits */
    atn_text *out;
} xml_printer;

static bool is_name(const char *text) {
    if (!*text || (*text >= '0' && *text <= '9')) return false;
    for (; *text; ++text)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9') ||
              *text == '_'))
            return false;
    return true;
}

static bool taken(const xml_printer *p, size_t item, const char *name) {
    for (size_t k = 0; k < p->sketch->n_items; ++k) {
        if (k < item && !strcmp(p->names[k], name)) return true;
        bool fixed =
            k == 0 || p->sketch->items[k].kind == ATN_ITEM_OBJECT || p->sketch->items[k].kind == ATN_ITEM_PARAMETER;
        if (k != item && fixed && !strcmp(p->sketch->items[k].name, name)) return true;
    }
    return false;
}

static bool make_names(xml_printer *p) {
    atn_reader *reader = p->sketch->reader;
    p->names = atn_reader_alloc(reader, (p->sketch->n_items + 1) * sizeof *p->names);
    for (size_t k = 0; p->names && k < p->sketch->n_items; ++k) {
        const atn_item *item = &p->sketch->items[k];
        const char *base = item->element || !item->label ? item->name : item->label;
        if (!is_name(base)) base = "value";
        const char *name = base;
        for (int n = 2; name && taken(p, k, name); ++n)
            name = atn_arena_printf(&reader->arena, "%.*s_%d", (int)ATN_LIMIT_NAME - 6, base, n);
        p->names[k] = name;
        if (!name) return reader->failed = true, false;
    }
    return p->names != NULL;
}

/* An attribute's text: what XML reserves is escaped. */
static void escape(atn_text *out, const char *text) {
    for (; *text; ++text) {
        if (*text == '<')
            atn_text_add(out, "&lt;");
        else if (*text == '&')
            atn_text_add(out, "&amp;");
        else if (*text == '"')
            atn_text_add(out, "&quot;");
        else
            atn_text_add_bytes(out, text, 1);
    }
}

static void attribute(const xml_printer *p, const char *name, const atn_text *value) {
    atn_text_printf(p->out, " %s=\"", name);
    escape(p->out, atn_text_str(value));
    atn_text_add(p->out, "\"");
    if (value->failed) p->out->failed = true;
}

static void type_attribute(const xml_printer *p, const char *name, atn_type type, const char *written) {
    atn_text_printf(p->out, " %s=\"", name);
    atn_unparse_type(ATN_FORM_XML, type, written, p->out);
    atn_text_add(p->out, "\"");
}

static void text_attribute(const xml_printer *p, const char *name, const atn_syntax *body, bool expression,
                           int32_t indent) {
    atn_text text = {.ctx = p->out->ctx};
    atn_unparse u = {.form = ATN_FORM_XML, .out = &text};
    for (const atn_syntax *one = body; one && expression; one = one->next) {
        if (one != body) atn_text_add(&text, ", ");
        atn_unparse_expression(&u, one, ATN_STRENGTH_LOW);
    }
    assert(expression || body);
    if (!expression) atn_unparse_statements(&u, body->kind == ATN_SYNTAX_BLOCK ? body->a : body, indent + 4);
    attribute(p, name, &text);
    atn_text_free(&text);
}

/* The type that an end carries, as it is written. */
static void add_type_of(const xml_printer *p, const atn_end *end, atn_text *out) {
    const atn_item *item = &p->sketch->items[end->item];
    const atn_item *object = item->kind == ATN_ITEM_READ ? &p->sketch->items[item->object] : item;
    bool index = end->port == ATN_PORT_I || end->port == ATN_PORT_SIZE;
    if (index)
        atn_text_add(out, "INDEX");
    else if (atn_item_is_block(item) && item->index >= 0)
        atn_text_add(out, atn_type_name(p->sketch->blocks[item->index].acc[end->k].type));
    else
        atn_unparse_type(ATN_FORM_XML, object->type,
                         object->written ? object->written
                         : p->types      ? p->types[object - p->sketch->items]
                                         : NULL,
                         out);
}

static void print_icf(const xml_printer *p, const atn_item *item, int32_t indent) {
    if (!item->text) return;
    text_attribute(p, "ICF", item->body, item->is_expression, indent);
    bool any = item->types != NULL;
    for (int32_t k = 0; item->acc_types && k < item->n_out; ++k) any |= item->acc_types[k] != ATN_TYPE_NONE;
    atn_text text = {.ctx = p->out->ctx};
    if (any && item->types) {
        atn_text_add(&text, item->types->given);
    } else if (any) {
        for (int32_t k = 0; k < item->n_out; ++k) {
            const atn_link *link = atn_item_link(p->sketch, item, ATN_PORT_FUNC, k < item->n_in ? k : 0);
            if (k) atn_text_add(&text, ", ");
            if (item->acc_types[k] != ATN_TYPE_NONE)
                atn_unparse_type(ATN_FORM_XML, item->acc_types[k], item->acc_written[k], &text);
            else
                add_type_of(p, &link->source, &text);
        }
    }
    if (any) attribute(p, "ICFType", &text);
    atn_text_clear(&text);
    if (item->init) {
        atn_text_add(&text, item->init->given);
        attribute(p, "ICFInit", &text);
    } else if (item->inits) {
        text_attribute(p, "ICFInit", item->inits, true, indent);
    }
    atn_text_clear(&text);
    if (item->combine) {
        atn_text_add(&text, item->combine->given);
        attribute(p, "ICFCombine", &text);
    } else if (item->combine_body) {
        text_attribute(p, "ICFCombine", item->combine_body, false, indent);
    }
    atn_text_free(&text);
}

static void print_children(const xml_printer *p, int32_t scope, int32_t indent);

static void print_item(const xml_printer *p, size_t number, int32_t indent) {
    const atn_item *item = &p->sketch->items[number];
    const char *name = p->names[number];
    atn_text *out = p->out;
    atn_text_printf(out, "%*s<%s name=\"%s\"", (int)indent, "", atn_item_kind_name(item->kind), name);
    switch (item->kind) {
    case ATN_ITEM_OBJECT:
        atn_text_printf(out, " structure=\"%s\"", atn_rank_name(item->rank));
        type_attribute(p, "elementDataType", item->type, item->written);
        if (item->size) atn_text_printf(out, " size=\"%s\"", item->size->given);
        if (item->values) atn_text_printf(out, " values=\"%s\"", item->values->given);
        break;
    case ATN_ITEM_PARAMETER:
        type_attribute(p, "dataType", item->type, item->written);
        if (item->initial) atn_text_printf(out, " default=\"%s\"", item->initial->given);
        break;
    case ATN_ITEM_READ:
    case ATN_ITEM_WRITE:
        atn_text_printf(out, " %s=\"%s\"", item->kind == ATN_ITEM_READ ? "source" : "destination",
                        p->names[item->object]);
        text_attribute(p, "selFunction", item->body, true, indent);
        if (item->boundary) atn_text_printf(out, " boundary=\"%s\"", edges[item->boundary]);
        if (item->scatter) atn_text_printf(out, " combine=\"%s\"", combines[item->scatter]);
        break;
    case ATN_ITEM_FUNCTION:
        if (item->n_out > 1) atn_text_printf(out, " numOutVars=\"%d\"", item->n_out);
        type_attribute(p, "dataType", item->type, item->written ? item->written : p->types ? p->types[number] : NULL);
        text_attribute(p, "function", item->body, item->is_expression, indent);
        break;
    default:
        atn_text_printf(out, " dimensions=\"%d\"", item->rank);
        print_icf(p, item, indent);
        atn_text_add(out, ">\n");
        print_children(p, (int32_t)number, indent + 2);
        atn_text_printf(out, "%*s</%s>\n", (int)indent, "", atn_item_kind_name(item->kind));
        return;
    }
    atn_text_add(out, "/>\n");
}

static void print_children(const xml_printer *p, int32_t scope, int32_t indent) {
    for (size_t k = 1; k < p->sketch->n_items; ++k)
        if (p->sketch->items[k].scope == scope) print_item(p, k, indent);
}

static void print_end(const xml_printer *p, const atn_end *end, atn_text *out) {
    static const char *const ports[] = {
        [ATN_PORT_SIZE] = "Size",   [ATN_PORT_I] = "i",           [ATN_PORT_OUT] = "out",
        [ATN_PORT_RANGE] = "Range", [ATN_PORT_BEGIN] = "Begin",   [ATN_PORT_END] = "End",
        [ATN_PORT_V] = "v",         [ATN_PORT_IN] = "in",         [ATN_PORT_ENABLE] = "enable",
        [ATN_PORT_FUNC] = "func",   [ATN_PORT_BEFORE] = "before", [ATN_PORT_AFTER] = "after"};
    atn_text_printf(out, "%s.%s", p->names[end->item], ports[end->port]);
    bool single = end->port == ATN_PORT_ENABLE ||
                  (end->port == ATN_PORT_OUT && p->sketch->items[end->item].n_out == 1) ||
                  (end->port == ATN_PORT_IN && p->sketch->items[end->item].kind == ATN_ITEM_WRITE);
    if (!single) atn_text_printf(out, "(%d)", end->k);
}

void atn_sketch_print_xml(const atn_sketch *sketch, const char *const *types, int32_t indent, atn_text *out) {
    xml_printer p = {.sketch = sketch, .types = types, .out = out};
    const atn_item *root = &sketch->items[0];
    if (!make_names(&p)) return;
    int32_t i = indent;
    atn_text_printf(out, "%*s<ParallelAlgorithm name=\"%s\" dimensions=\"%d\"", (int)i, "", p.names[0], root->rank);
    print_icf(&p, root, i);
    if (sketch->graph->finite) atn_text_add(out, " finite=\"true\"");
    if (sketch->graph->tolerance > 0) {
        atn_text_add(out, " tolerance=\"");
        atn_unparse_number(sketch->graph->tolerance, out);
        atn_text_add(out, "\"");
    }
    atn_text_printf(out, ">\n%*s<DataObjects>\n", (int)i + 2, "");
    for (size_t k = 1; k < sketch->n_items; ++k)
        if (sketch->items[k].kind == ATN_ITEM_OBJECT || sketch->items[k].kind == ATN_ITEM_PARAMETER)
            print_item(&p, k, i + 4);
    atn_text_printf(out, "%*s</DataObjects>\n%*s<Children>\n", (int)i + 2, "", (int)i + 2, "");
    print_children(&p, 0, i + 4);
    atn_text_printf(out, "%*s</Children>\n%*s<Connections>\n", (int)i + 2, "", (int)i + 2, "");
    for (size_t k = 0; k < sketch->n_links; ++k) {
        atn_text_printf(out, "%*s<Connection source=\"", (int)i + 4, "");
        print_end(&p, &sketch->links[k].source, out);
        atn_text_add(out, "\" destination=\"");
        print_end(&p, &sketch->links[k].destination, out);
        atn_text_add(out, "\"/>\n");
    }
    atn_text_printf(out, "%*s</Connections>\n", (int)i + 2, "");
    if (sketch->n_rules) atn_text_printf(out, "%*s<OrderingRules>\n", (int)i + 2, "");
    for (size_t k = 0; k < sketch->n_rules; ++k)
        atn_text_printf(out, "%*s<Order first=\"%s\" second=\"%s\"/>\n", (int)i + 4, "",
                        p.names[sketch->rules[k].first], p.names[sketch->rules[k].second]);
    if (sketch->n_rules) atn_text_printf(out, "%*s</OrderingRules>\n", (int)i + 2, "");
    atn_text_printf(out, "%*s</ParallelAlgorithm>\n", (int)i, "");
    if (sketch->reader->failed) out->failed = true;
}
