/* attune unwrap as people call it: files of every kind, heights, masks, stacks of frames, streams, and what is wrong.
 */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"
#include "num/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { W = 24, H = 18 };
static const double TURN = 6.283185307179586;

static char *path_of(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    return path;
}

static void put(const char *name, const void *bytes, size_t length) {
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path_of(name), bytes, length));
}

static void save(const char *name, atn_type type, int64_t rows, int64_t columns, void *data) {
    atn_view view = {.type = type, .rank = 2, .size = {columns, rows}, .pitch = columns, .data = data};
    kit_ok(cli_ctx, atn_npy_write(cli_ctx, path_of(name), &view));
}

/* Three turns over the width, one over the height. */
static double truth(int64_t x, int64_t y) { return TURN * (3.0 * (double)x / W + (double)y / H) - 4; }

static float wrapped[W * H];

static void make_phase(void) {
    for (int64_t k = 0; k < W * H; ++k) wrapped[k] = (float)remainder(truth(k % W, k / W), TURN);
    save("phase.npy", ATN_SP, H, W, wrapped);
    put("phase.raw", wrapped, sizeof wrapped);
}

static double number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value)) fail_msg("%s is not a number", name);
    return json_number_value(value);
}

/* The answer in a file against the truth times `factor`, whatever its mean. */
static void check_answer(const char *name, double factor, double most) {
    atn_npy npy;
    double mean = 0, off = 0;
    kit_ok(cli_ctx, atn_npy_read(cli_ctx, path_of(name), &npy));
    assert_true(npy.shape[0] == H && npy.shape[1] == W);
    for (int pass = 0; pass < 2; ++pass)
        for (int64_t k = 0; k < W * H; ++k) {
            double value = npy.type == ATN_DP ? ((double *)npy.data)[k] : (double)((float *)npy.data)[k];
            double d = value - factor * truth(k % W, k / W);
            if (pass == 0)
                mean += d / (W * H);
            else
                off = fmax(off, fabs(d - mean));
        }
    if (off > most * factor) fail_msg("%s: %g off", name, off / factor);
    atn_npy_free(&npy);
}

KIT_TEST(what_is_refused) {
    static const cli_refusal CASES[] = {
        {"unwrap", 2, "needs IN"},
        {"unwrap @/phase.npy -o @/x.jpg", 2, "tif, npy, gwy, sdf, dat, vti or png"},
        {"unwrap @/phase.npy --preview @/x.tif", 2, "a preview is a png"},
        {"unwrap @/phase.npy --shape 3", 2, "it takes HxW"},
        {"unwrap @/phase.npy --remove sphere", 2, "piston|tilt|power|astigmatism|zernike:N"},
        {"unwrap @/phase.npy --remove zernike:0", 2, "zernike:1 to zernike:231"},
        {"unwrap @/phase.npy --remove zernike:x", 2, "zernike:1 to zernike:231"},
        {"unwrap @/phase.npy --zernike 232", 2, "--zernike cannot be above 231"},
        {"unwrap @/phase.npy --zernike 200", 1, "do not determine them"},
        {"unwrap @/phase.npy --aperture 3,4", 2, "it takes X,Y,R in pixels"},
        {"unwrap @/phase.npy --aperture 3,4,0", 2, "its radius must be above 0"},
        {"unwrap @/phase.npy --pixel 5km", 2, "632.8nm, 5um"},
        {"unwrap @/phase.npy --wavelength 5m", 2, "it takes a length"},
        {"unwrap @ --stream --report @/x.html", 2, "--report cannot be combined with --stream"},
        {"unwrap @/phase.npy --shape 3x4x5", 2, "it takes HxW"},
        {"unwrap @/phase.npy --scale pie", 2, "--scale cannot be 'pie'"},
        {"unwrap @/phase.npy --scale 0", 2, "--scale cannot be '0'"},
        {"unwrap @/phase.npy --steps 2", 2, "--steps cannot be '2'"},
        {"unwrap @/phase.npy --steps 0,90", 2, "--steps cannot be '0,90'"},
        {"unwrap @/phase.npy --steps 0,90,x", 2, "--steps cannot be '0,90,x'"},
        {"unwrap @/phase.npy --steps 4", 1, "--steps is for a folder"},
        {"unwrap @/phase.npy --quality modulation", 2, "--quality modulation does not apply to a phase"},
        {"unwrap @/phase.npy --saturation 3", 2, "--saturation does not apply to a phase, only to a folder of frames"},
        {"unwrap @/phase.npy --weights many", 2, "none|residues|variance|auto"},
        {"unwrap @/none.npy", 1, "none.npy: No such file"},
        {"unwrap @/phase.raw", 1, "raw float32 needs its shape"},
        {"unwrap @/phase.raw --shape 10x10", 1, "10x10 values of float32 are not the 1728 bytes"},
        {"unwrap - --stream", 2, "need --shape HxW"},
        {"unwrap @/phase.npy --stream", 1, "no folder"},
        {"unwrap @ --stream --preview @/x.png", 2, "--preview cannot be combined with --stream"},
        {"unwrap @ --stream -o @", 1, "-o must be another"},
    };
    make_phase();
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
}

