/* The kernels over a batch of atoms, for each model: scores of all rotations over the nearer neighbours, the best
 * rotation of each group, EM steps over all neighbours with tables that are wide first, then as sharp as the noise.
 * What comes back is the best candidate, with its likelihood averaged over the rotations around it. */
#include "apps/lattice/lattice.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "kernel/give.h"
#include "num/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CORE_BATCH = 256,
    LEAST_BATCH = 1024,
    MOST_BATCH = 1 << 13,
    DEVICE_BATCH = 1 << 14,
    LEARNING_BATCH = 1 << 12, /* on a GPU; on hosts the least, whose settings must not depend on their cores */
    ROWS = 1 << 11,           /* of a batch, for which a core is worth waking */
    WIDE_STEPS = 2,
    SHARP_STEPS = 4,
    SHARP = LATTICE_REFINES - 1
};
static const double PI = 3.14159265358979323846, LOG2E = 1.4426950408889634, DAMP = 1e-3;
static const float NEVER = -1e6F;     /* evidence of a model that is not searched for */
static const double MOST_SHIFT = 3.2; /* deviations that an atom may be off its site */
static const char *const AXES[3] = {"px", "py", "pz"};

static atn_status vector(atn_lattice *l, atn_type type, int64_t length, const void *from, atn_array **out) {
    atn_status status = atn_array_create_vector(l->device, type, length, out);
    return status == ATN_OK && from ? atn_array_put(*out, from, 0) : status;
}

/* ---- what does not depend on a batch ---- */

/* How many neighbours there are says much of those that come alone: there it is told exactly. */
static atn_status put_number(atn_lattice *l, lattice_slot *s) {
    double r = l->info.cutoff;
    s->number = atn_alloc(l->ctx, (ATN_LATTICE_MOST_NEIGHBOURS + 1) * sizeof *s->number);
    if (!s->number) return ATN_ERR_MEMORY;
    lattice_number about = {r, l->info.shift_noise, l->info.efficiency, l->shape, 0};
    about.background = l->background_density * 4.0 / 3 * PI * r * r * r;
    lattice_number_make(&s->points, &about, s->number);
    for (int n = 0; n <= ATN_LATTICE_MOST_NEIGHBOURS; ++n) s->number[n] += lgamma(n + 1.0);
    return ATN_OK;
}

/* Rotations as quaternions, and as matrices that scale to voxels. */
static atn_status put_turns(atn_lattice *l, lattice_slot *s) {
    int64_t n = s->turns.count;
    void *to = NULL;
    atn_status status = atn_array_create_matrix(l->device, ATN_SP, 9, n, 0, &s->turn);
    if (status == ATN_OK) status = atn_array_create_matrix(l->device, ATN_SP, 4, n, 0, &s->grid);
    if (status == ATN_OK) status = atn_array_map_write(s->turn, &to);
    for (int64_t k = 0; k < n && status == ATN_OK; ++k) {
        double m[9];
        geom_quaternion_matrix(s->turns.quaternion[k], m);
        for (int c = 0; c < 9; ++c) ((float *)to)[c * n + k] = (float)(m[c] / s->coarse.edge);
    }
    if (status == ATN_OK) status = atn_array_map_write(s->grid, &to);
    for (int64_t k = 0; k < n && status == ATN_OK; ++k)
        for (int c = 0; c < 4; ++c) ((float *)to)[c * n + k] = (float)s->turns.quaternion[k][c];
    return status;
}

/* ---- kernels ---- */

static atn_status set_box(atn_kernel *k, const lattice_box *box) {
    return atn_kernel_give(k, ATN_NOTHING,
                           ATN_NUMBERS({"nx", box->size[0]}, {"ny", box->size[1]}, {"o_x", box->offset[0]},
                                       {"o_y", box->offset[1]}, {"o_z", box->offset[2]}));
}

