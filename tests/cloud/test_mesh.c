/* Points sampled from meshes: the triangles of every format, how evenly points lie on them, what is refused. */
#include "cloudkit.h"

#include "cloud/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A square in z = 0 from 0 to 2, as a face of four corners; a triangle in x = 0 with the area 2; one without area. All
 * formats name the same. */
static const kit_file MESHES[] = {
    KIT_FILE("a.obj", "f 5 1 1\n"
                      "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\n"
                      "vt 0 0\n"
                      "f 1/1 2/1/1 \\\n3//1 \\\n\n"
                      "f 1 3 4\n"
                      "f -5 -2 -1\n"
                      "f 1 1 2\nf 1 2\n"
                      "l 1 2\n"),
    KIT_FILE("a.ply", "ply\nformat ascii 1.0\n"
                      "element face 4\nproperty uchar red\nproperty list uchar int vertex_indices\n"
                      "element vertex 5\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
                      "1 4 0 1 2 3\n1 3 0 3 4\n1 3 0 0 1\n1 2 0 1\n"
                      "0 0 0\n2 0 0\n2 2 0\n0 2 0\n0 0 2\n"),
    KIT_FILE("b.ply", "ply\nformat binary_little_endian 1.0\n"
                      "element vertex 5\nproperty char x\nproperty char y\nproperty char z\n"
                      "element face 4\nproperty list uchar ushort vertex_index\nproperty uchar red\nend_header\n"
                      "\0\0\0\2\0\0\2\2\0\0\2\0\0\0\2"
                      "\4\0\0\1\0\2\0\3\0\377\3\0\0\3\0\4\0\377\3\0\0\0\0\1\0\377\0\377"),
    KIT_FILE("a.stl", "solid a\n"
                      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 2 0 0\nvertex 2 2 0\nendloop\nendfacet\n"
                      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 2 2 0\nvertex 0 2 0\nendloop\nendfacet\n"
                      "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 2 0\nvertex 0 0 2\nendloop\nendfacet\n"
                      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 2 0 0\nendloop\nendfacet\n"
                      "endsolid a\n"),
};
enum { N_MESHES = sizeof MESHES / sizeof *MESHES };

static atn_status sample_from(const atn_ctx *ctx, const kit_file *file, size_t points, uint64_t seed, atn_cloud **out) {
    source s;
    cloud_mesh mesh = {0};
    atn_cloud *corners = NULL;
    *out = NULL;
    atn_status status = source_of_bytes(ctx, file->name, file->bytes, file->length, &s);
    if (status == ATN_OK) status = cloud_mesh_read(&s, &mesh, &corners);
    if (status == ATN_OK) status = cloud_mesh_sample(&mesh, corners, file->name, points, seed, out);
    source_close(&s);
    cloud_mesh_free(&mesh);
    atn_cloud_free(corners);
    return status;
}

/* Two thirds of the points are on the square, to less than two points for each of its two triangles. */
KIT_TEST(samples_every_format) {
    static const size_t sizes[] = {0, 1, 2, 3, 10, 3000};
    atn_ctx *ctx = kit_ctx();
    for (size_t m = 0; m < N_MESHES; ++m)
        for (size_t size = 0; size < 6; ++size) {
            atn_cloud *cloud, *again, *other;
            kit_ok(ctx, sample_from(ctx, &MESHES[m], sizes[size], 1, &cloud));
            kit_ok(ctx, sample_from(ctx, &MESHES[m], sizes[size], 1, &again));
            kit_ok(ctx, sample_from(ctx, &MESHES[m], sizes[size], 2, &other));
            cloud_same(cloud, again, ~0u);
            assert_int_equal(atn_cloud_info_of(cloud).points, sizes[size]);
            assert_true(atn_cloud_info_of(cloud).normals);
            double on_square = 0;
            for (size_t k = 0; k < sizes[size]; ++k) {
                double x = cloud_get(cloud, ROLE_X, k), y = cloud_get(cloud, ROLE_Y, k),
                       z = cloud_get(cloud, ROLE_Z, k);
                bool square = z == 0 && cloud_get(cloud, ROLE_NZ, k) == 1;
                on_square += square;
                assert_true(x >= 0 && x <= 2 && y >= 0 && y <= 2 && z >= 0 && z <= 2);
                if (!square) assert_true(x == 0 && y + z <= 2 + 1e-12 && cloud_get(cloud, ROLE_NX, k) == 1);
            }
            if (fabs(on_square - (double)sizes[size] * 2 / 3) >= 4)
                fail_msg("%s: %g of %zu points", MESHES[m].name, on_square, sizes[size]);
            if (sizes[size] == 3000) assert_true(cloud_get(cloud, ROLE_X, 0) != cloud_get(other, ROLE_X, 0));
            atn_cloud_free(cloud), atn_cloud_free(again), atn_cloud_free(other);
        }
    kit_free(ctx);
}

