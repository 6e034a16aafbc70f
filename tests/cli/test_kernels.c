/* attune run, check, show and info: Listing 2 of the seed on NPY files, a table of wrong calls, what each prints. */
#include "clikit.h"

#include "base/file.h"
#include "num/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Listing 2 ---- */

static double at(const void *data, atn_type type, size_t k) {
    return type == ATN_SP ? (double)((const float *)data)[k] : ((const double *)data)[k];
}

/* c = A b for m rows of n, with `options`; every element within `tolerance` of the sum of |terms|. */
static void listing_2(atn_type type, size_t m, size_t n, const char *options, double tolerance) {
    size_t bytes = atn_type_bytes(type);
    char *A = malloc(m * n * bytes), *b = malloc(n * bytes), line[512];
    uint64_t seed = 42;
    for (size_t k = 0; k < m * n + n; ++k) {
        double number[2] = {2 * kit_uniform(&seed) - 1, 0};
        atn_element_store(type, number, 0, k < m * n ? A + k * bytes : b + (k - m * n) * bytes);
    }
    cli_save("A.npy", type, 2, (int64_t)n, (int64_t)m, A);
    cli_save("b.npy", type, 1, (int64_t)n, 1, b);
    snprintf(line, sizeof line,
             "run $/mv.xml --define USED_FLOAT=%s --bind A=@/A.npy --bind b=@/b.npy --out c=@/c.npy %s",
             atn_type_name(type), options);
    cli_does(line, "c");
    atn_npy c = cli_load("c.npy");
    assert_int_equal(c.type, type);
    assert_int_equal(c.dims, 1);
    assert_int_equal(c.shape[0], m);
    for (size_t row = 0; row < m; ++row) {
        double sum = 0, terms = 0;
        for (size_t k = 0; k < n; ++k) {
            double term = at(A, type, row * n + k) * at(b, type, k);
            sum += term;
            terms += fabs(term);
        }
        if (!(fabs(at(c.data, type, row) - sum) <= tolerance * terms))
            fail_msg("%zux%zu: c[%zu] is %.17g, %.17g is right", m, n, row, at(c.data, type, row), sum);
    }
    atn_npy_free(&c);
    free(A);
    free(b);
}

KIT_TEST(listing_2_runs_as_printed) {
    static const size_t sizes[][2] = {{1, 1}, {7, 5}, {1000, 777}, {2048, 2048}};
    atn_devices *devices;
    kit_ok(cli_ctx, atn_devices_find(cli_ctx, &devices));
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        const atn_device_info *info = atn_devices_info(devices, d);
        if (!kit_wants(info->backend)) continue;
        print_message("    on %s: %s\n", info->backend, info->name);
        char options[64];
        snprintf(options, sizeof options, "--device %d", (int)d);
        for (size_t k = 0; k < 4; ++k) {
            listing_2(ATN_SP, sizes[k][0], sizes[k][1], options, 1e-5);
            if (info->fp64) listing_2(ATN_DP, sizes[k][0], sizes[k][1], options, 1e-12);
        }
    }
    atn_devices_free(devices);
    listing_2(ATN_DP, 7, 5, "--oracle --json", 1e-15);
    listing_2(ATN_SP, 7, 5, "--device host --variant vec_q0=4,regs_p0=2 --json", 1e-5);
    listing_2(ATN_SP, 7, 5, "--device host --size A=7x5 --size c=7", 1e-5);
}

/* ---- run ---- */

static float NUMBERS[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

KIT_TEST(run_prints_json) {
    cli_save("A.npy", ATN_SP, 2, 4, 3, NUMBERS);
    json_t *root = cli_object("run scale --param factor=2.5 --bind A=@/A.npy --out B=@/B.npy --device host --json");
    assert_string_equal(json_string_value(json_object_get(root, "assumed")), "USED_FLOAT=SP");
    json_t *output = json_array_get(json_object_get(root, "outputs"), 0);
    assert_string_equal(json_string_value(json_object_get(output, "name")), "B");
    assert_string_equal(json_string_value(json_object_get(output, "type")), "SP");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(output, "shape"), 0)), 3);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(output, "shape"), 1)), 4);
    assert_true(json_is_real(json_object_get(root, "seconds")));
    assert_true(json_is_string(json_object_get(root, "variant")));
    assert_string_equal(json_string_value(json_object_get(root, "hit")), "estimate");
    json_decref(root);
    atn_npy b = cli_load("B.npy");
    for (int k = 0; k < 12; ++k) assert_true(((float *)b.data)[k] == 2.5f * NUMBERS[k]);
    atn_npy_free(&b);
}

