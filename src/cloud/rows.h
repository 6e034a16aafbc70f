/* Rows that several ranks write into one file, each at its own offset, and their columns. */
#ifndef ATN_CLOUD_ROWS_H
#define ATN_CLOUD_ROWS_H

#include "ranks/ranks.h"

#include <attune/frame.h>

/* As atn_atom_rows_open_xyz and _pos (columns NULL), by all ranks, whose rows follow each other: `rows` of all, `own`
 * of this rank, which are `length` bytes long (those of POS are all as long: that is not looked at). */
atn_status rows_open_ranks(atn_ctx *ctx, const char *path, size_t rows, size_t own, uint64_t length,
                           const atn_atom_rows_column *columns, atn_ranks *ranks, atn_atom_rows **out);
atn_status rows_not_a_file(const atn_ctx *ctx, const char *path); /* refused: it has no parts */
/* How long rows of XYZ are, without making them. */
enum { ROWS_VALUES = 64 }; /* of a row, at most */
typedef struct rows_ruler {
    int32_t values, digits[ROWS_VALUES];
    size_t fixed; /* bytes that every row has, but for the species, where all numbers have one digit before the point */
    double power[ROWS_VALUES];
} rows_ruler;
void rows_ruler_make(const atn_atom_rows_column *columns, rows_ruler *out);
/* The bytes of `count` rows, whose values follow each other. */
void rows_measure(const rows_ruler *ruler, size_t count, const char *const *species, const double *values,
                  size_t *lengths);
/* In place of atn_atom_rows_finish: the file is there when all have written theirs. */
atn_status rows_finish_ranks(atn_atom_rows *rows, atn_status own);

/* As atn_atom_rows_add for the next `count` rows, which all cores generate: `fill` returns the species and the values
 * of row k, for several rows concurrently. */
typedef void rows_fill(void *user, size_t k, const char **species, double *values);
atn_status rows_add_some(atn_atom_rows *rows, size_t count, rows_fill *fill, void *user);

#endif
