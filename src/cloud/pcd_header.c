/* The header of a PCD file: lines that name the fields, their sizes, types and counts, and how many points there are.
 */
#include "cloud/pcd.h"

#include "base/size.h"
#include "cloud/fields.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = CLOUD_PIECE }; /* of a point */

enum entry { VERSION, FIELDS, SIZE, TYPE, COUNT, WIDTH, HEIGHT, VIEWPOINT, POINTS, DATA, N_ENTRIES };
static const char *const ENTRIES[] = {"VERSION", "FIELDS", "SIZE",      "TYPE",   "COUNT",
                                      "WIDTH",   "HEIGHT", "VIEWPOINT", "POINTS", "DATA"};

static const struct {
    const char *word, *told;
    pcd_data data;
} STORED[] = {
    {"ascii", "PCD, text", PCD_TEXT},
    {"binary", "PCD, binary", PCD_BINARY},
    {"binary_compressed", "PCD, binary, compressed", PCD_COMPRESSED},
};

static const struct {
    char letter;
    size_t bytes;
    number_type type;
} TYPES[] = {
    {'I', 1, NUMBER_I8},  {'U', 1, NUMBER_U8},  {'I', 2, NUMBER_I16}, {'U', 2, NUMBER_U16}, {'I', 4, NUMBER_I32},
    {'U', 4, NUMBER_U32}, {'I', 8, NUMBER_I64}, {'U', 8, NUMBER_U64}, {'F', 4, NUMBER_F32}, {'F', 8, NUMBER_F64},
};

typedef struct reader {
    source *s;
    atn_cloud *cloud;
    pcd_header *out;
    bool seen[N_ENTRIES];
    size_t width, height;
    size_t bytes[PCD_MOST_FIELDS]; /* of one value */
    char letter[PCD_MOST_FIELDS];
    char name[PCD_MOST_FIELDS][EXTRA_NAME]; /* cut short if it is longer */
} reader;

static atn_status read_field_name(reader *r, const char *name) {
    pcd_header *h = r->out;
    if (h->fields == PCD_MOST_FIELDS) return source_wrong(r->s, "more than %d fields", PCD_MOST_FIELDS);
    pcd_field *f = &h->field[h->fields++];
    *f = (pcd_field){.values = 1, .role = cloud_role_of(name), .extra = SIZE_MAX};
    snprintf(r->name[h->fields - 1], EXTRA_NAME, "%s", name);
    if (f->role == ROLE_NONE) return ATN_OK;
    if (h->roles & ROLE_BIT(f->role)) return source_wrong(r->s, "a second field '%.40s'", name);
    h->roles |= ROLE_BIT(f->role);
    return ATN_OK;
}

/* SIZE, TYPE or COUNT: a word for each field. */
static atn_status read_per_field(reader *r, enum entry entry, char *rest) {
    pcd_header *h = r->out;
    if (!r->seen[FIELDS]) return source_wrong(r->s, "%s before FIELDS", ENTRIES[entry]);
    size_t k = 0;
    for (const char *word; (word = fields_next(&rest)); ++k) {
        if (k == h->fields) return source_wrong(r->s, "%s has more words than there are fields", ENTRIES[entry]);
        bool good = true;
        if (entry == SIZE)
            good = field_count(word, &r->bytes[k]);
        else if (entry == COUNT)
            good = field_count(word, &h->field[k].values) && h->field[k].values && h->field[k].values <= PCD_MOST_COUNT;
        else
            r->letter[k] = word[1] ? '?' : word[0];
        if (!good) return source_wrong(r->s, "'%.40s' cannot be a %s", word, ENTRIES[entry]);
    }
    return k == h->fields ? ATN_OK
                          : source_wrong(r->s, "%s has %zu words, FIELDS has %zu", ENTRIES[entry], k, h->fields);
}

static atn_status read_whole(reader *r, enum entry entry, char *rest, size_t *out) {
    const char *word = fields_next(&rest);
    if (word && field_count(word, out)) return ATN_OK;
    return source_wrong(r->s, "%s is '%.40s'; a whole number is needed", ENTRIES[entry], word ? word : "");
}

static atn_status read_data(reader *r, char *rest) {
    const char *word = fields_next(&rest);
    for (size_t k = 0; word && k < sizeof STORED / sizeof *STORED; ++k) {
        if (strcmp(word, STORED[k].word) != 0) continue;
        r->out->data = STORED[k].data;
        snprintf(r->cloud->format, sizeof r->cloud->format, "%s", STORED[k].told);
        return ATN_OK;
    }
    return source_wrong(r->s, "DATA '%.40s'; ascii, binary and binary_compressed are read", word ? word : "");
}

