/* What a kernel's file says of its use, in front of its lines: `tuned [on cpu|gpu] at A=2048x2048, x=2048, ranges of
 * 32`, `measured against blas|csr|pairs`, `real` (never complex). The build makes tables of them
 * (cmake/AttuneFacts.cmake); here they are checked. */
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
    if (!datum || !datum->rank) return wrong(c, "an array of the kernel should stand here: NAME=ROWSxCOLUMNS");
    c->at += length;
    if (!take(c, "=") || !digits(c)) return wrong(c, "a size should stand here: NAME=ROWSxCOLUMNS, or NAME=LENGTH");
    static const char *const shapes[] = {
        [1] = "a vector has a LENGTH", [2] = "a matrix has ROWSxCOLUMNS", [3] = "a volume has PLANESxROWSxCOLUMNS"};
    int32_t rank = 1;
    while (c->text[c->at] == 'x' && (++c->at, digits(c))) ++rank;
    return rank == datum->rank || wrong(c, shapes[datum->rank]);
}

static bool tuned(cursor *c) {
    if (take(c, "on") && !take(c, "cpu") && !take(c, "gpu")) return wrong(c, "cpu or gpu should stand here");
    if (!take(c, "at")) return wrong(c, "'at' should stand here: tuned at A=1024x1024");
    for (int count = 0;; ++count) {
        if (take(c, "ranges")) {
            if (!take(c, "of")) return wrong(c, "'of' should stand here: ranges of 32");
            skip(c);
            return digits(c) || wrong(c, "a number should stand here: ranges of 32");
        }
        if (count == 11) return wrong(c, "at most 11 sizes are given");
        if (!size(c)) return false;
        if (!take(c, ",")) return true;
    }
}

bool atn_notation_fact(atn_parser *parser, const atn_kernel_text *kernel) {
    size_t behind = parser->offset;
    atn_token next = atn_token_next(parser->text->value, &behind);
    bool word = next.kind == ATN_TOKEN_WORD;
    cursor c = {parser, kernel, parser->text->value, parser->token.offset};
    if (word && atn_parser_at(parser, "tuned")) {
        c.at += 5;
        if (!tuned(&c)) return true;
    } else if (word && atn_parser_at(parser, "measured")) {
        c.at += 8;
        if (!take(&c, "against") || (!take(&c, "blas") && !take(&c, "csr") && !take(&c, "pairs"))) {
            wrong(&c, "blas, csr or pairs should stand here: measured against blas");
            return true;
        }
    } else if (next.kind == ATN_TOKEN_END && atn_parser_at(parser, "real")) {
        c.at += 4;
    } else {
        return false;
    }
    skip(&c);
    if (c.text[c.at]) wrong(&c, "this is one too many");
    return true;
}
