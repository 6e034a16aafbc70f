/* What generated C and the host backend agree on: one struct, written once, as C for us and as text for what is
 * generated. An entry point is `void NAME(const struct atn_call *call)`. */
#ifndef ATN_DEVICE_HOST_ABI_H
#define ATN_DEVICE_HOST_ABI_H

#include <stdint.h>

#define ATN_HOST_ABI(define)                                                                                           \
    define(struct atn_call {                                                                                           \
        int64_t groups[3]; /* tiles of work, to be spread over the threads */                                          \
        int64_t threads;   /* OpenMP threads to use, >= 1 */                                                           \
        void *const *args; /* args[k] points to the k-th value: a pointer for a buffer, else the scalar */             \
    })

#define ATN_HOST_ABI_AS_C(...)    __VA_ARGS__
#define ATN_HOST_ABI_AS_TEXT(...) #__VA_ARGS__

ATN_HOST_ABI(ATN_HOST_ABI_AS_C);
#define ATN_HOST_ABI_TEXT "#include <stdint.h>\n" ATN_HOST_ABI(ATN_HOST_ABI_AS_TEXT) ";\n"

#endif
