/* The header of an NPY file: shared by npy.c and npy_header.c. */
#ifndef ATN_NUM_NPY_HEADER_H
#define ATN_NUM_NPY_HEADER_H

#include "num/npy.h"

typedef struct npy_header {
    size_t data_at; /* where the elements begin, in bytes */
    char dtype[16];
    bool fortran;
    int32_t dims;
    int64_t shape[ATN_MAX_RANK];
    char unit[8];
} npy_header;

atn_status npy_header_read(const atn_ctx *ctx, const char *name, const char *bytes, size_t length, npy_header *out);

#endif
