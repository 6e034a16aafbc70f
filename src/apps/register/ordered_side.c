/* The points of a side and the boxes around its blocks, computed by kernels (programs/side_*.atn); the host receives
 * the boxes. */
#include "apps/register/ordered_side.h"

#include "base/memory.h"
#include "num/array.h"

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The parameters of a frame, and how many points a block has, for kernels that ask for it. */
enum { FRAME = 4, FRAMED = 5 };
static void frame(const double origin[3], double unit, size_t block, reg_given out[FRAMED]) {
    const reg_given all[FRAMED] = {
        {"unit", unit}, {"ox", origin[0]}, {"oy", origin[1]}, {"oz", origin[2]}, {"block", (double)block}};
    memcpy(out, all, sizeof all);
}

static atn_status fill(reg_engine *e, const reg_ordered *o, const double origin[3], double unit, const reg_side *s) {
    reg_given given[FRAMED];
    reg_binding bound[] = {{"x", o->x[0]},      {"y", o->x[1]},      {"z", o->x[2]},
                           {"w", o->w},         {"pw", s->w},        {"px", s->point[0]},
                           {"py", s->point[1]}, {"pz", s->point[2]}, {"logw", s->log_weight}};
    frame(origin, unit, s->block, given);
    return reg_engine_run_given(e, REG_SIDE_FILL, NULL, given, FRAME, bound, COUNT(bound));
}

static atn_status enclose(reg_engine *e, const reg_ordered *o, const double origin[3], double unit, const reg_side *s) {
    reg_given given[FRAMED];
    reg_binding bound[] = {{"x", o->x[0]}, {"y", o->x[1]}, {"z", o->x[2]}, {"box", s->box}};
    frame(origin, unit, s->block, given);
    atn_status status = reg_engine_run_given(e, REG_SIDE_BOXES, NULL, given, FRAMED, bound, COUNT(bound));
    return status == ATN_OK ? atn_array_fetch(s->box, NULL) : status;
}

atn_status reg_side_of(reg_engine *e, const reg_ordered *o, const double origin[3], double unit, reg_side *out) {
    reg_side s = {.device = e->device,
                  .on_device = true,
                  .type = e->type,
                  .count = o->count,
                  .block = e->block,
                  .blocks = (o->count + e->block - 1) / e->block,
                  .total = o->weight};
    s.padded = s.blocks * s.block;
    atn_status status = reg_side_allocate(&s);
    if (status == ATN_OK) status = reg_side_create(&s);
    if (status == ATN_OK)
        status = atn_array_create_matrix(e->device, ATN_DP, REG_BOX_ROWS, (int64_t)s.blocks, 0, &s.box);
    if (status == ATN_OK) status = fill(e, o, origin, unit, &s);
    if (status == ATN_OK) status = enclose(e, o, origin, unit, &s);
    *out = s;
    if (status != ATN_OK) reg_side_free(out);
    return status;
}

atn_status reg_side_settle(reg_side *s) {
    const void *boxes;
    atn_status status = atn_array_map_read(s->box, &boxes);
    if (status != ATN_OK) return status;
    const double *number = boxes;
    for (size_t b = 0; b < s->blocks; ++b) {
        reg_box *box = &s->tree.node[s->tree.leaves + b];
        for (size_t axis = 0; axis < 3; ++axis) {
            box->low[axis] = number[axis * s->blocks + b];
            box->high[axis] = number[(3 + axis) * s->blocks + b];
            s->centre[b][axis] = (box->low[axis] + box->high[axis]) / 2;
        }
        s->radius[b] = number[6 * s->blocks + b];
    }
    reg_side_join(s);
    return ATN_OK;
}

enum { SAMPLES = 1000 }; /* as reg_side_spacing has */

/* The median distance to the nearest, of points at even places up to `end`: in a block of `block`, and in all of `box`.
 */
static atn_status spacing_of(reg_engine *e, const reg_ordered *o, atn_array *box, size_t block, size_t end,
                             const double origin[3], double unit, double *spacing) {
    size_t samples = end < SAMPLES ? end : SAMPLES;
    double square[SAMPLES];
    atn_array *place = NULL, *squares = NULL;
    reg_given given[FRAMED];
    void *to;
    frame(origin, unit, block, given);
    *spacing = 0;
    atn_status status = atn_array_create_vector(e->device, ATN_INT32, (int64_t)samples, &place);
    if (status == ATN_OK) status = atn_array_create_vector(e->device, ATN_DP, (int64_t)samples, &squares);
    if (status == ATN_OK) status = atn_array_map_write(place, &to);
    for (size_t k = 0; k < samples && status == ATN_OK; ++k) {
        size_t at = end / samples * k + end % samples * k / samples;
        ((int32_t *)to)[k] = (int32_t)(at < o->count ? at : o->count - 1);
    }
    reg_binding bound[] = {{"x", o->x[0]}, {"y", o->x[1]},   {"z", o->x[2]},
                           {"box", box},   {"place", place}, {"square", squares}};
    if (status == ATN_OK) status = reg_engine_run_given(e, REG_SIDE_SPACING, NULL, given, FRAMED, bound, COUNT(bound));
    if (status == ATN_OK) status = atn_array_get(squares, square, 0);
    if (status == ATN_OK) *spacing = reg_side_median(square, samples) / unit;
    atn_array_free(place);
    atn_array_free(squares);
    return status;
}

