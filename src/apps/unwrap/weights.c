/* Weights: what a pixel is worth (mask, quality, residues, variance), the lesser of two for the edge between them, and
 * the weights of coarser grids: ways that cross, in series with what leads to them, so that masked cells never couple.
 */
#include "apps/unwrap/unwrap.h"

enum { LINE = 16, LONG = 256 };            /* elements */
static const double LOW = 0.02, ROUGH = 1; /* beside a residue; per square radian of variance */

/* Weights of a pixel are read together: rows of different arrays do not begin in the same lines of a cache. */
static atn_status open_arrays(atn_unwrap *u) {
    atn_array **packed[] = {&u->clean, &u->grade, &u->u[0]}, **apart[] = {&u->wx, &u->wy, &u->inv};
    int64_t pitch = u->width < LONG ? 0 : (u->width + LINE) / LINE * LINE;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof packed / sizeof *packed && status == ATN_OK; ++k)
        status = unwrap_array(u, u->type, u->width, u->height, packed[k]);
    for (size_t k = 0; k < sizeof apart / sizeof *apart && status == ATN_OK; ++k)
        if (!*apart[k]) status = atn_array_create_matrix(u->device, u->type, u->height, u->width, pitch, apart[k]);
    return status;
}

atn_status unwrap_grade(atn_unwrap *u, const atn_unwrap_solve_settings *s) {
    unwrap_op *op = &u->ops.grading;
    bool once = s->weights == ATN_UNWRAP_WEIGHTS_ONCE;
    bool residues = once || s->weights == ATN_UNWRAP_WEIGHTS_RESIDUES;
    bool variance = once || s->weights == ATN_UNWRAP_WEIGHTS_VARIANCE;
    atn_status status = open_arrays(u);
    if (status == ATN_OK) status = unwrap_arrays_quality(u);
    if (status == ATN_OK)
        status = UNWRAP_OP(u, op, "unwrap_grade", {"psi", u->psi}, {"mask", u->mask}, {"quality", u->quality},
                           {"grade", u->grade}, {"clean", u->clean});
    if (status == ATN_OK)
        status = atn_kernel_give(op->kernel, ATN_ARRAYS({"quality", u->quality}),
                                 ATN_NUMBERS({"low", residues ? LOW : 1}, {"rough", variance ? ROUGH : 0}));
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}

atn_status unwrap_edges(atn_unwrap *u, double bend) {
    unwrap_op *op = &u->ops.edges;
    const unwrap_system system = unwrap_weights_system(u);
    atn_status status = UNWRAP_OP(u, op, "unwrap_edges", {"grade", u->grade}, {"psi", u->clean}, {"u", u->u[u->now]},
                                  {"wx", u->wx}, {"wy", u->wy}, {"inv", u->inv});
    if (status == ATN_OK) status = atn_kernel_param(op->kernel, "bend", bend, 0);
    if (status == ATN_OK) status = atn_kernel_run(op->kernel);
    return status == ATN_OK ? unwrap_solver_weights(u->solver, &system) : status;
}

unwrap_system unwrap_weights_system(const atn_unwrap *u) {
    return (unwrap_system){.psi = u->clean, .wx = u->wx, .wy = u->wy, .inv = u->inv, .u = u->u[u->now]};
}

atn_array *unwrap_answer(const atn_unwrap *u) { return u->place < 2 ? u->u[0] : unwrap_solver_answer(u->solver); }
