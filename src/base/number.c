/* Numbers in text. A host program may have set a locale that writes 0,5; ours never does. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void atn_number_si(double value, const char *unit, char *text, size_t bytes) {
    static const struct {
        double factor;
        const char *prefix;
    } PREFIXES[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}};
    enum { LAST = sizeof PREFIXES / sizeof *PREFIXES - 1, NONE = 3 };
    char number[ATN_NUMBER_TEXT];
    int k = NONE;
    if (*unit && strcmp(unit, "rad") != 0 && isfinite(value) && value != 0) {
        k = strcmp(unit, "m") == 0 ? NONE : 0; /* nobody measures surfaces in kilometres */
        while (k < LAST && fabs(value) < PREFIXES[k].factor * 0.99995) ++k;
    }
    snprintf(number, sizeof number, "%.4g", value / PREFIXES[k].factor);
    char *comma = strchr(number, ','); /* whatever the locale */
    if (comma) *comma = '.';
    snprintf(text, bytes, "%s%s%s%s", number, *unit ? " " : "", PREFIXES[k].prefix, unit);
}
