/* A short queue between two threads: the producer waits while it is full, the consumer while it is empty. */
#ifndef ATN_CLI_LANE_H
#define ATN_CLI_LANE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { ATN_LANE_ITEMS = 2 }; /* more would only make what is taken older */

/* Items are the caller's. */
typedef struct atn_lane {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *item[ATN_LANE_ITEMS];
    size_t first, count;
    bool closed;
} atn_lane;

void atn_lane_begin(atn_lane *lane);
void atn_lane_end(atn_lane *lane); /* no longer in use */

bool atn_lane_put(atn_lane *lane, void *item); /* false: it is closed, and the item stays the caller's */
void *atn_lane_take(atn_lane *lane);           /* NULL: it is closed and empty */
void *atn_lane_try(atn_lane *lane);            /* the same without waiting: NULL: there is none */
void atn_lane_close(atn_lane *lane);           /* what is in it may still be taken */

#endif
