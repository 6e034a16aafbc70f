/* Colours of previews, and the few characters that stand beside a colour bar. */
#ifndef ATN_IMAGE_COLOUR_H
#define ATN_IMAGE_COLOUR_H

#include <attune/image.h>

/* place: 0 to 1 along the map. */
void colour_of(atn_colour_map map, double place, uint16_t colour[3]);

enum { GLYPH_WIDTH = 5, GLYPH_HEIGHT = 7 };
/* A row of a character from the top: bit GLYPH_WIDTH - 1 is its left pixel. Blank for what it does not have. */
unsigned colour_glyph(char character, size_t row);

#endif