KIT_TEST(files_in_and_out) {
    make_phase();
    json_t *r = cli_object("unwrap @/phase.npy -o @/u.npy --preview @/u.png --repeat 3 --json");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(r, "shape"), 0)), H);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(r, "shape"), 1)), W);
    assert_true(number(r, "residues") == 0 && number(r, "cut_length") == 0 && number(r, "islands") == 1);
    assert_true(number(r, "valid") == W * H && number(r, "invalid") == 0);
    assert_true(number(r, "residual_rms") < 1e-4 && number(r, "seconds") > 0 && number(r, "fps") > 0);
    assert_string_equal(json_string_value(json_object_get(r, "unit")), "rad");
    json_decref(r);
    check_answer("u.npy", 1, 1e-3);
    cli_does("info @/u.png", "PNG, 8 bits");
    cli_does("unwrap @/phase.raw --shape 18x24 -o @/u.tif", "residues    0");
    cli_does("info @/u.tif", "size        18 x 24 (rows x columns)");
    cli_does("unwrap @/phase.npy --congruent -o @/u.npy --precision 64 --wavelength 1e-6", "heights");
    cli_does("info @/u.npy", "<f8");
    check_answer("u.npy", 1e-6 / (2 * TURN), 1e-5);
    cli_does("unwrap @/phase.npy -o @/u.npy --wavelength 1e-6 --transmission", "m\n");
    check_answer("u.npy", 1e-6 / TURN, 1e-3);
    cli_does("unwrap @/phase.npy -o @/u.npy --wavelength 1e-6 --radians", "rad\n");
    check_answer("u.npy", 1, 1e-3);
    for (int k = 0; k < W * H; ++k) wrapped[k] /= (float)(TURN / 2);
    save("pi.npy", ATN_SP, H, W, wrapped);
    cli_does("unwrap @/pi.npy --scale pi -o @/u.npy", "residues    0");
    check_answer("u.npy", 1, 1e-3);
    uint16_t whole[W * H];
    for (int64_t k = 0; k < W * H; ++k) {
        double turns = truth(k % W, k / W) / TURN;
        whole[k] = (uint16_t)(65536 * (turns - floor(turns)));
    }
    save("whole.npy", ATN_U16, H, W, whole);
    cli_does("unwrap @/whole.npy -o @/u.npy", "16-bit values: full scale is taken as 2 pi");
    check_answer("u.npy", 1, 1e-3);
}

static json_t *term(json_t *r, size_t j) {
    return json_object_get(json_array_get(json_object_get(json_object_get(r, "zernike"), "terms"), j - 1), "value");
}

