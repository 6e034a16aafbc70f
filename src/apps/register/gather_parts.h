/* The arrays and kernels of what is gathered, and the clients that ask for it. */
#ifndef ATN_APPS_REGISTER_GATHER_PARTS_H
#define ATN_APPS_REGISTER_GATHER_PARTS_H

#include "apps/register/gather.h"
#include "device/backend.h"
#include "kernel/kernel.h"
#include "num/array.h"

#include <pthread.h>
#include <stdatomic.h>

/* What kernels have besides `item` and `place`: the points of a slot; what comes out; and, from one kernel of a chain
 * to the next, weights and partners of points, q of each, and the scale of these; or the nearest points. */
enum { DATA = 1, SUM = 2, WEIGHTS = 4, Q = 8, SCALE = 16, NEAREST = 32 };
typedef struct gather_link {
    const char *kernel;
    int has;
} gather_link;
enum { CHAIN = 3 };

typedef struct gather_facts {
    gather_link chain[CHAIN]; /* one behind the other in a request; the last names the kind */
    size_t stays;             /* numbers of a slot */
    size_t item, sums;
    size_t most;       /* items of a request */
    reg_gathered data; /* the kind whose data it reads, if `stays` is 0 */
    int32_t lane;      /* the thread that makes it, where there is one for each of REG_GATHER_LANES */
} gather_facts;
extern const gather_facts GATHER_FACTS[REG_GATHERS];
reg_gathered gather_reads(reg_gathered which); /* the kind whose data it reads */

/* The first rows of the arrays of a kind, and the kernel over them: rows that nobody asked for take time, too. */
enum { TIERS = 4, TIER = 4, FEWEST_ROWS = 4 }; /* each with so many times fewer rows than the one before */
typedef struct gather_tier {
    atn_kernel *kernel[CHAIN]; /* those of the first tier are the others' elders */
    atn_array *item, *place, *sum;
    size_t rows;
} gather_tier;

/* The arrays of a kind. */
typedef struct gather_kind {
    gather_tier tier[TIERS];
    atn_array *all, *data, *item, *place, *sum; /* data: all of it, as a vector */
    float *room;                                /* the host's copies: of data, */
    float *items, *sums;                        /* item, sum, */
    int32_t *places;                            /* and place */
    size_t rows;                                /* of these three */
    reg_client *taken;                          /* the first whose request is in the launch */
    size_t written;                             /* rows of `place` that may say something */
    size_t launches, requests, made;            /* so far; rows of these */
    double seconds;                             /* that were waited for launches */
} gather_kind;

enum { LEFT = 10 }; /* arrays between the kernels of a chain */

struct reg_gather {
    atn_left left_over; /* with the device, from one batch to the next: first, so that it is found again */
    atn_device *device;
    const atn_ctx *ctx;
    gather_kind kind[REG_GATHERS]; /* those of its lane */
    atn_array *left_between[LEFT];
    int32_t lane, lanes;
    int32_t clients, left; /* how many there are, and have left */
    reg_clients *all;      /* these, while there is a batch */
    bool *waiting;         /* of each: for somebody to take its request; under `lock` */
    atomic_bool broken;    /* nothing more can be asked of the device */
    pthread_mutex_t lock;
    pthread_cond_t asked;
};

/* What a client waits for. */
typedef struct gather_request {
    reg_gathered which;
    size_t items, first; /* how many, and where they stand in the launch */
    const float *item;
    const int32_t *place;
    size_t wide; /* numbers of a row that are wanted */
    float *out;
} gather_request;

struct reg_client {
    reg_clients *all;
    int32_t slot;
    size_t changed[REG_GATHERS]; /* numbers in its slot, since the last request */
    uint64_t key[REG_GATHERS];   /* of what is in it; 0: has none */
    gather_request request;      /* under the lock of the gather that it is made to */
    reg_client *next;            /* whose request is in the same launch */
    pthread_mutex_t lock;        /* of what follows: whoever is answered waits for nobody else */
    pthread_cond_t answered;
    enum { NOTHING, DONE, FAILED } answer;
};

struct reg_clients {
    const atn_ctx *ctx;
    reg_gather *gather[REG_GATHER_LANES];
    int32_t lanes, count;
    reg_client client[]; /* so many */
};

#endif
