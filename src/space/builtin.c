/* The functions that expressions may call, one row each. */
#include "space/lanai.h"

#include "base/memory.h"

#include <math.h>

enum { MOST_TRIALS = 1000000 }; /* of a divisor: n up to 10^12 */

static bool is_whole(const atn_lan_value *v) { return v->kind == ATN_LAN_WHOLE || v->kind == ATN_LAN_BOOL; }
static bool is_number(const atn_lan_value *v) { return is_whole(v) || v->kind == ATN_LAN_REAL; }
static bool is_list(const atn_lan_value *v) { return v->kind == ATN_LAN_LIST || v->kind == ATN_LAN_RANGE; }
static double real_of(const atn_lan_value *v) { return is_whole(v) ? (double)v->whole : v->real; }

atn_lan_value *atn_lan_scratch(atn_lan_env *env, int64_t count) {
    if (count < 0 || count > (int64_t)(ATN_LAN_SCRATCH - env->n_scratch)) return NULL;
    if (!env->scratch) env->scratch = atn_alloc(env->space->ctx, ATN_LAN_SCRATCH * sizeof *env->scratch);
    if (!env->scratch) {
        env->no_memory = true;
        return NULL;
    }
    atn_lan_value *items = env->scratch + env->n_scratch;
    env->n_scratch += (size_t)count;
    return items;
}

/* ---- numbers ---- */

static const char *extreme(const atn_lan_value *arguments, int32_t count, bool largest, atn_lan_value *out) {
    bool list = count == 1 && is_list(&arguments[0]);
    int64_t n = list ? arguments[0].count : count;
    if (n == 0) return "the maximum or minimum of nothing";
    if (list && arguments[0].kind == ATN_LAN_RANGE) {
        *out = atn_lan_item(&arguments[0], (arguments[0].step > 0) == largest ? n - 1 : 0);
        return NULL;
    }
    const atn_lan_value *items = list ? arguments[0].items : arguments;
    *out = items[0];
    for (int64_t k = 0; k < n; ++k) {
        atn_lan_value better;
        if (!is_number(&items[k])) return "it takes numbers";
        if (k == 0) continue;
        const char *wrong = atn_lan_binary(NULL, largest ? ATN_LAN_GREATER : ATN_LAN_LESS, &items[k], out, &better);
        if (wrong) return wrong;
        if (better.whole) *out = items[k];
    }
    return NULL;
}

static const char *call_min(atn_lan_env *env, const atn_lan_value *arguments, int32_t count, atn_lan_value *out) {
    (void)env;
    return extreme(arguments, count, false, out);
}

static const char *call_max(atn_lan_env *env, const atn_lan_value *arguments, int32_t count, atn_lan_value *out) {
    (void)env;
    return extreme(arguments, count, true, out);
}

static const char *call_abs(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    bool negative = is_number(a) && real_of(a) < 0;
    return atn_lan_unary(negative ? ATN_LAN_NEGATE : ATN_LAN_PLUS, a, out);
}

static const char *rounded(const atn_lan_value *a, double (*round_it)(double), atn_lan_value *out) {
    if (!is_number(a)) return "it takes a number";
    int64_t whole = a->whole;
    if (a->kind == ATN_LAN_REAL) {
        double value = round_it(a->real);
        if (!(value >= -0x1p63 && value < 0x1p63)) return "the result does not fit into 64 bits";
        whole = (int64_t)value;
    }
    *out = (atn_lan_value){.kind = ATN_LAN_WHOLE, .whole = whole};
    return NULL;
}

static const char *call_ceil(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    return rounded(a, ceil, out);
}

static const char *call_floor(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    return rounded(a, floor, out);
}

static const char *call_int(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    return rounded(a, trunc, out);
}

static const char *call_float(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    if (!is_number(a)) return "it takes a number";
    *out = (atn_lan_value){.kind = ATN_LAN_REAL, .real = real_of(a)};
    return NULL;
}

static const char *call_log2(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    if (!is_number(a)) return "it takes a number";
    if (!(real_of(a) > 0)) return "log2 takes numbers above zero";
    *out = (atn_lan_value){.kind = ATN_LAN_REAL, .real = log2(real_of(a))};
    return NULL;
}

/* ---- lists ---- */