static atn_status bind_near(atn_lattice *l, atn_kernel *k, const char *end, atn_array *last) {
    return atn_kernel_give(k,
                           ATN_ARRAYS({"start", l->start}, {end, last}, {AXES[0], l->axis[0]}, {AXES[1], l->axis[1]},
                                      {AXES[2], l->axis[2]}),
                           ATN_NOTHING);
}

static atn_status make_score(atn_lattice *l, lattice_slot *s) {
    int64_t n = s->turns.count;
    atn_array *all = NULL;
    atn_status status = vector(l, ATN_INT32, n * l->batch, NULL, &all);
    if (status == ATN_OK) status = atn_array_ready_device(all, true);
    if (status == ATN_OK) atn_array_written_on_device(all); /* as soon as it is read: megabytes need not be zero */
    if (status == ATN_OK) status = atn_array_view_matrix(all, l->batch, n, &s->score);
    if (status == ATN_OK)
        status = atn_array_view_matrix(all, (int64_t)l->batch * LATTICE_GROUPS, n / LATTICE_GROUPS, &s->rows);
    atn_array_free(all);
    if (status == ATN_OK) status = bind_near(l, s->score_kernel, "last", l->last);
    if (status == ATN_OK) status = set_box(s->score_kernel, &s->coarse);
    if (status != ATN_OK) return status;
    return atn_kernel_give(s->score_kernel, ATN_ARRAYS({"turn", s->turn}, {"table", s->table}, {"score", s->score}),
                           ATN_NOTHING);
}

static atn_status make_pick(atn_lattice *l, lattice_slot *s) {
    int64_t rows = (int64_t)l->batch * LATTICE_GROUPS;
    atn_status status = vector(l, ATN_INT32, rows, NULL, &s->best);
    if (status == ATN_OK) status = vector(l, ATN_SP, rows, NULL, &s->sum);
    if (status == ATN_OK)
        status = atn_kernel_give(s->pick_kernel,
                                 ATN_ARRAYS({"score", s->rows}, {"grid", s->grid}, {"best", s->best}, {"sum", s->sum}),
                                 ATN_NUMBERS({"unit", s->unit * LOG2E}, {"groups", LATTICE_GROUPS}));
    for (int k = 0; k < 4 && status == ATN_OK; ++k) {
        status = vector(l, ATN_SP, rows, NULL, &s->q[k]);
        if (status == ATN_OK) status = atn_array_view_matrix(s->q[k], l->batch, LATTICE_GROUPS, &s->q_rows[k]);
    }
    return status == ATN_OK ? lattice_bind_turns(s->pick_kernel, s->q, NULL, NULL) : status;
}

/* A kernel of EM steps, but for the turns. */
static atn_status make_steps(atn_lattice *l, lattice_slot *s, bool sharp, bool keep, atn_array *end, atn_kernel *k) {
    const lattice_packing *p = &s->packing[sharp];
    const bool *mirror = s->box.mirror;
    atn_status status = bind_near(l, k, "end", end);
    if (status == ATN_OK) status = set_box(k, &s->box);
    if (status != ATN_OK) return status;
    return atn_kernel_give(k, ATN_ARRAYS({"pull", s->pull[sharp]}),
                           ATN_NUMBERS({"keep", keep}, {"unit", p->unit}, {"log_low", p->log_low},
                                       {"log_step", p->log_step}, {"per_length", 1 / s->box.edge}, {"damp", DAMP},
                                       {"most", MOST_SHIFT * l->sharp}, {"fold_x", mirror[0]}, {"fold_y", mirror[1]},
                                       {"fold_z", mirror[2]}));
}

