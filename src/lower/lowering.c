/* What all passes of lowering share: the first failure, names of declarations, the current variant, and the recursion
 * over nested blocks. */
#include "lower/lowering.h"

#include <stdio.h>

void lower_fail(lowering *l, atn_status status, const char *format, ...) {
    if (l->status != ATN_OK) return;
    char text[512];
    ATN_FORMAT(text, format);
    l->status = atn_fail(l->ctx, status, "%s", text);
}

ir_ref lower_declare(lowering *l, const char *stem, int32_t d, ir_ref value) {
    char name[32];
    snprintf(name, sizeof name, "%s%d", stem, d);
    return ir_declare(l->p, l->block, name, value);
}

int32_t lower_counter(lowering *l, const char *stem, int32_t d) {
    char name[32];
    snprintf(name, sizeof name, "%s%d", stem, d);
    return ir_new_variable(l->p, name, IR_ADDRESS, 1, true);
}

void lower_enter(lowering *l, atn_variant variant) {
    l->v = variant;
    l->cuts = lower_cut(l->g, &variant);
}

lower_scene lower_scene_of(const lowering *l) {
    return (lower_scene){.g = l->g,
                         .v = &l->v,
                         .cuts = &l->cuts,
                         .needs = &l->needs,
                         .host = l->host,
                         .bound = l->bound,
                         .done = l->done};
}

/* The blocks directly inside `parent`, each after those whose results it uses. */
void lower_children(lowering *l, int32_t parent) {
    bool more = true;
    while (more) {
        more = false;
        for (int32_t k = 1; k < l->g->n_blocks; ++k) {
            if (l->g->blocks[k].parent != parent || (l->done >> k & 1) || (l->needs.before[k] & ~l->done)) continue;
            l->make_block(l, k);
            more = l->status == ATN_OK && !l->p->failed;
        }
    }
}
