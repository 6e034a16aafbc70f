/* Numbers as bytes: put together from bytes, so that the order of this machine does not matter. */
#include "cloud/binary.h"

#include <string.h>

static const unsigned char BYTES[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0};

size_t number_bytes(number_type type) { return BYTES[type]; }

bool number_is_whole(number_type type) { return type < NUMBER_F32; }

static uint64_t load(const void *from, size_t bytes, bool big) {
    const unsigned char *b = from;
    uint64_t bits = 0;
    for (size_t k = 0; k < bytes; ++k) bits = bits << 8 | b[big ? k : bytes - 1 - k];
    return bits;
}

uint32_t number_load_u32(const void *from, bool big) { return (uint32_t)load(from, 4, big); }

static double as_float(uint64_t bits) {
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return (double)value;
}

static double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double number_load(number_type type, const void *from, bool big) {
    uint64_t bits = load(from, BYTES[type], big);
    switch (type) {
    case NUMBER_I8:
        return (int8_t)bits;
    case NUMBER_I16:
        return (int16_t)bits;
    case NUMBER_I32:
        return (int32_t)bits;
    case NUMBER_I64:
        return (double)(int64_t)bits;
    case NUMBER_F32:
        return as_float(bits);
    case NUMBER_F64:
        return as_double(bits);
    default:
        return (double)bits;
    }
}

void number_add(atn_text *to, number_type type, double value, bool big) {
    uint64_t bits = 0;
    size_t bytes = BYTES[type];
    if (type == NUMBER_F64)
        memcpy(&bits, &value, sizeof bits);
    else if (type == NUMBER_F32) {
        float single = (float)value;
        uint32_t half;
        memcpy(&half, &single, sizeof half);
        bits = half;
    } else
        bits = (uint64_t)(int64_t)value;
    char out[8];
    for (size_t k = 0; k < bytes; ++k) out[big ? bytes - 1 - k : k] = (char)(bits >> 8 * k & 255);
    atn_text_add_bytes(to, out, bytes);
}
