/* Finding NVRTC: the newest version that the driver supports, its headers, and its target architectures. */
#include "base/environment.h"
#include "device/cuda_api.h"
#include "device/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names from the newest to the oldest that can make cubins. Since CUDA 11.3 the name of a major version stays
 * ".11.2"; from 12 on it is the major version alone. The plain name may be any version. */
static const char *const NAMES[] = {
    "libnvrtc.so.19", "libnvrtc.so.18", "libnvrtc.so.17", "libnvrtc.so.16", "libnvrtc.so.15",
    "libnvrtc.so.14", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",    "libnvrtc.so.11.2",
};

/* Where a toolkit lies (NULL: the system's own search), and where in it its libraries do. */
static const atn_variable ROOT_VARIABLES[] = {ATN_ENV_CUDA_HOME, ATN_ENV_CUDA_PATH};
static const char DEFAULT_ROOT[] = "/usr/local/cuda";
static const char *const LIBRARY_DIRS[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
                                           "targets/aarch64-linux/lib"};
enum { N_ROOTS = 3 };

static const atn_library_symbol SYMBOLS[] = {
#define REQUIRED(field, symbol, parameters) {offsetof(atn_nvrtc, field), #symbol, false},
#define OPTIONAL(field, symbol, parameters) {offsetof(atn_nvrtc, field), #symbol, true},
    ATN_NVRTC_FUNCTIONS(REQUIRED) ATN_NVRTC_OPTIONAL_FUNCTIONS(OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What the search has met so far. */
typedef struct search {
    int max_major;          /* the newest that will do; 0: any */
    int new_major;          /* of one that was too new; 0: none was */
    int new_minor;          /* and the rest of its version */
    char broken[PATH_MAX];  /* one that could be loaded but not used; "": none */
    const char *broken_why; /* what it lacks */
} search;

static const char *root(size_t index) {
    return index < COUNT(ROOT_VARIABLES) ? atn_environment(ROOT_VARIABLES[index]) : DEFAULT_ROOT;
}

/* Sorted, because "the nearest older one" is looked for from above. */
static bool read_archs(atn_nvrtc *nvrtc) {
    int count = 0;
    if (nvrtc->arch_count(&count) != 0 || count < 1 || count > ATN_NVRTC_MAX_ARCHS) return false;
    if (nvrtc->arch_list(nvrtc->archs) != 0) return false;
    nvrtc->n_archs = count;
    for (int k = 1; k < count; ++k)
        for (int j = k; j > 0 && nvrtc->archs[j - 1] > nvrtc->archs[j]; --j) {
            int swap = nvrtc->archs[j];
            nvrtc->archs[j] = nvrtc->archs[j - 1];
            nvrtc->archs[j - 1] = swap;
        }
    return true;
}

/* Fills `nvrtc` from an open library, or says what is wrong with it. */
static const char *read_library(void *library, atn_nvrtc *nvrtc) {
    const char *missing = atn_symbols_load(library, nvrtc, SYMBOLS, COUNT(SYMBOLS));
    if (missing) return missing;
    if (nvrtc->version(&nvrtc->major, &nvrtc->minor) != 0) return "its version";
    if (!read_archs(nvrtc)) return "its list of architectures";
    return NULL;
}

/* Tries one file. One that will do is opened a second time so that it stays when the handle is closed. */
static bool try_library(const char *path, search *met, atn_nvrtc *nvrtc) {
    if (strchr(path, '/') && access(path, R_OK) != 0) return false;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    atn_nvrtc read = {0};
    const char *missing = read_library(library, &read);
    bool new = !missing && met->max_major > 0 && read.major > met->max_major;
    if (missing && !*met->broken) {
        snprintf(met->broken, sizeof met->broken, "%s", path);
        met->broken_why = missing;
    } else if (new &&read.major > met->new_major) {
        met->new_major = read.major;
        met->new_minor = read.minor;
    }
    void *kept = missing || new ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    dlclose(library);
    if (!kept) return false;
    dlclose(kept);
    *nvrtc = read;
    return true;
}

static bool try_everywhere(search *met, atn_nvrtc *nvrtc) {
    for (size_t name = 0; name < COUNT(NAMES); ++name) {
        if (try_library(NAMES[name], met, nvrtc)) return true;
        for (size_t r = 0; r < N_ROOTS; ++r)
            for (size_t dir = 0; root(r) && dir < COUNT(LIBRARY_DIRS); ++dir) {
                char path[PATH_MAX];
                int length = snprintf(path, sizeof path, "%s/%s/%s", root(r), LIBRARY_DIRS[dir], NAMES[name]);
                if (length > 0 && (size_t)length < sizeof path && try_library(path, met, nvrtc)) return true;
            }
    }
    return false;
}

static bool has_headers(const char *dir, atn_nvrtc *nvrtc) {
    char path[sizeof nvrtc->include + 16];
    int length = snprintf(path, sizeof path, "%s/cuda_fp16.h", dir);
    if (length < 0 || (size_t)length >= sizeof path || access(path, R_OK) != 0) return false;
    if (strlen(dir) >= sizeof nvrtc->include) return false;
    memcpy(nvrtc->include, dir, strlen(dir) + 1);
    return true;
}

/* The headers that belong to the library are next to it; other locations are second best. */
static void find_headers(atn_nvrtc *nvrtc) {
    char dir[PATH_MAX + 32], path[PATH_MAX];
    Dl_info where;
    void *code;
    memcpy(&code, &nvrtc->compile, sizeof code);
    if (dladdr(code, &where) && where.dli_fname && realpath(where.dli_fname, path)) {
        char *slash = strrchr(path, '/');
        if (slash) *slash = 0;
        snprintf(dir, sizeof dir, "%s/../include", path);
        if (has_headers(dir, nvrtc)) return;
    }
    for (size_t r = 0; r < N_ROOTS; ++r) {
        if (!root(r)) continue;
        snprintf(dir, sizeof dir, "%s/include", root(r));
        if (has_headers(dir, nvrtc)) return;
    }
    has_headers("/usr/include", nvrtc);
}

static void explain(const search *met, const char *given, char *why, size_t bytes) {
    if (met->new_major)
        snprintf(why, bytes,
                 "NVRTC %d.%d is newer than the driver, which is for CUDA %d; update the driver or install NVRTC %d",
                 met->new_major, met->new_minor, met->max_major, met->max_major);
    else if (*met->broken)
        snprintf(why, bytes, "%s lacks %s; NVRTC 11.2 or newer is needed", met->broken, met->broken_why);
    else if (given)
        snprintf(why, bytes, "ATTUNE_NVRTC_LIB names %s, which cannot be loaded; unset it to look for libnvrtc", given);
    else
        snprintf(why, bytes,
                 "libnvrtc.so is not installed; it comes with the CUDA toolkit (set CUDA_HOME if it is there)");
}

bool atn_nvrtc_load(atn_nvrtc *nvrtc, int max_major, char *why, size_t bytes) {
    *nvrtc = (atn_nvrtc){0};
    search met = {.max_major = max_major};
    const char *given = atn_environment(ATN_ENV_NVRTC_LIB);
    bool found = given ? try_library(given, &met, nvrtc) : try_everywhere(&met, nvrtc);
    if (!found) {
        explain(&met, given, why, bytes);
        return false;
    }
    find_headers(nvrtc);
    return true;
}

bool atn_nvrtc_arch(const atn_nvrtc *nvrtc, int major, int minor, char arch[ATN_NVRTC_ARCH_BYTES]) {
    int wanted = 10 * major + minor;
    for (int k = nvrtc->n_archs - 1; k >= 0; --k) {
        int have = nvrtc->archs[k];
        if (have > wanted || have / 10 != major) continue; /* cubins run on later minor versions, not on other majors */
        bool full = have == wanted && major >= 9 && nvrtc->major >= 12; /* NVRTC 11 knows sm_90, not sm_90a */
        snprintf(arch, ATN_NVRTC_ARCH_BYTES, "sm_%d%s", have, full ? "a" : "");
        return true;
    }
    return false;
}
