/* The state shared by the passes of lowering. A *place* identifies one instance of a value: the register index along
 * each dimension, and, if a vector must be processed lane by lane, one of its lanes. A value is computed once per place
 * it really depends on, in the outermost scope where that place is known; register tiles follow from this. */
#ifndef ATN_LOWER_LOWERING_H
#define ATN_LOWER_LOWERING_H

#include "graph/affine.h"
#include "graph/type.h"
#include "lower/build.h"
#include "lower/cut.h"
#include "lower/lower.h"
#include "lower/needs.h"
#include "lower/reduction.h"
#include "lower/stage.h"

typedef struct place {
    int8_t r[ATN_MAX_DIMS];
    int8_t lane; /* -1: all lanes of the vector at once */
} place;
#define PLACE_ORIGIN ((place){.lane = -1})

/* A dimension while it is bound to generated indices. */
typedef struct dim_state {
    bool bound;
    ir_ref base;  /* address of register 0, lane 0 of this item */
    ir_ref local; /* the same, counted from the start of the tile of the group (p) or of the staged tile (q) */
    int32_t regs, pack, vec;
    int64_t row;  /* distance between packs: lanes × pack × vec */
    ir_ref limit; /* indices are clamped below it; -1: they are known to be inside */
} dim_state;

enum { WIDE_READS = -1 - ATN_MAX_DIMS };

typedef struct memo {
    int32_t
        what; /* a value, -1 - dimension for its address, or WIDE_READS - read for several of its registers at once */
    int32_t part; /* 1: the imaginary part */
    place at;
    ir_ref ref;
    int32_t older; /* the previous one in its chain; -1: none */
} memo;
enum { MEMO_CHAINS = 1024 };

/* A scan of a split range has two stages: totals of its parts, then everything, each part starting from the parts
 * before it. With finish=look it has one, whose groups take tiles and wait for the results of the groups before them.
 * */
typedef enum lower_scan_phase { SCAN_WHOLE, SCAN_PARTS, SCAN_ALL, SCAN_LOOK } lower_scan_phase;

/* Reads whose elements the items of a scan keep in local memory, each its own: `wide` contiguous ones. */
enum { LOWER_MOST_KEPT = 4 };
typedef struct lower_kept {
    int32_t count;
    struct {
        int32_t read, tile, wide;
    } of[LOWER_MOST_KEPT];
    int32_t first; /* first register of the current row among all registers of an item */
} lower_kept;

typedef enum lower_pieces {
    PIECES_ANYWHERE, /* unknown alignment: tested for each */
    PIECES_ALIGNED,  /* at multiples of their size */
    PIECES_APART     /* they are read one by one */
} lower_pieces;

typedef struct lowering lowering;
struct lowering {
    const atn_ctx *ctx;
    const atn_graph *g;
    atn_lowered *p;
    atn_variant v;   /* of the current region: the edge of a tile uses the plain one; see lower_enter */
    lower_cuts cuts; /* how it tiles the points */
    lower_needs needs;
    bool host;       /* groups are a loop of the program, lanes do not exist */
    bool clamp;      /* points of a tile may be outside: indices are clamped, writes are tested */
    bool inside;     /* reads with a boundary mode are known to be inside (interior tiles) */
    int32_t stage;   /* the stage of the program being generated */
    ir_block *block; /* the open list */
    dim_state dim[ATN_MAX_DIMS];
    int32_t vec_dim;                 /* the dimension whose lanes form vectors, -1: none */
    uint32_t bound;                  /* dimensions that are bound */
    uint32_t done;                   /* blocks whose results are available */
    uint32_t apart;                  /* dimensions of which one place is computed at a time, */
    place apart_at;                  /* namely this one; see apart.c */
    memo *memos;                     /* a stack: scopes end in reverse order */
    int32_t memo_chain[MEMO_CHAINS]; /* the newest of each chain; -1: none */
    size_t n_memos, memos_capacity;
    int32_t acc_variable[ATN_MAX_ACCS][2]; /* the current meaning of ACC: [accumulator][part] */
    ir_ref side[2][ATN_MAX_ACCS][2];       /* the current meaning of LEFT and RIGHT */
    lower_staging staged;
    lower_kept kept;
    ir_ref extent[ATN_MAX_RANK], begin[ATN_MAX_RANK]; /* of the points */
    lower_scan_phase scan_phase;
    lower_pieces pieces;        /* what is known about elements that are read several at once */
    uint64_t pieces_of;         /* reads to which that applied, among the first 64 */
    ir_ref split;               /* the part of the reduced range, or tile of a scan, of this group; -1: no split */
    ir_ref launch;              /* SCAN_LOOK: the number of this launch */
    ir_ref lane_q;              /* lane of this item along the reduced dimensions; -1: there is one lane */
    int32_t warp;               /* items that can shuffle with each other */
    atn_bf16 bf16;              /* how numbers of BFloat16 are multiplied */
    bool dynamic;               /* local memory may be requested at launch */
    ir_ref start[ATN_MAX_RANK]; /* first point of the tile of the group */
    const ir_ref *own; /* host: the first point that belongs to the group itself, if tiles are moved; NULL: none are */
    ir_ref first_step[ATN_MAX_RANK]; /* of sequences, with skips: steps before it belong to another group */
    bool skips;
    ir_ref item;                  /* index of this item in its group; -1 on the host */
    void *resting;                /* see lower_block_rested */
    struct matrix *matrix;        /* see lower_group_matrix; NULL: the group does not use matrix units */
    struct contraction *contract; /* see lower_group_contraction */
    bool polynomial;              /* the current exponential is computed by polynomial, whatever the variant says */
    void (*make_block)(lowering *l, int32_t block); /* lower_block: blocks of every kind contain blocks of every kind */
    void (*bind)(lowering *l);  /* points are laid out differently than in nests of loops; NULL: they are not */
    void (*write)(lowering *l); /* their results are written differently; NULL: they are not */
    atn_status status;          /* first failure */
};

