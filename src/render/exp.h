/* Exponentials in single precision, printed as functions of the program: polynomials, which vectorise everywhere, and
 * the 2^x instruction of the hardware if a dialect has no name for it. */
#ifndef ATN_RENDER_EXP_H
#define ATN_RENDER_EXP_H

#include "base/text.h"

#include <stdint.h>

typedef enum atn_exp_dialect { ATN_EXP_IN_C, ATN_EXP_IN_OPENCL, ATN_EXP_IN_CUDA } atn_exp_dialect;

typedef struct atn_exp_form {
    atn_exp_dialect dialect;
    int32_t width;  /* lanes of the vector; 1: a scalar */
    int32_t degree; /* 3 to 7 */
    bool finite;    /* no argument is NaN, and none so large that the result is infinite */
    bool fast;      /* the compiler may reorder: what it must not simplify is written in integers */
} atn_exp_form;

/* Largest relative error of the polynomial of a degree (3 to 7), with coefficients in single precision. */
double atn_exp_error(int32_t degree);

/* Defines atn_exp<width>. */
void atn_render_exp(atn_text *out, const atn_exp_form *form);

/* Defines atn_exp2_<width>. */
void atn_render_exp2(atn_text *out, const atn_exp_form *form);

/* Defines atn_exp2_half<width>, of a vector of halves, in C: a polynomial of degree 3, accurate to a few units in the
 * last place of a half. */
void atn_render_exp2_half(atn_text *out, const atn_exp_form *form);

/* Defines atn_native_exp2 for a scalar: one instruction on NVIDIA hardware, which flushes subnormal numbers to 0. */
void atn_render_native_exp2(atn_text *out, atn_exp_dialect dialect);

#endif
