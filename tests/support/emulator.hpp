// What generated CUDA needs to run as C++ on one CPU. Items are fibers that take turns; a barrier waits for those of the
// group, a product of matrices for those of the warp. Put before the source from its first entry point on.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <utility>

typedef long long idx;
typedef unsigned int uint;
#if ATN_ADDRESS_BITS == 32
typedef int adr;
#else
typedef long long adr;
#endif
struct atn_half { unsigned short bits; };
struct float2 { float x, y; };
struct double2 { double x, y; };
struct float4 { float x, y, z, w; };
struct int4 { int x, y, z, w; };
static int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static float2 make_float2(float x, float y) { return {x, y}; }
static double2 make_double2(double x, double y) { return {x, y}; }
static void atn_store_float2(float *to, float2 v) { to[0] = v.x, to[1] = v.y; }
static void atn_store_double2(double *to, double2 v) { to[0] = v.x, to[1] = v.y; }
struct dim { unsigned x; };
static dim threadIdx, blockIdx, gridDim;
alignas(1024) char dynamic_local[256 << 10];

enum { MOST_ITEMS = 1024, STACK = 128 << 10 };
struct fiber {
    ucontext_t context;
    char *stack;
    long group_epoch, warp_epoch;
    bool done;
    uint32_t in[8]; // what the warp sees of it
    double numbers[8];
    const int *row;
    int vote;
};
static fiber fibers[MOST_ITEMS];
static ucontext_t scheduler;
static int n_items, me;

static void yield() {
    swapcontext(&fibers[me].context, &scheduler);
}
static void wait_group() {
    long epoch = ++fibers[me].group_epoch;
    for (int k = 0; k < n_items; ++k)
        while (!fibers[k].done && fibers[k].group_epoch < epoch) yield();
}
static fiber *wait_warp() {
    long epoch = ++fibers[me].warp_epoch;
    int first = me / 32 * 32;
    for (int k = first; k < first + 32; ++k)
        while (!fibers[k].done && fibers[k].warp_epoch < epoch) yield();
    return fibers + first;
}
#define __syncthreads wait_group
#define __global__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))

