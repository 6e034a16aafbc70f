/* UTF-8: the strings of drivers and compilers may contain any bytes, but JSON requires UTF-8. */
#ifndef ATN_BASE_UTF8_H
#define ATN_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character that begins here; 0: none does. No overlong forms, no surrogates, nothing beyond U+10FFFF. */
size_t atn_utf8_bytes(const char *text);
bool atn_utf8_valid(const char *text);
void atn_utf8_clean(char *text); /* puts '?' where no character begins */

#endif
