/* Generated CUDA run on the CPU: compiled as C++ against a small emulator (emulator.hpp), every item of a group a
 * fiber, warps that multiply matrices waiting for each other. Slow, and without a device. */
#ifndef ATN_SUPPORT_EMULATE_H
#define ATN_SUPPORT_EMULATE_H

#include "built/built.h"

/* What `views` name is read and written. ATN_ERR_UNSUPPORTED: no such variant; ATN_ERR_DEVICE: there is no C++
 * compiler. The graph has no parameters and no computed accesses. */
atn_status emulate_run(atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const atn_view *views,
                       const char *folder);

#endif
