/* Elements into items: the six constructs of the seed and Parameter, with their attributes. */
#include "graph/sketch.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[ATN_ITEM_COUNT] = {
    [ATN_ITEM_ALGORITHM] = "ParallelAlgorithm", [ATN_ITEM_OBJECT] = "DataObject",
    [ATN_ITEM_PARAMETER] = "Parameter",         [ATN_ITEM_READ] = "DataAccessRead",
    [ATN_ITEM_WRITE] = "DataAccessWrite",       [ATN_ITEM_FUNCTION] = "FunctionBlock",
    [ATN_ITEM_ITERATOR] = "IteratorBlock",
};

static const char *const of_name[] = {"name", NULL}, *const of_dimensions[] = {"dimensions", "dimension", NULL},
                         *const of_structure[] = {"structure", NULL},
                         *const of_element_type[] = {"elementDataType", "dataType", NULL},
                         *const of_type[] = {"dataType", "elementDataType", NULL},
                         *const of_source[] = {"source", "destination", NULL},
                         *const of_destination[] = {"destination", "source", NULL},
                         *const of_function[] = {"function", NULL}, *const of_data_type[] = {"dataType", NULL},
                         *const of_selector[] = {"selFunction", "selfFunction", "accessFunction", NULL};

const char *atn_item_kind_name(atn_item_kind kind) { return kind_names[kind]; }

bool atn_item_is_block(const atn_item *item) {
    return item->kind == ATN_ITEM_ALGORITHM || item->kind == ATN_ITEM_ITERATOR;
}

int32_t atn_sketch_find(const atn_sketch *sketch, const char *name) {
    for (size_t k = 0; k < sketch->n_items; ++k)
        if (!strcmp(sketch->items[k].name, name)) return (int32_t)k;
    return -1;
}

