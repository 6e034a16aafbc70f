/* The compiler of the host: found, run without a shell in a private directory, its shared object cached by content and
 * loaded. The key includes everything that determines the object: source, flags, the compiler's file, and the target
 * CPU. If there is no working compiler, the variant compiled into the library is used. */
#include "base/environment.h"
#include "base/file.h"
#include "base/leftover.h"
#include "base/mac.h"
#include "base/memory.h"
#include "base/process.h"
#include "device/builtin.h"
#include "device/cache.h"
#include "device/code.h"
#include "device/host.h"
#include "device/host_cpu.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Safe for any input: no errno, no traps, contraction to fused multiply-add, and integers that wrap: generated code
 * says so itself where they may, and this covers what it forgets. A char is signed, since vectors of truth values are
 * made of them (on ARM it is not, and so is what clang compares bytes to). fast_math adds the rest. */
static const char *const FLAGS[] = {
    "-std=gnu17",         "-O3",     "-fPIC",         "-shared", "-w", "-fno-math-errno", "-fno-trapping-math",
    "-ffp-contract=fast", "-fwrapv", "-fsigned-char",
};
enum { N_FLAGS = sizeof FLAGS / sizeof *FLAGS, MAX_ARGS = 64 };
static const char SUFFIX[] = ".so";
static const size_t LARGEST_OBJECT = (size_t)1 << 30;
static const double VERSION_S = 20; /* to say its version */

typedef struct host_function {
    atn_function base;
    struct host_function *next;
    host_entry *entry;
    char name[];
} host_function;

typedef struct host_module {
    atn_module base;
    void *library;              /* dlopen's handle; or NULL and */
    const atn_builtin *builtin; /* compiled into this library */
    host_function *functions;
} host_module;

/* ---- the compiler ---- */

atn_status atn_host_compiler(const atn_ctx *ctx, const char *wanted, char **path) {
    static const char *const USUAL[] = {"gcc", "clang", "cc"};
    const char *who = "a build";
    *path = NULL;
    if (!wanted || !*wanted) wanted = atn_ctx_compiler(ctx), who = "the context";
    if (!wanted || !*wanted) wanted = atn_environment(ATN_ENV_CC), who = "ATTUNE_CC";
    atn_status status = ATN_OK;
    if (wanted && *wanted) {
        status = atn_process_find(ctx, wanted, path);
        if (status == ATN_OK && !*path)
            (void)atn_fail(ctx, ATN_ERR_BUILD, "the compiler '%s', which %s asks for, is not there; %s", wanted, who,
                           strchr(wanted, ' ') ? "a program's name or path is right, without arguments"
                                               : "install it or choose another");
        return status;
    }
    for (size_t k = 0; k < sizeof USUAL / sizeof *USUAL && status == ATN_OK && !*path; ++k)
        status = atn_process_find(ctx, USUAL[k], path);
    if (status == ATN_OK && !*path)
        (void)atn_fail(ctx, ATN_ERR_BUILD, "no C compiler was found; install gcc or clang, or name one in ATTUNE_CC");
    return status;
}

atn_status atn_host_compiler_version(const atn_ctx *ctx, const char *path, char *text, size_t bytes) {
    atn_text output = {.ctx = ctx};
    int code;
    const char *argv[] = {path, "--version", NULL};
    atn_status status = atn_process_run(ctx, argv, NULL, VERSION_S, &output, &code);
    if (status == ATN_OK && code != 0)
        status = atn_fail(ctx, ATN_ERR_BUILD, "%s --version ended with exit code %d; is it a C compiler?", path, code);
    const char *line = atn_text_str(&output);
    if (status == ATN_OK) snprintf(text, bytes, "%.*s", (int)strcspn(line, "\r\n"), line);
    for (char *at = text; status == ATN_OK && *at; ++at)
        if (*at < ' ' || *at > '~') *at = '?'; /* it is shown, and written as JSON */
    atn_text_free(&output);
    return status;
}

/* The compiler's file represents its version: no need to run it just to query the cache. The name counts too: gcc and
 * clang may both be links to one wrapper that checks by which name it was called. */
