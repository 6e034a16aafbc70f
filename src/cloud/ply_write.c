/* Writes PLY: binary, little-endian; vertices with all attributes, and faces. */
#include "cloud/faces.h"
#include "cloud/formats.h"

static const char *const TYPES[] = {"char", "uchar", "short",  "ushort", "int",
                                    "uint", "int64", "uint64", "float",  "double"};

/* As most programs know them; float or double of positions, by what is needed. */
static number_type type_of(cloud_role role, bool single) {
    return role == ROLE_SPECIES ? NUMBER_I32 : role <= ROLE_Z && !single ? NUMBER_F64 : NUMBER_F32;
}

/* How many corners a face has: in a byte, as most programs want it, unless there are more. */
static number_type counted_by(const cloud_faces *faces) {
    for (size_t k = 0; k < faces->count; ++k)
        if (cloud_faces_end(faces, k) - faces->start[k] > 255) return NUMBER_I32;
    return NUMBER_U8;
}

static void add_header(const atn_cloud *cloud, bool single, atn_text *out) {
    char name[EXTRA_NAME + 8];
    atn_text_printf(out, "ply\nformat binary_little_endian 1.0\nelement vertex %zu\n", cloud_file_points(cloud));
    for (cloud_role k = 0; k < ROLE_COUNT; ++k)
        if (cloud->roles & ROLE_BIT(k))
            atn_text_printf(out, "property %s %s\n", TYPES[type_of(k, single)], cloud_role_name(k));
    for (size_t k = 0; k < cloud->extra.count; ++k)
        for (size_t v = 0; v < cloud->extra.field[k].values; ++v) {
            cloud_extra_name(&cloud->extra.field[k], v, name);
            atn_text_printf(out, "property %s %s\n", TYPES[cloud->extra.field[k].type], name);
        }
    if (cloud->faces)
        atn_text_printf(out, "element face %zu\nproperty list %s int vertex_indices\n", cloud->faces->count,
                        TYPES[counted_by(cloud->faces)]);
    atn_text_add(out, "end_header\n");
}

atn_status cloud_ply_write(const atn_cloud *cloud, char separator, atn_text *out) {
    (void)separator;
    const cloud_extras *extra = &cloud->extra;
    const cloud_faces *faces = cloud->faces;
    bool single = cloud_is_single(cloud);
    if (cloud_file_begins(cloud)) add_header(cloud, single, out);
    for (size_t point = 0; point < cloud->count; ++point) {
        for (cloud_role role = 0; role < ROLE_COUNT; ++role)
            if (cloud->roles & ROLE_BIT(role))
                number_add(out, type_of(role, single), cloud_get(cloud, role, point), false);
        if (extra->bytes) atn_text_add_bytes(out, extra->data + point * extra->bytes, extra->bytes);
    }
    number_type count = faces ? counted_by(faces) : NUMBER_NONE;
    for (size_t k = 0; faces && k < faces->count; ++k) {
        size_t end = cloud_faces_end(faces, k);
        number_add(out, count, (double)(end - faces->start[k]), false);
        for (size_t c = faces->start[k]; c < end; ++c) number_add(out, NUMBER_I32, faces->corner[c], false);
    }
    return ATN_OK;
}