static float __int_as_float(int bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static adr atn_min_adr(adr a, adr b) { return a < b ? a : b; }
static float atn_min_float(float a, float b) { return fminf(a, b); }
static float atn_max_float(float a, float b) { return fmaxf(a, b); }
static float atn_native_exp2(float x) { return exp2f(x); }
static float atn_exp2_1(float x) { return exp2f(x); }
static void atn_store_local_int4(int *to, int4 v) {
    if ((uintptr_t)to % 16) abort(); // the hardware would refuse it
    memcpy(to, &v, 16);
}

static float half_to_float(uint32_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)fraction, -24)
                                 : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits & 0x8000 ? -size : size;
}
static uint32_t float_to_half(float x) {
    uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    float size = fabsf(x);
    if (std::isnan(x)) return 0x7fff;
    if (size >= 65520) return sign | 0x7c00;
    int exponent;
    frexpf(size, &exponent);
    if (exponent < -13) exponent = -13; // subnormal numbers have the least exponent
    int units = (int)rintf(ldexpf(size, 11 - exponent)); // to even; 2048 is carried into the exponent by the sum
    return sign | (uint32_t)(units < 1024 ? units : units - 1024 + ((exponent + 14) << 10));
}
static float atn_load_half(const atn_half *from, adr at) { return half_to_float(from[at].bits); }
static int atn_pack_halves(float low, float high) { return (int)(float_to_half(low) | float_to_half(high) << 16); }
static float atn_low_half(int word) { return half_to_float((uint32_t)word & 0xffff); }
static float atn_high_half(int word) { return half_to_float((uint32_t)word >> 16); }
static float atn_as_half(float x) { return half_to_float(float_to_half(x)); }
// Each step is rounded to a half, as the instructions do.
static float exp2_half(float x) {
    float y = fmaxf(x, -15), n = atn_as_half(atn_as_half(y + 1551) - 1551), f = y - n;
    float p = atn_as_half(f * 0.054412841796875f + 0.24169921875f);
    p = atn_as_half(p * f + 0.693359375f);
    p = atn_as_half(p * f + 1);
    return n < -14 ? 0 : atn_as_half(ldexpf(p, (int)n));
}
static int atn_exp2_halves(int x) { return atn_pack_halves(exp2_half(atn_low_half(x)), exp2_half(atn_high_half(x))); }
static float to_tf32(float x) {
    int exponent;
    float f = frexpf(x, &exponent);
    return std::isfinite(x) ? ldexpf(roundf(ldexpf(f, 11)), exponent - 11) : x;
}
static float atn_as_tf32(float x) { return to_tf32(fmaxf(fminf(x, 0x1.ffcp127f), -0x1.ffcp127f)); }
static float atn_rest_tf32(float x, float high) { return to_tf32(x - high); }
template <int W, class T> static T atn_shuffle(T value, int distance) {
    memcpy(fibers[me].in, &value, sizeof value);
    fiber *warp = wait_warp();
    memcpy(&value, warp[(me % 32) ^ distance].in, sizeof value);
    wait_warp();
    return value;
}
template <int W, class T> static T atn_shuffle_least(T x) {
    for (int d = W / 2; d > 0; d /= 2) x = std::min(x, atn_shuffle<W>(x, d));
    return x;
}
template <int W, class T> static T atn_shuffle_most(T x) {
    for (int d = W / 2; d > 0; d /= 2) x = std::max(x, atn_shuffle<W>(x, d));
    return x;
}
template <class V, class T> static V atn_load_aligned(const T *from) {
    if ((uintptr_t)from % sizeof(V)) abort();
    return *(const V *)from;
}
// Words of those that await each other: groups run one after the other here, so that they must be there.
template <class T> static void atn_leave(idx *to, int state, T value) {
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {
        uint32_t word = 0;
        memcpy(&word, (const char *)&value + 4 * k, sizeof(T) < 4 ? sizeof(T) : 4);
        to[k] = (idx)((uint64_t)state << 32 | word);
    }
}
static idx atn_after_launch() { return 0; }
static idx idx_add(idx a, idx b) { return (idx)((uint64_t)a + (uint64_t)b); }
static idx idx_mul(idx a, idx b) { return (idx)((uint64_t)a * (uint64_t)b); }
static idx atn_seen_word(const idx *from) { return *from; }
template <class T> static T atn_await(const idx *from, int state, idx = 0) {
    T value;
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {
        if ((int)((uint64_t)from[k] >> 32) != state) abort();
        memcpy((char *)&value + 4 * k, &from[k], sizeof(T) < 4 ? sizeof(T) : 4);
    }
    return value;
}
static int atn_all(int x) {
    fibers[me].vote = x;
    wait_group();
    int all = 1;
    for (int k = 0; k < n_items; ++k) all = all && fibers[k].vote;
    wait_group();
    return all;
}

