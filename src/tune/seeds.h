/* Variants that were found good before, by hand or by tuning, to begin a search with. */
#ifndef ATN_TUNE_SEEDS_H
#define ATN_TUNE_SEEDS_H

/* The best first, ended by NULL; NULL: none is known. `type`: "SP" or "DP". Not all fit every device. */
const char *const *atn_seeds_find(const char *kernel, const char *type, const char *backend);

#endif
