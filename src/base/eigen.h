/* Eigenvalues and eigenvectors of a symmetric 3 x 3 matrix. */
#ifndef ATN_BASE_EIGEN_H
#define ATN_BASE_EIGEN_H

/* xx, yy, zz, xy, xz, yz in; the lowest value first, vector[k] of length 1 belongs to value[k]. Elements are finite and
 * their squares do not overflow. */
void atn_eigen_symmetric3(const double matrix[6], double value[3], double vector[3][3]);

#endif
