/* Where a registration begins: where the clouds lie if they fit there, else where the search says. */
#include "apps/register/seek.h"

#include "apps/register/search.h"

#include <string.h>

static const double LIKELY = 0.25; /* share of the source on the target where the clouds lie: worth beginning there */
static const double GROWS = 1.02;  /* from one short fit to the next, as long as there are more */

bool reg_lies_well(const reg_problem *p, int most, double at[16]) {
    double score = 0, before = -1;
    bool asked = p->settings->transform == ATN_TRANSFORM_RIGID && p->open_iterations;
    memset(at, 0, 16 * sizeof *at);
    at[0] = at[5] = at[10] = at[15] = 1;
    for (int k = 0; k < most && asked && score <= LIKELY; ++k) {
        score = reg_scene_refine(p->scene, at);
        if (score <= GROWS * before) break;
        before = score;
    }
    return score > LIKELY;
}

atn_status reg_seek_search(const reg_problem *p, double out[16]) {
    reg_start start;
    if (p->sought.searched) {
        memcpy(out, p->sought.start, sizeof p->sought.start);
        return p->sought.status;
    }
    atn_status status = reg_search(p->scene, &start);
    memcpy(out, start.transform, sizeof start.transform);
    return status;
}

void reg_seek(reg_problem *p) {
    p->sought.fits = reg_lies_well(p, 1, p->sought.start);
    p->sought.looked = true;
    if (p->sought.fits) return;
    p->sought.status = reg_seek_search(p, p->sought.start);
    p->sought.searched = true;
}
