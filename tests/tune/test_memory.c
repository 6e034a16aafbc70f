/* A tuning survives every allocation that fails: it ends with a sentence, and leaves nothing behind. What it measured
 * before is still there. ATTUNE_TEST_ALL=1 fails each one, else every 11th does, another one every day. */
#include "tunekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char SPACE[] = "vec_p0 = (1, 2)\n";

static atn_status tune_once(kit_faults *faults, const char *cache, const char *database, char *message) {
    atn_ctx_settings options = kit_fault_options(faults);
    options.cache_dir = cache;
    atn_ctx *ctx;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_wisdom *wisdom = NULL;
    atn_tune_result r = {0};
    if (atn_ctx_create(&options, &ctx) != ATN_OK) { /* it is the context that holds sentences */
        snprintf(message, 256, "no context");
        return ATN_ERR_MEMORY;
    }
    message[0] = '\0';
    atn_status status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = atn_wisdom_open(ctx, database, false, &wisdom);
    atn_workload add = tunekit_add();
    atn_tune_options how = tunekit_options(SPACE);
    how.evaluations = 2;
    how.resume = true;
    if (status == ATN_OK) status = atn_tune(device, wisdom, &add, &how, &r);
    snprintf(message, 256, "%s", atn_ctx_message(ctx));
    atn_tune_result_free(&r);
    atn_wisdom_close(wisdom);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status;
}

KIT_TEST(every_allocation_may_fail) {
    char *dir = kit_tempdir(), cache[512], database[512], message[256];
    snprintf(cache, sizeof cache, "%s/cache", dir);
    snprintf(database, sizeof database, "%s/wisdom.sqlite", dir);
    kit_faults faults = {0};
    atn_status first = tune_once(&faults, cache, database, message); /* fills cache and database */
    if (first != ATN_OK) fail_msg("%s", message);
    long stride = getenv("ATTUNE_TEST_ALL") ? 1 : 11, steps = 0;
    for (long n = 1 + kit_day() % stride;; n += stride, ++steps) {
        faults = (kit_faults){.fail_at = n};
        atn_status status = tune_once(&faults, cache, database, message);
        if (faults.live != 0) fail_msg("allocation %ld failed: %ld blocks stay behind", n, (long)faults.live);
        if (faults.count < n) {
            assert_int_equal(status, ATN_OK);
            print_message("%ld allocations, %ld of them failed\n", (long)faults.count, steps);
            break;
        }
        if (status != ATN_OK && !*message) fail_msg("allocation %ld failed: no sentence", n);
    }
    kit_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