static atn_hash hash_compiler(const char *path) {
    struct stat info;
    char real[PATH_MAX];
    atn_hash hash = atn_hash_add_text((atn_hash){0}, path);
    hash = atn_hash_add_text(hash, realpath(path, real) ? real : "");
    if (stat(path, &info) == 0) {
        int64_t mark[3] = {(int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec, (int64_t)info.st_mtim.tv_nsec};
        hash = atn_hash_add(hash, mark, sizeof mark);
    }
    return hash;
}

/* One compilation: with what, and what is to come of it. */
typedef struct host_job {
    const atn_ctx *ctx;
    atn_cache *cache;
    const atn_build *build;
    const char *compiler;    /* path */
    atn_hash with;           /* hash_compiler of it */
    char cpu[ATN_CPU_FLAGS]; /* what makes it build for this CPU */
} host_job;

/* Is it clang, by whatever name it is called? */
static bool is_clang(const char *compiler) {
    char real[PATH_MAX];
    const char *path = realpath(compiler, real) ? real : compiler, *slash = strrchr(path, '/');
    return strstr(slash ? slash : path, "clang");
}

static atn_hash build_key(const host_job *job) {
    atn_hash cpu = atn_cpu_signature(), hash = atn_hash_add(job->with, &cpu, sizeof cpu);
    for (size_t k = 0; k < N_FLAGS; ++k) hash = atn_hash_add_text(hash, FLAGS[k]);
    hash = atn_hash_add_text(hash, job->cpu);
    hash = atn_hash_add_text(hash, job->build->flags);
    hash = atn_hash_add_text(hash, atn_environment(ATN_ENV_HOST_FLAGS));
    hash = atn_hash_add(hash, &job->build->fast_math, sizeof job->build->fast_math);
    return atn_digest_add_text(hash, job->build->source);
}

static bool says_one_of(const char *text, const char *const *words, size_t count) {
    for (size_t k = 0; k < count; ++k)
        if (strstr(text, words[k])) return true;
    return false;
}

/* The first line that says what is wrong, without the path of the private directory. */
static void first_error(const char *output, char *line, size_t bytes) {
    const char *at = strstr(output, "error:");
    const char *from = at ? at : output + strspn(output, "\n");
    snprintf(line, bytes, "%.*s", (int)strcspn(from, "\n"), from);
    if (!*line) snprintf(line, bytes, "it said nothing");
}

/* argv for one compilation; `flags` is cut in place at its blanks. false: too many flags. */
static bool compose(const char *argv[MAX_ARGS], const host_job *job, char *flags, const char *source,
                    const char *object) {
    size_t n = 0;
    argv[n++] = job->compiler;
    for (size_t k = 0; k < N_FLAGS; ++k) argv[n++] = FLAGS[k];
    if (job->build->fast_math) argv[n++] = "-ffast-math";
    char *rest;
    for (char *flag = strtok_r(flags, " \t\n", &rest); flag; flag = strtok_r(NULL, " \t\n", &rest)) {
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

/* How a compilation failed, for the message. A crash of the compiler is its own fault, not the source's: gcc and clang
 * say so, or a signal does. */
static void describe_end(int code, const char *output, char *how, size_t bytes) {
    static const char *const CRASH[] = {"internal compiler error", "submit a bug report", "submit a full bug report"};
    bool crashed = says_one_of(output, CRASH, sizeof CRASH / sizeof *CRASH);
    if (code > 128)
        snprintf(how, bytes, "crashed on it (signal %d)", code - 128);
    else if (crashed)
        snprintf(how, bytes, "crashed on it (internal compiler error, exit code %d)", code);
    else
        snprintf(how, bytes, "could not compile it (exit code %d)", code);
}

/* What the compiler's end means: ATN_ERR_IO when there was no room, which another directory may have. */
static atn_status judge(const host_job *job, int code, const char *output) {
    static const char *const NO_ROOM[] = {"No space left", "Disk quota", "File too large", "Read-only file system"};
    if (code == 0) return ATN_OK;
    char line[512], how[80];
    bool full = says_one_of(output, NO_ROOM, sizeof NO_ROOM / sizeof *NO_ROOM);
    first_error(output, line, sizeof line);
    describe_end(code, output, how, sizeof how);
    atn_log(job->ctx, ATN_LOG_INFO, "%s: %s said: %s", job->build->name, job->compiler, output);
    return atn_fail(job->ctx, full ? ATN_ERR_IO : ATN_ERR_BUILD, "%s: %s %s: %s", job->build->name, job->compiler, how,
                    line);
}

static atn_status run_compiler(const host_job *job, const char *dir, const char *source, const char *object) {
    const char *argv[MAX_ARGS];
    atn_text output = {.ctx = job->ctx};
    int code = 0;
    const char *own = job->build->flags,
               *more = atn_environment(ATN_ENV_HOST_FLAGS); /* for every build: -O1 to build quickly, say */
    atn_text both = {.ctx = job->ctx};
    atn_text_printf(&both, "%s %s %s", job->cpu, own ? own : "", more ? more : "");
    if (atn_text_status(&both) != ATN_OK) {
        atn_text_free(&both);
        return ATN_ERR_MEMORY;
    }
    char *flags = both.data;
    atn_status status;
    if (compose(argv, job, flags, source, object)) {
        status = atn_process_run(job->ctx, argv, dir, job->build->timeout_s, &output, &code);
        if (status == ATN_OK)
            status = judge(job, code, atn_text_str(&output));
        else if (status == ATN_ERR_IO) /* that the compiler cannot be run is not the directory's fault */
            status = atn_fail_within(job->ctx, ATN_ERR_BUILD, "%s", job->build->name);
        else if (status == ATN_ERR_TIMEOUT)
            status = atn_fail_within(job->ctx, status, "%s", job->build->name);
    } else {
        status = atn_fail(job->ctx, ATN_ERR_INPUT, "%s: too many compiler flags, at most %d are passed",
                          job->build->name, MAX_ARGS - N_FLAGS - 8);
    }
    atn_text_free(&output);
    atn_free(job->ctx, flags);
    return status;
}

/* ---- modules ---- */

static atn_status load(const host_job *job, const char *data, size_t length, host_module *module) {
    atn_status status = atn_code_load(job->cache, job->build->name, data, length, &module->library);
    if (status != ATN_OK) return status;
    module->base.code_bytes = length;
    return ATN_OK;
}

/* Queries the cache. An entry that is valid but cannot be loaded, for example because a library is gone, is built
 * again. */
static atn_status load_kept(const host_job *job, atn_hash key, host_module *module) {
    char *data;
    size_t length;
    atn_status status = atn_cache_get(job->cache, key, SUFFIX, &data, &length);
    if (status != ATN_OK || !data) return status;
    module->base.cached = load(job, data, length, module) == ATN_OK;
    atn_free(job->ctx, data);
    return ATN_OK;
}

/* Loads what the compiler made, and keeps it: the same bytes. */
static atn_status take_object(const host_job *job, const char *object, host_module *module) {
    struct stat info;
    char *data;
    size_t length;
    if (stat(object, &info) != 0)
        return atn_fail(job->ctx, ATN_ERR_BUILD, "%s: %s ended well but made nothing; is it a C compiler?",
                        job->build->name, job->compiler);
    atn_status status = atn_file_read(job->ctx, object, LARGEST_OBJECT, &data, &length);
    if (status == ATN_OK) status = load(job, data, length, module);
    if (status == ATN_OK && !job->build->no_cache)
        status = atn_cache_put(job->cache, build_key(job), SUFFIX, data, length);
    atn_free(job->ctx, data);
    return status;
}

static atn_status compile_in(const host_job *job, const char *dir, host_module *module) {
    char source[PATH_MAX], object[PATH_MAX];
    if (snprintf(object, sizeof object, "%s/object.so", dir) >= (int)sizeof object ||
        snprintf(source, sizeof source, "%s/%s.c", dir, job->build->name) >= (int)sizeof source)
        return atn_fail(job->ctx, ATN_ERR_IO, "%s: the path is too long", dir);
    atn_status status = atn_file_write(job->ctx, source, job->build->source, strlen(job->build->source));
    if (status == ATN_OK) status = run_compiler(job, dir, source, object);
    if (status == ATN_OK) status = take_object(job, object, module);
    return status;
}

static atn_status compile(const host_job *job, host_module *module) {
    char *dir;
    sigset_t before;
    atn_leftover_hold(&before);
    atn_status status = atn_cache_workdir(job->cache, &dir);
    int place = status == ATN_OK ? atn_leftover_add_folder(dir) : -1;
    atn_leftover_release(&before);
    if (status != ATN_OK) return status;
    status = compile_in(job, dir, module);
    atn_cache_discard(job->cache, dir);
    atn_leftover_forget(place);
    return status;
}

static atn_status build_at(const host_job *job, host_module *module) {
    atn_status status = ATN_OK;
    if (!job->build->no_cache) status = load_kept(job, build_key(job), module);
    if (status != ATN_OK || module->library) return status;
    status = compile(job, module);
    if (status != ATN_ERR_IO || !atn_cache_lasting(job->cache)) return status;
    status = atn_cache_demote(job->cache, atn_ctx_message(job->ctx)); /* full, gone or noexec: go on without it */
    return status == ATN_OK ? compile(job, module) : status;
}

/* The same text as was compiled in, asked for without anything that was not there then. */
static const atn_builtin *find_builtin(const atn_build *build) {
    bool plain = !build->fast_math && !build->flags && !build->compiler;
    return plain ? atn_builtin_of_source(build->source) : NULL;
}

static bool take_builtin(const host_job *job, host_module *module) {
    module->builtin = find_builtin(job->build);
    module->base.compiled_in = module->builtin;
    return module->builtin;
}

/* With the compiler; without one, or with one that fails, crashes or hangs, what is compiled in. */
static atn_status build_somehow(host_job *job, host_module *module) {
    char *compiler;
    if (job->build->compiled_in && take_builtin(job, module)) return ATN_OK;
    atn_status status = atn_host_compiler(job->ctx, job->build->compiler, &compiler);
    if (status != ATN_OK) return status;
    bool found = compiler;
    if (found) {
        job->compiler = compiler;
        job->with = hash_compiler(compiler);
        atn_cpu_flags(is_clang(compiler), job->cpu);
        status = atn_cache_of(job->ctx, &job->cache);
        if (status == ATN_OK) status = build_at(job, module);
        atn_free(job->ctx, compiler);
    }
    if (found && status != ATN_ERR_BUILD && status != ATN_ERR_TIMEOUT) return status;
    if (take_builtin(job, module)) {
        if (found)
            atn_log(job->ctx, ATN_LOG_WARNING, "%s; the variant that is compiled in runs instead",
                    atn_ctx_message(job->ctx));
        return ATN_OK;
    }
    return found ? status
                 : atn_fail(job->ctx, ATN_ERR_BUILD, "%s: %s; without one only the kernels that attune ships run",
                            job->build->name, atn_ctx_message(job->ctx));
}

atn_status atn_host_build(atn_device *device, const atn_build *build, atn_module **out) {
    const atn_ctx *ctx = device->ctx;
    host_job job = {.ctx = ctx, .build = build};
    host_module *module = atn_zalloc(ctx, sizeof *module);
    if (!module) return ATN_ERR_MEMORY;
    atn_status status = build_somehow(&job, module);
    if (status != ATN_OK) {
        atn_code_unload(module->library);
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
    atn_code_unload(module->library);
    atn_free(ctx, module);
}

/* Is it the module's own, and not of a library behind it such as libm? */
static bool is_of(const void *symbol, void *library) {
    Dl_info where;
    struct link_map *map;
    return dladdr(symbol, &where) && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
           (uintptr_t)where.dli_fbase == (uintptr_t)map->l_addr;
}

static host_entry *find_entry(const host_module *module, const char *name) {
    host_entry *entry = NULL;
    if (module->library) {
        void *symbol = dlsym(module->library, name);
        if (symbol && is_of(symbol, module->library)) memcpy(&entry, &symbol, sizeof symbol);
        return entry;
    }
    for (int s = 0; s < ATN_BUILTIN_STAGES && module->builtin->name[s]; ++s)
        if (strcmp(module->builtin->name[s], name) == 0) entry = module->builtin->entry[s];
    return entry;
}

atn_status atn_host_function(atn_module *base, const char *name, atn_function **out) {
    host_module *module = (host_module *)base;
    for (host_function *f = module->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *out = &f->base;
            return ATN_OK;
        }
    host_entry *entry = find_entry(module, name);
    if (!entry) return atn_fail(base->device->ctx, ATN_ERR_INPUT, "built code has no function '%s'", name);
    host_function *function = atn_zalloc(base->device->ctx, sizeof *function + strlen(name) + 1);
    if (!function) return ATN_ERR_MEMORY;
    function->entry = entry;
    strcpy(function->name, name);
    function->next = module->functions;
    module->functions = function;
    *out = &function->base;
    return ATN_OK;
}

host_entry *atn_host_entry(const atn_function *function) { return ((const host_function *)function)->entry; }
