/* Grids from fine to coarse, n -> ceil(n / 2) a side until few cells are left, their arrays, and kernels bound to them.
 * Without weights a grid's equation is A u = hy(j) (2 u - left - right) + hx(i) (2 u - below - above): hx and hy are
 * the share of the last cell that lies inside the image, 1 for all others. */
#include "apps/unwrap/unwrap.h"

#include "base/memory.h"
#include "num/array.h"

#include <string.h>

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

/* The share of the last of `cells` cells of 2^level pixels that lies inside. */
static double last_share(int64_t pixels, int64_t cells, int32_t level) {
    double edge = (double)((int64_t)1 << level);
    return ((double)pixels - (double)(cells - 1) * edge) / edge;
}

static atn_status put_ends(atn_unwrap *u, int64_t cells, double all, double last, atn_array **out) {
    void *to;
    atn_status status = unwrap_array(u, u->type, cells, 0, out);
    if (status == ATN_OK) status = atn_array_map_write(*out, &to);
    for (int64_t k = 0; k < cells && status == ATN_OK; ++k) {
        double value = k == cells - 1 ? last : all;
        if (u->type == ATN_DP)
            ((double *)to)[k] = value;
        else
            ((float *)to)[k] = (float)value;
    }
    return status;
}

/* gx gy is a bound of the inverse diagonal: 1/4 inside; a border or a cell that is cut off weighs less. A product
 * needs no division, and none of its factors is below what keeps the smoother stable. */
static atn_status put_plain(atn_unwrap *u, int32_t n) {
    unwrap_level *l = &u->level[n];
    double x = last_share(u->width, l->width, n), y = last_share(u->height, l->height, n);
    atn_status status = put_ends(u, l->width, 1, x, &l->hx);
    if (status == ATN_OK) status = put_ends(u, l->height, 1, y, &l->hy);
    if (status == ATN_OK) status = put_ends(u, l->width, 1, 4 / (1 + 3 * x), &l->gx);
    if (status == ATN_OK) status = put_ends(u, l->height, 0.25, 1 / (1 + 3 * y), &l->gy);
    return status;
}

static bool is_last(const atn_unwrap *u, const unwrap_level *l) {
    return l->width * l->height <= u->options.coarsest || l->width <= 2 || l->height <= 2 ||
           l == &u->level[UNWRAP_LEVELS - 1];
}

atn_status unwrap_plane(atn_unwrap *u, const unwrap_level *l, atn_array **vector, atn_array **wide,
                        atn_array **matrix) {
    bool last = is_last(u, l);
    int64_t columns = last ? l->width : (l->width + 1) / 2 * 2, rows = last ? l->height : (l->height + 1) / 2 * 2;
    atn_status status = unwrap_array(u, u->type, columns * rows, 0, vector);
    if (status == ATN_OK && !*wide) status = atn_array_view_matrix(*vector, columns, rows, wide);
    if (status == ATN_OK && !*matrix) status = atn_array_view_block(*wide, 0, 0, l->width, l->height, matrix);
    return status;
}

static atn_status open_level(atn_unwrap *u, int32_t n) {
    unwrap_level *l = &u->level[n];
    atn_array *wide = NULL;
    atn_status status = unwrap_plane(u, l, &l->vector[0], &wide, &l->f);
    atn_array_free(wide);
    for (int k = 0; k < 2 && status == ATN_OK; ++k)
        status = unwrap_plane(u, l, &l->vector[1 + k], &l->wide[k], &l->at[k]);
    if (status == ATN_OK) status = atn_array_view_range(u->zeros, 0, l->width * l->height, &l->vector[3]);
    if (status == ATN_OK) status = atn_array_view_matrix(l->vector[3], l->width, l->height, &l->zero);
    return status == ATN_OK ? put_plain(u, n) : status;
}

atn_status unwrap_grid_open(atn_unwrap *u) {
    int64_t width = u->width, height = u->height;
    atn_status status = unwrap_array(u, u->type, u->pixels, 0, &u->zeros);
    for (u->levels = 0; status == ATN_OK;) {
        unwrap_level *l = &u->level[u->levels];
        l->width = width;
        l->height = height;
        status = open_level(u, u->levels++);
        if (is_last(u, l)) break;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    for (int k = 0; k < 2 && status == ATN_OK; ++k) status = unwrap_array(u, u->type, u->width, u->height, &u->u[k]);
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
    if (status == ATN_OK) status = unwrap_array(u, u->type, u->width, u->height, &u->clean);
    if (status == ATN_OK) status = unwrap_array(u, u->type, u->width, u->height, &u->grade);
    atn_array **vector[3] = {&u->x[0], &u->p[0], &u->q[0]}, **matrix[3] = {&u->x[1], &u->p[1], &u->q[1]};
    for (int k = 0; k < 3 && status == ATN_OK; ++k) {
        atn_array *wide = NULL;
        status = unwrap_plane(u, &u->level[0], vector[k], &wide, matrix[k]);
        atn_array_free(wide);
    }
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
        atn_array *all[] = {l->f,  l->at[0], l->at[1], l->zero, l->hx,      l->hy,     l->gx,
                            l->gy, l->wx,    l->wy,    l->inv,  l->wide[0], l->wide[1]};
        for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
        for (int k = 0; k < 4; ++k) atn_array_free(l->vector[k]);
    }
    for (int k = 0; k < 2; ++k) {
        unwrap_direct_free(u->ctx, &u->direct[k]);
        atn_array_free(u->x[1 - k]);
        atn_array_free(u->p[1 - k]);
        atn_array_free(u->q[1 - k]);
        atn_array_free(u->u[k]);
    }
    atn_array *rest[] = {u->zeros, u->psi, u->clean, u->out, u->mask, u->quality, u->grade};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; ++k) atn_array_free(rest[k]);
    unwrap_op *op = (unwrap_op *)&u->ops;
    for (size_t k = 0; k < sizeof u->ops / sizeof *op; ++k) unwrap_op_free(&op[k]);
    for (int k = 0; k < UNWRAP_ROWS; ++k) atn_array_free(u->rows[k]);
    for (int k = 0; k < 4; ++k) atn_array_free(u->scalar[k]);
}
