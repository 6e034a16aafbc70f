/* E-steps and M-steps of small pairs, and the shapes of their clouds, in one launch with those of other pairs of a
 * batch: programs/fit_expect.atn, fit_shapes.atn. Over all pairs of points: of so few, none is worth a list. */
#include "apps/register/gather.h"
#include "apps/register/problem.h"

#include "base/memory.h"
#include "num/array.h"

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

bool reg_step_together(reg_problem *p, const reg_level *level, const geom_pose *pose, double unit, double outlier,
                       geom_moments *out) {
    reg_engine *e = &p->engine;
    float item[REG_EXPECT_ITEM], sum[REG_EXPECT_SUMS];
    if (!e->client || !keep(p, level)) return false;
    reg_span span = reg_begin(e);
    const int32_t place[REG_GATHER_PLACE] = {p->kept_at,
                                             p->kept_at + (int32_t)(REG_EXPECT_POINT * level->source.padded),
                                             (int32_t)level->source.padded, (int32_t)level->target.padded};
    for (int k = 0; k < 9; ++k) item[k] = (float)pose->a[k];
    for (int k = 0; k < 3; ++k) item[9 + k] = (float)pose->b[k];
    item[12] = (float)(unit * unit);
    item[13] = (float)outlier;
    bool done = reg_gather_run(e->client, REG_GATHER_EXPECT, 1, item, place, sum);
    if (done) take(sum, out);
    e->pairs = (double)level->source.count * (double)level->target.count;
    if (done) e->evaluated += e->pairs;
    reg_end(e, REG_ESTEP, span);
    return done;
}

/* Six rows of numbers, and another one. */
static atn_status put_shapes(reg_engine *e, size_t n, const float *found, atn_array **shape, atn_array **ratio) {
    float *rows = atn_alloc(e->ctx, REG_SHAPES_POINT * n * sizeof *rows);
    atn_status status = rows ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < n && rows; ++k)
        for (size_t i = 0; i < REG_SHAPES_POINT; ++i) rows[i * n + k] = found[k * REG_SHAPES_POINT + i];
    if (status == ATN_OK) status = atn_array_create_matrix(e->device, ATN_SP, 6, (int64_t)n, 0, shape);
    if (status == ATN_OK) status = atn_array_create_vector(e->device, ATN_SP, (int64_t)n, ratio);
    if (status == ATN_OK) status = atn_array_put(*shape, rows, 0);
    if (status == ATN_OK) status = atn_array_put(*ratio, rows + 6 * n, 0);
    atn_free(e->ctx, rows);
    if (status == ATN_OK) return status;
    atn_array_free(*shape);
    atn_array_free(*ratio);
    *shape = *ratio = NULL;
    return status;
}

bool reg_shapes_together(reg_engine *e, const reg_side *side, double unit, double flattest, atn_array **shape,
                         atn_array **ratio) {
    int32_t place[REG_GATHER_PLACE] = {0, (int32_t)side->padded};
    const float item[REG_SHAPES_ITEM] = {(float)unit, (float)flattest};
    *shape = *ratio = NULL;
    if (!e->client || side->padded > REG_FIT_POINTS || !side->position[0] || side->species || e->type != ATN_SP)
        return false;
    float *room = reg_gather_room(e->client, REG_GATHER_SHAPES, REG_EXPECT_POINT * side->padded, &place[0]);
    float *found = room ? atn_alloc(e->ctx, (size_t)REG_FIT_POINTS * REG_SHAPES_POINT * sizeof *found) : NULL;
    if (found) keep_side(side, true, room);
    reg_span span = reg_begin(e);
    bool done = found && reg_gather_run(e->client, REG_GATHER_SHAPES, 1, item, place, found) &&
                put_shapes(e, side->padded, found, shape, ratio) == ATN_OK;
    reg_end(e, REG_SHAPES, span);
    atn_free(e->ctx, found);
    return done;
}
