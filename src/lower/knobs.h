/* The knobs other than tiling, one row each: name, plain value, minimum, maximum, names of values ('|' between them,
 * from 0; NULL: numbers), whether only powers of two are allowed, the rule that says which graphs or devices do not
 * support it (lower_fits_all: no restriction; fits.h), and its meaning, for reports and help. The field of the variant,
 * parsing, printing, help, reports and random tests follow from the row. */
#ifndef ATN_LOWER_KNOBS_H
#define ATN_LOWER_KNOBS_H

/* clang-format off */
#define ATN_KNOBS(knob) \
    knob(stage, 0, 0, 4, NULL, false, lower_fits_stage, "shared reads: 0 direct, 1 staged in local memory, 2 to 4 with that many buffers") /* reads shared by several items or steps: 0 direct, 1 staged, 2 double buffered; 3, 4, with matrix: that many buffers */ \
    knob(stage_swap, 0, 0, 3, NULL, false, lower_fits_all, "which staged tiles are stored transposed") /* bit a: staged tiles of reads whose axis a is p1's (otherwise p0's) are stored transposed; see stage.c */ \
    knob(wide, 1, 1, 4, NULL, true, lower_fits_all, "elements moved into a tile at once") /* elements moved at once, 1, 2, 4: GPU: into a staged tile, any alignment; host: registers from one */ \
    knob(pad, 0, 0, 64, NULL, false, lower_fits_all, "padding per row of a staged tile, in elements, against bank conflicts") /* elements added to each row of a staged tile */ \
    knob(reduce, 0, 0, 1, "tree|shuffle", false, lower_fits_reduce, "how lanes along a range are combined: a tree in local memory, or shuffles") /* atn_reduce */ \
    knob(finish, 0, 0, 3, "launch|last|atomic|look", false, lower_fits_finish, "how groups that share a range are combined") /* atn_finish */ \
    knob(exp, 0, 0, 2, "library|native|polynomial", false, lower_fits_all, "exp by the library, the device's instruction, or a polynomial") /* atn_exp */ \
    knob(degree, 6, 3, 7, NULL, false, lower_fits_all, "degree of the polynomial for exp") /* of the polynomial for exp */ \
    knob(matrix, 0, 0, 7, "off|half|pair|double|warpgroup|bfloat|bfloat2|bfloat3", false, lower_fits_matrix, "sums of products on matrix units, and the type of their operands") /* atn_matrix: sums of weights on matrix units, see matrix.h; products of matrices, contract.h, on CPUs parts.h */ \
    knob(mix, 0, 0, 8, NULL, false, lower_fits_mix, "of eight exponentials on matrix units, how many by polynomial") /* with matrix: of eight native exponentials, the number computed by polynomial */ \
    knob(packed, 0, 0, 2, NULL, false, lower_fits_packed, "these polynomials in half precision, two at a time; 2: of products in half precision") /* 1: these polynomials two at a time, in halves; with matrix=half; 2: for products in halves, see matrix_emit.c */ \
    knob(accumulate, 0, 0, 64, NULL, false, lower_fits_accumulate, "bits of accumulators; 0: as in the description") /* accumulators of floating sums: 0 as described, 32, 64 */ \
    knob(half, 0, 0, 2, NULL, false, lower_fits_half, "arithmetic in half precision; 2: sums within a tile as well") /* 1: HP values are computed in HP, not in SP, if the device supports it (host); 2: so are their sums, one tile at a time */ \
    knob(groups, 0, 0, 1 << 30, NULL, false, lower_fits_all, "maximum number of groups launched; 0: all") /* most groups launched, which loop over the others; 0: as many as there are tiles */ \
    knob(threads, 0, 0, 4096, NULL, false, lower_fits_all, "number of host threads; 0: all") /* host: 0 all */ \
    knob(schedule, 0, 0, 2, "static|dynamic|guided", false, lower_fits_all, "how tiles are assigned to threads") /* host: atn_schedule */ \
    knob(chunk, 0, 0, 1 << 20, NULL, false, lower_fits_all, "tiles that a thread is assigned at a time; 0: chosen") /* host: of the schedule */ \
    knob(collapse, 2, 1, 2, NULL, false, lower_fits_all, "dimensions whose tiles are distributed over threads") /* host: dimensions of the points whose tiles the threads share: 2 all, 1 all except the fastest */ \
    knob(stream, 0, 0, 1, NULL, false, lower_fits_all, "non-temporal stores that bypass the caches") /* host: stores that bypass the caches */ \
    knob(fast, 0, 0, 1, NULL, false, lower_fits_all, "the compiler may reorder floating-point arithmetic") /* lets the compiler assume finite values and reorder (per kernel, never globally) */ \
    knob(index, 64, 32, 64, NULL, true, lower_fits_index, "bits of address arithmetic") /* bits of address arithmetic: 32 or 64 */ \
    knob(resident, 0, 0, 32, NULL, false, lower_fits_all, "resident groups per core, for which registers are limited (CUDA)") /* resident groups per core for which the compiler limits registers (cuda); 0: no limit */ \
    knob(guard, 1, 0, 1, NULL, false, lower_fits_all, "bounds checks of computed accesses") /* gathers are checked and reported; 0 requires proof: atn_indices */
/* clang-format on */

#endif
