/* The host's arithmetic probes as compilers make them, for this architecture and others: the assembly of each inner
 * loop keeps every accumulator in a register of its own and has neither loads nor stores. */
#include "testkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/text.h"
#include "device/backend.h"
#include "device/probes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 20000, MOST_FLAGS = 24, FEWEST = 10 };
static const double COMPILE_S = 120;

/* One compilation, and what its inner loops must be like. */
typedef struct target {
    const char *compilers[3]; /* the first that is there */
    const char *flags[2];     /* besides those of the host's builds and the probes' own */
    const char *step;         /* how the instruction begins that adds into an accumulator */
    bool arm;                 /* destinations come first; x86: last (AT&T) */
    int simd;                 /* floats in a vector */
    int chains, loops;        /* accumulators; loops at least, one for each type (and what unrolling leaves) */
} target;

static const target TARGETS[] = {
    {{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc-12"}, {"-mcpu=neoverse-n1"}, "fmla", true, 4, 24, 3},
    {{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc-12"}, {"-mcpu=neoverse-v1"}, "fmla", true, 4, 24, 3},
    {{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc-12"}, {"-mcpu=a64fx"}, "fml", true, 16, 24, 3},
    {{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-gcc-12"}, {"-mcpu=cortex-a72"}, "fmla", true, 4, 24, 2},
    {{"clang"}, {"--target=aarch64-linux-gnu", "-mcpu=neoverse-n1"}, "fmla", true, 4, 24, 3},
    {{"clang"}, {"--target=aarch64-linux-gnu", "-mcpu=neoverse-v1"}, "fmla", true, 4, 24, 3},
    {{"clang"}, {"--target=aarch64-linux-gnu", "-mcpu=a64fx"}, "fml", true, 16, 24, 3},
    {{"x86_64-linux-gnu-gcc", "x86_64-linux-gnu-gcc-12"}, {"-march=x86-64-v3"}, "vfmadd", false, 8, 12, 2},
    {{"x86_64-linux-gnu-gcc", "x86_64-linux-gnu-gcc-12"}, {"-march=skylake-avx512"}, "vfmadd", false, 16, 24, 2},
    {{"x86_64-linux-gnu-gcc", "x86_64-linux-gnu-gcc-12"}, {"-march=sapphirerapids"}, "vfmadd", false, 16, 24, 3},
    {{"clang"}, {"--target=x86_64-linux-gnu", "-march=x86-64-v3"}, "vfmadd", false, 8, 12, 2},
    {{"clang"}, {"--target=x86_64-linux-gnu", "-march=skylake-avx512"}, "vfmadd", false, 16, 24, 2},
    {{"clang"}, {"--target=x86_64-linux-gnu", "-march=sapphirerapids"}, "vfmadd", false, 16, 24, 3},
};

/* The assembly of the host's probes; NULL where the compiler is not there. */
static char *compile(atn_ctx *ctx, const char *dir, const target *t) {
    static const char STRING_H[] =
        "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\n"; /* no foreign libc needed */
    static const char *const FLAGS[] = {
        "-std=gnu17",     "-O3", "-fPIC", "-w", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast",
        "-ffreestanding", "-I.", "-S",    "-o", "probes.s"};
    char *compiler = NULL, *assembly;
    for (int k = 0; k < 3 && t->compilers[k] && !compiler; ++k)
        kit_ok(ctx, atn_process_find(ctx, t->compilers[k], &compiler));
    if (!compiler) return NULL;
    atn_device device = {.ctx = ctx, .info = {.backend = "host", .cpu = true, .fp64 = true, .simd = t->simd}};
    snprintf(device.info.arch, sizeof device.info.arch, "%s", t->arm ? "aarch64" : "x86_64");
    atn_probe_source probe = atn_probe_get(&device, ATN_PROBE_FP32);
    const char *source = probe.source, *argv[MOST_FLAGS] = {compiler};
    size_t n = 1, length;
    for (size_t k = 0; k < sizeof FLAGS / sizeof *FLAGS; ++k) argv[n++] = FLAGS[k];
    for (int k = 0; k < 2 && t->flags[k]; ++k) argv[n++] = t->flags[k];
    if (probe.flags) argv[n++] = probe.flags;
    argv[n++] = "probes.c";
    char path[4096];
    snprintf(path, sizeof path, "%s/string.h", dir);
    kit_ok(ctx, atn_file_write(ctx, path, STRING_H, sizeof STRING_H - 1));
    snprintf(path, sizeof path, "%s/probes.c", dir);
    kit_ok(ctx, atn_file_write(ctx, path, source, strlen(source)));
    atn_text said = {.ctx = ctx};
    int code;
    kit_ok(ctx, atn_process_run(ctx, argv, dir, COMPILE_S, &said, &code));
    if (code != 0) fail_msg("%s %s: exit %d: %s", compiler, t->flags[0], code, atn_text_str(&said));
    snprintf(path, sizeof path, "%s/probes.s", dir);
    kit_ok(ctx, atn_file_read(ctx, path, 64 << 20, &assembly, &length));
    atn_text_free(&said);
    atn_free(ctx, compiler);
    return assembly;
}

static size_t cut_lines(char *text, char **lines) {
    size_t n = 0;
    char *rest;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *note = strstr(line, "//");
        if (note) *note = '\0';
        note = strstr(line, "# ");
        if (note) *note = '\0';
        assert_true(n < MOST_LINES);
        lines[n++] = line;
    }
    return n;
}

static bool is_label(const char *line) { return !isspace((unsigned char)*line) && strchr(line, ':'); }

static bool touches_memory(const target *t, const char *word) {
    if (t->arm) return strncmp(word, "ld", 2) == 0 || strncmp(word, "st", 2) == 0;
    return strchr(word, '(') && strncmp(word, "lea", 3) != 0;
}

/* The accumulator that a step adds into, cut out of its line. */
static void destination(const target *t, const char *word, char *to, size_t room) {
    const char *from = t->arm ? word + strcspn(word, " \t") : strrchr(word, ',') + 1;
    from += strspn(from, " \t");
    snprintf(to, room, "%.*s", (int)strcspn(from, ".,/ \t"), from);
}

/* The block from the label at `from` to a branch back to it, if it is one: where the branch is, else 0. */
static size_t loop_end(char **lines, size_t n, size_t from) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(lines[from], ":"), lines[from]);
    for (size_t k = from + 1; k < n && !is_label(lines[k]); ++k) {
        const char *word = lines[k] + strspn(lines[k], " \t"), *last = strrchr(word, '\t');
        if ((*word == 'b' || *word == 'j') && last && strcmp(last + 1, name) == 0) return k;
    }
    return 0;
}

/* Accumulators of the block, 0 if it has none. Each must be in a register of its own, stepped as often as the others (a
 * compiler may unroll the loop), with nothing in memory; else the test fails. */
static int check_loop(const target *t, char **lines, size_t from, size_t end) {
    char taken[32][16];
    int n = 0, steps[32] = {0};
    for (size_t k = from + 1; k < end; ++k) {
        const char *word = lines[k] + strspn(lines[k], " \t");
        char name[16];
        int j = 0;
        if (strncmp(word, t->step, strlen(t->step)) != 0) continue;
        destination(t, word, name, sizeof name);
        while (j < n && strcmp(taken[j], name) != 0) ++j;
        assert_true(j < 32);
        if (j == n) strcpy(taken[n++], name);
        ++steps[j];
    }
    if (n < FEWEST) return 0; /* saxpy, vectorized */
    for (int j = 1; j < n; ++j)
        if (steps[j] != steps[0])
            fail_msg("%s: %d steps of %s, %d of %s", t->flags[0], steps[j], taken[j], steps[0], taken[0]);
    for (size_t k = from + 1; k < end; ++k)
        if (touches_memory(t, lines[k] + strspn(lines[k], " \t"))) fail_msg("%s: %s", t->flags[0], lines[k]);
    return n;
}

KIT_TEST(accumulators_stay_in_registers) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), **lines = calloc(MOST_LINES, sizeof *lines);
    int compiled = 0;
    for (size_t k = 0; k < sizeof TARGETS / sizeof *TARGETS; ++k) {
        const target *t = &TARGETS[k];
        char *assembly = compile(ctx, dir, t);
        if (!assembly) {
            print_message("%s is not installed: not compiled with %s\n", t->compilers[0], t->flags[0]);
            continue;
        }
        size_t n = cut_lines(assembly, lines);
        int loops = 0;
        for (size_t from = 0; from < n; ++from) {
            size_t end = is_label(lines[from]) ? loop_end(lines, n, from) : 0;
            int chains = end ? check_loop(t, lines, from, end) : 0;
            if (chains == 0) continue;
            if (chains != t->chains)
                fail_msg("%s %s: %d accumulators, not %d", t->compilers[0], t->flags[0], chains, t->chains);
            ++loops;
        }
        if (loops < t->loops) fail_msg("%s %s: %d loops, not %d", t->compilers[0], t->flags[0], loops, t->loops);
        atn_free(ctx, assembly);
        ++compiled;
    }
    free(lines);
    kit_remove(dir);
    kit_free(ctx);
    if (compiled == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(accumulators_stay_in_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