/* Stores a message and records the failure; the passes continue, and lower.c checks once, at the end. */
void lower_fail(lowering *l, atn_status status, const char *format, ...) ATN_PRINTF(3, 4);

/* Declares one variable per dimension or axis: "start" and 1 is start1. */
ir_ref lower_declare(lowering *l, const char *stem, int32_t d, ir_ref value);
int32_t lower_counter(lowering *l, const char *stem, int32_t d); /* the variable of a loop, named in the same way */

/* Continues with another variant, for example at the edge of a tile. */
void lower_enter(lowering *l, atn_variant variant);

/* The blocks directly inside one, each after those whose results it uses. */
void lower_children(lowering *l, int32_t parent);
lower_scene lower_scene_of(const lowering *l); /* the arguments that passes need at the current position of the program
                                                * */

/* ---- places (place.c) ---- */
int32_t lower_type(const lowering *l, atn_type type); /* the type of arithmetic: SP for HP, unless the variant says half
                                                       * */
bool lower_ready(const lowering *l, atn_value value);
ir_ref lower_dimension(lowering *l, int32_t dim, place at); /* its address at a place */
bool lower_next_place(const lowering *l, uint32_t dims,
                      place *at); /* next register instance over dims; false at the end */
size_t lower_mark(const lowering *l);
void lower_forget(lowering *l, size_t mark); /* leaves a scope */
bool lower_memo_find(const lowering *l, int32_t what, int32_t part, place at, ir_ref *ref);
void lower_memo_keep(lowering *l, int32_t what, int32_t part, place at, ir_ref ref);
/* Distance of a place from register 0 of a dimension, not counting its lane. */
int64_t lower_offset(const lowering *l, int32_t dim, place at);
place lower_normal(const lowering *l, uint32_t dims, place at);

/* ---- elements (element.c; see element.h) ---- */
/* An element of an object: its index along each axis, -1 beyond the object's rank. */
typedef struct lower_at {
    ir_ref axis[ATN_MAX_RANK];
} lower_at;
void lower_name_indices(lowering *l, lower_at *at);           /* declares variables for them */
ir_ref lower_size(lowering *l, int32_t object, int32_t axis); /* Size(axis), as an address */
typedef enum lower_guard {
    GUARD_NONE,
    GUARD_BOTH,
    GUARD_ABOVE
} lower_guard; /* how an index is checked: not at all, at both ends, above only */
ir_ref lower_fetch(lowering *l, int32_t object, lower_at at, int32_t boundary, lower_guard guard, int32_t read,
                   int32_t part);
/* Parts of a fetch that copies several elements at once; none declares anything. */
ir_ref lower_inside(lowering *l, int32_t object, lower_at at);               /* below the object's sizes? */
ir_ref lower_from_zero(lowering *l, lower_at at);                            /* not below 0? */
ir_ref lower_pick(lowering *l, int32_t object, lower_at at, bool from_zero); /* the element, or 0 outside */
ir_ref lower_load_wide(lowering *l, int32_t object, lower_at at, int32_t wide);
ir_ref lower_either(lowering *l, ir_ref condition, ir_ref yes, ir_ref no); /* selected by one condition, whole vectors
                                                                            * */
void lower_store(lowering *l, const atn_write *w, lower_at at, ir_ref value, int32_t part);

/* ---- values (value.c) ---- */
ir_ref lower_value(lowering *l, atn_value value, place at, int32_t part);
void lower_value_named(lowering *l, atn_value value, place at); /* stored in a variable, even if it is used only once */
void lower_hoist(lowering *l, atn_value value);                 /* computes everything that can be computed here */
/* A selector: an address if that type holds it, as it does for selectors proven to be in range; otherwise an INDEX, to
 * be narrowed once it is known to be inside. `validated`: it is inside. */
ir_ref lower_index(lowering *l, atn_value value, place at, bool validated);
ir_ref lower_end(lowering *l, atn_value value); /* an end of a range, as an address; see ATN_FARTHEST */

/* ---- reads (read.c) ---- */
lower_at lower_select(lowering *l, const atn_value select[ATN_MAX_RANK], place at,
                      bool validated); /* see lower_index */
