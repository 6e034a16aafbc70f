/* Queries that all parts of a registration share: poses in the caller's and in internal coordinates, what the settings
 * ask for, and progress after a step. */
#include "apps/register/problem.h"

#include <string.h>

void reg_to_inside(const reg_problem *p, const double t[16], geom_pose *out) {
    geom_pose pose;
    for (int i = 0; i < 3; ++i) {
        memcpy(pose.a + 3 * i, t + 4 * i, 3 * sizeof *t);
        pose.b[i] = t[4 * i + 3];
    }
    double at[3];
    geom_pose_apply(&pose, p->source_origin, at);
    for (int i = 0; i < 3; ++i) pose.b[i] = (at[i] - p->target_origin[i]) / p->unit;
    *out = pose;
}

void reg_to_outside(const reg_problem *p, const geom_pose *pose, double t[16]) {
    double turned[3];
    geom_pose linear = *pose;
    memset(linear.b, 0, sizeof linear.b);
    geom_pose_apply(&linear, p->source_origin, turned);
    for (int i = 0; i < 3; ++i) {
        memcpy(t + 4 * i, pose->a + 3 * i, 3 * sizeof *t);
        t[4 * i + 3] = p->target_origin[i] + p->unit * pose->b[i] - turned[i];
        t[12 + i] = 0;
    }
    t[15] = 1;
}

bool reg_is_polished(const atn_register_settings *s) {
    if (s->method == ATN_REGISTER_GICP) return true;
    return s->method == ATN_REGISTER_EM_ICP && s->transform == ATN_TRANSFORM_RIGID && !s->compat && !s->no_polish &&
           !(s->sigma_end > 0);
}

bool reg_takes_planes(const atn_register_settings *s, const atn_cloud *target) {
    return s->method == ATN_REGISTER_ICP_PLANE && s->transform == ATN_TRANSFORM_RIGID && s->robust == ATN_ROBUST_NONE &&
           !(s->trim > 0) && !(s->outlier_distance > 0) && !s->dense && !(target && atn_cloud_info_of(target).normals);
}

bool reg_is_surveyed(const atn_register_settings *s) {
    return !s->no_covariance && !s->compat && s->transform == ATN_TRANSFORM_RIGID;
}

atn_status reg_step_done(reg_problem *p, double sigma, double rmse, double motion, size_t source, size_t target) {
    p->dense_pairs += (double)p->source_count * (double)p->target_count;
    if (!p->settings->watch) return ATN_OK;
    atn_register_step step = {.iteration = p->iterations,
                              .sigma = sigma * p->unit,
                              .rmse = rmse * p->unit,
                              .motion = motion * p->unit,
                              .pairs = (int64_t)p->engine.pairs,
                              .source = source,
                              .target = target};
    if (p->settings->watch(p->settings->watch_user, &step)) return ATN_OK;
    return atn_fail(p->engine.ctx, ATN_ERR_CANCELLED, "register: stopped after %d iterations", p->iterations);
}
