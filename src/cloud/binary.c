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

/* As two's complement of any width. */
static uint64_t whole_bits(number_type type, double value) {
    static const struct {
        double low, high;
    } RANGE[] = {{-128, 127}, {0, 255}, {-32768, 32767}, {0, 65535}, {-0x1p31, 0x1p31 - 1}, {0, 0x1p32 - 1}};
    if (!(value == value)) return 0;
    if (type == NUMBER_I64)
        return value >= 0x1p63 ? (uint64_t)INT64_MAX : (uint64_t)(value < -0x1p63 ? INT64_MIN : (int64_t)value);
    if (type == NUMBER_U64) return value >= 0x1p64 ? UINT64_MAX : value < 0 ? 0 : (uint64_t)value;
    double low = RANGE[type].low, high = RANGE[type].high;
    return (uint64_t)(int64_t)(value < low ? low : value > high ? high : value);
}

static uint64_t bits_of(number_type type, double value) {
    uint64_t bits = 0;
    if (type == NUMBER_F64)
        memcpy(&bits, &value, sizeof bits);
    else if (type == NUMBER_F32) {
        float single = (float)value;
        uint32_t half;
        memcpy(&half, &single, sizeof half);
        bits = half;
    } else
        bits = whole_bits(type, value);
    return bits;
}

void number_store(number_type type, double value, char *to) {
    uint64_t bits = bits_of(type, value);
    for (size_t k = 0; k < BYTES[type]; ++k) to[k] = (char)(bits >> 8 * k & 255);
}

void number_copy(number_type type, const void *from, bool big, char *to) {
    const char *bytes = from;
    for (size_t k = 0, n = BYTES[type]; k < n; ++k) to[k] = bytes[big ? n - 1 - k : k];
}

void number_add(atn_text *to, number_type type, double value, bool big) {
    uint64_t bits = bits_of(type, value);
    size_t bytes = BYTES[type];
    char out[8];
    for (size_t k = 0; k < bytes; ++k) out[big ? bytes - 1 - k : k] = (char)(bits >> 8 * k & 255);
    atn_text_add_bytes(to, out, bytes);
}