static atn_status make_follow(atn_lattice *l, lattice_slot *s) {
    lattice_follow *f = &s->follow;
    int64_t n = l->batch;
    atn_status status = vector(l, ATN_INT32, n, NULL, &f->end);
    if (status == ATN_OK) status = atn_array_create_matrix(l->device, ATN_SP, 4 * n, 1, 0, &f->turns);
    if (status == ATN_OK) status = atn_array_create_matrix(l->device, ATN_SP, 7 * n, 1, 0, &f->found);
    for (int k = 0; k < 4 && status == ATN_OK; ++k) {
        status = atn_array_view_block(f->turns, k * n, 0, n, 1, &f->q[k]);
        if (status == ATN_OK) status = atn_array_view_block(f->found, k * n, 0, n, 1, &f->fit[k]);
    }
    for (int k = 0; k < 3 && status == ATN_OK; ++k)
        status = atn_array_view_block(f->found, (4 + k) * n, 0, n, 1, &f->shift[k]);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) {
        status = make_steps(l, s, true, k > 0, f->end, f->kernel[k]);
        if (status == ATN_OK) status = lattice_bind_turns(f->kernel[k], f->q, f->shift, f->fit);
    }
    return status;
}

static atn_status make_refine(atn_lattice *l, lattice_slot *s) {
    atn_status status = ATN_OK;
    for (int k = 0; k < 4 && status == ATN_OK; ++k)
        status = atn_array_create_matrix(l->device, ATN_SP, l->batch, LATTICE_GROUPS, 0, &s->fit[k]);
    for (int k = 0; k < 3 && status == ATN_OK; ++k)
        status = atn_array_create_matrix(l->device, ATN_SP, l->batch, LATTICE_GROUPS, 0, &s->shift[k]);
    for (int kind = 0; kind < LATTICE_REFINES && status == ATN_OK; ++kind) {
        status = make_steps(l, s, kind == SHARP, kind > 0 && !l->alone, l->end, s->refine_kernel[kind]);
        if (status == ATN_OK) status = lattice_bind_turns(s->refine_kernel[kind], s->q_rows, s->shift, s->fit);
    }
    return status;
}

/* All that depends on how many atoms a batch has. */
static atn_status make_kernels(atn_lattice *l, lattice_slot *s) {
    atn_status status = make_score(l, s);
    if (status == ATN_OK) status = make_pick(l, s);
    if (status == ATN_OK) status = make_refine(l, s);
    if (status == ATN_OK && !l->alone) status = make_follow(l, s);
    return status;
}

static void free_all(atn_array **const arrays[], size_t count) {
    for (size_t k = 0; k < count; ++k) {
        atn_array_free(*arrays[k]);
        *arrays[k] = NULL;
    }
}

static void close_rows(lattice_slot *s) {
    atn_array **arrays[LATTICE_ROW_ARRAYS];
    lattice_follow *f = &s->follow;
    atn_array **const followed[] = {&f->q[0],     &f->q[1],   &f->q[2],   &f->q[3],     &f->fit[0],
                                    &f->fit[1],   &f->fit[2], &f->fit[3], &f->shift[0], &f->shift[1],
                                    &f->shift[2], &f->end,    &f->turns,  &f->found};
    lattice_row_arrays(s, arrays);
    free_all(arrays, LATTICE_ROW_ARRAYS);
    free_all(followed, sizeof followed / sizeof *followed);
}

static void close_near(atn_lattice *l) {
    atn_array **const arrays[] = {&l->axis[0], &l->axis[1], &l->axis[2], &l->start, &l->last, &l->end};
    lattice_few_free(l);
    free_all(arrays, sizeof arrays / sizeof *arrays);
    lattice_near_free(l->ctx, &l->near);
    lattice_near_free(l->ctx, &l->next);
    atn_free(l->ctx, l->found);
    atn_free(l->ctx, l->sure);
    l->found = NULL;
    l->sure = NULL;
}

/* ---- opening and closing ---- */

