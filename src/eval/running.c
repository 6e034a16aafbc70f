/* Running values: the accumulators of a block as they are before and after each step, with the bound that each would
 * have if the iteration ended there. */
#include "eval/interp.h"

#include <string.h>

/* What the accumulators are so far, bounds included; the fold itself goes on from where it was. */
static void look(interp *in, int32_t block, num *values) {
    fold kept[ATN_MAX_ACCS];
    memcpy(kept, in->folds[block], sizeof kept);
    fold_end(in, block);
    for (int32_t k = 0; k < in->graph->blocks[block].n_accs; ++k) values[k] = in->folds[block][k].value;
    memcpy(in->folds[block], kept, sizeof kept);
}

void running_begin(interp *in, int32_t block) {
    if (!in->scans[block]) return;
    interp_begin_folds(in, block);
    look(in, block, in->running[block][1]);
}

void running_step(interp *in, int32_t block) {
    if (!in->scans[block]) return;
    memcpy(in->running[block][0], in->running[block][1], sizeof in->running[block][0]);
    interp_step_folds(in, block);
    look(in, block, in->running[block][1]);
}

/* The results of the whole block are recomputed when they are requested. */
void running_end(interp *in, int32_t block) {
    if (in->scans[block]) in->results_at[block] = 0;
}
