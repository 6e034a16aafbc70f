/* What is OpenCL's own: listing, libraries that are missing or lie, error names, builds and their cache, limits,
 * the ways of OpenCL 1.1, memory that runs out, a context that is lost. What all backends share is in
 * test_conformance.c. */
#include "testkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "device/cache.h"
#include "device/opencl.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TWICE[] = "__kernel void twice(__global float *a, int n) {\n"
                            "    int i = (int)get_global_id(0);\n"
                            "    if (i < n) a[i] = 2.0f * a[i];\n"
                            "}\n";

/* ---- what the tests stand on ---- */

/* The first OpenCL device, opened; NULL when there is none. */
static atn_device *open_first(atn_ctx *ctx) {
    atn_devices *devices;
    atn_device *device = NULL;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t k = 0; k < atn_devices_count(devices) && !device; ++k)
        if (strcmp(atn_devices_info(devices, k)->backend, "opencl") == 0)
            kit_ok(ctx, atn_device_open(devices, k, &device));
    atn_devices_free(devices);
    return device;
}

#define OPEN_OR_SKIP(ctx, device)                                                                                      \
    atn_device *device = open_first(ctx);                                                                              \
    if (!(device)) {                                                                                                   \
        print_message("SKIPPED: no OpenCL device here; install a driver or PoCL (pocl-opencl-icd) to run this\n");     \
        kit_free(ctx);                                                                                                 \
        skip();                                                                                                        \
    }

static void done(atn_ctx *ctx, atn_device *device) {
    atn_device_close(device);
    kit_free(ctx);
}

/* twice() over 100 values gives what it should. */
static void check_twice(atn_ctx *ctx, atn_module *module) {
    atn_function *function;
    atn_buffer *buffer;
    float values[100];
    int32_t n = 100;
    for (int k = 0; k < n; ++k) values[k] = (float)k;
    kit_ok(ctx, atn_module_function(module, "twice", &function));
    kit_ok(ctx, atn_buffer_create(module->device, sizeof values, &buffer));
    kit_ok(ctx, atn_buffer_put(NULL, buffer, 0, values, sizeof values));
    const atn_arg args[] = {{.buffer = buffer}, {.value = &n, .bytes = sizeof n}};
    const atn_launch launch = {.groups = {7}, .items = {16}, .args = args, .n_args = 2};
    kit_ok(ctx, atn_function_launch(NULL, function, &launch));
    kit_ok(ctx, atn_buffer_get(NULL, buffer, 0, values, sizeof values));
    for (int k = 0; k < n; ++k) assert_true(values[k] == 2.0f * (float)k);
    atn_buffer_free(buffer);
}

static bool has_note(const atn_devices *devices, const char *part) {
    for (int32_t k = 0; k < atn_devices_note_count(devices); ++k)
        if (strstr(atn_devices_note(devices, k), part)) return true;
    return false;
}

static int32_t count_opencl(const atn_devices *devices) {
    int32_t count = 0;
    for (int32_t k = 0; k < atn_devices_count(devices); ++k)
        count += strcmp(atn_devices_info(devices, k)->backend, "opencl") == 0;
    return count;
}

/* ---- libraries ---- */

static void check_library(const char *library, const char *mode, const char *note, int32_t devices_there) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    setenv("ATTUNE_OPENCL_LIB", library, 1);
    setenv("ATTUNE_FAKE_OPENCL", mode, 1);
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    assert_int_equal(count_opencl(devices), devices_there);
    if (note && !has_note(devices, note)) fail_msg("'%s' (%s): no note has '%s'", library, mode, note);
    for (int32_t k = 0; k < atn_devices_count(devices); ++k) {
        if (strcmp(atn_devices_info(devices, k)->backend, "opencl") != 0) continue;
        atn_device *device;
        kit_fails(ctx, ATN_ERR_DEVICE, "CL_DEVICE_NOT_AVAILABLE", atn_device_open(devices, k, &device));
        assert_null(device);
    }
    atn_devices_free(devices);
    unsetenv("ATTUNE_OPENCL_LIB");
    unsetenv("ATTUNE_FAKE_OPENCL");
    kit_free(ctx);
}

