/* NPY files, versions 1 to 3: a header that says type, order and shape, then the elements. One vector, matrix or
 * volume. */
#ifndef ATN_NUM_NPY_H
#define ATN_NUM_NPY_H

#include "eval/eval.h"

/* What a file held: elements in the host's byte order, row-major, without gaps. */
typedef struct atn_npy {
    const atn_ctx *ctx;
    void *data; /* owned; see atn_npy_free */
    atn_type type;
    char dtype[16];              /* as the file spells it: "<f4" */
    bool fortran;                /* the file has columns one after the other */
    int32_t dims;                /* 0 to 3 */
    int64_t shape[ATN_MAX_RANK]; /* as the file has it */
    char unit[8];                /* of the elements, where the file says one: "m"; else "" */
} atn_npy;

/* A file; or its bytes, which it takes over (atn_alloc), whatever becomes of them. `name` is for messages. */
atn_status atn_npy_read(const atn_ctx *ctx, const char *path, atn_npy *out);
atn_status atn_npy_take(const atn_ctx *ctx, const char *name, char *bytes, size_t length, atn_npy *out);
void atn_npy_free(atn_npy *npy); /* zeroed ones are fine */

/* As an array: (a, b, c) is a volume of a planes, (a, b) a matrix of a rows and b columns, (n,) and () are vectors. */
atn_view atn_npy_view(const atn_npy *npy);

/* Do the bytes begin as an NPY file does? */
bool atn_npy_begins(const char *bytes, size_t length);

/* What stands before the elements when this is written; their first byte comes next. */
enum { ATN_NPY_HEAD = 256 };
size_t atn_npy_head(const atn_view *view, char head[ATN_NPY_HEAD]);

/* Version 1, C order; written aside and renamed. `unit`: of the elements, at most seven letters; "": not known. */
atn_status atn_npy_write(const atn_ctx *ctx, const char *path, const atn_view *view);
atn_status atn_npy_write_unit(const atn_ctx *ctx, const char *path, const atn_view *view, const char *unit);

#endif
