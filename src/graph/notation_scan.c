/* A file of the notation cut into logical lines. Comments become blanks; a line goes on while a bracket is open, or
 * behind an operator or a comma. */
#include "graph/notation.h"

#include <string.h>

bool atn_notation_is(const char *text, size_t length) {
    size_t at = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < length && strchr(" \t\r\n", text[at]) && text[at]) ++at;
    return at < length && text[at] != '<';
}

static bool has_word(const char *text, size_t length, const char *word) {
    size_t n = strlen(word);
    for (const char *at = text; (at = memmem(at, length - (size_t)(at - text), word, n)); ++at) {
        char before = at == text ? ' ' : at[-1], behind = at + n == text + length ? ' ' : at[n];
        const char *marks = " \t\r\n(),:;=[]{}+-*/<>\"'#";
        if (strchr(marks, before) && strchr(marks, behind)) return true;
    }
    return false;
}

bool atn_description_needs_float(const char *text, size_t length) {
    return has_word(text, length, "USED_FLOAT") || (atn_notation_is(text, length) && has_word(text, length, "T"));
}

/* Does a line that ends like this go on? */
static bool goes_on(const char *text, size_t begin, size_t end) {
    while (end > begin && strchr(" \t\r", text[end - 1])) --end;
    if (end == begin) return false;
    if (strchr("+-*/%<>=&|^?:,", text[end - 1])) return true;
    static const char *const words[] = {"and", "or", "xor", "mod", "not"};
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k) {
        size_t length = strlen(words[k]);
        if (end - begin <= length || strncmp(text + end - length, words[k], length) != 0) continue;
        if (strchr(" \t)", text[end - length - 1])) return true;
    }
    return false;
}

/* A bracket that is never closed takes no other kernel with it. */
static bool begins_anew(const char *text) {
    return !strncmp(text, "kernel ", 7) || !strncmp(text, "function ", 9) || !strncmp(text, "program ", 8);
}

static bool blank_comments(atn_reader *reader, char *text, size_t length) {
    for (size_t k = 0; k < length; ++k) {
        if (text[k] == '\0') {
            atn_reader_complain(reader, atn_reader_place(reader, k), NULL, "a zero byte; this is not text");
            return false;
        }
        if (text[k] == '#')
            while (k < length && text[k] != '\n') text[k++] = ' ';
    }
    return true;
}

typedef struct line_scan {
    atn_reader *reader;
    atn_file_text *file;
    char *text;
    size_t room;
    int32_t line;               /* being read, from 1 */
    int32_t by_tabs, by_blanks; /* first lines indented so */
} line_scan;

static bool add_line(line_scan *s, size_t begin, size_t first) {
    atn_file_text *file = s->file;
    if (file->n_lines == ATN_LIMIT_ELEMENTS) {
        atn_reader_complain(s->reader, atn_reader_place(s->reader, first), NULL, "more than %d lines",
                            (int)ATN_LIMIT_ELEMENTS);
        return false;
    }
    if (!atn_reader_grow(s->reader, &s->reader->arena, (void **)&file->lines, &s->room, file->n_lines,
                         sizeof *file->lines))
        return false;
    int32_t indent = 0;
    for (size_t k = begin; k < first; ++k) indent = s->text[k] == '\t' ? (indent / 8 + 1) * 8 : indent + 1;
    if (first > begin) {
        bool tab = s->text[begin] == '\t', mixed = (memchr(s->text + begin, tab ? ' ' : '\t', first - begin) != NULL);
        int32_t line = s->line, *mine = tab ? &s->by_tabs : &s->by_blanks, other = tab ? s->by_blanks : s->by_tabs;
        bool begun = *mine != 0;
        if (!begun) *mine = line;
        if (mixed)
            atn_reader_complain(s->reader, atn_reader_place(s->reader, begin), NULL,
                                "the line is indented by tabs and by blanks; use one of them");
        else if (other && !begun)
            atn_reader_complain(s->reader, atn_reader_place(s->reader, begin), NULL,
                                "the line is indented by %s, line %d by %s; use one of them", tab ? "tabs" : "blanks",
                                other, tab ? "blanks" : "tabs");
    }
    file->lines[file->n_lines++] = (atn_logical){.offset = first, .indent = indent};
    return true;
}

bool atn_notation_scan(atn_reader *reader, atn_file_text *file) {
    if (reader->length > ATN_LIMIT_FILE) {
        atn_reader_complain(reader, (atn_place){1, 1}, NULL, "the description has %zu bytes; at most %d are read",
                            reader->length, (int)ATN_LIMIT_FILE);
        return false;
    }
    size_t length = reader->length;
    line_scan s = {.reader = reader, .file = file, .text = atn_reader_alloc(reader, length + 2), .line = 1};
    if (!s.text) return false;
    memcpy(s.text, reader->xml, length);
    file->text = (atn_attribute){.name = "", .given = s.text, .value = s.text, .plain = true};
    if (!blank_comments(reader, s.text, length)) return false;
    size_t at = length >= 3 && !memcmp(s.text, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < length) {
        size_t begin = at, first = at;
        while (first < length && (s.text[first] == ' ' || s.text[first] == '\t' || s.text[first] == '\r')) ++first;
        if (first == length || s.text[first] == '\n') {
            ++s.line;
            at = first + 1;
            continue;
        }
        if (!add_line(&s, begin, first)) return false;
        int32_t open = 0;
        for (at = first; at < length; ++at) {
            char c = s.text[at];
            if (c == '(' || c == '[' || c == '{') ++open;
            if (c == ')' || c == ']' || c == '}') --open;
            if (c != '\n') continue;
            ++s.line;
            bool on = open > 0 || goes_on(s.text, first, at);
            if (!on || begins_anew(s.text + at + 1)) break;
            s.text[at] = ' ';
        }
        if (at < length) s.text[at] = '\0';
        ++at;
    }
    return !reader->failed;
}
