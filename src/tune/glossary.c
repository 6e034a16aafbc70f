/* A row for each knob; those of several dimensions stand once, without the number at their end. */
#include "tune/glossary.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *knob, *meaning;
} ROWS[] = {
    {"lanes_p", "work-items of a group along the points (GPU)"},
    {"vec_p", "vector lanes along the points"},
    {"regs_p", "values that one item holds at once along the points"},
    {"pack_p", "of these, how many lie side by side"},
    {"seq_p", "steps that a group does one after the other along the points"},
    {"lanes_q", "work-items along a range, joined by reduce (GPU)"},
    {"vec_q", "vector lanes along a range"},
    {"regs_q", "accumulators along a range"},
    {"pack_q", "steps of a scan's item that lie side by side"},
    {"tile_q", "length of a staged tile; 0: the whole range"},
    {"unroll_q", "steps of the loop over a range written out"},
    {"split_q", "groups that share a range"},
    {"stage", "shared reads: 0 direct, 1 staged in local memory, 2 to 4 buffers of it"},
    {"stage_swap", "which staged tiles lie transposed"},
    {"wide", "elements moved at once into a tile"},
    {"pad", "elements added to a row of a tile, against bank conflicts"},
    {"reduce", "how lanes of a range are joined: a tree in local memory, or shuffles"},
    {"finish", "how groups that share a range are joined"},
    {"exp", "exp by the library, the device's instruction, or a polynomial"},
    {"degree", "of that polynomial"},
    {"matrix", "sums of products on matrix units, and of what their operands are made (CUDA)"},
    {"mix", "of their weights, the share whose exp is that polynomial"},
    {"accumulate", "bits of sums; 0: as described"},
    {"half", "arithmetic in half precision"},
    {"groups", "most groups launched; 0: all"},
    {"threads", "threads of the host; 0: all"},
    {"schedule", "how OpenMP shares iterations"},
    {"chunk", "iterations that a thread takes at once; 0: OpenMP's choice"},
    {"collapse", "how many dimensions the threads share"},
    {"stream", "stores past the caches"},
    {"fast", "the compiler may reorder floating-point arithmetic"},
    {"index", "bits of address arithmetic"},
    {"resident", "groups at once on a core for which registers are limited (CUDA)"},
    {"guard", "computed accesses are checked"},
};

const char *atn_glossary(const char *knob) {
    size_t length = strlen(knob);
    while (length > 2 && isdigit((unsigned char)knob[length - 1])) --length;
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; ++k)
        if (strlen(ROWS[k].knob) == length && memcmp(ROWS[k].knob, knob, length) == 0) return ROWS[k].meaning;
    return "";
}
