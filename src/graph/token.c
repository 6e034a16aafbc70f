/* The lexer: numbers, words, #ports and signs; comments in C's way are skipped. */
#include "graph/syntax.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

static const char *const signs[] = {"->", "..", "[",  "]",  "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=",
                                    "|=", "^=", "==", "!=", "<=",  ">=",  "<<", ">>", "&&", "||", "++", "--",
                                    "+",  "-",  "*",  "/",  "%",   "<",   ">",  "=",  "!",  "~",  "&",  "|",
                                    "^",  "?",  ":",  ";",  ",",   "(",   ")",  "{",  "}"};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static size_t skip_blanks(const char *source, size_t at) {
    for (;;) {
        while (source[at] && strchr(" \t\r\n", source[at])) ++at;
        if (source[at] != '/' || source[at + 1] != '*') return at;
        const char *close = strstr(source + at + 2, "*/");
        at = close ? (size_t)(close - source) + 2 : at + strlen(source + at);
    }
}

static atn_token number(const char *source, size_t at) {
    atn_token token = {.kind = ATN_TOKEN_INTEGER, .text = source + at, .offset = at};
    char *end;
    bool hexadecimal = source[at] == '0' && (source[at + 1] == 'x' || source[at + 1] == 'X');
    unsigned long long whole = strtoull(source + at, &end, hexadecimal ? 16 : 10);
    if (!hexadecimal && ((*end == '.' && end[1] != '.') || *end == 'e' || *end == 'E')) {
        token.kind = ATN_TOKEN_NUMBER;
        token.number = atn_number_read(source + at, &end);
    } else {
        token.integer = (int64_t)whole;
        if (whole > INT64_MAX) token.kind = ATN_TOKEN_WRONG;
    }
    if (*end == 'f' || *end == 'F') {
        if (token.kind == ATN_TOKEN_INTEGER) token.number = (double)token.integer;
        if (token.kind == ATN_TOKEN_INTEGER) token.kind = ATN_TOKEN_NUMBER;
        ++end;
    }
    bool range = end[0] == '.' && end[1] == '.'; /* 0..n */
    if (is_letter(*end) || is_digit(*end) || (*end == '.' && !range)) token.kind = ATN_TOKEN_WRONG;
    while (is_letter(*end) || is_digit(*end) || (*end == '.' && !range)) ++end;
    token.length = (size_t)(end - token.text);
    return token;
}

atn_token atn_token_next(const char *source, size_t *offset) {
    size_t at = skip_blanks(source, *offset);
    atn_token token = {.text = source + at, .offset = at};
    char c = source[at];
    if (is_digit(c) || (c == '.' && is_digit(source[at + 1]))) {
        token = number(source, at);
    } else if (is_letter(c) || (c == '#' && is_letter(source[at + 1]))) {
        bool port = c == '#';
        size_t end = at + port;
        while (is_letter(source[end]) || is_digit(source[end])) ++end;
        token.kind = port ? ATN_TOKEN_PORT : ATN_TOKEN_WORD;
        token.text = source + at + port;
        token.length = end - at - port;
        *offset = end;
        return token;
    } else if (c) {
        token.kind = ATN_TOKEN_WRONG;
        token.length = 1;
        for (size_t k = 0; token.kind == ATN_TOKEN_WRONG && k < sizeof signs / sizeof *signs; ++k) {
            if (*signs[k] != c) continue;
            size_t length = strlen(signs[k]);
            if (strncmp(source + at, signs[k], length) != 0) continue;
            token.kind = ATN_TOKEN_SIGN;
            token.length = length;
        }
    }
    *offset = at + token.length;
    return token;
}
