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
        double lever = s->at[0] * s->normal[1] - s->at[1] * s->normal[0]; /* of a roll, along the normal */
        s->telling = fabs(lever) > LEVER * n->shape.radius;
    }
    return ATN_OK;
}

void needle_free_forget(atn_needle *n) { n->empty_space = (needle_empty){0}; }

void needle_free_take(atn_needle *n, const double spacing[3], const uint8_t *seen) {
    n->empty_space = (needle_empty){.on = true, .seen = seen};
    for (int axis = 0; axis < 3; ++axis) n->empty_space.spacing[axis] = spacing[axis];
}

/* From the model to columns, rows and scans. */
static reg_pose to_pixels(const needle_empty *e, const reg_pose *pose) {
    reg_pose out = *pose;
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) out.a[3 * r + c] /= e->spacing[r];
        out.b[r] /= e->spacing[r];
    }
    return out;
}

static double along_row(const reg_pose *t, int r, const double m[3]) {
    return t->a[3 * r] * m[0] + t->a[3 * r + 1] * m[1] + t->a[3 * r + 2] * m[2] + t->b[r];
}

needle_view needle_free_view(const atn_needle *n, const reg_pose *pose) {
    const needle_empty *e = &n->empty_space;
    const needle_surface *s = &n->surface;
    const reg_pose pixels = to_pixels(e, pose);
    double deeper = DEEPER * n->options.threshold / e->spacing[1];
    needle_view out = {0};
    for (const needle_sample *at = n->sample; at < n->sample + n->samples; ++at) {
        double along = pose->a[3] * at->normal[0] + pose->a[4] * at->normal[1] + pose->a[5] * at->normal[2];
        if (along > -FACING) continue; /* flanks are dim, and the beam is wide */
        double column = rint(along_row(&pixels, 0, at->at)), frame = rint(along_row(&pixels, 2, at->at));
        if (!(column >= 0 && column < (double)s->width && frame >= 0 && frame < (double)s->frames)) continue;
        if (!e->seen[(int64_t)frame]) continue;
        double surface = (double)s->row[(int64_t)frame * s->width + (int64_t)column];
        double row = along_row(&pixels, 1, at->at);
        ++out.facing;
        out.against += isnan(surface) ? along < -BRIGHT : surface - row > deeper;
        out.telling += at->telling && fabs(surface - row) < deeper;
    }
    return out;
}
