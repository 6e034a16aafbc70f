/* Transforms in user files: 4 x 4 numbers in a text file, or under "transform" in JSON; the rotation angle of one, and
 * the distance between two. Row-major, target = T source. */
#ifndef ATN_CLI_MATRIX_H
#define ATN_CLI_MATRIX_H

#include "cli/cli.h"

#include <attune/cloud.h>

/* Sixteen numbers apart by blanks, commas or semicolons, lines with # left out; or JSON: 4 lists of 4 or one of 16,
 * alone or as "transform" of an object, such as truth.json and what attune register --json prints. */
atn_status atn_cli_matrix_read(const atn_ctx *ctx, const char *path, double out[16]);
atn_status atn_cli_matrix_write(const atn_ctx *ctx, const char *path, const double matrix[16]); /* four rows */

json_t *atn_cli_json_matrix(const double *values, size_t rows, size_t columns); /* lists of numbers; NULL: no memory */

/* The rotation nearest to the linear part. A plain value. */
typedef struct atn_cli_turn {
    bool known;         /* false: the linear part mirrors, or is flat */
    double rotation[9]; /* row-major */
    double degrees;     /* 0 to 180 */
    double axis[3];     /* unit vector; x without a rotation */
} atn_cli_turn;
atn_cli_turn atn_cli_turn_of(const double matrix[16]);

/* How far `matrix` is from the truth. A plain value. */
typedef struct atn_cli_apart {
    double rotation_deg; /* between the rotations nearest to each */
    double translation;  /* between the last columns */
    double rms;          /* between where they put the points of a cloud */
} atn_cli_apart;
atn_cli_apart atn_cli_matrix_apart(const double matrix[16], const double truth[16], const atn_cloud *cloud);

#endif
