#include "support/golden.h"

#include "base/file.h"
#include "base/memory.h"
#include "bench/estimate.h"
#include "built/built.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const atn_device_info GOLDEN_DEVICES[GOLDEN_DEVICE_KINDS] = {
    [GOLDEN_AVX2] = {.backend = "host",
                     .arch = "x86_64",
                     .name = "AVX2",
                     .simd = 8,
                     .cores = 8,
                     .max_group = 1,
                     .fp64 = true,
                     .local_bytes = 32 << 10,
                     .cache_bytes = 32 << 20,
                     .cpu = true},
    [GOLDEN_AVX512] = {.backend = "host",
                       .arch = "x86_64",
                       .name = "AVX-512",
                       .simd = 16,
                       .cores = 16,
                       .max_group = 1,
                       .fp64 = true,
                       .local_bytes = 48 << 10,
                       .cache_bytes = 64 << 20,
                       .cpu = true},
    [GOLDEN_NEON] = {.backend = "host",
                     .arch = "aarch64",
                     .name = "NEON",
                     .simd = 4,
                     .cores = 2,
                     .max_group = 1,
                     .fp64 = true,
                     .local_bytes = 64 << 10,
                     .cache_bytes = 32 << 20,
                     .cpu = true},
    [GOLDEN_CUDA] = {.backend = "cuda",
                     .arch = "sm_90",
                     .name = "GPU",
                     .simd = 32,
                     .cores = 132,
                     .max_group = 1024,
                     .fp64 = true,
                     .local_bytes = 227 << 10,
                     .cache_bytes = 50 << 20,
                     .subgroups = true},
    [GOLDEN_OPENCL] = {.backend = "opencl",
                       .arch = "",
                       .name = "OpenCL CPU",
                       .simd = 8,
                       .cores = 8,
                       .max_group = 4096,
                       .fp64 = true,
                       .local_bytes = 512 << 10,
                       .cache_bytes = 32 << 20,
                       .cpu = true},
};

const golden_case GOLDEN_CASES[] = {
    {"1-product-cuda", "gemm", "cuda",
     "lanes_p0=4,lanes_p1=4,regs_p0=2,regs_p1=2,tile_q0=4,unroll_q0=4,stage=1,stage_swap=2,index=32"},
    {"2-product-host", "gemm", "host", "vec_p0=4,regs_p0=2,regs_p1=2,seq_p1=2,tile_q0=16,stage=1"},
    {"3-estep-cuda", "estep", "cuda", "lanes_p0=32,regs_p0=2,tile_q0=32,stage=1,exp=native,index=32"},
    {"4-norm-cuda", "l2norm", "cuda", "lanes_q0=64,regs_q0=2,split_q0=8,finish=last"},
    {"5-sparse-cuda", "spmv", "cuda", "lanes_p0=32,lanes_q0=8,reduce=shuffle,guard=0"},
    {"6-laplace-opencl", "laplace2d", "opencl", "lanes_p0=8,lanes_p1=4,regs_p1=2,stage=1"},
    {"7-argmax-opencl", "max", "opencl", "lanes_q0=64,split_q0=8,finish=last"},
    {"8-redblack-host", "redblack", "host", "vec_p0=4"},
    {"9-transpose-host", "transpose", "host", "regs_p0=4,vec_p1=4"},
};
const size_t GOLDEN_CASES_COUNT = sizeof GOLDEN_CASES / sizeof *GOLDEN_CASES;

atn_sequence *golden_kernel(const atn_ctx *ctx, const char *name) {
    static const atn_define SP = {"USED_FLOAT", "SP"};
    const char *text = atn_shipped_find(name);
    for (const atn_embedded *s = ATN_BENCH_KERNELS; !text && s->name; ++s)
        if (strcmp(s->name, name) == 0) text = s->text;
    atn_sequence *sequence = NULL;
    assert_non_null(text);
    if (!text) return NULL;
    kit_ok(ctx, atn_sequence_parse(ctx, name, text, strlen(text), &(atn_parse_options){.defines = &SP, .n_defines = 1},
                                   NULL, &sequence));
    return sequence;
}

atn_variant golden_variant(const atn_ctx *ctx, const golden_case *c) {
    atn_variant variant = atn_variant_plain();
    kit_ok(ctx, atn_variant_parse(ctx, &variant, c->variant));
    return variant;
}

atn_target golden_target(const char *backend) {
    bool host = strcmp(backend, "host") == 0;
    atn_device_info info = {.max_group = host ? 1 : 1024, .local_bytes = 48 << 10, .simd = host ? 4 : 32};
    snprintf(info.backend, sizeof info.backend, "%s", backend);
    return atn_target_of(&info);
}

static void fail_at_difference(const char *path, const char *is, const char *was) {
    int line = 1;
    for (; *is && *is == *was; ++is, ++was) line += *is == '\n';
    while (is[-1] != '\n' && line > 1) --is, --was;
    fail_msg("%s:%d: '%.*s' was '%.*s'; if that is meant, tools/renew-golden", path, line, (int)strcspn(is, "\n"), is,
             (int)strcspn(was, "\n"), was);
}

void golden_check(const atn_ctx *ctx, const char *folder, const char *name, const char *text) {
    char path[512], *was;
    size_t length;
    snprintf(path, sizeof path, ATN_SOURCE_DIR "/tests/%s/golden/%s.txt", folder, name);
    if (getenv("ATTUNE_TEST_RENEW")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        assert_int_equal(fclose(file), 0);
        return;
    }
    kit_ok(ctx, atn_file_read(ctx, path, 1 << 24, &was, &length));
    if (strcmp(was, text) != 0) fail_at_difference(path + strlen(ATN_SOURCE_DIR "/"), text, was);
    atn_free(ctx, was);
}
