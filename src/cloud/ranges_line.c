/* Parsing one line of a range file: numbers, an ion made of elements, and a range that is added once. */
#include "cloud/ranges.h"

#include "base/memory.h"
#include "base/number.h"
#include "cloud/elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool ranges_number(const char *field, double *out) {
    char copy[64], *end;
    if (strlen(field) >= sizeof copy || !*field) return false;
    strcpy(copy, field);
    char *comma = strchr(copy, ',');
    if (comma) *comma = '.';
    *out = atn_number_read(copy, &end);
    return *end == '\0' && isfinite(*out);
}

bool range_line_add(range_line *line, const char *element, size_t count) {
    size_t room = sizeof line->name - line->length;
    int length = count == 1 ? snprintf(line->name + line->length, room, "%s", element)
                            : snprintf(line->name + line->length, room, "%s%zu", element, count);
    if (length < 0 || (size_t)length >= room || count > 1000) return false;
    line->length += (size_t)length;
    line->atoms += (int32_t)count;
    line->element = element_number(element);
    ++line->parts;
    return true;
}

/* By its name; made where there is none yet. */
static atn_status find_ion(atn_mass_ranges *r, const range_line *line, int32_t *out) {
    size_t k = 0;
    while (k < r->n_ions && strcmp(r->ion[k].name, line->name) != 0) ++k;
    *out = (int32_t)k;
    if (k == r->n_ions) {
        void *moved = r->ion;
        atn_status status = atn_grow(r->ctx, &moved, &r->ion_capacity, k, sizeof *r->ion);
        r->ion = moved;
        if (status != ATN_OK) return status;
        bool single = line->parts == 1 && line->atoms == 1;
        r->ion[k] = (range_ion){.ion = {.element = single ? line->element : 0, .atoms = line->atoms}};
        strcpy(r->ion[k].name, line->name);
        ++r->n_ions;
    }
    if (line->coloured && !r->ion[k].coloured) r->ion[k].ion.colour = line->colour;
    r->ion[k].coloured |= line->coloured;
    return ATN_OK;
}

atn_status ranges_add(atn_mass_ranges *r, const source *where, const range_line *line) {
    if (!(line->low >= 0 && line->high >= line->low))
        return source_wrong(where, "a range from %g to %g; it goes from 0 upwards", line->low, line->high);
    if (line->parts == 0) return source_wrong(where, "a range without an ion; 'Al:1' names one");
    if (r->n_ranges + r->duplicates == RANGES_MOST) return source_wrong(where, "more than %d ranges", RANGES_MOST);
    atn_mass_range range = {.low = line->low, .high = line->high, .volume = line->volume};
    atn_status status = find_ion(r, line, &range.ion);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < r->n_ranges; ++k)
        if (r->range[k].low == range.low && r->range[k].high == range.high && r->range[k].ion == range.ion) {
            ++r->duplicates;
            return ATN_OK;
        }
    void *moved = r->range;
    status = atn_grow(r->ctx, &moved, &r->range_capacity, r->n_ranges, sizeof *r->range);
    r->range = moved;
    if (status == ATN_OK) r->range[r->n_ranges++] = range;
    return status;
}
