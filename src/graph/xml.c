/* Expat into a tree of elements. */
#include "graph/xml.h"

#include "base/memory.h"

#include <expat.h>
#include <string.h>

/* Expat's memory functions take no context, so the calling thread remembers it while one parse runs. */
static _Thread_local const atn_ctx *memory_ctx;
static void *expat_malloc(size_t bytes) { return atn_alloc(memory_ctx, bytes); }
static void *expat_realloc(void *block, size_t bytes) { return atn_resize(memory_ctx, block, bytes); }
static void expat_free(void *block) { atn_free(memory_ctx, block); }

typedef struct loader {
    atn_reader *reader;
    XML_Parser parser;
    atn_element *root, *open;
    int32_t n_elements;
    size_t attribute_bytes;
    bool stopped; /* by us, with a complaint */
} loader;

static atn_place place_now(const loader *l) {
    return (atn_place){(int32_t)XML_GetCurrentLineNumber(l->parser),
                       (int32_t)XML_GetCurrentColumnNumber(l->parser) + 1};
}

static void stop(loader *l) {
    l->stopped = true;
    XML_StopParser(l->parser, XML_FALSE);
}

static char *copy(atn_reader *reader, const char *text, size_t length) {
    char *block = atn_reader_alloc(reader, length + 1);
    return block ? memcpy(block, text, length) : NULL;
}

static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* One piece of a text under defines: a whole word that a define replaces, a run that stays. */
typedef struct piece {
    size_t given;            /* bytes of the text as written */
    const char *replacement; /* NULL: stays */
} piece;

static piece next_piece(const atn_parse_options *options, const char *text) {
    piece p = {0, NULL};
    while (text[p.given] && in_word(text[p.given])) ++p.given;
    for (size_t k = 0; p.given && k < options->n_defines; ++k) {
        const char *name = options->defines[k].name;
        if (strlen(name) == p.given && !strncmp(name, text, p.given)) p.replacement = options->defines[k].value;
    }
    if (!p.given) p.given = 1;
    return p;
}

static const char *substitute(loader *l, const char *given) {
    const atn_parse_options *options = l->reader->options;
    size_t length = 0;
    bool changed = false;
    for (const char *at = given; *at;) {
        piece p = next_piece(options, at);
        length += p.replacement ? strlen(p.replacement) : p.given;
        changed |= p.replacement != NULL;
        at += p.given;
    }
    l->attribute_bytes += length;
    if (!changed || l->attribute_bytes > ATN_LIMIT_ATTRIBUTES) return given;
    char *value = atn_reader_alloc(l->reader, length + 1), *to = value;
    for (const char *at = given; value && *at;) {
        piece p = next_piece(options, at);
        size_t bytes = p.replacement ? strlen(p.replacement) : p.given;
        memcpy(to, p.replacement ? p.replacement : at, bytes);
        to += bytes;
        at += p.given;
    }
    return value;
}

size_t atn_attribute_given(const atn_reader *reader, const atn_attribute *attribute, size_t offset) {
    if (attribute->plain) return offset;
    size_t given = 0, value = 0; /* walk the defines */
    while (attribute->given[given]) {
        piece p = next_piece(reader->options, attribute->given + given);
        size_t bytes = p.replacement ? strlen(p.replacement) : p.given;
        if (value + bytes > offset) {
            if (!p.replacement) given += offset - value;
            break;
        }
        value += bytes;
        given += p.given;
    }
    return given;
}

atn_place atn_attribute_place(atn_reader *reader, const atn_attribute *attribute, size_t offset) {
    if (attribute->plain) return atn_reader_place(reader, attribute->offset + offset);
    size_t given = atn_attribute_given(reader, attribute, offset);
    size_t raw = attribute->offset; /* walk the entities */
    for (size_t k = 0; k < given && raw < reader->length;) {
        unsigned char c = (unsigned char)attribute->given[k];
        k += c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        if (reader->xml[raw] == '&') {
            while (raw < reader->length && reader->xml[raw] != ';') ++raw;
            ++raw;
        } else if (reader->xml[raw] == '\r' && raw + 1 < reader->length && reader->xml[raw + 1] == '\n') {
            raw += 2;
        } else {
            raw += c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        }
    }
    return atn_reader_place(reader, raw);
}

/* Where each attribute's value begins in the file; expat has checked the tag already. */
static void find_offsets(const atn_reader *reader, size_t at, atn_element *element) {
    for (int32_t k = 0; k < element->n_attributes; ++k) {
        while (at < reader->length && reader->xml[at] != '"' && reader->xml[at] != '\'') ++at;
        char quote = at < reader->length ? reader->xml[at] : '"';
        element->attributes[k].offset = ++at;
        while (at < reader->length && reader->xml[at] != quote) ++at;
        ++at;
    }
}

