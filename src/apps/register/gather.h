/* Steps of many small pairs in one launch. Each worker of a batch registers a pair of its own and asks for steps; the
 * thread that has the kind makes all those of it that are asked for at the same time together. What the steps of
 * a pair read stays on the device from one to the next, in a slot of its worker's. */
#ifndef ATN_APPS_REGISTER_GATHER_H
#define ATN_APPS_REGISTER_GATHER_H

#include "device/device.h"

typedef enum reg_gathered {
    REG_GATHER_SPACING, /* programs/spacing_nearest.atn */
    REG_GATHER_TURNS,   /* programs/search_turns_step.atn */
    REG_GATHER_NORMALS, /* programs/search_normals.atn */
    REG_GATHER_LIES,    /* programs/search_near.atn, search_lies_step.atn, which reads what the first one wrote */
    REG_GATHER_LOOKS,   /* programs/fitness_look_step.atn */
    REG_GATHER_NEAREST, /* programs/fitness_nearest.atn, which reads what fitness_look_step does */
    REG_GATHER_PLANES,  /* programs/fitness_planes.atn */
    REG_GATHER_EXPECT,  /* programs/fit_expect.atn */
    REG_GATHER_MEASURE, /* programs/fit_measure.atn, which reads what fit_expect does */
    REG_GATHER_SHAPES,  /* programs/fit_shapes.atn */
    REG_GATHER_FIT,     /* programs/fit_pairs.atn, fit_scale.atn, fit_sums.atn: each reads what those before it wrote */
    REG_GATHER_TERMS,   /* fit_pairs.atn, fit_terms.atn; they read what those of REG_GATHER_FIT do */
    REG_GATHERS
} reg_gathered;

enum {
    REG_BLOCK_POINTS = 32,  /* of a block that has a box, */
    REG_BOX = 6,            /* of so many numbers */
    REG_TURNS_POINTS = 160, /* of a set of points, */
    REG_TURNS_SETS = 6,     /* of which a slot has so many */
    REG_TURNS_ITEM = 14,    /* numbers of a pose */
    REG_TURNS_SUMS = 19,
    REG_LIES_POINTS = 3000, /* of each of two clouds, */
    REG_LIES_POINT = 6,     /* with so many numbers each */
    REG_LIES_ITEM = 18,
    REG_LIES_SUMS = 23,
    REG_LIES_MOST = 160,     /* poses */
    REG_LOOKS_POINTS = 4000, /* of each of two clouds, */
    REG_LOOKS_PLANE = 12,    /* with so many numbers each */
    REG_LOOKS_ITEM = 16,
    REG_LOOKS_SUMS = 31,
    REG_LOOKS_SAMPLES = 800, /* of a cloud */
    REG_LOOKS_MOST = 32,     /* poses, from either side */
    REG_PLANES_POINT = 9,    /* numbers of a plane */
    REG_FIT_POINTS = 2048,   /* of each of two clouds */
    REG_EXPECT_POINT = 4,    /* numbers of a point */
    REG_EXPECT_ITEM = 14,
    REG_EXPECT_SUMS = 24,
    REG_MEASURE_SUMS = 2,
    REG_SHAPES_POINT = 4, /* numbers of a point, */
    REG_SHAPES_SUMS = 7,  /* and of its shape and thickness */
    REG_TERMS_POINT = 10, /* of a term */
    REG_FIT_POINT = 10,
    REG_FIT_ITEM = 18,
    REG_FIT_SUMS = 33,
    REG_FIT_MOST = 13,   /* poses */
    REG_GATHER_PLACE = 6 /* whole numbers of each row */
};

#define REG_BLOCKS(points) (((points) + REG_BLOCK_POINTS - 1) / REG_BLOCK_POINTS)

enum { REG_GATHER_LANES = 4 };          /* at most */
typedef struct reg_gather reg_gather;   /* some kinds, of all clients: what one thread makes, in a queue of its own */
typedef struct reg_client reg_client;   /* what a worker asks with */
typedef struct reg_clients reg_clients; /* all of them */

/* Kernels and arrays for so many workers, of the kinds that lane `lane` of `lanes` has; ended with reg_gather_close. */
atn_status reg_gather_open(atn_device *device, int32_t clients, int32_t lane, int32_t lanes, reg_gather **out);
void reg_gather_close(reg_gather *gather); /* NULL is fine */
/* What it takes on the device and as much on the host, in bytes. */
size_t reg_gather_bytes(int32_t clients);

/* As many as the gathers were opened for, one for each lane; ended with reg_clients_free, before these are closed. */
atn_status reg_clients_make(const atn_ctx *ctx, int32_t count, reg_gather *const *gather, int32_t lanes,
                            reg_clients **out);
void reg_clients_free(reg_clients *clients); /* NULL is fine */
reg_client *reg_clients_at(reg_clients *clients, int32_t k);

/* By one thread: makes steps until all clients have left. */
void reg_gather_serve(reg_gather *gather);
void reg_gather_leave(reg_client *client); /* the last call of a client */

/* By a client's worker. Room for `count` numbers that steps of a kind read: fill it, then run. `base`: where they begin
 * in `data` of the kernel. NULL: there is no client, they are too many, or the device is lost; the host does the work
 * then.
 */
float *reg_gather_room(reg_client *client, reg_gathered which, size_t count, int32_t *base);
/* What is in the room may be used again: `key`, not 0, says what it is, until there is room for something else. */
void reg_gather_name(reg_client *client, reg_gathered which, uint64_t key);
bool reg_gather_has(const reg_client *client, reg_gathered which, uint64_t key, int32_t *base);
/* The row where the first kernel of a kind leaves what those behind it read of pose `k`. */
int32_t reg_gather_row(const reg_client *client, reg_gathered which, int32_t k);
/* Of blocks of points that are given as x, y and z, `count` of each: middles x y z, and half of their sides. `to` has
 * room for REG_BOX * REG_BLOCKS(count). */
void reg_gather_boxes(const float *at, size_t count, float *to);
/* For each of `items`, which are not more than a client may have, a row of `item` and one of `place`; and the first
 * `wide` numbers of one of `sum`, in a row of `out`. False: the device is lost. */
bool reg_gather_run(reg_client *client, reg_gathered which, size_t items, const float *item, const int32_t *place,
                    size_t wide, float *out);

#endif
