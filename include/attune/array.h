/* Arrays: vectors, matrices and volumes of any element type, with a row pitch, and views into them. Host and device
 * copy are kept coherent: data is transferred when it is needed, and transfers are counted. On the host CPU there is
 * one copy only. Sparse matrices in CSR format are three such arrays, validated once. */
#ifndef ATTUNE_ARRAY_H
#define ATTUNE_ARRAY_H

#include <attune/device.h>
#include <attune/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_array atn_array;

/* Type and shape of an array. */
typedef struct atn_array_info {
    size_t size;                 /* of this struct: ATN_INIT */
    atn_type type;               /* of its elements */
    int32_t rank;                /* 1 vector, 2 matrix, 3 volume */
    int64_t shape[ATN_MAX_RANK]; /* as in NPY: (length), (rows, columns), (planes, rows, columns); 1 beyond the rank */
    int64_t pitch;               /* elements from row to row; of a vector: its length. No gaps between planes */
} atn_array_info;

/* ---- creating; owned by the caller, freed before the device is closed; used by one thread at a time ---- */
/* Elements are initialised to zero. */
ATN_API atn_status atn_array_create_vector(atn_device *device, atn_type type, int64_t length, atn_array **out);
/* pitch 0: the number of columns. Elements between the last column and the pitch are unused. */
ATN_API atn_status atn_array_create_matrix(atn_device *device, atn_type type, int64_t rows, int64_t columns,
                                           int64_t pitch, atn_array **out);
ATN_API atn_status atn_array_create_volume(atn_device *device, atn_type type, int64_t planes, int64_t rows,
                                           int64_t columns, int64_t pitch, atn_array **out);
/* Wraps device memory that the caller owns: on CUDA an address in the primary context (of a tensor), on the host a
 * pointer. It is used in place, must outlive the array and is not freed with it. ATN_ERR_UNSUPPORTED on OpenCL. To
 * synchronise with other work on it: atn_device_follow. */
ATN_API atn_status atn_array_create_at(atn_device *device, const atn_array_info *info, void *address, atn_array **out);
/* Views share the elements of their parent, which may be freed first. */
ATN_API atn_status atn_array_view_range(atn_array *vector, int64_t first, int64_t length, atn_array **out);
ATN_API atn_status atn_array_view_block(atn_array *matrix, int64_t first_row, int64_t first_column, int64_t rows,
                                        int64_t columns, atn_array **out);
/* A vector as a matrix; rows * columns must be its length. */
ATN_API atn_status atn_array_view_matrix(atn_array *vector, int64_t rows, int64_t columns, atn_array **out);
ATN_API atn_status atn_array_view_row(atn_array *matrix, int64_t row, atn_array **out);     /* a vector */
ATN_API atn_status atn_array_view_plane(atn_array *volume, int64_t plane, atn_array **out); /* a matrix */
ATN_API void atn_array_free(atn_array *array);                                              /* NULL is allowed */

ATN_API atn_status atn_array_get_info(const atn_array *array, atn_array_info *out);
static inline atn_array_info atn_array_info_of(const atn_array *array) {
    atn_array_info info = ATN_INIT(atn_array_info);
    atn_array_get_info(array, &info);
    return info;
}

/* ---- elements ---- */
/* Host pointer to the first element, rows a pitch apart. The pointer is valid as long as the array; the data, until
 * something else writes to the array. map_write: writes are visible to all later calls, until the next call that takes
 * the array; then map again. NULL for an empty array. */
ATN_API atn_status atn_array_map_read(atn_array *array, const void **out);
ATN_API atn_status atn_array_map_write(atn_array *array, void **out);

/* Device address of the first element, up to date for work in atn_device_stream: a CUDA address, or a pointer on the
 * host. Writes to it are visible to all later calls. ATN_ERR_UNSUPPORTED on OpenCL; NULL for an empty array. */
ATN_API atn_status atn_array_address(atn_array *array, void **out);

/* Copies all elements from or to the caller's memory, rows `pitch` elements apart there (0: contiguous). */
ATN_API atn_status atn_array_put(atn_array *array, const void *from, int64_t pitch);
ATN_API atn_status atn_array_get(atn_array *array, void *to, int64_t pitch);

/* Number of transfers to the device and back, of the array and all views that share its elements. 0 on the host. */
ATN_API void atn_array_transfers(const atn_array *array, int64_t *to_device, int64_t *to_host);

/* ---- NPY files ---- */
/* A shape (a, b, c) is a volume of a planes, (a, b) a matrix of a rows and b columns; (n,) and () are vectors. Types:
 * f2 HP, f4 SP, f8 DP, c8 SP2, c16 DP2, i4 INT32, u1 U8, u2 U16, b1 B. Saved to a temporary file, then renamed. */
ATN_API atn_status atn_array_load(atn_device *device, const char *path, atn_array **out);
ATN_API atn_status atn_array_save(atn_array *array, const char *path);

/* ---- sparse matrices ---- */
typedef struct atn_csr atn_csr;

/* Row i has elements start[i] to start[i + 1] - 1; column[k] is the column of element[k]. `start` must begin with 0 and
 * not decrease, and every column must exist. All three are copied. */
ATN_API atn_status atn_csr_create(atn_device *device, atn_type type, int64_t rows, int64_t columns,
                                  const int32_t *start, const int32_t *column, const void *element, atn_csr **out);
ATN_API void atn_csr_free(atn_csr *csr); /* NULL is allowed */
ATN_API int64_t atn_csr_rows(const atn_csr *csr);
ATN_API int64_t atn_csr_columns(const atn_csr *csr);
ATN_API int64_t atn_csr_count(const atn_csr *csr);       /* of stored elements */
ATN_API atn_array *atn_csr_elements(const atn_csr *csr); /* owned by the matrix; may be modified, not freed */

#ifdef __cplusplus
}
#endif
#endif
