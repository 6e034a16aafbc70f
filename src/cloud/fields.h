/* Splitting a line of text into fields, and parsing numbers in them, independent of the locale. */
#ifndef ATN_CLOUD_FIELDS_H
#define ATN_CLOUD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* Cuts the line in place into at most `most` fields; returns how many there are, which may be more. separator ' ':
 * blanks and tabs, any number of them; else that character, and blanks around a field go. */
size_t fields_cut(char *line, char separator, char **field, size_t most);

char *fields_next(char **rest); /* the next field between blanks, zero-terminated in place; NULL: none */

bool field_number(const char *field, double *out); /* all of it is one number; nan and inf are some */
bool field_count(const char *field, size_t *out);  /* digits only, and no more than a size holds */

#endif
