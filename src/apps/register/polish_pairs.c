/* Pairs of the polish. The spread of a cloud about a point has the variances l0 <= l1 <= l2 along u_k; C = sum (l_k /
 * l0)^2 u_k u_k^T, and a distance d counts as d^T W d, W = 2 (C_x + R C_y R^T)^-1: across a surface fully, along it
 * hardly (so that edges of a partial view do not pull), in all directions alike where points fill space. Both clouds'
 * shapes, since a plane of one alone lies outside of what is curved. All that is done for each pair is described in
 * polish_*.atn of programs/ and kernels/; sums and some of the distances are all that comes back. */
#include "apps/register/distribute.h"
#include "apps/register/gather.h"
#include "apps/register/polish.h"
#include "apps/register/share.h"

#include "base/memory.h"
#include "geom/nth.h"

#include "num/array.h"

#include <math.h>
#include <string.h>

static const double TUKEY = 4.7; /* deviations beyond which a pair counts for nothing */
static const double FITS = 0.4;  /* spacings within which a pair fits */
enum { SOME = 2048, TOTALS = 32 };

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* No scale is less. */
static double least_of(const reg_polish_state *s) { return 1e-5 * s->surface->spacing; }

static double limit_of(const reg_polish_state *s) { return TUKEY * TUKEY * s->scale2; }

/* What all kernels over pairs read. */
enum { POINTS = 9 };
static void bind_points(const reg_polish_state *s, reg_binding bound[POINTS]) {
    static const char *const NAMES[POINTS] = {"px", "py", "pz", "w", "xx", "xy", "xz", "partner", "pair"};
    reg_side *source = s->source, *target = s->target;
    atn_array *const arrays[POINTS] = {source->point[0], source->point[1], source->point[2],
                                       source->w,        target->point[0], target->point[1],
                                       target->point[2], source->partner,  source->pair};
    for (int k = 0; k < POINTS; ++k) bound[k] = (reg_binding){NAMES[k], arrays[k]};
}

/* Only the points that shapes were made for have them. */
static atn_status weigh(const reg_polish_state *s, reg_kernel how, const geom_pose *pose, double reach) {
    bool planes = s->surface->planes != NULL, both = s->source == s->all && !planes;
    reg_given given[] = {{"reach2", reach * reach}, {"both", both}};
    reg_binding bound[POINTS + 3];
    bind_points(s, bound);
    bound[POINTS] = (reg_binding){"distance2", s->source->sum[0]};
    bound[POINTS + 1] = (reg_binding){"source", both ? s->surface->source : s->surface->target};
    bound[POINTS + 2] = (reg_binding){"target", planes ? s->surface->planes : s->surface->target};
    return reg_engine_run_given(&s->p->engine, how, pose, given, COUNT(given), bound, COUNT(bound));
}

static void take_scale(reg_polish_state *s, double *q, size_t count) {
    double least = least_of(s);
    size_t taken = 0;
    for (size_t k = 0; k < count; ++k) { /* no branch that is anybody's guess */
        double one = q[k];
        q[taken] = one;
        taken += one < INFINITY;
    }
    s->scale2 = fmax(taken ? 2.2 * geom_nth(q, taken, taken / 2) : 0, least * least); /* 1.4826 squared */
}

/* Of those of all ranks. */
static atn_status join_scale(reg_polish_state *s, atn_status status, const double q[SOME]) {
    void *all;
    size_t bytes;
    status = atn_ranks_gather(s->p->engine.joins->ranks, status, q, SOME * sizeof *q, &all, &bytes);
    if (status == ATN_OK) take_scale(s, all, bytes / sizeof *q);
    atn_free(s->p->engine.ctx, all);
    return status;
}

