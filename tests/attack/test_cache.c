/* Attacks on the cache of built code: another user puts code, links or a key into it while it is open to all, and the
 * owner closes it later. Nothing that was put there is ever loaded, written through or trusted. */
#include "device/cachekit.h"

#include "device/device.h"
#include "device/host_abi.h"

#include <fcntl.h>

enum { STRANGER = 61234 }; /* a user without a name */

/* What the owner builds gives 42; what the attacker plants leaves a mark as soon as it is loaded, and gives 13. */
#define SOURCE                                                                                                         \
    ATN_HOST_ABI_TEXT                                                                                                  \
    "void answer(const struct atn_call *c) { **(int32_t **)c->args[0] = 42; }\n"
#define PLANT                                                                                                          \
    ATN_HOST_ABI_TEXT                                                                                                  \
    "#include <fcntl.h>\n#include <unistd.h>\n"                                                                        \
    "__attribute__((constructor)) static void loaded(void) { close(open(MARK, O_CREAT | O_WRONLY, 0600)); }\n"         \
    "void answer(const struct atn_call *c) { **(int32_t **)c->args[0] = 13; }\n"

static world here;
static kit_log seen;
static char mark[PATH_BYTES + 64];

typedef struct outcome {
    int32_t value;
    bool cached;
} outcome;

/* Builds the owner's kernel in a context of its own, as a run of a program does, and calls it. */
static outcome build_and_run(void) {
    kit_faults faults;
    atn_devices *devices;
    atn_device *device;
    atn_module *module;
    atn_function *answer;
    atn_buffer *buffer;
    outcome got = {0};
    atn_ctx *ctx = world_ctx(&faults, &seen, here.cache);
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_ok(ctx, atn_module_build(device, &(atn_build){.source = SOURCE}, &module));
    got.cached = atn_module_cached(module);
    kit_ok(ctx, atn_module_function(module, "answer", &answer));
    kit_ok(ctx, atn_buffer_create(device, sizeof got.value, &buffer));
    atn_arg args[] = {{.buffer = buffer}};
    kit_ok(ctx, atn_function_launch(NULL, answer, &(atn_launch){.groups = {1}, .args = args, .n_args = 1}));
    kit_ok(ctx, atn_buffer_get(NULL, buffer, 0, &got.value, sizeof got.value));
    atn_buffer_free(buffer);
    atn_module_free(module);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    assert_int_equal(faults.live, 0);
    return got;
}

static void expect(bool cached) {
    outcome got = build_and_run();
    assert_int_equal(got.value, 42);
    assert_int_equal(got.cached, cached);
    assert_int_not_equal(access(mark, F_OK), 0); /* the plant was not even loaded */
}

/* The shared object in the cache, as built by the first run. */
static void kept_object(char path[PATH_BYTES + 300], atn_hash *name) {
    DIR *dir = opendir(here.cache);
    assert_non_null(dir);
    path[0] = '\0';
    for (struct dirent *entry; (entry = readdir(dir));) {
        unsigned long long high, low;
        const char *dot = strchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".so") != 0 || sscanf(entry->d_name, "%16llx%16llx", &high, &low) != 2) continue;
        *name = (atn_hash){high, low};
        snprintf(path, PATH_BYTES + 300, "%s/%s", here.cache, entry->d_name);
    }
    closedir(dir);
    assert_true(*path);
}

/* The attacker's shared object; owned by the caller. */
static char *make_plant(size_t *bytes) {
    char command[4 * PATH_BYTES], path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/plant.c", here.dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "#define MARK \"%s\"\n%s", mark, PLANT);
    assert_int_equal(fclose(file), 0);
    snprintf(path, sizeof path, "%s/plant.so", here.dir);
    snprintf(command, sizeof command, "cc -w -shared -fPIC -o '%s' '%s/plant.c'", path, here.dir);
    assert_int_equal(system(command), 0);
    file = fopen(path, "re");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes + 64);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void write_plant(const char *path, const char *data, size_t bytes) {
    unlink(path);
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0755);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
    close(fd);
}

/* Reproduces the report: the checksum of old is public, so the attacker has it, too. */
KIT_TEST(a_plant_with_a_public_checksum) {
    char path[PATH_BYTES + 300];
    atn_hash name;
    size_t bytes;
    expect(false);
    expect(true);
    kept_object(path, &name);
    char *plant = make_plant(&bytes);
    atn_hash sum = atn_hash_add(name, plant, bytes);
    memcpy(plant + bytes, "attune2", 8);
    memcpy(plant + bytes + 8, &sum, sizeof sum);
    for (int owner = 0; owner < (geteuid() == 0 ? 2 : 1); ++owner) {
        assert_int_equal(chmod(here.cache, 0777), 0);
        write_plant(path, plant, bytes + 24);
        if (owner) assert_int_equal(chown(path, STRANGER, STRANGER), 0);
        assert_int_equal(chmod(here.cache, 0700), 0); /* what attune advised, once */
        expect(false);
        expect(true);
    }
    free(plant);
}

