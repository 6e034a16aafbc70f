// CUDA C: halves in the lower and the upper bits of a word, and products of matrices that a warp holds together: of 8 x 8
// halves lane l has those of row l / 4, columns 2 (l mod 4) and the next.
INLINE int atn_pack_halves(float low, float high) {
    int r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r;
}
INLINE float atn_low_half(int word) {
    float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"((ushort)word)); return r;
}
INLINE float atn_high_half(int word) {
    float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"((ushort)((uint)word >> 16))); return r;
}
INLINE float atn_as_half(float x) {
    ushort h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h)); return r;
}
INLINE int atn_exp2_halves(int x) { /* n = round(x) from 1551 + x, of which 5 bits are those of 2^n; p(x - n) 2^n */
    int y, t, n, f, p, r;
    asm("max.f16x2 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(0xcb80cb80)); /* -15: 0 */
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(t) : "r"(y), "r"(0x660f660f));
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(n) : "r"(t), "r"(0x660f660f));
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(f) : "r"(y), "r"(n));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(p) : "r"(f), "r"(0x2af72af7), "r"(0x33bc33bc));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(p) : "r"(p), "r"(f), "r"(0x398c398c));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(p) : "r"(p), "r"(f), "r"(0x3c003c00));
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(p), "r"((int)((uint)t * 1024 - 0x1980000)));
    return r;
}
INLINE float atn_to_tf32(float x) {
    uint r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x)); return __int_as_float((int)r);
}
INLINE float atn_as_tf32(float x) { /* finite: of an infinity, and of what is no number, the rest is it */
    float most = __int_as_float(0x7f7fe000); return atn_to_tf32(fmaxf(fminf(x, most), -most));
}
INLINE float atn_rest_tf32(float x, float high) { return atn_to_tf32(x - high); }
INLINE int atn_all(int x) { return __syncthreads_and(x); }
INLINE void atn_load_matrices(int &a, int &b, int &c, int &d, const int *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"((uint)__cvta_generic_to_shared(row)) : "memory");
}
INLINE void atn_load_matrices_turned(int &a, int &b, const int *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b) : "r"((uint)__cvta_generic_to_shared(row)) : "memory");
}
INLINE void atn_load_matrices_turned(int &a, int &b, int &c, int &d, const int *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"((uint)__cvta_generic_to_shared(row)) : "memory");
}
INLINE void atn_fetch16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::
                 "r"((uint)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
template <class T> INLINE void atn_fetch16_part(void *to, const T *from, adr count) { /* count of them exist */
    _Pragma("unroll") for (int k = 0; k < (int)(16 / sizeof(T)); ++k) ((T *)to)[k] = k < count ? from[k] : T();
}
INLINE void atn_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define atn_wait(left) asm volatile("cp.async.wait_group %0;" :: "n"(left) : "memory")
INLINE void atn_multiply_doubles(double &s0, double &s1, double &s2, double &s3, double a0, double a1, double a2,
                                 double a3, double b0, double b1) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};" : "+d"(s0), "+d"(s1), "+d"(s2), "+d"(s3) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#else
#define EIGHT(s, t, a, b) asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
                              : "+d"(s), "+d"(t) : "d"(a), "d"(b))
    EIGHT(s0, s1, a0, b0); EIGHT(s0, s1, a2, b1); EIGHT(s2, s3, a1, b0); EIGHT(s2, s3, a3, b1);
#endif
}
INLINE void atn_multiply_singles(float &s0, float &s1, float &s2, float &s3, float a0, float a1, float a2, float a3,
                                 float b0, float b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};" : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3) : "r"(__float_as_int(a0)), "r"(__float_as_int(a1)),
        "r"(__float_as_int(a2)), "r"(__float_as_int(a3)), "r"(__float_as_int(b0)), "r"(__float_as_int(b1)));
}
INLINE void atn_multiply_halves(float &s0, float &s1, float &s2, float &s3, int a0, int a1, int a2, int a3, int b0,
                                int b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};" : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
INLINE void atn_product_of_halves(int &s0, int &s1, int a0, int a1, int a2, int a3, int b0, int b1, int c0, int c1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
        : "=r"(s0), "=r"(s1) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c0), "r"(c1));
}
INLINE int atn_to_exponent(int &t) { /* of 1552 + n, at least 1536: -n; t: 2^(n + 1), from 5 of its bits; 1536: 0 */
    int most, n;
    asm("max.f16x2 %0, %1, %2;" : "=r"(most) : "r"(t), "r"(0x66006600));
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(n) : "r"(0x66106610), "r"(most));
    t = (int)((uint)most * 1024 - 0x1980000);
    return n;
}
INLINE int atn_times_exp2(int power, int f) { /* power 2^f / 2, from -1/2 to 1/2; far below that: 0 */
    int p, r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(p) : "r"(f), "r"(0x26fb26fb), "r"(0x2fbe2fbe));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(p) : "r"(p), "r"(f), "r"(0x358c358c));
    asm("fma.rn.sat.f16x2 %0, %1, %2, %3;" : "=r"(p) : "r"(p), "r"(f), "r"(0x38003800));
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(p), "r"(power));
    return r;
}
INLINE void atn_exp2_of_product(int &w0, int &w1, int a0, int a1, int a2, int a3, int b0, int b1) {
    int t0, t1, f0, f1; /* x + 1552 in halves is rounded to a whole number; x less that one is the product once more */
    atn_product_of_halves(t0, t1, a0, a1, a2, a3, b0, b1, 0x66106610, 0x66106610);
    int n0 = atn_to_exponent(t0), n1 = atn_to_exponent(t1);
    atn_product_of_halves(f0, f1, a0, a1, a2, a3, b0, b1, n0, n1);
    w0 = atn_times_exp2(t0, f0);
    w1 = atn_times_exp2(t1, f1);
}
