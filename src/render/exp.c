/* 2^x = 2^n p(f), n = round(x), f = x - n in [-1/2, 1/2], where p is a polynomial close to 2^f there with p(0) = 1; 2^n
 * is written directly into the exponent bits. Adding 1.5 2^23 rounds x and leaves n in the lowest bits of the sum.
 * exp(x) is the same for x log2 e, with log2 e in two parts, so that f is accurate to the last bit. */
#include "render/exp.h"

#include <stdio.h>

enum { LEAST = 3, MOST = 7 };

/* Minimax fits of the relative error on [-1/2, 1/2] among polynomials with p(0) = 1, for which 2^-127 clamped is the
 * number 0; the error is given after each. */
static const struct {
    double coefficient[MOST + 1], error;
} POLYNOMIALS[] = {
    {{1, 0.6932829271, 0.2422109593, 0.05500893117}, 1.02e-04},
    {{1, 0.6931241934, 0.2402409861, 0.0559064246, 0.0095828531}, 2.9e-06},
    {{1, 0.6931469776, 0.2402224209, 0.05550733743, 0.009671512639, 0.001326472716}, 1.1e-07},
    {{1, 0.6931472029, 0.2402264791, 0.05550332471, 0.009618437357, 0.00133988744, 0.0001535336197}, 1.7e-08},
    {{1, 0.6931471807, 0.2402265107, 0.05550410366, 0.009618038132, 0.001333393506, 0.0001546675632, 1.519615666e-05},
     2.4e-09},
};

static int32_t row_of(int32_t degree) { return degree < LEAST ? 0 : degree > MOST ? MOST - LEAST : degree - LEAST; }

double atn_exp_error(int32_t degree) { return POLYNOMIALS[row_of(degree)].error; }

/* ---- syntax of the dialects ---- */

typedef struct words {
    char real[16], whole[16];      /* the types */
    char to_bits[32], of_bits[32]; /* reinterpretation, applied as a function or a cast */
} words;

static words words_of(const atn_exp_form *form) {
    words w = {"float", "int", "", ""};
    if (form->width > 1) {
        snprintf(w.real, sizeof w.real, "float%d", form->width);
        snprintf(w.whole, sizeof w.whole, "int%d", form->width);
    }
    bool cast = form->dialect == ATN_EXP_IN_C && form->width > 1;
    const char *scalar_to[] = {"atn_bits", "as_int", "__float_as_int"};
    const char *scalar_of[] = {"atn_float", "as_float", "__int_as_float"};
    if (cast) {
        snprintf(w.to_bits, sizeof w.to_bits, "(%s)", w.whole);
        snprintf(w.of_bits, sizeof w.of_bits, "(%s)", w.real);
    } else if (form->width > 1) {
        snprintf(w.to_bits, sizeof w.to_bits, "as_%s", w.whole);
        snprintf(w.of_bits, sizeof w.of_bits, "as_%s", w.real);
    } else {
        snprintf(w.to_bits, sizeof w.to_bits, "%s", scalar_to[form->dialect]);
        snprintf(w.of_bits, sizeof w.of_bits, "%s", scalar_of[form->dialect]);
    }
    return w;
}

/* `condition ? yes : no`, of variables and numbers. */
static void print_select(atn_text *out, const atn_exp_form *form, const words *w, const char *condition,
                         const char *yes, const char *no) {
    bool vector = form->width > 1;
    if (!vector)
        atn_text_printf(out, "%s ? %s : %s", condition, yes, no);
    else if (form->dialect == ATN_EXP_IN_C)
        atn_text_printf(out, "atn_select_%s((%s)(%s), %s - (%s){0}, %s - (%s){0})", w->real, w->whole, condition, yes,
                        w->real, no, w->real);
    else
        atn_text_printf(out, "select((%s)(%s), (%s)(%s), %s)", w->real, no, w->real, yes, condition);
}

