/* attune lattice as people call it: a frame with its truth, neighbourhoods one by one, what it writes and refuses. */
#include "clikit.h"

#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static double number(const json_t *root, const char *name) { return json_number_value(json_object_get(root, name)); }

static void write_text(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, text, strlen(text)));
}

static char *read_text(const char *name, size_t *length) {
    char path[512], *text;
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_read(cli_ctx, path, 1 << 24, &text, length));
    return text;
}

KIT_TEST(a_frame_is_told) {
    size_t length;
    json_t *root =
               cli_object("lattice @/frame.pos --ranges @/ranges.rrng -o @/out.xyz --report @/out.html --device host "
                          "--profile --json"),
           *counts = json_object_get(root, "counts"), *settings = json_object_get(root, "settings");
    double spent = 0; /* parts add up to what is told of the whole */
    for (size_t k = 0; k < json_array_size(json_object_get(root, "profile")); ++k)
        spent += number(json_array_get(json_object_get(root, "profile"), k), "seconds");
    assert_true(spent > 0 && spent <= number(root, "seconds"));
    assert_int_equal(number(root, "atoms"), 2500);
    assert_true(number(counts, "bcc") > 2400);
    assert_int_equal(number(counts, "bcc") + number(counts, "fcc") + number(counts, "hcp") + number(counts, "other"),
                     2500);
    assert_true(number(root, "atoms_per_second") > 0 && number(root, "peak_bytes") > 0);
    assert_true(number(root, "peak_bytes") < number(root, "estimated_bytes")); /* known before the run */
    double a = number(json_object_get(settings, "constant"), "bcc");
    assert_true(a > 3.14 && a < 3.26);
    json_decref(root);
    char *text = read_text("out.xyz", &length);
    assert_int_equal(cli_lines(text), 2502);
    kit_contains(text, "structure_type");
    kit_contains(text, "Al ");
    atn_free(cli_ctx, text);
    text = read_text("out.html", &length);
    kit_contains(text, "orientations in a slice");
    atn_free(cli_ctx, text);
    cli_does("lattice @/frame.pos -o @/out.pos --device host --profile", "waiting atoms");
    text = read_text("out.pos", &length);
    assert_int_equal(length, 2500 * 16);
    atn_free(cli_ctx, text);
}

/* Two phases of bcc: of one structure, found and by name. */
KIT_TEST(phases_are_told) {
    static const char *const LINES[] = {"lattice @/two/frame.pos --device host --json",
                                        "lattice @/two/frame.pos --models bcc=2.87,bcc=3.3 --device host --json"};
    cli_does("sample atoms -o @/two --size 2500 --seed 6 --lattice bcc,bcc --constant 2.87,3.3 --species Al", "2500");
    for (size_t k = 0; k < 2; ++k) {
        json_t *root = cli_object(LINES[k]), *phases = json_object_get(json_object_get(root, "settings"), "phases");
        size_t n = 0;
        double low = 9, high = 0;
        assert_true(number(json_object_get(root, "counts"), "bcc") > 0.97 * 2500);
        for (size_t p = 0; p < json_array_size(phases); ++p) {
            const json_t *one = json_array_get(phases, p);
            if (strcmp(json_string_value(json_object_get(one, "structure")), "bcc") != 0) continue;
            low = fmin(low, number(one, "constant")), high = fmax(high, number(one, "constant")), ++n;
            assert_true(number(one, "atoms") > 500);
        }
        assert_int_equal(n, 2);
        assert_true(fabs(low - 2.87) < 0.05 && fabs(high - 3.3) < 0.06);
        json_decref(root);
    }
}

static const char FRAMES[] = "7\none\nA 0 0 0\nA 1.6 1.6 1.6\nA -1.6 -1.6 -1.6\nA 1.6 -1.6 1.6\nA -1.6 1.6 -1.6\n"
                             "A 3.2 0 0\nA 3.2 0 0\n1\nalone\nA 2 2 2\n";

KIT_TEST(frames_are_told) {
    write_text("frames.xyz", FRAMES);
    json_t *root = cli_object("lattice @/frames.xyz --frames --device host --json");
    json_t *labels = json_object_get(root, "labels");
    assert_int_equal(json_array_size(labels), 2);
    assert_string_equal(json_string_value(json_array_get(labels, 0)), "bcc");
    assert_string_equal(json_string_value(json_array_get(labels, 1)), "other");
    json_decref(root);
    cli_does("lattice @/frames.xyz --frames --models fcc,bcc --constant bcc=3.2 --device host", "fcc");
}

