/* SDF, ISO 25178-71: heights as value x Zscale in metres. bISO-1.0 is an 81-byte header and numbers, little-endian;
 * aISO-1.0 is text: lines "Name = value" up to a line "*", numbers up to the next "*", then a part for people. */
#include "image/formats.h"

#include "base/number.h"
#include "base/size.h"
#include "cloud/binary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAGIC = 8, HEADER = 81, NUM_POINTS = 42, SCALES = 46, COMPRESSION = 78, MOST_SIZE = 1 << 30 };

typedef struct sdf {
    double points, profiles; /* columns, rows */
    double scale[3];         /* x, y, z in metres */
    double compression, type;
} sdf;

/* The numbers of the two headers that matter; the binary one has them at fixed places. */
static const struct {
    const char *name;
    size_t offset;
    number_type type;
    size_t at;
} FIELDS[] = {
    {"NumPoints", offsetof(sdf, points), NUMBER_U16, NUM_POINTS},
    {"NumProfiles", offsetof(sdf, profiles), NUMBER_U16, NUM_POINTS + 2},
    {"Xscale", offsetof(sdf, scale[0]), NUMBER_F64, SCALES},
    {"Yscale", offsetof(sdf, scale[1]), NUMBER_F64, SCALES + 8},
    {"Zscale", offsetof(sdf, scale[2]), NUMBER_F64, SCALES + 16},
    {"Compression", offsetof(sdf, compression), NUMBER_U8, COMPRESSION},
    {"DataType", offsetof(sdf, type), NUMBER_U8, COMPRESSION + 1},
};
enum { N_FIELDS = sizeof FIELDS / sizeof *FIELDS };

static double *field(sdf *d, size_t k) { return (double *)((char *)d + FIELDS[k].offset); }

/* Types of values, and the value of each that means "none". Text has the same types. */
static const struct {
    double code;
    number_type type;
    double invalid;
} TYPES[] = {{5, NUMBER_I16, INT16_MIN}, {6, NUMBER_I32, INT32_MIN}, {7, NUMBER_F64, NAN}};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };

bool image_sdf_begins(const char *head, size_t length) {
    return length >= MAGIC && (memcmp(head, "aISO-1.0", MAGIC) == 0 || memcmp(head, "bISO-1.0", MAGIC) == 0);
}

/* Room for what the header says, once the bytes that are left can hold it. */
static atn_status begin(const source *s, const sdf *d, size_t *type, bool text, raster *out) {
    if (d->compression != 0) return source_wrong(s, "packed data (compression %g); save it without", d->compression);
    for (*type = 0; *type < N_TYPES && TYPES[*type].code != d->type;) ++*type;
    if (*type == N_TYPES) return source_wrong(s, "values of type %g; 5, 6 and 7 are read", d->type);
    if (!(d->points >= 1 && d->points <= MOST_SIZE && d->profiles >= 1 && d->profiles <= MOST_SIZE) ||
        d->points != floor(d->points) || d->profiles != floor(d->profiles))
        return source_wrong(s, "%g x %g values; both must be whole and positive", d->points, d->profiles);
    if (!isfinite(d->scale[2]) || d->scale[2] == 0) return source_wrong(s, "a Zscale of %g", d->scale[2]);
    size_t width = (size_t)d->points, height = (size_t)d->profiles;
    size_t least = text ? 2 : number_bytes(TYPES[*type].type); /* a digit and what ends it */
    if (width * height > source_left(s) / least)
        return source_wrong(s, "%zu x %zu values, and %zu bytes are left", width, height, source_left(s));
    return raster_make(out, s, width, height, RASTER_F32);
}

static float height_of(const sdf *d, size_t type, double value) {
    return value == TYPES[type].invalid ? NAN : (float)(value * d->scale[2]);
}

static atn_status read_binary(source *s, sdf *d, size_t *type, raster *out) {
    const char *at;
    atn_status status = source_take(s, HEADER, &at);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < N_FIELDS; ++k) *field(d, k) = number_load(FIELDS[k].type, at + FIELDS[k].at, false);
    status = begin(s, d, type, false, out);
    float *to = out->data;
    for (size_t k = 0; status == ATN_OK && k < out->width * out->height; ++k) {
        status = source_take(s, number_bytes(TYPES[*type].type), &at);
        if (status == ATN_OK) to[k] = height_of(d, *type, number_load(TYPES[*type].type, at, false));
    }
    return status;
}

