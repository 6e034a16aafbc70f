/* Frames from the inside: what slabs need of them. */
#ifndef ATN_CLOUD_FRAME_H
#define ATN_CLOUD_FRAME_H

#include "base/context.h"

#include <attune/frame.h>

const atn_ctx *frame_ctx(const atn_frame *frame);

/* As atn_frame_open, where text of more than `whole` bytes is not kept in memory. */
atn_status frame_open(atn_ctx *ctx, const char *path, const atn_cloud_settings *options, size_t whole, atn_frame **out);

#endif
