/* Elements in memory: load, store, IEEE half; and whether one that a variant made agrees with the oracle. */
#include "eval/eval.h"

#include "graph/type.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a double: 52 bits of fraction, of a half 10; their exponents are biased by 1023 and 15. */
enum { CUT = 52 - 10, BIAS = 1023 - 15 };

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

double atn_half_to_double(uint16_t half) {
    uint64_t size = half & 0x7fff, sign = (uint64_t)(half & 0x8000) << 48, bits;
    if (size < 1 << 10) /* subnormal */
        bits = bits_of((double)size * 0x1p-24);
    else
        bits = (size + (size < 31 << 10 ? (uint64_t)BIAS << 10 : (uint64_t)(2047 - 31) << 10)) << CUT;
    bits |= sign;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

uint16_t atn_half_from_double(double number) {
    uint64_t bits = bits_of(number) & INT64_MAX;
    uint16_t sign = (uint16_t)(bits_of(number) >> 48 & 0x8000);
    double size = fabs(number);
    if (isnan(number)) return (uint16_t)(sign | 0x7e00);
    if (size >= 65520) return (uint16_t)(sign | 0x7c00); /* halfway beyond the largest, 65504 */
    /* in units of the last place, to nearest, ties to even: below 2^-14 by a sum whose last place is that unit, else by
     * half a unit less one, and one where the unit is odd; a carry moves the exponent */
    if (size < 0x1p-14) return (uint16_t)(sign | (uint16_t)bits_of(size + 0x1p28));
    bits += ((uint64_t)1 << (CUT - 1)) - 1 + (bits >> CUT & 1);
    return (uint16_t)(sign | (uint16_t)((bits >> CUT) - ((uint64_t)BIAS << 10)));
}

atn_view atn_view_unsized(atn_type type, int32_t rank) {
    atn_view view = {.type = type, .rank = rank};
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis) view.size[axis] = -1;
    return view;
}

int64_t atn_view_rows(const atn_view *view) {
    int64_t rows = 1;
    for (int32_t axis = 1; axis < view->rank; ++axis) rows *= view->size[axis];
    return rows;
}

int64_t atn_view_elements(const atn_view *view) { return atn_view_rows(view) * view->size[0]; }

void atn_view_print_shape(const atn_view *view, char *text, size_t bytes) {
    size_t at = 0;
    *text = '\0';
    for (int32_t axis = view->rank; axis-- > 0 && at < bytes;)
        at += (size_t)snprintf(text + at, bytes - at, "%lld%s", (long long)view->size[axis], axis ? "x" : "");
}

size_t atn_view_bytes(const atn_view *view) {
    int64_t pitch = view->rank > 1 ? view->pitch : view->size[0];
    return (size_t)(atn_view_rows(view) * pitch) * atn_type_bytes(view->type);
}

void *atn_view_at(const atn_view *view, int64_t column, int64_t row) {
    int64_t at = view->rank > 1 ? row * view->pitch + column : column;
    return (char *)view->data + at * (int64_t)atn_type_bytes(view->type);
}

void atn_element_load(atn_type type, const void *from, double number[2], int64_t *whole) {
    unsigned char bytes[16];
    float single[2];
    uint16_t word;
    int32_t integer;
    memcpy(bytes, from, atn_type_bytes(type));
    memcpy(&word, bytes, sizeof word);
    memcpy(&integer, bytes, sizeof integer);
    memcpy(single, bytes, sizeof single);
    number[0] = number[1] = 0;
    *whole = 0;
    switch (type) {
    case ATN_B:
        *whole = bytes[0] != 0;
        break;
    case ATN_U8:
        *whole = bytes[0];
        break;
    case ATN_U16:
        *whole = word;
        break;
    case ATN_INT32:
        *whole = integer;
        break;
    case ATN_HP:
        number[0] = atn_half_to_double(word);
        return;
    case ATN_SP:
        number[0] = (double)single[0];
        return;
    case ATN_SP2:
        number[0] = (double)single[0], number[1] = (double)single[1];
        return;
    case ATN_DP:
        memcpy(number, bytes, sizeof *number);
        return;
    case ATN_DP2:
        memcpy(number, bytes, 2 * sizeof *number);
        return;
    default:
        return;
    }
    number[0] = (double)*whole;
}

void atn_element_store(atn_type type, const double number[2], int64_t whole, void *to) {
    unsigned char byte = (unsigned char)(type == ATN_B ? whole != 0 : whole & 255);
    uint16_t word = type == ATN_HP ? atn_half_from_double(number[0]) : (uint16_t)(whole & 65535);
    int32_t integer = (int32_t)atn_type_wrap(ATN_INT32, whole);
    float single[2] = {(float)number[0], (float)number[1]};
    const void *from = type == ATN_B || type == ATN_U8     ? (const void *)&byte
                       : type == ATN_U16 || type == ATN_HP ? (const void *)&word
                       : type == ATN_INT32                 ? (const void *)&integer
                       : type == ATN_SP || type == ATN_SP2 ? (const void *)single
                                                           : (const void *)number;
    memcpy(to, from, atn_type_bytes(type));
}

