/* The objects of the host backend, shared by its files. */
#ifndef ATN_DEVICE_HOST_H
#define ATN_DEVICE_HOST_H

#include "device/backend.h"
#include "device/host_abi.h"

typedef void host_entry(const struct atn_call *call);

/* host_build.c: the compiler and what it makes. *path is owned by the caller; NULL, with ATN_OK and a sentence that
 * says what would help, where there is none. */
atn_status atn_host_compiler(const atn_ctx *ctx, const char *wanted, char **path);
atn_status atn_host_compiler_version(const atn_ctx *ctx, const char *path, char *text, size_t bytes);
atn_status atn_host_build(atn_device *device, const atn_build *build, atn_module **out);
void atn_host_module_free(atn_module *module);
atn_status atn_host_function(atn_module *module, const char *name, atn_function **out);
host_entry *atn_host_entry(const atn_function *function);

/* host_run.c: on that many threads, at most; done when it returns. */
void atn_host_run(host_entry *entry, const int64_t groups[3], int32_t threads, void *const *args);

#endif
