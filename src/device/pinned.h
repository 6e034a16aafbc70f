/* Freed pinned memory, kept for the next allocation: it is slow to allocate and to free. */
#ifndef ATN_DEVICE_PINNED_H
#define ATN_DEVICE_PINNED_H

#include <attune/device.h>

#include <stddef.h>

enum { ATN_PINNED_KEPT = 64 }; /* blocks */

/* Of a device; zeroed to begin with. */
typedef struct atn_pinned_pool {
    struct {
        void *block;
        size_t bytes;
    } kept[ATN_PINNED_KEPT];
    size_t count, bytes; /* of what is kept */
} atn_pinned_pool;

/* A block of *bytes or more, which it then is; NULL where the device has none. */
void *atn_pinned_take(atn_device *device, size_t *bytes);
void atn_pinned_give(atn_device *device, void *block, size_t bytes); /* back; no copy is under way */
void atn_pinned_drop(atn_device *device);                            /* all that is kept */

#endif
