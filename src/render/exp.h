/* The polynomial exponential, printed as a function of the program so that it vectorises everywhere. */
#ifndef ATN_RENDER_EXP_H
#define ATN_RENDER_EXP_H

#include "base/text.h"

#include <stdint.h>

/* Largest relative error of the polynomial of a degree (3 to 7), without rounding. */
double atn_exp_error(int32_t degree);

/* Defines atn_exp<width>. */
void atn_render_exp(atn_text *out, bool is_c, bool is_cuda, int32_t width, int32_t degree);

#endif
