/* What all tests of a program share, with setup() and teardown() for cmocka_run_group_tests: SHARED_CTX a context,
 * SHARED_DEVICE a device as well, which the named function opens, SHARED_DEVICES all of them, the host first. */
#ifndef TESTS_SUPPORT_SHARED_H
#define TESTS_SUPPORT_SHARED_H

#include "testkit.h"

#define SHARED_CTX SHARED(SHARED_NONE, SHARED_NONE)
#define SHARED_DEVICE(open)                                                                                            \
    static atn_device *device;                                                                                         \
    SHARED(device = open(ctx), atn_device_close(device))
#define SHARED_DEVICES                                                                                                 \
    static atn_devices *devices;                                                                                       \
    SHARED(kit_ok(ctx, atn_devices_find(ctx, &devices)), atn_devices_free(devices))

#define SHARED_NONE (void)ctx
#define SHARED(begin, end)                                                                                             \
    static atn_ctx *ctx;                                                                                               \
    static int setup(void **state) {                                                                                   \
        (void)state;                                                                                                   \
        ctx = kit_ctx();                                                                                               \
        begin;                                                                                                         \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static int teardown(void **state) {                                                                                \
        (void)state;                                                                                                   \
        end;                                                                                                           \
        kit_free(ctx);                                                                                                 \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static atn_ctx *ctx

#endif