// Of matrix k the rows are at the addresses of lanes 8 k to 8 k + 7.
static uint32_t of_row(const int *row, int column) {
    if ((uintptr_t)row % 16) abort();
    return (uint32_t)row[column / 2] >> column % 2 * 16 & 0xffff;
}
static void load(int **to, int count, const int *row, bool turned) {
    fibers[me].row = row;
    fiber *warp = wait_warp();
    int lane = me % 32;
    for (int k = 0; k < count; ++k) {
        uint32_t word = 0;
        for (int n = 0; n < 2; ++n) {
            int i = turned ? lane % 4 * 2 + n : lane / 4, j = turned ? lane / 4 : lane % 4 * 2 + n;
            word |= of_row(warp[8 * k + i].row, j) << 16 * n;
        }
        *to[k] = (int)word;
    }
    wait_warp();
}
static void atn_load_matrices(int &a, int &b, int &c, int &d, const int *row) {
    int *to[] = {&a, &b, &c, &d};
    load(to, 4, row, false);
}
static void atn_load_matrices_turned(int &a, int &b, const int *row) {
    int *to[] = {&a, &b};
    load(to, 2, row, true);
}
static void atn_load_matrices_turned(int &a, int &b, int &c, int &d, const int *row) {
    int *to[] = {&a, &b, &c, &d};
    load(to, 4, row, true);
}
template <class T> static void atn_fetch16_part(void *to, const T *from, adr count) {
    if ((uintptr_t)to % 16) abort();
    for (int k = 0; k < (int)(16 / sizeof(T)); ++k) ((T *)to)[k] = k < count ? from[k] : T();
}
static void atn_fetch16(void *to, const void *from) {
    if ((uintptr_t)to % 16 || (uintptr_t)from % 16) abort();
    memcpy(to, from, 16);
}
template <class T> static int atn_aligned(const T *at, adr pitch) {
    return (uintptr_t)at % 16 == 0 && (uintptr_t)pitch * sizeof(T) % 16 == 0;
}
static void atn_commit() {}
static void atn_wait(int) {}
static void atn_store_half(atn_half *to, float x) { to->bits = (unsigned short)float_to_half(x); }
static void atn_store_half2(atn_half *to, float2 v) {
    atn_store_half(to, v.x);
    atn_store_half(to + 1, v.y);
}
static float half_of(uint32_t word, int k) { return half_to_float(word >> 16 * k & 0xffff); }
// Sums of 16 products in double, to be rounded once: no worse than the hardware, which cuts some bits off.
static void product_of_halves(double sums[4], int a0, int a1, int a2, int a3, int b0, int b1) {
    int words[] = {a0, a1, a2, a3, b0, b1};
    memcpy(fibers[me].in, words, sizeof words);
    fiber *warp = wait_warp();
    int lane = me % 32;
    for (int n = 0; n < 4; ++n) {
        int row = lane / 4 + n / 2 * 8, column = lane % 4 * 2 + n % 2;
        for (int k = 0; k < 16; ++k) {
            float a = half_of(warp[row % 8 * 4 + k % 8 / 2].in[row / 8 + k / 8 * 2], k % 2);
            float b = half_of(warp[column * 4 + k % 8 / 2].in[4 + k / 8], k % 2);
            sums[n] += (double)a * b;
        }
    }
    wait_warp();
}
static void atn_multiply_halves(float &s0, float &s1, float &s2, float &s3, int a0, int a1, int a2, int a3, int b0,
                                int b1) {
    double sums[] = {s0, s1, s2, s3};
    product_of_halves(sums, a0, a1, a2, a3, b0, b1);
    s0 = (float)sums[0], s1 = (float)sums[1], s2 = (float)sums[2], s3 = (float)sums[3];
}
// Each step is rounded to a half, as the instructions do.
static float exp2_of(double x) {
    float n = fmaxf(atn_as_half((float)(x + 1552)), 1536) - 1552, f = atn_as_half((float)(x - n));
    float p = atn_as_half(f * half_to_float(0x26fb) + half_to_float(0x2fbe));
    p = atn_as_half(p * f + half_to_float(0x358c));
    p = fminf(fmaxf(atn_as_half(p * f + half_to_float(0x3800)), 0), 1);
    return n < -15 ? 0 : atn_as_half(ldexpf(p, (int)n + 1));
}
static void atn_exp2_of_product(int &w0, int &w1, int a0, int a1, int a2, int a3, int b0, int b1) {
    double sums[4] = {0, 0, 0, 0};
    product_of_halves(sums, a0, a1, a2, a3, b0, b1);
    w0 = atn_pack_halves(exp2_of(sums[0]), exp2_of(sums[1]));
    w1 = atn_pack_halves(exp2_of(sums[2]), exp2_of(sums[3]));
}

