/* The arrays of a frame: the caller's where they are on the device, or where the device reads the host's memory; else
 * ours, and what comes from the host is copied there. Kernels that were bound to others are bound again. */
#include "apps/unwrap/unwrap.h"

#include "num/array.h"

#include <math.h>
#include <string.h>

/* ---- bound to kernels ---- */

typedef struct use {
    unwrap_op *op;
    int32_t count;
    const char *name;
    atn_array *array;
} use;

/* What was bound in the last frame is not looked at: it may be gone. */
static atn_status bind_again(atn_unwrap *u) {
    struct unwrap_frame_ops *o = &u->ops;
    const use uses[] = {
        {o->phasor, 4, "psi", u->psi},    {o->phasor, 4, "mask", u->mask},   {o->finish, 4, "psi", u->psi},
        {o->finish, 4, "mask", u->mask},  {o->finish, 4, "v", u->out},       {&o->report, 1, "psi", u->psi},
        {&o->report, 1, "mask", u->mask}, {&o->report, 1, "v", u->out},      {&o->moments, 1, "v", u->out},
        {&o->grading, 1, "psi", u->psi},  {&o->grading, 1, "mask", u->mask}, {&o->grading, 1, "quality", u->quality},
    };
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof uses / sizeof *uses; ++k)
        for (int32_t n = 0; n < uses[k].count && status == ATN_OK; ++n)
            if (uses[k].op[n].kernel && uses[k].array)
                status = atn_kernel_bind(uses[k].op[n].kernel, uses[k].name, uses[k].array);
    return status;
}

/* Programs keep to what is bound; ours take the place of the caller's. */
static void release(atn_unwrap *u, const atn_array *from, atn_array *to) {
    if (from == to || !to) return;
    unwrap_program_replace(&u->follow.program, from, to);
    unwrap_program_replace(&u->labels.program, from, to);
    for (int k = 0; k < 4; ++k) unwrap_program_replace(&u->islands.program[k / 2][k % 2], from, to);
}

void unwrap_arrays_return(atn_unwrap *u) {
    release(u, u->psi, u->own.psi);
    release(u, u->out, u->own.out);
    if (u->mask != u->state) release(u, u->mask, u->own.mask);
    u->psi = u->own.psi;
    u->out = u->own.out;
    u->mask = u->own.mask;
    u->quality = u->own.quality;
    for (int k = 0; k < UNWRAP_AROUND; ++k) atn_array_free(u->around[k]);
    memset(u->around, 0, sizeof u->around);
}

/* ---- from the host ---- */

/* Memory of the caller's itself where the device reads it, else a copy in `own`. */
static atn_status take_host(atn_unwrap *u, atn_type type, const void *data, int which, atn_array **now) {
    atn_status status = atn_array_create_around(u->device, type, u->height, u->width, data, &u->around[which]);
    if (status != ATN_OK || !u->around[which]) return status == ATN_OK ? atn_array_put(*now, data, 0) : status;
    *now = u->around[which];
    return ATN_OK;
}

static atn_status fill_quality(atn_unwrap *u, const float *quality) {
    void *to;
    atn_status status = atn_array_map_write(u->quality, &to);
    for (int64_t k = 0; k < u->pixels && status == ATN_OK; ++k) {
        float value = quality ? quality[k] : 1;
        if (u->type == ATN_DP)
            ((double *)to)[k] = (double)value;
        else
            ((float *)to)[k] = value;
    }
    u->plain_quality = status == ATN_OK && !quality;
    return status;
}

atn_status unwrap_arrays_quality(atn_unwrap *u) {
    if (u->least > 1 || u->plain_quality) return ATN_OK;
    atn_status status = unwrap_array(u, u->type, u->width, u->height, &u->own.quality);
    u->quality = u->own.quality;
    return status == ATN_OK ? fill_quality(u, NULL) : status;
}

