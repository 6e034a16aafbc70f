#include "device/facts.h"

#include <stdio.h>
#include <string.h>

static const atn_backend_facts FACTS[] = {
    {.name = "host", .threads = true, .vectors = true, .warp = 1, .queues = 1, .index = 64},
    {.name = "opencl",
     .vectors = true,
     .products = 80,
     .warp = 1,
     .queues = 1,
     .index = 32,
     .flags = "-w"}, /* unused helpers are no news */
    {.name = "cuda",
     .shuffle = true,
     .matrix = 80,
     .products = 80,
     .warpgroup = 90,
     .waits = true,
     .exact_exp2 = true,
     .warp = 32,
     .queues = 4,
     .index = 32,
     .most_local = 48 << 10},
};
enum { N_FACTS = sizeof FACTS / sizeof *FACTS };

const atn_backend_facts *atn_backend_facts_of(const atn_device_info *info) {
    static const atn_backend_facts UNKNOWN = {.name = "", .vectors = true, .warp = 1, .queues = 1, .index = 32};
    for (size_t k = 0; k < N_FACTS; ++k)
        if (strcmp(FACTS[k].name, info->backend) == 0) return &FACTS[k];
    return &UNKNOWN;
}

static bool is_from(const atn_device_info *info, int32_t from) {
    int32_t arch;
    return from > 0 && sscanf(info->arch, "sm_%d", &arch) == 1 && arch >= from;
}

bool atn_device_has_matrix(const atn_device_info *info) { return is_from(info, atn_backend_facts_of(info)->matrix); }

bool atn_device_has_products(const atn_device_info *info) {
    return is_from(info, atn_backend_facts_of(info)->products);
}

bool atn_device_has_warpgroup(const atn_device_info *info) {
    int32_t only = atn_backend_facts_of(info)->warpgroup, arch;
    return only > 0 && sscanf(info->arch, "sm_%d", &arch) == 1 && arch == only;
}

bool atn_device_cannot_compile(const atn_device_info *info) {
    return atn_backend_facts_of(info)->threads && !*info->driver;
}

bool atn_backend_is(const char *name, const char *other) { return strcmp(name, other) == 0; }
