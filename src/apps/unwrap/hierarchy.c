/* The number of grids, and the coefficients and margins of the finest one. */
#include "apps/unwrap/hierarchy.h"

#include "apps/unwrap/bound.h"

/* Cells around a plane; where the first one lies, so that it begins a line of a cache; coefficients around a side. */
enum { FRAME = 2, START = 16, AROUND = 4 };

static int64_t even(int64_t cells) { return (cells + 1) / 2 * 2; }

/* The share of the last of `cells` cells of 2^level pixels that lies inside. */
static double last_share(int64_t pixels, int64_t cells, int32_t level) {
    double edge = (double)((int64_t)1 << level);
    return ((double)pixels - (double)(cells - 1) * edge) / edge;
}

static void go_down(unwrap_coarsest *c) {
    c->width = (c->width + 1) / 2;
    c->height = (c->height + 1) / 2;
    ++c->levels;
}

unwrap_coarsest unwrap_coarsest_plain(int64_t width, int64_t height, int64_t most) {
    unwrap_coarsest c = {.width = width, .height = height, .levels = 1};
    while (c.width > 2 && c.height > 2 && even(c.width) * even(c.height) > most) go_down(&c);
    c.share_x = last_share(width, c.width, c.levels - 1);
    c.share_y = last_share(height, c.height, c.levels - 1);
    return c;
}

unwrap_coarsest unwrap_coarsest_weighted(int64_t width, int64_t height, int64_t most) {
    unwrap_coarsest c = {.width = width, .height = height, .levels = 1};
    while (!unwrap_coarsest_fits(&c) || c.width * c.height > most) go_down(&c);
    return c;
}

bool unwrap_coarsest_fits(const unwrap_coarsest *c) { return c->width <= UNWRAP_SIDE && c->height <= UNWRAP_SIDE; }

/* Along one side of the finest grid: g, h and c of kernels/unwrap_sweep.atn, 0 beyond the border. */
static atn_status put_side(atn_device *device, atn_type type, int64_t cells, double scale, atn_array **out) {
    void *to;
    int64_t length = even(cells) + 2 * AROUND;
    atn_status status = unwrap_array_make(device, type, length, 3, out);
    if (status == ATN_OK) status = atn_array_map_write(*out, &to);
    for (int64_t k = 0; k < 3 * length && status == ATN_OK; ++k) {
        int64_t cell = k % length - AROUND, row = k / length;
        double value = cell < 0 || cell >= cells ? 0 : row == 0 ? scale : row == 1 || cell < cells - 1 ? 1 : 0;
        if (type == ATN_DP)
            ((double *)to)[k] = value;
        else
            ((float *)to)[k] = (float)value;
    }
    return status;
}

/* Rows begin where vectors like it. */
static atn_status open_answer(atn_device *device, atn_type type, int64_t width, int64_t height, unwrap_grid *g) {
    int64_t columns = (START + even(width) + FRAME + START - 1) / START * START, rows = even(height) + 2 * FRAME;
    atn_status status = unwrap_array_make(device, type, columns, rows, &g->memory);
    if (status == ATN_OK)
        status = atn_array_view_block(g->memory, 0, START - FRAME, rows, even(width) + 2 * FRAME, &g->framed);
    return status == ATN_OK ? atn_array_view_block(g->memory, FRAME, START, height, width, &g->answer) : status;
}

atn_status unwrap_grid_open(atn_device *device, atn_type type, int64_t width, int64_t height, unwrap_grid *g) {
    atn_status status = put_side(device, type, width, 1, &g->x);
    if (status == ATN_OK) status = put_side(device, type, height, 0.25, &g->y);
    return status == ATN_OK ? open_answer(device, type, width, height, g) : status;
}

void unwrap_grid_close(unwrap_grid *g) {
    atn_array *all[] = {g->x, g->y, g->framed, g->answer, g->memory};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) atn_array_free(all[k]);
    *g = (unwrap_grid){0};
}
