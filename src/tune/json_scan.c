/* A reader of JSON that may end anywhere. Nesting is counted, never recursed into, so no bytes can exhaust the stack.
 */
#include "tune/json_scan.h"

#include "base/number.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { DEEPEST = 512, LONGEST_NUMBER = 64 };

static void stop_at(atn_scan *scan, atn_scan_end end) {
    if (scan->end == ATN_SCAN_GOES_ON) scan->end = end;
}

char atn_scan_peek(atn_scan *scan) {
    if (scan->end != ATN_SCAN_GOES_ON) return 0;
    while (scan->at < scan->stop && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
        ++scan->at;
    if (scan->at < scan->stop && *scan->at) return *scan->at;
    stop_at(scan, scan->at < scan->stop ? ATN_SCAN_WRONG : ATN_SCAN_CUT);
    return 0;
}

bool atn_scan_take(atn_scan *scan, char c) {
    if (atn_scan_peek(scan) != c) return false;
    ++scan->at;
    return true;
}

bool atn_scan_begin(atn_scan *scan, char bracket) {
    if (atn_scan_take(scan, bracket)) return true;
    stop_at(scan, ATN_SCAN_WRONG);
    return false;
}

/* Between the parts of an object or array. */
static bool next_part(atn_scan *scan, bool *first, char bracket) {
    bool begins = *first;
    *first = false;
    if (atn_scan_take(scan, bracket) || scan->end != ATN_SCAN_GOES_ON) return false;
    if (begins || atn_scan_take(scan, ',')) return atn_scan_peek(scan) != 0;
    stop_at(scan, ATN_SCAN_WRONG);
    return false;
}

bool atn_scan_next_element(atn_scan *scan, bool *first) { return next_part(scan, first, ']'); }

/* The four digits behind \u, or -1. */
static int32_t code_unit(const char *at) {
    int32_t unit = 0;
    for (int k = 0; k < 4; ++k) {
        char c = at[k];
        int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static void add_utf8(atn_text *text, int32_t code) {
    unsigned u = (unsigned)code;
    char bytes[4];
    size_t n = 0;
    if (u < 0x80)
        bytes[n++] = (char)u;
    else if (u < 0x800)
        bytes[n++] = (char)(0xc0 | u >> 6);
    else if (u < 0x10000) {
        bytes[n++] = (char)(0xe0 | u >> 12);
        bytes[n++] = (char)(0x80 | (u >> 6 & 0x3f));
    } else {
        bytes[n++] = (char)(0xf0 | u >> 18);
        bytes[n++] = (char)(0x80 | (u >> 12 & 0x3f));
        bytes[n++] = (char)(0x80 | (u >> 6 & 0x3f));
    }
    if (u >= 0x80) bytes[n++] = (char)(0x80 | (u & 0x3f));
    atn_text_add_bytes(text, bytes, n);
}

/* The characters after a backslash, from `at` on, which is the byte after it. */
static void read_escape(atn_scan *scan, atn_text *text) {
    static const char LETTER[] = "\"\\/bfnrt", MEANS[] = "\"\\/\b\f\n\r\t";
    if (scan->at >= scan->stop) {
        stop_at(scan, ATN_SCAN_CUT);
        return;
    }
    char c = *scan->at++;
    const char *letter = c ? strchr(LETTER, c) : NULL;
    if (letter) {
        atn_text_add_bytes(text, MEANS + (letter - LETTER), 1);
        return;
    }
    if (c == 'u' && scan->stop - scan->at < 4) {
        stop_at(scan, ATN_SCAN_CUT);
        return;
    }
    int32_t code = c == 'u' ? code_unit(scan->at) : -1;
    if (code <= 0) { /* a zero would end the text early */
        stop_at(scan, ATN_SCAN_WRONG);
        return;
    }
    scan->at += 4;
    bool pair =
        code >= 0xd800 && code < 0xdc00 && scan->stop - scan->at >= 6 && scan->at[0] == '\\' && scan->at[1] == 'u';
    int32_t low = pair ? code_unit(scan->at + 2) : -1;
    if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        scan->at += 6;
    } else if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd; /* half a pair */
    add_utf8(text, code);
}

/* Text behind its opening quote; NULL: passed over. */
static void read_text(atn_scan *scan, atn_text *text) {
    while (scan->end == ATN_SCAN_GOES_ON) {
        const char *from = scan->at;
        while (scan->at < scan->stop && *scan->at != '"' && *scan->at != '\\' && (unsigned char)*scan->at >= ' ')
            ++scan->at;
        if (text) atn_text_add_bytes(text, from, (size_t)(scan->at - from));
        if (text && text->failed) stop_at(scan, ATN_SCAN_LOST);
        if (scan->end != ATN_SCAN_GOES_ON) return;
        if (scan->at >= scan->stop) {
            stop_at(scan, ATN_SCAN_CUT);
            return;
        }
        if (*scan->at == '"') {
            ++scan->at;
            return;
        }
        if (*scan->at != '\\')
            stop_at(scan, ATN_SCAN_WRONG);
        else if (text) {
            ++scan->at;
            read_escape(scan, text);
        } else
            scan->at += scan->stop - scan->at > 1 ? 2 : 1;
    }
}

bool atn_scan_next_member(atn_scan *scan, bool *first, atn_text *key) {
    atn_text_clear(key);
    if (!next_part(scan, first, '}') || !atn_scan_begin(scan, '"')) return false;
    read_text(scan, key);
    if (atn_scan_take(scan, ':')) return atn_scan_peek(scan) != 0;
    stop_at(scan, ATN_SCAN_WRONG);
    return false;
}

/* A number or a word: the bytes up to the next that cannot belong to it. */
static size_t bare_length(const atn_scan *scan) {
    const char *at = scan->at;
    while (at < scan->stop && *at && !strchr(" \n\t\r,:\"[]{}", *at)) ++at;
    return (size_t)(at - scan->at);
}

static atn_scalar read_bare(atn_scan *scan) {
    static const struct {
        const char *word;
        atn_scalar means;
    } WORDS[] = {
        {"null", {.kind = ATN_SCALAR_NONE}},
        {"true", {.kind = ATN_SCALAR_BOOL, .number = 1}},
        {"false", {.kind = ATN_SCALAR_BOOL, .number = 0}},
        {"NaN", {.kind = ATN_SCALAR_NUMBER, .number = (double)NAN}},
        {"Infinity", {.kind = ATN_SCALAR_NUMBER, .number = (double)INFINITY}},
        {"-Infinity", {.kind = ATN_SCALAR_NUMBER, .number = -(double)INFINITY}},
    };
    atn_scalar scalar = {0};
    char copy[LONGEST_NUMBER], *behind;
    size_t length = bare_length(scan);
    if (scan->at + length == scan->stop) { /* it may go on where the bytes were cut */
        scan->at += length;
        stop_at(scan, ATN_SCAN_CUT);
        return scalar;
    }
    if (length > 0 && length < sizeof copy) {
        memcpy(copy, scan->at, length);
        copy[length] = '\0';
        scan->at += length;
        for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; ++k)
            if (strcmp(copy, WORDS[k].word) == 0) return WORDS[k].means;
        if (strspn(copy, "0123456789+-.eE") == length) {
            scalar = (atn_scalar){
                .kind = ATN_SCALAR_NUMBER, .number = atn_number_read(copy, &behind), .whole = !strpbrk(copy, ".eE")};
            if (*behind == '\0') return scalar;
        }
        scan->at -= length;
    }
    stop_at(scan, ATN_SCAN_WRONG);
    return (atn_scalar){0};
}

/* Objects and arrays with all that is in them: brackets must match, what lies between is looked at for texts only. */
static void skip_nested(atn_scan *scan) {
    char open[DEEPEST];
    size_t depth = 0;
    do {
        char c = atn_scan_peek(scan);
        if (!c) return;
        if (c == '{' || c == '[') {
            if (depth == DEEPEST) {
                stop_at(scan, ATN_SCAN_WRONG);
                return;
            }
            open[depth++] = c;
        } else if (c == '}' || c == ']') {
            assert(depth > 0); /* it began with a bracket, and ends with the last */
            if (open[--depth] != (c == '}' ? '{' : '[')) {
                stop_at(scan, ATN_SCAN_WRONG);
                return;
            }
        }
        if (c != '"' && !strchr("{}[],:", c)) {
            scan->at += bare_length(scan);
            continue;
        }
        ++scan->at;
        if (c == '"') read_text(scan, NULL);
    } while (depth > 0 && scan->end == ATN_SCAN_GOES_ON);
}

void atn_scan_skip(atn_scan *scan) {
    char c = atn_scan_peek(scan);
    if (c == '{' || c == '[')
        skip_nested(scan);
    else if (c == '"') {
        ++scan->at;
        read_text(scan, NULL);
    } else if (c)
        (void)read_bare(scan);
}

atn_scalar atn_scan_scalar(atn_scan *scan, atn_text *text) {
    atn_text_clear(text);
    char c = atn_scan_peek(scan);
    if (c == '"') {
        ++scan->at;
        read_text(scan, text);
        return (atn_scalar){.kind = ATN_SCALAR_TEXT};
    }
    if (!c || c == '{' || c == '[') {
        atn_scan_skip(scan);
        return (atn_scalar){0};
    }
    return read_bare(scan);
}
