#include "support/emulate.h"

#include "testkit.h"

#include "render/dialect.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Memory of a launch is the emulator's own. */
static const char DYNAMIC[] = "extern __shared__ __align__(1024) char dynamic_local[];";

static atn_status write_source(atn_ctx *ctx, const atn_lowered *p, const char *path) {
    atn_text source = {.ctx = ctx};
    atn_status status = atn_render(ctx, p, atn_dialect_find("cuda"), &source);
    FILE *file = status == ATN_OK ? fopen(path, "w") : NULL;
    char *body = status == ATN_OK ? strstr((char *)(uintptr_t)atn_text_str(&source), "extern \"C\" __global__") : NULL;
    if (file && body) {
        for (char *at = body; (at = strstr(at, DYNAMIC));) memset(at, ' ', sizeof DYNAMIC - 1);
        fprintf(file, "#define ATN_ADDRESS_BITS %d\n#include \"%s/tests/support/emulator.hpp\"\n%s", p->variant.index,
                ATN_SOURCE_DIR, body);
        for (int32_t k = 0; k < p->n_stages; ++k)
            fprintf(file,
                    "static void enter%d(void **args) { call(%s, args); }\n"
                    "extern \"C\" void run%d(void **args, int groups, int items) { launch(enter%d, args, groups, "
                    "items); }\n",
                    k, p->stage[k].name, k, k);
    }
    if (file) fclose(file);
    atn_text_free(&source);
    return status;
}

static atn_status compile(atn_ctx *ctx, const char *source, const char *library) {
    char command[2048];
    if (system("c++ --version > /dev/null 2>&1") != 0) return atn_fail(ctx, ATN_ERR_DEVICE, "no C++ compiler");
    snprintf(command, sizeof command, "c++ -O1 -w -shared -fPIC -o '%s' '%s'", library, source);
    return system(command) == 0 ? ATN_OK : atn_fail(ctx, ATN_ERR_BUILD, "the emulated source does not compile");
}

static void run(const atn_lowered *p, void *library, const atn_view *views, const atn_extent *extent) {
    enum { MOST = 256 };
    static const int64_t none = 0;
    void *args[MOST], *data[MOST], *scratch = calloc(1, (size_t)atn_lowered_scratch_bytes(p, extent) + 16);
    assert_non_null(scratch);
    assert_true(p->n_arguments <= MOST);
    for (int32_t k = 0; k < p->n_arguments; ++k) {
        const ir_argument *a = &p->arguments[k];
        data[k] = a->kind == IR_ARG_SCRATCH ? scratch : views[a->id].data;
        bool pointer = a->kind == IR_ARG_DATA || a->kind == IR_ARG_SCRATCH;
        args[k] = pointer                   ? (void *)&data[k]
                  : a->kind == IR_ARG_PITCH ? (void *)(uintptr_t)&views[a->id].pitch
                  : a->kind >= IR_ARG_SIZE0 ? (void *)(uintptr_t)&views[a->id].size[a->kind - IR_ARG_SIZE0]
                                            : (void *)(uintptr_t)&none;
    }
    for (int32_t k = 0; k < p->n_stages; ++k) {
        char name[16];
        snprintf(name, sizeof name, "run%d", k);
        void (*entry)(void **, int, int);
        *(void **)&entry = dlsym(library, name);
        assert_non_null(entry);
        int64_t all = atn_lowered_groups(p, k, extent), most = p->variant.groups;
        entry(args, (int)(most > 0 && most < all ? most : all), p->stage[k].items);
    }
    const int64_t *words = scratch;
    for (int64_t k = 2; p->variant.finish == ATN_FINISH_LOOK && k < atn_lowered_scratch_bytes(p, extent) / 8; ++k)
        assert_true(words[k] >> 32 == 0); /* empty again, for the next launch */
    free(scratch);
}

atn_status emulate_run(atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const atn_view *views,
                       const char *folder) {
    static int number;
    char source[1024], library[1024];
    atn_target target = {.shuffle = true,
                         .matrix = true,
                         .warpgroup = true,
                         .waits = true,
                         .warp = 32,
                         .max_items = 1024,
                         .local_bytes = 48 << 10,
                         .dynamic_bytes = 200 << 10};
    atn_lowered *p;
    atn_bindings frame = {.views = views};
    atn_extent extent;
    atn_status status = atn_lower(ctx, graph, variant, &target, &p);
    if (status != ATN_OK) return status;
    snprintf(source, sizeof source, "%s/emulated%d.cpp", folder, number);
    snprintf(library, sizeof library, "%s/emulated%d.so", folder, number++);
    status = atn_extent_of(ctx, graph, &frame, &extent);
    if (status == ATN_OK) status = write_source(ctx, p, source);
    if (status == ATN_OK) status = compile(ctx, source, library);
    void *handle = status == ATN_OK ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (status == ATN_OK && !handle) status = atn_fail(ctx, ATN_ERR_BUILD, "%s", dlerror());
    if (handle) {
        run(p, handle, views, &extent);
        dlclose(handle);
    }
    atn_lowered_free(p);
    return status;
}
