/* The header of a PLY file: lines of words, up to end_header, that name elements and their properties. */
#include "cloud/ply.h"

#include "cloud/fields.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    number_type type;
} TYPES[] = {
    {"char", NUMBER_I8},   {"uchar", NUMBER_U8},   {"short", NUMBER_I16},   {"ushort", NUMBER_U16},
    {"int", NUMBER_I32},   {"uint", NUMBER_U32},   {"float", NUMBER_F32},   {"double", NUMBER_F64},
    {"int8", NUMBER_I8},   {"uint8", NUMBER_U8},   {"int16", NUMBER_I16},   {"uint16", NUMBER_U16},
    {"int32", NUMBER_I32}, {"uint32", NUMBER_U32}, {"float32", NUMBER_F32}, {"float64", NUMBER_F64},
    {"int64", NUMBER_I64}, {"uint64", NUMBER_U64},
};

static const struct {
    const char *name, *told;
    bool ascii, big;
} STORED[] = {
    {"ascii", "PLY, text", true, false},
    {"binary_little_endian", "PLY, binary, little-endian", false, false},
    {"binary_big_endian", "PLY, binary, big-endian", false, true},
};

typedef struct reader {
    source *s;
    atn_cloud *cloud;
    ply_header *out;
    bool has_format, ended;
} reader;

static number_type type_of(const char *name) {
    for (size_t k = 0; name && k < sizeof TYPES / sizeof *TYPES; ++k)
        if (strcmp(name, TYPES[k].name) == 0) return TYPES[k].type;
    return NUMBER_NONE;
}

static atn_status read_format(reader *r, char *rest) {
    const char *name = fields_next(&rest), *version = fields_next(&rest);
    if (r->has_format) return source_wrong(r->s, "a second format");
    for (size_t k = 0; name && k < sizeof STORED / sizeof *STORED; ++k) {
        if (strcmp(name, STORED[k].name) != 0) continue;
        r->has_format = true;
        r->out->ascii = STORED[k].ascii;
        r->out->big = STORED[k].big;
        snprintf(r->cloud->format, sizeof r->cloud->format, "%s", STORED[k].told);
        if (version && strcmp(version, "1.0") == 0) return ATN_OK;
        return source_wrong(r->s, "version %.20s of PLY; 1.0 is read", version ? version : "none");
    }
    return source_wrong(r->s, "format '%.40s'; ascii, binary_little_endian and binary_big_endian are read",
                        name ? name : "");
}

static atn_status read_element(reader *r, char *rest) {
    ply_header *h = r->out;
    const char *name = fields_next(&rest), *rows = fields_next(&rest);
    if (!name || !rows) return source_wrong(r->s, "an element has a name and a count");
    if (h->n_elements == PLY_MOST_ELEMENTS) return source_wrong(r->s, "more than %d elements", PLY_MOST_ELEMENTS);
    ply_element *e = &h->element[h->n_elements++];
    *e = (ply_element){.first = h->n_properties, .vertex = strcmp(name, "vertex") == 0};
    snprintf(e->name, sizeof e->name, "%s", name);
    if (!field_count(rows, &e->rows)) return source_wrong(r->s, "'%.40s' is not a count of elements", rows);
    for (ply_element *other = h->element; e->vertex && other < e; ++other)
        if (other->vertex) return source_wrong(r->s, "a second element vertex");
    return ATN_OK;
}

/* What a vertex's property is to the cloud. */
static atn_status give_role(reader *r, ply_property *p, const char *name) {
    p->role = p->count == NUMBER_NONE ? cloud_role_of(name) : ROLE_NONE;
    if (p->role == ROLE_NONE && p->count == NUMBER_NONE) return cloud_add_extra(r->cloud, name, p->type, 1, &p->extra);
    if (p->role == ROLE_NONE) {
        cloud_leave_out(r->cloud, name);
        return ATN_OK;
    }
    if (r->out->roles & ROLE_BIT(p->role)) return source_wrong(r->s, "a second property '%.40s'", name);
    r->out->roles |= ROLE_BIT(p->role);
    return ATN_OK;
}

