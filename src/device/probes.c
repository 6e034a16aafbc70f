/* The probes' sources: one text per dialect, each with the same entry points. */
#include "device/probes.h"

#include "device/host_abi.h"

#include <string.h>

static const char *const FUNCTIONS[ATN_PROBE_COUNT] = {
    [ATN_PROBE_SAXPY] = "probe_saxpy", [ATN_PROBE_COPY] = "probe_copy", [ATN_PROBE_FP16] = "probe_fp16",
    [ATN_PROBE_FP32] = "probe_fp32",   [ATN_PROBE_FP64] = "probe_fp64", [ATN_PROBE_MATRIX64] = "probe_matrix64",
};

/* Accumulators in a ring: each step adds the product of its neighbour, as that was a round before, and so waits for
 * nothing of its own round. Units that fuse add into their destination (fmla, vfmadd231): no step needs a move, and no
 * product is the same every round, to be taken out of the loop. In time they overflow; infinities take no longer.
 * Latency times units is 8 on Neoverse-N1, Zen and Golden Cove, 10 on Haswell, 16 on Neoverse-V1 and V2 and Apple's
 * cores, 18 on A64FX: 24 accumulators and the factor fit into 32 registers, 12 into 16. */
#define RING_12(next)                                                                                                  \
    "X(0, 1) X(1, 2) X(2, 3) X(3, 4) X(4, 5) X(5, 6) X(6, 7) X(7, 8) X(8, 9) X(9, 10) X(10, 11) X(11, " next ") "
#define RING_24                                                                                                        \
    RING_12("12")                                                                                                      \
    "X(12, 13) X(13, 14) X(14, 15) X(15, 16) X(16, 17) X(17, 18) X(18, 19) X(19, 20) X(20, 21) X(21, 22) X(22, 23) "   \
    "X(23, 0)"

/* One group is one thread's work. */
static const char HOST[] = ATN_HOST_ABI_TEXT
    "#include <string.h>\n"
    "#if defined(__AVX512F__) || defined(__aarch64__)\n"
    "#define CHAINS 24\n"
    "#define EACH(X) " RING_24 "\n"
    "#else\n"
    "#define CHAINS 12\n"
    "#define EACH(X) " RING_12(
        "0") "\n"
             "#endif\n"
             "#define OUT (*(float **)call->args[0])\n"
             "#define IN (*(const float **)call->args[1])\n"
             "#define N (*(const int64_t *)call->args[2])\n"
             "#define ROUNDS (*(const int64_t *)call->args[3])\n"
             "#define GROUPS _Pragma(\"omp parallel for num_threads(call->threads) schedule(static)\") "
             "for (int64_t g = 0; g < call->groups[0]; ++g)\n"
             "void probe_saxpy(const struct atn_call *call) {\n"
             "    float *out = OUT; const float *in = IN; int64_t n = N, each = (n + call->groups[0] - 1) / "
             "call->groups[0];\n"
             "    GROUPS {\n"
             "        int64_t end = (g + 1) * each < n ? (g + 1) * each : n;\n"
             "        for (int64_t i = g * each; i < end; ++i) out[i] = 2 * in[i] + out[i];\n"
             "    }\n"
             "}\n"
             "void probe_copy(const struct atn_call *call) {\n"
             "    float *out = OUT; const float *in = IN; int64_t n = N, each = (n + call->groups[0] - 1) / "
             "call->groups[0];\n"
             "    GROUPS {\n"
             "        int64_t begin = g * each, end = begin + each < n ? begin + each : n;\n"
             "        if (begin < end) memcpy(out + 4 * begin, in + 4 * begin, (size_t)(end - begin) * 16);\n"
             "    }\n"
             "}\n"
             "#ifdef SVE /* its vectors are longer than NEON's */\n"
             "#include <arm_sve.h>\n"
             "#define ALL svptrue_b8()\n"
             "#define BYTES svcntb()\n"
             "#define VECTOR(type, name, suffix) typedef sv##name##_t vec;\n"
             "#define BROADCAST(value, suffix) svdup_##suffix(value)\n"
             "#define START(k, next) vec a##k = svmul_x(ALL, m, (scalar)(1 + k));\n"
             "#define STEP(k, next) a##k = svmla_x(ALL, a##k, a##next, m);\n"
             "#define FINISH(k, next) sum = svadd_x(ALL, sum, a##k);\n"
             "#define FIRST(vector) svlasta(svpfalse_b(), vector)\n"
             "#else\n"
             "#if defined(__AVX512F__)\n"
             "#define BYTES 64\n"
             "#elif defined(__AVX__)\n"
             "#define BYTES 32\n"
             "#else\n"
             "#define BYTES 16\n"
             "#endif\n"
             "#define VECTOR(type, name, suffix) typedef type vec __attribute__((vector_size(BYTES)));\n"
             "#define BROADCAST(value, suffix) (value) - (vec){0}\n"
             "#define START(k, next) vec a##k = m * (1 + k);\n"
             "#define STEP(k, next) a##k += a##next * m;\n"
             "#define FINISH(k, next) sum += a##k;\n"
             "#define FIRST(vector) vector[0]\n"
             "#endif\n"
             "#define ARITHMETIC(function, type, name, suffix)                                                   \\\n"
             "    void function(const struct atn_call *call) {                                                  \\\n"
             "        typedef type scalar;                                                                      \\\n"
             "        VECTOR(type, name, suffix)                                                                \\\n"
             "        float *out = OUT; const float *in = IN; int64_t rounds = ROUNDS;                          \\\n"
             "        if (rounds == 0) { out[0] = 2 * CHAINS * (float)(BYTES / sizeof(type)); return; }         \\\n"
             "        GROUPS {                                                                                  \\\n"
             "            vec m = BROADCAST((type)in[1], suffix), sum = BROADCAST((type)0, suffix);             \\\n"
             "            EACH(START)                                                                           \\\n"
             "            for (int64_t r = 0; r < rounds; ++r) { EACH(STEP) }                                   \\\n"
             "            EACH(FINISH)                                                                          \\\n"
             "            out[g] = (float)FIRST(sum);                                                           \\\n"
             "        }                                                                                         \\\n"
             "    }\n"
             "ARITHMETIC(probe_fp32, float, float32, f32)\n"
             "ARITHMETIC(probe_fp64, double, float64, f64)\n"
             "#if defined(__AVX512FP16__) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)\n"
             "ARITHMETIC(probe_fp16, _Float16, float16, f16)\n"
             "#endif\n";

