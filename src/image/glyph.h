/* Text in pictures: antialiased glyphs of any size, from the bitmaps of a font (font/sans.txt). */
#ifndef ATN_IMAGE_GLYPH_H
#define ATN_IMAGE_GLYPH_H

#include "base/embedded.h"

#include <stddef.h>

extern const atn_embedded GLYPH_FONTS[]; /* made by the build */

/* How wide a line of UTF-8 is at `size` pixels a line; letters that the font does not have take no room. */
size_t glyph_width(const char *text, size_t size);
/* Calls `put` for every pixel that the line covers, 0 to 1, its upper left corner at (0, 0). */
void glyph_draw(const char *text, size_t size, void (*put)(void *user, size_t x, size_t y, double cover), void *user);

#endif