/* The median of about two thousand of them: it scatters by 3 %, which no sum of the others feels. */
static atn_status find_scale(reg_polish_state *s) {
    double q[SOME];
    const reg_engine *e = &s->p->engine;
    size_t rows = e->joins ? (size_t)e->joins->rows[0] : s->source->padded;
    size_t every = rows / SOME | 1; /* odd: no place of a block is left out */
    if (every * SOME < rows) every += 2;
    reg_given given[] = {{"every", (double)every}};
    reg_binding bound[] = {{"pair", s->source->pair}, {"some", s->some}};
    atn_status status = reg_engine_run_given(&s->p->engine, REG_SAMPLE, NULL, given, COUNT(given), bound, COUNT(bound));
    if (status == ATN_OK) status = reg_array_get(s->some, SOME, q);
    if (e->joins) return join_scale(s, status, q);
    if (status != ATN_OK) return status;
    take_scale(s, q, SOME);
    return reg_share_same(&s->p->engine, &s->scale2, sizeof s->scale2);
}

static void take_sums(reg_polish_state *s, const double total[TOTALS]) {
    int k = 0;
    for (int i = 0; i < 6; ++i)
        for (int j = i; j < 6; ++j) s->h[6 * i + j] = s->h[6 * j + i] = total[k++];
    memcpy(s->g, total + k, sizeof s->g);
    s->weight = total[27];
    s->cost = total[28];
    s->fits = total[29];
    s->pairs = total[30];
    s->same = total[31];
}

static atn_status add_up(reg_polish_state *s, const geom_pose *pose) {
    const void *total;
    double all[TOTALS];
    double fits = FITS * s->surface->spacing, same = REG_POLISH_SAME * s->surface->spacing;
    reg_given given[] = {{"limit", limit_of(s)}, {"fits2", fits * fits}, {"same2", same * same}};
    reg_binding bound[POINTS + 2];
    bind_points(s, bound);
    bound[POINTS] = (reg_binding){"distance2", s->source->sum[0]};
    bound[POINTS + 1] = (reg_binding){"total", s->total};
    atn_status status = reg_engine_run_given(&s->p->engine, REG_SUMS, pose, given, COUNT(given), bound, COUNT(bound));
    if (status == ATN_OK) status = atn_array_map_read(s->total, &total);
    if (status != ATN_OK) return status;
    memcpy(all, total, sizeof all);
    status = reg_join_sums(&s->p->engine, all, TOTALS);
    if (status == ATN_OK) status = reg_share_same(&s->p->engine, all, sizeof all);
    take_sums(s, all);
    return status;
}

/* Partners and what they count in one. */
static atn_status pairs_of_all(const reg_polish_state *s, const geom_pose *pose, double reach) {
    reg_engine *e = &s->p->engine;
    atn_status status = reg_bring(e, s->source);
    if (status == ATN_OK) status = reg_bring(e, s->target);
    if (status == ATN_OK) status = reg_side_pairs(s->source);
    e->evaluated += e->pairs = (double)s->source->count * (double)s->target->count;
    return status == ATN_OK ? weigh(s, REG_WEIGHTS_ALL, pose, reach) : status;
}

atn_status reg_polish_pairs(reg_polish_state *s, const geom_pose *pose, double reach) {
    reg_engine *e = &s->p->engine;
    if (reg_all_sooner(e, s->source, s->target)) return pairs_of_all(s, pose, reach);
    atn_status status = reg_place(e, s->source, pose);
    if (status == ATN_OK) status = reg_place(e, s->target, &GEOM_IDENTITY);
    if (status == ATN_OK) status = reg_partners(e, s->source, s->target, reach, s->slack);
    if (status == ATN_OK) status = reg_side_pairs(s->source);
    return status == ATN_OK ? weigh(s, REG_WEIGHTS, pose, reach) : status;
}

/* ---- together with other pairs of clouds ---- */

/* x y z w, and the shapes of its points. */
static atn_status keep_side(const reg_side *side, atn_array *shape, float *to) {
    size_t n = side->padded;
    const void *shapes = NULL;
    atn_status status = shape ? atn_array_map_read(shape, &shapes) : ATN_OK;
    for (size_t k = 0; k < n; ++k) {
        for (int a = 0; a < 3; ++a) to[(size_t)a * n + k] = (float)side->position[a][k];
        to[3 * n + k] = side->weight[k];
    }
    if (shapes) memcpy(to + 4 * n, shapes, 6 * n * sizeof *to);
    return status;
}

