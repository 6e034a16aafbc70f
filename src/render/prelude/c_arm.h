// Instructions of aarch64 that C's vectors have no word for: NEON, for vectors of 16 bytes, and SVE where the compiler
// knows its length (src/device/host_build.c). Macros of one width each; the rest is done lane by lane (c_vectors.h).
#if defined(__aarch64__)
#define ATN_FMLA(T, lanes, a, b, c) ({ T r_ = (c); \
    __asm__("fmla %0." lanes ", %1." lanes ", %2." lanes : "+w"(r_) : "w"(a), "w"(b)); r_; })
#define ATN_FMA_FLOAT4(a, b, c) ATN_FMLA(float4, "4s", a, b, c)
#define ATN_FMA_DOUBLE2(a, b, c) ATN_FMLA(double2, "2d", a, b, c)
#define ATN_FRINT4 "frintx"
#define ATN_FRINT9 "frintm"
#define ATN_FRINT(T, lanes, how, a) ({ T r_; \
    __asm__(how " %0." lanes ", %1." lanes : "=w"(r_) : "w"(a)); r_; })
#define ATN_ROUND_FLOAT4(f, how, a) ATN_FRINT(float4, "4s", ATN_FRINT##how, a)
#define ATN_ROUND_DOUBLE2(f, how, a) ATN_FRINT(double2, "2d", ATN_FRINT##how, a)
#define ATN_MOST_FLOAT4(a, b) ({ float4 r_; \
    __asm__("fmaxnm %0.4s, %1.4s, %2.4s" : "=w"(r_) : "w"(a), "w"(b)); r_; })
#endif
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == 256
#include <arm_sve.h>
#define ATN_SVE(T, call) ({ T r_ = call; r_; })
#define ATN_FMA_FLOAT8(a, b, c) ATN_SVE(float8, svmad_f32_x(svptrue_b32(), a, b, c))
#define ATN_FMA_DOUBLE4(a, b, c) ATN_SVE(double4, svmad_f64_x(svptrue_b64(), a, b, c))
#define ATN_ROUND_FLOAT8(f, how, a) ATN_SVE(float8, ATN_SVE##how##_f32_x(svptrue_b32(), a))
#define ATN_ROUND_DOUBLE4(f, how, a) ATN_SVE(double4, ATN_SVE##how##_f64_x(svptrue_b64(), a))
#define ATN_SVE4_f32_x svrintx_f32_x
#define ATN_SVE9_f32_x svrintm_f32_x
#define ATN_SVE4_f64_x svrintx_f64_x
#define ATN_SVE9_f64_x svrintm_f64_x
#define ATN_MOST_FLOAT8(a, b) ATN_SVE(float8, svmaxnm_f32_x(svptrue_b32(), a, b))
#define ATN_WORDS8(from, at) ATN_SVE(__typeof__(at), svld1_gather_s32index_s32(svptrue_b32(), from, at))
#endif
