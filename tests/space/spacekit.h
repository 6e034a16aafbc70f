/* What the tests of spaces share: parsing text, brute force through atn_space_why, and random spaces. */
#ifndef ATN_TEST_SPACEKIT_H
#define ATN_TEST_SPACEKIT_H

#include "testkit.h"

#include "base/text.h"
#include "space/space.h"

enum { SPACE_MOST = 16 }; /* parameters of a space in a test */

atn_space *space_of(atn_ctx *ctx, const char *text); /* must parse; owned by the caller */
uint64_t space_count(atn_ctx *ctx, const atn_space *space);
/* Steps to the next combination of levels, the last parameter fastest; false behind the last. */
bool space_next(const atn_space *space, int32_t *levels);
/* Counts by trying all combinations of levels; -1: one of them cannot be judged. */
int64_t space_brute(atn_ctx *ctx, const atn_space *space);
/* A random space as text, from a seed: values, iterators, derived values and constraints of many kinds. */
void space_random(uint64_t seed, atn_text *out);

#endif
