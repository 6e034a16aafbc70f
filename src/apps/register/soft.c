/* Sums, factors and weights of soft pairs. */
#include "apps/register/soft.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>

atn_status reg_soft_open(reg_problem *p, reg_soft *out) {
    const atn_ctx *ctx = p->engine.ctx;
    size_t most = 0;
    for (int32_t k = 0; k < p->levels; ++k) {
        most = p->level[k].source.padded > most ? p->level[k].source.padded : most;
        most = p->level[k].target.padded > most ? p->level[k].target.padded : most;
    }
    *out = (reg_soft){.p = p};
    double **room[6] = {&out->sum, &out->sums[0], &out->sums[1], &out->sums[2], &out->factor, &out->number};
    for (size_t k = 0; k < 6; ++k)
        if (!(*room[k] = atn_alloc(ctx, most * sizeof(double)))) {
            reg_soft_close(out);
            return ATN_ERR_MEMORY;
        }
    return ATN_OK;
}

void reg_soft_close(reg_soft *s) {
    if (!s->p) return;
    const atn_ctx *ctx = s->p->engine.ctx;
    atn_free(ctx, s->sum);
    for (int axis = 0; axis < 3; ++axis) atn_free(ctx, s->sums[axis]);
    atn_free(ctx, s->factor);
    atn_free(ctx, s->number);
    *s = (reg_soft){0};
}

atn_status reg_soft_place(reg_soft *s, reg_level *level, const geom_pose *pose, double k) {
    geom_pose source = geom_pose_scaled(pose, k), target = geom_pose_scaled(&GEOM_IDENTITY, k);
    atn_status status = reg_place(&s->p->engine, &level->source, &source);
    return status == ATN_OK ? reg_place(&s->p->engine, &level->target, &target) : status;
}

double reg_soft_reach(const reg_soft *s, const reg_level *level, double outlier) {
    double total = fmax(level->source.total, level->target.total);
    return sqrt(fmax(log2(total / (s->p->settings->error_bound * outlier)), 0));
}

atn_status reg_soft_turn(reg_soft *s, reg_side *rows, reg_side *columns, double reach, double outlier) {
    reg_engine *e = &s->p->engine;
    atn_status status = reg_estep(e, rows, columns, reach, false);
    double since = atn_clock_seconds();
    if (status == ATN_OK) status = reg_array_get(rows->sum[0], rows->padded, s->sum);
    for (size_t k = 0; k < rows->padded && status == ATN_OK; ++k) s->factor[k] = 1 / (s->sum[k] + outlier);
    if (status == ATN_OK) status = reg_side_weigh(rows, s->factor, s->number);
    reg_timed(e, REG_FIT, since);
    return status;
}

atn_status reg_soft_reset(reg_soft *s, reg_level *level) {
    atn_status status = reg_side_weigh(&level->source, NULL, s->number);
    return status == ATN_OK ? reg_side_weigh(&level->target, NULL, s->number) : status;
}