// 16 x 8 and 8 x 8 numbers.
static void atn_multiply_doubles(double &s0, double &s1, double &s2, double &s3, double a0, double a1, double a2,
                                 double a3, double b0, double b1) {
    double words[] = {a0, a1, a2, a3, b0, b1};
    memcpy(fibers[me].numbers, words, sizeof words);
    fiber *warp = wait_warp();
    int lane = me % 32;
    double *sums[] = {&s0, &s1, &s2, &s3};
    for (int n = 0; n < 4; ++n) {
        int row = lane / 4 + n / 2 * 8, column = lane % 4 * 2 + n % 2;
        for (int k = 0; k < 8; ++k)
            *sums[n] += warp[row % 8 * 4 + k % 4].numbers[row / 8 + k / 4 * 2] *
                        warp[column * 4 + k % 4].numbers[4 + k / 4];
    }
    wait_warp();
}

static void atn_multiply_singles(float &s0, float &s1, float &s2, float &s3, float a0, float a1, float a2, float a3,
                                 float b0, float b1) {
    double s[] = {s0, s1, s2, s3};
    atn_multiply_doubles(s[0], s[1], s[2], s[3], a0, a1, a2, a3, b0, b1);
    s0 = (float)s[0], s1 = (float)s[1], s2 = (float)s[2], s3 = (float)s[3];
}

// Four warps together, from local memory: lines of 128 bytes, in which pieces of 16 bytes have changed places by the
// number of the line.
static void wait_warpgroup() {
    long epoch = ++fibers[me].warp_epoch;
    int first = me / 128 * 128;
    for (int k = first; k < first + 128; ++k)
        while (!fibers[k].done && fibers[k].warp_epoch < epoch) yield();
}
static float at_line(const char *base, uintptr_t offset) {
    uintptr_t at = (uintptr_t)base + offset;
    uint16_t half;
    memcpy(&half, (const char *)(at ^ (at >> 7 & 7) << 4), 2);
    return half_to_float(half);
}
template <class... S>
static void atn_multiply_warpgroup(const int *left, uint rows, const int *right, uint columns, S &...sums) {
    float *to[] = {&sums...};
    int lane = me % 32, warp = me / 32 % 4;
    wait_warpgroup();
    for (int n = 0; n < (int)sizeof...(S); ++n) {
        int row = warp * 16 + lane / 4 + n / 2 % 2 * 8, column = n / 4 * 8 + lane % 4 * 2 + n % 2;
        double sum = *to[n];
        for (int k = 0; k < 16; ++k)
            sum += (double)at_line((const char *)left, row / 8 * rows + row % 8 * 128 + k * 2) *
                   at_line((const char *)right, column / 64 * columns + k * 128 + column % 64 * 2);
        *to[n] = (float)sum;
    }
}
static void atn_publish() {}
static void atn_warpgroup_begin() {}
static void atn_warpgroup_commit() {}
template <int LEFT> static void atn_warpgroup_wait() {}

static void (*body)(void **);
static void **arguments;
static void begin() {
    body(arguments);
    fibers[me].done = true;
    swapcontext(&fibers[me].context, &scheduler);
}
static void launch(void (*entry)(void **), void **args, int groups, int items) {
    body = entry;
    arguments = args;
    n_items = items;
    gridDim.x = (unsigned)groups;
    for (unsigned g = 0; g < (unsigned)groups; ++g) {
        for (int k = 0; k < items; ++k) {
            fiber *f = &fibers[k];
            if (!f->stack) f->stack = (char *)malloc(STACK);
            f->group_epoch = f->warp_epoch = 0;
            f->done = false;
            getcontext(&f->context);
            f->context.uc_stack.ss_sp = f->stack;
            f->context.uc_stack.ss_size = STACK;
            f->context.uc_link = &scheduler;
            makecontext(&f->context, begin, 0);
        }
        for (int left = items; left > 0;) {
            left = 0;
            for (int k = 0; k < items; ++k) {
                if (fibers[k].done) continue;
                me = k;
                threadIdx.x = (unsigned)k;
                blockIdx.x = g;
                swapcontext(&scheduler, &fibers[k].context);
                left += !fibers[k].done;
            }
        }
    }
}
template <class... A, size_t... I> void spread(void (*f)(A...), void **args, std::index_sequence<I...>) {
    f(*(A *)args[I]...);
}
template <class... A> void call(void (*f)(A...), void **args) { spread(f, args, std::index_sequence_for<A...>()); }
