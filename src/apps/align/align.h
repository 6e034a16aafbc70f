/* Internal to src/apps/align: the state of a multiway registration. */
#ifndef ATN_APPS_ALIGN_ALIGN_H
#define ATN_APPS_ALIGN_ALIGN_H

#include "apps/align/candidates.h"
#include "apps/align/graph.h"

#include <attune/align.h>

/* A pair that was searched. */
typedef struct align_found {
    size_t source, target;
    double transform[16], score, runner_up;
    bool tried; /* it was registered from there, */
    bool asked; /* or from anywhere, by a search of its own */
} align_found;

typedef struct align_work {
    const atn_ctx *ctx;
    atn_device *device;
    const atn_cloud *const *scans;
    size_t count;
    atn_align_settings settings; /* defaults filled in */
    atn_register_settings pairs;
    candidates views;
    unsigned char *seen; /* owned; count x count: was the pair searched? */
    align_found *found;  /* owned */
    size_t n_found, found_capacity;
    size_t *group;        /* owned; of each scan: the lowest scan that it hangs together with by trusted edges */
    atn_align_scan *scan; /* owned until the end, when the result points into them; as many as scans */
    atn_align_edge *edge; /* out->edges of them */
    size_t edge_capacity;
    atn_align_step step; /* for the watch callback */
    atn_align_result *out;
} align_work;

/* ---- join.c: edges until nothing more hangs together ---- */
atn_status align_join(align_work *w);
/* Registers pairs from known starts, NULL: from anywhere; all become edges. */
typedef struct align_start {
    size_t source, target;
    const double *transform;
    const atn_cloud *from, *onto; /* scans placed in the frames of both, in their stead; NULL: these alone */
} align_start;
atn_status align_register(align_work *w, const align_start *starts, size_t count, bool loop);
/* Recomputes the groups, by used edges. */
void align_group(align_work *w);
size_t align_group_size(const align_work *w, size_t group);
size_t align_largest_group(const align_work *w);
/* Calls the watch callback; ATN_ERR_CANCELLED if it asks to stop. */
atn_status align_tell(align_work *w, const char *doing, size_t done, size_t count);

/* ---- rest.c: scans that no single other one holds ---- */
/* Registers each other group, as a whole, onto all of this one together; at: of each scan, where it lies in the frame
 * of the lowest of its group. *any: some belong to it now. */
atn_status align_rest(align_work *w, size_t group, double (*at)[16], bool *any);

/* ---- solve.c: poses of the largest group, loops, what is left out ---- */
atn_status align_solve(align_work *w);

#endif
