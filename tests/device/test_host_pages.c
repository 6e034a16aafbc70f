/* Buffers of the host: the kernel was asked for large pages where a buffer is large, and not where it is small. */
#include "testkit.h"

#include "device/device.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Has the mapping around `address` the flag "hg" (MADV_HUGEPAGE)? */
static bool asked_for(const void *address) {
    char line[4096];
    unsigned long from, to;
    bool mine = false, asked = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) mine = from <= (uintptr_t)address && (uintptr_t)address < to;
        if (mine && strncmp(line, "VmFlags:", 8) == 0) asked = strstr(line, " hg") != NULL;
    }
    fclose(file);
    return asked;
}

static bool can_be_asked(size_t bytes) {
    void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return false;
    bool can = madvise(mapping, bytes, MADV_HUGEPAGE) == 0 && asked_for((char *)mapping + bytes / 2);
    munmap(mapping, bytes);
    return can;
}

KIT_TEST(large_buffers_have_large_pages) {
    enum { LARGE = 64 << 20, SMALL = 1 << 20 };
    if (!can_be_asked(LARGE)) {
        print_message("this kernel, or an emulator, has no transparent huge pages, or does not show them\n");
        skip();
    }
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    atn_device *device;
    atn_buffer *large, *small;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    kit_ok(ctx, atn_buffer_create(device, LARGE, &large));
    kit_ok(ctx, atn_buffer_create(device, SMALL, &small));
    assert_true(asked_for((char *)atn_buffer_host(large) + LARGE / 2));
    assert_false(asked_for((char *)atn_buffer_host(small) + SMALL / 2));
    atn_buffer_free(small);
    atn_buffer_free(large);
    atn_device_close(device);
    atn_devices_free(devices);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_buffers_have_large_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