KIT_TEST(refusals) {
    write_text("empty.xyz", "0\n\n");
    write_text("point.xyz", "1\n\nA 0 0 0\n");
    write_text("pair.xyz", "2\n\nA 0 0 0\nA 1 0 0\n");
    write_text("two.xyz", "1\n\nA 0 0 0\n1\n\nA 0 0 0\n");
    write_text("nan.xyz", "2\n\nA 0 0 0\nA nan 0 0\n");
    write_text("none.rrng", "[Ions]\nNumber=1\nIon1=U\n[Ranges]\nNumber=1\nRange1=1000 1001 U:1 Color:FF0000\n");
    write_text("two/settings", "somebody else's");
    static const cli_refusal CASES[] = {
        {"lattice", 2, "FRAME"},
        {"lattice @/frame.pos --models bct", 2, "is not known"},
        {"lattice @/frame.pos --models bcc,bcc", 2, "twice"},
        {"lattice @/frame.pos --models bcc=3,bcc", 2, "phases have constants"},
        {"lattice @/frame.pos --models bcc=x", 2, "a constant is given as"},
        {"lattice @/frame.pos --constant sc=3", 2, "names one of the models"},
        {"lattice @/frame.pos --constant bcc=-3", 2, "comma-separated list of NAME=LENGTH"},
        {"lattice @/frame.pos --noise 1,2,3", 2, "LATERAL,DEPTH"},
        {"lattice @/frame.pos --efficiency 2", 2, "efficiency"},
        {"lattice @/frame.pos --frames -o @/x.xyz", 2, "cannot be combined with --frames"},
        {"lattice @/frame.pos --constant bcc=9 --device host", 1, "cannot be right"},
        {"lattice @/frame.pos --ranges @/none.rrng --device host", 1, "no mass of the frame"},
        {"lattice @/empty.xyz --device host", 1, "no atoms"},
        {"lattice @/frame.pos --memory 1M --device host", 1, "needs"},
        {"lattice @/frame.pos --memory much", 2, "it takes bytes"},
        {"lattice @/frame.pos --strangers 0.1", 2, "--strangers was renamed --background"},
        {"lattice @/frame.pos --resume= --device host", 2, "--resume needs the name of a folder"},
        {"lattice @/frame.pos --resume @/two.xyz --device host", 1, "this is a file; --resume takes a folder"},
        {"lattice @/frame.pos --resume @/two --device host", 1, "two: is of another frame, or of other options"},
        {"lattice @/nan.xyz --device host", 1, "nan.xyz"},
        {"lattice @/two.xyz --device host", 1, "has 2 frames"},
        {"lattice @/nowhere.pos --device host", 1, "nowhere.pos"},
        {"lattice @/frame.pos --models @/point.xyz --device host", 1, "a central atom and its neighbours"},
        {"lattice @/frame.pos --models @/pair.xyz --device host", 1, "has one point"},
    };
    size_t length;
    cli_refuses_all(CASES, sizeof CASES / sizeof *CASES);
    char *kept = read_text("two/settings", &length); /* is neither replaced nor removed */
    assert_string_equal(kept, "somebody else's");
    atn_free(cli_ctx, kept);
    cli_does("lattice @/point.xyz --device host", "1 atoms");
    cli_does("lattice @/nan.xyz --drop-invalid --device host", "coordinates dropped");
}

/* Numbers of a record, big-endian as POS has them. */
static void put_big(unsigned char *to, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int k = 0; k < 4; ++k) to[k] = (unsigned char)(bits >> (24 - 8 * k) & 255);
}

/* count ions `apart` nm from each other along x. */
static void write_pos(const char *name, size_t count, float apart, size_t extra) {
    char path[512];
    static unsigned char bytes[16 * 100 + 16];
    memset(bytes, 0, sizeof bytes);
    for (size_t k = 0; k < count; ++k) put_big(bytes + 16 * k, apart * (float)k), put_big(bytes + 16 * k + 12, 27);
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, bytes, 16 * count + extra));
}

static void put_wide(unsigned char *to, const char *text) {
    for (size_t k = 0; text[k]; ++k) to[2 * k] = (unsigned char)text[k];
}

static void put_little(unsigned char *to, uint64_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) to[k] = (unsigned char)(value >> (8 * k) & 255);
}