static bool is_name(const char *name) {
    size_t length = strlen(name);
    if (!length || length > ATN_LIMIT_NAME || (*name >= '0' && *name <= '9')) return false;
    for (size_t k = 0; k < length; ++k) {
        char c = name[k];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

/* NULL when memory ran out. */
static atn_item *add_item(atn_sketch *sketch, atn_element *element, atn_item_kind kind, int32_t scope) {
    atn_reader *reader = sketch->reader;
    const atn_attribute *given = atn_describe_attribute(sketch, element, NULL, true, of_name);
    const char *name = given ? given->value : "";
    bool wrong = !given;
    if (given && !is_name(name)) {
        atn_reader_complain(
            reader, element->at, name,
            "a name is made of letters, digits and _, begins with no digit and has at most %d characters",
            (int)ATN_LIMIT_NAME);
        wrong = true;
    }
    int32_t same = given ? atn_sketch_find(sketch, name) : -1;
    if (same >= 0) {
        atn_reader_complain(reader, element->at, name, "the name is taken by the %s in line %d",
                            kind_names[sketch->items[same].kind], sketch->items[same].at.line);
        wrong = true;
    }
    if (!atn_reader_grow(reader, &reader->arena, (void **)&sketch->items, &sketch->items_room, sketch->n_items,
                         sizeof *sketch->items))
        return NULL;
    const char *own = atn_arena_strdup(&sketch->graph->arena, name);
    if (!own) return reader->failed = true, NULL;
    atn_item *item = &sketch->items[sketch->n_items++];
    *item = (atn_item){.kind = kind,
                       .name = own,
                       .at = element->at,
                       .element = element,
                       .scope = scope,
                       .object = -1,
                       .links = -1,
                       .index = -1,
                       .failed = wrong};
    atn_describe_leftovers(reader, element, given ? own : NULL);
    return item;
}

static void describe_object(atn_sketch *sketch, atn_item *item) {
    static const char *const structures[] = {"vector", "matrix", "volume", NULL};
    int32_t structure = 0;
    bool there = atn_describe_attribute(sketch, item->element, item->name, true, of_structure) != NULL;
    if (!there || !atn_describe_choice(sketch, item->element, item->name, "structure", structures, &structure))
        item->failed = true;
    item->rank = structure + 1;
    const atn_attribute *type = atn_describe_attribute(sketch, item->element, item->name, true, of_element_type);
    item->type = type ? atn_describe_type(sketch, item->name, type, true) : ATN_TYPE_NONE;
    item->written = type ? type->given : NULL;
    item->values = atn_element_find(item->element, "values");
    item->size = atn_element_find(item->element, "size");
    if (item->type == ATN_TYPE_NONE) item->failed = true;
}

static void describe_parameter(atn_sketch *sketch, atn_item *item) {
    const atn_attribute *type = atn_describe_attribute(sketch, item->element, item->name, true, of_type);
    item->type = type ? atn_describe_type(sketch, item->name, type, false) : ATN_TYPE_NONE;
    item->written = type ? type->given : NULL;
    item->initial = atn_element_find(item->element, "default");
    item->n_out = 1;
    if (item->type == ATN_TYPE_NONE) item->failed = true;
}

static void describe_access(atn_sketch *sketch, atn_item *item) {
    static const char *const edges[] = {"none", "clamp", "zero", "wrap", "mirror", NULL};
    static const char *const combines[] = {"once", "add", "min", "max", "or", "distinct", NULL};
    bool write = item->kind == ATN_ITEM_WRITE;
    if (!atn_describe_attribute(sketch, item->element, item->name, true, write ? of_destination : of_source))
        item->failed = true;
    item->text = atn_describe_attribute(sketch, item->element, item->name, true, of_selector);
    item->body = item->text ? atn_syntax_parse_list(sketch->reader, item->text, item->name, false) : NULL;
    item->variables = atn_syntax_variables(item->body);
    if (!item->body) item->failed = true;
    int32_t choice = 0;
    if (!write && atn_describe_choice(sketch, item->element, item->name, "boundary", edges, &choice))
        item->boundary = (atn_boundary)choice;
    if (write && atn_describe_choice(sketch, item->element, item->name, "combine", combines, &choice))
        item->scatter = (atn_scatter)choice;
    item->n_out = !write;
}

/* How many ports there are: as said by an attribute, else as many as the text uses. */
static int32_t port_count(atn_sketch *sketch, atn_item *item, const char *name, int32_t used, int32_t least) {
    const atn_attribute *given = atn_element_find(item->element, name);
    int32_t count = used > least ? used : least;
    if (given && !atn_describe_integer(sketch, item->name, given, least, ATN_LIMIT_PORTS, &count)) item->failed = true;
    if (!given && count > ATN_LIMIT_PORTS) {
        atn_reader_complain(sketch->reader, item->at, item->name, "the text uses more than %d variables",
                            (int)ATN_LIMIT_PORTS);
        item->failed = true;
        count = ATN_LIMIT_PORTS;
    }
    return count;
}

static void describe_function(atn_sketch *sketch, atn_item *item) {
    const atn_attribute *type = atn_describe_attribute(sketch, item->element, item->name, true, of_data_type);
    item->type = type ? atn_describe_type(sketch, item->name, type, false) : ATN_TYPE_NONE;
    item->written = type ? type->given : NULL;
    item->text = atn_describe_attribute(sketch, item->element, item->name, true, of_function);
    if (item->text) item->body = atn_syntax_parse_body(sketch->reader, item->text, item->name, &item->is_expression);
    if (item->type == ATN_TYPE_NONE || !item->body) item->failed = true;
    item->n_in = port_count(sketch, item, "numInVars", atn_syntax_count_ports(item->body, "in", false), 0);
    item->n_out = port_count(sketch, item, "numOutVars", atn_syntax_count_ports(item->body, "out", true), 1);
}

/* ICF and its company, on an iterator or on the algorithm. */
static void describe_icf(atn_sketch *sketch, atn_item *item) {
    item->text = atn_element_find(item->element, "ICF");
    item->types = atn_element_find(item->element, "ICFType");
    item->init = atn_element_find(item->element, "ICFInit");
    item->combine = atn_element_find(item->element, "ICFCombine");
    const atn_attribute *stray = item->init ? item->init : item->combine ? item->combine : item->types;
    if (!item->text && stray) {
        atn_reader_complain(sketch->reader, item->at, item->name, "there is no ICF for '%s'", stray->name);
        item->failed = true;
    }
    if (!item->text) return;
    item->body = atn_syntax_parse_body(sketch->reader, item->text, item->name, &item->is_expression);
    item->n_in = atn_syntax_count_ports(item->body, "in", false);
    item->n_out = item->is_expression ? 1 : atn_syntax_count_ports(item->body, "acc", true);
    if (!item->body) item->failed = true;
    if (item->n_out > ATN_MAX_ACCS || item->n_in > ATN_LIMIT_PORTS) {
        atn_reader_complain(sketch->reader, item->at, item->name, "an ICF has at most %d accumulators and %d inputs",
                            (int)ATN_MAX_ACCS, (int)ATN_LIMIT_PORTS);
        item->failed = true;
        item->n_in = item->n_out = 1;
    }
    if (item->body && !item->n_out) {
        atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, item->text, 0), item->name,
                            "the ICF assigns no #acc(k)");
        item->failed = true;
    }
}

