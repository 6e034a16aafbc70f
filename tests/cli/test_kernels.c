/* attune run, check, show and info: Listing 2 of the seed on NPY files, a table of wrong calls, what each prints. */
#include "testkit.h"

#include "base/file.h"
#include "cli/cli.h"
#include "num/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

static char *dir;
static atn_ctx *ctx;

/* What a run left behind. */
typedef struct result {
    int code;
    char *out, *err; /* owned */
} result;

/* Runs `attune LINE`, words apart by single blanks; @ stands for the directory of the test, $ for that of its data. */
static result run_line(const char *line) {
    result r = {0};
    size_t out_bytes, err_bytes;
    FILE *out = open_memstream(&r.out, &out_bytes), *err = open_memstream(&r.err, &err_bytes);
    atn_text text = {.ctx = ctx};
    for (const char *c = line; *c; ++c) {
        if (*c == '@')
            atn_text_add(&text, dir);
        else if (*c == '$')
            atn_text_add(&text, ATN_SOURCE_DIR "/tests/data");
        else
            atn_text_add_bytes(&text, c, 1);
    }
    char *argv[MOST + 2] = {(char *)"attune"}, *rest = NULL;
    int argc = 1;
    for (char *word = strtok_r(text.data, " ", &rest); word && argc < MOST; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    r.code = atn_cli_run(ctx, argc, argv, out, err);
    fclose(out);
    fclose(err);
    atn_text_free(&text);
    return r;
}

static void drop(result *r) {
    free(r->out);
    free(r->err);
}

static size_t lines_in(const char *text) {
    size_t lines = 0;
    for (; *text; ++text) lines += *text == '\n';
    return lines;
}

/* Runs; must end well. */
static void does(const char *line, const char *part) {
    result r = run_line(line);
    if (r.code != 0) fail_msg("attune %s: exit %d: %s", line, r.code, r.err);
    assert_string_equal(r.err, "");
    kit_contains(r.out, part);
    drop(&r);
}

static void refuses(const char *line, int code, const char *part) {
    result r = run_line(line);
    if (r.code != code) fail_msg("attune %s: exit %d, wanted %d: %s%s", line, r.code, code, r.out, r.err);
    kit_contains(r.err, part);
    if (lines_in(r.err) != 1) fail_msg("attune %s: not one line: %s", line, r.err);
    drop(&r);
}

static void save(const char *name, atn_type type, int32_t rank, int64_t columns, int64_t rows, void *data) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    atn_view view = {.data = data, .type = type, .rank = rank, .size = {columns, rows}, .pitch = columns};
    kit_ok(ctx, atn_npy_write(ctx, path, &view));
}

static atn_npy load(const char *name) {
    char path[512];
    atn_npy npy;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    kit_ok(ctx, atn_npy_read(ctx, path, &npy));
    return npy;
}

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
    save("A.npy", type, 2, (int64_t)n, (int64_t)m, A);
    save("b.npy", type, 1, (int64_t)n, 1, b);
    snprintf(line, sizeof line,
             "run $/mv.xml --define USED_FLOAT=%s --bind A=@/A.npy --bind b=@/b.npy --out c=@/c.npy %s",
             atn_type_name(type), options);
    does(line, "c");
    atn_npy c = load("c.npy");
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

static void listing_2_runs_as_printed(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {7, 5}, {1000, 777}, {2048, 2048}};
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
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

static void run_prints_json(void **state) {
    (void)state;
    save("A.npy", ATN_SP, 2, 4, 3, NUMBERS);
    result r = run_line(
        "run scale --define USED_FLOAT=SP --param factor=2.5 --bind A=@/A.npy --out B=@/B.npy --device host --json");
    assert_int_equal(r.code, 0);
    json_error_t error;
    json_t *root = json_loads(r.out, 0, &error), *output = json_array_get(json_object_get(root, "outputs"), 0);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(output, "name")), "B");
    assert_string_equal(json_string_value(json_object_get(output, "type")), "SP");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(output, "shape"), 0)), 3);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(output, "shape"), 1)), 4);
    assert_true(json_is_real(json_object_get(root, "seconds")));
    assert_true(json_is_string(json_object_get(root, "variant")));
    assert_string_equal(json_string_value(json_object_get(root, "hit")), "estimate");
    json_decref(root);
    drop(&r);
    atn_npy b = load("B.npy");
    for (int k = 0; k < 12; ++k) assert_true(((float *)b.data)[k] == 2.5f * NUMBERS[k]);
    atn_npy_free(&b);
}

static void run_says_where_its_variant_comes_from(void **state) {
    (void)state;
#define SCALE "run scale --define USED_FLOAT=SP --param factor=2 --bind A=@/A.npy --out B=@/B.npy --device host "
    save("A.npy", ATN_SP, 2, 4, 3, NUMBERS);
    does(SCALE, "(estimate)");
    does(SCALE "--explain", "scale at 4 x 3 on host (");
    does(SCALE "--explain --json", "an estimate from how it reads and writes");
    does(SCALE "--variant plain --json", "\"hit\": \"given\"");
    does(SCALE "--oracle --json", "\"hit\": \"none\"");
}

