/* Internals of range files: what their readers fill. */
#ifndef ATN_CLOUD_RANGES_H
#define ATN_CLOUD_RANGES_H

#include "cloud/source.h"

#include <attune/ranges.h>

enum { RANGES_MOST = 4096, RANGES_NAME = 32 }; /* ranges of a file; bytes of an ion's name, with the zero */

typedef struct range_ion {
    char name[RANGES_NAME];
    atn_ion ion;
    bool coloured; /* a range said its colour */
} range_ion;

struct atn_mass_ranges {
    const atn_ctx *ctx;
    const char *format;
    atn_mass_range *range; /* owned, as all that follows */
    size_t n_ranges, range_capacity;
    range_ion *ion;
    size_t n_ions, ion_capacity;
    size_t duplicates, overlaps;
    double *edge;   /* lows and highs, sorted, each once */
    int32_t *at;    /* the range of masses that are this edge; -1: none */
    int32_t *after; /* the range of masses between this edge and the next */
    size_t edges;
};

/* What one line says: its ion as the elements that it is made of. */
typedef struct range_line {
    double low, high, volume;
    uint32_t colour;
    bool coloured;
    char name[RANGES_NAME]; /* "TiO", "C2": elements in the order of the line */
    size_t length;          /* of the name */
    size_t parts;           /* different elements */
    int32_t element;        /* of the last of them */
    int32_t atoms;
} range_line;

/* `count` atoms of an element more; false: there is no room for the name. */
bool range_line_add(range_line *line, const char *element, size_t count);

/* A range; the same once more is left out. */
atn_status ranges_add(atn_mass_ranges *ranges, const source *where, const range_line *line);

/* Numbers as people have them, with a point or a comma. All of it, and finite. */
bool ranges_number(const char *field, double *out);

atn_status ranges_rrng_read(source *s, atn_mass_ranges *ranges);
atn_status ranges_rng_read(source *s, atn_mass_ranges *ranges);

bool ranges_rrng_begins(const char *head, size_t length);

/* As atn_mass_ranges_read, for bytes in memory. */
atn_status atn_mass_ranges_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                      atn_mass_ranges **out);

#endif
