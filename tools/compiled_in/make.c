/* Writes the C of the variants that are compiled into the library. Run by the build (cmake/AttuneBuiltins.cmake), made
 * of the library's own lowering, so that what is compiled in and what the library would generate are the same text.
 * usage: make DIRECTORY KERNEL:TYPE:STEP ...      writes DIRECTORY/KERNEL_TYPE_STEP.c each, and DIRECTORY/table.c */
#include "base/file.h"
#include "base/memory.h"
#include "built/built.h"
#include "device/builtin.h"
#include "graph/routine.h"
#include "graph/shipped.h"

#include <stdio.h>
#include <string.h>

/* Any CPU: vectors of 16 bytes, which every architecture we know has. Sizes are not known; tiles that do not overhang
 * small matrices cost large ones less than the other way round. */
static const atn_device_info ANY_CPU = {
    .backend = "host", .cores = 8, .simd = 4, .max_group = 1, .local_bytes = 32 << 10, .fp64 = true, .cpu = true};

static const atn_extent ANY_SIZE = {.points = {256, 256}};

typedef struct job {
    atn_ctx *ctx;
    const char *directory;
    char kernel[64], type[16];
    int step;
    atn_text *rows, *declarations; /* of the table */
} job;

/* Written only where it differs: what did not change is not compiled again. */
static atn_status write_file(const job *j, const char *name, const atn_text *text) {
    char path[4096], *before = NULL;
    size_t length = 0;
    if (atn_text_status(text) != ATN_OK) return ATN_ERR_MEMORY;
    snprintf(path, sizeof path, "%s/%s.c", j->directory, name);
    atn_status status = atn_file_read(j->ctx, path, 64 << 20, &before, &length);
    bool same = status == ATN_OK && length == text->length && memcmp(before, atn_text_str(text), length) == 0;
    atn_free(j->ctx, before);
    return same ? ATN_OK : atn_file_write(j->ctx, path, atn_text_str(text), text->length);
}

/* Entry points have the same names in every text, so they become the file's own. */
static atn_status add_static(const job *j, const char *source, const atn_lowered *program, atn_text *out) {
    const char *from = source;
    for (int32_t s = 0; s < program->n_stages; ++s) {
        char head[128];
        snprintf(head, sizeof head, "\nvoid %s(", program->stage[s].name);
        const char *at = strstr(from, head);
        if (!at) return atn_fail(j->ctx, ATN_ERR_INTERNAL, "%s: entry point %s is not found", j->kernel, head);
        atn_text_add_bytes(out, from, (size_t)(at + 1 - from));
        atn_text_add(out, "static ");
        from = at + 1;
    }
    atn_text_add(out, from);
    return ATN_OK;
}

static void add_row(const job *j, const atn_graph *graph, const atn_lowered *program, const char *variant,
                    const char *source) {
    atn_hash hash = atn_builtin_hash(source);
    atn_text_printf(j->declarations, "extern atn_builtin_entry *const atn_builtin_%s_%s_%d[];\n", j->kernel, j->type,
                    j->step);
    atn_text_printf(j->rows, "    {\"%s\", \"%s\", {0x%llx, 0x%llx}, \"%s\", {0x%llx, 0x%llx}, {", j->kernel, j->type,
                    (unsigned long long)graph->hash.high, (unsigned long long)graph->hash.low, variant,
                    (unsigned long long)hash.high, (unsigned long long)hash.low);
    for (int32_t s = 0; s < program->n_stages; ++s)
        atn_text_printf(j->rows, "%s\"%s\"", s ? ", " : "", program->stage[s].name);
    atn_text_printf(j->rows, "}, atn_builtin_%s_%s_%d},\n", j->kernel, j->type, j->step);
}

static atn_status compile_in(const job *j, const atn_graph *graph, atn_text *out) {
    atn_target target = atn_target_of(&ANY_CPU);
    atn_variant variant = atn_variant_estimate(graph, &ANY_CPU, &ANY_SIZE);
    atn_text source = {.ctx = j->ctx}, knobs = {.ctx = j->ctx};
    atn_lowered *program = NULL;
    atn_status status = atn_built_source(j->ctx, graph, &variant, "host", &target, &source);
    if (status == ATN_OK) status = atn_lower(j->ctx, graph, &variant, &target, &program);
    if (status == ATN_OK) status = add_static(j, atn_text_str(&source), program, out);
    if (status == ATN_OK) {
        atn_variant_print(&variant, &knobs);
        add_row(j, graph, program, atn_text_str(&knobs), atn_text_str(&source));
        atn_text_printf(out, "\nvoid (*const atn_builtin_%s_%s_%d[])(const struct atn_call *) = {", j->kernel, j->type,
                        j->step);
        for (int32_t s = 0; s < program->n_stages; ++s)
            atn_text_printf(out, "%s%s", s ? ", " : "", program->stage[s].name);
        atn_text_add(out, "};\n");
    }
    atn_lowered_free(program);
    atn_text_free(&knobs);
    atn_text_free(&source);
    return status;
}