/* Figures, Zernike terms, what is removed, and the report. */
KIT_TEST(form_of_a_surface) {
    make_phase();
    json_t *r = cli_object("unwrap @/phase.npy --wavelength 632.8nm --pixel 5um --zernike 10 --json");
    assert_true(fabs(number(r, "pv") - (number(r, "max") - number(r, "min"))) < 1e-15);
    assert_true(number(r, "rms") > 0 && number(r, "sq") > 0 && number(r, "sa") <= number(r, "sq"));
    assert_true(number(r, "sq") <= number(r, "rms") * (1 + 1e-9));
    assert_true(fabs(json_real_value(json_array_get(json_object_get(r, "spacing"), 0)) - 5e-6) < 1e-15);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(json_object_get(r, "zernike"), "terms"), 3), "name")),
                        "power");
    assert_true(fabs(json_real_value(term(r, 2))) > 1e-9 && !term(r, 11));
    double rms = number(r, "rms");
    json_decref(r);
    for (int k = 0; k < 4; ++k) { /* it is a plane: nothing is left, whatever is removed */
        static const char *const LINES[] = {
            "unwrap @/phase.npy --wavelength 632.8nm --json --zernike 6 --remove tilt",
            "unwrap @/phase.npy --wavelength 632.8nm --json --zernike 6 --remove power",
            "unwrap @/phase.npy --wavelength 632.8nm --json --zernike 6 --remove astigmatism",
            "unwrap @/phase.npy --wavelength 632.8nm --json --zernike 6 --remove zernike:15"};
        r = cli_object(LINES[k]);
        assert_true(number(r, "rms") < 1e-4 * rms && number(r, "pv") < 1e-3 * rms);
        json_decref(r);
    }
    r = cli_object("unwrap @/phase.npy --aperture 11,9,6 --remove power --json -o @/u.npy");
    assert_true(json_is_null(json_object_get(r, "zernike")));
    json_decref(r);
    cli_does("info @/u.npy", "NaN    319"); /* of 432, 113 lie in the disc */
    cli_does("unwrap @/phase.npy --wavelength 632.8nm --pixel 5um --report @/r.html", "PV ");
    char *page = NULL;
    size_t length;
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path_of("r.html"), SIZE_MAX, &page, &length));
    static const char *const PARTS[] = {"Sq (levelled)", "astigmatism 0°", "showSurface", "632.8 nm", "attune unwrap"};
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; ++k) kit_contains(page, PARTS[k]);
    atn_free(cli_ctx, page);
}

/* Heights of a file are a phase at its wavelength, or at the one that is given. */
KIT_TEST(heights_in) {
    static const char SDF[] = "aISO-1.0\nNumPoints = 3\nNumProfiles = 1\nXscale = 1\nYscale = 1\nZscale = 1e-7\n"
                              "Compression = 0\nDataType = 7\n*\n0 1 4.5\n*\n";
    put("a.sdf", SDF, sizeof SDF - 1);
    make_phase();
    for (int npy = 0; npy < 2; ++npy) { /* opened again, they are not scaled twice */
        const char *lines[][4] = {
            {"unwrap @/phase.npy -o @/h.tif --wavelength 1e-6", "info @/h.tif", "unwrap @/h.tif -o @/u.npy",
             "unwrap @/h.tif -o @/u.npy --wavelength 1e-6"},
            {"unwrap @/phase.npy -o @/h.npy --wavelength 1e-6", "info @/h.npy", "unwrap @/h.npy -o @/u.npy",
             "unwrap @/h.npy -o @/u.npy --wavelength 1e-6"},
        };
        cli_does(lines[npy][0], "m\n");
        cli_does(lines[npy][1], " m");
        cli_refuses(lines[npy][2], 1, "heights in metres without a wavelength");
        cli_result again = cli_run(lines[npy][3]);
        assert_int_equal(again.code, 0);
        cli_drop(&again);
        check_answer("u.npy", 1e-6 / (2 * TURN), 1e-3);
    }
    cli_refuses("unwrap @/a.sdf", 1, "heights in metres without a wavelength");
    cli_result kept = cli_run("unwrap @/a.sdf --wavelength 6e-7"); /* over more than half a wavelength */
    assert_int_equal(kept.code, 0);
    assert_non_null(strstr(kept.err, "already unwrapped, kept"));
    cli_drop(&kept);
    cli_does("unwrap @/a.sdf --wavelength 6e-7 -o @/h.npy --remove piston --rewrap",
             "taken as phase at a wavelength of 6e-07 m");
    atn_npy npy;
    kit_ok(cli_ctx, atn_npy_read(cli_ctx, path_of("h.npy"), &npy));
    const float *h = npy.data;
    assert_true(fabsf(h[1] - h[0] - 1e-7f) < 1e-10f); /* 4.5 is 1.5 and half a wavelength */
    assert_true(fabsf(h[2] - h[1] - 0.5e-7f) < 1e-10f);
    atn_npy_free(&npy);
}

