/* Random numbers: the state of xoshiro256** is four words, filled by splitmix64 so that similar seeds give unrelated
 * sequences. */
#include "base/random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t turn_left(uint64_t word, int by) { return word << by | word >> (64 - by); }

void atn_random_seed(atn_random *random, uint64_t seed) {
    for (int k = 0; k < 4; ++k) random->state[k] = splitmix(&seed);
}

uint64_t atn_random_next(void *random) {
    uint64_t *s = ((atn_random *)random)->state;
    uint64_t result = turn_left(s[1] * 5, 7) * 9, carried = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= carried;
    s[3] = turn_left(s[3], 45);
    return result;
}

uint64_t atn_random_below(atn_random *random, uint64_t limit) {
    uint64_t word = atn_random_next(random);
    if (word < limit) { /* 2^64 mod limit, which is less, of the lowest words would be one too many */
        uint64_t rest = -limit % limit;
        while (word < rest) word = atn_random_next(random);
    }
    return word % limit;
}

double atn_random_unit(atn_random *random) { return (double)(atn_random_next(random) >> 11) * 0x1p-53; }

double atn_random_normal(atn_random *random) {
    double radius = sqrt(-2 * log(1 - atn_random_unit(random)));
    return radius * cos(6.283185307179586 * atn_random_unit(random));
}

void atn_random_shuffle(atn_random *random, int32_t *list, int32_t count) {
    for (int32_t k = count - 1; k > 0; --k) {
        int32_t other = (int32_t)atn_random_below(random, (uint64_t)k + 1), held = list[k];
        list[k] = list[other];
        list[other] = held;
    }
}
