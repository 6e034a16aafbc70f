/* Numbers in text, with a point whatever the locale of the program around us. */
#ifndef ATN_BASE_NUMBER_H
#define ATN_BASE_NUMBER_H

#include <stddef.h>

enum { ATN_NUMBER_TEXT = 32 };

double atn_number_read(const char *text, char **end); /* as strtod in the C locale */

/* As few digits as give the same double when read again. */
void atn_number_print(double value, char text[ATN_NUMBER_TEXT]);

/* "12.35 nm": a value of an SI unit with the prefix that suits it, four digits. Radians and numbers without a unit keep
 * theirs. */
void atn_number_si(double value, const char *unit, char *text, size_t bytes);

#endif
