/* The surface that the beam meets first, by the program needle_surface: runs of bright pixels down columns, components
 * of them, peaks. A program for each batch that may be on its way: with the same arrays every time it is one launch. */
#include "apps/needle/segment.h"

#include "base/memory.h"
#include "plan/give.h"

void needle_surface_free(needle_surface *s) {
    for (int k = 0; k < NEEDLE_BATCHES; ++k) {
        atn_program_free(s->program[k]);
        atn_array_free(s->begin[k]);
    }
    atn_array_free(s->row);
    atn_array_free(s->seen);
    *s = (needle_surface){.device = s->device, .ctx = s->ctx};
}

atn_status needle_surface_begin(needle_surface *s, const atn_volume_info *scans) {
    if (s->row && s->frames == scans->frames && s->height == scans->height && s->width == scans->width &&
        s->bits == scans->bits)
        return ATN_OK;
    needle_surface_free(s);
    atn_status status = atn_array_create_matrix(s->device, ATN_SP, scans->frames, scans->width, 0, &s->row);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, scans->frames, &s->seen);
    if (status != ATN_OK) {
        needle_surface_free(s);
        return status;
    }
    s->frames = scans->frames;
    s->height = scans->height;
    s->width = scans->width;
    s->bits = scans->bits;
    return ATN_OK;
}

static atn_status make_program(needle_surface *s, int32_t slot) {
    atn_program **program = &s->program[slot];
    if (*program) return ATN_OK;
    int64_t high = (s->height + NEEDLE_ROWS - 1) / NEEDLE_ROWS;
    atn_status status = atn_program_make(s->device, "needle_surface", ATN_SP, ATN_TRUSTED, program);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, 1, &s->begin[slot]);
    if (status == ATN_OK)
        status = atn_program_give(*program, ATN_ARRAYS({"begin", s->begin[slot]}, {"row", s->row}, {"seen", s->seen}),
                                  ATN_NUMBERS({"high", (double)high}, {"height", (double)s->height},
                                              {"width", (double)s->width}, {"per", 32 / s->bits}));
    if (status != ATN_OK) {
        atn_program_free(*program);
        atn_array_free(s->begin[slot]);
        *program = NULL;
        s->begin[slot] = NULL;
    }
    return status;
}

atn_status needle_surface_find(needle_surface *s, const needle_batch *batch, int32_t least) {
    atn_status status = make_program(s, batch->slot);
    atn_program *program = s->program[batch->slot];
    if (status == ATN_OK)
        status = atn_program_give(program, ATN_ARRAYS({"pixels", batch->pixels}, {"median", batch->median}),
                                  ATN_NUMBERS({"least", least}));
    if (status == ATN_OK && s->first[batch->slot] != batch->first + 1) {
        int32_t begin = (int32_t)batch->first;
        status = atn_array_put(s->begin[batch->slot], &begin, 0);
        s->first[batch->slot] = batch->first + 1;
    }
    return status == ATN_OK ? atn_program_run(program) : status;
}