/* The maximum of x and a number: one instruction, which compilers do not recognise in expressions of C's vectors. */
static void define_most(atn_text *out, const atn_exp_form *form, const words *w) {
    static const struct {
        int32_t width;
        const char *condition, *text;
    } BUILTINS[] = {
        {4, "defined(ATN_MOST_FLOAT4)", "ATN_MOST_FLOAT4(x, y)"}, /* of aarch64: prelude/c_arm.h */
        {8, "defined(ATN_MOST_FLOAT8)", "ATN_MOST_FLOAT8(x, y)"},
        {16, "defined(ATN_MOST_FLOAT16)", "ATN_MOST_FLOAT16(x, y)"},
        {4, "defined(__SSE__)", "__builtin_ia32_maxps(x, y)"},
        {8, "defined(__AVX__)", "__builtin_ia32_maxps256(x, y)"},
        {16, "defined(__AVX512F__) && defined(__clang__)", "__builtin_ia32_maxps512(x, y, 4)"},
        {16, "defined(__AVX512F__)", "__builtin_ia32_maxps512_mask(x, y, y, (unsigned short)-1, 4)"},
    };
    if (form->dialect != ATN_EXP_IN_C || form->width == 1) return;
    atn_text_printf(out, "INLINE %s atn_exp_most%d(%s x, float least) {\n    %s y = least - (%s){0};\n", w->real,
                    form->width, w->real, w->real, w->real);
    bool any = false;
    for (size_t k = 0; k < sizeof BUILTINS / sizeof *BUILTINS; ++k)
        if (BUILTINS[k].width == form->width) {
            atn_text_printf(out, "#%s %s\n    return (%s)%s;\n", any ? "elif" : "if", BUILTINS[k].condition, w->real,
                            BUILTINS[k].text);
            any = true;
        }
    atn_text_printf(out, "%s    return atn_select_%s(x > y, x, y);\n%s}\n", any ? "#else\n" : "", w->real,
                    any ? "#endif\n" : "");
}

/* y = x, at least `least`; NaN becomes that or stays. */
static void print_most(atn_text *out, const atn_exp_form *form, const words *w, const char *least) {
    atn_text_printf(out, "    %s y = ", w->real);
    if (form->width == 1)
        atn_text_printf(out, form->dialect == ATN_EXP_IN_CUDA ? "fmaxf(x, %s);\n" : "x > %s ? x : %s;\n", least, least);
    else if (form->dialect == ATN_EXP_IN_C)
        atn_text_printf(out, "atn_exp_most%d(x, %s);\n", form->width, least);
    else
        atn_text_printf(out, "max(x, %s);\n", least);
}

/* p by Horner in f^2, each step a pair of coefficients: the multiply-add of aarch64 overwrites its addend, so that
 * every coefficient needs a copy; this halves their number. The copies are loads, for which there are spare pipelines;
 * the empty asm prevents the compiler from replacing them by register moves. */
static void print_pairs(atn_text *out, const words *w, int32_t width, int32_t degree) {
    const double *c = POLYNOMIALS[row_of(degree)].coefficient;
    int32_t top = degree / 2;
    atn_text_printf(out, "#if defined(__aarch64__)\n    static const %s EVEN[] = {", w->real);
    for (int32_t k = 0; k <= top; ++k)
        for (int32_t lane = 0; lane < width; ++lane)
            atn_text_printf(out, "%s%.9ef%s", lane ? ", " : k ? ", {" : "{", c[2 * k], lane + 1 < width ? "" : "}");
    atn_text_printf(out, "};\n    const %s *even = EVEN, f2 = f * f;\n", w->real);
    atn_text_add(out, "    __asm__(\"\" : \"+r\"(even) : \"w\"(x[0]));\n");
    atn_text_printf(out, "    %s p = even[%d]", w->real, top);
    if (degree % 2) atn_text_printf(out, " + f * %.9ef", c[degree]);
    atn_text_add(out, ";\n");
    for (int32_t k = top; k-- > 0;) atn_text_printf(out, "    p = (even[%d] + f * %.9ef) + p * f2;\n", k, c[2 * k + 1]);
    atn_text_add(out, "#else\n");
}

