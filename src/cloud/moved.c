/* A cloud transformed by x -> A x + b. Normals stay perpendicular to the surface: n -> A^-T n, keeping their length. */
#include "cloud/cloud.h"

#include <math.h>

static atn_status check(const atn_ctx *ctx, const double t[16]) {
    for (int k = 0; k < 16; ++k)
        if (!isfinite(t[k])) return atn_fail(ctx, ATN_ERR_INPUT, "a transform with an element that is not finite");
    if (t[12] == 0 && t[13] == 0 && t[14] == 0 && t[15] == 1) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INPUT, "a transform whose last row is %g %g %g %g; 0 0 0 1 is needed", t[12], t[13],
                    t[14], t[15]);
}

/* A^-T up to a positive factor: the cofactors, with the sign of the determinant. */
static void find_turn(const double t[16], double turn[3][3]) {
    double most = 0, a[3][3], determinant = 0;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) most = fmax(most, fabs(t[4 * r + c]));
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) a[r][c] = most > 0 ? t[4 * r + c] / most : 0;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            turn[r][c] = a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1];
        }
    for (int c = 0; c < 3; ++c) determinant += a[0][c] * turn[0][c];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) turn[r][c] = determinant < 0 ? -turn[r][c] : determinant > 0 ? turn[r][c] : 0;
}

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void turn_normal(atn_cloud *cloud, size_t point, const double turn[3][3]) {
    double n[3], turned[3];
    for (int d = 0; d < 3; ++d) n[d] = (double)((float *)cloud->column[ROLE_NX + d])[point];
    for (int r = 0; r < 3; ++r) turned[r] = turn[r][0] * n[0] + turn[r][1] * n[1] + turn[r][2] * n[2];
    double before = length_of(n), after = length_of(turned);
    for (int d = 0; d < 3; ++d) {
        double value = after > 0 ? turned[d] / after * before : 0;
        ((float *)cloud->column[ROLE_NX + d])[point] = isfinite((float)value) ? (float)value : 0;
    }
}

static atn_status move_point(atn_cloud *cloud, size_t point, const double t[16]) {
    double p[3];
    for (int d = 0; d < 3; ++d) p[d] = ((double *)cloud->column[ROLE_X + d])[point];
    for (int d = 0; d < 3; ++d) {
        double moved = t[4 * d] * p[0] + t[4 * d + 1] * p[1] + t[4 * d + 2] * p[2] + t[4 * d + 3];
        if (!isfinite(moved))
            return atn_fail(cloud->ctx, ATN_ERR_INPUT, "point %zu would be transformed beyond the range of doubles",
                            point);
        ((double *)cloud->column[ROLE_X + d])[point] = moved;
    }
    return ATN_OK;
}

atn_status atn_cloud_moved(const atn_cloud *cloud, const double transform[16], atn_cloud **out) {
    double turn[3][3];
    atn_cloud *made = NULL;
    *out = NULL;
    atn_status status = check(cloud->ctx, transform);
    if (status == ATN_OK) status = cloud_copy(cloud, 0, &made);
    if (status != ATN_OK) return status;
    find_turn(transform, turn);
    for (size_t k = 0; status == ATN_OK && k < made->count; ++k) {
        status = move_point(made, k, transform);
        if (made->roles & ROLE_NORMAL) turn_normal(made, k, turn);
    }
    if (status == ATN_OK)
        *out = made;
    else
        atn_cloud_free(made);
    return status;
}
