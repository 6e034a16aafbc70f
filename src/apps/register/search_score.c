/* How much of the source lies on the target in a pose: points whose nearest target point's plane is within half a cube
 * and turned alike. The nearest points are looked up in a raster, made once. */
#include "apps/register/search_parts.h"

#include "base/memory.h"

#include <math.h>

enum { MOST_CELLS = 3000000 };
static const double MOST_EXTENT = 1e8; /* in cubes: edges are at least a millionth of the extent */
static const double REACH = 1.5;       /* from a source point to its target point */
static const double OFF_PLANE = 0.5;   /* where a point lies on the target no more */
static const double ALIKE = 0.8;       /* least cosine between the normals of both */
static const double AROUND = 3;        /* of the raster around the points */
static const double FINEST_STEP = 0.5;

/* Bounds of the points that have normals (strays have none), or of all. */
static void bounds(const search_surface *s, double low[3], double high[3]) {
    for (int round = 0; round < 2; ++round) {
        size_t counted = 0;
        for (int a = 0; a < 3; ++a) low[a] = INFINITY, high[a] = -INFINITY;
        for (size_t k = 0; k < s->count; ++k) {
            if (round == 0 && s->normal[0][k] == 0 && s->normal[1][k] == 0 && s->normal[2][k] == 0) continue;
            ++counted;
            for (int a = 0; a < 3; ++a) {
                low[a] = fmin(low[a], s->at[a][k]);
                high[a] = fmax(high[a], s->at[a][k]);
            }
        }
        if (2 * counted > s->count) return;
    }
}

/* Cells whose middle is within reach of a target point, each with the nearest. */
static void enter(const search_surface *t, search_raster *r, float *distance2) {
    double reach = REACH + r->step;
    int32_t span = (int32_t)ceil(reach / r->step);
    for (size_t j = 0; j < t->count; ++j) {
        double p[3];
        int32_t first[3], last[3];
        for (int a = 0; a < 3; ++a) {
            p[a] = (t->at[a][j] - r->low[a]) / r->step - 0.5; /* in cells, from their middles */
            double cell = fmax(-1e6, fmin(1e6, rint(p[a])));
            first[a] = (int32_t)fmax(0, cell - span);
            last[a] = (int32_t)fmin(r->size[a] - 1, cell + span);
        }
        for (int32_t z = first[2]; z <= last[2]; ++z)
            for (int32_t y = first[1]; y <= last[1]; ++y) {
                double yz2 = (z - p[2]) * (z - p[2]) + (y - p[1]) * (y - p[1]);
                size_t row = ((size_t)z * (size_t)r->size[1] + (size_t)y) * (size_t)r->size[0];
                for (int32_t x = first[0]; x <= last[0]; ++x) {
                    float d2 = (float)(yz2 + (x - p[0]) * (x - p[0]));
                    if (!(d2 < distance2[row + (size_t)x])) continue;
                    distance2[row + (size_t)x] = d2;
                    r->nearest[row + (size_t)x] = (int32_t)j;
                }
            }
    }
}

atn_status search_raster_make(const search_surface *target, search_raster *out) {
    *out = (search_raster){.target = target, .step = FINEST_STEP};
    double high[3], cells = 1;
    bounds(target, out->low, high);
    atn_status status = cloud_extent_check(target->ctx, "register", out->low, high, 1, MOST_EXTENT);
    if (status != ATN_OK) return status;
    for (int a = 0; a < 3; ++a) {
        out->low[a] -= AROUND;
        cells *= (high[a] + AROUND - out->low[a]) / out->step + 1;
    }
    if (cells > MOST_CELLS) out->step *= cbrt(cells / MOST_CELLS);
    size_t count = 1;
    for (int a = 0; a < 3; ++a) {
        out->size[a] = (int32_t)((high[a] + AROUND - out->low[a]) / out->step) + 1;
        count *= (size_t)out->size[a];
    }
    float *distance2 = atn_alloc(target->ctx, count * sizeof *distance2);
    out->nearest = atn_alloc(target->ctx, count * sizeof *out->nearest);
    status = distance2 && out->nearest ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        float reach = (float)((REACH + out->step) / out->step);
        for (size_t k = 0; k < count; ++k) distance2[k] = reach * reach, out->nearest[k] = -1;
        enter(target, out, distance2);
    }
    atn_free(target->ctx, distance2);
    if (status != ATN_OK) search_raster_free(out);
    return status;
}

