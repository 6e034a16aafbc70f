/* Kernels over only the first rows of a batch: a row without an atom costs a quarter of one that has an atom, and the
 * last batch of a pass, or a rank's part of a sample, has few. */
#include "apps/lattice/lattice.h"

#include "kernel/give.h"
#include "num/array.h"

enum { PART = 2, TIMES = 4 }; /* rows are all, half of them, and so on */
enum { SCORE, ROWS, BEST, SUM, TURN, TURN_ROWS = TURN + 4, FIT = TURN_ROWS + 4, SHIFT = FIT + 4 };
static const char *const TURNS[4] = {"qw", "qx", "qy", "qz"};
static const char *const FITS[4] = {"likelihood", "weight", "spread", "curve"};
static const char *const SHIFTS[3] = {"tx", "ty", "tz"};
_Static_assert(SHIFT + 3 == LATTICE_ROW_ARRAYS, "each array of rows has its place");

void lattice_row_arrays(lattice_slot *s, atn_array **out[LATTICE_ROW_ARRAYS]) {
    out[SCORE] = &s->score, out[ROWS] = &s->rows, out[BEST] = &s->best, out[SUM] = &s->sum;
    for (int k = 0; k < 4; ++k) out[TURN + k] = &s->q[k], out[TURN_ROWS + k] = &s->q_rows[k], out[FIT + k] = &s->fit[k];
    for (int k = 0; k < 3; ++k) out[SHIFT + k] = &s->shift[k];
}

static int32_t rows_for(const atn_lattice *l, size_t atoms) {
    int32_t rows = l->batch;
    if (!atn_device_get_info(l->device)->cpu) return rows; /* there a launch takes as long with few */
    for (int k = 0; k < TIMES && rows % PART == 0 && atoms <= (size_t)(rows / PART); ++k) rows /= PART;
    return rows;
}

/* As much of an array as rows are of the batch. */
static atn_status take(const atn_lattice *l, atn_array *whole, int64_t rows, atn_array **out) {
    if (whole->rank == 1) return atn_array_view_range(whole, 0, whole->size[0] / l->batch * rows, out);
    return atn_array_view_block(whole, 0, 0, whole->size[1] / l->batch * rows, whole->size[0], out);
}

static atn_status take_all(atn_lattice *l, int64_t rows) {
    atn_array *const near[] = {l->start, l->last, l->end};
    atn_status status = ATN_OK;
    for (int k = 0; k < LATTICE_NEAR_ARRAYS && status == ATN_OK; ++k) status = take(l, near[k], rows, &l->few[k]);
    for (int32_t m = 0; m < l->info.models; ++m) {
        atn_array **whole[LATTICE_ROW_ARRAYS];
        lattice_row_arrays(&l->slot[m], whole);
        for (int k = 0; k < LATTICE_ROW_ARRAYS && status == ATN_OK; ++k)
            status = take(l, *whole[k], rows, &l->slot[m].few[k]);
    }
    return status;
}

atn_status lattice_bind_turns(atn_kernel *k, atn_array *const q[4], atn_array *const shift[3],
                              atn_array *const fit[4]) {
    atn_status status = ATN_OK;
    for (int n = 0; n < 3 && shift && status == ATN_OK; ++n) status = atn_kernel_bind(k, SHIFTS[n], shift[n]);
    for (int n = 0; n < 4 && status == ATN_OK; ++n) {
        status = atn_kernel_bind(k, TURNS[n], q[n]);
        if (status == ATN_OK && fit) status = atn_kernel_bind(k, FITS[n], fit[n]);
    }
    return status;
}

static atn_status bind(const lattice_slot *s, atn_array *const near[LATTICE_NEAR_ARRAYS],
                       atn_array *const row[LATTICE_ROW_ARRAYS]) {
    atn_status status = atn_kernel_give(
        s->score_kernel, ATN_ARRAYS({"start", near[0]}, {"last", near[1]}, {"score", row[SCORE]}), ATN_NOTHING);
    if (status == ATN_OK)
        status = atn_kernel_give(s->pick_kernel,
                                 ATN_ARRAYS({"score", row[ROWS]}, {"best", row[BEST]}, {"sum", row[SUM]}), ATN_NOTHING);
    if (status == ATN_OK) status = lattice_bind_turns(s->pick_kernel, row + TURN, NULL, NULL);
    for (int k = 0; k < LATTICE_REFINES && status == ATN_OK; ++k) {
        status = atn_kernel_give(s->refine_kernel[k], ATN_ARRAYS({"start", near[0]}, {"end", near[2]}), ATN_NOTHING);
        if (status == ATN_OK) status = lattice_bind_turns(s->refine_kernel[k], row + TURN_ROWS, row + SHIFT, row + FIT);
    }
    return status;
}

void lattice_few_free(atn_lattice *l) {
    for (int k = 0; k < LATTICE_NEAR_ARRAYS; ++k) {
        atn_array_free(l->few[k]);
        l->few[k] = NULL;
    }
    for (int32_t m = 0; m < ATN_LATTICE_MOST_MODELS; ++m)
        for (int k = 0; k < LATTICE_ROW_ARRAYS; ++k) {
            atn_array_free(l->slot[m].few[k]);
            l->slot[m].few[k] = NULL;
        }
    l->rows = 0;
}

atn_status lattice_few_bind(atn_lattice *l, size_t atoms) {
    int32_t rows = rows_for(l, atoms);
    atn_array *const near[LATTICE_NEAR_ARRAYS] = {l->start, l->last, l->end};
    if (rows == (l->rows ? l->rows : l->batch)) return ATN_OK;
    bool all = rows == l->batch;
    lattice_few_free(l);
    atn_status status = all ? ATN_OK : take_all(l, rows);
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
        lattice_slot *s = &l->slot[m];
        atn_array **whole[LATTICE_ROW_ARRAYS], *row[LATTICE_ROW_ARRAYS];
        lattice_row_arrays(s, whole);
        for (int k = 0; k < LATTICE_ROW_ARRAYS; ++k) row[k] = all ? *whole[k] : s->few[k];
        status = bind(s, all ? near : l->few, row);
    }
    l->rows = status == ATN_OK ? rows : -1; /* otherwise kernels may still refer to freed arrays: bound again the next
                                             * time */
    return status;
}
