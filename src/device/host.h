/* The host backend's own objects, shared by its files: host.c and host_build.c. */
#ifndef ATN_DEVICE_HOST_H
#define ATN_DEVICE_HOST_H

#include "device/backend.h"
#include "device/host_abi.h"

#include <sched.h>

typedef struct host_device {
    atn_device base;
    atn_bind bind;
    cpu_set_t *places; /* where threads may run when bound, else NULL; owned */
    int32_t n_places;
    uint64_t binding; /* the number of this call of atn_device_bind, in this process; 0: not bound */
} host_device;

typedef void host_entry(const struct atn_call *call);

/* The place of a thread, as OpenMP has it: close fills place by place, spread leaves equal gaps; where there are more
 * threads than places, neighbours share one. */
int64_t atn_host_place(atn_bind bind, int64_t places, int64_t threads, int64_t thread);

/* host_build.c: the compiler and what it makes. *path is owned by the caller; NULL, with ATN_OK and a sentence that
 * says what would help, where there is none. */
atn_status atn_host_compiler(const atn_ctx *ctx, const char *wanted, char **path);
atn_status atn_host_compiler_version(const atn_ctx *ctx, const char *path, char *text, size_t bytes);
atn_status atn_host_build(atn_device *device, const atn_build *build, atn_module **out);
void atn_host_module_free(atn_module *module);
atn_status atn_host_function(atn_module *module, const char *name, atn_function **out);
host_entry *atn_host_entry(const atn_function *function);
const void *atn_host_runtime(const atn_function *function); /* its OpenMP library, for atn_threads_ready; or NULL */

#endif
