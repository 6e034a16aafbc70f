/* Free space: where the beam went on to something deeper, or came back dark from where metal would face it, there is no
 * needle. Counts of matches do not tell a tip that reaches beyond the one that is seen; this does. By the program
 * needle_view, for poses that come in lists of one of a few lengths. */
#include "apps/needle/needle.h"

#include "num/array.h"
#include "plan/give.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 1000, OF_SAMPLE = 7, OF_POSE = 16, OF_VIEW = 3 };
static const int64_t POSES[NEEDLE_VIEWS] = {8, 64, 512}; /* of a list */
static const double DEEPER = 2;                          /* thresholds that the surface is below the model's */
static const double LEVER = 0.15;                        /* radii: a surface that moves this much with the roll
                                                          * determines it */

/* Points that have a normal: others never face the beam. A row for each number of theirs. */
atn_status needle_free_open(atn_needle *n) {
    size_t step = n->model.count / SAMPLES + 1, most = n->model.count / step + 1, samples = 0;
    void *to = NULL;
    atn_status status = atn_array_create_matrix(n->device, ATN_SP, OF_SAMPLE, (int64_t)most, 0, &n->empty_space.sample);
    if (status == ATN_OK) status = atn_array_map_write(n->empty_space.sample, &to);
    if (status != ATN_OK) return status;
    float *number = to;
    memset(number, 0, most * OF_SAMPLE * sizeof *number);
    for (size_t k = 0; k < n->model.count; k += step) {
        const float *normal = n->normal + 3 * k;
        if (normal[0] == 0 && normal[1] == 0 && normal[2] == 0) continue;
        for (size_t axis = 0; axis < 3; ++axis) {
            number[axis * most + samples] = (float)n->model.position[axis][k];
            number[(3 + axis) * most + samples] = normal[axis];
        }
        double lever = n->model.position[0][k] * (double)normal[1] - n->model.position[1][k] * (double)normal[0];
        number[6 * most + samples++] = fabs(lever) > LEVER * n->shape.radius; /* of a roll, along the normal */
    }
    return ATN_OK;
}

void needle_free_close(needle_free *f) {
    for (int k = 0; k < NEEDLE_VIEWS; ++k) {
        atn_program_free(f->program[k]);
        atn_array_free(f->pose[k]);
        atn_array_free(f->view[k]);
    }
    atn_array_free(f->sample);
    *f = (needle_free){0};
}

void needle_free_forget(atn_needle *n) { n->empty_space.on = false; }

void needle_free_take(atn_needle *n, const double spacing[3]) {
    n->empty_space.on = true;
    memcpy(n->empty_space.spacing, spacing, sizeof n->empty_space.spacing);
}

static atn_status open_views(atn_needle *n, int k) {
    needle_free *f = &n->empty_space;
    if (f->program[k]) return ATN_OK;
    atn_status status =
        f->pose[k] ? ATN_OK : atn_array_create_matrix(n->device, ATN_SP, OF_POSE, POSES[k], 0, &f->pose[k]);
    if (status == ATN_OK && !f->view[k])
        status = atn_array_create_matrix(n->device, ATN_INT32, OF_VIEW, POSES[k], 0, &f->view[k]);
    if (status != ATN_OK) return status;
    atn_array_pin(f->pose[k]);
    atn_array_pin(f->view[k]);
    status = atn_program_make(n->device, "needle_view", ATN_SP, ATN_TRUSTED, &f->program[k]);
    if (status == ATN_OK)
        status = atn_program_give(
            f->program[k], ATN_ARRAYS({"pose", f->pose[k]}, {"sample", f->sample}, {"view", f->view[k]}), ATN_NOTHING);
    if (status != ATN_OK) {
        atn_program_free(f->program[k]);
        f->program[k] = NULL;
    }
    return status;
}

/* From the model to columns, rows and scans; then what makes the y of a normal. */
static void put_pose(const double spacing[3], const geom_pose *pose, int64_t columns, float *to) {
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) to[(3 * r + c) * columns] = (float)(pose->a[3 * r + c] / spacing[r]);
        to[(9 + r) * columns] = (float)(pose->b[r] / spacing[r]);
        to[(12 + r) * columns] = (float)pose->a[3 + r];
    }
}

/* Of poses that fit into list k; which NULL: of the first ones. */
static atn_status view_some(atn_needle *n, int k, int64_t count, const geom_pose *pose, const int64_t *which,
                            needle_view *out) {
    needle_free *f = &n->empty_space;
    void *to = NULL;
    const void *from = NULL;
    atn_status status = open_views(n, k);
    if (status == ATN_OK)
        status = atn_program_give(f->program[k], ATN_ARRAYS({"row", n->surface.row}, {"seen", n->surface.seen}),
                                  ATN_NUMBERS({"deeper", DEEPER * n->options.threshold / f->spacing[1]}));
    if (status == ATN_OK) status = atn_array_map_write(f->pose[k], &to);
    if (status != ATN_OK) return status;
    for (int64_t p = 0; p < POSES[k]; ++p) { /* filled up with the last one, which is not counted again */
        int64_t at = p < count ? p : count - 1;
        put_pose(f->spacing, &pose[which ? which[at] : at], POSES[k], (float *)to + p);
        ((float *)to)[(OF_POSE - 1) * POSES[k] + p] = p < count;
    }
    status = atn_program_run(f->program[k]);
    if (status == ATN_OK) status = atn_array_map_read(f->view[k], &from);
    const int32_t *number = from;
    for (int64_t p = 0; p < count && status == ATN_OK; ++p)
        out[p] = (needle_view){number[p], number[POSES[k] + p], number[2 * POSES[k] + p]};
    return status;
}

atn_status needle_free_views(atn_needle *n, int64_t count, const int64_t *which, needle_view *out) {
    atn_status status = ATN_OK;
    for (int64_t done = 0, some; done < count && status == ATN_OK; done += some) {
        int k = 0;
        while (k + 1 < NEEDLE_VIEWS && POSES[k] < count - done) ++k;
        some = count - done < POSES[k] ? count - done : POSES[k];
        status = view_some(n, k, some, n->pose, which + done, out + done);
    }
    return status;
}

atn_status needle_free_view(atn_needle *n, const geom_pose *pose, needle_view *out) {
    *out = (needle_view){0};
    return view_some(n, 0, 1, pose, NULL, out);
}
