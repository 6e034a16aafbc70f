/* Attributes of the elements of a description: their names, alternative spellings, values and errors. */
#include "graph/sketch.h"
#include "graph/type.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *element;
    const char *attributes[12];
} known[] = {
    {"Sequence", {"name"}},
    {"ParallelAlgorithm",
     {"name", "dimensions", "dimension", "ICF", "ICFType", "ICFInit", "ICFCombine", "finite", "tolerance"}},
    {"IteratorBlock", {"name", "dimensions", "dimension", "ICF", "ICFType", "ICFInit", "ICFCombine"}},
    {"DataObject", {"name", "structure", "elementDataType", "dataType", "values", "size"}},
    {"Parameter", {"name", "dataType", "elementDataType", "default"}},
    {"DataAccessRead", {"name", "source", "destination", "selFunction", "selfFunction", "accessFunction", "boundary"}},
    {"DataAccessWrite", {"name", "source", "destination", "selFunction", "selfFunction", "accessFunction", "combine"}},
    {"FunctionBlock", {"name", "numInVars", "numOutVars", "dataType", "function"}},
    {"Connection", {"source", "destination"}},
    {"Order", {"first", "second"}},
    {"DataObjects", {NULL}},
    {"Children", {NULL}},
    {"Connections", {NULL}},
    {"OrderingRules", {NULL}},
};

void atn_describe_leftovers(atn_reader *reader, const atn_element *element, const char *what) {
    size_t row = 0;
    while (row < sizeof known / sizeof *known && strcmp(known[row].element, element->name) != 0) ++row;
    if (row == sizeof known / sizeof *known) return;
    for (int32_t k = 0; k < element->n_attributes; ++k) {
        const atn_attribute *attribute = &element->attributes[k];
        atn_suggestion suggestion = {.wrong = attribute->name};
        bool found = false;
        for (size_t j = 0; known[row].attributes[j]; ++j) {
            found |= !strcmp(known[row].attributes[j], attribute->name);
            atn_suggestion_try(reader, &suggestion, known[row].attributes[j]);
        }
        if (!found)
            atn_reader_complain(reader, element->at, what, "%s has no attribute '%s'%s", element->name, attribute->name,
                                atn_suggestion_text(reader, &suggestion));
    }
}

atn_attribute *atn_describe_attribute(atn_sketch *sketch, atn_element *element, const char *what, bool required,
                                      const char *const *names) {
    atn_attribute *found = NULL;
    for (size_t k = 0; names[k]; ++k) {
        atn_attribute *attribute = atn_element_find(element, names[k]);
        if (attribute && found)
            atn_reader_complain(sketch->reader, element->at, what, "'%s' and '%s' mean the same; give one of them",
                                found->name, attribute->name);
        if (attribute && !found) found = attribute;
    }
    if (!found && required)
        atn_reader_complain(sketch->reader, element->at, what, "%s needs the attribute '%s'", element->name, names[0]);
    return found;
}

bool atn_describe_choice(atn_sketch *sketch, atn_element *element, const char *what, const char *name,
                         const char *const *choices, int32_t *choice) {
    const atn_attribute *attribute = atn_element_find(element, name);
    if (!attribute) return false;
    atn_suggestion suggestion = {.wrong = attribute->value};
    for (int32_t k = 0; choices[k]; ++k) {
        atn_suggestion_try(sketch->reader, &suggestion, choices[k]);
        if (!strcmp(choices[k], attribute->value)) return *choice = k, true;
    }
    atn_text list = {.ctx = sketch->reader->ctx};
    for (int32_t k = 0; choices[k]; ++k)
        atn_text_printf(&list, "%s%s", k ? (choices[k + 1] ? ", " : " or ") : "", choices[k]);
    atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, attribute, 0), what, "%s is %s, not '%s'%s",
                        name, atn_text_str(&list), attribute->value, atn_suggestion_text(sketch->reader, &suggestion));
    if (list.failed) sketch->reader->failed = true;
    atn_text_free(&list);
    return false;
}

bool atn_describe_integer(atn_sketch *sketch, const char *what, const atn_attribute *attribute, int64_t low,
                          int64_t high, int32_t *number) {
    char *end;
    long long value = strtoll(attribute->value, &end, 10);
    while (*end == ' ') ++end;
    if (end != attribute->value && !*end && value >= low && value <= high) return *number = (int32_t)value, true;
    atn_reader_complain(sketch->reader, atn_attribute_place(sketch->reader, attribute, 0), what,
                        "%s is a number from %lld to %lld, not '%s'", attribute->name, (long long)low, (long long)high,
                        attribute->value);
    return false;
}

atn_type atn_describe_type(atn_sketch *sketch, const char *what, const atn_attribute *attribute, bool element) {
    atn_type type = atn_type_from_name(attribute->value);
    if (type != ATN_TYPE_NONE && !(element && type == ATN_INDEX)) return type;
    return atn_describe_type_name(sketch->reader, atn_attribute_place(sketch->reader, attribute, 0), what,
                                  attribute->value, element);
}

atn_type atn_describe_type_name(atn_reader *reader, atn_place at, const char *what, const char *name, bool element) {
    atn_type type = atn_type_from_name(name);
    if (type != ATN_TYPE_NONE && !(element && type == ATN_INDEX)) return type;
    if (type == ATN_INDEX) {
        atn_reader_complain(reader, at, what, "INDEX is the type of indices, not of elements; use INT32");
        return ATN_TYPE_NONE;
    }
    atn_suggestion suggestion = {.wrong = name};
    for (int t = ATN_TYPE_NONE + 1; t < ATN_TYPE_COUNT; ++t)
        atn_suggestion_try(reader, &suggestion, atn_type_name((atn_type)t));
    atn_reader_complain(
        reader, at, what, "no type '%s'%s", name,
        suggestion.best
            ? atn_suggestion_text(reader, &suggestion)
            : "; types are B, U8, U16, INT32, HP, SP, DP, SP2 and DP2; a name of your own is given with a define");
    return ATN_TYPE_NONE;
}