/* What every look at an atom needs, as the frame's settings have it. */
static void note_logarithms(atn_lattice *l, lattice_slot *s) {
    l->log_noise = 2 * log(l->info.noise) + log(l->info.depth_noise);
    s->log_any = log(s->symmetries / (8 * PI * PI));
    s->log_normal = log((double)s->symmetries * pow(2 * PI, 1.5) / (8 * PI * PI));
    s->log_square = log(l->sharp * l->sharp);
    s->log_volume = s->kind ? log(lattice_kind_volume(s->model.name, s->constant)) : 0;
}

static atn_status open_slot(atn_lattice *l, lattice_slot *s) {
    bool mirror[3];
    double shift = l->alone ? 0 : MOST_SHIFT * l->info.shift_noise / sqrt(2);
    double reach = l->info.cutoff + shift + 3.5 * l->info.shift_noise;
    l->sharp = l->alone ? l->info.shift_noise : l->info.shift_noise / sqrt(2);
    atn_status status = lattice_points_make(l->ctx, &s->model, s->constant, reach, &s->points);
    if (status != ATN_OK) return status;
    s->kind = s->model.points ? NULL : lattice_kind_find(s->model.name);
    if (s->kind) s->cell = lattice_kind_cell(s->kind, s->constant);
    if (s->kind) s->sites = lattice_kind_sites(s->kind, s->constant);
    s->symmetries = lattice_points_symmetry(&s->points, s->symmetry, mirror);
    note_logarithms(l, s);
    s->coarse = lattice_box_make(fmin(l->inner, l->info.cutoff), 0, l->info.shift_noise, mirror);
    s->box = lattice_box_make(l->info.cutoff, shift, l->sharp, mirror);
    status = lattice_turns_make(l->ctx, s->symmetries, (const double(*)[4])s->symmetry, l->fine ? l->fine : 1,
                                s > l->slot ? &s[-1].turns : NULL, &s->turns);
    if (status == ATN_OK && l->alone) status = put_number(l, s);
    if (status == ATN_OK) status = lattice_tables_put(l, s);
    if (status == ATN_OK) status = put_turns(l, s);
    return status == ATN_OK ? make_kernels(l, s) : status;
}

/* Atoms of a launch: scores of a batch stay near the cores that make them, and every core has some. */
int32_t lattice_batch_for(const atn_device_info *info) {
    if (!info->cpu) return DEVICE_BATCH;
    if (info->cores >= MOST_BATCH / CORE_BATCH) return MOST_BATCH;
    return info->cores * CORE_BATCH > LEAST_BATCH ? info->cores * CORE_BATCH : LEAST_BATCH;
}

static int32_t batch_now(const atn_lattice *l) {
    int32_t batch = lattice_batch_for(atn_device_get_info(l->device));
    if (l->learning && l->ranks && batch > l->ranks_batch) batch = l->ranks_batch;
    batch /= l->fine > 1 ? 4 : 1;
    int32_t most = atn_device_get_info(l->device)->cpu ? LEAST_BATCH : LEARNING_BATCH;
    return l->learning && batch > most ? most : batch;
}

/* Rows for a batch; the largest neighbourhoods make it end early. */
static atn_status open_near(atn_lattice *l) {
    l->batch = batch_now(l);
    l->room = (size_t)l->batch * 64 + ATN_LATTICE_MOST_NEIGHBOURS;
    atn_status status = vector(l, ATN_INT32, l->batch, NULL, &l->start);
    if (status == ATN_OK) status = vector(l, ATN_INT32, l->batch, NULL, &l->last);
    if (status == ATN_OK) status = vector(l, ATN_INT32, l->batch, NULL, &l->end);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis)
        status = vector(l, ATN_SP, (int64_t)l->room, NULL, &l->axis[axis]);
    if (status == ATN_OK) status = lattice_near_make(l->ctx, (size_t)l->batch, l->room, &l->near);
    if (status == ATN_OK) status = lattice_near_make(l->ctx, (size_t)l->batch, l->room, &l->next);
    if (status == ATN_OK) {
        l->found = atn_alloc(l->ctx, (size_t)l->batch * (size_t)l->info.models * sizeof *l->found);
        l->sure = atn_alloc(l->ctx, (size_t)l->batch);
        if (!l->found || !l->sure) status = ATN_ERR_MEMORY;
    }
    return status;
}

