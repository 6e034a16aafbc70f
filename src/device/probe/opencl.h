// Probes in OpenCL C. A CPU (CHAINS) needs its registers filled: the ring of host.h, with operators that the compiler
// fuses, since fma may be a function call. A GPU needs independent scalars.
__kernel void probe_saxpy(__global float *out, __global const float *in, long n, long rounds) {
    long i = get_global_id(0);
    if (i < n) out[i] = 2 * in[i] + out[i];
}
__kernel void probe_copy(__global float4 *out, __global const float4 *in, long n, long rounds) {
#ifdef CHAINS
    long each = (n + get_num_groups(0) - 1) / get_num_groups(0), begin = get_group_id(0) * each;
    long end = begin + each < n ? begin + each : n;
    for (long i = begin; i < end; ++i) out[i] = in[i];
#else
    long i = (long)get_group_id(0) * get_local_size(0) * 4 + get_local_id(0), step = get_local_size(0);
    float4 a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
    out[i] = a;
    out[i + step] = b;
    out[i + 2 * step] = c;
    out[i + 3 * step] = d;
#endif
}
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#pragma OPENCL FP_CONTRACT ON
#define START(k, next)  vec a##k = m * (scalar)(1 + k);
#define STEP(k, next)   a##k += a##next * m;
#define FINISH(k, next) sum += a##k;
#define EIGHT(X)        X(0, 1) X(1, 2) X(2, 3) X(3, 4) X(4, 5) X(5, 6) X(6, 7) X(7, 8)
#if CHAINS == 24
#define EACH(X)  EIGHT(X) TO_16(X) TO_24(X)
#define TO_16(X) X(8, 9) X(9, 10) X(10, 11) X(11, 12) X(12, 13) X(13, 14) X(14, 15) X(15, 16)
#define TO_24(X) X(16, 17) X(17, 18) X(18, 19) X(19, 20) X(20, 21) X(21, 22) X(22, 23) X(23, 0)
#else
#define EACH(X) EIGHT(X) X(8, 9) X(9, 10) X(10, 11) X(11, 0)
#endif
#ifdef CHAINS
#define ARITHMETIC(name, type, wide)                                                                                   \
    __kernel void name(__global float *out, __global const float *in, long n, long rounds) {                           \
        typedef type scalar;                                                                                           \
        typedef JOIN(type, wide) vec;                                                                                  \
        if (rounds == 0) {                                                                                             \
            out[0] = 2 * CHAINS * wide;                                                                                \
            return;                                                                                                    \
        }                                                                                                              \
        vec m = (type)in[1], sum = 0;                                                                                  \
        EACH(START)                                                                                                    \
        for (long r = 0; r < rounds; ++r) {                                                                            \
            EACH(STEP)                                                                                                 \
        }                                                                                                              \
        EACH(FINISH)                                                                                                   \
        out[get_global_id(0)] = (float)(sum.s0 + sum.s1);                                                              \
    }
#else
#define ARITHMETIC(name, type, wide)                                                                                   \
    __kernel void name(__global float *out, __global const float *in, long n, long rounds) {                           \
        if (rounds == 0) {                                                                                             \
            out[0] = 2 * 8 * wide;                                                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        JOIN(type, wide) m = (type)in[0], c = (type)in[1];                                                             \
        JOIN(type, wide)                                                                                               \
        a0 = m, a1 = m + c, a2 = a1 + c, a3 = a2 + c, a4 = a3 + c, a5 = a4 + c, a6 = a5 + c, a7 = a6 + c;              \
        for (long r = 0; r < rounds; ++r) {                                                                            \
            a0 = fma(a0, m, c);                                                                                        \
            a1 = fma(a1, m, c);                                                                                        \
            a2 = fma(a2, m, c);                                                                                        \
            a3 = fma(a3, m, c);                                                                                        \
            a4 = fma(a4, m, c);                                                                                        \
            a5 = fma(a5, m, c);                                                                                        \
            a6 = fma(a6, m, c);                                                                                        \
            a7 = fma(a7, m, c);                                                                                        \
        }                                                                                                              \
        JOIN(type, wide) sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;                                                  \
        out[get_global_id(0)] = (float)(sum.s0 + sum.s1);                                                              \
    }
#endif
ARITHMETIC(probe_fp32, float, FLOATS)
#ifdef HAVE_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
ARITHMETIC(probe_fp64, double, DOUBLES)
#endif
#ifdef HAVE_FP16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
ARITHMETIC(probe_fp16, half, HALVES)
#endif
