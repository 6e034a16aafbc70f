/* PLY: vertices of text and binary files in either byte order. The other elements are walked over, so that a file that
 * was cut short anywhere is noticed. */
#include "cloud/ply.h"

#include "base/memory.h"
#include "base/size.h"
#include "cloud/faces.h"
#include "cloud/fields.h"
#include "cloud/formats.h"
#include "cloud/records.h"

#include <string.h>

static bool begins(const char *head, size_t length) {
    return length >= 4 && memcmp(head, "ply", 3) == 0 && (head[3] == '\n' || head[3] == '\r');
}

/* A row without lists takes at least this; so does one whose lists are all empty. In text: a digit and a blank each. */
static size_t least_bytes(const ply_header *h, const ply_element *e) { return h->ascii ? 2 * e->properties : e->bytes; }

static atn_status check_rows(const source *s, const ply_header *h, const ply_element *e) {
    size_t least = least_bytes(h, e), left = source_left(s) + h->ascii; /* the last line need not end */
    if (e->rows <= left / least) return ATN_OK;
    return source_wrong(s, "%zu of element %s need at least %zu bytes each; %zu bytes are left", e->rows, e->name,
                        least, source_left(s));
}

static atn_status text_value(source *s, char **rest, double *value) {
    const char *field = fields_next(rest);
    if (!field) return source_wrong(s, "a value is missing");
    return field_number(field, value) ? ATN_OK : source_wrong(s, "'%.40s' is not a number", field);
}

/* A value of a vertex; of other elements nothing is kept. */
static void keep_value(const ply_element *e, const ply_property *p, double number, atn_cloud *cloud, double *value) {
    value[p->role] = number;
    if (e->vertex && p->extra != SIZE_MAX) cloud_extras_put(&cloud->extra, p->extra, 0, number);
}

/* The values of a list; corners of a face are kept. */
static atn_status text_list(source *s, char **rest, double items, bool corners, atn_cloud *cloud) {
    if (!(items >= 0) || items > CLOUD_PIECE) return source_wrong(s, "a list of %g values", items);
    atn_status status = corners ? cloud_faces_begin(cloud) : ATN_OK;
    for (size_t left = (size_t)items; status == ATN_OK && left; --left) {
        double number = 0;
        status = text_value(s, rest, &number);
        if (status == ATN_OK && corners) status = cloud_faces_add(cloud, s, number);
    }
    return status;
}

static atn_status text_row(source *s, const ply_header *h, const ply_element *e, atn_cloud *cloud, double *value) {
    char *line;
    do {
        atn_status status = source_line(s, &line);
        if (status != ATN_OK) return status;
        if (!line) return source_wrong(s, "the file ends inside element %s", e->name);
    } while (line[strspn(line, " \t\r")] == '\0');
    for (size_t k = 0; k < e->properties; ++k) {
        const ply_property *p = &h->property[e->first + k];
        double number = 0;
        atn_status status = text_value(s, &line, &number);
        if (status != ATN_OK) return status;
        if (p->count != NUMBER_NONE)
            status = text_list(s, &line, number, p->corners, cloud);
        else
            keep_value(e, p, number, cloud, value);
        if (status != ATN_OK) return status;
    }
    return fields_next(&line) ? source_wrong(s, "more values than element %s has properties", e->name) : ATN_OK;
}

static atn_status binary_list(source *s, const ply_header *h, const ply_property *p, const char *count,
                              atn_cloud *cloud) {
    double items = number_load(p->count, count, h->big);
    size_t bytes = number_bytes(p->type), most = source_left(s) / bytes;
    if (items < 0 || items > (double)most)
        return source_wrong(s, "a list of %.0f values, %zu bytes are left", items, source_left(s));
    if (!p->corners || !(cloud->keep & KEEP_FACES)) return source_skip(s, (size_t)items * bytes);
    atn_status status = cloud_faces_begin(cloud);
    for (size_t left = (size_t)items; status == ATN_OK && left; --left) {
        const char *corner;
        status = source_take(s, bytes, &corner);
        if (status == ATN_OK) status = cloud_faces_add(cloud, s, number_load(p->type, corner, h->big));
    }
    return status;
}

/* A row with lists. */
static atn_status binary_row(source *s, const ply_header *h, const ply_element *e, atn_cloud *cloud, double *value) {
    atn_status status = ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < e->properties; ++k) {
        const ply_property *p = &h->property[e->first + k];
        const char *number;
        status = source_take(s, number_bytes(p->count == NUMBER_NONE ? p->type : p->count), &number);
        if (status != ATN_OK) break;
        if (p->count != NUMBER_NONE)
            status = binary_list(s, h, p, number, cloud);
        else
            keep_value(e, p, number_load(p->type, number, h->big), cloud, value);
    }
    return status;
}

/* Vertices without lists. */
static atn_status read_records(source *s, const ply_header *h, const ply_element *e, atn_cloud *cloud) {
    cloud_records *r = atn_zalloc(s->ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->start = s->size - source_left(s);
    r->stride = e->bytes;
    r->count = e->rows;
    r->big = h->big;
    r->n_parts = e->properties;
    for (size_t k = 0, at = 0; k < e->properties; ++k) {
        const ply_property *p = &h->property[e->first + k];
        r->part[k] = (record_part){.at = at, .type = p->type, .role = p->role, .extra = p->extra};
        at += number_bytes(p->type);
    }
    atn_status status = cloud_records_read(s, cloud, r);
    atn_free(s->ctx, r);
    return status;
}

static atn_status read_element(source *s, const ply_header *h, const ply_element *e, atn_cloud *cloud) {
    atn_status status = check_rows(s, h, e);
    if (status == ATN_OK && e->vertex) status = cloud_begin(cloud, s, h->roles, e->rows);
    if (status == ATN_OK && !h->ascii && !e->lists)
        return e->vertex ? read_records(s, h, e, cloud) : source_skip(s, e->rows * e->bytes);
    for (size_t k = 0; status == ATN_OK && k < e->rows; ++k) {
        double value[ROLE_COUNT + 1] = {0}; /* and one for all that has no role */
        status = (h->ascii ? text_row : binary_row)(s, h, e, cloud, value);
        if (status == ATN_OK && e->vertex) status = cloud_add(cloud, s, value);
    }
    return status;
}

static atn_status read(source *s, atn_cloud *cloud) {
    ply_header *h = atn_zalloc(s->ctx, sizeof *h);
    if (!h) return ATN_ERR_MEMORY;
    atn_status status = ply_header_read(s, cloud, h);
    s->text = h->ascii;
    if (status == ATN_OK && !h->ascii) s->item = s->size - source_left(s);
    for (size_t k = 0; status == ATN_OK && k < h->n_elements; ++k) {
        status = read_element(s, h, &h->element[k], cloud);
        cloud->part.faces |= !h->element[k].vertex && h->element[k].lists && h->element[k].rows;
    }
    atn_free(s->ctx, h);
    return status;
}

const cloud_format CLOUD_PLY = {"PLY",           "ply",           begins, read, cloud_ply_write,
                                CLOUD_ALL_ROLES, cloud_holds_all, true,   false};
