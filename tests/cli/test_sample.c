/* attune sample as people call it: what it refuses, what it leaves in the folder, the same bytes from the same seed. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

KIT_TEST(what_it_refuses) {
    static const cli_refusal CASES[] = {
        {"sample", 2, "attune sample: needs scans|needle|fringes|atoms"},
        {"sample scan -o @/x", 2, "there is no sample 'scan'; did you mean 'scans'?"},
        {"sample frogs -o @/x", 2, "there is no sample 'frogs'; there are scans, needle, fringes, atoms"},
        {"sample scans -o @/x --grains 3", 2, "--grains does not apply to scans, only to atoms"},
        {"sample fringes -o @/x --missing 0.1", 2, "--missing does not apply to fringes, only to needle, atoms"},
        {"sample scans", 2, "the output folder is missing: -o DIR"},
        {"sample scans -o @/x --size 0", 2, "--size cannot be '0'; it takes a whole number from 1"},
        {"sample scans -o @/x --noise -1", 2, "--noise cannot be '-1'; it takes a number from 0"},
        {"sample scans -o @/x --noise inf", 2, "--noise cannot be infinite"},
        {"sample scans -o @/x --noise nan", 2, "--noise cannot be 'nan'"},
        {"sample scans -o @/x --overlap 0", 2, "--overlap cannot be '0'; it takes a number from 0.1 to 1"},
        {"sample scans -o @/x --turn 181", 2, "--turn cannot be '181'; it takes degrees from 0 to 180, or any"},
        {"sample scans -o @/x --turn some", 2, "--turn cannot be 'some'"},
        {"sample scans -o @/x --seed -1", 2, "--seed cannot be '-1'"},
        {"sample needle -o @/x --size 128x1024", 2, "--size cannot be '128x1024'; it takes SCANSxROWSxCOLUMNS"},
        {"sample needle -o @/x --size 8x8x-8", 2, "--size cannot be '8x8x-8'"},
        {"sample needle -o @/x --size 7x64x64", 2, "each from 8 to 65536"},
        {"sample needle -o @/x --size 8x64x64x2", 2, "--size cannot be"},
        {"sample needle -o @/x --gauge 19", 2, "--gauge cannot be '19'; it takes 20 to 34"},
        {"sample needle -o @/x --gauge 25.5", 2, "--gauge cannot be '25.5'"},
        {"sample needle -o @/x --bevel 0", 2, "--bevel cannot be '0'; it takes a number from 5 to 89"},
        {"sample needle -o @/x --bevel 90", 2, "--bevel cannot be '90'"},
        {"sample needle -o @/x --bevel 7", 1, "the bevel would be 4.19 mm long, the scan is 3"},
        {"sample needle -o @/x --bend 1", 2, "--bend cannot be '1'; it takes a number from 5"},
        {"sample needle -o @/x --tilt 31", 2, "--tilt cannot be '31'; it takes a number from 0 to 30"},
        {"sample needle -o @/x --roll 181", 2, "--roll cannot be '181'; it takes degrees from 0 to 180, or any"},
        {"sample needle -o @/x --from side", 2, "--from cannot be 'side'"},
        {"sample needle -o @/x --noise 5", 2, "--noise cannot be '5'; it takes a number from 0 to 4"},
        {"sample needle -o @/x --missing 1", 2, "--missing cannot be '1'; it takes a number from 0 to 0.9"},
        {"sample needle -o /dev/null/x --size 8x8x8", 1, "/dev/null/x: the folder cannot be created"},
        {"sample fringes -o @/x --size 20", 2, "--size cannot be '20'; it takes HxW"},
        {"sample fringes -o @/x --size 2x2x2", 2, "it takes HxW"},
        {"sample fringes -o @/x --steps 2", 2, "--steps cannot be '2'; it takes a number from 3 to 64"},
        {"sample fringes -o @/x --steps 4.5", 2, "--steps takes a whole number"},
        {"sample fringes -o @/x --mask 1", 2, "--mask cannot be '1'"},
        {"sample fringes -o @/x --surface hill", 2, "it takes peaks|tilt|zernike|steps|shear"},
        {"sample atoms -o @/x --size 0", 2, "--size cannot be '0'"},
        {"sample atoms -o @/x --noise 1,2,3", 2, "--noise cannot be '1,2,3'; it takes angstrom from 0"},
        {"sample atoms -o @/x --noise -1", 2, "--noise cannot be '-1'"},
        {"sample atoms -o @/x --noise nan", 2, "--noise cannot be 'nan'"},
        {"sample atoms -o @/x --lattice bct", 2, "--lattice cannot be 'bct'; it takes bcc, fcc, hcp"},
        {"sample atoms -o @/x --lattice bcc,,fcc", 2, "--lattice cannot be 'bcc,,fcc'"},
        {"sample atoms -o @/x --lattice bcc,fcc --constant 3", 2, "a length above 0 for each lattice"},
        {"sample atoms -o @/x --constant 0", 2, "--constant cannot be '0'"},
        {"sample atoms -o @/x --grains 0", 2, "--grains cannot be '0'"},
        {"sample atoms -o @/x --grains 5000", 2, "--grains takes up to 4096"},
        {"sample atoms -o @/x --efficiency 0", 2, "--efficiency cannot be '0'"},
        {"sample atoms -o @/x --missing 0.3 --efficiency 0.7", 2, "one of them is enough"},
        {"sample atoms -o @/x --background 1", 2, "--background cannot be '1'"},
        {"sample atoms -o @/x --species Xx:1", 2, "--species cannot be 'Xx:1'; it takes elements"},
        {"sample atoms -o @/x --species Al:0", 2, "--species cannot be 'Al:0'"},
        {"sample atoms -o @/x --species Al,Al", 2, "--species cannot be 'Al,Al'"},
        {"sample scans -o /dev/null/x --size 10", 1, "/dev/null/x: the folder cannot be created"},
    };
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

static char *read_file(const char *name, size_t *length) {
    char path[512], *data;
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path, 1 << 22, &data, length));
    return data;
}

static void compare_files(const char *const *names, size_t count, const char *one, const char *two) {
    for (size_t k = 0; k < count; ++k) {
        char path[128];
        size_t a, b;
        snprintf(path, sizeof path, "%s/%s", one, names[k]);
        char *first = read_file(path, &a);
        snprintf(path, sizeof path, "%s/%s", two, names[k]);
        char *second = read_file(path, &b);
        assert_int_equal(a, b);
        assert_memory_equal(first, second, a);
        atn_free(cli_ctx, first);
        atn_free(cli_ctx, second);
    }
}

KIT_TEST(a_folder_of_scans) {
    cli_does("sample scans -o @/new/folder --size 200 --turn 25 --seed 5", "source.ply: 200 points");
    json_t *truth = cli_object("sample scans -o @/again/ --size 200 --turn 25 --seed 5 --json");
    static const char *const NAMES[] = {"source.ply", "target.ply", "truth.json"};
    compare_files(NAMES, 3, "new/folder", "again");
    json_t *rows = json_object_get(truth, "transform");
    assert_int_equal(json_array_size(rows), 4);
    for (size_t k = 0; k < 4; ++k) assert_int_equal(json_array_size(json_array_get(rows, k)), 4);
    assert_true(fabs(json_number_value(json_object_get(truth, "turn_deg")) - 25) < 1e-9);
    assert_true(fabs(json_number_value(json_object_get(truth, "overlap")) - 0.65) < 0.03);
    assert_true(json_number_value(json_object_get(truth, "noise")) == 0.002);
    assert_int_equal(json_integer_value(json_object_get(truth, "seed")), 5);
    assert_int_equal(json_integer_value(json_object_get(truth, "size")), 200);
    json_decref(truth);
    cli_does("sample scans -o @/again --size 7", "truth.json"); /* replaced */
    cli_does("info @/again/source.ply", "points    7");
}

