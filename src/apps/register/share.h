/* Rows of one registration that several ranks share. Each rank has both clouds. Of a long step each makes the lists and
 * the sums of its own blocks of rows, and gets those of the others: a row has the sums that one process would give it.
 * What is decided from them is decided by the first rank for all, so that none goes another way. */
#ifndef ATN_APPS_REGISTER_SHARE_H
#define ATN_APPS_REGISTER_SHARE_H

#include "apps/register/engine.h"
#include "ranks/ranks.h"

/* The blocks of rows that are this rank's: all, where it is alone or there are few of them. */
typedef struct reg_range {
    size_t first, end;
    bool some; /* others have the rest */
} reg_range;
reg_range reg_share_range(const reg_engine *engine, const reg_side *rows);

/* A side with views of this rank's rows, and where their lists begin. Ended by reg_share_free, zeroed ones are fine. */
typedef struct reg_share {
    reg_side side;
    atn_array *start;
} reg_share;
/* The same of any range; start: where the lists of all rows begin, or NULL. */
atn_status reg_share_view(reg_side *rows, atn_array *start, reg_range range, reg_share *out);
atn_status reg_share_make(const reg_engine *engine, reg_side *rows, const reg_near *near, reg_share *out);
void reg_share_free(reg_share *share);

/* Arrays of the rows that each rank has filled its part of become whole on all; `own`: how that went here. */
atn_status reg_share_join(reg_engine *engine, reg_side *rows, const reg_side *columns, atn_array *const *arrays,
                          size_t count, atn_status own);
/* Numbers that are the first rank's from now on; nothing to do alone. */
atn_status reg_share_same(const reg_engine *engine, void *data, size_t bytes);
/* The pairs that all ranks' lists hold, once they were made anew. */
atn_status reg_share_pairs(const reg_engine *engine, reg_near *near);

/* atn_register_several by ranks that share it, on the first device of each; NULL: alone. d: the clouds are samples of
 * others, over all of which the last steps are taken (distribute.h), or NULL. Not all methods can be shared:
 * cpd, softassign and the published schedule are the first rank's. single: the process registers nothing else. */
bool reg_can_share(const atn_register_settings *settings);
atn_status reg_register_ranks(atn_device *const *devices, int32_t n, const atn_cloud *source, const atn_cloud *target,
                              const atn_register_settings *given, atn_ranks *ranks, struct reg_distribution *d,
                              bool single, atn_register_result *out);

#endif
