/* Grids from fine to coarse, n -> ceil(n / 2) a side until few cells are left, their arrays, and kernels bound to them.
 * Without weights a grid's equation is A u = hy(j) (2 u - left - right) + hx(i) (2 u - below - above): hx and hy are
 * the share of the last cell that lies inside the image, 1 for all others. */
#include "apps/unwrap/unwrap.h"

#include "base/memory.h"
#include "num/array.h"

#include <string.h>

/* Cells around a plane; where the first one lies, so that it begins a line of a cache; coefficients around a side. */
enum { FRAME = 2, START = 16, AROUND = 4 };
static const char *const NAMES[2][2] = {{"USED_FLOAT=SP", NULL}, {"USED_FLOAT=DP", NULL}};

atn_status unwrap_array(atn_unwrap *u, atn_type type, int64_t columns, int64_t rows, atn_array **out) {
    if (*out) return ATN_OK;
    return rows ? atn_array_create_matrix(u->device, type, columns, rows, 0, out)
                : atn_array_create_vector(u->device, type, columns, out);
}

atn_status unwrap_op_make(atn_unwrap *u, unwrap_op *op, const char *kernel, const void *const *pairs) {
    atn_kernel_options options = {.defines = NAMES[u->type == ATN_DP]};
    atn_status status = atn_kernel_create(u->device, kernel, &options, &op->kernel);
    if (status == ATN_OK) atn_kernel_any_size(op->kernel); /* grids of all sizes share it */
    for (; status == ATN_OK && *pairs; pairs += 2) {
        union {
            const void *in;
            atn_array *array;
        } bound = {.in = pairs[1]};
        status = atn_kernel_bind(op->kernel, pairs[0], bound.array);
    }
    if (status != ATN_OK) unwrap_op_free(op);
    return status;
}

void unwrap_op_free(unwrap_op *op) {
    atn_kernel_free(op->kernel);
    *op = (unwrap_op){0};
}

static int64_t even(int64_t cells) { return (cells + 1) / 2 * 2; }

/* The share of the last of `cells` cells of 2^level pixels that lies inside. */
static double last_share(int64_t pixels, int64_t cells, int32_t level) {
    double edge = (double)((int64_t)1 << level);
    return ((double)pixels - (double)(cells - 1) * edge) / edge;
}