KIT_TEST(a_needle_and_its_scans) {
    static const char *const NAMES[] = {"truth.json", "model.stl", "model.ply", "scan/volume.json", "scan/0011.png"};
    cli_does("sample needle -o @/n1 --size 12x64x48 --seed 5 --roll 10 --missing 0.2",
             "n1/scan: 12 scans of 64 x 48 (rows x columns)");
    json_t *truth = cli_object("sample needle -o @/n2 --size 12x64x48 --seed 5 --roll 10 --missing 0.2 --json");
    compare_files(NAMES, sizeof NAMES / sizeof *NAMES, "n1", "n2");
    json_t *rows = json_object_get(truth, "transform"), *shape = json_object_get(truth, "shape");
    assert_int_equal(json_array_size(rows), 4);
    assert_int_equal(json_integer_value(json_array_get(shape, 1)), 64);
    assert_true(fabs(json_number_value(json_object_get(truth, "roll_deg"))) <= 10);
    assert_true(json_number_value(json_array_get(json_object_get(truth, "spacing"), 2)) == 0.25);
    assert_true(json_is_true(json_object_get(truth, "bevel_visible")));
    assert_true(json_is_true(json_object_get(truth, "tip_in_scan")));
    assert_int_equal(json_array_size(json_object_get(truth, "missing")), 2);
    assert_int_equal(json_integer_value(json_object_get(truth, "gauge")), 25);
    json_decref(truth);
    cli_does("info @/n1/scan", "0.05625 x 0.0375 x 0.25 mm");
    cli_does("sample needle -o @/n1 --size 12x32x32", "truth.json"); /* replaced */
    cli_does("info @/n1/scan", "32 x 32");
    cli_refuses("sample needle -o @/n1 --size 8x32x32", 1, "scan/0008.png: is not a scan of this volume");
}

