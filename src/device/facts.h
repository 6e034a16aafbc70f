/* Properties of a backend for code that generates and plans: one row of a table each, so that no code compares names.
 */
#ifndef ATN_DEVICE_FACTS_H
#define ATN_DEVICE_FACTS_H

#include <attune/device.h>

typedef struct atn_backend_facts {
    const char *name;
    bool threads;       /* work is shared among this process's threads: no work-groups, and done when it is queued */
    bool vectors;       /* its language has vector types */
    bool shuffle;       /* items of a warp hand values to each other */
    int32_t matrix;     /* architecture (sm_N) from which on warps multiply matrices of halves; 0: none does */
    int32_t products;   /* the same for products of matrices of singles alone */
    int32_t warpgroup;  /* the one on which four warps do it together; 0: none */
    bool waits;         /* groups of a launch may wait for those that began before them */
    bool exact_exp2;    /* the native exp2 errs by some units in the last place wherever its argument lies */
    int32_t warp;       /* items that go together */
    int32_t queues;     /* that a plan gains from */
    int32_t index;      /* bits of an address that cost nothing */
    int64_t most_local; /* bytes of local memory that a source may declare; 0: as many as the device has */
    const char *flags;  /* of every build; NULL: none */
} atn_backend_facts;

/* Of a backend that is not in the table (a test's): a device with work-groups and nothing else. */
const atn_backend_facts *atn_backend_facts_of(const atn_device_info *info);
bool atn_backend_is(const char *name, const char *other);    /* the same one; either may be any text */
bool atn_device_has_matrix(const atn_device_info *info);     /* units that multiply matrices of halves */
bool atn_device_has_products(const atn_device_info *info);   /* products of singles, if nothing else */
bool atn_device_has_warpgroup(const atn_device_info *info);  /* the same for four warps together */
bool atn_device_cannot_compile(const atn_device_info *info); /* the host without a compiler: its description says so */

#endif
