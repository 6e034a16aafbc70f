/* Validation of the caller's settings before anything else: invalid settings are refused with a message. */
#include "apps/register/problem.h"

#include <math.h>

/* What is nearest to a 3 x 3 matrix among the maps of a kind; false where there is none. */
static bool nearest_map(const double start[16], atn_transform_kind kind, geom_pose *out) {
    geom_moments m = {.weight = 1, .spread = {1, 0, 0, 1, 0, 1}};
    for (int i = 0; i < 9; ++i) m.cross[i] = start[i / 3 * 4 + i % 3];
    return geom_fit(&m, kind, out);
}

/* A start that has an inverse and is of the kind that is asked for, but for the digits that a file leaves out. */
static atn_status check_start(const atn_ctx *ctx, const atn_register_settings *s) {
    static const double ROUNDED = 1e-3;
    geom_pose start, nearest;
    for (int i = 0; i < 9; ++i) start.a[i] = s->start[i / 3 * 4 + i % 3];
    double size = geom_pose_scale(&start), apart = 0;
    if (!(size > 1e-5 * geom_pose_stretch(&start)) || !isfinite(size))
        return atn_fail(ctx, ATN_ERR_INPUT, "register: the initial transform is singular");
    if (s->transform == ATN_TRANSFORM_AFFINE) return ATN_OK;
    bool any = nearest_map(s->start, s->transform, &nearest);
    for (int i = 0; i < 9 && any; ++i) apart = fmax(apart, fabs(start.a[i] - nearest.a[i]) / size);
    if (any && apart <= ROUNDED) return ATN_OK;
    if (s->transform == ATN_TRANSFORM_SIMILARITY)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "register: the initial transform shears or mirrors; only affine transforms do");
    return atn_fail(ctx, ATN_ERR_INPUT,
                    "register: the start scales, shears or mirrors (by %.3g in volume), a rigid transform does not; "
                    "similarity scales, affine does all",
                    size * size * size);
}

/* Without what rounding left in it. */
void reg_straighten(atn_register_settings *s) {
    geom_pose nearest;
    if (s->transform == ATN_TRANSFORM_AFFINE || !nearest_map(s->start, s->transform, &nearest)) return;
    for (int i = 0; i < 9; ++i) s->start[i / 3 * 4 + i % 3] = nearest.a[i];
}

atn_status reg_check(const atn_ctx *ctx, const atn_register_settings *s) {
    if ((int)s->method < 0 || s->method > ATN_REGISTER_GICP)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: unknown method %d", (int)s->method);
    if ((int)s->transform < 0 || s->transform > ATN_TRANSFORM_AFFINE || (int)s->init < 0 || s->init > ATN_START_AUTO ||
        (int)s->robust < 0 || s->robust > ATN_ROBUST_CAUCHY)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: unknown transform, init or robust loss");
    if (s->precision != 0 && s->precision != 16 && s->precision != 32 && s->precision != 64)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: a precision of %d; there are 16, 32 and 64", s->precision);
    const double lengths[] = {s->sigma_start, s->sigma_end, s->outlier_distance, s->error_bound, s->robust_scale};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
        if (!(lengths[k] >= 0) || (isinf(lengths[k]) && k != 2))
            return atn_fail(ctx, ATN_ERR_INPUT, "register: a length or bound of %g; it must be positive", lengths[k]);
    if (s->sigma_start > 0 && s->sigma_end > s->sigma_start)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: sigma_end %g is above sigma_start %g", s->sigma_end,
                        s->sigma_start);
    if (!(s->sigma_factor >= 0) || s->sigma_factor >= 1)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: a sigma factor of %g; it must be between 0 and 1",
                        s->sigma_factor);
    if (!(s->trim >= 0) || s->trim >= 1)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: trim is %g; it must be at least 0 and below 1", s->trim);
    if (s->error_bound >= 1)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: an error bound of %g; it must be below 1", s->error_bound);
    if (s->most_iterations < 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "register: a maximum of %d iterations; it must be positive",
                        s->most_iterations);
    for (int k = 0; k < 16 && s->init == ATN_START_GIVEN; ++k)
        if (!isfinite(s->start[k]) || (k >= 12 && fabs(s->start[k] - (k == 15)) > 1e-9))
            return atn_fail(ctx, ATN_ERR_INPUT, "register: the initial transform must be 4 x 4 with last row 0 0 0 1");
    return s->init == ATN_START_GIVEN ? check_start(ctx, s) : ATN_OK;
}
