/* Glyphs of a font that was drawn at one size: pixels of other sizes are averages over the area they cover. */
#include "image/glyph.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN = 24, FINE = 4, MOST_ROWS = 64 }; /* pixels a line as drawn; samples along a pixel's edge */

typedef struct glyph {
    double advance; /* pixels as drawn */
    long left, top;
    const char *row[MOST_ROWS]; /* digits of coverage, ended by a line break */
    int rows;
    size_t columns;
} glyph;

/* The character that begins at *text, which moves on; what is no UTF-8 counts byte by byte. */
static uint32_t next_character(const char **text) {
    const unsigned char *at = (const unsigned char *)*text;
    uint32_t first = *at;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t character = more ? first & (0x3fu >> more) : first;
    for (int k = 1; k <= more; ++k) {
        if ((at[k] & 0xc0) != 0x80) {
            more = 0;
            character = first;
            break;
        }
        character = character << 6 | (at[k] & 0x3fu);
    }
    *text += 1 + more;
    return character;
}

static int find(uint32_t character, glyph *out) {
    char name[16];
    snprintf(name, sizeof name, "\nU+%04X ", (unsigned)character);
    const char *at = strstr(GLYPH_FONTS[0].text, name);
    char *end;
    *out = (glyph){0};
    if (!at) return 0;
    out->advance = (double)strtol(at + strlen(name), &end, 10) / 64;
    out->left = strtol(end, &end, 10);
    out->top = strtol(end, &end, 10);
    for (const char *row = strchr(end, '\n'); row && row[1] && row[1] != 'U' && out->rows < MOST_ROWS;
         row = strchr(row + 1, '\n'))
        out->row[out->rows++] = row + 1;
    out->columns = out->rows ? strcspn(out->row[0], "\n") : 0;
    return 1;
}

/* At a place of the line as drawn, from the glyph's pen. */
static double cover_at(const glyph *g, double x, double y) {
    long column = (long)floor(x) - g->left, row = (long)floor(y) - g->top;
    if (column < 0 || row < 0 || row >= g->rows || (size_t)column >= g->columns) return 0;
    char digit = g->row[row][column];
    return (digit <= '9' ? digit - '0' : digit - 'a' + 10) / 15.0;
}

size_t glyph_width(const char *text, size_t size) {
    double width = 0;
    for (glyph g; *text;)
        if (find(next_character(&text), &g)) width += g.advance;
    return (size_t)ceil(width * (double)size / DRAWN);
}

void glyph_draw(const char *text, size_t size, void (*put)(void *user, size_t x, size_t y, double cover), void *user) {
    double pen = 0, step = (double)DRAWN / (double)size;
    for (glyph g; *text; pen += g.advance) {
        if (!find(next_character(&text), &g)) continue;
        size_t from = (size_t)fmax(0, floor((pen + (double)g.left) / step));
        size_t to = (size_t)fmax(0, ceil((pen + (double)g.left + (double)g.columns) / step));
        size_t top = (size_t)((double)g.top / step), bottom = (size_t)ceil((double)(g.top + g.rows) / step);
        for (size_t y = top; y < bottom; ++y)
            for (size_t x = from; x < to; ++x) {
                double sum = 0;
                for (int k = 0; k < FINE * FINE; ++k)
                    sum += cover_at(&g, ((double)x + (k % FINE + 0.5) / FINE) * step - pen,
                                    ((double)y + (k / FINE + 0.5) / FINE) * step);
                if (sum > 0) put(user, x, y, sum / (FINE * FINE));
            }
    }
}
