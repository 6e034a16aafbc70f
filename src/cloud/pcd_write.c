/* Writes PCD: binary, with all attributes of the points. */
#include "cloud/formats.h"

#include <stdio.h>

/* A column of the file: a role, or a property that only travels. */
typedef struct field {
    char name[EXTRA_NAME + 8];
    number_type type;
    size_t values;
} field;

static field field_of(const atn_cloud *cloud, size_t k, bool single) {
    static const char *const NAMES[ROLE_COUNT] = {"x",        "y",      "z",    "normal_x", "normal_y",
                                                  "normal_z", "weight", "mass", "species"};
    field f = {.values = 1};
    if (k < ROLE_COUNT) {
        snprintf(f.name, sizeof f.name, "%s", NAMES[k]);
        f.type = !(cloud->roles & ROLE_BIT(k)) ? NUMBER_NONE
                 : k == ROLE_SPECIES           ? NUMBER_I32
                 : k <= ROLE_Z && !single      ? NUMBER_F64
                                               : NUMBER_F32;
        return f;
    }
    cloud_extra e = cloud->extra.field[k - ROLE_COUNT];
    f.type = e.type;
    f.values = e.values;
    e.values = 1;
    cloud_extra_name(&e, 0, f.name);
    return f;
}

/* A line of the header: a word for each field. */
static void add_line(const atn_cloud *cloud, bool single, const char *word, atn_text *out) {
    atn_text_printf(out, "\n%s", word);
    for (size_t k = 0; k < ROLE_COUNT + cloud->extra.count; ++k) {
        field f = field_of(cloud, k, single);
        if (f.type == NUMBER_NONE) continue;
        bool is_signed = f.type == NUMBER_I8 || f.type == NUMBER_I16 || f.type == NUMBER_I32 || f.type == NUMBER_I64;
        switch (*word) {
        case 'F':
            atn_text_printf(out, " %s", f.name);
            break;
        case 'S':
            atn_text_printf(out, " %zu", number_bytes(f.type));
            break;
        case 'T':
            atn_text_printf(out, " %c", !number_is_whole(f.type) ? 'F' : is_signed ? 'I' : 'U');
            break;
        default:
            atn_text_printf(out, " %zu", f.values);
        }
    }
}

static void add_header(const atn_cloud *cloud, bool single, atn_text *out) {
    static const char *const LINES[] = {"FIELDS", "SIZE", "TYPE", "COUNT"};
    atn_text_add(out, "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7");
    for (size_t k = 0; k < 4; ++k) add_line(cloud, single, LINES[k], out);
    atn_text_printf(out, "\nWIDTH %zu\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS %zu\nDATA binary\n",
                    cloud_file_points(cloud), cloud_file_points(cloud));
}

atn_status cloud_pcd_write(const atn_cloud *cloud, char separator, atn_text *out) {
    (void)separator;
    bool single = cloud_is_single(cloud);
    const cloud_extras *extra = &cloud->extra;
    if (cloud_file_begins(cloud)) add_header(cloud, single, out);
    for (size_t point = 0; point < cloud->count; ++point) {
        for (cloud_role k = 0; k < ROLE_COUNT; ++k)
            if (cloud->roles & ROLE_BIT(k))
                number_add(out, field_of(cloud, k, single).type, cloud_get(cloud, k, point), false);
        if (extra->bytes) atn_text_add_bytes(out, extra->data + point * extra->bytes, extra->bytes);
    }
    return ATN_OK;
}
