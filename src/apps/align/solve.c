/* Poses of the largest group: first along a tree, then with loops where these poses predict that scans overlap, then
 * with all of them. Inside, scans are about their centres, in units of the anchor's size. */
#include "apps/align/align.h"

#include "base/memory.h"
#include "geom/eigen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_OVERLAP = 0.25; /* that a loop is closed for */
static const double LEAST_WEIGHT = 0.1;   /* what has less contradicts the others */
static const double DEGREES = 57.29577951308232;

/* Scans of a group as nodes. */
typedef struct solving {
    align_work *w;
    size_t group;
    size_t *node;    /* owned; of each scan; SIZE_MAX: it is not of the group */
    size_t *edge_of; /* owned; of each link: the edge */
    double unit;
    const double *origin; /* of the common frame: the anchor's centre */
    graph g;
} solving;

static const double *centre_of(const align_work *w, size_t scan) { return w->views.view[scan].surface.centre; }

/* ---- in and out of the units inside ---- */

static geom_pose pose_of(const double t[16]) {
    geom_pose p;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) p.a[3 * i + k] = t[4 * i + k];
        p.b[i] = t[4 * i + 3];
    }
    return p;
}

static void matrix_of(const geom_pose *p, double t[16]) {
    memset(t, 0, 16 * sizeof *t);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) t[4 * i + k] = p->a[3 * i + k];
        t[4 * i + 3] = p->b[i];
    }
    t[15] = 1;
}

/* From about `from` to about `to`, in units. */
static geom_pose enter(const geom_pose *p, const double from[3], const double to[3], double unit) {
    geom_pose in = *p;
    double moved[3];
    geom_pose_apply(p, from, moved);
    for (int i = 0; i < 3; ++i) in.b[i] = (moved[i] - to[i]) / unit;
    return in;
}

static geom_pose leave(const geom_pose *p, const double from[3], const double to[3], double unit) {
    geom_pose out = *p;
    for (int i = 0; i < 3; ++i) {
        out.b[i] = to[i] + unit * p->b[i];
        for (int k = 0; k < 3; ++k) out.b[i] -= p->a[3 * i + k] * from[k];
    }
    return out;
}

/* A C A^T with A = (1, 0; s [c]x, l): perturbations about another place, in another unit of length. */
static void carry(const double c[36], const double centre[3], double s, double l, double out[36]) {
    const double cross[9] = {0, -centre[2], centre[1], centre[2], 0, -centre[0], -centre[1], centre[0], 0};
    double a[36] = {0}, half[36];
    for (int i = 0; i < 3; ++i) {
        a[7 * i] = 1;
        a[7 * (i + 3)] = l;
        for (int k = 0; k < 3; ++k) a[6 * (i + 3) + k] = s * cross[3 * i + k];
    }
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            half[6 * i + k] = 0;
            for (int n = 0; n < 6; ++n) half[6 * i + k] += a[6 * i + n] * c[6 * n + k];
        }
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 6; ++k) {
            out[6 * i + k] = 0;
            for (int n = 0; n < 6; ++n) out[6 * i + k] += half[6 * i + n] * a[6 * k + n];
        }
}

/* ---- the graph ---- */

static atn_status add_link(solving *s, size_t edge) {
    const atn_align_edge *e = &s->w->edge[edge];
    graph_link *l = &s->g.link[s->g.links];
    const double *to = centre_of(s->w, e->target);
    geom_pose p = pose_of(e->transform);
    double inside[36];
    *l = (graph_link){.source = s->node[e->source], .target = s->node[e->target]};
    l->measured = enter(&p, centre_of(s->w, e->source), to, s->unit);
    carry(e->covariance, to, -1 / s->unit, 1 / s->unit, inside);
    if (!geom_invert_symmetric(6, inside, l->information)) { /* as wide as its widest direction, in all of them */
        double trace = 0;
        for (int k = 0; k < 6; ++k) trace += inside[7 * k];
        if (!(trace > 0) || !isfinite(trace))
            return atn_fail(s->w->ctx, ATN_ERR_INPUT, "scans %zu and %zu: the covariance is not positive definite",
                            e->source + 1, e->target + 1);
        memset(l->information, 0, sizeof l->information);
        for (int k = 0; k < 6; ++k) l->information[7 * k] = 1 / trace;
    }
    s->edge_of[s->g.links++] = edge;
    return ATN_OK;
}

