/* The needle as a closed mesh. Around the axis go SIDES profiles, and each is a closed loop: along the outer wall, over
 * the blunt end, back through the lumen, over the cut z = (R - y) / tan(bevel). Both ways the grid closes on itself. */
#include "sample/needle_parts.h"

#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { SIDES = 96, ALONG_CUT = 40, ALONG_SHAFT = 46, ACROSS = 5 }; /* quads of a profile's pieces */
enum { WALL = ALONG_CUT + ALONG_SHAFT, LOOP = 2 * (WALL + ACROSS) };
static const double PI = 3.141592653589793, LENGTH = 4;

typedef struct tube {
    double outer, inner; /* radii */
    double flat;         /* 1 / tan(bevel) */
    double heel, length; /* where the cut ends, where the shaft does */
    double bend;         /* radius; 0: straight */
} tube;

/* Where on the loop something is: the radius and z, before the bend. */
static void loop_point(const tube *t, int k, double angle, double *radius, double *z) {
    bool back = k >= WALL + ACROSS;
    if (back) k -= WALL + ACROSS;
    if (k >= WALL) { /* over the end, or over the cut from the lumen outwards */
        double share = (double)(k - WALL) / ACROSS;
        *radius = back ? t->inner + share * (t->outer - t->inner) : t->outer + share * (t->inner - t->outer);
        *z = back ? t->flat * (t->outer - *radius * sin(angle)) : t->length;
        return;
    }
    if (back) k = WALL - k;
    *radius = back ? t->inner : t->outer;
    double from = t->flat * (t->outer - *radius * sin(angle)), to = t->heel + 0.5 * t->outer;
    if (k <= ALONG_CUT)
        *z = from + (to - from) * k / ALONG_CUT;
    else
        *z = to + (t->length - to) * (k - ALONG_CUT) / ALONG_SHAFT;
}

/* Behind the heel the axis is a circle, towards -y: turns about x by (z - heel) / bend. */
static double turn_at(const tube *t, double z) { return t->bend > 0 && z > t->heel ? (z - t->heel) / t->bend : 0; }

static void bent(const tube *t, double p[3]) {
    double turn = turn_at(t, p[2]), y = p[1];
    if (turn == 0) return;
    p[1] = t->bend * (cos(turn) - 1) + y * cos(turn);
    p[2] = t->heel + t->bend * sin(turn) + y * sin(turn);
}

/* The normal of the piece that quad k of the loop belongs to, at a place on it. */
static void normal_at(const tube *t, int k, double angle, double z, double n[3]) {
    double turn = turn_at(t, z), y = 0, along = 0;
    n[0] = 0;
    if (k >= LOOP - ACROSS) {
        double length = sqrt(1 + t->flat * t->flat);
        y = -t->flat / length;
        along = -1 / length;
    } else if (k >= WALL && k < WALL + ACROSS)
        along = 1;
    else {
        double side = k < WALL ? 1 : -1;
        n[0] = side * cos(angle);
        y = side * sin(angle);
    }
    n[1] = y * cos(turn) - along * sin(turn);
    n[2] = y * sin(turn) + along * cos(turn);
}

static void add_triangle(const tube *t, int k, const int corner[3][2], uint32_t *triangle, double *normals) {
    for (int c = 0; c < 3; ++c) {
        double angle = 2 * PI * corner[c][0] / SIDES, radius, z;
        int at = corner[c][1] % LOOP;
        loop_point(t, at, angle, &radius, &z);
        normal_at(t, k, angle, z, normals + 3 * c);
        triangle[c] = (uint32_t)(corner[c][0] % SIDES * LOOP + at);
    }
}

static void fill(const tube *t, needle_mesh *m) {
    double *p = m->position, *normals = m->normals;
    uint32_t *triangle = m->triangle;
    for (int i = 0; i < SIDES; ++i)
        for (int k = 0; k < LOOP; ++k, p += 3) {
            double angle = 2 * PI * i / SIDES, radius;
            loop_point(t, k, angle, &radius, &p[2]);
            p[0] = radius * cos(angle);
            p[1] = radius * sin(angle);
            bent(t, p);
            const int one[3][2] = {{i, k}, {i + 1, k}, {i + 1, k + 1}},
                      two[3][2] = {{i, k}, {i + 1, k + 1}, {i, k + 1}};
            add_triangle(t, k, one, triangle, normals);
            add_triangle(t, k, two, triangle + 3, normals + 9);
            triangle += 6;
            normals += 18;
        }
}

