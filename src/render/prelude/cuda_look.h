// CUDA C: groups that wait for the results of earlier groups.
// The first word of the scratch: how many groups of a launch have begun, and from bit 32 on how many launches there
// were. The group that begins last leaves it for the next launch. Words that are left have the launch above them, from
// 1 on; after 2^32 - 1 launches numbers begin anew.
INLINE idx atn_draw(idx *scratch) {
    __shared__ idx drawn;
    if (threadIdx.x == 0) {
        uidx mine = atomicAdd((uidx *)scratch, (uidx)1), launch = (mine >> 32) + 1;
        if ((uint)mine == gridDim.x - 1) *(volatile uidx *)scratch = (launch == 0xffffffff ? 0 : launch) << 32;
        drawn = (idx)(launch << 32 | (uint)mine);
    }
    __syncthreads();
    return drawn;
}
#if __CUDA_ARCH__ >= 700 /* what is volatile is of the whole system, and slower */
INLINE void atn_leave_word(idx *to, uidx word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(to), "l"(word) : "memory");
}
INLINE uidx atn_seen_word(const idx *from) {
    uidx word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    return word;
}
#else
INLINE void atn_leave_word(idx *to, uidx word) { *(volatile uidx *)to = word; }
INLINE uidx atn_seen_word(const idx *from) { return *(const volatile uidx *)from; }
#endif
template <class T> INLINE void atn_leave(idx *to, int launch, T value) {
    union { T value; uint word[2]; } u;
    u.word[0] = u.word[1] = 0;
    u.value = value;
    _Pragma("unroll") for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k)
        atn_leave_word(to + k, (uidx)(uint)launch << 32 | u.word[k]);
}
template <class T> INLINE T atn_await(const idx *from, int launch, idx before = 0) { /* what somebody saw of the first */
    union { T value; uint word[2]; } u;
    _Pragma("unroll") for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {
        uidx seen = k == 0 ? (uidx)before : 0;
        while ((int)(seen >> 32) != launch) seen = atn_seen_word(from + k);
        u.word[k] = (uint)seen;
    }
    return u.value;
}