static atn_status take_quality(atn_unwrap *u, const unwrap_arrays *given, const float *quality) {
    if (given->quality) {
        u->quality = given->quality;
        return ATN_OK;
    }
    atn_status status = unwrap_array(u, u->type, u->width, u->height, &u->own.quality);
    u->quality = u->own.quality;
    if (status != ATN_OK) return status;
    u->plain_quality = false;
    return u->type == ATN_SP ? take_host(u, ATN_SP, quality, UNWRAP_AROUND_QUALITY, &u->quality)
                             : fill_quality(u, quality);
}

static atn_status put_ones(atn_unwrap *u) {
    void *to;
    atn_status status = u->masked ? atn_array_map_write(u->own.mask, &to) : ATN_OK;
    if (status == ATN_OK && u->masked) memset(to, 1, (size_t)u->pixels);
    u->masked = false;
    return status;
}

static atn_status take_mask(atn_unwrap *u, const unwrap_arrays *given, const uint8_t *mask) {
    u->mask = given->mask ? given->mask : u->own.mask;
    if (given->mask) return ATN_OK;
    if (!mask) return put_ones(u);
    atn_status status = take_host(u, ATN_U8, mask, UNWRAP_AROUND_MASK, &u->mask);
    u->masked = u->masked || u->mask == u->own.mask;
    return status;
}

/* ---- what counts ---- */

static double number(const void *from, atn_type type, int64_t k) {
    return type == ATN_DP ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

static atn_status refuse_quality(atn_unwrap *u) {
    const void *quality;
    int64_t pitch = u->quality->pitch;
    atn_status status = atn_array_map_read(u->quality, &quality);
    for (int64_t k = 0; k < u->pixels && status == ATN_OK; ++k) {
        double value = number(quality, u->type, k / u->width * pitch + k % u->width);
        if (!(value >= 0) || !isfinite(value))
            status = atn_fail(u->ctx, ATN_ERR_INPUT,
                              "unwrap: the quality of pixel (%lld, %lld) is %g; it must be finite and not negative",
                              (long long)(k % u->width), (long long)(k / u->width), value);
    }
    return status;
}

/* The mask says as well who hangs together with neighbours. */
static atn_status join_quality(atn_unwrap *u) {
    const void *wrong;
    atn_status status = unwrap_array(u, ATN_U8, u->width, u->height, &u->state);
    if (status == ATN_OK)
        status = UNWRAP_OP(u, &u->ops.validity, "unwrap_valid", {"mask", u->mask}, {"quality", u->quality},
                           {"state", u->state}, {"wrong", u->rows[0]});
    if (status == ATN_OK)
        status = atn_kernel_give(u->ops.validity.kernel, ATN_ARRAYS({"mask", u->mask}, {"quality", u->quality}),
                                 ATN_NOTHING);
    if (status == ATN_OK) status = atn_kernel_run(u->ops.validity.kernel);
    if (status == ATN_OK) status = atn_array_map_read(u->rows[0], &wrong);
    if (status == ATN_OK && unwrap_row_sum(wrong, ATN_INT32, u->height) > 0) status = refuse_quality(u);
    if (status == ATN_OK) u->mask = u->state;
    return status;
}

atn_status unwrap_arrays_take(atn_unwrap *u, const unwrap_arrays *given, const void *phase,
                              const atn_unwrap_solve_settings *s) {
    u->own = (unwrap_arrays){u->psi, u->out, u->mask, u->quality};
    u->least = s->quality || given->quality ? 2 : 1;
    u->psi = given->psi ? given->psi : u->own.psi;
    u->out = given->out ? given->out : u->own.out;
    atn_status status = given->psi ? ATN_OK : take_host(u, u->type, phase, UNWRAP_AROUND_PSI, &u->psi);
    if (status == ATN_OK) status = take_mask(u, given, s->mask);
    if (status == ATN_OK && u->least > 1) status = take_quality(u, given, s->quality);
    if (status == ATN_OK && u->least > 1) status = join_quality(u);
    return status == ATN_OK ? bind_again(u) : status;
}
