/* Text with a point in each line: XYZ, TXT, CSV. What separates columns and what they are is decided once, by the first
 * line that has something in it. */
#include "cloud/xyz.h"

#include "cloud/elements.h"
#include "cloud/fields.h"
#include "cloud/formats.h"

#include <string.h>

static bool is_comment(const char *line) { return *line == '#' || *line == '%' || strncmp(line, "//", 2) == 0; }

/* ';' beats ',', which beats blanks: so decimal commas, 0,5;1,5, stay in their fields and are refused there. */
static char separator_of(const char *line) { return strchr(line, ';') ? ';' : strchr(line, ',') ? ',' : ' '; }

static char *without_quotes(char *name) {
    size_t length = strlen(name);
    if (length < 2 || name[0] != '"' || name[length - 1] != '"') return name;
    name[length - 1] = '\0';
    return name + 1;
}

/* Columns that are no role are kept, if they turn out to be numbers. */
static atn_status keep_others(xyz_table *t, char **field) {
    atn_status status = ATN_OK;
    for (size_t k = 0; k < XYZ_MOST_COLUMNS; ++k) t->kept[k].extra = SIZE_MAX;
    for (size_t k = 0; status == ATN_OK && k < t->columns; ++k)
        if (t->role[k] == ROLE_NONE) status = cloud_add_extra(t->cloud, field[k], NUMBER_F64, 1, &t->kept[k].extra);
    return status;
}

/* Names with x, y and z among them, each once; else nothing happens. */
static bool take_names(xyz_table *t, char **field, size_t columns) {
    cloud_role role[XYZ_MOST_COLUMNS];
    unsigned roles = 0;
    if (columns > XYZ_MOST_COLUMNS) return false;
    for (size_t k = 0; k < columns; ++k) {
        field[k] = without_quotes(field[k]);
        role[k] = cloud_role_of(field[k]);
        if (role[k] == ROLE_NONE) continue;
        if (roles & ROLE_BIT(role[k])) return false;
        roles |= ROLE_BIT(role[k]);
    }
    if ((roles & ROLE_POSITION) != ROLE_POSITION) return false;
    memcpy(t->role, role, sizeof role);
    t->roles = roles;
    t->columns = columns;
    return true;
}

/* The line that decides: a count begins frames, names or numbers begin a table. */
static atn_status begin_names(xyz_table *t, char **field) {
    atn_status status = keep_others(t, field);
    return status == ATN_OK ? cloud_begin(t->cloud, t->s, t->roles, 0) : status;
}

static atn_status read_first(xyz_table *t, char **field, size_t columns) {
    size_t count;
    double number;
    if (columns == 1 && field_count(field[0], &count)) return xyz_frames(t, count);
    if (take_names(t, field, columns)) return begin_names(t, field);
    if (columns < 3) return source_wrong(t->s, "%zu columns; a point has three, x y z", columns);
    if (!field_number(field[0], &number))
        return source_wrong(t->s, "'%.40s' is not a number%s, and the line does not name x, y and z", field[0],
                            strchr(field[0], ',') ? " (those are written with a point: 0.5)" : "");
    xyz_set_plain(t, 0);
    size_t known = columns < XYZ_MOST_COLUMNS ? columns : XYZ_MOST_COLUMNS, first;
    atn_status status = cloud_add_columns(t->cloud, 4, known, NUMBER_F64, &first);
    for (size_t k = 3; k < known && first != SIZE_MAX; ++k) t->kept[k].extra = first + k - 3;
    if (status == ATN_OK) status = cloud_begin(t->cloud, t->s, t->roles, 0);
    return status == ATN_OK ? xyz_row(t, field, columns) : status;
}

static atn_status read_line(xyz_table *t, char *line) {
    char *field[XYZ_MOST_COLUMNS];
    line += strspn(line, " \t\r");
    if (!*line) return ATN_OK;
    bool comment = is_comment(line);
    if (comment && t->roles) return ATN_OK;
    if (comment) line += *line == '/' ? 2 : 1; /* may hold the names */
    if (!t->roles) t->separator = separator_of(line);
    size_t columns = fields_cut(line, t->separator, field, XYZ_MOST_COLUMNS);
    if (comment) return take_names(t, field, columns) ? begin_names(t, field) : ATN_OK;
    return t->roles ? xyz_row(t, field, columns) : read_first(t, field, columns);
}

static atn_status read(source *s, atn_cloud *cloud) {
    xyz_table t = {.s = s, .cloud = cloud};
    char *line;
    s->text = true;
    atn_status status = source_skip_mark(s);
    while (status == ATN_OK && (status = source_line(s, &line)) == ATN_OK && line) status = read_line(&t, line);
    if (status == ATN_OK && !t.roles) status = atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there are no points", s->name);
    for (size_t k = 0; k < cloud->extra.count; ++k)
        if (cloud->extra.field[k].gone) cloud_leave_out(cloud, cloud->extra.field[k].name);
    return status == ATN_OK ? cloud_extras_settle(s->ctx, &cloud->extra, cloud->count) : status;
}

const cloud_format CLOUD_XYZ = {"XYZ",           "xyz txt csv asc", NULL,  read, cloud_xyz_write,
                                CLOUD_ALL_ROLES, cloud_holds_all,   false, false};