/* What a newcomer types is right with residues, too, and a surface that is opened again stays what it is. */
KIT_TEST(residues_and_surfaces) {
    cli_does("sample fringes -o @/spiral --size 60x80 --surface shear --noise 0.3", "truth.json");
    json_t *r = cli_object("unwrap @/spiral/wrapped.npy -o @/s.npy --json");
    int64_t cuts = (int64_t)number(r, "cut_length");
    assert_true(number(r, "residues") > 0 && cuts > 0 && number(r, "congruence_max") == 0);
    assert_true(json_is_true(json_object_get(r, "shortest")) && json_is_false(json_object_get(r, "smeared")));
    json_decref(r);
    r = cli_object("unwrap @/spiral/wrapped.npy --weights auto --congruent --json");
    assert_true((int64_t)number(r, "cut_length") == cuts);
    json_decref(r);
    cli_result plain = cli_run("unwrap @/spiral/wrapped.npy --weights none --json");
    assert_int_equal(plain.code, 0);
    assert_int_equal(cli_lines(plain.err), 1);
    assert_non_null(strstr(plain.err, "least squares without weights spreads the misfit"));
    assert_non_null(strstr(plain.out, "\"smeared\": true"));
    cli_drop(&plain);
    make_phase();
    cli_does("unwrap @/phase.npy -o @/u.npy", "");
    cli_result again = cli_run("unwrap @/u.npy -o @/v.npy --json");
    assert_int_equal(again.code, 0);
    assert_non_null(strstr(again.err, "taken as already unwrapped"));
    assert_non_null(strstr(again.out, "\"unwrapped\": true"));
    cli_drop(&again);
    atn_npy u, v;
    kit_ok(cli_ctx, atn_npy_read(cli_ctx, path_of("u.npy"), &u));
    kit_ok(cli_ctx, atn_npy_read(cli_ctx, path_of("v.npy"), &v));
    assert_memory_equal(u.data, v.data, W * H * sizeof(float));
    atn_npy_free(&u);
    atn_npy_free(&v);
    cli_does("unwrap @/u.npy -o @/v.npy --rewrap", "residues    0");
    check_answer("v.npy", 1, 1e-3);
    mkdir(path_of("again"), 0700);
    put("again/end", "", 0);
    cli_does("unwrap @/phase.npy -o @/again/u.npy", "");
    again = cli_run("unwrap @/again --stream -o @/kept");
    assert_int_equal(again.code, 0);
    assert_non_null(strstr(again.err, "u.npy spans more than 2 pi: taken as unwrapped"));
    cli_drop(&again);
}

