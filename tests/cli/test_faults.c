/* Every allocation of a run may fail: each failure ends the run with 1 and one sentence, and nothing stays behind. */
#include "clikit.h"

#include "base/file.h"
#include "num/npy.h"
#include "wisdom/wisdom.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SOME = 8 }; /* failing allocations of a run that takes its time */

/* One run whose `fail_at`-th allocation fails; what it counted is left in *faults. */
static cli_result run_with(kit_faults *faults, const char *cache_dir, char **argv) {
    cli_result r = {.code = 1};
    atn_ctx_settings options = kit_fault_options(faults);
    options.cache_dir = cache_dir;
    if (atn_ctx_create(&options, &cli_ctx) == ATN_OK)
        r = cli_run_words(argv);
    else
        r.err = strdup("attune: could not start: memory\n");
    atn_ctx_free(cli_ctx);
    return r;
}

/* One step of a walk; true once the run got through because it has fewer than `n` allocations. */
static bool step(char **argv, const char *cache_dir, long n) {
    kit_faults faults = {.fail_at = n}; /* 0: a run in which nothing fails */
    cli_result r = run_with(&faults, cache_dir, argv);
    bool through = n == 0 || faults.count < n;
    if (faults.live != 0) fail_msg("allocation %ld failed: %ld blocks stay behind", n, (long)faults.live);
    /* emptying a crowded cache is an extra: when there is no memory for it, the run may still end well and whole */
    bool harmless = r.code == 0 && !*r.err && strstr(r.out, "GB/s") && !strstr(r.out, "not be measured");
    if (r.code != (through ? 0 : 1) && !(cache_dir != cli_cache && harmless))
        fail_msg("allocation %ld failed: exit %d: %s", n, r.code, r.err);
    if (r.code != 0 && (!strchr(r.err, '\n') || strncmp(r.err, "attune", 6) != 0))
        fail_msg("allocation %ld failed: no sentence: \"%s\"", n, r.err);
    cli_drop(&r);
    if (n > 0 && through) print_message("    %s: %ld allocations\n", argv[1], (long)faults.count);
    return n > 0 && through;
}

/* As many allocations fail, spread evenly, others every day. */
static void walk_spread(char **argv, long most) {
    kit_faults faults = {0};
    cli_result warm = run_with(&faults, cli_cache, argv), r;
    cli_drop(&warm);
    faults.count = 0;
    r = run_with(&faults, cli_cache, argv); /* what the first built is there */
    cli_drop(&r);
    long stride = faults.count < most ? 1 : faults.count / most;
    for (long n = 0; !step(argv, cli_cache, n);) n += n ? stride : 1 + kit_day() % stride;
}

/* Each one. */
static void walk(char **argv) { walk_spread(argv, kit_cases(LONG_MAX)); }

/* SOME, unless ATTUNE_TEST_ALL is set: of runs that take their time. */
static void walk_some(char **argv) { walk_spread(argv, getenv("ATTUNE_TEST_ALL") ? LONG_MAX : SOME); }

/* With nothing in the cache each run compiles and measures anew, seconds each: here every 61st allocation fails,
 * with ATTUNE_TEST_ALL set every one, with ATTUNE_TEST_CASES fewer. */
KIT_TEST(devices_cold) {
    char *argv[] = {(char *)"attune", (char *)"devices", (char *)"--device", (char *)"host", NULL};
    long stride = getenv("ATTUNE_TEST_ALL") ? 1 : getenv("ATTUNE_TEST_CASES") ? 230 : 61;
    bool through = false;
    for (long n = 1 + kit_day() % stride; !through; n += stride) {
        char *fresh = kit_tempdir();
        through = step(argv, fresh, n);
        kit_remove(fresh);
    }
}

#define WALK(name, ...)                                                                                                \
    static void name(void **state) {                                                                                   \
        (void)state;                                                                                                   \
        char *argv[] = {(char *)"attune", __VA_ARGS__, NULL};                                                          \
        walk(argv);                                                                                                    \
    }

WALK(devices_table, (char *)"devices")
WALK(devices_json, (char *)"devices", (char *)"--json")
WALK(help_text, (char *)"help")
WALK(help_json, (char *)"help", (char *)"--json")
WALK(verb_help, (char *)"help", (char *)"devices")
WALK(manual, (char *)"man")
WALK(completion_json, (char *)"completion", (char *)"--json")
WALK(version, (char *)"--version", (char *)"--json")
WALK(selftest_host, (char *)"selftest", (char *)"--device", (char *)"host")

