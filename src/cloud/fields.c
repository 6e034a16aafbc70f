/* Splitting a line of text into fields. */
#include "cloud/fields.h"

#include "base/number.h"
#include "base/size.h"

#include <string.h>

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

char *fields_next(char **rest) {
    char *at = *rest;
    while (blank(*at)) ++at;
    char *field = *at ? at : NULL;
    while (*at && !blank(*at)) ++at;
    if (*at) *at++ = '\0';
    *rest = at;
    return field;
}

static char *trim(char *field) {
    while (blank(*field)) ++field;
    size_t length = strlen(field);
    while (length && blank(field[length - 1])) field[--length] = '\0';
    return field;
}

size_t fields_cut(char *line, char separator, char **field, size_t most) {
    size_t count = 0;
    if (separator == ' ') {
        for (char *one; (one = fields_next(&line)); ++count)
            if (count < most) field[count] = one;
        return count;
    }
    for (char *at = trim(line), *end; at; at = end, ++count) {
        end = strchr(at, separator);
        if (end) *end++ = '\0';
        if (count < most) field[count] = trim(at);
        if (end && !*end) return count + 1; /* a separator behind the last field */
    }
    return count;
}

bool field_number(const char *field, double *out) {
    char *end;
    if (!*field || blank(*field)) return false;
    *out = atn_number_read(field, &end);
    return *end == '\0';
}

bool field_count(const char *field, size_t *out) {
    *out = 0;
    if (!*field) return false;
    for (; *field; ++field)
        if (*field < '0' || *field > '9' || !atn_size_mul(*out, 10, out) ||
            !atn_size_add(*out, (size_t)(*field - '0'), out))
            return false;
    return true;
}
