/* What ranks must have in common before they share work: what they are asked for, and the variants of kernels, which
 * wisdom chooses. Different variants would round differently, and results would depend on the distribution of work. */
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

/* Refused with those words, which follow "rank 3 has ", if any has another one than the first. */
static atn_status check_same(atn_cli_call *call, atn_status status, atn_hash own, const char *words) {
    int32_t other;
    status = atn_ranks_compare(call->ranks, status, &own, sizeof own, &other);
    return status || !other ? status : atn_fail(call->ctx, ATN_ERR_INPUT, "rank %d has %s", (int)other, words);
}

atn_status atn_cli_same_options(atn_cli_call *call) {
    static const char *const OWN[] = {"device", "verbose"}; /* a rank may have its own */
    if (call->ranks->count < 2) return ATN_OK;
    atn_hash own = atn_hash_add_text((atn_hash){0}, call->verb->name);
    own = atn_cli_hash_options(call, own, OWN, sizeof OWN / sizeof *OWN);
    return check_same(call, ATN_OK, own, "other options than rank 0; --device alone may differ");
}

atn_status atn_cli_same_wisdom(atn_cli_call *call) {
    atn_wisdom *wisdom = NULL;
    atn_hash own = {0};
    if (call->ranks->count < 2) return ATN_OK;
    atn_status status = atn_wisdom_open(call->ctx, NULL, true, &wisdom);
    if (!status && wisdom) status = atn_wisdom_entries(wisdom, &(atn_wisdom_filter){0}, add_winner, &own);
    atn_wisdom_close(wisdom);
    return check_same(call, status, own,
                      "other wisdom than rank 0; name one file for all in ATTUNE_WISDOM, or import the same ('attune "
                      "wisdom import')");
}
