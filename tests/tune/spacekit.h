/* Spaces of different character for tests of strategies, made here, never recorded: each a recorded space of some
 * thousand points, so that it can be replayed. */
#ifndef ATN_TESTS_SPACEKIT_H
#define ATN_TESTS_SPACEKIT_H

#include "testkit.h"
#include "tune/recorded.h"

typedef struct kit_space {
    const char *name;
    int32_t n_parameters;
    const int32_t *levels;
    bool words;                              /* the last parameter's values are texts */
    double (*seconds)(const int32_t *level); /* INFINITY: fails */
    bool (*allows)(const int32_t *level);    /* NULL: all */
    bool search_pays;                        /* more than chance can be expected of a strategy */
} kit_space;

extern const kit_space KIT_SPACES[]; /* ends with a name of NULL */
const kit_space *kit_space_find(const char *name);
atn_recorded *kit_space_record(atn_ctx *ctx, const kit_space *space);

#endif
