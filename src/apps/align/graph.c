/* Poses that agree best with the edges between them: Gauss-Newton on sum w r^T W r, with r the perturbation from the
 * left that takes a link's measured pose to the one that its nodes have. A step d of two nodes changes r by J (d_source
 * - d_target), J the adjoint of the inverse target pose, so that the normal equations are a Laplacian of 6 x 6 blocks
 * J^T W J: conjugate gradients with the diagonal blocks' inverses need no matrix.
 *
 * Wrong links: Geman-McClure weights, (c^2 m / (chi2 + c^2 m))^2, with m falling to 1 (graduated non-convexity: Yang
 * and others, 2020), and c scaled by how much usual links scatter. */
#include "apps/align/graph.h"

#include "base/compare.h"
#include "base/memory.h"
#include "geom/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIX = 6, MOST_ROUNDS = 100, MOST_STEPS = 30 };
static const double LIMIT2 = 30;       /* c^2: chi2 of six degrees of freedom is beyond 22 once in a thousand */
static const double MEDIAN = 5.348;    /* of chi2 with six degrees of freedom */
static const double MOST_SPREAD2 = 25; /* more is no scatter but a graph that does not fit */
static const double FALL = 1.4, STILL = 1e-10, SOLVED = 1e-24;

/* What the iterations work on. */
typedef struct work {
    graph *g;
    double *block;    /* links x 36: w J^T W J */
    double *diagonal; /* nodes x 36: inverses of the diagonal blocks */
    double *step, *right, *rest, *way, *product, *shaped;
} work;

static void multiply(const double *m, const double *v, double *out) {
    for (int i = 0; i < SIX; ++i) {
        out[i] = 0;
        for (int k = 0; k < SIX; ++k) out[i] += m[SIX * i + k] * v[k];
    }
}

static void multiply_transposed(const double *m, const double *v, double *out) {
    for (int i = 0; i < SIX; ++i) {
        out[i] = 0;
        for (int k = 0; k < SIX; ++k) out[i] += m[SIX * k + i] * v[k];
    }
}

/* ---- links ---- */

/* T_target^-1 T_source measured^-1, and the pose T_source measured^-1 as a substitute for the target's. */
static geom_pose deviation_of(const graph *g, const graph_link *l, geom_pose *target) {
    geom_pose back, inverse;
    geom_pose_invert(&l->measured, &back);
    geom_pose_invert(&g->pose[l->target], &inverse);
    *target = geom_pose_compose(&g->pose[l->source], &back);
    return geom_pose_compose(&inverse, target);
}

static void measure(const graph *g, graph_link *l) {
    geom_pose unused, off = deviation_of(g, l, &unused);
    double turned[SIX];
    geom_pose_log(&off, l->residual);
    multiply(l->information, l->residual, turned);
    l->chi2 = 0;
    for (int k = 0; k < SIX; ++k) l->chi2 += l->residual[k] * turned[k];
}

/* x -> T^-1 (exp(w) (T x) + v): rotation R^T w, translation R^T (w x t + v). */
static void adjoint(const geom_pose *target, double j[36]) {
    const double *r = target->a, *t = target->b;
    const double cross[9] = {0, t[2], -t[1], -t[2], 0, t[0], t[1], -t[0], 0}; /* w -> w x t */
    memset(j, 0, 36 * sizeof *j);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            j[SIX * i + k] = j[SIX * (i + 3) + k + 3] = r[3 * k + i];
            for (int n = 0; n < 3; ++n) j[SIX * (i + 3) + k] += r[3 * n + i] * cross[3 * n + k];
        }
}

/* The link's block, and what it adds to the right side. */
static void linearise(work *w, size_t index) {
    graph *g = w->g;
    graph_link *l = &g->link[index];
    double j[36], wj[36], turned[SIX], pull[SIX], *block = w->block + 36 * index;
    geom_pose target;
    deviation_of(g, l, &target);
    adjoint(&target, j);
    for (int i = 0; i < SIX; ++i)
        for (int k = 0; k < SIX; ++k) {
            wj[SIX * i + k] = 0;
            for (int n = 0; n < SIX; ++n) wj[SIX * i + k] += l->weight * l->information[SIX * i + n] * j[SIX * n + k];
        }
    for (int i = 0; i < SIX; ++i)
        for (int k = 0; k < SIX; ++k) {
            block[SIX * i + k] = 0;
            for (int n = 0; n < SIX; ++n) block[SIX * i + k] += j[SIX * n + i] * wj[SIX * n + k];
        }
    multiply(l->information, l->residual, turned);
    multiply_transposed(j, turned, pull);
    for (int k = 0; k < SIX; ++k) {
        w->right[SIX * l->source + (size_t)k] -= l->weight * pull[k];
        w->right[SIX * l->target + (size_t)k] += l->weight * pull[k];
        for (int n = 0; n < SIX; ++n) {
            w->diagonal[36 * l->source + (size_t)(SIX * k + n)] += block[SIX * k + n];
            w->diagonal[36 * l->target + (size_t)(SIX * k + n)] += block[SIX * k + n];
        }
    }
}

