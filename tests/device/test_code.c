/* Code loaded from memory: what was checked is what runs, each load its own; and without memfd or /proc a file does. */
#include "cachekit.h"

#include "device/code.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static world here;
static kit_faults faults;
static kit_log seen;
static atn_ctx *ctx;
static atn_cache *cache;

/* A shared object whose function `value` gives `number`; owned by the caller. */
static char *object_of(int number, size_t *bytes) {
    char command[2 * PATH_BYTES + 200], path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/object.so", here.dir);
    snprintf(command, sizeof command, "echo 'int value(void) { return %d; }' | cc -w -shared -fPIC -x c -o '%s' -",
             number, path);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static int value_of(void *library) {
    int (*value)(void) = NULL;
    void *symbol = dlsym(library, "value");
    memcpy(&value, &symbol, sizeof symbol);
    return value ? value() : -1;
}

/* Each comes through the same descriptor's number, and the C library knows libraries by their names. */
KIT_TEST(loads_are_told_apart) {
    enum { MANY = 20 };
    void *library[MANY];
    for (int k = 0; k < MANY; ++k) {
        size_t bytes;
        char *data = object_of(100 + k, &bytes);
        kit_ok(ctx, atn_code_load(cache, "k", data, bytes, &library[k]));
        memset(data, 0, bytes); /* no longer needed */
        free(data);
        for (int j = 0; j <= k; ++j) assert_int_equal(value_of(library[j]), 100 + j);
    }
    for (int k = 0; k < MANY; ++k) dlclose(library[k]);
    assert_int_equal(entries(here.cache, "work-"), 0);
}

KIT_TEST(what_is_no_code_is_told) {
    void *library;
    kit_fails(ctx, ATN_ERR_BUILD, "junk: built code cannot be loaded",
              atn_code_load(cache, "junk", "no code", 7, &library));
    assert_null(library);
    size_t bytes;
    char *data = object_of(1, &bytes);
    kit_fails(ctx, ATN_ERR_BUILD, "cannot be loaded", atn_code_load(cache, "half", data, 100, &library));
    free(data);
    assert_int_equal(entries(here.cache, "work-"), 0);
}

/* No descriptor of it is left: a program that is run by us could read, though not change, what it finds. */
KIT_TEST(no_descriptor_is_left) {
    void *library;
    size_t bytes;
    char *data = object_of(7, &bytes);
    int before = entries("/proc/self/fd", "");
    kit_ok(ctx, atn_code_load(cache, "k", data, bytes, &library));
    assert_int_equal(entries("/proc/self/fd", ""), before);
    dlclose(library);
    free(data);
}

/* A system call that is not there from now on; false: this cannot be had here. */
static bool forbid(int number) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

KIT_TEST(without_memfd_a_file_does) {
    size_t bytes;
    char *data = object_of(11, &bytes);
    pid_t child = fork();
    if (child == 0) {
        void *library;
        if (!forbid(SYS_memfd_create)) _exit(77);
        if (atn_code_load(cache, "k", data, bytes, &library) != ATN_OK) _exit(1);
        _exit(value_of(library) != 11 ? 2 : entries(here.cache, "work-") != 0 ? 3 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    free(data);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) print_message("    skipped: no system call can be forbidden here\n"), skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **state) {
    (void)state;
    world_begin(&here);
    ctx = world_ctx(&faults, &seen, here.cache);
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_ctx_free(ctx);
    assert_int_equal(faults.live, 0);
    world_end(&here);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(loads_are_told_apart),
        TEST(what_is_no_code_is_told),
        TEST(no_descriptor_is_left),
        TEST(without_memfd_a_file_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
