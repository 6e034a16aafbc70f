/* Structs that begin with their own size: accepting, checking and filling those of other versions. */
#include "base/sized.h"

#include <attune/version.h>

#include <string.h>

static size_t size_of(const void *sized, size_t known) {
    size_t size;
    memcpy(&size, sized, sizeof size);
    return size ? size : known;
}

atn_status atn_sized_check(const atn_ctx *ctx, const char *name, const void *sized, size_t known) {
    if (!sized) return ATN_OK;
    size_t size = size_of(sized, known);
    if (size >= sizeof size && size <= known) return ATN_OK;
    if (size > known && size < 16 * known) /* most likely a newer header, otherwise uninitialised memory */
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "%s: its size is %zu bytes, attune " ATN_VERSION
                        " knows %zu: the program was built with a newer header than this library",
                        name, size, known);
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: its size is %zu bytes, expected %zu: initialise it with ATN_INIT(%s)",
                    name, size, known, name);
}

atn_status atn_sized_take(const atn_ctx *ctx, const char *name, const void *given, size_t known, void *copy) {
    memset(copy, 0, known);
    memcpy(copy, &known, sizeof known);
    if (!given) return ATN_OK;
    atn_status status = atn_sized_check(ctx, name, given, known);
    if (status != ATN_OK) return status;
    memcpy(copy, given, size_of(given, known));
    memcpy(copy, &known, sizeof known);
    return ATN_OK;
}

atn_status atn_sized_give(const atn_ctx *ctx, const char *name, const void *made, size_t known, void *out) {
    atn_status status = atn_sized_check(ctx, name, out, known);
    if (status != ATN_OK) return status;
    if (!out) return ATN_OK;
    size_t size = size_of(out, known);
    memmove(out, made, size);
    memcpy(out, &size, sizeof size);
    return ATN_OK;
}