/* A CPU (CHAINS) wants its registers filled: the ring of above, with operators that the compiler fuses, since fma may
 * be a function to be called. A GPU wants independent scalars. */
static const char OPENCL[] =
    "__kernel void probe_saxpy(__global float *out, __global const float *in, long n, long rounds) {\n"
    "    long i = get_global_id(0);\n"
    "    if (i < n) out[i] = 2 * in[i] + out[i];\n"
    "}\n"
    "__kernel void probe_copy(__global float4 *out, __global const float4 *in, long n, long rounds) {\n"
    "#ifdef CHAINS\n"
    "    long each = (n + get_num_groups(0) - 1) / get_num_groups(0), begin = get_group_id(0) * each;\n"
    "    long end = begin + each < n ? begin + each : n;\n"
    "    for (long i = begin; i < end; ++i) out[i] = in[i];\n"
    "#else\n"
    "    long i = (long)get_group_id(0) * get_local_size(0) * 4 + get_local_id(0), step = get_local_size(0);\n"
    "    float4 a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];\n"
    "    out[i] = a; out[i + step] = b; out[i + 2 * step] = c; out[i + 3 * step] = d;\n"
    "#endif\n"
    "}\n"
    "#define JOIN_(a, b) a##b\n"
    "#define JOIN(a, b) JOIN_(a, b)\n"
    "#pragma OPENCL FP_CONTRACT ON\n"
    "#define START(k, next) vec a##k = m * (scalar)(1 + k);\n"
    "#define STEP(k, next) a##k += a##next * m;\n"
    "#define FINISH(k, next) sum += a##k;\n"
    "#if CHAINS == 24\n"
    "#define EACH(X) " RING_24 "\n"
    "#else\n"
    "#define EACH(X) " RING_12(
        "0") "\n"
             "#endif\n"
             "#ifdef CHAINS\n"
             "#define ARITHMETIC(name, type, wide)                                                              \\\n"
             "    __kernel void name(__global float *out, __global const float *in, long n, long rounds) {      \\\n"
             "        typedef type scalar;                                                                      \\\n"
             "        typedef JOIN(type, wide) vec;                                                             \\\n"
             "        if (rounds == 0) { out[0] = 2 * CHAINS * wide; return; }                                  \\\n"
             "        vec m = (type)in[1], sum = 0;                                                             \\\n"
             "        EACH(START)                                                                               \\\n"
             "        for (long r = 0; r < rounds; ++r) { EACH(STEP) }                                          \\\n"
             "        EACH(FINISH)                                                                              \\\n"
             "        out[get_global_id(0)] = (float)(sum.s0 + sum.s1);                                         \\\n"
             "    }\n"
             "#else\n"
             "#define ARITHMETIC(name, type, wide)                                                              \\\n"
             "    __kernel void name(__global float *out, __global const float *in, long n, long rounds) {      \\\n"
             "        if (rounds == 0) { out[0] = 2 * 8 * wide; return; }                                       \\\n"
             "        JOIN(type, wide) m = (type)in[0], c = (type)in[1];                                        \\\n"
             "        JOIN(type, wide) a0 = m, a1 = m + c, a2 = a1 + c, a3 = a2 + c, a4 = a3 + c, a5 = a4 + c,  \\\n"
             "                         a6 = a5 + c, a7 = a6 + c;                                                \\\n"
             "        for (long r = 0; r < rounds; ++r) {                                                       \\\n"
             "            a0 = fma(a0, m, c); a1 = fma(a1, m, c); a2 = fma(a2, m, c); a3 = fma(a3, m, c);       \\\n"
             "            a4 = fma(a4, m, c); a5 = fma(a5, m, c); a6 = fma(a6, m, c); a7 = fma(a7, m, c);       \\\n"
             "        }                                                                                         \\\n"
             "        JOIN(type, wide) sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;                             \\\n"
             "        out[get_global_id(0)] = (float)(sum.s0 + sum.s1);                                         \\\n"
             "    }\n"
             "#endif\n"
             "ARITHMETIC(probe_fp32, float, FLOATS)\n"
             "#ifdef HAVE_FP64\n"
             "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
             "ARITHMETIC(probe_fp64, double, DOUBLES)\n"
             "#endif\n"
             "#ifdef HAVE_FP16\n"
             "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
             "ARITHMETIC(probe_fp16, half, HALVES)\n"
             "#endif\n";

