/* The host's compiler, as a hostile machine has it: missing, failing, hanging, lying; and what it builds, kept and
 * damaged. */
#include "cachekit.h"

#include "base/process.h"
#include "device/backend.h"
#include "device/building.h"
#include "device/device.h"
#include "device/host_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

/* A kernel that gives VALUE. */
#define SOURCE                                                                                                         \
    ATN_HOST_ABI_TEXT "#ifndef VALUE\n#define VALUE 42\n#endif\n"                                                      \
                      "void answer(const struct atn_call *c) { **(int32_t **)c->args[0] = VALUE; }\n"

static world here;
static kit_faults faults;
static kit_log seen;
static atn_ctx *ctx;
static atn_devices *devices;
static atn_device *device;
static char *old_cc, *old_path;

static void close_all(void) {
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    device = NULL;
    devices = NULL;
    ctx = NULL;
    assert_int_equal(faults.live, 0);
    errno = 0;
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); /* no zombies */
    assert_true(entries(here.cache, "work-") <= 0);                   /* nothing left lying */
    assert_int_equal(entries(here.temporary, ""), 0);
}

/* A fresh context on the same cache, as a second run of a program has it. */
static void open_all(void) {
    if (ctx) close_all();
    ctx = world_ctx(&faults, &seen, here.cache);
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    assert_string_equal(atn_device_get_info(device)->backend, "host");
}

static int32_t run(atn_module *module) {
    atn_function *answer;
    atn_buffer *buffer;
    int32_t got = 0;
    kit_ok(ctx, atn_module_function(module, "answer", &answer));
    kit_ok(ctx, atn_buffer_create(device, sizeof got, &buffer));
    atn_arg args[] = {{.buffer = buffer}};
    kit_ok(ctx, atn_function_launch(NULL, answer, &(atn_launch){.groups = {1}, .args = args, .n_args = 1}));
    kit_ok(ctx, atn_buffer_get(NULL, buffer, 0, &got, sizeof got));
    atn_buffer_free(buffer);
    return got;
}

static void expect(const atn_build *build, int32_t value, bool cached) {
    atn_module *module;
    kit_ok(ctx, atn_module_build(device, build, &module));
    assert_int_equal(atn_module_cached(module), cached);
    assert_true(atn_module_code_bytes(module) > 1000);
    assert_int_equal(run(module), value);
    atn_module_free(module);
}

static void expect_failure(atn_status status, const char *part) {
    atn_module *module;
    kit_fails(ctx, status, part, atn_module_build(device, &(atn_build){.source = SOURCE, .timeout_s = 100}, &module));
    assert_null(module);
    assert_int_equal(seen.warnings, 0);
}

/* A script in the compiler's place from now on; asked for its version it gives one. */
static void use_script(const char *body) {
    char *text = malloc(strlen(body) + 200);
    sprintf(text, "[ \"$1\" = --version ] && { echo script 1.0; exit 0; }\n%s", body);
    char *path = kit_script(here.dir, "cc-script", text);
    setenv("ATTUNE_CC", path, 1);
    free(path);
    free(text);
    open_all();
}

static bool noted(const char *part) {
    for (int32_t k = 0; k < atn_devices_note_count(devices); ++k)
        if (strstr(atn_devices_note(devices, k), part)) return true;
    return false;
}

static char *real_compiler(void) {
    char *path, *copy = NULL;
    unsetenv("ATTUNE_CC");
    open_all();
    static const char *const USUAL[] = {"gcc", "clang", "cc"};
    for (size_t k = 0; k < 3 && !copy; ++k) {
        kit_ok(ctx, atn_process_find(ctx, USUAL[k], &path));
        if (path) copy = strdup(path);
        atn_free(ctx, path);
    }
    if (!copy) print_message("    skipped: there is no C compiler here\n"), skip();
    return copy;
}

/* ---- no compiler ---- */

KIT_TEST(a_missing_compiler_is_told) {
    setenv("ATTUNE_CC", "no-such-compiler", 1);
    open_all();
    assert_true(noted("host: the compiler 'no-such-compiler', which ATTUNE_CC asks for, is not there"));
    assert_string_equal(atn_device_get_info(device)->driver, "");
    expect_failure(ATN_ERR_BUILD, "kernel: the compiler 'no-such-compiler', which ATTUNE_CC asks for, is not there");
    setenv("ATTUNE_CC", "gcc -O2", 1);
    open_all();
    assert_true(noted("without arguments"));
    setenv("ATTUNE_CC", "/", 1);
    open_all();
    expect_failure(ATN_ERR_BUILD, "is not there");
    unsetenv("ATTUNE_CC");
    setenv("PATH", "/nowhere", 1);
    open_all();
    assert_true(noted("host: no C compiler was found; install gcc or clang, or name one in ATTUNE_CC"));
    expect_failure(ATN_ERR_BUILD, "kernel: no C compiler was found; install gcc or clang");
    atn_module *module;
    kit_fails(ctx, ATN_ERR_BUILD, "'clang', which a build asks for",
              atn_module_build(device, &(atn_build){.source = SOURCE, .compiler = "clang"}, &module));
}

