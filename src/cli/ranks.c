/* What ranks must have in common before they share work: the variants of kernels, which wisdom chooses. Different
 * variants would round differently, and results would depend on the distribution of work. */
#include "cli/cli.h"

#include "base/memory.h"
#include "wisdom/wisdom.h"

#include <string.h>

static bool add_winner(void *user, const atn_wisdom_entry *entry) {
    atn_hash *hash = user;
    if (!entry->has_winner) return true;
    const char *const texts[] = {entry->key.kernel, entry->key.backend, entry->key.device, entry->winner.variant};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) *hash = atn_hash_add_text(*hash, texts[k]);
    *hash = atn_hash_add(*hash, entry->key.shape, (size_t)entry->key.n_shape * sizeof *entry->key.shape);
    return true;
}

atn_status atn_cli_same_wisdom(atn_cli_call *call) {
    atn_ranks *ranks = call->ranks;
    atn_wisdom *wisdom = NULL;
    atn_hash own = {0}, *all;
    if (ranks->count < 2) return ATN_OK;
    all = atn_alloc(call->ctx, (size_t)ranks->count * sizeof *all);
    atn_status status = all ? atn_wisdom_open(call->ctx, NULL, true, &wisdom) : ATN_ERR_MEMORY;
    if (!status && wisdom) status = atn_wisdom_entries(wisdom, &(atn_wisdom_filter){0}, add_winner, &own);
    atn_wisdom_close(wisdom);
    status = atn_ranks_allgather(ranks, status, &own, sizeof own, all);
    for (int32_t k = 1; all && k < ranks->count && !status; ++k)
        if (memcmp(&all[k], &all[0], sizeof *all) != 0)
            status = atn_fail(call->ctx, ATN_ERR_INPUT,
                              "rank %d has other wisdom than rank 0; name one file for all in ATTUNE_WISDOM, or import "
                              "the same ('attune wisdom import')",
                              (int)k);
    atn_free(call->ctx, all);
    return status;
}
