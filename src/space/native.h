/* Generated C: what its makers share. An expression has a type and, for wholes, bounds, which say where overflow and
 * division by zero must be watched and where plain operators will do. */
#ifndef ATN_SPACE_NATIVE_H
#define ATN_SPACE_NATIVE_H

#include "base/embedded.h"
#include "space/plan.h"

typedef enum atn_shape_type {
    ATN_SHAPE_UNKNOWN, /* not one type, or none that C code can have here */
    ATN_SHAPE_WHOLE,   /* int64_t; booleans too */
    ATN_SHAPE_REAL,    /* double */
    ATN_SHAPE_TEXT     /* the number of a text */
} atn_shape_type;

typedef struct atn_shape {
    atn_shape_type type;
    bool truth;      /* a boolean */
    bool fails;      /* computing it may fail */
    __int128 lo, hi; /* of a whole, within 64 bits */
} atn_shape;

/* What is known while one constraint is written. */
typedef struct atn_emitter {
    const atn_space *space;
    const atn_component *component; /* NULL where only shapes are asked for */
    const atn_lan_function *function;
    atn_text *out;
    const atn_shape *parameters, *derived; /* of all; in `shapes` */
    atn_shape locals[ATN_LAN_MOST_LOCALS];
    uint64_t set; /* locals that are set for sure */
} atn_emitter;

extern const atn_embedded ATN_NATIVE_TEXTS[]; /* src/space/native; made by the build */

enum { ATN_NATIVE_MOST_TEXT = 1 << 20 };

/* ---- native_shape.c ---- */
atn_shape atn_shape_of(const atn_emitter *e, int32_t node);
/* The shapes of parameters and derived values; *shapes is the emitter's, freed by the caller. */
atn_status atn_shape_begin(atn_emitter *e, atn_shape **shapes);
/* Fills the emitter's locals from all assignments of the function; false: one has no single type. */
bool atn_shape_locals(atn_emitter *e, const atn_lan_block *block);

/* ---- native_expression.c: false: it cannot be expressed ---- */
bool atn_emit_value(atn_emitter *e, int32_t node);
bool atn_emit_truth(atn_emitter *e, int32_t node);
void atn_emit_constant(atn_text *out, const atn_lan_value *value);

/* ---- native_source.c ---- */
/* Where the table of an iterator begins in what the entry point is given, for loops from `first` on; n_depths: the
 * length of it all. Each has its combinations, then its lists, then its pool. */
int64_t atn_native_table(const atn_component *component, int32_t first, int32_t depth);

#endif
