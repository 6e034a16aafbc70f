/* Kernels of the search: those of the engine, which stay planned from pair to pair, or some of its own. */
#include "apps/register/search_parts.h"

static const char *const NAMES[REG_KERNELS] = {[REG_LIKENESS] = "gemm", [REG_AGREE] = "agree"};

atn_status search_kernel(const search_tools *t, reg_kernel which, atn_kernel **out) {
    static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
    atn_kernel_options options = {.defines = DEFINES, .reproducible = t->reproducible};
    if (t->engine) return reg_engine_kernel(t->engine, which, out);
    return atn_kernel_create(t->device, NAMES[which], &options, out);
}

atn_status search_run(const search_tools *t, atn_kernel *kernel) {
    atn_status status = t->engine ? reg_engine_plan(t->engine, kernel) : ATN_OK;
    return status == ATN_OK ? atn_kernel_run(kernel) : status;
}

void search_kernel_done(const search_tools *t, atn_kernel *kernel) {
    if (!t->engine) atn_kernel_free(kernel);
}
