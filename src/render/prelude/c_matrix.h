// C17: products of matrices whose elements are sums of one, two or three numbers of 8 bits (BF16), their parts. Parts lie in
// blocks of 32 steps: of `rows` rows on the left, all steps of a row side by side; of `columns` columns on the right, two steps
// of a column side by side. Where an element is infinite, or no number, so is its last part, and the others are 1 and 0, with
// its sign: products of two last parts are omitted. What is so, or too large to be rounded, is split by itself (atn_part).
#define ATN_MOST_PART 0x1.fep127f
INLINE uint atn_part(float x, int p, int parts) { /* the upper half of a word */
    float y = x < ATN_MOST_PART ? x : ATN_MOST_PART;
    y = y > -ATN_MOST_PART ? y : -ATN_MOST_PART;
    uint u = (uint)atn_bits(y), r = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000;
    uint odd = p < parts - 1 ? (p == 0) * 0x3f800000u | (u & 0x80000000) : x == x ? (uint)atn_bits(x) : 0x7fc00000;
    return x - x == 0 ? r : odd;
}
typedef float atn_floats __attribute__((vector_size(64)));
typedef uint atn_words __attribute__((vector_size(64)));
typedef ushort atn_shorts __attribute__((vector_size(32)));
typedef atn_floats atn_floats_at __attribute__((aligned(4), may_alias));
typedef atn_words atn_words_at __attribute__((aligned(4), may_alias));
typedef atn_shorts atn_shorts_at __attribute__((aligned(2), may_alias));
INLINE atn_floats atn_sixteen_float(const float *from) { return *(const atn_floats_at *)from; }
#if ATN_HALVES && (defined(__aarch64__) || defined(__AVX512FP16__))
typedef atn_half atn_halves __attribute__((vector_size(32), aligned(2), may_alias));
INLINE atn_floats atn_sixteen_half(const atn_half *from) { return __builtin_convertvector(*(const atn_halves *)from, atn_floats); }
#elif ATN_HALVES
INLINE atn_floats atn_sixteen_half(const atn_half *from) { atn_floats r; for (int l = 0; l < 16; ++l) r[l] = (float)from[l]; return r; }
#endif
INLINE atn_shorts atn_narrow(atn_floats x) {
#if defined(__AVX512BF16__)
    atn_shorts r;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(r) : "v"(x));
    return r;
#else
    atn_words u = (atn_words)x;
    return __builtin_convertvector((u + 0x7fff + (u >> 16 & 1)) >> 16, atn_shorts);