/* What the owner built, in the hands of somebody else: its seal is right, and it is not used all the same. */
KIT_TEST(what_others_own_or_may_write) {
    char path[PATH_BYTES + 300];
    atn_hash name;
    expect(false);
    kept_object(path, &name);
    static const unsigned MODES[] = {0620, 0602, 0666};
    for (size_t k = 0; k < sizeof MODES / sizeof *MODES; ++k) {
        assert_int_equal(chmod(path, MODES[k]), 0);
        expect(false);
        assert_int_equal(seen.warnings, 1);
        kit_contains(seen.last, "others may write to it; delete ");
        expect(true);
        assert_int_equal(seen.warnings, 0);
    }
    if (geteuid() != 0) {
        print_message("    another user's file: skipped, only root can make one\n");
        return;
    }
    assert_int_equal(chown(path, STRANGER, STRANGER), 0);
    expect(false);
    assert_int_equal(seen.warnings, 1);
    kit_contains(seen.last, "it belongs to another user");
    expect(true);
}

/* A link where code is kept: neither read nor written through. */
KIT_TEST(links_are_not_followed) {
    char path[PATH_BYTES + 300], aside[PATH_BYTES + 64], precious[PATH_BYTES + 64], text[16] = "";
    atn_hash name;
    expect(false);
    kept_object(path, &name);
    snprintf(aside, sizeof aside, "%s/elsewhere", here.dir);
    snprintf(precious, sizeof precious, "%s/precious", here.dir);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink(aside, path), 0); /* to what is sealed rightly */
    expect(false);
    kit_contains(seen.last, "it is a symbolic link");
    write_plant(precious, "precious", 8);
    unlink(path);
    assert_int_equal(symlink(precious, path), 0);
    expect(false);
    expect(true); /* the link gave way to the file */
    int fd = open(precious, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, text, sizeof text), 8);
    close(fd);
    assert_string_equal(text, "precious");
}

/* The directory is left alone: what is built is kept for the run only, and the advice is to delete it. */
static void expect_refusal(const char *why) {
    expect(false);
    assert_int_equal(seen.warnings, 1);
    kit_contains(seen.last, why);
    kit_contains(seen.last, "delete it");
    assert_null(strstr(seen.last, "chmod"));
}

KIT_TEST(a_key_of_others) {
    char key[PATH_BYTES + 64], aside[PATH_BYTES + 64];
    struct stat info;
    snprintf(key, sizeof key, "%s/key", here.cache);
    snprintf(aside, sizeof aside, "%s/key", here.dir);
    expect(false);
    assert_int_equal(stat(key, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(chmod(key, 0644), 0);
    expect_refusal("others may know its key");
    assert_int_equal(chmod(key, 0600), 0);
    expect(true);
    assert_int_equal(rename(key, aside), 0);
    assert_int_equal(symlink(aside, key), 0);
    expect_refusal("its key is a symbolic link");
    unlink(key);
    assert_int_equal(mkdir(key, 0700), 0);
    expect_refusal("its key was put there by another user");
    rmdir(key);
    write_plant(key, "short", 5); /* ours, but no key */
    assert_int_equal(chmod(key, 0600), 0);
    expect(false); /* a new one: what the old one sealed is made anew */
    assert_int_equal(seen.warnings, 0);
    expect(true);
    if (geteuid() != 0) {
        print_message("    another user's key: skipped, only root can make one\n");
        return;
    }
    assert_int_equal(chown(key, STRANGER, STRANGER), 0);
    expect_refusal("its key was put there by another user");
}

KIT_TEST(an_open_directory) {
    assert_int_equal(mkdir(here.cache, 0700), 0);
    assert_int_equal(chmod(here.cache, 0777), 0);
    expect_refusal("others may write to it");
    assert_int_equal(entries(here.cache, ""), 0);
}

static int setup(void **state) {
    (void)state;
    world_begin(&here);
    snprintf(mark, sizeof mark, "%s/mark", here.dir);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    world_end(&here);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_plant_with_a_public_checksum),
        TEST(what_others_own_or_may_write),
        TEST(links_are_not_followed),
        TEST(a_key_of_others),
        TEST(an_open_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