/* p by Horner: from the highest coefficient down. */
static void print_polynomial(atn_text *out, const atn_exp_form *form, const words *w, int32_t degree) {
    const double *c = POLYNOMIALS[row_of(degree)].coefficient;
    bool pairs = form->dialect == ATN_EXP_IN_C && form->width > 1;
    if (pairs) print_pairs(out, w, form->width, degree);
    atn_text_printf(out, "    %s p = ", w->real);
    for (int32_t k = 0; k < degree; ++k) atn_text_add(out, "(");
    atn_text_printf(out, "%.9ef", c[degree]);
    for (int32_t k = degree; k-- > 0;) atn_text_printf(out, " * f + %.9ef)", c[k]);
    atn_text_add(out, pairs ? ";\n#endif\n" : ";\n");
}

/* whole = n, from t = 1.5 2^23 + the value to be rounded. A compiler that may reorder simplifies the difference of two
 * sums to x itself; it cannot do so with the difference of their bits. */
static void print_whole(atn_text *out, const atn_exp_form *form, const words *w) {
    if (!form->fast)
        atn_text_printf(out, "    %s whole = t - 12582912.0f;\n", w->real);
    else if (form->width == 1)
        atn_text_printf(out, "    float whole = (float)(%s(t) - 0x4b400000);\n", w->to_bits);
    else if (form->dialect == ATN_EXP_IN_C)
        atn_text_printf(out, "    %s whole = __builtin_convertvector(%s(t) - 0x4b400000, %s);\n", w->real, w->to_bits,
                        w->real);
    else
        atn_text_printf(out, "    %s whole = convert_%s(%s(t) - 0x4b400000);\n", w->real, w->real, w->to_bits);
}

static void print_scaled(atn_text *out, const words *w) {
    atn_text_printf(out, "    p = %s(%s(p) + (%s(t) << 23));\n", w->of_bits, w->to_bits, w->to_bits);
}

static void print_end(atn_text *out, const atn_exp_form *form, const words *w) {
    if (form->finite) {
        atn_text_add(out, "    return p;\n}\n");
        return;
    }
    atn_text_add(out, "    return ");
    print_select(out, form, w, "x != x", "x", "p");
    atn_text_add(out, ";\n}\n");
}

/* ---- the functions ---- */

/* From -127 down, the exponent bits are 0, and so are all bits of 2^-127 itself; from 128 up, they are those of
 * infinity. */
void atn_render_exp2(atn_text *out, const atn_exp_form *form) {
    words w = words_of(form);
    int32_t degree = row_of(form->degree) + LEAST;
    define_most(out, form, &w);
    atn_text_printf(out, "INLINE %s atn_exp2_%d(%s x) {\n", w.real, form->width, w.real);
    print_most(out, form, &w, "-127.0f");
    if (!form->finite) {
        atn_text_add(out, "    y = ");
        print_select(out, form, &w, "y > 128.0f", "128.0f", "y");
        atn_text_add(out, ";\n");
    }
    atn_text_printf(out, "    %s t = y + 12582912.0f;\n", w.real);
    print_whole(out, form, &w);
    atn_text_printf(out, "    %s f = y - whole;\n", w.real);
    print_polynomial(out, form, &w, degree);
    print_scaled(out, &w);
    print_end(out, form, &w);
}

/* Coefficients that are halves, fitted for arithmetic in halves: maximum error 5.2e-4, mean error 9e-6. */
static const double OF_HALVES[] = {1, 0.693359375, 0.24169921875, 0.054412841796875};

/* The same in halves: adding 1.5 2^10 rounds, and from -15 down the exponent bits are 0. Numbers below 2^-14 are off by
 * less than 2^-15. Coefficients are loaded where they are added, as above. */
