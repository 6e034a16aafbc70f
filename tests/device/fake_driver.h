/* What the files of the fake CUDA driver share. The signatures of its functions are checked against those that the
 * backend calls. */
#ifndef ATN_FAKE_DRIVER_H
#define ATN_FAKE_DRIVER_H

#include "device/cuda_api.h"
#include "fake_cuda.h"

#define DECLARE(field, symbol, parameters) int symbol parameters;
ATN_CUDA_FUNCTIONS(DECLARE)
ATN_CUDA_OPTIONAL_FUNCTIONS(DECLARE)
#undef DECLARE

enum { SHARED_PLAIN = 49152, BAD_HANDLE = 400 };

struct atn_cu_function {
    atn_cu_function *next;
    char name[64];
    int n_params, dynamic;
    size_t param_bytes[ATN_MAX_ARGS];
};

extern fake_cuda fake_state_;
fake_cuda *fake_reset(void);

int fake_misuse(int result);
int fake_enter(const char *symbol);                    /* every call that needs a context begins with this */
int fake_inside(atn_cu_address address, size_t bytes); /* of one buffer? */
bool fake_pinned(const void *memory, size_t bytes);    /* of pinned memory? */
bool fake_in_use(const void *memory, size_t bytes);    /* by work that is not done yet? */
void fake_run_all(void);                               /* does all work of all streams */
void fake_streams_reset(void);

#define ENTER()                                                                                                        \
    do {                                                                                                               \
        int entered = fake_enter(__func__);                                                                            \
        if (entered) return entered;                                                                                   \
    } while (0)

#endif
