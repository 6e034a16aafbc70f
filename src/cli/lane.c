/* A short queue between two threads. */
#include "cli/lane.h"

void atn_lane_begin(atn_lane *lane) {
    *lane = (atn_lane){0};
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->changed, NULL);
}

void atn_lane_end(atn_lane *lane) {
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->lock);
}

bool atn_lane_put(atn_lane *lane, void *item) {
    pthread_mutex_lock(&lane->lock);
    while (lane->count == ATN_LANE_ITEMS && !lane->closed) pthread_cond_wait(&lane->changed, &lane->lock);
    bool open = !lane->closed;
    if (open) lane->item[(lane->first + lane->count++) % ATN_LANE_ITEMS] = item;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
    return open;
}

static void *take(atn_lane *lane, bool waits) {
    void *item = NULL;
    pthread_mutex_lock(&lane->lock);
    while (waits && lane->count == 0 && !lane->closed) pthread_cond_wait(&lane->changed, &lane->lock);
    if (lane->count) {
        item = lane->item[lane->first];
        lane->first = (lane->first + 1) % ATN_LANE_ITEMS;
        --lane->count;
    }
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
    return item;
}

void *atn_lane_take(atn_lane *lane) { return take(lane, true); }

void *atn_lane_try(atn_lane *lane) { return take(lane, false); }

void atn_lane_close(atn_lane *lane) {
    pthread_mutex_lock(&lane->lock);
    lane->closed = true;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->lock);
}