/* ---- kernels ---- */

#define MV ATN_SOURCE_DIR "/tests/data/mv.xml"
#define SP (char *)"--define", (char *)"USED_FLOAT=SP"

static char bind_A[512], bind_b[512], out_c[512];

static void save(const char *name, int32_t rank, int64_t columns, char *option) {
    static float numbers[6] = {1, 2, 3, 4, 5, 6};
    char path[480];
    atn_ctx *ctx = kit_ctx();
    atn_view view = {.data = numbers, .type = ATN_SP, .rank = rank, .size = {columns, 2}, .pitch = columns};
    snprintf(path, sizeof path, "%s/%s.npy", cli_cache, name);
    kit_ok(ctx, atn_npy_write(ctx, path, &view));
    snprintf(option, 512, "%s=%s", name, path);
    kit_free(ctx);
}

/* A program: planned, and interpreted. */
KIT_TEST(program) {
    char bind_x[512];
    save("b", 2, 3, bind_b);
    save("x", 2, 3, bind_x);
    static char file[] = ATN_SOURCE_DIR "/examples/13_program/cg.atn";
    char *plan[] = {(char *)"attune",
                    (char *)"show",
                    file,
                    (char *)"--plan",
                    (char *)"--passes",
                    (char *)"--json",
                    (char *)"--size",
                    (char *)"b=2x3",
                    (char *)"--size",
                    (char *)"x=2x3",
                    (char *)"--device",
                    (char *)"host",
                    NULL};
    walk_spread(plan, kit_cases(200));
    char *oracle[] = {
        (char *)"attune", (char *)"run", file, (char *)"--oracle", (char *)"--json", (char *)"--bind", bind_b,
        (char *)"--bind", bind_x,        NULL};
    walk_spread(oracle, kit_cases(200));
    oracle[3] = (char *)"--explain";
    walk_some(oracle);
}

KIT_TEST(run_host) {
    save("A", 2, 3, bind_A);
    save("b", 1, 3, bind_b);
    snprintf(out_c, sizeof out_c, "c=%s/c.npy", cli_cache);
    char *argv[] = {
        (char *)"attune", (char *)"run", (char *)MV,       SP,     (char *)"--device", (char *)"host", (char *)"--json",
        (char *)"--bind", bind_A,        (char *)"--bind", bind_b, (char *)"--out",    out_c,          NULL};
    walk_some(argv);
    char *slow[] = {(char *)"attune",
                    (char *)"run",
                    (char *)MV,
                    SP,
                    (char *)"--oracle",
                    (char *)"--bind",
                    bind_A,
                    (char *)"--bind",
                    bind_b,
                    (char *)"--out",
                    out_c,
                    NULL};
    walk(slow);
    char *info[] = {(char *)"attune", (char *)"info", bind_A + 2, NULL};
    walk(info);
    static char scan[512];
    snprintf(scan, sizeof scan, "%s/scan.csv", cli_cache);
    atn_ctx *ctx = kit_ctx();
    static const char SCAN[] = "x,y,z,red\n1,2,3,4\n";
    kit_ok(ctx, atn_file_write(ctx, scan, SCAN, sizeof SCAN - 1));
    kit_free(ctx);
    char *cloud[] = {(char *)"attune", (char *)"info", scan, NULL};
    walk(cloud);
    char *cloud_json[] = {(char *)"attune", (char *)"info", scan, (char *)"--json", NULL};
    walk(cloud_json);
}

/* ---- images ---- */

KIT_TEST(info_images) {
    static char heights[512];
    snprintf(heights, sizeof heights, "%s/heights.sdf", cli_cache);
    static const char HEIGHTS[] = "aISO-1.0\nNumPoints = 2\nNumProfiles = 1\nXscale = 1\nYscale = 1\nZscale = 1\n"
                                  "Compression = 0\nDataType = 7\n*\n1 2\n*\n";
    atn_ctx *ctx = kit_ctx();
    kit_ok(ctx, atn_file_write(ctx, heights, HEIGHTS, sizeof HEIGHTS - 1));
    kit_free(ctx);
    char *image[] = {(char *)"attune", (char *)"info", heights, NULL, NULL};
    walk(image);
    image[3] = (char *)"--json";
    walk(image);
    static char shape[32];
    snprintf(shape, sizeof shape, "1x1x%zu", sizeof HEIGHTS - 1);
    char *volume[] = {(char *)"attune", (char *)"info", heights, (char *)"--shape", shape, NULL, NULL};
    walk(volume);
    volume[5] = (char *)"--json";
    walk(volume);
}