static bool shapes_of_both(const reg_polish_state *s) { return s->source == s->all; }

static bool keep(reg_polish_state *s) {
    const reg_side *source = s->source, *target = s->target;
    if (s->kept == source) return true;
    if (s->surface->planes || !source->position[0] || !target->position[0] || source->species || target->species ||
        source->padded > REG_FIT_POINTS)
        return false;
    size_t both = REG_FIT_POINT * (source->padded + target->padded), boxes = REG_BOX * REG_BLOCKS(target->padded);
    float *room = reg_gather_room(s->p->engine.client, REG_GATHER_FIT, both + boxes, &s->kept_at);
    float *onto = room ? room + REG_FIT_POINT * source->padded : NULL;
    if (!room || keep_side(source, shapes_of_both(s) ? s->surface->source : NULL, room) != ATN_OK ||
        keep_side(target, s->surface->target, onto) != ATN_OK)
        return false;
    reg_gather_boxes(onto, target->padded, room + both);
    s->kept = source;
    return true;
}

/* A pose, for the kernels of REG_GATHER_FIT; the scale is found where it is not settled. */
static void describe_pose(const reg_polish_state *s, const geom_pose *pose, double reach, bool settled, int32_t k,
                          float item[REG_FIT_ITEM], int32_t place[REG_GATHER_PLACE]) {
    const int32_t n = (int32_t)s->source->padded, m = (int32_t)s->target->padded;
    const int32_t all[REG_GATHER_PLACE] = {s->kept_at,
                                           s->kept_at + REG_FIT_POINT * n,
                                           n,
                                           m,
                                           reg_gather_row(s->p->engine.client, REG_GATHER_FIT, k),
                                           s->kept_at + REG_FIT_POINT * (n + m)};
    double fits = FITS * s->surface->spacing, same = REG_POLISH_SAME * s->surface->spacing, least = least_of(s);
    memcpy(place, all, sizeof all);
    for (int i = 0; i < 9; ++i) item[i] = (float)pose->a[i];
    for (int i = 0; i < 3; ++i) item[9 + i] = (float)pose->b[i];
    item[12] = (float)(reach * reach);
    item[13] = shapes_of_both(s) ? 1 : 0;
    item[14] = settled ? (float)limit_of(s) : 0;
    item[15] = (float)(fits * fits);
    item[16] = (float)(same * same);
    item[17] = (float)(least * least);
}

/* Pairs, their scale unless it is settled already, and sums. False: the host has to. */
static bool step_together(reg_polish_state *s, const geom_pose *pose, double reach) {
    reg_engine *e = &s->p->engine;
    float item[REG_FIT_ITEM], sums[REG_FIT_SUMS];
    double total[TOTALS];
    int32_t place[REG_GATHER_PLACE];
    if (!s->together || !e->client || !keep(s)) return false;
    reg_span span = reg_begin(e);
    describe_pose(s, pose, reach, s->settled, 0, item, place);
    bool done = reg_gather_run(e->client, REG_GATHER_FIT, 1, item, place, REG_FIT_SUMS, sums);
    for (int k = 0; k < TOTALS && done; ++k) total[k] = (double)sums[k];
    if (done) take_sums(s, total);
    if (done && !s->settled) s->scale2 = (double)sums[TOTALS];
    e->pairs = (double)s->source->count * (double)s->target->count;
    if (done) e->evaluated += e->pairs;
    reg_end(e, REG_SUMS, span);
    return done;
}

bool reg_polish_gradients(const reg_polish_state *from, size_t count, const geom_pose *pose, double reach,
                          double (*g)[6], double *weight) {
    reg_client *client = from->p->engine.client;
    reg_polish_state s = *from;
    float item[REG_FIT_MOST][REG_FIT_ITEM], sums[REG_FIT_MOST][REG_FIT_SUMS];
    int32_t place[REG_FIT_MOST][REG_GATHER_PLACE];
    s.kept = NULL;
    if (!client || count > REG_FIT_MOST || !keep(&s)) return false;
    for (size_t k = 0; k < count; ++k) describe_pose(&s, &pose[k], reach, true, (int32_t)k, item[k], place[k]);
    bool done = reg_gather_run(client, REG_GATHER_FIT, count, item[0], place[0], REG_FIT_SUMS, sums[0]);
    for (size_t k = 0; k < count && done; ++k) {
        for (int i = 0; i < 6; ++i) g[k][i] = (double)sums[k][21 + i];
        weight[k] = (double)sums[k][27];
    }
    return done;
}

