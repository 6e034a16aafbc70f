/* Arrays: vectors, matrices and volumes of any element type, with a pitch, and views into them. A host and a device
 * copy are kept coherent: what is stale is brought up to date when it is needed, not before, and every transfer is
 * counted. On the host's CPU there is one copy only. Sparse matrices in CSR are three such arrays, validated once. */
#ifndef ATTUNE_ARRAY_H
#define ATTUNE_ARRAY_H

#include <attune/device.h>
#include <attune/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_array atn_array;

/* What an array is. A plain value. */
typedef struct atn_array_info {
    atn_type type;               /* of the elements */
    int32_t rank;                /* 1 vector, 2 matrix, 3 volume */
    int64_t shape[ATN_MAX_RANK]; /* as in NPY: (length), (rows, columns), (planes, rows, columns); 1 beyond the rank */
    int64_t pitch;               /* elements from row to row; a vector's: its length. Planes lie one behind the other */
} atn_array_info;

/* ---- making; owned by the caller, freed before the device is closed; used by one thread at a time ---- */
/* All elements start as zero. */
ATN_API atn_status atn_array_create_vector(atn_device *device, atn_type type, int64_t length, atn_array **out);
/* pitch 0: as many as columns; elements between the columns and the pitch are nobody's. */
ATN_API atn_status atn_array_create_matrix(atn_device *device, atn_type type, int64_t rows, int64_t columns,
                                           int64_t pitch, atn_array **out);
ATN_API atn_status atn_array_create_volume(atn_device *device, atn_type type, int64_t planes, int64_t rows,
                                           int64_t columns, int64_t pitch, atn_array **out);
/* Elements that lie in the device's memory already and are somebody else's: on CUDA an address of the primary context
 * (a tensor's), on the host a pointer. They are read and written where they are, outlive the array, and are not freed
 * with it. ATN_ERR_UNSUPPORTED on OpenCL. Who else works on them orders it: atn_device_follow. */
ATN_API atn_status atn_array_create_at(atn_device *device, const atn_array_info *info, void *address, atn_array **out);
/* Views share the elements of their parent, which may be freed before them. */
ATN_API atn_status atn_array_view_range(atn_array *vector, int64_t first, int64_t length, atn_array **out);
ATN_API atn_status atn_array_view_block(atn_array *matrix, int64_t first_row, int64_t first_column, int64_t rows,
                                        int64_t columns, atn_array **out);
/* A vector as the rows of a matrix, side by side; rows * columns is its length. */
ATN_API atn_status atn_array_view_matrix(atn_array *vector, int64_t rows, int64_t columns, atn_array **out);
ATN_API atn_status atn_array_view_row(atn_array *matrix, int64_t row, atn_array **out);     /* a vector */
ATN_API atn_status atn_array_view_plane(atn_array *volume, int64_t plane, atn_array **out); /* a matrix */
ATN_API void atn_array_free(atn_array *array);                                              /* NULL is fine */

ATN_API atn_array_info atn_array_get_info(const atn_array *array);

/* ---- elements ---- */
/* Where the host finds the first element, rows a pitch apart. The pointer holds as long as the array; what it shows,
 * until something else writes to the array. map_write: what is written is seen by all that comes after, until the next
 * call that takes the array; then map again. NULL for an array without elements. */
ATN_API atn_status atn_array_map_read(atn_array *array, const void **out);
ATN_API atn_status atn_array_map_write(atn_array *array, void **out);

/* Where the device finds the first element, up to date for work in atn_device_stream: a CUDA address, or a pointer on
 * the host. What is written there is seen by all that comes after. ATN_ERR_UNSUPPORTED on OpenCL; NULL without
 * elements. */
ATN_API atn_status atn_array_address(atn_array *array, void **out);

/* All elements at once, rows `pitch` elements apart in the caller's memory (0: side by side). */
ATN_API atn_status atn_array_put(atn_array *array, const void *from, int64_t pitch);
ATN_API atn_status atn_array_get(atn_array *array, void *to, int64_t pitch);

/* How often the elements (of the array and all that share them) went to the device and back. Both stay 0 on the host.
 */
ATN_API void atn_array_transfers(const atn_array *array, int64_t *to_device, int64_t *to_host);

/* ---- NPY files ---- */
/* A shape (a, b, c) is a volume of a planes, (a, b) a matrix of a rows and b columns; (n,) and () are vectors. Types:
 * f2 HP, f4 SP, f8 DP, c8 SP2, c16 DP2, i4 INT32, u1 U8, u2 U16, b1 B. Written aside and renamed. */
ATN_API atn_status atn_array_load(atn_device *device, const char *path, atn_array **out);
ATN_API atn_status atn_array_save(atn_array *array, const char *path);

/* ---- sparse matrices ---- */
typedef struct atn_csr atn_csr;

/* Row i has elements start[i] to start[i + 1] - 1; column[k] is where element[k] stands. Refused unless start begins
 * with 0, never falls, and every column exists. Copies all three. */
ATN_API atn_status atn_csr_create(atn_device *device, atn_type type, int64_t rows, int64_t columns,
                                  const int32_t *start, const int32_t *column, const void *element, atn_csr **out);
ATN_API void atn_csr_free(atn_csr *csr); /* NULL is fine */
ATN_API int64_t atn_csr_rows(const atn_csr *csr);
ATN_API int64_t atn_csr_columns(const atn_csr *csr);
ATN_API int64_t atn_csr_count(const atn_csr *csr);       /* of the elements that are stored */
ATN_API atn_array *atn_csr_elements(const atn_csr *csr); /* theirs: may be changed, not freed */

#ifdef __cplusplus
}
#endif
#endif
