/* The table of element types, their conversions and how numbers fit them. */
#include "graph/type.h"

#include <math.h>
#include <string.h>

#define BIT(type) (1u << (type))
#define COMPLEXES (BIT(ATN_SP2) | BIT(ATN_DP2))
#define FLOATS    (BIT(ATN_SP) | BIT(ATN_DP) | COMPLEXES)

static const atn_type_info infos[ATN_TYPE_COUNT] = {
    [ATN_TYPE_NONE] = {"none", NULL, 0, ATN_KIND_NONE, ATN_TYPE_NONE, 0, 0, 0},
    [ATN_B] = {"B", "bool", 1, ATN_KIND_BOOL, ATN_B, 0, 1,
               BIT(ATN_U8) | BIT(ATN_U16) | BIT(ATN_INT32) | BIT(ATN_INDEX) | BIT(ATN_HP) | FLOATS},
    [ATN_U8] = {"U8", NULL, 1, ATN_KIND_INTEGER, ATN_U8, 0, 255,
                BIT(ATN_U16) | BIT(ATN_INT32) | BIT(ATN_INDEX) | BIT(ATN_HP) | FLOATS},
    [ATN_U16] = {"U16", NULL, 2, ATN_KIND_INTEGER, ATN_U16, 0, 65535, BIT(ATN_INT32) | BIT(ATN_INDEX) | FLOATS},
    [ATN_INT32] = {"INT32", "int", 4, ATN_KIND_INTEGER, ATN_INT32, INT32_MIN, INT32_MAX, BIT(ATN_INDEX) | FLOATS},
    [ATN_INDEX] = {"INDEX", NULL, 8, ATN_KIND_INTEGER, ATN_INDEX, INT64_MIN, INT64_MAX, FLOATS},
    [ATN_HP] = {"HP", "half", 2, ATN_KIND_REAL, ATN_HP, 0, 0, FLOATS},
    [ATN_SP] = {"SP", "float", 4, ATN_KIND_REAL, ATN_SP, 0, 0, BIT(ATN_DP) | COMPLEXES},
    [ATN_DP] = {"DP", "double", 8, ATN_KIND_REAL, ATN_DP, 0, 0, BIT(ATN_DP2)},
    [ATN_SP2] = {"SP2", NULL, 8, ATN_KIND_COMPLEX, ATN_SP, 0, 0, BIT(ATN_DP2)},
    [ATN_DP2] = {"DP2", NULL, 16, ATN_KIND_COMPLEX, ATN_DP, 0, 0, 0},
};

const atn_type_info *atn_type_get_info(atn_type type) {
    return &infos[(unsigned)type < ATN_TYPE_COUNT ? type : ATN_TYPE_NONE];
}

const char *atn_type_name(atn_type type) { return atn_type_get_info(type)->name; }

size_t atn_type_bytes(atn_type type) { return atn_type_get_info(type)->bytes; }

atn_type atn_type_from_name(const char *name) {
    for (int t = ATN_TYPE_NONE + 1; t < ATN_TYPE_COUNT; ++t)
        if (!strcmp(infos[t].name, name)) return (atn_type)t;
    size_t length = strlen(name); /* SUM(T): what T is summed in */
    if (length < 7 || strncmp(name, "SUM(", 4) != 0 || length > 8 || name[length - 1] != ')') return ATN_TYPE_NONE;
    char inner[4] = "";
    memcpy(inner, name + 4, length - 5);
    atn_type type = atn_type_from_name(inner);
    return type == ATN_HP ? ATN_SP : type;
}

atn_type atn_type_from_any_name(const char *name) {
    for (int t = ATN_TYPE_NONE + 1; t < ATN_TYPE_COUNT; ++t)
        if (infos[t].c_name && !strcmp(infos[t].c_name, name)) return (atn_type)t;
    return atn_type_from_name(name);
}

bool atn_type_widens(atn_type from, atn_type to) { return from == to || (infos[from].widens_to & BIT(to)); }

atn_type atn_type_common(atn_type a, atn_type b) {
    if (infos[a].kind <= ATN_KIND_INTEGER && a < ATN_INT32) a = atn_type_is_integer(b) ? ATN_INT32 : a;
    if (infos[b].kind <= ATN_KIND_INTEGER && b < ATN_INT32) b = atn_type_is_integer(a) ? ATN_INT32 : b;
    if (atn_type_widens(a, b)) return b;
    if (atn_type_widens(b, a)) return a;
    if (a == ATN_HP || b == ATN_HP) return ATN_SP; /* a wide integer and a half */
    return ATN_DP2;                                /* DP and SP2 */
}

/* IEEE half has 11 significant bits and exponents from -14; the tie rule is that of nearbyint, to even. */
static double round_half(double number) {
    if (!isfinite(number) || number == 0) return number;
    int exponent = ilogb(number), quantum = (exponent < -14 ? -14 : exponent) - 10;
    double rounded = ldexp(nearbyint(ldexp(number, -quantum)), quantum);
    return fabs(rounded) > 65504 ? copysign(INFINITY, number) : rounded;
}

double atn_type_round(atn_type type, double number) {
    switch (infos[type].part) {
    case ATN_HP:
        return round_half(number);
    case ATN_SP:
        return (double)(float)number;
    default:
        return number;
    }
}

int64_t atn_type_wrap(atn_type type, int64_t number) {
    switch (type) {
    case ATN_B:
        return number != 0;
    case ATN_U8:
        return (uint8_t)number;
    case ATN_U16:
        return (uint16_t)number;
    case ATN_INT32:
        return (int32_t)(uint32_t)(uint64_t)number;
    default:
        return number;
    }
}

int64_t atn_type_saturate(atn_type type, double number) {
    if (type == ATN_B) return number != 0; /* a truth value, not a number: 0.5 is true */
    if (isnan(number)) return 0;
    if (number <= (double)infos[type].lowest) return infos[type].lowest;
    if (number >= (double)infos[type].highest) return infos[type].highest;
    return (int64_t)number;
}