static atn_status read_entry(reader *r, enum entry entry, char *rest) {
    if (r->seen[entry]) return source_wrong(r->s, "a second %s", ENTRIES[entry]);
    r->seen[entry] = true;
    atn_status status = ATN_OK;
    switch (entry) {
    case FIELDS:
        for (const char *word; status == ATN_OK && (word = fields_next(&rest));) status = read_field_name(r, word);
        return status;
    case SIZE:
    case TYPE:
    case COUNT:
        return read_per_field(r, entry, rest);
    case WIDTH:
        return read_whole(r, entry, rest, &r->width);
    case HEIGHT:
        return read_whole(r, entry, rest, &r->height);
    case POINTS:
        return read_whole(r, entry, rest, &r->out->points);
    case DATA:
        return read_data(r, rest);
    default:
        return ATN_OK; /* the version says nothing more; the viewpoint is where the sensor was */
    }
}

static atn_status finish_fields(reader *r) {
    pcd_header *h = r->out;
    for (size_t k = 0; k < h->fields; ++k) {
        pcd_field *f = &h->field[k];
        f->type = NUMBER_NONE;
        for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; ++t)
            if (TYPES[t].letter == r->letter[k] && TYPES[t].bytes == r->bytes[k]) f->type = TYPES[t].type;
        if (f->type == NUMBER_NONE)
            return source_wrong(r->s,
                                "field %zu has type %c of %zu bytes; I and U of 1, 2, 4 or 8 and F of 4 or 8 are read",
                                k + 1, r->letter[k], r->bytes[k]);
        f->at = h->bytes;
        h->bytes += number_bytes(f->type) * f->values; /* at most 128 * 8 * 65536 */
        h->values += f->values;
    }
    if (h->bytes > MOST_BYTES)
        return source_wrong(r->s, "a point of %zu bytes; at most %d are read", h->bytes, MOST_BYTES);
    atn_status status = ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < h->fields; ++k) {
        pcd_field *f = &h->field[k];
        bool padding = strcmp(r->name[k], "_") == 0;
        if (f->role == ROLE_NONE && !padding)
            status = cloud_add_extra(r->cloud, r->name[k], f->type, f->values, &f->extra);
    }
    return status;
}

static atn_status finish(reader *r) {
    static const enum entry needed[] = {FIELDS, SIZE, TYPE, WIDTH, HEIGHT};
    for (size_t k = 0; k < sizeof needed / sizeof *needed; ++k)
        if (!r->seen[needed[k]] && !(needed[k] >= WIDTH && r->seen[POINTS]))
            return source_wrong(r->s, "the header has no %s", ENTRIES[needed[k]]);
    if (r->seen[WIDTH] && r->seen[HEIGHT]) {
        size_t points;
        if (!atn_size_mul(r->width, r->height, &points))
            return source_wrong(r->s, "%zu x %zu points are more than any memory holds", r->width, r->height);
        if (r->seen[POINTS] && points != r->out->points)
            return source_wrong(r->s, "POINTS is %zu, WIDTH times HEIGHT is %zu", r->out->points, points);
        r->out->points = points;
    }
    return finish_fields(r);
}

atn_status pcd_header_read(source *s, atn_cloud *cloud, pcd_header *out) {
    reader r = {.s = s, .cloud = cloud, .out = out};
    char *line;
    s->text = true;
    atn_status status = source_skip_mark(s);
    while (status == ATN_OK && !r.seen[DATA]) {
        status = source_line(s, &line);
        if (status != ATN_OK) return status;
        if (!line) return source_wrong(s, "the header does not end; it ends with DATA");
        const char *word = *line == '#' ? NULL : fields_next(&line);
        if (!word) continue;
        if (strcmp(word, "COLUMNS") == 0) word = "FIELDS"; /* of old files */
        int k = 0;
        while (k < N_ENTRIES && strcmp(word, ENTRIES[k]) != 0) ++k;
        if (k == N_ENTRIES) return source_wrong(s, "unknown keyword '%.40s' in the PCD header", word);
        status = read_entry(&r, (enum entry)k, line);
    }
    return status == ATN_OK ? finish(&r) : status;
}