static const char *call_len(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    if (!is_list(a)) return "it takes a list";
    *out = (atn_lan_value){.kind = ATN_LAN_WHOLE, .whole = a->count};
    return NULL;
}

/* As Python's: here ranges are lists already. */
static const char *call_list(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)env, (void)count;
    if (!is_list(a)) return "it takes a list";
    *out = *a;
    return NULL;
}

static const char *call_range(atn_lan_env *env, const atn_lan_value *arguments, int32_t count, atn_lan_value *out) {
    (void)env;
    for (int32_t k = 0; k < count; ++k)
        if (!is_whole(&arguments[k])) return "range takes whole numbers";
    int64_t lo = count > 1 ? arguments[0].whole : 0, hi = arguments[count > 1].whole;
    int64_t step = count > 2 ? arguments[2].whole : 1;
    if (step == 0) return "range with a step of zero";
    __int128 span = step > 0 ? (__int128)hi - lo : (__int128)lo - hi, stride = step > 0 ? step : -(__int128)step;
    __int128 n = span > 0 ? (span + stride - 1) / stride : 0;
    if (n > INT64_MAX) return "range has too many values";
    *out = (atn_lan_value){.kind = ATN_LAN_RANGE, .whole = lo, .step = step, .count = (int64_t)n};
    return NULL;
}

static const char *call_pow2(atn_lan_env *env, const atn_lan_value *arguments, int32_t count, atn_lan_value *out) {
    (void)count;
    if (!is_whole(&arguments[0]) || !is_whole(&arguments[1])) return "pow2 takes whole numbers";
    atn_lan_value *items = atn_lan_scratch(env, 63);
    if (!items) return "too many values in lists";
    int64_t n = 0;
    for (int bit = 0; bit < 63; ++bit) {
        int64_t value = (int64_t)1 << bit;
        if (value >= arguments[0].whole && value <= arguments[1].whole)
            items[n++] = (atn_lan_value){.kind = ATN_LAN_WHOLE, .whole = value};
    }
    *out = (atn_lan_value){.kind = ATN_LAN_LIST, .items = items, .count = n};
    return NULL;
}

static const char *call_divisors(atn_lan_env *env, const atn_lan_value *a, int32_t count, atn_lan_value *out) {
    (void)count;
    if (!is_whole(a)) return "divisors takes a whole number";
    int64_t n = a->whole, pairs = 0;
    if (n < 1) return "divisors takes numbers above zero";
    if (n > (int64_t)MOST_TRIALS * MOST_TRIALS) return "divisors takes numbers up to 10**12";
    for (int64_t d = 1; d * d <= n; ++d) pairs += n % d == 0;
    atn_lan_value *items = atn_lan_scratch(env, 2 * pairs);
    if (!items) return "too many values in lists";
    int64_t low = 0, high = 2 * pairs;
    for (int64_t d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        items[low++] = (atn_lan_value){.kind = ATN_LAN_WHOLE, .whole = d};
        items[--high] = (atn_lan_value){.kind = ATN_LAN_WHOLE, .whole = n / d};
    }
    if (items[low - 1].whole == items[high].whole) { /* a square: its root came twice */
        for (int64_t k = high; k + 1 < 2 * pairs; ++k) items[k] = items[k + 1];
        --pairs;
        *out = (atn_lan_value){.kind = ATN_LAN_LIST, .items = items, .count = 2 * pairs + 1};
        return NULL;
    }
    *out = (atn_lan_value){.kind = ATN_LAN_LIST, .items = items, .count = 2 * pairs};
    return NULL;
}

const atn_lan_builtin ATN_LAN_BUILTINS[] = {
    {"range", 1, 3, true, call_range},       {"list", 1, 1, true, call_list},
    {"divisors", 1, 1, true, call_divisors}, {"pow2", 2, 2, true, call_pow2},
    {"min", 1, 64, false, call_min},         {"max", 1, 64, false, call_max},
    {"abs", 1, 1, false, call_abs},          {"ceil", 1, 1, false, call_ceil},
    {"floor", 1, 1, false, call_floor},      {"log2", 1, 1, false, call_log2},
    {"int", 1, 1, false, call_int},          {"float", 1, 1, false, call_float},
    {"len", 1, 1, false, call_len},          {0},
};
