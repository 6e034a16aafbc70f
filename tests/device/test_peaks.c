/* The peaks that are kept: those measured on a busy machine and those that something else exceeded are measured again,
 * settled ones are not. What is kept is written here, through the cache, with rates that no device has. */
#include "testkit.h"

#include "device/cache.h"
#include "device/peaks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

static const double TINY = 1, HUGE_RATE = 1e30;

typedef struct fixture {
    atn_ctx *ctx;
    atn_devices *devices;
    atn_device *host;
} fixture;

static void begin(fixture *f) {
    f->ctx = kit_ctx();
    kit_ok(f->ctx, atn_devices_find(f->ctx, &f->devices));
    kit_ok(f->ctx, atn_device_open(f->devices, 0, &f->host));
}

static void end(fixture *f) {
    atn_device_close(f->host);
    atn_devices_free(f->devices);
    kit_free(f->ctx);
}

static void keep(const fixture *f, const atn_peaks_kept *kept) {
    atn_cache *cache;
    kit_ok(f->ctx, atn_cache_of(f->ctx, &cache));
    kit_ok(f->ctx, atn_cache_put(cache, atn_device_peaks_key(f->host), ".peaks", kept, sizeof *kept));
}

KIT_TEST(settled_peaks_are_read) {
    fixture f;
    begin(&f);
    atn_peaks_kept kept = {.peaks = {sizeof(atn_peaks), TINY, TINY, TINY, TINY}}, found;
    keep(&f, &kept);
    kit_ok(f.ctx, atn_device_peaks_kept(f.host, &found));
    assert_memory_equal(&found, &kept, sizeof kept);
    atn_peaks peaks = {0};
    kit_ok(f.ctx, atn_device_peaks(f.host, &peaks));
    assert_memory_equal(&peaks, &kept.peaks, sizeof peaks);
    end(&f);
}

KIT_TEST(busy_peaks_are_measured_again) {
    fixture f;
    begin(&f);
    atn_peaks_kept kept = {.peaks = {sizeof(atn_peaks), TINY, TINY, HUGE_RATE, TINY}}, found;
    kept.busy = 1u << ATN_PEAK_FP32 | 1u << ATN_PEAK_FP64;
    keep(&f, &kept);
    kit_ok(f.ctx, atn_device_peaks_kept(f.host, &found));
    assert_true(found.peaks.fp32 > TINY && isfinite(found.peaks.fp32));
    assert_true(found.peaks.fp64 == HUGE_RATE); /* never lowered */
    assert_true(found.peaks.fp16 == TINY && found.peaks.bandwidth == TINY);
    assert_int_equal(found.busy & ~kept.busy, 0);
    assert_true(found.when > 0);
    atn_peaks_kept again; /* it was written back: a settled one would be read as it is */
    found.busy = 0;
    keep(&f, &found);
    kit_ok(f.ctx, atn_device_peaks_kept(f.host, &again));
    assert_memory_equal(&again, &found, sizeof found);
    end(&f);
}

KIT_TEST(exceeded_peaks_are_measured_again) {
    fixture f;
    begin(&f);
    atn_peaks_kept kept = {.peaks = {sizeof(atn_peaks), TINY, TINY, TINY, TINY}}, found;
    atn_peaks out = {0};
    keep(&f, &kept);
    kit_ok(f.ctx, atn_device_peaks_reached(f.host, &(atn_peaks){.fp32 = TINY, .bandwidth = TINY / 2}, &out));
    assert_memory_equal(&out, &kept.peaks, sizeof out); /* not above */
    kit_ok(f.ctx, atn_device_peaks_reached(f.host, &(atn_peaks){.fp32 = 2 * TINY}, &out));
    assert_true(out.fp32 > 2 * TINY && out.fp64 == TINY && out.fp16 == TINY && out.bandwidth == TINY);
    kit_ok(f.ctx, atn_device_peaks_reached(f.host, &(atn_peaks){.bandwidth = 2 * TINY}, &out));
    assert_true(out.bandwidth > 2 * TINY && out.fp64 == TINY);
    kit_ok(f.ctx, atn_device_peaks_kept(f.host, &found));
    assert_memory_equal(&found.peaks, &out, sizeof out);
    assert_true(found.reached.fp32 == 2 * TINY && found.reached.fp64 == 0);
    end(&f);
}

/* What no measurement reaches, say of operations that a compiler left out, is asked for once. */
KIT_TEST(a_claim_is_looked_into_once) {
    fixture f;
    begin(&f);
    atn_peaks_kept kept = {.peaks = {sizeof(atn_peaks), TINY, TINY, TINY, TINY}, .reached = {.fp64 = HUGE_RATE}};
    atn_peaks out = {0};
    keep(&f, &kept);
    kit_ok(f.ctx, atn_device_peaks_reached(f.host, &(atn_peaks){.fp64 = HUGE_RATE / 2}, &out));
    assert_memory_equal(&out, &kept.peaks, sizeof out);
    kit_ok(f.ctx, atn_device_peaks_reached(f.host, &(atn_peaks){.fp64 = HUGE_RATE * 2}, &out));
    assert_true(out.fp64 > TINY && out.fp64 < HUGE_RATE);
    end(&f);
}

/* An emulator shows the /proc/cpuinfo of the machine that it runs on: what is no flag of this architecture does not
 * count. */
static bool cpu_has_fp16(void) {
#if defined(__aarch64__)
    return getauxval(AT_HWCAP) & HWCAP_ASIMDHP;
#else
    char line[8192];
    bool has = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !has && fgets(line, sizeof line, file)) has = strstr(line, "avx512_fp16") != NULL;
    if (file) fclose(file);
    return has;
#endif
}

KIT_TEST(a_core_with_fp16_has_its_peak) {
    if (!cpu_has_fp16()) print_message("    skipped: this CPU has no arithmetic on halves\n"), skip();
    fixture f;
    begin(&f);
    atn_peaks_kept kept = {.peaks = {.fp32 = TINY, .fp64 = TINY, .bandwidth = TINY}, .busy = 1u << ATN_PEAK_FP16};
    atn_peaks peaks = {0};
    keep(&f, &kept);
    kit_ok(f.ctx, atn_device_peaks(f.host, &peaks));
    assert_true(peaks.fp16 > TINY);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settled_peaks_are_read),
        cmocka_unit_test(busy_peaks_are_measured_again),
        cmocka_unit_test(exceeded_peaks_are_measured_again),
        cmocka_unit_test(a_claim_is_looked_into_once),
        cmocka_unit_test(a_core_with_fp16_has_its_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
