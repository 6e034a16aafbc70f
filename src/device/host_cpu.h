/* The CPU of this machine: its name, caches and vector width. */
#ifndef ATN_DEVICE_HOST_CPU_H
#define ATN_DEVICE_HOST_CPU_H

#include "base/hash.h"
#include "device/device.h"

#include <sched.h>

/* Fills name, arch, cores, simd, memory and cache sizes. */
void atn_cpu_describe(atn_device_info *info);

/* Bytes that the machine could still give away; 0: not known. */
int64_t atn_cpu_free_memory(void);

/* What code built with -march=native depends on; equal on machines where such code may be shared. */
atn_hash atn_cpu_signature(void);

/* Flags that make a compiler build for exactly this CPU, separated by blanks. clang assumes that a core has all
 * features of its model, even if a hypervisor hides some: the missing ones are disabled explicitly. */
enum { ATN_CPU_FLAGS = 160 };
void atn_cpu_flags(bool clang, char flags[ATN_CPU_FLAGS]);

#endif
