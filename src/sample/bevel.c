/* Points on a bevelled needle, by area: z = (x + radius) cot(angle) is the cut. */
#include "sample/bevel.h"

#include "base/memory.h"
#include "cloud/points.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

void bevel_point(const bevel *b, atn_random *random, double point[3], double normal[3]) {
    double slope = b->whole ? 0 : cos(b->angle_deg * PI / 180) / sin(b->angle_deg * PI / 180), r = b->radius;
    double face = b->whole ? 0 : PI * r * r * sqrt(1 + slope * slope), side = 2 * PI * r * b->length;
    for (;;) {
        double turn = 2 * PI * atn_random_unit(random);
        if (atn_random_unit(random) * (face + side) < face) {
            double from = r * sqrt(atn_random_unit(random)), length = sqrt(1 + slope * slope);
            point[0] = from * cos(turn);
            point[1] = from * sin(turn);
            point[2] = (point[0] + r) * slope;
            normal[0] = slope / length, normal[1] = 0, normal[2] = -1 / length;
            if (point[2] > b->length) continue;
            return;
        }
        point[0] = r * cos(turn);
        point[1] = r * sin(turn);
        point[2] = b->length * atn_random_unit(random);
        normal[0] = cos(turn), normal[1] = sin(turn), normal[2] = 0;
        if (point[2] >= (point[0] + r) * slope) return;
    }
}

static atn_status draw(const atn_ctx *ctx, const bevel *b, size_t count, double least_y, uint64_t seed,
                       cloud_points *out) {
    atn_random random;
    atn_status status = cloud_points_make(ctx, count, false, out);
    atn_random_seed(&random, seed);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        double point[3], normal[3];
        do bevel_point(b, &random, point, normal);
        while (normal[1] <= least_y);
        for (int axis = 0; axis < 3; ++axis) out->position[axis][k] = point[axis];
        out->weight[k] = 1;
    }
    return status;
}

atn_status bevel_points(const atn_ctx *ctx, const bevel *b, size_t count, double least_y, uint64_t seed, double *out) {
    enum { TIMES = 24, HALVINGS = 24 };
    cloud_points all = {0}, merged = {0};
    double low = 0, high = b->length + 2 * b->radius; /* edges that leave enough points, and too few */
    atn_random random;
    atn_status status = draw(ctx, b, count * TIMES, least_y, seed, &all);
    for (int k = 0; k < HALVINGS && status == ATN_OK; ++k) {
        cloud_points next = {0};
        double edge = 0.5 * (low + high);
        status = cloud_points_merge(&all, edge, &next);
        bool enough = next.count >= count;
        if (enough) {
            cloud_points_free(&merged);
            merged = next;
            low = edge;
        } else {
            cloud_points_free(&next);
            high = edge;
        }
    }
    const cloud_points *from = merged.count ? &merged : &all;
    atn_random_seed(&random, seed + 1);
    size_t left = from->count, wanted = count;
    for (size_t k = 0; k < from->count && status == ATN_OK; ++k, --left) { /* each as likely to be left out */
        if (atn_random_below(&random, left) >= wanted) continue;
        for (int axis = 0; axis < 3; ++axis) *out++ = from->position[axis][k];
        --wanted;
    }
    cloud_points_free(&merged);
    cloud_points_free(&all);
    return status;
}
