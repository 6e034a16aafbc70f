/* Generalized ICP (Segal, Haehnel and Thrun 2009): the steps that end EM-ICP, from the start on. How far apart pairs
 * may be falls from a few times the distance scale of the start, or from the outlier distance that is given, to two
 * spacings. */
#include "apps/register/polish.h"

static const double BEGIN = 3; /* of the distance scale that the start suggests */

atn_status reg_gicp(reg_problem *p) {
    const atn_register_settings *s = p->settings;
    reg_surface surface = {0};
    bool lost = false;
    if (s->transform != ATN_TRANSFORM_RIGID)
        return atn_fail(p->engine.ctx, ATN_ERR_INPUT,
                        "register: gicp is rigid; use icp or em-icp for similarity and affine transforms");
    atn_status status = ATN_OK;
    if (p->spacing > 0 && p->source_spacing > 0) status = reg_surface_make(p, &surface);
    double reach = (p->open_far ? BEGIN * s->sigma_start : s->outlier_distance) / p->unit;
    if (status == ATN_OK && surface.spacing > 0) status = reg_polish_whole(p, &surface, reach, &lost);
    p->sigma = REG_POLISH_NEAREST * surface.spacing;
    if (status == ATN_OK && p->converged) status = reg_polish_end(p, &surface);
    reg_surface_free(&surface);
    if (status == ATN_OK) reg_ended(p, lost);
    return status;
}
