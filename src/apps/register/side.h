/* One of the two clouds made ready for the methods: in a frame of its own, cut into blocks of
 * neighbours, each with a ball and a box around it, and its arrays on the device. */
#ifndef ATN_APPS_REGISTER_SIDE_H
#define ATN_APPS_REGISTER_SIDE_H

#include "cloud/points.h"
#include "device/device.h"
#include "geom/pose.h"

#include <attune/array.h>

/* log2 of a weight that counts for nothing; fits a half. */
#define REG_NOTHING (-60000.0)

enum { REG_LARGEST_BLOCK = 64, REG_PAIR_ROWS = 7, REG_BOX_ROWS = 7 }; /* points of a block; numbers of a pair, a box */

/* Positions as matrices, a row for each block; boxes of blocks (programs/near_boxes.atn) and of groups of them; which
 * blocks are wide and how many; where the parts of each block begin, their boxes and whose they are; the species of
 * each block, or one element. */
enum {
    REG_COVER_POINT,
    REG_COVER_BOX = REG_COVER_POINT + 3,
    REG_COVER_GROUP,
    REG_COVER_WIDE,
    REG_COVER_WIDES,
    REG_COVER_START,
    REG_COVER_PART,
    REG_COVER_OWNER,
    REG_COVER_SPECIES,
    REG_COVERS
};

typedef struct reg_box {
    double low[3], high[3];
} reg_box;

/* The square of the distance from a box to a point. fmax is a call on some machines. */
static inline double reg_box_gap2(const reg_box *box, double x, double y, double z) {
    const double at[3] = {x, y, z};
    double d2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double below = box->low[axis] - at[axis], above = at[axis] - box->high[axis];
        double d = below > above ? below : above;
        d = d > 0 ? d : 0;
        d2 += d * d;
    }
    return d2;
}

/* A tree over the blocks: node 1 is the root, node n has the children 2 n and 2 n + 1, leaf `leaves` + b is block b.
 * Boxes of nodes without blocks are empty (low above high). */
typedef struct reg_tree {
    size_t leaves; /* a power of two */
    reg_box *node;
} reg_tree;

/* Made by reg_side_make or reg_side_of, ended by reg_side_free. */
typedef struct reg_side {
    atn_device *device;
    bool on_device;       /* made there: position, weight and origin are NULL until reg_side_fetch */
    atn_type type;        /* of coordinates on the device */
    size_t count;         /* points that are there */
    size_t block, blocks; /* points of a block, and how many there are; */
    size_t padded;        /* block * blocks: blocks that are not full have copies of their last point, without weight */
    double total;         /* of all weights */
    double *position[3];  /* padded; the side's own frame */
    float *weight;        /* padded */
    uint32_t *origin;     /* padded: its place in the points it was made from */
    int32_t *species;     /* per block; NULL: all of one kind */
    double (*centre)[3];  /* per block, the ball around its points */
    double *radius;
    double usual_radius; /* the median */
    reg_tree tree;
    reg_box bounds;
    atn_array
        *box; /* of a side made on the device: the blocks' boxes there, seven rows (programs/side_boxes.atn), DP */
    atn_array *parent;     /* of each point its place in the next coarser level, INT32; NULL: not known there */
    atn_array *point[3];   /* on the device: position */
    atn_array *log_weight; /* log2 weight, REG_NOTHING for what has none */
    atn_array *w;          /* weight */
    atn_array *pair;       /* of the polish's last step (programs/polish_weights.atn); NULL until it is wanted */
    atn_array *moved[3];   /* where the points are now; reg_place of engine.h */
    atn_array *sum[4];     /* of the last E-step over these points as rows: a, a x */
    atn_array *shift;      /* log2 of a factor for the sums of each point; zeros until somebody sets it */
    atn_array *partner;    /* of the last search for nearest points: where it stands, -1 for none */
    atn_array *moved_rows[3], *sum_rows[4], *log_weight_rows, *shift_rows,
        *partner_rows; /* the same as matrices, a row for each block */
    atn_array
        *cover[REG_COVERS]; /* what lists of near blocks are made from on the device, once they are (near_device.c) */
    geom_pose placed;       /* what `moved` holds */
    bool is_placed;
} reg_side;

/* Copies points, taken from `origin` and divided by `unit`. They come in an order that keeps neighbours together
 * (reg_curve), each species by itself. Parked: nothing is on the device yet. */
atn_status reg_side_make(atn_device *device, const cloud_points *points, const double origin[3], double unit,
                         atn_type type, size_t block, reg_side *out);
struct reg_engine;
/* One block in `every`, as they are. */
atn_status reg_side_sample(struct reg_engine *engine, const reg_side *side, size_t every, reg_side *out);
/* position, weight and origin of a side that was made on the device, as it has them; nothing to do for others. */
atn_status reg_side_fetch(reg_side *side);
/* What a point weighs at least that is no stray, and how many do; its weights are at hand. Some points tell which
 * weight is usual. */
atn_status reg_side_solid(const reg_side *side, const atn_ctx *ctx, double *least, size_t *count);
/* Frees what is on the device, and brings it back. */
void reg_side_park(reg_side *side);
atn_status reg_side_unpark(reg_side *side); /* nothing to do where it is there */
void reg_side_free(reg_side *side);         /* zeroed ones are fine */

/* The median distance from a point to the nearest one at another place, of at most 1,000 points spread evenly over the
 * order; 0 where all are at one place. */
double reg_side_spacing(const reg_side *side);

/* Parts of making a side: what describes its blocks, for the host; all arrays, nothing being in them; the tree above
 * its leaves, with all that follows from the blocks' boxes. */
atn_status reg_side_allocate(reg_side *side);
atn_status reg_side_room(reg_side *side, bool species);              /* and for points and their weights */
atn_status reg_side_add_weights(reg_side *side, const atn_ctx *ctx); /* in a fixed order */
void reg_side_enclose(reg_side *side);                               /* boxes around its blocks */
atn_status reg_side_create(reg_side *side);
void reg_side_join(reg_side *side);
/* The median of distances from points to the nearest ones, as squares; those that are not finite are none. */
double reg_side_median(double *square, size_t count);

/* Room for pairs. */
atn_status reg_side_pairs(reg_side *side);

/* log_weight = log2(weight * factor); NULL: of the weight alone. `number`: room for `padded` doubles. */
atn_status reg_side_weigh(reg_side *side, const double *factor, double *number);

/* Elements of an array of the side's type, as doubles. */
atn_status reg_array_put(atn_array *array, size_t count, const double *from);
atn_status reg_array_get(atn_array *array, size_t count, double *to);
/* A vector that is not there, or has another length, is made anew; what it held is gone then. */
/* An array that a kernel writes wholly, before that: nothing needs to be in it. */
atn_status reg_array_open(atn_array *array);
atn_status reg_array_fit(atn_device *device, atn_type type, size_t count, atn_array **array);

#endif
