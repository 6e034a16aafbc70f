/* Writes text: the chemists' format if there are species or frames, otherwise a table with the column names in a
 * comment. */
#include "base/number.h"
#include "cloud/elements.h"
#include "cloud/formats.h"

/* With species first, as OVITO and others want them, all else in the order of the roles. */
static void add_row(const atn_cloud *cloud, size_t point, char separator, atn_text *out) {
    char number[ATN_NUMBER_TEXT], between[2] = {separator, 0};
    bool first = true;
    if (cloud->roles & ROLE_BIT(ROLE_SPECIES)) {
        int species = (int)cloud_get(cloud, ROLE_SPECIES, point);
        const char *symbol = species ? element_symbol(species) : "X";
        if (symbol)
            atn_text_add(out, symbol);
        else
            atn_text_printf(out, "%d", species);
        first = false;
    }
    for (cloud_role k = 0; k < ROLE_SPECIES; ++k) {
        if (!(cloud->roles & ROLE_BIT(k))) continue;
        atn_number_print(cloud_get(cloud, k, point), number);
        if (!first) atn_text_add(out, between);
        atn_text_add(out, number);
        first = false;
    }
    for (size_t k = 0; k < cloud->extra.count; ++k)
        for (size_t v = 0; v < cloud->extra.field[k].values; ++v) {
            atn_number_print(cloud_extras_get(&cloud->extra, k, v, point), number);
            atn_text_add(out, between);
            atn_text_add(out, number);
        }
    atn_text_add(out, "\n");
}

/* ":name:R:3" for each. */
static void add_properties(const atn_cloud *cloud, atn_text *out) {
    char name[EXTRA_NAME + 8];
    for (size_t k = 0; k < cloud->extra.count; ++k) {
        cloud_extra e = cloud->extra.field[k];
        size_t values = e.values;
        e.values = 1;
        cloud_extra_name(&e, 0, name);
        atn_text_printf(out, ":%s:%c:%zu", name, number_is_whole(e.type) ? 'I' : 'R', values);
    }
    atn_text_add(out, "\n");
}

static void add_head(const atn_cloud *cloud, size_t points, atn_text *out) {
    atn_text_printf(
        out, "%zu\nProperties=%spos:R:3%s%s%s", points, cloud->roles & ROLE_BIT(ROLE_SPECIES) ? "species:S:1:" : "",
        cloud->roles & ROLE_NORMAL ? ":normals:R:3" : "", cloud->roles & ROLE_BIT(ROLE_WEIGHT) ? ":weight:R:1" : "",
        cloud->roles & ROLE_BIT(ROLE_MASS) ? ":mass:R:1" : "");
    add_properties(cloud, out);
}

static void add_frames(const atn_cloud *cloud, atn_text *out) {
    size_t frames = cloud->n_frames ? cloud->n_frames : 1;
    for (size_t f = 0; f < frames; ++f) {
        size_t from = atn_cloud_frame(cloud, f), to = atn_cloud_frame(cloud, f + 1);
        if (cloud_file_begins(cloud)) add_head(cloud, cloud->stretch.of ? cloud->stretch.of : to - from, out);
        for (size_t k = from; k < to; ++k) add_row(cloud, k, ' ', out);
    }
}

/* A table for other programs has its names bare, XYZ has them in a comment. */
static void add_names(const atn_cloud *cloud, char separator, atn_text *out) {
    static const char *const names[ROLE_SPECIES] = {"x", "y", "z", "nx", "ny", "nz", "weight", "mass"};
    atn_text_add(out, separator == ',' ? "x" : "# x");
    for (cloud_role k = 1; k < ROLE_SPECIES; ++k)
        if (cloud->roles & ROLE_BIT(k)) atn_text_printf(out, "%c%s", separator, names[k]);
    for (size_t k = 0; k < cloud->extra.count; ++k)
        for (size_t v = 0; v < cloud->extra.field[k].values; ++v) {
            char name[EXTRA_NAME + 8];
            cloud_extra_name(&cloud->extra.field[k], v, name);
            atn_text_printf(out, "%c%s", separator, name);
        }
    atn_text_add(out, "\n");
}

atn_status cloud_xyz_write(const atn_cloud *cloud, char separator, atn_text *out) {
    if (cloud->n_frames > 1 || cloud->roles & ROLE_BIT(ROLE_SPECIES)) {
        add_frames(cloud, out);
        return ATN_OK;
    }
    if (cloud_file_begins(cloud)) add_names(cloud, separator, out);
    for (size_t k = 0; k < cloud->count; ++k) add_row(cloud, k, separator, out);
    return ATN_OK;
}
