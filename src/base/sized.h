/* Structs of the public interface that begin with their own size (docs/interface.md): a program that was built with an
 * older header hands in a shorter one. Settings are completed with zeros, results are filled as far as they go; a
 * struct that is longer than what this library knows is refused. Size 0 stands for the struct as it was in 0.2.0, the
 * first version that had sizes: a zeroed struct is a valid one. */
#ifndef ATN_BASE_SIZED_H
#define ATN_BASE_SIZED_H

#include "base/context.h"

/* `given` (NULL: all zeros) into *copy, a struct of `known` bytes whose first field says so. */
atn_status atn_sized_take(const atn_ctx *ctx, const char *name, const void *given, size_t known, void *copy);
/* Does *out say a size that can be filled? NULL: nobody wants it. */
atn_status atn_sized_check(const atn_ctx *ctx, const char *name, const void *out, size_t known);
/* *made into *out as far as that goes; its own size stays, and 0 becomes `known`. Nothing where the size is wrong, or
 * where out is NULL. */
atn_status atn_sized_give(const atn_ctx *ctx, const char *name, const void *made, size_t known, void *out);

/* `copy` and `made` have the type that is named. */
#define ATN_TAKE(ctx, type, given, copy) atn_sized_take(ctx, #type, (const type *){given}, sizeof(type), (type *){copy})
#define ATN_CHECK_OUT(ctx, type, out)    atn_sized_check(ctx, #type, (const type *){out}, sizeof(type))
#define ATN_GIVE(ctx, type, made, out)   atn_sized_give(ctx, #type, (const type *){made}, sizeof(type), (type *){out})

#endif
