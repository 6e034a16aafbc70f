/* The lexer: logical lines as Python has them, with indents and dedents, comments, strings and numbers. */
#include "base/number.h"
#include "space/parser.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const SIGNS[] = {"**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==",
                                    "!=",  "+=",  "-=",  "*=",  "/=", "%=", "->", "(",  ")",  "[",  "]",
                                    "{",   "}",   ",",   ":",   ".",  "=",  "@",  "+",  "-",  "*",  "/",
                                    "%",   "<",   ">",   "&",   "|",  "^",  "~",  ";"};

static const char *const RESERVED[] = {
    "and",      "as",    "assert",  "async", "await", "break",  "class", "continue", "def",   "del",  "elif",   "else",
    "except",   "False", "finally", "for",   "from",  "global", "if",    "import",   "in",    "is",   "lambda", "None",
    "nonlocal", "not",   "or",      "pass",  "raise", "return", "True",  "try",      "while", "with", "yield"};

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

atn_status atn_lan_refuse(const atn_lan_parser *parser, int32_t line, int32_t column, const char *format, ...) {
    char sentence[600];
    ATN_FORMAT(sentence, format);
    const atn_space *space = parser->space;
    if (parser->label)
        return atn_fail(space->ctx, ATN_ERR_INPUT, "%s: %s: column %d: %s", space->name, parser->label, column,
                        sentence);
    return atn_fail(space->ctx, ATN_ERR_INPUT, "%s:%d:%d: %s", space->name, line, column, sentence);
}

const char *atn_lan_found(const atn_lan_parser *parser, char text[64]) {
    const atn_lan_token *token = &parser->token;
    static const char *const NAMES[] = {"the end of the file", "the end of the line", "an indented line",
                                        "the end of the indented lines"};
    if (token->kind <= ATN_LAN_DEDENT)
        snprintf(text, 64, "%s", NAMES[token->kind]);
    else
        snprintf(text, 64, "'%.*s'", (int)(token->length < 40 ? token->length : 40), token->text);
    return text;
}

bool atn_lan_reserved(const atn_lan_token *token) {
    for (size_t k = 0; k < sizeof RESERVED / sizeof *RESERVED; ++k)
        if (strlen(RESERVED[k]) == token->length && memcmp(RESERVED[k], token->text, token->length) == 0) return true;
    return false;
}

bool atn_lan_is(const atn_lan_parser *parser, const char *word) {
    const atn_lan_token *token = &parser->token;
    return (token->kind == ATN_LAN_WORD || token->kind == ATN_LAN_SIGN) && strlen(word) == token->length &&
           memcmp(word, token->text, token->length) == 0;
}

atn_status atn_lan_expect(atn_lan_parser *parser, const char *word, const char *where) {
    char found[64];
    if (atn_lan_is(parser, word)) return atn_lan_next(parser);
    return atn_lan_refuse(parser, parser->token.line, parser->token.column, "'%s' is missing %s; found %s", word, where,
                          atn_lan_found(parser, found));
}

static char peek(const atn_lan_parser *parser, size_t ahead) {
    size_t at = parser->at + ahead;
    return at < parser->length ? parser->source[at] : '\0';
}

static int32_t column_of(const atn_lan_parser *parser, size_t at) { return (int32_t)(at - parser->line_start) + 1; }

static void begin_token(atn_lan_parser *parser, atn_lan_token_kind kind) {
    parser->token = (atn_lan_token){.kind = kind,
                                    .text = parser->source + parser->at,
                                    .line = parser->line,
                                    .column = column_of(parser, parser->at)};
}

static void end_token(atn_lan_parser *parser, size_t bytes) {
    parser->at += bytes;
    parser->token.length = bytes;
}

/* Passes over a line break of any kind. */
static void pass_break(atn_lan_parser *parser) {
    parser->at += peek(parser, 0) == '\r' && peek(parser, 1) == '\n' ? 2 : 1;
    ++parser->line;
    parser->line_start = parser->at;
}

static bool at_break(const atn_lan_parser *parser) {
    return parser->at < parser->length && (peek(parser, 0) == '\n' || peek(parser, 0) == '\r');
}

/* Blanks, comments, continued lines; inside parentheses line breaks as well. */
static void skip_blanks(atn_lan_parser *parser) {
    for (;;) {
        char c = peek(parser, 0);
        if (parser->at >= parser->length) return;
        if (c == ' ' || c == '\t' || c == '\f') {
            ++parser->at;
        } else if (c == '#') {
            while (parser->at < parser->length && !at_break(parser)) ++parser->at;
        } else if (c == '\\' && (peek(parser, 1) == '\n' || peek(parser, 1) == '\r')) {
            ++parser->at;
            pass_break(parser);
        } else if (at_break(parser) && parser->parentheses > 0) {
            pass_break(parser);
        } else {
            return;
        }
    }
}

