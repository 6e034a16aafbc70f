/* Arcs of a scan's surface, and the circle of the needle's radius through each: |p - c| = r, by Gauss and Newton with
 * Tukey's weights. An ellipse fitted freely to the upper part of one has its centre anywhere below; the radius is
 * known. */
#include "apps/needle/segment.h"

#include "base/extreme.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { STEPS = 12, GAP = 4 };        /* columns without a surface that do not end an arc */
static const double JUMP = 0.2;      /* radii: a step in depth that does */
static const double TUKEY = 4.685;   /* deviations beyond which a point has no weight */
static const double OFF = 0.035;     /* radii: rms of a circle */
static const double NARROWEST = 1.2; /* radii: of an arc that tells where its circle is, */
static const double WIDEST = 2.6;    /* and of one that can be the needle */

void needle_arcs_free(needle_arcs *a) {
    if (a->ctx) atn_free(a->ctx, a->arc);
    if (a->ctx) atn_free(a->ctx, a->of_scan);
    *a = (needle_arcs){.ctx = a->ctx};
}

static double weight_of(double off, double scale) {
    double u = off / (TUKEY * scale);
    return fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
}

/* One step of the centre (x, y); returns the weighted rms before it. */
static double step_circle(const float *row, const needle_arc *a, const double spacing[3], double radius, double scale,
                          double centre[2], double *support) {
    double h[3] = {0}, g[2] = {0}, square = 0, weight = 0;
    for (int64_t c = a->first; c <= a->last; ++c) {
        if (isnan(row[c])) continue;
        double x = (double)c * spacing[0] - centre[0], y = (double)row[c] * spacing[1] - centre[1];
        double d = sqrt(x * x + y * y), off = d - radius, w = weight_of(off, scale);
        if (!(d > 0)) continue;
        x /= d, y /= d; /* off falls by (x, y) . step */
        h[0] += w * x * x, h[1] += w * x * y, h[2] += w * y * y;
        g[0] += w * x * off, g[1] += w * y * off;
        square += w * off * off;
        weight += w;
    }
    double det = h[0] * h[2] - h[1] * h[1];
    if (det > 1e-9 * weight * weight) {
        centre[0] += (h[2] * g[0] - h[1] * g[1]) / det;
        centre[1] += (h[0] * g[1] - h[1] * g[0]) / det;
    }
    *support = weight;
    return weight > 0 ? sqrt(square / weight) : INFINITY;
}

static void fit_circle(const float *row, const double spacing[3], double radius, needle_arc *a) {
    double top = INFINITY, centre[2] = {0.5 * (double)(a->first + a->last) * spacing[0], 0}, support = 0;
    double wide = (double)(a->last - a->first) * spacing[0];
    int64_t points = 0;
    a->rms = INFINITY;
    if (!(wide > NARROWEST * radius && wide < WIDEST * radius)) return; /* most of the tissue */
    for (int64_t c = a->first; c <= a->last; ++c) {
        if (isnan(row[c])) continue;
        ++points;
        top = atn_lesser(top, (double)row[c] * spacing[1]);
    }
    centre[1] = top + radius;
    double scale = radius;
    for (int k = 0; k < STEPS; ++k) {
        a->rms = step_circle(row, a, spacing, radius, scale, centre, &support);
        scale = fmax(fmin(0.5 * scale, radius), fmax(a->rms, 0.01 * radius));
    }
    a->centre[0] = centre[0];
    a->centre[1] = centre[1];
    a->centre[2] = (double)a->frame * spacing[2];
    a->round = a->rms < OFF * radius && support > 0.5 * (double)points && isfinite(centre[0]) && isfinite(centre[1]);
}

typedef struct task {
    needle_arcs *a;
    const needle_surface *s;
    const double *spacing;
    double radius, jump;
    int64_t least, most; /* columns of an arc; arcs of a scan */
} task;

/* The arcs of a scan, not fitted; returns how many. */
static int64_t cut_scan(const task *t, int64_t frame, needle_arc *out) {
    const float *row = t->s->row + frame * t->s->width;
    needle_arc arc = {.frame = frame, .first = -1};
    int64_t count = 0;
    for (int64_t c = 0; c <= t->s->width; ++c) {
        bool here = c < t->s->width && !isnan(row[c]);
        if (c < t->s->width && !here && (arc.first < 0 || c - arc.last <= GAP)) continue;
        bool on = here && arc.first >= 0 && c - arc.last <= GAP && fabs((double)(row[c] - row[arc.last])) <= t->jump;
        if (!on && arc.first >= 0 && arc.last - arc.first + 1 >= t->least) out[count++] = arc;
        if (!on) arc.first = here ? c : -1;
        if (here) arc.last = c;
    }
    return count;
}

static void find_some(void *user, int64_t from, int64_t to, int32_t worker) {
    const task *t = user;
    (void)worker;
    for (int64_t f = from; f < to; ++f) {
        needle_arc *arc = t->a->arc + f * t->most;
        t->a->of_scan[f] = cut_scan(t, f, arc);
        for (int64_t k = 0; k < t->a->of_scan[f]; ++k)
            fit_circle(t->s->row + f * t->s->width, t->spacing, t->radius, &arc[k]);
    }
}

static atn_status make_room(needle_arcs *a, int64_t scans, int64_t most) {
    size_t room = (size_t)scans * (size_t)most;
    if (a->arc && room <= a->room && scans <= a->scans) return ATN_OK;
    needle_arcs_free(a);
    a->arc = atn_alloc(a->ctx, room * sizeof *a->arc);
    a->of_scan = atn_alloc(a->ctx, (size_t)scans * sizeof *a->of_scan);
    if (!a->arc || !a->of_scan) {
        needle_arcs_free(a);
        return ATN_ERR_MEMORY;
    }
    a->room = room;
    a->scans = scans;
    return ATN_OK;
}

/* Each scan has a place of its own for as many as it can have; then they are moved together. */
atn_status needle_arcs_find(needle_arcs *a, const needle_surface *s, const double spacing[3], double radius,
                            int64_t least) {
    task t = {.a = a, .s = s, .spacing = spacing, .radius = radius, .jump = fmax(JUMP * radius / spacing[1], 4)};
    t.least = least < 1 ? 1 : least;
    t.most = s->width / t.least + 1;
    a->count = 0;
    atn_status status = make_room(a, s->frames, t.most);
    if (status != ATN_OK) return status;
    atn_parallel_pieces(s->frames, find_some, &t);
    for (int64_t f = 0; f < s->frames; ++f) {
        size_t count = (size_t)a->of_scan[f];
        memmove(a->arc + a->count, a->arc + f * t.most, count * sizeof *a->arc);
        a->count += count;
    }
    return ATN_OK;
}
