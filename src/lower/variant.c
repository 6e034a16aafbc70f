/* Variants by name: one table of knobs, from which getting, setting, parsing and printing follow. */
#include "lower/variant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct knob {
    const char *name;
    size_t offset; /* of an int32_t in atn_variant */
    int32_t plain; /* in the plain variant */
    int32_t least, most;
    const char *names; /* names of values, separated by '|', from 0; NULL: numbers */
    bool power;        /* powers of two only */
    const char *meaning;
} knob;

#define AT(field) offsetof(atn_variant, field)
/* clang-format off */
#define CUT_P(d) \
    {"lanes_p" #d, AT(p[d].lanes), 1, 1, 1024, NULL, true, "work-items per group along the points (GPU)"}, \
    {"vec_p" #d, AT(p[d].vec), 1, 1, ATN_MOST_LANES, NULL, true, "vector lanes along the points"}, \
    {"regs_p" #d, AT(p[d].regs), 1, 1, 64, NULL, false, "values that one item holds at once along the points"}, \
    {"pack_p" #d, AT(p[d].pack), 1, 1, 16, NULL, false, "how many of these are adjacent"}, \
    {"seq_p" #d, AT(p[d].seq), 1, 1, 4096, NULL, false, "tiles that a group processes one after the other along the points"}
#define CUT_Q(d) \
    {"lanes_q" #d, AT(q[d].lanes), 1, 1, 1024, NULL, true, "work-items along a range, combined as reduce says (GPU)"}, \
    {"vec_q" #d, AT(q[d].vec), 1, 1, ATN_MOST_LANES, NULL, true, "vector lanes along a range"}, \
    {"regs_q" #d, AT(q[d].regs), 1, 1, 32, NULL, false, "accumulators along a range"}, \
    {"pack_q" #d, AT(q[d].pack), 1, 1, 16, NULL, true, "adjacent steps per item of a scan"}, \
    {"tile_q" #d, AT(q[d].tile), 0, 0, 1 << 20, NULL, false, "length of a staged tile; 0: the whole range"}, \
    {"unroll_q" #d, AT(q[d].unroll), 1, 1, 64, NULL, false, "unrolled steps of the loop over a range"}, \
    {"split_q" #d, AT(q[d].split), 1, 1, 65536, NULL, false, "groups that share a range"}
/* clang-format on */

static const knob KNOBS[] = {CUT_P(0),      CUT_P(1), CUT_P(2), CUT_Q(0), CUT_Q(1), CUT_Q(2),
#define ROW(name, plain, least, most, names, power, rule, meaning)                                                     \
    {#name, AT(name), plain, least, most, names, power, meaning},
                             ATN_KNOBS(ROW)};
enum { N_KNOBS = sizeof KNOBS / sizeof *KNOBS };

static int32_t *field(const atn_variant *variant, const knob *k) {
    return (int32_t *)((char *)(uintptr_t)variant + k->offset);
}

static const knob *find(const char *name) {
    for (size_t k = 0; k < N_KNOBS; ++k)
        if (strcmp(KNOBS[k].name, name) == 0) return &KNOBS[k];
    return NULL;
}

int32_t atn_variant_parts(const atn_variant *v) {
    return v->matrix >= ATN_MATRIX_BFLOAT ? v->matrix - ATN_MATRIX_BFLOAT + 1 : 0;
}

int32_t atn_variant_knob_count(void) { return N_KNOBS; }
const char *atn_variant_knob_name(int32_t k) { return KNOBS[k].name; }

const char *atn_variant_knob_meaning(const char *name) {
    const knob *k = find(name);
    return k ? k->meaning : "";
}

void atn_variant_knob_range(int32_t k, int32_t *least, int32_t *most) {
    *least = KNOBS[k].least;
    *most = KNOBS[k].most;
}

atn_variant atn_variant_plain(void) {
    atn_variant variant = {0};
    for (size_t k = 0; k < N_KNOBS; ++k) *field(&variant, &KNOBS[k]) = KNOBS[k].plain;
    return variant;
}

bool atn_variant_get(const atn_variant *variant, const char *name, int64_t *value) {
    const knob *k = find(name);
    *value = k ? *field(variant, k) : 0;
    return k != NULL;
}

/* The number that `text` stands for; false: none. */
static bool read_value(const knob *k, const char *text, long *value) {
    size_t length = strlen(text);
    if (k->names) {
        const char *at = k->names;
        for (long n = 0; *at; ++n) {
            size_t piece = strcspn(at, "|");
            if (piece == length && strncasecmp(at, text, piece) == 0) {
                *value = n;
                return true;
            }
            at += piece + (at[piece] == '|');
        }
    }
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

atn_status atn_variant_set(const atn_ctx *ctx, atn_variant *variant, const char *name, const char *text) {
    const knob *k = find(name);
    if (!k) {
        atn_text all = {.ctx = ctx};
        for (size_t n = 0; n < N_KNOBS; ++n) atn_text_printf(&all, "%s%s", n ? " " : "", KNOBS[n].name);
        atn_status status =
            atn_fail(ctx, ATN_ERR_INPUT, "variant: unknown knob '%s'; available: %s", name, atn_text_str(&all));
        atn_text_free(&all);
        return status;
    }
    long value;
    if (!read_value(k, text, &value))
        return atn_fail(ctx, ATN_ERR_INPUT, "variant: %s=%s: expected %s", name, text,
                        k->names ? k->names : "a number");
    if (value < k->least || value > k->most || (k->power && (value & (value - 1))))
        return atn_fail(ctx, ATN_ERR_INPUT, "variant: %s=%s: expected %d to %d%s", name, text, k->least, k->most,
                        k->power ? ", a power of two" : "");
    *field(variant, k) = (int32_t)value;
    return ATN_OK;
}

atn_status atn_variant_parse(const atn_ctx *ctx, atn_variant *variant, const char *text) {
    char pair[128];
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ", ");
        if (length >= sizeof pair) return atn_fail(ctx, ATN_ERR_INPUT, "variant: '%.40s...' is not a knob=value", at);
        memcpy(pair, at, length);
        pair[length] = '\0';
        at += length + (at[length] != '\0');
        if (length == 0) continue;
        char *equals = strchr(pair, '=');
        if (!equals) return atn_fail(ctx, ATN_ERR_INPUT, "variant: '%s' is not a knob=value", pair);
        *equals = '\0';
        atn_status status = atn_variant_set(ctx, variant, pair, equals + 1);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

void atn_variant_print(const atn_variant *variant, atn_text *out) {
    bool first = true;
    for (size_t k = 0; k < N_KNOBS; ++k) {
        int32_t value = *field(variant, &KNOBS[k]);
        if (value == KNOBS[k].plain) continue;
        atn_text_printf(out, "%s%s=", first ? "" : ",", KNOBS[k].name);
        first = false;
        const char *names = KNOBS[k].names;
        if (names) {
            for (int32_t n = 0; n < value; ++n) names += strcspn(names, "|") + 1;
            atn_text_add_bytes(out, names, strcspn(names, "|"));
        } else {
            atn_text_printf(out, "%d", value);
        }
    }
}

int32_t atn_variant_items(const atn_variant *v) {
    int32_t items = 1;
    for (int d = 0; d < ATN_MAX_RANK; ++d) items *= v->p[d].lanes * v->q[d].lanes;
    return items;
}

int32_t atn_variant_splits(const atn_variant *v) {
    int32_t splits = 1;
    for (int d = 0; d < ATN_MAX_RANK; ++d) splits = v->q[d].split > splits ? v->q[d].split : splits;
    return splits;
}

bool atn_variant_has_half_exp2(const atn_variant *v) {
    enum { DEGREE = 3 }; /* with an error below that of a half */
    return v->half && v->exp == ATN_EXP_POLYNOMIAL && v->degree == DEGREE;
}

atn_type atn_variant_type(const atn_variant *v, atn_type type) {
    switch (type) {
    case ATN_HP:
        return v->half ? ATN_HP : ATN_SP;
    case ATN_SP2:
        return ATN_SP;
    case ATN_DP2:
        return ATN_DP;
    default:
        return type;
    }
}
