/* Variants known to be good, from manual work or earlier tuning, with which a search begins. */
#ifndef ATN_TUNE_SEEDS_H
#define ATN_TUNE_SEEDS_H

typedef struct atn_seed {
    const char *kernel, *type; /* type NULL: any */
    const char *backend, *variant;
} atn_seed;

extern const atn_seed ATN_SEEDS[]; /* made by the build from `begin on` in kernels/; a row of zeros ends it */

/* The next one of a kernel, the best first: start with `after` NULL; NULL behind the last. `type`: "HP", "SP" or "DP";
 * those of SP count for HP, too. Not all fit every device. */
const atn_seed *atn_seed_next(const char *kernel, const char *type, const char *backend, const atn_seed *after);

#endif
