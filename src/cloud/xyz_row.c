/* Parsing a row of text into a point: the meaning of its columns, and the attributes that are passed through. */
#include "cloud/xyz.h"

#include "cloud/elements.h"
#include "cloud/fields.h"
#include "cloud/formats.h"

#include <string.h>

void xyz_set_plain(xyz_table *t, size_t first) {
    for (size_t k = 0; k < XYZ_MOST_COLUMNS; ++k) t->kept[k].extra = SIZE_MAX;
    for (size_t k = 0; k < XYZ_MOST_COLUMNS; ++k)
        t->role[k] = k >= first && k < first + 3 ? (cloud_role)(k - first) : ROLE_NONE;
    t->roles = ROLE_POSITION;
}

/* A column with a word in it is no property that travels. */
static void keep_value(xyz_table *t, size_t column, const char *field) {
    cloud_extras *extras = &t->cloud->extra;
    size_t index = t->kept[column].extra;
    double number = 0;
    if (index == SIZE_MAX) return;
    if (!field_number(field, &number)) extras->field[index].gone = true;
    cloud_extras_put(extras, index, t->kept[column].value, number);
}

atn_status xyz_row(xyz_table *t, char **field, size_t columns) {
    double value[ROLE_COUNT + 1] = {0}; /* and one for all that is left out */
    if (t->columns == 0) t->columns = columns;
    if (columns != t->columns)
        return source_wrong(t->s, "%zu columns where there were %zu before", columns, t->columns);
    for (size_t k = 0; k < columns && k < XYZ_MOST_COLUMNS; ++k) {
        cloud_role role = t->role[k];
        if (role == ROLE_NONE) keep_value(t, k, field[k]);
        if (role == ROLE_NONE || field_number(field[k], &value[role])) continue;
        if (role != ROLE_SPECIES)
            return source_wrong(t->s, "'%.40s' is not a number%s", field[k],
                                strchr(field[k], ',') ? "; numbers are written with a point: 0.5" : "");
        value[role] = element_number(field[k]);
    }
    return cloud_add(t->cloud, t->s, value);
}