/* Along edges, the nearest to the anchor first. */
static void walk_tree(solving *s) {
    graph *g = &s->g;
    bool more = true;
    for (size_t n = 0; n < g->nodes; ++n) g->pose[n].a[0] = NAN;
    g->pose[g->anchor] = GEOM_IDENTITY;
    while (more) {
        more = false;
        for (size_t k = 0; k < g->links; ++k) {
            const graph_link *l = &g->link[k];
            bool from = !isnan(g->pose[l->source].a[0]), to = !isnan(g->pose[l->target].a[0]);
            geom_pose back;
            if (from == to) continue;
            more = true;
            if (to) {
                g->pose[l->source] = geom_pose_compose(&g->pose[l->target], &l->measured);
            } else {
                geom_pose_invert(&l->measured, &back);
                g->pose[l->target] = geom_pose_compose(&g->pose[l->source], &back);
            }
        }
    }
}

static void solving_free(solving *s) {
    const atn_ctx *ctx = s->w->ctx;
    atn_free(ctx, s->node);
    atn_free(ctx, s->edge_of);
    atn_free(ctx, s->g.pose);
    atn_free(ctx, s->g.link);
    *s = (solving){.w = s->w};
}

/* The graph of a group by its used edges, with poses along a tree. */
static atn_status solving_make(align_work *w, size_t group, solving *s) {
    const atn_align_result *out = w->out;
    *s = (solving){.w = w, .group = group, .g = {.ctx = w->ctx}};
    s->node = atn_alloc(w->ctx, w->count * sizeof *s->node);
    s->edge_of = s->node ? atn_alloc(w->ctx, (out->edges + 1) * sizeof *s->edge_of) : NULL;
    s->g.link = s->edge_of ? atn_alloc(w->ctx, (out->edges + 1) * sizeof *s->g.link) : NULL;
    s->g.pose = s->g.link ? atn_zalloc(w->ctx, w->count * sizeof *s->g.pose) : NULL;
    if (!s->g.pose) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < w->count; ++k) s->node[k] = w->group[k] == group ? s->g.nodes++ : SIZE_MAX;
    const search_surface *anchor = &w->views.view[group].surface; /* the lowest scan of a group names it */
    s->unit = anchor->size * anchor->edge;
    s->origin = anchor->centre;
    s->g.anchor = 0;
    atn_status status = ATN_OK;
    for (size_t e = 0; e < out->edges && status == ATN_OK; ++e)
        if (w->edge[e].used && w->group[w->edge[e].source] == group) status = add_link(s, e);
    if (status == ATN_OK) walk_tree(s);
    return status;
}

/* ---- loops ---- */

typedef struct chance {
    size_t source, target;
    double overlap, transform[16];
} chance;

static int by_overlap(const void *left, const void *right) {
    const chance *a = left, *b = right;
    if (a->overlap != b->overlap) return a->overlap > b->overlap ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return a->target < b->target ? -1 : a->target > b->target;
}

/* Where the poses put `source` on `target`. */
static void predict(const solving *s, size_t source, size_t target, double out[16]) {
    geom_pose back, pose;
    geom_pose_invert(&s->g.pose[s->node[target]], &back);
    pose = geom_pose_compose(&back, &s->g.pose[s->node[source]]);
    pose = leave(&pose, centre_of(s->w, source), centre_of(s->w, target), s->unit);
    matrix_of(&pose, out);
}

/* Too far apart to meet: no two points of them are within both their sizes, three times. */
static bool is_far(const solving *s, size_t a, size_t b) {
    const search_surface *p = &s->w->views.view[a].surface, *q = &s->w->views.view[b].surface;
    double way2 = 0, reach = 3 * (p->size * p->edge + q->size * q->edge) / s->unit;
    for (int d = 0; d < 3; ++d) {
        double way = s->g.pose[s->node[a]].b[d] - s->g.pose[s->node[b]].b[d];
        way2 += way * way;
    }
    return way2 > reach * reach;
}

static bool is_edge(const align_work *w, size_t a, size_t b) {
    for (size_t e = 0; e < w->out->edges; ++e) {
        const atn_align_edge *edge = &w->edge[e];
        if ((edge->source == a && edge->target == b) || (edge->source == b && edge->target == a)) return true;
    }
    return false;
}

