/* Frees lists of near blocks: separate from the code that builds them, so that the engine can free them. */
#include "apps/register/near.h"

#include "base/memory.h"

static void free_work(reg_near_work *w) {
    atn_array *const all[] = {w->node_count, w->node_first, w->groups, w->node, w->candidate_count, w->candidate_first,
                              w->block,      w->row,        w->keep,   w->rank, w->listed,          w->total};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    *w = (reg_near_work){0};
}

void reg_near_free(reg_near *near, const atn_ctx *ctx) {
    atn_array_free(near->start_array);
    atn_array_free(near->list_array);
    atn_free(ctx, near->start);
    atn_free(ctx, near->list);
    free_work(&near->work);
    *near = (reg_near){0};
}
