/* The host's threads: as many as asked for, and builds by several threads and processes at once. */
#include "cachekit.h"

#include "base/process.h"
#include "device/device.h"
#include "device/host.h"
#include "device/host_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* count: how many threads there are, each of which waits until all have a tile. sum: of the numbers of its tiles,
 * once: how often each is assigned; groups[1] and [2], less 1, are the schedule and its step. */
static const char SOURCE[] =
    ATN_HOST_ABI_TEXT "void count(const struct atn_call *c) {\n"
                      " int32_t *there = *(int32_t **)c->args[0];\n"
                      " for (int64_t r[2]; c->next(c, c->threads, 1, 1, r);) {\n"
                      "  __atomic_add_fetch(there, 1, __ATOMIC_SEQ_CST);\n"
                      "  while (__atomic_load_n(there, __ATOMIC_SEQ_CST) < c->threads) {}\n"
                      " }\n"
                      "}\n"
                      "void sum(const struct atn_call *c) {\n"
                      " int64_t *to = *(int64_t **)c->args[0];\n"
                      " for (int64_t r[2]; c->next(c, c->groups[0], c->groups[1] - 1, c->groups[2] - 1, r);)\n"
                      "  for (int64_t i = r[0]; i < r[1]; ++i) __atomic_add_fetch(to, i, __ATOMIC_SEQ_CST);\n"
                      "}\n"
                      "void once(const struct atn_call *c) {\n"
                      " int64_t *to = *(int64_t **)c->args[0];\n"
                      " for (int64_t r[2]; c->next(c, c->groups[0], c->groups[1] - 1, c->groups[2] - 1, r);)\n"
                      "  for (int64_t i = r[0]; i < r[1]; ++i) __atomic_add_fetch(&to[i], 1, __ATOMIC_SEQ_CST);\n"
                      "}\n";

static world here;
static kit_faults faults;
static kit_log seen;
static atn_ctx *ctx;
static atn_devices *devices;
static atn_device *device;
static atn_module *module;

/* Launches `name` of `m` with one buffer of `bytes`, zeroed before and copied to `out` after. */
static bool launch_as(atn_device *on, atn_module *m, const char *name, int32_t threads, const atn_launch *like,
                      void *out, size_t bytes) {
    atn_function *function;
    atn_buffer *buffer = NULL;
    atn_status status = atn_module_function(m, name, &function);
    if (status == ATN_OK) status = atn_buffer_create(on, bytes, &buffer);
    if (status == ATN_OK) status = atn_buffer_fill(NULL, buffer, 0, 0, bytes);
    atn_arg args[] = {{.buffer = buffer}};
    atn_launch how = *like;
    how.threads = threads;
    how.args = args;
    how.n_args = 1;
    if (status == ATN_OK) status = atn_function_launch(NULL, function, &how);
    if (status == ATN_OK) status = atn_buffer_get(NULL, buffer, 0, out, bytes);
    atn_buffer_free(buffer);
    return status == ATN_OK;
}

static bool launch(atn_device *on, atn_module *m, const char *name, int32_t threads, size_t groups, void *out,
                   size_t bytes) {
    return launch_as(on, m, name, threads, &(atn_launch){.groups = {groups}}, out, bytes);
}

/* ---- several at once ---- */

/* Builds and runs on a context of its own on the common cache; 0 when all is right. */
static int build_and_run(const char *source, const char *compiler) {
    kit_faults own_faults;
    kit_log own_log;
    atn_ctx *own = world_ctx(&own_faults, &own_log, here.cache);
    atn_devices *list = NULL;
    atn_device *its = NULL;
    atn_module *built = NULL;
    int64_t sum = 0;
    int wrong = 0;
    if (atn_devices_find(own, &list) != ATN_OK || atn_device_open(list, 0, &its) != ATN_OK) wrong = 1;
    if (!wrong && atn_module_build(its, &(atn_build){.source = source, .compiler = compiler}, &built) != ATN_OK)
        wrong = 2;
    if (!wrong && (!launch(its, built, "sum", 0, 1001, &sum, sizeof sum) || sum != 500500)) wrong = 3;
    if (wrong) print_message("    %d: %s\n", wrong, atn_ctx_message(own));
    atn_module_free(built);
    atn_device_close(its);
    atn_devices_free(list);
    atn_ctx_free(own);
    return wrong ? wrong : own_faults.live ? 4 : 0;
}

