/* Numbers in text. A host program may have set a locale that writes 0,5; ours never does. */
#include "base/number.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

static locale_t plain; /* made once, kept */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double atn_number_read(const char *text, char **end) {
    pthread_once(&once, make_plain);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}