KIT_TEST(missing_library) {
    check_library("/nowhere/libOpenCL.so.1", "", "opencl: ATTUNE_OPENCL_LIB names /nowhere/libOpenCL.so.1", 0);
    check_library("libm.so.6", "", "opencl: libm.so.6 has no clGetPlatformIDs", 0);
}

KIT_TEST(lying_library) {
    check_library(FAKE_OPENCL, "no platform", "opencl: no platform is installed", 0);
    check_library(FAKE_OPENCL, "broken loader", "opencl: the platforms cannot be listed: CL_OUT_OF_HOST_MEMORY (-6)",
                  0);
    check_library(FAKE_OPENCL, "no device", "opencl: platform 'Fake' has no device", 0);
    check_library(FAKE_OPENCL, "broken", "opencl: platform 'Fake' fails to list its devices: CL_OUT_OF_RESOURCES", 0);
    check_library(FAKE_OPENCL, "mute", "opencl: device 0 of platform '' is not available", 0);
    check_library(FAKE_OPENCL, "many", "is not available", 0);
    check_library(FAKE_OPENCL, "terse", NULL, 1);
    check_library(FAKE_OPENCL, "one for everything", NULL, 1);
}

/* What child processes inherit is what we were given. */
KIT_TEST(environment_stays) {
    char *before = kit_getenv("OCL_ICD_FILENAMES");
    setenv("OCL_ICD_FILENAMES", "libone.so:libtwo.so", 1);
    check_library(FAKE_OPENCL, "terse", NULL, 1);
    assert_string_equal(getenv("OCL_ICD_FILENAMES"), "libone.so:libtwo.so");
    kit_setenv("OCL_ICD_FILENAMES", before);
}

KIT_TEST(error_names) {
    assert_string_equal(atn_opencl_error_find(-5)->name, "CL_OUT_OF_RESOURCES");
    assert_string_equal(atn_opencl_error_find(-54)->name, "CL_INVALID_WORK_GROUP_SIZE");
    assert_string_equal(atn_opencl_error_find(-12345)->name, "an unknown error");
    assert_int_equal(atn_opencl_error_find(-4)->status, ATN_ERR_MEMORY);
    assert_int_equal(atn_opencl_error_find(-36)->after, ATN_OPENCL_LOST);
    for (cl_int code = -72; code <= -1; ++code) {
        bool gap = code < -19 && code > -30;
        if (!gap) assert_int_equal(atn_opencl_error_find(code)->code, code);
    }
}

KIT_TEST(listing) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    const atn_device_info *info = atn_device_get_info(device);
    print_message("%s | %s | %s | %s: %d units, simd %d, group %d, fp64 %d, fp16 %d, subgroups %d, unified %d\n",
                  info->name, info->platform, info->driver, info->arch, info->cores, info->simd, info->max_group,
                  info->fp64, info->fp16, info->subgroups, info->unified);
    assert_true(info->name[0] && info->name[0] != ' ' && info->name[strlen(info->name) - 1] != ' ');
    assert_true(info->platform[0] && info->driver[0] && info->arch[0]);
    assert_true(info->cores > 0 && info->simd > 0 && info->max_group > 0);
    assert_true(info->max_items[0] > 0 && info->max_items[1] > 0 && info->max_items[2] > 0);
    assert_true(info->memory_bytes > 0 && info->max_alloc_bytes > 0 && info->max_alloc_bytes <= info->memory_bytes);
    done(ctx, device);
}

/* ---- builds ---- */

typedef struct heard {
    int lines; /* at INFO */
    char text[8192];
} heard;

static void hear(void *user, atn_log_level level, const char *line) {
    heard *all = user;
    if (level != ATN_LOG_INFO) return;
    ++all->lines;
    size_t used = strlen(all->text);
    snprintf(all->text + used, sizeof all->text - used, "%s\n", line);
}

