/* Vectorised loops: functions compiled for several register widths, among which the processor chooses when the library
 * is loaded, and loops whose sums may be computed in any order. */
#ifndef ATN_BASE_LANES_H
#define ATN_BASE_LANES_H

#include <stdint.h> /* says which C library it is */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ATN_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATN_SANITIZED 1
#endif

/* Before the function; APART: it is never inlined, as functions with a choice are not anyway. The choice is made before
 * a sanitizer is ready, and only if the C library supports it. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(ATN_SANITIZED)
#define ATN_IN_LANES       __attribute__((target_clones("avx512f", "avx2", "default")))
#define ATN_IN_LANES_APART ATN_IN_LANES
#define ATN_WIDEST         64 /* bytes of the widest of these registers */
#else
#define ATN_IN_LANES
#define ATN_IN_LANES_APART __attribute__((noinline))
#define ATN_WIDEST         __BIGGEST_ALIGNMENT__
#endif

/* Before a loop whose iterations may be executed in any order and concurrently; ATN_LANES(reduction(+ : a, b)): sums as
 * well. Files that use it are compiled with -fopenmp-simd (CMakeLists.txt). */
#define ATN_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define ATN_LANES(...)  ATN_PRAGMA(omp simd __VA_ARGS__)

/* Before a function that is part of a vectorised loop: it is inlined there. Before a short loop in it, which is then
 * unrolled. */
#define ATN_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define ATN_UNROLLED ATN_PRAGMA(unroll)
#else
#define ATN_UNROLLED ATN_PRAGMA(GCC unroll 8)
#endif

#endif