KIT_TEST(run_says_where_its_variant_comes_from) {
#define SCALE "run scale --define USED_FLOAT=SP --param factor=2 --bind A=@/A.npy --out B=@/B.npy --device host "
    cli_save("A.npy", ATN_SP, 2, 4, 3, NUMBERS);
    cli_does(SCALE, "(estimate)");
    cli_does(SCALE "--explain", "scale at 4 x 3 on host (");
    cli_does(SCALE "--explain --json", "an estimate from its accesses");
    cli_does(SCALE "--variant plain --json", "\"hit\": \"given\"");
    cli_does(SCALE "--oracle --json", "\"hit\": \"none\"");
}

KIT_TEST(run_takes_complex_parameters) {
    float z[4] = {1, 2, 3, 4};
    cli_save("A.npy", ATN_SP2, 2, 2, 1, z);
    cli_does("run scale --define USED_FLOAT=SP2 --param factor=2-1i --bind A=@/A.npy --out B=@/B.npy --device host",
             "SP2");
    atn_npy b = cli_load("B.npy");
    const float *v = b.data;
    assert_true(v[0] == 4 && v[1] == 3 && v[2] == 10 && v[3] == 5);
    atn_npy_free(&b);
}

KIT_TEST(run_refuses) {
    double wide[3] = {1, 2, 3};
    int32_t start[] = {0, 2, 9}, column[] = {0, 7};
    cli_save("A.npy", ATN_SP, 2, 4, 3, NUMBERS);
    cli_save("b.npy", ATN_SP, 1, 4, 1, NUMBERS);
    cli_save("short.npy", ATN_SP, 1, 3, 1, NUMBERS);
    cli_save("wide.npy", ATN_DP, 1, 3, 1, wide);
    cli_save("start.npy", ATN_INT32, 1, 3, 1, start);
    cli_save("column.npy", ATN_INT32, 1, 2, 1, column);
    cli_save("two.npy", ATN_SP, 1, 2, 1, NUMBERS);
#define MV "run $/mv.xml --device host --define USED_FLOAT=SP --out c=@/never.npy "
    static const cli_refusal cases[] = {
        {MV "--bind A=@/A.npy --bind b=@/short.npy", 1,
         "MV: 'access_b' reads 'b' from 0 to 3 along axis 0; its Size(0) is 3"},
        {MV "--bind A=@/A.npy --bind b=@/wide.npy", 1, "'b' is a vector of SP; the file holds a vector of DP"},
        {MV "--bind A=@/b.npy --bind b=@/b.npy", 1, "'A' is a matrix of SP; the file holds a vector of SP"},
        {MV "--bind A=@/A.npy", 1, "nothing is bound to 'b', a vector of SP: --bind b=FILE.npy"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --bind d=@/b.npy", 1, "no DataObject 'd'; there is A, b, c"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --bind b=@/b.npy", 1, "'b' is bound twice"},
        {MV "--bind A=@/A.npy --bind b=@/none.npy", 1, "No such file"},
        {MV "--bind A=@/A.npy --bind b=@", 1, "is a directory"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --size A=9x9", 1, "'A' is 3x4 here, but 9x9 by --size"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --size c=2", 1,
         "'access_c' writes 'c' from 0 to 2 along axis 0; its Size(0) is 2"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --size c=2x2", 2, "'c' is a vector and takes c=LENGTH"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --size A=9", 2, "'A' is a matrix and takes A=ROWSxCOLUMNS"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --size c=99999999999999999999", 2, "takes c=LENGTH"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --size q=2", 1, "no DataObject 'q'"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --out b=@/never.npy", 1, "'b' is only read"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --out c=@/again.npy", 1, "'c' is written to two files"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --param s=1", 1, "no Parameter 's'; there is none"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --param s", 2, "--param cannot be 's'; it takes NAME=VALUE"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --param s=1,5", 2, "'1,5' is not a number"},
        {MV "--bind A=@/A.npy --bind =@/b.npy", 2, "takes NAME=VALUE"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --variant frogs=1", 1, "unknown knob 'frogs'"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --variant lanes_p0=64", 1, "the host has no lanes"},
        {"run $/mv.xml --device nonesuch --define USED_FLOAT=SP", 1, "nonesuch"},
        {"run $/mv.xml --device host", 1, "nothing is bound to 'A', a matrix of SP"},
        {"run $/mv.xml --device host --define OTHER=SP --bind b=@/wide.npy", 1,
         "'b' is a vector of SP (USED_FLOAT=SP by default); the file holds a vector of DP"},
        {"run @/none.xml", 1, "none.xml: no such file or shipped kernel: above, "},
        {"run", 2, "needs KERNEL"},
        {"run scale --define USED_FLOAT=SP --device host --bind A=@/A.npy --out B=@/never.npy", 1,
         "'factor' (SP) has no default"},
        {"run spmv --define USED_FLOAT=SP --device host --bind start=@/start.npy --bind column=@/column.npy --bind "
         "element=@/two.npy "
         "--bind x=@/two.npy --out y=@/never.npy",
         1, "computed accesses were out of range"},
        {"run spmv --variant guard=0 --device host --bind start=@/start.npy --bind column=@/column.npy --bind "
         "element=@/two.npy "
         "--bind x=@/two.npy --out y=@/never.npy", /* that it may go without must be earned */
         1, "computed accesses were out of range"},
        {"run spmv --define USED_FLOAT=SP --oracle --bind start=@/start.npy --bind column=@/column.npy --bind "
         "element=@/two.npy "
         "--bind x=@/two.npy --out y=@/never.npy",
         1, "computed accesses were out of range"},
        {"run $/mv.xml --device host --define USED_FLOAT=SP --bind A=@/A.npy --bind b=@/b.npy --out c=@/no/such/c.npy",
         1, "cannot be written"},
    };
    cli_refuses_all(cases, sizeof cases / sizeof *cases);
    char path[512];
    snprintf(path, sizeof path, "%s/never.npy", cli_dir);
    FILE *file = fopen(path, "rb");
    assert_null(file); /* nothing that failed left an output */
}

/* ---- check, show, info ---- */

KIT_TEST(check_says_all) {
    cli_does("check $/mv.xml --define USED_FLOAT=SP", "ok\n");
    cli_does("check gemm --define USED_FLOAT=DP2 --strict", "ok\n");
    cli_does("check $/filter.atn", "note: 'filter': no associative join is known of this scan; it runs step by step");
    cli_does("check $/mv.xml --define USED_FLOAT=SP --size A=7x5 --size b=5", "ok\n");
    cli_does("check $/mv.xml --define USED_FLOAT=SP --device host --json", "\"ok\": true");
    cli_refuses("check $/mv.xml --define USED_FLOAT=SP --size A=7x5 --size b=4", 1, "its Size(0) is 4");
    cli_refuses("check $/mv.xml --define USED_FLOAT=SP --param s=4", 1, "no Parameter 's'");
    cli_refuses("check $/mv.xml --define USED_FLOAT", 2, "takes NAME=VALUE");
    cli_does("check $/mv.xml", "ok (USED_FLOAT=SP by default)\n");
    cli_does("check $/mv.xml --json", "\"ok\": true");
    cli_result r = cli_run("check $/mv.xml --define USED_FLOAT=none");
    assert_int_equal(r.code, 1);
    assert_int_equal(cli_lines(r.out), 4);
    kit_contains(r.out, "mv.xml:3:62: 'A': no type 'none'");
    kit_contains(r.err, "mv.xml: 4 errors");
    cli_drop(&r);
    r = cli_run("check $/mv.xml --define USED_FLOAT=none --json");
    assert_int_equal(r.code, 1);
    json_t *root = json_loads(r.out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "diagnostics")), 4);
    assert_true(json_is_false(json_object_get(root, "ok")));
    json_decref(root);
    cli_drop(&r);
}