/* All pairs that are predicted to overlap and were not registered. */
static atn_status list_chances(const solving *s, chance **list, size_t *count) {
    const align_work *w = s->w;
    size_t capacity = 0;
    atn_status status = ATN_OK;
    for (size_t a = 0; a < w->count && status == ATN_OK; ++a)
        for (size_t b = 0; b < a && status == ATN_OK; ++b) {
            if (s->node[a] == SIZE_MAX || s->node[b] == SIZE_MAX || is_far(s, a, b) || is_edge(w, a, b)) continue;
            chance c = {.source = a, .target = b};
            predict(s, a, b, c.transform);
            c.overlap = candidates_overlap(&w->views, a, b, c.transform);
            if (c.overlap < LEAST_OVERLAP) continue;
            void *grown = *list;
            status = atn_grow(w->ctx, &grown, &capacity, *count, sizeof **list);
            *list = grown;
            if (status == ATN_OK) (*list)[(*count)++] = c;
        }
    if (status == ATN_OK && *count) qsort(*list, *count, sizeof **list, by_overlap);
    return status;
}

/* The largest overlaps first, until each scan has as many neighbours as wanted. */
static atn_status close_loops(const solving *s) {
    align_work *w = s->w;
    chance *list = NULL;
    align_start *starts = NULL;
    size_t count = 0, chosen = 0, *degree = atn_zalloc(w->ctx, w->count * sizeof *degree);
    atn_status status = degree ? list_chances(s, &list, &count) : ATN_ERR_MEMORY;
    if (status == ATN_OK && !(starts = atn_alloc(w->ctx, (count + 1) * sizeof *starts))) status = ATN_ERR_MEMORY;
    for (size_t e = 0; e < w->out->edges && status == ATN_OK; ++e) {
        degree[w->edge[e].source] += w->edge[e].used;
        degree[w->edge[e].target] += w->edge[e].used;
    }
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        const chance *c = &list[k];
        size_t most = (size_t)w->settings.neighbours;
        if (degree[c->source] >= most && degree[c->target] >= most) continue;
        ++degree[c->source];
        ++degree[c->target];
        starts[chosen++] = (align_start){.source = c->source, .target = c->target, .transform = c->transform};
    }
    if (status == ATN_OK) status = align_register(w, starts, chosen, true);
    atn_free(w->ctx, starts);
    atn_free(w->ctx, list);
    atn_free(w->ctx, degree);
    return status;
}

/* ---- what came out ---- */

/* Edges get their residuals; those that contradict the others are used no more. *changed: some are not. */
static void judge_edges(const solving *s, bool *changed) {
    *changed = false;
    for (size_t k = 0; k < s->g.links; ++k) {
        const graph_link *l = &s->g.link[k];
        atn_align_edge *e = &s->w->edge[s->edge_of[k]];
        const double *r = l->residual;
        e->residual_deg = DEGREES * sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        e->residual = s->unit * sqrt(r[3] * r[3] + r[4] * r[4] + r[5] * r[5]);
        e->chi2 = l->chi2;
        e->weight = l->weight;
        if (l->weight >= LEAST_WEIGHT) continue;
        e->used = false;
        *changed = true;
    }
}

/* A scan that more of its predicted neighbours refuse than confirm does not belong, whatever one pair said. */
static bool drop_refused(align_work *w) {
    bool dropped = false;
    for (size_t k = 0; k < w->count; ++k) {
        size_t held = 0, refused = 0;
        for (size_t n = 0; n < w->out->edges; ++n) {
            const atn_align_edge *e = &w->edge[n];
            if (e->source != k && e->target != k) continue;
            held += e->used;
            refused += e->loop && e->verdict == ATN_VERDICT_REFUSED;
        }
        if (held == 0 || refused <= held) continue;
        dropped = true;
        for (size_t n = 0; n < w->out->edges; ++n)
            if (w->edge[n].source == k || w->edge[n].target == k) w->edge[n].used = false;
    }
    return dropped;
}

static atn_status publish(solving *s) {
    align_work *w = s->w;
    atn_align_result *out = w->out;
    atn_status status = ATN_OK;
    out->placed = s->g.nodes;
    out->anchor = s->group;
    out->iterations = s->g.iterations;
    out->spread = sqrt(s->g.spread2);
    for (size_t k = 0; k < w->count && status == ATN_OK; ++k) {
        atn_align_scan *scan = &w->scan[k];
        double inside[36];
        if (s->node[k] == SIZE_MAX) continue;
        geom_pose pose = leave(&s->g.pose[s->node[k]], centre_of(w, k), s->origin, s->unit);
        scan->placed = true;
        matrix_of(&pose, scan->transform);
        status = graph_covariance(&s->g, s->node[k], inside);
        carry(inside, s->origin, 1, s->unit, scan->covariance);
    }
    for (size_t e = 0; e < out->edges; ++e) {
        w->scan[w->edge[e].source].edges += w->edge[e].used;
        w->scan[w->edge[e].target].edges += w->edge[e].used;
    }
    return status;
}