/* ---- clouds ---- */

/* Walks "attune LINE", words apart by blanks, @ for the folder of the scans. */
static void walk_line(const char *line) {
    char text[4096] = "", *argv[40] = {(char *)"attune"}, *rest = NULL;
    size_t at = 0, n = 1;
    for (; *line && at + 1 < sizeof text; ++line)
        at += *line == '@' ? (size_t)snprintf(text + at, sizeof text - at, "%s/scans", cli_cache)
                           : (size_t)snprintf(text + at, sizeof text - at, "%c", *line);
    for (char *word = strtok_r(text, " ", &rest); word && n < 39; word = strtok_r(NULL, " ", &rest)) argv[n++] = word;
    walk_some(argv);
}

KIT_TEST(samples) {
    walk_line("sample scans -o @ --size 50 --json");
    walk_line("sample needle -o @ --size 8x8x8 --json");
    walk_line("sample fringes -o @/fringes --size 16x12 --mask 0.1 --json");
    walk_line("sample atoms -o @ --size 5 --grains 1 --species Al --json");
    walk_line("info @/ranges.rrng");
    walk_line("info @/ranges.rrng --json");
}

/* With the library's own kernels: nothing is built. */
KIT_TEST(unwrapping) {
    setenv("ATTUNE_CC", "/nowhere/cc", 1);
    walk_line(
        "unwrap @/fringes/wrapped.npy --mask @/fringes/mask.npy -o @/u.tif --preview @/u.png --device host --json");
    walk_line("unwrap @/fringes/frames --precision 64 -o @/u.npy --device host");
    unsetenv("ATTUNE_CC");
}

/* The model of the test before, found in itself. Volumes are walked through in apps/needle/find. */
KIT_TEST(needles) { walk_line("needle @/model.ply @/model.ply --threshold 0.2 --rounds 1 --device host --json"); }

/* A scan of the test before, onto itself, so that it converges whatever the method. */
KIT_TEST(registrations) {
    static const char LIST[] = "target.ply,target.ply,T.txt,moved.xyz\ntarget.ply,target.ply\n";
    static const char START[] = "1 0 0 0.01\n0 1 0 0\n0 0 1 0\n0 0 0 1\n";
    char path[512];
    atn_ctx *ctx = kit_ctx();
    snprintf(path, sizeof path, "%s/scans/list.csv", cli_cache);
    kit_ok(ctx, atn_file_write(ctx, path, LIST, sizeof LIST - 1));
    snprintf(path, sizeof path, "%s/scans/T.txt", cli_cache);
    kit_ok(ctx, atn_file_write(ctx, path, START, sizeof START - 1));
    kit_free(ctx);
    walk_line("register @/target.ply @/target.ply --device host --init @/T.txt --truth @/T.txt --report @/page.html "
              "--matrix @/T2.txt -o @/moved.pcd --profile --json");
    walk_line("register @/target.ply @/target.ply --device host --profile");
    walk_line("register @/target.ply @/target.ply --device host --distribute 1000 -o @/moved.npy --json");
    walk_line("register --batch @/list.csv --device host --json");
    walk_line("register --batch @/list.csv --device host");
}

/* The atoms of the samples. */
KIT_TEST(lattices) { walk_line("lattice @/frame.pos -o @/told.xyz --models bcc --cutoff 4 --device host"); }

/* ---- wisdom ---- */

