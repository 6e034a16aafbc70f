/* The shapes of a cloud's points, in one launch with those of other pairs of a batch: programs/fit_shapes.atn. Over all
 * pairs of points: no lists are made, and nothing else of the side is needed. */
#include "apps/register/gather.h"
#include "apps/register/problem.h"

#include "base/memory.h"
#include "num/array.h"

/* A row of `matrix` for each number of a point but the last, which goes into `last`. */
static atn_status spread(size_t n, const float *found, atn_array *matrix, atn_array *last) {
    void *rows = NULL, *row = NULL;
    atn_status status = atn_array_map_write(matrix, &rows);
    if (status == ATN_OK) status = atn_array_map_write(last, &row);
    for (size_t k = 0; k < n && status == ATN_OK; ++k) {
        for (size_t i = 0; i + 1 < REG_SHAPES_SUMS; ++i) ((float *)rows)[i * n + k] = found[REG_SHAPES_SUMS * k + i];
        ((float *)row)[k] = found[REG_SHAPES_SUMS * k + REG_SHAPES_SUMS - 1];
    }
    return status;
}

static bool find(reg_client *client, const reg_side *side, const float item[2], float *found) {
    size_t n = side->padded;
    int32_t place[REG_GATHER_PLACE] = {0, (int32_t)n};
    float *room = reg_gather_room(client, REG_GATHER_SHAPES, REG_SHAPES_POINT * n, &place[0]);
    if (!room) return false;
    for (int a = 0; a < 3; ++a)
        for (size_t k = 0; k < n; ++k) *room++ = (float)side->position[a][k];
    for (size_t k = 0; k < n; ++k) *room++ = side->weight[k];
    return reg_gather_run(client, REG_GATHER_SHAPES, 1, item, place, REG_SHAPES_SUMS * n, found);
}

bool reg_shapes_together(const reg_engine *e, const reg_side *side, double scale, double flattest, atn_array **shape,
                         atn_array **ratio) {
    size_t n = side->padded;
    const float item[2] = {(float)(scale * scale), (float)flattest};
    *shape = *ratio = NULL;
    if (!e->client || e->type != ATN_SP || !side->position[0] || side->species || n > REG_FIT_POINTS) return false;
    float *found = atn_alloc(e->ctx, REG_SHAPES_SUMS * n * sizeof *found);
    bool done = found && find(e->client, side, item, found);
    if (done) {
        atn_status status = atn_array_create_matrix(e->device, ATN_SP, REG_SHAPES_SUMS - 1, (int64_t)n, 0, shape);
        if (status == ATN_OK) status = atn_array_create_vector(e->device, ATN_SP, (int64_t)n, ratio);
        if (status == ATN_OK) status = spread(n, found, *shape, *ratio);
        done = status == ATN_OK;
    }
    atn_free(e->ctx, found);
    if (done) return true;
    atn_array_free(*shape);
    atn_array_free(*ratio);
    *shape = *ratio = NULL;
    return false;
}