/* At the start of a line: passes empty ones; how far the first that is not is indented. */
static int32_t measure_indent(atn_lan_parser *parser) {
    for (;;) {
        int32_t width = 0;
        for (;; ++parser->at) {
            if (peek(parser, 0) == ' ')
                ++width;
            else if (peek(parser, 0) == '\t')
                width = width / 8 * 8 + 8;
            else
                break;
        }
        if (peek(parser, 0) == '#') skip_blanks(parser);
        if (parser->at >= parser->length) return 0;
        if (!at_break(parser)) return width;
        pass_break(parser);
    }
}

static atn_status read_indent(atn_lan_parser *parser, bool *given) {
    int32_t width = measure_indent(parser), *indents = parser->indents;
    parser->line_begins = false;
    *given = true;
    begin_token(parser, ATN_LAN_INDENT);
    if (width > indents[parser->n_indents]) {
        if (parser->n_indents == ATN_LAN_MOST_NESTING)
            return atn_lan_refuse(parser, parser->line, 1, "lines are indented more than %d times",
                                  (int)ATN_LAN_MOST_NESTING);
        indents[++parser->n_indents] = width;
        return ATN_OK;
    }
    for (; width < indents[parser->n_indents]; --parser->n_indents) ++parser->dedents;
    if (width != indents[parser->n_indents])
        return atn_lan_refuse(parser, parser->line, width + 1, "this line is indented like none before it");
    *given = false;
    return ATN_OK;
}

/* ---- literals ---- */

/* Digits of a base, with '_' between them. false: too large. */
static bool read_digits(const char *text, size_t length, int base, int64_t *out) {
    *out = 0;
    for (size_t k = 0; k < length; ++k) {
        char c = text[k];
        if (c == '_') continue;
        int digit = is_digit(c) ? c - '0' : (c | 32) - 'a' + 10;
        if (__builtin_mul_overflow(*out, base, out) || __builtin_add_overflow(*out, digit, out)) return false;
    }
    return true;
}

static size_t span(const char *text, size_t most, const char *set) {
    size_t n = 0;
    while (n < most && text[n] && strchr(set, text[n])) ++n;
    return n;
}

static atn_status read_real(atn_lan_parser *parser, size_t length) {
    char copy[128];
    size_t n = 0;
    for (size_t k = 0; k < length; ++k)
        if (parser->token.text[k] != '_' && n + 1 < sizeof copy) copy[n++] = parser->token.text[k];
    copy[n] = '\0';
    parser->token.value = (atn_lan_value){.kind = ATN_LAN_REAL, .real = atn_number_read(copy, NULL)};
    if (isfinite(parser->token.value.real) && n + 1 < sizeof copy) return ATN_OK;
    return atn_lan_refuse(parser, parser->token.line, parser->token.column, "the number is too large or too long");
}

static atn_status read_number(atn_lan_parser *parser) {
    begin_token(parser, ATN_LAN_LITERAL);
    const char *text = parser->token.text;
    size_t left = parser->length - parser->at, length, prefix = 0;
    int base = 10;
    static const struct {
        char letter;
        int base;
        const char *digits;
    } BASES[] = {{'x', 16, "0123456789abcdefABCDEF_"}, {'b', 2, "01_"}, {'o', 8, "01234567_"}};
    const char *digits = "0123456789_";
    for (size_t k = 0; k < 3 && text[0] == '0' && left > 1; ++k) {
        if ((text[1] | 32) != BASES[k].letter) continue;
        base = BASES[k].base;
        digits = BASES[k].digits;
        prefix = 2;
    }
    length = prefix + span(text + prefix, left - prefix, digits);
    bool real = false;
    if (base == 10) {
        if (length < left && text[length] == '.') {
            real = true;
            ++length;
            length += span(text + length, left - length, digits);
        }
        size_t sign = length + 1 < left && (text[length + 1] == '+' || text[length + 1] == '-') ? 2 : 1;
        if (length + sign < left && (text[length] | 32) == 'e' && is_digit(text[length + sign])) {
            real = true;
            length += sign;
            length += span(text + length, left - length, digits);
        }
    }
    bool wrong = (prefix && length == prefix) || (length < left && (is_letter(text[length]) || text[length] == '.'));
    end_token(parser, length);
    if (wrong)
        return atn_lan_refuse(parser, parser->token.line, parser->token.column, "'%.*s' is not a number",
                              (int)(length < left ? length + 1 : length), text);
    if (real) return read_real(parser, length);
    parser->token.value.kind = ATN_LAN_WHOLE;
    if (read_digits(text + prefix, length - prefix, base, &parser->token.value.whole)) return ATN_OK;
    return atn_lan_refuse(parser, parser->token.line, parser->token.column, "the number does not fit into 64 bits");
}

