/* The parts of a needle: the model made ready, the volume over it, the kernels and their buffers. */
#ifndef ATN_APPS_NEEDLE_NEEDLE_H
#define ATN_APPS_NEEDLE_NEEDLE_H

#include "apps/register/pose.h"
#include "cloud/points.h"
#include "device/device.h"

#include <attune/array.h>
#include <attune/kernel.h>
#include <attune/needle.h>

enum { NEEDLE_OUTSIDE, NEEDLE_INSIDE, NEEDLE_MIXED }; /* numbers of lists; mixed ones from there on */

/* Voxels over the model, each with a list of the model points that can decide for a point in it. All of the model's
 * points are in single precision already. Ended by needle_volume_free. */
typedef struct needle_volume {
    const atn_ctx *ctx;
    double low[3], edge;
    int32_t size[3];
    int32_t *list;  /* of each voxel */
    int32_t *start; /* one more than lists, into: */
    int32_t *index; /* model points */
    int32_t lists;
    int64_t candidates;    /* in all lists */
    int64_t inside, mixed; /* voxels that one point covers, and others that have any */
} needle_volume;

/* full: every point that is near enough to any place of the voxel (counting model points needs all); otherwise points
 * that another one is nearer than everywhere in the voxel are left out, and where one covers it all others. */
atn_status needle_volume_make(const atn_ctx *ctx, size_t count, const float *const position[3], double threshold,
                              double edge, bool full, needle_volume *out);
void needle_volume_free(needle_volume *volume); /* zeroed ones are fine */

enum { NEEDLE_SLOTS = 4 };

/* Kernels bound to arrays for one number of combinations. */
typedef struct needle_slot {
    int64_t combinations; /* 0: free */
    int64_t used;         /* when, to find the one that was not for longest */
    atn_array *pose, *count, *found;
    atn_kernel *kernel, *sum;
} needle_slot;

struct atn_needle {
    atn_device *device;
    atn_ctx *ctx;
    atn_needle_options options; /* defaults filled in */
    cloud_points model;         /* filtered, in the model's frame */
    float *normal;              /* three for each, of length 1; zeros where not known */
    double low[3], high[3];     /* bounds of the model */
    double centre[3];           /* of the model: kernels see it from there */
    cloud_grid *grid;           /* over the model */
    needle_volume volume;
    atn_array *model_array[3]; /* or candidates */
    atn_array *list_array, *start_array, *index_array;
    /* The frame. */
    cloud_points scan;
    double scan_centre[3];
    int64_t capacity; /* of the scan's arrays; what is beyond the points is far away */
    atn_array *scan_array[3];
    needle_slot slot[NEEDLE_SLOTS];
    int64_t uses;
    reg_pose *pose; /* of a round's combinations; room for: */
    int64_t poses;
};

/* engine.c */
atn_status needle_engine_open(atn_needle *n);
void needle_engine_close(atn_needle *n);
atn_status needle_engine_scan(atn_needle *n); /* n->scan is another one */
/* counts[c] for n->pose[c], scan = pose(model); `counts` belongs to the needle and holds until the next call. */
atn_status needle_engine_count(atn_needle *n, int64_t combinations, const int32_t **counts);
atn_status needle_engine_room(atn_needle *n, int64_t combinations); /* of n->pose */

/* rounds.c */
typedef struct needle_frame {
    const atn_needle_settings *settings; /* defaults filled in */
    reg_pose start;
    double along[3]; /* of a shift of 1: direction / direction_z */
    int32_t around;  /* steps to each side of a winner, */
    double divide;   /* steps become that much smaller, from round to round */
} needle_frame;

/* The pose of a combination: R Rz(roll), t + along * shift. */
reg_pose needle_pose(const needle_frame *frame, double roll_deg, double shift);
atn_status needle_rounds(atn_needle *n, const needle_frame *frame, atn_needle_result *out);
/* Does the count change over a whole turn by more than noise? */
atn_status needle_roll_observable(atn_needle *n, const needle_frame *frame, atn_needle_result *out);

/* refine.c: moves `pose`; fills rmse and covariance of the result. */
atn_status needle_refine(atn_needle *n, const needle_frame *frame, reg_pose *pose, atn_needle_result *out);

#endif