static void describe_block(atn_sketch *sketch, atn_item *item) {
    const atn_attribute *dimensions = atn_describe_attribute(sketch, item->element, item->name, true, of_dimensions);
    int64_t least = item->kind == ATN_ITEM_ALGORITHM ? 0 : 1;
    item->rank = 1;
    if (!dimensions || !atn_describe_integer(sketch, item->name, dimensions, least, ATN_MAX_RANK, &item->rank))
        item->failed = true;
    describe_icf(sketch, item);
}

static void (*const describers[ATN_ITEM_COUNT])(atn_sketch *, atn_item *) = {
    [ATN_ITEM_ALGORITHM] = describe_block,     [ATN_ITEM_OBJECT] = describe_object,
    [ATN_ITEM_PARAMETER] = describe_parameter, [ATN_ITEM_READ] = describe_access,
    [ATN_ITEM_WRITE] = describe_access,        [ATN_ITEM_FUNCTION] = describe_function,
    [ATN_ITEM_ITERATOR] = describe_block,
};

static void complain_element(atn_sketch *sketch, const atn_element *element, const char *inside,
                             const char *const *names) {
    atn_suggestion suggestion = {.wrong = element->name};
    for (size_t k = 0; names[k]; ++k) atn_suggestion_try(sketch->reader, &suggestion, names[k]);
    atn_reader_complain(sketch->reader, element->at, element->name, "this element does not belong in %s%s", inside,
                        atn_suggestion_text(sketch->reader, &suggestion));
}

static void describe_children(atn_sketch *sketch, atn_element *element, int32_t scope, int32_t depth);

/* Elements that hold nothing, or nothing but attributes. */
static void refuse_children(atn_sketch *sketch, const atn_element *element) {
    for (const atn_element *child = element->child; child; child = child->next)
        atn_reader_complain(sketch->reader, child->at, child->name, "a %s holds no elements", element->name);
}

static void describe_child(atn_sketch *sketch, atn_element *element, atn_item_kind kind, int32_t scope, int32_t depth) {
    bool outside = kind == ATN_ITEM_OBJECT || kind == ATN_ITEM_PARAMETER;
    atn_item *item = add_item(sketch, element, kind, outside ? -1 : scope);
    if (!item) return;
    describers[kind](sketch, item);
    if (kind != ATN_ITEM_ITERATOR) {
        refuse_children(sketch, element);
        return;
    }
    int32_t index = (int32_t)(item - sketch->items);
    if (depth > 2)
        atn_reader_complain(sketch->reader, item->at, item->name,
                            "IteratorBlocks may be nested one level deep, not two");
    else if (depth > 1 && sketch->reader->options->strict)
        atn_reader_complain(sketch->reader, item->at, item->name,
                            "an IteratorBlock inside another is not allowed (strict)");
    describe_children(sketch, element, index, depth + 1);
}

static void describe_children(atn_sketch *sketch, atn_element *element, int32_t scope, int32_t depth) {
    static const char *const names[] = {"DataAccessRead", "DataAccessWrite", "FunctionBlock",
                                        "IteratorBlock",  "Parameter",       NULL};
    static const atn_item_kind kinds[] = {ATN_ITEM_READ, ATN_ITEM_WRITE, ATN_ITEM_FUNCTION, ATN_ITEM_ITERATOR,
                                          ATN_ITEM_PARAMETER};
    for (atn_element *child = element->child; child && !sketch->reader->failed; child = child->next) {
        size_t k = 0;
        while (names[k] && strcmp(names[k], child->name) != 0) ++k;
        if (names[k])
            describe_child(sketch, child, kinds[k], scope, depth);
        else if (!strcmp(child->name, "Children") && !strcmp(element->name, "IteratorBlock"))
            describe_children(sketch, child, scope, depth);
        else
            complain_element(sketch, child, element->name, names);
    }
}

