/* The host's compiler: found, run without a shell in a private directory, its shared object kept by content and
 * loaded. The key holds all that shapes the object: source, flags, the compiler's file, and the CPU built for. */
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "device/cache.h"
#include "device/host.h"
#include "device/host_cpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Safe for any input: no errno, no traps, contraction to fused multiply-add. fast_math adds the rest. */
static const char *const FLAGS[] = {"-std=gnu17", "-O3", "-fPIC", "-shared", "-w", "-fno-math-errno", "-fno-trapping-math",
                                    "-ffp-contract=fast",
#if defined(__x86_64__) || defined(__i386__)
                                    "-march=native",
#elif defined(__aarch64__)
                                    "-mcpu=native",
#endif
};
enum { N_FLAGS = sizeof FLAGS / sizeof *FLAGS, MAX_ARGS = 64 };

typedef struct host_function {
    atn_function base;
    struct host_function *next;
    host_entry *entry;
    char name[];
} host_function;

typedef struct host_module {
    atn_module base;
    void *library; /* dlopen's handle */
    host_function *functions;
} host_module;

/* ---- the compiler ---- */

atn_status atn_host_compiler(const atn_ctx *ctx, const char *wanted, char **path) {
    static const char *const USUAL[] = {"gcc", "clang", "cc"};
    if (!wanted) wanted = atn_ctx_compiler(ctx);
    if (!wanted) wanted = getenv("ATTUNE_CC");
    if (wanted && *wanted) return atn_process_find(ctx, wanted, path);
    *path = NULL;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof USUAL / sizeof *USUAL && status == ATN_OK && !*path; ++k)
        status = atn_process_find(ctx, USUAL[k], path);
    return status;
}

atn_status atn_host_compiler_version(const atn_ctx *ctx, const char *path, char *text, size_t bytes) {
    atn_text output = {.ctx = ctx};
    int code;
    const char *argv[] = {path, "--version", NULL};
    atn_status status = atn_process_run(ctx, argv, 20, &output, &code);
    if (status == ATN_OK && code != 0)
        status = atn_fail(ctx, ATN_ERR_BUILD, "%s --version ended with exit code %d; is it a C compiler?", path, code);
    const char *line = atn_text_str(&output);
    if (status == ATN_OK) snprintf(text, bytes, "%.*s", (int)strcspn(line, "\r\n"), line);
    atn_text_free(&output);
    return status;
}

/* The compiler's file stands for its version: no need to run it just to look into the cache. */
static atn_hash hash_compiler(atn_hash hash, const char *path) {
    struct stat info;
    char real[4096];
    hash = atn_hash_add_text(hash, realpath(path, real) ? real : path);
    if (stat(path, &info) == 0) {
        int64_t mark[2] = {(int64_t)info.st_size, (int64_t)info.st_mtime};
        hash = atn_hash_add(hash, mark, sizeof mark);
    }
    return hash;
}

static atn_hash build_key(const atn_build *build, const char *compiler) {
    atn_hash hash = hash_compiler(atn_cpu_signature(), compiler);
    for (size_t k = 0; k < N_FLAGS; ++k) hash = atn_hash_add_text(hash, FLAGS[k]);
    hash = atn_hash_add_text(hash, build->flags);
    hash = atn_hash_add(hash, &build->fast_math, sizeof build->fast_math);
    return atn_hash_add_text(hash, build->source);
}

/* The first line that says what is wrong, without the path of the private directory. */
static void first_error(const char *output, char *line, size_t bytes) {
    const char *at = strstr(output, "error:");
    const char *from = at ? at : output + strspn(output, "\n");
    snprintf(line, bytes, "%.*s", (int)strcspn(from, "\n"), from);
}