#endif
}
INLINE atn_words atn_widen(atn_shorts x) { return __builtin_convertvector(x, atn_words) << 16; }
INLINE atn_words atn_beyond(atn_floats x) { return ((atn_words)x & 0x7fffffff) + 0x00808000; } /* bit 31: atn_part is needed */
INLINE int atn_any_beyond(atn_words x) { uint all = 0; for (int l = 0; l < 16; ++l) all |= x[l]; return all >> 31; }
INLINE void atn_split_alone(ushort *to, adr apart, adr step, float x, int parts) {
    for (int p = 0; p < parts; ++p) {
        uint r = atn_part(x, p, parts);
        to[p * apart + step] = (ushort)(r >> 16);
        x -= atn_float((int)r);
    }
}
#define ATN_SPLITS(T, name) \
    INLINE void atn_split_left_##name(ushort *to, const T *from, adr pitch, int all, int rows, int parts, int tile, adr steps) { \
        for (adr i = 0; i < all; ++i) { \
            ushort *row = to + i / rows * tile * rows * parts + i % rows * 32; \
            const T *at = from + i * pitch, *next = at + (i + 4 < all ? 4 : 0) * pitch; \
            atn_words beyond = {0}; \
            adr k = 0; \
            for (; k + 16 <= steps; k += 16) { \
                atn_floats x = atn_sixteen_##name(at + k); \
                beyond |= atn_beyond(x); \
                __builtin_prefetch(next + k); \
                for (int p = 0; p < parts; ++p) { \
                    atn_shorts r = atn_narrow(x); \
                    *(atn_shorts_at *)(row + ((k / 32 * parts + p) * rows * 32 + k % 32)) = r; \
                    x -= (atn_floats)atn_widen(r); \
                } \
            } \
            if (__builtin_expect(atn_any_beyond(beyond), 0)) k = 0; \
            for (; k < (steps + 31) / 32 * 32; ++k) \
                atn_split_alone(row + k / 32 * parts * rows * 32, (adr)rows * 32, k % 32, k < steps ? (float)at[k] : 0.0f, parts); \
        } \
    } \
    INLINE void atn_split_right_##name(ushort *to, const T *from, adr pitch, int all, int columns, int parts, int tile, adr steps) { \
        for (adr k = 0; k < (steps + 31) / 32 * 32; k += 2) { \
            ushort *row = to + (k / 32 * parts * 32 + k % 32) * columns; \
            const T *at = from + k * pitch; \
            atn_words beyond = {0}; \
            for (adr j = 0; j < all; j += 16) { \
                atn_floats x = k < steps ? atn_sixteen_##name(at + j) : (atn_floats){0}; \
                atn_floats y = k + 1 < steps ? atn_sixteen_##name(at + pitch + j) : (atn_floats){0}; \
                beyond |= atn_beyond(x) | atn_beyond(y); \
                for (int p = 0; p < parts; ++p) { \
                    atn_words r = atn_widen(atn_narrow(x)), s = atn_widen(atn_narrow(y)); \
                    *(atn_words_at *)(row + (j / columns * tile * parts + p * 32) * columns + j % columns * 2) = r >> 16 | s; \
                    x -= (atn_floats)r; \
                    y -= (atn_floats)s; \
                } \
            } \
            for (adr j = 0; j < 2 * all && __builtin_expect(atn_any_beyond(beyond), 0); ++j) \
                atn_split_alone(row + j / 2 / columns * tile * parts * columns, (adr)columns * 32, j % (2 * columns), \
                                k + j % 2 < steps ? (float)at[j % 2 * pitch + j / 2] : 0.0f, parts); \
        } \
    }