/* A raw file that says its shape in its name needs no option; half turns are recognized, and said. */
KIT_TEST(raw_files_by_name) {
    static const double ALONG[2] = {0.1013, 0.0557}; /* turns from pixel to pixel: values are everywhere in -1 to 1 */
    float half[W * H];
    for (int k = 0; k < W * H; ++k) half[k] = (float)(2 * remainder(ALONG[0] * (k % W) + ALONG[1] * (k / W), 1));
    put("half.18x24.phase", half, sizeof half);
    put("half.phase", half, sizeof half);
    put("half.1x3.phase", half, sizeof half);
    json_t *r = cli_object("unwrap @/half.18x24.phase --scale pi --json");
    double span = TURN * (ALONG[0] * (W - 1) + ALONG[1] * (H - 1));
    assert_true(fabs(number(r, "max") - number(r, "min") - span) < 1e-3);
    json_decref(r);
    r = cli_object("unwrap @/half.18x24.phase --precision 64 --json");
    assert_true(fabs(number(r, "max") - number(r, "min") - span) < 1e-3);
    json_decref(r);
    cli_result plain = cli_run("unwrap @/half.18x24.phase");
    assert_int_equal(plain.code, 0);
    assert_non_null(strstr(plain.err, "taken in units of pi; --scale 1 takes them as radians"));
    cli_drop(&plain);
    r = cli_object("unwrap @/half.18x24.phase --scale 1 --json");
    assert_true(fabs(number(r, "max") - number(r, "min")) < 2.1);
    json_decref(r);
    for (int k = 0; k < W * H; ++k) half[k] = k % W < W / 2 ? -1 : 1; /* a step of 2 rad, and nothing between */
    put("step.18x24.phase", half, sizeof half);
    r = cli_object("unwrap @/step.18x24.phase --json");
    assert_true(fabs(number(r, "max") - number(r, "min") - 2) < 1e-3);
    json_decref(r);
    cli_refuses("unwrap @/half.phase", 1, "raw float32 needs its shape");
    cli_refuses("unwrap @/half.1x3.phase", 1, "raw float32 needs its shape");
}

KIT_TEST(masks_and_holes) {
    uint8_t mask[W * H];
    float quality[W * H];
    make_phase();
    for (int k = 0; k < W * H; ++k) mask[k] = k % W != 7; /* two islands */
    save("mask.npy", ATN_U8, H, W, mask);
    cli_does("unwrap @/phase.npy --mask @/mask.npy", "islands     2, solved separately");
    json_t *r = cli_object("unwrap @/phase.npy --mask @/mask.npy --weights auto --congruent --json -o @/m.npy");
    assert_true(number(r, "islands") == 2 && number(r, "invalid") == H && number(r, "cut_length") == 0);
    json_decref(r);
    memset(mask, 0, sizeof mask);
    save("mask.npy", ATN_U8, H, W, mask);
    cli_refuses("unwrap @/phase.npy --mask @/mask.npy -o @/never.tif", 1, "no pixel is valid");
    struct stat info;
    assert_int_equal(stat(path_of("never.tif"), &info), -1);
    for (int k = 0; k < W * H; ++k) quality[k] = 0;
    save("q.npy", ATN_SP, H, W, quality);
    cli_result zero =
        cli_run("unwrap @/phase.npy --quality @/q.npy --json"); /* no weight anywhere: said, not a crash */
    assert_true(zero.code == 1 || strstr(zero.out, "\"reason\": \"\"") == NULL);
    cli_drop(&zero);
    quality[5] = -1;
    save("q.npy", ATN_SP, H, W, quality);
    cli_refuses("unwrap @/phase.npy --quality @/q.npy", 1, "weights are not negative");
    save("q.npy", ATN_SP, W, H, quality);
    cli_refuses("unwrap @/phase.npy --quality @/q.npy", 1, "a quality of 24x18 for a phase of 18x24");
    cli_refuses("unwrap @/phase.npy --mask @/none.png", 1, "none.png");
    for (int k = 0; k < W * H; ++k) quality[k] = NAN;
    save("nan.npy", ATN_SP, H, W, quality);
    cli_refuses("unwrap @/nan.npy", 1, "no pixel is valid");
}