KIT_TEST(a_folder_of_fringes) {
    cli_does("sample fringes -o @/one --size 20x30 --noise 0.1 --mask 0.2 --steps 5 --seed 3 --precision 64",
             "one/frames: 5 steps");
    json_t *truth = cli_object("sample fringes -o @/two --size 20x30 --noise 0.1 --mask 0.2 --steps 5 --seed 3 "
                               "--precision 64 --json");
    static const char *const NAMES[] = {"wrapped.npy", "truth.npy", "mask.npy", "frames/step05.png", "truth.json"};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k) {
        char one[64], two[64];
        size_t a, b;
        snprintf(one, sizeof one, "one/%s", NAMES[k]);
        snprintf(two, sizeof two, "two/%s", NAMES[k]);
        char *first = read_file(one, &a), *second = read_file(two, &b);
        assert_int_equal(a, b);
        assert_memory_equal(first, second, a);
        atn_free(cli_ctx, first);
        atn_free(cli_ctx, second);
    }
    assert_true(json_number_value(json_object_get(truth, "wavelength")) == 632.8e-9);
    assert_int_equal(json_array_size(json_object_get(truth, "steps_deg")), 5);
    json_decref(truth);
    cli_does("info @/one/wrapped.npy", "<f8");
    cli_does("info @/one/mask.npy", "shape  (20, 30)");
    cli_does("info @/one/frames", "scans       5\nsize        20 x 30 (rows x columns)");
    cli_does("sample fringes -o @/two --surface shear --size 9x9", "two/truth.npy: radians");
    cli_does("info @/two/truth.npy", "<f4");
}

