/* Where handles of kernels and programs get their text from, and the options that go with it. */
#ifndef ATN_KERNEL_DESCRIPTION_H
#define ATN_KERNEL_DESCRIPTION_H

#include "base/arena.h"
#include "base/limits.h"
#include "graph/graph.h"

#include <attune/kernel.h>

typedef struct atn_description {
    atn_arena arena;
    const char *name, *text;     /* what complaints call it; XML or the notation */
    atn_kernel_settings options; /* copied; its defines are in the arena */
    atn_define pairs[ATN_MOST_DEFINES];
    size_t n_pairs;
} atn_description;

/* A text, the name of one that is shipped, or a file. `options` may be NULL. To be closed in any case. */
atn_status atn_description_open(const atn_ctx *ctx, const char *given, const atn_kernel_settings *options,
                                atn_description *out);
void atn_description_close(atn_description *description);

#endif