KIT_TEST(build_failure) {
    heard all = {0};
    char *dir = kit_tempdir();
    atn_ctx *ctx;
    const atn_ctx_settings options = {.log = hear, .log_user = &all, .cache_dir = dir};
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    atn_device *device = open_first(ctx);
    if (device) {
        atn_module *module;
        const atn_build build = {
            .name = "broken", .source = "__kernel void f(__global int *a) {\n  a[0] = 1;\n  a[1] = missing_name;\n}\n"};
        kit_fails(ctx, ATN_ERR_BUILD, "missing_name", atn_module_build(device, &build, &module));
        print_message("%s\n", atn_ctx_message(ctx));
        kit_contains(atn_ctx_message(ctx), "broken does not build");
        kit_contains(atn_ctx_message(ctx), "error");
        kit_contains(all.text, "missing_name");
        assert_null(module);
        const atn_build good = {.source = TWICE};
        kit_ok(ctx, atn_module_build(device, &good, &module));
        check_twice(ctx, module);
        atn_module_free(module);
    }
    atn_device_close(device);
    atn_ctx_free(ctx);
    kit_remove(dir);
    if (device) return;
    print_message("SKIPPED: no OpenCL device here\n");
    skip();
}

KIT_TEST(build_options) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    static const struct {
        int version;
        atn_build build;
        const char *options;
    } rows[] = {
        {300, {.source = TWICE}, "-cl-std=CL1.2"},
        {102,
         {.source = TWICE, .fast_math = true},
         "-cl-std=CL1.2 -cl-fast-relaxed-math -cl-mad-enable -cl-denorms-are-zero"},
        {101, {.source = TWICE}, ""},
        {101, {.source = TWICE, .flags = "-DN=3"}, " -DN=3"},
        {300, {.source = TWICE, .flags = "-cl-std=CL3.0"}, " -cl-std=CL3.0"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        atn_opencl_of(device)->version = rows[k].version;
        char *options = atn_opencl_options(device, &rows[k].build);
        assert_non_null(options);
        assert_string_equal(options, rows[k].options);
        atn_free(ctx, options);
    }
    done(ctx, device);
}

static atn_module *build_twice(atn_ctx *ctx, atn_device *device, bool cached) {
    atn_module *module;
    const atn_build build = {.name = "twice", .source = TWICE};
    kit_ok(ctx, atn_module_build(device, &build, &module));
    assert_int_equal(atn_module_cached(module), cached);
    assert_true(atn_module_code_bytes(module) > 0);
    check_twice(ctx, module);
    return module;
}

KIT_TEST(cache_hit) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    atn_module *first = build_twice(ctx, device, false), *second = build_twice(ctx, device, true);
    assert_int_equal(atn_module_code_bytes(first), atn_module_code_bytes(second));
    atn_module_free(first);
    atn_module_free(second);
    atn_device_close(device);
    device = open_first(ctx); /* and when the device was closed in between */
    atn_module_free(build_twice(ctx, device, true));
    atn_module *module;
    const atn_build other[] = {{.name = "twice", .source = TWICE, .fast_math = true},
                               {.source = TWICE, .no_cache = true}};
    for (size_t k = 0; k < 2; ++k) {
        kit_ok(ctx, atn_module_build(device, &other[k], &module));
        assert_false(atn_module_cached(module));
        atn_module_free(module);
    }
    done(ctx, device);
}

/* Flips a byte near the end of every regular file of the directory; how many there were. */
static int damage_files(const char *dir) {
    int damaged = 0;
    DIR *handle = opendir(dir);
    assert_non_null(handle);
    for (struct dirent *entry; (entry = readdir(handle));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') damaged += damage_files(path);
        if (entry->d_type != DT_REG) continue;
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        if (fseek(file, -20, SEEK_END) == 0) {
            int byte = fgetc(file);
            fseek(file, -20, SEEK_END);
            fputc(byte ^ 0x55, file);
            ++damaged;
        }
        fclose(file);
    }
    closedir(handle);
    return damaged;
}

KIT_TEST(damaged_binary) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    const atn_build build = {.name = "twice", .source = TWICE};
    atn_module_free(build_twice(ctx, device, false));
    atn_cache *cache;
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    assert_true(damage_files(atn_cache_dir(cache)) > 0);
    atn_module_free(build_twice(ctx, device, false)); /* the checksum is wrong */
    atn_module_free(build_twice(ctx, device, true));

    char *options = atn_opencl_options(device, &build); /* now one that the cache believes, but no driver does */
    atn_hash key = atn_opencl_key(device, &build, options);
    atn_free(ctx, options);
    /* as long as a header is: drivers read that without a look at the length */
    const char junk[512] = "this is not binary";
    kit_ok(ctx, atn_cache_put(cache, key, ".clbin", junk, sizeof junk));
    atn_module_free(build_twice(ctx, device, false));
    atn_module_free(build_twice(ctx, device, true)); /* and the good one took its place */
    done(ctx, device);
}

