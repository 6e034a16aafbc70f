/* Any bytes as a range file: read or refused, without leaks, and every mass is in a range that has it, or in none. */
#include "cloud/ranges.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const atn_mass_ranges *ranges, size_t size) {
    atn_mass_ranges_info info = atn_mass_ranges_info_of(ranges);
    if (info.ranges == 0 || info.ranges > size || info.ions == 0 || info.ions > info.ranges) abort();
    for (size_t k = 0; k < info.ranges; ++k) {
        atn_mass_range r = *atn_mass_ranges_get(ranges, k);
        const double masses[] = {r.low, r.high, r.low + (r.high - r.low) / 2};
        for (size_t m = 0; m < 3; ++m) {
            int32_t found = atn_mass_ranges_find(ranges, masses[m]);
            if (found < 0) abort();
            atn_mass_range other = *atn_mass_ranges_get(ranges, (size_t)found);
            if (masses[m] < other.low || masses[m] > other.high || other.high - other.low > r.high - r.low) abort();
        }
        if (r.ion < 0 || (size_t)r.ion >= info.ions || !*atn_mass_ranges_ion(ranges, (size_t)r.ion)->name) abort();
    }
    if (atn_mass_ranges_find(ranges, NAN) >= 0 || atn_mass_ranges_find(ranges, -1) >= 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    atn_ctx *ctx;
    atn_mass_ranges *ranges;
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    atn_status status = atn_mass_ranges_read_bytes(ctx, "fuzz.rrng", (const char *)data, size, &ranges);
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    if (status == ATN_OK) use(ranges, size);
    atn_mass_ranges_free(ranges);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
