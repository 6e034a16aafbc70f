// Probes in C. One group is one thread's work.
// Accumulators in a ring: each step adds the product of its neighbour, as that was a round before, and so waits for
// nothing of its own round. Units that fuse add into their destination (fmla, vfmadd231): no step needs a move, and no
// product is the same every round, to be taken out of the loop. In time they overflow; infinities take no longer.
// Latency times units is 8 on Neoverse-N1, Zen and Golden Cove, 10 on Haswell, 16 on Neoverse-V1 and V2 and Apple's
// cores, 18 on A64FX: 24 accumulators and the factor fit into 32 registers, 12 into 16.
//= ATN_HOST_ABI_TEXT
#include <string.h>
#define EIGHT(X) X(0, 1) X(1, 2) X(2, 3) X(3, 4) X(4, 5) X(5, 6) X(6, 7) X(7, 8)
#if defined(__AVX512F__) || defined(__aarch64__)
#define CHAINS   24
#define EACH(X)  EIGHT(X) TO_16(X) TO_24(X)
#define TO_16(X) X(8, 9) X(9, 10) X(10, 11) X(11, 12) X(12, 13) X(13, 14) X(14, 15) X(15, 16)
#define TO_24(X) X(16, 17) X(17, 18) X(18, 19) X(19, 20) X(20, 21) X(21, 22) X(22, 23) X(23, 0)
#else
#define CHAINS  12
#define EACH(X) EIGHT(X) X(8, 9) X(9, 10) X(10, 11) X(11, 0)
#endif
#define OUT    (*(float **)call->args[0])
#define IN     (*(const float **)call->args[1])
#define N      (*(const int64_t *)call->args[2])
#define ROUNDS (*(const int64_t *)call->args[3])
#define GROUPS                                                                                                         \
    for (int64_t range[2]; call->next(call, call->groups[0], 0, 1, range);)                                            \
        for (int64_t g = range[0]; g < range[1]; ++g)
void probe_saxpy(const struct atn_call *call) {
    float *out = OUT;
    const float *in = IN;
    int64_t n = N, each = (n + call->groups[0] - 1) / call->groups[0];
    GROUPS {
        int64_t end = (g + 1) * each < n ? (g + 1) * each : n;
        for (int64_t i = g * each; i < end; ++i) out[i] = 2 * in[i] + out[i];
    }
}
void probe_copy(const struct atn_call *call) {
    float *out = OUT;
    const float *in = IN;
    int64_t n = N, each = (n + call->groups[0] - 1) / call->groups[0];
    GROUPS {
        int64_t begin = g * each, end = begin + each < n ? begin + each : n;
        if (begin < end) memcpy(out + 4 * begin, in + 4 * begin, (size_t)(end - begin) * 16);
    }
}
#ifdef SVE /* its vectors are longer than NEON's */
#include <arm_sve.h>
#define ALL                        svptrue_b8()
#define BYTES                      svcntb()
#define VECTOR(type, name, suffix) typedef sv##name##_t vec;
#define BROADCAST(value, suffix)   svdup_##suffix(value)
#define START(k, next)             vec a##k = svmul_x(ALL, m, (scalar)(1 + k));
#define STEP(k, next)              a##k = svmla_x(ALL, a##k, a##next, m);
#define FINISH(k, next)            sum = svadd_x(ALL, sum, a##k);
#define FIRST(vector)              svlasta(svpfalse_b(), vector)
#else
#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
#define VECTOR(type, name, suffix) typedef type vec __attribute__((vector_size(BYTES)));
#define BROADCAST(value, suffix)                                                                                       \
    (value) - (vec) { 0 }
#define START(k, next)  vec a##k = m * (1 + k);
#define STEP(k, next)   a##k += a##next * m;
#define FINISH(k, next) sum += a##k;
#define FIRST(vector)   vector[0]
#endif
#define ARITHMETIC(function, type, name, suffix)                                                                       \
    void function(const struct atn_call *call) {                                                                       \
        typedef type scalar;                                                                                           \
        VECTOR(type, name, suffix)                                                                                     \
        float *out = OUT;                                                                                              \
        const float *in = IN;                                                                                          \
        int64_t rounds = ROUNDS;                                                                                       \
        if (rounds == 0) {                                                                                             \
            out[0] = 2 * CHAINS * (float)(BYTES / sizeof(type));                                                       \
            return;                                                                                                    \
        }                                                                                                              \
        GROUPS {                                                                                                       \
            vec m = BROADCAST((type)in[1], suffix), sum = BROADCAST((type)0, suffix);                                  \
            EACH(START)                                                                                                \
            for (int64_t r = 0; r < rounds; ++r) {                                                                     \
                EACH(STEP)                                                                                             \
            }                                                                                                          \
            EACH(FINISH)                                                                                               \
            out[g] = (float)FIRST(sum);                                                                                \
        }                                                                                                              \
    }
ARITHMETIC(probe_fp32, float, float32, f32)
ARITHMETIC(probe_fp64, double, float64, f64)
#if defined(__AVX512FP16__) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
ARITHMETIC(probe_fp16, _Float16, float16, f16)
#endif