atn_status reg_ordered_spacing(reg_engine *e, const reg_ordered *o, const reg_side *s, const double origin[3],
                               double unit, double *spacing) {
    return spacing_of(e, o, s->box, s->block, s->padded, origin, unit, spacing);
}

/* Of some points, each against all of them: they are one block, and there is no box. */
static atn_status spacing_among(reg_engine *e, const reg_ordered *o, size_t count, double *spacing) {
    const double origin[3] = {0};
    reg_ordered some = {0};
    atn_array *nowhere = NULL;
    void *to;
    atn_status status = reg_ordered_choose(e, o, count, &some);
    if (status == ATN_OK) status = atn_array_create_matrix(e->device, ATN_DP, REG_BOX_ROWS, 1, 0, &nowhere);
    if (status == ATN_OK) status = atn_array_map_write(nowhere, &to);
    for (int k = 0; k < REG_BOX_ROWS && status == ATN_OK; ++k) ((double *)to)[k] = k < 3 ? INFINITY : -INFINITY;
    if (status == ATN_OK) status = spacing_of(e, &some, nowhere, count, count, origin, 1, spacing);
    atn_array_free(nowhere);
    reg_ordered_free(&some);
    return status;
}

atn_status reg_ordered_guess(reg_engine *e, const reg_ordered *o, double *spacing) {
    size_t count = reg_curve_guessed(o->count);
    double of_few = 0, of_some = 0;
    *spacing = 0;
    atn_status status = spacing_among(e, o, count, &of_some);
    if (status == ATN_OK && count < o->count) status = spacing_among(e, o, count / REG_FEWER, &of_few);
    if (status == ATN_OK)
        *spacing = count < o->count ? reg_curve_extrapolate(count, o->count, of_some, of_few) : of_some;
    return status;
}

static atn_status take(reg_engine *e, atn_array *from, const reg_side *to, size_t every, atn_array *out) {
    reg_given given[] = {{"every", (double)every}, {"block", (double)to->block}};
    reg_binding bound[] = {{"given", from}, {"taken", out}};
    return reg_engine_run_given(e, REG_SIDE_TAKE, NULL, given, COUNT(given), bound, COUNT(bound));
}

static atn_status take_there(reg_engine *e, const reg_side *from, size_t every, reg_side *to) {
    atn_array *taken[4] = {0};
    double *weight = atn_alloc(e->ctx, to->padded * sizeof *weight);
    atn_status status = weight ? ATN_OK : ATN_ERR_MEMORY;
    for (int k = 0; k < 4 && status == ATN_OK; ++k) {
        status = atn_array_create_vector(e->device, to->type, (int64_t)to->padded, &taken[k]);
        if (status == ATN_OK) status = take(e, k < 3 ? from->point[k] : from->w, to, every, taken[k]);
        if (status == ATN_OK) status = atn_array_fetch(taken[k], NULL);
    }
    for (int k = 0; k < 4 && status == ATN_OK; ++k)
        status = reg_array_get(taken[k], to->padded, k < 3 ? to->position[k] : weight);
    for (size_t r = 0; r < to->padded && status == ATN_OK; ++r) {
        size_t at = r / to->block * every * to->block + r % to->block;
        to->weight[r] = (float)weight[r];
        to->origin[r] = (uint32_t)(at < from->count ? at : from->count - 1);
    }
    for (int k = 0; k < 4; ++k) atn_array_free(taken[k]);
    atn_free(e->ctx, weight);
    return status;
}

/* Blocks of a side whose points the host has. */
static void take_blocks(const reg_side *from, size_t every, reg_side *s) {
    size_t block = from->block, bytes = block * sizeof(double);
    for (size_t b = 0; b < s->blocks; ++b) {
        size_t at = b * block, of = b * every * block;
        for (int axis = 0; axis < 3; ++axis) memcpy(s->position[axis] + at, from->position[axis] + of, bytes);
        memcpy(s->weight + at, from->weight + of, block * sizeof *s->weight);
        memcpy(s->origin + at, from->origin + of, block * sizeof *s->origin);
        if (s->species && from->species) s->species[b] = from->species[b * every];
    }
}

atn_status reg_side_sample(reg_engine *e, const reg_side *from, size_t every, reg_side *out) {
    reg_side s = {.device = from->device, .type = from->type, .block = from->block};
    s.blocks = (from->blocks + every - 1) / every;
    s.padded = s.blocks * s.block;
    atn_status status = reg_side_room(&s, from->species != NULL);
    if (status == ATN_OK && from->position[0])
        take_blocks(from, every, &s);
    else if (status == ATN_OK)
        status = take_there(e, from, every, &s);
    if (status == ATN_OK) status = reg_side_add_weights(&s, e->ctx);
    if (status == ATN_OK) {
        reg_side_enclose(&s);
        for (size_t k = 0; k < s.padded; ++k) s.count += s.weight[k] > 0;
    }
    *out = s;
    if (status != ATN_OK) reg_side_free(out);
    return status;
}
