/* What every test needs: cmocka, a context, a private cache directory, allocations that fail on demand. */
#ifndef ATN_TESTKIT_H
#define ATN_TESTKIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/context.h"

#include <attune/device.h>

/* A test that needs no state of its group's. */
#define KIT_TEST(name) static void name(__attribute__((unused)) void **state)

/* A context on a fresh, private cache directory that kit_free removes; fails the test when it cannot be made. */
atn_ctx *kit_ctx(void);
void kit_free(atn_ctx *ctx);

/* A fresh directory under the system's temporary one; owned by the caller, removed with kit_remove, and at the latest
 * when the process ends. */
char *kit_tempdir(void);
void kit_remove(char *dir);

/* In a run of all tests, code built by one program is found by the others: ATTUNE_TEST_POOL is the folder. A context of
 * kit_ctx takes from it and gives to it; a test with a cache of its own may, too. Not set: nothing is shared. */
void kit_pool_take(const char *cache_dir);
void kit_pool_give(const char *cache_dir);

/* Every allocation of a context made with these options counts; the `fail_at`-th (from 1; 0: none) fails. */
typedef struct kit_faults {
    atomic_long count; /* allocations so far */
    long fail_at;      /* the one that fails */
    atomic_long live;  /* blocks not yet freed */
} kit_faults;
atn_ctx_settings kit_fault_options(kit_faults *faults);

/* assert_int_equal(status, ATN_OK), with the context's sentence when it is not. */
#define kit_ok(ctx, call)                                                                                              \
    do {                                                                                                               \
        atn_status kit_status = (call);                                                                                \
        if (kit_status != ATN_OK) fail_msg("%s: %s: %s", #call, atn_status_name(kit_status), atn_ctx_message(ctx));    \
    } while (0)

/* The host as a device; closed by the caller. */
atn_device *kit_open_host(atn_ctx *ctx);

/* The call fails with `status` and a sentence that contains `part`. */
#define kit_fails(ctx, status, part, call)                                                                             \
    do {                                                                                                               \
        atn_status kit_status = (call);                                                                                \
        if (kit_status != (status))                                                                                    \
            fail_msg("%s: got %s, wanted %s (%s)", #call, atn_status_name(kit_status), atn_status_name(status),        \
                     atn_ctx_message(ctx));                                                                            \
        kit_contains(atn_ctx_message(ctx), part);                                                                      \
    } while (0)

void kit_contains(const char *text, const char *part);

/* Writes "#!/bin/sh" and `body` to dir/name, executable; the path is owned by the caller (free). */
char *kit_script(const char *dir, const char *name, const char *body);

/* A log that counts its warnings and keeps the last: options.log = kit_log_line, options.log_user = &log. */
typedef struct kit_log {
    atomic_int warnings;
    char last[1024]; /* warning; read it when no other thread logs */
} kit_log;
void kit_log_line(void *log, atn_log_level level, const char *line);

/* The environment's value, kept to be put back (which frees it) with kit_setenv; NULL: not set. */
char *kit_getenv(const char *name);
void kit_setenv(const char *name, char *value);

/* Waits until `pid` runs no more (a zombie that nobody reaps counts as gone); fails the test when it goes on. */
void kit_gone(long pid);

/* Does posix_spawn say that a program cannot be started? Not under emulators that make a fork of a vfork (qemu-user):
 * says that what depends on it is skipped. */
bool kit_spawn_tells(void);

/* Does a limit of memory hold? Not under emulators, which would limit themselves (qemu-user): says that what depends
 * on it is skipped. */
bool kit_memory_limits(void);

/* ATTUNE_TEST_CASES, for machines that are slow (tools/check-arch), or as many as usual. */
long kit_cases(long usual);

/* Which sample a thinned test draws: another one every day, or that of ATTUNE_TEST_DAY, which it prints. 0 where
 * ATTUNE_TEST_ALL is set: nothing is left out then. */
long kit_day(void);

/* Is it the turn of case number `n` today? One in `every` has its turn, another one every day; all of them where
 * ATTUNE_TEST_ALL is set. */
bool kit_turn(size_t n, size_t every);

/* ATTUNE_TEST_DEVICE=cuda (or host, opencl) keeps tests over all devices to that backend. */
bool kit_wants(const char *backend);

/* A small generator of repeatable random numbers (xorshift64*); start the state at any seed but 0. */
uint64_t kit_random(uint64_t *state);
double kit_uniform(uint64_t *state); /* in [0, 1) */

#endif