/* Bytes that are gathered only to be widened, as INT32: the gather widens them. -1: the value is something else. */
ir_ref lower_widened_bytes(lowering *l, atn_value value, place at);
ir_ref lower_read(lowering *l, const atn_node *node, place at, int32_t part);
ir_ref lower_pieces_aligned(lowering *l,
                            uint64_t reads); /* do they begin at multiples of 16 bytes? -1: there are none */
void lower_keep_reads(lowering *l); /* starts to fetch the reads of the current row that can be kept, into l->kept */

/* ---- writes (write.c) ---- */
void lower_writes(lowering *l, int32_t block, uint32_t dims, ir_ref enable);

/* ---- blocks transposed in registers (turn.c) ---- */
/* The dimension of the points whose registers are transposed with the lanes of the vector to be written; -1: none. */
int32_t lower_turned(const lowering *l, const atn_write *w, uint32_t dims);
void lower_write_turned(lowering *l, const atn_write *w, place at, int32_t d); /* all registers along d at once */
void lower_transpose(lowering *l, ir_ref *block, int32_t width); /* exchanges lane k of block[j] with lane j of block[k]
                                                                  * */

/* ---- staged tiles (staged.c, staged_read.c) ---- */
void lower_stage_open(lowering *l, int32_t block);     /* what is staged for a block, or for the points: 0 */
void lower_stage_fill(lowering *l, ir_ref tile_start); /* by all items, single buffered */
void lower_stage_prefetch(lowering *l, ir_ref tile_start, ir_ref fetched[]); /* into registers: at most MAX_PREFETCH */
void lower_stage_commit(lowering *l, const ir_ref fetched[], const ir_ref half[]); /* from there into the other buffer
                                                                                    * */
enum { MAX_PREFETCH = 64 };
int64_t lower_staged_length(const lowering *l, int32_t dim);         /* length of a tile along a dimension */
ir_ref lower_tile_element(lowering *l, const staged *s, lower_at e); /* its address in the tile */
const staged *lower_staged_for(const lowering *l, int32_t read);
ir_ref lower_staged_read(lowering *l, const staged *s, int32_t read, place at, int32_t width);

/* ---- the stages (emit.c) ---- */
void lower_emit(lowering *l, const atn_target *target); /* the whole program, into l->p */

/* ---- the points (points.c, nest.c) ---- */
void lower_bind_points(lowering *l, const ir_ref seq[ATN_MAX_RANK]); /* for one step of the sequence; NULL: the first */
void lower_group(lowering *l); /* everything one group does, from its start[] on */
/* The same with plain code for the existing points of the tile of the group, except those of `tile` (-1: the group's
 * own), where `done` says that it has been computed already; host only. */
void lower_edge(lowering *l, ir_ref done, const ir_ref tile[ATN_MAX_RANK]);
/* Points along a dimension for which reads with a boundary mode stay inside, as far as this dimension alone decides:
 * [low, high). */
void lower_inner_range(lowering *l, int32_t d, ir_ref *low, ir_ref *high);
ir_ref lower_interior(lowering *l); /* is this tile full, and are its reads inside? sets l->inside for the code that
                                     * follows */
/* ATN_ERR_UNSUPPORTED if a program on the host is too long to compile. */
atn_status lower_check_length(const atn_ctx *ctx, const atn_lowered *p, const atn_target *target);

/* ---- sums on matrix units (matrix_emit.c) ---- */
void lower_group_matrix(lowering *l); /* everything one group does: on matrix units, or without them if its points are
                                       * too far apart */
void lower_block_matrix(lowering *l, int32_t block);
void lower_group_contraction(lowering *l); /* matrix products (contract_emit.c) */
void lower_block_contraction(lowering *l, int32_t block);

/* ---- blocks (apart.c, block.c, reduce.c, join.c) ---- */
void lower_block(lowering *l, int32_t block);       /* loops and joins; afterwards its RESULT is available */
void lower_block_whole(lowering *l, int32_t block); /* the same for all places at once */
bool lower_scans(const lowering *l, int32_t block); /* its running values are needed (scan.c) */
void lower_block_scan(lowering *l, int32_t block);
void lower_block_rested(lowering *l, int32_t block, void (*after)(lowering *l));
void lower_finish(lowering *l, int32_t block); /* combines the partial results of all splits and makes RESULT available
                                                * */
void lower_each_step(lowering *l, void (*step)(lowering *l, void *data), void *data); /* the sequence of a group */
int32_t acc_parts(const atn_acc *acc);
int32_t acc_type(const lowering *l, const atn_acc *acc);
int32_t lower_acc_words(const lowering *l, const atn_acc *acc); /* number of 4-byte words in which it is stored for
                                                                 * other groups */
ir_ref acc_neutral(lowering *l, const atn_block *b, int32_t k, int32_t part);
/* result[k][part] = left combined with right, for all accumulators of the block at once. */
void lower_join(lowering *l, const atn_block *b, ir_ref left[][2], ir_ref right[][2], ir_ref result[][2],
                bool in_order);
void lower_join_lanes(lowering *l, const atn_block *b, ir_ref value[][2]); /* over the items along q */

#endif
