/* Arrays of one shape on a device, filled and ready to run: outputs poisoned, with a margin around each that must stay
 * unchanged. */
#ifndef ATN_TUNE_STAND_H
#define ATN_TUNE_STAND_H

#include "built/built.h"
#include "tune/inputs.h"

enum { ATN_POISON = 0xa7 }; /* no NaN, so that a NaN which is right is seen to be written */

typedef struct atn_stand {
    const atn_ctx *ctx;
    atn_device *device;
    const atn_graph *graph;
    const double (*params)[2];
    atn_slot *slots;  /* per object */
    atn_view *before; /* what each holds before a run, in host memory; of a light stand no data of pure outputs */
    void **memory;    /* behind `before`, where it is the stand's own */
    atn_hash *sums;   /* of inputs that are shared with the oracle, to see that they stay as they are */
    bool light;
    bool moved;   /* a run changes where the next one goes: each begins with a reset */
    bool proven;  /* a guarded run found every computed access in range: unguarded ones may follow */
    size_t front; /* bytes of the margin before each array */
} atn_stand;

/* `light`: for large arrays: no margin in front, so that they lie as a user's would, inputs of the host shared with
 * the oracle, and no host copies of outputs. On failure too, it goes back with atn_stand_close. */
atn_status atn_stand_open(atn_device *device, const atn_graph *graph, const double (*params)[2], const atn_view *sizes,
                          const atn_fill_options *fill, bool light, atn_stand *out);
void atn_stand_close(atn_stand *s);
atn_bindings atn_stand_frame(const atn_stand *s);

/* Earns unguarded runs: one of the estimate with every computed access checked, unless there was one. ATN_ERR_INPUT:
 * some are out of range with these elements. Leaves the arrays reset. */
atn_status atn_stand_prove(atn_stand *s);

/* Poisons outputs, and puts back what kernels change in place. */
atn_status atn_stand_reset(atn_stand *s);

/* Did the margins and, where they can be seen at no great cost, the inputs stay as they were? *where: the object that
 * did not; -1: all did. */
atn_status atn_stand_inspect(atn_stand *s, int32_t *where);

/* An element as it is now on the device; `room` for one of any type. */
atn_status atn_stand_element(const atn_stand *s, int32_t object, int64_t column, int64_t row, void *room);
/* The whole of a written object; owned by the caller. */
atn_status atn_stand_fetch(const atn_stand *s, int32_t object, void **data);

#endif
