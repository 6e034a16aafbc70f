/* What beams along +y meet first: the triangles are cut by planes of constant z, and each cut is a stretch of x over
 * which y is a line. The least y stays, with the cosine between the beam and the normal there. */
#include "sample/needle_parts.h"

#include "base/memory.h"
#include "base/size.h"

#include <math.h>

static const double FINEST = 0.003, LINE_STEP = 0.005; /* of x; between the lines of a scan */

/* Where an edge of a triangle crosses the plane: x, y, and the normal's y. */
typedef struct crossing {
    double x, y, n;
} crossing;

static void draw_line(const needle_map *map, size_t line, const crossing *a, const crossing *b) {
    if (a->x > b->x) {
        const crossing *held = a;
        a = b;
        b = held;
    }
    double from = ceil(a->x / map->step), to = floor(b->x / map->step);
    if (from < 0) from = 0;
    if (to > (double)map->columns - 1) to = (double)map->columns - 1;
    for (double at = from; at <= to; ++at) {
        double x = at * map->step, share = b->x > a->x ? (x - a->x) / (b->x - a->x) : 0;
        size_t cell = line * map->columns + (size_t)at;
        float y = (float)(a->y + share * (b->y - a->y));
        if (y >= map->depth[cell]) continue;
        map->depth[cell] = y;
        map->cosine[cell] = (float)fabs(a->n + share * (b->n - a->n));
    }
}

static double z_of(const needle_map *map, size_t line) {
    double off = (double)(line % NEEDLE_LINES) - NEEDLE_LINES / 2;
    return (double)(line / NEEDLE_LINES) * map->scan_step + off * map->z_step;
}

static void cut_triangle(const needle_map *map, size_t line, double z, const double *const p[3],
                         const double *normals) {
    crossing at[3];
    int crossings = 0;
    for (int a = 0; a < 3; ++a) {
        int b = (a + 1) % 3;
        if ((p[a][2] <= z) == (p[b][2] <= z)) continue;
        double share = (z - p[a][2]) / (p[b][2] - p[a][2]);
        at[crossings++] = (crossing){.x = p[a][0] + share * (p[b][0] - p[a][0]),
                                     .y = p[a][1] + share * (p[b][1] - p[a][1]),
                                     .n = normals[3 * a + 1] + share * (normals[3 * b + 1] - normals[3 * a + 1])};
    }
    if (crossings == 2) draw_line(map, line, &at[0], &at[1]);
}

static void draw_triangle(const needle_map *map, const double *const p[3], const double *normals) {
    double low = fmin(p[0][2], fmin(p[1][2], p[2][2])), high = fmax(p[0][2], fmax(p[1][2], p[2][2]));
    double half = (NEEDLE_LINES - 1) / 2 * map->z_step, scans = (double)(map->lines / NEEDLE_LINES);
    double from = ceil((low - half) / map->scan_step), to = floor((high + half) / map->scan_step);
    if (from < 0) from = 0;
    if (to > scans - 1) to = scans - 1;
    for (double scan = from; scan <= to; ++scan)
        for (size_t k = 0; k < NEEDLE_LINES; ++k) {
            size_t line = (size_t)scan * NEEDLE_LINES + k;
            double z = z_of(map, line);
            if (z >= low && z <= high) cut_triangle(map, line, z, p, normals);
        }
}

atn_status needle_map_make(const atn_ctx *ctx, const needle_mesh *placed, const double spacing[3],
                           const int64_t shape[3], needle_map *out) {
    double parts = ceil(spacing[0] / FINEST);
    size_t bytes;
    *out = (needle_map){.columns = (size_t)shape[2] * (size_t)parts, .lines = (size_t)shape[0] * NEEDLE_LINES};
    out->parts = (size_t)parts;
    out->step = spacing[0] / parts;
    out->scan_step = spacing[2];
    out->z_step = LINE_STEP;
    if (!atn_size_mul(out->columns, out->lines, &bytes) || !atn_size_mul(bytes, sizeof(float), &bytes))
        return atn_fail_memory(ctx, SIZE_MAX, "what the beams meet");
    out->depth = atn_alloc(ctx, bytes);
    out->cosine = atn_alloc(ctx, bytes);
    if (!out->depth || !out->cosine) {
        needle_map_free(ctx, out);
        return ATN_ERR_MEMORY;
    }
    for (size_t k = 0; k < out->columns * out->lines; ++k) out->depth[k] = INFINITY, out->cosine[k] = 0;
    for (size_t k = 0; k < placed->triangles; ++k) {
        const double *p[3];
        for (size_t c = 0; c < 3; ++c) p[c] = placed->position + 3 * (size_t)placed->triangle[3 * k + c];
        draw_triangle(out, p, placed->normals + 9 * k);
    }
    return ATN_OK;
}

void needle_map_free(const atn_ctx *ctx, needle_map *map) {
    atn_free(ctx, map->depth);
    atn_free(ctx, map->cosine);
    *map = (needle_map){0};
}
