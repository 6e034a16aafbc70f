/* How exact a variant's arithmetic is: what the oracle must know to derive its bound. Exponentials in double precision
 * are the library's in every variant; those in single may be a native instruction or a polynomial. A native exp is 2^x
 * of a scaled argument, whose rounding grows with it; NVIDIA's instruction for 2^x itself is good to 2^-22 everywhere,
 * of others' we do not know. */
#include "built/built.h"

#include "device/facts.h"
#include "lower/contract.h"
#include "lower/matrix.h"
#include "render/exp.h"

static bool has_exponential(const atn_graph *g, bool twice) {
    for (atn_value v = 0; v < g->n_values; ++v) {
        const atn_node *node = &g->values[v];
        bool exponential = node->op == ATN_OP_EXP || node->op == ATN_OP_EXP2 || node->op == ATN_OP_EXPM1;
        if (exponential && (node->type == ATN_DP || node->type == ATN_DP2) == twice) return true;
    }
    return false;
}

static bool has_scaled(const atn_graph *g) {
    for (atn_value v = 0; v < g->n_values; ++v)
        if (g->values[v].op == ATN_OP_EXP || g->values[v].op == ATN_OP_EXPM1) return true;
    return false;
}

/* Every factor is two halves, good to 2^-23 of it and 2^-24 of what is divided by 16; products are added up in single
 * precision with a few bits less than rounding would keep. */
static atn_eval_products products_of(const atn_graph *graph, const atn_variant *variant) {
    if (variant->matrix == ATN_MATRIX_OFF || lower_is_contraction(graph)) return (atn_eval_products){0};
    return (atn_eval_products){.unit = MATRIX_FORM_UNIT,
                               .spread = lower_matrix_spread(variant),
                               .weight_unit = variant->matrix == ATN_MATRIX_HALF ? 0x1p-11 : 0x1p-21,
                               .weight_tiny = variant->packed ? 0x1p-14 : 0x1p-24,
                               .largest = variant->packed == 2 ? 0x1p14 : 65504};
}

/* Sums of products of parts: rounded to odd on aarch64, and three to six of them for one of the description. */
static const double PARTS_UNIT = 0x1p-22;

/* The relative error of an element, of which parts of 8 bits are left: 2^-9 after each; and half of that of the
 * products of parts that are omitted. */
static double parts_error(const atn_graph *g, int32_t parts) {
    lower_contraction c;
    bool halves = lower_find_factors(g, &c) && c.type == ATN_HP; /* two hold them */
    if (parts == 1) return 0x1p-9;
    return parts == 2 ? (halves ? 0 : 0x1p-18) + 0x1p-19 : 0x1p-27;
}

atn_eval_options atn_variant_arithmetic(const atn_graph *graph, const atn_variant *variant,
                                        const atn_device_info *info) {
    atn_eval_options options = {.fast = variant->fast, .products = products_of(graph, variant)};
    if (variant->matrix == ATN_MATRIX_PAIR && lower_is_contraction(graph))
        options.unit[ATN_SP] = 0x1p-21;                       /* three products of parts of 11 bits */
    options.unit[ATN_HP] = variant->half ? 0x1p-11 : 0x1p-24; /* stored as halves, computed in singles */
    if (atn_variant_parts(variant) > 0) {
        options.unit[ATN_SP] = options.unit[ATN_HP] = PARTS_UNIT;
        options.element_unit = parts_error(graph, atn_variant_parts(variant));
    }
    if (variant->half == 2) options.run = variant->q[0].tile;
    const atn_backend_facts *facts = atn_backend_facts_of(info);
    if (!has_exponential(graph, false)) {
        if (has_exponential(graph, true)) options.exp_error = 8 * 0x1p-53;
        return options;
    }
    options.exp_error = 8 * 0x1p-24;
    if (variant->exp == ATN_EXP_POLYNOMIAL || variant->mix > 0 || (facts->threads && variant->exp == ATN_EXP_NATIVE))
        options.exp_error += 2 * atn_exp_error(variant->degree) + (atn_variant_has_half_exp2(variant) ? 0x1p-10 : 0);
    else if (variant->exp == ATN_EXP_NATIVE && (has_scaled(graph) || !facts->exact_exp2))
        options.exp_slope = 2 * 0x1p-24;
    if (variant->packed == 1) { /* of a form that is rounded to a half */
        options.exp_error += 0x1p-10;
        options.exp_slope += 0x1p-11;
    }
    if (variant->packed == 2) options.exp_error += 0x1p-11; /* of a fraction that is rounded to a half */
    return options;
}
