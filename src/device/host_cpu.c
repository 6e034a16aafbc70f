/* The CPU of this machine, read from the system's files. */
#include "device/host_cpu.h"

#include "base/parallel.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

/* Arm says numbers where others say names; those one meets. */
static const struct {
    unsigned implementer, part;
    const char *name;
} ARM_CORES[] = {
    {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},
    {0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd49, "Neoverse-N2"}, {0x41, 0xd4f, "Neoverse-V2"},
    {0x46, 0x001, "A64FX"},       {0xc0, 0xac3, "Ampere-1"},
};

/* The first block of /proc/cpuinfo, which the kernel takes its time over; to be freed. */
static char *cpuinfo(void) {
    enum { BYTES = 1 << 14 }; /* flags are long */
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *text = calloc(1, BYTES);
    if (file && text) text[fread(text, 1, BYTES - 1, file)] = '\0';
    char *end = text ? strstr(text, "\n\n") : NULL;
    if (end) end[1] = '\0';
    if (file) fclose(file);
    return text;
}

/* The value behind "key :" in it; "" when there is none. */
static void value_of(const char *text, const char *key, char *value, size_t bytes) {
    value[0] = '\0';
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon || strspn(line + strlen(key), " \t:") == 0) continue;
        snprintf(value, bytes, "%s", colon + 1 + strspn(colon + 1, " \t"));
        value[strcspn(value, "\n")] = '\0';
        return;
    }
}

static void describe_name(atn_device_info *info) {
    struct utsname system;
    char implementer[32], part[32], *text = cpuinfo();
    if (uname(&system) == 0) snprintf(info->arch, sizeof info->arch, "%.31s", system.machine);
    value_of(text, "model name", info->name, sizeof info->name);
    value_of(text, "CPU implementer", implementer, sizeof implementer);
    value_of(text, "CPU part", part, sizeof part);
    free(text);
    if (info->name[0]) return;
    snprintf(info->name, sizeof info->name, "%s CPU", info->arch);
    for (size_t k = 0; k < sizeof ARM_CORES / sizeof *ARM_CORES; ++k)
        if (strtoul(implementer, NULL, 16) == ARM_CORES[k].implementer && strtoul(part, NULL, 16) == ARM_CORES[k].part)
            snprintf(info->name, sizeof info->name, "%s", ARM_CORES[k].name);
}

static int32_t vector_bytes(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;
#elif defined(__aarch64__) && defined(PR_SVE_GET_VL)
    /* Longer vectors are used as NEON: gcc 12 miscompiles vectors shorter than the length it is given, except 16. */
    int length = prctl(PR_SVE_GET_VL);
    return length > 0 && (length & 0xffff) == 32 ? 32 : 16;
#else
    return 16;
#endif
}

static bool computes_halves(void) {
#if defined(__aarch64__)
    return getauxval(AT_HWCAP) & HWCAP_ASIMDHP;
#elif defined(__x86_64__) || defined(__i386__)
    /* AVX512-FP16, by its bit: clang 14 does not know the name. */
    enum { FEATURES = 7, FP16 = 1 << 23 };
    unsigned a, b, c, d;
    return vector_bytes() == 64 && __get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) && (d & FP16);
#else
    return false;
#endif
}

#if defined(__x86_64__)
/* Tiles must be asked for, once for all threads of a process, before any uses them: their state is large. */
static bool may_use_tiles;
static void ask_for_tiles(void) {
    enum { REQUEST = 0x1023, TILE_DATA = 18 };
    may_use_tiles = syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}

static int32_t multiplies_bf16(void) {
    enum { FEATURES = 7, AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, AVX512_BF16 = 1 << 5 };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned a, b, c, d, vectors;
    if (vector_bytes() != 64 || !__get_cpuid_count(FEATURES, 1, &vectors, &b, &c, &d)) return 0;
    if (!(vectors & AVX512_BF16) || !__get_cpuid_count(FEATURES, 0, &a, &b, &c, &d)) return 0;
    if (!(d & AMX_BF16) || !(d & AMX_TILE)) return 1;
    pthread_once(&once, ask_for_tiles);
    return may_use_tiles ? 2 : 1;
}
#elif defined(__aarch64__)
static int32_t multiplies_bf16(void) { return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0; }
#else
static int32_t multiplies_bf16(void) { return 0; }
#endif