/* ---- functions and launches ---- */

KIT_TEST(functions) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    atn_module *module = build_twice(ctx, device, false);
    atn_function *one, *two;
    atn_function_info info;
    kit_ok(ctx, atn_module_function(module, "twice", &one));
    kit_ok(ctx, atn_module_function(module, "twice", &two));
    assert_ptr_equal(one, two);
    kit_fails(ctx, ATN_ERR_INPUT, "'thrice'", atn_module_function(module, "thrice", &two));
    assert_null(two);
    kit_ok(ctx, atn_function_get_info(one, 64, &info));
    assert_true(info.max_group > 0 && info.max_group <= atn_device_get_info(device)->max_group);
    assert_true(info.registers == -1 && info.groups_per_core == -1 && info.local_bytes >= 0);
    atn_module_free(module);
    done(ctx, device);
}

KIT_TEST(launches_refused) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    atn_module *module = build_twice(ctx, device, false);
    atn_function *function;
    atn_buffer *buffer;
    int32_t n = 1;
    kit_ok(ctx, atn_module_function(module, "twice", &function));
    kit_ok(ctx, atn_buffer_create(device, 4, &buffer));
    const atn_arg args[] = {{.buffer = buffer}, {.value = &n, .bytes = sizeof n}},
                  wrong[] = {{.buffer = buffer}, {.value = &n, .bytes = 1}};
    const size_t over = (size_t)atn_device_get_info(device)->max_group + 1;
    atn_launch launch = {.groups = {1}, .items = {over}, .args = args, .n_args = 2};
    kit_fails(ctx, ATN_ERR_DEVICE, "too large", atn_function_launch(NULL, function, &launch));
    launch.items[0] = SIZE_MAX / 2, launch.items[1] = 8;
    kit_fails(ctx, ATN_ERR_DEVICE, "too large", atn_function_launch(NULL, function, &launch));
    launch.groups[0] = SIZE_MAX / 2, launch.items[0] = 8, launch.items[1] = 1;
    kit_fails(ctx, ATN_ERR_DEVICE, "overflow", atn_function_launch(NULL, function, &launch));
    launch.groups[0] = 1, launch.n_args = 1;
    kit_fails(ctx, ATN_ERR_INPUT, "takes 2 arguments, the launch gives 1",
              atn_function_launch(NULL, function, &launch));
    launch.args = wrong, launch.n_args = 2;
    kit_fails(ctx, ATN_ERR_INPUT, "argument 1 of function 'twice'", atn_function_launch(NULL, function, &launch));
    check_twice(ctx, module); /* none of that did harm */
    atn_buffer_free(buffer);
    atn_module_free(module);
    done(ctx, device);
}

/* ---- the ways of OpenCL 1.1 ---- */

static atn_opencl_api real; /* what the stand-ins below rest on */
static int waits;           /* calls of old_wait */

/* PoCL ends the process in its own, OpenCL 1.1 having gone from it. */
static cl_int old_wait(cl_command_queue queue, cl_uint count, const cl_event *events) {
    ++waits;
    return real.clEnqueueBarrierWithWaitList(queue, count, events, NULL);
}