ATN_SPLITS(float, float)
#if ATN_HALVES
ATN_SPLITS(atn_half, half)
#endif
INLINE float atn_of_part(ushort x) { return atn_float((int)((uint)x << 16)); }
/* The products of parts i and j that count, i + j < parts; those of one part of the left operand follow each other. */
#define ATN_PARTS(multiply) do { \
    if (parts == 3) { multiply(0, 2, 1, 1) multiply(0, 1, 0, 1) multiply(0, 0, 0, 1) multiply(1, 0, 1, 0) multiply(1, 1, 0, 1) multiply(2, 0, 1, 1) } \
    if (parts == 2) { multiply(0, 1, 1, 1) multiply(0, 0, 0, 1) multiply(1, 0, 1, 0) } \
    if (parts == 1) { multiply(0, 0, 1, 1) } \
} while (0)
/* One instruction in plain C, for CPUs that do not have it. */
INLINE void atn_multiply_plain(float *sums, const ushort *left, const ushort *right, int rows, int columns, int parts, adr steps, int first) {
    for (adr k = 0; k < steps; k += 32)
        for (int i = 0; i < rows; ++i) {
            float *s = sums + i * columns;
            for (int j = 0; j < columns && first && k == 0; ++j) s[j] = 0.0f;
#define ATN_MULTIPLY(l, r, new_left, new_right) { \
            const ushort *a = left + k * rows * parts + l * rows * 32 + i * 32, *b = right + k * columns * parts + r * columns * 32; \
            for (int n = 0; n < 16; ++n) \
                for (int j = 0; j < columns; ++j) \
                    s[j] += atn_of_part(a[2 * n]) * atn_of_part(b[2 * (n * columns + j)]) \
                          + atn_of_part(a[2 * n + 1]) * atn_of_part(b[2 * (n * columns + j) + 1]); }
            ATN_PARTS(ATN_MULTIPLY);
#undef ATN_MULTIPLY
        }
}
#if defined(__x86_64__)
/* Tiles (AMX): eight registers of 16 rows of 64 bytes. 0 to 3 hold sums, 4 and 5 the left operand, 6 and 7 the right one. */
INLINE void atn_tiles_begin(void) {
    uchar how[64] = {1};
    for (int t = 0; t < 8; ++t) { how[16 + 2 * t] = 64; how[48 + t] = 16; }
    __asm__ volatile("ldtilecfg %0" :: "m"(how));
}
INLINE void atn_tiles_end(void) { __asm__ volatile("tilerelease"); }
#define ATN_TILE_LOAD(t, at, bytes) __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t :: "r"(at), "r"((idx)(bytes)) : "memory")
#define ATN_TILE_STORE(t, at, bytes) __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" :: "r"(at), "r"((idx)(bytes)) : "memory")
#define ATN_TILE_ZERO(t) __asm__ volatile("tilezero %%tmm" #t ::: "memory")
#define ATN_TILE_MULTIPLY(s, l, r) __asm__ volatile("tdpbf16ps %%tmm" #r ", %%tmm" #l ", %%tmm" #s ::: "memory")
INLINE void atn_multiply_tiles(float *sums, const ushort *left, const ushort *right, int rows, int columns, int parts, adr steps, int first) {
    int two = rows % 32 == 0;
    for (int i = 0; i < rows; i += two ? 32 : 16)
        for (int j = 0; j < columns; j += 32) {
            float *s = sums + i * columns + j, *t = s + 16 * columns;
            if (first) {
                ATN_TILE_ZERO(0); ATN_TILE_ZERO(1); ATN_TILE_ZERO(2); ATN_TILE_ZERO(3);
            } else {
                ATN_TILE_LOAD(0, s, 4 * columns); ATN_TILE_LOAD(1, s + 16, 4 * columns);
                if (two) { ATN_TILE_LOAD(2, t, 4 * columns); ATN_TILE_LOAD(3, t + 16, 4 * columns); }
            }
            for (adr k = 0; k < steps; k += 32) {
                const ushort *a = left + k * rows * parts + i * 32, *b = right + k * columns * parts + j * 2;
#define ATN_MULTIPLY(l, r, new_left, new_right) { \
                if (new_left) ATN_TILE_LOAD(4, a + l * rows * 32, 64); \
                if (new_right) ATN_TILE_LOAD(6, b + r * columns * 32, 4 * columns); \
                ATN_TILE_MULTIPLY(0, 4, 6); \
                if (new_right) ATN_TILE_LOAD(7, b + r * columns * 32 + 32, 4 * columns); \
                ATN_TILE_MULTIPLY(1, 4, 7); \
                if (two && new_left) ATN_TILE_LOAD(5, a + l * rows * 32 + 512, 64); \
                if (two) { ATN_TILE_MULTIPLY(2, 5, 6); ATN_TILE_MULTIPLY(3, 5, 7); } }
                ATN_PARTS(ATN_MULTIPLY);
#undef ATN_MULTIPLY
            }
            ATN_TILE_STORE(0, s, 4 * columns); ATN_TILE_STORE(1, s + 16, 4 * columns);
            if (two) { ATN_TILE_STORE(2, t, 4 * columns); ATN_TILE_STORE(3, t + 16, 4 * columns); }
        }
}
#endif
#if defined(__AVX512F__)
/* Products of two steps of 16 columns, added to their sums. */
INLINE void atn_multiply_dots(float *sums, const ushort *left, const ushort *right, int rows, int columns, int parts, adr steps, int first) {
    typedef float sixteen __attribute__((vector_size(64), aligned(4), may_alias));
    for (int i = 0; i < rows; i += 4)
        for (int j = 0; j < columns; j += 32) {
            sixteen s[4][2];
            for (int n = 0; n < 4; ++n)
                for (int m = 0; m < 2; ++m)
                    s[n][m] = first ? (sixteen){0} : *(sixteen *)(sums + (i + n) * columns + j + 16 * m);
            for (adr k = 0; k < steps; k += 32) {
#define ATN_MULTIPLY(l, r, new_left, new_right) { \
                const uint *a = (const uint *)(left + k * rows * parts + l * rows * 32 + i * 32); \
                const float *b = (const float *)(right + k * columns * parts + r * columns * 32) + j; \
                for (int q = 0; q < 16; ++q, b += columns) { \
                    sixteen x = *(const sixteen *)b, y = *(const sixteen *)(b + 16); \
                    _Pragma("GCC unroll 4") for (int n = 0; n < 4; ++n) { \
                        __asm__("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(s[n][0]) : "v"(x), "m"(a[n * 16 + q])); \
                        __asm__("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(s[n][1]) : "v"(y), "m"(a[n * 16 + q])); \
                    } \
                } }
                ATN_PARTS(ATN_MULTIPLY);
#undef ATN_MULTIPLY
            }
            for (int n = 0; n < 4; ++n)
                for (int m = 0; m < 2; ++m) *(sixteen *)(sums + (i + n) * columns + j + 16 * m) = s[n][m];
        }
}
#elif defined(__aarch64__)
/* Products of two rows and two columns, four steps each, added to their four sums. */
INLINE void atn_multiply_dots(float *sums, const ushort *left, const ushort *right, int rows, int columns, int parts, adr steps, int first) {
    typedef float four __attribute__((vector_size(16)));
    typedef double two __attribute__((vector_size(16), aligned(4), may_alias));
    typedef double one __attribute__((aligned(2), may_alias));
    for (int i = 0; i < rows; i += 4)
        for (int j = 0; j < columns; j += 16) {
            four s[2][8];
            for (int n = 0; n < 2; ++n)
                for (int m = 0; m < 4; ++m) {
                    const float *at = sums + (i + 2 * n) * columns + j + 4 * m;
                    two x = first ? (two){0} : *(const two *)at, y = first ? (two){0} : *(const two *)(at + columns);
                    s[n][2 * m] = (four)(two){x[0], y[0]};
                    s[n][2 * m + 1] = (four)(two){x[1], y[1]};
                }
            for (adr k = 0; k < steps; k += 32) {
#define ATN_MULTIPLY(l, r, new_left, new_right) { \
                const ushort *a = left + k * rows * parts + l * rows * 32 + i * 32; \
                const ushort *b = right + k * columns * parts + r * columns * 32 + j * 2; \
                for (int q = 0; q < 8; ++q, a += 4, b += 4 * columns) { \
                    two x = {*(const one *)a, *(const one *)(a + 32)}, y = {*(const one *)(a + 64), *(const one *)(a + 96)}; \
                    _Pragma("GCC unroll 4") for (int m = 0; m < 4; ++m) { \
                        two u = *(const two *)(b + 8 * m), v = *(const two *)(b + 2 * columns + 8 * m), low, high; \
                        __asm__("zip1 %0.4s, %1.4s, %2.4s" : "=w"(low) : "w"(u), "w"(v)); \
                        __asm__("zip2 %0.4s, %1.4s, %2.4s" : "=w"(high) : "w"(u), "w"(v)); \
                        __asm__("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(s[0][2 * m]) : "w"(x), "w"(low)); \
                        __asm__("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(s[0][2 * m + 1]) : "w"(x), "w"(high)); \
                        __asm__("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(s[1][2 * m]) : "w"(y), "w"(low)); \
                        __asm__("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(s[1][2 * m + 1]) : "w"(y), "w"(high)); \
                    } \
                } }
                ATN_PARTS(ATN_MULTIPLY);
#undef ATN_MULTIPLY
            }
            for (int n = 0; n < 2; ++n)
                for (int m = 0; m < 4; ++m) {
                    float *at = sums + (i + 2 * n) * columns + j + 4 * m;
                    two x = (two)s[n][2 * m], y = (two)s[n][2 * m + 1];
                    *(two *)at = (two){x[0], y[0]};
                    *(two *)(at + columns) = (two){x[1], y[1]};
                }
        }
}
#endif
