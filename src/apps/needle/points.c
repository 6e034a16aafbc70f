/* The points of a volume that are matched, by the programs needle_points and needle_some: those of the surface about
 * the needle's axis, filtered. They stay on the device; how many there are and where the needle ends comes back. */
#include "apps/needle/needle.h"

#include "num/array.h"
#include "plan/give.h"

#include <math.h>

enum { ABOUT = 11, TOLD = 4, FIRST_ROOM = 2560 }; /* numbers; points that there is room for at first */
static const double TILE = 8;                     /* thresholds: of a tile whose points follow each other */

void needle_points_free(needle_points *p) {
    atn_program_free(p->program);
    atn_program_free(p->some);
    atn_array *all[] = {p->about, p->told, p->of};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    *p = (needle_points){0};
}

static atn_status open_points(atn_needle *n) {
    needle_points *p = &n->points;
    if (p->program) return ATN_OK;
    atn_status status = atn_array_create_vector(n->device, ATN_SP, ABOUT, &p->about);
    if (status == ATN_OK) status = atn_array_create_vector(n->device, ATN_INT32, TOLD, &p->told);
    if (status == ATN_OK) status = atn_array_create_vector(n->device, ATN_INT32, 2, &p->of);
    if (status == ATN_OK) {
        atn_array_pin(p->about);
        atn_array_pin(p->told);
        atn_array_pin(p->of);
        status = atn_program_make(n->device, "needle_points", ATN_SP, ATN_TRUSTED, &p->program);
    }
    if (status == ATN_OK) status = atn_program_make(n->device, "needle_some", ATN_SP, ATN_TRUSTED, &p->some);
    if (status == ATN_OK)
        status = atn_program_give(p->program, ATN_ARRAYS({"about", p->about}, {"told", p->told}), ATN_NOTHING);
    if (status == ATN_OK) status = atn_program_give(p->some, ATN_ARRAYS({"of", p->of}), ATN_NOTHING);
    if (status != ATN_OK) needle_points_free(p);
    return status;
}

static atn_status bind_points(atn_needle *n) {
    needle_points *p = &n->points;
    atn_array *const *at = n->counted[NEEDLE_ALL].position;
    const atn_named_array positions[] = {{"px", at[0]}, {"py", at[1]}, {"pz", at[2]}};
    if (p->bound) return ATN_OK;
    atn_status status = atn_program_give(p->program, positions, 3, ATN_NOTHING);
    if (status == ATN_OK) status = atn_program_give(p->some, positions, 3, ATN_NOTHING);
    p->bound = status == ATN_OK;
    return status;
}

/* Where a point is near to nothing whatever the pose: far beyond the volume and the model. */
static double nowhere(const atn_needle *n, const double spacing[3]) {
    double far = 1;
    const double size[3] = {(double)n->surface.width * spacing[0], (double)n->surface.height * spacing[1],
                            (double)n->surface.frames * spacing[2]};
    for (int axis = 0; axis < 3; ++axis) far = fmax(far, fmax(n->high[axis] - n->low[axis], size[axis]));
    return 1e4 * (far + n->options.threshold);
}

static atn_status set_numbers(atn_needle *n, const double spacing[3], double reach) {
    double edge = n->options.edge > 0 ? n->options.edge : -1;
    const atn_named_number number[] = {
        {"dx", spacing[0]},
        {"dy", spacing[1]},
        {"dz", spacing[2]},
        {"reach", reach},
        {"edge", edge},
        {"far", nowhere(n, spacing)},
        {"over_c", edge > 0 ? fmin(ceil(edge / spacing[0]), (double)n->surface.width) : 0},
        {"tile_f", fmin(fmax(floor(TILE * n->options.threshold / spacing[2]), 1), (double)n->surface.frames)},
        {"tile_c", fmin(fmax(floor(TILE * n->options.threshold / spacing[0]), 1), (double)n->surface.width)},
        {"over_f", edge > 0 ? fmin(ceil(edge / spacing[2]), (double)n->surface.frames) : 0}};
    atn_status status =
        atn_program_give(n->points.program, ATN_ARRAYS({"row", n->surface.row}, {"seen", n->surface.seen}), number,
                         sizeof number / sizeof *number);
    if (status != ATN_OK) return status;
    return atn_program_give(n->points.some, ATN_NOTHING, ATN_NUMBERS({"far", nowhere(n, spacing)}));
}

/* The line as the program takes it, and the middle of its certain part. */
static atn_status put_line(atn_needle *n, const atn_needle_line *line, const int64_t anchor[2],
                           const double spacing[3]) {
    void *to = NULL;
    const double *d = line->direction, *at = line->point;
    double middle = 0.5 * (double)(anchor[0] + anchor[1]) * spacing[2];
    for (int axis = 0; axis < 3; ++axis) n->scan_centre[axis] = at[axis] + (middle - at[2]) / d[2] * d[axis];
    const double number[ABOUT] = {at[0] - at[2] / d[2] * d[0],
                                  at[1] - at[2] / d[2] * d[1],
                                  spacing[2] / d[2] * d[0],
                                  spacing[2] / d[2] * d[1],
                                  d[0],
                                  d[1],
                                  (double)anchor[0],
                                  (double)anchor[1],
                                  n->scan_centre[0],
                                  n->scan_centre[1],
                                  n->scan_centre[2]};
    atn_status status = atn_array_map_write(n->points.about, &to);
    for (int k = 0; k < ABOUT && status == ATN_OK; ++k) ((float *)to)[k] = (float)number[k];
    return status;
}

static atn_status take_some(atn_needle *n) {
    needle_points *p = &n->points;
    int64_t stride = needle_engine_stride(n);
    void *to = NULL;
    atn_status status = needle_engine_points(n, NEEDLE_SOME, (n->scan_points + stride - 1) / stride);
    if (status == ATN_OK) status = atn_program_bind(p->some, "some", n->counted[NEEDLE_SOME].positions);
    if (status == ATN_OK) status = atn_array_map_write(p->of, &to);
    if (status != ATN_OK) return status;
    ((int32_t *)to)[0] = (int32_t)stride;
    ((int32_t *)to)[1] = (int32_t)n->scan_points;
    return atn_program_run(p->some);
}

atn_status needle_points_take(atn_needle *n, const atn_needle_line *line, const int64_t anchor[2],
                              const double spacing[3], double reach, needle_told *out) {
    const void *told = NULL;
    needle_counted *all = &n->counted[NEEDLE_ALL];
    *out = (needle_told){0};
    atn_status status = open_points(n);
    if (status == ATN_OK) status = set_numbers(n, spacing, reach);
    if (status == ATN_OK) status = put_line(n, line, anchor, spacing);
    if (status == ATN_OK && !all->positions) status = needle_engine_points(n, NEEDLE_ALL, FIRST_ROOM);
    for (int64_t had = -1; status == ATN_OK && had != all->capacity;) { /* again where there was no room for all */
        had = all->capacity;
        status = bind_points(n);
        if (status == ATN_OK) status = atn_program_run(n->points.program);
        if (status == ATN_OK) status = atn_array_map_read(n->points.told, &told);
        if (status != ATN_OK) break;
        const int32_t *number = told;
        n->scan_points = number[0];
        *out = (needle_told){number[1], number[2], number[3]};
        if (n->scan_points > 0) status = needle_engine_points(n, NEEDLE_ALL, n->scan_points);
    }
    return status == ATN_OK && n->scan_points > 0 ? take_some(n) : status;
}
