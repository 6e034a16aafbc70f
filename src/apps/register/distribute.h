/* One registration of clouds that no rank has all points of. Each rank reads a part of both files; a sample of each
 * cloud, which all have, is registered as ever; then points go to the ranks whose slab of the target's space they lie
 * in, and the last steps, the covariance and the fit are of all points: each rank finds the pairs of its slab, and sums
 * are those of all. */
#ifndef ATN_APPS_REGISTER_DISTRIBUTE_H
#define ATN_APPS_REGISTER_DISTRIBUTE_H

#include "apps/register/engine.h"
#include "ranks/ranks.h"

struct cloud_part; /* cloud/part.h */

enum { REG_DISTRIBUTE_SAMPLE = 1 << 18 }; /* points of each cloud, unless something else is asked for */

/* A plain value; filled up to `keeps`, ended with reg_distribution_free. */
typedef struct reg_distribution {
    atn_ranks *ranks;
    struct cloud_part
        *part[2]; /* source, target; not owned; their points are freed as soon as they are where they belong, */
    bool keeps;   /* but for those of the source */
    atn_cloud *sample[2];
    size_t merged[2]; /* points that the last steps were taken over, of all ranks: means of cells, */
    double edge;      /* of this edge, in the caller's unit; 0: all points as they are */
    bool refined;     /* false: the pose, and all that is said of it, is that of the samples */
    double rows[2];   /* places of both sides, of all ranks, while sums are joined */
} reg_distribution;

/* Those that end with the polish of a rigid pose, over all points alike, and may differ in their last digits. */
bool reg_can_distribute(const atn_register_settings *settings);

/* By all ranks, with the parts that they have read: `sample` points of each cloud are registered first, all where it
 * has no more. out->peak_bytes: of the rank that needed most, with its parts of the clouds. The result is the same on
 * all. */
atn_status reg_register_distributed(atn_device *device, const atn_register_settings *settings, size_t sample,
                                    reg_distribution *d, atn_register_result *out);
void reg_distribution_free(reg_distribution *d);
/* About what each rank will need, with its parts. */
size_t reg_distributed_bytes(atn_device *device, const atn_register_settings *settings, size_t sample,
                             const reg_distribution *d);

struct reg_problem;
/* distribute_refine.c: p->pose, its covariance, rmse and overlap from all points; nothing where the pose is refused. */
atn_status reg_distribute_refine(struct reg_problem *p);

/* ---- distribute_send.c ---- */
/* Points of this rank's slab, in the caller's unit: of the source those that p->pose sends there; and those around it
 * that pairs at most `reach` apart may ask for, which weigh nothing. A rank without points gets one far away that
 * weighs nothing. Parts are freed. out: source and target, to be freed by the caller, after a failure too. */
atn_status reg_distribute_send(const struct reg_problem *p, double reach, cloud_points out[2]);

/* ---- distribute_join.c: nothing happens where an engine joins no sums ---- */
atn_status reg_join_sums(const reg_engine *engine, double *numbers, size_t count);
/* The mean of what ranks say, by weights, some of which are above 0. */
atn_status reg_join_mean(const reg_engine *engine, double *number, double weight);

#endif
