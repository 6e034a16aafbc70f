/* Kernels of the OpenCL backend: found by name, asked for their limits, given arguments and launched. What a
 * driver would refuse with a bare code is refused here first, with the numbers. */
#include "device/opencl.h"

#include "base/memory.h"
#include "base/size.h"

#include <string.h>

/* ---- functions ---- */

/* A number about the kernel on its device, or `otherwise` where the driver does not say. */
static uint64_t kernel_number(const atn_opencl_function *function, cl_uint what, uint64_t otherwise) {
    const atn_opencl_device *device = atn_opencl_of(function->base.module->device);
    uint64_t value = 0; /* size_t or cl_ulong by the question; the same width where OpenCL drivers exist */
    size_t bytes = 0;
    cl_int code = device->api.clGetKernelWorkGroupInfo(function->kernel, device->place.device, what, sizeof value,
                                                       &value, &bytes);
    return code == CL_SUCCESS && bytes == sizeof value ? value : otherwise;
}

static atn_status fail_unknown(const atn_opencl_module *module, const char *name) {
    const atn_opencl_device *device = atn_opencl_of(module->base.device);
    char names[512] = "";
    cl_int code = device->version >= 102 ? device->api.clGetProgramInfo(module->program, CL_PROGRAM_KERNEL_NAMES,
                                                                        sizeof names - 1, names, NULL)
                                         : CL_INVALID_VALUE;
    bool known = code == CL_SUCCESS && *names;
    return atn_fail(device->base.ctx, ATN_ERR_INPUT, "%s: %s has no function '%s'%s%s", device->base.info.name,
                    module->name, name, known ? "; it has " : "", known ? names : "");
}

static atn_status make_kernel(atn_opencl_module *module, const char *name, atn_opencl_function *function) {
    const atn_opencl_device *device = atn_opencl_of(module->base.device);
    cl_int code;
    cl_uint n_args = 0;
    function->kernel = device->api.clCreateKernel(module->program, name, &code);
    if (code != CL_SUCCESS) function->kernel = NULL;
    if (code == CL_INVALID_KERNEL_NAME) return fail_unknown(module, name);
    if (code != CL_SUCCESS)
        return atn_opencl_check(module->base.device, code, "function '%s' of %s", name, module->name);
    function->max_group =
        kernel_number(function, CL_KERNEL_WORK_GROUP_SIZE, (uint64_t)module->base.device->info.max_group);
    size_t stated[3] = {0, 0, 0}; /* in the source: then it was built for that, whatever else a driver answers */
    code = device->api.clGetKernelWorkGroupInfo(function->kernel, device->place.device,
                                                CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof stated, stated, NULL);
    if (code == CL_SUCCESS && stated[0] > 0) function->max_group = stated[0] * stated[1] * stated[2];
    code = device->api.clGetKernelInfo(function->kernel, CL_KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL);
    function->n_args = code == CL_SUCCESS ? n_args : SIZE_MAX;
    return ATN_OK;
}

static void free_function(const atn_opencl_device *device, atn_opencl_function *function) {
    if (function->kernel) (void)device->api.clReleaseKernel(function->kernel);
    atn_free(device->base.ctx, function->name);
    atn_free(device->base.ctx, function);
}

atn_status atn_opencl_function_get(atn_module *base, const char *name, atn_function **out) {
    atn_opencl_module *module = (atn_opencl_module *)base;
    *out = NULL;
    for (atn_opencl_function *known = module->functions; known; known = known->next) {
        if (strcmp(known->name, name) != 0) continue;
        *out = &known->base;
        return ATN_OK;
    }
    const atn_ctx *ctx = base->device->ctx;
    atn_opencl_function *function = atn_zalloc(ctx, sizeof *function);
    if (!function) return ATN_ERR_MEMORY;
    function->base.module = base;
    function->name = atn_strdup(ctx, name);
    atn_status status = function->name ? make_kernel(module, name, function) : ATN_ERR_MEMORY;
    if (status != ATN_OK) {
        free_function(atn_opencl_of(base->device), function);
        return status;
    }
    function->next = module->functions;
    module->functions = function;
    *out = &function->base;
    return ATN_OK;
}

void atn_opencl_functions_free(atn_opencl_module *module) {
    while (module->functions) {
        atn_opencl_function *first = module->functions;
        module->functions = first->next;
        free_function(atn_opencl_of(module->base.device), first);
    }
}