/* The square is cut into triangles of very different sizes; 8 x 8 fields of it are counted. With points at random
 * chi-square would be about 63; even ones must stay below 63 - 4 deviations = 18, for every seed. */
KIT_TEST(lies_evenly) {
    static const kit_file file = KIT_FILE("a.obj", "v 0 0 0\nv 8 0 0\nv 8 8 0\nv 0 8 0\nv 7 1 0\nv 7.5 1.5 0\n"
                                                   "f 1 2 5\nf 2 6 5\nf 2 3 6\nf 3 4 6\nf 4 5 6\nf 4 1 5\n");
    enum { POINTS = 6400 };
    static const double MOST = 18;
    atn_ctx *ctx = kit_ctx();
    for (uint64_t seed = 0; seed < 20; ++seed) {
        atn_cloud *cloud;
        kit_ok(ctx, sample_from(ctx, &file, POINTS, seed, &cloud));
        double fields[64] = {0}, chi2 = 0, wanted = POINTS / 64.0;
        for (size_t k = 0; k < POINTS; ++k) {
            size_t x = (size_t)fmin(cloud_get(cloud, ROLE_X, k), 7), y = (size_t)fmin(cloud_get(cloud, ROLE_Y, k), 7);
            fields[8 * y + x] += 1;
        }
        for (size_t k = 0; k < 64; ++k) chi2 += (fields[k] - wanted) * (fields[k] - wanted) / wanted;
        if (!(chi2 < MOST)) fail_msg("seed %d: chi-square %g", (int)seed, chi2);
        atn_cloud_free(cloud);
    }
    kit_free(ctx);
}

/* Many triangles that are smaller than a point's share: every part of the strip gets its points. */
KIT_TEST(lies_evenly_on_small_triangles) {
    enum { STEPS = 2000, POINTS = 500, PARTS = 50 };
    static char text[STEPS * 64];
    size_t at = 0;
    for (int k = 0; k <= STEPS; ++k) at += (size_t)snprintf(text + at, sizeof text - at, "v %d 0 0\nv %d 1 0\n", k, k);
    for (int k = 0; k < STEPS; ++k)
        at += (size_t)snprintf(text + at, sizeof text - at, "f %d %d %d %d\n", 2 * k + 1, 2 * k + 3, 2 * k + 4,
                               2 * k + 2);
    kit_file file = {"a.obj", text, at};
    atn_ctx *ctx = kit_ctx();
    atn_cloud *cloud;
    kit_ok(ctx, sample_from(ctx, &file, POINTS, 9, &cloud));
    int parts[PARTS] = {0};
    for (size_t k = 0; k < POINTS; ++k) ++parts[(size_t)fmin(cloud_get(cloud, ROLE_X, k) / STEPS * PARTS, PARTS - 1)];
    for (size_t k = 0; k < PARTS; ++k) assert_true(parts[k] >= 9 && parts[k] <= 11); /* 10, give or take one */
    atn_cloud_free(cloud);
    kit_free(ctx);
}

/* Coordinates of any size: inside, finite, normals of length 1. */
KIT_TEST(samples_any_size) {
    static const char *const units[] = {"e30", "e-30", "e-320", "e307"};
    atn_ctx *ctx = kit_ctx();
    for (size_t u = 0; u < 4; ++u) {
        char text[256];
        const char *e = units[u];
        int length = snprintf(text, sizeof text, "v -9%s 0 0\nv 9%s 0 0\nv 0 9%s 9%s\nf 1 2 3\n", e, e, e, e);
        kit_file file = {"a.obj", text, (size_t)length};
        atn_cloud *cloud;
        kit_ok(ctx, sample_from(ctx, &file, 100, 1, &cloud));
        for (size_t k = 0; k < 100; ++k) {
            assert_true(cloud_get(cloud, ROLE_Y, k) == cloud_get(cloud, ROLE_Z, k));
            assert_true(fabs(cloud_get(cloud, ROLE_NZ, k) - sqrt(0.5)) < 1e-6);
        }
        atn_cloud_free(cloud);
    }
    kit_free(ctx);
}

