// Probes in CUDA C: independent scalars, pairs of halves, and products of matrices in double precision.
#define ITEM        (blockIdx.x * (long long)blockDim.x + threadIdx.x)
#define PROBE(name) extern "C" __global__ void name(float *out, const float *in, long long n, long long rounds)
PROBE(probe_saxpy) {
    long long i = ITEM;
    if (i < n) out[i] = 2 * in[i] + out[i];
}
extern "C" __global__ void probe_copy(float4 *out, const float4 *in, long long n, long long rounds) {
    long long step = blockDim.x, i = blockIdx.x * step * 4 + threadIdx.x;
    float4 a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
    out[i] = a;
    out[i + step] = b;
    out[i + 2 * step] = c;
    out[i + 3 * step] = d;
}
#define ARITHMETIC(name, type)                                                                                         \
    PROBE(name) {                                                                                                      \
        if (rounds == 0) {                                                                                             \
            out[0] = 2 * 16 * 8;                                                                                       \
            return;                                                                                                    \
        }                                                                                                              \
        type m = in[0], c = in[1], a[16];                                                                              \
        _Pragma("unroll") for (int k = 0; k < 16; ++k) a[k] = m + (type)k * c;                                         \
        for (long long r = 0; r < rounds; ++r)                                                                         \
            _Pragma("unroll") for (int u = 0; u < 8; ++u) _Pragma("unroll") for (int k = 0; k < 16; ++k) a[k] =        \
                a[k] * m + c;                                                                                          \
        type sum = 0;                                                                                                  \
        _Pragma("unroll") for (int k = 0; k < 16; ++k) sum += a[k];                                                    \
        out[ITEM] = (float)sum;                                                                                        \
    }
ARITHMETIC(probe_fp32, float)
ARITHMETIC(probe_fp64, double)
#if __CUDA_ARCH__ >= 530
PROBE(probe_fp16) { /* pairs of halves, as the hardware has them */
    if (rounds == 0) {
        out[0] = 4 * 8 * 8;
        return;
    }
    unsigned m = 0x3bff3bff, c = 0x14001400 + (in[0] > 2), a[8];
    _Pragma("unroll") for (int k = 0; k < 8; ++k) a[k] = c + 0x10001u * k;
    for (long long r = 0; r < rounds; ++r)
        _Pragma("unroll") for (int u = 0; u < 8; ++u) _Pragma("unroll") for (int k = 0; k < 8; ++k) asm volatile(
            "fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(a[k]) : "r"(m), "r"(c));
    unsigned sum = 0;
    _Pragma("unroll") for (int k = 0; k < 8; ++k) sum ^= a[k];
    out[ITEM] = (float)sum;
}
#endif
#if __CUDA_ARCH__ >= 900
PROBE(probe_matrix64) { /* 16 by 8 by 16: 4096 operations a warp and instruction */
    if (rounds == 0) {
        out[0] = 4096 / 32 * 8;
        return;
    }
    double a = in[0], b = in[1], c[8][4];
    _Pragma("unroll") for (int k = 0; k < 8; ++k) for (int j = 0; j < 4; ++j) c[k][j] = k + j;
    for (long long r = 0; r < rounds; ++r)
        _Pragma("unroll") for (int k = 0; k < 8; ++k) asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
            "{%4,%4,%4,%4,%4,%4,%4,%4}, {%5,%5,%5,%5}, {%0,%1,%2,%3};" : "+d"(c[k][0]),
            "+d"(c[k][1]), "+d"(c[k][2]), "+d"(c[k][3]) : "d"(a), "d"(b));
    double sum = 0;
    _Pragma("unroll") for (int k = 0; k < 8; ++k) for (int j = 0; j < 4; ++j) sum += c[k][j];
    out[ITEM] = (float)sum;
}
#elif __CUDA_ARCH__ >= 800
PROBE(probe_matrix64) { /* 8 by 8 by 4: 512 operations a warp and instruction */
    if (rounds == 0) {
        out[0] = 512 / 32 * 8;
        return;
    }
    double a = in[0], b = in[1], c[8][2];
    _Pragma("unroll") for (int k = 0; k < 8; ++k) for (int j = 0; j < 2; ++j) c[k][j] = k + j;
    for (long long r = 0; r < rounds; ++r)
        _Pragma("unroll") for (int k = 0; k < 8; ++k) asm volatile(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[k][0]),
            "+d"(c[k][1]) : "d"(a), "d"(b));
    double sum = 0;
    _Pragma("unroll") for (int k = 0; k < 8; ++k) for (int j = 0; j < 2; ++j) sum += c[k][j];
    out[ITEM] = (float)sum;
}
#endif
