/* Arithmetic and comparison of values with Python's meaning: '/' is true division, '//' and '%' round towards minus
 * infinity, wholes that leave 64 bits are refused instead of wrapped. */
#include "base/number.h"
#include "space/lanai.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char TOO_LARGE[] = "the result does not fit into 64 bits";
static const char BY_ZERO[] = "division by zero";

static bool is_number(const atn_lan_value *v) {
    return v->kind == ATN_LAN_WHOLE || v->kind == ATN_LAN_REAL || v->kind == ATN_LAN_BOOL;
}
static bool is_whole(const atn_lan_value *v) { return v->kind == ATN_LAN_WHOLE || v->kind == ATN_LAN_BOOL; }
static double real_of(const atn_lan_value *v) { return v->kind == ATN_LAN_REAL ? v->real : (double)v->whole; }

static const char *set_whole(atn_lan_value *out, int64_t value) {
    *out = (atn_lan_value){.kind = ATN_LAN_WHOLE, .whole = value};
    return NULL;
}
static const char *set_real(atn_lan_value *out, double value) {
    *out = (atn_lan_value){.kind = ATN_LAN_REAL, .real = value};
    return NULL;
}
static const char *set_bool(atn_lan_value *out, bool value) {
    *out = (atn_lan_value){.kind = ATN_LAN_BOOL, .whole = value};
    return NULL;
}

/* ---- wholes ---- */

static const char *whole_power(int64_t base, int64_t exponent, atn_lan_value *out) {
    int64_t result = 1;
    if (exponent < 0) {
        if (base == 0) return BY_ZERO;
        return set_real(out, pow((double)base, (double)exponent));
    }
    if (base == 0 || base == 1) return set_whole(out, exponent == 0 ? 1 : base);
    if (base == -1) return set_whole(out, exponent % 2 ? -1 : 1);
    for (; exponent > 0; --exponent) /* at most 63 times before it is too large */
        if (__builtin_mul_overflow(result, base, &result)) return TOO_LARGE;
    return set_whole(out, result);
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

static const char *whole_binary(atn_lan_op op, int64_t a, int64_t b, atn_lan_value *out) {
    int64_t result = 0;
    bool over = false;
    switch (op) {
    case ATN_LAN_ADD:
        over = __builtin_add_overflow(a, b, &result);
        break;
    case ATN_LAN_SUBTRACT:
        over = __builtin_sub_overflow(a, b, &result);
        break;
    case ATN_LAN_MULTIPLY:
        over = __builtin_mul_overflow(a, b, &result);
        break;
    case ATN_LAN_DIVIDE:
        return b == 0 ? BY_ZERO : set_real(out, (double)a / (double)b);
    case ATN_LAN_FLOOR_DIVIDE:
        if (b == 0) return BY_ZERO;
        over = a == INT64_MIN && b == -1;
        if (!over) result = floor_divide(a, b);
        break;
    case ATN_LAN_MODULO:
        if (b == 0) return BY_ZERO;
        result = b == -1 ? 0 : a - floor_divide(a, b) * b;
        break;
    case ATN_LAN_POWER:
        return whole_power(a, b, out);
    case ATN_LAN_BIT_AND:
        result = a & b;
        break;
    case ATN_LAN_BIT_OR:
        result = a | b;
        break;
    case ATN_LAN_BIT_XOR:
        result = a ^ b;
        break;
    case ATN_LAN_SHIFT_LEFT:
        if (b < 0) return "a shift by a negative number";
        over = a != 0 && (b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, &result));
        break;
    case ATN_LAN_SHIFT_RIGHT:
        if (b < 0) return "a shift by a negative number";
        result = a >> (b > 63 ? 63 : b);
        break;
    default:
        return "no such operation";
    }
    return over ? TOO_LARGE : set_whole(out, result);
}

/* ---- reals ---- */