/* Ten ions as APT has them: a header, and one section of places. */
static void write_apt(const char *name) {
    static unsigned char bytes[540 + 148 + 120];
    unsigned char *section = bytes + 540;
    char path[512];
    memcpy(bytes, "APT", 4);
    put_little(bytes + 4, 540, 4), put_little(bytes + 8, 2, 4), put_little(bytes + 532, 10, 8);
    memcpy(section, "SEC", 4);
    put_little(section + 4, 148, 4), put_little(section + 8, 2, 4);
    put_wide(section + 12, "Position");
    put_little(section + 80, 1, 4), put_little(section + 84, 1, 4), put_little(section + 88, 3, 4);
    put_little(section + 92, 32, 4), put_little(section + 96, 12, 4);
    put_wide(section + 100, "nm");
    put_little(section + 132, 10, 8), put_little(section + 140, 120, 8);
    for (int k = 0; k < 10; ++k) {
        float x = 50 * (float)k;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        put_little(section + 148 + 12 * k, bits, 4);
    }
    snprintf(path, sizeof path, "%s/%s", cli_dir, name);
    kit_ok(cli_ctx, atn_file_write(cli_ctx, path, bytes, sizeof bytes));
}

/* Frames that say nothing are not refused: every atom is other, and what is not known is said. */
KIT_TEST(poor_frames) {
    static const char *const POOR[] = {"same.pos", "far.pos", "ten.apt"};
    write_pos("same.pos", 100, 0, 0);
    write_pos("far.pos", 100, 50, 0);
    write_pos("odd.pos", 2, 1, 3);
    write_apt("ten.apt");
    for (size_t k = 0; k < 3; ++k) {
        char line[128];
        snprintf(line, sizeof line, "lattice @/%s --device host --json", POOR[k]);
        json_t *root = cli_object(line);
        assert_int_equal(number(root, "atoms"), k < 2 ? 100 : 10);
        assert_int_equal(number(json_object_get(root, "counts"), "other"), k < 2 ? 100 : 10);
        assert_true(json_is_false(json_object_get(json_object_get(root, "settings"), "estimated")));
        json_decref(root);
    }
    cli_does("lattice @/far.pos --device host", "are defaults");
    cli_refuses("lattice @/odd.pos --device host", 1, "3 bytes after the last ion");
}

/* A range file as programs write it: CRLF, decimal commas, ranges that overlap. */
KIT_TEST(ranges_overlap) {
    write_text("over.rrng", "[Ions]\r\nNumber=2\r\nIon1=Al\r\nIon2=Mg\r\n[Ranges]\r\nNumber=2\r\n"
                            "Range1=26,5 27,5 Vol:0,0166 Al:1 Color:33FFFF\r\nRange2=24.0 27.0 Vol:0.02 Mg:1 "
                            "Color:FF0000\r\n");
    write_pos("far.pos", 100, 50, 0);
    cli_does("lattice @/far.pos --ranges @/over.rrng --device host", "1 pairs of ranges overlap");
    write_text("real.rng", "2 2\nAl\nAl 1.0 0.0 0.0\nMg\nMg 0.0 1.0 0.0\n------------------- Al Mg\n"
                           ". 26.9 27.1 1 0\n. 23.9 24.1 0 1\n");
    json_t *root = cli_object("lattice @/far.pos --ranges @/real.rng --device host --json");
    assert_int_equal(number(root, "unranged"), 0);
    assert_int_equal(number(root, "overlaps"), 0);
    json_decref(root);
}

KIT_TEST(bench_has_rows) {
    json_t *root = cli_object("bench lattice --quick --device host --json"), *rows = json_object_get(root, "rows");
    assert_int_equal(json_array_size(rows), 5);
    assert_true(number(json_array_get(rows, 0), "ours") > 90);
    assert_true(number(json_array_get(rows, 4), "reference") > 30); /* by the number of neighbours alone */
    json_decref(root);
    cli_refuses("bench lattice a.ply", 2, "takes no files");
}

static int setup(void **state) {
    cli_begin(state);
    cli_result r = cli_run("sample atoms -o @ --size 2500 --seed 3 --species Al");
    assert_int_equal(r.code, 0);
    cli_drop(&r);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_frame_is_told), cmocka_unit_test(phases_are_told),
                                       cmocka_unit_test(frames_are_told), cmocka_unit_test(refusals),
                                       cmocka_unit_test(poor_frames),     cmocka_unit_test(ranges_overlap),
                                       cmocka_unit_test(bench_has_rows)};
    return cmocka_run_group_tests(tests, setup, cli_end);
}
