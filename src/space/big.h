/* Counts beyond 64 bits: non-negative wholes of up to 189 decimal digits. */
#ifndef ATN_SPACE_BIG_H
#define ATN_SPACE_BIG_H

#include "space/space.h"

typedef unsigned __int128 atn_wide; /* points of one group of parameters */

enum { ATN_BIG_PARTS = 21 };
typedef struct atn_big {
    uint32_t part[ATN_BIG_PARTS]; /* nine digits each, the lowest first */
} atn_big;

atn_big atn_big_of(atn_wide value);
bool atn_big_multiply(atn_big *a, atn_wide b);       /* false: it does not fit */
void atn_big_subtract(atn_big *a, const atn_big *b); /* b <= a */
atn_count atn_big_count(const atn_big *a);

#endif
