/* Looking up a variant that was compiled into the library. */
#include "device/builtin.h"

#include <stdbool.h>

static bool same(atn_hash a, atn_hash b) { return a.high == b.high && a.low == b.low; }

atn_hash atn_builtin_hash(const char *source) { return atn_hash_add_text((atn_hash){0}, source); }

const atn_builtin *atn_builtin_of_graph(atn_hash graph) {
    for (const atn_builtin *b = ATN_BUILTINS; b->kernel; ++b)
        if (same(b->graph, graph)) return b;
    return NULL;
}

const atn_builtin *atn_builtin_of_source(const char *source) {
    atn_hash hash = atn_builtin_hash(source);
    for (const atn_builtin *b = ATN_BUILTINS; b->kernel; ++b)
        if (same(b->source, hash)) return b;
    return NULL;
}