/* Half an ulp of storage, and what a flushed denormal loses. */
static double storage_error(atn_type type, double number) {
    switch (atn_type_get_info(type)->part) {
    case ATN_HP:
        return fmax(fabs(number) * 0x1p-11, 0x1p-25);
    case ATN_SP:
        return fabs(number) * 0x1p-24 + (fabs(number) < 2 * (double)FLT_MIN && number != 0 ? (double)FLT_MIN : 0);
    default:
        return fabs(number) * 0x1p-53 + (fabs(number) < 2 * DBL_MIN && number != 0 ? DBL_MIN : 0);
    }
}

/* Rounded to the type: what an exact evaluation would store. */
static double stored(atn_type type, double number) {
    atn_type part = atn_type_get_info(type)->part;
    return part == ATN_HP   ? atn_half_to_double(atn_half_from_double(number))
           : part == ATN_SP ? (double)(float)number
                            : number;
}

static bool close_enough(atn_type type, double got, double wanted, double error) {
    if (isnan(wanted) || isnan(got)) return isnan(wanted) && isnan(got);
    if (isinf(wanted)) return got == wanted;
    double low = wanted - error - storage_error(type, wanted), high = wanted + error + storage_error(type, wanted);
    if (isinf(got)) return stored(type, got > 0 ? high : low) == got; /* rounding may reach an infinity */
    return got >= low && got <= high;
}

bool atn_eval_agrees(atn_type type, const void *got, const atn_eval_cell *cell, double slack) {
    if (isinf(cell->bound)) return true;
    double number[2];
    int64_t whole;
    atn_element_load(type, got, number, &whole);
    if (atn_type_is_integer(type)) {
        if (type == ATN_B && *(const unsigned char *)got > 1) return false; /* B is 0 or 1, no other byte */
        return whole == cell->whole;
    }
    double error = (slack > 0 ? slack : 4) * cell->bound;
    if (!close_enough(type, number[0], cell->value[0], error)) return false;
    return !atn_type_is_complex(type) || close_enough(type, number[1], cell->value[1], error);
}

static double fraction(atn_type type, double got, double wanted, double error) {
    if (!close_enough(type, got, wanted, error)) {
        if (!isfinite(got) || !isfinite(wanted)) return INFINITY;
    } else if (!isfinite(got) || !isfinite(wanted)) {
        return 0;
    }
    double off = fabs(got - wanted), allowed = error + storage_error(type, wanted);
    return off == 0 ? 0 : allowed > 0 ? off / allowed : INFINITY;
}

double atn_eval_error(atn_type type, const void *got, const atn_eval_cell *cell, double slack, double more) {
    if (isinf(cell->bound)) return 0;
    if (atn_type_is_integer(type)) return atn_eval_agrees(type, got, cell, slack) ? 0 : INFINITY;
    double number[2], allowed = (slack > 0 ? slack : 4) * cell->bound + more;
    int64_t whole;
    atn_element_load(type, got, number, &whole);
    double real = fraction(type, number[0], cell->value[0], allowed);
    return atn_type_is_complex(type) ? fmax(real, fraction(type, number[1], cell->value[1], allowed)) : real;
}

static void note(const atn_graph *graph, const atn_eval_cell *cell, const void *got, double slack,
                 atn_eval_mismatch *mismatch) {
    if (mismatch->count++) return;
    atn_type type = graph->objects[cell->object].type;
    int64_t whole;
    mismatch->object = cell->object;
    memcpy(mismatch->at, cell->at, sizeof cell->at);
    atn_element_load(type, got, mismatch->got, &whole);
    bool integer = atn_type_is_integer(type);
    mismatch->wanted[0] = integer ? (double)cell->whole : cell->value[0];
    mismatch->wanted[1] = integer ? 0 : cell->value[1];
    mismatch->bound = integer ? 0 : (slack > 0 ? slack : 4) * cell->bound + storage_error(type, cell->value[0]);
}

/* Elements that the run did not write hold what they held. */
static void verify_rest(const atn_graph *graph, const atn_eval_result *result, int32_t object, const atn_view *got,
                        const atn_view *before, atn_eval_mismatch *mismatch) {
    int64_t rows = atn_view_rows(got);
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < got->size[0]; ++column) {
            const void *now = atn_view_at(got, column, row), *then = atn_view_at(before, column, row);
            if (!memcmp(now, then, atn_type_bytes(got->type)) || atn_eval_find(result, object, column, row)) continue;
            atn_eval_cell cell = {.object = object, .at = {column, row}};
            atn_element_load(got->type, then, cell.value, &cell.whole);
            note(graph, &cell, now, 0, mismatch);
        }
}

bool atn_eval_verify(const atn_graph *graph, const atn_eval_result *result, const atn_view *got, const atn_view *before,
                     double slack, atn_eval_mismatch *mismatch) {
    atn_eval_mismatch unused;
    if (!mismatch) mismatch = &unused;
    *mismatch = (atn_eval_mismatch){.object = -1};
    for (int64_t k = 0; k < result->n_cells; ++k) {
        const atn_eval_cell *cell = &result->cells[k];
        const atn_view *view = &got[cell->object];
        const void *at = atn_view_at(view, cell->at[0], cell->at[1]);
        if (!result->blurred[cell->object] && !atn_eval_agrees(view->type, at, cell, slack))
            note(graph, cell, at, slack, mismatch);
    }
    for (int32_t k = 0; before && k < graph->n_objects; ++k)
        if (graph->objects[k].written && !result->blurred[k])
            verify_rest(graph, result, k, &got[k], &before[k], mismatch);
    return mismatch->count == 0;
}