static void close_slot(atn_lattice *l, lattice_slot *s, bool again) {
    atn_array **const arrays[] = {&s->turn, &s->grid};
    close_rows(s);
    free_all(arrays, sizeof arrays / sizeof *arrays);
    if (!again) lattice_tables_free(l, s);
    atn_free(l->ctx, s->number);
    s->number = NULL;
    lattice_points_free(l->ctx, &s->points);
}

/* again: it is opened at once, and what tables need stays. */
static void close_all(atn_lattice *l, bool again) {
    for (int32_t m = 0; m < ATN_LATTICE_MOST_MODELS; ++m) close_slot(l, &l->slot[m], again);
    close_near(l);
    l->ready = false;
}

void lattice_engine_close(atn_lattice *l) { close_all(l, false); }

atn_status lattice_engine_open(atn_lattice *l) {
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_TABLES);
    close_all(l, l->learning);
    atn_status status = lattice_kernels_make(l);
    if (status == ATN_OK) status = open_near(l);
    l->search = LATTICE_ALL;
    for (int n = 0; n <= ATN_LATTICE_MOST_NEIGHBOURS; ++n) l->rise[n] = lgamma(n + l->shape) - lgamma(l->shape);
    l->info.rotations = 0;
    double mean = 0;
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
        l->slot[m].constant = l->info.constant[m];
        status = open_slot(l, &l->slot[m]);
        if (status == ATN_OK) l->info.expected[m] = l->slot[m].expected;
        l->slot[m].count = lattice_count_make(l->slot[m].expected, l->shape);
        mean += l->slot[m].expected / l->info.models;
        if (status == ATN_OK) l->info.rotations += l->slot[m].turns.count;
    }
    l->mean = lattice_count_make(mean, l->shape);
    if (!l->learning) lattice_tables_end(l);
    if (status != ATN_OK) lattice_engine_close(l);
    l->ready = status == ATN_OK;
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

atn_status lattice_engine_widen(atn_lattice *l) {
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_TABLES);
    atn_status status = ATN_OK;
    if (l->ready && l->batch != batch_now(l)) {
        close_near(l);
        status = open_near(l);
        for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
            close_rows(&l->slot[m]);
            status = make_kernels(l, &l->slot[m]);
        }
        if (status != ATN_OK) lattice_engine_close(l);
    }
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

void lattice_engine_free(atn_lattice *l) {
    lattice_engine_close(l);
    lattice_tables_end(l);
    lattice_kernels_free(l);
    for (int32_t m = 0; m < ATN_LATTICE_MOST_MODELS; ++m) lattice_turns_free(l->ctx, &l->slot[m].turns);
}

/* ---- running ---- */

/* What parts of a loop over the rows of a batch need. */
typedef struct putting {
    const atn_lattice *l;
    const lattice_near *near;
    int32_t *start, *last, *end;
    float *axis[3];
} putting;

static void put_part(void *user, int64_t from, int64_t to) {
    const putting *p = user;
    const lattice_near *near = p->near;
    for (int64_t k = from; k < to; ++k) {
        bool is = (size_t)k < near->atoms;
        p->start[k] = is ? near->start[k] : 0;
        p->last[k] = is ? near->inner[k] : 0;
        p->end[k] = is ? near->start[k + 1] : 0;
    }
    size_t low = (size_t)from < near->atoms ? (size_t)from : near->atoms;
    size_t high = (size_t)to < near->atoms ? (size_t)to : near->atoms;
    size_t first = (size_t)near->start[low], bytes = (size_t)(near->start[high] - near->start[low]) * sizeof(float);
    for (int axis = 0; axis < 3 && !near->staged; ++axis)
        memcpy(p->axis[axis] + first, near->axis[axis] + first, bytes);
}