KIT_TEST(show_prints_source) {
    cli_does("show gemm --define USED_FLOAT=SP --dialect opencl", "__kernel void");
    cli_does("show gemm --define USED_FLOAT=SP --dialect cuda", "__global__");
    cli_does("show gemm --define USED_FLOAT=SP --dialect c", "call->next(");
    cli_does("show gemm --define USED_FLOAT=SP --device host", "call->next(");
    cli_does("show $/mv.xml --define USED_FLOAT=SP --dialect c --variant vec_q0=4", "Variant: vec_q0=4.");
    cli_does("show $/mv.xml --define USED_FLOAT=SP --dialect c --size A=1x1 --size b=1", "Variant: ");
    cli_does("show scale --define USED_FLOAT=SP --device host --param factor=1 --size A=7x9",
             "/* scale at 9 x 7 on host (");
    cli_does("show scale --define USED_FLOAT=SP --dialect c --param factor=1 --size A=7x9",
             "/* scale at 9 x 7 on host: ");
    cli_does("show scale --define USED_FLOAT=SP --dialect c", "not measured; sizes are not known. */");
    cli_does("show scale --define USED_FLOAT=SP --dialect c --json", "\"hit\": \"estimate\"");
    cli_does("show $/mv.xml --define USED_FLOAT=SP --dialect c --passes", "==== graph ====");
    cli_does("show $/mv.xml --define USED_FLOAT=SP --dialect c --passes", "==== source ====");
    cli_does("show $/mv.xml --define USED_FLOAT=SP --dialect cuda --passes --json", "\"program\": ");
    cli_refuses("show gemm --define USED_FLOAT=SP --dialect opencl --device host", 2, "--dialect opencl is not what");
    cli_refuses("show gemm --define USED_FLOAT=SP --dialect metal", 2,
                "--dialect cannot be 'metal'; it takes opencl|cuda|c");
    cli_refuses("show gemm --define USED_FLOAT=SP --dialect c --variant lanes_p0=8", 1, "the host has no lanes");
    cli_does("show gemm --dialect c", "/* USED_FLOAT=SP by default. */");
    cli_does("show $/mv.atn --as xml", "<Connection source=\"A.Size(1)\" destination=\"MV.Range(0)\"/>");
    cli_does("show $/mv.xml --as atn", "kernel MV(A: matrix T, b: vector T) -> c: vector T\n");
    cli_does("show $/mv.xml --as atn --json", "\"form\": \"atn\"");
    cli_refuses("show $/mv.xml --as c", 2, "--as cannot be 'c'; it takes xml|atn");
    cli_does("check $/mv.atn", "ok (USED_FLOAT=SP by default)\n");
    cli_does("check $/convolve.atn --size A=30x40 --size w=5x5", "ok (USED_FLOAT=SP by default)\n");
    cli_does("check $/mv.atn --size A=7x5 --size b=5", "ok (USED_FLOAT=SP by default)\n");
    cli_refuses("check $/mv.atn --size A=7x5 --size b=4", 1, "its Size(0) is 4");
    cli_refuses("check $/mv.atn --define USED_FLOAT=none", 1, "mv.atn: 3 errors");
    cli_does("show gemm --dialect c --json", "\"assumed\": \"USED_FLOAT=SP\"");
    cli_does("show gemm --dialect c --define USED_FLOAT=DP", "double");
    cli_refuses("show gemm --define USED_FLOAT=SP --dialect c --size A=3x3", 1,
                "the size of 'B' must be given: --size B=");
    cli_does("show add --define USED_FLOAT=SP --device host --size A=30x40",
             "add at 40 x 30 on host"); /* B takes A's */
    cli_does("check add --define USED_FLOAT=SP --size A=30x40", "ok");
    cli_does("show spmv --define USED_FLOAT=SP --device host --size start=101", "spmv at 100 x 1 x 32 on host");
}