/* argv for one compilation; `flags` is cut in place at its blanks. false: too many flags. */
static bool compose(const char *argv[MAX_ARGS], const char *compiler, const atn_build *build, char *flags, bool openmp,
                    const char *source, const char *object) {
    size_t n = 0;
    argv[n++] = compiler;
    for (size_t k = 0; k < N_FLAGS; ++k) argv[n++] = FLAGS[k];
    if (openmp) argv[n++] = "-fopenmp";
    if (build->fast_math) argv[n++] = "-ffast-math";
    char *rest;
    for (char *flag = strtok_r(flags, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest)) {
        if (n + 6 > MAX_ARGS) return false;
        argv[n++] = flag;
    }
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n++] = source;
    argv[n++] = "-lm";
    argv[n] = NULL;
    return true;
}

static atn_status run_compiler(const atn_ctx *ctx, const char *compiler, const atn_build *build, bool openmp, const char *source,
                               const char *object, bool *no_openmp) {
    const char *argv[MAX_ARGS];
    atn_text output = {.ctx = ctx};
    int code = 0;
    char *flags = atn_strdup(ctx, build->flags ? build->flags : "");
    if (!flags) return ATN_ERR_MEMORY;
    atn_status status = compose(argv, compiler, build, flags, openmp, source, object)
                            ? atn_process_run(ctx, argv, build->timeout_s, &output, &code)
                            : atn_fail(ctx, ATN_ERR_INPUT, "%s: too many compiler flags", build->name);
    if (status == ATN_OK && code != 0) {
        char line[512];
        const char *text = atn_text_str(&output);
        *no_openmp = openmp && (strstr(text, "lomp") || strstr(text, "lgomp") || strstr(text, "omp.h"));
        first_error(text, line, sizeof line);
        atn_log(ctx, ATN_LOG_INFO, "%s: %s said: %s", build->name, compiler, text);
        bool full = strstr(text, "No space left") != NULL;
        status = atn_fail(ctx, full ? ATN_ERR_IO : ATN_ERR_BUILD, "%s: %s could not compile it (exit code %d): %s", build->name, compiler, code, line);
    }
    atn_text_free(&output);
    atn_free(ctx, flags);
    return status;
}

/* Compiles in a fresh private directory and moves the object to `key`'s place. */
static atn_status compile(const atn_ctx *ctx, const atn_cache *cache, const char *compiler, const atn_build *build, atn_hash key) {
    char *dir, source[4096], object[4096];
    bool no_openmp = false;
    atn_status status = atn_cache_workdir(cache, &dir);
    if (status != ATN_OK) return status;
    int wrote = snprintf(source, sizeof source, "%s/%.64s.c", dir, build->name);
    snprintf(object, sizeof object, "%s/object.so", dir);
    if (wrote < 0 || (size_t)wrote >= sizeof source || strchr(build->name, '/'))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: no good name for a kernel", build->name);
    if (status == ATN_OK) status = atn_file_write(ctx, source, build->source, strlen(build->source));
    if (status == ATN_OK) status = run_compiler(ctx, compiler, build, true, source, object, &no_openmp);
    if (status == ATN_ERR_BUILD && no_openmp) {
        atn_log(ctx, ATN_LOG_WARNING, "%s has no OpenMP library: generated code runs on one thread; install libomp-dev for clang",
                compiler);
        status = run_compiler(ctx, compiler, build, false, source, object, &no_openmp);
    }
    if (status == ATN_OK) status = atn_cache_adopt(cache, object, key, ".so");
    atn_cache_discard(cache, dir);
    return status;
}

/* ---- modules ---- */

/* The OpenMP runtime has threads of its own that outlive every module: it must never be unloaded with one. */
static void keep_openmp(void *library) {
    void *symbol = dlsym(library, "omp_get_num_threads");
    Dl_info where;
    if (symbol && dladdr(symbol, &where) && where.dli_fname) (void)dlopen(where.dli_fname, RTLD_NOW | RTLD_NODELETE);
}