static char *trimmed(char *text) {
    while (*text == ' ' || *text == '\t') ++text;
    size_t length = strlen(text);
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t')) text[--length] = '\0';
    return text;
}

/* "Name = value": those that matter must be numbers, the others are walked over. */
static atn_status read_entry(const source *s, char *line, sdf *d, bool seen[N_FIELDS]) {
    char *equals = strchr(line, '=');
    if (!equals) return *trimmed(line) ? source_wrong(s, "no line of the header: NAME = VALUE is needed") : ATN_OK;
    *equals = '\0';
    const char *name = trimmed(line), *value = trimmed(equals + 1);
    for (size_t k = 0; k < N_FIELDS; ++k) {
        if (strcasecmp(name, FIELDS[k].name) != 0) continue;
        char *end;
        *field(d, k) = atn_number_read(value, &end);
        if (end == value || *end) return source_wrong(s, "%s is not a number", FIELDS[k].name);
        if (seen[k]) return source_wrong(s, "%s stands here twice", FIELDS[k].name);
        seen[k] = true;
    }
    return ATN_OK;
}

static atn_status read_text_header(source *s, sdf *d) {
    bool seen[N_FIELDS] = {false};
    for (char *line;;) {
        atn_status status = source_line(s, &line);
        if (status != ATN_OK) return status;
        if (!line) return source_wrong(s, "the header does not end; a line '*' ends it");
        if (strcmp(trimmed(line), "*") == 0) break;
        if (s->line > 1) status = read_entry(s, line, d, seen);
        if (status != ATN_OK) return status;
    }
    for (size_t k = 0; k < N_FIELDS; ++k)
        if (!seen[k]) return source_wrong(s, "the header lacks %s", FIELDS[k].name);
    return ATN_OK;
}

static atn_status read_text(source *s, sdf *d, size_t *type, raster *out) {
    s->text = true;
    atn_status status = read_text_header(s, d);
    if (status == ATN_OK) status = begin(s, d, type, true, out);
    if (status != ATN_OK) return status;
    float *to = out->data;
    size_t count = 0, wanted = out->width * out->height;
    for (char *line;;) {
        status = source_line(s, &line);
        if (status != ATN_OK) return status;
        if (!line) return source_wrong(s, "the values do not end; a line '*' ends them");
        char *rest, *word = strtok_r(line, " \t,;", &rest);
        if (word && strcmp(word, "*") == 0) break;
        for (; word; word = strtok_r(NULL, " \t,;", &rest)) {
            char *end = word + strlen(word);
            double value = strcasecmp(word, "BAD") == 0 ? NAN : atn_number_read(word, &end);
            if (end == word || *end) return source_wrong(s, "'%.20s' is not a number", word);
            if (count == wanted) return source_wrong(s, "more than %zu x %zu values", out->width, out->height);
            to[count++] = height_of(d, *type, value);
        }
    }
    if (count < wanted) return source_wrong(s, "%zu values; %zu x %zu are needed", count, out->width, out->height);
    return ATN_OK;
}

atn_status image_sdf_read(source *s, const atn_image_settings *options, raster *out) {
    (void)options;
    const char *head;
    size_t length, type = 0;
    sdf d = {0};
    atn_status status = source_peek(s, MAGIC, &head, &length);
    if (status != ATN_OK) return status;
    bool text = *head == 'a';
    status = text ? read_text(s, &d, &type, out) : read_binary(s, &d, &type, out);
    if (status != ATN_OK) return status;
    out->bits = (int32_t)number_bytes(TYPES[type].type) * 8;
    out->unit = "m";
    for (int k = 0; k < 2; ++k)
        if (d.scale[k] > 0 && isfinite(d.scale[k])) out->spacing_m[k] = d.scale[k];
    snprintf(out->format, sizeof out->format, "SDF, %s, %s", text ? "text" : "binary",
             type == 0   ? "int16"
             : type == 1 ? "int32"
                         : "float64");
    return ATN_OK;
}