KIT_TEST(old_version) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    atn_opencl_device *own = atn_opencl_of(device);
    print_message("markers keep time: %s\n", own->marker_times ? "yes" : "no");
    real = own->api;
    if (real.clEnqueueBarrierWithWaitList) own->api.clEnqueueWaitForEvents = old_wait;
    waits = 0;
    for (int round = 0; round < 4; ++round) {
        own->version = 101;
        if (round == 1) own->marker_times = false;
        if (round == 2)
            own->api.clEnqueueMarker = NULL, own->api.clEnqueueWaitForEvents = NULL, own->marker_times = true;
        if (round == 3) own->version = 300, own->api.clEnqueueFillBuffer = NULL;
        enum { BYTES = 5000 };
        uint8_t bytes[BYTES];
        atn_buffer *buffer;
        atn_queue *queue;
        atn_event *before, *after;
        double seconds;
        kit_ok(ctx, atn_buffer_create(device, BYTES, &buffer));
        kit_ok(ctx, atn_queue_create(device, &queue));
        kit_ok(ctx, atn_event_record(atn_device_queue(device), &before));
        kit_ok(ctx, atn_buffer_fill(NULL, buffer, 0, 1, BYTES));
        kit_ok(ctx, atn_buffer_fill(NULL, buffer, 3, 7, BYTES - 6));
        kit_ok(ctx, atn_event_record(atn_device_queue(device), &after));
        kit_ok(ctx, atn_queue_wait(queue, after));
        kit_ok(ctx, atn_buffer_get(queue, buffer, 0, bytes, BYTES));
        for (int k = 0; k < BYTES; ++k) assert_int_equal(bytes[k], k < 3 || k >= BYTES - 3 ? 1 : 7);
        kit_ok(ctx, atn_event_elapsed(before, after, &seconds));
        assert_true(seconds >= 0 && seconds < 100);
        atn_event_free(before), atn_event_free(after);
        atn_queue_free(queue);
        atn_buffer_free(buffer);
    }
    if (real.clEnqueueBarrierWithWaitList) assert_int_equal(waits, 2); /* rounds 0 and 1 */
    done(ctx, device);
}

/* ---- what goes wrong ---- */

static cl_int no_memory(cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, const void *f, cl_uint g,
                        const cl_event *h, cl_event *i) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i;
    return -4;
}

static cl_int no_resources(cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d, const size_t *e,
                           const size_t *f, cl_uint g, const cl_event *h, cl_event *i) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i;
    return -5;
}

static cl_int ruined(cl_command_queue a) { return (void)a, -36; }

KIT_TEST(out_of_memory) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    atn_opencl_api *api = &atn_opencl_of(device)->api, saved = *api;
    atn_buffer *buffer;
    const size_t huge = (size_t)atn_device_get_info(device)->max_alloc_bytes + 1;
    kit_fails(ctx, ATN_ERR_MEMORY, "largest buffer is", ATN_BACKEND_OPENCL.buffer_create(device, huge, &buffer));
    api->clEnqueueWriteBuffer = no_memory; /* as a driver that reserves at first use */
    kit_fails(ctx, ATN_ERR_MEMORY, "a buffer of 4096 bytes", atn_buffer_create(device, 4096, &buffer));
    assert_null(buffer);
    *api = saved;

    atn_module *module = build_twice(ctx, device, false);
    atn_function *function;
    const atn_launch launch = {.groups = {1}, .args = (const atn_arg[]){{.value = &huge, .bytes = 4}}, .n_args = 0};
    kit_ok(ctx, atn_module_function(module, "twice", &function));
    ((atn_opencl_function *)function)->n_args = 0;
    api->clEnqueueNDRangeKernel = no_resources;
    kit_fails(ctx, ATN_ERR_MEMORY, "CL_OUT_OF_RESOURCES", atn_function_launch(NULL, function, &launch));
    *api = saved;
    ((atn_opencl_function *)function)->n_args = 2;
    assert_false(atn_device_lost(device));
    check_twice(ctx, module);
    atn_module_free(module);
    done(ctx, device);
}

KIT_TEST(lost) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    atn_module *module = build_twice(ctx, device, false);
    atn_buffer *buffer, *other;
    kit_ok(ctx, atn_buffer_create(device, 64, &buffer));
    atn_opencl_of(device)->api.clFinish = ruined;
    kit_fails(ctx, ATN_ERR_LOST, "CL_INVALID_COMMAND_QUEUE", atn_queue_finish(atn_device_queue(device)));
    assert_true(atn_device_lost(device));
    assert_int_equal(atn_buffer_create(device, 64, &other), ATN_ERR_LOST);
    atn_buffer_free(buffer);
    atn_module_free(module);
    atn_device_close(device);

    device = open_first(ctx); /* a new handle is a new context */
    module = build_twice(ctx, device, true);
    atn_module_free(module);
    done(ctx, device);
}

static cl_int failed_copy(cl_event a, cl_uint b, size_t c, void *to, size_t *d) {
    (void)a, (void)b, (void)c, (void)d;
    return *(cl_int *)to = -12, CL_SUCCESS;
}

