/* The host backend's own objects, shared by its files: host.c, host_build.c and host_graph.c. */
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

/* Launches that are kept, in their order. */
typedef struct host_graph {
    atn_tape base;
    struct host_kept *first, **last; /* last: where the next one is hung */
    atn_status status;               /* the first that could not be kept */
} host_graph;

typedef struct host_queue {
    atn_queue base;
    host_graph *keeping; /* NULL: launches run */
} host_queue;

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

/* host.c */
atn_status atn_host_launch(atn_queue *queue, atn_function *function, const atn_launch *launch);

/* host_graph.c; keep and spoil are for a queue that is keeping: a launch, and anything that cannot be kept */
atn_status atn_host_graph_begin(atn_queue *queue);
atn_status atn_host_graph_end(atn_queue *queue, atn_tape **out);
atn_status atn_host_graph_launch(atn_queue *queue, atn_tape *graph);
void atn_host_graph_free(atn_tape *graph);
atn_status atn_host_keep(host_queue *queue, atn_function *function, const atn_launch *launch);
atn_status atn_host_spoil(host_queue *queue, const char *what);

#endif
