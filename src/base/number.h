/* Numbers in text, with a point whatever the locale of the program around us. */
#ifndef ATN_BASE_NUMBER_H
#define ATN_BASE_NUMBER_H

double atn_number_read(const char *text, char **end); /* as strtod in the C locale */

#endif
