/* Numbers in text. A host program may have set a locale that writes 0,5; ours never does. */
#include "base/number.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t plain; /* made once, kept */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double atn_number_read(const char *text, char **end) {
    pthread_once(&once, make_plain);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}

void atn_number_print(double value, char text[ATN_NUMBER_TEXT]) {
    static const int digits[] = {9, 15, 16, 17};
    pthread_once(&once, make_plain);
    locale_t before = plain ? uselocale(plain) : (locale_t)0; /* of this thread only */
    for (size_t k = 0; k < sizeof digits / sizeof *digits; ++k) {
        snprintf(text, ATN_NUMBER_TEXT, "%.*g", digits[k], value);
        if (strtod(text, NULL) == value) break;
    }
    if (before) uselocale(before);
}
