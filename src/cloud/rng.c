/* RNG: how many ions and ranges; for each ion its name, and its short name with a colour, red green blue from 0 to 1; a
 * line of dashes with the short names; for each range ". low high" and how many atoms of each ion it has. What comes
 * behind
 * ("polyatomic extension") names again what the counts said. */
#include "base/memory.h"
#include "cloud/fields.h"
#include "cloud/ranges.h"

#include <stdio.h>
#include <string.h>

enum { MOST_IONS = 256 };

typedef struct rng_ion {
    char name[RANGES_NAME];
    uint32_t colour;
} rng_ion;

/* The next line that has something in it; refused at the end of the file. */
static atn_status next_line(source *s, char **out) {
    atn_status status;
    do status = source_line(s, out);
    while (status == ATN_OK && *out && !(*out)[strspn(*out, " \t\r")]);
    if (status == ATN_OK && !*out) status = source_wrong(s, "the file ends before its last range");
    return status;
}

static atn_status read_counts(source *s, size_t *ions, size_t *ranges) {
    char *line, *field[2];
    atn_status status = next_line(s, &line);
    if (status != ATN_OK) return status;
    size_t fields = fields_cut(line, ' ', field, 2);
    if (fields < 2 || !field_count(field[0], ions) || !field_count(field[1], ranges))
        return source_wrong(s, "neither RRNG nor RNG: '[Ions]', or how many ions and ranges, is expected");
    if (*ions == 0 || *ions > MOST_IONS || *ranges == 0 || *ranges > RANGES_MOST)
        return source_wrong(s, "%zu ions and %zu ranges; from 1 to %d and from 1 to %d are read", *ions, *ranges,
                            MOST_IONS, RANGES_MOST);
    return ATN_OK;
}

/* The line of the full name, then that of the short one. */
static atn_status read_ion(source *s, rng_ion *ion) {
    char *line, *field[4];
    double part[3];
    atn_status status = next_line(s, &line);
    if (status == ATN_OK) status = next_line(s, &line);
    if (status != ATN_OK) return status;
    bool good = fields_cut(line, ' ', field, 4) == 4 && strlen(field[0]) < sizeof ion->name;
    ion->colour = 0;
    for (int k = 0; good && k < 3; ++k) {
        good = ranges_number(field[k + 1], &part[k]) && part[k] >= 0 && part[k] <= 1;
        ion->colour = good ? ion->colour << 8 | (uint32_t)(part[k] * 255 + 0.5) : 0;
    }
    if (!good) return source_wrong(s, "a short name and a colour are expected, as Al 0.2 1.0 1.0");
    strcpy(ion->name, field[0]);
    return ATN_OK;
}

static atn_status read_range(source *s, const rng_ion *ion, size_t ions, atn_mass_ranges *r) {
    char *line, *field[MOST_IONS + 3];
    range_line out = {0};
    atn_status status = next_line(s, &line);
    if (status != ATN_OK) return status;
    size_t fields = fields_cut(line, ' ', field, ions + 3);
    if (fields != ions + 3 || strcmp(field[0], ".") != 0 || !ranges_number(field[1], &out.low) ||
        !ranges_number(field[2], &out.high))
        return source_wrong(s, "a range is a point, two masses and a count for each of the %zu ions", ions);
    for (size_t k = 0; k < ions; ++k) {
        size_t count;
        if (!field_count(field[k + 3], &count)) return source_wrong(s, "'%.40s' is not a count of atoms", field[k + 3]);
        if (count == 0) continue;
        if (!range_line_add(&out, ion[k].name, count))
            return source_wrong(s, "an ion with a name of more than %d letters", RANGES_NAME - 1);
        out.colour = ion[k].colour;
        out.coloured = true;
    }
    return ranges_add(r, s, &out);
}

atn_status ranges_rng_read(source *s, atn_mass_ranges *r) {
    size_t ions = 0, ranges = 0;
    char *line;
    atn_status status = read_counts(s, &ions, &ranges);
    if (status != ATN_OK) return status;
    rng_ion *ion = atn_alloc(s->ctx, ions * sizeof *ion);
    if (!ion) return ATN_ERR_MEMORY;
    for (size_t k = 0; status == ATN_OK && k < ions; ++k) status = read_ion(s, &ion[k]);
    if (status == ATN_OK) status = next_line(s, &line);
    if (status == ATN_OK && strncmp(line + strspn(line, " \t"), "--", 2) != 0)
        status = source_wrong(s, "a line of dashes is expected after the %zu ions", ions);
    for (size_t k = 0; status == ATN_OK && k < ranges; ++k) status = read_range(s, ion, ions, r);
    atn_free(s->ctx, ion);
    return status;
}
