/* Arithmetic on counts in base 10^9. */
#include "space/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t BASE = 1000000000;

atn_big atn_big_of(atn_wide value) {
    atn_big big = {0};
    for (int k = 0; value; ++k, value /= BASE) big.part[k] = (uint32_t)(value % BASE);
    return big;
}

bool atn_big_multiply(atn_big *a, atn_wide b) {
    atn_big factor = atn_big_of(b), product = {0};
    for (int i = 0; i < ATN_BIG_PARTS; ++i) {
        uint64_t carry = 0;
        for (int j = 0; i + j < ATN_BIG_PARTS; ++j) {
            uint64_t sum = (uint64_t)a->part[i] * factor.part[j] + product.part[i + j] + carry;
            product.part[i + j] = (uint32_t)(sum % BASE);
            carry = sum / BASE;
        }
        if (carry) return false;
        for (int j = ATN_BIG_PARTS - i; j < ATN_BIG_PARTS && a->part[i]; ++j)
            if (factor.part[j]) return false;
    }
    *a = product;
    return true;
}

void atn_big_subtract(atn_big *a, const atn_big *b) {
    int64_t borrow = 0;
    for (int k = 0; k < ATN_BIG_PARTS; ++k) {
        int64_t part = (int64_t)a->part[k] - b->part[k] - borrow;
        borrow = part < 0;
        a->part[k] = (uint32_t)(borrow ? part + BASE : part);
    }
}

atn_count atn_big_count(const atn_big *a) {
    atn_count count = {.fits = true};
    int top = ATN_BIG_PARTS - 1;
    while (top > 0 && a->part[top] == 0) --top;
    size_t length = (size_t)snprintf(count.digits, sizeof count.digits, "%u", a->part[top]);
    for (int k = top; k-- > 0;)
        length += (size_t)snprintf(count.digits + length, sizeof count.digits - length, "%09u", a->part[k]);
    for (int k = top; k >= 0; --k) {
        count.fits = count.fits && !__builtin_mul_overflow(count.whole, (uint64_t)BASE, &count.whole) &&
                     !__builtin_add_overflow(count.whole, (uint64_t)a->part[k], &count.whole);
    }
    count.number = strtod(count.digits, NULL); /* the nearest, which summing up may miss */
    if (!count.fits) count.whole = 0;
    return count;
}
