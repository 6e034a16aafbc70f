/* Orientations of crystals: how far two are apart, poles, colours of the inverse pole figure. Quaternions are w x y z,
 * from the crystal to the frame. */
#ifndef ATN_CLI_LATTICE_TURNS_H
#define ATN_CLI_LATTICE_TURNS_H

#include <stdbool.h>

/* The smallest angle between two orientations of one crystal, in degrees: cubic (24 rotations), or hexagonal (12). */
double lattice_misorientation(const float a[4], const float b[4], bool hexagonal);
/* A direction of the crystal in the frame. */
void lattice_turned(const float q[4], const double crystal[3], double frame[3]);
/* The colour of a crystal direction: cubic red [001], green [011], blue [111]; hexagonal red along c, else by the
 * angle. */
void lattice_direction_colour(const double direction[3], bool hexagonal, int rgb[3]);
/* The same of the direction that lies along the frame's z. */
void lattice_turn_colour(const float q[4], bool hexagonal, int rgb[3]);

#endif
