/* Internals of arrays: storage shared by views, and how kernels access the device copy. */
#ifndef ATN_NUM_ARRAY_H
#define ATN_NUM_ARRAY_H

#include "built/built.h"

#include <attune/array.h>

typedef enum atn_motion { ATN_MOTION_NONE, ATN_MOTION_TO_DEVICE, ATN_MOTION_TO_HOST } atn_motion;

/* Elements in one piece, and which copies of them hold. Neither: all are zero. */
typedef struct atn_storage {
    atn_device *device;
    int64_t users; /* arrays that share it */
    size_t bytes;
    atn_buffer *buffer;      /* NULL until the device needs it */
    atn_host_memory block;   /* the host's copy; none where the host may touch the buffer, or until needed */
    void *host;              /* where the host finds byte 0; NULL until needed */
    bool pinned;             /* the host's copy, whatever its size */
    bool shares;             /* one copy for both, in the host's memory, where the device reaches that */
    atn_host_memory shared;  /* that copy; none: the device has its own */
    bool busy;               /* it may still be written by the device */
    bool on_host, on_device; /* valid there, or on the way */
    atn_motion motion;       /* a copy that may be under way between block and buffer */
    atn_event *moved;        /* behind that copy; NULL until there was one */
    bool sent;               /* in another queue than the device's first, which does not wait for it yet */
    int64_t to_device, to_host;
    uint64_t report; /* the device's last one when it was written there: looked at before it is read (reports.h) */
} atn_storage;

/* Waits for a copy that is under way. */
atn_status atn_storage_settle(atn_storage *storage);

struct atn_array {
    atn_storage *storage;
    int64_t offset; /* of the first element, in elements */
    atn_type type;
    int32_t rank;
    int64_t size[ATN_MAX_RANK], pitch; /* sizes: 1 beyond the rank */
};

atn_status atn_array_create_like(atn_device *device, const atn_view *view, atn_array **out); /* without gaps */
/* A matrix over memory of the caller's, which outlives it and is only read. *out is NULL where the device has memory of
 * its own. */
atn_status atn_array_create_around(atn_device *device, atn_type type, int64_t rows, int64_t columns, const void *data,
                                   atn_array **out);
/* The shape of `rank` axes as everybody gives it (rows before columns) from sizes as they lie, columns first; and back.
 */
void atn_array_turn_shape(int32_t rank, const int64_t *from, int64_t *to);
int64_t atn_array_rows(const atn_array *array); /* of all planes */
bool atn_array_is_empty(const atn_array *array);
/* The host's copy is pinned though it may be small: for what goes back and forth often, each time without waiting.
 * Before its elements are touched. */
void atn_array_pin(atn_array *array);

/* Few elements that a kernel leaves and the host reads at once: there is one copy of them, in pinned memory that the
 * device writes to, where it can; else as atn_array_pin. Before its elements are touched. Kernels write each of them
 * once. */
void atn_array_share(atn_array *array);

const atn_ctx *atn_array_ctx(const atn_array *array);
atn_device *atn_array_device(const atn_array *array);

/* Does it cover all elements of its storage? Then writing it needs nothing of what was there. */
bool atn_array_is_whole(const atn_array *array);

/* Brings the device's copy up to date for work in the device's own first queue; the copy may still be under way. Not
 * while that queue's work is kept on a tape: arrays are on the device before. discard: the elements of a whole array
 * are about to be overwritten. */
atn_status atn_array_ready_device(atn_array *array, bool discard);
/* Begins to overwrite all elements of a whole array on the device, in order with `queue`, and returns: `from` stays as
 * it is until the array is freed, or work that reads it has been waited for. Work in the device's own first queue waits
 * for it once it needs the array: other work there goes on. */
atn_status atn_array_send(atn_array *array, atn_queue *queue, const void *from);
/* For arrays without gaps of which some elements are used at a time, through the pointer of atn_array_map_write, which
 * was called once; nothing is said of the others. refresh: begins to overwrite elements on the device with those of the
 * host, in order with the device's first queue, and returns; the host leaves them alone until work behind it was waited
 * for. recall: begins to bring the device's to the host, where they are once atn_storage_settle returns. */
atn_status atn_array_refresh(atn_array *array, int64_t first, int64_t count);
atn_status atn_array_recall(atn_array *array, int64_t first, int64_t count);
/* Begins to bring the host's copy up to date, in order with `queue` (NULL: the device's own first), and returns; what
 * reads or writes the array on the host waits for it. Nothing to do where the host's copy holds. */
atn_status atn_array_fetch(atn_array *array, atn_queue *queue);
/* After a kernel wrote it: only the device's copy holds. */
void atn_array_written_on_device(atn_array *array);
/* After a kernel that should have written it failed: back to the host's copy, where there is one. */
void atn_array_spoiled_on_device(atn_array *array);

/* For atn_built_run; the buffer is there once atn_array_ready_device was called. */
atn_slot atn_array_slot(const atn_array *array);

/* Of one type and shape, rows equally far apart: what is built for one serves the other. */
bool atn_view_is_alike(const atn_view *a, const atn_view *b);

/* Do they have an element in common? Rows that interleave without touching count too. */
bool atn_array_overlaps(const atn_array *a, const atn_array *b);

/* The arrays of a CSR matrix. */
struct atn_csr {
    int64_t rows, columns, count;
    atn_array *start, *column, *element;
};

#endif