/* Registers and residency are no question of OpenCL's: they stay -1. */
atn_status atn_opencl_function_describe(const atn_function *base, int32_t items, atn_function_info *out) {
    (void)items;
    const atn_opencl_function *function = (const atn_opencl_function *)base;
    uint64_t local = kernel_number(function, CL_KERNEL_LOCAL_MEM_SIZE, UINT64_MAX);
    uint64_t private = kernel_number(function, CL_KERNEL_PRIVATE_MEM_SIZE, UINT64_MAX);
    *out = (atn_function_info){
        .registers = -1,
        .local_bytes = local < INT64_MAX ? (int64_t)local : -1,
        .private_bytes = private < INT64_MAX ? (int64_t) private : -1,
        .max_group = function->max_group < INT32_MAX ? (int32_t)function->max_group : INT32_MAX,
        .groups_per_core = -1,
    };
    return ATN_OK;
}

/* ---- launches ---- */

static atn_status set_args(const atn_opencl_function *function, const atn_launch *launch) {
    atn_device *device = function->base.module->device;
    const atn_opencl_api *api = &atn_opencl_of(device)->api;
    if (function->n_args != SIZE_MAX && function->n_args != launch->n_args)
        return atn_fail(device->ctx, ATN_ERR_INPUT, "%s: function '%s' takes %zu arguments, the launch gives %zu",
                        device->info.name, function->name, function->n_args, launch->n_args);
    for (size_t k = 0; k < launch->n_args; ++k) {
        const atn_arg *arg = &launch->args[k];
        cl_mem mem = NULL; /* what a buffer of no bytes is */
        if (arg->buffer && arg->buffer->bytes) mem = ((atn_opencl_buffer *)arg->buffer)->mem;
        cl_int code = arg->buffer ? api->clSetKernelArg(function->kernel, (cl_uint)k, sizeof mem, &mem)
                                  : api->clSetKernelArg(function->kernel, (cl_uint)k, arg->bytes, arg->value);
        if (code != CL_SUCCESS)
            return atn_opencl_check(device, code, "argument %zu of function '%s', given as a %s of %zu bytes", k,
                                    function->name, arg->buffer ? "buffer" : "scalar",
                                    arg->buffer ? arg->buffer->bytes : arg->bytes);
    }
    return ATN_OK;
}

/* The group against the limits of the device and of this kernel; global = groups * items. */
static atn_status check_sizes(const atn_opencl_function *function, const atn_launch *launch, size_t global[3]) {
    const atn_device *device = function->base.module->device;
    const size_t *items = launch->items;
    size_t all = 1;
    bool fits = true;
    for (int d = 0; d < 3; ++d) {
        if (!atn_size_mul(launch->groups[d], items[d], &global[d]))
            return atn_fail(device->ctx, ATN_ERR_DEVICE,
                            "%s: function '%s': %zu groups of %zu items in dimension %d overflow", device->info.name,
                            function->name, launch->groups[d], items[d], d);
        fits = fits && items[d] <= (size_t)device->info.max_items[d] && atn_size_mul(all, items[d], &all);
    }
    if (fits && all <= function->max_group) return ATN_OK;
    return atn_fail(
        device->ctx, ATN_ERR_DEVICE,
        "%s: function '%s': a work-group of %zu x %zu x %zu items is too large; it may have %zu in all, and %d x %d x "
        "%d by dimension",
        device->info.name, function->name, items[0], items[1], items[2], function->max_group, device->info.max_items[0],
        device->info.max_items[1], device->info.max_items[2]);
}

atn_status atn_opencl_launch(atn_queue *queue, atn_function *base, const atn_launch *launch) {
    const atn_opencl_function *function = (const atn_opencl_function *)base;
    atn_device *device = queue->device;
    size_t global[3];
    atn_status status = check_sizes(function, launch, global);
    if (status == ATN_OK) status = set_args(function, launch);
    if (status != ATN_OK) return status;
    cl_uint dimensions = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    cl_int code = atn_opencl_of(device)->api.clEnqueueNDRangeKernel(
        ((atn_opencl_queue *)queue)->queue, function->kernel, dimensions, NULL, global, launch->items, 0, NULL, NULL);
    if (code == CL_SUCCESS) return ATN_OK;
    return atn_opencl_check(device, code, "launching '%s' with groups of %zu x %zu x %zu items", function->name,
                            launch->items[0], launch->items[1], launch->items[2]);
}
