/* Generalized ICP (Segal, Haehnel and Thrun 2009): the steps that end EM-ICP, from the start on. How far apart pairs
 * may be falls from a few times the distance scale of the start, or from the outlier distance that is given, to two
 * spacings. ICP along normals (Chen and Medioni 1992) takes the same steps over the target's planes alone. */
#include "apps/register/polish.h"

static const double BEGIN = 3; /* of the distance scale that the start suggests */

static atn_status take_steps(reg_problem *p, const reg_surface *surface, bool *lost) {
    const atn_register_settings *s = p->settings;
    double reach = (p->open_far ? BEGIN * s->sigma_start : s->outlier_distance) / p->unit;
    atn_status status = surface->spacing > 0 ? reg_polish_whole(p, surface, reach, lost) : ATN_OK;
    p->sigma = REG_POLISH_NEAREST * surface->spacing;
    return status;
}

atn_status reg_gicp(reg_problem *p) {
    reg_surface *surface = NULL;
    bool lost = false;
    if (p->settings->transform != ATN_TRANSFORM_RIGID)
        return atn_fail(p->engine.ctx, ATN_ERR_INPUT,
                        "register: gicp is rigid; use icp or em-icp for similarity and affine transforms");
    atn_status status = ATN_OK;
    if (p->spacing > 0 && p->source_spacing > 0) status = reg_surface_of(p, &surface);
    if (status == ATN_OK && surface) status = take_steps(p, surface, &lost);
    if (status == ATN_OK && p->converged) status = reg_polish_end(p, surface);
    if (status == ATN_OK) reg_ended(p, lost);
    return status;
}

atn_status reg_icp_plane(reg_problem *p) {
    reg_surface *surface;
    bool lost = false;
    if (!p->planes || !(p->spacing > 0) || !(p->source_spacing > 0)) return reg_icp(p);
    atn_status status = reg_surface_of(p, &surface);
    if (status == ATN_OK && !surface->planes) status = reg_surface_flatten(&p->engine, surface);
    if (status == ATN_OK) status = take_steps(p, surface, &lost);
    if (status == ATN_OK && p->converged) status = reg_polish_finer(p, surface);
    if (status == ATN_OK) reg_ended(p, lost);
    return status;
}
