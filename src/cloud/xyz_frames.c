/* XYZ as chemists have it: a count, a line that may describe the columns (Properties=species:S:1:pos:R:3), then as many
 * atoms, "Al 0 0 0"; and the next frame. */
#include "cloud/xyz.h"

#include "cloud/fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    cloud_role role; /* of the first column */
    size_t columns;
} PROPERTIES[] = {
    {"species", ROLE_SPECIES, 1}, {"pos", ROLE_X, 3},         {"normals", ROLE_NX, 3},
    {"mass", ROLE_MASS, 1},       {"weight", ROLE_WEIGHT, 1},
};

/* What a property that only travels is called in the first frame holds for all of them. */
static atn_status keep_property(xyz_table *t, const char *name, char type, size_t columns) {
    size_t index = SIZE_MAX;
    atn_status status = ATN_OK;
    bool number = type == 'R' || type == 'I';
    if (t->cloud->n_frames == 1 && number)
        status = cloud_add_extra(t->cloud, name, NUMBER_F64, columns, &index);
    else if (t->cloud->n_frames == 1)
        cloud_leave_out(t->cloud, name);
    else {
        cloud_extra like = {.type = NUMBER_F64, .values = columns};
        snprintf(like.name, sizeof like.name, "%s", name);
        index = number ? cloud_extras_find(&t->cloud->extra, &like) : SIZE_MAX;
    }
    for (size_t k = 0; k < columns; ++k) {
        t->kept[t->columns + k].extra = index;
        t->kept[t->columns + k].value = k;
    }
    return status;
}

static atn_status read_property(xyz_table *t, const char *name, char type, size_t columns) {
    size_t known = 0, n = sizeof PROPERTIES / sizeof *PROPERTIES;
    while (known < n && (strcmp(name, PROPERTIES[known].name) != 0 || columns != PROPERTIES[known].columns)) ++known;
    if (columns == 0 || columns > XYZ_MOST_COLUMNS - t->columns)
        return source_wrong(t->s, "property '%.40s' has %zu columns; all together have at most %d", name, columns,
                            XYZ_MOST_COLUMNS);
    atn_status status = known == n ? keep_property(t, name, type, columns) : ATN_OK;
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < columns; ++k) {
        cloud_role role = known < n ? (cloud_role)(PROPERTIES[known].role + k) : ROLE_NONE;
        if (role != ROLE_NONE && t->roles & ROLE_BIT(role))
            return source_wrong(t->s, "a second property '%.40s'", name);
        if (role != ROLE_NONE) t->roles |= ROLE_BIT(role);
        t->role[t->columns++] = role;
    }
    return ATN_OK;
}

/* name:type:columns, again and again. */
static atn_status read_properties(xyz_table *t, char *text) {
    size_t quoted = *text == '"', length = strcspn(text + quoted, quoted ? "\"" : " \t");
    text += quoted;
    text[length] = '\0';
    for (size_t k = 0; k < XYZ_MOST_COLUMNS; ++k) t->kept[k].extra = SIZE_MAX;
    for (char *rest = text; rest;) {
        size_t columns;
        const char *name = strsep(&rest, ":"), *type = strsep(&rest, ":"), *count = strsep(&rest, ":");
        if (!count || strlen(type) != 1 || !field_count(count, &columns))
            return source_wrong(t->s, "Properties is not a list of name:type:columns");
        atn_status status = read_property(t, name, *type, columns);
        if (status != ATN_OK) return status;
    }
    for (size_t e = 0; e < t->cloud->extra.count; ++e) { /* a frame without it */
        bool there = false;
        for (size_t k = 0; k < t->columns; ++k) there |= t->kept[k].extra == e;
        if (!there) t->cloud->extra.field[e].gone = true;
    }
    return ATN_OK;
}

/* Without Properties: x y z, and before them a species if it is no number. */
static void guess_columns(xyz_table *t, char **field) {
    double number;
    bool species = !field_number(field[0], &number);
    xyz_set_plain(t, species);
    for (size_t e = 0; e < t->cloud->extra.count; ++e) t->cloud->extra.field[e].gone = true;
    if (!species) return;
    t->role[0] = ROLE_SPECIES;
    t->roles |= ROLE_BIT(ROLE_SPECIES);
}

/* What the columns of the first frame are holds for the cloud. */
static atn_status begin(xyz_table *t, unsigned *roles) {
    if (*roles && *roles != t->roles)
        return source_wrong(t->s, "frame %zu has other columns than the first", t->cloud->n_frames);
    if (*roles) return ATN_OK;
    *roles = t->roles;
    return cloud_begin(t->cloud, t->s, t->roles, 0);
}

static atn_status read_frame(xyz_table *t, size_t count, unsigned *roles) {
    enum { LEAST = 6 }; /* bytes of an atom: 0 0 0 and the line's end */
    char *line, *field[XYZ_MOST_COLUMNS];
    t->roles = 0;
    t->columns = 0;
    t->separator = ' ';
    atn_status status = cloud_add_frame(t->cloud);
    if (status == ATN_OK) status = source_line(t->s, &line);
    if (status != ATN_OK) return status;
    if (!line) return source_wrong(t->s, "the frame ends before its second line");
    char *properties = strcasestr(line, "properties=");
    if (properties) status = read_properties(t, properties + strlen("properties="));
    if (status == ATN_OK && properties) status = begin(t, roles);
    if (status == ATN_OK && count > (source_left(t->s) + 1) / LEAST)
        status = source_wrong(t->s, "a frame of %zu atoms, %zu bytes are left", count, source_left(t->s));
    for (size_t k = 0; status == ATN_OK && k < count; ++k) {
        status = source_line(t->s, &line);
        if (status != ATN_OK) break;
        size_t columns = line ? fields_cut(line, ' ', field, XYZ_MOST_COLUMNS) : 0;
        if (columns == 0) return source_wrong(t->s, "the frame has %zu atoms, %zu are said", k, count);
        if (!t->roles) {
            guess_columns(t, field);
            status = begin(t, roles);
            if (status == ATN_OK && columns < 3 + (t->role[0] == ROLE_SPECIES))
                return source_wrong(t->s, "an atom of %zu columns; x y z, or with its species four, are needed",
                                    columns);
        }
        if (status == ATN_OK) status = xyz_row(t, field, columns);
    }
    return status;
}

atn_status xyz_frames(xyz_table *t, size_t count) {
    unsigned roles = 0;
    char *line, *field[1];
    atn_status status = read_frame(t, count, &roles);
    while (status == ATN_OK && (status = source_line(t->s, &line)) == ATN_OK && line) {
        size_t words = fields_cut(line, ' ', field, 1);
        if (words == 0) continue;
        if (words != 1 || !field_count(field[0], &count))
            return source_wrong(t->s, "'%.40s' where a frame's count of atoms is expected", field[0]);
        status = read_frame(t, count, &roles);
    }
    if (status != ATN_OK) return status;
    if (t->cloud->n_frames > 1)
        snprintf(t->cloud->format, sizeof t->cloud->format, "XYZ, %zu frames", t->cloud->n_frames);
    t->roles = roles ? roles : ROLE_POSITION;
    return roles ? ATN_OK : cloud_begin(t->cloud, t->s, ROLE_POSITION, 0);
}