/* The kernels that a description has: all steps of a kernel's, those of its own of a program's. */
typedef struct kernels {
    atn_sequence *sequence;
    atn_programs *programs;
} kernels;

static atn_status open_kernels(const job *j, kernels *k) {
    const char *text = atn_shipped_find(j->kernel);
    atn_define define = {"USED_FLOAT", j->type};
    atn_parse_options options = {.defines = &define, .n_defines = strcmp(j->type, "as_described") != 0};
    if (!atn_shipped_is_kernel(j->kernel))
        return atn_programs_parse(j->ctx, j->kernel, text, strlen(text), &options, NULL, &k->programs);
    return atn_sequence_parse(j->ctx, j->kernel, text, strlen(text), &options, NULL, &k->sequence);
}

/* What others ship is compiled in with them; a file of one kernel may have its name. */
static bool is_own(const char *file, const char *kernel) {
    return strcmp(file, kernel) == 0 || !atn_shipped_find(kernel);
}

/* NULL: there are fewer. */
static const atn_graph *kernel_at(const kernels *k, const char *file, int step) {
    if (k->sequence) return step < k->sequence->count ? k->sequence->step[step] : NULL;
    for (int32_t n = 0; n < k->programs->n_callees; ++n)
        if (is_own(file, k->programs->callees[n].name) && step-- == 0) return k->programs->callees[n].graph;
    return NULL;
}

/* One file. A description that does not exist in this type leaves a file that says so. */
static atn_status make(job *j, const char *what) {
    atn_text out = {.ctx = j->ctx};
    kernels all = {0};
    char name[128];
    if (sscanf(what, "%63[^:]:%15[^:]:%d", j->kernel, j->type, &j->step) != 3 || !atn_shipped_find(j->kernel))
        return atn_fail(j->ctx, ATN_ERR_INPUT, "'%s': KERNEL:TYPE:STEP is wanted", what);
    atn_status status = open_kernels(j, &all);
    const atn_graph *graph = status == ATN_OK ? kernel_at(&all, j->kernel, j->step) : NULL;
    if (graph)
        status = compile_in(j, graph, &out);
    else if (status != ATN_ERR_MEMORY)
        status = ATN_OK, atn_text_printf(&out, "typedef int not_in_this_type; /* %s, %s */\n", j->kernel, j->type);
    atn_sequence_free(all.sequence);
    atn_programs_free(all.programs);
    snprintf(name, sizeof name, "%s_%s_%d", j->kernel, j->type, j->step);
    if (status == ATN_OK) status = write_file(j, name, &out);
    atn_text_free(&out);
    return status;
}

static atn_status make_table(const job *j) {
    atn_text out = {.ctx = j->ctx};
    atn_text_add(&out, "/* Made by the build; do not edit. */\n#include \"device/builtin.h\"\n\n");
    atn_text_add(&out, atn_text_str(j->declarations));
    atn_text_printf(&out, "\nconst atn_builtin ATN_BUILTINS[] = {\n%s    {0},\n};\n", atn_text_str(j->rows));
    bool whole = atn_text_status(j->declarations) == ATN_OK && atn_text_status(j->rows) == ATN_OK;
    atn_status status = whole ? write_file(j, "table", &out) : ATN_ERR_MEMORY;
    atn_text_free(&out);
    return status;
}

int main(int argc, char **argv) {
    atn_ctx *ctx;
    if (argc < 2 || atn_ctx_create(NULL, &ctx) != ATN_OK) return 2;
    atn_text rows = {.ctx = ctx}, declarations = {.ctx = ctx};
    job j = {.ctx = ctx, .directory = argv[1], .rows = &rows, .declarations = &declarations};
    atn_status status = ATN_OK;
    for (int k = 2; k < argc && status == ATN_OK; ++k) status = make(&j, argv[k]);
    if (status == ATN_OK) status = make_table(&j);
    if (status != ATN_OK) fprintf(stderr, "%s\n", atn_ctx_message(ctx));
    atn_text_free(&rows);
    atn_text_free(&declarations);
    atn_ctx_free(ctx);
    return status == ATN_OK ? 0 : 1;
}
