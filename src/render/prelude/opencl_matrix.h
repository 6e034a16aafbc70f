// OpenCL C, by NVIDIA's compiler: products of matrices of singles that a warp holds together, and asynchronous copies into
// local memory; see cuda_matrix.h.
#undef atn_aligned
#define atn_aligned(at, pitch) (((size_t)(at) & 15) == 0 && (size_t)(pitch) * sizeof(*(at)) % 16 == 0)
INLINE float atn_to_tf32(float x) { uint r; __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x)); return as_float(r); }
INLINE float atn_as_tf32(float x) { /* finite: of an infinity, and of what is no number, the rest is it */
    float most = as_float(0x7f7fe000); return atn_to_tf32(fmax(fmin(x, most), -most));
}
INLINE float atn_rest_tf32(float x, float high) { return atn_to_tf32(x - high); }
INLINE void atn_fetch16(__local float *to, __global const float *from) {
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((uint)(size_t)to), "l"(from) : "memory");
}
INLINE void atn_fetch16_part(__local float *to, __global const float *from, adr count) { /* count of them exist */
    for (int k = 0; k < 4; ++k) to[k] = k < count ? from[k] : 0.0f;
}
#define atn_commit() __asm__ volatile("cp.async.commit_group;" ::: "memory")
#define atn_wait(left) __asm__ volatile("cp.async.wait_group %0;" :: "n"(left) : "memory")
#define atn_multiply_singles(s0, s1, s2, s3, a0, a1, a2, a3, b0, b1) \
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
                 "{%0, %1, %2, %3};" : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3) : "r"(as_int(a0)), "r"(as_int(a1)), \
                 "r"(as_int(a2)), "r"(as_int(a3)), "r"(as_int(b0)), "r"(as_int(b1)))