static const char CUDA[] =
    "#define ITEM (blockIdx.x * (long long)blockDim.x + threadIdx.x)\n"
    "#define PROBE(name) extern \"C\" __global__ void name(float *out, const float *in, long long n, long long "
    "rounds)\n"
    "PROBE(probe_saxpy) { long long i = ITEM; if (i < n) out[i] = 2 * in[i] + out[i]; }\n"
    "extern \"C\" __global__ void probe_copy(float4 *out, const float4 *in, long long n, long long rounds) {\n"
    "    long long step = blockDim.x, i = blockIdx.x * step * 4 + threadIdx.x;\n"
    "    float4 a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];\n"
    "    out[i] = a; out[i + step] = b; out[i + 2 * step] = c; out[i + 3 * step] = d;\n"
    "}\n"
    "#define ARITHMETIC(name, type)                                                                    \\\n"
    "    PROBE(name) {                                                                                 \\\n"
    "        if (rounds == 0) { out[0] = 2 * 16 * 8; return; }                                         \\\n"
    "        type m = in[0], c = in[1], a[16];                                                         \\\n"
    "        _Pragma(\"unroll\") for (int k = 0; k < 16; ++k) a[k] = m + (type)k * c;                  \\\n"
    "        for (long long r = 0; r < rounds; ++r)                                                    \\\n"
    "            _Pragma(\"unroll\") for (int u = 0; u < 8; ++u)                                       \\\n"
    "                _Pragma(\"unroll\") for (int k = 0; k < 16; ++k) a[k] = a[k] * m + c;             \\\n"
    "        type sum = 0;                                                                             \\\n"
    "        _Pragma(\"unroll\") for (int k = 0; k < 16; ++k) sum += a[k];                             \\\n"
    "        out[ITEM] = (float)sum;                                                                   \\\n"
    "    }\n"
    "ARITHMETIC(probe_fp32, float)\n"
    "ARITHMETIC(probe_fp64, double)\n"
    "#if __CUDA_ARCH__ >= 530\n"
    "PROBE(probe_fp16) { /* pairs of halves, as the hardware has them */\n"
    "    if (rounds == 0) { out[0] = 4 * 8 * 8; return; }\n"
    "    unsigned m = 0x3bff3bff, c = 0x14001400 + (in[0] > 2), a[8];\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < 8; ++k) a[k] = c + 0x10001u * k;\n"
    "    for (long long r = 0; r < rounds; ++r)\n"
    "        _Pragma(\"unroll\") for (int u = 0; u < 8; ++u)\n"
    "            _Pragma(\"unroll\") for (int k = 0; k < 8; ++k)\n"
    "                asm volatile(\"fma.rn.f16x2 %0, %0, %1, %2;\" : \"+r\"(a[k]) : \"r\"(m), \"r\"(c));\n"
    "    unsigned sum = 0;\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < 8; ++k) sum ^= a[k];\n"
    "    out[ITEM] = (float)sum;\n"
    "}\n"
    "#endif\n"
    "#if __CUDA_ARCH__ >= 900\n"
    "PROBE(probe_matrix64) { /* 16 by 8 by 16: 4096 operations a warp and instruction */\n"
    "    if (rounds == 0) { out[0] = 4096 / 32 * 8; return; }\n"
    "    double a = in[0], b = in[1], c[8][4];\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < 8; ++k) for (int j = 0; j < 4; ++j) c[k][j] = k + j;\n"
    "    for (long long r = 0; r < rounds; ++r)\n"
    "        _Pragma(\"unroll\") for (int k = 0; k < 8; ++k)\n"
    "            asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, \"\n"
    "                         \"{%4,%4,%4,%4,%4,%4,%4,%4}, {%5,%5,%5,%5}, {%0,%1,%2,%3};\"\n"
    "                         : \"+d\"(c[k][0]), \"+d\"(c[k][1]), \"+d\"(c[k][2]), \"+d\"(c[k][3]) : \"d\"(a), "
    "\"d\"(b));\n"
    "    double sum = 0;\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < 8; ++k) for (int j = 0; j < 4; ++j) sum += c[k][j];\n"
    "    out[ITEM] = (float)sum;\n"
    "}\n"
    "#elif __CUDA_ARCH__ >= 800\n"
    "PROBE(probe_matrix64) { /* 8 by 8 by 4: 512 operations a warp and instruction */\n"
    "    if (rounds == 0) { out[0] = 512 / 32 * 8; return; }\n"
    "    double a = in[0], b = in[1], c[8][2];\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < 8; ++k) for (int j = 0; j < 2; ++j) c[k][j] = k + j;\n"
    "    for (long long r = 0; r < rounds; ++r)\n"
    "        _Pragma(\"unroll\") for (int k = 0; k < 8; ++k)\n"
    "            asm volatile(\"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\"\n"
    "                         : \"+d\"(c[k][0]), \"+d\"(c[k][1]) : \"d\"(a), \"d\"(b));\n"
    "    double sum = 0;\n"
    "    _Pragma(\"unroll\") for (int k = 0; k < 8; ++k) for (int j = 0; j < 2; ++j) sum += c[k][j];\n"
    "    out[ITEM] = (float)sum;\n"
    "}\n"
    "#endif\n";