static double real_modulo(double a, double b) {
    double rest = fmod(a, b);
    if (rest == 0) return copysign(0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

static double real_floor_divide(double a, double b) {
    double quotient = (a - real_modulo(a, b)) / b, whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole; /* what subtracting the rest left is near a whole */
}

static const char *real_binary(atn_lan_op op, double a, double b, atn_lan_value *out) {
    switch (op) {
    case ATN_LAN_ADD:
        return set_real(out, a + b);
    case ATN_LAN_SUBTRACT:
        return set_real(out, a - b);
    case ATN_LAN_MULTIPLY:
        return set_real(out, a * b);
    case ATN_LAN_DIVIDE:
        return b == 0 ? BY_ZERO : set_real(out, a / b);
    case ATN_LAN_FLOOR_DIVIDE:
        return b == 0 ? BY_ZERO : set_real(out, real_floor_divide(a, b));
    case ATN_LAN_MODULO:
        return b == 0 ? BY_ZERO : set_real(out, real_modulo(a, b));
    case ATN_LAN_POWER: {
        if (a == 0 && b < 0) return BY_ZERO;
        double result = pow(a, b);
        if (isnan(result) && !isnan(a) && !isnan(b)) return "a root of a negative number";
        if (isinf(result) && isfinite(a) && isfinite(b)) return "the result is too large";
        return set_real(out, result);
    }
    default:
        return "bit operations take whole numbers";
    }
}

/* ---- comparison ---- */

/* Less than 0, 0, more than 0; 2: not ordered (NaN). Exact also where a double cannot hold the whole. */
static int compare_numbers(const atn_lan_value *a, const atn_lan_value *b) {
    if (is_whole(a) && is_whole(b)) return (a->whole > b->whole) - (a->whole < b->whole);
    long double x = is_whole(a) ? (long double)a->whole : (long double)a->real;
    long double y = is_whole(b) ? (long double)b->whole : (long double)b->real;
    if (isnan(x) || isnan(y)) return 2;
    return (x > y) - (x < y);
}

bool atn_lan_equal(const atn_lan_value *a, const atn_lan_value *b) {
    if (is_number(a) && is_number(b)) return compare_numbers(a, b) == 0;
    return a->kind == ATN_LAN_TEXT && b->kind == ATN_LAN_TEXT && a->whole == b->whole;
}

static bool contains(const atn_lan_value *list, const atn_lan_value *value) {
    if (list->kind == ATN_LAN_RANGE) {
        int64_t whole = value->whole;
        if (!is_number(value) || list->count == 0) return false;
        if (value->kind == ATN_LAN_REAL) {
            if (!(fabs(value->real) < 0x1p62) || value->real != floor(value->real)) return false;
            whole = (int64_t)value->real;
        }
        __int128 distance = (__int128)whole - list->whole;
        return distance % list->step == 0 && distance / list->step >= 0 && distance / list->step < list->count;
    }
    for (int64_t k = 0; k < list->count; ++k)
        if (atn_lan_equal(&list->items[k], value)) return true;
    return false;
}

static const char *compare(const atn_space *space, atn_lan_op op, const atn_lan_value *a, const atn_lan_value *b,
                           atn_lan_value *out) {
    if (op == ATN_LAN_IN || op == ATN_LAN_NOT_IN) {
        if (b->kind != ATN_LAN_LIST && b->kind != ATN_LAN_RANGE) return "'in' takes a list: x in (1, 2, 4)";
        if (a->kind == ATN_LAN_LIST || a->kind == ATN_LAN_RANGE) return "a list cannot be in a list";
        return set_bool(out, contains(b, a) == (op == ATN_LAN_IN));
    }
    bool numbers = is_number(a) && is_number(b), texts = a->kind == ATN_LAN_TEXT && b->kind == ATN_LAN_TEXT;
    if (op == ATN_LAN_EQUAL || op == ATN_LAN_UNEQUAL) {
        if (a->kind >= ATN_LAN_LIST || b->kind >= ATN_LAN_LIST) return "lists cannot be compared; use 'in'";
        return set_bool(out, atn_lan_equal(a, b) == (op == ATN_LAN_EQUAL));
    }
    if (!numbers && !texts) return "a number and a text have no order";
    int order = numbers ? compare_numbers(a, b)
                        : strcmp(atn_lan_text(space, (int32_t)a->whole), atn_lan_text(space, (int32_t)b->whole));
    if (numbers && order == 2) return set_bool(out, false);
    bool is = op == ATN_LAN_LESS         ? order < 0
              : op == ATN_LAN_LESS_EQUAL ? order <= 0
              : op == ATN_LAN_GREATER    ? order > 0
                                         : order >= 0;
    return set_bool(out, is);
}

const char *atn_lan_binary(const atn_space *space, atn_lan_op op, const atn_lan_value *a, const atn_lan_value *b,
                           atn_lan_value *out) {
    if (op >= ATN_LAN_EQUAL) return compare(space, op, a, b, out);
    if (!is_number(a) || !is_number(b)) return "arithmetic takes numbers";
    if (is_whole(a) && is_whole(b)) return whole_binary(op, a->whole, b->whole, out);
    return real_binary(op, real_of(a), real_of(b), out);
}

const char *atn_lan_unary(atn_lan_op op, const atn_lan_value *a, atn_lan_value *out) {
    if (!is_number(a)) return "arithmetic takes numbers";
    if (op == ATN_LAN_INVERT)
        return a->kind == ATN_LAN_REAL ? "bit operations take whole numbers" : set_whole(out, ~a->whole);
    if (a->kind == ATN_LAN_REAL) return set_real(out, op == ATN_LAN_NEGATE ? -a->real : a->real);
    if (op == ATN_LAN_PLUS) return set_whole(out, a->whole);
    return a->whole == INT64_MIN ? TOO_LARGE : set_whole(out, -a->whole);
}

bool atn_lan_true(const atn_space *space, const atn_lan_value *value) {
    switch (value->kind) {
    case ATN_LAN_WHOLE:
    case ATN_LAN_BOOL:
        return value->whole != 0;
    case ATN_LAN_REAL:
        return value->real != 0;
    case ATN_LAN_TEXT:
        return *atn_lan_text(space, (int32_t)value->whole) != '\0';
    case ATN_LAN_LIST:
    case ATN_LAN_RANGE:
        return value->count > 0;
    default:
        return false;
    }
}

atn_lan_value atn_lan_item(const atn_lan_value *list, int64_t k) {
    if (list->kind == ATN_LAN_LIST) return list->items[k];
    return (atn_lan_value){.kind = ATN_LAN_WHOLE, .whole = list->whole + k * list->step};
}

/* ---- settings ---- */

/* The number of a text is stored in `whole`, so that comparing texts is comparing numbers. */
atn_lan_value atn_lan_of_setting(const atn_setting *setting) {
    atn_lan_value value = {.whole = setting->whole};
    switch (setting->kind) {
    case ATN_SETTING_WHOLE:
        value.kind = ATN_LAN_WHOLE;
        break;
    case ATN_SETTING_BOOL:
        value.kind = ATN_LAN_BOOL;
        break;
    case ATN_SETTING_TEXT:
        value.kind = ATN_LAN_TEXT;
        break;
    case ATN_SETTING_REAL:
        value.kind = ATN_LAN_REAL;
        value.real = setting->number;
        break;
    }
    return value;
}

atn_setting atn_lan_to_setting(const atn_space *space, const atn_lan_value *value) {
    switch (value->kind) {
    case ATN_LAN_REAL:
        return (atn_setting){
            .kind = ATN_SETTING_REAL,
            .whole = fabs(value->real) < 0x1p62 ? (int64_t)value->real : 0,
            .number = value->real,
        };
    case ATN_LAN_TEXT:
        return (atn_setting){
            .kind = ATN_SETTING_TEXT, .whole = value->whole, .text = atn_lan_text(space, (int32_t)value->whole)};
    default:
        return (atn_setting){.kind = value->kind == ATN_LAN_BOOL ? ATN_SETTING_BOOL : ATN_SETTING_WHOLE,
                             .whole = value->whole,
                             .number = (double)value->whole};
    }
}

/* Lists of points are mostly wholes: printf would take longer than finding the points. */
static void print_whole(int64_t value, atn_text *out) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--at = '-';
    atn_text_add_bytes(out, at, (size_t)(digits + sizeof digits - at));
}

void atn_setting_print(const atn_setting *setting, atn_text *out) {
    char number[40];
    switch (setting->kind) {
    case ATN_SETTING_WHOLE:
        print_whole(setting->whole, out);
        return;
    case ATN_SETTING_BOOL:
        atn_text_add(out, setting->whole ? "True" : "False");
        return;
    case ATN_SETTING_TEXT:
        atn_text_add(out, setting->text);
        return;
    case ATN_SETTING_REAL:
        break;
    }
    for (int digits = 6; digits <= 17; ++digits) { /* the shortest that reads back the same */
        snprintf(number, sizeof number, "%.*g", digits, setting->number);
        for (char *c = number; *c; ++c)
            if (*c == ',') *c = '.'; /* the locale's */
        if (atn_number_read(number, NULL) == setting->number) break;
    }
    atn_text_add(out, number);
    if (!strpbrk(number, ".en")) atn_text_add(out, ".0");
}
