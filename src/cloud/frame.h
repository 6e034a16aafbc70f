/* Internals of frames: what slabs need from them. */
#ifndef ATN_CLOUD_FRAME_H
#define ATN_CLOUD_FRAME_H

#include "base/context.h"
#include "ranks/ranks.h"

#include <attune/frame.h>

const atn_ctx *frame_ctx(const atn_frame *frame);

/* As atn_frame_open, where text of more than `whole` bytes is not kept in memory. */
atn_status frame_open(atn_ctx *ctx, const char *path, const atn_cloud_settings *options, size_t whole, atn_frame **out);

/* As atn_frame_open by all ranks: each has its part of the atoms, one after the other in the file, and goes through
 * these alone; the info is of the whole frame. Atom probe files are read by each rank where its part is; others by all,
 * whole. */
atn_status frame_open_ranks(atn_ctx *ctx, const char *path, const atn_cloud_settings *given, atn_ranks *ranks,
                            atn_frame **out);
/* The indices of this rank's part: first ... end - 1; and its ranks, which may be NULL: it is alone. */
void frame_part(const atn_frame *frame, size_t *first, size_t *end);
atn_ranks *frame_ranks(const atn_frame *frame);
size_t frame_part_atoms(const atn_frame *frame); /* that the part has */
bool frame_is_of_ions(const atn_frame *frame);   /* floats: positions and masses; and 32 bits hold an index */
size_t frame_atom_bytes(const atn_frame *frame); /* of an atom while slabs are made (slabs.h) */

#endif
