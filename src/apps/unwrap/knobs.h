/* Knobs of the solver as text, and looking up their stored values for a device and a size. */
#ifndef ATN_APPS_UNWRAP_KNOBS_H
#define ATN_APPS_UNWRAP_KNOBS_H

#include "base/context.h"
#include "wisdom/wisdom.h"

#include <attune/device.h>

enum { UNWRAP_COARSEST = 1024 /* most cells of the coarsest grid */ };

/* Of frames without weights; all are set. */
typedef struct unwrap_knobs {
    int32_t smoother, cycle; /* atn_unwrap_smoother, atn_unwrap_cycle */
    int32_t before, after, coarsest;
    int32_t fuse; /* 0 or 1 */
} unwrap_knobs;
enum { UNWRAP_KNOBS_TEXT = 128 };
unwrap_knobs unwrap_knobs_usual(void);
bool unwrap_knobs_read(const char *text, unwrap_knobs *out); /* false: not the knobs that there are */
void unwrap_knobs_print(const unwrap_knobs *knobs, char *text, size_t bytes);
atn_wisdom_key unwrap_knobs_key(const atn_device_info *info, int64_t width, int64_t height, int32_t bits);
/* What was measured, or the usual ones; `from` says which. */
atn_status unwrap_knobs_find(const atn_ctx *ctx, const atn_device_info *info, int64_t width, int64_t height,
                             int32_t bits, unwrap_knobs *out, char *from, size_t bytes);

#endif
