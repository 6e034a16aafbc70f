/* Free space: where the beam went on to something deeper, or came back dark from where metal would face it, there is no
 * needle. Counts of matches do not tell a tip that reaches beyond the one that is seen; this does. */
#include "apps/needle/needle.h"

#include "base/memory.h"

#include <math.h>

enum { SAMPLES = 1000 };
static const double DEEPER = 2;   /* thresholds that the surface is below the model's */
static const double FACING = 0.5; /* of the normal against the beam: metal that faces it so stops it, */
static const double LEVER = 0.15; /* radii: a surface that moves so with the roll tells it */
static const double BRIGHT = 0.7; /* and so is bright */

atn_status needle_free_open(atn_needle *n) {
    size_t step = n->model.count / SAMPLES + 1;
    n->sample = atn_alloc(n->ctx, (n->model.count / step + 1) * sizeof *n->sample);
    if (!n->sample) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < n->model.count; k += step) {
        const float *normal = n->normal + 3 * k;
        if (normal[0] == 0 && normal[1] == 0 && normal[2] == 0) continue; /* it never faces the beam */
        needle_sample *s = &n->sample[n->samples++];
        for (int axis = 0; axis < 3; ++axis) {
            s->at[axis] = n->model.position[axis][k];
            s->normal[axis] = (double)normal[axis];
        }
    }
    return ATN_OK;
}

void needle_free_forget(atn_needle *n) { n->empty_space = (needle_empty){0}; }

void needle_free_take(atn_needle *n, const double spacing[3], const uint8_t *seen) {
    n->empty_space = (needle_empty){.on = true, .seen = seen};
    for (int axis = 0; axis < 3; ++axis) n->empty_space.spacing[axis] = spacing[axis];
}

needle_view needle_free_view(const atn_needle *n, const reg_pose *pose) {
    const needle_empty *e = &n->empty_space;
    const needle_surface *s = &n->surface;
    double deeper = DEEPER * n->options.threshold / e->spacing[1];
    needle_view out = {0};
    for (size_t k = 0; k < n->samples; ++k) {
        const double *m = n->sample[k].at, *normal = n->sample[k].normal;
        double p[3], along = 0;
        for (int axis = 0; axis < 3; ++axis) along += pose->a[3 + axis] * normal[axis];
        if (along > -FACING) continue; /* flanks are dim, and the beam is wide */
        reg_pose_apply(pose, m, p);
        double column = rint(p[0] / e->spacing[0]), frame = rint(p[2] / e->spacing[2]);
        if (!(column >= 0 && column < (double)s->width && frame >= 0 && frame < (double)s->frames)) continue;
        if (!e->seen[(int64_t)frame]) continue;
        double surface = (double)s->row[(int64_t)frame * s->width + (int64_t)column], row = p[1] / e->spacing[1];
        ++out.facing;
        out.against += isnan(surface) ? along < -BRIGHT : surface - row > deeper;
        double lever = m[0] * normal[1] - m[1] * normal[0]; /* of a roll, along the normal */
        out.telling += fabs(lever) > LEVER * n->shape.radius && fabs(surface - row) < deeper;
    }
    return out;
}
