/* What generated C and the host backend agree on: one struct, written once, as C for us and as text for what is
 * generated. An entry point is `void NAME(const struct atn_call *call)`. All threads of a launch run it, each with a
 * call of its own, so that all it does outside of the ranges that `next` assigns to it must be harmless to repeat;
 * where it does not ask for any, it runs on one. */
#ifndef ATN_DEVICE_HOST_ABI_H
#define ATN_DEVICE_HOST_ABI_H

#include <stdint.h>

#define ATN_HOST_ABI(define)                                                                                           \
    define(struct atn_call {                                                                                           \
        int64_t groups[3]; /* tiles of work, to be spread over the threads */                                          \
        int64_t threads;   /* that take part, >= 1 */                                                                  \
        void *const *args; /* args[k] points to the k-th value: a pointer for a buffer, else the scalar */             \
        /* Assigns range[0] ... range[1] - 1 of `count` tiles to the calling thread; 0: none is left. All threads ask  \
         * with the same numbers. How: atn_schedule, in ranges of `step` tiles; 0: as is best. */                      \
        int (*next)(const struct atn_call *call, int64_t count, int schedule, int64_t step, int64_t range[2]);         \
    })

#define ATN_HOST_ABI_AS_C(...)    __VA_ARGS__
#define ATN_HOST_ABI_AS_TEXT(...) #__VA_ARGS__

ATN_HOST_ABI(ATN_HOST_ABI_AS_C);
#define ATN_HOST_ABI_TEXT "#include <stdint.h>\n" ATN_HOST_ABI(ATN_HOST_ABI_AS_TEXT) ";\n"

#endif
