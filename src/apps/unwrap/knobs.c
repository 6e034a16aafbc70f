/* Knobs of the solver as text, "smoother=jacobi,cycle=V,before=2,...", as used by spaces/unwrap.lanai and stored in the
 * wisdom database; and looking them up for a device and a size. */
#include "apps/unwrap/knobs.h"
#include "apps/unwrap/smooth.h"

#include "base/memory.h"
#include "kernel/known.h"
#include "tune/key.h"

#include <attune/unwrap.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word stands for its place in the list; without words it is a number. */
static const struct knob {
    const char *name;
    size_t offset;
    const char *word[3];
} KNOBS[] = {
    {"smoother", offsetof(unwrap_knobs, smoother), {"", "redblack", "jacobi"}},
    {"cycle", offsetof(unwrap_knobs, cycle), {"", "V", "W"}},
    {"before", offsetof(unwrap_knobs, before), {NULL}},
    {"after", offsetof(unwrap_knobs, after), {NULL}},
    {"coarsest", offsetof(unwrap_knobs, coarsest), {NULL}},
    {"fuse", offsetof(unwrap_knobs, fuse), {NULL}},
};
enum { KNOB_COUNT = sizeof KNOBS / sizeof *KNOBS };

static bool read_one(const char *text, size_t length, unwrap_knobs *out) {
    for (size_t k = 0; k < KNOB_COUNT; ++k) {
        size_t name = strlen(KNOBS[k].name);
        if (length < name + 2 || strncmp(text, KNOBS[k].name, name) != 0 || text[name] != '=') continue;
        const char *value = text + name + 1;
        int32_t *to = (int32_t *)((char *)out + KNOBS[k].offset), number = 0;
        length -= name + 1;
        for (int w = 1; KNOBS[k].word[0] && w < 3; ++w)
            if (strlen(KNOBS[k].word[w]) == length && strncmp(value, KNOBS[k].word[w], length) == 0) number = w;
        if (!KNOBS[k].word[0]) {
            if (length > 4 || strspn(value, "0123456789") < length) return false;
            number = (int32_t)strtol(value, NULL, 10);
        } else if (number == 0)
            return false;
        *to = number;
        return true;
    }
    return false;
}

bool unwrap_knobs_read(const char *text, unwrap_knobs *out) {
    *out = (unwrap_knobs){0};
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        if (!read_one(at, length, out)) return false;
        at += length + (at[length] == ',');
    }
    return out->smoother && out->cycle && out->before >= 1 && out->before <= UNWRAP_SWEEPS && out->after >= 1 &&
           out->after <= UNWRAP_SWEEPS && out->coarsest >= 4 && out->coarsest <= UNWRAP_COARSEST && out->fuse <= 1;
}

void unwrap_knobs_print(const unwrap_knobs *knobs, char *text, size_t bytes) {
    size_t at = 0;
    for (size_t k = 0; k < KNOB_COUNT && at < bytes; ++k) {
        int32_t value = *(const int32_t *)((const char *)knobs + KNOBS[k].offset);
        int n = KNOBS[k].word[0] ? snprintf(text + at, bytes - at, "%s%s=%s", k ? "," : "", KNOBS[k].name,
                                            KNOBS[k].word[value == 2 ? 2 : 1])
                                 : snprintf(text + at, bytes - at, "%s%s=%d", k ? "," : "", KNOBS[k].name, value);
        at += (size_t)n;
    }
}

unwrap_knobs unwrap_knobs_usual(void) {
    return (unwrap_knobs){.smoother = ATN_UNWRAP_SMOOTHER_JACOBI,
                          .cycle = ATN_UNWRAP_CYCLE_V,
                          .before = 2,
                          .after = 2,
                          .coarsest = 100,
                          .fuse = 1};
}

atn_wisdom_key unwrap_knobs_key(const atn_device_info *info, int64_t width, int64_t height, int32_t bits) {
    static const char *const WHAT[] = {"unwrap: a frame in 32 bits", "unwrap: a frame in 64 bits"};
    atn_wisdom_key key = atn_tune_key_device(info);
    key.kernel = "unwrap";
    key.graph = atn_hash_add_text((atn_hash){0}, WHAT[bits == 64]);
    key.generator = ATN_GENERATOR_VERSION;
    key.n_shape = 2;
    key.shape[0] = width;
    key.shape[1] = height;
    key.layout = bits == 64 ? "DP" : "SP";
    key.tolerance = "derived";
    return key;
}

atn_status unwrap_knobs_find(const atn_ctx *ctx, const atn_device_info *info, int64_t width, int64_t height,
                             int32_t bits, unwrap_knobs *out, char *from, size_t bytes) {
    atn_wisdom_key key = unwrap_knobs_key(info, width, height, bits);
    atn_hit hit;
    snprintf(from, bytes, "usual");
    *out = unwrap_knobs_usual();
    atn_status status = atn_known_find(ctx, &key, &hit);
    if (status != ATN_OK) return status;
    unwrap_knobs found;
    if (hit.kind != ATN_HIT_NONE && unwrap_knobs_read(hit.variant, &found)) {
        *out = found;
        snprintf(from, bytes, "measured at %lld x %lld", (long long)hit.shape[0], (long long)hit.shape[1]);
    }
    atn_hit_free(&hit);
    return ATN_OK;
}
