/* qsort moves pairs of a key and its place. CUB comes with the CUDA toolkit as headers only, so that nvcc builds a
 * small library with it, which is loaded; where there is no nvcc there is no reference. */
#include "bench/reference_sort.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "device/cache_dir.h"
#include "device/cuda.h"
#include "device/facts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- qsort ---- */

typedef struct narrow {
    uint32_t key;
    int32_t place;
} narrow;

typedef struct wide {
    uint64_t key;
    int32_t place;
} wide;

typedef struct sorted {
    const atn_ctx *ctx;
    const void *keys;
    size_t bytes;
    int64_t n;
    void *pairs;
} sorted;

static int by_narrow(const void *a, const void *b) {
    const narrow *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int by_wide(const void *a, const void *b) {
    const wide *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static atn_status make_pairs(void *data) {
    sorted *s = data;
    for (int64_t k = 0; k < s->n; ++k) {
        if (s->bytes == 4)
            ((narrow *)s->pairs)[k] = (narrow){((const uint32_t *)s->keys)[k], (int32_t)k};
        else
            ((wide *)s->pairs)[k] = (wide){((const uint64_t *)s->keys)[k], (int32_t)k};
    }
    return ATN_OK;
}

static atn_status run_qsort(void *data) {
    sorted *s = data;
    qsort(s->pairs, (size_t)s->n, s->bytes == 4 ? sizeof(narrow) : sizeof(wide), s->bytes == 4 ? by_narrow : by_wide);
    return ATN_OK;
}

static void close_qsort(void *data) {
    sorted *s = data;
    atn_free(s->ctx, s->pairs);
    atn_free(s->ctx, s);
}

static atn_status open_qsort(atn_device *device, const void *keys, size_t bytes, int64_t n, bench_sort_reference *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    sorted *s = atn_zalloc(ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    *s = (sorted){.ctx = ctx, .keys = keys, .bytes = bytes, .n = n, .pairs = atn_zalloc(ctx, (size_t)n * sizeof(wide))};
    if (!s->pairs) return close_qsort(s), ATN_ERR_MEMORY;
    *out = (bench_sort_reference){
        .name = "qsort", .runner = {.run = run_qsort, .ready = make_pairs, .data = s}, .close = close_qsort};
    return ATN_OK;
}

/* ---- CUB ---- */

static const char SOURCE[] =
    "#include <cub/cub.cuh>\n"
    "template <class K> static int sort(void *space, size_t *bytes, const void *keys, void *keys_out, const void "
    "*values,\n"
    "                                   void *values_out, long long n, void *stream) {\n"
    "    return cub::DeviceRadixSort::SortPairs(space, *bytes, (const K *)keys, (K *)keys_out, (const int *)values,\n"
    "                                           (int *)values_out, (int)n, 0, 8 * (int)sizeof(K), "
    "(cudaStream_t)stream);\n"
    "}\n"
    "extern \"C\" int attune_cub_sort(int key_bytes, void *space, size_t *bytes, const void *keys, void *keys_out,\n"
    "                               const void *values, void *values_out, long long n, void *stream) {\n"
    "    return key_bytes == 4 ? sort<unsigned>(space, bytes, keys, keys_out, values, values_out, n, stream)\n"
    "                          : sort<unsigned long long>(space, bytes, keys, keys_out, values, values_out, n, "
    "stream);\n"
    "}\n";

typedef int cub_sort(int key_bytes, void *space, size_t *bytes, const void *keys, void *keys_out, const void *values,
                     void *values_out, long long n, void *stream);

typedef struct cub {
    const atn_ctx *ctx;
    atn_device *device;
    cub_sort *sort;
    atn_buffer *buffer[5]; /* keys, values, both out, space */
    size_t key_bytes, space_bytes;
    int64_t n;
} cub;

static void *address(const cub *c, int buffer) {
    return (void *)(uintptr_t)((const atn_cuda_buffer *)c->buffer[buffer])->address; /* a device's, for the library */
}

static int call_cub(const cub *c, void *space, size_t *bytes) {
    return c->sort((int)c->key_bytes, space, bytes, address(c, 0), address(c, 2), address(c, 1), address(c, 3), c->n,
                   ((atn_cuda_queue *)atn_device_queue(c->device))->stream);
}

static atn_status run_cub(void *data) {
    cub *c = data;
    size_t bytes = c->space_bytes;
    int result = call_cub(c, address(c, 4), &bytes);
    return result == 0 ? ATN_OK : atn_fail(c->ctx, ATN_ERR_DEVICE, "CUB failed with %d", result);
}

static void close_cub(void *data) {
    cub *c = data;
    for (int k = 0; k < 5; ++k) atn_buffer_free(c->buffer[k]);
    atn_free(c->ctx, c);
}

/* Leaves `sort` NULL where it cannot be built, and says why. The library stays loaded. */
static atn_status build_cub(cub *c, const char **why) {
    char *nvcc = NULL, *dir = NULL, source[600], library[600];
    int code = 1;
    atn_text output = {.ctx = c->ctx};
    atn_status status = atn_process_find(c->ctx, "nvcc", &nvcc);
    if (status == ATN_OK && !nvcc) status = atn_process_find(c->ctx, "/usr/local/cuda/bin/nvcc", &nvcc);
    *why = "nvcc is not here";
    if (status == ATN_OK && nvcc) status = atn_cache_dir_temporary(c->ctx, &dir);
    if (status == ATN_OK && nvcc) {
        snprintf(source, sizeof source, "%s/sort.cu", dir);
        snprintf(library, sizeof library, "%s/sort.so", dir);
        const char *const argv[] = {nvcc,    "-O3", "-arch=native", "-shared", "-Xcompiler",
                                    "-fPIC", "-o",  library,        source,    NULL};
        status = atn_file_write(c->ctx, source, SOURCE, strlen(SOURCE));
        if (status == ATN_OK) status = atn_process_run(c->ctx, argv, dir, 300, &output, &code);
        *why = "nvcc does not build CUB";
    }
    void *loaded = status == ATN_OK && code == 0 ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (loaded) c->sort = (cub_sort *)dlsym(loaded, "attune_cub_sort");
    if (dir) atn_cache_dir_remove(dir);
    atn_free(c->ctx, dir);
    atn_free(c->ctx, nvcc);
    atn_text_free(&output);
    return status;
}

static atn_status open_cub(atn_device *device, const void *keys, size_t bytes, int64_t n, bench_sort_reference *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    cub *c = atn_zalloc(ctx, sizeof *c);
    if (!c) return ATN_ERR_MEMORY;
    *c = (cub){.ctx = ctx, .device = device, .key_bytes = bytes, .n = n};
    atn_status status = build_cub(c, &out->why);
    for (int k = 0; k < 4 && status == ATN_OK && c->sort; ++k)
        status = atn_buffer_create(device, (size_t)n * (k % 2 ? 4 : bytes), &c->buffer[k]);
    if (status == ATN_OK && c->sort) status = atn_buffer_put(NULL, c->buffer[0], 0, keys, (size_t)n * bytes);
    if (status == ATN_OK && c->sort && call_cub(c, NULL, &c->space_bytes) != 0) c->sort = NULL;
    if (status == ATN_OK && c->sort) status = atn_buffer_create(device, c->space_bytes + 1, &c->buffer[4]);
    if (status != ATN_OK || !c->sort) return close_cub(c), status;
    *out = (bench_sort_reference){.name = "CUB", .runner = {.run = run_cub, .data = c}, .close = close_cub};
    return ATN_OK;
}

atn_status bench_sort_reference_open(atn_device *device, const void *keys, size_t bytes, int64_t n,
                                     bench_sort_reference *out) {
    static const struct {
        const char *backend;
        atn_status (*open)(atn_device *device, const void *keys, size_t bytes, int64_t n, bench_sort_reference *out);
    } SORTS[] = {{"host", open_qsort}, {"cuda", open_cub}};
    *out = (bench_sort_reference){.why = "no sort of others is known"};
    for (size_t k = 0; k < sizeof SORTS / sizeof *SORTS; ++k)
        if (atn_backend_is(SORTS[k].backend, atn_device_get_info(device)->backend))
            return SORTS[k].open(device, keys, bytes, n, out);
    return ATN_OK;
}