static void put(const atn_unwrap *u, void *to, int64_t at, double value) {
    if (u->type == ATN_DP)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

/* Along one side: g, h and c of kernels/unwrap_sweep.atn, 0 beyond the border. gx gy is a bound of the inverse
 * diagonal: 1/4 inside; a border or a cell that is cut off weighs less. A product needs no division, and none of its
 * factors is below what keeps the smoother stable. */
static atn_status put_side(atn_unwrap *u, int64_t cells, double last, double scale, bool rows, atn_array **out) {
    void *to;
    int64_t length = even(cells) + 2 * AROUND;
    atn_status status = unwrap_array(u, u->type, rows ? length : 3, rows ? 3 : length, out);
    if (status == ATN_OK) status = atn_array_map_write(*out, &to);
    for (int64_t k = 0; k < length && status == ATN_OK; ++k) {
        int64_t cell = k - AROUND;
        bool inside = cell >= 0 && cell < cells;
        double h = cell == cells - 1 ? last : 1;
        double value[3] = {scale * 4 / (1 + 3 * h), h, cell < cells - 1 ? 1 : 0};
        for (int64_t n = 0; n < 3; ++n) put(u, to, rows ? n * length + k : k * 3 + n, inside ? value[n] : 0);
    }
    return status;
}

static atn_status put_plain(atn_unwrap *u, int32_t n) {
    unwrap_level *l = &u->level[n];
    l->share_x = last_share(u->width, l->width, n);
    l->share_y = last_share(u->height, l->height, n);
    atn_status status = put_side(u, l->width, l->share_x, 1, true, &l->x);
    return status == ATN_OK ? put_side(u, l->height, l->share_y, 0.25, false, &l->y) : status;
}

static bool is_last(const atn_unwrap *u, const unwrap_level *l) {
    return l->width * l->height <= u->options.coarsest || l->width <= 2 || l->height <= 2 ||
           l == &u->level[UNWRAP_LEVELS - 1];
}

/* Rows begin where vectors like it; the coarsest grid's lie close together, for the direct solution. */
atn_status unwrap_plane_open(atn_unwrap *u, const unwrap_level *l, unwrap_plane *p) {
    bool last = is_last(u, l);
    int64_t w = l->width, h = l->height, w2 = last ? w : even(w), h2 = last ? h : even(h), left = last ? FRAME : START;
    int64_t columns = last ? w + 2 * FRAME : (left + w2 + FRAME + START - 1) / START * START, rows = h2 + 2 * FRAME;
    atn_array *whole = NULL;
    if (p->vector) return ATN_OK;
    atn_status status = unwrap_array(u, u->type, columns * rows, 0, &p->vector);
    if (status == ATN_OK) status = atn_array_view_matrix(p->vector, columns, rows, &whole);
    if (status == ATN_OK) status = atn_array_view_block(whole, left - FRAME, 0, w + 2 * FRAME, h + 2 * FRAME, &p->all);
    if (status == ATN_OK) status = atn_array_view_block(whole, left - FRAME, 0, w2 + 2 * FRAME, rows, &p->room);
    if (status == ATN_OK) status = atn_array_view_block(whole, left, FRAME, w2, h2, &p->wide);
    if (status == ATN_OK) status = atn_array_view_block(whole, left, FRAME, w, h, &p->cells);
    atn_array_free(whole);
    return status;
}

void unwrap_plane_close(unwrap_plane *p) {
    atn_array *all[] = {p->all, p->room, p->wide, p->cells, p->vector};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    *p = (unwrap_plane){0};
}

static atn_status open_level(atn_unwrap *u, int32_t n) {
    unwrap_level *l = &u->level[n];
    atn_status status = unwrap_plane_open(u, l, &l->f);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = unwrap_plane_open(u, l, &l->at[k]);
    return status == ATN_OK ? put_plain(u, n) : status;
}

atn_array *unwrap_answer(const atn_unwrap *u) {
    return u->place < 2 ? u->u[u->place] : u->level[0].at[u->place - 2].cells;
}

atn_status unwrap_grid_open(atn_unwrap *u) {
    int64_t width = u->width, height = u->height;
    atn_status status = ATN_OK;
    for (u->levels = 0; status == ATN_OK;) {
        unwrap_level *l = &u->level[u->levels];
        l->width = width;
        l->height = height;
        status = open_level(u, u->levels++);
        if (is_last(u, l)) break;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    return status == ATN_OK ? unwrap_direct_make(u, false) : status;
}

atn_status unwrap_grid_weights(atn_unwrap *u) {
    atn_status status = ATN_OK;
    for (int32_t n = 0; n < u->levels && status == ATN_OK; ++n) {
        unwrap_level *l = &u->level[n];
        status = unwrap_array(u, u->type, l->width, l->height, &l->wx);
        if (status == ATN_OK) status = unwrap_array(u, u->type, l->width, l->height, &l->wy);
        if (status == ATN_OK) status = unwrap_array(u, u->type, l->width, l->height, &l->inv);
    }
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = unwrap_array(u, u->type, u->width, u->height, &u->u[k]);
    if (status == ATN_OK) status = unwrap_array(u, u->type, u->width, u->height, &u->zero);
    if (status == ATN_OK) status = unwrap_array(u, u->type, u->width, u->height, &u->clean);
    if (status == ATN_OK) status = unwrap_array(u, u->type, u->width, u->height, &u->grade);
    unwrap_plane *of_gradients[] = {&u->x, &u->p, &u->q};
    for (int k = 0; k < 3 && status == ATN_OK; ++k) status = unwrap_plane_open(u, &u->level[0], of_gradients[k]);
    return status;
}

static void close_ops(unwrap_ops *o) {
    unwrap_op *all = (unwrap_op *)o;
    for (size_t k = 0; k < sizeof *o / sizeof *all; ++k) unwrap_op_free(&all[k]);
}

void unwrap_grid_close(atn_unwrap *u) {
    unwrap_graphs_free(u);
    for (int32_t n = 0; n < u->levels; ++n) {
        unwrap_level *l = &u->level[n];
        for (int k = 0; k < 2; ++k) close_ops(&l->ops[k]);
        unwrap_plane_close(&l->f);
        for (int k = 0; k < 2; ++k) unwrap_plane_close(&l->at[k]);
        atn_array *all[] = {l->x, l->y, l->wx, l->wy, l->inv};
        for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    }
    unwrap_plane_close(&u->x);
    unwrap_plane_close(&u->p);
    unwrap_plane_close(&u->q);
    for (int k = 0; k < 2; ++k) {
        unwrap_direct_free(u->ctx, &u->direct[k]);
        atn_array_free(u->u[k]);
    }
    atn_array *rest[] = {u->zero, u->psi, u->clean, u->out, u->mask, u->quality, u->grade};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; ++k) atn_array_free(rest[k]);
    unwrap_op *op = (unwrap_op *)&u->ops;
    for (size_t k = 0; k < sizeof u->ops / sizeof *op; ++k) unwrap_op_free(&op[k]);
    for (int k = 0; k < UNWRAP_ROWS; ++k) atn_array_free(u->rows[k]);
    for (int k = 0; k < 4; ++k) atn_array_free(u->scalar[k]);
}
