/* Crowds: many more points within the spacing of a cloud than it has elsewhere. Lists of near pairs would be as long as
 * the square of their number, and say no more about the pose than a few of them with their weights. */
#include "apps/register/problem.h"

#include "base/memory.h"

/* The sigma of the end is half a spacing; pairs of up to three are looked at. A surface has 4 points in such a cube,
 * points that fill space have 8. */
static const double CUBE = 2; /* spacings */
enum { MOST = 64 };

static atn_status thin(const atn_ctx *ctx, const char *which, double spacing, cloud_points *points, uint32_t **from) {
    size_t before = points->count;
    if (!(spacing > 0)) return ATN_OK;
    atn_status status = cloud_points_thin(points, CUBE * spacing, MOST, from);
    if (status == ATN_OK && points->count < before)
        atn_log(ctx, ATN_LOG_INFO, "register: the %s has crowded places: %zu points are merged into others there",
                which, before - points->count);
    return status;
}

atn_status reg_thin(reg_problem *p) {
    const atn_ctx *ctx = p->engine.ctx;
    uint32_t *source_from = NULL;
    if (p->settings->compat || p->settings->dense) return ATN_OK; /* all pairs are asked for */
    atn_status status = thin(ctx, "source", p->source_spacing * p->unit, &p->source, &source_from);
    atn_free(ctx, source_from);
    return status == ATN_OK ? thin(ctx, "target", p->spacing * p->unit, &p->target, &p->target_from) : status;
}