static void say_why(const align_work *w, size_t scan, atn_align_scan *out) {
    size_t looked = 0, size = align_group_size(w, w->group[scan]), tried = 0;
    double best = 0;
    for (size_t k = 0; k < w->n_found; ++k) {
        const align_found *f = &w->found[k];
        if (f->source != scan && f->target != scan) continue;
        ++looked;
        tried += f->tried || f->asked;
        if (f->score > best) best = f->score;
    }
    if (w->views.view[scan].blank)
        snprintf(out->reason, sizeof out->reason, "its points are collinear or coincide");
    else if (size > 1)
        snprintf(out->reason, sizeof out->reason, "fits only a group of %zu scans, itself among them", size);
    else
        snprintf(out->reason, sizeof out->reason,
                 "fits no other scan: of %zu looked at the best shares %.0f %% with it, %zu registered, none agreed",
                 looked, 100 * best, tried);
}

/* Marks what trusted edges hold to the anchor, one step farther each round; all else hangs on likely ones. */
static void say_doubt(const align_work *w) {
    atn_align_result *out = w->out;
    bool more = true;
    static const char DOUBT[] = "in doubt: no trusted pair holds it to the others";
    for (size_t k = 0; k < w->count; ++k)
        if (w->scan[k].placed && k != out->anchor) memcpy(w->scan[k].reason, DOUBT, sizeof DOUBT);
    while (more) {
        more = false;
        for (size_t n = 0; n < out->edges; ++n) {
            const atn_align_edge *e = &w->edge[n];
            atn_align_scan *a = &w->scan[e->source], *b = &w->scan[e->target];
            if (!e->used || e->likely || !a->placed || !b->placed || !*a->reason == !*b->reason) continue;
            a->reason[0] = b->reason[0] = 0;
            more = true;
        }
    }
}

/* Optimises the largest group, leaving out edges until none contradicts. */
static atn_status settle(align_work *w, solving *s) {
    bool changed = true;
    atn_status status = ATN_OK;
    for (size_t round = 0; changed && status == ATN_OK && round <= w->count; ++round) {
        solving_free(s);
        status = solving_make(w, align_largest_group(w), s);
        if (status == ATN_OK) status = graph_optimise(&s->g);
        if (status == ATN_OK) judge_edges(s, &changed);
        if (status == ATN_OK && changed) align_group(w);
    }
    return status;
}

/* The poses of a group, and where they put its scans in the frame of the lowest. */
static atn_status place(align_work *w, size_t group, solving *s, double (*at)[16]) {
    atn_status status = solving_make(w, group, s);
    if (status == ATN_OK && s->g.nodes > 1) status = graph_optimise(&s->g);
    for (size_t k = 0; k < w->count && status == ATN_OK; ++k) {
        if (s->node[k] == SIZE_MAX) continue;
        geom_pose pose = leave(&s->g.pose[s->node[k]], centre_of(w, k), s->origin, s->unit);
        matrix_of(&pose, at[k]);
    }
    return status;
}

/* Poses of the largest group, and of what it holds as a whole, until that is all. */
static atn_status gather(align_work *w, solving *s) {
    bool any = true;
    double(*at)[16] = atn_alloc(w->ctx, w->count * sizeof *at);
    atn_status status = at ? ATN_OK : ATN_ERR_MEMORY;
    while (any && status == ATN_OK) {
        size_t group = align_largest_group(w);
        for (size_t k = 0; k < w->count && status == ATN_OK; ++k) {
            solving other = {.w = w};
            if (k != group && align_group_size(w, k) > 1) status = place(w, k, &other, at);
            solving_free(&other);
        }
        solving_free(s);
        if (status == ATN_OK) status = place(w, group, s, at);
        if (status == ATN_OK) status = align_rest(w, group, at, &any);
    }
    atn_free(w->ctx, at);
    return status;
}

atn_status align_solve(align_work *w) {
    solving s = {.w = w};
    atn_status status = ATN_OK;
    if (align_group_size(w, align_largest_group(w)) > 1) {
        status = gather(w, &s);
        if (status == ATN_OK) status = close_loops(&s);
        if (status == ATN_OK && drop_refused(w)) align_group(w);
        if (status == ATN_OK) status = settle(w, &s);
        if (status == ATN_OK && s.g.nodes > 1) status = publish(&s);
        solving_free(&s);
    }
    if (status == ATN_OK) say_doubt(w);
    for (size_t k = 0; k < w->count && status == ATN_OK; ++k)
        if (!w->scan[k].placed) say_why(w, k, &w->scan[k]);
    return status;
}
