/* Eigenvalues, eigenvectors and the inverse of small symmetric matrices. All in double. Elements are finite and their
 * squares do not overflow. */
#ifndef ATN_GEOM_EIGEN_H
#define ATN_GEOM_EIGEN_H

#include <stdbool.h>
#include <stdint.h>

enum { GEOM_EIGEN_MOST = 6 }; /* rows */

/* Of an n x n matrix, n <= GEOM_EIGEN_MOST: values ascend, the columns of `vector` belong to them and have length 1. */
void geom_eigen(int32_t n, const double *matrix, double *value, double *vector);

/* Of a 3 x 3 matrix as xx, yy, zz, xy, xz, yz: values ascend, vector[k] belongs to value[k]. */
void geom_eigen3(const double matrix[6], double value[3], double vector[3][3]);

/* The same in less time for the smallest eigenvalue's vector alone. The other two values are exact to 1e-7 of the
 * largest, where they are nearly equal. */
void geom_least3(const double matrix[6], double value[3], double direction[3]);

/* The same of a matrix as xx, xy, xz, yy, yz, zz. */
void geom_least_direction(const double matrix[6], double values[3], double direction[3]);

/* Inverse of an n x n matrix that is positive; false where it is not, to working precision. */
bool geom_invert_symmetric(int32_t n, const double *matrix, double *out);

#endif