KIT_TEST(a_frame_of_atoms) {
    static const char *const NAMES[] = {"frame.pos",    "labels.npy",  "quaternions.npy", "grains.npy",
                                        "boundary.npy", "ranges.rrng", "truth.json"};
    cli_does("sample atoms -o @/one --size 500 --lattice bcc,hcp --grains 4 --noise 0.5,0.2 --missing 0.5 --seed 2",
             "frame.pos: 500 atoms");
    json_t *truth = cli_object("sample atoms -o @/two --size 500 --lattice bcc,hcp --grains 4 --noise 0.5,0.2 "
                               "--efficiency 0.5 --seed 2 --json");
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k) {
        char one[64], two[64];
        size_t a, b;
        snprintf(one, sizeof one, "one/%s", NAMES[k]);
        snprintf(two, sizeof two, "two/%s", NAMES[k]);
        char *first = read_file(one, &a), *second = read_file(two, &b);
        assert_int_equal(a, b);
        assert_memory_equal(first, second, a);
        atn_free(cli_ctx, first);
        atn_free(cli_ctx, second);
    }
    assert_string_equal(json_string_value(json_object_get(truth, "lattice")), "bcc,hcp");
    assert_int_equal(json_array_size(json_object_get(truth, "a")), 2);
    assert_int_equal(json_array_size(json_object_get(truth, "noise")), 2);
    assert_int_equal(json_array_size(json_object_get(truth, "grains")), 4);
    assert_true(json_number_value(json_object_get(truth, "efficiency")) == 0.5);
    assert_int_equal(json_object_size(json_object_get(truth, "species")), 5);
    assert_int_equal(json_integer_value(json_object_get(truth, "atoms")), 500);
    json_decref(truth);
    cli_does("info @/one/frame.pos", "points    500");
    cli_does("info @/one/frame.pos", "peaks       26.");
    cli_does("info @/one/frame.pos --ranges @/one/ranges.rrng", "ranged    500 of 500 ions, 100.00 %");
    cli_refuses("info @/one/labels.npy --ranges @/one/ranges.rrng", 2, "--ranges does not apply to");
    cli_refuses("info @/one/frame.pos --ranges @/one/labels.npy", 1, "labels.npy");
    json_t *told = cli_object("info @/one/frame.pos --ranges @/one/ranges.rrng --json");
    const json_t *composition = json_object_get(told, "composition");
    json_int_t sum = 0, above = 0;
    for (size_t k = 0; k < 5; ++k)
        sum += json_integer_value(json_object_get(json_array_get(json_object_get(composition, "ions"), k), "ions"));
    for (size_t k = 0; k < 5; ++k)
        above += json_integer_value(json_object_get(json_array_get(json_object_get(told, "peaks"), k), "ions"));
    assert_int_equal(sum, 500);
    assert_int_equal(json_integer_value(json_object_get(composition, "ranged")), 500);
    assert_true(above > 450 && above <= 500); /* nearly all of five elements are in five peaks */
    json_decref(told);
    cli_does("info @/one/labels.npy", "range  1 to 3");
    cli_does("info @/one/quaternions.npy", "shape  (500, 4)");
    cli_does("info @/one/ranges.rrng", "ions        5: Al, Co, Cr, Fe, Ni");
    json_t *ranges = cli_object("info @/one/ranges.rrng --json");
    assert_int_equal(json_array_size(json_object_get(ranges, "ranges")), 5);
    assert_int_equal(json_array_size(json_object_get(ranges, "ions")), 5);
    assert_int_equal(json_integer_value(json_object_get(ranges, "overlaps")), 0);
    json_decref(ranges);
}

KIT_TEST(stopping_is_1) {
    atn_ctx_cancel(cli_ctx);
    cli_refuses("sample atoms -o @/stopped --size 10", 1, "stopped");
    cli_refuses("sample scans -o @/stopped --size 10", 1, "stopped");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_it_refuses),        cmocka_unit_test(a_folder_of_scans),
                                       cmocka_unit_test(a_needle_and_its_scans), cmocka_unit_test(a_folder_of_fringes),
                                       cmocka_unit_test(a_frame_of_atoms),       cmocka_unit_test(stopping_is_1)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