/* Terms of all points, each by itself. False: the host has to. */
static bool terms_together(reg_polish_state *s, const geom_pose *pose, atn_array *out) {
    reg_engine *e = &s->p->engine;
    size_t n = s->source->padded;
    float item[REG_FIT_ITEM];
    int32_t place[REG_GATHER_PLACE];
    if (!s->together || !e->client || e->type != ATN_SP || !keep(s)) return false;
    float *found = atn_alloc(e->ctx, n * REG_TERMS_POINT * sizeof *found);
    float *rows = atn_alloc(e->ctx, n * REG_TERMS_POINT * sizeof *rows);
    describe_pose(s, pose, REG_POLISH_NEAREST * s->surface->spacing, true, 0, item, place);
    bool done =
        found && rows && reg_gather_run(e->client, REG_GATHER_TERMS, 1, item, place, n * REG_TERMS_POINT, found);
    for (size_t k = 0; k < n && done; ++k)
        for (size_t i = 0; i < REG_TERMS_POINT; ++i) rows[i * n + k] = found[k * REG_TERMS_POINT + i];
    done = done && atn_array_put(out, rows, 0) == ATN_OK;
    atn_free(e->ctx, found);
    atn_free(e->ctx, rows);
    return done;
}

atn_status reg_polish_step(reg_polish_state *s, const geom_pose *pose, double reach) {
    if (step_together(s, pose, reach)) return atn_check_cancel(s->p->engine.ctx);
    atn_status status = reg_polish_pairs(s, pose, reach);
    if (status == ATN_OK && !s->settled) status = find_scale(s);
    return status == ATN_OK ? add_up(s, pose) : status;
}

atn_status reg_polish_terms(reg_polish_state *s, const geom_pose *pose, size_t per, atn_array **out) {
    reg_engine *e = &s->p->engine;
    reg_given given[] = {{"limit", limit_of(s)}, {"per", (double)per}};
    reg_binding bound[POINTS + 1];
    *out = NULL;
    atn_status status = atn_array_create_matrix(e->device, e->type, REG_POLISH_TERM,
                                                (int64_t)((s->source->padded + per - 1) / per), 0, out);
    if (status == ATN_OK && per == 1 && terms_together(s, pose, *out)) return ATN_OK;
    if (status == ATN_OK) status = reg_array_open(*out);
    if (status == ATN_OK && s->together && e->client) /* where it was done before */
        status = reg_polish_pairs(s, pose, REG_POLISH_NEAREST * s->surface->spacing);
    bind_points(s, bound);
    bound[POINTS] = (reg_binding){"term", *out};
    if (status == ATN_OK) status = reg_engine_run_given(e, REG_TERMS, pose, given, COUNT(given), bound, COUNT(bound));
    return status;
}

atn_status reg_polish_open(reg_problem *p, const reg_surface *surface, reg_side *source, reg_side *target,
                           reg_polish_state *out) {
    atn_device *device = p->engine.device;
    *out = (reg_polish_state){.p = p, .surface = surface, .source = source, .all = source, .target = target};
    atn_status status = atn_array_create_vector(device, p->engine.type, SOME, &out->some);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_DP, TOTALS, &out->total);
    if (status == ATN_OK) atn_array_share(out->some);
    if (status == ATN_OK) atn_array_share(out->total);
    if (status != ATN_OK) reg_polish_close(out);
    return status;
}

void reg_polish_close(reg_polish_state *s) {
    atn_array_free(s->some);
    atn_array_free(s->total);
    *s = (reg_polish_state){0};
}