/* ---- compilers that fail ---- */

KIT_TEST(a_failing_compiler_is_quoted) {
    use_script("echo note: hm; echo \"$PWD/x.c:1:2: error: boom is \033[1mundeclared\033[0m\" >&2; exit 1");
    expect_failure(ATN_ERR_BUILD, "could not compile it (exit code 1): error: boom is  [1mundeclared");
    use_script("exit 3");
    expect_failure(ATN_ERR_BUILD, "(exit code 3): it said nothing");
    use_script("kill -SEGV $$");
    expect_failure(ATN_ERR_BUILD, "crashed on it (signal 11)");
    use_script("exit 0");
    expect_failure(ATN_ERR_BUILD, "made nothing; is it a C compiler?");
    use_script("while [ \"$1\" != -o ]; do shift; done; echo junk >\"$2\"");
    expect_failure(ATN_ERR_BUILD, "built code cannot be loaded");
    use_script("head -c 5000000 /dev/zero | tr '\\0' x; exit 1");
    expect_failure(ATN_ERR_BUILD, "xxxxxxxx");
    assert_true(entries(here.cache, "") <= 0);
}

KIT_TEST(what_is_no_compiler_is_told) {
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/not-a-program", here.dir);
    close(open(path, O_CREAT | O_WRONLY, 0700));
    setenv("ATTUNE_CC", path, 1);
    open_all();
    assert_true(noted("host: the compiler does not work"));
    if (kit_spawn_tells())
        expect_failure(ATN_ERR_BUILD, "cannot be run"); /* and the cache, which is not to blame, stays in use */
    char *script = kit_script(here.dir, "bad-version", "exit 4");
    setenv("ATTUNE_CC", script, 1);
    open_all();
    assert_true(noted("--version ended with exit code 4; is it a C compiler?"));
    free(script);
    script = kit_script(here.dir, "odd-version", "printf 'caf\\351 \\033[1m 1.0\\nmore\\n'");
    setenv("ATTUNE_CC", script, 1);
    open_all();
    assert_string_equal(atn_device_get_info(device)->driver, "caf? ?[1m 1.0");
    free(script);
}

KIT_TEST(a_hanging_compiler_is_stopped) {
    char *pid_file = malloc(PATH_BYTES + 64), *body = malloc(2 * PATH_BYTES);
    snprintf(pid_file, PATH_BYTES + 64, "%s/pid", here.dir);
    snprintf(body, 2 * PATH_BYTES, "echo temporary >$TMPDIR/ccXYZ.s; sleep 1000 & echo $! >'%s'; wait", pid_file);
    use_script(body);
    atn_module *module;
    kit_fails(ctx, ATN_ERR_TIMEOUT, "kernel: ", /* a second: the script has to get as far as its child */
              atn_module_build(device, &(atn_build){.source = SOURCE, .timeout_s = 1}, &module));
    kit_contains(atn_ctx_message(ctx), "did not finish in 1 s");
    assert_null(module);
    long pid = 0;
    FILE *file = fopen(pid_file, "r");
    if (file && fscanf(file, "%ld", &pid) == 1) kit_gone(pid);
    if (file) fclose(file);
    free(pid_file);
    free(body);
}

KIT_TEST(a_cancelled_build_stops) {
    use_script("sleep 1000");
    atn_module *module;
    atn_devices *again;
    atn_ctx_cancel(ctx);
    kit_fails(ctx, ATN_ERR_CANCELLED, "stopped", atn_module_build(device, &(atn_build){.source = SOURCE}, &module));
    kit_fails(ctx, ATN_ERR_CANCELLED, "stopped", atn_devices_find(ctx, &again));
    assert_null(again);
}

KIT_TEST(a_full_cache_is_left) {
    char *compiler = real_compiler(), *body = malloc(4 * PATH_BYTES);
    snprintf(
        body, 4 * PATH_BYTES,
        "case $PWD in '%s'*) echo 'ld: final link failed: No space left on device'; exit 1;; esac; exec '%s' \"$@\"",
        here.cache, compiler);
    use_script(body);
    expect(&(atn_build){.source = SOURCE}, 42, false);
    assert_int_equal(seen.warnings, 1);
    kit_contains(seen.last, "No space left on device");
    expect(&(atn_build){.source = SOURCE}, 42, true);
    assert_int_equal(seen.warnings, 1);
    assert_int_equal(entries(here.temporary, "attune-"), 1);
    use_script("echo 'ld: final link failed: No space left on device'; exit 1"); /* nowhere is room */
    atn_module *module;
    kit_fails(ctx, ATN_ERR_IO, "No space left", atn_module_build(device, &(atn_build){.source = SOURCE}, &module));
    free(compiler);
    free(body);
}

