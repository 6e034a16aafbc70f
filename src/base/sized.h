/* Structs of the public interface that begin with their own size (docs/interface.md): a program that was built with an
 * older header passes a shorter one. Settings are completed with zeros, results are filled up to their size; a struct
 * that is longer than this library knows is refused. Size 0 means the struct as it was in 0.2.0, the first version with
 * sizes: a zeroed struct is valid. */
#ifndef ATN_BASE_SIZED_H
#define ATN_BASE_SIZED_H

#include "base/context.h"

/* Copies `given` (NULL: all zeros) to *copy, a struct of `known` bytes whose first field is its size. */
atn_status atn_sized_take(const atn_ctx *ctx, const char *name, const void *given, size_t known, void *copy);
/* Is the size in *out one that can be filled? NULL: no result is requested. */
atn_status atn_sized_check(const atn_ctx *ctx, const char *name, const void *out, size_t known);
/* Copies *made to *out as far as that goes; its own size stays, and 0 becomes `known`. Nothing happens if the size is
 * wrong or out is NULL. */
atn_status atn_sized_give(const atn_ctx *ctx, const char *name, const void *made, size_t known, void *out);

/* `copy` and `made` have the type that is named. */
#define ATN_TAKE(ctx, type, given, copy) atn_sized_take(ctx, #type, (const type *){given}, sizeof(type), (type *){copy})
#define ATN_CHECK_OUT(ctx, type, out)    atn_sized_check(ctx, #type, (const type *){out}, sizeof(type))
#define ATN_GIVE(ctx, type, made, out)   atn_sized_give(ctx, #type, (const type *){made}, sizeof(type), (type *){out})

#endif
