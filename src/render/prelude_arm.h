/* Instructions of aarch64 that C's vectors have no word for: NEON, for vectors of 16 bytes, and SVE where the compiler
 * was told its length (host_build.c). Macros of one width each; what is not here is done lane by lane (dialect_c.c). */
#ifndef ATN_RENDER_PRELUDE_ARM_H
#define ATN_RENDER_PRELUDE_ARM_H

/* Of the names of dialect_c.c, for one length of SVE: F lanes of floats, D of doubles. */
/* clang-format off */
#define ATN_PRELUDE_SVE(bits, F, D) \
    "#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == " bits "\n" \
    "#include <arm_sve.h>\n" \
    "#define ATN_SVE(T, call) ({ T r_ = call; r_; })\n" \
    "#define ATN_FMA_FLOAT" F "(a, b, c) ATN_SVE(float" F ", svmad_f32_x(svptrue_b32(), a, b, c))\n" \
    "#define ATN_FMA_DOUBLE" D "(a, b, c) ATN_SVE(double" D ", svmad_f64_x(svptrue_b64(), a, b, c))\n" \
    "#define ATN_ROUND_FLOAT" F "(f, how, a) ATN_SVE(float" F ", ATN_SVE##how##_f32_x(svptrue_b32(), a))\n" \
    "#define ATN_ROUND_DOUBLE" D "(f, how, a) ATN_SVE(double" D ", ATN_SVE##how##_f64_x(svptrue_b64(), a))\n" \
    "#define ATN_SVE4_f32_x svrintx_f32_x\n" \
    "#define ATN_SVE9_f32_x svrintm_f32_x\n" \
    "#define ATN_SVE4_f64_x svrintx_f64_x\n" \
    "#define ATN_SVE9_f64_x svrintm_f64_x\n" \
    "#define ATN_MOST_FLOAT" F "(a, b) ATN_SVE(float" F ", svmaxnm_f32_x(svptrue_b32(), a, b))\n" \
    "#define ATN_WORDS" F "(from, at) ATN_SVE(__typeof__(at), svld1_gather_s32index_s32(svptrue_b32(), from, at))\n" \
    "#endif\n"

#define ATN_PRELUDE_ARM \
    "#if defined(__aarch64__)\n" \
    "#define ATN_FMLA(T, lanes, a, b, c) ({ T r_ = (c); \\\n" \
    "    __asm__(\"fmla %0.\" lanes \", %1.\" lanes \", %2.\" lanes : \"+w\"(r_) : \"w\"(a), \"w\"(b)); r_; })\n" \
    "#define ATN_FMA_FLOAT4(a, b, c) ATN_FMLA(float4, \"4s\", a, b, c)\n" \
    "#define ATN_FMA_DOUBLE2(a, b, c) ATN_FMLA(double2, \"2d\", a, b, c)\n" \
    "#define ATN_FRINT4 \"frintx\"\n" \
    "#define ATN_FRINT9 \"frintm\"\n" \
    "#define ATN_FRINT(T, lanes, how, a) ({ T r_; \\\n" \
    "    __asm__(how \" %0.\" lanes \", %1.\" lanes : \"=w\"(r_) : \"w\"(a)); r_; })\n" \
    "#define ATN_ROUND_FLOAT4(f, how, a) ATN_FRINT(float4, \"4s\", ATN_FRINT##how, a)\n" \
    "#define ATN_ROUND_DOUBLE2(f, how, a) ATN_FRINT(double2, \"2d\", ATN_FRINT##how, a)\n" \
    "#define ATN_MOST_FLOAT4(a, b) ({ float4 r_; \\\n" \
    "    __asm__(\"fmaxnm %0.4s, %1.4s, %2.4s\" : \"=w\"(r_) : \"w\"(a), \"w\"(b)); r_; })\n" \
    "#endif\n" \
    ATN_PRELUDE_SVE("256", "8", "4")
/* clang-format on */

#endif