/* ---- what is kept ---- */

KIT_TEST(both_compilers_work) {
    static const char *const NAMES[] = {"gcc", "clang"};
    open_all();
    for (size_t k = 0; k < 2; ++k) {
        char *path;
        kit_ok(ctx, atn_process_find(ctx, NAMES[k], &path));
        if (!path) {
            print_message("    %s: skipped, it is not here\n", NAMES[k]);
            continue;
        }
        atn_free(ctx, path);
        expect(&(atn_build){.source = SOURCE, .compiler = NAMES[k]}, 42, false);
        expect(&(atn_build){.source = SOURCE, .compiler = NAMES[k]}, 42, true);
        setenv("ATTUNE_CC", NAMES[k], 1);
        expect(&(atn_build){.source = SOURCE}, 42, true);
        unsetenv("ATTUNE_CC");
    }
}

KIT_TEST(builds_are_kept) {
    free(real_compiler());
    expect(&(atn_build){.source = SOURCE}, 42, false);
    expect(&(atn_build){.source = SOURCE, .name = "another_name"}, 42, true);
    open_all();
    expect(&(atn_build){.source = SOURCE}, 42, true);
    expect(&(atn_build){.source = SOURCE, .flags = "-DVALUE=7"}, 7, false);
    expect(&(atn_build){.source = SOURCE, .flags = " -O1\t-DVALUE=8  "}, 8, false);
    expect(&(atn_build){.source = SOURCE, .flags = "-DVALUE=7"}, 7, true);
    expect(&(atn_build){.source = SOURCE, .fast_math = true}, 42, false);
    expect(&(atn_build){.source = SOURCE "/* a comment */"}, 42, false);
    int before = entries(here.cache, "");
    assert_int_equal(before, 5);
    for (int k = 0; k < 2; ++k) expect(&(atn_build){.source = SOURCE, .no_cache = true}, 42, false);
    assert_int_equal(entries(here.cache, ""), before);
    assert_int_equal(seen.warnings, 0);
}

/* Builds on a device and in a context of its own; *out: how long that took. */
static void *build_alone(void *out) {
    atn_ctx *own = NULL;
    atn_device *host = NULL;
    atn_module *module = NULL;
    atn_status status = atn_ctx_create(NULL, &own);
    if (status == ATN_OK) status = atn_device_open_host(own, &host);
    if (status == ATN_OK) status = atn_module_build(host, &(atn_build){.source = SOURCE, .no_cache = true}, &module);
    *(double *)out = status == ATN_OK ? atn_building_seconds() : -1;
    atn_module_free(module);
    atn_device_close(host);
    atn_ctx_free(own);
    return NULL;
}

KIT_TEST(what_threads_build_at_once_counts_once) {
    free(real_compiler());
    double each[3], before = atn_building_seconds_any(), alone = atn_building_seconds();
    pthread_t thread[3];
    open_all();
    expect(&(atn_build){.source = SOURCE, .no_cache = true}, 42, false);
    alone = atn_building_seconds() - alone;
    double after = atn_building_seconds_any();
    assert_true(alone > 0);
    assert_true(fabs(after - before - alone) < 1e-6);
    for (int k = 0; k < 3; ++k) assert_int_equal(pthread_create(&thread[k], NULL, build_alone, &each[k]), 0);
    for (int k = 0; k < 3; ++k) assert_int_equal(pthread_join(thread[k], NULL), 0);
    double any = atn_building_seconds_any() - after, sum = each[0] + each[1] + each[2];
    for (int k = 0; k < 3; ++k) assert_true(each[k] > 0 && any > each[k] - 1e-6);
    assert_true(any < sum + 1e-6);
}

KIT_TEST(a_cap_too_small_does_no_harm) {
    free(real_compiler());
    setenv("ATTUNE_CACHE_MIB", "1", 1);
    open_all();
    const char *big = "static const char big[3 << 20] = {1}; const char *see(void) { return big; }\n" SOURCE;
    expect(&(atn_build){.source = big}, 42, false);
    expect(&(atn_build){.source = big}, 42, false);
    assert_int_equal(entries(here.cache, ""), 0);
}

