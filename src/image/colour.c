/* Colour maps, interpolated linearly between points, and a font of 5 x 7 pixels. */
#include "image/colour.h"

#include <string.h>

enum { POINTS = 9 };

/* Viridis (van der Walt, Smith); grey; a cycle after Twilight (Bechtold), whose ends meet. */
static const unsigned char MAPS[][POINTS][3] = {
    [ATN_COLOUR_VIRIDIS] = {{68, 1, 84},
                            {71, 44, 122},
                            {59, 81, 139},
                            {44, 113, 142},
                            {33, 144, 141},
                            {39, 173, 129},
                            {92, 200, 99},
                            {170, 220, 50},
                            {253, 231, 37}},
    [ATN_COLOUR_GREY] = {{0, 0, 0},
                         {32, 32, 32},
                         {64, 64, 64},
                         {96, 96, 96},
                         {128, 128, 128},
                         {159, 159, 159},
                         {191, 191, 191},
                         {223, 223, 223},
                         {255, 255, 255}},
    [ATN_COLOUR_CYCLIC] = {{226, 217, 226},
                           {154, 184, 204},
                           {98, 117, 186},
                           {92, 48, 147},
                           {47, 20, 54},
                           {130, 35, 77},
                           {181, 88, 80},
                           {205, 160, 136},
                           {226, 217, 226}},
};

void colour_of(atn_colour_map map, double place, uint16_t colour[3]) {
    const unsigned char(*points)[3] = MAPS[map <= ATN_COLOUR_CYCLIC ? map : ATN_COLOUR_VIRIDIS];
    double along = place * (POINTS - 1);
    size_t first = (size_t)along < POINTS - 1 ? (size_t)along : POINTS - 2;
    double part = along - (double)first;
    for (size_t k = 0; k < 3; ++k) {
        double mixed = points[first][k] * (1 - part) + points[first + 1][k] * part;
        colour[k] = (uint16_t)(mixed * 257 + 0.5); /* 255 becomes 65535 */
    }
}
