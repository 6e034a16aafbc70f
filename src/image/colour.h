/* Colours of previews. */
#ifndef ATN_IMAGE_COLOUR_H
#define ATN_IMAGE_COLOUR_H

#include <attune/image.h>

/* place: 0 to 1 along the map. */
void colour_of(atn_colour_map map, double place, uint16_t colour[3]);

#endif