static void *load(const atn_ctx *ctx, const atn_cache *cache, const char *path, size_t *bytes) {
    struct stat info;
    if (stat(path, &info) != 0) return NULL;
    *bytes = (size_t)info.st_size;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        keep_openmp(library);
        atn_cache_touch(cache, path);
    } else {
        (void)atn_fail(ctx, ATN_ERR_BUILD, "built code cannot be loaded: %s", dlerror());
    }
    return library;
}

static atn_status build_at(const atn_ctx *ctx, atn_cache *cache, const char *compiler, const atn_build *build,
                           host_module *module) {
    atn_hash key = build_key(build, compiler);
    if (build->no_cache) { /* a name of its own, gone once loaded */
        int64_t unique[2] = {(int64_t)getpid(), (int64_t)(intptr_t)module};
        key = atn_hash_add(key, unique, sizeof unique);
    }
    char *path = atn_cache_path(cache, key, ".so");
    if (!path) return ATN_ERR_MEMORY;
    atn_status status = ATN_OK;
    if (!build->no_cache) module->library = load(ctx, cache, path, &module->base.code_bytes);
    module->base.cached = module->library != NULL;
    if (!module->library) {
        unlink(path); /* damaged, or not there */
        status = compile(ctx, cache, compiler, build, key);
        if (status == ATN_ERR_IO && atn_cache_lasting(cache)) { /* full or gone: go on without it */
            status = atn_cache_demote(cache, atn_ctx_message(ctx));
            if (status == ATN_OK) status = build_at(ctx, cache, compiler, build, module);
        } else if (status == ATN_OK) {
            module->library = load(ctx, cache, path, &module->base.code_bytes);
            if (!module->library) status = ATN_ERR_BUILD;
            if (build->no_cache) unlink(path);
        }
    }
    atn_free(ctx, path);
    return status;
}

atn_status atn_host_build(atn_device *device, const atn_build *build, atn_module **out) {
    const atn_ctx *ctx = device->ctx;
    atn_cache *cache;
    char *compiler = NULL;
    host_module *module = NULL;
    atn_status status = atn_cache_of(ctx, &cache);
    if (status == ATN_OK) status = atn_host_compiler(ctx, build->compiler, &compiler);
    if (status == ATN_OK && !compiler)
        status = atn_fail(ctx, ATN_ERR_BUILD, "%s: no C compiler was found; install gcc or clang, or name one in ATTUNE_CC", build->name);
    if (status == ATN_OK && !(module = atn_zalloc(ctx, sizeof *module))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) status = build_at(ctx, cache, compiler, build, module);
    atn_free(ctx, compiler);
    if (status != ATN_OK) {
        atn_free(ctx, module);
        return status;
    }
    *out = &module->base;
    return ATN_OK;
}

void atn_host_module_free(atn_module *base) {
    host_module *module = (host_module *)base;
    const atn_ctx *ctx = base->device->ctx;
    for (host_function *function = module->functions; function;) {
        host_function *next = function->next;
        atn_free(ctx, function);
        function = next;
    }
    dlclose(module->library);
    atn_free(ctx, module);
}

atn_status atn_host_function(atn_module *base, const char *name, atn_function **out) {
    host_module *module = (host_module *)base;
    for (host_function *f = module->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *out = &f->base;
            return ATN_OK;
        }
    void *symbol = dlsym(module->library, name);
    if (!symbol) return atn_fail(base->device->ctx, ATN_ERR_INPUT, "built code has no function '%s'", name);
    host_function *function = atn_zalloc(base->device->ctx, sizeof *function + strlen(name) + 1);
    if (!function) return ATN_ERR_MEMORY;
    memcpy(&function->entry, &symbol, sizeof symbol);
    strcpy(function->name, name);
    function->next = module->functions;
    module->functions = function;
    *out = &function->base;
    return ATN_OK;
}

host_entry *atn_host_entry(const atn_function *function) { return ((const host_function *)function)->entry; }
