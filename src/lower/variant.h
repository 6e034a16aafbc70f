/* A variant: how a graph is computed, as a plain value. Every dimension is divided into groups × lanes × registers ×
 * sequence (docs/lowering.md); reads are direct or staged. Knobs have names, which spaces, wisdom and people use:
 * `lanes_p0=16,regs_p0=4,stage=2`. */
#ifndef ATN_LOWER_VARIANT_H
#define ATN_LOWER_VARIANT_H

#include "base/limits.h"
#include "base/text.h"
#include "lower/knobs.h"

#include <attune/type.h>

/* The tiling of one dimension. p0, p1, p2 are the dimensions of the points; q0, q1, q2 those that are reduced over. */
typedef struct atn_cut {
    int32_t lanes;  /* work-items along it; 1 on the host */
    int32_t vec;    /* width of a vector type; at most one dimension has more than 1 */
    int32_t regs;   /* values held at once by one item */
    int32_t pack;   /* of those, how many are contiguous; the others are a whole row of lanes apart (q: scans) */
    int32_t seq;    /* p: tiles processed one after the other by one group */
    int32_t tile;   /* q: length of a tile; staged buffers are filled once per tile. 0: the whole range */
    int32_t unroll; /* q: unrolled steps of the loop */
    int32_t split;  /* q: groups that share the range; partial results are combined in a fixed order at the end; with
                     * finish=look: tiles of a window */
} atn_cut;

typedef enum atn_exp { ATN_EXP_LIBRARY, ATN_EXP_NATIVE, ATN_EXP_POLYNOMIAL } atn_exp;
typedef enum atn_matrix {
    ATN_MATRIX_OFF,
    ATN_MATRIX_HALF,      /* weights are halves */
    ATN_MATRIX_PAIR,      /* weights are two halves, 22 bits */
    ATN_MATRIX_DOUBLE,    /* products of matrices of doubles; of halves: HALF */
    ATN_MATRIX_WARPGROUP, /* of halves, by four warps together, from local memory */
    ATN_MATRIX_BFLOAT,    /* on CPUs: elements are rounded to BFloat16, 8 bits; */
    ATN_MATRIX_BFLOAT2,   /* sums of two such numbers, */
    ATN_MATRIX_BFLOAT3    /* of three: all bits of SP */
} atn_matrix;
typedef enum atn_reduce { ATN_REDUCE_TREE, ATN_REDUCE_SHUFFLE } atn_reduce; /* how lanes of a q are combined */
typedef enum atn_finish {
    ATN_FINISH_LAUNCH,
    ATN_FINISH_LAST,
    ATN_FINISH_ATOMIC,
    ATN_FINISH_LOOK
} atn_finish; /* how groups of a q are combined; look: scans in one launch, whose groups look back (scan_look.c) */
typedef enum atn_schedule { ATN_SCHEDULE_STATIC, ATN_SCHEDULE_DYNAMIC, ATN_SCHEDULE_GUIDED } atn_schedule;

typedef struct atn_variant {
    atn_cut p[ATN_MAX_RANK], q[ATN_MAX_RANK];
#define ATN_KNOB_FIELD(name, plain, least, most, names, power, rule, meaning) int32_t name;
    ATN_KNOBS(ATN_KNOB_FIELD)
#undef ATN_KNOB_FIELD
} atn_variant;

/* The plainest variant: one point per item, no staging; valid for every graph. */
atn_variant atn_variant_plain(void);

/* Knobs by name. get: 0 and false for an unknown name. set: refuses unknown names and values out of range. */
bool atn_variant_get(const atn_variant *variant, const char *knob, int64_t *value);
atn_status atn_variant_set(const atn_ctx *ctx, atn_variant *variant, const char *knob, const char *value);

/* "k=v,k=v" applied to the current values of the variant; and back: only what differs from the plain variant. */
atn_status atn_variant_parse(const atn_ctx *ctx, atn_variant *variant, const char *text);
void atn_variant_print(const atn_variant *variant, atn_text *out);

int32_t atn_variant_knob_count(void);
const char *atn_variant_knob_name(int32_t knob);
/* In a few words, for reports; "": there is no such knob. docs/lowering.md is the reference. */
const char *atn_variant_knob_meaning(const char *knob);
void atn_variant_knob_range(int32_t knob, int32_t *least, int32_t *most);

/* Groups that share a reduced range: the split of its slowest dimension. */
int32_t atn_variant_splits(const atn_variant *variant);

/* Is 2^x of vectors of halves computed in halves? */
bool atn_variant_has_half_exp2(const atn_variant *variant);

/* The type in which values of a type are computed, complex ones part by part: SP for HP, unless the variant says half.
 * */
atn_type atn_variant_type(const atn_variant *variant, atn_type type);

/* Numbers of 8 bits into which elements are split for matrix units of CPUs (parts.h); 0: they are not. */
int32_t atn_variant_parts(const atn_variant *variant);

/* Items of a work-group. */
int32_t atn_variant_items(const atn_variant *variant);

#endif
