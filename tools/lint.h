/* For clang-tidy alone, in front of every file (make lint): its analyzer cannot know that atn_fail returns what it was
 * given, and follows paths on which a failure is none. */
#if __has_include("base/context.h")
#include "base/context.h"
#define atn_fail(ctx, status, ...) ((void)atn_fail(ctx, status, __VA_ARGS__), (status))
#endif