/* Opens the one file of the cache and does damage number `way` to it. */
static void damage(int way) {
    DIR *dir = opendir(here.cache);
    char path[2 * PATH_BYTES] = "";
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strstr(entry->d_name, ".so")) snprintf(path, sizeof path, "%s/%s", here.cache, entry->d_name);
    closedir(dir);
    int fd = open(path, O_RDWR);
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    unsigned char junk[64];
    memset(junk, 0xee, sizeof junk);
    if (way == 0) assert_int_equal(ftruncate(fd, 0), 0);
    if (way == 1) assert_int_equal(ftruncate(fd, 3000), 0); /* loading it as it is would crash */
    if (way == 2) assert_int_equal(ftruncate(fd, info.st_size - 1), 0);
    if (way == 3) assert_int_equal(pwrite(fd, junk, sizeof junk, info.st_size / 2), sizeof junk);
    if (way == 4) assert_int_equal(pwrite(fd, junk, sizeof junk, 0), sizeof junk);
    close(fd);
}

KIT_TEST(damaged_code_is_made_anew) {
    free(real_compiler());
    expect(&(atn_build){.source = SOURCE}, 42, false);
    for (int way = 0; way < 5; ++way) {
        damage(way);
        open_all();
        expect(&(atn_build){.source = SOURCE}, 42, false);
        expect(&(atn_build){.source = SOURCE}, 42, true);
        assert_int_equal(entries(here.cache, ""), 1);
        assert_int_equal(seen.warnings, 0);
    }
}

/* ---- callers' mistakes ---- */

KIT_TEST(mistakes_are_refused) {
    free(real_compiler());
    char name[200], flags[2000] = "";
    atn_module *module;
    memset(name, 'n', sizeof name);
    name[101] = '\0';
    static const char *const NAMES[] = {"a/b", "/", "../x", ""};
    for (size_t k = 0; k < 4; ++k)
        kit_fails(ctx, ATN_ERR_INPUT, "is not a name for a kernel",
                  atn_module_build(device, &(atn_build){.source = SOURCE, .name = NAMES[k]}, &module));
    kit_fails(ctx, ATN_ERR_INPUT, "nnn...' is not a name",
              atn_module_build(device, &(atn_build){.source = SOURCE, .name = name}, &module));
    name[100] = '\0';
    expect(&(atn_build){.source = SOURCE, .name = name}, 42, false);
    expect(&(atn_build){.source = SOURCE "/* odd */", .name = "-o $(id) \n'\""}, 42, false);
    kit_fails(ctx, ATN_ERR_INPUT, "no source", atn_module_build(device, &(atn_build){0}, &module));
    for (int k = 0; k < 100; ++k) strcat(flags, "-DX ");
    kit_fails(ctx, ATN_ERR_INPUT, "too many compiler flags",
              atn_module_build(device, &(atn_build){.source = SOURCE, .flags = flags}, &module));
    atn_function *function;
    atn_device *other;
    atn_buffer *buffer;
    const char *with_libm = "double exp(double);\ndouble use(double x) { return exp(x); }\n" SOURCE;
    kit_ok(ctx, atn_module_build(device, &(atn_build){.source = with_libm}, &module));
    kit_fails(ctx, ATN_ERR_INPUT, "no function 'exp'", atn_module_function(module, "exp", &function));
    kit_fails(ctx, ATN_ERR_INPUT, "no function 'memcpy'", atn_module_function(module, "memcpy", &function));
    kit_ok(ctx, atn_module_function(module, "answer", &function));
    kit_ok(ctx, atn_device_open(devices, 0, &other));
    kit_ok(ctx, atn_buffer_create(other, 64, &buffer));
    int32_t value = 1;
    const atn_arg wrong[] = {{0}, {.buffer = buffer}, {.value = &value}, {.value = &value, .bytes = 17}};
    for (size_t k = 0; k < 4; ++k) {
        atn_launch launch = {.groups = {1}, .args = &wrong[k], .n_args = 1};
        kit_fails(ctx, ATN_ERR_INPUT, "argument 0", atn_function_launch(NULL, function, &launch));
    }
    kit_fails(ctx, ATN_ERR_INPUT, "at most 128",
              atn_function_launch(NULL, function, &(atn_launch){.groups = {1}, .args = wrong, .n_args = 129}));
    atn_buffer_free(buffer);
    atn_device_close(other);
    atn_module_free(module);
}

static int setup(void **state) {
    (void)state;
    world_begin(&here);
    old_cc = kit_getenv("ATTUNE_CC");
    old_path = kit_getenv("PATH");
    unsetenv("ATTUNE_CC");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (ctx) close_all();
    kit_setenv("ATTUNE_CC", old_cc);
    kit_setenv("PATH", old_path);
    world_end(&here);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_missing_compiler_is_told),   TEST(a_failing_compiler_is_quoted),
        TEST(what_is_no_compiler_is_told),  TEST(a_hanging_compiler_is_stopped),
        TEST(a_cancelled_build_stops),      TEST(a_full_cache_is_left),
        TEST(both_compilers_work),          TEST(builds_are_kept),
        TEST(a_cap_too_small_does_no_harm), TEST(damaged_code_is_made_anew),
        TEST(mistakes_are_refused),         TEST(what_threads_build_at_once_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