static void run_takes_complex_parameters(void **state) {
    (void)state;
    float z[4] = {1, 2, 3, 4};
    save("A.npy", ATN_SP2, 2, 2, 1, z);
    does("run scale --define USED_FLOAT=SP2 --param factor=2-1i --bind A=@/A.npy --out B=@/B.npy --device host", "SP2");
    atn_npy b = load("B.npy");
    const float *v = b.data;
    assert_true(v[0] == 4 && v[1] == 3 && v[2] == 10 && v[3] == 5);
    atn_npy_free(&b);
}

static void run_refuses(void **state) {
    (void)state;
    double wide[3] = {1, 2, 3};
    int32_t start[] = {0, 2, 9}, column[] = {0, 7};
    save("A.npy", ATN_SP, 2, 4, 3, NUMBERS);
    save("b.npy", ATN_SP, 1, 4, 1, NUMBERS);
    save("short.npy", ATN_SP, 1, 3, 1, NUMBERS);
    save("wide.npy", ATN_DP, 1, 3, 1, wide);
    save("start.npy", ATN_INT32, 1, 3, 1, start);
    save("column.npy", ATN_INT32, 1, 2, 1, column);
    save("two.npy", ATN_SP, 1, 2, 1, NUMBERS);
#define MV "run $/mv.xml --device host --define USED_FLOAT=SP --out c=@/never.npy "
    static const struct {
        const char *line;
        int code;
        const char *part;
    } cases[] = {
        {MV "--bind A=@/A.npy --bind b=@/short.npy", 1,
         "MV: 'access_b' reads 'b' from 0 to 3 along axis 0; its Size(0) is 3"},
        {MV "--bind A=@/A.npy --bind b=@/wide.npy", 1, "'b' is a vector of SP; the file holds a vector of DP"},
        {MV "--bind A=@/b.npy --bind b=@/b.npy", 1, "'A' is a matrix of SP; the file holds a vector of SP"},
        {MV "--bind A=@/A.npy", 1, "nothing is bound to 'b', a vector of SP: --bind b=FILE.npy"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --bind d=@/b.npy", 1, "no DataObject 'd'; there is A, b, c"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --bind b=@/b.npy", 1, "'b' is bound twice"},
        {MV "--bind A=@/A.npy --bind b=@/none.npy", 1, "No such file"},
        {MV "--bind A=@/A.npy --bind b=@", 1, "is a directory"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --size A=9x9", 1, "3 x 4 elements here, but 9 x 9 by --size"},
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
        {MV "--bind A=@/A.npy --bind b=@/b.npy --param s=1,5", 2, "'1,5' is no number"},
        {MV "--bind A=@/A.npy --bind =@/b.npy", 2, "takes NAME=VALUE"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --variant frogs=1", 1, "no knob 'frogs'"},
        {MV "--bind A=@/A.npy --bind b=@/b.npy --variant lanes_p0=64", 1, "the host has no lanes"},
        {"run $/mv.xml --device nonesuch --define USED_FLOAT=SP", 1, "nonesuch"},
        {"run $/mv.xml --device host", 1, "no type 'USED_FLOAT'"},
        {"run @/none.xml", 1, "none.xml: no such file, and no kernel that is shipped: add, "},
        {"run", 2, "needs KERNEL.xml"},
        {"run scale --define USED_FLOAT=SP --device host --bind A=@/A.npy --out B=@/never.npy", 1,
         "'factor' (SP) has no default"},
        {"run spmv --define USED_FLOAT=SP --device host --bind start=@/start.npy --bind column=@/column.npy --bind "
         "element=@/two.npy "
         "--bind x=@/two.npy --out y=@/never.npy",
         1, "computed accesses were out of range"},
        {"run spmv --define USED_FLOAT=SP --oracle --bind start=@/start.npy --bind column=@/column.npy --bind "
         "element=@/two.npy "
         "--bind x=@/two.npy --out y=@/never.npy",
         1, "computed accesses were out of range"},
        {"run $/mv.xml --device host --define USED_FLOAT=SP --bind A=@/A.npy --bind b=@/b.npy --out c=@/no/such/c.npy",
         1, "cannot be written"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) refuses(cases[k].line, cases[k].code, cases[k].part);
    char path[512];
    snprintf(path, sizeof path, "%s/never.npy", dir);
    FILE *file = fopen(path, "rb");
    assert_null(file); /* nothing that failed left an output */
}

/* ---- check, show, info ---- */

static void check_says_all(void **state) {
    (void)state;
    does("check $/mv.xml --define USED_FLOAT=SP", "ok\n");
    does("check gemm --define USED_FLOAT=DP2 --strict", "ok\n");
    does("check $/mv.xml --define USED_FLOAT=SP --size A=7x5 --size b=5", "ok\n");
    does("check $/mv.xml --define USED_FLOAT=SP --device host --json", "\"ok\": true");
    refuses("check $/mv.xml --define USED_FLOAT=SP --size A=7x5 --size b=4", 1, "its Size(0) is 4");
    refuses("check $/mv.xml --define USED_FLOAT=SP --param s=4", 1, "no Parameter 's'");
    refuses("check $/mv.xml --define USED_FLOAT", 2, "takes NAME=VALUE");
    result r = run_line("check $/mv.xml");
    assert_int_equal(r.code, 1);
    assert_int_equal(lines_in(r.out), 4);
    kit_contains(r.out, "mv.xml:3:62: 'A': no type 'USED_FLOAT'");
    kit_contains(r.err, "mv.xml: 4 errors");
    drop(&r);
    r = run_line("check $/mv.xml --json");
    assert_int_equal(r.code, 1);
    json_t *root = json_loads(r.out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "diagnostics")), 4);
    assert_true(json_is_false(json_object_get(root, "ok")));
    json_decref(root);
    drop(&r);
}

static void show_prints_source(void **state) {
    (void)state;
    does("show gemm --define USED_FLOAT=SP --dialect opencl", "__kernel void");
    does("show gemm --define USED_FLOAT=SP --dialect cuda", "__global__");
    does("show gemm --define USED_FLOAT=SP --dialect c", "#pragma omp");
    does("show gemm --define USED_FLOAT=SP --device host", "#pragma omp");
    does("show $/mv.xml --define USED_FLOAT=SP --dialect c --variant vec_q0=4", "Variant: vec_q0=4.");
    does("show $/mv.xml --define USED_FLOAT=SP --dialect c --size A=1x1 --size b=1", "Variant: ");
    does("show scale --define USED_FLOAT=SP --device host --param factor=1 --size A=7x9",
         "/* scale at 9 x 7 on host (");
    does("show scale --define USED_FLOAT=SP --dialect c", "not measured; sizes are not known. */");
    does("show scale --define USED_FLOAT=SP --dialect c --json", "\"hit\": \"estimate\"");
    does("show $/mv.xml --define USED_FLOAT=SP --dialect c --passes", "==== graph ====");
    does("show $/mv.xml --define USED_FLOAT=SP --dialect c --passes", "==== source ====");
    does("show $/mv.xml --define USED_FLOAT=SP --dialect cuda --passes --json", "\"program\": ");
    refuses("show gemm --define USED_FLOAT=SP --dialect opencl --device host", 2, "--dialect opencl is not what");
    refuses("show gemm --define USED_FLOAT=SP --dialect metal", 2,
            "--dialect cannot be 'metal'; it takes opencl|cuda|c");
    refuses("show gemm --define USED_FLOAT=SP --dialect c --variant lanes_p0=8", 1, "the host has no lanes");
    refuses("show gemm --dialect c", 1, "no type 'USED_FLOAT'");
    refuses("show gemm --define USED_FLOAT=SP --dialect c --size A=3x3", 1, "nothing is bound to 'B'");
}

static void put(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    kit_ok(ctx, atn_file_write(ctx, path, text, strlen(text)));
}

static void info_says_what_is_in_it(void **state) {
    (void)state;
    float odd[4] = {NAN, INFINITY, -2, 3};
    save("odd.npy", ATN_SP, 2, 2, 2, odd);
    does("info @/odd.npy", "type   SP (<f4)\nshape  (2, 2)\norder  C\nrange  -2 to 3\nNaN    1\nInf    1\n");
    does("info @/odd.npy --json", "\"nan\": 1");
    save("none.npy", ATN_INT32, 1, 0, 1, odd);
    does("info @/none.npy", "shape  (0,)\norder  C\nrange  none\n");
    does("info @/none.npy --json", "\"min\": null");
    put("scan.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                    "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\nend_header\n"
                    "1 2 3 0 0 1 9\n-1 2.5 3 0 0 1 9\nnan 2 3 0 0 1 9\n");
    does("info @/scan.ply", "kind      point cloud (PLY, text)\npoints    2\nx         -1 to 1\ny         2 to 2.5\n"
                            "z         3 to 3\nNaN       1\nInf       0\nalso has  normals\nleft out  red\n");
    does("info @/scan.ply --json", "\"format\": \"PLY, text\"");
    does("info @/scan.ply --json", "\"normals\": true");
    put("none.csv", "x,y,z\n");
    does("info @/none.csv", "points    0\nx         none\ny         none\nz         none\n");
    does("info @/none.csv --json", "\"min\": null");
    put("frames.xyz", "1\n\nAl 1 2 3\n1\n\nNi 1 2 3\n");
    does("info @/frames.xyz", "frames    2\n");
    put("cut.pos", "123");
    refuses("info @/cut.pos", 1, "cut.pos: byte 0: 3 bytes behind the last ion; an ion has 16");
    refuses("info $/mv.xml", 1, "not a kind of file that is read");
    refuses("info @", 1, "is a directory");
    refuses("info @/nowhere.npy", 1, "No such file");
}

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    dir = kit_tempdir();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    kit_remove(dir);
    kit_free(ctx);
    return 0;
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
    return cmocka_run_group_tests(tests, setup, teardown);
}