static void put(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, text, strlen(text)));
}

KIT_TEST(info_says_what_is_in_it) {
    float odd[4] = {NAN, INFINITY, -2, 3};
    cli_save("odd.npy", ATN_SP, 2, 2, 2, odd);
    cli_does("info @/odd.npy", "type   SP (<f4)\nshape  (2, 2)\norder  C\nrange  -2 to 3\nNaN    1\nInf    1\n");
    cli_does("info @/odd.npy --json", "\"nan\": 1");
    cli_save("none.npy", ATN_INT32, 1, 0, 1, odd);
    cli_does("info @/none.npy", "shape  (0,)\norder  C\nrange  none\n");
    cli_does("info @/none.npy --json", "\"min\": null");
    put("scan.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                    "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\nend_header\n"
                    "1 2 3 0 0 1 9\n-1 2.5 3 0 0 1 9\nnan 2 3 0 0 1 9\n");
    cli_does("info @/scan.ply",
             "kind      point cloud (PLY, text)\npoints    2\nx         -1 to 1\ny         2 to 2.5\n"
             "z         3 to 3\nNaN       1\nInf       0\nalso has  normals, red\n");
    cli_does("info @/scan.ply --json", "\"format\": \"PLY, text\"");
    cli_does("info @/scan.ply --json", "\"normals\": true");
    put("none.csv", "x,y,z\n");
    cli_does("info @/none.csv", "points    0\nx         none\ny         none\nz         none\n");
    cli_does("info @/none.csv --json", "\"min\": null");
    put("frames.xyz", "1\n\nAl 1 2 3\n1\n\nNi 1 2 3\n");
    cli_does("info @/frames.xyz", "frames    2\n");
    put("cut.pos", "123");
    cli_refuses("info @/cut.pos", 1, "cut.pos: byte 0: 3 bytes after the last ion; an ion has 16");
    cli_refuses("info $/mv.xml", 1, "unknown file format");
    cli_refuses("info @", 1, "is a directory");
    cli_refuses("info @/nowhere.npy", 1, "No such file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_prints_json),
        cmocka_unit_test(run_says_where_its_variant_comes_from),
        cmocka_unit_test(run_takes_complex_parameters),
        cmocka_unit_test(run_refuses),
        cmocka_unit_test(check_says_all),
        cmocka_unit_test(show_prints_source),
        cmocka_unit_test(info_says_what_is_in_it),
        cmocka_unit_test(listing_2_runs_as_printed),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
