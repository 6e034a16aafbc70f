/* Rows of extended XYZ and of POS, one after the other. Numbers have a fixed count of digits behind the point and are
 * printed as whole numbers, 10^d x, with the point put in: tens of millions of rows take seconds. */
#include "base/memory.h"
#include "base/number.h"
#include "base/writer.h"

#include <attune/frame.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 64, MOST_NAME = 64, NUMBER = ATN_NUMBER_TEXT };

struct atn_atom_rows {
    const atn_ctx *ctx;
    atn_writer *writer;
    char *path;
    size_t rows, added;
    bool pos, species;
    size_t values;
    int digits[MOST_VALUES]; /* behind the point, of each value; negative: a whole number */
};

static const double POWER[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

static char *put_whole(char *at, uint64_t number, int least) {
    char digit[24];
    int count = 0;
    do digit[count++] = (char)('0' + number % 10);
    while ((number /= 10) || count < least);
    while (count) *at++ = digit[--count];
    return at;
}

/* At most NUMBER bytes. */
static char *put_number(char *at, double value, int digits) {
    double scaled = value * POWER[digits < 0 ? 0 : digits];
    if (!(fabs(scaled) < 9e15)) { /* NaN too */
        atn_number_print(value, at);
        return at + strlen(at);
    }
    uint64_t whole = (uint64_t)(fabs(scaled) + 0.5);
    if (scaled < 0 && whole) *at++ = '-';
    at = put_whole(at, whole, digits < 0 ? 1 : digits + 1);
    if (digits <= 0) return at;
    memmove(at - digits + 1, at - digits, (size_t)digits);
    at[-digits] = '.';
    return at + 1;
}

static void swap_put(char *at, double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    for (int k = 0; k < 4; ++k) at[k] = (char)(bits >> (24 - 8 * k) & 255);
}

static atn_status rows_make(atn_ctx *ctx, const char *path, size_t rows, atn_atom_rows **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->ctx = ctx;
    (*out)->rows = rows;
    (*out)->path = atn_strdup(ctx, path);
    atn_status status = (*out)->path ? atn_writer_open(ctx, path, &(*out)->writer) : ATN_ERR_MEMORY;
    if (status == ATN_OK) return ATN_OK;
    atn_atom_rows_free(*out);
    *out = NULL;
    return status;
}

void atn_atom_rows_free(atn_atom_rows *r) {
    if (!r) return;
    atn_writer_free(r->writer);
    atn_free(r->ctx, r->path);
    atn_free(r->ctx, r);
}

static atn_status add_head(atn_atom_rows *r, const char *comment, const atn_atom_rows_column *columns) {
    char text[256 + MOST_NAME];
    int length = snprintf(text, sizeof text, "%zu\n", r->rows);
    atn_status status = atn_writer_add(r->writer, text, (size_t)length);
    if (status == ATN_OK && comment) status = atn_writer_add(r->writer, comment, strlen(comment));
    length = snprintf(text, sizeof text, "%sProperties=%s", comment ? " " : "", r->species ? "species:S:1" : "");
    if (status == ATN_OK) status = atn_writer_add(r->writer, text, (size_t)length);
    for (const atn_atom_rows_column *c = columns; status == ATN_OK && c->name; ++c) {
        if (c->width < 1 || c->digits > 9 || (size_t)c->width > MOST_VALUES - r->values || strlen(c->name) > MOST_NAME)
            return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: the column '%.64s' is too wide, or has more than 9 digits",
                            r->path, c->name);
        length = snprintf(text, sizeof text, "%s%s:%c:%d", c == columns && !r->species ? "" : ":", c->name,
                          c->digits < 0 ? 'I' : 'R', (int)c->width);
        for (int32_t k = 0; k < c->width; ++k) r->digits[r->values++] = (int)c->digits;
        status = atn_writer_add(r->writer, text, (size_t)length);
    }
    return status == ATN_OK ? atn_writer_add(r->writer, "\n", 1) : status;
}

atn_status atn_atom_rows_open_xyz(atn_ctx *ctx, const char *path, size_t rows, bool species, const char *comment,
                                  const atn_atom_rows_column *columns, atn_atom_rows **out) {
    atn_status status = rows_make(ctx, path, rows, out);
    if (status != ATN_OK) return status;
    (*out)->species = species;
    status = add_head(*out, comment, columns);
    if (status == ATN_OK) return ATN_OK;
    atn_atom_rows_free(*out);
    *out = NULL;
    return status;
}

atn_status atn_atom_rows_open_pos(atn_ctx *ctx, const char *path, size_t rows, atn_atom_rows **out) {
    *out = NULL;
    if (rows == 0) return atn_fail(ctx, ATN_ERR_INPUT, "%s: POS without atoms would be an empty file", path);
    atn_status status = rows_make(ctx, path, rows, out);
    if (status == ATN_OK) (*out)->pos = true;
    return status;
}

atn_status atn_atom_rows_add(atn_atom_rows *r, const char *species, const double *values) {
    char row[MOST_NAME + MOST_VALUES * (NUMBER + 1) + 1], *at = row;
    ++r->added;
    if (r->pos) {
        for (int k = 0; k < 4; ++k) swap_put(row + 4 * k, values[k]);
        return atn_writer_add(r->writer, row, 16);
    }
    if (r->species) {
        size_t length = species ? strnlen(species, MOST_NAME) : 0;
        if (length == 0) *at++ = 'X';
        for (size_t k = 0; k < length; ++k) *at++ = species[k] > ' ' ? species[k] : '_';
    }
    for (size_t k = 0; k < r->values; ++k) {
        if (at > row) *at++ = ' ';
        at = put_number(at, values[k], r->digits[k]);
    }
    *at++ = '\n';
    return atn_writer_add(r->writer, row, (size_t)(at - row));
}

atn_status atn_atom_rows_finish(atn_atom_rows *r) {
    if (r->added != r->rows)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: %zu rows were announced, %zu were written", r->path, r->rows,
                        r->added);
    return atn_writer_finish(r->writer);
}