/* ---- the linear system ---- */

static void apply(const work *w, const double *x, double *out) {
    const graph *g = w->g;
    memset(out, 0, SIX * g->nodes * sizeof *out);
    for (size_t l = 0; l < g->links; ++l) {
        double apart[SIX], pull[SIX];
        const double *s = x + SIX * g->link[l].source, *t = x + SIX * g->link[l].target;
        for (int k = 0; k < SIX; ++k) apart[k] = s[k] - t[k];
        multiply(w->block + 36 * l, apart, pull);
        for (int k = 0; k < SIX; ++k) {
            out[SIX * g->link[l].source + (size_t)k] += pull[k];
            out[SIX * g->link[l].target + (size_t)k] -= pull[k];
        }
    }
    for (int k = 0; k < SIX; ++k) out[SIX * g->anchor + (size_t)k] = 0;
}

static double dot(const work *w, const double *a, const double *b) {
    double sum = 0;
    for (size_t k = 0; k < SIX * w->g->nodes; ++k) sum += a[k] * b[k];
    return sum;
}

static void precondition(const work *w, const double *x, double *out) {
    for (size_t n = 0; n < w->g->nodes; ++n) multiply(w->diagonal + 36 * n, x + SIX * n, out + SIX * n);
    for (int k = 0; k < SIX; ++k) out[SIX * w->g->anchor + (size_t)k] = 0;
}

/* step = H^-1 right, both zero at the anchor. */
static void solve(work *w) {
    size_t n = SIX * w->g->nodes;
    for (int k = 0; k < SIX; ++k) w->right[SIX * w->g->anchor + (size_t)k] = 0;
    memset(w->step, 0, n * sizeof *w->step);
    memcpy(w->rest, w->right, n * sizeof *w->rest);
    precondition(w, w->rest, w->shaped);
    memcpy(w->way, w->shaped, n * sizeof *w->way);
    double size = dot(w, w->rest, w->shaped), first = size;
    for (size_t k = 0; k < 10 * n && size > SOLVED * first; ++k) {
        apply(w, w->way, w->product);
        double curve = dot(w, w->way, w->product), length = size / curve;
        if (!(curve > 0)) return;
        for (size_t i = 0; i < n; ++i) {
            w->step[i] += length * w->way[i];
            w->rest[i] -= length * w->product[i];
        }
        precondition(w, w->rest, w->shaped);
        double next = dot(w, w->rest, w->shaped);
        for (size_t i = 0; i < n; ++i) w->way[i] = w->shaped[i] + next / size * w->way[i];
        size = next;
    }
}

static void build(work *w) {
    graph *g = w->g;
    memset(w->diagonal, 0, 36 * g->nodes * sizeof *w->diagonal);
    memset(w->right, 0, SIX * g->nodes * sizeof *w->right);
    for (size_t l = 0; l < g->links; ++l) linearise(w, l);
    for (size_t n = 0; n < g->nodes; ++n) {
        double *d = w->diagonal + 36 * n, inverse[36], trace = 0;
        for (int k = 0; k < SIX; ++k) trace += d[7 * k];
        if (!geom_invert_symmetric(SIX, d, inverse)) { /* a direction that no link holds, to working precision */
            memset(inverse, 0, sizeof inverse);
            for (int k = 0; k < SIX; ++k) inverse[7 * k] = d[7 * k] > 1e-15 * trace ? 1 / d[7 * k] : 0;
        }
        memcpy(d, inverse, sizeof inverse);
    }
}

/* ---- iterations ---- */

