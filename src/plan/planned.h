/* Internals of a running plan: shared by the files that prepare it (run.c), record it on tapes (capture.c) and execute
 * its nodes (walk.c). */
#ifndef ATN_PLAN_PLANNED_H
#define ATN_PLAN_PLANNED_H

#include "plan/run.h"

/* A loop that can be kept on a tape. Its state: what its condition is, and how many rounds were done. */
typedef struct atn_plan_loop {
    int32_t begin; /* its node */
    int32_t until; /* the node that may leave it; -1: none, it is counted alone */
    bool unread;   /* it ran where the host did not see how it ended */
} atn_plan_loop;

/* Nodes that can be kept as one launch: steps in a row and whole loops; or one loop. */
typedef struct atn_plan_unit {
    int32_t begin, end; /* nodes */
    int32_t work;       /* steps and loops */
    bool inner;         /* within a loop or a branch that the host follows */
    bool ran, refused;
    atn_tape *tape;
} atn_plan_unit;

struct atn_planned {
    const atn_ctx *ctx;
    atn_plan *plan;
    atn_sequence sequence; /* of the plan's own graphs */
    atn_runner *runner;
    atn_device *device;
    atn_buffer *arena;
    int32_t *object;      /* per array: of the runner; -1: no step has it */
    atn_slot *slots;      /* per array */
    bool *bound;          /* per array: by the caller */
    uint64_t *number;     /* per array: of the buffer that it was bound to */
    atn_buffer **results; /* the unbound ones */
    int32_t n_results;
    atn_plan_loop *loops;
    int32_t n_loops;
    atn_buffer *state; /* two INT32 per loop */
    atn_plan_unit *units;
    int32_t n_units;
    int32_t *unit_of; /* per node: the unit that begins there, of an END that of its loop; -1: none */
    void **memory;    /* the oracle's, per array */
    int32_t n_memory;
    int64_t *rounds; /* per node: of a LOOP, so far */
    char note[256];
};

/* capture.c */
atn_status atn_capture_find(atn_planned *planned); /* units and loops, for its device */
void atn_capture_forget(atn_planned *planned);     /* arguments changed */
/* The unit as one launch; *done false: it is not kept, and nothing was queued. */
atn_status atn_capture_run(atn_planned *planned, atn_plan_unit *unit, bool *done);
/* A loop of which the host did some rounds: the rest. */
atn_status atn_capture_go_on(atn_planned *planned, int32_t end, bool *done);

/* loop_end.c */
atn_status atn_planned_settle(atn_planned *planned); /* how unread loops ended goes into the note; waits */
/* How one ended that the host followed: `condition` as it looked at it last; `open`: it has one. */
void atn_planned_note_end(atn_planned *planned, const atn_plan_node *loop, bool open, int64_t rounds,
                          int32_t condition);

#endif
