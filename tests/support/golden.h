/* Golden texts: what a pass makes of a small case, kept in a file beside its test and read by eye when it changes.
 * `tools/renew-golden` writes them anew; `git diff` then shows what changed. */
#ifndef ATN_SUPPORT_GOLDEN_H
#define ATN_SUPPORT_GOLDEN_H

#include "graph/graph.h"
#include "lower/lower.h"
#include "testkit.h"

#include <attune/device.h>

/* The worked cases of docs/lowering.md, with tiles as small as they can be. */
typedef struct golden_case {
    const char *name, *kernel, *backend, *variant;
} golden_case;
extern const golden_case GOLDEN_CASES[];
extern const size_t GOLDEN_CASES_COUNT;

/* A shipped kernel in SP; fails the test where there is none. Owned by the caller. */
atn_sequence *golden_kernel(const atn_ctx *ctx, const char *name);
atn_variant golden_variant(const atn_ctx *ctx, const golden_case *c);
atn_target golden_target(const char *backend); /* a device of the kind, the same on every machine */

/* Devices of five kinds, the same on every machine. */
enum { GOLDEN_AVX2, GOLDEN_AVX512, GOLDEN_NEON, GOLDEN_CUDA, GOLDEN_OPENCL, GOLDEN_DEVICE_KINDS };
extern const atn_device_info GOLDEN_DEVICES[GOLDEN_DEVICE_KINDS];

/* Holds `text` against tests/FOLDER/golden/NAME.txt: the first line that differs fails the test. */
void golden_check(const atn_ctx *ctx, const char *folder, const char *name, const char *text);

#endif
