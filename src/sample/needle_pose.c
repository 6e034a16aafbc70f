/* Where the needle lies in the cube: T = [R(axis) Rz(roll), t], z of R along the axis, its y as near to the scan's as
 * can be. The tip and all of the cut are inside; the shaft leaves through a border. The tissue lies below. */
#include "sample/needle_parts.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793, CUBE[3] = NEEDLE_CUBE;
static const double AROUND = 0.12;       /* the needle keeps that far from the sides of the cube */
static const double ROOM_BELOW = 0.5;    /* for the tissue, where the needle leaves it */
static const double STEEPEST_DEG = 75;   /* beyond, next to nothing comes back */
static const double CURVATURE = 1 / 12.; /* of the eye's wall */

static double between(atn_random *random, double low, double high) {
    return low + (high - low) * atn_random_unit(random);
}

/* How far it is from its pose in this frame. */
static double sway(const atn_needle_sample_settings *s, double most, double period) {
    return most * sin(2 * PI * (double)s->frame / period);
}

static void draw_rotation(const atn_needle_sample_settings *s, atn_random *random, needle_truth *truth, double r[9]) {
    double tan_x = 0, tan_y = 0, length;
    for (int d = 0; d < 2; ++d) truth->tilt_deg[d] = s->tilt_deg * between(random, -1, 1);
    truth->roll_deg = s->roll_deg * between(random, -1, 1) + sway(s, 4, 47);
    truth->tilt_deg[0] += sway(s, 0.6, 41);
    truth->tilt_deg[1] += sway(s, 0.5, 57);
    tan_x = tan(truth->tilt_deg[0] * PI / 180);
    tan_y = tan(truth->tilt_deg[1] * PI / 180);
    double z[3] = {tan_y, tan_x, s->from_high ? -1 : 1}, y[3], x[3];
    length = sqrt(z[0] * z[0] + z[1] * z[1] + 1);
    for (int d = 0; d < 3; ++d) z[d] /= length;
    for (int d = 0; d < 3; ++d) y[d] = (d == 1) - z[1] * z[d];
    length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    for (int d = 0; d < 3; ++d) y[d] /= length;
    for (int d = 0; d < 3; ++d) x[d] = y[(d + 1) % 3] * z[(d + 2) % 3] - y[(d + 2) % 3] * z[(d + 1) % 3];
    double c = cos(truth->roll_deg * PI / 180), si = sin(truth->roll_deg * PI / 180);
    for (int d = 0; d < 3; ++d) {
        r[3 * d] = c * x[d] + si * y[d];
        r[3 * d + 1] = c * y[d] - si * x[d];
        r[3 * d + 2] = z[d];
    }
}

static void turn(const double r[9], double v[3]) {
    const double old[3] = {v[0], v[1], v[2]};
    for (int d = 0; d < 3; ++d) v[d] = r[3 * d] * old[0] + r[3 * d + 1] * old[1] + r[3 * d + 2] * old[2];
}

/* A place of the tip on one axis: [low, high] is what is there of the needle with the tip at 0; where it has no room,
 * its middle comes to the middle. */
static double draw_place(atn_random *random, double low, double high, double from, double to) {
    double share = atn_random_unit(random), least = from - low, most = to - high;
    return least <= most ? least + share * (most - least) : 0.5 * (least + most);
}

/* The bounds of the vertices whose z is within. */
static void bounds(const needle_mesh *m, double z_from, double z_to, double low[3], double high[3]) {
    for (int d = 0; d < 3; ++d) low[d] = INFINITY, high[d] = -INFINITY;
    for (size_t k = 0; k < m->vertices; ++k) {
        const double *p = m->position + 3 * k;
        if (p[2] < z_from || p[2] > z_to) continue;
        for (int d = 0; d < 3; ++d) {
            low[d] = fmin(low[d], p[d]);
            high[d] = fmax(high[d], p[d]);
        }
    }
}

/* The tip at 0, and how far the cut goes from it in z, to either side. */
static void draw_tip(const atn_needle_sample_settings *s, atn_random *random, const needle_mesh *m, needle_truth *truth,
                     const double axis[3]) {
    double reach = truth->bevel_length * axis[2] + (s->from_high ? -0.3 : 0.3), low[3], high[3];
    double *tip = truth->tip_scan;
    tip[2] = draw_place(random, fmin(reach, -0.05), fmax(reach, 0.05), 0.15, CUBE[2] - 0.15);
    bounds(m, -tip[2], CUBE[2] - tip[2], low, high);
    tip[0] = draw_place(random, low[0], high[0], AROUND, CUBE[0] - AROUND);
    tip[1] = draw_place(random, low[1], high[1], AROUND, CUBE[1] - (s->no_tissue ? AROUND : ROOM_BELOW));
    tip[0] += sway(s, 0.06, 37);
    tip[1] += sway(s, 0.05, 53);
    tip[2] += sway(s, 0.1, 61);
    truth->shift = tip[2];
}

