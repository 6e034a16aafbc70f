/* The knobs beside the cuts of dimensions, a row each: name, plain value, least, most, values by name ('|' between
 * them, from 0; NULL: numbers), whether only powers of two are right, the rule that says where a graph or a device does
 * not have it (lower_fits_all: everywhere; fits.h), and what it means, for reports and help. The field of the variant,
 * parsing, printing, help, reports and random tests follow from the row. */
#ifndef ATN_LOWER_KNOBS_H
#define ATN_LOWER_KNOBS_H

/* clang-format off */
#define ATN_KNOBS(knob) \
    knob(stage, 0, 0, 4, NULL, false, lower_fits_stage, "shared reads: 0 direct, 1 staged in local memory, 2 to 4 buffers of it") /* reads that several items or steps share: 0 direct, 1 staged, 2 double buffered; 3, 4, with matrix: so many buffers */ \
    knob(stage_swap, 0, 0, 3, NULL, false, lower_fits_all, "which staged tiles lie transposed") /* bit a: staged tiles of reads whose axis a is p1's (else p0's) lie transposed; see stage.c */ \
    knob(wide, 1, 1, 4, NULL, true, lower_fits_all, "elements moved at once into a tile") /* elements moved at once, 1, 2, 4: GPU: into a staged tile, any alignment; host: registers from one */ \
    knob(pad, 0, 0, 64, NULL, false, lower_fits_all, "elements added to a row of a tile, against bank conflicts") /* elements added to each row of a staged tile */ \
    knob(reduce, 0, 0, 1, "tree|shuffle", false, lower_fits_reduce, "how lanes of a range are joined: a tree in local memory, or shuffles") /* atn_reduce */ \
    knob(finish, 0, 0, 3, "launch|last|atomic|look", false, lower_fits_finish, "how groups that share a range are joined") /* atn_finish */ \
    knob(exp, 0, 0, 2, "library|native|polynomial", false, lower_fits_all, "exp by the library, the device's instruction, or a polynomial") /* atn_exp */ \
    knob(degree, 6, 3, 7, NULL, false, lower_fits_all, "of that polynomial") /* of the polynomial exp */ \
    knob(matrix, 0, 0, 4, "off|half|pair|double|warpgroup", false, lower_fits_matrix, "sums of products on matrix units, and of what their operands are made (CUDA)") /* atn_matrix: sums of weights on matrix units, see matrix.h; products of matrices, contract.h */ \
    knob(mix, 0, 0, 8, NULL, false, lower_fits_mix, "of their weights, the share whose exp is that polynomial") /* with it: of eight native exponentials, so many by polynomial */ \
    knob(packed, 0, 0, 1, NULL, false, lower_fits_packed, "those polynomials in half precision, two at a time") /* 1: those polynomials two at a time, in halves; with matrix=half */ \
    knob(accumulate, 0, 0, 64, NULL, false, lower_fits_accumulate, "bits of sums; 0: as described") /* accumulators of floating sums: 0 as described, 32, 64 */ \
    knob(half, 0, 0, 2, NULL, false, lower_fits_half, "arithmetic in half precision; 2: sums as well, a tile at a time") /* 1: what is HP is computed in HP, not in SP, where the device can (host); 2: so are sums of it, a tile at a time */ \
    knob(groups, 0, 0, 1 << 30, NULL, false, lower_fits_all, "most groups launched; 0: all") /* most groups launched, the others follow in a loop; 0: as many as there are tiles */ \
    knob(threads, 0, 0, 4096, NULL, false, lower_fits_all, "threads of the host; 0: all") /* host: 0 all */ \
    knob(schedule, 0, 0, 2, "static|dynamic|guided", false, lower_fits_all, "how OpenMP shares iterations") /* host: atn_schedule */ \
    knob(chunk, 0, 0, 1 << 20, NULL, false, lower_fits_all, "iterations that a thread takes at once; 0: OpenMP's choice") /* host: of the schedule */ \
    knob(collapse, 2, 1, 2, NULL, false, lower_fits_all, "how many dimensions the threads share") /* host: dimensions of the points whose tiles the threads share: 2 all, 1 all but the fastest */ \
    knob(stream, 0, 0, 1, NULL, false, lower_fits_all, "stores past the caches") /* host: stores that go past the caches */ \
    knob(fast, 0, 0, 1, NULL, false, lower_fits_all, "the compiler may reorder floating-point arithmetic") /* lets the compiler assume finite values and reorder (per kernel, never globally) */ \
    knob(index, 64, 32, 64, NULL, true, lower_fits_index, "bits of address arithmetic") /* bits of address arithmetic: 32 or 64 */ \
    knob(resident, 0, 0, 32, NULL, false, lower_fits_all, "groups at once on a core for which registers are limited (CUDA)") /* groups at once on a core for which the compiler limits registers (cuda); 0: as it likes */ \
    knob(guard, 1, 0, 1, NULL, false, lower_fits_all, "computed accesses are checked") /* gathers are checked and reported; 0 is earned: atn_indices */
/* clang-format on */

#endif
