/* Internals of needle tracking: the prepared model, the lookup volume over it, the kernels and their buffers. */
#ifndef ATN_APPS_NEEDLE_NEEDLE_H
#define ATN_APPS_NEEDLE_NEEDLE_H

#include "apps/needle/segment.h"
#include "cloud/points.h"
#include "device/device.h"
#include "geom/pose.h"

#include <attune/array.h>
#include <attune/kernel.h>
#include <attune/needle.h>
#include <attune/program.h>

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

/* What a voxel's list has: every point that is near enough to any place of the voxel; those that may be the nearest one
 * of a place, others being left out that another one is nearer than everywhere in the voxel; of them none where one
 * point covers all of the voxel. */
typedef enum needle_lists { NEEDLE_LISTS_ALL, NEEDLE_LISTS_NEAREST, NEEDLE_LISTS_DECIDING } needle_lists;
atn_status needle_volume_make(const atn_ctx *ctx, size_t count, const float *const position[3], double threshold,
                              double edge, needle_lists lists, needle_volume *out);
void needle_volume_free(needle_volume *volume); /* zeroed ones are fine */

/* The model as a needle. A plain value. */
typedef struct needle_shape {
    double radius; /* half of what it is wide along most of its length */
    double tip_z;  /* of the thinner end */
    bool tip_low;  /* that is the lower one */
    double tip[3]; /* the middle of the points there */
} needle_shape;
/* `edge` of the voxel filter that the points went through; not positive: none. */
needle_shape needle_shape_of(const cloud_points *model, const double low[3], const double high[3], double edge);

/* Points of the scan that are counted. */
typedef enum needle_choice { NEEDLE_ALL, NEEDLE_SOME, NEEDLE_CHOICES } needle_choice;

/* Their arrays: somewhat longer than they are many, filled up with points that are near to nothing. */
typedef struct needle_counted {
    int64_t count, capacity;
    atn_array *positions;   /* a row for each axis: they go to the device in one piece */
    atn_array *position[3]; /* views of them */
} needle_counted;

enum { NEEDLE_SLOTS = 6 };

/* Kernels bound to arrays for one number of combinations. */
typedef struct needle_slot {
    int64_t combinations; /* 0: free */
    needle_choice points;
    int64_t used; /* when, to find the one that was not for longest */
    atn_array *pose, *count, *found;
    atn_kernel *kernel, *sum;
} needle_slot;

/* What of the model the beam would meet at a pose. A plain value. */
typedef struct needle_view {
    int32_t facing;  /* points of the model that face the beam, inside the volume, */
    int32_t against; /* of them where the scan is empty, */
    int32_t telling; /* and where it is not and a roll would move the surface */
} needle_view;

enum { NEEDLE_VIEWS = 3 }; /* numbers of poses that the program needle_view is made for */

/* Free space: the program needle_view for some numbers of poses. Zeroed: not needed yet. */
typedef struct needle_free {
    atn_array *sample; /* points of the model that it is held against */
    atn_program *program[NEEDLE_VIEWS];
    atn_array *pose[NEEDLE_VIEWS], *view[NEEDLE_VIEWS];
    bool on;           /* the volume's surface is there, */
    double spacing[3]; /* so far apart */
} needle_free;

/* Sums over pairs of a scan point and a model point, about the scan's centre: see equations.c. A plain value. */
typedef struct needle_sums {
    double h[36], g[6], weight, square;
} needle_sums;

/* The program of the refinement and its arrays. Zeroed: not needed yet. */
typedef struct needle_equations {
    atn_program *program;
    atn_array *list, *start, *model; /* the lookup volume of the nearest ones */
    atn_array *pose, *sums;
    bool bound; /* to the scan's points as they are */
} needle_equations;

/* The programs that choose a volume's points, and their arrays. Zeroed: not needed yet. */
typedef struct needle_points {
    atn_program *program, *some;
    atn_array *about, *told, *of; /* the line; what was found; which of the points are some */
    bool bound;                   /* to the arrays of points as they are */
} needle_points;

/* Where the time of a volume goes, in the order of the chain. */
typedef enum needle_part {
    NEEDLE_PART_LEVEL,
    NEEDLE_PART_BRIGHT,
    NEEDLE_PART_SURFACE,
    NEEDLE_PART_ARCS,
    NEEDLE_PART_AXIS,
    NEEDLE_PART_POINTS, /* of the surface about the axis, filtered */
    NEEDLE_PART_START,  /* coarse counts: roll and tip */
    NEEDLE_PART_ROUNDS,
    NEEDLE_PART_REFINEMENT,
    NEEDLE_PARTS
} needle_part;

struct atn_needle {
    atn_device *device;
    atn_ctx *ctx;
    atn_needle_settings options; /* defaults filled in */
    cloud_points model;          /* filtered, in the model's frame */
    float *normal;               /* three for each, of length 1; zeros where not known */
    double low[3], high[3];      /* bounds of the model */
    double centre[3];            /* of the model: kernels see it from there */
    needle_shape shape;
    needle_volume volume;
    atn_array *model_array[3]; /* or candidates */
    atn_array *list_array, *start_array, *index_array;
    /* The frame. */
    int64_t scan_points; /* filtered */
    double scan_centre[3];
    needle_counted counted[NEEDLE_CHOICES];
    needle_equations equations;
    needle_slot slot[NEEDLE_SLOTS];
    int64_t uses;
    geom_pose *pose;     /* of a round's combinations; */
    double *worth;       /* what each is worth; */
    int64_t *weighed;    /* which of them are looked at; */
    needle_view *view;   /* of those what is seen, at the place of each, */
    needle_view *listed; /* and one behind the other; room for: */
    int64_t poses;
    /* Of volumes. */
    needle_bright bright;
    needle_surface surface;
    needle_arcs arcs;
    needle_points points;
    needle_free empty_space;
    double part_s[NEEDLE_PARTS]; /* seconds of the last volume */
};

