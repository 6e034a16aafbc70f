/* Frames from the inside: what slabs need of them. */
#ifndef ATN_CLOUD_FRAME_H
#define ATN_CLOUD_FRAME_H

#include "base/context.h"

#include <attune/frame.h>

const atn_ctx *frame_ctx(const atn_frame *frame);

#endif