atn_status lattice_engine_stage(atn_lattice *l, float *out[3]) {
    bool none = atn_device_get_info(l->device)->cpu;
    atn_status status = ATN_OK;
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) {
        void *to = NULL;
        if (!none) status = atn_array_map_write(l->axis[axis], &to);
        out[axis] = to;
    }
    return status;
}

atn_status lattice_engine_put(atn_lattice *l, const lattice_near *near) {
    void *start, *last = NULL, *end = NULL, *to;
    atn_status status = atn_array_map_write(l->start, &start);
    if (status == ATN_OK) status = atn_array_map_write(l->last, &last);
    if (status == ATN_OK) status = atn_array_map_write(l->end, &end);
    putting p = {.l = l, .near = near, .start = start, .last = last, .end = end};
    for (int axis = 0; axis < 3 && !near->staged && status == ATN_OK; ++axis) {
        status = atn_array_map_write(l->axis[axis], &to);
        p.axis[axis] = to;
    }
    if (status == ATN_OK) atn_parallel(l->batch, ROWS, put_part, &p);
    return status;
}

/* What the host looks at of a model's results. */
typedef struct shown {
    const int32_t *best;
    const float *sum;
    lattice_seen steps;
} shown;

static atn_status see(atn_array *const q[4], atn_array *const fit[4], atn_array *const shift[3], lattice_seen *out) {
    const void *from = NULL;
    atn_status status = ATN_OK;
    for (int k = 0; k < 4 && status == ATN_OK; ++k) {
        status = atn_array_map_read(q[k], &from);
        out->q[k] = from;
        if (status == ATN_OK) status = atn_array_map_read(fit[k], &from);
        out->fit[k] = from;
    }
    for (int k = 0; k < 3 && status == ATN_OK; ++k) {
        status = atn_array_map_read(shift[k], &from);
        out->shift[k] = from;
    }
    return status;
}

atn_status lattice_engine_see(const lattice_follow *f, lattice_seen *out) { return see(f->q, f->fit, f->shift, out); }

static atn_status show(const lattice_slot *s, shown *out) {
    const void *from = NULL;
    atn_status status = atn_array_map_read(s->best, &from);
    out->best = from;
    if (status == ATN_OK) status = atn_array_map_read(s->sum, &from);
    out->sum = from;
    return status == ATN_OK ? see(s->q, s->fit, s->shift, &out->steps) : status;
}

/* The average over rotations: around a candidate the likelihood is a normal distribution of rotation vectors, which is
 * L (2 pi)^(3/2) |A / s^2|^(-1/2) of 8 pi^2, once for each symmetry; over where the centre really is, which is off by
 * as much as any atom, exp(-t^2 / 2 s^2) (1 + sum w)^(-3/2). */
double lattice_engine_around(const atn_lattice *l, const lattice_slot *s, const lattice_seen *v, size_t k) {
    double s2 = l->sharp * l->sharp, turns = fmin(0, s->log_normal - 0.5 * ((double)v->fit[3][k] - 3 * s->log_square));
    double shift = 0;
    for (int c = 0; c < 3; ++c) shift += (double)v->shift[c][k] * (double)v->shift[c][k];
    return l->alone ? turns : turns - 0.5 * shift / s2 - 1.5 * log(1 + (double)v->fit[1][k]);
}

/* The average over all rotations that were tried, which saw all neighbours: many may fit where those are few. */
static double average(const lattice_slot *s, const shown *v, size_t first, int32_t n) {
    double sum = 0, high = v->best[first];
    for (size_t k = first; k < first + LATTICE_GROUPS; ++k) high = fmax(high, v->best[k]);
    for (size_t k = first; k < first + LATTICE_GROUPS; ++k)
        sum += (double)v->sum[k] * exp(s->unit * (v->best[k] - high));
    return n * s->low + s->unit * high + log(sum / s->turns.count);
}