static atn_status read_property(reader *r, char *rest) {
    ply_header *h = r->out;
    if (!h->n_elements) return source_wrong(r->s, "a property before any element");
    if (h->n_properties == PLY_MOST_PROPERTIES)
        return source_wrong(r->s, "more than %d properties", PLY_MOST_PROPERTIES);
    ply_element *e = &h->element[h->n_elements - 1];
    ply_property *p = &h->property[h->n_properties];
    *p = (ply_property){.count = NUMBER_NONE, .role = ROLE_NONE, .extra = SIZE_MAX};
    const char *type = fields_next(&rest);
    if (type && strcmp(type, "list") == 0) {
        const char *count = fields_next(&rest);
        p->count = type_of(count);
        if (p->count == NUMBER_NONE || !number_is_whole(p->count))
            return source_wrong(r->s, "'%.40s' is not a type to count a list with", count ? count : "");
        type = fields_next(&rest);
        e->lists = true;
    }
    p->type = type_of(type);
    if (p->type == NUMBER_NONE) return source_wrong(r->s, "'%.40s' is not a type of PLY", type ? type : "");
    const char *name = fields_next(&rest);
    if (!name) return source_wrong(r->s, "a property without a name");
    e->bytes += number_bytes(p->count == NUMBER_NONE ? p->type : p->count);
    ++e->properties;
    ++h->n_properties;
    bool named = strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0;
    p->corners = named && p->count != NUMBER_NONE && strcmp(e->name, "face") == 0;
    return e->vertex ? give_role(r, p, name) : ATN_OK;
}

/* NOLINTBEGIN(readability-non-const-parameter): functions of a table */
static atn_status read_nothing(reader *r, char *rest) {
    (void)r, (void)rest;
    return ATN_OK;
}

static atn_status read_end(reader *r, char *rest) {
    (void)rest;
    r->ended = true;
    if (!r->has_format) return source_wrong(r->s, "the header has no format");
    bool vertex = false;
    for (size_t k = 0; k < r->out->n_elements; ++k) {
        const ply_element *e = &r->out->element[k];
        if (!e->properties) return source_wrong(r->s, "element %s has no properties", e->name);
        vertex |= e->vertex;
    }
    return vertex ? ATN_OK : source_wrong(r->s, "there is no element vertex");
}
/* NOLINTEND(readability-non-const-parameter) */

static const struct {
    const char *word;
    atn_status (*read)(reader *r, char *rest);
} LINES[] = {
    {"format", read_format},   {"element", read_element},  {"property", read_property},
    {"comment", read_nothing}, {"obj_info", read_nothing}, {"end_header", read_end},
};

static atn_status read_line(reader *r, char *rest) {
    const char *word = fields_next(&rest);
    if (!word) return ATN_OK;
    for (size_t k = 0; k < sizeof LINES / sizeof *LINES; ++k)
        if (strcmp(word, LINES[k].word) == 0) return LINES[k].read(r, rest);
    return source_wrong(r->s, "unknown keyword '%.40s' in the PLY header", word);
}

atn_status ply_header_read(source *s, atn_cloud *cloud, ply_header *out) {
    reader r = {.s = s, .cloud = cloud, .out = out};
    char *line;
    s->text = true;
    atn_status status = source_skip_mark(s);
    if (status == ATN_OK) status = source_line(s, &line);
    if (status != ATN_OK) return status;
    const char *word = line ? fields_next(&line) : NULL;
    if (!word || strcmp(word, "ply") != 0) return source_wrong(s, "no PLY file; those begin with \"ply\"");
    while (status == ATN_OK && !r.ended) {
        status = source_line(s, &line);
        if (status == ATN_OK) status = line ? read_line(&r, line) : source_wrong(s, "the header does not end");
    }
    return status;
}
