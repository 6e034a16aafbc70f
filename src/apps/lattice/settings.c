/* The settings of a frame in effect: phases, shares, noise and density, as given or estimated. */
#include "apps/lattice/parts.h"

#include <math.h>
#include <string.h>

static const double SQRT2 = 1.4142135623730951;

void lattice_set_phase(atn_lattice *l, int32_t k, int32_t model) {
    if (k != model) l->settings.model[k] = l->settings.model[model];
    l->slot[k].model = l->settings.model[k];
    memcpy(l->info.name[k], l->settings.model[k].name, sizeof *l->info.name);
    l->info.structure[k] = l->info.structure[model];
}

void lattice_add_phase(atn_lattice *l, int32_t model) { lattice_set_phase(l, l->info.models++, model); }

void lattice_even_shares(atn_lattice *l, double other) {
    l->info.share[0] = other;
    for (int32_t m = 1; m <= l->info.models; ++m) l->info.share[m] = (1 - other) / l->info.models;
}

/* Of the same mean square in all directions, of pairs. */
static double pair_noise(double lateral, double depth) {
    return SQRT2 * sqrt((2 * lateral * lateral + depth * depth) / 3);
}

double lattice_given_noise(const atn_lattice *l) {
    const atn_lattice_settings *s = &l->settings;
    return s->noise > 0 ? pair_noise(s->noise, s->depth_noise > 0 ? s->depth_noise : s->noise) : 0;
}

void lattice_take_noise(atn_lattice *l, double noise) {
    const atn_lattice_settings *s = &l->settings;
    l->info.noise = s->noise > 0 ? s->noise : noise;
    l->info.depth_noise = s->depth_noise > 0 ? s->depth_noise : l->info.noise;
    l->info.shift_noise = pair_noise(l->info.noise, l->info.depth_noise);
}

/* Coarse scores look at about 14 neighbours where there are many and their places are sharp: at more, up to all, with
 * the square of the noise over the distance of atoms. */
void lattice_take_density(atn_lattice *l, double neighbours) {
    double r = l->info.cutoff, volume = 4.0 / 3 * 3.14159265358979323846 * r * r * r;
    double apart = cbrt(volume * l->info.efficiency / fmax(neighbours, 1)), blur = l->info.noise / (0.08 * apart);
    double wanted = 14 * fmax(1, blur * blur);
    l->info.neighbours = neighbours;
    l->inner = neighbours > 1.4 * wanted ? r * cbrt(wanted / neighbours) : r * 1.01;
    l->background_density = fmax(l->info.background_neighbours * neighbours, 0.02) / volume;
}
