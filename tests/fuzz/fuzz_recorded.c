/* Any bytes as a recorded space, packed or not: read or refused, without leaks; what was read is whole, can be
 * searched, and comes back from T4 as it was. */
#include "base/memory.h"
#include "tune/recorded.h"

#include <stdlib.h>
#include <string.h>

static void check(atn_ctx *ctx, const atn_recorded *recorded) {
    atn_text text = {.ctx = ctx};
    atn_recorded *again;
    int64_t n = atn_recorded_points(recorded);
    for (int64_t k = 0; k < n; ++k) {
        const int32_t *point = atn_recorded_point(recorded, k);
        for (int32_t p = 0; p < atn_recorded_parameters(recorded); ++p)
            if (point[p] < 0 || point[p] >= atn_recorded_levels(recorded, p)) abort();
        if (atn_recorded_find(recorded, point) != k) abort();
    }
    atn_recorded_print_t4(recorded, &text);
    if (atn_recorded_parse(ctx, "again", text.data, text.length, &again)) abort();
    if (atn_recorded_points(again) != n) abort();
    atn_recorded_free(again);
    atn_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    atn_ctx *ctx;
    atn_recorded *recorded;
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    atn_status status = atn_recorded_parse(ctx, "fuzz", (const char *)data, size, &recorded);
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    if (status == ATN_OK) check(ctx, recorded);
    atn_recorded_free(recorded);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