typedef struct needle_frame {
    const atn_needle_match_settings *settings; /* defaults filled in */
    geom_pose start;
    double along[3]; /* of a shift of 1: direction / direction_z */
    int32_t around;  /* steps to each side of a winner, */
    double divide;   /* steps become that much smaller, from round to round */
} needle_frame;

/* needle.c: a frame in two steps. */
atn_status needle_take_scan(atn_needle *n, const atn_cloud *scan);
atn_status needle_take_settings(const atn_needle *n, atn_needle_match_settings *filled, needle_frame *frame);
atn_status needle_match_taken(atn_needle *n, const needle_frame *frame, atn_needle_result *out);

/* needle.c: adds what passed since *since to a part, and begins anew. */
void needle_part_end(atn_needle *n, needle_part part, double *since);

/* points.c: those of n->surface about a line, filtered; the middle of its certain part is n->scan_centre. */
typedef struct needle_told {
    int64_t surface;     /* points about the line, */
    int64_t first, last; /* scans that have them */
} needle_told;
atn_status needle_points_take(atn_needle *n, const atn_needle_line *line, const int64_t anchor[2],
                              const double spacing[3], double reach, needle_told *out);
void needle_points_free(needle_points *points);

/* engine.c */
atn_status needle_engine_open(atn_needle *n);
void needle_engine_close(atn_needle *n);
atn_status needle_engine_scan(atn_needle *n, const cloud_points *scan, double far);
/* Makes room for so many points of a scan, filled by the caller: then what is bound to their arrays is bound anew. */
atn_status needle_engine_points(atn_needle *n, needle_choice points, int64_t count);
int64_t needle_engine_stride(const atn_needle *n); /* of n->scan_points, every so many-th is one of some */
/* counts[c] for n->pose[c], scan = pose(model); `counts` belongs to the needle and holds until the next call. */
atn_status needle_engine_count(atn_needle *n, int64_t combinations, needle_choice points, const int32_t **counts);
atn_status needle_engine_room(atn_needle *n, int64_t combinations); /* of n->pose */

/* rounds.c */

/* The pose of a combination: R Rz(roll), t + along * shift. */
geom_pose needle_pose(const needle_frame *frame, double roll_deg, double shift);
/* n->pose of all combinations, roll by roll, from the low end of both intervals on. */
atn_status needle_poses(atn_needle *n, const needle_frame *frame, const atn_needle_interval *rolls, int64_t n_rolls,
                        const atn_needle_interval *shifts, int64_t n_shifts);
atn_status needle_rounds(atn_needle *n, const needle_frame *frame, atn_needle_result *out);
/* Does the count change over a whole turn by more than noise? *matches: those of `pose`, which is counted along. */
atn_status needle_roll_observable(atn_needle *n, const needle_frame *frame, const geom_pose *pose,
                                  atn_needle_result *out, int64_t *matches);

/* free.c: what of the model the beam would meet at poses. */
atn_status needle_free_open(atn_needle *n); /* once the model is there */
void needle_free_close(needle_free *f);
void needle_free_take(atn_needle *n, const double spacing[3]); /* n->surface is the scan's */
void needle_free_forget(atn_needle *n);
/* out[k] of n->pose[which[k]]. */
atn_status needle_free_views(atn_needle *n, int64_t count, const int64_t *which, needle_view *out);
atn_status needle_free_view(atn_needle *n, const geom_pose *pose, needle_view *out);
/* rounds.c: the combination with the most matches; where free space is known, of those that have as many, but for
 * `about` of the points that were counted, the one with the fewest points in it, and n->view[*best] is what is seen of
 * it. counts[c] belongs to n->pose[c]. */
atn_status needle_best(atn_needle *n, int64_t rolls, int64_t shifts, const int32_t *counts, needle_choice points,
                       double about, int64_t *best);

/* doubt.c: where the needle begins and ends in a volume. A plain value. */
typedef struct needle_ends {
    double spacing[3], size[3];
    int64_t frames, anchor[2]; /* the first and the last scan that have an arc of the needle, */
    bool has_arcs;             /* if any were looked for */
    const uint8_t *seen;       /* for each scan: is it there? Not owned */
} needle_ends;
double needle_line_distance2(const atn_needle_line *line, const double p[3]);
/* *other: arcs of the needle's radius, half as many as the line has, lie on another line. n->arcs are the scan's;
 * `spacing` between its columns. */
atn_status needle_doubt_other(const atn_needle *n, const atn_needle_line *line, double spacing, bool *other);
/* Is it a whole tube where the scans begin (side 0), or end (1)? At both: its tip is not in them. */
bool needle_doubt_leaves(const atn_needle *n, const needle_ends *ends, int side);
/* Is the tip of this pose outside of what was scanned, or does the needle go on behind it? */
bool needle_doubt_tip(const atn_needle *n, const needle_ends *ends, const double transform[16]);

/* equations.c: of the pairs at a pose, of the scan; zeros where it has no inverse. */
atn_status needle_equations_of(atn_needle *n, const geom_pose *pose, needle_sums *out);
void needle_equations_free(needle_equations *equations);

/* refine.c: moves `pose`; fills rmse and covariance of the result. */
atn_status needle_refine(atn_needle *n, geom_pose *pose, atn_needle_result *out);
/* What is left of the refinement of a pose that has so many `matches`, once out->roll_observable is known. */
void needle_refine_end(const geom_pose *winner, int64_t matches, geom_pose *pose, atn_needle_result *out);

#endif
