/* Arcs of a surface that are round as the needle is, by the program needle_arcs: cut and fitted on the device, the
 * round ones come back, six numbers each. An ellipse fitted freely to the upper part of one has its centre anywhere
 * below; the radius is known. */
#include "apps/needle/segment.h"

#include "base/memory.h"
#include "num/array.h"
#include "plan/give.h"

#include <math.h>

enum { NUMBERS = 6 };               /* of an arc */
static const double JUMP = 0.2;     /* radii: a step in depth that ends an arc, */
static const double LEAST_JUMP = 4; /* but never less than this many rows */

void needle_arcs_free(needle_arcs *a) {
    atn_program_free(a->program);
    atn_array_free(a->arcs);
    if (a->ctx) atn_free(a->ctx, a->arc);
    *a = (needle_arcs){.device = a->device, .ctx = a->ctx};
}

static atn_status make_room(needle_arcs *a, size_t room) {
    if (a->program && room == a->room) return ATN_OK;
    needle_arcs_free(a);
    a->arc = atn_alloc(a->ctx, room * sizeof *a->arc);
    atn_status status = a->arc ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = atn_program_make(a->device, "needle_arcs", ATN_SP, ATN_TRUSTED, &a->program);
    if (status == ATN_OK) status = atn_array_create_matrix(a->device, ATN_SP, NUMBERS, (int64_t)room, 0, &a->arcs);
    if (status == ATN_OK) atn_array_pin(a->arcs);
    if (status == ATN_OK) status = atn_program_bind(a->program, "arcs", a->arcs);
    if (status == ATN_OK)
        a->room = room;
    else
        needle_arcs_free(a);
    return status;
}

/* A column for each that may be one; the scan of those that are none is -1. */
static void take(needle_arcs *a, const float *number, double between_scans) {
    a->count = 0;
    for (size_t k = 0; k < a->room; ++k) {
        const float *at = number + k;
        if (at[0] < 0) continue;
        a->arc[a->count++] =
            (needle_arc){.frame = (int64_t)at[0],
                         .first = (int64_t)at[a->room],
                         .last = (int64_t)at[2 * a->room],
                         .centre = {(double)at[3 * a->room], (double)at[4 * a->room], (double)at[0] * between_scans},
                         .rms = (double)at[5 * a->room]};
    }
}

atn_status needle_arcs_find(needle_arcs *a, const needle_surface *s, const double spacing[3], double radius,
                            int64_t least) {
    int64_t fewest = least > 1 ? least : 1, most = s->width / fewest + 1; /* of a scan */
    const void *arcs = NULL;
    atn_status status = make_room(a, (size_t)s->frames * (size_t)most);
    if (status == ATN_OK)
        status = atn_program_give(a->program, ATN_ARRAYS({"row", s->row}),
                                  ATN_NUMBERS({"dx", spacing[0]}, {"dy", spacing[1]}, {"radius", radius},
                                              {"jump", fmax(JUMP * radius / spacing[1], LEAST_JUMP)},
                                              {"least", (double)fewest}, {"most", (double)most}));
    if (status == ATN_OK) status = atn_program_run(a->program);
    if (status == ATN_OK) status = atn_array_map_read(a->arcs, &arcs);
    if (status == ATN_OK) take(a, arcs, spacing[2]);
    return status;
}