/* What the OpenCL source is built with, by the kind of device, then [fp64][fp16]. The longest vector type has 16. */
#define TYPES(flags)                                                                                                   \
    {                                                                                                                  \
        {flags, flags " -DHAVE_FP16"}, { flags " -DHAVE_FP64", flags " -DHAVE_FP64 -DHAVE_FP16" }                      \
    }
#ifdef __aarch64__
#define CHAINS "-DCHAINS=24"
#else
#define CHAINS "-DCHAINS=12" /* 16 registers; 32 where they have 64 bytes */
#endif
enum { GPU, BYTES_16, BYTES_32, BYTES_64, KINDS };
static const char *const OPENCL_FLAGS[KINDS][2][2] = {
    [GPU] = TYPES("-DHALVES=2 -DFLOATS=2 -DDOUBLES=2"),
    [BYTES_16] = TYPES(CHAINS " -DHALVES=8 -DFLOATS=4 -DDOUBLES=2"),
    [BYTES_32] = TYPES(CHAINS " -DHALVES=16 -DFLOATS=8 -DDOUBLES=4"),
    [BYTES_64] = TYPES("-DCHAINS=24 -DHALVES=16 -DFLOATS=16 -DDOUBLES=8"),
};

static const char *opencl_flags(const atn_device_info *info) {
    int kind = !info->cpu ? GPU : info->simd >= 16 ? BYTES_64 : info->simd >= 8 ? BYTES_32 : BYTES_16;
    return OPENCL_FLAGS[kind][info->fp64][info->fp16];
}

atn_probe_source atn_probe_get(const atn_device *device, atn_probe probe) {
    const atn_device_info *info = atn_device_get_info(device);
    bool missing =
        (probe == ATN_PROBE_FP64 && !info->fp64) || (probe == ATN_PROBE_MATRIX64 && strcmp(info->backend, "cuda") != 0);
    atn_probe_source out = {.function = missing ? NULL : FUNCTIONS[probe], .items = 1};
    if (strcmp(info->backend, "host") == 0) {
        out.source = HOST;
        if (strcmp(info->arch, "aarch64") == 0 && info->simd > 4) out.flags = "-DSVE";
        if (strcmp(info->arch, "x86_64") == 0 && info->simd == 16) /* clang halves vectors unless told */
            out.flags = "-mprefer-vector-width=512";
    } else if (strcmp(info->backend, "opencl") == 0) {
        out.source = OPENCL;
        out.flags = opencl_flags(info);
        if (probe == ATN_PROBE_FP16 && !info->fp16) out.function = NULL;
        if (!info->cpu || probe == ATN_PROBE_SAXPY) out.items = ATN_PROBE_ITEMS;
    } else {
        out.source = CUDA;
        out.items = ATN_PROBE_ITEMS;
    }
    return out;
}
