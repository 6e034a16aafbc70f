/* Layout of text for people: aligned columns and wrapped paragraphs. */
#include "cli/cli.h"

#include <string.h>

enum { COLUMNS = 24 };

/* Characters, not bytes: continuation bytes of UTF-8 take no room. */
static size_t width_of(const char *text, size_t bytes) {
    size_t width = 0;
    for (size_t k = 0; k < bytes; ++k) width += ((unsigned char)text[k] & 0xc0) != 0x80;
    return width;
}

static void add_blanks(atn_text *to, size_t count) {
    while (count--) atn_text_add_bytes(to, " ", 1);
}

void atn_cli_add_cell(atn_text *table, const char *cell) {
    for (; *cell; ++cell) atn_text_add_bytes(table, strchr("\t\n\r", *cell) ? " " : cell, 1);
    atn_text_add_bytes(table, "\t", 1);
}

static void measure(const char *table, size_t *widths) {
    size_t column = 0;
    for (const char *at = table; *at;) {
        size_t bytes = strcspn(at, "\t\n"), width = width_of(at, bytes);
        if (column < COLUMNS && widths[column] < width) widths[column] = width;
        column = at[bytes] == '\n' ? 0 : column + 1;
        at += bytes + (at[bytes] != '\0');
    }
}

void atn_cli_add_table(atn_text *to, const char *table, const char *align) {
    size_t widths[COLUMNS] = {0}, column = 0, owed = 0, columns = strlen(align);
    measure(table, widths);
    for (const char *at = table; *at;) {
        size_t bytes = strcspn(at, "\t\n");
        if (at[bytes] == '\n') {
            atn_text_add_bytes(to, "\n", 1);
            column = owed = 0;
        } else {
            size_t wide = column < COLUMNS ? widths[column] : 0, width = width_of(at, bytes);
            size_t pad = wide > width ? wide - width : 0;
            bool right = column < columns && align[column] == 'r';
            if (bytes) add_blanks(to, owed + (right ? pad : 0)); /* no blanks at the end of a line */
            atn_text_add_bytes(to, at, bytes);
            owed = (bytes ? 0 : owed + (right ? pad : 0)) + (right ? 0 : pad) + 2;
            ++column;
        }
        at += bytes + (at[bytes] != '\0');
    }
}

void atn_cli_add_wrapped(atn_text *to, const char *paragraph, size_t indent, size_t width) {
    size_t column = 0;
    for (const char *at = paragraph; *at;) {
        size_t bytes = strcspn(at, " "), wide = width_of(at, bytes);
        if (column && column + 1 + wide > width) {
            atn_text_add_bytes(to, "\n", 1);
            column = 0;
        }
        if (column) {
            atn_text_add_bytes(to, " ", 1);
            ++column;
        } else {
            add_blanks(to, indent);
            column = indent;
        }
        atn_text_add_bytes(to, at, bytes);
        column += wide;
        at += bytes + strspn(at + bytes, " ");
    }
    atn_text_add_bytes(to, "\n", 1);
}