KIT_TEST(odd_sizes) {
    static float numbers[300];
    for (int k = 0; k < 300; ++k) numbers[k] = (float)remainder(0.3 * k, TURN);
    save("one.npy", ATN_SP, 1, 1, numbers);
    cli_does("unwrap @/one.npy", "size        1 x 1 (rows x columns), 1 valid pixels");
    save("row.npy", ATN_SP, 1, 300, numbers);
    json_t *r = cli_object("unwrap @/row.npy --json");
    assert_true(fabs(number(r, "max") - number(r, "min") - 0.3 * 299) < 0.01);
    json_decref(r);
    save("column.npy", ATN_SP, 300, 1, numbers);
    cli_does("unwrap @/column.npy --remove tilt", "size        300 x 1 (rows x columns)");
    for (int k = 0; k < 300; ++k) numbers[k] = 1.5f;
    save("flat.npy", ATN_SP, 15, 20, numbers);
    r = cli_object("unwrap @/flat.npy --json");
    assert_true(fabs(number(r, "max") - number(r, "min")) < 1e-5 && number(r, "residues") == 0);
    json_decref(r);
}

KIT_TEST(spoiled_files) {
    char *bytes;
    size_t length;
    make_phase();
    cli_does("unwrap @/phase.npy -o @/whole.tif", "");
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path_of("whole.tif"), 1 << 20, &bytes, &length));
    put("cut.tif", bytes, length / 2);
    atn_free(cli_ctx, bytes);
    cli_refuses("unwrap @/cut.tif", 1, "cut.tif: ");
    static unsigned char zygo[900] = {0x88, 0x1b, 0x03, 0x6f, [69] = 5, [71] = 5, [75] = 7}; /* 5 x 5, 7 bytes */
    put("wrong.dat", zygo, sizeof zygo);
    cli_refuses("unwrap @/wrong.dat", 1, "7 bytes of phase for 5 x 5 pixels");
}

KIT_TEST(stacks_of_frames) {
    static const char *const STEPS[] = {"3", "4", "5", "7"};
    for (size_t k = 0; k < sizeof STEPS / sizeof *STEPS; ++k) {
        char line[256];
        snprintf(line, sizeof line,
                 "sample fringes -o @/s%s --size 40x50 --surface tilt --turns 3 --mask 0.05 --steps %s", STEPS[k],
                 STEPS[k]);
        cli_does(line, "truth.json");
        snprintf(line, sizeof line, "unwrap @/s%s/frames --steps %s -o @/u.npy --quality modulation", STEPS[k],
                 STEPS[k]);
        cli_does(line, "100 pixels too dark");
    }
    cli_does("unwrap @/s7/frames", "7 frames; ");
    cli_refuses("unwrap @/s7/frames --steps 4", 1, "7 frames for 4 steps");
    cli_refuses("unwrap @/s7/frames --modulation 1000", 1, "no pixel is valid");
    cli_refuses("unwrap @/s7/frames --steps 0,0,0,0,0,0,0", 1, "three different angles");
    cli_does("unwrap @/s7/frames --saturation 250 --steps 0,51,103,154,206,257,309", "residues    0");
}

KIT_TEST(streams_of_stacks) {
    cli_does("sample fringes -o @/live --size 30x20 --surface tilt --turns 2 --steps 5", "truth.json");
    put("live/frames/end", "", 0);
    cli_does("unwrap @/live/frames --stream --steps 5 -o @/live/out --precision 64", "1 frames in");
    cli_does("info @/live/out/step05.npy", "(30, 20)");
    cli_result r = cli_run("unwrap @/live/frames --stream --steps 3 --json");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\"dropped\":2")); /* half a stack */
    cli_drop(&r);
    put("live/frames/step02.png", "no", 2);
    r = cli_run("unwrap @/live/frames --stream --steps 4 --patience 0.001");
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err, "frame 2 dropped"));
    assert_non_null(strstr(r.err, "frame 4 dropped: step04.png: another frame of its stack is missing"));
    cli_drop(&r);
}

