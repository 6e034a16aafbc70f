/* exp(x) = 2^n p(f), n = round(x log2 e), f = x log2 e - n in [-1/2, 1/2], p a polynomial close to 2^f there. log2 e is
 * taken in two pieces, so that f is good to the last bit; 2^n goes straight into the exponent. */
#include "render/exp.h"

#include <stdio.h>

enum { LEAST = 3, MOST = 7 };

/* Fitted for the smallest largest relative error on [-1/2, 1/2], which stands behind each. */
static const struct {
    double coefficient[MOST + 1], error;
} POLYNOMIALS[] = {
    {{0.9999280736, 0.6932609858, 0.2426111221, 0.05517166722}, 7.5e-05},
    {{0.9999992614, 0.6931218147, 0.2402474483, 0.0559178603, 0.009570101698}, 2.6e-06},
    {{1.000000072, 0.6931469671, 0.2402211972, 0.05550713274, 0.009675541333, 0.001327647178}, 7.5e-08},
    {{1.000000001, 0.6931472057, 0.2402264689, 0.05550328777, 0.009618488958, 0.001339993122, 0.0001534581183},
     1.9e-09},
    {{1, 0.6931471807, 0.240226512, 0.05550410353, 0.009618027254, 0.001333392256, 0.0001546929116, 1.520192262e-05},
     4e-11},
};

static int32_t row_of(int32_t degree) { return degree < LEAST ? 0 : degree > MOST ? MOST - LEAST : degree - LEAST; }

double atn_exp_error(int32_t degree) { return POLYNOMIALS[row_of(degree)].error; }

/* p by Horner: from the highest coefficient inwards. */
static void print_polynomial(atn_text *out, int32_t degree) {
    const double *c = POLYNOMIALS[row_of(degree)].coefficient;
    for (int32_t k = 0; k < degree; ++k) atn_text_add(out, "(");
    atn_text_printf(out, "%.9ef", c[degree]);
    for (int32_t k = degree; k-- > 0;) atn_text_printf(out, " * f + %.9ef)", c[k]);
}

void atn_render_exp(atn_text *out, bool is_c, bool is_cuda, int32_t width, int32_t degree) {
    char f[16] = "float", i[16] = "int";
    if (width > 1) {
        snprintf(f, sizeof f, "float%d", width);
        snprintf(i, sizeof i, "int%d", width);
    }
    degree = row_of(degree) + LEAST;
    atn_text_printf(out, "%s %s atn_exp%d(%s x) {\n", "INLINE", f, width, f);
    atn_text_printf(out, "    %s t = x * 1.44269504f;\n", f);
    if (width == 1) {
        const char *to_bits = is_c ? "atn_bits" : is_cuda ? "__float_as_int" : "as_int";
        const char *from_bits = is_c ? "atn_float" : is_cuda ? "__int_as_float" : "as_float";
        atn_text_add(out,
                     "    t = t < -200.0f ? -200.0f : t > 200.0f ? 200.0f : t;\n"
                     "    int n = (int)(t < 0 ? t - 0.5f : t + 0.5f);\n"
                     "    float whole = (float)n, f = (x * 1.44269502f - whole) + x * 1.92596303e-8f;\n    float p = ");
        print_polynomial(out, degree);
        atn_text_printf(out, ";\n    p = %s(%s(p) + (n << 23));\n", from_bits, to_bits);
        atn_text_add(out, "    p = x < -87.33f ? 0.0f : p;\n    p = x > 88.7228f ? 3.4e38f * 10 : p;\n    return x != "
                          "x ? x : p;\n}\n");
        return;
    }
    const char *convert_open = is_c ? "__builtin_convertvector(" : NULL;
    if (convert_open) {
        atn_text_printf(out,
                        "    %s n = __builtin_convertvector(atn_select_%s((%s)(t < 0), t - 0.5f, t + 0.5f), %s);\n", i,
                        f, i, i);
        atn_text_printf(
            out, "    %s f = (x * 1.44269502f - __builtin_convertvector(n, %s)) + x * 1.92596303e-8f;\n    %s p = ", f,
            f, f);
        print_polynomial(out, degree);
        atn_text_printf(out, ";\n    p = (%s)((%s)p + (n << 23));\n", f, i);
        atn_text_printf(out,
                        "    p = atn_select_%s(x < -87.33f, (%s){0}, p);\n    p = atn_select_%s(x > 88.7228f, "
                        "atn_splat_%s(__builtin_inff()), p);\n",
                        f, f, f, f);
        atn_text_printf(out, "    return atn_select_%s(x != x, x, p);\n}\n", f);
        return;
    }
    atn_text_printf(out,
                    "    %s n = convert_%s_sat_rte(t);\n    %s f = (x * 1.44269502f - convert_%s(n)) + x * "
                    "1.92596303e-8f;\n    %s p = ",
                    i, i, f, f, f);
    print_polynomial(out, degree);
    atn_text_printf(out, ";\n    p = as_%s(as_%s(p) + (n << 23));\n    p = select(p, (%s)(0.0f), x < -87.33f);\n", f, i,
                    f);
    atn_text_printf(out, "    p = select(p, (%s)(INFINITY), x > 88.7228f);\n    return select(p, x, x != x);\n}\n", f);
}
