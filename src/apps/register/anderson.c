/* u' = u + f - sum_k g_k ((u_k - u_k+1) + (f_k - f_k+1)), where the g_k make |f - sum g_k (f_k - f_k+1)| least; f is
 * what a step changes (Walker and Ni 2011). */
#include "apps/register/anderson.h"

#include "geom/eigen.h"

#include <math.h>
#include <string.h>

void reg_anderson_begin(reg_anderson *h, const geom_pose *base) {
    *h = (reg_anderson){.base = *base};
    if (!geom_pose_invert(base, &h->back)) h->back = h->base = GEOM_IDENTITY;
}

static void relative(const reg_anderson *h, const geom_pose *pose, double twist[6]) {
    geom_pose by = geom_pose_compose(pose, &h->back);
    geom_pose_log(&by, twist);
}

bool reg_anderson_next(reg_anderson *h, const geom_pose *from, const geom_pose *to, geom_pose *next) {
    double u[6], v[6];
    relative(h, from, u);
    relative(h, to, v);
    memmove(h->from[1], h->from[0], REG_ANDERSON_DEPTH * sizeof *h->from);
    memmove(h->step[1], h->step[0], REG_ANDERSON_DEPTH * sizeof *h->step);
    for (int i = 0; i < 6; ++i) {
        h->from[0][i] = u[i];
        h->step[0][i] = v[i] - u[i];
    }
    if (h->count <= REG_ANDERSON_DEPTH) ++h->count;
    int32_t m = h->count - 1;
    if (m > REG_ANDERSON_DEPTH) m = REG_ANDERSON_DEPTH;
    if (m < 1) return false;
    double gram[REG_ANDERSON_DEPTH * REG_ANDERSON_DEPTH], inverse[REG_ANDERSON_DEPTH * REG_ANDERSON_DEPTH], largest = 0;
    double right[REG_ANDERSON_DEPTH];
    for (int32_t a = 0; a < m; ++a) {
        right[a] = 0;
        for (int i = 0; i < 6; ++i) right[a] += (h->step[a][i] - h->step[a + 1][i]) * h->step[0][i];
        for (int32_t b = 0; b < m; ++b) {
            double sum = 0;
            for (int i = 0; i < 6; ++i)
                sum += (h->step[a][i] - h->step[a + 1][i]) * (h->step[b][i] - h->step[b + 1][i]);
            gram[a * m + b] = sum;
            if (a == b) largest = fmax(largest, sum);
        }
    }
    for (int32_t a = 0; a < m; ++a) gram[a * m + a] += 1e-10 * largest;
    if (!(largest > 0) || !geom_invert_symmetric(m, gram, inverse)) return false;
    double twist[6];
    for (int i = 0; i < 6; ++i) twist[i] = h->from[0][i] + h->step[0][i];
    for (int32_t a = 0; a < m; ++a) {
        double g = 0;
        for (int32_t b = 0; b < m; ++b) g += inverse[a * m + b] * right[b];
        for (int i = 0; i < 6; ++i)
            twist[i] -= g * ((h->from[a][i] - h->from[a + 1][i]) + (h->step[a][i] - h->step[a + 1][i]));
    }
    for (int i = 0; i < 6; ++i)
        if (!isfinite(twist[i])) return false;
    geom_pose by = geom_pose_exp(twist);
    *next = geom_pose_compose(&by, &h->base);
    return true;
}