double needle_tissue_at(const needle_tissue *t, double x, double z) {
    double u = x - t->middle[0], v = z - t->middle[1];
    return t->level + t->slope[0] * u + t->slope[1] * v + 0.5 * t->bow * (u * u + v * v);
}

/* Below all of the needle that is in the cube, the nearest place as far as `clearance` says. */
static void draw_tissue(const atn_needle_sample_settings *s, atn_random *random, const needle_mesh *m,
                        needle_truth *truth, needle_tissue *out) {
    double wanted = between(random, 0.06, 0.5), least = INFINITY;
    *out = (needle_tissue){.any = !s->no_tissue, .middle = {0.5 * CUBE[0], 0.5 * CUBE[2]}};
    out->slope[0] = between(random, -0.12, 0.12);
    out->slope[1] = between(random, -0.12, 0.12);
    out->bow = -CURVATURE * between(random, 0.6, 1.4); /* a bowl, seen from within */
    out->thick = between(random, 0.85, 1.2);
    for (size_t k = 0; k < m->vertices; ++k) {
        const double *p = m->position + 3 * k;
        if (p[2] < 0 || p[2] > CUBE[2]) continue;
        least = fmin(least, needle_tissue_at(out, p[0], p[2]) - p[1]);
    }
    out->level = fmin(wanted - least, fmax(CUBE[1] - 0.4, 0.06 - least)); /* in the picture, if that leaves a gap */
    truth->clearance = out->any ? out->level + least : 0;
}

static bool inside(const double p[3]) {
    for (int d = 0; d < 3; ++d)
        if (!(p[d] >= 0 && p[d] <= CUBE[d])) return false;
    return true;
}

/* The cut is an ellipse: its rim is looked at. */
static void judge(const atn_needle_sample_settings *s, needle_truth *truth) {
    const double *t = truth->transform, radius = truth->outer / 2, bevel = s->bevel_deg * PI / 180;
    double n_y = -t[5] * cos(bevel) - t[6] * sin(bevel);
    truth->bevel_incidence_deg = acos(fmax(-1, fmin(1, -n_y))) * 180 / PI;
    truth->tip_in_scan = inside(truth->tip_scan);
    bool whole = truth->tip_in_scan;
    for (int k = 0; k < 64 && whole; ++k) {
        double angle = 2 * PI * k / 64, p[3], q[3];
        p[0] = radius * cos(angle);
        p[1] = radius * sin(angle);
        p[2] = (radius - p[1]) / tan(bevel);
        for (int d = 0; d < 3; ++d) q[d] = t[4 * d] * p[0] + t[4 * d + 1] * p[1] + t[4 * d + 2] * p[2] + t[4 * d + 3];
        whole = inside(q);
    }
    truth->bevel_visible = whole && truth->bevel_incidence_deg <= STEEPEST_DEG;
}

void needle_place(const atn_needle_sample_settings *settings, atn_random *random, needle_mesh *placed,
                  needle_truth *truth, needle_tissue *tissue) {
    double r[9], tip[3] = {0, truth->outer / 2, 0};
    draw_rotation(settings, random, truth, r);
    memcpy(truth->tip_model, tip, sizeof tip);
    turn(r, tip);
    for (size_t k = 0; k < placed->vertices; ++k) {
        turn(r, placed->position + 3 * k);
        for (size_t d = 0; d < 3; ++d) placed->position[3 * k + d] -= tip[d];
    }
    for (size_t k = 0; k < 3 * placed->triangles; ++k) turn(r, placed->normals + 3 * k);
    draw_tip(settings, random, placed, truth, (const double[3]){r[2], r[5], r[8]});
    for (size_t k = 0; k < placed->vertices; ++k)
        for (size_t d = 0; d < 3; ++d) placed->position[3 * k + d] += truth->tip_scan[d];
    for (int d = 0; d < 3; ++d) {
        for (int e = 0; e < 3; ++e) truth->transform[4 * d + e] = r[3 * d + e];
        truth->transform[4 * d + 3] = truth->tip_scan[d] - tip[d];
        truth->transform[12 + d] = 0;
    }
    truth->transform[15] = 1;
    judge(settings, truth);
    draw_tissue(settings, random, placed, truth, tissue);
}
