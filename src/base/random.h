/* Reproducible random numbers from a seed: xoshiro256** (Blackman and Vigna), seeded through splitmix64. Not for
 * secrets. A plain value: copies continue with the same sequence. */
#ifndef ATN_BASE_RANDOM_H
#define ATN_BASE_RANDOM_H

#include <stdint.h>

typedef struct atn_random {
    uint64_t state[4];
} atn_random;

void atn_random_seed(atn_random *random, uint64_t seed);       /* any seed, 0 too */
uint64_t atn_random_next(void *random);                        /* 64 bits; takes void * to be handed on */
uint64_t atn_random_below(atn_random *random, uint64_t limit); /* 0 … limit-1, each equally likely; limit > 0 */
double atn_random_unit(atn_random *random);                    /* in [0, 1) */
double atn_random_normal(atn_random *random);                  /* mean 0, deviation 1 */
void atn_random_shuffle(atn_random *random, int32_t *list, int32_t count);

#endif