/* By the median of chi2, which is smaller than it should be as far as poses could follow the links. */
static double spread2_of(const work *w) {
    const graph *g = w->g;
    double free_share = 1 - (double)(g->nodes - 1) / (double)g->links;
    if (!(free_share > 0)) return 1; /* a tree: everything fits */
    for (size_t l = 0; l < g->links; ++l) w->product[l] = g->link[l].chi2;
    qsort(w->product, g->links, sizeof *w->product, atn_ascending_double);
    double spread2 = w->product[g->links / 2] / (MEDIAN * free_share);
    return fmax(1, fmin(spread2, MOST_SPREAD2));
}

/* Moves all nodes; the length of the step in deviations, squared. */
static double move(work *w) {
    graph *g = w->g;
    for (size_t n = 0; n < g->nodes; ++n) {
        geom_pose step = geom_pose_exp(w->step + SIX * n);
        if (n != g->anchor) g->pose[n] = geom_pose_compose(&step, &g->pose[n]);
    }
    ++g->iterations;
    return dot(w, w->step, w->right);
}

static atn_status settle(work *w, int steps) {
    atn_status status = ATN_OK;
    for (int k = 0; k < steps && status == ATN_OK; ++k) {
        build(w);
        solve(w);
        double gain = move(w);
        for (size_t l = 0; l < w->g->links; ++l) measure(w->g, &w->g->link[l]);
        if (!(gain > STILL)) break;
        status = atn_check_cancel(w->g->ctx);
    }
    return status;
}

static atn_status iterate(work *w) {
    graph *g = w->g;
    double largest = 0, relax = 1;
    for (size_t l = 0; l < g->links; ++l) {
        measure(g, &g->link[l]);
        g->link[l].weight = 1;
        largest = fmax(largest, g->link[l].chi2);
    }
    g->spread2 = 1;
    relax = fmax(1, 2 * largest / LIMIT2);
    atn_status status = ATN_OK;
    for (int round = 0; round < MOST_ROUNDS && status == ATN_OK; ++round) {
        double limit = LIMIT2 * g->spread2 * relax;
        for (size_t l = 0; l < g->links; ++l) {
            double share = limit / (limit + g->link[l].chi2);
            g->link[l].weight = share * share;
        }
        status = settle(w, relax > 1 ? 1 : MOST_STEPS);
        double before = g->spread2;
        g->spread2 = spread2_of(w);
        if (relax == 1 && fabs(g->spread2 - before) < 1e-3 * before) break;
        relax = fmax(1, relax / FALL);
    }
    return status;
}

static atn_status work_make(graph *g, work *w) {
    size_t n = SIX * g->nodes, room = n > g->links ? n : g->links;
    *w = (work){.g = g};
    w->block = atn_zalloc(g->ctx, 36 * (g->links + 1) * sizeof *w->block);
    w->diagonal = w->block ? atn_zalloc(g->ctx, 36 * g->nodes * sizeof *w->diagonal) : NULL;
    w->step = w->diagonal ? atn_zalloc(g->ctx, (5 * n + room) * sizeof *w->step) : NULL;
    if (!w->step) return ATN_ERR_MEMORY;
    w->right = w->step + n;
    w->rest = w->right + n;
    w->way = w->rest + n;
    w->shaped = w->way + n;
    w->product = w->shaped + n;
    return ATN_OK;
}

static void work_free(work *w) {
    atn_free(w->g->ctx, w->block);
    atn_free(w->g->ctx, w->diagonal);
    atn_free(w->g->ctx, w->step);
}

atn_status graph_optimise(graph *g) {
    work w;
    g->iterations = 0;
    atn_status status = work_make(g, &w);
    if (status == ATN_OK && g->links) status = iterate(&w);
    work_free(&w);
    return status;
}

atn_status graph_covariance(graph *g, size_t node, double out[36]) {
    work w;
    memset(out, 0, 36 * sizeof *out);
    atn_status status = work_make(g, &w);
    if (status == ATN_OK && node != g->anchor) {
        build(&w);
        for (size_t k = 0; k < SIX; ++k) {
            memset(w.right, 0, SIX * g->nodes * sizeof *w.right);
            w.right[SIX * node + k] = 1;
            solve(&w);
            for (size_t i = 0; i < SIX; ++i) out[SIX * i + k] = g->spread2 * w.step[SIX * node + i];
        }
    }
    for (size_t i = 0; i < SIX; ++i)
        for (size_t k = 0; k < i; ++k) out[SIX * i + k] = out[SIX * k + i] = (out[SIX * i + k] + out[SIX * k + i]) / 2;
    work_free(&w);
    return status;
}