/* A copy that was accepted and failed on its way: whoever waits next is told, once. */
KIT_TEST(failed_copies_show) {
    atn_ctx *ctx = kit_ctx();
    OPEN_OR_SKIP(ctx, device);
    atn_opencl_api *api = &atn_opencl_of(device)->api, saved = *api;
    atn_buffer *buffer;
    atn_queue *queue;
    atn_event *event;
    char bytes[64] = "";
    kit_ok(ctx, atn_buffer_create(device, sizeof bytes, &buffer));
    kit_ok(ctx, atn_queue_create(device, &queue));
    for (int way = 0; way < 3; ++way) {
        *api = saved;
        kit_ok(ctx, atn_buffer_put_async(queue, buffer, 0, bytes, sizeof bytes));
        kit_ok(ctx, atn_event_record(queue, &event));
        api->clGetEventInfo = failed_copy;
        atn_status status = way == 0   ? atn_queue_finish(queue)
                            : way == 1 ? atn_event_wait(event)
                                       : atn_buffer_get(NULL, buffer, 0, bytes, 1);
        kit_fails(ctx, ATN_ERR_DEVICE, "a copy from the host to a buffer: CL_MAP_FAILURE (-12)", status);
        kit_ok(ctx, atn_queue_finish(queue));
        assert_false(atn_device_lost(device));
        atn_event_free(event);
    }
    *api = saved;
    atn_queue_free(queue);
    atn_buffer_free(buffer);
    done(ctx, device);
}

/* Every allocation of a whole session fails once: no crash, nothing left behind. */
static atn_status session(const char *dir, bool no_cache, kit_faults *faults) {
    atn_ctx_settings options = kit_fault_options(faults);
    options.cache_dir = dir;
    atn_ctx *ctx;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_module *module = NULL;
    atn_function *function;
    atn_buffer *buffer = NULL;
    atn_event *event = NULL;
    const atn_build build = {.name = "twice", .source = TWICE, .no_cache = no_cache};
    atn_status status = atn_ctx_create(&options, &ctx);
    if (status != ATN_OK) return status;
    status = atn_devices_find(ctx, &devices);
    for (int32_t k = 0; status == ATN_OK && k < atn_devices_count(devices) && !device; ++k)
        if (strcmp(atn_devices_info(devices, k)->backend, "opencl") == 0) status = atn_device_open(devices, k, &device);
    if (status == ATN_OK && device) status = atn_module_build(device, &build, &module);
    if (status == ATN_OK && device) status = atn_module_function(module, "twice", &function);
    if (status == ATN_OK && device) status = atn_buffer_create(device, 64, &buffer);
    if (status == ATN_OK && device) status = atn_event_record(atn_device_queue(device), &event);
    atn_event_free(event);
    atn_buffer_free(buffer);
    atn_module_free(module);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status;
}

KIT_TEST(failing_allocations) {
    char *dir = kit_tempdir();
    for (int no_cache = 0; no_cache < 2; ++no_cache) {
        kit_faults faults = {0};
        assert_int_equal(session(dir, no_cache, &faults), ATN_OK); /* fills the cache */
        long total = faults.count, failed = 0;
        for (long at = 1; at <= total; ++at) {
            faults = (kit_faults){.fail_at = at};
            atn_status status = session(dir, no_cache, &faults);
            if (status != ATN_OK && status != ATN_ERR_MEMORY)
                fail_msg("allocation %ld: %s", at, atn_status_name(status));
            failed += status != ATN_OK;
            assert_int_equal(faults.live, 0);
        }
        print_message("%ld allocations, %ld of them fatal\n", total, failed);
    }
    kit_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_library),
        cmocka_unit_test(lying_library),
        cmocka_unit_test(environment_stays),
        cmocka_unit_test(error_names),
        cmocka_unit_test(listing),
        cmocka_unit_test(build_failure),
        cmocka_unit_test(build_options),
        cmocka_unit_test(cache_hit),
        cmocka_unit_test(damaged_binary),
        cmocka_unit_test(functions),
        cmocka_unit_test(launches_refused),
        cmocka_unit_test(old_version),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(lost),
        cmocka_unit_test(failed_copies_show),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
