/* A variant: how a graph is to be computed, as a plain value. Every dimension is cut into groups × lanes × registers ×
 * sequence (docs/lowering.md); reads are direct or staged. Knobs are named, so that spaces, wisdom and people can speak
 * of them: `lanes_p0=16,regs_p0=4,stage=2`. */
#ifndef ATN_LOWER_VARIANT_H
#define ATN_LOWER_VARIANT_H

#include "base/text.h"

#include <attune/type.h>

/* The cut of one dimension. p0, p1, p2 are the points' dimensions; q0, q1, q2 those that are reduced over. */
typedef struct atn_cut {
    int32_t lanes;  /* work-items along it; 1 on the host */
    int32_t vec;    /* lanes of a vector type; one dimension at most has more than 1 */
    int32_t regs;   /* values held at once by one item */
    int32_t pack;   /* of those, how many lie side by side; the others are a whole row of lanes apart (q: scans) */
    int32_t seq;    /* p: tiles done one after the other by one group */
    int32_t tile;   /* q: length of a tile; staged buffers are filled once per tile. 0: the whole range */
    int32_t unroll; /* q: steps of the loop written out */
    int32_t split;  /* q: groups that share the range; partial results are joined in a fixed order at the end; with
                       finish=look: tiles of a window */
} atn_cut;

typedef enum atn_exp { ATN_EXP_LIBRARY, ATN_EXP_NATIVE, ATN_EXP_POLYNOMIAL } atn_exp;
typedef enum atn_matrix {
    ATN_MATRIX_OFF,
    ATN_MATRIX_HALF,     /* weights are halves */
    ATN_MATRIX_PAIR,     /* weights are two halves, 22 bits */
    ATN_MATRIX_DOUBLE,   /* products of matrices of doubles; of halves: HALF */
    ATN_MATRIX_WARPGROUP /* of halves, by four warps together, from local memory */
} atn_matrix;
typedef enum atn_reduce { ATN_REDUCE_TREE, ATN_REDUCE_SHUFFLE } atn_reduce; /* how lanes of a q are joined */
typedef enum atn_finish {
    ATN_FINISH_LAUNCH,
    ATN_FINISH_LAST,
    ATN_FINISH_ATOMIC,
    ATN_FINISH_LOOK
} atn_finish; /* how groups of a q are; look: scans in one launch, whose groups look back (scan_look.c) */
typedef enum atn_schedule { ATN_SCHEDULE_STATIC, ATN_SCHEDULE_DYNAMIC, ATN_SCHEDULE_GUIDED } atn_schedule;

/* The knobs beside the cuts, a row each: name, plain value, least, most, values by name ('|' between them, from 0;
 * NULL: numbers), and whether only powers of two are right. The field of the variant, parsing, printing and help
 * follow. */
/* clang-format off */
#define ATN_KNOBS(knob) \
    knob(stage, 0, 0, 4, NULL, false) /* reads that several items or steps share: 0 direct, 1 staged, 2 double buffered; 3, 4, with matrix: so many buffers */ \
    knob(stage_swap, 0, 0, 3, NULL, false) /* bit a: staged tiles of reads whose axis a is p1's (else p0's) lie transposed; see stage.c */ \
    knob(wide, 1, 1, 4, NULL, true) /* elements moved at once, 1, 2, 4: GPU: into a staged tile, any alignment; host: registers from one */ \
    knob(pad, 0, 0, 64, NULL, false) /* elements added to each row of a staged tile */ \
    knob(reduce, 0, 0, 1, "tree|shuffle", false) /* atn_reduce */ \
    knob(finish, 0, 0, 3, "launch|last|atomic|look", false) /* atn_finish */ \
    knob(exp, 0, 0, 2, "library|native|polynomial", false) /* atn_exp */ \
    knob(degree, 6, 3, 7, NULL, false) /* of the polynomial exp */ \
    knob(matrix, 0, 0, 4, "off|half|pair|double|warpgroup", false) /* atn_matrix: sums of weights on matrix units, see matrix.h; products of matrices, contract.h */ \
    knob(mix, 0, 0, 8, NULL, false) /* with it: of eight native exponentials, so many by polynomial */ \
    knob(accumulate, 0, 0, 64, NULL, false) /* accumulators of floating sums: 0 as described, 32, 64 */ \
    knob(half, 0, 0, 1, NULL, false) /* 1: what is HP is computed in HP, not in SP, where the device can (host) */ \
    knob(groups, 0, 0, 1 << 30, NULL, false) /* most groups launched, the others follow in a loop; 0: as many as there are tiles */ \
    knob(threads, 0, 0, 4096, NULL, false) /* host: 0 all */ \
    knob(schedule, 0, 0, 2, "static|dynamic|guided", false) /* host: atn_schedule */ \
    knob(chunk, 0, 0, 1 << 20, NULL, false) /* host: of the schedule */ \
    knob(collapse, 2, 1, 2, NULL, false) /* host: dimensions of the points whose tiles the threads share: 2 all, 1 all but the fastest */ \
    knob(stream, 0, 0, 1, NULL, false) /* host: stores that go past the caches */ \
    knob(fast, 0, 0, 1, NULL, false) /* lets the compiler assume finite values and reorder (per kernel, never globally) */ \
    knob(index, 64, 32, 64, NULL, true) /* bits of address arithmetic: 32 or 64 */ \
    knob(resident, 0, 0, 32, NULL, false) /* groups at once on a core for which the compiler limits registers (cuda); 0: as it likes */ \
    knob(guard, 1, 0, 1, NULL, false) /* gathers are checked and reported; 0 is earned: atn_indices */
/* clang-format on */

typedef struct atn_variant {
    atn_cut p[ATN_MAX_RANK], q[ATN_MAX_RANK];
#define ATN_KNOB_FIELD(name, plain, least, most, names, power) int32_t name;
    ATN_KNOBS(ATN_KNOB_FIELD)
#undef ATN_KNOB_FIELD
} atn_variant;

/* The plainest variant: one point an item, no staging; right for every graph. */
atn_variant atn_variant_plain(void);

/* Knobs by name. get: 0 and false for a name that is none. set: refuses unknown names and values out of range. */
bool atn_variant_get(const atn_variant *variant, const char *knob, int64_t *value);
atn_status atn_variant_set(const atn_ctx *ctx, atn_variant *variant, const char *knob, const char *value);

/* "k=v,k=v" over what the variant holds already; and back: only what differs from the plain variant. */
atn_status atn_variant_parse(const atn_ctx *ctx, atn_variant *variant, const char *text);
void atn_variant_print(const atn_variant *variant, atn_text *out);

int32_t atn_variant_knob_count(void);
const char *atn_variant_knob_name(int32_t knob);

/* Groups that share a reduced range: the split of its slowest dimension. */
int32_t atn_variant_splits(const atn_variant *variant);

/* What values of a type are computed in, complex ones part by part: HP in SP, unless the variant says half. */
atn_type atn_variant_type(const atn_variant *variant, atn_type type);

/* Items of a work-group. */
int32_t atn_variant_items(const atn_variant *variant);

#endif
