/* What a kernel's file says of its use, in front of its lines: `tuned [on cpu|gpu] at A=2048x2048, x=2048, ranges of
 * 32`, `begin on cuda as SP with lanes_p0=16,...` (a variant to begin searches with), `try with s=2.5` (values of
 * parameters in tests), `measured against blas|csr|pairs`, `real` (never complex). The build makes tables of them
 * (cmake/AttuneFacts.cmake), one line each; here they are checked. */
#include "graph/notation.h"

#include <string.h>

typedef struct cursor {
    atn_parser *parser;
    const atn_kernel_text *kernel;
    const char *text;
    size_t at;
} cursor;

static void skip(cursor *c) {
    while (c->text[c->at] == ' ' || c->text[c->at] == '\t' || c->text[c->at] == '\r') ++c->at;
}

static bool take(cursor *c, const char *word) {
    skip(c);
    size_t length = strlen(word);
    char next = c->text[c->at] ? c->text[c->at + strnlen(c->text + c->at, length)] : '\0';
    bool letters = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_';
    if (strncmp(c->text + c->at, word, length) != 0 || (letters && *word >= 'a')) return false;
    c->at += length;
    return true;
}

static bool wrong(cursor *c, const char *sentence) {
    atn_parser_complain(c->parser, c->at, "%s", sentence);
    return false;
}

static bool digits(cursor *c) {
    size_t begin = c->at;
    while (c->text[c->at] >= '0' && c->text[c->at] <= '9') ++c->at;
    return c->at > begin && c->at - begin < 16;
}

/* NAME=ROWSxCOLUMNS, NAME=LENGTH, ... */
static bool size(cursor *c) {
    skip(c);
    size_t begin = c->at,
           length = strspn(c->text + begin, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    const atn_datum *datum = c->kernel->data;
    while (datum && (strlen(datum->name) != length || strncmp(datum->name, c->text + begin, length) != 0))
        datum = datum->next;
    if (!datum || !datum->rank) return wrong(c, "expected an array of the kernel here: NAME=ROWSxCOLUMNS");
    c->at += length;
    if (!take(c, "=") || !digits(c)) return wrong(c, "expected a size here: NAME=ROWSxCOLUMNS, or NAME=LENGTH");
    static const char *const shapes[] = {
        [1] = "a vector has a LENGTH", [2] = "a matrix has ROWSxCOLUMNS", [3] = "a volume has PLANESxROWSxCOLUMNS"};
    int32_t rank = 1;
    while (c->text[c->at] == 'x' && (++c->at, digits(c))) ++rank;
    return rank == datum->rank || wrong(c, shapes[datum->rank]);
}

static bool tuned(cursor *c) {
    if (take(c, "on") && !take(c, "cpu") && !take(c, "gpu")) return wrong(c, "expected cpu or gpu here");
    if (take(c, "as") && !take(c, "HP") && !take(c, "SP") && !take(c, "DP"))
        return wrong(c, "expected HP, SP or DP here");
    if (!take(c, "at")) return wrong(c, "expected 'at' here: tuned at A=1024x1024");
    for (int count = 0;; ++count) {
        if (take(c, "ranges")) {
            if (!take(c, "of")) return wrong(c, "expected 'of' here: ranges of 32");
            skip(c);
            return digits(c) || wrong(c, "expected a number here: ranges of 32");
        }
        if (count == 11) return wrong(c, "at most 11 sizes are given");
        if (!size(c)) return false;
        if (!take(c, ",")) return true;
    }
}

/* on host|cuda|opencl [as HP|SP|DP] with KNOB=VALUE,...; which knobs there are is known to those who lower */
static bool begins(cursor *c) {
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    if (!take(c, "on") || (!take(c, "host") && !take(c, "cuda") && !take(c, "opencl")))
        return wrong(c, "expected host, cuda or opencl here: begin on host with vec_p0=16");
    if (take(c, "as") && !take(c, "HP") && !take(c, "SP") && !take(c, "DP"))
        return wrong(c, "expected HP, SP or DP here");
    if (!take(c, "with")) return wrong(c, "expected 'with' here: begin on host with vec_p0=16");
    do {
        skip(c);
        size_t knob = strspn(c->text + c->at, LETTERS), value;
        value = c->text[c->at + knob] == '=' ? strspn(c->text + c->at + knob + 1, LETTERS) : 0;
        if (!knob || !value) return wrong(c, "expected a knob with its value here: vec_p0=16");
        c->at += knob + 1 + value;
    } while (take(c, ","));
    return true;
}

/* with PARAMETER=NUMBER, ... */
static bool tries(cursor *c) {
    if (!take(c, "with")) return wrong(c, "expected 'with' here: try with s=2.5");
    do {
        skip(c);
        size_t length = strspn(c->text + c->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        const atn_datum *datum = c->kernel->data;
        while (datum && (strlen(datum->name) != length || strncmp(datum->name, c->text + c->at, length) != 0))
            datum = datum->next;
        if (!datum || datum->rank) return wrong(c, "expected a parameter of the kernel here: NAME=NUMBER");
        c->at += length;
        if (!take(c, "=")) return wrong(c, "expected a number here: NAME=NUMBER");
        skip(c);
        length = strspn(c->text + c->at, "+-.0123456789e");
        double number[2];
        if (!length || !atn_number_parse(c->text + c->at, length, number))
            return wrong(c, "expected a number here: NAME=NUMBER");
        c->at += length;
    } while (take(c, ","));
    return true;
}

/* The line behind those that the kernel has. */
static void keep(cursor *c, size_t begin, atn_kernel_text *kernel) {
    atn_fact **last = &kernel->facts, *fact = atn_reader_alloc(c->parser->reader, sizeof *fact);
    char *text = atn_reader_alloc(c->parser->reader, c->at - begin + 1);
    if (!fact || !text) return;
    size_t n = 0;
    for (size_t k = begin; k < c->at; ++k) {
        bool blank = strchr(" \t\r\n", c->text[k]) != NULL;
        if (!blank || (n && text[n - 1] != ' ')) text[n++] = blank ? ' ' : c->text[k];
    }
    while (n && text[n - 1] == ' ') --n;
    text[n] = '\0';
    fact->text = text;
    while (*last) last = &(*last)->next;
    *last = fact;
}

bool atn_notation_fact(atn_parser *parser, atn_kernel_text *kernel) {
    size_t behind = parser->offset;
    atn_token next = atn_token_next(parser->text->value, &behind);
    bool word = next.kind == ATN_TOKEN_WORD;
    cursor c = {parser, kernel, parser->text->value, parser->token.offset};
    if (word && atn_parser_at(parser, "tuned")) {
        c.at += 5;
        if (!tuned(&c)) return true;
    } else if (word && atn_parser_at(parser, "begin")) {
        c.at += 5;
        if (!begins(&c)) return true;
    } else if (word && atn_parser_at(parser, "try")) {
        c.at += 3;
        if (!tries(&c)) return true;
    } else if (word && atn_parser_at(parser, "measured")) {
        c.at += 8;
        if (!take(&c, "against") || (!take(&c, "blas") && !take(&c, "csr") && !take(&c, "pairs"))) {
            wrong(&c, "expected blas, csr or pairs here: measured against blas");
            return true;
        }
    } else if (next.kind == ATN_TOKEN_END && atn_parser_at(parser, "real")) {
        c.at += 4;
    } else {
        return false;
    }
    skip(&c);
    if (c.text[c.at])
        wrong(&c, "this is one too many");
    else
        keep(&c, parser->token.offset, kernel);
    return true;
}