#if defined(__aarch64__)
void atn_cpu_flags(bool clang, char flags[ATN_CPU_FLAGS]) {
    static const struct {
        int kind; /* of getauxval */
        unsigned long bit;
        const char *name;
    } FEATURES[] = {
        {AT_HWCAP, HWCAP_SVE, "+nosve"},         {AT_HWCAP2, HWCAP2_SVE2, "+nosve2"},
        {AT_HWCAP, HWCAP_ASIMDDP, "+nodotprod"}, {AT_HWCAP, HWCAP_ASIMDHP, "+nofp16"},
        {AT_HWCAP, HWCAP_ATOMICS, "+nolse"},     {AT_HWCAP2, HWCAP2_I8MM, "+noi8mm"},
        {AT_HWCAP2, HWCAP2_BF16, "+nobf16"},
    };
    int32_t bytes = vector_bytes();
    size_t n = (size_t)snprintf(flags, ATN_CPU_FLAGS, "-mcpu=native");
    for (size_t k = 0; k < sizeof FEATURES / sizeof *FEATURES && clang; ++k)
        if (!(getauxval((unsigned long)FEATURES[k].kind) & FEATURES[k].bit))
            n += (size_t)snprintf(flags + n, ATN_CPU_FLAGS - n, "%s", FEATURES[k].name);
    if (bytes > 16) snprintf(flags + n, ATN_CPU_FLAGS - n, " -msve-vector-bits=%d", 8 * bytes);
}
#else
void atn_cpu_flags(bool clang, char flags[ATN_CPU_FLAGS]) {
    (void)clang;
#if defined(__x86_64__) || defined(__i386__)
    snprintf(flags, ATN_CPU_FLAGS, "-march=native");
#else
    flags[0] = '\0';
#endif
}
#endif

static int64_t sysfs_cache(int level) {
    for (int k = 0; k < 8; ++k) {
        char path[96], text[32];
        int found_level = 0;
        long long size = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", k);
        FILE *file = fopen(path, "re");
        if (!file) return 0;
        bool read = fscanf(file, "%d", &found_level) == 1;
        fclose(file);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", k);
        file = fopen(path, "re");
        if (!file) return 0;
        read = read && fscanf(file, "%31s", text) == 1 && strcmp(text, "Instruction") != 0;
        fclose(file);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", k);
        file = fopen(path, "re");
        if (!file) return 0;
        read = read && fscanf(file, "%lld", &size) == 1;
        fclose(file);
        if (read && found_level == level) return size * 1024;
    }
    return 0;
}

/* The smaller of `bytes` and what `file` allows in the control group at `path` or in one above it. */
static int64_t least_limit(const char *root, char *path, const char *file, int64_t bytes) {
    for (;;) {
        char name[PATH_MAX];
        long long limit = 0;
        FILE *in =
            snprintf(name, sizeof name, "%s%s/%s", root, path, file) < (int)sizeof name ? fopen(name, "re") : NULL;
        if (in && fscanf(in, "%lld", &limit) == 1 && limit > 0 && limit < bytes) bytes = limit;
        if (in) fclose(in);
        char *slash = strrchr(path, '/');
        if (!slash) return bytes;
        *slash = '\0';
    }
}

/* The memory that this process may have: the machine's, or less where a container or a batch system says so. */
static int64_t usable_memory(void) {
    int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    FILE *groups = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    while (groups && fgets(line, sizeof line, groups)) { /* "0::/path", or of old "4:memory:/path" */
        line[strcspn(line, "\n")] = '\0';
        char *kind = strchr(line, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        if (strcmp(kind, ":") == 0) bytes = least_limit("/sys/fs/cgroup", path, "memory.max", bytes);
        if (strcmp(kind, ":memory") == 0)
            bytes = least_limit("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", bytes);
    }
    if (groups) fclose(groups);
    return bytes;
}

int64_t atn_cpu_free_memory(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    long long kilobytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) break;
    if (file) fclose(file);
    return kilobytes > 0 ? (int64_t)kilobytes * 1024 : 0;
}

void atn_cpu_describe(atn_device_info *info) {
    describe_name(info);
    info->cores = atn_parallel_cores();
    info->simd = vector_bytes() / 4;
    info->fp16 = computes_halves();
    info->bf16 = multiplies_bf16();
    info->memory_bytes = usable_memory();
    info->local_bytes = sysfs_cache(1);
    for (int level = 4; level >= 2 && !info->cache_bytes; --level) info->cache_bytes = sysfs_cache(level);
}

static atn_hash signature;

static void sign(void) {
    static const char *const KEYS[] = {"vendor_id",   "cpu family", "model",           "model name",
                                       "stepping",    "flags",      "CPU implementer", "CPU architecture",
                                       "CPU variant", "CPU part",   "Features"};
    char value[1 << 13], *text = cpuinfo();
    for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; ++k) {
        value_of(text, KEYS[k], value, sizeof value);
        signature = atn_hash_add_text(signature, value);
    }
    free(text);
}

atn_hash atn_cpu_signature(void) { /* once: every build asks, and the kernel takes its time over that file */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, sign);
    return signature;
}
