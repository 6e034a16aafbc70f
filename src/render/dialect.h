/* A dialect of C as data: names, markers and helper functions. What differs between OpenCL C, CUDA C and C17 with
 * OpenMP stands in one table each; one printer (render.c) serves all three. */
#ifndef ATN_RENDER_DIALECT_H
#define ATN_RENDER_DIALECT_H

#include "base/embedded.h"
#include "lower/lower.h"
#include "render/exp.h"

/* What vectors of a dialect are. */
typedef enum atn_vector_form {
    ATN_VECTORS_MOVED,    /* structs of up to four elements, which are loaded and stored at once and not computed on */
    ATN_VECTORS_BUILTIN,  /* types of the language, with functions on them */
    ATN_VECTORS_EXTENSION /* the compiler's: operators only; functions are ours, of the vector prelude */
} atn_vector_form;

enum { ATN_PRELUDE_FILES = 3 };
extern const atn_embedded ATN_PRELUDES[]; /* the files by name; made by the build */

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
    const char *splat;         /* printf formats of a vector's name and width: all lanes alike; */
    const char *join[2];       /* lanes in a list; */
    const char *convert[2];    /* a vector of another type */
    const char *lane[16];      /* after a vector: one of its lanes */
    const char *tile_store;    /* before the type in the name of a store to a tile */
    const char *native_exp[2]; /* the hardware's exponential, e^x and 2^x of a vector; NULL: it has none */
    atn_exp_dialect exp;       /* how the polynomial for it is written */
    bool one_argument;         /* entry points take one struct, and have no tiles of their own */
    bool both_sides;           /* of a logical operation: a branch costs more than a comparison */
    bool streams;              /* has stores that go past the caches */
    bool nan_converts;         /* NaN becomes 0 as a whole number; elsewhere it is taken out before */
    bool atomic_partials;      /* what one group leaves for another in the same launch is seen through atomics alone */
    /* Files of helper functions in src/render/prelude, without their ending, in this order; NULL: no more. */
    const char *prelude[ATN_PRELUDE_FILES];        /* every source starts with them */
    const char *vector_prelude[ATN_PRELUDE_FILES]; /* where there are vectors: macros of a width, see render.c */
    const char *double_prelude[ATN_PRELUDE_FILES]; /* where doubles occur */
    const char *wide_prelude[ATN_PRELUDE_FILES];   /* where several elements are stored at once */
    const char *look_prelude[ATN_PRELUDE_FILES];   /* where groups await each other */
    const char *matrix_prelude[ATN_PRELUDE_FILES]; /* where warps multiply matrices */
} atn_dialect;

extern const atn_dialect ATN_DIALECT_C, ATN_DIALECT_OPENCL, ATN_DIALECT_CUDA;

/* By name, or the one that a backend compiles ("host", "opencl", "cuda"); NULL: there is none. */
const atn_dialect *atn_dialect_find(const char *name);

/* A program as source text in a dialect. The same program and dialect give the same text. */
atn_status atn_render(const atn_ctx *ctx, const atn_lowered *program, const atn_dialect *dialect, atn_text *out);

#endif
