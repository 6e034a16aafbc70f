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
/* The bytes of a row. */
size_t rows_measure(const atn_atom_rows_column *columns, const char *species, const double *values);
/* In place of atn_atom_rows_finish: the file is there when all have written theirs. */
atn_status rows_finish_ranks(atn_atom_rows *rows, atn_status own);

/* As atn_atom_rows_add for the next `count` rows, which all cores generate: `fill` returns the species and the values
 * of row k, for several rows concurrently. */
typedef void rows_fill(void *user, size_t k, const char **species, double *values);
atn_status rows_add_some(atn_atom_rows *rows, size_t count, rows_fill *fill, void *user);

#endif
