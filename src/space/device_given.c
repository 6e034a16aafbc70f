/* The properties of a device as values. */
#include "space/device_given.h"

#include "device/facts.h"
#include "device/host_cpu.h"

#include <stdio.h>
#include <string.h>

static atn_setting whole(int64_t value) {
    return (atn_setting){.kind = ATN_SETTING_WHOLE, .whole = value, .number = (double)value};
}
static atn_setting truth(bool value) {
    return (atn_setting){.kind = ATN_SETTING_BOOL, .whole = value, .number = value};
}
static atn_setting text(const char *value) { return (atn_setting){.kind = ATN_SETTING_TEXT, .text = value}; }

void atn_device_given(const atn_device_info *info, atn_given out[ATN_DEVICE_GIVEN]) {
    bool threads = atn_backend_facts_of(info)->threads;
    const atn_given given[ATN_DEVICE_GIVEN] = {
        {"device", "max_threads", whole(threads ? info->cores : info->max_group)},
        {"device", "local_memory", whole(info->local_bytes)},
        {"device", "simd_width", whole(info->simd)},
        {"device", "cores", whole(info->cores)},
        {"device", "warp", whole(info->cpu ? 1 : info->simd)},
        {"device", "memory", whole(info->memory_bytes)},
        {"device", "fp64", truth(info->fp64)},
        {"device", "fp16", truth(info->fp16)},
        {"device", "name", text(info->name)},
        {"device", "backend", text(info->backend)},
        {"device", "arch", text(info->arch)},
    };
    memcpy(out, given, sizeof given);
}

void atn_device_host_info(atn_device_info *out) {
    *out = (atn_device_info){.max_group = 1, .max_items = {1, 1, 1}, .fp64 = true, .unified = true, .cpu = true};
    snprintf(out->backend, sizeof out->backend, "host");
    atn_cpu_describe(out);
    out->max_alloc_bytes = out->memory_bytes;
}