KIT_TEST(wisdom) {
    static char file[512];
    atn_ctx_settings options = {.cache_dir = cli_cache};
    atn_ctx *ctx;
    atn_wisdom *store;
    atn_wisdom_key key = {.kernel = "gemm", .generator = "1", .device = "odd \xff name", .n_shape = 2, .shape = {3, 4}};
    atn_wisdom_row right = {.variant = "stage=1", .outcome = "right", .seconds = 1}, wrong = {.variant = "stage=2"};
    atn_wisdom_winner winner = {.variant = "stage=1", .seconds = 1};
    wrong.outcome = "crash";
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &store));
    kit_ok(ctx, atn_wisdom_tell(store, &key, &right));
    kit_ok(ctx, atn_wisdom_tell(store, &key, &wrong));
    kit_ok(ctx, atn_wisdom_crown(store, &key, &winner));
    atn_wisdom_close(store);
    atn_ctx_free(ctx);
    snprintf(file, sizeof file, "%s/exported.json", cli_cache);
    char *lines[][7] = {
        {(char *)"attune", (char *)"wisdom", (char *)"export", (char *)"-o", file, NULL},
        {(char *)"attune", (char *)"wisdom", (char *)"list", (char *)"--json", NULL},
        {(char *)"attune", (char *)"wisdom", (char *)"list", NULL},
        {(char *)"attune", (char *)"wisdom", (char *)"show", (char *)"gemm", (char *)"--all", (char *)"--json", NULL},
        {(char *)"attune", (char *)"wisdom", (char *)"show", (char *)"gemm", NULL},
        {(char *)"attune", (char *)"wisdom", (char *)"verify", (char *)"--json", NULL},
        {(char *)"attune", (char *)"wisdom", (char *)"import", file, (char *)"--json", NULL},
        {(char *)"attune", (char *)"wisdom", (char *)"forget", (char *)"--kernel", (char *)"gemm", NULL}};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) walk(lines[k]);
}

WALK(check_file, (char *)"check", (char *)MV, SP, (char *)"--size", (char *)"A=2x3", (char *)"--size", (char *)"b=3")
WALK(show_shipped, (char *)"show", (char *)"scale", SP, (char *)"--dialect", (char *)"cuda", (char *)"--passes")
WALK(space_summary, (char *)"space", (char *)"example")
WALK(space_count, (char *)"space", (char *)"example", (char *)"--count", (char *)"--json")
WALK(space_sample, (char *)"space", (char *)"example", (char *)"--sample", (char *)"3", (char *)"--json")
WALK(space_report, (char *)"space", (char *)"example", (char *)"--prune-report", (char *)"--json")
WALK(show_json, (char *)"show", (char *)MV, SP, (char *)"--dialect", (char *)"c", (char *)"--json")

/* One repeat, so that one thread counts the allocations. */
KIT_TEST(replay_cache) {
    static const char CACHE[] = "{\"tune_params_keys\": [\"a\"], \"cache\": {\"1\": {\"a\": 1, \"time\": 2}, "
                                "\"2\": {\"a\": 2, \"time\": 1}, \"3\": {\"a\": 4, \"time\": \"no\"}}}";
    char path[512];
    atn_ctx *ctx = kit_ctx();
    snprintf(path, sizeof path, "%s/recorded.json", cli_cache);
    kit_ok(ctx, atn_file_write(ctx, path, CACHE, strlen(CACHE)));
    kit_free(ctx);
    char *table[] = {(char *)"attune", (char *)"replay", path, (char *)"--repeats", (char *)"1", NULL};
    walk_some(table);
    char *json[] = {(char *)"attune",     (char *)"replay", path, (char *)"--repeats", (char *)"1", (char *)"--json",
                    (char *)"--strategy", (char *)"all",    NULL};
    walk_some(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program),       cmocka_unit_test(run_host),      cmocka_unit_test(info_images),
        cmocka_unit_test(check_file),    cmocka_unit_test(show_shipped),  cmocka_unit_test(show_json),
        cmocka_unit_test(devices_table), cmocka_unit_test(devices_cold),  cmocka_unit_test(devices_json),
        cmocka_unit_test(help_text),     cmocka_unit_test(help_json),     cmocka_unit_test(verb_help),
        cmocka_unit_test(manual),        cmocka_unit_test(version),       cmocka_unit_test(completion_json),
        cmocka_unit_test(selftest_host), cmocka_unit_test(wisdom),        cmocka_unit_test(replay_cache),
        cmocka_unit_test(space_summary), cmocka_unit_test(space_count),   cmocka_unit_test(space_sample),
        cmocka_unit_test(space_report),  cmocka_unit_test(samples),       cmocka_unit_test(unwrapping),
        cmocka_unit_test(needles),       cmocka_unit_test(registrations), cmocka_unit_test(lattices),
    };
    return cmocka_run_group_tests(tests, cli_cache_begin, cli_cache_end);
}