static void add_escaped(atn_text *to, char c) {
    static const char FROM[] = "ntr0\\'\"", TO[] = "\n\t\r\0\\'\"";
    const char *at = c ? strchr(FROM, c) : NULL;
    if (!at) atn_text_add_bytes(to, "\\", 1); /* as Python: what is no escape stays as it is */
    atn_text_add_bytes(to, at ? &TO[at - FROM] : &c, 1);
}

static atn_status read_string(atn_lan_parser *parser) {
    begin_token(parser, ATN_LAN_LITERAL);
    char quote = peek(parser, 0);
    bool triple = peek(parser, 1) == quote && peek(parser, 2) == quote;
    size_t from = parser->at;
    parser->at += triple ? 3 : 1;
    atn_text_clear(&parser->decoded);
    for (;;) {
        if (parser->at >= parser->length || (at_break(parser) && !triple))
            return atn_lan_refuse(parser, parser->token.line, parser->token.column,
                                  "the string has no end; %c is missing", quote);
        char c = peek(parser, 0);
        if (c == quote && (!triple || (peek(parser, 1) == quote && peek(parser, 2) == quote))) break;
        if (at_break(parser)) {
            atn_text_add_bytes(&parser->decoded, "\n", 1);
            pass_break(parser);
        } else if (c == '\\' && parser->at + 1 < parser->length && peek(parser, 1) != '\n' && peek(parser, 1) != '\r') {
            add_escaped(&parser->decoded, peek(parser, 1));
            parser->at += 2;
        } else if (c == '\0') {
            return atn_lan_refuse(parser, parser->line, column_of(parser, parser->at), "a zero byte; this is not text");
        } else {
            atn_text_add_bytes(&parser->decoded, &c, 1);
            ++parser->at;
        }
    }
    parser->at += triple ? 3 : 1;
    parser->token.length = parser->at - from;
    if (atn_text_status(&parser->decoded)) return ATN_ERR_MEMORY;
    if (parser->decoded.length && memchr(parser->decoded.data, 0, parser->decoded.length))
        return atn_lan_refuse(parser, parser->token.line, parser->token.column, "a string with a zero in it");
    int32_t number = atn_lan_intern(parser->space, atn_text_str(&parser->decoded), parser->decoded.length);
    parser->token.value = (atn_lan_value){.kind = ATN_LAN_TEXT, .whole = number};
    return number < 0 ? ATN_ERR_MEMORY : ATN_OK;
}

/* ---- the rest ---- */

static atn_status read_sign(atn_lan_parser *parser) {
    begin_token(parser, ATN_LAN_SIGN);
    for (size_t k = 0; k < sizeof SIGNS / sizeof *SIGNS; ++k) {
        size_t n = strlen(SIGNS[k]);
        if (n > parser->length - parser->at || memcmp(SIGNS[k], parser->token.text, n) != 0) continue;
        end_token(parser, n);
        if (n == 1 && strchr("([{", *SIGNS[k])) ++parser->parentheses;
        if (n == 1 && strchr(")]}", *SIGNS[k]) && parser->parentheses > 0) --parser->parentheses;
        return ATN_OK;
    }
    unsigned char c = (unsigned char)*parser->token.text;
    return atn_lan_refuse(parser, parser->line, parser->token.column,
                          c > ' ' && c < 127 ? "'%c' means nothing here" : "byte 0x%02x means nothing here", c);
}

atn_status atn_lan_next(atn_lan_parser *parser) {
    if (parser->line_begins && parser->parentheses == 0) {
        bool given;
        atn_status status = read_indent(parser, &given);
        if (status || given) return status;
    }
    if (parser->dedents > 0) {
        --parser->dedents;
        begin_token(parser, ATN_LAN_DEDENT);
        return ATN_OK;
    }
    skip_blanks(parser);
    begin_token(parser, ATN_LAN_NEWLINE);
    if (parser->at >= parser->length) {
        if (parser->parentheses > 0)
            return atn_lan_refuse(parser, parser->line, parser->token.column, "a parenthesis is not closed");
        if (parser->line_open) /* the last line has no break: its end, then that of the blocks around it */
            parser->line_begins = true;
        else
            parser->token.kind = ATN_LAN_END;
        parser->line_open = false;
        return ATN_OK;
    }
    char c = peek(parser, 0);
    if (at_break(parser)) {
        pass_break(parser);
        parser->line_begins = true;
        parser->line_open = false;
        return ATN_OK;
    }
    parser->line_open = true;
    if (is_digit(c) || (c == '.' && is_digit(peek(parser, 1)))) return read_number(parser);
    if (c == '"' || c == '\'') return read_string(parser);
    if (!is_letter(c)) return read_sign(parser);
    begin_token(parser, ATN_LAN_WORD);
    size_t n = 1;
    while (is_letter(peek(parser, n)) || is_digit(peek(parser, n))) ++n;
    end_token(parser, n);
    return ATN_OK;
}