atn_status needle_mesh_make(const atn_ctx *ctx, const atn_needle_sample_settings *settings, const needle_truth *truth,
                            needle_mesh *out) {
    double bevel = settings->bevel_deg * PI / 180;
    tube t = {.outer = truth->outer / 2, .inner = truth->inner / 2, .flat = 1 / tan(bevel), .bend = settings->bend};
    t.heel = truth->bevel_length;
    t.length = LENGTH;
    *out = (needle_mesh){.vertices = SIDES * LOOP, .triangles = 2 * SIDES * LOOP};
    out->position = atn_alloc(ctx, out->vertices * 3 * sizeof(double));
    out->normals = atn_alloc(ctx, out->triangles * 9 * sizeof(double));
    out->triangle = atn_alloc(ctx, out->triangles * 3 * sizeof(uint32_t));
    if (!out->position || !out->normals || !out->triangle) {
        needle_mesh_free(ctx, out);
        return ATN_ERR_MEMORY;
    }
    fill(&t, out);
    return ATN_OK;
}

void needle_mesh_free(const atn_ctx *ctx, needle_mesh *mesh) {
    atn_free(ctx, mesh->position);
    atn_free(ctx, mesh->normals);
    atn_free(ctx, mesh->triangle);
    *mesh = (needle_mesh){0};
}

/* ---- files, little-endian whatever the machine ---- */

static void add_u32(atn_text *out, uint32_t value) {
    const char bytes[4] = {(char)(value & 255), (char)(value >> 8 & 255), (char)(value >> 16 & 255),
                           (char)(value >> 24)};
    atn_text_add_bytes(out, bytes, 4);
}

static void add_vector(atn_text *out, const double v[3]) {
    for (int d = 0; d < 3; ++d) {
        float value = (float)v[d];
        uint32_t bits;
        memcpy(&bits, &value, 4);
        add_u32(out, bits);
    }
}

static void facet_normal(const double *a, const double *b, const double *c, double n[3]) {
    double length = 0;
    for (int d = 0; d < 3; ++d) {
        int e = (d + 1) % 3, f = (d + 2) % 3;
        n[d] = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]);
        length += n[d] * n[d];
    }
    for (int d = 0; d < 3 && length > 0; ++d) n[d] /= sqrt(length);
}

static atn_status write_out(const atn_ctx *ctx, const char *path, atn_text *file) {
    atn_status status = atn_text_status(file);
    if (status == ATN_OK) status = atn_file_write(ctx, path, file->data, file->length);
    atn_text_free(file);
    return status;
}

atn_status atn_needle_sample_stl(const atn_needle_sample *sample, const char *path) {
    static const char head[80] = "attune sample needle, mm";
    const needle_mesh *m = &sample->mesh;
    atn_text file = {.ctx = sample->ctx};
    atn_text_add_bytes(&file, head, sizeof head);
    add_u32(&file, (uint32_t)m->triangles);
    for (size_t k = 0; k < m->triangles && !file.failed; ++k) {
        const double *corner[3];
        double normal[3];
        for (int c = 0; c < 3; ++c) corner[c] = m->position + 3 * (size_t)m->triangle[3 * k + (size_t)c];
        facet_normal(corner[0], corner[1], corner[2], normal);
        add_vector(&file, normal);
        for (int c = 0; c < 3; ++c) add_vector(&file, corner[c]);
        atn_text_add_bytes(&file, "\0", 2);
    }
    return write_out(sample->ctx, path, &file);
}

atn_status atn_needle_sample_ply(const atn_needle_sample *sample, const char *path) {
    const needle_mesh *m = &sample->mesh;
    atn_text file = {.ctx = sample->ctx};
    atn_text_printf(&file,
                    "ply\nformat binary_little_endian 1.0\ncomment attune sample needle, mm\nelement vertex %zu\n"
                    "property float x\nproperty float y\nproperty float z\nelement face %zu\n"
                    "property list uchar uint vertex_indices\nend_header\n",
                    m->vertices, m->triangles);
    for (size_t k = 0; k < m->vertices && !file.failed; ++k) add_vector(&file, m->position + 3 * k);
    for (size_t k = 0; k < m->triangles && !file.failed; ++k) {
        atn_text_add_bytes(&file, "\3", 1);
        for (size_t c = 0; c < 3; ++c) add_u32(&file, m->triangle[3 * k + c]);
    }
    return write_out(sample->ctx, path, &file);
}