KIT_TEST(processes_build_at_once) {
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    int gate[2];
    char nothing;
    assert_int_equal(pipe(gate), 0);
    for (int k = 0; k < PROCESSES; ++k) {
        children[k] = fork();
        if (children[k] != 0) continue;
        close(gate[1]);
        if (read(gate[0], &nothing, 1) != 0) _exit(9); /* all start when the gate is closed */
        _exit(build_and_run(SOURCE, NULL));
    }
    close(gate[1]);
    for (int k = 0; k < PROCESSES; ++k) {
        int status;
        assert_int_equal(waitpid(children[k], &status, 0), children[k]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    close(gate[0]);
    assert_int_equal(entries(here.cache, ""), 1); /* one object, nothing left lying */
}

typedef struct builder {
    atn_device *its;
    const char *source;
    int wrong;
} builder;

static void *build_much(void *argument) {
    builder *self = argument;
    atn_module *built;
    for (int k = 0; k < 6 && !self->wrong; ++k) {
        int64_t sum = 0;
        bool fresh = k % 3 == 0;
        if (atn_module_build(self->its, &(atn_build){.source = self->source, .no_cache = fresh}, &built) != ATN_OK)
            self->wrong = 1;
        if (!self->wrong && (!launch(self->its, built, "sum", 0, 1001, &sum, sizeof sum) || sum != 500500))
            self->wrong = 2;
        if (!self->wrong) atn_module_free(built);
    }
    return NULL;
}

/* Two handles of one context, in two threads: the same source, then sources of their own. */
KIT_TEST(threads_build_at_once) {
    char *other = malloc(sizeof SOURCE + 20);
    sprintf(other, "%s/* other */\n", SOURCE);
    const char *const sources[][2] = {{SOURCE, SOURCE}, {SOURCE, other}};
    for (int round = 0; round < 2; ++round) {
        pthread_t threads[2];
        builder builders[2];
        for (int k = 0; k < 2; ++k) {
            builders[k] = (builder){.source = sources[round][k]};
            kit_ok(ctx, atn_device_open(devices, 0, &builders[k].its));
        }
        for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, build_much, &builders[k]);
        for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
        for (int k = 0; k < 2; ++k) {
            assert_int_equal(builders[k].wrong, 0);
            atn_device_close(builders[k].its);
        }
    }
    free(other);
}

#ifndef __SANITIZE_THREAD__
typedef struct loader {
    atn_device *its;
    atomic_bool over;
    bool wrong;
} loader;

static void *load_much(void *argument) {
    loader *self = argument;
    atn_module *built;
    while (!atomic_load(&self->over) && !self->wrong) {
        if (atn_module_build(self->its, &(atn_build){.source = SOURCE}, &built) == ATN_OK)
            atn_module_free(built);
        else
            self->wrong = true;
        usleep(50); /* locks are not fair: a fork might wait for long */
    }
    return NULL;
}

/* A fork while another thread loads code: the child can load its own. */
KIT_TEST(children_load_code) {
    enum { FORKS = 100, SECONDS = 60 };
    loader self = {.its = device};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, load_much, &self), 0);
    for (int k = 0; k < FORKS; ++k) {
        pid_t child = fork();
        if (child == 0) {
            alarm(SECONDS);
            void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL); /* not loaded yet */
            _exit(library && dlclose(library) == 0 ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    atomic_store(&self.over, true);
    pthread_join(thread, NULL);
    assert_false(self.wrong);
}
#endif

KIT_TEST(modules_go_while_threads_stay) {
    static const char *const NAMES[] = {"gcc", "clang"};
    for (int k = 0; k < 10; ++k) {
        char *path;
        kit_ok(ctx, atn_process_find(ctx, NAMES[k % 2], &path));
        if (!path && k < 2) print_message("    %s: skipped, it is not here\n", NAMES[k]);
        if (!path) continue;
        atn_free(ctx, path);
        assert_int_equal(build_and_run(SOURCE, NAMES[k % 2]), 0);
        usleep(k % 4 ? 3000 : 0); /* threads that spin, threads that sleep */
    }
}

/* ---- how many ---- */

KIT_TEST(there_are_as_many_as_asked) {
    int32_t cores = atn_device_get_info(device)->cores, got = 0;
    for (int32_t asked = 0; asked <= cores + 2; ++asked) {
        assert_true(launch(device, module, "count", asked, 1, &got, sizeof got));
        assert_int_equal(got, asked == 0 || asked > cores ? cores : asked);
    }
}

/* Every schedule, few and many tiles, ranges that do not divide them: each tile once. */
KIT_TEST(each_tile_is_assigned_once) {
    enum { MOST = 1500 };
    static const size_t COUNTS[] = {0, 1, 2, 3, 17, MOST}, STEPS[] = {0, 1, 7, 5000};
    static int64_t times[MOST];
    for (size_t schedule = 0; schedule < 3; ++schedule)
        for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; ++c)
            for (size_t s = 0; s < sizeof STEPS / sizeof *STEPS; ++s)
                for (int32_t threads = 0; threads < 3; ++threads) {
                    atn_launch like = {.groups = {COUNTS[c], schedule + 1, STEPS[s] + 1}};
                    assert_true(launch_as(device, module, "once", threads, &like, times, sizeof times));
                    for (size_t k = 0; k < MOST; ++k) assert_int_equal(times[k], k < COUNTS[c]);
                }
}

KIT_TEST(a_pinned_caller_has_one_core) {
    cpu_set_t before, one;
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    size_t last = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &before)) last = cpu;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    atn_devices *list;
    kit_ok(ctx, atn_devices_find(ctx, &list));
    assert_int_equal(atn_devices_info(list, 0)->cores, 1);
    atn_devices_free(list);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof before, &before), 0);
}

static int setup(void **state) {
    (void)state;
    world_begin(&here);
    return 0;
}

static int setup_device(void **state) {
    setup(state);
    ctx = world_ctx(&faults, &seen, here.cache);
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_ok(ctx, atn_module_build(device, &(atn_build){.source = SOURCE}, &module));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    assert_true(entries(here.cache, "work-") <= 0);
    world_end(&here);
    return 0;
}

static int teardown_device(void **state) {
    atn_module_free(module);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    assert_int_equal(faults.live, 0);
    return teardown(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup_device, teardown_device)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processes_build_at_once, setup, teardown),
        TEST(threads_build_at_once),
#ifndef __SANITIZE_THREAD__
        TEST(children_load_code),
#endif
        TEST(modules_go_while_threads_stay),
        TEST(there_are_as_many_as_asked),
        TEST(each_tile_is_assigned_once),
        TEST(a_pinned_caller_has_one_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