static void choose(const atn_lattice *l, const lattice_slot *s, const shown *v, size_t i, lattice_found *out) {
    double most = -INFINITY;
    size_t first = i * LATTICE_GROUPS, at = first;
    for (size_t k = first; k < first + LATTICE_GROUPS; ++k) {
        double here = (double)v->steps.fit[0][k] + lattice_engine_around(l, s, &v->steps, k);
        if (here > most) most = here, at = k;
    }
    int32_t n = l->near.start[i + 1] - l->near.start[i];
    bool coarse = s->turns.spread * l->info.cutoff > l->sharp; /* peaks may lie between the rotations that were tried */
    if (l->inner > l->info.cutoff) most = fmax(l->alone && !coarse ? -INFINITY : most, average(s, v, first, n));
    const lattice_seen *steps = &v->steps;
    *out = (lattice_found){.evidence = (float)most, .background = -INFINITY, .part = -1};
    out->around = (float)lattice_engine_around(l, s, steps, at);
    for (int k = 0; k < 3 && !l->alone; ++k) out->shift[k] = steps->shift[k][at];
    for (int k = 0; k < 4; ++k) out->quaternion[k] = steps->q[k][at];
    out->weight = steps->fit[1][at];
    out->spread = steps->fit[2][at];
}

/* The first step starts without a shift; who comes alone stays without. */
static atn_status run_slot(const lattice_slot *s) {
    atn_status status = atn_kernel_run(s->score_kernel);
    if (status == ATN_OK) status = atn_kernel_run(s->pick_kernel);
    for (int k = 0; k < WIDE_STEPS + SHARP_STEPS && status == ATN_OK; ++k)
        status = atn_kernel_run(s->refine_kernel[k >= WIDE_STEPS ? SHARP : k > 0]);
    for (int k = 0; k < 4 && status == ATN_OK; ++k) { /* results come as soon as they are there */
        status = atn_array_fetch(s->q[k], NULL);
        if (status == ATN_OK) status = atn_array_fetch(s->fit[k], NULL);
        if (status == ATN_OK && k < 3) status = atn_array_fetch(s->shift[k], NULL);
    }
    if (status == ATN_OK) status = atn_array_fetch(s->best, NULL);
    return status == ATN_OK ? atn_array_fetch(s->sum, NULL) : status;
}

/* What parts of a loop over the atoms of a batch need. */
typedef struct choosing {
    atn_lattice *l;
    int32_t model;
    shown v;
} choosing;

static void choose_part(void *user, int64_t from, int64_t to) {
    const choosing *c = user;
    atn_lattice *l = c->l;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        lattice_found *found = &l->found[i * (size_t)l->info.models + (size_t)c->model];
        if (l->search >> c->model & 1)
            choose(l, &l->slot[c->model], &c->v, i, found);
        else
            *found =
                (lattice_found){.evidence = NEVER, .background = -INFINITY, .part = -1, .quaternion = {1, 0, 0, 0}};
    }
}

atn_status lattice_engine_start(atn_lattice *l, const lattice_near *near) {
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_STARTED);
    atn_status status = atn_check_cancel(l->ctx);
    if (status == ATN_OK) status = lattice_engine_put(l, near);
    if (status == ATN_OK) status = lattice_few_bind(l, near->atoms);
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m)
        if (l->search >> m & 1) status = run_slot(&l->slot[m]);
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}

atn_status lattice_engine_finish(atn_lattice *l) {
    lattice_part before = lattice_spend(&l->spent, l->known, LATTICE_KERNELS);
    atn_status status = ATN_OK;
    for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
        choosing c = {.l = l, .model = m};
        if (l->search >> m & 1) status = show(&l->slot[m], &c.v);
        if (status == ATN_OK) atn_parallel((int64_t)l->near.atoms, LATTICE_PART, choose_part, &c);
    }
    lattice_spend_back(&l->spent, l->known, before);
    return status;
}