static void XMLCALL start(void *user, const XML_Char *name, const XML_Char **pairs) {
    loader *l = user;
    atn_reader *reader = l->reader;
    if (l->stopped) return;
    atn_element *element = atn_reader_alloc(reader, sizeof *element);
    const char *own = element ? copy(reader, name, strlen(name)) : NULL;
    if (!own) {
        stop(l);
        return;
    }
    *element =
        (atn_element){.name = own, .at = place_now(l), .parent = l->open, .depth = l->open ? l->open->depth + 1 : 1};
    if (element->depth > ATN_LIMIT_DEPTH || ++l->n_elements > ATN_LIMIT_ELEMENTS) {
        bool deep = element->depth > ATN_LIMIT_DEPTH;
        atn_reader_complain(reader, element->at, own,
                            deep ? "elements are nested deeper than %d" : "more than %d elements",
                            deep ? (int)ATN_LIMIT_DEPTH : (int)ATN_LIMIT_ELEMENTS);
        stop(l);
        return;
    }
    while (pairs[2 * element->n_attributes]) ++element->n_attributes;
    element->attributes = atn_reader_alloc(reader, (size_t)element->n_attributes * sizeof *element->attributes + 1);
    for (int32_t k = 0; element->attributes && k < element->n_attributes; ++k) {
        atn_attribute *attribute = &element->attributes[k];
        attribute->name = copy(reader, pairs[2 * k], strlen(pairs[2 * k]));
        attribute->given = copy(reader, pairs[2 * k + 1], strlen(pairs[2 * k + 1]));
        attribute->value = attribute->given ? substitute(l, attribute->given) : NULL;
        if (l->attribute_bytes > ATN_LIMIT_ATTRIBUTES) {
            atn_reader_complain(reader, element->at, own, "the attributes of the file are longer than %d bytes",
                                (int)ATN_LIMIT_ATTRIBUTES);
            stop(l);
            return;
        }
    }
    if (reader->failed || !element->attributes) {
        stop(l);
        return;
    }
    find_offsets(reader, (size_t)XML_GetCurrentByteIndex(l->parser), element);
    if (!l->open)
        l->root = element;
    else if (l->open->last)
        l->open->last->next = element;
    else
        l->open->child = element;
    if (l->open) l->open->last = element;
    l->open = element;
}

static void XMLCALL end(void *user, const XML_Char *name) {
    loader *l = user;
    (void)name;
    if (!l->stopped) l->open = l->open->parent;
}

static void XMLCALL text(void *user, const XML_Char *bytes, int length) {
    loader *l = user;
    if (l->stopped || !l->open || l->open->text_reported) return;
    for (int k = 0; k < length; ++k) {
        if (strchr(" \t\r\n", bytes[k])) continue;
        atn_reader_complain(l->reader, place_now(l), l->open->name,
                            "unexpected text; descriptions have elements and "
                            "attributes only");
        l->open->text_reported = true;
        return;
    }
}

static void XMLCALL doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                            int subset) {
    loader *l = user;
    (void)name, (void)system, (void)public, (void)subset;
    if (l->stopped) return;
    atn_reader_complain(l->reader, place_now(l), "DOCTYPE",
                        "descriptions have no document type and no entities of their own");
    stop(l);
}

atn_element *atn_xml_read(atn_reader *reader) {
    if (reader->length > ATN_LIMIT_FILE) {
        atn_reader_complain(reader, (atn_place){1, 1}, NULL, "the description has %zu bytes; at most %d are read",
                            reader->length, (int)ATN_LIMIT_FILE);
        return NULL;
    }
    static const XML_Memory_Handling_Suite memory = {expat_malloc, expat_realloc, expat_free};
    const atn_ctx *outer = memory_ctx;
    memory_ctx = reader->ctx;
    loader l = {.reader = reader, .parser = XML_ParserCreate_MM("UTF-8", &memory, NULL)};
    enum XML_Status status = XML_STATUS_ERROR;
    if (!l.parser) {
        reader->failed = true;
    } else {
        XML_SetUserData(l.parser, &l);
        XML_SetElementHandler(l.parser, start, end);
        XML_SetCharacterDataHandler(l.parser, text);
        XML_SetStartDoctypeDeclHandler(l.parser, doctype);
        status = XML_Parse(l.parser, reader->xml, (int)reader->length, 1);
        if (status != XML_STATUS_OK && XML_GetErrorCode(l.parser) == XML_ERROR_NO_MEMORY) reader->failed = true;
        if (status != XML_STATUS_OK && !l.stopped && !reader->failed)
            atn_reader_complain(reader, place_now(&l), NULL, "not well-formed XML: %s",
                                XML_ErrorString(XML_GetErrorCode(l.parser)));
        XML_ParserFree(l.parser);
    }
    memory_ctx = outer;
    return status == XML_STATUS_OK && !reader->failed ? l.root : NULL;
}

atn_attribute *atn_element_find(atn_element *element, const char *name) {
    for (int32_t k = 0; k < element->n_attributes; ++k) {
        if (strcmp(element->attributes[k].name, name) != 0) continue;
        element->attributes[k].taken = true;
        return &element->attributes[k];
    }
    return NULL;
}