void atn_render_exp2_half(atn_text *out, const atn_exp_form *form) {
    const double *c = OF_HALVES;
    int32_t width = form->width;
    atn_text_printf(out, "INLINE half%d atn_exp2_half%d(half%d x) {\n    static const half%d C[] = {", width, width,
                    width, width);
    for (int32_t k = 0; k < 3; ++k)
        for (int32_t lane = 0; lane < width; ++lane)
            atn_text_printf(out, "%s%.9ef%s", lane ? ", " : k ? ", {" : "{", c[k], lane + 1 < width ? "" : "}");
    atn_text_printf(out, "};\n    const half%d *c = C, least = (atn_half)-15.0f - (half%d){0};\n", width, width);
    atn_text_add(out, "#if defined(__aarch64__)\n    __asm__(\"\" : \"+r\"(c) : \"w\"(x[0]));\n#endif\n");
    atn_text_printf(out, "    half%d y = ATN_MOST_HALF%d(x, least);\n", width, width);
    if (!form->finite)
        atn_text_printf(out, "    y = atn_select_half%d(y > (atn_half)16.0f, (atn_half)16.0f - (half%d){0}, y);\n",
                        width, width);
    atn_text_printf(out, "    half%d t = y + (atn_half)1536.0f;\n", width);
    if (form->fast)
        atn_text_printf(out, "    half%d f = y - __builtin_convertvector((short%d)t - 0x6600, half%d);\n", width, width,
                        width);
    else
        atn_text_printf(out, "    half%d f = y - (t - (atn_half)1536.0f);\n", width);
    atn_text_printf(out, "    half%d p = c[2] + f * (atn_half)%.9ef;\n    p = c[1] + p * f;\n    p = c[0] + p * f;\n",
                    width, c[3]);
    atn_text_printf(out, "    p = (half%d)((short%d)p + ((short%d)t << 10));\n", width, width, width);
    if (form->finite)
        atn_text_add(out, "    return p;\n}\n");
    else
        atn_text_printf(out, "    return atn_select_half%d(x != x, x, p);\n}\n", width);
}

/* Below -87.33 the result is less than the smallest normal number: 0. */
void atn_render_exp(atn_text *out, const atn_exp_form *form) {
    words w = words_of(form);
    int32_t degree = row_of(form->degree) + LEAST;
    atn_text_printf(out, "INLINE %s atn_exp%d(%s x) {\n", w.real, form->width, w.real);
    atn_text_printf(out, "    %s t = x * 1.44269504f + 12582912.0f;\n", w.real);
    print_whole(out, form, &w);
    atn_text_printf(out, "    %s f = (x * 1.44269502f - whole) + x * 1.92596303e-8f;\n", w.real);
    print_polynomial(out, form, &w, degree);
    print_scaled(out, &w);
    atn_text_add(out, "    p = ");
    print_select(out, form, &w, "x < -87.33f", "0.0f", "p");
    atn_text_add(out, ";\n");
    if (!form->finite) {
        static const char *const INFINITIES[] = {"__builtin_inff()", "INFINITY", "__int_as_float(0x7f800000)"};
        atn_text_add(out, "    p = ");
        print_select(out, form, &w, "x > 88.7228f", INFINITIES[form->dialect], "p");
        atn_text_add(out, ";\n");
    }
    print_end(out, form, &w);
}

/* Subnormal numbers cost two more multiplications around the instruction and do not matter in a sum. */
void atn_render_native_exp2(atn_text *out, atn_exp_dialect dialect) {
    static const char PTX[] = "{ float y; %s(\"ex2.approx.ftz.f32 %%0, %%1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n";
    if (dialect == ATN_EXP_IN_CUDA) {
        atn_text_add(out, "INLINE float atn_native_exp2(float x) ");
        atn_text_printf(out, PTX, "asm");
    } else if (dialect == ATN_EXP_IN_OPENCL) {
        atn_text_add(out, "#ifdef __NV_CL_C_VERSION\nINLINE float atn_native_exp2(float x) ");
        atn_text_printf(out, PTX, "__asm__");
        atn_text_add(out, "#else\n#define atn_native_exp2(x) native_exp2(x)\n#endif\n");
    }
}