static void describe_objects(atn_sketch *sketch, atn_element *element) {
    static const char *const names[] = {"DataObject", "Parameter", NULL};
    for (atn_element *child = element->child; child && !sketch->reader->failed; child = child->next) {
        bool object = !strcmp(child->name, names[0]);
        if (object || !strcmp(child->name, names[1]))
            describe_child(sketch, child, object ? ATN_ITEM_OBJECT : ATN_ITEM_PARAMETER, -1, 1);
        else
            complain_element(sketch, child, element->name, names);
    }
}

/* The object an access names, and as many selectors as it has axes. */
static void resolve_access(atn_sketch *sketch, atn_item *item) {
    bool write = item->kind == ATN_ITEM_WRITE;
    const char *const *names = write ? of_destination : of_source;
    const atn_attribute *named = atn_element_find(item->element, names[0]);
    if (!named) named = atn_element_find(item->element, names[1]);
    if (!named) return;
    int32_t found = atn_sketch_find(sketch, named->value);
    if (found < 0 || sketch->items[found].kind != ATN_ITEM_OBJECT) {
        atn_suggestion suggestion = {.wrong = named->value};
        for (size_t k = 0; k < sketch->n_items; ++k)
            if (sketch->items[k].kind == ATN_ITEM_OBJECT)
                atn_suggestion_try(sketch->reader, &suggestion, sketch->items[k].name);
        atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, named, 0), item->name,
                            "no DataObject '%s'%s", named->value, atn_suggestion_text(sketch->reader, &suggestion));
        item->failed = true;
        return;
    }
    const atn_item *object = &sketch->items[found];
    item->object = found;
    int32_t count = 0;
    for (const atn_syntax *one = item->body; one; one = one->next) ++count;
    if (item->body && !object->failed && count != object->rank) {
        atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, item->text, 0), item->name,
                            "%d selector%s for the %s '%s'; it takes %d, separated by a comma", count,
                            count == 1 ? "" : "s", atn_rank_name(object->rank), object->name, object->rank);
        item->failed = true;
    }
    if (write && object->values) {
        atn_reader_complain(sketch->reader, item->at, item->name, "'%s' is a constant table and cannot be written",
                            object->name);
        item->failed = true;
    }
    if (object->failed) item->failed = true;
}

static void describe_promises(atn_sketch *sketch, const atn_item *item) {
    static const char *const truths[] = {"false", "true", NULL};
    int32_t finite = 0;
    sketch->graph->finite = atn_describe_choice(sketch, item->element, item->name, "finite", truths, &finite) && finite;
    const atn_attribute *tolerance = atn_element_find(item->element, "tolerance");
    double number[2] = {0, 0};
    if (tolerance &&
        (!atn_number_parse(tolerance->value, strlen(tolerance->value), number) || !(number[0] >= 0 && number[0] < 1)))
        atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, tolerance, 0), item->name,
                            "tolerance is a relative error from 0 to below 1, not '%s'", tolerance->value);
    else
        sketch->graph->tolerance = number[0];
}

void atn_sketch_describe(atn_sketch *sketch, atn_element *root) {
    static const char *const parts[] = {"DataObjects", "Children", "Connections", "OrderingRules", NULL};
    atn_item *algorithm = add_item(sketch, root, ATN_ITEM_ALGORITHM, -1);
    if (!algorithm) return;
    describe_block(sketch, algorithm);
    describe_promises(sketch, algorithm);
    sketch->graph->name = algorithm->name;
    for (atn_element *part = root->child; part; part = part->next) {
        size_t k = 0;
        while (parts[k] && strcmp(parts[k], part->name) != 0) ++k;
        if (!parts[k])
            complain_element(sketch, part, root->name, parts);
        else
            atn_describe_leftovers(sketch->reader, part, part->name);
        if (k == 0) describe_objects(sketch, part);
        if (k == 1) describe_children(sketch, part, 0, 1);
    }
    for (size_t k = 0; k < sketch->n_items; ++k)
        if (sketch->items[k].kind == ATN_ITEM_READ || sketch->items[k].kind == ATN_ITEM_WRITE)
            resolve_access(sketch, &sketch->items[k]);
}
