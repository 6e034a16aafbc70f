/* E-steps and M-steps of small pairs, and how close their points are in the end, in one launch with those of other
 * pairs of a batch: programs/fit_expect.atn, fit_measure.atn. Over all pairs of points: of so few, none is worth a
 * list. */
#include "apps/register/gather.h"
#include "apps/register/problem.h"

#include <math.h>
#include <string.h>

/* x y z, and the weights of a source or their logarithms of a target. */
static void keep_side(const reg_side *side, bool target, float *to) {
    size_t n = side->padded;
    for (size_t k = 0; k < n; ++k) {
        float w = side->weight[k];
        for (int a = 0; a < 3; ++a) to[(size_t)a * n + k] = (float)side->position[a][k];
        to[3 * n + k] = !target ? w : w > 0 ? log2f(w) : (float)REG_NOTHING;
    }
}

static bool keep(reg_problem *p, const reg_level *level) {
    const reg_side *source = &level->source, *target = &level->target;
    if (p->kept == level) return true;
    if (level->n_more || !source->position[0] || !target->position[0] || (source->species && target->species))
        return false;
    float *room = reg_gather_room(p->engine.client, REG_GATHER_EXPECT,
                                  REG_EXPECT_POINT * (source->padded + target->padded), &p->kept_at);
    if (!room) return false;
    keep_side(source, false, room);
    keep_side(target, true, room + REG_EXPECT_POINT * source->padded);
    p->kept = level;
    return true;
}

static void take(const float sum[REG_EXPECT_SUMS], geom_moments *out) {
    *out = (geom_moments){.weight = (double)sum[0], .likelihood = (double)sum[22], .residual = (double)sum[23]};
    for (int k = 0; k < 3; ++k) {
        out->y[k] = (double)sum[1 + k];
        out->x[k] = (double)sum[4 + k];
    }
    for (int k = 0; k < 9; ++k) out->cross[k] = (double)sum[7 + k];
    for (int k = 0; k < 6; ++k) out->spread[k] = (double)sum[16 + k];
}

/* A pose of both clouds. */
static void describe(const reg_problem *p, const reg_level *level, const geom_pose *pose, float item[REG_EXPECT_ITEM],
                     int32_t place[REG_GATHER_PLACE]) {
    const int32_t all[REG_GATHER_PLACE] = {p->kept_at, p->kept_at + (int32_t)(REG_EXPECT_POINT * level->source.padded),
                                           (int32_t)level->source.padded, (int32_t)level->target.padded};
    memcpy(place, all, sizeof all);
    for (int k = 0; k < 9; ++k) item[k] = (float)pose->a[k];
    for (int k = 0; k < 3; ++k) item[9 + k] = (float)pose->b[k];
    item[12] = item[13] = 0;
}

bool reg_step_together(reg_problem *p, const reg_level *level, const geom_pose *pose, double unit, double outlier,
                       geom_moments *out) {
    reg_engine *e = &p->engine;
    float item[REG_EXPECT_ITEM], sum[REG_EXPECT_SUMS];
    int32_t place[REG_GATHER_PLACE];
    if (!e->client || !keep(p, level)) return false;
    reg_span span = reg_begin(e);
    describe(p, level, pose, item, place);
    item[12] = (float)(unit * unit);
    item[13] = (float)outlier;
    bool done = reg_gather_run(e->client, REG_GATHER_EXPECT, 1, item, place, REG_EXPECT_SUMS, sum);
    if (done) take(sum, out);
    e->pairs = (double)level->source.count * (double)level->target.count;
    if (done) e->evaluated += e->pairs;
    reg_end(e, REG_ESTEP, span);
    return done;
}

bool reg_measure_together(reg_problem *p, const reg_level *level, double reach, double *sum, double *weight) {
    const reg_engine *e = &p->engine;
    float item[REG_EXPECT_ITEM], sums[REG_MEASURE_SUMS];
    int32_t place[REG_GATHER_PLACE];
    if (!e->client || e->type != ATN_SP || !keep(p, level)) return false;
    describe(p, level, &p->pose, item, place);
    item[12] = (float)(reach * reach);
    if (!reg_gather_run(e->client, REG_GATHER_MEASURE, 1, item, place, REG_MEASURE_SUMS, sums)) return false;
    *weight = (double)sums[0];
    *sum = (double)sums[1];
    return true;
}