KIT_TEST(streams) {
    make_phase();
    mkdir(path_of("in"), 0700);
    static const char *const NAMES[] = {"in/f1.npy", "in/f2.npy", "in/f10.npy"};
    for (size_t k = 0; k < 3; ++k) save(NAMES[k], ATN_SP, H, W, wrapped);
    put("in/f3.tif", "no", 2);
    float small[4] = {0};
    save("in/f4.npy", ATN_SP, 2, 2, small);
    put("in/end", "", 0);
    cli_result r = cli_run("unwrap @/in --stream --json --patience 0.01 -o @/out");
    assert_int_equal(r.code, 0);
    assert_int_equal(cli_lines(r.out), 6);
    assert_int_equal(cli_lines(r.err), 2);
    assert_non_null(strstr(r.err, "frame 3 dropped"));
    assert_non_null(strstr(r.err, "2x2, but the first frame is 18x24"));
    const char *last = strstr(r.out, "{\"latency_s\"");
    assert_non_null(last);
    json_t *sum = json_loads(last, 0, NULL);
    assert_true(number(sum, "frames") == 3 && number(sum, "dropped") == 2);
    const json_t *latency = json_object_get(sum, "latency_s");
    assert_true(number(latency, "p50") <= number(latency, "p95") && number(latency, "p95") <= number(latency, "p99"));
    json_decref(sum);
    cli_drop(&r);
    cli_does("info @/out/f10.tif", "size        18 x 24 (rows x columns)");
    cli_does("unwrap @/in --stream --frames 1", "1 frames came");
    r = cli_run("unwrap @/out --stream --shape 2x2 --patience 0.001 --frames 1"); /* wrong shape: dropped, and said */
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err, "frame 1 dropped"));
    assert_non_null(strstr(r.err, "no frame was unwrapped: 1 frames came"));
    cli_drop(&r);
}

KIT_TEST(bench_has_rows) {
    json_t *root = cli_object("bench unwrap --quick --device host --json"), *rows = json_object_get(root, "rows");
    size_t count = json_array_size(rows) - 3; /* two less where no python3 has scipy; then cuts and layover */
    assert_true(count == 8 || count == 12);
    assert_true(number(json_array_get(rows, 0), "ours") > 0 && number(json_array_get(rows, 0), "reference") > 0);
    assert_true(number(json_array_get(rows, 0), "ratio") > 0);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, count - 6), "unit")), "frame/s");
    assert_true(number(json_array_get(rows, count - 1), "ours") > 0);
    assert_true(number(json_array_get(rows, count), "ours") == number(json_array_get(rows, count), "reference"));
    json_decref(root);
    make_phase();
    root = cli_object("bench unwrap @/phase.raw --shape 18x24 --device host --json");
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 1);
    json_decref(root);
    cli_refuses("bench unwrap @/none.npy", 1, "none.npy: No such file");
    cli_refuses("bench unwrap @/phase.raw --shape 18", 2, "it takes HxW");
}

/* Without a compiler kernels are those of the library: nothing is built, and the test is about files and words. */
static int begin(void **state) {
    setenv("ATTUNE_CC", "/nowhere/cc", 1);
    return cli_begin(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_refused),       cmocka_unit_test(files_in_and_out),
                                       cmocka_unit_test(form_of_a_surface),     cmocka_unit_test(heights_in),
                                       cmocka_unit_test(residues_and_surfaces), cmocka_unit_test(raw_files_by_name),
                                       cmocka_unit_test(masks_and_holes),       cmocka_unit_test(odd_sizes),
                                       cmocka_unit_test(spoiled_files),         cmocka_unit_test(stacks_of_frames),
                                       cmocka_unit_test(streams_of_stacks),     cmocka_unit_test(streams),
                                       cmocka_unit_test(bench_has_rows)};
    return cmocka_run_group_tests(tests, begin, cli_end);
}
