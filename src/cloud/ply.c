/* PLY: vertices of text and binary files in either byte order. The other elements are walked over, so that a file that
 * was cut short anywhere is noticed. */
#include "cloud/ply.h"

#include "base/memory.h"
#include "base/size.h"
#include "cloud/fields.h"
#include "cloud/formats.h"
#include "cloud/mesh.h"

#include <string.h>

bool cloud_ply_begins(const char *head, size_t length) {
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
    return field_number(field, value) ? ATN_OK : source_wrong(s, "'%.40s' is no number", field);
}

/* The values of a list; corners of a face go to the mesh. */
static atn_status text_list(source *s, char **rest, double items, cloud_mesh *mesh) {
    if (!(items >= 0) || items > CLOUD_PIECE) return source_wrong(s, "a list of %g values", items);
    if (mesh) cloud_mesh_begin_face(mesh);
    atn_status status = ATN_OK;
    for (size_t left = (size_t)items; status == ATN_OK && left; --left) {
        double number = 0;
        status = text_value(s, rest, &number);
        if (status == ATN_OK && mesh) status = cloud_mesh_add_corner(mesh, s, number);
    }
    return status;
}

static atn_status text_row(source *s, const ply_header *h, const ply_element *e, cloud_mesh *mesh, double *value) {
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
            status = text_list(s, &line, number, p->corners ? mesh : NULL);
        else
            value[p->role] = number;
        if (status != ATN_OK) return status;
    }
    return fields_next(&line) ? source_wrong(s, "more values than element %s has properties", e->name) : ATN_OK;
}

static atn_status binary_list(source *s, const ply_header *h, const ply_property *p, const char *count,
                              cloud_mesh *mesh) {
    double items = number_load(p->count, count, h->big);
    size_t bytes = number_bytes(p->type), most = source_left(s) / bytes;
    if (items < 0 || items > (double)most)
        return source_wrong(s, "a list of %.0f values, %zu bytes are left", items, source_left(s));
    if (!p->corners || !mesh) return source_skip(s, (size_t)items * bytes);
    cloud_mesh_begin_face(mesh);
    atn_status status = ATN_OK;
    for (size_t left = (size_t)items; status == ATN_OK && left; --left) {
        const char *corner;
        status = source_take(s, bytes, &corner);
        if (status == ATN_OK) status = cloud_mesh_add_corner(mesh, s, number_load(p->type, corner, h->big));
    }
    return status;
}

static atn_status binary_row(source *s, const ply_header *h, const ply_element *e, cloud_mesh *mesh, double *value) {
    const char *record = NULL;
    atn_status status = e->lists ? ATN_OK : source_take(s, e->bytes, &record);
    for (size_t k = 0; status == ATN_OK && k < e->properties; ++k) {
        const ply_property *p = &h->property[e->first + k];
        size_t bytes = number_bytes(p->count == NUMBER_NONE ? p->type : p->count);
        if (e->lists) status = source_take(s, bytes, &record);
        if (status != ATN_OK) break;
        if (p->count != NUMBER_NONE)
            status = binary_list(s, h, p, record, mesh);
        else
            value[p->role] = number_load(p->type, record, h->big);
        record += bytes;
    }
    return status;
}

static atn_status read_element(source *s, const ply_header *h, const ply_element *e, atn_cloud *cloud) {
    atn_status status = check_rows(s, h, e);
    if (status == ATN_OK && e->vertex) status = cloud_begin(cloud, s, h->roles, e->rows);
    if (status == ATN_OK && !e->vertex && !h->ascii && !e->lists) return source_skip(s, e->rows * e->bytes);
    for (size_t k = 0; status == ATN_OK && k < e->rows; ++k) {
        double value[ROLE_COUNT + 1] = {0}; /* and one for all that is left out */
        status = h->ascii ? text_row(s, h, e, cloud->mesh, value) : binary_row(s, h, e, cloud->mesh, value);
        if (status == ATN_OK && e->vertex) status = cloud_add(cloud, s, value);
    }
    return status;
}

atn_status cloud_ply_read(source *s, atn_cloud *cloud) {
    ply_header *h = atn_zalloc(s->ctx, sizeof *h);
    if (!h) return ATN_ERR_MEMORY;
    atn_status status = ply_header_read(s, cloud, h);
    s->text = h->ascii;
    if (status == ATN_OK && !h->ascii) s->item = s->size - source_left(s);
    for (size_t k = 0; status == ATN_OK && k < h->n_elements; ++k) status = read_element(s, h, &h->element[k], cloud);
    atn_free(s->ctx, h);
    return status;
}

/* ---- writing: binary, little-endian ---- */

static const struct {
    cloud_role role;
    const char *name, *type; /* NULL: float or double, by what is needed */
} WRITTEN[] = {
    {ROLE_X, "x", NULL},
    {ROLE_Y, "y", NULL},
    {ROLE_Z, "z", NULL},
    {ROLE_NX, "nx", "float"},
    {ROLE_NY, "ny", "float"},
    {ROLE_NZ, "nz", "float"},
    {ROLE_WEIGHT, "weight", "float"},
    {ROLE_MASS, "mass", "float"},
    {ROLE_SPECIES, "species", "int"},
};
enum { N_WRITTEN = sizeof WRITTEN / sizeof *WRITTEN };

atn_status cloud_ply_write(const atn_cloud *cloud, char separator, atn_text *out) {
    (void)separator;
    bool single = cloud_is_single(cloud);
    atn_text_printf(out, "ply\nformat binary_little_endian 1.0\nelement vertex %zu\n", cloud->count);
    for (size_t k = 0; k < N_WRITTEN; ++k)
        if (cloud->roles & ROLE_BIT(WRITTEN[k].role))
            atn_text_printf(out, "property %s %s\n",
                            WRITTEN[k].type ? WRITTEN[k].type
                            : single        ? "float"
                                            : "double",
                            WRITTEN[k].name);
    atn_text_add(out, "end_header\n");
    for (size_t point = 0; point < cloud->count; ++point)
        for (cloud_role role = 0; role < ROLE_COUNT; ++role) {
            if (!(cloud->roles & ROLE_BIT(role))) continue;
            number_type type = role == ROLE_SPECIES ? NUMBER_I32 : role <= ROLE_Z && !single ? NUMBER_F64 : NUMBER_F32;
            number_add(out, type, cloud_get(cloud, role, point), false);
        }
    return ATN_OK;
}