void search_raster_free(search_raster *raster) {
    if (raster->nearest) atn_free(raster->target->ctx, raster->nearest);
    *raster = (search_raster){0};
}

/* Where source point i goes (`on`: the nearest place of the target's surface) and how well it lies there, in [0, 1]. */
static double lies(const search_raster *r, const search_surface *s, size_t i, const search_pose *pose, double y[3],
                   double on[3], double off_plane) {
    const search_surface *t = r->target;
    double p[3], d[3], cell[3], d2 = 0;
    for (int a = 0; a < 3; ++a) y[a] = s->at[a][i];
    search_pose_move(pose, y, p);
    for (int a = 0; a < 3; ++a) {
        cell[a] = (p[a] - r->low[a]) / r->step;
        if (!(cell[a] >= 0) || !(cell[a] < r->size[a])) return 0;
    }
    int32_t j =
        r->nearest[((size_t)cell[2] * (size_t)r->size[1] + (size_t)cell[1]) * (size_t)r->size[0] + (size_t)cell[0]];
    if (j < 0) return 0;
    double n[3], m[3] = {0}, cosine = 0, height = 0, known = 0, mine = 0;
    for (int a = 0; a < 3; ++a) {
        n[a] = t->normal[a][j];
        d[a] = p[a] - t->at[a][j];
        d2 += d[a] * d[a];
        height += d[a] * n[a];
        known += n[a] * n[a];
        mine += (double)s->normal[a][i] * s->normal[a][i];
    }
    if (d2 > REACH * REACH) return 0;
    bool plane = known > 0 && mine > 0;
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) m[a] += pose->turn[3 * a + b] * s->normal[b][i];
        cosine += m[a] * n[a];
        on[a] = plane ? p[a] - height * n[a] : t->at[a][j];
    }
    if (!plane) return 1 - d2 / (REACH * REACH);
    if (fabs(cosine) < ALIKE) return 0;
    return fmax(0, 1 - height * height / (off_plane * off_plane));
}

double search_lies(const search_raster *raster, const search_surface *source, size_t i, const search_pose *pose) {
    double y[3], on[3];
    return lies(raster, source, i, pose, y, on, OFF_PLANE);
}

double search_score(const search_raster *raster, const search_surface *source, const search_pose *pose) {
    double sum = 0, y[3], on[3];
    for (size_t i = 0; i < source->count; ++i) sum += lies(raster, source, i, pose, y, on, OFF_PLANE);
    return sum / (double)source->count;
}

void search_refine(const search_raster *raster, const search_surface *source, bool scaled, int steps,
                   search_pose *pose) {
    search_pose best = *pose;
    best.score = search_score(raster, source, &best);
    for (int step = 0; step < steps; ++step) {
        search_moments moments = {0};
        double y[3], on[3], off_plane = step < steps / 2 ? 3 * OFF_PLANE : OFF_PLANE;
        for (size_t i = 0; i < source->count; ++i) {
            double weight = lies(raster, source, i, pose, y, on, off_plane);
            if (weight > 0) search_moments_add(&moments, weight * weight, y, on);
        }
        if (moments.pairs < 6 || !search_moments_fit(&moments, scaled, pose)) break;
        pose->score = search_score(raster, source, pose);
        if (pose->score > best.score) best = *pose;
    }
    *pose = best;
}