KIT_TEST(refuses) {
#define PLY  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define FACE "element face 1\nproperty list uchar float vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n"
    static const struct {
        kit_file file;
        const char *part;
    } cases[] = {
        {KIT_FILE("a.ply", PLY "end_header\n0 0 0\n1 0 0\n0 1 0\n"), "a.ply: there are no triangles"},
        {KIT_FILE("a.ply", PLY FACE "3 0 1 3\n"), "a.ply:13: a face names vertex 3, counted from 0; there are 3"},
        {KIT_FILE("a.ply", PLY FACE "3 0 1 -1\n"), "a.ply:13: a face names the vertex -1"},
        {KIT_FILE("a.ply", PLY FACE "3 0 1 1.5\n"), "the vertex 1.5"},
        {KIT_FILE("a.ply", PLY FACE "3 0 1 nan\n"), "the vertex"},
        {KIT_FILE("a.ply", PLY FACE "3 0 1 1e30\n"), "the vertex 1e+30"},
        {KIT_FILE("a.ply", PLY FACE "3 0 1\n"), "a value is missing"},
        {KIT_FILE("a.ply", PLY FACE "3 0 1 1\n"), "none of the 1 triangles has an area"},
        {KIT_FILE("a.ply", PLY FACE "2 0 1\n"), "there are no triangles"},
        {KIT_FILE("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\nf 1 2 3\n"), "a.obj:4: a face names vertex 3"},
        {KIT_FILE("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n"), "a.obj:4: '0' names no vertex"},
        {KIT_FILE("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n"), "'-4' names no vertex"},
        {KIT_FILE("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x/3\n"), "'x' names no vertex"},
        {KIT_FILE("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999\n"), "vertex 1e+11"},
        {KIT_FILE("a.obj", "v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n"), "a.obj:2: z is NaN"},
        {KIT_FILE("a.xyz", "0 0 0\n1 1 1\n"), "a.xyz: there are no triangles"},
        {KIT_FILE("a.stl", "solid\nendsolid\n"), "there are no triangles"},
    };
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        atn_cloud *cloud;
        kit_fails(ctx, ATN_ERR_INPUT, cases[k].part, sample_from(ctx, &cases[k].file, 10, 1, &cloud));
        assert_null(cloud);
    }
    atn_cloud *cloud;
    kit_fails(ctx, ATN_ERR_IO, "/nowhere.ply", atn_cloud_sample_mesh(ctx, "/nowhere.ply", 1, 1, &cloud));
    assert_null(cloud);
    kit_fails(ctx, ATN_ERR_MEMORY, "", sample_from(ctx, &MESHES[0], SIZE_MAX / 2, 1, &cloud));
    kit_free(ctx);
}

static atn_status sample_some(atn_ctx *ctx, const void *given) {
    atn_cloud *cloud;
    atn_status status = sample_from(ctx, given, 20, 1, &cloud);
    atn_cloud_free(cloud);
    return status;
}

KIT_TEST(every_allocation_fails_once) {
    for (size_t m = 0; m < N_MESHES; ++m) cloud_walk(sample_some, &MESHES[m]);
}

/* Cut and spoiled at every byte: sampled or refused. */
KIT_TEST(takes_damage) {
    static const unsigned char spoilers[] = {0, 0xff, '\n', '9', '-', ' ', 0x80};
    enum { SPOILERS = sizeof spoilers };
    atn_ctx *ctx = kit_ctx();
    for (size_t m = 0; m < N_MESHES; ++m)
        for (size_t at = 0; at < MESHES[m].length; ++at)
            for (size_t k = 0; k <= SPOILERS; ++k) {
                size_t length = k < SPOILERS ? MESHES[m].length : at;
                char *copy = malloc(length + 1); /* so that reading behind it is noticed */
                memcpy(copy, MESHES[m].bytes, length);
                if (k < SPOILERS) copy[at] = (char)spoilers[k];
                kit_file file = {MESHES[m].name, copy, length};
                atn_cloud *cloud;
                atn_status status = sample_from(ctx, &file, 5, 1, &cloud);
                if (status != ATN_OK && status != ATN_ERR_INPUT)
                    fail_msg("%s spoiled at %zu: %s", file.name, at, atn_ctx_message(ctx));
                atn_cloud_free(cloud);
                free(copy);
            }
    kit_free(ctx);
}

KIT_TEST(samples_a_file) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), path[512];
    snprintf(path, sizeof path, "%s/a.obj", dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fwrite(MESHES[0].bytes, 1, MESHES[0].length, file);
    fclose(file);
    atn_cloud *a, *b;
    kit_ok(ctx, atn_cloud_sample_mesh(ctx, path, 100, 5, &a));
    kit_ok(ctx, sample_from(ctx, &MESHES[0], 100, 5, &b));
    cloud_same(a, b, ~0u);
    assert_string_equal(atn_cloud_info_of(a).format, "OBJ");
    atn_cloud_free(a), atn_cloud_free(b);
    kit_remove(dir);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_every_format),
        cmocka_unit_test(lies_evenly),
        cmocka_unit_test(lies_evenly_on_small_triangles),
        cmocka_unit_test(samples_any_size),
        cmocka_unit_test(refuses),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(takes_damage),
        cmocka_unit_test(samples_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
