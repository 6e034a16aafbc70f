/* From a solution in which each island has its own constant to the caller's result, on the device. */
#include "apps/unwrap/islands.h"

#include <math.h>

/* Sums of an island are whole numbers of 32 bits: pixels times half a turn for each step from border to border fit
 * into the largest unit, one for each pixel into the finer ones. */
static void find_units(const unwrap_image *image, double *unit, double *fine) {
    double pixels = (double)image->width * (double)image->height, steps = (double)(image->width + image->height);
    *unit = exp2(ceil(log2(pixels * 8 * steps)) - 30);
    *fine = exp2(fmax(30 - ceil(log2(pixels)), 0));
}

atn_status unwrap_islands_write(unwrap_islands *islands, const unwrap_image *image, const unwrap_labels *labels,
                                const unwrap_shape *shape) {
    unwrap_program *p = &islands->program[shape->known][shape->level];
    double unit, fine;
    find_units(image, &unit, &fine);
    const atn_named_number numbers[] = {{"stride", (double)labels->stride},
                                        {"known", shape->known},
                                        {"level", shape->level},
                                        {"congruent", shape->congruent},
                                        {"tilt_x", shape->tilt[0]},
                                        {"tilt_y", shape->tilt[1]},
                                        {"unit", unit},
                                        {"fine", fine}};
    atn_status status =
        UNWRAP_BIND(p, image, "unwrap_islands", {"psi", image->psi}, {"u", shape->u}, {"of", labels->of},
                    {"root", labels->root}, {"runs", labels->runs}, {"v", image->out});
    if (status == ATN_OK) status = atn_program_give(p->program, ATN_NOTHING, numbers, sizeof numbers / sizeof *numbers);
    return status == ATN_OK ? atn_program_run(p->program) : status;
}

void unwrap_islands_free(unwrap_islands *islands) {
    for (int k = 0; k < 4; ++k) unwrap_program_free(&islands->program[k / 2][k % 2]);
}
