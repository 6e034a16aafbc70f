/* The CPU at hand: its name, caches, vector width, and where threads can be placed. */
#ifndef ATN_DEVICE_HOST_CPU_H
#define ATN_DEVICE_HOST_CPU_H

#include "base/hash.h"
#include "device/device.h"

/* Fills name, arch, cores, simd, memory and cache sizes. */
void atn_cpu_describe(atn_device_info *info);

/* What code built with -march=native depends on; equal on machines where such code may be shared. */
atn_hash atn_cpu_signature(void);

/* The CPU for each of `count` threads; at most the CPUs this process may use. false: no such places here. */
bool atn_cpu_places(atn_bind bind, atn_places places, int32_t *cpus, int32_t count);

#endif
