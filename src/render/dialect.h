/* A dialect of C as data: names, markers and helper functions. What differs between OpenCL C, CUDA C and C17 with
 * OpenMP stands in one table each; one printer (render.c) serves all three. */
#ifndef ATN_RENDER_DIALECT_H
#define ATN_RENDER_DIALECT_H

#include "lower/lower.h"
#include "render/exp.h"

/* What vectors of a dialect are. */
typedef enum atn_vector_form {
    ATN_VECTORS_MOVED,    /* structs of up to four elements, which are loaded and stored at once and not computed on */
    ATN_VECTORS_BUILTIN,  /* types of the language, with functions on them */
    ATN_VECTORS_EXTENSION /* the compiler's: operators only; functions are ours, of the vector prelude */
} atn_vector_form;

typedef struct atn_dialect {
    const char *name;      /* "c", "opencl", "cuda" */
    const char *entry;     /* before the name of an entry point */
    const char *bounds[2]; /* before the name too: printf formats of items in a group, and of groups at once; or NULL */
    const char *global;    /* address space of buffers: "__global " or "" */
    const char *restricted;    /* keyword after a pointer */
    const char *local;         /* before a tile */
    const char *dynamic_local; /* the declaration of memory that comes with the launch */
    const char *local_align;   /* after a tile */
    const char *constant;      /* before a constant table */
    const char *group, *groups, *item;
    const char *barrier;
    const char *unroll;      /* printf format of the pragma, one int */
    const char *long_suffix; /* of 64-bit literals */
    const char *infinity[2]; /* single, double */
    const char *nan[2];
    bool typed_functions; /* sqrtf and sqrt; else sqrt for both */
    atn_vector_form vectors;
    const char *splat;          /* printf formats of a vector's name and width: all lanes alike; */
    const char *join[2];        /* lanes in a list; */
    const char *convert[2];     /* a vector of another type */
    const char *lane[16];       /* after a vector: one of its lanes */
    const char *tile_store;     /* before the type in the name of a store to a tile */
    const char *native_exp[2];  /* the hardware's exponential, e^x and 2^x of a vector; NULL: it has none */
    atn_exp_dialect exp;        /* how the polynomial for it is written */
    bool one_argument;          /* entry points take one struct, and have no tiles of their own */
    bool both_sides;            /* of a logical operation: a branch costs more than a comparison */
    bool streams;               /* has stores that go past the caches */
    bool nan_converts;          /* NaN becomes 0 as a whole number; elsewhere it is taken out before */
    bool atomic_partials;       /* what one group leaves for another in the same launch is seen through atomics alone */
    const char *prelude;        /* helper functions that every source starts with */
    const char *vector_prelude; /* of a width, macros taking it: see render.c; NULL where there are no vectors */
    const char *double_prelude; /* where doubles occur; NULL: nothing needed */
    const char *wide_prelude;   /* where several elements are stored at once; NULL: nothing needed */
    const char *look_prelude;   /* where groups await each other; NULL: they cannot */
    const char *matrix_prelude; /* where warps multiply matrices; NULL: they cannot */
} atn_dialect;

/* Of every prelude: arithmetic of whole numbers that is defined for all of them; INLINE, uint, idx, uidx, adr and uadr
 * are defined before it, and atn_opaque_T, which hides a value from the compiler: NVIDIA's assembler takes the absolute
 * value of the least integer, which is itself, for a number that is not negative, and divides it without a sign. */
/* clang-format off */
#define ATN_PRELUDE_WHOLE \
    "#define WHOLE(T) \\\n" \
    "    INLINE T T##_add(T a, T b) { return (T)((u##T)a + (u##T)b); } \\\n" \
    "    INLINE T T##_sub(T a, T b) { return (T)((u##T)a - (u##T)b); } \\\n" \
    "    INLINE T T##_mul(T a, T b) { return (T)((u##T)a * (u##T)b); } \\\n" \
    "    INLINE T T##_neg(T a) { return (T)(0 - (u##T)a); } \\\n" \
    "    INLINE T T##_shl(T a, T b) { return (T)((u##T)a << (b & (T)(8 * sizeof(T) - 1))); } \\\n" \
    "    INLINE T T##_div(T a, T b) { return b == 0 ? 0 : b == -1 ? T##_neg(a) : a / b; } \\\n" \
    "    INLINE T T##_mod(T a, T b) { return b == 0 || b == -1 ? 0 : a % b; } \\\n" \
    "    INLINE T T##_floormod(T a, T m) { T r = T##_mod(a, m); return r != 0 && (r < 0) != (m < 0) ? r + m : r; } \\\n" \
    "    INLINE T atn_min_##T(T a, T b) { return a < b ? a : b; } \\\n" \
    "    INLINE T atn_max_##T(T a, T b) { return a > b ? a : b; } \\\n" \
    "    INLINE T atn_abs_##T(T a) { return a < 0 ? atn_opaque_##T(T##_neg(a)) : a; }\n" \
    "WHOLE(int)\n" \
    "WHOLE(idx)\n" \
    "WHOLE(adr)\n"
/* clang-format on */

/* Sums and differences of 32 bits are hidden from NVIDIA's compiler: in loops it takes the wide value of x for that of
 * x + 18, less 18, as if the sum could not wrap. */
#define ATN_PRELUDE_WRAPS                                                                                              \
    "#define int_add(a, b) atn_opaque_int(int_add(a, b))\n"                                                            \
    "#define int_sub(a, b) atn_opaque_int(int_sub(a, b))\n"

extern const atn_dialect ATN_DIALECT_C, ATN_DIALECT_OPENCL, ATN_DIALECT_CUDA;

/* By name, or the one that a backend compiles ("host", "opencl", "cuda"); NULL: there is none. */
const atn_dialect *atn_dialect_find(const char *name);

/* A program as source text in a dialect. The same program and dialect give the same text. */
atn_status atn_render(const atn_ctx *ctx, const atn_lowered *program, const atn_dialect *dialect, atn_text *out);

#endif
